/* corf: exclusive common pairs of registers. Asghari Esfeden et al., "CORF: Coalescing Operand Register File for GPUs",
 * ASPLOS 2019 (section 2.4.2 of the dissertation).
 *
 * On the affinity graph (affinity.h): of the edges at registers with more than one edge, the lightest is removed,
 * repeatedly, until each register has at most one edge. Then edges are restored between registers that have lost all of
 * theirs, the heaviest first. Among equal weights the edge with the higher register numbers is removed first and
 * restored last.
 *
 * One walk in ascending order suffices: edges are only removed, so an edge whose two registers have no other edge when
 * it is visited never becomes removable.
 *
 * exact: the matching of maximum weight instead (matching.h), component by component, within a budget of steps; a
 * component that exceeds it keeps the heuristic's pairs. Without `exact` a small budget only measures the heuristic's
 * distance from the optimum. Where the optimum is not known, half of the sum of each register's heaviest edge bounds
 * it.
 *
 * Linear without `exact`. A hint can cost accesses, never correctness: the hardware checks widths and slices at run
 * time. */
#include "ir/graph.h"
#include "passes/graph/matching.h"

enum { VERTICES_MOST = 2048, STEPS = 1 << 12, EDGE_STEPS = 64, EXACT_STEPS = 1 << 28 };

typedef struct corf_pass {
    hd_pass_context *context;
    hd_affinity graph;
    hd_arena *arena;
    uint32_t *degree; /* by word */
    bool *kept;       /* by edge */
    bool exact;
    uint64_t steps;         /* for the optimum */
    uint64_t best, unknown; /* upper bound of the optimal pairs' weight; components whose optimum is not known */
} corf_pass;

static void choose_pairs(corf_pass *p)
{
    const hd_affinity *g = &p->graph;
    uint32_t *order = hd_affinity_by_weight(g->edges, g->count, p->arena);
    p->degree = HD_ARENA_ARRAY(p->arena, uint32_t, g->words);
    p->kept = HD_ARENA_ARRAY(p->arena, bool, g->count);
    for (uint32_t i = 0; i < g->count; i++) {
        p->degree[g->edges[i].a]++;
        p->degree[g->edges[i].b]++;
    }
    for (uint32_t i = 0; i < g->count; i++) {
        const hd_affinity_edge *e = &g->edges[order[i]];
        p->kept[order[i]] = p->degree[e->a] == 1 && p->degree[e->b] == 1;
        if (p->kept[order[i]])
            continue;
        p->degree[e->a]--;
        p->degree[e->b]--;
    }
    for (uint32_t i = g->count; i-- > 0;) {
        const hd_affinity_edge *e = &g->edges[order[i]];
        if (p->degree[e->a] || p->degree[e->b])
            continue;
        p->kept[order[i]] = true;
        p->degree[e->a] = p->degree[e->b] = 1;
    }
}

/* ---- the optimum ------------------------------------------------------------------------------------------------- */

typedef struct component {
    uint32_t count;          /* edges */
    const uint32_t *edges;   /* their indices */
    hd_affinity_edge *local; /* the same, with vertices of their own; capacity for all edges of the graph */
    uint32_t *vertex;        /* by word */
    uint64_t *heaviest;      /* by vertex */
    uint32_t vertices;
    bool *chosen; /* by edge */
} component;

/* Half of the sum of each word's heaviest edge. */
static uint64_t bound_of(const component *c)
{
    uint64_t sum = 0;
    memset(c->heaviest, 0, c->vertices * sizeof *c->heaviest);
    for (uint32_t i = 0; i < c->count; i++) {
        const hd_affinity_edge *e = &c->local[i];
        c->heaviest[e->a] = hd_max(c->heaviest[e->a], e->weight);
        c->heaviest[e->b] = hd_max(c->heaviest[e->b], e->weight);
    }
    for (uint32_t v = 0; v < c->vertices; v++)
        sum += c->heaviest[v];
    return sum / 2;
}

static uint32_t vertex_of(component *c, uint32_t word)
{
    if (c->vertex[word] == HD_NONE)
        c->vertex[word] = c->vertices++;
    return c->vertex[word];
}

