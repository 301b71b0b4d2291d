/* Register storage: where a function's registers are in the register file, as numbered words of 32 bits.
 *
 * Virtual form: each mentioned register has words of its own, numbered in declaration order (ordinal, then index), so
 * that the numbers survive text -> IR -> text. Architected form: word n is Rn, so that names alias: %R8 is the low word
 * of %RD8. A 16-bit register occupies a whole word, because no name denotes the other half: writing %RH7 ends the live
 * range of R7's value. Registers without a physical name have the words after all others. Predicates have no words in
 * either form.
 *
 * An identity (hd_insn_is_identity) renames a value that stays in its register. It reads and writes nothing and is not
 * issued. The same holds for the load of a bank operand (constant_bank.h), a register that represents a location of the
 * constant bank and has no words.
 *
 * Linear in registers and instructions; in virtual form the registers are sorted.
 */
#ifndef HD_IR_STORAGE_H
#define HD_IR_STORAGE_H

#include "ir/architected.h"
#include "ir/constant_bank.h"

typedef struct hd_storage {
    const hd_function *function;
    bool architected;
    uint32_t words; /* words of all declared registers */
    /* architected form: words of physical registers, R0 up to the highest declared one; else all words */
    uint32_t physical_words;
    /* words of the function's frame; registers that are declared but not mentioned have later words */
    uint32_t frame;
    /* by register: its first word; meaningless for registers without words (predicates, bank operands) */
    uint32_t *first;
    uint32_t *end;    /* by register: the end of its words */
    const bool *bank; /* by register: it is a bank operand; NULL: none is */
    uint32_t *issued; /* by instruction, plus one: number of issued instructions before it in the text */
} hd_storage;

/* Valid until the function's instructions or registers change. */
hd_storage hd_storage_of(const hd_function *function, hd_arena *arena);

/* Whether the instruction exists only in the text: an identity, or the load of a bank operand. */
static inline bool hd_storage_skips(const hd_storage *s, uint32_t instruction)
{
    return s->issued[instruction + 1] == s->issued[instruction];
}

/* Number of words of a register: 0 for predicates and bank operands. */
static inline uint32_t hd_storage_count(const hd_storage *s, uint32_t reg) { return s->end[reg] - s->first[reg]; }

/* Number of instructions of the function that are issued. */
uint32_t hd_function_issued(const hd_function *function);

/* for (uint32_t word in all words of register reg) */
#define HD_STORAGE_WORDS(storage, reg, word) \
    for (uint32_t word = (storage)->first[reg], word##_end = (storage)->end[reg]; word < word##_end; word++)

/* Writes the name of a word to a buffer, for messages: "R7"; in virtual form "%rd3 (word 1)". */
void hd_storage_spell(const hd_storage *storage, uint32_t word, char *buffer, size_t size);

#endif
