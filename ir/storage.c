/* Words of registers, and which instructions are issued: see storage.h. */
#include "ir/storage.h"
#include "ir/annotations.h"

#include <stdio.h>

/* Registers that instructions and the header name, in declaration order, so that the numbers do not depend on unused
 * declarations that passes left. */
typedef struct keyed_register {
    uint64_t key;
    uint32_t reg;
} keyed_register;

static int compare_keys(const void *a, const void *b)
{
    uint64_t left = ((const keyed_register *)a)->key, right = ((const keyed_register *)b)->key;
    return left < right ? -1 : left > right;
}

static bool *find_named(const hd_function *f)
{
    bool *named = hd_calloc(f->registers.count + 1, sizeof *named);
    for (uint32_t i = 0; i < f->instructions.count; i++)
        HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
            named[o->value] = true;
    for (uint32_t i = 0; i < f->register_parameters.count; i++)
        named[f->register_parameters.items[i]] = true;
    for (uint32_t i = 0; i < f->register_results.count; i++)
        named[f->register_results.items[i]] = true;
    return named;
}

static uint32_t general_words(const hd_storage *s, uint32_t reg)
{
    return s->bank && s->bank[reg] ? 0 : hd_register_words(s->function, reg);
}

static void lay_virtual(hd_storage *s)
{
    const hd_function *f = s->function;
    uint32_t count = f->registers.count, *ordinals = hd_declaration_ordinals(f);
    keyed_register *keyed = hd_calloc(count + 1, sizeof *keyed);
    bool *named = find_named(f), sorted = true;
    for (uint32_t r = 0; r < count; r++) {
        hd_register_key key = hd_register_key_of(f, r);
        bool declared = key.declaration != HD_NONE; /* the carry flag is not: it comes last */
        uint32_t ordinal = ordinals && declared ? ordinals[key.declaration] : key.declaration;
        keyed[r] = (keyed_register){named[r] ? (uint64_t)ordinal << 32 | key.index : UINT64_MAX - count + r, r};
        sorted = sorted && (!r || keyed[r - 1].key <= keyed[r].key);
    }
    if (!sorted)
        qsort(keyed, count, sizeof *keyed, compare_keys);
    for (uint32_t i = 0; i < count; i++) {
        s->first[keyed[i].reg] = s->words;
        s->words += general_words(s, keyed[i].reg);
        if (named[keyed[i].reg])
            s->frame = s->words;
    }
    s->physical_words = s->words;
    free(keyed);
    free(named);
    free(ordinals);
}

/* Then the registers without a physical name that are (or are not) mentioned. */
static void lay_unallocated(hd_storage *s, const bool *named, bool which)
{
    for (uint32_t r = 0; r < s->function->registers.count; r++)
        if (s->first[r] == HD_NONE && named[r] == which) {
            s->first[r] = s->words;
            s->words += general_words(s, r);
        }
}

/* Physical registers first, then the others, after the highest physical one. %RD1 is no aligned pair, but may be in a
 * declaration %RD<3>. */
static void lay_architected(hd_storage *s)
{
    const hd_function *f = s->function;
    /* every register with words is a physical one, so it does not matter which are mentioned */
    bool complete = true;
    for (uint32_t r = 0; r < f->registers.count; r++) {
        hd_physical physical = hd_register_physical(f, r);
        s->first[r] = physical.words ? physical.number : HD_NONE;
        complete = complete && (physical.words || !general_words(s, r));
        if (physical.words && physical.number + physical.words > s->words)
            s->words = physical.number + physical.words;
    }
    s->physical_words = s->words;
    bool *named = complete ? hd_calloc(f->registers.count + 1, sizeof *named) : find_named(f);
    lay_unallocated(s, named, true);
    s->frame = s->words;
    lay_unallocated(s, named, false);
    free(named);
}

static bool is_only_text(const hd_storage *s, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(s->function, insn);
    if (s->bank && insn->operand_count && o->kind == HD_OPERAND_REGISTER && o->flags & HD_OPERAND_DEF &&
        s->bank[o->value])
        return true;
    return s->architected && hd_insn_is_identity(s->function, insn);
}

hd_storage hd_storage_of(const hd_function *f, hd_arena *arena)
{
    hd_storage s = {.function = f, .architected = hd_function_is_architected(f), .bank = hd_bank_operands(f, arena)};
    s.first = HD_ARENA_ARRAY(arena, uint32_t, f->registers.count);
    s.end = hd_arena_alloc(arena, f->registers.count * sizeof *s.end);
    s.issued = HD_ARENA_ARRAY(arena, uint32_t, (size_t)f->instructions.count + 1);
    if (s.architected)
        lay_architected(&s);
    else
        lay_virtual(&s);
    for (uint32_t r = 0; r < f->registers.count; r++)
        s.end[r] = s.first[r] + general_words(&s, r);
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        hd_insn_prefetch(f, i + HD_PREFETCH_AHEAD);
        s.issued[i + 1] = s.issued[i] + !is_only_text(&s, &f->instructions.items[i]);
    }
    return s;
}

uint32_t hd_function_issued(const hd_function *f)
{
    hd_arena arena = {0};
    uint32_t count = hd_storage_of(f, &arena).issued[f->instructions.count];
    hd_arena_free(&arena);
    return count;
}

void hd_storage_spell(const hd_storage *s, uint32_t word, char *buffer, size_t size)
{
    const hd_function *f = s->function;
    char name[128];
    for (uint32_t r = 0; r < f->registers.count; r++) { /* for messages only: not worth an index */
        uint32_t words = hd_storage_count(s, r);
        if (word < s->first[r] || word >= s->first[r] + words)
            continue;
        if (s->architected && hd_register_physical(f, r).words) {
            snprintf(buffer, size, "R%u", word);
            return;
        }
        hd_register_spell(f, r, name, sizeof name);
        if (words > 1)
            snprintf(buffer, size, "%s (word %u)", name, word - s->first[r]);
        else
            snprintf(buffer, size, "%s", name);
        return;
    }
    snprintf(buffer, size, "word %u", word);
}
