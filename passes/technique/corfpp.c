/* corf++: which registers are aligned to the left of an entry and which to the right, so that two registers read
 * together share no byte. Asghari Esfeden et al., "CORF: Coalescing Operand Register File for GPUs", ASPLOS 2019
 * (section 2.5.1 of the dissertation).
 *
 * On the affinity graph (affinity.h): of the edges on odd cycles, the one with the least weight per odd cycle that its
 * removal breaks is removed, until no odd cycle is left; among equal ones that with the higher register numbers. What
 * is left is bipartite. Only biconnected components with odd cycles are processed, and after each removal only the
 * parts of the affected component. A removed edge lies on a cycle, so no component is split and every word that is read
 * with others keeps an edge. Words that are never read with others are don't-care.
 *
 * Cycles are counted exactly within a budget: BASE_STEPS, and `budget` for each edge of the graph, smaller components
 * first. A component that needs more is processed by the approximation of oddcycles.c, in one pass.
 *
 * The two sides of a connected component may be swapped: the lowest word is aligned right (as in figure 2.12), unless
 * the other choice brings the numbers of left and right words of all components so far closer, which leaves fewer
 * half-filled entries.
 *
 * exact: the maximum cut of each such biconnected component of up to HD_MAXCUT_VERTICES words, within a budget (a cut
 * of the graph restricted to a component is a cut of it, and cuts of components combine). Without `exact` a small
 * budget only measures the heuristic's distance from the optimum. Where the optimum is not known, the weight of all
 * edges less the loss that triangles force bounds it. search: local search afterwards.
 *
 * Complexity: linear in edges and budget, except for sorting; the approximation is O((edges + triangles) log edges). A
 * hint can cost accesses, never correctness: the hardware compares allocation masks at run time. */
#include "passes/graph/maxcut.h"

enum { BASE_STEPS = 4096, BUDGET = 8, CUT_STEPS = 4096, EXACT_STEPS = 1 << 26 };

typedef struct corfpp_pass {
    hd_pass_context *context;
    hd_affinity graph;
    hd_arena *arena;
    hd_odd_part part;
    bool *gone; /* by edge of the graph */
    bool *side; /* by word: to the right */
    uint64_t steps, cut_steps;
    bool exact;
    uint64_t best, unknown; /* upper bound of the maximum cut; components whose optimum is not known */
    uint64_t uncounted;     /* components with more odd cycles than the steps allowed */
} corfpp_pass;

/* ---- one component ----------------------------------------------------------------------------------------------- */

/* The next edge to remove: least weight per odd cycle. Every edge of such a part lies on one. */
static uint32_t lightest(const hd_odd_part *part, const uint64_t *cycles)
{
    uint32_t found = 0;
    for (uint32_t e = 1; e < part->count; e++) {
        unsigned __int128 one = (unsigned __int128)hd_odd_part_weight(part, e) * cycles[found];
        unsigned __int128 other = (unsigned __int128)hd_odd_part_weight(part, found) * cycles[e];
        if (one < other || (one == other && part->edge.items[e] > part->edge.items[found]))
            found = e;
    }
    return found;
}

static void approximate(corfpp_pass *p)
{
    bool *gone = hd_malloc(p->part.count + 1);
    hd_odd_part_break_odd_cycles(&p->part, gone);
    for (uint32_t e = 0; e < p->part.count; e++)
        p->gone[p->part.edge.items[e]] = gone[e];
    free(gone);
    p->uncounted++;
}

/* p->part is a biconnected component with odd cycles. Its remainder without one edge; false where it was processed as a
 * whole. */
static bool remove_one(corfpp_pass *p, hd_u32_array *left)
{
    uint64_t *cycles = hd_malloc((p->part.count + 1) * sizeof *cycles);
    bool counted = p->steps > p->part.count;
    p->steps -= counted ? p->part.count : p->steps;
    counted = counted && hd_odd_part_count_odd_cycles(&p->part, &p->steps, cycles);
    hd_array_clear(left);
    if (counted) {
        uint32_t goes = lightest(&p->part, cycles);
        p->gone[p->part.edge.items[goes]] = true;
        for (uint32_t e = 0; e < p->part.count; e++)
            if (e != goes)
                hd_array_push(left, p->part.edge.items[e]);
    } else {
        approximate(p);
    }
    free(cycles);
    return counted;
}

