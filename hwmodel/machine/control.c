/* Control of machine code: lanes with program counters of their own.
 *
 * Groups of lanes, and which of them runs: hwmodel/exec/control/groups.c.
 *
 * A lane that waits at a convergence barrier is parked (hwmodel/exec/control/park.h) after the BSYNC, which has
 * counted, until all lanes of its mask that have not ended wait at this barrier, too; it goes on together with those
 * that are at the same instruction. The mask is the lane's own, in the barrier's row: groups of one warp may use a
 * barrier at the same time.
 *
 * When no group can go on, those at a barrier of the thread block execute it again, which lets the warp wait if all its
 * lanes are there; otherwise the warp is in a deadlock, which is a fault. */
#include "hwmodel/exec/control/groups.h"
#include "hwmodel/exec/control/park.h"
#include "hwmodel/exec/control/stack.h"
#include "hwmodel/exec/ops/rows.h"
#include "hwmodel/exec/state/fault.h"
#include "hwmodel/machine/decoder.h"

enum { PARK_CONVERGENCE = 16, WARPSYNC_BARRIER = 16, BARRIER_ROWS = 17, BARRIERS_AT = 128 /* decode.c */ };
#define KEY(barrier) HD_PARK_KEY(PARK_CONVERGENCE, barrier)

/* ---- groups ------------------------------------------------------------------------------------------------------ */

/* The first group of the running call frame. */
static uint32_t bottom_of(const hd_warp *w) { return hd_top_frame(w)->bottom; }

void hd_machine_drop_empty(hd_warp *w)
{
    uint32_t bottom = bottom_of(w), kept = bottom;
    for (uint32_t i = bottom; i < w->stack.count; i++)
        if (w->stack.items[i].mask)
            w->stack.items[kept++] = w->stack.items[i];
    w->stack.count = kept > bottom ? kept : bottom + 1;
}

void hd_machine_push_group(hd_warp *w, uint32_t pc, uint32_t mask)
{
    if (mask)
        hd_array_push(&w->stack, (hd_entry){pc, HD_NONE, mask});
}

static uint32_t lanes_of_frame(const hd_warp *w)
{
    uint32_t lanes = 0;
    for (uint32_t i = bottom_of(w); i < w->stack.count; i++)
        lanes |= w->stack.items[i].mask;
    return lanes;
}

/* Removes lanes from their groups; those at one instruction become a group, the top ones last. */
static void regroup(hd_warp *w, uint32_t lanes)
{
    hd_entry groups[LANES];
    uint32_t count = 0, k;
    for (uint32_t i = bottom_of(w); i < w->stack.count; i++) {
        hd_entry *e = &w->stack.items[i];
        uint32_t part = e->mask & lanes;
        if (!part)
            continue;
        for (k = 0; k < count && groups[k].pc != e->pc;)
            k++;
        if (k == count)
            groups[count++] = (hd_entry){e->pc, HD_NONE, 0};
        groups[k].mask |= part;
        e->mask &= ~part;
    }
    hd_machine_drop_empty(w);
    for (k = 0; k < count; k++)
        hd_machine_push_group(w, groups[k].pc, groups[k].mask);
}

/* The lanes of the top that do not execute the op go on after it, as a group below. */
static void split_top(hd_warp *w, uint32_t mask)
{
    hd_entry top = *hd_top(w), rest = {top.pc + 1, HD_NONE, top.mask & ~mask};
    if (!rest.mask)
        return;
    *hd_top(w) = rest;
    hd_machine_push_group(w, top.pc, mask);
}

static const uint32_t *masks_of(hd_warp *w, uint32_t barrier)
{
    return hd_row(w, HD_REF(HD_REF_FRAME, BARRIERS_AT + barrier * 4 * LANES));
}

/* The barrier at which a lane waits; BARRIER_ROWS: none. */
static uint32_t barrier_of(const hd_warp *w, uint32_t lane)
{
    bool waits = w->parked >> lane & 1 && w->park_keys[lane] >> 32 == PARK_CONVERGENCE;
    return waits ? (uint32_t)w->park_keys[lane] : BARRIER_ROWS;
}

/* Lets the lanes go on that have met. */
static void release(hd_warp *w)
{
    for (uint32_t rest = w->parked & lanes_of_frame(w); rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest), barrier = barrier_of(w, lane);
        if (barrier == BARRIER_ROWS)
            continue;
        uint32_t awaited = (masks_of(w, barrier)[lane] & w->lanes) | 1u << lane;
        if (awaited & ~hd_parked_at(w, KEY(barrier)))
            continue;
        w->parked &= ~awaited;
        rest &= ~awaited | 1u << lane;
        regroup(w, awaited);
    }
}

