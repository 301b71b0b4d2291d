/* Metadata words of ltrf: see words.h.
 *
 * At the function's head: ltrf.size, the maximum number of words of an interval (N). Before the first instruction of
 * each interval: ltrf.prefetch, the explicit instruction of section 3.2 of the paper, whose payload gives the number of
 * words that follow, and those words: the bit vector, with bit r % 64 of word r / 64 for register r. The vector has 256
 * bits in four words, the maximum registers per thread; virtual registers above 255 have no binary form. The paper's
 * alternative without explicit instructions (a bit in each instruction says that a vector follows) saves one word per
 * interval.
 *
 * Dead-operand bits are in the instructions: one bit for each source that may have one.
 */
#include "base/bits.h"
#include "ir/storage.h"
#include "ir/words/words.h"

enum { VECTOR_WORDS = 4, WORD_BITS = 64, SOURCES_MOST = 32 };

/* ---- encoding ---------------------------------------------------------------------------------------------------- */

static bool is_ascending(const uint32_t *list, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (list[i - 1] >= list[i])
            return false;
    return true;
}

static void encode_vector(const hd_function *f, const hd_annotation *note, hd_word_array *words)
{
    hd_array_push(words, (hd_word){note->instruction, hd_word_make(HD_WORD_LTRF_PREFETCH, VECTOR_WORDS)});
    hd_word *vector = hd_array_extend(words, VECTOR_WORDS);
    for (uint32_t w = 0; w < VECTOR_WORDS; w++)
        vector[w] = (hd_word){note->instruction, 0};
    for (uint32_t w = 0; w < note->count; w++) {
        uint32_t reg = f->annotation_words.items[note->value + w];
        vector[reg / WORD_BITS].bits |= 1ull << reg % WORD_BITS;
    }
}

bool hd_words_of_ltrf(const hd_function *function, hd_word_array *words, const char **refusal)
{
    const hd_annotation *size = hd_annotation_at(function, HD_ANNOTATION_LTRF_SIZE, HD_NONE, 0);
    if (size)
        hd_array_push(words, (hd_word){HD_NONE, hd_word_make(HD_WORD_LTRF_SIZE, size->value)});
    for (uint32_t a = 0; a < function->annotations.count; a++) {
        const hd_annotation *note = &function->annotations.items[a];
        const uint32_t *list = hd_array_at(&function->annotation_words, note->value);
        if (note->kind != HD_ANNOTATION_LTRF_PREFETCH)
            continue;
        *refusal = !is_ascending(list, note->count) ? "registers of an interval that do not ascend"
                   : note->count && list[note->count - 1] >= VECTOR_WORDS * WORD_BITS ? "a register above 255"
                                                                                      : NULL;
        if (*refusal)
            return false;
        encode_vector(function, note, words);
    }
    return true;
}

/* ---- decoding ---------------------------------------------------------------------------------------------------- */

static void decode_vector(const hd_word *vector, uint32_t length, hd_annotation_set *set)
{
    hd_annotation note = {
        .kind = HD_ANNOTATION_LTRF_PREFETCH, .instruction = vector->instruction, .value = set->words.count};
    for (uint32_t w = 0; w < length; w++)
        HD_EACH_BIT64 (bit, vector[w].bits)
            hd_array_push(&set->words, w * WORD_BITS + (uint32_t)bit);
    note.count = set->words.count - note.value;
    hd_array_push(&set->items, note);
}

/* The words at one position form one interval's sequence. */
static bool is_whole(const hd_function *f, const hd_word *words, uint32_t count, uint64_t length)
{
    if (words->instruction >= f->instructions.count || length != VECTOR_WORDS || length >= count)
        return false;
    for (uint32_t w = 1; w <= length; w++)
        if (words[w].instruction != words->instruction)
            return false;
    return true;
}

bool hd_words_to_ltrf(const hd_function *function, const hd_word *words, uint32_t count, hd_annotation_set *set)
{
    for (uint32_t i = 0; i < count;) {
        uint64_t payload = hd_word_payload(words[i].bits);
        switch (hd_word_opcode_of(words[i].bits)) {
        case HD_WORD_LTRF_SIZE:
            if (words[i].instruction != HD_NONE || payload > UINT32_MAX)
                return false;
            hd_array_push(
                &set->items,
                (hd_annotation){.kind = HD_ANNOTATION_LTRF_SIZE, .instruction = HD_NONE, .value = (uint32_t)payload});
            i++;
            break;
        case HD_WORD_LTRF_PREFETCH:
            if (!is_whole(function, words + i, count - i, payload))
                return false;
            decode_vector(words + i + 1, (uint32_t)payload, set);
            i += 1 + (uint32_t)payload;
            break;
        default: return false;
        }
    }
    return true;
}

/* ---- bits in the instructions ------------------------------------------------------------------------------------ */

uint64_t hd_words_bits_of_ltrf(const hd_function *function)
{
    bool any = false;
    uint64_t bits = 0;
    hd_arena arena = {0};
    for (uint32_t a = 0; a < function->annotations.count; a++)
        any = any || function->annotations.items[a].kind == HD_ANNOTATION_LTRF_DEAD;
    hd_storage storage = any ? hd_storage_of(function, &arena) : (hd_storage){0};
    for (uint32_t i = 0; any && i < function->instructions.count; i++) {
        uint32_t sources =
            hd_storage_skips(&storage, i) ? 0 : hd_insn_source_count(function, &function->instructions.items[i]);
        bits += hd_min(sources, SOURCES_MOST);
    }
    hd_arena_free(&arena);
    return bits;
}
