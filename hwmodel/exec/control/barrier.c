/* Barriers of the CTA, of a cluster (of one CTA), and of the lanes of a warp.
 *
 * CTA. A barrier counts threads: as on hardware, an arriving warp counts as 32, when all its lanes that have not ended
 * have arrived. Without a count it opens when every warp that has not ended has arrived; with one, when that many
 * threads have. .aligned (implied by bar) requires that the lanes arrive at one instruction; sides of a branch that do
 * not reconverge before it because of a return arrive one after the other. Otherwise lanes may arrive separately and at
 * several instructions. A lane that arrives waits for the rest of its warp, even with .arrive.
 *
 * Reductions apply to the threads that execute .red; their result is known when the barrier opens, so the instruction
 * then executes again; it is reported and counted once.
 *
 * Cluster. Arrive and wait are separate: it opens when all lanes of all warps that have not ended have arrived. */
#include "hwmodel/exec/control/barrier.h"
#include "hwmodel/exec/checks/checks.h"
#include "hwmodel/exec/control/control.h"
#include "hwmodel/exec/control/events.h"
#include "hwmodel/exec/control/meet.h"
#include "hwmodel/exec/control/park.h"
#include "hwmodel/exec/ops/rows.h"
#include "hwmodel/exec/state/fault.h"
#include <stdio.h>

/* ---- of the CTA -------------------------------------------------------------------------------------------------- */

static void open_barrier(hd_cta *cta, hd_barrier *b)
{
    uint32_t number = (uint32_t)(b - cta->barriers);
    hd_emit_open(cta, number);
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        hd_warp *w = &cta->warps[i];
        if (!(b->waiting >> i & 1))
            continue;
        w->state = HD_WARP_READY;
        hd_emit_pass(w, number);
        w->ayes_of_barrier = b->ayes;
        w->noes_of_barrier = b->noes;
        hd_unpark(w, HD_ALL_LANES);
    }
    if (cta->checks && cta->checks->races)
        hd_races_open(cta, number, b->waiting);
    *b = (hd_barrier){0};
    cta->statistics->barriers++;
}

static void check_cluster(hd_cta *cta);

void hd_barriers_check(hd_cta *cta)
{
    for (uint32_t i = 0; i < HD_BARRIERS; i++) {
        hd_barrier *b = &cta->barriers[i];
        if (b->arrived && b->arrived >= (b->expected ? b->expected : hd_live_threads(cta)))
            open_barrier(cta, b);
    }
    check_cluster(cta);
}

static bool equal_in(const uint32_t *row, uint32_t mask)
{
    uint32_t first = row[__builtin_ctz(mask)];
    for (uint32_t i = 0; i < LANES; i++)
        if (mask >> i & 1 && row[i] != first)
            return false;
    return true;
}

typedef struct hd_barrier_use {
    uint32_t number, count;
} hd_barrier_use;

static const char *kind_word(uint32_t kind)
{
    return kind == HD_BARRIER_ARRIVE ? "arrive" : kind == HD_BARRIER_SYNC ? "sync" : "red";
}

/* The barrier and its thread count. */
static hd_step find_barrier(const hd_op *op, hd_warp *w, uint32_t mask, hd_barrier_use *use)
{
    const uint32_t *numbers = hd_row(w, op->a), *counts = op->b == HD_NO_REF ? NULL : hd_row(w, op->b);
    uint32_t number = numbers[__builtin_ctz(mask)], count = counts ? counts[__builtin_ctz(mask)] : 0;
    if (!equal_in(numbers, mask) || (counts && !equal_in(counts, mask)))
        return hd_fault(op, w, mask, "divergent barrier: its operands differ between lanes");
    if (number >= HD_BARRIERS || count % LANES || (op->boolean == HD_BARRIER_ARRIVE && !count))
        return hd_fault(op, w, mask, "barrier %u with %u threads: there are 16, for multiples of 32 threads", number,
                        count);
    *use = (hd_barrier_use){number, count};
    return HD_STEP_NEXT;
}

