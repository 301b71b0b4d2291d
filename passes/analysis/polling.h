/* Loops that may poll: their exit depends on values loaded from memory that another warp may write. */
#ifndef HD_PASSES_ANALYSIS_POLLING_H
#define HD_PASSES_ANALYSIS_POLLING_H

#include "base/bitset.h"
#include "ir/cfg.h"

/* By instruction: loads and atomics on which an exit of an enclosing loop depends, through registers, local memory,
 * guards and branches of the loop. The warp may wait there for a write of another warp. In a loop that ends by itself
 * (counting.h), only atomics and strong loads. In the arena. */
hd_bitset hd_find_polls(hd_function *function, hd_arena *arena);

#endif
