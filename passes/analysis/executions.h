/* How often each block of a function is executed per call, as far as it can be determined statically.
 *
 * Blocks outside loops count once, regardless of branches. In a loop a block counts once per iteration, if the trip
 * count can be proved: a register that advances by a constant from a constant is compared with a constant once per
 * iteration, at the loop's only exit. Other loops have the trip count `factor` (the rule of the CORF paper, section
 * 2.4.2). Nested loops multiply; counts saturate at HD_EXECUTIONS_MOST.
 */
#ifndef HD_PASSES_ANALYSIS_EXECUTIONS_H
#define HD_PASSES_ANALYSIS_EXECUTIONS_H

#include "ir/cfg.h"
#include "ir/storage.h"

#define HD_EXECUTIONS_MOST (1ull << 36)

typedef struct hd_executions {
    uint64_t *of_block;      /* at least 1 for blocks reachable from the entry, 0 for all others */
    uint32_t loops, counted; /* number of loops; of those with a proved trip count */
} hd_executions;

hd_executions hd_executions_estimate(hd_function *function, const hd_storage *storage, uint32_t factor,
                                     hd_arena *arena);

#endif
