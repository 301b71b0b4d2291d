/* Sides of divergent branches: targets, other than the reconvergence point and X, of branches that may diverge and have
 * two or more such targets. Lanes of a warp may be in several sides at a time: lanes that wait in one side let the
 * others run; lanes that wait at a reconvergence point keep no side from running.
 *
 * Sides are flooded up to their reconvergence points, farthest first (hd_join_rank). Later floods skip blocks visited
 * by an earlier one, because every path to the farther point passes the nearer one. Linear, except for sorting the
 * sides.
 */
#ifndef HD_PASSES_ANALYSIS_SIDES_H
#define HD_PASSES_ANALYSIS_SIDES_H

#include "passes/analysis/liveness.h"

typedef struct hd_side {
    uint32_t block, join, rank; /* rank: hd_join_rank */
    uint32_t branch;            /* the block whose branch it is a side of */
} hd_side;
typedef HD_ARRAY(hd_side) hd_side_array;

/* in flooding order */
void hd_sides_find(const hd_cfg *cfg, const hd_uniformity *uniformity, hd_side_array *all);
/* the blocks of all sides */
hd_bitset hd_sides_flood(const hd_cfg *cfg, const hd_side_array *all, hd_arena *arena);
hd_bitset hd_two_sided_blocks(const hd_cfg *cfg, const hd_uniformity *uniformity, hd_arena *arena); /* both */

#endif
