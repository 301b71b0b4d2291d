/* Loops that may poll: whose end depends on what they load from memory that another warp may write. */
#ifndef HD_PASSES_ANALYSIS_POLLING_H
#define HD_PASSES_ANALYSIS_POLLING_H

#include "base/bitset.h"
#include "ir/cfg.h"

/* By instruction: loads and atomics on which an exit of a loop around them depends, through registers, guards and
 * branches of the loop. The warp may wait there until another warp has written. In the arena. */
hd_bitset hd_find_polls(hd_function *function, hd_arena *arena);

#endif
