/* What machines read from the constant bank: kernel parameters and the launch's sizes. */
#ifndef HD_PASSES_CLEAN_CONSTANTS_H
#define HD_PASSES_CLEAN_CONSTANTS_H

#include "passes/pass.h"

/* Whether the instruction, unguarded, only reads a constant of the launch: ld.param of a kernel's parameter (also of a
 * vector), or mov of %ntid, %nctaid and what else is equal in the whole grid. */
bool hd_insn_reads_constant(const hd_function *function, const hd_instruction *insn);

#endif
