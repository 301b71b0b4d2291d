/* Machine code says where lanes wait for each other: BSSY and SSY name the place where the lanes meet that a branch
 * after them divides. Passes and models use post-dominators (ir/cfg.h); this compares the two. */
#ifndef HD_PASSES_ANALYSIS_SYNC_POINTS_H
#define HD_PASSES_ANALYSIS_SYNC_POINTS_H

#include "passes/pass.h"

typedef struct hd_sync_points { /* branches that may diverge, by where the listing lets their lanes meet */
    uint64_t same;              /* at the immediate post-dominator */
    uint64_t later;             /* beyond it: lanes run apart for longer than here */
    uint64_t earlier;           /* before it */
    uint64_t nowhere;           /* no region around them: they do not diverge, or their lanes end apart */
} hd_sync_points;

/* Adds a function's branches to `sums`. A branch belongs to the smallest region around it: the blocks that are
 * reachable from the instruction that names the sync point, without passing that. O(regions x blocks). */
void hd_sync_points_compare(hd_pass_context *context, hd_sync_points *sums);

#endif
