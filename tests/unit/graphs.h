/* Small random graphs, and their properties by brute force: maximum-weight matchings, odd cycles. */
#ifndef HD_TESTS_GRAPHS_H
#define HD_TESTS_GRAPHS_H

#include "tests/unit/unit.h"

#include "passes/graph/affinity.h"

enum { MOST = 16, NO_LIMIT_BITS = 40 };

typedef struct graph {
    uint32_t vertices, count;
    hd_affinity_edge edges[MOST * MOST];
} graph;

/* An edge exists with probability density/8; in some graphs there are few distinct weights. */
static inline graph random_graph(uint64_t seed, uint32_t least, uint32_t most)
{
    static const uint32_t weights[] = {1, 3, 10, 1000, 1000000};
    uint64_t state = seed;
    graph g = {.vertices = least + (uint32_t)(unit_random(&state) % (most - least + 1))};
    uint32_t density = 1 + (uint32_t)(unit_random(&state) % 8), weight = weights[unit_random(&state) % 5];
    for (uint32_t a = 0; a < g.vertices; a++)
        for (uint32_t b = a + 1; b < g.vertices; b++)
            if (unit_random(&state) % 8 < density)
                g.edges[g.count++] = (hd_affinity_edge){a, b, 1 + unit_random(&state) % weight};
    return g;
}

/* The maximum-weight matching within each set of vertices. */
static inline uint64_t heaviest_by_sets(const graph *g)
{
    static uint64_t best[1 << MOST];
    uint64_t weight[MOST][MOST] = {{0}};
    for (uint32_t i = 0; i < g->count; i++)
        weight[g->edges[i].a][g->edges[i].b] = g->edges[i].weight;
    best[0] = 0;
    for (uint32_t set = 1; set < 1u << g->vertices; set++) {
        uint32_t first = (uint32_t)__builtin_ctz(set), rest = set & (set - 1);
        best[set] = best[rest];
        for (uint32_t b = first + 1; b < g->vertices; b++)
            if (rest >> b & 1 && weight[first][b] && weight[first][b] + best[rest & ~(1u << b)] > best[set])
                best[set] = weight[first][b] + best[rest & ~(1u << b)];
    }
    return best[(1u << g->vertices) - 1];
}

static inline uint32_t bits(uint32_t set) { return (uint32_t)__builtin_popcount(set); }

/* Odd cycles by edge, from the definition: connected sets of edges in which each vertex has degree zero or two. `gone`:
 * removed edges. */
static inline uint32_t count_by_sets(const graph *g, uint32_t gone, uint32_t *cycles)
{
    uint32_t all = 0;
    memset(cycles, 0, g->count * sizeof *cycles);
    for (uint32_t set = 1; set < 1u << g->count; set++) {
        uint8_t degree[MOST] = {0}, first = 0;
        bool good = !(set & gone) && bits(set) % 2;
        uint32_t reached = 0;
        for (uint32_t e = 0; e < g->count && good; e++)
            if (set >> e & 1) {
                good = ++degree[g->edges[e].a] <= 2 && ++degree[g->edges[e].b] <= 2;
                first = (uint8_t)e;
            }
        for (uint32_t v = 0; v < g->vertices && good; v++)
            good = degree[v] != 1;
        reached = 1u << g->edges[first].a;
        for (uint32_t round = 0; round < g->count && good; round++)
            for (uint32_t e = 0; e < g->count; e++)
                if (set >> e & 1 && reached & (1u << g->edges[e].a | 1u << g->edges[e].b))
                    reached |= 1u << g->edges[e].a | 1u << g->edges[e].b;
        if (!good || bits(reached) != bits(set)) /* a cycle has as many vertices as edges */
            continue;
        all++;
        for (uint32_t e = 0; e < g->count; e++)
            cycles[e] += set >> e & 1;
    }
    return all;
}

/* A graph with so few edges that all sets of edges can be enumerated. */
static inline graph sparse_graph(uint64_t seed, uint32_t most_edges)
{
    graph g = random_graph(seed, 3, 8);
    while (g.count > most_edges)
        g.edges[seed % g.count] = g.edges[g.count - 1], g.count--;
    for (uint32_t i = 1; i < g.count; i++) /* sorted again */
        for (uint32_t k = i; k > 0; k--) {
            hd_affinity_edge *e = &g.edges[k - 1];
            if (e[0].a < e[1].a || (e[0].a == e[1].a && e[0].b < e[1].b))
                break;
            hd_affinity_edge kept = e[0];
            e[0] = e[1];
            e[1] = kept;
        }
    return g;
}

#endif
