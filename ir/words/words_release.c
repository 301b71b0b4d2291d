/* Metadata words of release flags (pir, pbr): the layout of "GPU Register File Virtualization", MICRO 2015.
 *
 *   pir   3 bits per instruction, the first source in the lowest bit: one word before each block's first issued
 *         instruction, for 18 instructions, and another one after every 18 issued instructions of the block
 *   pbr   nine 6-bit registers, before the instruction at which they are released; unused fields repeat the first
 *         register. With a register above 63 (our extension): six 8-bit fields, for the whole list. A longer list takes
 *         several words. They precede a pir word at the same position
 *   head  the renamed registers, one bit each from the lowest on, 54 per word (ours; the paper renames the highest
 *         numbers and gives their count)
 *
 * A function without a list of renamed registers has no words. Numbers are words of the register file; a pbr list with
 * a virtual register above 255 cannot be represented. Linear.
 */
#include "base/bits.h"
#include "ir/cfg.h"
#include "ir/storage.h"
#include "ir/words/words.h"

enum { PIR_BITS = 3, PIR_INSTRUCTIONS = 18, PBR_BITS = 6, PBR_WIDE_BITS = 8 };

typedef struct list_shape {
    hd_word_opcode opcode;
    uint32_t bits, most; /* of a register field; register fields per word */
} list_shape;
static const list_shape narrow = {HD_WORD_PBR, PBR_BITS, HD_WORD_PAYLOAD_BITS / PBR_BITS};
static const list_shape wide = {HD_WORD_PBR_WIDE, PBR_WIDE_BITS, HD_WORD_PAYLOAD_BITS / PBR_WIDE_BITS};

/* Iterates over issued instructions, block by block. */
typedef struct flagged_instruction {
    uint32_t ordinal;
    /* index among the issued instructions of its block, modulo PIR_INSTRUCTIONS: 0: a pir word precedes it */
    uint32_t position;
} flagged_instruction;

static flagged_instruction *list_flagged(const hd_function *function, hd_arena *scratch, uint32_t *count)
{
    const hd_cfg *cfg = hd_function_cfg((hd_function *)function); /* built on demand, and cached */
    hd_storage storage = hd_storage_of(function, scratch);
    flagged_instruction *flagged =
        hd_arena_alloc(scratch, ((size_t)function->instructions.count + 1) * sizeof *flagged);
    *count = 0;
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        uint32_t issued = 0;
        for (uint32_t i = cfg->blocks[b].first; i < cfg->blocks[b].end; i++)
            if (!hd_storage_skips(&storage, i))
                flagged[(*count)++] = (flagged_instruction){i, issued++ % PIR_INSTRUCTIONS};
    }
    return flagged;
}

/* ---- encoding ---------------------------------------------------------------------------------------------------- */

static bool put_list(const uint32_t *registers, uint32_t count, uint32_t instruction, hd_word_array *words,
                     const char **refusal)
{
    const list_shape *shape = &narrow;
    for (uint32_t i = 0; i < count; i++) {
        shape = registers[i] >= 1u << PBR_BITS ? &wide : shape;
        if (registers[i] >= 1u << PBR_WIDE_BITS) {
            *refusal = "a register above 255 has no number in a pbr word";
            return false;
        }
    }
    for (uint32_t at = 0; at < count; at += shape->most) {
        uint64_t payload = 0;
        for (uint32_t i = 0; i < shape->most; i++)
            payload |= (uint64_t)registers[at + i < count ? at + i : at] << i * shape->bits;
        hd_array_push(words, (hd_word){instruction, hd_word_make(shape->opcode, payload)});
    }
    return true;
}

static void put_renamed(const uint32_t *registers, uint32_t count, hd_word_array *words)
{
    uint32_t first = words->count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t word = first + registers[i] / HD_WORD_PAYLOAD_BITS;
        while (words->count <= word)
            hd_array_push(words, (hd_word){HD_NONE, hd_word_make(HD_WORD_RELEASE_RENAMED, 0)});
        words->items[word].bits |= hd_word_make(HD_WORD_RELEASE_RENAMED, 1ull << registers[i] % HD_WORD_PAYLOAD_BITS);
    }
}

/* The flags of an instruction; `at` advances through the function's annotations in step with the instructions
 * queried. */
static void find_flags(const hd_function *function, uint32_t instruction, uint32_t *at, const hd_annotation **pir,
                       const hd_annotation **pbr)
{
    const hd_annotation *a = function->annotations.items;
    *pir = *pbr = NULL;
    while (*at < function->annotations.count && a[*at].instruction < instruction)
        ++*at;
    for (; *at < function->annotations.count && a[*at].instruction == instruction; ++*at) {
        *pir = a[*at].kind == HD_ANNOTATION_PIR ? &a[*at] : *pir;
        *pbr = a[*at].kind == HD_ANNOTATION_PBR ? &a[*at] : *pbr;
    }
}

