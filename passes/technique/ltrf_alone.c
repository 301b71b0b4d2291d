/* Instructions that are an interval of their own, and blocks that always begin one.
 *
 *   calls             the callee uses the cache
 *   waits for others  what may wait for another warp (ir/waits.def), and loads and atomics whose value a loop may poll
 *                     (polling.h): the warp may be deactivated there
 *   wide ones         instructions that access more words than an interval may have
 *   waiting ones      a barrier or another instruction at which lanes may wait while others of their warp run
 *                     (HD_BEHAVE_YIELD, _MEET), where there can be others: in a side of a branch that may diverge and
 *                     has at least two sides other than its reconvergence point and the exit, and under a guard that
 *                     may differ between lanes. The other sides' first blocks may follow such an instruction and are
 *                     fixed: those of every such branch whose reconvergence point post-dominates it and from a side of
 *                     which it can be reached.
 *
 * Linear, except for sorting the branches (passes/analysis/sides.h). */
#include "passes/technique/ltrf_work.h"

#include "ir/waits.h"
#include "passes/analysis/polling.h"
#include "passes/analysis/sides.h"

static bool is_call(const hd_function *f, const hd_instruction *insn)
{
    return hd_insn_form(f, insn)->behaviour & HD_BEHAVE_CALL;
}

static bool may_wait(const hd_function *f, const hd_instruction *insn)
{
    return hd_insn_form(f, insn)->behaviour & (HD_BEHAVE_BARRIER | HD_BEHAVE_YIELD | HD_BEHAVE_MEET);
}

/* Lanes whose guard is false continue while the others wait. */
static bool waits_alone(const hd_function *f, const hd_instruction *insn, const hd_uniformity *uniformity)
{
    return insn->guard != HD_NONE && hd_bitset_has(&uniformity->divergent_registers, insn->guard) &&
           !(hd_insn_form(f, insn)->behaviour & HD_BEHAVE_MEET);
}

/* Blocks from which an instruction that waits can be reached. */
static hd_bitset find_leading(const ltrf_plan *p, hd_arena *scratch)
{
    const hd_cfg *cfg = p->cfg;
    hd_u32_array blocks = {0};
    for (uint32_t i = 0; i < p->function->instructions.count; i++)
        if (may_wait(p->function, &p->function->instructions.items[i]))
            hd_array_push(&blocks, cfg->block_of[i]);
    hd_bitset leads = hd_cfg_reaching(cfg, &blocks, scratch);
    hd_array_free(&blocks);
    return leads;
}

/* waits[k]: waiting instructions in blocks whose number in the post-dominator tree is below k. */
static void fix_sides(ltrf_plan *p, const hd_side_array *all, const uint32_t *waits, bool every, hd_arena *scratch)
{
    const hd_cfg *cfg = p->cfg;
    hd_bitset leads = find_leading(p, scratch), branches = hd_bitset_new(scratch, cfg->block_count);
    for (uint32_t s = 0; s < all->count; s++)
        if (hd_bitset_has(&leads, all->items[s].block))
            hd_bitset_add(&branches, all->items[s].branch);
    for (uint32_t s = 0; s < all->count; s++) {
        uint32_t join = all->items[s].join;
        bool below = every || waits[cfg->post_dominator_leave[join] + 1] > waits[cfg->post_dominator_enter[join]];
        if (below && hd_bitset_has(&branches, all->items[s].branch))
            hd_bitset_add(&p->fixed, all->items[s].block);
    }
}

/* Blocks from which the function's end can be reached and that do not certainly trap: only these are below the
 * reconvergence points of their sides in the post-dominator tree. */
static hd_bitset find_sound(const ltrf_plan *p, hd_arena *scratch)
{
    const hd_cfg *cfg = p->cfg;
    hd_u32_array blocks = {0};
    for (uint32_t e = 0; e < cfg->exit_predecessor_count; e++) {
        const hd_block *b = &cfg->blocks[cfg->exit_predecessors[e]];
        if (!(hd_insn_form(p->function, &p->function->instructions.items[b->end - 1])->behaviour &
              (HD_BEHAVE_TRAP | HD_BEHAVE_CALL)))
            hd_array_push(&blocks, cfg->exit_predecessors[e]);
    }
    hd_bitset sound = hd_cfg_reaching(cfg, &blocks, scratch);
    hd_array_free(&blocks);
    return sound;
}

static bool any_waits(const ltrf_plan *p)
{
    for (uint32_t i = 0; i < p->function->instructions.count; i++)
        if (may_wait(p->function, &p->function->instructions.items[i]))
            return true;
    return false;
}

static void find_waiting(ltrf_plan *p, const hd_uniformity *uniformity)
{
    const hd_cfg *cfg = p->cfg;
    const hd_function *f = p->function;
    hd_arena scratch = {0};
    hd_side_array all = {0};
    hd_sides_find(cfg, uniformity, &all);
    hd_bitset reached = hd_sides_flood(cfg, &all, &scratch);
    hd_bitset sound = find_sound(p, &scratch);
    bool every = false; /* an instruction waits in code that certainly traps */
    uint32_t most = 0;
    for (uint32_t b = 0; b <= cfg->block_count; b++)
        most = hd_max(most, cfg->post_dominator_leave[b]);
    uint32_t *waits = HD_ARENA_ARRAY(&scratch, uint32_t, (size_t)most + 2);
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        if (!may_wait(f, insn))
            continue;
        bool in_side = hd_bitset_has(&reached, cfg->block_of[i]);
        if (in_side || waits_alone(f, insn, uniformity))
            hd_bitset_add(&p->alone, i);
        waits[cfg->post_dominator_enter[cfg->block_of[i]] + 1] += in_side;
        every = every || (in_side && !hd_bitset_has(&sound, cfg->block_of[i]));
    }
    for (uint32_t k = 0; k <= most; k++)
        waits[k + 1] += waits[k];
    fix_sides(p, &all, waits, every, &scratch);
    hd_array_free(&all);
    hd_arena_free(&scratch);
}

void ltrf_find_alone(ltrf_plan *p, const hd_uniformity *uniformity)
{
    const hd_function *f = p->function;
    p->alone = hd_bitset_new(p->arena, f->instructions.count);
    p->fixed = hd_bitset_new(p->arena, p->cfg->block_count);
    hd_bitset polls = hd_find_polls((hd_function *)f, p->arena);
    for (uint32_t i = 0; i < f->instructions.count; i++)
        if (ltrf_words(p, i).count > p->most || is_call(f, &f->instructions.items[i]) ||
            hd_insn_waits_for_others(f, &f->instructions.items[i]) || hd_bitset_has(&polls, i))
            hd_bitset_add(&p->alone, i);
    if (any_waits(p))
        find_waiting(p, uniformity);
    hd_bitset_add(&p->fixed, 0); /* the caller precedes it */
}
