/* Directed graphs in compressed rows, and graph searches for building the control-flow graph. Private to ir/.
 *
 * Nodes are 0 .. node_count-1. All functions are iterative, so that a chain of a million nodes does not overflow the C
 * stack.
 */
#ifndef HD_IR_GRAPH_H
#define HD_IR_GRAPH_H

#include "base/array.h"
#include "ir/cfg.h"

typedef struct hd_graph {
    uint32_t node_count;
    const uint32_t *out_first, *out; /* successors of n: out[out_first[n]] .. out[out_first[n + 1] - 1] */
    const uint32_t *in_first, *in;   /* predecessors, likewise */
} hd_graph;

/* A depth-first search from one root; follows successors in order. Unreached nodes have HD_NONE. */
typedef struct hd_search {
    uint32_t *number;     /* by node: index in `preorder`, or HD_NONE */
    uint32_t *parent;     /* by node: parent in the tree; HD_NONE for the root */
    uint32_t *preorder;   /* nodes in order of first visit */
    uint32_t *post_order; /* nodes in order of completion */
    uint32_t *last;       /* by node: the greatest number in its subtree */
    uint32_t count;       /* nodes reached */
} hd_search;
void hd_graph_search(const hd_graph *graph, uint32_t root, hd_arena *arena, hd_search *search);
static inline bool hd_search_is_ancestor(const hd_search *s, uint32_t a, uint32_t b) /* both reached; reflexive */
{
    return s->number[a] <= s->number[b] && s->number[b] <= s->last[a];
}

/* Reverses the rows of a graph: for each node its predecessors, in ascending order. */
void hd_graph_reverse(uint32_t node_count, const uint32_t *first, const uint32_t *to, hd_arena *arena,
                      uint32_t **reverse_first, uint32_t **reverse);

/* Immediate dominators of the nodes that a search reached (by node; HD_NONE for its root and unreached nodes).
 * ir/dominators.c */
void hd_graph_dominators(const hd_graph *graph, const hd_search *search, hd_arena *scratch, uint32_t *immediate);
/* Numbers a tree given by parent links so that a is an ancestor of b, or b itself, if and only if enter[a] <= enter[b]
 * <= leave[a]. Nodes without a parent are roots. */
void hd_tree_intervals(uint32_t node_count, const uint32_t *parent, hd_arena *scratch, uint32_t *enter,
                       uint32_t *leave);

/* Fills cfg->loops and blocks[].loop. ir/loops.c */
void hd_cfg_find_loops(hd_cfg *cfg, const hd_graph *graph, const hd_search *search, hd_arena *scratch);

/* Union-find over 0..n-1 with path halving; the caller chooses the representative (link[child] = parent). */
static inline uint32_t hd_union_find(uint32_t *link, uint32_t node)
{
    while (link[node] != node) {
        link[node] = link[link[node]];
        node = link[node];
    }
    return node;
}

#endif
