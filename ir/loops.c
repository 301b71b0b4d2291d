/* Loop nest of a control-flow graph, including irreducible regions.
 *
 * From P. Havlak, "Nesting of reducible and irreducible loops" (TOPLAS 1997), in the near-linear form of G. Ramalingam,
 * "Identifying loops in almost linear time" (TOPLAS 1999): forward and cross edges of the depth-first search are
 * deferred until the lowest common ancestor of their ends is processed. The loop of a node h then consists of the nodes
 * below h in the search tree that reach h through nodes below h.
 *
 * The nesting inside an irreducible region depends on the search order (successors in the order of the graph); the
 * outermost loops do not: they are the strongly connected components. Complexity: O(m a(m, n)), with the inverse
 * Ackermann function a.
 */
#include "ir/graph.h"

typedef struct pending_edge {
    uint32_t from, to, next;
} pending_edge;

typedef struct nest {
    const hd_graph *graph;
    const hd_search *search;
    uint32_t *collapsed; /* union-find: the header that a node was collapsed into */
    uint32_t
        *loop_parent; /* by node: header of the innermost enclosing loop; for a header: of the enclosing loop of its
                       * loop */
    uint32_t *late;   /* by node: list of the forward and cross edges deferred to it */
    uint32_t *mark;   /* by node: the header whose body it was last added to */
    bool *is_header;
    HD_ARRAY(pending_edge) edges;
    uint32_t *added; /* by node: list of the deferred edges into it */
    hd_u32_array body;
} nest;

static bool is_back_edge(const nest *s, uint32_t from, uint32_t to)
{
    return hd_search_is_ancestor(s->search, to, from);
}

/* Assigns forward and cross edges to the lowest common ancestor of their ends. When y is completed, the nodes completed
 * before it are collapsed into their parents, so the representative of an older x is its lowest ancestor that is not
 * completed yet. */
static void assign_late_edges(nest *s)
{
    const hd_search *search = s->search;
    for (uint32_t i = 0; i < search->count; i++) {
        uint32_t y = search->post_order[i];
        for (uint32_t e = s->graph->out_first[y]; e < s->graph->out_first[y + 1]; e++) {
            uint32_t x = s->graph->out[e];
            if (is_back_edge(s, y, x) || search->parent[x] == y)
                continue;
            uint32_t meet = is_back_edge(s, x, y) ? y : hd_union_find(s->collapsed, x);
            hd_array_push(&s->edges, (pending_edge){y, x, s->late[meet]});
            s->late[meet] = s->edges.count - 1;
        }
        if (search->parent[y] != HD_NONE)
            s->collapsed[y] = search->parent[y];
    }
    for (uint32_t v = 0; v < s->graph->node_count; v++)
        s->collapsed[v] = v;
}

static void add_late_edges(nest *s, uint32_t at)
{
    for (uint32_t e = s->late[at], next; e != HD_NONE; e = next) {
        next = s->edges.items[e].next;
        uint32_t to = hd_union_find(s->collapsed, s->edges.items[e].to);
        s->edges.items[e].next = s->added[to];
        s->added[to] = e;
    }
}

static void add_to_body(nest *s, uint32_t header, uint32_t node)
{
    uint32_t found = hd_union_find(s->collapsed, node);
    if (found == header || s->mark[found] == header)
        return;
    s->mark[found] = header;
    hd_array_push(&s->body, found);
}

static void find_loop(nest *s, uint32_t header)
{
    const hd_graph *g = s->graph;
    hd_array_clear(&s->body);
    for (uint32_t e = g->in_first[header]; e < g->in_first[header + 1]; e++)
        if (s->search->number[g->in[e]] != HD_NONE && is_back_edge(s, g->in[e], header)) {
            s->is_header[header] = true;
            add_to_body(s, header, g->in[e]);
        }
    for (uint32_t i = 0; i < s->body.count; i++) { /* members represent the loops collapsed into them */
        uint32_t node = s->body.items[i];
        add_to_body(s, header, s->search->parent[node]);
        for (uint32_t e = s->added[node]; e != HD_NONE; e = s->edges.items[e].next)
            add_to_body(s, header, s->edges.items[e].from);
    }
    for (uint32_t i = 0; i < s->body.count; i++) {
        s->loop_parent[s->body.items[i]] = header;
        s->collapsed[s->body.items[i]] = header;
    }
}

