/* corf and corf++ on kernels that have a given affinity graph: the papers' figures, the rules step by step, and the
 * optimum. */
#include "tests/unit/graphs.h"

#include "tests/unit/rf_walk.h"
#include "passes/analysis/analyses.h"

/* ---- the passes, on kernels that have a given graph -------------------------------------------------------------- */

/* Vertex v is %r(v + 1), all of them named first, so that it is word v; edges of weight n are read in a loop of n
 * turns. */
static void write_kernel(hd_writer *w, const graph *g)
{
    hd_write_string(w, ".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n.reg .b32 %r<99>;\n.reg .b32 "
                       "%c<999>;\n.reg .pred %p<2>;\n");
    for (uint32_t v = 0; v < g->vertices; v++)
        hd_write_format(w, "mov.u32 %%r%u, 1;\n", v + 1);
    for (uint32_t i = 0; i < g->count; i++) {
        const hd_affinity_edge *e = &g->edges[i];
        hd_write_format(w, "mov.u32 %%c%u, 0;\nL%u:\nadd.u32 %%r98, %%r%u, %%r%u;\nadd.u32 %%c%u, %%c%u, 1;\n", i, i,
                        e->b + 1, e->a + 1, i, i);
        hd_write_format(w, "setp.lt.u32 %%p1, %%c%u, %llu;\n@%%p1 bra L%u;\n", i, (unsigned long long)e->weight, i);
    }
    hd_write_string(w, "ret;\n}\n");
}

typedef struct decision {
    uint8_t side[MOST];  /* corf++: 0 don't care, 1 left, 2 right */
    uint32_t mate[MOST]; /* corf; itself: none */
    hd_statistic_array statistics;
} decision;

static void take_list(const hd_function *f, uint16_t kind, decision *d)
{
    const hd_annotation *a = hd_annotation_at(f, kind, HD_NONE, 0);
    const uint32_t *words = a ? f->annotation_words.items + a->value : NULL;
    for (uint32_t i = 0; a && i < a->count; i++) {
        assert_true(words[i] < MOST);
        if (kind == HD_ANNOTATION_CORF_PAIRS)
            d->mate[words[i]] = words[i ^ 1];
        else
            d->side[words[i]] = kind == HD_ANNOTATION_CORF_LEFT ? 1 : 2;
    }
}

static decision decide(const graph *g, hd_pass_run *pass, const char *option)
{
    decision d = {0};
    hd_source source;
    hd_diagnostics diagnostics;
    hd_pass_context context;
    hd_writer text;
    hd_option options[1] = {{option, "0"}}; /* the number is of `budget`; the others take none */
    hd_diagnostics_init(&diagnostics);
    hd_writer_to_memory(&text);
    write_kernel(&text, g);
    hd_module *module = rf_parse(&source, text.buffer.items, text.buffer.count, &diagnostics);
    hd_function *f = hd_module_find_function(module, "k");
    hd_pass_context_init(&context, f, &diagnostics);
    context.options = options;
    context.option_count = option != NULL;
    assert_true(pass(&context));
    for (uint32_t v = 0; v < MOST; v++)
        d.mate[v] = v;
    take_list(f, HD_ANNOTATION_CORF_PAIRS, &d);
    take_list(f, HD_ANNOTATION_CORF_LEFT, &d);
    take_list(f, HD_ANNOTATION_CORF_RIGHT, &d);
    d.statistics = context.statistics;
    context.statistics = (hd_statistic_array){0};
    hd_pass_context_free(&context);
    hd_module_free(module);
    hd_diagnostics_free(&diagnostics);
    hd_writer_free(&text);
    return d;
}

static uint64_t statistic(const decision *d, const char *name)
{
    for (uint32_t i = 0; i < d->statistics.count; i++)
        if (!strcmp(d->statistics.items[i].name, name))
            return d->statistics.items[i].value;
    fail_msg("no statistic is called %s", name);
    return 0;
}

static uint64_t pairs_weight(const graph *g, const decision *d)
{
    uint64_t weight = 0;
    for (uint32_t i = 0; i < g->count; i++)
        weight += d->mate[g->edges[i].a] == g->edges[i].b ? g->edges[i].weight : 0;
    return weight;
}

