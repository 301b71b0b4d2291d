/* What machine code reads from the constant bank as an operand: parameters of kernels (entry functions), variables of
 * .const at fixed addresses, and the launch's sizes %ntid and %nctaid.
 *
 * PTX loads such a constant into a register. Machine code has no instruction and no register for it where every
 * instruction that reads the register has an operand field for the bank (bank_operands.def). Such a register is a bank
 * operand: one that
 *
 *   - is a scalar of 32 or 64 bits, and in a function of architected form has no physical name;
 *   - is written once, by an unguarded load of its own width;
 *   - is read where bank_operands.def says so, once in an instruction, with no number other than 0 (which is RZ): a
 *     number is in the same field. The shift of LEA has a field of its own: mad.lo and mad.wide by a power of two
 *     take a constant addend.
 *
 * An instruction takes one constant: where it reads several, the first in operand order, and the others are loaded by a
 * MOV, which is an instruction with a destination. The MOV is the load as it is.
 *
 * Passes, checkers and models have this notion from ir/storage.h: bank operands have no words, their loads are not
 * issued. The rule depends on the function's instructions alone, so that its text reads back the same. Linear.
 */
#ifndef HD_IR_CONSTANT_BANK_H
#define HD_IR_CONSTANT_BANK_H

#include "ir/form.h"

/* An unguarded instruction that only reads such a constant, of whatever width. */
bool hd_insn_reads_bank(const hd_function *function, const hd_instruction *insn);

/* Whether operand `index` (flat) of the instruction may be a constant, if the instruction takes no other
 * one. */
bool hd_operand_takes_bank(const hd_function *function, const hd_instruction *insn, uint32_t index);

/* By register; NULL where there is none. In the arena. */
const bool *hd_bank_operands(const hd_function *function, hd_arena *arena);

#endif
