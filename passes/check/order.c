/* The order in which a warp may execute blocks: see order.h.
 *
 * For each join, a depth-first search over the sides that end there, among its children in the post-dominator tree
 * (sides.h) or, if a block strays, among all blocks. Each block has a list of nodes for the side ends reachable from it
 * before the join: the union of its successors' lists. If the list would be long, or the search meets a block that is
 * not complete, a hub is created, which all of them lead to and which replaces the list.
 */
#include "passes/check/order.h"

typedef HD_ARRAY(uint64_t) edge_list; /* from << 32 | to */

enum { FEW = 4 };

typedef struct end_list {
    uint32_t nodes[FEW], count;
    bool is_hub; /* its only node is a hub that later additions connect to */
} end_list;

typedef struct order_search {
    const hd_cfg *cfg;
    const hd_sides *tree;
    edge_list edges;
    uint32_t nodes; /* blocks, X and hubs so far */
    uint32_t searches, join;
    bool strays;    /* a block below the join strays */
    uint32_t *seen; /* by block: the last search that visited it */
    uint32_t *left; /* by block: edges still to follow; HD_NONE: complete */
    end_list *ends; /* by block */
    hd_u32_array way, sides;
} order_search;

static void add_edge(order_search *s, uint32_t from, uint32_t to)
{
    hd_array_push(&s->edges, (uint64_t)from << 32 | to);
}

static void add_edges(order_search *s, const end_list *ends, uint32_t to)
{
    for (uint32_t i = 0; i < ends->count; i++)
        add_edge(s, ends->nodes[i], to);
}

/* ---- ends -------------------------------------------------------------------------------------------------------- */

static void make_hub(order_search *s, end_list *ends)
{
    if (ends->is_hub)
        return;
    add_edges(s, ends, s->nodes);
    *ends = (end_list){{s->nodes++}, 1, true};
}

static void add_end(order_search *s, end_list *ends, uint32_t node)
{
    for (uint32_t i = 0; i < ends->count; i++)
        if (ends->nodes[i] == node)
            return;
    if (ends->count == FEW)
        make_hub(s, ends);
    if (ends->is_hub)
        add_edge(s, node, ends->nodes[0]);
    else
        ends->nodes[ends->count++] = node;
}

static void add_ends(order_search *s, end_list *ends, const end_list *more)
{
    for (uint32_t i = 0; i < more->count; i++)
        add_end(s, ends, more->nodes[i]);
}

static void come_to(order_search *s, uint32_t block)
{
    if (s->seen[block] == s->searches)
        return;
    s->seen[block] = s->searches;
    s->ends[block] = (end_list){.count = 0};
    s->left[block] = s->cfg->blocks[block].succ_count;
    hd_array_push(&s->way, block);
}

/* The block that represents a block between the branches and the join. */
static uint32_t stand_in(const order_search *s, uint32_t block)
{
    return s->strays ? block : hd_sides_child(s->tree, s->join, block);
}

static void go_on(order_search *s, uint32_t block)
{
    uint32_t to = s->cfg->successors[s->cfg->blocks[block].succ_first + --s->left[block]];
    if (to == s->join || to == s->cfg->block_count) {
        add_end(s, &s->ends[block], block);
        return;
    }
    to = stand_in(s, to);
    if (s->seen[to] != s->searches) {
        come_to(s, to);
    } else {
        if (s->left[to] != HD_NONE)
            make_hub(s, &s->ends[to]);
        add_ends(s, &s->ends[block], &s->ends[to]);
    }
}

static void search_side(order_search *s, uint32_t side)
{
    come_to(s, stand_in(s, side));
    while (s->way.count) {
        uint32_t block = hd_array_last(&s->way);
        if (s->left[block]) {
            go_on(s, block);
            continue;
        }
        s->left[block] = HD_NONE;
        s->way.count--;
        if (s->way.count)
            add_ends(s, &s->ends[hd_array_last(&s->way)], &s->ends[block]);
    }
}

