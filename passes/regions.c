/* Carries facts through the regions of divergent branches: one breadth-first search for each distinct fact. */
#include "passes/regions.h"

static int compare_seeds(const void *left, const void *right)
{
    const hd_region_seed *a = left, *b = right;
    if (a->join != b->join)
        return a->join < b->join ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->block > b->block) - (a->block < b->block);
}

static void add_block(hd_region_facts *facts, uint32_t *seen, uint32_t block)
{
    if (seen[block] == facts->items.count)
        return;
    seen[block] = facts->items.count;
    hd_array_push(&facts->blocks, block);
}

static void carry(hd_region_facts *facts, const hd_cfg *cfg, uint32_t *seen, uint32_t first, uint32_t join)
{
    for (uint32_t i = first; i < facts->blocks.count; i++) {
        uint32_t block = facts->blocks.items[i];
        for (uint32_t e = 0; e < cfg->blocks[block].succ_count; e++) {
            uint32_t to = hd_block_successors(cfg, block)[e];
            if (to != join && to != cfg->block_count)
                add_block(facts, seen, to);
        }
    }
}

void hd_region_facts_make(hd_region_facts *facts, const hd_cfg *cfg, hd_region_seeds *seeds)
{
    uint32_t *seen =
        hd_calloc((size_t)cfg->block_count + 1, sizeof(uint32_t)); /* last fact that reached a block, from 1 */
    *facts = (hd_region_facts){0};
    if (seeds->count)
        qsort(seeds->items, seeds->count, sizeof *seeds->items, compare_seeds);
    for (uint32_t i = 0; i < seeds->count;) {
        hd_region_seed seed = seeds->items[i];
        uint32_t first = facts->blocks.count;
        hd_array_push(&facts->items, (hd_region_fact){seed.join, seed.key, first, 0});
        for (; i < seeds->count && seeds->items[i].join == seed.join && seeds->items[i].key == seed.key; i++)
            add_block(facts, seen, seeds->items[i].block);
        carry(facts, cfg, seen, first, seed.join);
        hd_array_last(&facts->items).count = facts->blocks.count - first;
    }
    free(seen);
}

void hd_region_facts_free(hd_region_facts *facts)
{
    hd_array_free(&facts->items);
    hd_array_free(&facts->blocks);
}
