/* Metadata words: see words.h. */
#include "ir/words/words.h"
#include "ir/storage.h"

static const hd_word_info infos[] = {
#define HD_WORD(id, opcode, raw, technique, name, summary) {opcode, raw, technique, name, summary},
#include "ir/words/words.def"
#undef HD_WORD
};

#define HD_WORD_CODE(technique, encode, decode, bits) {technique, encode, decode, bits},
#define HD_WORD_BITS(technique, bits) {technique, NULL, NULL, bits},
const hd_word_code hd_word_codes[] = {
#include "ir/words/word_codes.def"
};
#undef HD_WORD_CODE
#undef HD_WORD_BITS
const uint32_t hd_word_code_count = sizeof hd_word_codes / sizeof *hd_word_codes;

const hd_word_info *hd_word_find(uint32_t opcode)
{
    for (uint32_t i = 0; i < sizeof infos / sizeof *infos; i++)
        if (infos[i].opcode == opcode)
            return &infos[i];
    return NULL;
}

const hd_word_code *hd_word_code_find(const char *technique)
{
    for (uint32_t i = 0; i < hd_word_code_count; i++)
        if (!strcmp(hd_word_codes[i].technique, technique))
            return &hd_word_codes[i];
    return NULL;
}

bool hd_words_size(const hd_function *function, const char *technique, hd_word_size *size)
{
    const hd_word_code *code = hd_word_code_find(technique);
    const char *refusal = NULL;
    hd_word_array words = {0};
    bool good = code && (!code->encode || code->encode(function, &words, &refusal));
    uint32_t instructions = hd_function_issued(function);
    *size = (hd_word_size){words.count, good && code->bits ? code->bits(function) : 0, 0};
    if (instructions)
        size->percent = 100.0 * (double)words.count / instructions;
    hd_array_free(&words);
    return good;
}

/* ---- techniques that encode decisions in the instructions -------------------------------------------------------- */

static uint64_t count_of(const hd_function *function, hd_annotation_kind kind)
{
    uint64_t count = 0;
    for (uint32_t a = 0; a < function->annotations.count; a++)
        count += function->annotations.items[a].kind == kind;
    return count;
}

/* Two bits per destination: write to the window, write to the file (BOW-WR, section 3.3). */
uint64_t hd_words_bits_of_bow(const hd_function *function) { return 2 * count_of(function, HD_ANNOTATION_BOW); }

/* One bit in the load (its opcode is one of the added ones) and one in its consumer's operand (the virtual register,
 * lines 2'' and 3'' of figure 4). The destination field of the load still exists, unused, because instructions have a
 * fixed width. */
uint64_t hd_words_bits_of_demo(const hd_function *function)
{
    return count_of(function, HD_ANNOTATION_DEMO) + count_of(function, HD_ANNOTATION_DEMO_OPERAND);
}
