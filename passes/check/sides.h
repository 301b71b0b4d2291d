/* Blocks that sides of branches reach before their join, for checkers, without visiting all blocks.
 *
 * All lanes of a side of a branch with reconvergence point r reach the blocks whose immediate post-dominator is r, its
 * children in the post-dominator tree: a block below a child reaches that child; and a child v reaches those children
 * of r that its successors are or are below. So the ends of a side are found among the children of one join, and every
 * block is the child of one join only.
 *
 * This does not hold for stray blocks: those that lead to failing blocks, which no join waits for (ir/cfg.h).
 *
 * Complexity: linear; a query takes a binary search.
 */
#ifndef HD_PASSES_CHECK_SIDES_H
#define HD_PASSES_CHECK_SIDES_H

#include "ir/cfg.h"

typedef struct hd_sides {
    const hd_cfg *cfg;
    uint32_t *child_first, *children; /* by block and X: its children, in the order of the tree's intervals */
    uint32_t *strays;                 /* by interval number: stray blocks among those with lower numbers */
} hd_sides;

void hd_sides_init(hd_sides *sides, const hd_cfg *cfg, hd_arena *arena);
/* The child of `join` that a block below `join` is, or is below. */
uint32_t hd_sides_child(const hd_sides *sides, uint32_t join, uint32_t block);
/* Whether a block below `join` strays. */
bool hd_sides_stray(const hd_sides *sides, uint32_t join);

#endif