/* Numbers loops in search order of their headers, so that an outer loop precedes its inner loops. */
static void number_loops(hd_cfg *cfg, const nest *s)
{
    const hd_search *search = s->search;
    uint32_t count = 0;
    for (uint32_t i = 0; i < search->count; i++)
        count += s->is_header[search->preorder[i]];
    cfg->loops = HD_ARENA_ARRAY(&cfg->arena, hd_loop, count);
    for (uint32_t i = 0; i < search->count; i++) {
        uint32_t node = search->preorder[i], around = s->loop_parent[node];
        if (node == cfg->block_count)
            continue;
        uint32_t outer = around == HD_NONE ? HD_NONE : cfg->blocks[around].loop;
        if (s->is_header[node]) {
            uint32_t depth = outer == HD_NONE ? 1 : cfg->loops[outer].depth + 1;
            cfg->loops[cfg->loop_count] = (hd_loop){.header = node, .parent = outer, .depth = depth};
            outer = cfg->loop_count++;
        }
        cfg->blocks[node].loop = outer;
    }
}

/* An edge into a loop that does not end at its header makes the loop irreducible. Blocks are visited in text order, so
 * the first such block is the loop's first entry apart from the search's header. `unmarked` skips loops already known
 * to be irreducible. */
static void find_irreducible(hd_cfg *cfg, const hd_search *search, hd_arena *scratch)
{
    uint32_t n = cfg->loop_count, *room = hd_arena_alloc(scratch, ((size_t)n * 4 + 1) * sizeof(uint32_t));
    uint32_t *enter = room, *leave = room + n, *unmarked = room + 2 * (size_t)n, *parent = room + 3 * (size_t)n;
    for (uint32_t l = 0; l < n; l++) {
        parent[l] = cfg->loops[l].parent;
        unmarked[l] = l;
    }
    hd_tree_intervals(n, parent, scratch, enter, leave);
    for (uint32_t z = 0; z < cfg->block_count; z++) {
        const hd_block *block = &cfg->blocks[z];
        for (uint32_t p = 0; p < block->pred_count && search->number[z] != HD_NONE; p++) {
            uint32_t y = hd_block_predecessors(cfg, z)[p], at = cfg->blocks[y].loop, l = block->loop;
            if (search->number[y] == HD_NONE)
                continue;
            while (l != HD_NONE && !(at != HD_NONE && enter[l] <= enter[at] && enter[at] <= leave[l])) {
                if (cfg->loops[l].irreducible || cfg->loops[l].header == z) {
                    uint32_t next = hd_union_find(unmarked, l);
                    l = next == l ? parent[l] : next;
                    continue;
                }
                cfg->loops[l].irreducible = true;
                if (z < cfg->loops[l].header)
                    cfg->loops[l].header = z;
                if (parent[l] != HD_NONE)
                    unmarked[l] = parent[l];
                l = parent[l];
            }
        }
    }
}

void hd_cfg_find_loops(hd_cfg *cfg, const hd_graph *graph, const hd_search *search, hd_arena *scratch)
{
    uint32_t n = graph->node_count, *room = hd_arena_alloc(scratch, (size_t)n * 5 * sizeof(uint32_t));
    nest s = {graph,
              search,
              room,
              room + n,
              room + 2 * (size_t)n,
              room + 3 * (size_t)n,
              hd_arena_calloc(scratch, n * sizeof(bool)),
              {0},
              room + 4 * (size_t)n,
              {0}};
    memset(s.loop_parent, 0xff, (size_t)n * 4 * sizeof(uint32_t)); /* and the three after it */
    for (uint32_t v = 0; v < n; v++)
        s.collapsed[v] = v;
    assign_late_edges(&s);
    for (uint32_t i = search->count; i-- > 0;) {
        add_late_edges(&s, search->preorder[i]);
        find_loop(&s, search->preorder[i]);
    }
    number_loops(cfg, &s);
    find_irreducible(cfg, search, scratch);
    hd_array_free(&s.edges);
    hd_array_free(&s.body);
}
