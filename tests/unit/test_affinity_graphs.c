/* What corf and corf++ work with on graphs, against brute force: heaviest matchings, odd cycles, cuts. */
#include "tests/unit/graphs.h"

#include "passes/graph/matching.h"
#include "passes/graph/maxcut.h"

/* ---- matchings --------------------------------------------------------------------------------------------------- */

/* Every matching, edge by edge. */
static uint64_t heaviest_of_all(const graph *g, uint32_t from, uint32_t used)
{
    uint64_t best = 0;
    for (uint32_t i = from; i < g->count; i++) {
        uint32_t ends = 1u << g->edges[i].a | 1u << g->edges[i].b;
        uint64_t weight = used & ends ? 0 : g->edges[i].weight + heaviest_of_all(g, i + 1, used | ends);
        best = weight > best ? weight : best;
    }
    return best;
}

/* Weight of the matching that the toolkit finds, which must be one. */
static uint64_t found_matching(const graph *g)
{
    bool chosen[MOST * MOST] = {false};
    uint64_t budget = 1ull << NO_LIMIT_BITS, weight = 0;
    uint32_t used = 0;
    assert_true(hd_matching_find(g->vertices, g->edges, g->count, &budget, chosen));
    for (uint32_t i = 0; i < g->count; i++) {
        if (!chosen[i])
            continue;
        uint32_t ends = 1u << g->edges[i].a | 1u << g->edges[i].b;
        assert_int_equal(used & ends, 0);
        used |= ends;
        weight += g->edges[i].weight;
    }
    return weight;
}

static void small_matchings_are_the_heaviest_of_all(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        graph g = random_graph(seed, 1, 8);
        uint64_t found = found_matching(&g), best = heaviest_by_sets(&g);
        if (g.count <= 16)
            assert_true(heaviest_of_all(&g, 0, 0) == best);
        if (found != best)
            fail_msg("seed %llu: %llu, not %llu", (unsigned long long)seed, (unsigned long long)found,
                     (unsigned long long)best);
    }
}

static void matchings_with_nested_blossoms_are_the_heaviest(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 1500; seed++) {
        graph g = random_graph(seed + 1000000, 9, 15);
        uint64_t found = found_matching(&g), best = heaviest_by_sets(&g);
        if (found != best)
            fail_msg("seed %llu: %llu, not %llu", (unsigned long long)seed, (unsigned long long)found,
                     (unsigned long long)best);
    }
}

static void a_matching_without_budget_is_refused(void **state)
{
    (void)state;
    graph g = random_graph(7, 12, 15);
    bool chosen[MOST * MOST] = {false};
    uint64_t budget = 20;
    assert_true(g.count > 5);
    assert_false(hd_matching_find(g.vertices, g.edges, g.count, &budget, chosen));
    assert_int_equal(budget, 0);
}

/* ---- odd cycles -------------------------------------------------------------------------------------------------- */

static hd_affinity affinity_of(const graph *g)
{
    hd_affinity a = {.words = g->vertices, .edges = (hd_affinity_edge *)(uintptr_t)g->edges, .count = g->count};
    for (uint32_t i = 0; i < g->count; i++)
        a.weight += g->edges[i].weight;
    return a;
}

typedef struct parts {
    hd_affinity affinity;
    hd_arena arena;
    hd_odd_part part;
    hd_odd_parts odd;
} parts;

static void split(parts *p, const graph *g)
{
    uint32_t all[MOST * MOST];
    *p = (parts){.affinity = affinity_of(g)};
    for (uint32_t i = 0; i < g->count; i++)
        all[i] = i;
    hd_odd_part_init(&p->part, &p->affinity, &p->arena);
    hd_odd_part_split(&p->part, all, g->count, &p->odd);
}

static void make_part(parts *p, uint32_t k)
{
    uint32_t from = p->odd.first.items[k];
    hd_odd_part_make(&p->part, p->odd.edges.items + from, hd_odd_parts_end(&p->odd, k) - from);
}

static void close_parts(parts *p)
{
    hd_odd_part_free(&p->part);
    hd_odd_parts_free(&p->odd);
    hd_arena_free(&p->arena);
}