/* Removes edges until no odd cycle is left in the component. */
static void break_component(corfpp_pass *p, const uint32_t *edges, uint32_t count)
{
    hd_odd_parts odd = {0};
    hd_u32_array left = {0};
    hd_odd_parts_push(&odd, edges, count);
    while (odd.first.count) {
        uint32_t from = hd_array_pop(&odd.first);
        hd_odd_part_make(&p->part, odd.edges.items + from, odd.edges.count - from);
        odd.edges.count = from;
        if (remove_one(p, &left))
            hd_odd_part_split(&p->part, left.items, left.count, &odd);
    }
    hd_odd_parts_free(&odd);
    hd_array_free(&left);
}

/* ---- sides ------------------------------------------------------------------------------------------------------- */

typedef struct coloring {
    uint32_t *first, *incident; /* by word, and one more: edges that stay */
    uint32_t *queue;
    bool *seen;
    int64_t balance; /* words aligned right minus words aligned left */
} coloring;

static void color_from(corfpp_pass *p, coloring *c, uint32_t word)
{
    uint32_t head = 0, tail = 0;
    int64_t right = 0;
    c->seen[word] = p->side[word] = true;
    c->queue[tail++] = word;
    while (head < tail) {
        uint32_t from = c->queue[head++];
        right += p->side[from] ? 1 : -1;
        for (uint32_t i = c->first[from]; i < c->first[from + 1]; i++) {
            const hd_affinity_edge *e = &p->graph.edges[c->incident[i]];
            uint32_t to = e->a == from ? e->b : e->a;
            if (c->seen[to])
                continue;
            c->seen[to] = true;
            p->side[to] = !p->side[from];
            c->queue[tail++] = to;
        }
    }
    int64_t kept = c->balance + right, turned = c->balance - right;
    bool turn = (turned < 0 ? -turned : turned) < (kept < 0 ? -kept : kept);
    for (uint32_t i = 0; i < tail && turn; i++)
        p->side[c->queue[i]] = !p->side[c->queue[i]];
    c->balance = turn ? turned : kept;
}

/* Colours the words along the remaining edges. */
static void color(corfpp_pass *p)
{
    const hd_affinity *g = &p->graph;
    coloring c = {0};
    c.first = HD_ARENA_ARRAY(p->arena, uint32_t, (size_t)g->words + 2);
    c.incident = HD_ARENA_ARRAY(p->arena, uint32_t, 2 * (size_t)g->count);
    c.queue = HD_ARENA_ARRAY(p->arena, uint32_t, g->words);
    c.seen = HD_ARENA_ARRAY(p->arena, bool, g->words);
    uint32_t *fill = c.first + 1;
    for (uint32_t i = 0; i < g->count; i++) {
        fill[g->edges[i].a + 1] += !p->gone[i];
        fill[g->edges[i].b + 1] += !p->gone[i];
    }
    for (uint32_t w = 0; w < g->words; w++)
        fill[w + 1] += fill[w];
    for (uint32_t i = 0; i < g->count; i++) {
        if (p->gone[i])
            continue;
        c.incident[fill[g->edges[i].a]++] = i;
        c.incident[fill[g->edges[i].b]++] = i;
    }
    for (uint32_t w = 0; w < g->words; w++)
        if (!c.seen[w] && c.first[w] < c.first[w + 1])
            color_from(p, &c, w);
}

/* ---- how far from the optimum ------------------------------------------------------------------------------------ */

/* The maximum cut of a component, starting from its present sides; with `exact` its uncut edges are the removed
 * ones. */
static void solve_component(corfpp_pass *p, const uint32_t *edges, uint32_t count)
{
    bool side[HD_MAXCUT_VERTICES];
    uint64_t whole = 0;
    hd_odd_part_make(&p->part, edges, count);
    for (uint32_t e = 0; e < count; e++)
        whole += hd_odd_part_weight(&p->part, e);
    bool known = p->part.vertices <= HD_MAXCUT_VERTICES;
    if (known) {
        for (uint32_t v = 0; v < p->part.vertices; v++)
            side[v] = p->side[p->part.word.items[v]];
        known = hd_maxcut_exact(&p->part, side, &p->cut_steps);
        for (uint32_t e = 0; e < count && known && p->exact; e++)
            p->gone[edges[e]] = side[p->part.ends.items[2 * e]] == side[p->part.ends.items[2 * e + 1]];
    }
    p->unknown += !known;
    p->best -= known ? whole - hd_maxcut_weight(&p->part, side) : hd_odd_part_least_loss(&p->part);
}

