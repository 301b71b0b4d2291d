/* mbarrier instructions, lane by lane. The object's layout is described in mbarrier.h.
 *
 * Cases that the ISA leaves undefined are detected: an uninitialized object, more arrivals than a phase expects,
 * .noComplete that completes. A wait that is not complete yields; other lanes of the warp that can continue do so
 * (park.h), so lanes may wait for lanes of their own warp. */
#include "hwmodel/exec/control/mbarrier.h"
#include "hwmodel/exec/control/async.h"
#include "hwmodel/exec/control/control.h"
#include "hwmodel/exec/control/events.h"
#include "hwmodel/exec/ops/rows.h"
#include "hwmodel/exec/state/fault.h"

static hd_step fault_of_barrier(const hd_op *op, hd_warp *w, uint32_t lane, const char *why)
{
    uint64_t object = hd_mbarrier_read(w->cta, (uint32_t)w->cta->addresses[lane]);
    return hd_fault(op, w, 1u << lane, "mbarrier at shared address 0x%x: %s (%u arrivals and %d transactions pending)",
                    (uint32_t)w->cta->addresses[lane], why, hd_mbarrier_pending(object),
                    hd_mbarrier_transactions(object));
}

/* ---- init, inval, expect_tx, complete_tx ------------------------------------------------------------------------- */

/* The object with `change` more pending transactions; NULL, or why that is invalid. */
static const char *transact(uint64_t *object, int64_t change)
{
    int64_t transactions = hd_mbarrier_transactions(*object) + change;
    if (transactions > HD_MBARRIER_MOST || transactions < -HD_MBARRIER_MOST)
        return "a number of transactions beyond 2^20-1";
    *object = hd_mbarrier_make(hd_mbarrier_pending(*object), hd_mbarrier_expected(*object), (int32_t)transactions,
                               hd_mbarrier_phase(*object));
    return NULL;
}

static const char *change(uint32_t what, uint64_t *object, uint32_t count)
{
    const char *why = NULL;
    switch (what) {
    case HD_MBARRIER_INIT:
        if (!count || count > HD_MBARRIER_MOST)
            return "an expected count outside of 1 .. 2^20-1";
        *object = hd_mbarrier_make(count, count, 0, 0);
        return NULL;
    case HD_MBARRIER_INVAL: *object = 0; return NULL;
    case HD_MBARRIER_EXPECT: return transact(object, count);
    default:
        why = transact(object, -(int64_t)count);
        if (!why)
            *object = hd_mbarrier_settle(hd_mbarrier_pending(*object), hd_mbarrier_expected(*object),
                                         hd_mbarrier_transactions(*object), hd_mbarrier_phase(*object));
        return why;
    }
}

hd_step hd_run_mbarrier(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const uint32_t *counts = op->b == HD_NO_REF ? NULL : hd_row(w, op->b);
    hd_step step = hd_mbarrier_find(op, w, mask, op->boolean != HD_MBARRIER_INIT);
    for (uint32_t i = 0; i < LANES && step == HD_STEP_NEXT; i++) {
        if (!(mask >> i & 1))
            continue;
        uint32_t offset = (uint32_t)w->cta->addresses[i];
        uint64_t object = hd_mbarrier_read(w->cta, offset), before = object;
        const char *why = change(op->boolean, &object, counts ? counts[i] : 0);
        if (why)
            return fault_of_barrier(op, w, i, why);
        if (op->boolean == HD_MBARRIER_COMPLETE) {
            hd_emit_mbarrier_arrive(w, offset, 0);
            hd_mbarrier_change(w->cta, offset, before, object);
        } else {
            hd_mbarrier_write(w->cta, offset, object);
        }
    }
    return step;
}

/* ---- arrive ------------------------------------------------------------------------------------------------------ */

