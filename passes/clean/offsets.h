/* Source operands of the form register + constant (`st.global.u64 [a], t + 1;`), as in hand-written PTX. */
#ifndef HD_PASSES_CLEAN_OFFSETS_H
#define HD_PASSES_CLEAN_OFFSETS_H

#include "ir/ir.h"

/* Inserts an addition before each instruction with such an operand, so that later code need not handle them. The
 * operand denotes an integer addition in the register's width, as the machine code of ptxas shows. Does not change a
 * module without such operands. Linear in the instructions. Must not run while others read the module. */
void hd_module_lower_offsets(hd_module *module);

#endif
