/* Reads the annotations for CORF and CORF++: see corf_hints.h. Linear in annotations and instructions. */
#include "hwmodel/rf/models/corf_hints.h"
#include "base/bits.h"
#include "base/bitset.h"
#include "ir/form.h"

static bool read_pairs(hd_corf_function *to, const uint32_t *words, uint32_t count, uint32_t all)
{
    for (uint32_t i = 0; i + 1 < count; i += 2) {
        uint32_t a = words[i], b = words[i + 1];
        if (a >= all || b >= all || a == b || to->partners[a] != HD_NONE || to->partners[b] != HD_NONE)
            return false;
        to->partners[a] = b;
        to->partners[b] = a;
    }
    return count % 2 == 0;
}

static bool read_side(hd_corf_function *to, const uint32_t *words, uint32_t count, uint32_t all, hd_pack_side side)
{
    for (uint32_t i = 0; i < count; i++) {
        if (words[i] >= all || (to->sides[words[i]] != HD_PACK_ANY && to->sides[words[i]] != side))
            return false;
        to->sides[words[i]] = (uint8_t)side;
    }
    return true;
}

static bool read_note(hd_corf_policy policy, hd_corf_function *to, const hd_rf_code *code, const hd_annotation *note)
{
    const uint32_t *words = hd_array_at(&code->function->annotation_words, note->value);
    uint32_t all = code->storage.frame;
    if (policy == HD_CORF_PAIRS && note->kind == HD_ANNOTATION_CORF_PAIRS)
        return read_pairs(to, words, note->count, all);
    if (policy == HD_CORF_SIDES && (note->kind == HD_ANNOTATION_CORF_LEFT || note->kind == HD_ANNOTATION_CORF_RIGHT))
        return read_side(to, words, note->count, all,
                         note->kind == HD_ANNOTATION_CORF_LEFT ? HD_PACK_LEFT : HD_PACK_RIGHT);
    return true;
}

/* Words released by flags. Words that are not renamed have no flags. */
static hd_bitset renamed_words(hd_arena *arena, const hd_rf_code *code)
{
    const hd_annotation *note = hd_annotation_at(code->function, HD_ANNOTATION_RELEASE_RENAMED, HD_NONE, 0);
    hd_bitset renamed = hd_bitset_new(arena, code->storage.frame + 1);
    for (uint32_t w = 0; note && w < note->count; w++)
        if (code->function->annotation_words.items[note->value + w] < code->storage.frame)
            hd_bitset_add(&renamed, code->function->annotation_words.items[note->value + w]);
    return renamed;
}

static void add_word(hd_corf_function *to, const hd_bitset *renamed, bool after, uint32_t word)
{
    if (word < renamed->bits && hd_bitset_has(renamed, word))
        hd_array_push(&to->released[after], word);
}

static void add_slots(hd_corf_function *to, const hd_rf_code *code, const hd_bitset *renamed, uint32_t instruction,
                      uint32_t slots)
{
    const hd_function *f = code->function;
    HD_EACH_BIT (slot, slots) {
        uint32_t operand = hd_insn_source_slot(f, &f->instructions.items[instruction], slot);
        if (operand != HD_NONE)
            HD_STORAGE_WORDS (&code->storage, f->operands.items[operand].value, word)
                add_word(to, renamed, true, word);
    }
}

/* Annotations come sorted by instruction. */
static void read_releases(hd_corf_hints *hints, hd_corf_function *to, const hd_rf_code *code)
{
    const hd_function *f = code->function;
    const hd_bitset renamed = renamed_words(&hints->arena, code);
    uint32_t next = 0;
    for (uint32_t k = 0; k < 2; k++)
        to->released_at[k] = HD_ARENA_ARRAY(&hints->arena, uint32_t, code->instruction_count + 1);
    for (uint32_t i = 0; i < code->instruction_count; i++) {
        while (next < f->annotations.count && f->annotations.items[next].instruction < i)
            next++;
        for (; next < f->annotations.count && f->annotations.items[next].instruction == i; next++) {
            const hd_annotation *note = &f->annotations.items[next];
            if (note->kind == HD_ANNOTATION_PIR)
                add_slots(to, code, &renamed, i, note->value);
            for (uint32_t w = 0; note->kind == HD_ANNOTATION_PBR && w < note->count; w++)
                add_word(to, &renamed, false, f->annotation_words.items[note->value + w]);
        }
        for (uint32_t k = 0; k < 2; k++)
            to->released_at[k][i + 1] = to->released[k].count;
    }
}

static bool is_float(const hd_function *f, const hd_instruction *insn)
{
    hd_unit unit = hd_form_unit(hd_insn_form(f, insn));
    return unit == HD_UNIT_SP || unit == HD_UNIT_DP || unit == HD_UNIT_SFU;
}

static bool read_function(hd_corf_hints *hints, hd_corf_function *to, const hd_rf_code *code, hd_corf_policy policy)
{
    const hd_function *f = code->function;
    bool good = true;
    to->partners = HD_ARENA_ARRAY(&hints->arena, uint32_t, code->storage.frame + 1);
    to->sides = HD_ARENA_ARRAY(&hints->arena, uint8_t, code->storage.frame + 1);
    to->is_float = HD_ARENA_ARRAY(&hints->arena, bool, code->instruction_count + 1);
    for (uint32_t w = 0; w < code->storage.frame; w++)
        to->partners[w] = HD_NONE;
    for (uint32_t i = 0; i < code->instruction_count; i++) {
        uint32_t sources = code->source_first[i + 1] - code->source_first[i];
        to->is_float[i] = is_float(f, &f->instructions.items[i]);
        hints->most_sources = hd_max(hints->most_sources, sources);
    }
    for (uint32_t a = 0; a < f->annotations.count; a++)
        good = good && read_note(policy, to, code, &f->annotations.items[a]);
    return good;
}

bool hd_corf_hints_read(hd_corf_hints *hints, const hd_rf_module *code, hd_corf_policy policy, bool releases)
{
    bool good = true;
    hints->function_count = code->module->functions.count;
    hints->functions = HD_ARENA_ARRAY(&hints->arena, hd_corf_function, hints->function_count);
    for (uint32_t f = 0; f < hints->function_count; f++) {
        if (!code->functions[f])
            continue;
        good = read_function(hints, &hints->functions[f], code->functions[f], policy) && good;
        if (releases)
            read_releases(hints, &hints->functions[f], code->functions[f]);
    }
    return good;
}

void hd_corf_hints_free(hd_corf_hints *hints)
{
    for (uint32_t f = 0; f < hints->function_count; f++)
        for (uint32_t k = 0; k < 2; k++)
            hd_array_free(&hints->functions[f].released[k]);
    hd_arena_free(&hints->arena);
}
