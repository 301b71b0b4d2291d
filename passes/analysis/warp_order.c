/* Warp-order graph (WOG): which block a warp may execute directly after which, on a SIMT stack.
 *
 * Its edges are the CFG edges and, for each branch b that may diverge, with reconvergence point r: from every block of
 * R(b, s) (reachable from target s without passing r) with an edge to r or to the virtual exit X, to every other target
 * s' (not r, not X) and to r (if not X); and b -> r. Warp-wide state (held, allocated, cached registers) follows these
 * edges, not the CFG's: when a side ends, another side follows.
 *
 * Sides that can end at many blocks, with many possible followers, would have a quadratic number of edges (for example
 * lanes that trap in a loop). So the edges from ends to followers go through auxiliary nodes, most of which
 * passes/analysis/warp_order_hubs.c eliminates.
 *
 * Method. ends(v): the blocks with an edge to p or X that block v, itself included, reaches without passing p, its
 * immediate post-dominator. A block that ends at p is a child of p in the post-dominator tree, and the blocks below a
 * child reach it. So ends(v) is v, if it has an edge to p or X, and ends(c) for each child c of p that is a successor
 * of v or an ancestor of one. The ends of a side are those of the child of r that it is below.
 *
 * This does not hold for stray blocks, which only fail, so that no join waits for them (cfg.c): they are below X alone.
 * fails(v): the ends of stray blocks that v reaches without passing p: ends(t) for each such successor, t being the
 * child of X that it is below, and fails(u) of each u on the tree path from another successor of v up to the child of p
 * that it is below. ends(v) includes fails(v), and a side's ends include fails(u) of each u from s up to below the
 * child of r. Such tree paths are composed of jump pointers (Myers, "An applicative random-access stack", 1983), each
 * covering some of a block's ancestors.
 *
 * Complexity: O(log n) for each edge of the CFG.
 */
#include "passes/analysis/warp_order_hubs.h"
#include "base/search.h"

typedef struct drawing {
    const hd_cfg *cfg;
    uint32_t *child_first, *children; /* of the post-dominator tree, by block and X; in the order of their intervals */
    uint32_t *jump;                   /* by block and X: the ancestor at the end of a jump; NULL: no block strays */
    uint32_t nodes;                   /* number of nodes so far */
    hd_u32_array sides;               /* sides of the current branch */
    hd_order_edges edges;
} drawing;

static void draw(drawing *d, uint32_t from, uint32_t to) { hd_array_push(&d->edges, (hd_order_edge){from, to}); }

/* Auxiliary nodes, numbered after blocks and X. */
static uint32_t ends_of(const drawing *d, uint32_t block) { return d->cfg->block_count + 1 + block; }
static uint32_t fails_of(const drawing *d, uint32_t block) { return 2 * d->cfg->block_count + 1 + block; }
static uint32_t jump_of(const drawing *d, uint32_t block) { return 3 * d->cfg->block_count + 1 + block; }

/* ---- the post-dominator tree ------------------------------------------------------------------------------------- */

/* Whether a block has a successor that is not below its join. */
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

/* A jump is as long as the next two together, if these are equally long; otherwise it goes to the parent. */
static void find_jump(drawing *d, uint32_t block)
{
    const uint32_t *depth = d->cfg->post_dominator_depth, *jump = d->jump;
    uint32_t parent = d->cfg->blocks[block].post_dominator, middle = jump[parent];
    d->jump[block] = depth[parent] - depth[middle] == depth[middle] - depth[jump[middle]] ? jump[middle] : parent;
}

static void find_tree(drawing *d, hd_arena *scratch)
{
    const hd_cfg *cfg = d->cfg;
    uint32_t nodes = cfg->block_count + 1;
    uint32_t *by_enter = hd_arena_alloc(scratch, nodes * sizeof(uint32_t));
    uint32_t *first = HD_ARENA_ARRAY(scratch, uint32_t, (size_t)nodes + 2);
    d->children = hd_arena_alloc(scratch, nodes * sizeof(uint32_t));
    d->child_first = first;
    d->jump = any_strays(cfg) ? hd_arena_alloc(scratch, nodes * sizeof(uint32_t)) : NULL;
    for (uint32_t b = 0; b < nodes; b++)
        by_enter[cfg->post_dominator_enter[b]] = b;
    for (uint32_t b = 0; b < cfg->block_count; b++)
        first[cfg->blocks[b].post_dominator + 2]++;
    for (uint32_t b = 0; b < nodes; b++)
        first[b + 2] += first[b + 1];
    if (d->jump)
        d->jump[cfg->block_count] = cfg->block_count;
    for (uint32_t i = 0; i < nodes; i++) { /* parents first */
        if (by_enter[i] == cfg->block_count)
            continue;
        d->children[first[cfg->blocks[by_enter[i]].post_dominator + 1]++] = by_enter[i];
        if (d->jump)
            find_jump(d, by_enter[i]);
    }
}

