/* Two sides of a part of the affinity graph such that the edges between them weigh the most: maximum cut. */
#ifndef HD_PASSES_GRAPH_MAXCUT_H
#define HD_PASSES_GRAPH_MAXCUT_H

#include "passes/graph/oddparts.h"

enum { HD_MAXCUT_VERTICES = 24 };

/* Of a part with at most HD_MAXCUT_VERTICES vertices; `side` (by vertex) holds a cut already and gets a better one
 * where there is one. false: *budget steps were not enough to be sure that there is no better one. *budget
 * decreases. */
bool hd_maxcut_exact(const hd_part *part, bool *side, uint64_t *budget);

/* Weight of the edges between the sides. */
uint64_t hd_maxcut_weight(const hd_part *part, const bool *side);

/* Local search on the whole graph: words whose change of sides, alone or with a word that they share an edge with, adds
 * weight change, until none does or HD_MAXCUT_ROUNDS rounds are over. */
enum { HD_MAXCUT_ROUNDS = 16 };
void hd_maxcut_improve(const hd_affinity *graph, bool *side, hd_arena *arena);

#endif
