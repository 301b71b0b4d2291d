/* Register-intervals, second pass. "LTRF", ASPLOS 2018, section 3.3, algorithm 2, repeated until nothing merges.
 *
 * An interval is merged into the one that everything before it belongs to, where both together need at most N words. The edges back to its
 * own header do not count: so a loop whose body was merged into its header can be merged into what enters the loop.
 *
 * The pass is not repeated over the whole graph: each interval watches two intervals before it that are different ones. Only where these
 * become one it looks on through its list for another; when there is none, it has a single one before it, for good. That one only grows, so an
 * interval that does not fit there never will. Of several that can be merged, the one deepest in loops is first, then in reverse post-order.
 *
 * Complexity: O((intervals + edges) log intervals + intervals N): lists of watchers are joined shorter into longer.
 */
#include "passes/ltrf_work.h"

typedef struct watcher { /* an interval */
    uint32_t at, end;       /* of its list of intervals before it; those before `at` are seen[0] or itself */
    uint32_t seen[2];       /* the two different ones; HD_NONE: there is none */
    uint32_t list;          /* watchers of it: index in `lists` */
} watcher;

typedef struct merger {
    ltrf_plan *plan;
    watcher *watchers;
    uint32_t *before;       /* lists of intervals before each */
    hd_u32_array *lists;
    uint32_t *rank, *interval_at; /* by interval; by rank */
    hd_u32_array heap, words;
} merger;

/* ---- what comes before each ------------------------------------------------------------------------------------------- */

/* Calls back with each pair of intervals of which the second one may follow the first. */
static void each_edge(const ltrf_plan *p, void (*tell)(void *, uint32_t, uint32_t), void *context)
{
    for (uint32_t i = 0; i < p->intervals.count; i++)
        if (p->intervals.items[i].before != HD_NONE)
            tell(context, p->intervals.items[i].before, i);
    for (uint32_t b = 0; b < p->cfg->block_count; b++) {
        for (uint32_t e = p->order.first[b]; p->last[b] != HD_NONE && e < p->order.first[b + 1]; e++) {
            uint32_t to = p->order.successors[e];
            if (to != p->cfg->block_count && p->first[to] != p->last[b])
                tell(context, p->last[b], p->first[to]);
        }
    }
}

static void count_edge(void *context, uint32_t from, uint32_t to)
{
    merger *m = context;
    (void)from;
    m->watchers[to].end++;
}

static void list_edge(void *context, uint32_t from, uint32_t to)
{
    merger *m = context;
    m->before[m->watchers[to].end++] = from;
}

static void list_before(merger *m, hd_arena *scratch)
{
    uint32_t count = m->plan->intervals.count, all = 0;
    each_edge(m->plan, count_edge, m);
    for (uint32_t i = 0; i < count; i++) {
        watcher *w = &m->watchers[i];
        uint32_t edges = w->end;
        w->at = w->end = all;
        w->list = i;
        w->seen[0] = w->seen[1] = HD_NONE;
        all += edges;
    }
    m->before = HD_ARENA_ARRAY(scratch, uint32_t, all);
    each_edge(m->plan, list_edge, m);
}

/* ---- watching ---------------------------------------------------------------------------------------------------------- */

static bool next_before(merger *m, uint32_t i, uint32_t *found)
{
    watcher *w = &m->watchers[i];
    uint32_t known = w->seen[0] == HD_NONE ? HD_NONE : ltrf_of(m->plan, w->seen[0]);
    for (; w->at < w->end; w->at++) {
        uint32_t from = ltrf_of(m->plan, m->before[w->at]);
        if (from == i || from == known)
            continue;
        *found = from;
        hd_array_push(&m->lists[m->watchers[from].list], i);
        return true;
    }
    *found = HD_NONE;
    return false;
}

static bool is_gone(const merger *m, uint32_t i, uint32_t seen)
{
    return seen == HD_NONE || ltrf_of(m->plan, seen) == i;
}

