/* Warp-order graph (WOG): which block a warp may run after which, under a SIMT stack.
 *
 * CFG edges, and for each branch b that may diverge, with reconvergence point r: from every block of R(b, s) (what
 * target s reaches without entering r) that has an edge to r or to the virtual exit X, to every other target s' (not r,
 * not X) and to r (if not X); and b -> r. Warp-wide state (what is held, allocated, cached) follows these edges, not
 * the CFG's: a side that ends is followed by the other side.
 *
 * Method. Blocks of R(b, s) with an edge to r or X are children of r in the post-dominator tree, so only those children
 * are visited: from a child over its successors to the children that those lie below. Not so where blocks stray: those that only fail, for which no
 * join waits (cfg.c), lie below none, and any block of a side may lead there; then all are visited. Sides that share r and what
 * follows share the walk. Complexity: O(log n) for each child seen, and the size of the result, which is quadratic in
 * the number of targets that share a reconvergence point (a branch with k sides has k * k orders).
 */
#include "passes/liveness.h"

typedef struct order_edge {
    uint32_t from, to;
} order_edge;
typedef HD_ARRAY(order_edge) order_edges;

/* What may follow the ends of a side. */
typedef struct seed {
    uint32_t join, next, side;
} seed;
typedef HD_ARRAY(seed) seeds;

typedef struct walk {
    const hd_cfg *cfg;
    uint32_t *child_first, *children; /* of the post-dominator tree, by block and X; in the order of their intervals */
    uint32_t *seen;                   /* by block: the last round that saw it */
    uint32_t round;
    bool strays;
    hd_u32_array blocks;
} walk;

/* ---- the post-dominator tree ------------------------------------------------------------------------------------- */

static void find_children(walk *w, hd_arena *scratch)
{
    const hd_cfg *cfg = w->cfg;
    uint32_t nodes = cfg->block_count + 1;
    uint32_t *by_enter = hd_arena_alloc(scratch, nodes * sizeof(uint32_t));
    uint32_t *first = HD_ARENA_ARRAY(scratch, uint32_t, (size_t)nodes + 2);
    w->children = hd_arena_alloc(scratch, nodes * sizeof(uint32_t));
    w->child_first = first;
    for (uint32_t b = 0; b < nodes; b++)
        by_enter[cfg->post_dominator_enter[b]] = b;
    for (uint32_t b = 0; b < cfg->block_count; b++)
        first[cfg->blocks[b].post_dominator + 2]++;
    for (uint32_t b = 0; b < nodes; b++)
        first[b + 2] += first[b + 1];
    for (uint32_t i = 0; i < nodes; i++)
        if (by_enter[i] != cfg->block_count)
            w->children[first[cfg->blocks[by_enter[i]].post_dominator + 1]++] = by_enter[i];
}

/* Does a block lead to one that is not below its join? */
static bool any_strays(const hd_cfg *cfg)
{
    for (uint32_t b = 0; b < cfg->block_count; b++)
        for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++) {
            uint32_t to = hd_block_successors(cfg, b)[e];
            if (to != cfg->block_count && !hd_block_post_dominates(cfg, cfg->blocks[b].post_dominator, to))
                return true;
        }
    return false;
}

/* The child of `join` that a block below it is or lies below. */
static uint32_t child_above(const walk *w, uint32_t join, uint32_t block)
{
    const uint32_t *enter = w->cfg->post_dominator_enter;
    uint32_t low = w->child_first[join], high = w->child_first[join + 1];
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (enter[w->children[middle]] <= enter[block])
            low = middle;
        else
            high = middle;
    }
    return w->children[low];
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

static void seed_branch(const hd_cfg *cfg, uint32_t branch, seeds *all)
{
    uint32_t join = cfg->blocks[branch].post_dominator, count = cfg->blocks[branch].succ_count;
    const uint32_t *targets = hd_block_successors(cfg, branch);
    for (uint32_t t = 0; t < count; t++) {
        uint32_t side = targets[t];
        if (side == join || side == cfg->block_count)
            continue;
        if (join != cfg->block_count)
            hd_array_push(all, (seed){join, join, side});
        for (uint32_t u = 0; u < count; u++)
            if (u != t && targets[u] != join && targets[u] != cfg->block_count)
                hd_array_push(all, (seed){join, targets[u], side});
    }
}