/* One lane's arrival: its expected transactions are added first. */
static const char *arrive_one(const hd_op *op, uint64_t *object, uint32_t count)
{
    uint64_t before = *object;
    const char *why = NULL;
    if (op->boolean & HD_ARRIVE_EXPECT) {
        why = transact(object, count);
        count = 1;
    }
    if (why)
        return why;
    if (!count || count > HD_MBARRIER_MOST)
        return "a count outside of 1 .. 2^20-1";
    if (op->boolean & HD_ARRIVE_DROP) {
        if (count > hd_mbarrier_expected(*object))
            return "more arrivals dropped than are expected";
        *object = hd_mbarrier_make(hd_mbarrier_pending(*object), hd_mbarrier_expected(*object) - count,
                                   hd_mbarrier_transactions(*object), hd_mbarrier_phase(*object));
    }
    why = hd_mbarrier_arrive(object, count);
    if (!why && op->boolean & HD_ARRIVE_STAYS && hd_mbarrier_phase(*object) != hd_mbarrier_phase(before))
        return ".noComplete completes the phase";
    return why;
}

hd_step hd_run_mbarrier_arrive(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const uint32_t *counts = op->b == HD_NO_REF ? NULL : hd_row(w, op->b);
    uint64_t states[LANES] = {0};
    hd_step step = hd_mbarrier_find(op, w, mask, true);
    for (uint32_t i = 0; i < LANES && step == HD_STEP_NEXT; i++) {
        if (!(mask >> i & 1))
            continue;
        uint32_t offset = (uint32_t)w->cta->addresses[i];
        uint64_t object = hd_mbarrier_read(w->cta, offset);
        states[i] = object;
        const char *why = arrive_one(op, &object, counts ? counts[i] : 1);
        if (why)
            return fault_of_barrier(op, w, i, why);
        hd_emit_mbarrier_arrive(w, offset, 0);
        hd_mbarrier_change(w->cta, offset, states[i], object);
    }
    if (step == HD_STEP_NEXT && op->d != HD_NO_REF)
        hd_merge(hd_row_of_frame(w, op->d), states, mask, 8);
    return step;
}

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

hd_step hd_run_mbarrier_wait(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const unsigned char *of = hd_row(w, op->b);
    uint32_t over = 0, parity;
    uint64_t state = 0;
    hd_step step = hd_mbarrier_find(op, w, mask, true);
    for (uint32_t i = 0; i < LANES && step == HD_STEP_NEXT; i++) {
        if (!(mask >> i & 1))
            continue;
        uint32_t offset = (uint32_t)w->cta->addresses[i];
        const char *why = hd_async_arrivals(w->cta, offset);
        uint64_t object = hd_mbarrier_read(w->cta, offset);
        if (why)
            return fault_of_barrier(op, w, i, why);
        memcpy(&parity, of + (size_t)i * 4, 4);
        if (op->a_bytes == 8)
            memcpy(&state, of + (size_t)i * 8, 8);
        bool ended = op->a_bytes == 8 ? hd_mbarrier_phase(object) != hd_mbarrier_phase(state)
                                      : (hd_mbarrier_phase(object) & 1) != (parity & 1);
        over |= (uint32_t)ended << i;
        if (ended)
            hd_emit_mbarrier_pass(w, offset, op->a_bytes == 8 ? hd_mbarrier_phase(state) : parity);
    }
    if (step != HD_STEP_NEXT)
        return step;
    if (op->d != HD_NO_REF)
        hd_set_warp_word(w, op->d, over, mask);
    return over == mask ? HD_STEP_NEXT : HD_STEP_YIELD;
}

hd_step hd_run_mbarrier_pending(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const uint64_t *states = hd_row(w, op->a);
    uint32_t row[LANES];
    for (uint32_t i = 0; i < LANES; i++)
        row[i] = hd_mbarrier_pending(states[i]);
    hd_merge(hd_row_of_frame(w, op->d), row, mask, 4);
    return HD_STEP_NEXT;
}