static bool put_flags(const hd_function *function, hd_word_array *words, const char **refusal)
{
    hd_arena scratch = {0};
    uint32_t count, pir_word = 0, at = 0;
    const flagged_instruction *flagged = list_flagged(function, &scratch, &count);
    const hd_annotation *pir, *pbr;
    bool good = true;
    for (uint32_t p = 0; p < count && good; p++) {
        uint32_t i = flagged[p].ordinal;
        find_flags(function, i, &at, &pir, &pbr);
        if (pbr)
            good = put_list(hd_array_at(&function->annotation_words, pbr->value), pbr->count, i, words, refusal);
        if (!flagged[p].position) {
            pir_word = words->count;
            hd_array_push(words, (hd_word){i, hd_word_make(HD_WORD_PIR, 0)});
        }
        if (pir && pir->value >> PIR_BITS)
            *refusal = "a pir word has bits for three sources", good = false;
        if (pir && good)
            words->items[pir_word].bits |=
                hd_word_make(HD_WORD_PIR, (uint64_t)pir->value << flagged[p].position * PIR_BITS);
    }
    hd_arena_free(&scratch);
    return good;
}

bool hd_words_of_release(const hd_function *function, hd_word_array *words, const char **refusal)
{
    const hd_annotation *renamed = hd_annotation_at(function, HD_ANNOTATION_RELEASE_RENAMED, HD_NONE, 0);
    if (!renamed)
        return true;
    put_renamed(hd_array_at(&function->annotation_words, renamed->value), renamed->count, words);
    return put_flags(function, words, refusal);
}

/* ---- decoding ---------------------------------------------------------------------------------------------------- */

typedef struct reader {
    const hd_word *words;
    uint32_t count, at;
    hd_annotation_set *set;
} reader;

static bool is_next(const reader *r, uint32_t instruction, hd_word_opcode opcode)
{
    return r->at < r->count && r->words[r->at].instruction == instruction &&
           hd_word_opcode_of(r->words[r->at].bits) == opcode;
}

static void take_renamed(reader *r)
{
    hd_annotation note = {.kind = HD_ANNOTATION_RELEASE_RENAMED, .instruction = HD_NONE, .value = r->set->words.count};
    for (uint32_t base = 0; is_next(r, HD_NONE, HD_WORD_RELEASE_RENAMED); base += HD_WORD_PAYLOAD_BITS) {
        uint64_t payload = hd_word_payload(r->words[r->at++].bits);
        HD_EACH_BIT64 (bit, payload)
            hd_array_push(&r->set->words, base + (uint32_t)bit);
    }
    note.count = r->set->words.count - note.value;
    hd_array_push(&r->set->items, note);
}

static void take_lists(reader *r, uint32_t instruction)
{
    hd_annotation note = {.kind = HD_ANNOTATION_PBR, .instruction = instruction, .value = r->set->words.count};
    for (;;) {
        const list_shape *shape = is_next(r, instruction, HD_WORD_PBR)        ? &narrow
                                  : is_next(r, instruction, HD_WORD_PBR_WIDE) ? &wide
                                                                              : NULL;
        if (!shape)
            break;
        uint64_t payload = hd_word_payload(r->words[r->at++].bits), mask = (1ull << shape->bits) - 1,
                 first = payload & mask;
        for (uint32_t i = 0; i < shape->most; i++)
            if (i == 0 || (payload >> i * shape->bits & mask) != first)
                hd_array_push(&r->set->words, (uint32_t)(payload >> i * shape->bits & mask));
    }
    note.count = r->set->words.count - note.value;
    if (note.count)
        hd_array_push(&r->set->items, note);
}

static bool take_flags(reader *r, const flagged_instruction *flagged, uint32_t count)
{
    uint64_t flags = 0;
    for (uint32_t p = 0; p < count; p++) {
        uint32_t i = flagged[p].ordinal;
        take_lists(r, i);
        if (!flagged[p].position) {
            if (flags || !is_next(r, i, HD_WORD_PIR)) /* bits of instructions that do not exist */
                return false;
            flags = hd_word_payload(r->words[r->at++].bits);
        }
        uint64_t field = (1ull << PIR_BITS) - 1;
        uint32_t bits = flags >> flagged[p].position * PIR_BITS & field;
        flags &= ~(field << flagged[p].position * PIR_BITS);
        if (bits)
            hd_array_push(&r->set->items, (hd_annotation){.kind = HD_ANNOTATION_PIR, .instruction = i, .value = bits});
    }
    return !flags && r->at == r->count;
}

bool hd_words_to_release(const hd_function *function, const hd_word *words, uint32_t count, hd_annotation_set *set)
{
    hd_arena scratch = {0};
    reader r = {words, count, 0, set};
    uint32_t flagged_count;
    if (!count)
        return true;
    const flagged_instruction *flagged = list_flagged(function, &scratch, &flagged_count);
    take_renamed(&r);
    bool good = take_flags(&r, flagged, flagged_count);
    hd_arena_free(&scratch);
    return good;
}
