/* Source operands of the form register + constant (`st.global.u64 [a], t + 1;`), as hand-written PTX has them. */
#ifndef HD_PASSES_CLEAN_OFFSETS_H
#define HD_PASSES_CLEAN_OFFSETS_H

#include "ir/ir.h"

/* Puts an addition before each instruction with such an operand, so that nothing that follows has to know them. The
 * operand means (as the machine code of ptxas shows) an integer addition in the width of the register. A module without
 * such operands stays as it is. Linear in the instructions. Not to be called while others read the module. */
void hd_module_lower_offsets(hd_module *module);

#endif
