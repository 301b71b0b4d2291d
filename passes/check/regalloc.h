/* Verification of register allocation: compares the allocated function with the original.
 *
 * It shares no code with the allocator and uses no liveness: a forward dataflow analysis over the allocated code
 * computes which original register's value each physical register and spill slot holds, on every path. Each operand
 * must read the value that the original operand had.
 */
#ifndef HD_PASSES_CHECK_REGALLOC_H
#define HD_PASSES_CHECK_REGALLOC_H

#include "ir/cfg.h"

/* `original`: a hd_function_copy() of the function before allocation. Reports invalid-ir if an operand may read another
 * value than in the original; true if all is proved. */
bool hd_check_allocation(hd_function *original, hd_function *allocated, hd_diagnostics *diagnostics);

#endif
