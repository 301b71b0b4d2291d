/* In which order a warp may run blocks: see order.h. */
#include "passes/check/order.h"

typedef HD_ARRAY(uint64_t) edge_list; /* from << 32 | to */

typedef struct order_search {
    const hd_cfg *cfg;
    edge_list edges;
    uint32_t *seen, searches; /* by block: the last search that came here */
    hd_u32_array blocks, next;
} order_search;

static void add_edge(order_search *s, uint32_t from, uint32_t to)
{
    hd_array_push(&s->edges, (uint64_t)from << 32 | to);
}

/* What the warp may run when side `side` of the branch has ended: the other sides, and the join. */
static void find_next(order_search *s, const hd_block *branch, uint32_t side)
{
    uint32_t join = branch->post_dominator, none = s->cfg->block_count;
    hd_array_clear(&s->next);
    for (uint32_t e = branch->succ_first; e < branch->succ_first + branch->succ_count; e++) {
        uint32_t other = s->cfg->successors[e];
        if (other != side && other != join && other != none)
            hd_array_push(&s->next, other);
    }
    if (join != none)
        hd_array_push(&s->next, join);
}

static void come_to(order_search *s, uint32_t block)
{
    if (s->seen[block] == s->searches)
        return;
    s->seen[block] = s->searches;
    hd_array_push(&s->blocks, block);
}

static void search_side(order_search *s, uint32_t side, uint32_t join)
{
    const hd_cfg *cfg = s->cfg;
    s->searches++;
    hd_array_clear(&s->blocks);
    come_to(s, side);
    for (uint32_t i = 0; i < s->blocks.count; i++) {
        const hd_block *block = &cfg->blocks[s->blocks.items[i]];
        bool ends = false;
        for (uint32_t e = block->succ_first; e < block->succ_first + block->succ_count; e++) {
            uint32_t to = cfg->successors[e];
            if (to == join || to == cfg->block_count)
                ends = true;
            else
                come_to(s, to);
        }
        for (uint32_t n = 0; ends && n < s->next.count; n++)
            add_edge(s, s->blocks.items[i], s->next.items[n]);
    }
}

static void search_branch(order_search *s, uint32_t b)
{
    const hd_block *branch = &s->cfg->blocks[b];
    uint32_t join = branch->post_dominator, none = s->cfg->block_count;
    if (join != none)
        add_edge(s, b, join);
    for (uint32_t e = branch->succ_first; e < branch->succ_first + branch->succ_count; e++) {
        uint32_t side = s->cfg->successors[e];
        if (side == join || side == none)
            continue;
        find_next(s, branch, side);
        if (s->next.count)
            search_side(s, side, join);
    }
}

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
    hd_order order;
    order.successor_first = HD_ARENA_ARRAY(arena, uint32_t, (size_t)nodes + 1);
    order.predecessor_first = HD_ARENA_ARRAY(arena, uint32_t, (size_t)nodes + 2);
    order.successors = HD_ARENA_ARRAY(arena, uint32_t, (size_t)edges->count + 1);
    order.predecessors = HD_ARENA_ARRAY(arena, uint32_t, (size_t)edges->count + 1);
    for (uint32_t i = 0; i < edges->count; i++) {
        order.successor_first[(edges->items[i] >> 32) + 1]++;
        order.predecessor_first[(uint32_t)edges->items[i] + 2]++;
        order.successors[i] = (uint32_t)edges->items[i];
    }
    for (uint32_t v = 0; v < nodes; v++) {
        order.successor_first[v + 1] += order.successor_first[v];
        order.predecessor_first[v + 2] += order.predecessor_first[v + 1];
    }
    for (uint32_t i = 0; i < edges->count; i++) /* [v + 1] moves from the start of v's row to its end */
        order.predecessors[order.predecessor_first[(uint32_t)edges->items[i] + 1]++] = (uint32_t)(edges->items[i] >> 32);
    return order;
}

hd_order hd_order_of(hd_facts *facts)
{
    hd_arena scratch = {0};
    const hd_cfg *cfg = facts->cfg;
    order_search s = {.cfg = cfg, .seen = HD_ARENA_ARRAY(&scratch, uint32_t, cfg->block_count)};
    for (uint32_t b = 0; b < cfg->block_count; b++)
        for (uint32_t e = cfg->blocks[b].succ_first; e < cfg->blocks[b].succ_first + cfg->blocks[b].succ_count; e++)
            add_edge(&s, b, cfg->successors[e]);
    HD_BITSET_EACH (&facts->splits, b)
        search_branch(&s, b);
    sort_edges(&s.edges);
    hd_order order = make_rows(&s.edges, cfg->block_count + 1, &facts->arena);
    hd_array_free(&s.edges);
    hd_array_free(&s.blocks);
    hd_array_free(&s.next);
    hd_arena_free(&scratch);
    return order;
}
