/* Annotations as 64-bit metadata words among the machine instructions, as the papers encode them.
 *
 * Layout of a word (the Fermi encoding of the RFV paper, 64-bit instructions): bits 0..3 and 58..63 are the low four
 * and the high six bits of the opcode; bits 4..57 are 54 bits of payload, with fields from bit 4 on. Opcodes are listed
 * in words.def. Where a paper has 6-bit register fields, registers above 63 use a wide word with 8-bit fields and an
 * opcode of its own, which is our extension.
 *
 * Decisions in the instructions themselves (BOW's two bits per destination, LTRF+'s dead bits, DeMO's operands) need
 * bits instead of words: hd_words_size reports both.
 *
 * A technique has a row in word_codes.def and one file, ir/words_TECHNIQUE.c. `decode` is the inverse of `encode`: it
 * must return the same annotations, from the function's instructions and the words alone.
 */
#ifndef HD_IR_WORDS_H
#define HD_IR_WORDS_H

#include "ir/annotations.h"

typedef struct hd_word {
    /* the instruction that it precedes, after earlier words at that position; HD_NONE: at the function's head */
    uint32_t instruction;
    uint64_t bits;
} hd_word;
typedef HD_ARRAY(hd_word) hd_word_array; /* in text order, those of the head first */

typedef enum hd_word_opcode {
#define HD_WORD(id, opcode, raw, technique, name, summary) HD_WORD_##id = opcode,
#include "ir/words/words.def"
#undef HD_WORD
} hd_word_opcode;
typedef struct hd_word_info {
    uint16_t opcode;
    bool raw; /* followed by words without opcode; the payload gives their number */
    const char *technique, *name, *summary;
} hd_word_info;
const hd_word_info *hd_word_find(uint32_t opcode); /* NULL: not a word of ours */

enum { HD_WORD_PAYLOAD_BITS = 54 };
static inline uint64_t hd_word_make(hd_word_opcode opcode, uint64_t payload)
{
    return ((uint64_t)opcode & 15) | payload << 4 | (uint64_t)opcode >> 4 << 58;
}
static inline uint32_t hd_word_opcode_of(uint64_t bits) { return (uint32_t)((bits & 15) | bits >> 58 << 4); }
static inline uint64_t hd_word_payload(uint64_t bits) { return bits >> 4 & ((1ULL << HD_WORD_PAYLOAD_BITS) - 1); }

typedef struct hd_word_code {
    const char *technique; /* spelling in ir/techniques.def */
    /* Appends the words of the technique's annotations. Returns false with *refusal (static string) if the layout
     * cannot represent them. NULL: the technique needs no words. */
    bool (*encode)(const hd_function *function, hd_word_array *words, const char **refusal);
    /* Appends the annotations (the caller sorts them); false: encode produces no such words. */
    bool (*decode)(const hd_function *function, const hd_word *words, uint32_t count, hd_annotation_set *set);
    /* Number of bits in the instructions themselves; NULL: none. */
    uint64_t (*bits)(const hd_function *function);
} hd_word_code;
extern const hd_word_code hd_word_codes[];
extern const uint32_t hd_word_code_count;
const hd_word_code *hd_word_code_find(const char *technique); /* NULL: no such row */

/* The size of a technique's annotations in a function. */
typedef struct hd_word_size {
    uint64_t words, bits; /* metadata words; bits in the instructions */
    double percent;       /* words relative to issued instructions (64 bits each, as in the papers) */
} hd_word_size;
/* false: no such row, or not representable */
bool hd_words_size(const hd_function *function, const char *technique, hd_word_size *size);

/* Declares all codes: bool hd_words_of_corf(...), bool hd_words_to_corf(...) */
#define HD_WORD_CODE(technique, encode, decode, bits)                                     \
    bool encode(const hd_function *function, hd_word_array *words, const char **refusal); \
    bool decode(const hd_function *function, const hd_word *words, uint32_t count, hd_annotation_set *set);
#define HD_WORD_BITS(technique, bits) uint64_t bits(const hd_function *function);
#include "ir/words/word_codes.def"
#undef HD_WORD_CODE
#undef HD_WORD_BITS
uint64_t hd_words_bits_of_ltrf(const hd_function *function); /* has words too */

#endif