/* ---- the function ------------------------------------------------------------------------------------------------ */

typedef struct sized {
    uint32_t count, part;
} sized;

static int compare_sizes(const void *a, const void *b)
{
    const sized *x = a, *y = b;
    return x->count != y->count ? (x->count > y->count) - (x->count < y->count)
                                : (x->part > y->part) - (x->part < y->part);
}

static sized *by_size(const hd_odd_parts *odd, hd_arena *arena)
{
    sized *order = HD_ARENA_ARRAY(arena, sized, odd->first.count);
    for (uint32_t k = 0; k < odd->first.count; k++)
        order[k] = (sized){hd_odd_parts_end(odd, k) - odd->first.items[k], k};
    if (odd->first.count)
        qsort(order, odd->first.count, sizeof *order, compare_sizes);
    return order;
}

static void find_sides(corfpp_pass *p)
{
    hd_odd_parts odd = {0};
    uint32_t *all = HD_ARENA_ARRAY(p->arena, uint32_t, p->graph.count);
    for (uint32_t i = 0; i < p->graph.count; i++)
        all[i] = i;
    hd_odd_part_init(&p->part, &p->graph, p->arena);
    hd_odd_part_split(&p->part, all, p->graph.count, &odd);
    sized *order = by_size(&odd, p->arena);
    for (uint32_t k = 0; k < odd.first.count; k++)
        break_component(p, odd.edges.items + odd.first.items[order[k].part], order[k].count);
    color(p);
    for (uint32_t k = 0; k < odd.first.count; k++)
        solve_component(p, odd.edges.items + odd.first.items[order[k].part], order[k].count);
    if (p->exact)
        color(p);
    if (hd_option_text(p->context, "search"))
        hd_maxcut_improve(&p->graph, p->side, p->arena);
    hd_odd_parts_free(&odd);
    hd_odd_part_free(&p->part);
}

static void annotate(corfpp_pass *p)
{
    static const uint16_t kinds[2] = {HD_ANNOTATION_CORF_LEFT, HD_ANNOTATION_CORF_RIGHT};
    hd_function *f = p->context->function;
    bool *read = HD_ARENA_ARRAY(p->arena, bool, p->graph.words);
    hd_u32_array lists[2] = {{0}, {0}};
    uint64_t cut = 0;
    for (uint32_t i = 0; i < p->graph.count; i++) {
        const hd_affinity_edge *e = &p->graph.edges[i];
        read[e->a] = read[e->b] = true;
        cut += p->side[e->a] != p->side[e->b] ? e->weight : 0;
    }
    for (uint32_t w = 0; w < p->graph.words; w++)
        if (read[w])
            hd_array_push(&lists[p->side[w]], w);
    hd_annotations_remove(f, "corf++");
    for (uint32_t k = 0; k < 2; k++) {
        if (lists[k].count)
            hd_annotate_list(f, (hd_annotation){.kind = kinds[k], .instruction = HD_NONE}, lists[k].items,
                             lists[k].count);
        hd_statistic_add(p->context, k ? "registers aligned right" : "registers aligned left", lists[k].count);
        hd_array_free(&lists[k]);
    }
    hd_annotations_sort(f);
    hd_statistic_add(p->context, "estimated common reads across alignments", cut);
}

bool hd_pass_corfpp(hd_pass_context *context)
{
    uint32_t budget = hd_option_number(context, "budget", BUDGET);
    corfpp_pass p = {.context = context, .arena = &context->scratch, .exact = hd_option_text(context, "exact") != NULL};
    hd_affinity_build(context, &p.graph);
    p.gone = HD_ARENA_ARRAY(p.arena, bool, p.graph.count);
    p.side = HD_ARENA_ARRAY(p.arena, bool, p.graph.words);
    p.steps = budget ? BASE_STEPS + (uint64_t)budget * p.graph.count : 0;
    p.cut_steps = p.exact ? EXACT_STEPS : CUT_STEPS + 4ull * p.graph.count;
    p.best = p.graph.weight;
    find_sides(&p);
    annotate(&p);
    hd_statistic_add(context, "estimated common reads across alignments (upper bound)", p.best);
    hd_statistic_add(context, "estimated common reads of any two registers", p.graph.weight);
    hd_statistic_add(context, "components with too many odd cycles to count", p.uncounted);
    hd_statistic_add(context, "components whose optimal alignment is not known", p.unknown);
    return true;
}
