/* Children of joins in the post-dominator tree: see sides.h. */
#include "passes/check/sides.h"
#include "base/search.h"

static bool strays(const hd_cfg *cfg, uint32_t b)
{
    for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++) {
        uint32_t to = hd_block_successors(cfg, b)[e];
        if (to != cfg->block_count && !hd_block_post_dominates(cfg, cfg->blocks[b].post_dominator, to))
            return true;
    }
    return false;
}

void hd_sides_init(hd_sides *s, const hd_cfg *cfg, hd_arena *arena)
{
    uint32_t nodes = cfg->block_count + 1;
    uint32_t *by_number = HD_ARENA_ARRAY(arena, uint32_t, nodes),
             *first = HD_ARENA_ARRAY(arena, uint32_t, (size_t)nodes + 2);
    *s = (hd_sides){cfg, first, HD_ARENA_ARRAY(arena, uint32_t, nodes),
                    HD_ARENA_ARRAY(arena, uint32_t, (size_t)nodes + 1)};
    for (uint32_t b = 0; b < nodes; b++)
        by_number[cfg->post_dominator_enter[b]] = b;
    for (uint32_t b = 0; b < cfg->block_count; b++)
        first[cfg->blocks[b].post_dominator + 2]++;
    for (uint32_t b = 0; b < nodes; b++)
        first[b + 2] += first[b + 1];
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t b = by_number[i];
        s->strays[i + 1] = s->strays[i];
        if (b == cfg->block_count)
            continue;
        s->children[first[cfg->blocks[b].post_dominator + 1]++] = b;
        s->strays[i + 1] += strays(cfg, b);
    }
}

uint32_t hd_sides_child(const hd_sides *s, uint32_t join, uint32_t block)
{
    const uint32_t *enter = s->cfg->post_dominator_enter;
    uint32_t low = s->child_first[join] + 1, high = s->child_first[join + 1];
    if (s->cfg->blocks[block].post_dominator == join)
        return block;
    HD_SEARCH(low, high, at, enter[s->children[at]] <= enter[block]);
    return s->children[low - 1];
}

bool hd_sides_stray(const hd_sides *s, uint32_t join)
{
    return s->strays[s->cfg->post_dominator_leave[join] + 1] > s->strays[s->cfg->post_dominator_enter[join] + 1];
}
