/* Verification of register allocation: the allocated function against the one before.
 *
 * It shares nothing with the allocator and uses no liveness: a forward dataflow over the allocated code reports which
 * original register's value each physical register and spill slot holds, on every path. Each operand must find the
 * value that the original operand had.
 */
#ifndef HD_PASSES_CHECK_REGALLOC_H
#define HD_PASSES_CHECK_REGALLOC_H

#include "ir/cfg.h"

/* `original`: hd_function_copy() of the function before. Reports invalid-ir where an operand may find another value
 * than in the original; true where all is proved. */
bool hd_check_allocation(hd_function *original, hd_function *allocated, hd_diagnostics *diagnostics);

#endif
