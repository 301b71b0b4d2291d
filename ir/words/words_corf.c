/* Metadata words of corf and corf++, at the function's head. The layouts are in words.def.
 *
 * corf: first the pairs of registers up to 63, in the paper's words of four pairs; then pairs with a higher register,
 * three per word. Both in ascending order of the pairs' first registers, which is the order of the annotation, so that
 * merging both lists restores it. An unused field names one register twice.
 *
 * corf++: a vector of two bits per register, from register 0 to the last aligned one. The paper's 128 bits (64
 * registers) are three words of 54 bits.
 */
#include "ir/words/words.h"

enum {
    NARROW_BITS = 6,
    NARROW_PAIRS = 4,
    WIDE_BITS = 8,
    WIDE_PAIRS = 3,
    REGISTERS_A_WORD = 27,
    REGISTERS_MOST = 1 << 24
};

/* ---- corf -------------------------------------------------------------------------------------------------------- */

static const uint32_t *list_of(const hd_function *f, uint16_t kind, uint32_t *count)
{
    const hd_annotation *a = hd_annotation_at(f, kind, HD_NONE, 0);
    *count = a ? a->count : 0;
    return a ? hd_array_at(&f->annotation_words, a->value) : NULL;
}

static bool is_wide(const uint32_t *pair) { return (pair[0] | pair[1]) >> NARROW_BITS != 0; }

static const char *fault_of_pairs(const hd_function *f, const uint32_t *words, uint32_t count)
{
    if (hd_annotation_at(f, HD_ANNOTATION_CORF_PAIRS, HD_NONE, 0) && !count)
        return "a list without a pair takes no word";
    if (count % 2)
        return "half a pair";
    for (uint32_t i = 0; i < count; i += 2) {
        if ((words[i] | words[i + 1]) >> WIDE_BITS)
            return "a register above 255";
        if (words[i] >= words[i + 1] || (i && words[i - 2] >= words[i]))
            return "pairs that are not in ascending order";
    }
    return NULL;
}

static void encode_pairs(const uint32_t *words, uint32_t count, bool wide, hd_word_array *out)
{
    uint32_t bits = wide ? WIDE_BITS : NARROW_BITS, most = wide ? WIDE_PAIRS : NARROW_PAIRS, filled = 0;
    uint64_t payload = 0;
    for (uint32_t i = 0; i <= count; i += 2) {
        if (filled == most || (i == count && filled)) {
            hd_array_push(
                out, (hd_word){HD_NONE, hd_word_make(wide ? HD_WORD_CORF_PAIRS_WIDE : HD_WORD_CORF_PAIRS, payload)});
            filled = 0;
            payload = 0;
        }
        if (i < count && is_wide(words + i) == wide)
            payload |= (uint64_t)(words[i] | words[i + 1] << bits) << (2 * bits * filled++);
    }
}

bool hd_words_of_corf(const hd_function *function, hd_word_array *words, const char **refusal)
{
    uint32_t count;
    const uint32_t *list = list_of(function, HD_ANNOTATION_CORF_PAIRS, &count);
    *refusal = fault_of_pairs(function, list, count);
    if (*refusal)
        return false;
    encode_pairs(list, count, false, words);
    encode_pairs(list, count, true, words);
    return true;
}

typedef struct pair {
    uint32_t words[2];
} pair;
typedef HD_ARRAY(pair) pair_array;

static int compare_pairs(const void *a, const void *b)
{
    uint32_t x = ((const pair *)a)->words[0], y = ((const pair *)b)->words[0];
    return (x > y) - (x < y);
}

static bool decode_pairs(uint64_t bits, pair_array *pairs)
{
    uint32_t opcode = hd_word_opcode_of(bits);
    if (opcode != HD_WORD_CORF_PAIRS && opcode != HD_WORD_CORF_PAIRS_WIDE)
        return false;
    bool wide = opcode == HD_WORD_CORF_PAIRS_WIDE;
    uint32_t field = wide ? WIDE_BITS : NARROW_BITS, most = wide ? WIDE_PAIRS : NARROW_PAIRS, mask = (1u << field) - 1;
    for (uint32_t k = 0; k < most; k++) {
        uint32_t both = (uint32_t)(hd_word_payload(bits) >> (2 * field * k));
        pair p = {{both & mask, both >> field & mask}};
        if (p.words[0] == p.words[1])
            continue;
        if (p.words[0] > p.words[1])
            return false;
        hd_array_push(pairs, p);
    }
    return hd_word_payload(bits) >> (2 * field * most) == 0;
}

