/* Warp-order graph (WOG): which block a warp may run after which, under a SIMT stack.
 *
 * CFG edges, and for each branch b that may diverge, with reconvergence point r: from every block of R(b, s) that has
 * an edge to r or to the virtual exit X, to every other target s' (not r, not X) and to r (if not X); and b -> r.
 * Warp-wide state (what is held, allocated, cached) follows these edges, not the CFG's: a side that ends is followed by
 * the other side.
 *
 * Complexity: O(edges seen by each (r, target) pair) and the size of the result, which is quadratic in the number of
 * targets that share a reconvergence point (a branch with k sides has k * k orders).
 */
#include "passes/liveness.h"
#include "passes/regions.h"

typedef struct order_edge {
    uint32_t from, to;
} order_edge;
typedef HD_ARRAY(order_edge) order_edges;

static void seed_branch(const hd_cfg *cfg, uint32_t branch, hd_region_seeds *seeds)
{
    uint32_t join = cfg->blocks[branch].post_dominator, count = cfg->blocks[branch].succ_count;
    const uint32_t *targets = hd_block_successors(cfg, branch);
    for (uint32_t t = 0; t < count; t++) {
        uint32_t side = targets[t];
        if (side == join || side == cfg->block_count)
            continue;
        if (join != cfg->block_count)
            hd_array_push(seeds, (hd_region_seed){join, join, side});
        for (uint32_t u = 0; u < count; u++)
            if (u != t && targets[u] != join && targets[u] != cfg->block_count)
                hd_array_push(seeds, (hd_region_seed){join, targets[u], side});
    }
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

static void find_edges(const hd_cfg *cfg, const hd_uniformity *uniformity, order_edges *edges)
{
    hd_region_seeds seeds = {0};
    hd_region_facts facts;
    for (uint32_t b = 0; b < cfg->block_count; b++)
        for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++)
            hd_array_push(edges, (order_edge){b, hd_block_successors(cfg, b)[e]});
    HD_BITSET_EACH (&uniformity->divergent_branches, b) {
        seed_branch(cfg, b, &seeds);
        if (cfg->blocks[b].post_dominator != cfg->block_count)
            hd_array_push(edges, (order_edge){b, cfg->blocks[b].post_dominator});
    }
    hd_region_facts_make(&facts, cfg, &seeds);
    for (uint32_t i = 0; i < facts.items.count; i++) {
        hd_region_fact fact = facts.items.items[i];
        for (uint32_t k = fact.first; k < fact.first + fact.count; k++)
            if (leads_to(cfg, facts.blocks.items[k], fact.join))
                hd_array_push(edges, (order_edge){facts.blocks.items[k], fact.key});
    }
    hd_region_facts_free(&facts);
    hd_array_free(&seeds);
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
