/* Hubs of the warp-order graph: parts of passes/analysis/warp_order.c. Private to passes/. */
#ifndef HD_PASSES_ANALYSIS_WARP_ORDER_HUBS_H
#define HD_PASSES_ANALYSIS_WARP_ORDER_HUBS_H

#include "passes/analysis/liveness.h"

typedef struct hd_order_edge {
    uint32_t from, to;
} hd_order_edge;
typedef HD_ARRAY(hd_order_edge) hd_order_edges;

/* Rows by node of what it leads to (backward: of what leads to it), in the order of the edges, without repetition: row
 * v is (*rows)[first[v]] .. (*rows)[first[v + 1] - 1]. */
uint32_t *hd_order_rows(const hd_order_edges *edges, uint32_t nodes, bool backward, hd_arena *arena, uint32_t **rows);

/* `drawn` leads from plain nodes (those below `plain`) over helping ones (up to `nodes`) to plain ones. Adds to `edges`
 * what leads between the same plain nodes over as few hubs as may be, which are `plain` and what follows, each after
 * those that lead to it. Returns how many nodes there are then. */
uint32_t hd_order_find_hubs(const hd_order_edges *drawn, uint32_t plain, uint32_t nodes, hd_order_edges *edges);

#endif
