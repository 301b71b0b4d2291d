/* Register-intervals, second pass: Sadrosadati et al., "LTRF", ASPLOS 2018, section 3.3, algorithm 2, repeated until
 * nothing merges.
 *
 * An interval is merged into its only predecessor interval where both together need at most N words. Edges back to its
 * own header do not count, so a loop whose body was merged into its header can be merged into its predecessor.
 *
 * The pass is not repeated over the whole graph. Each interval watches two different predecessor intervals. Only where
 * these become one it continues through its list for another. When there is none, it has a single predecessor for good.
 * That predecessor only grows, so an interval that does not fit there never will. Among several that can be merged, the
 * deepest in loops is first, then the first in reverse post-order.
 *
 * Hubs of the order watch three: a successor of a hub needs two besides itself, or finds there all predecessors of the
 * hub.
 *
 * Complexity: O((intervals + edges) log intervals + intervals N): lists of watchers are merged shorter into longer. */
#include "passes/technique/ltrf_work.h"

#include "base/compare.h"

enum { MOST_SEEN = 3 };

typedef struct watcher {             /* an interval; after the intervals, a hub */
    uint32_t at, end;                /* of its list of predecessors; those before `at` are in `seen`, or are itself */
    uint32_t seen[MOST_SEEN], count; /* different intervals */
    uint32_t list;                   /* watchers of it: index in `lists` */
} watcher;

typedef struct merger {
    ltrf_plan *plan;
    uint32_t count; /* intervals; watchers from this index on are hubs, in topological order */
    watcher *watchers;
    uint32_t *before; /* lists of predecessor watchers */
    hd_u32_array *lists;
    uint32_t *rank, *interval_at; /* by interval; by rank */
    hd_u32_array heap, words;
} merger;

/* ---- what comes before each -------------------------------------------------------------------------------------- */

/* The watcher that is at the end of a block (at its start), or is a hub. */
static uint32_t watcher_of(const merger *m, const uint32_t *of_block, uint32_t node)
{
    return ltrf_is_hub(m->plan, node) ? m->count + node - m->plan->cfg->block_count - 1 : of_block[node];
}

/* Calls `visit` with each pair (predecessor, successor). */
static void each_edge(merger *m, void (*visit)(merger *, uint32_t, uint32_t))
{
    const ltrf_plan *p = m->plan;
    for (uint32_t i = 0; i < p->intervals.count; i++)
        if (p->intervals.items[i].before != HD_NONE)
            visit(m, p->intervals.items[i].before, i);
    for (uint32_t v = 0; v < p->order.nodes; v++)
        for (uint32_t e = p->order.first[v]; e < p->order.first[v + 1]; e++) {
            uint32_t from = watcher_of(m, p->last, v), to = watcher_of(m, p->first, p->order.successors[e]);
            if (from != to)
                visit(m, from, to);
        }
}

static void count_edge(merger *m, uint32_t from, uint32_t to)
{
    (void)from;
    m->watchers[to].end++;
}

static void list_edge(merger *m, uint32_t from, uint32_t to) { m->before[m->watchers[to].end++] = from; }

static void list_before(merger *m, uint32_t watchers, hd_arena *scratch)
{
    uint32_t all = 0;
    each_edge(m, count_edge);
    for (uint32_t i = 0; i < watchers; i++) {
        watcher *w = &m->watchers[i];
        uint32_t edges = w->end;
        w->at = w->end = all;
        w->list = i;
        all += edges;
    }
    m->before = HD_ARENA_ARRAY(scratch, uint32_t, all);
    each_edge(m, list_edge);
}

/* The interval into which an interval was merged. */
static uint32_t survivor(ltrf_plan *p, uint32_t i)
{
    while (p->merged_into[i] != i) {
        p->merged_into[i] = p->merged_into[p->merged_into[i]];
        i = p->merged_into[i];
    }
    return i;
}

/* ---- watching ---------------------------------------------------------------------------------------------------- */

/* Sees an interval unless it is the watcher itself or seen already. */
static bool see(merger *m, uint32_t i, uint32_t interval)
{
    watcher *w = &m->watchers[i];
    uint32_t it = survivor(m->plan, interval);
    for (uint32_t k = 0; k < w->count; k++)
        if (w->seen[k] == it)
            return false;
    if (it == i)
        return false;
    w->seen[w->count++] = it;
    return true;
}

/* Finds another predecessor; false where there is none. */
static bool see_next(merger *m, uint32_t i)
{
    watcher *w = &m->watchers[i];
    for (; w->at < w->end; w->at++) {
        uint32_t from = m->before[w->at];
        bool found = from < m->count && see(m, i, from);
        for (uint32_t k = 0; from >= m->count && !found && k < m->watchers[from].count; k++)
            found = see(m, i, m->watchers[from].seen[k]);
        if (!found)
            continue;
        hd_array_push(&m->lists[m->watchers[w->seen[w->count - 1]].list], i);
        return true;
    }
    return false;
}