static void solve_component(corf_pass *p, component *c)
{
    uint64_t weight = 0;
    c->vertices = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const hd_affinity_edge *e = &p->graph.edges[c->edges[i]];
        uint32_t a = vertex_of(c, e->a), b = vertex_of(c, e->b);
        c->local[i] = (hd_affinity_edge){a, b, e->weight};
        c->chosen[i] = p->kept[c->edges[i]];
    }
    bool known = c->vertices == 2;
    if (!known && c->vertices <= VERTICES_MOST)
        known = hd_matching_find(c->vertices, c->local, c->count, &p->steps, c->chosen);
    for (uint32_t i = 0; i < c->count; i++) {
        weight += c->chosen[i] ? c->local[i].weight : 0;
        if (p->exact)
            p->kept[c->edges[i]] = c->chosen[i];
    }
    p->best += known ? weight : bound_of(c);
    p->unknown += !known;
}

/* The edges by component, in the order of the components' first edges. *first: by component, and one more. */
static uint32_t *by_component(const corf_pass *p, uint32_t **first, uint32_t *components)
{
    const hd_affinity *g = &p->graph;
    uint32_t *link = HD_ARENA_ARRAY(p->arena, uint32_t, g->words),
             *number = HD_ARENA_ARRAY(p->arena, uint32_t, g->words);
    uint32_t *edges = HD_ARENA_ARRAY(p->arena, uint32_t, g->count),
             *fill = HD_ARENA_ARRAY(p->arena, uint32_t, (size_t)g->words + 2);
    for (uint32_t w = 0; w < g->words; w++)
        link[w] = w;
    for (uint32_t i = 0; i < g->count; i++)
        link[hd_union_find(link, g->edges[i].b)] = hd_union_find(link, g->edges[i].a);
    *components = 0;
    *first = fill++;
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t root = hd_union_find(link, g->edges[i].a);
        if (!number[root])
            number[root] = ++*components;
        fill[number[root]]++;
    }
    for (uint32_t c = 0; c < *components; c++)
        fill[c + 1] += fill[c];
    for (uint32_t i = 0; i < g->count; i++)
        edges[fill[number[hd_union_find(link, g->edges[i].a)] - 1]++] = i;
    return edges;
}

static void find_optimum(corf_pass *p)
{
    const hd_affinity *g = &p->graph;
    uint32_t *first, components;
    const uint32_t *edges = by_component(p, &first, &components);
    component c = {.local = HD_ARENA_ARRAY(p->arena, hd_affinity_edge, g->count),
                   .chosen = HD_ARENA_ARRAY(p->arena, bool, g->count),
                   .vertex = HD_ARENA_ARRAY(p->arena, uint32_t, g->words),
                   .heaviest = HD_ARENA_ARRAY(p->arena, uint64_t, g->words)};
    memset(c.vertex, 0xff, g->words * sizeof *c.vertex);
    for (uint32_t k = 0; k < components; k++) {
        c.edges = edges + first[k];
        c.count = first[k + 1] - first[k];
        solve_component(p, &c);
    }
}

/* ---- the function ------------------------------------------------------------------------------------------------ */

static uint64_t annotate(corf_pass *p)
{
    hd_function *f = p->context->function;
    hd_u32_array pairs = {0};
    uint64_t weight = 0;
    for (uint32_t i = 0; i < p->graph.count; i++) {
        if (!p->kept[i])
            continue;
        hd_array_push(&pairs, p->graph.edges[i].a);
        hd_array_push(&pairs, p->graph.edges[i].b);
        weight += p->graph.edges[i].weight;
    }
    hd_annotations_remove(f, "corf");
    if (pairs.count)
        hd_annotate_list(f, (hd_annotation){.kind = HD_ANNOTATION_CORF_PAIRS, .instruction = HD_NONE}, pairs.items,
                         pairs.count);
    hd_annotations_sort(f);
    hd_statistic_add(p->context, "pairs", pairs.count / 2);
    hd_array_free(&pairs);
    return weight;
}

bool hd_pass_corf(hd_pass_context *context)
{
    corf_pass p = {.context = context, .arena = &context->scratch, .exact = hd_option_text(context, "exact") != NULL};
    hd_affinity_build(context, &p.graph);
    p.steps = p.exact ? EXACT_STEPS : STEPS + (uint64_t)EDGE_STEPS * p.graph.count;
    choose_pairs(&p);
    find_optimum(&p);
    uint64_t weight = annotate(&p);
    hd_statistic_add(context, "estimated common reads of pairs", weight);
    hd_statistic_add(context, "estimated common reads of optimal pairs (upper bound)", p.best);
    hd_statistic_add(context, "estimated common reads of any two registers", p.graph.weight);
    hd_statistic_add(context, "components whose optimal pairs are not known", p.unknown);
    return true;
}
