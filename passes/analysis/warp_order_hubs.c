/* Eliminates auxiliary nodes of the warp-order graph, except those that save edges.
 *
 * Auxiliary nodes of one strongly connected component have the same blocks as predecessors. Components are processed in
 * topological order; for each, the list of its predecessors (blocks and hubs) is built. A short list is passed on to
 * the successors; a longer one becomes a hub, which is then the only item. So each edge becomes a few at most, and hubs
 * are rare in real code.
 *
 * Linear in nodes and edges. Components: Tarjan, "Depth-first search and linear graph algorithms" (SIAM J. Comput.
 * 1972), without recursion.
 */
#include "passes/analysis/warp_order_hubs.h"

enum { FEW = 4 };

typedef struct list {
    uint32_t first, count; /* in `items` */
} list;

typedef struct reducer {
    const uint32_t *first, *before; /* rows by node: its predecessors */
    uint32_t plain, node_count, numbers, round;
    /* by node: order of discovery, 0: not found; the least number known to be reachable; next entry of its row */
    uint32_t *number, *low, *at;
    bool *done;                    /* by node: its component's list is complete */
    list *lists;                   /* by node */
    uint32_t *listed;              /* by block and hub: the last round that listed it */
    hd_u32_array items, way, open; /* way: the path from the root; open: found, but not done */
    hd_order_edges *edges;
} reducer;

static void add_item(reducer *r, uint32_t item)
{
    if (r->listed[item] == r->round)
        return;
    r->listed[item] = r->round;
    hd_array_push(&r->items, item);
}

static void add_before(reducer *r, uint32_t node)
{
    for (uint32_t e = r->first[node]; e < r->first[node + 1]; e++) {
        uint32_t from = r->before[e];
        if (from < r->plain)
            add_item(r, from);
        for (uint32_t i = 0; from >= r->plain && r->done[from] && i < r->lists[from].count; i++)
            add_item(r, r->items.items[r->lists[from].first + i]);
    }
}

/* The items of a list starting at `first`, shortened. */
static list shorten(reducer *r, uint32_t first)
{
    if (r->items.count - first > FEW) {
        for (uint32_t i = first; i < r->items.count; i++)
            hd_array_push(r->edges, (hd_order_edge){r->items.items[i], r->node_count});
        r->items.count = first;
        hd_array_push(&r->items, r->node_count++);
    }
    return (list){first, r->items.count - first};
}

/* Completes the component with the root `root`. */
static void close_component(reducer *r, uint32_t root)
{
    uint32_t first = r->items.count, begin = r->open.count;
    r->round++;
    do
        add_before(r, r->open.items[--begin]);
    while (r->open.items[begin] != root);
    list all = shorten(r, first);
    for (uint32_t i = begin; i < r->open.count; i++) {
        r->lists[r->open.items[i]] = all;
        r->done[r->open.items[i]] = true;
    }
    r->open.count = begin;
}

static void number_node(reducer *r, uint32_t node)
{
    r->number[node] = r->low[node] = ++r->numbers;
    r->at[node] = r->first[node];
    hd_array_push(&r->way, node);
    hd_array_push(&r->open, node);
}

static void lower(reducer *r, uint32_t node, uint32_t to) { r->low[node] = r->low[node] < to ? r->low[node] : to; }

static void search(reducer *r, uint32_t root)
{
    number_node(r, root);
    while (r->way.count) {
        uint32_t node = hd_array_last(&r->way);
        if (r->at[node] < r->first[node + 1]) {
            uint32_t from = r->before[r->at[node]++];
            if (from < r->plain || r->done[from])
                continue;
            if (r->number[from])
                lower(r, node, r->number[from]);
            else
                number_node(r, from);
            continue;
        }
        r->way.count--;
        if (r->way.count)
            lower(r, hd_array_last(&r->way), r->low[node]);
        if (r->low[node] == r->number[node])
            close_component(r, node);
    }
}

uint32_t hd_order_find_hubs(const hd_order_edges *drawn, uint32_t plain, uint32_t nodes, hd_order_edges *edges)
{
    hd_arena scratch = {0};
    uint32_t *before;
    reducer r = {.first = hd_order_rows(drawn, nodes, true, &scratch, &before),
                 .plain = plain,
                 .node_count = plain,
                 .number = HD_ARENA_ARRAY(&scratch, uint32_t, nodes),
                 .low = HD_ARENA_ARRAY(&scratch, uint32_t, nodes),
                 .at = HD_ARENA_ARRAY(&scratch, uint32_t, nodes),
                 .done = HD_ARENA_ARRAY(&scratch, bool, nodes),
                 .lists = HD_ARENA_ARRAY(&scratch, list, nodes),
                 .listed = HD_ARENA_ARRAY(&scratch, uint32_t, nodes),
                 .edges = edges};
    r.before = before;
    for (uint32_t to = 0; to < plain; to++)
        for (uint32_t e = r.first[to]; e < r.first[to + 1]; e++) {
            uint32_t from = before[e];
            if (!r.done[from])
                search(&r, from);
            for (uint32_t i = 0; i < r.lists[from].count; i++)
                hd_array_push(edges, (hd_order_edge){r.items.items[r.lists[from].first + i], to});
        }
    hd_array_free(&r.items);
    hd_array_free(&r.way);
    hd_array_free(&r.open);
    hd_arena_free(&scratch);
    return r.node_count;
}

uint32_t *hd_order_rows(const hd_order_edges *edges, uint32_t nodes, bool backward, hd_arena *arena, uint32_t **rows)
{
    uint32_t *next = hd_calloc((size_t)nodes + 1, sizeof(uint32_t)),
             *all = hd_malloc(((size_t)edges->count + 1) * sizeof(uint32_t));
    uint32_t *first = HD_ARENA_ARRAY(arena, uint32_t, (size_t)nodes + 1), *seen = hd_calloc(nodes, sizeof(uint32_t)),
             count = 0;
    for (uint32_t i = 0; i < edges->count; i++)
        next[(backward ? edges->items[i].to : edges->items[i].from) + 1]++;
    for (uint32_t v = 0; v < nodes; v++)
        next[v + 1] += next[v];
    for (uint32_t i = 0; i < edges->count; i++) {
        hd_order_edge e = edges->items[i];
        all[next[backward ? e.to : e.from]++] = backward ? e.from : e.to;
    }
    for (uint32_t v = 0, i = 0; v < nodes; v++) { /* next[v] is now the end of v's row */
        first[v] = count;
        for (; i < next[v]; i++)
            if (seen[all[i]] != v + 1) {
                seen[all[i]] = v + 1;
                all[count++] = all[i];
            }
    }
    first[nodes] = count;
    *rows = hd_arena_alloc(arena, ((size_t)count + 1) * sizeof(uint32_t));
    memcpy(*rows, all, count * sizeof(uint32_t));
    free(next);
    free(all);
    free(seen);
    return first;
}