/* Looks for two different ones before it; where there is only one, it may be merged. */
static void look(merger *m, uint32_t i)
{
    watcher *w = &m->watchers[i];
    if (is_gone(m, i, w->seen[0])) {
        w->seen[0] = w->seen[1];
        w->seen[1] = HD_NONE;
        if (is_gone(m, i, w->seen[0])) {
            w->seen[0] = HD_NONE;
            next_before(m, i, &w->seen[0]);
        }
    }
    if (w->seen[0] == HD_NONE)
        return;
    if (!is_gone(m, i, w->seen[1]) && ltrf_of(m->plan, w->seen[0]) != ltrf_of(m->plan, w->seen[1]))
        return;
    if (!next_before(m, i, &w->seen[1]))
        ltrf_heap_push(&m->heap, m->rank[i]);
}

/* ---- merging ----------------------------------------------------------------------------------------------------------- */

/* The union of two sorted sets into `words`. */
static void unite(merger *m, const ltrf_interval *a, const ltrf_interval *b)
{
    uint32_t x = 0, y = 0;
    hd_array_clear(&m->words);
    while (x < a->word_count || y < b->word_count) {
        uint32_t left = x < a->word_count ? a->words[x] : HD_NONE, right = y < b->word_count ? b->words[y] : HD_NONE;
        hd_array_push(&m->words, left < right ? left : right);
        x += left <= right;
        y += right <= left;
    }
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
    for (uint32_t i = 0; i < moved.count; i++)
        if (m->plan->joined[moved.items[i]] == moved.items[i])
            look(m, moved.items[i]);
    hd_array_free(&moved);
}

static void try_merge(merger *m, uint32_t i)
{
    ltrf_plan *p = m->plan;
    uint32_t into = ltrf_of(p, m->watchers[i].seen[0]);
    ltrf_interval *a = &p->intervals.items[into], *b = &p->intervals.items[i];
    if (p->joined[i] != i || b->fixed || a->alone || a->hollow)
        return;
    unite(m, a, b);
    if (m->words.count > p->most)
        return;
    if (m->words.count > a->word_count) {
        a->words = hd_arena_copy(p->arena, m->words.items, m->words.count * sizeof(uint32_t));
        a->word_count = m->words.count;
    }
    p->joined[i] = into;
    join_lists(m, into, i);
    look(m, into);
}

/* ---- all --------------------------------------------------------------------------------------------------------------- */

typedef struct place {
    uint32_t rank, header, interval;
} place;

static int compare_places(const void *left, const void *right)
{
    const place *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->header > b->header) - (a->header < b->header);
}

static void rank_intervals(merger *m, hd_arena *scratch)
{
    const ltrf_plan *p = m->plan;
    uint32_t count = p->intervals.count;
    place *places = HD_ARENA_ARRAY(scratch, place, count);
    m->rank = HD_ARENA_ARRAY(scratch, uint32_t, count);
    m->interval_at = HD_ARENA_ARRAY(scratch, uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
        places[i] = (place){p->rank[p->intervals.items[i].block], p->intervals.items[i].header, i};
    qsort(places, count, sizeof *places, compare_places);
    for (uint32_t k = 0; k < count; k++) {
        m->rank[places[k].interval] = k;
        m->interval_at[k] = places[k].interval;
    }
}

uint32_t ltrf_of(ltrf_plan *p, uint32_t i)
{
    while (p->joined[i] != i) {
        p->joined[i] = p->joined[p->joined[i]];
        i = p->joined[i];
    }
    return i;
}

void ltrf_merge(ltrf_plan *p)
{
    hd_arena scratch = {0};
    uint32_t count = p->intervals.count;
    merger m = {.plan = p, .watchers = HD_ARENA_ARRAY(&scratch, watcher, count), .lists = HD_ARENA_ARRAY(&scratch, hd_u32_array, count)};
    p->joined = HD_ARENA_ARRAY(p->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
        p->joined[i] = i;
    rank_intervals(&m, &scratch);
    list_before(&m, &scratch);
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
