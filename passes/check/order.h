/* The order in which a warp may execute blocks, for checkers: computed join by join, by the rules of a SIMT stack.
 *
 * State of a warp as a whole (held, cached or allocated registers) propagates along these edges:
 *
 *   every edge of the CFG;
 *   for each branch b that may diverge, with reconvergence point r: b -> r; and from every block where a side s can end
 *   (reachable from s without passing r, with an edge to r or to the exit X) to every other target of b and to r. No
 *   edges lead to X.
 *
 * If sides can end in many blocks, hubs connect these with their followers: hubs are no blocks, state only passes
 * through.
 *
 * Complexity: the edges of the CFG and the size of the result, times a logarithm; if blocks below a join lead to
 * failing code, the blocks of all sides that end there, once for each such join.
 */
#ifndef HD_PASSES_CHECK_ORDER_H
#define HD_PASSES_CHECK_ORDER_H

#include "passes/check/facts.h"

typedef struct hd_order { /* rows by block, X and hub: [first[b], first[b + 1]), ascending, unique */
    uint32_t nodes;       /* blocks, X, then hubs, which may form cycles */
    uint32_t *successor_first, *successors;
} hd_order;

/* In the arena of the facts. */
hd_order hd_order_of(hd_facts *facts);

/* for (uint32_t to in successors of block or hub b) */
#define HD_ORDER_SUCCESSORS(order, b, to)                    \
    for (uint32_t to##_at = (order)->successor_first[b], to; \
         to##_at < (order)->successor_first[(b) + 1] && (to = (order)->successors[to##_at], true); to##_at++)

#endif
