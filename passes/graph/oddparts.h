/* Parts of an affinity graph that two sides cannot cut cleanly: its biconnected components (blocks of the graph) with
 * odd cycles.
 *
 * An edge lies on an odd cycle exactly if its biconnected component has one; and whatever is done to cycles stays
 * within such a component.
 *
 * Edges are named by their index in the affinity graph. A part is a list of them. Linear in the part's edges.
 */
#ifndef HD_PASSES_GRAPH_ODDPARTS_H
#define HD_PASSES_GRAPH_ODDPARTS_H

#include "passes/graph/affinity.h"

typedef struct hd_parts { /* a stack of parts; the k-th begins at edges.items[first.items[k]] */
    hd_u32_array edges, first;
} hd_parts;
void hd_parts_push(hd_parts *parts, const uint32_t *edges, uint32_t count);
void hd_parts_free(hd_parts *parts);
static inline uint32_t hd_parts_end(const hd_parts *parts, uint32_t k)
{
    return k + 1 < parts->first.count ? parts->first.items[k + 1] : parts->edges.count;
}

/* A part by itself, with vertices and edges numbered from 0. Its arrays are used again by the next part that it is made
 * of. */
typedef struct hd_part {
    const hd_affinity *graph;
    uint32_t vertices, count; /* edges: count */
    hd_u32_array word;        /* by vertex, in the order in which the edges name them */
    hd_u32_array edge;        /* by edge: its index in the graph */
    hd_u32_array ends;        /* two vertices an edge */
    /* by vertex, and one more: in `half`, twice the edge, and 1 where the vertex is its second end */
    hd_u32_array first, half;
    uint32_t *vertex, *stamp, stamps; /* by word; stamps: how many parts there were */
} hd_part;
void hd_part_init(hd_part *part, const hd_affinity *graph, hd_arena *arena);
void hd_part_free(hd_part *part);
void hd_part_make(hd_part *part, const uint32_t *edges, uint32_t count);
static inline uint32_t hd_part_other(const hd_part *part, uint32_t half) { return part->ends.items[half ^ 1]; }
static inline uint64_t hd_part_weight(const hd_part *part, uint32_t edge)
{
    return part->graph->edges[part->edge.items[edge]].weight;
}

/* Makes `part` of the edges, and pushes those of its biconnected components that have an odd cycle. */
void hd_part_split(hd_part *part, const uint32_t *edges, uint32_t count, hd_parts *odd);

/* Number of odd cycles that each edge of the part lies on, by enumeration; false where that needs more than *budget
 * steps, which it takes from there in either case. */
bool hd_part_count_odd_cycles(const hd_part *part, uint64_t *budget, uint64_t *cycles);

/* The approximation for what is too large to enumerate: which edges go (`gone`, by edge) so that no odd cycle is left.
 * See oddcycles.c. */
void hd_part_break_odd_cycles(const hd_part *part, bool *gone);

/* Weight that no two sides can have between them: each triangle loses its lightest edge, and what is taken off one
 * triangle's three edges is not taken for another. */
uint64_t hd_part_least_loss(const hd_part *part);

#endif
