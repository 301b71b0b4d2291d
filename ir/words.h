/* Annotations as 64-bit metadata words, as the papers put them among the machine code's instructions.
 *
 * Layout of a word (the Fermi encoding of the RFV paper, 64-bit instructions): bits 0..3 and 58..63 are the opcode, its
 * low four bits and its high six; bits 4..57 are 54 bits of payload, fields from bit 4 on. Opcodes are those of
 * words.def. Where a paper has fields of 6 bits, registers above 63 need a wide word with fields of 8 bits and an
 * opcode of its own: ours.
 *
 * What is in the instructions themselves (BOW's two bits a destination, LTRF+'s dead bits, DeMO's operands) needs
 * no words, but bits: hd_words_size reports both.
 *
 * A technique is a row in word_codes.def and one file, ir/words_TECHNIQUE.c. `decode` takes what `encode` made of a
 * function and must give the same annotations again; it looks at the function's instructions and at the words, at
 * nothing else.
 */
#ifndef HD_IR_WORDS_H
#define HD_IR_WORDS_H

#include "ir/annotations.h"

typedef struct hd_word {
    /* it precedes this one, after those of the same place that come earlier; HD_NONE: at the function's head */
    uint32_t instruction;
    uint64_t bits;
} hd_word;
typedef HD_ARRAY(hd_word) hd_word_array; /* in text order, the head first */

typedef enum hd_word_opcode {
#define HD_WORD(id, opcode, raw, technique, name, summary) HD_WORD_##id = opcode,
#include "ir/words.def"
#undef HD_WORD
} hd_word_opcode;
typedef struct hd_word_info {
    uint16_t opcode;
    bool raw; /* as many words follow as the payload says, without opcode */
    const char *technique, *name, *summary;
} hd_word_info;
extern const hd_word_info hd_word_infos[];
extern const uint32_t hd_word_info_count;
const hd_word_info *hd_word_find(uint32_t opcode); /* NULL: none of ours */

enum { HD_WORD_PAYLOAD_BITS = 54 };
static inline uint64_t hd_word_make(hd_word_opcode opcode, uint64_t payload)
{
    return ((uint64_t)opcode & 15) | payload << 4 | (uint64_t)opcode >> 4 << 58;
}
static inline uint32_t hd_word_opcode_of(uint64_t bits) { return (uint32_t)((bits & 15) | bits >> 58 << 4); }
static inline uint64_t hd_word_payload(uint64_t bits) { return bits >> 4 & ((1ULL << HD_WORD_PAYLOAD_BITS) - 1); }

typedef struct hd_word_code {
    const char *technique; /* spelling in ir/techniques.def */
    /* Appends the words of the technique's annotations. false, with *refusal (static text): what the layout cannot say.
     * NULL where it needs none. */
    bool (*encode)(const hd_function *function, hd_word_array *words, const char **refusal);
    /* Appends the annotations (sorted afterwards by the caller); false: these are no words that encode makes. */
    bool (*decode)(const hd_function *function, const hd_word *words, uint32_t count, hd_annotation_set *set);
    /* Bits in the instructions themselves; NULL: none. */
    uint64_t (*bits)(const hd_function *function);
} hd_word_code;
extern const hd_word_code hd_word_codes[];
extern const uint32_t hd_word_code_count;
const hd_word_code *hd_word_code_find(const char *technique); /* NULL: no row */

/* What the annotations of a technique add to a function. */
typedef struct hd_word_size {
    uint64_t words, bits; /* metadata words; bits in the instructions */
    double percent;       /* words to instructions that are issued (64 bits each, as in the papers) */
} hd_word_size;
/* false: no row, or refused */
bool hd_words_size(const hd_function *function, const char *technique, hd_word_size *size);

/* Every code: bool hd_words_of_corf(...), bool hd_words_to_corf(...) */
#define HD_WORD_CODE(technique, encode, decode, bits)                                     \
    bool encode(const hd_function *function, hd_word_array *words, const char **refusal); \
    bool decode(const hd_function *function, const hd_word *words, uint32_t count, hd_annotation_set *set);
#define HD_WORD_BITS(technique, bits) uint64_t bits(const hd_function *function);
#include "ir/word_codes.def"
#undef HD_WORD_CODE
#undef HD_WORD_BITS
uint64_t hd_words_bits_of_ltrf(const hd_function *function); /* has words too */

#endif
