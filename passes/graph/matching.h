/* Maximum-weight matching: a set of edges without common vertices whose total weight is maximal. */
#ifndef HD_PASSES_GRAPH_MATCHING_H
#define HD_PASSES_GRAPH_MATCHING_H

#include "passes/graph/affinity.h"

/* Edges connect vertices 0 .. vertices - 1, at most one edge per pair; weights are at most HD_EXECUTIONS_MOST. Sets
 * `chosen` (by edge) for the edges of the matching. false: *budget steps did not suffice, and `chosen` is unchanged.
 * *budget is reduced by the steps used. */
bool hd_matching_find(uint32_t vertices, const hd_affinity_edge *edges, uint32_t count, uint64_t *budget, bool *chosen);

#endif