static int compare_seeds(const void *left, const void *right)
{
    const seed *a = left, *b = right;
    if (a->join != b->join)
        return a->join < b->join ? -1 : 1;
    if (a->next != b->next)
        return a->next < b->next ? -1 : 1;
    return (a->side > b->side) - (a->side < b->side);
}

static bool leads_to(const hd_cfg *cfg, uint32_t block, uint32_t join)
{
    for (uint32_t e = 0; e < cfg->blocks[block].succ_count; e++) {
        uint32_t to = hd_block_successors(cfg, block)[e];
        if (to == join || to == cfg->block_count)
            return true;
    }
    return false;
}

static void visit(walk *w, uint32_t join, uint32_t block)
{
    if (block == join || block == w->cfg->block_count)
        return;
    uint32_t at = w->strays ? block : child_above(w, join, block);
    if (w->seen[at] == w->round)
        return;
    w->seen[at] = w->round;
    hd_array_push(&w->blocks, at);
}

/* The seeds [at, end) have one join and one follower. */
static void follow_sides(walk *w, const seed *at, const seed *end, order_edges *edges)
{
    uint32_t join = at->join, next = at->next;
    w->round++;
    hd_array_clear(&w->blocks);
    for (; at < end; at++)
        visit(w, join, at->side);
    for (uint32_t i = 0; i < w->blocks.count; i++) {
        uint32_t block = w->blocks.items[i];
        if (leads_to(w->cfg, block, join))
            hd_array_push(edges, (order_edge){block, next});
        for (uint32_t e = 0; e < w->cfg->blocks[block].succ_count; e++)
            visit(w, join, hd_block_successors(w->cfg, block)[e]);
    }
}

static void find_edges(const hd_cfg *cfg, const hd_uniformity *uniformity, order_edges *edges)
{
    seeds all = {0};
    hd_arena scratch = {0};
    walk w = {.cfg = cfg, .seen = HD_ARENA_ARRAY(&scratch, uint32_t, cfg->block_count), .strays = any_strays(cfg)};
    find_children(&w, &scratch);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++)
            hd_array_push(edges, (order_edge){b, hd_block_successors(cfg, b)[e]});
    HD_BITSET_EACH (&uniformity->divergent_branches, b) {
        seed_branch(cfg, b, &all);
        if (cfg->blocks[b].post_dominator != cfg->block_count)
            hd_array_push(edges, (order_edge){b, cfg->blocks[b].post_dominator});
    }
    if (all.count)
        qsort(all.items, all.count, sizeof *all.items, compare_seeds);
    for (uint32_t i = 0, end; i < all.count; i = end) {
        for (end = i + 1;
             end < all.count && all.items[end].join == all.items[i].join && all.items[end].next == all.items[i].next;)
            end++;
        follow_sides(&w, all.items + i, all.items + end, edges);
    }
    hd_array_free(&w.blocks);
    hd_array_free(&all);
    hd_arena_free(&scratch);
}

/* Sorts edges by `from` (stable) and drops repetitions, in place of rows first[node] .. first[node + 1]. */
static uint32_t *make_rows(const order_edges *edges, uint32_t nodes, bool backward, hd_arena *arena, uint32_t **rows)
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
        order_edge e = edges->items[i];
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

hd_warp_order *hd_warp_order_build(hd_pass_context *context, hd_arena *arena)
{
    const hd_cfg *cfg = hd_function_cfg(context->function);
    const hd_uniformity *uniformity = hd_analysis_get(context, HD_ANALYSIS_UNIFORMITY);
    hd_warp_order *order = HD_ARENA_NEW(arena, hd_warp_order);
    order_edges edges = {0};
    find_edges(cfg, uniformity, &edges);
    order->successor_first = make_rows(&edges, cfg->block_count + 1, false, arena, &order->successors);
    order->predecessor_first = make_rows(&edges, cfg->block_count + 1, true, arena, &order->predecessors);
    hd_array_free(&edges);
    return order;
}