/* ---- what runs next ---------------------------------------------------------------------------------------------- */

static hd_step fault_stuck(const hd_op *op, hd_warp *w)
{
    uint32_t lane = (uint32_t)__builtin_ctz(w->lanes), barrier = barrier_of(w, lane);
    uint32_t missing =
        barrier == BARRIER_ROWS ? 0 : masks_of(w, barrier)[lane] & w->lanes & ~hd_parked_at(w, KEY(barrier));
    hd_step step = hd_fault(op, w, 1u << lane,
                            "deadlock: no lane of the warp can go on; this one waits for the lanes 0x%08x", missing);
    hd_fault_note_elsewhere(w, w->lanes & ~(1u << lane));
    return hd_fault_is(w, HD_FAULT_HANG, step);
}

static bool raise_barrier(hd_warp *w)
{
    for (uint32_t i = bottom_of(w); i < w->stack.count; i++) {
        hd_entry e = w->stack.items[i];
        if (barrier_of(w, (uint32_t)__builtin_ctz(e.mask)) != BARRIER_ROWS)
            continue;
        memmove(&w->stack.items[i], &w->stack.items[i + 1], (w->stack.count - 1 - i) * sizeof e);
        *hd_top(w) = e;
        return true;
    }
    return false;
}

/* Lets lanes go on that wait at a BSYNC for lanes that wait at a WARPSYNC for them: these have left the region of
 * the BSYNC without a BREAK, as ptxas 13.0 lets them where a WARPSYNC follows. A BSYNC only brings lanes together,
 * and a WARPSYNC names those that must come. */
static bool let_go(hd_warp *w)
{
    uint32_t freed = 0;
    for (uint32_t rest = w->parked & lanes_of_frame(w); rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest), barrier = barrier_of(w, lane), wanted = 0;
        if (barrier >= WARPSYNC_BARRIER)
            continue;
        uint32_t missing = masks_of(w, barrier)[lane] & hd_parked_at(w, KEY(WARPSYNC_BARRIER));
        for (; missing; missing &= missing - 1)
            wanted |= masks_of(w, WARPSYNC_BARRIER)[__builtin_ctz(missing)];
        freed |= wanted & 1u << lane;
    }
    w->parked &= ~freed;
    regroup(w, freed);
    return freed;
}

hd_step hd_machine_choose(const hd_op *op, hd_warp *w)
{
    release(w);
    hd_machine_drop_empty(w);
    while (!hd_top(w)->mask && w->frame_count > 1) {
        hd_step step = hd_machine_leave(w);
        if (step != HD_STEP_NEXT)
            return step;
        release(w);
        hd_machine_drop_empty(w);
    }
    if (!hd_top(w)->mask || hd_groups_choose(w) || (let_go(w) && hd_groups_choose(w)) || raise_barrier(w))
        return HD_STEP_JUMPED;
    return fault_stuck(op, w);
}

/* ---- branches ---------------------------------------------------------------------------------------------------- */

static uint32_t with_predicate(const hd_op *op, const hd_warp *w, uint32_t mask)
{
    const hd_machine_op *m = hd_machine_op_of(op);
    return m->in_count ? mask & hd_machine_truth(w, m->in[0]) : mask;
}

static hd_step branch(const hd_op *op, hd_warp *w, uint32_t taken)
{
    hd_entry *top = hd_top(w);
    uint32_t rest = top->mask & ~taken, next = top->pc + 1;
    if (!taken)
        return HD_STEP_NEXT;
    if (w->spin_checks && op->target <= top->pc)
        hd_groups_check_spin(w);
    if (rest && next != op->target) {
        hd_groups_split(w, op->join);
        *top = (hd_entry){next, HD_NONE, rest};
        hd_machine_push_group(w, op->target, taken);
        w->cta->statistics->divergent_branches++;
        hd_groups_choose(w);
    } else {
        top->pc = op->target;
        if (w->passes)
            hd_groups_choose(w);
    }
    return HD_STEP_JUMPED;
}