/* ---- followers of side ends -------------------------------------------------------------------------------------- */

/* Each side may follow those before it; backward: those after it. */
static void add_followers(order_search *s, bool backward)
{
    end_list ends = {.count = 0};
    for (uint32_t i = 0; i < s->sides.count; i++) {
        uint32_t side = s->sides.items[backward ? s->sides.count - 1 - i : i];
        add_edges(s, &ends, side);
        ends.is_hub = false; /* nothing more leads to the predecessors of this side */
        if (i + 1 < s->sides.count)
            add_ends(s, &ends, &s->ends[stand_in(s, side)]);
    }
}

static void search_branch(order_search *s, uint32_t b)
{
    const hd_block *branch = &s->cfg->blocks[b];
    uint32_t none = s->cfg->block_count;
    hd_array_clear(&s->sides);
    if (s->join != none)
        add_edge(s, b, s->join);
    for (uint32_t e = branch->succ_first; e < branch->succ_first + branch->succ_count; e++) {
        uint32_t side = s->cfg->successors[e];
        if (side == s->join || side == none)
            continue;
        hd_array_push(&s->sides, side);
        search_side(s, side);
        if (s->join != none)
            add_edges(s, &s->ends[stand_in(s, side)], s->join);
    }
    add_followers(s, false);
    add_followers(s, true);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */
static int compare_edges(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void sort_edges(edge_list *edges)
{
    uint32_t kept = 0;
    if (edges->count)
        qsort(edges->items, edges->count, sizeof *edges->items, compare_edges);
    for (uint32_t i = 0; i < edges->count; i++)
        if (!kept || edges->items[kept - 1] != edges->items[i])
            edges->items[kept++] = edges->items[i];
    edges->count = kept;
}

static hd_order make_rows(const edge_list *edges, uint32_t nodes, hd_arena *arena)
{
    hd_order order = {.nodes = nodes};
    order.successor_first = HD_ARENA_ARRAY(arena, uint32_t, (size_t)nodes + 1);
    order.successors = HD_ARENA_ARRAY(arena, uint32_t, (size_t)edges->count + 1);
    for (uint32_t i = 0; i < edges->count; i++) {
        order.successor_first[(edges->items[i] >> 32) + 1]++;
        order.successors[i] = (uint32_t)edges->items[i];
    }
    for (uint32_t v = 0; v < nodes; v++)
        order.successor_first[v + 1] += order.successor_first[v];
    return order;
}

hd_order hd_order_of(hd_facts *facts)
{
    hd_arena scratch = {0};
    const hd_cfg *cfg = facts->cfg;
    order_search s = {.cfg = cfg,
                      .tree = &facts->sides,
                      .nodes = cfg->block_count + 1,
                      .join = HD_NONE,
                      .seen = HD_ARENA_ARRAY(&scratch, uint32_t, cfg->block_count),
                      .left = HD_ARENA_ARRAY(&scratch, uint32_t, cfg->block_count),
                      .ends = HD_ARENA_ARRAY(&scratch, end_list, cfg->block_count)};
    for (uint32_t b = 0; b < cfg->block_count; b++)
        for (uint32_t e = cfg->blocks[b].succ_first; e < cfg->blocks[b].succ_first + cfg->blocks[b].succ_count; e++)
            add_edge(&s, b, cfg->successors[e]);
    for (uint32_t i = 0; i < facts->split_count; i++) {
        uint32_t join = cfg->blocks[facts->by_join[i]].post_dominator;
        s.searches += join != s.join;
        s.join = join;
        s.strays = hd_sides_stray(s.tree, join);
        search_branch(&s, facts->by_join[i]);
    }
    sort_edges(&s.edges);
    hd_order order = make_rows(&s.edges, s.nodes, &facts->arena);
    hd_array_free(&s.edges);
    hd_array_free(&s.way);
    hd_array_free(&s.sides);
    hd_arena_free(&scratch);
    return order;
}
