/* Words kept for lanes that wait at a branch: see kept.h. */
#include "passes/check/kept.h"

static void list_branches(hd_kept *k, hd_arena *arena)
{
    const hd_cfg *cfg = k->facts->cfg;
    uint32_t nodes = cfg->block_count + 1;
    k->branch_first = HD_ARENA_ARRAY(arena, uint32_t, (size_t)nodes + 2);
    for (uint32_t fill = 0; fill < 2; fill++) {
        HD_BITSET_EACH (&k->facts->splits, b) {
            const hd_block *block = &cfg->blocks[b];
            for (uint32_t e = 0; e <= block->succ_count; e++) {
                uint32_t at = e < block->succ_count ? cfg->successors[block->succ_first + e] : block->post_dominator;
                if (fill)
                    k->branches[k->branch_first[at + 1]++] = b;
                else
                    k->branch_first[at + 2]++;
            }
        }
        for (uint32_t v = 0; v < nodes && !fill; v++)
            k->branch_first[v + 2] += k->branch_first[v + 1];
        if (!fill)
            k->branches = HD_ARENA_ARRAY(arena, uint32_t, (size_t)k->branch_first[nodes + 1] + 1);
    }
}

static bool live_into(const hd_kept *k, uint32_t word, uint32_t block)
{
    const hd_lives *words = &k->facts->words;
    return block == k->facts->cfg->block_count ? hd_lives_leaves_with(words, word)
                                               : hd_lives_live_into(words, word, block);
}

/* Adds the sides of a branch in which the word is kept. */
static void ask_branch(hd_kept *k, uint32_t word, uint32_t b)
{
    const hd_cfg *cfg = k->facts->cfg;
    const hd_block *block = &cfg->blocks[b];
    uint32_t join = block->post_dominator, live = 0, none = cfg->block_count;
    if (k->asked[b] == word + 1)
        return;
    k->asked[b] = word + 1;
    bool into_join = live_into(k, word, join);
    for (uint32_t e = block->succ_first; e < block->succ_first + block->succ_count; e++)
        live += cfg->successors[e] != join && cfg->successors[e] != none && live_into(k, word, cfg->successors[e]);
    for (uint32_t e = block->succ_first; e < block->succ_first + block->succ_count; e++) {
        uint32_t side = cfg->successors[e];
        if (side == join || side == none)
            continue;
        if (into_join || live > live_into(k, word, side))
            hd_array_push(&k->keepers, (hd_keeper){side, join, hd_join_rank(cfg, join)});
    }
}

static int compare_keepers(const void *left, const void *right)
{
    const hd_keeper *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->block > b->block) - (a->block < b->block);
}

static void flood(hd_kept *k, uint32_t word, const hd_keeper *from)
{
    const hd_cfg *cfg = k->facts->cfg;
    hd_array_clear(&k->blocks);
    hd_array_push(&k->blocks, from->block);
    while (k->blocks.count) {
        uint32_t b = hd_array_pop(&k->blocks);
        if (b == from->join || b == cfg->block_count || k->kept[b] == word + 1)
            continue;
        k->kept[b] = word + 1;
        for (uint32_t e = cfg->blocks[b].succ_first; e < cfg->blocks[b].succ_first + cfg->blocks[b].succ_count; e++)
            hd_array_push(&k->blocks, cfg->successors[e]);
    }
}

static void ask_branches(hd_kept *k, uint32_t word, uint32_t block)
{
    for (uint32_t i = k->branch_first[block]; i < k->branch_first[block + 1]; i++)
        if (!k->only || k->only[k->branches[i]])
            ask_branch(k, word, k->branches[i]);
}

void hd_kept_find(hd_kept *k, uint32_t word)
{
    const hd_lives *words = &k->facts->words;
    hd_array_clear(&k->keepers);
    for (uint32_t i = words->live_first[word]; i < words->live_first[word + 1]; i++)
        ask_branches(k, word, words->live.items[i]);
    if (hd_lives_leaves_with(words, word))
        ask_branches(k, word, k->facts->cfg->block_count);
    if (k->keepers.count)
        qsort(k->keepers.items, k->keepers.count, sizeof *k->keepers.items, compare_keepers);
    for (uint32_t i = 0; i < k->keepers.count; i++)
        flood(k, word, &k->keepers.items[i]);
}

void hd_kept_init(hd_kept *k, hd_facts *facts)
{
    uint32_t blocks = facts->cfg->block_count;
    *k = (hd_kept){.facts = facts};
    k->kept = HD_ARENA_ARRAY(&facts->arena, uint32_t, blocks);
    k->asked = HD_ARENA_ARRAY(&facts->arena, uint32_t, blocks);
    list_branches(k, &facts->arena);
}

void hd_kept_free(hd_kept *k)
{
    hd_array_free(&k->keepers);
    hd_array_free(&k->blocks);
}
