/* Which lanes of machine code run next.
 *
 * The entries of a warp's stack are groups: disjoint lanes that came to one instruction together. A branch whose lanes
 * go apart leaves a split: the instruction at which they meet, which is the immediate post-dominator of the branch, and
 * their mask. Lanes that have come there are held until the others of the mask are there, too, or have ended; then all
 * of them go on as one group. The group that ran last goes on, and of those that can run the youngest: so lanes execute
 * in the order of a SIMT stack, which is what passes assume, and what code with uniform registers relies on.
 *
 * On a GPU nothing holds these lanes but BSYNC, so they are let go when no other group can run, and when one lets the
 * others go first because it may be waiting for them (hd_warp.passes): it has yielded, has come back to the state of an
 * earlier branch, or has run for long without them. From then on those at one instruction go on together as they meet,
 * until branches split them again. Linear in the groups times the splits that hold lanes. */
#include "hwmodel/exec/control/groups.h"
#include "base/hash.h"

enum {
    TURNS_OF_GROUP = 1024, /* while others of the warp are held; */
    QUIET_TURNS = 32,      /* if nothing was written in the last ones: livelock.c suspects the warp later */
    SPIN_CHECKS = 32,      /* after a turn in which nothing was written */
};

static uint32_t bottom_of(const hd_warp *w) { return hd_top_frame(w)->bottom; }

static bool is_here(const hd_warp *w, const hd_split *s) { return s->frame == w->frame_count; }

/* ---- splits ------------------------------------------------------------------------------------------------------ */

/* The innermost split that holds lanes of the mask back from where they meet; NULL: none. */
static const hd_split *split_of(const hd_warp *w, uint32_t mask)
{
    for (uint32_t i = w->splits.count; i-- > 0;)
        if (is_here(w, &w->splits.items[i]) && w->splits.items[i].lanes & mask)
            return &w->splits.items[i];
    return NULL;
}

void hd_groups_split(hd_warp *w, uint32_t join)
{
    const hd_split *inner = split_of(w, hd_top(w)->mask);
    if (join != HD_NONE && (!inner || inner->pc != join))
        hd_array_push(&w->splits, (hd_split){join, hd_top(w)->mask, w->frame_count});
}

static void drop_splits(hd_warp *w)
{
    while (w->splits.count && is_here(w, &hd_array_last(&w->splits)))
        w->splits.count--;
}

/* ---- meeting ----------------------------------------------------------------------------------------------------- */

/* Makes one group of the lanes that can run at an instruction, if they are in several, and puts it on top. Lanes that a
 * BSYNC has put into a group with them stay in it. */
static void join_lanes(hd_warp *w, uint32_t pc, uint32_t lanes)
{
    uint32_t kept = bottom_of(w), met = 0;
    for (uint32_t i = kept; i < w->stack.count; i++) {
        hd_entry e = w->stack.items[i];
        if (e.pc == pc && e.mask & lanes)
            met |= e.mask;
        else
            w->stack.items[kept++] = e;
    }
    w->stack.count = kept;
    hd_array_push(&w->stack, (hd_entry){pc, HD_NONE, met});
}

/* The lanes that have come to an instruction and do not wait there for something else. */
static uint32_t lanes_at(const hd_warp *w, uint32_t pc)
{
    uint32_t lanes = 0;
    for (uint32_t i = bottom_of(w); i < w->stack.count; i++)
        lanes |= w->stack.items[i].pc == pc ? w->stack.items[i].mask & ~w->parked : 0;
    return lanes;
}

/* Splits whose lanes are all there, or have ended, are over: inner ones first. */
static void meet(hd_warp *w)
{
    for (uint32_t i = w->splits.count; i-- > 0;) {
        hd_split *s = &w->splits.items[i];
        if (!is_here(w, s))
            return;
        s->lanes &= w->lanes;
        if (s->lanes & ~lanes_at(w, s->pc))
            continue;
        if (s->lanes)
            join_lanes(w, s->pc, s->lanes);
        memmove(s, s + 1, (--w->splits.count - i) * sizeof *s);
    }
}

/* ---- the group that runs ----------------------------------------------------------------------------------------- */

static bool can_run(const hd_warp *w, const hd_entry *e)
{
    const hd_split *s = split_of(w, e->mask);
    return e->mask & ~w->parked && (!s || s->pc != e->pc);
}

static bool raise_youngest(hd_warp *w)
{
    for (uint32_t i = w->stack.count; i-- > bottom_of(w);) {
        hd_entry e = w->stack.items[i];
        if (!can_run(w, &e))
            continue;
        const hd_split *s = split_of(w, e.mask);
        memmove(&w->stack.items[i], &w->stack.items[i + 1], (w->stack.count - 1 - i) * sizeof e);
        e.join = s ? s->pc : HD_NONE;
        *hd_top(w) = e;
        return true;
    }
    return false;
}

/* The top goes to the bottom, and lanes at one instruction form a group. */
static void let_others_go(hd_warp *w)
{
    uint32_t bottom = bottom_of(w);
    hd_entry top = *hd_top(w);
    drop_splits(w);
    memmove(&w->stack.items[bottom + 1], &w->stack.items[bottom], (w->stack.count - 1 - bottom) * sizeof top);
    w->stack.items[bottom] = top;
    for (uint32_t i = bottom; i < w->stack.count; i++) {
        hd_entry *e = &w->stack.items[i];
        for (uint32_t k = i + 1; k < w->stack.count && !(e->mask & w->parked); k++)
            if (w->stack.items[k].pc == e->pc && !(w->stack.items[k].mask & w->parked)) {
                e->mask |= w->stack.items[k].mask;
                w->stack.items[k].mask = 0;
            }
    }
    w->passes = false;
    w->turns = w->quiet = 0;
}

bool hd_groups_choose(hd_warp *w)
{
    if (w->passes)
        let_others_go(w);
    meet(w);
    if (raise_youngest(w))
        return true;
    drop_splits(w);
    return raise_youngest(w);
}

/* ---- groups that wait for others --------------------------------------------------------------------------------- */

void hd_groups_end_turn(hd_warp *w, bool wrote)
{
    w->spin_checks = wrote || w->stack.count == 1 ? 0 : SPIN_CHECKS;
    w->turns = w->stack.count == 1 ? 0 : w->turns + 1;
    w->quiet = w->spin_checks ? w->quiet + 1 : 0;
    w->passes = w->passes || w->turns == TURNS_OF_GROUP || w->quiet == QUIET_TURNS;
}

/* As in livelock.c, the state is kept after 1, 2, 4 .. branches. */
void hd_groups_check_spin(hd_warp *w)
{
    const hd_frame *f = hd_top_frame(w);
    uint32_t check = SPIN_CHECKS + 1 - w->spin_checks--;
    uint64_t state = hd_hash(f->registers, f->code->register_bytes) + hd_top(w)->pc;
    bool is_same = check > 1 && state == w->spin_state && w->cta->writes == w->spin_writes;
    if (is_same || !(check & (check - 1))) {
        w->spin_state = state;
        w->spin_writes = w->cta->writes;
    }
    w->passes = w->passes || is_same;
}
