/* Values in the constant bank: kernel parameters and launch sizes. */
#ifndef HD_PASSES_CLEAN_CONSTANTS_H
#define HD_PASSES_CLEAN_CONSTANTS_H

#include "passes/pass.h"

/* Whether the instruction is unguarded and only reads a launch constant: ld.param of a kernel's parameter (also of a
 * vector), or mov of %ntid, %nctaid and other special registers that are equal in the whole grid. */
bool hd_insn_reads_constant(const hd_function *function, const hd_instruction *insn);

#endif
