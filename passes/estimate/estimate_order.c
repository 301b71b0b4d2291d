/* Schedules of a block's instructions, and their maximum number of live words.
 *
 * LATENCY is a list schedule: in each cycle, of the ready instructions, the one with the longest latency chain to the
 * end, as if registers were free. It hoists loads as ptxas does. Operands of a memory access stay live for some cycles,
 * because the access reads them after it issues; its own result may reuse their registers.
 *
 * LATE is the same from the end of the block to its start: an instruction is as late as its readers allow, a store
 * after the loads.
 *
 * DEMAND puts the instructions that compute an operand directly before its first reader; those without a reader in the
 * block keep their PTX order. Live ranges are short: what ptxas can achieve when registers are scarce.
 *
 * Complexity: O(n log n) for n instructions times copies.
 */
#include "passes/estimate/estimate_work.h"

enum { HELD_CYCLES = 60 };

typedef struct estimate_key {
    uint64_t rank;
    uint32_t node;
} estimate_key;
typedef HD_ARRAY(estimate_key) estimate_heap; /* smallest rank first */
typedef struct held {
    uint32_t cycle, words;
} held;

typedef struct ordering {
    estimate_graph graph;
    estimate_heap by_chain, by_time;
    HD_ARRAY(held) held; /* operands still read by memory accesses, and until when; ascending */
    uint32_t held_first, peak;
    bool timed; /* cycles are meaningful */
} ordering;

/* ---- heaps ------------------------------------------------------------------------------------------------------- */

static void heap_push(estimate_heap *h, uint64_t rank, uint32_t n)
{
    hd_array_push(h, (estimate_key){rank, n});
    uint32_t i = h->count - 1;
    for (; i && h->items[(i - 1) / 2].rank > rank; i = (i - 1) / 2)
        h->items[i] = h->items[(i - 1) / 2];
    h->items[i] = (estimate_key){rank, n};
}

static estimate_key heap_pop(estimate_heap *h)
{
    estimate_key top = h->items[0], last = h->items[--h->count];
    uint32_t i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= h->count)
            break;
        if (child + 1 < h->count && h->items[child + 1].rank < h->items[child].rank)
            child++;
        if (h->items[child].rank >= last.rank)
            break;
        h->items[i] = h->items[child];
        i = child;
    }
    if (h->count)
        h->items[i] = last;
    return top;
}

/* ---- issue ------------------------------------------------------------------------------------------------------- */

static void make_ready(ordering *o, uint32_t n) { heap_push(&o->by_time, o->graph.nodes.items[n].ready, n); }

static void release(ordering *o, uint32_t cycle)
{
    for (; o->held_first < o->held.count && o->held.items[o->held_first].cycle <= cycle; o->held_first++)
        o->graph.live -= o->held.items[o->held_first].words;
}

static void issue(ordering *o, uint32_t n, uint32_t cycle)
{
    estimate_node *at = &o->graph.nodes.items[n];
    at->issued = true;
    release(o, cycle);
    uint32_t freed = 0;
    for (uint32_t i = at->use_first; i < at->use_first + at->use_count; i++) {
        uint32_t v = o->graph.lists.items[i];
        if (--o->graph.values.items[v].uses == 0)
            freed += estimate_end_live_range(&o->graph, v);
    }
    uint32_t made = 0, kept = 0; /* a result may reuse the register of an operand */
    for (uint32_t i = at->def_first; i < at->def_first + at->def_count; i++)
        made += o->graph.values.items[o->graph.lists.items[i]].words;
    if (at->slow && o->timed && freed > made) {
        kept = freed - made;
        hd_array_push(&o->held, (held){cycle + HELD_CYCLES, kept});
    }
    o->graph.live -= freed - kept;
    for (uint32_t i = at->def_first; i < at->def_first + at->def_count; i++)
        estimate_bear(&o->graph, o->graph.lists.items[i]);
    if (o->graph.live + at->extra > o->peak)
        o->peak = o->graph.live + at->extra;
    for (uint32_t i = at->def_first; i < at->def_first + at->def_count; i++)
        if (!o->graph.values.items[o->graph.lists.items[i]].uses)
            o->graph.live -= estimate_end_live_range(&o->graph, o->graph.lists.items[i]);
    for (uint32_t e = at->edge; e != HD_NONE; e = o->graph.edges.items[e].next) {
        estimate_node *to = &o->graph.nodes.items[o->graph.edges.items[e].to];
        if (cycle + at->latency > to->ready)
            to->ready = cycle + at->latency;
        if (--to->waits == 0)
            make_ready(o, o->graph.edges.items[e].to);
    }
}

static void issue_for_latency(ordering *o)
{
    uint32_t cycle = 0;
    o->timed = true;
    for (uint32_t n = 0; n < o->graph.nodes.count; n++)
        if (!o->graph.nodes.items[n].waits)
            make_ready(o, n);
    for (; o->by_time.count || o->by_chain.count; cycle++) {
        if (!o->by_chain.count && o->by_time.items[0].rank > cycle)
            cycle = (uint32_t)o->by_time.items[0].rank;
        while (o->by_time.count && o->by_time.items[0].rank <= cycle) {
            uint32_t n = heap_pop(&o->by_time).node;
            heap_push(&o->by_chain, (uint64_t)(UINT32_MAX - o->graph.nodes.items[n].chain) << 32 | n, n);
        }
        issue(o, heap_pop(&o->by_chain).node, cycle);
    }
}

static void issue_as_written(ordering *o)
{
    for (uint32_t n = 0; n < o->graph.nodes.count; n++)
        issue(o, n, n);
}

/* ---- shortest live ranges ---------------------------------------------------------------------------------------- */

