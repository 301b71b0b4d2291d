/* base/components.h against reachability by brute force, on random graphs. */
#include "unit.h"

#include "base/components.h"

enum { MOST = 12, LONG = 200000 };

static uint32_t below(uint64_t *seed, uint32_t n) { return (uint32_t)(unit_random(seed) % n); }

typedef struct graph {
    uint32_t nodes, first[MOST + 1], next[MOST * MOST];
    bool reaches[MOST][MOST]; /* over nodes that are not left out, by no edge or more */
    bool left_out[MOST];
} graph;

typedef struct search {
    const graph *g;
    hd_components components;
    uint32_t component[MOST], count; /* component: by node, counted from 1; 0: none yet */
} search;

/* Rows with repeated edges, and loops. */
static void draw(graph *g, uint64_t *seed)
{
    *g = (graph){.nodes = 1 + below(seed, MOST)};
    uint32_t count = 0, odds = 1 + below(seed, 8);
    for (uint32_t v = 0; v < g->nodes; v++) {
        g->left_out[v] = below(seed, 6) == 0;
        g->first[v] = count;
        for (uint32_t i = 0; i < g->nodes; i++)
            if (below(seed, odds) == 0)
                g->next[count++] = below(seed, g->nodes);
    }
    g->first[g->nodes] = count;
}

static void find_reachable(graph *g)
{
    for (uint32_t v = 0; v < g->nodes; v++) {
        g->reaches[v][v] = !g->left_out[v];
        for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++)
            g->reaches[v][g->next[e]] |= !g->left_out[v] && !g->left_out[g->next[e]];
    }
    for (uint32_t k = 0; k < g->nodes; k++)
        for (uint32_t i = 0; i < g->nodes; i++)
            for (uint32_t j = 0; j < g->nodes; j++)
                g->reaches[i][j] |= g->reaches[i][k] && g->reaches[k][j];
}

static void close_one(void *context, const uint32_t *nodes, uint32_t count)
{
    search *s = context;
    const graph *g = s->g;
    s->count++;
    for (uint32_t i = 0; i < count; i++) {
        assert_false(s->components.closed[nodes[i]] || g->left_out[nodes[i]] || s->component[nodes[i]]);
        s->component[nodes[i]] = s->count;
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t v = 0; v < g->nodes; v++) {
            bool both = g->reaches[nodes[i]][v] && g->reaches[v][nodes[i]];
            assert_int_equal(both, s->component[v] == s->count);
            if (g->reaches[nodes[i]][v] && !both) /* what it has edges to is complete */
                assert_true(s->components.closed[v]);
        }
}

static void random_graphs(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (uint32_t round = 0; round < 5000; round++) {
        graph g;
        draw(&g, &seed);
        find_reachable(&g);
        search s = {.g = &g, .components = {.first = g.first, .next = g.next, .close = close_one, .context = &s}};
        hd_components_open(&s.components, g.nodes);
        memcpy(s.components.closed, g.left_out, g.nodes);
        for (uint32_t v = 0; v < g.nodes; v++)
            hd_components_search(&s.components, (v + round) % g.nodes);
        for (uint32_t v = 0; v < g.nodes; v++)
            assert_true(g.left_out[v] == (s.component[v] == 0) && s.components.closed[v]);
        hd_components_free(&s.components);
    }
}

static void count_one(void *context, const uint32_t *nodes, uint32_t count)
{
    (void)nodes;
    *(uint32_t *)context += count;
}

/* A circle of many nodes needs no deep stack. */
static void a_long_circle(void **state)
{
    (void)state;
    uint32_t *rows = malloc(2 * (LONG + 1) * sizeof *rows), found = 0;
    for (uint32_t i = 0; i <= LONG; i++) {
        rows[i] = i;
        rows[LONG + 1 + i] = (i + 1) % LONG;
    }
    hd_components c = {.first = rows, .next = rows + LONG + 1, .close = count_one, .context = &found};
    hd_components_open(&c, LONG);
    hd_components_search(&c, 7);
    assert_int_equal(found, LONG);
    hd_components_search(&c, 8);
    assert_int_equal(found, LONG);
    hd_components_free(&c);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_graphs), cmocka_unit_test(a_long_circle)};
    return cmocka_run_group_tests_name("components", tests, NULL, NULL);
}