/* A warp arrives, with the votes of its lanes. */
static hd_step arrive(const hd_op *op, hd_warp *w, uint32_t mask, hd_barrier_use use, uint32_t ayes)
{
    hd_barrier *b = &w->cta->barriers[use.number];
    bool reduces = op->boolean >= HD_BARRIER_POPC;
    if (b->arrived && b->expected != use.count)
        return hd_fault(op, w, mask, "barrier %u expects %u threads here and %u elsewhere", use.number, use.count,
                        b->expected);
    if (b->arrived && (reduces || b->kind >= HD_BARRIER_POPC) && b->kind != op->boolean)
        return hd_fault(op, w, mask, "barrier %u: %s with another operation than elsewhere (%s)", use.number,
                        kind_word(op->boolean), kind_word(b->kind));
    b->kind = op->boolean;
    b->expected = use.count;
    b->arrived += LANES;
    hd_emit_arrive(w, use.number, !op->written_count);
    if (w->cta->checks && w->cta->checks->races)
        hd_races_arrive(w, use.number);
    if (reduces) {
        b->ayes += (uint32_t)__builtin_popcount(ayes & mask);
        b->noes += (uint32_t)__builtin_popcount(mask & ~ayes);
    }
    if (op->boolean != HD_BARRIER_ARRIVE) {
        b->waiting |= 1u << w->index;
        w->state = HD_WARP_WAITING;
        w->barrier = (uint8_t)use.number;
        w->waiting = op;
    }
    hd_barriers_check(w->cta);
    return HD_STEP_NEXT;
}

static void deliver(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t row[LANES], ayes = w->ayes_of_barrier, noes = w->noes_of_barrier;
    for (uint32_t i = 0; i < LANES; i++)
        row[i] = ayes;
    if (op->boolean == HD_BARRIER_POPC && op->d != HD_NO_REF)
        hd_merge(hd_row_of_frame(w, op->d), row, mask, 4);
    if (op->boolean == HD_BARRIER_AND && op->d != HD_NO_REF)
        hd_set_warp_word(w, op->d, noes ? 0 : HD_ALL_LANES, mask);
    if (op->boolean == HD_BARRIER_OR && op->d != HD_NO_REF)
        hd_set_warp_word(w, op->d, ayes ? HD_ALL_LANES : 0, mask);
}

/* All lanes of the warp come together, and there is no result to wait for. */
static hd_step arrive_together(const hd_op *op, hd_warp *w, uint32_t mask, hd_barrier_use use)
{
    hd_step step = arrive(op, w, mask, use, 0);
    return step == HD_STEP_NEXT && w->state == HD_WARP_WAITING ? HD_STEP_WAIT : step;
}

static hd_step fault_apart(const hd_op *op, hd_warp *w, uint32_t mask)
{
    char note[128];
    snprintf(note, sizeof note, "the lanes 0x%08x of the warp have not ended and are elsewhere", w->lanes & ~mask);
    hd_step step = hd_fault_note(op, w, mask, note, "divergent barrier: only %d of %d lanes reach it",
                                 __builtin_popcount(mask), __builtin_popcount(w->lanes));
    hd_fault_note_elsewhere(w, w->lanes & ~mask);
    return step;
}

/* Not all lanes are here. Those of other sides may still arrive at this instruction; those disabled by the guard, and
 * those after it, will not. */
static hd_step block_aligned(const hd_op *op, hd_warp *w, hd_park_key key)
{
    if (hd_switch_side(w) || hd_end_waiting(w))
        return HD_STEP_BLOCKED;
    return fault_apart(op, w, hd_parked_at(w, key));
}

/* Lanes arrive separately, or wait for a result: they stay here until the warp is complete and the barrier opens. */
static hd_step arrive_parked(const hd_op *op, hd_warp *w, uint32_t mask, hd_barrier_use use)
{
    bool aligned = op->flags & HD_OP_ALIGNED;
    hd_park_key key = HD_PARK_KEY(HD_PARK_CTA, use.number | (uint32_t)op->boolean << 8 | use.count << 12);
    if (aligned)
        key = HD_PARK_KEY(HD_PARK_INSTRUCTION, hd_top(w)->pc);
    if (aligned && mask != hd_top(w)->mask)
        return fault_apart(op, w, mask);
    if (op->c != HD_NO_REF) {
        uint32_t truth = hd_warp_word(w, op->c);
        w->ayes = (w->ayes & ~mask) | ((op->flags & HD_OP_NOT_C ? ~truth : truth) & mask);
    }
    if (mask & ~w->parked)
        hd_park(w, mask, key);
    if (hd_parked_at(w, key) == w->lanes) {
        hd_step step = arrive(op, w, w->lanes, use, w->ayes);
        if (step != HD_STEP_NEXT)
            return step;
        if (op->boolean == HD_BARRIER_ARRIVE)
            hd_unpark(w, HD_ALL_LANES);
        if (w->state == HD_WARP_WAITING)
            return HD_STEP_BLOCKED;
        if (hd_take_pass(w, mask)) {
            deliver(op, w, mask);
            return HD_STEP_NEXT;
        }
    }
    return aligned ? block_aligned(op, w, key) : hd_block_warp(op, w, mask, HD_NO_BARRIER, "divergent barrier: it");
}

