/* corf: exclusive common pairs of registers. "CORF: Coalescing Operand Register File for GPUs", section 2.4.2.
 *
 * On the affinity graph (affinity.h): the lightest edge of those that meet a register with more than one edge is removed, again and again,
 * until each register has one edge at most. Then an edge is restored between registers that have lost all of theirs, the heaviest first.
 * Of equally light edges the one with the higher numbers goes first, and comes back last.
 *
 * One walk in ascending order does it: edges only go, so that an edge that meets no register with others when its turn comes never will.
 *
 * exact: the pairs of the greatest weight instead (matching.h), component by component, within a budget of work; a component that exceeds
 * it keeps the rule's pairs. Without `exact` the budget is small, and only tells how far the rule is from the optimum. Where that is not
 * known it counts as half of the sum of each register's heaviest edge, which no pairs exceed.
 *
 * Linear without `exact`. A hint can cost accesses, never correctness: the hardware checks widths and places at run time.
 */
#include "passes/affinity.h"

typedef struct corf_pass {
    hd_pass_context *context;
    hd_affinity graph;
    hd_arena *arena;
    uint32_t *degree; /* by word */
    bool *kept;       /* by edge */
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
        hd_annotate_list(f, (hd_annotation){.kind = HD_ANNOTATION_CORF_PAIRS, .instruction = HD_NONE}, pairs.items, pairs.count);
    hd_annotations_sort(f);
    hd_statistic_add(p->context, "pairs", pairs.count / 2);
    hd_array_free(&pairs);
    return weight;
}

bool hd_pass_corf(hd_pass_context *context)
{
    corf_pass p = {.context = context, .arena = &context->scratch};
    if (!hd_affinity_build(context, &p.graph))
        return false;
    choose_pairs(&p);
    uint64_t weight = annotate(&p);
    hd_statistic_add(context, "estimated common reads of pairs", weight);
    hd_statistic_add(context, "estimated common reads of any two registers", p.graph.weight);
    return true;
}
