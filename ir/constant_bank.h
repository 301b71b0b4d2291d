/* Constant-bank operands: values that machine code reads from the constant bank as an operand, namely parameters of
 * kernels (entry functions), variables of .const at fixed addresses, and the launch sizes %ntid and %nctaid.
 *
 * PTX loads such a constant into a register. Machine code needs no instruction and no register for it if every
 * instruction that reads the register has an operand field for the bank (bank_operands.def). Such a register is a bank
 * operand. It
 *
 *   - is a scalar of 32 or 64 bits, and has no physical name in a function of architected form;
 *   - is written once, by an unguarded load of its own width;
 *   - is read only in operands that bank_operands.def lists, once per instruction, by instructions without a number
 *     operand other than 0 (which is RZ), because a number occupies the same field. The shift of LEA has its own field:
 *     mad.lo and mad.wide by a power of two accept a constant addend.
 *
 * An instruction takes one constant. If it reads several, the first in operand order is a bank operand, and the others
 * are loaded by a MOV, an instruction with a destination; this MOV is the load.
 *
 * Passes, checkers and models use this through ir/storage.h: bank operands have no words, and their loads are not
 * issued. The rule depends on the function's instructions only, so that its text reads back the same. Linear.
 */
#ifndef HD_IR_CONSTANT_BANK_H
#define HD_IR_CONSTANT_BANK_H

#include "ir/form.h"

/* Whether this is an unguarded instruction that only reads such a constant, of any width. */
bool hd_insn_reads_bank(const hd_function *function, const hd_instruction *insn);

/* Whether operand `index` (flat) may be a constant, provided the instruction has no other one. */
bool hd_operand_takes_bank(const hd_function *function, const hd_instruction *insn, uint32_t index);

/* By register; NULL: there is none. In the arena. */
const bool *hd_bank_operands(const hd_function *function, hd_arena *arena);

#endif