static uint64_t cut_weight(const graph *g, const decision *d)
{
    uint64_t weight = 0;
    for (uint32_t i = 0; i < g->count; i++)
        weight += d->side[g->edges[i].a] != d->side[g->edges[i].b] ? g->edges[i].weight : 0;
    return weight;
}

/* The paper's figure 2.5, whatever the weight that it does not tell. */
static void figure_2_5(void **state)
{
    (void)state;
    for (uint64_t unknown = 1; unknown < 12; unknown++) {
        graph g = {4, 4, {{0, 1, 8}, {0, 2, 10}, {0, 3, 2}, {1, 3, unknown}}};
        decision d = decide(&g, hd_pass_corf, NULL);
        assert_int_equal(d.mate[0], 2);
        assert_int_equal(d.mate[1], 3);
        assert_int_equal(statistic(&d, "estimated common reads of pairs"), 10 + unknown);
        assert_int_equal(statistic(&d, "estimated common reads of optimal pairs (upper bound)"), 10 + unknown);
        hd_array_free(&d.statistics);
    }
}

/* Its rule, step by step: the lightest edge that meets a vertex with others goes, and is restored between two that have
 * none. */
static void pairs_by_steps(const graph *g, bool *kept)
{
    for (uint32_t i = 0; i < g->count; i++)
        kept[i] = true;
    for (;;) {
        uint32_t degree[MOST] = {0}, goes = HD_NONE;
        for (uint32_t i = 0; i < g->count; i++) {
            degree[g->edges[i].a] += kept[i];
            degree[g->edges[i].b] += kept[i];
        }
        for (uint32_t i = 0; i < g->count; i++) {
            bool meets = kept[i] && (degree[g->edges[i].a] > 1 || degree[g->edges[i].b] > 1);
            if (meets && (goes == HD_NONE || g->edges[i].weight <= g->edges[goes].weight))
                goes = i;
        }
        if (goes == HD_NONE)
            break;
        kept[goes] = false;
    }
    for (;;) {
        uint32_t degree[MOST] = {0}, comes = HD_NONE;
        for (uint32_t i = 0; i < g->count; i++) {
            degree[g->edges[i].a] += kept[i];
            degree[g->edges[i].b] += kept[i];
        }
        for (uint32_t i = 0; i < g->count; i++) {
            bool may = !degree[g->edges[i].a] && !degree[g->edges[i].b];
            if (may && (comes == HD_NONE || g->edges[i].weight > g->edges[comes].weight))
                comes = i;
        }
        if (comes == HD_NONE)
            return;
        kept[comes] = true;
    }
}

static void pairs_are_those_of_the_rule_and_of_the_optimum(void **state)
{
    (void)state;
    uint32_t apart = 0;
    for (uint64_t seed = 0; seed < 1500; seed++) {
        graph g = random_graph(seed, 2, 9);
        bool kept[MOST * MOST];
        decision rule = decide(&g, hd_pass_corf, NULL), exact = decide(&g, hd_pass_corf, "exact");
        uint64_t best = heaviest_by_sets(&g), ruled = pairs_weight(&g, &rule);
        pairs_by_steps(&g, kept);
        for (uint32_t i = 0; i < g.count; i++)
            assert_int_equal(rule.mate[g.edges[i].a] == g.edges[i].b, kept[i]);
        assert_true(pairs_weight(&g, &exact) == best);
        assert_true(ruled <= best);
        apart += ruled < best;
        assert_true(statistic(&rule, "estimated common reads of pairs") == ruled);
        assert_true(statistic(&rule, "estimated common reads of optimal pairs (upper bound)") == best);
        assert_int_equal(statistic(&rule, "components whose optimal pairs are not known"), 0);
        hd_array_free(&rule.statistics);
        hd_array_free(&exact.statistics);
    }
    assert_true(apart > 100);
}