/* The child of `join` that is a block below `join`, or its ancestor. */
static uint32_t child_above(const drawing *d, uint32_t join, uint32_t block)
{
    const uint32_t *enter = d->cfg->post_dominator_enter;
    uint32_t low = d->child_first[join] + 1, high = d->child_first[join + 1];
    if (d->cfg->blocks[block].post_dominator == join) /* the common case */
        return block;
    HD_SEARCH(low, high, at, enter[d->children[at]] <= enter[block]);
    return d->children[low - 1];
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* Adds the failing paths from `block` up to before `join`. */
static void draw_fails(drawing *d, uint32_t block, uint32_t join, uint32_t into)
{
    const uint32_t *depth = d->cfg->post_dominator_depth;
    while (block != join) {
        bool jumps = depth[d->jump[block]] >= depth[join];
        draw(d, jumps ? jump_of(d, block) : fails_of(d, block), into);
        block = jumps ? d->jump[block] : d->cfg->blocks[block].post_dominator;
    }
}

/* Adds the ends of lanes that enter `block` before `join` to `ends`, and of those that stray there to `fails`. */
static void draw_way(drawing *d, uint32_t block, uint32_t join, uint32_t ends, uint32_t fails)
{
    const hd_cfg *cfg = d->cfg;
    if (d->jump && !hd_block_post_dominates(cfg, join, block)) {
        draw(d, ends_of(d, child_above(d, cfg->block_count, block)), fails);
        return;
    }
    draw(d, ends_of(d, child_above(d, join, block)), ends);
    if (d->jump)
        draw_fails(d, block, join, fails);
}

static void draw_block(drawing *d, uint32_t block)
{
    const hd_cfg *cfg = d->cfg;
    uint32_t join = cfg->blocks[block].post_dominator;
    for (uint32_t e = 0; e < cfg->blocks[block].succ_count; e++) {
        uint32_t to = hd_block_successors(cfg, block)[e];
        if (to == join || to == cfg->block_count)
            draw(d, block, ends_of(d, block));
        else
            draw_way(d, to, join, ends_of(d, block), fails_of(d, block));
    }
    if (!d->jump)
        return;
    draw(d, fails_of(d, block), ends_of(d, block));
    draw(d, fails_of(d, block), jump_of(d, block));
    if (d->jump[block] == join)
        return;
    draw(d, jump_of(d, join), jump_of(d, block));
    draw(d, jump_of(d, d->jump[join]), jump_of(d, block));
}

/* ---- branches ---------------------------------------------------------------------------------------------------- */

/* Each side but the first in the list (backward: the last) may follow all sides before it. `ends`: the node of the
 * first side's ends; those of the others are next. */
static void draw_followers(drawing *d, uint32_t ends, bool backward)
{
    uint32_t count = d->sides.count;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t all = d->nodes++;
        draw(d, backward ? ends + count - i : ends + i - 1, all);
        if (i > 1)
            draw(d, all - 1, all);
        draw(d, all, d->sides.items[backward ? count - 1 - i : i]);
    }
}

static void draw_branch(drawing *d, uint32_t branch)
{
    const hd_cfg *cfg = d->cfg;
    uint32_t join = cfg->blocks[branch].post_dominator, ends = d->nodes;
    hd_array_clear(&d->sides);
    for (uint32_t e = 0; e < cfg->blocks[branch].succ_count; e++) {
        uint32_t side = hd_block_successors(cfg, branch)[e];
        if (side == join || side == cfg->block_count)
            continue;
        hd_array_push(&d->sides, side);
        draw_way(d, side, join, d->nodes, d->nodes);
        if (join != cfg->block_count)
            draw(d, d->nodes, join);
        d->nodes++;
    }
    draw_followers(d, ends, false);
    draw_followers(d, ends, true);
}

static void draw_all(drawing *d, const hd_bitset *branches)
{
    uint32_t blocks = d->cfg->block_count;
    d->nodes = blocks + 1 + (d->jump ? 3 : 1) * blocks;
    for (uint32_t b = 0; b < blocks; b++)
        draw_block(d, b);
    HD_BITSET_EACH (branches, b)
        draw_branch(d, b);
}

hd_warp_order *hd_warp_order_build(hd_pass_context *context, hd_arena *arena)
{
    const hd_cfg *cfg = hd_function_cfg(context->function);
    const hd_uniformity *uniformity = hd_analysis_get(context, HD_ANALYSIS_UNIFORMITY);
    hd_warp_order *order = HD_ARENA_NEW(arena, hd_warp_order);
    hd_arena scratch = {0};
    hd_order_edges edges = {0};
    drawing d = {.cfg = cfg};
    for (uint32_t b = 0; b < cfg->block_count; b++)
        for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++)
            hd_array_push(&edges, (hd_order_edge){b, hd_block_successors(cfg, b)[e]});
    HD_BITSET_EACH (&uniformity->divergent_branches, b)
        if (cfg->blocks[b].post_dominator != cfg->block_count)
            hd_array_push(&edges, (hd_order_edge){b, cfg->blocks[b].post_dominator});
    find_tree(&d, &scratch);
    draw_all(&d, &uniformity->divergent_branches);
    order->nodes = hd_order_find_hubs(&d.edges, cfg->block_count + 1, d.nodes, &edges);
    order->successor_first = hd_order_rows(&edges, order->nodes, false, arena, &order->successors);
    order->predecessor_first = hd_order_rows(&edges, order->nodes, true, arena, &order->predecessors);
    hd_array_free(&edges);
    hd_array_free(&d.edges);
    hd_array_free(&d.sides);
    hd_arena_free(&scratch);
    return order;
}
