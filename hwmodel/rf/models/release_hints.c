/* Release flags and their words from annotations: see release_hints.h. O(annotations + their words). */
#include "hwmodel/rf/models/release_hints.h"
#include "base/bits.h"
#include "ir/words/words.h"

static const uint32_t *annotation_words(const hd_rf_code *code, uint16_t kind, uint32_t instruction, uint32_t *count)
{
    const hd_annotation *note = hd_annotation_at(code->function, kind, instruction, 0);
    *count = note ? note->count : 0;
    return note ? hd_array_at(&code->function->annotation_words, note->value) : NULL;
}

static void read_renamed(hd_release_hints *h, hd_release_function *c, const hd_rf_code *code, bool all_static)
{
    uint32_t count;
    const uint32_t *words = annotation_words(code, HD_ANNOTATION_RELEASE_RENAMED, HD_NONE, &count);
    c->renamed = hd_bitset_new(&h->arena, code->storage.frame + 1);
    for (uint32_t i = 0; i < count && !all_static; i++)
        if (words[i] < code->storage.frame)
            hd_bitset_add(&c->renamed, words[i]);
}

/* The registers of an allocated function are all its numbers up to the highest; those of another, the words that
 * instructions name. */
static void find_fixed(hd_release_hints *h, hd_release_function *c, const hd_rf_code *code)
{
    hd_architected numbers;
    c->fixed = hd_bitset_new(&h->arena, code->storage.frame + 1);
    if (hd_architected_of(code->function, &numbers))
        for (uint32_t word = 0; word < numbers.registers && word < code->storage.frame; word++)
            hd_bitset_add(&c->fixed, word);
    for (uint32_t s = 0; s < code->source_first[code->instruction_count]; s++)
        hd_bitset_add(&c->fixed, code->sources[s]);
    for (uint32_t d = 0; d < code->destination_first[code->instruction_count]; d++)
        hd_bitset_add(&c->fixed, code->destinations[d].word);
    c->names = hd_bitset_count(&c->fixed);
    HD_BITSET_EACH (&c->renamed, word)
        hd_bitset_remove(&c->fixed, word);
}

static void take_source(const hd_release_function *c, const hd_rf_code *code, uint32_t instruction, uint32_t slot,
                        hd_u32_array *words)
{
    const hd_function *f = code->function;
    uint32_t operand = hd_insn_source_slot(f, &f->instructions.items[instruction], slot);
    if (operand == HD_NONE)
        return;
    HD_STORAGE_WORDS (&code->storage, f->operands.items[operand].value, word)
        if (hd_bitset_has(&c->renamed, word))
            hd_array_push(words, word);
}

static void take_pir(const hd_release_function *c, const hd_rf_code *code, uint32_t instruction, hd_u32_array *words)
{
    const hd_annotation *note = hd_annotation_at(code->function, HD_ANNOTATION_PIR, instruction, 0);
    HD_EACH_BIT (slot, note ? note->value : 0)
        take_source(c, code, instruction, slot, words);
}

static void take_pbr(const hd_release_function *c, const hd_rf_code *code, uint32_t instruction, hd_u32_array *words)
{
    uint32_t count;
    const uint32_t *listed = annotation_words(code, HD_ANNOTATION_PBR, instruction, &count);
    for (uint32_t i = 0; i < count; i++)
        if (listed[i] < code->storage.frame && hd_bitset_has(&c->renamed, listed[i]))
            hd_array_push(words, listed[i]);
}

static void read_flags(hd_release_hints *h, hd_release_function *c, const hd_rf_code *code)
{
    hd_u32_array after = {0}, before = {0};
    c->after_first = HD_ARENA_ARRAY(&h->arena, uint32_t, code->instruction_count + 1);
    c->before_first = HD_ARENA_ARRAY(&h->arena, uint32_t, code->instruction_count + 1);
    for (uint32_t i = 0; i < code->instruction_count; i++) {
        take_pir(c, code, i, &after);
        take_pbr(c, code, i, &before);
        c->after_first[i + 1] = after.count;
        c->before_first[i + 1] = before.count;
    }
    c->after = hd_arena_copy(&h->arena, after.items, after.count * sizeof *after.items);
    c->before = hd_arena_copy(&h->arena, before.items, before.count * sizeof *before.items);
    hd_array_free(&after);
    hd_array_free(&before);
}

/* Reads the positions of flag words. Flags that cannot be encoded have no word. */
static const char *read_words(hd_release_hints *h, hd_release_function *c, const hd_rf_code *code, bool all_static,
                              uint32_t *address)
{
    hd_word_array words = {0};
    const char *refusal = NULL;
    uint32_t at = 0, covering = 0;
    c->flags = HD_ARENA_ARRAY(&h->arena, uint32_t, code->instruction_count + 1);
    c->lists = HD_ARENA_ARRAY(&h->arena, uint8_t, code->instruction_count + 1);
    c->starts = hd_bitset_new(&h->arena, code->instruction_count + 1);
    if (!all_static && !hd_words_of_release(code->function, &words, &refusal))
        words.count = 0;
    while (at < words.count && words.items[at].instruction == HD_NONE)
        at++, ++*address;
    for (uint32_t i = 0; i < code->instruction_count; i++) {
        for (; at < words.count && words.items[at].instruction == i; at++, ++*address) {
            if (hd_word_opcode_of(words.items[at].bits) != HD_WORD_PIR) {
                c->lists[i] += c->lists[i] < UINT8_MAX;
                continue;
            }
            covering = 1 + *address;
            hd_bitset_add(&c->starts, i);
        }
        c->flags[i] = covering;
        *address += !hd_storage_skips(&code->storage, i);
    }
    hd_array_free(&words);
    return refusal;
}

const char *hd_release_hints_read(hd_release_hints *h, const hd_rf_module *code, bool all_static)
{
    const char *refusal = NULL;
    uint32_t address = 0;
    h->functions = HD_ARENA_ARRAY(&h->arena, hd_release_function, code->module->functions.count);
    for (uint32_t f = 0; f < code->module->functions.count && !refusal; f++) {
        if (!code->functions[f])
            continue;
        read_renamed(h, &h->functions[f], code->functions[f], all_static);
        find_fixed(h, &h->functions[f], code->functions[f]);
        read_flags(h, &h->functions[f], code->functions[f]);
        refusal = read_words(h, &h->functions[f], code->functions[f], all_static, &address);
    }
    return refusal;
}

void hd_release_hints_free(hd_release_hints *h) { hd_arena_free(&h->arena); }
