/* Matrix instructions that ptxas may expand to several machine instructions, the first of which write a part of the
 * result before the last ones read their operands: wmma.mma and mma. Where the registers of the result overlap those of
 * an operand, ptxas 13.0 does not copy them, and the result is wrong: seen on an H100 for wmma.mma of all shapes with
 * more than two elements, and for mma of 8-bit floats. Element k of the result may be element k of the accumulator.
 */
#ifndef HD_IR_EXPANDED_H
#define HD_IR_EXPANDED_H

#include "ir/ir.h"

bool hd_insn_is_expanded(const hd_function *function, const hd_instruction *insn);
/* The index among the instruction's operands of the accumulator's element in the place of that element of the result,
 * where both have as many elements; HD_NONE: none. `result`: an index of a register of the result. */
uint32_t hd_insn_accumulator(const hd_function *function, const hd_instruction *insn, uint32_t result);

#endif
