/* The dead-operand bits of LTRF+, for its checker. */
#ifndef HD_PASSES_CHECK_LTRF_DEAD_H
#define HD_PASSES_CHECK_LTRF_DEAD_H

#include "passes/check/facts.h"

/* Reports bits of operands that are not dead in the whole warp; true if all hold. */
bool hd_check_ltrf_dead(hd_facts *facts, hd_diagnostics *diagnostics, uint64_t *count);

#endif
