/* Verifies the pairs of corf and the alignment sides of corf++.
 *
 * They are placement hints; the hardware compares locations and widths at run time, so that no hint makes a result
 * wrong. A hint is refuted if it is meaningless: a word that the function does not have; a word in two pairs, twice in
 * a list, or on both sides; half a pair; a word of an asynchronous instruction; a pair that no instruction reads
 * together; an aligned word that no instruction reads together with one of the other side. Unreachable instructions and
 * identities read nothing.
 *
 * Complexity: linear in operands and words.
 */
#include "passes/check/check.h"

#include "passes/check/flights.h"

typedef struct corf_check {
    hd_arena arena;
    hd_function *function;
    hd_diagnostics *diagnostics;
    hd_storage storage;
    hd_flights flights; /* of words */
    uint32_t *mate;     /* by word: corf: 1 + its partner; corf++: 1 left, 2 right; 0: none */
    uint32_t *read_at;  /* by word: 1 + the last instruction that read it */
    bool *together;     /* by word: read together with its partner, or with a word of the other side */
    hd_u32_array sources;
} corf_check;

static void open_check(corf_check *c, hd_function *function, hd_diagnostics *diagnostics)
{
    *c = (corf_check){.function = function, .diagnostics = diagnostics};
    c->storage = hd_storage_of(function, &c->arena);
    c->flights = hd_flights_of(function, &c->storage, c->storage.words, &c->arena);
    c->mate = HD_ARENA_ARRAY(&c->arena, uint32_t, c->storage.words);
    c->read_at = HD_ARENA_ARRAY(&c->arena, uint32_t, c->storage.words);
    c->together = HD_ARENA_ARRAY(&c->arena, bool, c->storage.words);
}

static void close_check(corf_check *c)
{
    hd_array_free(&c->sources);
    hd_arena_free(&c->arena);
}

static bool refute(corf_check *c, const char *what, uint32_t word, const char *why)
{
    const hd_function *f = c->function;
    char name[160];
    hd_storage_spell(&c->storage, word, name, sizeof name);
    hd_report(c->diagnostics, HD_DIAG_UNSOUND_ANNOTATION, f->module->source, f->header_span, "%s: %s %s", what, name,
              why);
    return false;
}

/* ---- words read by instructions ---------------------------------------------------------------------------------- */

static void read_words(corf_check *c, uint32_t ordinal, uint32_t reg)
{
    HD_STORAGE_WORDS (&c->storage, reg, word) {
        if (c->read_at[word] != ordinal + 1)
            hd_array_push(&c->sources, word);
        c->read_at[word] = ordinal + 1;
    }
}

static void read_sources(corf_check *c, uint32_t ordinal)
{
    const hd_function *f = c->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    hd_array_clear(&c->sources);
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        const hd_operand *o = hd_insn_operands(f, insn) + i;
        if (o->kind == HD_OPERAND_REGISTER && o->flags & HD_OPERAND_USE)
            read_words(c, ordinal, o->value);
    }
    bool returns = hd_insn_form(f, insn)->behaviour & HD_BEHAVE_RETURN;
    for (uint32_t i = 0; i < f->register_results.count && returns; i++)
        read_words(c, ordinal, f->register_results.items[i]);
}

static void mark_pairs(corf_check *c, uint32_t ordinal)
{
    for (uint32_t i = 0; i < c->sources.count; i++) {
        uint32_t word = c->sources.items[i], mate = c->mate[word];
        if (mate && c->read_at[mate - 1] == ordinal + 1)
            c->together[word] = true;
    }
}

static void mark_sides(corf_check *c, uint32_t ordinal)
{
    uint32_t sides = 0;
    (void)ordinal;
    for (uint32_t i = 0; i < c->sources.count; i++)
        sides |= c->mate[c->sources.items[i]];
    for (uint32_t i = 0; i < c->sources.count && sides == 3; i++)
        c->together[c->sources.items[i]] = true;
}

static void mark_all(corf_check *c, void (*mark)(corf_check *, uint32_t))
{
    const hd_cfg *cfg = hd_function_cfg(c->function);
    for (uint32_t i = 0; i < c->function->instructions.count; i++) {
        if (hd_storage_skips(&c->storage, i) || !cfg->blocks[cfg->block_of[i]].reachable)
            continue;
        read_sources(c, i);
        mark(c, i);
    }
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

/* Takes a word of a list; false (reported) if there is no such word, or it occurred before. */
static bool set_mate(corf_check *c, const char *what, uint32_t word, uint32_t mate)
{
    if (word >= c->storage.words)
        return refute(c, what, word, "is no register of the function");
    if (c->mate[word])
        return refute(c, what, word, "is named twice");
    if (hd_flights_named(&c->flights, word))
        return refute(c, what, word,
                      "belongs to an asynchronous instruction, and may not move while that has it in flight");
    c->mate[word] = mate;
    return true;
}

static const hd_annotation *annotation_of(const hd_function *f, uint16_t kind, uint64_t *count)
{
    const hd_annotation *found = hd_annotation_at(f, kind, HD_NONE, 0);
    *count += found != NULL;
    return found;
}

bool hd_check_corf(hd_function *function, hd_diagnostics *diagnostics, uint64_t *count)
{
    static const char what[] = "an exclusive pair that is none";
    const hd_annotation *pairs = annotation_of(function, HD_ANNOTATION_CORF_PAIRS, count);
    if (!pairs)
        return true;
    corf_check c;
    bool good = true;
    open_check(&c, function, diagnostics);
    const uint32_t *words = hd_array_at(&function->annotation_words, pairs->value);
    for (uint32_t i = 0; i < pairs->count; i++)
        good = (i ^ 1) < pairs->count ? set_mate(&c, what, words[i], words[i ^ 1] + 1) && good
                                      : refute(&c, what, words[i], "is alone");
    for (uint32_t i = 0; i < pairs->count && good; i++)
        good = words[i] != words[i ^ 1] || refute(&c, what, words[i], "is its own partner");
    if (good)
        mark_all(&c, mark_pairs);
    for (uint32_t i = 0; i < pairs->count && good; i += 2)
        good = c.together[words[i]] || refute(&c, what, words[i], "is never read together with its partner");
    close_check(&c);
    return good;
}

/* ---- sides ------------------------------------------------------------------------------------------------------- */

bool hd_check_corfpp(hd_function *function, hd_diagnostics *diagnostics, uint64_t *count)
{
    static const char what[] = "an alignment that is none";
    const hd_annotation *lists[2] = {annotation_of(function, HD_ANNOTATION_CORF_LEFT, count),
                                     annotation_of(function, HD_ANNOTATION_CORF_RIGHT, count)};
    if (!lists[0] && !lists[1])
        return true;
    corf_check c;
    bool good = true;
    open_check(&c, function, diagnostics);
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t i = 0; lists[side] && i < lists[side]->count; i++)
            good = set_mate(&c, what, function->annotation_words.items[lists[side]->value + i], side + 1) && good;
    if (good)
        mark_all(&c, mark_sides);
    for (uint32_t word = 0; word < c.storage.words && good; word++)
        good = !c.mate[word] || c.together[word] ||
               refute(&c, what, word, "is never read together with a register of the other side");
    close_check(&c);
    return good;
}