/* Finds as many different predecessors as it must watch; an interval with a single one may be merged. */
static void look(merger *m, uint32_t i)
{
    watcher *w = &m->watchers[i];
    uint32_t known = w->count, enough = i < m->count ? 2 : MOST_SEEN;
    w->count = 0;
    for (uint32_t k = 0; k < known; k++)
        see(m, i, w->seen[k]);
    while (w->count < enough && see_next(m, i))
        continue;
    if (i < m->count && w->count == 1)
        ltrf_heap_push(&m->heap, m->rank[i]);
}

/* ---- merging ----------------------------------------------------------------------------------------------------- */

/* The union of two sorted sets into `words`. */
static void unite(merger *m, const ltrf_interval *a, const ltrf_interval *b)
{
    uint32_t x = 0, y = 0;
    hd_array_clear(&m->words);
    while (x < a->word_count || y < b->word_count) {
        uint32_t left = x < a->word_count ? a->words[x] : HD_NONE, right = y < b->word_count ? b->words[y] : HD_NONE;
        hd_array_push(&m->words, hd_min(left, right));
        x += left <= right;
        y += right <= left;
    }
}

/* Watchers of a merged interval: hubs from first to last, which depend on earlier ones; then intervals, which depend on
 * hubs. */
static void look_again(merger *m, hd_u32_array *watchers)
{
    uint32_t *items = watchers->items, hubs = 0;
    for (uint32_t i = 0; i < watchers->count; i++) {
        uint32_t it = items[i];
        if (it < m->count)
            continue;
        items[i] = items[hubs];
        items[hubs++] = it;
    }
    if (hubs)
        qsort(items, hubs, sizeof *items, hd_compare_u32);
    for (uint32_t i = 0; i < watchers->count; i++)
        if (items[i] >= m->count || m->plan->merged_into[items[i]] == items[i])
            look(m, items[i]);
}

static void join_lists(merger *m, uint32_t into, uint32_t from)
{
    watcher *to = &m->watchers[into];
    uint32_t longer = to->list, shorter = m->watchers[from].list;
    if (m->lists[longer].count < m->lists[shorter].count) {
        uint32_t swap = longer;
        longer = shorter;
        shorter = swap;
    }
    to->list = longer;
    hd_u32_array moved = m->lists[shorter];
    m->lists[shorter] = (hd_u32_array){0};
    for (uint32_t i = 0; i < moved.count; i++)
        hd_array_push(&m->lists[longer], moved.items[i]);
    look_again(m, &moved);
    hd_array_free(&moved);
}

static void try_merge(merger *m, uint32_t i)
{
    ltrf_plan *p = m->plan;
    uint32_t into = survivor(p, m->watchers[i].seen[0]);
    ltrf_interval *a = &p->intervals.items[into], *b = &p->intervals.items[i];
    if (p->merged_into[i] != i || b->fixed || a->alone || a->hollow)
        return;
    unite(m, a, b);
    if (m->words.count > p->most)
        return;
    if (m->words.count > a->word_count) {
        a->words = hd_arena_copy(p->arena, m->words.items, m->words.count * sizeof(uint32_t));
        a->word_count = m->words.count;
    }
    p->merged_into[i] = into;
    join_lists(m, into, i);
    look(m, into);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

typedef struct sort_key {
    uint32_t rank, header, interval;
} sort_key;

static int compare_keys(const void *left, const void *right)
{
    const sort_key *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->header > b->header) - (a->header < b->header);
}

static void rank_intervals(merger *m, hd_arena *scratch)
{
    const ltrf_plan *p = m->plan;
    uint32_t count = p->intervals.count;
    sort_key *keys = HD_ARENA_ARRAY(scratch, sort_key, count);
    m->rank = HD_ARENA_ARRAY(scratch, uint32_t, count);
    m->interval_at = HD_ARENA_ARRAY(scratch, uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
        keys[i] = (sort_key){p->rank[p->intervals.items[i].block], p->intervals.items[i].header, i};
    qsort(keys, count, sizeof *keys, compare_keys);
    for (uint32_t k = 0; k < count; k++) {
        m->rank[keys[k].interval] = k;
        m->interval_at[k] = keys[k].interval;
    }
}

void ltrf_merge(ltrf_plan *p)
{
    hd_arena scratch = {0};
    uint32_t count = p->intervals.count, watchers = count + p->order.nodes - p->cfg->block_count - 1;
    merger m = {.plan = p,
                .count = count,
                .watchers = HD_ARENA_ARRAY(&scratch, watcher, watchers),
                .lists = HD_ARENA_ARRAY(&scratch, hd_u32_array, count)};
    p->merged_into = HD_ARENA_ARRAY(p->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
        p->merged_into[i] = i;
    rank_intervals(&m, &scratch);
    list_before(&m, watchers, &scratch);
    for (uint32_t hub = count; hub < watchers; hub++)
        look(&m, hub);
    for (uint32_t i = 0; i < count; i++)
        if (!p->intervals.items[i].fixed)
            look(&m, i);
    while (m.heap.count)
        try_merge(&m, m.interval_at[ltrf_heap_pop(&m.heap)]);
    for (uint32_t i = 0; i < count; i++)
        hd_array_free(&m.lists[i]);
    hd_array_free(&m.heap);
    hd_array_free(&m.words);
    hd_arena_free(&scratch);
}
