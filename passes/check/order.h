/* The order in which a warp may run blocks, for checkers: worked out branch by branch, as a SIMT stack runs them.
 *
 * State of a warp as a whole (what it holds, what is cached or allocated) goes from block to block along these edges:
 *
 *   every edge of the CFG;
 *   and for each branch b that may diverge, with reconvergence point r: b -> r; and where side s can end (a block that s reaches without
 *   entering r and that has an edge to r or to the exit X), from there to every other target of b and to r. Edges to X lead nowhere.
 *
 * Complexity: a search of each side of each divergent branch that something may follow; the size of the result times its logarithm.
 */
#ifndef HD_PASSES_CHECK_ORDER_H
#define HD_PASSES_CHECK_ORDER_H

#include "passes/check/facts.h"

typedef struct hd_order { /* rows by block and X: [first[b], first[b + 1]), ascending, without repetition */
    uint32_t *successor_first, *successors;
    uint32_t *predecessor_first, *predecessors;
} hd_order;

/* In the arena of the facts. */
hd_order hd_order_of(hd_facts *facts);

/* for (uint32_t to in successors of block b) */
#define HD_ORDER_SUCCESSORS(order, b, to)                                                              \
    for (uint32_t to##_at = (order)->successor_first[b], to;                                           \
         to##_at < (order)->successor_first[(b) + 1] && (to = (order)->successors[to##_at], true); to##_at++)
#define HD_ORDER_PREDECESSORS(order, b, from)                                                          \
    for (uint32_t from##_at = (order)->predecessor_first[b], from;                                     \
         from##_at < (order)->predecessor_first[(b) + 1] && (from = (order)->predecessors[from##_at], true); from##_at++)

#endif
