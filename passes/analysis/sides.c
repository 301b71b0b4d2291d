/* Sides of branches that may diverge and have two or more: see sides.h. */
#include "passes/analysis/sides.h"

/* Whether lanes may be in two sides of the block's branch at the same time. */
static bool has_two_sides(const hd_cfg *cfg, uint32_t b)
{
    uint32_t count = 0;
    for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++) {
        uint32_t to = hd_block_successors(cfg, b)[e];
        count += to != cfg->blocks[b].post_dominator && to != cfg->block_count;
    }
    return count > 1;
}

static int compare_sides(const void *left, const void *right)
{
    const hd_side *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->block > b->block) - (a->block < b->block);
}

void hd_sides_find(const hd_cfg *cfg, const hd_uniformity *uniformity, hd_side_array *all)
{
    HD_BITSET_EACH (&uniformity->divergent_branches, b) {
        uint32_t join = cfg->blocks[b].post_dominator;
        for (uint32_t e = 0; has_two_sides(cfg, b) && e < cfg->blocks[b].succ_count; e++) {
            uint32_t to = hd_block_successors(cfg, b)[e];
            if (to != join && to != cfg->block_count)
                hd_array_push(all, (hd_side){to, join, hd_join_rank(cfg, join), b});
        }
    }
    if (all->count)
        qsort(all->items, all->count, sizeof *all->items, compare_sides);
}

hd_bitset hd_sides_flood(const hd_cfg *cfg, const hd_side_array *all, hd_arena *arena)
{
    hd_bitset reached = hd_bitset_new(arena, cfg->block_count + 1);
    hd_u32_array blocks = {0};
    for (uint32_t s = 0; s < all->count; s++) {
        hd_array_clear(&blocks);
        hd_array_push(&blocks, all->items[s].block);
        while (blocks.count) {
            uint32_t b = hd_array_pop(&blocks);
            if (b == all->items[s].join || b == cfg->block_count || hd_bitset_has(&reached, b))
                continue;
            hd_bitset_add(&reached, b);
            for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++)
                hd_array_push(&blocks, hd_block_successors(cfg, b)[e]);
        }
    }
    hd_array_free(&blocks);
    return reached;
}

hd_bitset hd_two_sided_blocks(const hd_cfg *cfg, const hd_uniformity *uniformity, hd_arena *arena)
{
    hd_side_array all = {0};
    hd_sides_find(cfg, uniformity, &all);
    hd_bitset reached = hd_sides_flood(cfg, &all, arena);
    hd_array_free(&all);
    return reached;
}