/* Instructions on demand: those that compute an operand directly before its first reader; those without a reader
 * (stores, live-out values) in PTX order. Uses reversed edges. */
static uint32_t *turn_around(const ordering *o, uint32_t **from)
{
    uint32_t count = o->graph.nodes.count, *first = hd_calloc((size_t)count + 2, sizeof *first);
    for (uint32_t n = 0; n < count; n++)
        for (uint32_t e = o->graph.nodes.items[n].edge; e != HD_NONE; e = o->graph.edges.items[e].next)
            first[o->graph.edges.items[e].to + 2]++;
    for (uint32_t n = 0; n < count; n++)
        first[n + 2] += first[n + 1];
    *from = hd_calloc((size_t)o->graph.edges.count + 1, sizeof **from);
    for (uint32_t n = 0; n < count; n++)
        for (uint32_t e = o->graph.nodes.items[n].edge; e != HD_NONE; e = o->graph.edges.items[e].next)
            (*from)[first[o->graph.edges.items[e].to + 1]++] = n;
    return first;
}

static void issue_on_demand(ordering *o)
{
    uint32_t *from, *first = turn_around(o, &from), *next = hd_calloc((size_t)o->graph.nodes.count + 1, sizeof *next);
    hd_u32_array stack = {0};
    for (uint32_t root = 0; root < o->graph.nodes.count; root++) {
        if (o->graph.nodes.items[root].edge != HD_NONE)
            continue;
        hd_array_push(&stack, root);
        while (stack.count) {
            uint32_t n = hd_array_last(&stack), in = first[n] + next[n];
            if (in < first[n + 1]) {
                next[n]++;
                if (!o->graph.nodes.items[from[in]].issued)
                    hd_array_push(&stack, from[in]);
                continue;
            }
            (void)hd_array_pop(&stack);
            if (!o->graph.nodes.items[n].issued)
                issue(o, n, 0);
        }
    }
    hd_array_free(&stack);
    free(from);
    free(first);
    free(next);
}

/* ---- as late as possible ----------------------------------------------------------------------------------------- */

typedef struct backwards {
    uint32_t *depth;           /* by node: latencies from the start of the block to it */
    uint32_t *left;            /* number of later instructions that are not scheduled yet */
    uint32_t *ready;           /* first cycle, counted from the end, in which it may be scheduled */
    uint32_t *sequence, count; /* the schedule, last instruction first */
} backwards;

static void backwards_init(backwards *back, const ordering *o)
{
    const estimate_node *nodes = o->graph.nodes.items;
    uint32_t count = o->graph.nodes.count, **all[] = {&back->depth, &back->left, &back->ready, &back->sequence};
    back->count = 0;
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++)
        *all[i] = hd_calloc((size_t)count + 1, sizeof(uint32_t));
    for (uint32_t n = 0; n < count; n++)
        for (uint32_t e = nodes[n].edge; e != HD_NONE; e = o->graph.edges.items[e].next) {
            uint32_t to = o->graph.edges.items[e].to;
            back->left[n]++;
            if (back->depth[n] + nodes[n].latency > back->depth[to])
                back->depth[to] = back->depth[n] + nodes[n].latency;
        }
}

/* The next instruction of the list schedule from the end of the block to its start. */
static uint32_t take_last(ordering *o, const backwards *back, uint32_t *cycle)
{
    if (!o->by_chain.count && o->by_time.items[0].rank > *cycle)
        *cycle = (uint32_t)o->by_time.items[0].rank;
    while (o->by_time.count && o->by_time.items[0].rank <= *cycle) {
        uint32_t n = heap_pop(&o->by_time).node;
        heap_push(&o->by_chain, (uint64_t)(UINT32_MAX - back->depth[n]) << 32 | (UINT32_MAX - n), n);
    }
    return heap_pop(&o->by_chain).node;
}

static void issue_late(ordering *o)
{
    backwards back;
    uint32_t *from, *first = turn_around(o, &from);
    backwards_init(&back, o);
    for (uint32_t n = 0; n < o->graph.nodes.count; n++)
        if (!back.left[n])
            heap_push(&o->by_time, 0, n);
    for (uint32_t cycle = 0; o->by_time.count || o->by_chain.count; cycle++) {
        uint32_t n = take_last(o, &back, &cycle);
        back.sequence[back.count++] = n;
        for (uint32_t i = first[n]; i < first[n + 1]; i++) {
            uint32_t before = from[i], at = cycle + o->graph.nodes.items[before].latency;
            if (at > back.ready[before])
                back.ready[before] = at;
            if (--back.left[before] == 0)
                heap_push(&o->by_time, back.ready[before], before);
        }
    }
    while (back.count-- > 0)
        issue(o, back.sequence[back.count], 0);
    free(back.depth);
    free(back.left);
    free(back.ready);
    free(back.sequence);
    free(first);
    free(from);
}

uint32_t estimate_peak(estimate_work *work, estimate_region region, estimate_order order, uint32_t copies)
{
    ordering o = {0};
    estimate_graph_build(&o.graph, work, region, copies);
    o.peak = o.graph.live;
    switch (order) {
    case ESTIMATE_ORDER_TEXT: issue_as_written(&o); break;
    case ESTIMATE_ORDER_DEMAND: issue_on_demand(&o); break;
    case ESTIMATE_ORDER_LATE: issue_late(&o); break;
    case ESTIMATE_ORDER_LATENCY: issue_for_latency(&o); break;
    }
    estimate_graph_free(&o.graph);
    hd_array_free(&o.by_chain);
    hd_array_free(&o.by_time);
    hd_array_free(&o.held);
    return o.peak;
}