/* Figure 2.8's graph; the figure's weights are not told. Every edge is on two odd cycles at first. */
static void figure_2_8(void **state)
{
    (void)state;
    graph g = {6, 8, {{0, 1, 6}, {0, 2, 5}, {1, 2, 4}, {1, 4, 9}, {2, 3, 7}, {2, 5, 2}, {3, 5, 8}, {4, 5, 3}}};
    uint32_t cycles[MOST * MOST];
    assert_int_equal(count_by_sets(&g, 0, cycles), 4);
    for (uint32_t e = 0; e < g.count; e++)
        assert_int_equal(cycles[e], 2);
    /* r3-r6 (2) goes: (r3,r4,r6) and the long way around are broken. Left are (r1,r2,r3) and (r2,r3,r4,r6,r5), with
     * r2-r3 (4) on both: it is the lightest for each cycle, and all is done: r5-r6 (3) stays. */
    decision d = decide(&g, hd_pass_corfpp, NULL);
    assert_int_equal(cut_weight(&g, &d), 44 - 2 - 4);
    assert_true(d.side[1] == d.side[2] && d.side[2] == d.side[5]);
    assert_int_equal(statistic(&d, "estimated common reads across alignments"), 38);
    assert_int_equal(statistic(&d, "estimated common reads across alignments (upper bound)"), 38);
    assert_int_equal(statistic(&d, "components whose optimal alignment is not known"), 0);
    assert_int_equal(statistic(&d, "components with too many odd cycles to count"), 0);
    hd_array_free(&d.statistics);
    decision approximated = decide(&g, hd_pass_corfpp, "budget");
    assert_int_equal(statistic(&approximated, "components with too many odd cycles to count"), 1);
    hd_array_free(&approximated.statistics);
}

/* Figure 2.12: r2 and r4 to the right, r3 and r5 to the left, r1 anywhere. */
static void figure_2_12(void **state)
{
    (void)state;
    graph g = {5, 3, {{1, 2, 1}, {2, 3, 1}, {3, 4, 1}}};
    static const uint8_t expected[] = {0, 2, 1, 2, 1};
    decision d = decide(&g, hd_pass_corfpp, NULL);
    assert_memory_equal(d.side, expected, 5);
    hd_array_free(&d.statistics);
}

/* The rule, step by step: the edge with the least weight for each odd cycle goes while there is one. The edges that
 * went. */
static uint32_t sides_by_steps(const graph *g)
{
    uint32_t gone = 0, cycles[MOST * MOST];
    while (count_by_sets(g, gone, cycles)) {
        uint32_t goes = HD_NONE;
        for (uint32_t e = 0; e < g->count; e++)
            if (cycles[e] &&
                (goes == HD_NONE || g->edges[e].weight * cycles[goes] <= g->edges[goes].weight * cycles[e]))
                goes = e;
        gone |= 1u << goes;
    }
    return gone;
}

static uint64_t best_sides(const graph *g)
{
    uint64_t best = 0;
    for (uint32_t set = 0; set < 1u << g->vertices; set++) {
        uint64_t weight = 0;
        for (uint32_t i = 0; i < g->count; i++)
            weight += (set >> g->edges[i].a ^ set >> g->edges[i].b) & 1 ? g->edges[i].weight : 0;
        best = weight > best ? weight : best;
    }
    return best;
}

static void sides_are_those_of_the_rule_and_of_the_optimum(void **state)
{
    (void)state;
    uint32_t apart = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        graph g = sparse_graph(seed, 12);
        uint32_t gone = sides_by_steps(&g);
        decision rule = decide(&g, hd_pass_corfpp, NULL), exact = decide(&g, hd_pass_corfpp, "exact"),
                 search = decide(&g, hd_pass_corfpp, "search");
        uint64_t best = best_sides(&g), ruled = cut_weight(&g, &rule);
        for (uint32_t e = 0; e < g.count; e++) {
            assert_true(rule.side[g.edges[e].a] && rule.side[g.edges[e].b]);
            if (!(gone >> e & 1))
                assert_int_not_equal(rule.side[g.edges[e].a], rule.side[g.edges[e].b]);
        }
        assert_true(cut_weight(&g, &exact) == best);
        assert_true(ruled <= best && cut_weight(&g, &search) >= ruled);
        assert_true(statistic(&rule, "estimated common reads across alignments") == ruled);
        assert_true(statistic(&rule, "estimated common reads across alignments (upper bound)") == best);
        apart += ruled < best;
        hd_array_free(&rule.statistics);
        hd_array_free(&exact.statistics);
        hd_array_free(&search.statistics);
    }
    assert_true(apart > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_2_5),
        cmocka_unit_test(pairs_are_those_of_the_rule_and_of_the_optimum),
        cmocka_unit_test(figure_2_8),
        cmocka_unit_test(figure_2_12),
        cmocka_unit_test(sides_are_those_of_the_rule_and_of_the_optimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