hd_step hd_run_barrier(const hd_op *op, hd_warp *w, uint32_t mask)
{
    hd_barrier_use use;
    if (hd_take_pass(w, mask)) {
        deliver(op, w, mask);
        return HD_STEP_NEXT;
    }
    if (op->flags & HD_OP_ALIGNED && mask != w->lanes && !w->parked)
        hd_end_waiting(w);
    hd_step step = find_barrier(op, w, mask, &use);
    if (step != HD_STEP_NEXT)
        return step;
    if (mask == w->lanes && op->boolean < HD_BARRIER_POPC && !w->parked)
        return arrive_together(op, w, mask, use);
    return arrive_parked(op, w, mask, use);
}

/* ---- lanes of a warp --------------------------------------------------------------------------------------------- */

/* bar.warp.sync: lanes may arrive at several instructions; those that name the same mask meet. */
hd_step hd_run_warp_sync(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const uint32_t *row = hd_row(w, op->f);
    uint32_t members = row[__builtin_ctz(mask)];
    if (hd_take_pass(w, mask))
        return HD_STEP_NEXT;
    for (uint32_t i = 0; i < LANES; i++)
        if (mask >> i & 1 && !(row[i] >> i & 1))
            return hd_fault(op, w, 1u << i,
                            "bar.warp.sync with a member mask 0x%08x that does not name the lane itself", row[i]);
    bool same = equal_in(row, mask);
    uint32_t missing = 0;
    for (uint32_t i = 0; i < LANES; i++)
        missing |= mask >> i & 1 ? row[i] & w->lanes & ~mask : 0;
    if (!missing) {
        w->parked &= ~mask;
        return HD_STEP_NEXT;
    }
    if (!same)
        return hd_fault(op, w, mask, "bar.warp.sync waits for lanes 0x%08x, which are elsewhere", missing);
    hd_park_key key = HD_PARK_KEY(HD_PARK_WARP, members);
    if (!(missing & ~hd_parked_at(w, key))) {
        hd_unpark(w, members & ~mask);
        w->parked &= ~mask;
        return HD_STEP_NEXT;
    }
    if (mask & ~w->parked)
        hd_park(w, mask, key);
    return hd_block_warp(op, w, mask, HD_NO_BARRIER, "bar.warp.sync");
}

/* ---- of a cluster ------------------------------------------------------------------------------------------------ */

static void check_cluster(hd_cta *cta)
{
    bool any = false;
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        const hd_warp *w = &cta->warps[i];
        any = any || w->cluster_arrived;
        if (w->state != HD_WARP_DONE && w->lanes & ~w->cluster_arrived)
            return;
    }
    if (!any)
        return;
    hd_emit_open(cta, HD_CLUSTER_BARRIER);
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        hd_warp *w = &cta->warps[i];
        w->cluster_open |= w->cluster_arrived;
        w->cluster_arrived = 0;
        if (w->state == HD_WARP_WAITING && w->barrier == HD_CLUSTER_BARRIER)
            w->state = HD_WARP_READY;
        w->parked &= ~hd_parked_at(w, HD_PARK_KEY(HD_PARK_CLUSTER, 0));
    }
    cta->statistics->barriers++;
}

static hd_step whole_warp(const hd_op *op, hd_warp *w, uint32_t mask)
{
    if (!(op->flags & HD_OP_ALIGNED) || mask == w->lanes)
        return HD_STEP_NEXT;
    return hd_fault(op, w, mask, "divergent barrier: only %d of %d lanes reach it", __builtin_popcount(mask),
                    __builtin_popcount(w->lanes));
}

hd_step hd_run_cluster_arrive(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t twice = (w->cluster_arrived | w->cluster_open) & mask;
    if (twice)
        return hd_fault(op, w, twice, "barrier.cluster.arrive a second time before barrier.cluster.wait");
    hd_step step = whole_warp(op, w, mask);
    if (step != HD_STEP_NEXT)
        return step;
    w->cluster_arrived |= mask;
    hd_emit_arrive(w, HD_CLUSTER_BARRIER, true);
    check_cluster(w->cta);
    return HD_STEP_NEXT;
}

hd_step hd_run_cluster_wait(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t never = mask & ~(w->cluster_arrived | w->cluster_open);
    if (never)
        return hd_fault(op, w, never, "barrier.cluster.wait without barrier.cluster.arrive before");
    hd_step step = whole_warp(op, w, mask);
    if (step != HD_STEP_NEXT)
        return step;
    check_cluster(w->cta); /* lanes may have ended */
    if (!(mask & ~w->cluster_open)) {
        w->cluster_open &= ~mask;
        hd_emit_pass(w, HD_CLUSTER_BARRIER);
        return HD_STEP_NEXT;
    }
    if (mask & ~w->parked)
        hd_park(w, mask, HD_PARK_KEY(HD_PARK_CLUSTER, 0));
    return hd_block_warp(op, w, mask, HD_CLUSTER_BARRIER, "divergent barrier: it");
}
