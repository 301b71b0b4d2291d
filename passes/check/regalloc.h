/* Verification of register allocation: the allocated function against the one before.
 *
 * It shares nothing with the allocator and uses no liveness: a forward dataflow over the allocated code tells which
 * original register's value each physical register and spill slot holds, on every path. Each operand must find the
 * value that the original operand had.
 */
#ifndef HD_PASSES_CHECK_REGALLOC_H
#define HD_PASSES_CHECK_REGALLOC_H

#include "ir/cfg.h"

/* The instructions, registers and labels of a function as they are, to compare with later; shares the module's names,
 * forms and literals. */
hd_function *hd_allocation_snapshot(const hd_function *function);
void hd_allocation_snapshot_free(hd_function *snapshot);

/* Reports invalid-ir where an operand may find another value than in the original; true where all is proved. */
bool hd_check_allocation(hd_function *original, hd_function *allocated, hd_diagnostics *diagnostics);

#endif
