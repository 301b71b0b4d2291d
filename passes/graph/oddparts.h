/* Parts of an affinity graph that are not bipartite: its biconnected components with odd cycles.
 *
 * An edge is on an odd cycle if and only if its biconnected component has one, and breaking cycles in one component
 * does not affect others.
 *
 * Edges are identified by their index in the affinity graph. A part is a list of edges. Linear in the part's edges.
 */
#ifndef HD_PASSES_GRAPH_ODDPARTS_H
#define HD_PASSES_GRAPH_ODDPARTS_H

#include "passes/graph/affinity.h"

typedef struct hd_odd_parts { /* a stack of parts; the k-th begins at edges.items[first.items[k]] */
    hd_u32_array edges, first;
} hd_odd_parts;
void hd_odd_parts_push(hd_odd_parts *parts, const uint32_t *edges, uint32_t count);
void hd_odd_parts_free(hd_odd_parts *parts);
static inline uint32_t hd_odd_parts_end(const hd_odd_parts *parts, uint32_t k)
{
    return k + 1 < parts->first.count ? parts->first.items[k + 1] : parts->edges.count;
}

/* A part as a graph of its own, with vertices and edges numbered from 0. Its arrays are reused for the next part. */
typedef struct hd_odd_part {
    const hd_affinity *graph;
    uint32_t vertices, count; /* edges: count */
    hd_u32_array word;        /* by vertex; vertices are numbered in the order in which edges name them */
    hd_u32_array edge;        /* by edge: its index in the affinity graph */
    hd_u32_array ends;        /* two vertices per edge */
    /* by vertex, plus one: in `half`, twice the edge, plus 1 if the vertex is its second end */
    hd_u32_array first, half;
    uint32_t *vertex, *stamp, stamps; /* by word; stamps: number of parts so far */
} hd_odd_part;
void hd_odd_part_init(hd_odd_part *part, const hd_affinity *graph, hd_arena *arena);
void hd_odd_part_free(hd_odd_part *part);
void hd_odd_part_make(hd_odd_part *part, const uint32_t *edges, uint32_t count);
static inline uint32_t hd_odd_part_other(const hd_odd_part *part, uint32_t half) { return part->ends.items[half ^ 1]; }
static inline uint64_t hd_odd_part_weight(const hd_odd_part *part, uint32_t edge)
{
    return part->graph->edges[part->edge.items[edge]].weight;
}

/* Builds `part` from the edges, and pushes its biconnected components that have an odd cycle. */
void hd_odd_part_split(hd_odd_part *part, const uint32_t *edges, uint32_t count, hd_odd_parts *odd);

/* Counts by enumeration the odd cycles of the part through each edge. false: this takes more than *budget steps. The
 * steps are deducted from *budget in either case. */
bool hd_odd_part_count_odd_cycles(const hd_odd_part *part, uint64_t *budget, uint64_t *cycles);

/* Approximation for parts too large to enumerate: sets in `gone`, by edge, the edges to remove so that no odd cycle is
 * left. See oddcycles.c. */
void hd_odd_part_break_odd_cycles(const hd_odd_part *part, bool *gone);

/* A lower bound on the weight that any cut leaves uncut: the lightest edge of each triangle, where weight counted for
 * one triangle's edges is not counted for another. */
uint64_t hd_odd_part_least_loss(const hd_odd_part *part);

#endif
