/* Depth-first search, dominators and tree numbering over compressed graphs.
 *
 * Dominators: Lengauer and Tarjan, "A fast algorithm for finding dominators in a flowgraph" (TOPLAS 1979), the simple
 * version with path compression: O(m log n) on every graph, including irreducible ones. Path compression uses an
 * explicit stack, so that deep graphs do not overflow the C stack.
 */
#include "ir/graph.h"

/* ---- search ------------------------------------------------------------------------------------------------------ */

static void search_enter(hd_search *s, uint32_t node, uint32_t parent)
{
    s->number[node] = s->count;
    s->parent[node] = parent;
    s->preorder[s->count++] = node;
}

void hd_graph_search(const hd_graph *graph, uint32_t root, hd_arena *arena, hd_search *s)
{
    uint32_t n = graph->node_count, left = 0;
    *s = (hd_search){
        .number = hd_arena_alloc(arena, n * sizeof(uint32_t)),
        .parent = hd_arena_alloc(arena, n * sizeof(uint32_t)),
        .preorder = hd_arena_alloc(arena, n * sizeof(uint32_t)),
        .post_order = hd_arena_alloc(arena, n * sizeof(uint32_t)),
        .last = hd_arena_alloc(arena, n * sizeof(uint32_t)),
    };
    memset(s->number, 0xff, n * sizeof(uint32_t));
    memset(s->parent, 0xff, n * sizeof(uint32_t));
    uint32_t *cursor = hd_malloc(n * sizeof(uint32_t)); /* by node: next successor to follow */
    memcpy(cursor, graph->out_first, n * sizeof(uint32_t));
    search_enter(s, root, HD_NONE);
    for (uint32_t node = root; node != HD_NONE;) {
        if (cursor[node] < graph->out_first[node + 1]) {
            uint32_t next = graph->out[cursor[node]++];
            if (s->number[next] == HD_NONE) {
                search_enter(s, next, node);
                node = next;
            }
        } else {
            s->last[node] = s->count - 1;
            s->post_order[left++] = node;
            node = s->parent[node];
        }
    }
    free(cursor);
}

void hd_graph_reverse(uint32_t n, const uint32_t *first, const uint32_t *to, hd_arena *arena, uint32_t **reverse_first,
                      uint32_t **reverse)
{
    uint32_t *start = HD_ARENA_ARRAY(arena, uint32_t, n + 2); /* start[v + 1]: position of v's next source */
    uint32_t *from = hd_arena_alloc(arena, ((size_t)first[n] + 1) * sizeof(uint32_t));
    for (uint32_t e = 0; e < first[n]; e++)
        start[to[e] + 2]++;
    for (uint32_t v = 0; v < n; v++)
        start[v + 2] += start[v + 1];
    for (uint32_t v = 0; v < n; v++)
        for (uint32_t e = first[v]; e < first[v + 1]; e++)
            from[start[to[e] + 1]++] = v;
    *reverse_first = start;
    *reverse = from;
}

/* ---- dominators -------------------------------------------------------------------------------------------------- */

/* All indices are depth-first numbers. */
typedef struct dominator_state {
    const hd_graph *graph;
    const hd_search *search;
    uint32_t *semi, *label, *ancestor, *bucket, *next, *idom, *path;
} dominator_state;

/* The node of least semidominator on the forest path above v (v included, the root of its tree excluded). */
static uint32_t least_above(dominator_state *d, uint32_t v)
{
    uint32_t depth = 0;
    if (d->ancestor[v] == HD_NONE)
        return v;
    for (uint32_t u = v; d->ancestor[d->ancestor[u]] != HD_NONE; u = d->ancestor[u])
        d->path[depth++] = u;
    while (depth) {
        uint32_t u = d->path[--depth], above = d->ancestor[u];
        if (d->semi[d->label[above]] < d->semi[d->label[u]])
            d->label[u] = d->label[above];
        d->ancestor[u] = d->ancestor[above];
    }
    return d->label[v];
}

static void empty_bucket(dominator_state *d, uint32_t parent)
{
    for (uint32_t v = d->bucket[parent]; v != HD_NONE; v = d->next[v]) {
        uint32_t u = least_above(d, v);
        d->idom[v] = d->semi[u] < d->semi[v] ? u : parent;
    }
    d->bucket[parent] = HD_NONE;
}

static void semidominator(dominator_state *d, uint32_t w)
{
    uint32_t node = d->search->preorder[w];
    for (uint32_t e = d->graph->in_first[node]; e < d->graph->in_first[node + 1]; e++) {
        uint32_t v = d->search->number[d->graph->in[e]];
        if (v == HD_NONE)
            continue;
        uint32_t u = least_above(d, v);
        if (d->semi[u] < d->semi[w])
            d->semi[w] = d->semi[u];
    }
}

void hd_graph_dominators(const hd_graph *graph, const hd_search *search, hd_arena *scratch, uint32_t *immediate)
{
    uint32_t n = search->count, *room = hd_arena_alloc(scratch, (size_t)n * 7 * sizeof(uint32_t));
    dominator_state d = {graph,
                         search,
                         room,
                         room + n,
                         room + 2 * (size_t)n,
                         room + 3 * (size_t)n,
                         room + 4 * (size_t)n,
                         room + 5 * (size_t)n,
                         room + 6 * (size_t)n};
    for (uint32_t v = 0; v < n; v++) {
        d.semi[v] = d.label[v] = v;
        d.ancestor[v] = d.bucket[v] = d.idom[v] = HD_NONE;
    }
    for (uint32_t w = n; w-- > 1;) {
        uint32_t parent = search->number[search->parent[search->preorder[w]]];
        semidominator(&d, w);
        d.next[w] = d.bucket[d.semi[w]];
        d.bucket[d.semi[w]] = w;
        d.ancestor[w] = parent;
        empty_bucket(&d, parent);
    }
    memset(immediate, 0xff, graph->node_count * sizeof(uint32_t));
    for (uint32_t w = 1; w < n; w++) {
        if (d.idom[w] != d.semi[w])
            d.idom[w] = d.idom[d.idom[w]];
        immediate[search->preorder[w]] = search->preorder[d.idom[w]];
    }
}

/* ---- trees ------------------------------------------------------------------------------------------------------- */

void hd_tree_intervals(uint32_t n, const uint32_t *parent, hd_arena *scratch, uint32_t *enter, uint32_t *leave)
{
    uint32_t *child = hd_arena_alloc(scratch, (size_t)n * 2 * sizeof(uint32_t)), *sibling = child + n, clock = 0;
    memset(child, 0xff, (size_t)n * 2 * sizeof(uint32_t));
    for (uint32_t v = n; v-- > 0;)
        if (parent[v] != HD_NONE) {
            sibling[v] = child[parent[v]];
            child[parent[v]] = v;
        }
    for (uint32_t root = 0; root < n; root++) {
        if (parent[root] != HD_NONE)
            continue;
        enter[root] = clock++;
        for (uint32_t v = root; v != HD_NONE;) {
            uint32_t next = child[v];
            if (next != HD_NONE) {
                child[v] = sibling[next];
                enter[next] = clock++;
                v = next;
            } else {
                leave[v] = clock - 1;
                v = parent[v];
            }
        }
    }
}
