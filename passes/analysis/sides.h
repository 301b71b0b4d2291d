/* Sides that lanes of a warp may be in at the same time: targets, not their reconvergence point nor X, of branches that
 * may diverge and have two such targets or more. What waits in one of them lets the others run; what waits at a
 * reconvergence point keeps no side from running.
 *
 * Sides are flooded up to their reconvergence points, those that are farthest first (hd_join_rank): what one flood has
 * reached the later ones leave alone, since whatever leads to the farther point leads over the nearer one. Linear, but
 * for sorting the sides.
 */
#ifndef HD_PASSES_ANALYSIS_SIDES_H
#define HD_PASSES_ANALYSIS_SIDES_H

#include "passes/analysis/liveness.h"

typedef struct hd_side {
    uint32_t block, join, rank; /* rank: hd_join_rank */
    uint32_t branch;            /* the block that it is a side of */
} hd_side;
typedef HD_ARRAY(hd_side) hd_side_array;

/* in the order of their floods */
void hd_sides_find(const hd_cfg *cfg, const hd_uniformity *uniformity, hd_side_array *all);
hd_bitset hd_sides_flood(const hd_cfg *cfg, const hd_side_array *all, hd_arena *arena);             /* their blocks */
hd_bitset hd_two_sided_blocks(const hd_cfg *cfg, const hd_uniformity *uniformity, hd_arena *arena); /* both */

#endif