/* Directly where the op has no predicate besides its guard, else as part of an hd_machine_op. */
hd_step hd_machine_run_branch(const hd_op *op, hd_warp *w, uint32_t mask)
{
    if (op->count) /* all that are here, if one of them goes */
        mask = hd_top(w)->mask;
    return branch(op, w, op->boolean ? with_predicate(op, w, mask) : mask);
}

/* BRA.DIV takes all lanes if those that its guard leaves are not the mask. */
hd_step hd_machine_run_diverged(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t members = ((const uint32_t *)hd_row(w, op->a))[__builtin_ctz(mask)];
    if ((mask == members) != op->boolean)
        return branch(op, w, 0);
    return branch(op, w, op->boolean ? mask : hd_top(w)->mask);
}

hd_step hd_machine_run_exit(const hd_op *op, hd_warp *w, uint32_t mask)
{
    if (op->boolean)
        mask = with_predicate(op, w, mask);
    hd_top(w)->pc++;
    hd_top(w)->mask &= ~mask;
    w->lanes &= ~mask;
    return hd_machine_choose(op, w);
}

/* ---- convergence ------------------------------------------------------------------------------------------------- */

hd_step hd_machine_run_push(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t row[LANES];
    hd_spread(row, &mask, 4);
    hd_merge(hd_row_of_frame(w, op->d), row, mask, 4);
    return HD_STEP_NEXT;
}

static hd_step wait_at(const hd_op *op, hd_warp *w, uint32_t mask)
{
    split_top(w, mask);
    hd_top(w)->pc++;
    w->parked |= mask;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        w->park_keys[__builtin_ctz(rest)] = KEY(op->target);
    return hd_machine_choose(op, w);
}

hd_step hd_machine_run_meet(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const uint32_t *masks = hd_row(w, op->d);
    uint32_t awaited = masks[__builtin_ctz(mask)] & w->lanes;
    if (hd_top(w)->mask == mask && awaited == mask) /* all are here */
        return HD_STEP_NEXT;
    return wait_at(op, w, mask);
}

hd_step hd_machine_run_warp_sync(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const uint32_t *members = hd_row(w, op->a);
    uint32_t missing = 0;
    hd_merge(hd_row_of_frame(w, op->d), members, mask, 4);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        missing |= members[__builtin_ctz(rest)] & w->lanes & ~mask;
    return missing ? wait_at(op, w, mask) : HD_STEP_NEXT;
}

/* BREAK: the lanes leave the barrier, of whose other lanes none waits for them any more. */
hd_step hd_machine_run_break(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t *masks = hd_row_of_frame(w, op->d);
    mask = op->boolean ? with_predicate(op, w, mask) : mask;
    for (uint32_t i = 0; i < LANES; i++)
        if (w->lanes >> i & 1 && masks[i] & mask && !(mask >> i & 1))
            masks[i] &= ~mask;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        masks[__builtin_ctz(rest)] = 0;
    if (!(w->parked & ~mask))
        return HD_STEP_NEXT;
    hd_top(w)->pc++;
    uint32_t running = hd_top(w)->mask;
    release(w);
    for (uint32_t i = bottom_of(w); i + 1 < w->stack.count; i++) /* those that leave go on first */
        if (w->stack.items[i].mask == running) {
            hd_entry e = w->stack.items[i];
            memmove(&w->stack.items[i], &w->stack.items[i + 1], (w->stack.count - 1 - i) * sizeof e);
            *hd_top(w) = e;
        }
    return HD_STEP_JUMPED;
}

/* ---- barriers of the thread block -------------------------------------------------------------------------------- */

/* Groups at this instruction arrive together. */
hd_step hd_machine_run_barrier(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t pc = hd_top(w)->pc, here = 0, running = hd_top(w)->mask;
    for (uint32_t i = bottom_of(w); i < w->stack.count; i++)
        here |= w->stack.items[i].pc == pc ? w->stack.items[i].mask : 0;
    for (uint32_t rest = here & w->parked; rest; rest &= rest - 1) /* parked after a BSYNC that precedes this */
        here &= ~((uint32_t)(barrier_of(w, (uint32_t)__builtin_ctz(rest)) != BARRIER_ROWS) << __builtin_ctz(rest));
    if (here != running) {
        regroup(w, here);
        return HD_STEP_BLOCKED;
    }
    return hd_run_barrier(op, w, mask);
}

hd_step hd_machine_run_yield(const hd_op *op, hd_warp *w, uint32_t mask)
{
    return (void)op, (void)w, (void)mask, HD_STEP_YIELD;
}
