/* The pend sets of warp-level liveness under independent thread scheduling. Private to passes/. */
#ifndef HD_PASSES_ANALYSIS_WARP_LIVENESS_ITS_H
#define HD_PASSES_ANALYSIS_WARP_LIVENESS_ITS_H

#include "passes/analysis/liveness.h"

/* pend[block] for each block, in items of `thread`. */
void hd_its_pend(hd_pass_context *context, const hd_liveness *thread, hd_arena *arena, hd_register_set *pend);

#endif
