/* Pairs of vertices of a graph, no vertex in two, whose edges weigh the most: maximum-weight matching. */
#ifndef HD_PASSES_GRAPH_MATCHING_H
#define HD_PASSES_GRAPH_MATCHING_H

#include "passes/graph/affinity.h"

/* Edges between vertices 0 .. vertices - 1, each pair of vertices once; weights at most HD_EXECUTIONS_MOST. *chosen (by
 * edge) reports the pairs. false: *budget steps did not suffice, and `chosen` is unchanged. *budget decreases. */
bool hd_matching_find(uint32_t vertices, const hd_affinity_edge *edges, uint32_t count, uint64_t *budget, bool *chosen);

#endif
