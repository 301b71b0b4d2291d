/* Strongly connected components of a directed graph, each after those that it has edges to: Tarjan, "Depth-first search
 * and linear graph algorithms" (SIAM J. Comput. 1972), without recursion. Linear in nodes and edges.
 *
 *   hd_components c = {.first = first, .next = next, .close = close, .context = context};
 *   hd_components_open(&c, nodes);
 *   for (uint32_t v = 0; v < nodes; v++)
 *       hd_components_search(&c, v);
 *   hd_components_free(&c);
 */
#ifndef HD_BASE_COMPONENTS_H
#define HD_BASE_COMPONENTS_H

#include "base/array.h"
#include <stdbool.h>

typedef struct hd_components {
    const uint32_t *first, *next; /* the successors of v: next[first[v]] .. next[first[v + 1] - 1] */
    /* A component is complete; its nodes are not closed yet. */
    void (*close)(void *context, const uint32_t *nodes, uint32_t count);
    void *context;
    bool *closed; /* by node: its component was given to `close`; set before the search, it leaves the node out */

    /* private */
    /* by node: order of discovery, 0: not found; the lowest number known to be reachable; its next edge */
    uint32_t *number, *low, *at, numbers;
    hd_u32_array path, open; /* path: from the root; open: found, but not closed */
} hd_components;

void hd_components_open(hd_components *components, uint32_t nodes);
/* Closes the components of all nodes that the root reaches and that are not closed. */
void hd_components_search(hd_components *components, uint32_t root);
void hd_components_free(hd_components *components);

#endif