static void push_list(hd_annotation_set *set, uint16_t kind, const uint32_t *words, uint32_t count)
{
    if (!count)
        return;
    hd_array_push(&set->items, (hd_annotation){kind, 0, HD_NONE, set->words.count, count});
    memcpy(hd_array_extend(&set->words, count), words, count * sizeof *words);
}

bool hd_words_to_corf(const hd_function *function, const hd_word *words, uint32_t count, hd_annotation_set *set)
{
    pair_array pairs = {0};
    bool good = true;
    (void)function;
    for (uint32_t w = 0; w < count && good; w++)
        good = words[w].instruction == HD_NONE && decode_pairs(words[w].bits, &pairs);
    if (pairs.count)
        qsort(pairs.items, pairs.count, sizeof *pairs.items, compare_pairs);
    if (good && pairs.count)
        push_list(set, HD_ANNOTATION_CORF_PAIRS, pairs.items[0].words, 2 * pairs.count);
    hd_array_free(&pairs);
    return good;
}

/* ---- corf++ ------------------------------------------------------------------------------------------------------ */

static const uint16_t side_kinds[] = {HD_ANNOTATION_CORF_LEFT, HD_ANNOTATION_CORF_RIGHT}; /* codes 1 and 2 */

typedef HD_ARRAY(uint64_t) payload_array;

/* Sets the code of each register of a list; returns the error, or NULL. */
static const char *encode_side(const uint32_t *list, uint32_t count, uint64_t code, payload_array *payloads)
{
    if (!count)
        return "a list without a register takes no word";
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = list[i] / REGISTERS_A_WORD, shift = 2 * (list[i] % REGISTERS_A_WORD);
        if (list[i] >= REGISTERS_MOST)
            return "a register that is too high";
        while (payloads->count <= at)
            hd_array_push(payloads, 0);
        if ((i && list[i - 1] >= list[i]) || payloads->items[at] >> shift & 3)
            return "registers that are not in ascending order, or on both sides";
        payloads->items[at] |= code << shift;
    }
    return NULL;
}

bool hd_words_of_corfpp(const hd_function *function, hd_word_array *words, const char **refusal)
{
    payload_array payloads = {0};
    *refusal = NULL;
    for (uint32_t side = 0; side < 2 && !*refusal; side++) {
        uint32_t count;
        const uint32_t *list = list_of(function, side_kinds[side], &count);
        if (hd_annotation_at(function, side_kinds[side], HD_NONE, 0))
            *refusal = encode_side(list, count, side + 1, &payloads);
    }
    for (uint32_t w = 0; w < payloads.count && !*refusal; w++)
        hd_array_push(words, (hd_word){HD_NONE, hd_word_make(HD_WORD_CORF_ALIGNMENT, payloads.items[w])});
    hd_array_free(&payloads);
    return !*refusal;
}

bool hd_words_to_corfpp(const hd_function *function, const hd_word *words, uint32_t count, hd_annotation_set *set)
{
    hd_u32_array lists[2] = {{0}, {0}};
    bool good = true;
    (void)function;
    for (uint32_t w = 0; w < count && good; w++) {
        good = words[w].instruction == HD_NONE && hd_word_opcode_of(words[w].bits) == HD_WORD_CORF_ALIGNMENT;
        for (uint32_t k = 0; k < REGISTERS_A_WORD && good; k++) {
            uint32_t code = hd_word_payload(words[w].bits) >> (2 * k) & 3;
            good = code != 3;
            if (good && code)
                hd_array_push(&lists[code - 1], w * REGISTERS_A_WORD + k);
        }
    }
    for (uint32_t side = 0; side < 2; side++) {
        if (good)
            push_list(set, side_kinds[side], lists[side].items, lists[side].count);
        hd_array_free(&lists[side]);
    }
    return good;
}
