/* What sides of branches come to before their join, for checkers, without following their blocks.
 *
 * All lanes of a side of a branch with reconvergence point r come to the blocks that have r as immediate
 * post-dominator, its children in the post-dominator tree: from a block that lies below a child, to that child. And
 * from a child v, to those children of r that its successors are or lie below. So what a side can end at is found among
 * the children of one join, and every block is the child of one join only.
 *
 * Not so where a block strays: where it leads to blocks that only fail, which no join waits for (ir/cfg.h).
 *
 * Complexity: linear; a question takes a binary search.
 */
#ifndef HD_PASSES_CHECK_SIDES_H
#define HD_PASSES_CHECK_SIDES_H

#include "ir/cfg.h"

typedef struct hd_sides {
    const hd_cfg *cfg;
    uint32_t *child_first, *children; /* by block and X: its children, ascending as the intervals of the tree do */
    uint32_t *strays;                 /* by number of an interval: blocks that stray among those with lower numbers */
} hd_sides;

void hd_sides_init(hd_sides *sides, const hd_cfg *cfg, hd_arena *arena);
/* The child of `join` that a block below it is or lies below. */
uint32_t hd_sides_child(const hd_sides *sides, uint32_t join, uint32_t block);
/* Does a block below `join` stray? */
bool hd_sides_stray(const hd_sides *sides, uint32_t join);

#endif
