/* Maximum cut: splits the vertices of a part of the affinity graph into two sides, maximizing the weight of edges
 * between them. */
#ifndef HD_PASSES_GRAPH_MAXCUT_H
#define HD_PASSES_GRAPH_MAXCUT_H

#include "passes/graph/oddparts.h"

enum { HD_MAXCUT_VERTICES = 24 };

/* For a part with at most HD_MAXCUT_VERTICES vertices. `side` (by vertex) holds a cut, which is replaced if a better
 * one exists. false: *budget steps did not suffice to prove optimality. *budget is reduced by the steps used. */
bool hd_maxcut_exact(const hd_odd_part *part, bool *side, uint64_t *budget);

/* The weight of the edges between the sides. */
uint64_t hd_maxcut_weight(const hd_odd_part *part, const bool *side);

/* Local search on the whole graph: moves a word to the other side, alone or with a neighbour, while this increases the
 * cut, at most HD_MAXCUT_ROUNDS rounds. */
enum { HD_MAXCUT_ROUNDS = 16 };
void hd_maxcut_improve(const hd_affinity *graph, bool *side, hd_arena *arena);

#endif
