/* What machines read from the constant bank: kernel parameters and the launch's sizes. */
#ifndef HD_PASSES_CONSTANTS_H
#define HD_PASSES_CONSTANTS_H

#include "passes/pass.h"

/* Whether the instruction, unguarded, only reads a constant of the launch: ld.param of a kernel's parameter (also of a
 * vector), or mov of %ntid, %nctaid and what else is equal in the whole grid. */
bool hd_insn_reads_constant(const hd_function *function, const hd_instruction *insn);

/* The instruction that takes the constant read at `ordinal` as its operand, so that it needs no register in machine
 * code: the next one in the block but for other constants' readings, if it computes (no memory, texture, call, warp or
 * matrix instruction), reads the register as a scalar, and takes no other constant that stands before. HD_NONE: none.
 * The caller sees by liveness that the register is dead behind it; the pass params makes such code. */
uint32_t hd_constant_operand(hd_function *function, uint32_t ordinal);

#endif
