/* Hubs of the warp-order graph: parts of passes/analysis/warp_order.c. Private to passes/. */
#ifndef HD_PASSES_ANALYSIS_WARP_ORDER_HUBS_H
#define HD_PASSES_ANALYSIS_WARP_ORDER_HUBS_H

#include "passes/analysis/liveness.h"

typedef struct hd_order_edge {
    uint32_t from, to;
} hd_order_edge;
typedef HD_ARRAY(hd_order_edge) hd_order_edges;

/* Rows by node of its successors (backward: its predecessors), in the order of the edges, without duplicates: row v is
 * (*rows)[first[v]] .. (*rows)[first[v + 1] - 1]. */
uint32_t *hd_order_rows(const hd_order_edges *edges, uint32_t nodes, bool backward, hd_arena *arena, uint32_t **rows);

/* The edges of `drawn` lead from blocks (nodes below `plain`) through auxiliary nodes (up to `nodes`) to blocks. Adds
 * to `edges` the connections between the same blocks through as few hubs as possible, which are numbered from `plain`,
 * each after its predecessors. Returns the new number of nodes. */
uint32_t hd_order_find_hubs(const hd_order_edges *drawn, uint32_t plain, uint32_t nodes, hd_order_edges *edges);

#endif
