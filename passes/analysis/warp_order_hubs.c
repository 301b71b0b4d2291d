/* Eliminates auxiliary nodes of the warp-order graph, except those that save edges.
 *
 * Auxiliary nodes of one strongly connected component have the same blocks as predecessors. Components are processed in
 * topological order; for each, the list of its predecessors (blocks and hubs) is built. A short list is passed on to
 * the successors; a longer one becomes a hub, which is then the only item. So each edge becomes a few at most, and hubs
 * are rare in real code.
 *
 * Linear in nodes and edges.
 */
#include "passes/analysis/warp_order_hubs.h"

#include "base/components.h"

enum { FEW = 4 };

typedef struct list {
    uint32_t first, count; /* in `items` */
} list;

typedef struct reducer {
    hd_components components; /* of the auxiliary nodes, along edges to predecessors */
    uint32_t plain, node_count, round;
    list *lists;      /* by node */
    uint32_t *listed; /* by block and hub: the last round that listed it */
    hd_u32_array items;
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
    const hd_components *c = &r->components;
    for (uint32_t e = c->first[node]; e < c->first[node + 1]; e++) {
        uint32_t from = c->next[e];
        if (from < r->plain)
            add_item(r, from);
        for (uint32_t i = 0; from >= r->plain && c->closed[from] && i < r->lists[from].count; i++)
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

static void close_component(void *context, const uint32_t *nodes, uint32_t count)
{
    reducer *r = context;
    uint32_t first = r->items.count;
    r->round++;
    for (uint32_t i = count; i-- > 0;)
        add_before(r, nodes[i]);
    list all = shorten(r, first);
    for (uint32_t i = 0; i < count; i++)
        r->lists[nodes[i]] = all;
}

uint32_t hd_order_find_hubs(const hd_order_edges *drawn, uint32_t plain, uint32_t nodes, hd_order_edges *edges)
{
    hd_arena scratch = {0};
    uint32_t *before;
    const uint32_t *first = hd_order_rows(drawn, nodes, true, &scratch, &before);
    reducer r = {.components = {.first = first, .next = before, .close = close_component, .context = &r},
                 .plain = plain,
                 .node_count = plain,
                 .lists = HD_ARENA_ARRAY(&scratch, list, nodes),
                 .listed = HD_ARENA_ARRAY(&scratch, uint32_t, nodes),
                 .edges = edges};
    hd_components_open(&r.components, nodes);
    memset(r.components.closed, true, plain); /* blocks are in no component */
    for (uint32_t to = 0; to < plain; to++)
        for (uint32_t e = first[to]; e < first[to + 1]; e++) {
            uint32_t from = before[e];
            hd_components_search(&r.components, from);
            for (uint32_t i = 0; i < r.lists[from].count; i++)
                hd_array_push(edges, (hd_order_edge){r.items.items[r.lists[from].first + i], to});
        }
    hd_array_free(&r.items);
    hd_components_free(&r.components);
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
