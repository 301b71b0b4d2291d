/* Loops that end by themselves, whatever other threads do: they count up to a limit. */
#ifndef HD_PASSES_ANALYSIS_COUNTING_H
#define HD_PASSES_ANALYSIS_COUNTING_H

#include "base/bitset.h"
#include "ir/cfg.h"

/* By loop: each thread that enters it leaves it after finitely many iterations, if all loops inside it end. In the
 * arena. */
hd_bitset hd_find_counting_loops(hd_function *function, hd_arena *arena);

#endif
