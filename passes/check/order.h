/* The order in which a warp may run blocks, for checkers: worked out join by join, as a SIMT stack runs them.
 *
 * State of a warp as a whole (what it holds, what is cached or allocated) goes from block to block along these edges:
 *
 *   every edge of the CFG;
 *   and for each branch b that may diverge, with reconvergence point r: b -> r; and where side s can end (a block that
 *     s reaches without
 *   entering r and that has an edge to r or to the exit X), from there to every other target of b and to r. Edges to X
 *     lead nowhere.
 *
 * Where sides can end in many blocks, hubs are between these and what follows them: they are no blocks, state only
 * passes through them.
 *
 * Complexity: the edges of the CFG and the size of the result, times a logarithm; where blocks below a join lead to
 * code that only fails, the blocks of all sides that end there, once for each such join.
 */
#ifndef HD_PASSES_CHECK_ORDER_H
#define HD_PASSES_CHECK_ORDER_H

#include "passes/check/facts.h"

typedef struct hd_order { /* rows by block, X and hub: [first[b], first[b + 1]), ascending, without repetition */
    uint32_t nodes;       /* blocks, X, then hubs, which may lead to each other in circles */
    uint32_t *successor_first, *successors;
} hd_order;

/* In the arena of the facts. */
hd_order hd_order_of(hd_facts *facts);

/* for (uint32_t to in successors of block or hub b) */
#define HD_ORDER_SUCCESSORS(order, b, to)                    \
    for (uint32_t to##_at = (order)->successor_first[b], to; \
         to##_at < (order)->successor_first[(b) + 1] && (to = (order)->successors[to##_at], true); to##_at++)

#endif
