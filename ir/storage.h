/* Where the registers of a function lie in the register file: as words of 32 bits, by number.
 *
 * Virtual form: each register that instructions name has words of its own, numbered in the order of declarations
 * (ordinal, then index), so that the numbers are the same after text -> IR -> text. Architected form: word n is Rn, so
 * that names alias: %R8 is the low word of %RD8. A 16-bit register is a word too, because nothing else ever lies in the
 * other half (there is no name for it): who writes %RH7 ends the life of what R7 held. Registers whose names tell no
 * place have words after all others. Predicates have none in either form.
 *
 * An identity (hd_insn_is_identity) says under which name a value goes on that stays where it is. It is no instruction:
 * it reads nothing, writes nothing, and is not issued. The same holds for the load of a bank operand (constant_bank.h),
 * a register that stands for a place of the constant bank and has no words.
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
    uint32_t words; /* of all registers that are declared */
    /* the first of them, in the architected form: R0 up to the highest place that is declared; else all */
    uint32_t places;
    /* the first of them: those of the function's frame. What is in a declaration only has words after */
    uint32_t frame;
    uint32_t *first;  /* by register: its first word; what has none (predicates, bank operands) has any */
    uint32_t *end;    /* by register: after its last word */
    const bool *bank; /* by register: a bank operand; NULL: none is */
    uint32_t *issued; /* by instruction, and one more: instructions before it in the text that are issued */
} hd_storage;

/* Valid while the function's instructions and registers stay as they are. */
hd_storage hd_storage_of(const hd_function *function, hd_arena *arena);

/* Is it an instruction that is only in the text: an identity, or the load of a bank operand? */
static inline bool hd_storage_skips(const hd_storage *s, uint32_t instruction)
{
    return s->issued[instruction + 1] == s->issued[instruction];
}

/* 32-bit words that the register fills: 0 for predicates and bank operands. */
static inline uint32_t hd_storage_count(const hd_storage *s, uint32_t reg) { return s->end[reg] - s->first[reg]; }

/* Instructions of the function that are issued. */
uint32_t hd_function_issued(const hd_function *function);

/* for (uint32_t word in all words of register reg) */
#define HD_STORAGE_WORDS(storage, reg, word) \
    for (uint32_t word = (storage)->first[reg], word##_end = (storage)->end[reg]; word < word##_end; word++)

/* Name of a word into a buffer, for people: "R7"; "%rd3 (word 1)" of a virtual register. */
void hd_storage_spell(const hd_storage *storage, uint32_t word, char *buffer, size_t size);

#endif
