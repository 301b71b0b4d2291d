/* Sync points of machine code beside post-dominators: see sync_points.h. */
#include "passes/analysis/sync_points.h"

#include "ir/machine.h"
#include "passes/analysis/liveness.h"

typedef struct comparison {
    const hd_function *f;
    const hd_cfg *cfg;
    uint32_t *region_of; /* by block: region + 1, the smallest; 0: none */
    uint32_t *size_of;   /* by region */
    uint32_t *stamp;     /* by block: region + 1 */
    hd_u32_array blocks; /* of the region being read */
} comparison;

static uint32_t meeting_block(const comparison *c, uint32_t region)
{
    uint32_t at = c->f->machine->meetings[region].meet;
    return at < c->f->instructions.count ? c->cfg->block_of[at] : c->cfg->block_count;
}

static void visit(comparison *c, uint32_t block, uint32_t region)
{
    if (block == c->cfg->block_count || c->stamp[block] == region + 1)
        return;
    c->stamp[block] = region + 1;
    hd_array_push(&c->blocks, block);
}

static void read_region(comparison *c, uint32_t region)
{
    uint32_t meet = meeting_block(c, region);
    hd_array_clear(&c->blocks);
    visit(c, c->cfg->block_of[c->f->machine->meetings[region].push], region);
    for (uint32_t i = 0; i < c->blocks.count; i++) {
        const hd_block *block = &c->cfg->blocks[c->blocks.items[i]];
        for (uint32_t e = 0; e < block->succ_count; e++) {
            uint32_t to = c->cfg->successors[block->succ_first + e];
            if (to != meet)
                visit(c, to, region);
        }
    }
    c->size_of[region] = c->blocks.count;
    for (uint32_t i = 0; i < c->blocks.count; i++) {
        uint32_t *owner = &c->region_of[c->blocks.items[i]];
        if (!*owner || c->size_of[*owner - 1] > c->size_of[region])
            *owner = region + 1;
    }
}

static void compare(const comparison *c, uint32_t branch, hd_sync_points *sums)
{
    uint32_t join = c->cfg->blocks[branch].post_dominator, region = c->region_of[branch];
    uint32_t meet = region ? meeting_block(c, region - 1) : c->cfg->block_count;
    if (join == meet)
        sums->same++;
    else if (!region)
        sums->nowhere++;
    else if (hd_block_post_dominates(c->cfg, meet, join))
        sums->later++;
    else
        sums->earlier++;
}

void hd_sync_points_compare(hd_pass_context *context, hd_sync_points *sums)
{
    hd_function *f = context->function;
    const hd_uniformity *uniformity = hd_analysis_get(context, HD_ANALYSIS_UNIFORMITY);
    hd_arena arena = {0};
    comparison c = {.f = f, .cfg = hd_function_cfg(f)};
    c.region_of = HD_ARENA_ARRAY(&arena, uint32_t, c.cfg->block_count + 1);
    c.stamp = HD_ARENA_ARRAY(&arena, uint32_t, c.cfg->block_count + 1);
    c.size_of = HD_ARENA_ARRAY(&arena, uint32_t, f->machine->meeting_count + 1);
    for (uint32_t region = 0; region < f->machine->meeting_count; region++)
        read_region(&c, region);
    HD_BITSET_EACH (&uniformity->divergent_branches, branch)
        if (c.cfg->blocks[branch].reachable)
            compare(&c, branch, sums);
    hd_array_free(&c.blocks);
    hd_arena_free(&arena);
}
