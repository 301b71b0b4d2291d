/* Low halves of 64-bit integers: which instructions need no more of their operands, and how the half is computed. */
#ifndef HD_PASSES_CLEAN_LOW_HALF_H
#define HD_PASSES_CLEAN_LOW_HALF_H

#include "ir/form.h"

enum { HD_LOW_HALF_SPELLING = 96 };

/* Whether the type is one integer, or untyped bits, of this width. */
bool hd_is_integer(uint8_t type, uint32_t bits);
/* Whether the operand is a register of a 64-bit integer. */
bool hd_is_wide_integer(const hd_function *function, const hd_operand *operand);
/* The spelling of the instruction that computes the low half of the 64-bit integer that this one computes, from the low
 * halves of its operands (the address of a load aside); false: none does. */
bool hd_low_half(const hd_function *function, const hd_instruction *insn, char to[HD_LOW_HALF_SPELLING]);
/* Whether it converts a 64-bit integer to one of 32 or 16 bits. */
bool hd_is_truncation(const hd_function *function, const hd_instruction *insn);

#endif