/* Edges are in an odd part exactly if they lie on an odd cycle; and each is counted. */
static void odd_cycles_are_counted(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 1500; seed++) {
        graph g = sparse_graph(seed, 13);
        uint32_t expected[MOST * MOST], seen = 0;
        count_by_sets(&g, 0, expected);
        parts p;
        split(&p, &g);
        for (uint32_t k = 0; k < p.odd.first.count; k++) {
            uint64_t cycles[MOST * MOST], budget = 1 << 20, none = 3;
            make_part(&p, k);
            assert_true(hd_odd_part_count_odd_cycles(&p.part, &budget, cycles));
            assert_true(budget < 1 << 20);
            for (uint32_t e = 0; e < p.part.count; e++) {
                assert_true(cycles[e] > 0);
                assert_int_equal(cycles[e], expected[p.part.edge.items[e]]);
                seen |= 1u << p.part.edge.items[e];
            }
            assert_false(hd_odd_part_count_odd_cycles(&p.part, &none, cycles));
        }
        for (uint32_t e = 0; e < g.count; e++)
            assert_int_equal(seen >> e & 1, expected[e] > 0);
        close_parts(&p);
    }
}

static bool has_odd_cycle(const graph *g)
{
    parts p;
    split(&p, g);
    bool has = p.odd.first.count != 0;
    close_parts(&p);
    return has;
}

/* No edge that closes no triangle can come back without an odd cycle. */
static void expect_no_more_gone_than_must(const graph *g, const hd_odd_part *part, const bool *gone, graph *left)
{
    for (uint32_t e = 0; e < part->count; e++) {
        const hd_affinity_edge *edge = &g->edges[part->edge.items[e]];
        uint32_t near[2] = {0};
        for (uint32_t i = 0; i < g->count; i++)
            for (uint32_t k = 0; k < 2; k++) {
                uint32_t at = k ? edge->b : edge->a;
                near[k] |= g->edges[i].a == at ? 1u << g->edges[i].b : g->edges[i].b == at ? 1u << g->edges[i].a : 0;
            }
        if (!gone[e] || near[0] & near[1])
            continue;
        left->edges[left->count++] = *edge;
        assert_true(has_odd_cycle(left));
        left->count--;
    }
}

/* After the approximation there is no odd cycle. */
static void the_approximation_leaves_two_sides(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        graph g = random_graph(seed, 3, 15);
        parts p;
        split(&p, &g);
        for (uint32_t k = 0; k < p.odd.first.count; k++) {
            bool gone[MOST * MOST];
            graph left = {.vertices = g.vertices};
            make_part(&p, k);
            hd_odd_part_break_odd_cycles(&p.part, gone);
            for (uint32_t e = 0; e < p.part.count; e++)
                if (!gone[e])
                    left.edges[left.count++] = g.edges[p.part.edge.items[e]];
            assert_false(has_odd_cycle(&left));
            assert_true(left.count < p.part.count);
            expect_no_more_gone_than_must(&g, &p.part, gone, &left);
        }
        close_parts(&p);
    }
}

/* ---- cuts -------------------------------------------------------------------------------------------------------- */

static uint64_t best_cut_of_all(const hd_odd_part *part)
{
    uint64_t best = 0;
    for (uint32_t set = 0; set < 1u << (part->vertices - 1); set++) {
        bool side[MOST];
        for (uint32_t v = 0; v < part->vertices; v++)
            side[v] = set >> v & 1;
        uint64_t weight = hd_maxcut_weight(part, side);
        best = weight > best ? weight : best;
    }
    return best;
}

static void exact_cuts_are_the_best_of_all(void **state)
{
    (void)state;
    uint32_t bounded = 0;
    for (uint64_t seed = 0; seed < 1200; seed++) {
        graph g = random_graph(seed, 3, 11);
        parts p;
        split(&p, &g);
        for (uint32_t k = 0; k < p.odd.first.count; k++) {
            bool side[MOST] = {false};
            uint64_t budget = 1ull << NO_LIMIT_BITS, none = 1;
            make_part(&p, k);
            assert_false(hd_maxcut_exact(&p.part, side, &none));
            assert_true(hd_maxcut_exact(&p.part, side, &budget));
            assert_true(hd_maxcut_weight(&p.part, side) == best_cut_of_all(&p.part));
            uint64_t whole = 0, lost = hd_odd_part_least_loss(&p.part);
            for (uint32_t e = 0; e < p.part.count; e++)
                whole += hd_odd_part_weight(&p.part, e);
            assert_true(lost <= whole - hd_maxcut_weight(&p.part, side));
            bounded += lost == whole - hd_maxcut_weight(&p.part, side);
        }
        close_parts(&p);
    }
    assert_true(bounded > 100); /* the bound is the optimum now and then */
}

static uint64_t lightest(const uint64_t *weights, uint32_t first, uint32_t end)
{
    uint64_t least = weights[first];
    for (uint32_t i = first + 1; i < end; i++)
        least = weights[i] < least ? weights[i] : least;
    return least;
}

