/* How often each block of a function is executed when the function is called once, as far as the text determines.
 *
 * Code outside of loops counts once, whatever branches lead there. In a loop a block counts as often as the loop turns,
 * where that can be proved: a register that goes by a constant from a constant and is compared with a constant once a
 * turn, at the loop's only exit. Other loops turn `factor` times (the rule of the CORF paper, section 2.4.2). Nested
 * loops multiply; figures above HD_EXECUTIONS_MOST stay there.
 */
#ifndef HD_PASSES_ANALYSIS_EXECUTIONS_H
#define HD_PASSES_ANALYSIS_EXECUTIONS_H

#include "ir/cfg.h"
#include "ir/storage.h"

#define HD_EXECUTIONS_MOST (1ull << 36)

typedef struct hd_executions {
    uint64_t *of_block;      /* at least 1 for what the entry reaches, 0 for all else */
    uint32_t loops, counted; /* loops; those whose turns are proved */
} hd_executions;

hd_executions hd_executions_estimate(hd_function *function, const hd_storage *storage, uint32_t factor,
                                     hd_arena *arena);

#endif
