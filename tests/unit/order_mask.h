/* Rows of a warp order, of the passes or of the checkers, without hubs. */
#ifndef HD_TESTS_ORDER_MASK_H
#define HD_TESTS_ORDER_MASK_H

#include "base/array.h"

/* Blocks and X (numbered by the block count, at most 63) that a node leads to, directly or over hubs: the numbers above
 * X. */
static inline uint64_t order_mask(const uint32_t *first, const uint32_t *rows, uint32_t blocks, uint32_t nodes,
                                  uint32_t node)
{
    uint64_t mask = 0;
    bool *seen = hd_calloc(nodes, sizeof *seen);
    hd_u32_array due = {0};
    hd_array_push(&due, node);
    while (due.count) {
        uint32_t from = hd_array_pop(&due);
        for (uint32_t e = first[from]; e < first[from + 1]; e++) {
            uint32_t to = rows[e];
            if (to <= blocks)
                mask |= 1ull << to;
            else if (!seen[to])
                hd_array_push(&due, to);
            seen[to] = true;
        }
    }
    hd_array_free(&due);
    free(seen);
    return mask;
}

#endif