/* The largest parts that are solved exactly: an even ring with a chord that closes two odd cycles. The best cut loses
 * the chord, or the lightest edge of each of the two ways around. */
static void the_largest_parts_are_cut_best(void **state)
{
    enum { N = HD_MAXCUT_VERTICES };
    (void)state;
    for (uint64_t seed = 1; seed < 60; seed++) {
        uint64_t random = seed, weights[N], whole = 0, budget = 1ull << NO_LIMIT_BITS;
        uint32_t chord = 2 + 2 * (uint32_t)(unit_random(&random) % (N / 2 - 1)), by_word[N];
        graph g = {.vertices = N};
        bool side[N] = {false};
        for (uint32_t v = 0; v < N; v++)
            whole += weights[v] = 1 + unit_random(&random) % 100; /* of the edge from v to v + 1 */
        uint64_t ways = lightest(weights, 0, chord) + lightest(weights, chord, N),
                 of_chord = 1 + unit_random(&random) % 60;
        for (uint32_t a = 0; a < N; a++)
            for (uint32_t b = a + 1; b < N; b++)
                if (b == a + 1 || (a == 0 && (b == chord || b == N - 1)))
                    g.edges[g.count++] = (hd_affinity_edge){a, b,
                                                            b == a + 1   ? weights[a]
                                                            : b == chord ? of_chord
                                                                         : weights[N - 1]};
        parts p;
        split(&p, &g);
        assert_int_equal(p.odd.first.count, 1);
        make_part(&p, 0);
        assert_int_equal(p.part.vertices, N);
        for (uint32_t v = 0; v < N; v++)
            by_word[p.part.word.items[v]] = v;
        for (uint32_t v = 0; v < N; v++) /* the chord is lost: what is found must be as good */
            side[by_word[v]] = v % 2;
        assert_true(hd_maxcut_weight(&p.part, side) == whole);
        assert_true(hd_maxcut_exact(&p.part, side, &budget));
        assert_true(hd_maxcut_weight(&p.part, side) == whole + of_chord - (ways < of_chord ? ways : of_chord));
        close_parts(&p);
    }
}

/* Local search never makes a cut worse, and leaves none that one change of a vertex would make better. */
static void local_search_improves(void **state)
{
    (void)state;
    uint32_t better = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        graph g = random_graph(seed, 3, 15);
        hd_affinity a = affinity_of(&g);
        bool side[MOST] = {false}, turned[MOST];
        uint64_t random = seed, before = 0, after = 0;
        hd_arena arena = {0};
        for (uint32_t v = 0; v < g.vertices; v++)
            turned[v] = side[v] = unit_random(&random) % 2;
        hd_maxcut_improve(&a, side, &arena);
        for (uint32_t i = 0; i < g.count; i++) {
            before += turned[g.edges[i].a] != turned[g.edges[i].b] ? g.edges[i].weight : 0;
            after += side[g.edges[i].a] != side[g.edges[i].b] ? g.edges[i].weight : 0;
        }
        assert_true(after >= before);
        better += after > before;
        for (uint32_t v = 0; v < g.vertices; v++) {
            uint64_t other = 0;
            for (uint32_t i = 0; i < g.count; i++)
                other += (side[g.edges[i].a] ^ (g.edges[i].a == v)) != (side[g.edges[i].b] ^ (g.edges[i].b == v))
                             ? g.edges[i].weight
                             : 0;
            assert_true(other <= after);
        }
        hd_arena_free(&arena);
    }
    assert_true(better > 1000);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static void edges_are_sorted_by_weight(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        graph g = random_graph(seed, 2, 15);
        hd_arena arena = {0};
        for (uint32_t i = 0; seed % 3 == 0 && i < g.count; i++)
            g.edges[i].weight <<= 16;
        const uint32_t *order = hd_affinity_by_weight(g.edges, g.count, &arena);
        for (uint32_t i = 1; i < g.count; i++) {
            uint64_t a = g.edges[order[i - 1]].weight, b = g.edges[order[i]].weight;
            assert_true(a < b || (a == b && order[i - 1] > order[i]));
        }
        hd_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_matchings_are_the_heaviest_of_all),
        cmocka_unit_test(matchings_with_nested_blossoms_are_the_heaviest),
        cmocka_unit_test(a_matching_without_budget_is_refused),
        cmocka_unit_test(odd_cycles_are_counted),
        cmocka_unit_test(the_approximation_leaves_two_sides),
        cmocka_unit_test(exact_cuts_are_the_best_of_all),
        cmocka_unit_test(the_largest_parts_are_cut_best),
        cmocka_unit_test(local_search_improves),
        cmocka_unit_test(edges_are_sorted_by_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
