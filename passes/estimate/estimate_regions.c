/* Regions: blocks that ptxas is likely to merge into one by predicating the instructions of short sides.
 *
 *   A: .. @p bra J;    B: ..    J: ..           A, B and J together
 *   A: .. @p bra E;    B: .. bra J;  E: ..  J:  A, B, E and J together
 *
 * Conditions: the sides B and E are entered from A only, are in that order, and continue at J only; J is entered from
 * them (and A) only; and a side has at most SIDE_MOST instructions, none of them a barrier, a call or opaque. J may be
 * the A of the next such branch.
 *
 * Linear.
 */
#include "passes/estimate/estimate_work.h"

enum { SIDE_MOST = 12 };

/* Whether `from` is its only predecessor and it has one successor, `*to`. */
static bool is_side(const estimate_work *w, uint32_t b, uint32_t from, uint32_t *to)
{
    const hd_function *f = w->function;
    if (b >= w->cfg->block_count)
        return false;
    const hd_block *block = &w->cfg->blocks[b];
    const uint32_t fixed = HD_BEHAVE_BARRIER | HD_BEHAVE_CALL | HD_BEHAVE_YIELD;
    uint32_t size = 0;
    if (block->pred_count != 1 || hd_block_predecessors(w->cfg, b)[0] != from || block->succ_count != 1)
        return false;
    for (uint32_t i = block->first; i < block->end; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        if (hd_insn_form(f, insn)->behaviour & fixed || insn->flags & HD_INSN_OPAQUE)
            return false;
        size += !w->skip[i];
    }
    *to = hd_block_successors(w->cfg, b)[0];
    return size <= SIDE_MOST;
}

static bool is_join(const estimate_work *w, uint32_t b, uint32_t previous, uint32_t entries)
{
    return b == previous + 1 && b < w->cfg->block_count && w->cfg->blocks[b].pred_count == entries;
}

/* The join after the branch at the end of `a`, whose sides are then predicated; HD_NONE. */
static uint32_t guard_sides(estimate_work *w, uint32_t a)
{
    const hd_block *block = &w->cfg->blocks[a];
    const uint32_t *to = hd_block_successors(w->cfg, a);
    uint32_t join, other, guard = HD_NONE;
    if (block->succ_count == 2) /* an empty body has a block without instructions */
        guard = w->function->instructions.items[block->end - 1].guard;
    if (guard == HD_NONE || to[1] != a + 1 || !is_side(w, a + 1, a, &join))
        return HD_NONE;
    if (to[0] == join && is_join(w, join, a + 1, 2)) {
        w->join[a + 1] = join;
        w->guard[a + 1] = guard;
        return join;
    }
    if (to[0] != a + 2 || !is_side(w, a + 2, a, &other) || other != join || !is_join(w, join, a + 2, 2))
        return HD_NONE;
    w->join[a + 1] = w->join[a + 2] = join;
    w->guard[a + 1] = w->guard[a + 2] = guard;
    return join;
}

estimate_region estimate_region_at(estimate_work *w, uint32_t block)
{
    estimate_region region = {block, block};
    w->join[block] = HD_NONE;
    for (uint32_t join; (join = guard_sides(w, region.last)) != HD_NONE;) {
        w->join[join] = HD_NONE;
        region.last = join;
    }
    return region;
}
