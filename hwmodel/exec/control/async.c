/* cp.async: a lane's source is read when the instruction executes, and written as late as the ISA allows: when the lane
 * waits for the copy's group (or for all), when any thread queries an mbarrier with a pending arrival for the copy, or
 * when the warp has ended. So a kernel that reads the shared memory without waiting reads the old contents.
 *
 * cp.async.mbarrier.arrive takes effect when any thread of the CTA next queries that mbarrier (test_wait, try_wait),
 * after the copies that the lane issued before; without .noinc the pending count is incremented when it issues. */
#include "hwmodel/exec/control/async.h"
#include "hwmodel/exec/checks/checks.h"
#include "hwmodel/exec/control/control.h"
#include "hwmodel/exec/control/events.h"
#include "hwmodel/exec/control/mbarrier.h"
#include "hwmodel/exec/ops/access.h"
#include "hwmodel/exec/state/fault.h"

static void drop_done(hd_warp *w)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->async.count; i++)
        if (!w->async.items[i].done)
            w->async.items[kept++] = w->async.items[i];
    w->async.count = kept;
}

static void write_copy(hd_warp *w, hd_lane_async *a)
{
    memcpy(w->cta->shared + a->to, a->data, a->bytes);
    hd_uninitialized_shared(w->cta, a->to, a->bytes, false);
    if (w->cta->checks && w->cta->checks->races)
        hd_races_copied(w, a);
    w->cta->writes++;
    a->done = true;
}

/* ---- issue ------------------------------------------------------------------------------------------------------- */

/* Bytes that a lane reads; the rest of the copy is zero. */
static uint32_t source_bytes(const hd_op *op, hd_warp *w, uint32_t lane)
{
    const hd_async_detail *detail = op->use.detail;
    if (detail->ignore != HD_NO_REF && ((hd_warp_word(w, detail->ignore) >> lane & 1) ^ detail->ignore_not))
        return 0;
    return detail->size == HD_NO_REF ? op->item_bytes : ((const uint32_t *)hd_row(w, detail->size))[lane];
}

/* Reads less than the whole copy, with the lane's own bounds. */
static hd_step read_part(const hd_op *op, hd_warp *w, uint32_t lane, uint32_t bytes, unsigned char *data)
{
    uint64_t address = w->cta->addresses[lane];
    hd_region r;
    if (address % op->item_bytes)
        return hd_fault_is(w, HD_FAULT_MISALIGNED,
                           hd_fault(op, w, 1u << lane, "misaligned copy of %u bytes from global address 0x%llx",
                                    op->item_bytes, (unsigned long long)address));
    if (!hd_region_find(op, w, (hd_space)op->space, address, &r) || bytes > r.size - (address - r.first))
        return hd_fault_is(w, HD_FAULT_ADDRESS,
                           hd_fault(op, w, 1u << lane, "out-of-bounds copy of %u bytes from global address 0x%llx",
                                    bytes, (unsigned long long)address));
    hd_touch(w, &r, address, bytes, false);
    hd_memory_copy(data, r.bytes + (address - r.first), bytes);
    return HD_STEP_NEXT;
}

static hd_step issue(const hd_op *op, hd_warp *w, uint32_t lane, uint32_t to, uint32_t bytes)
{
    hd_lane_async a = {.to = to, .group = w->async_groups[lane], .lane = (uint8_t)lane, .bytes = op->item_bytes};
    hd_step step = HD_STEP_NEXT;
    if (bytes > op->item_bytes)
        return hd_fault(op, w, 1u << lane, "a copy of %u bytes whose source has %u", op->item_bytes, bytes);
    if (bytes)
        step = read_part(op, w, lane, bytes, a.data);
    if (step == HD_STEP_NEXT) {
        hd_uninitialized_shared(w->cta, to, op->item_bytes, true); /* until it is waited for */
        hd_array_push(&w->async, a);
        if (w->cta->checks && w->cta->checks->races)
            hd_races_copy(op, w, &a);
    }
    return step;
}

hd_step hd_run_async_copy(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_async_detail *detail = op->use.detail;
    uint64_t *to = w->cta->copied_to, *bytes = w->cta->copied_bytes;
    hd_region r;
    bool single;
    hd_lane_addresses(&detail->to, w, mask);
    hd_step step = hd_access_check(&detail->to, w, mask, op->item_bytes, true, &r, &single);
    memcpy(to, w->cta->addresses, sizeof w->cta->copied_to);
    if (step == HD_STEP_NEXT)
        hd_lane_addresses(op, w, mask);
    for (uint32_t i = 0; i < LANES && step == HD_STEP_NEXT; i++)
        if (mask >> i & 1) {
            bytes[i] = source_bytes(op, w, i);
            step = issue(op, w, i, (uint32_t)to[i], (uint32_t)bytes[i]);
        }
    w->cta->writes++;
    return step;
}

hd_step hd_run_async_commit(const hd_op *op, hd_warp *w, uint32_t mask)
{
    (void)op;
    for (uint32_t i = 0; i < LANES; i++)
        w->async_groups[i] += mask >> i & 1;
    return HD_STEP_NEXT;
}

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

/* wait_group n: completes all but the n youngest groups of each lane; wait_all (offset -1): also copies in no group
 * yet. */
hd_step hd_run_async_wait(const hd_op *op, hd_warp *w, uint32_t mask)
{
    bool all = op->offset < 0;
    for (uint32_t i = 0; i < w->async.count; i++) {
        hd_lane_async *a = &w->async.items[i];
        if (mask >> a->lane & 1 && a->bytes && (all || a->group + (uint64_t)op->offset < w->async_groups[a->lane]))
            write_copy(w, a);
    }
    drop_done(w);
    return HD_STEP_NEXT;
}

/* ---- arrivals ---------------------------------------------------------------------------------------------------- */

hd_step hd_run_async_arrive(const hd_op *op, hd_warp *w, uint32_t mask)
{
    hd_step step = hd_mbarrier_find(op, w, mask, true);
    w->async_arrives++;
    for (uint32_t i = 0; i < LANES && step == HD_STEP_NEXT; i++) {
        uint32_t offset = (uint32_t)w->cta->addresses[i];
        if (!(mask >> i & 1))
            continue;
        if (op->boolean) { /* without .noinc: one more pending arrival */
            uint64_t v = hd_mbarrier_read(w->cta, offset);
            if (hd_mbarrier_pending(v) == HD_MBARRIER_MOST)
                return hd_fault(op, w, 1u << i, "mbarrier at shared address 0x%x: more than 2^20-1 arrivals", offset);
            hd_mbarrier_write(w->cta, offset,
                              hd_mbarrier_make(hd_mbarrier_pending(v) + 1, hd_mbarrier_expected(v),
                                               hd_mbarrier_transactions(v), hd_mbarrier_phase(v)));
        }
        hd_array_push(&w->async, (hd_lane_async){.to = offset, .group = w->async_arrives, .lane = (uint8_t)i});
        w->cta->async_arrivals++;
        w->cta->writes++;
    }
    return step;
}

/* Performs the arrival at position `at` of the queue, after its lane's copies. */
static const char *arrive(hd_warp *w, uint32_t at)
{
    hd_lane_async *arrival = &w->async.items[at];
    uint64_t object = hd_mbarrier_read(w->cta, arrival->to);
    for (uint32_t i = 0; i < at; i++) {
        hd_lane_async *a = &w->async.items[i];
        if (a->lane == arrival->lane && a->bytes && !a->done)
            write_copy(w, a);
    }
    arrival->done = true;
    w->cta->async_arrivals--;
    const uint64_t before = object;
    const char *why = hd_mbarrier_arrive(&object, 1);
    hd_emit_mbarrier_arrive(w, arrival->to, arrival->group);
    if (!why)
        hd_mbarrier_change(w->cta, arrival->to, before, object);
    return why;
}

const char *hd_async_arrivals(hd_cta *cta, uint32_t offset)
{
    const char *why = NULL;
    for (uint32_t k = 0; k < cta->warp_count && cta->async_arrivals; k++) {
        hd_warp *w = &cta->warps[k];
        bool any = false;
        for (uint32_t i = 0; i < w->async.count && !why; i++)
            if (!w->async.items[i].bytes && w->async.items[i].to == offset) {
                why = arrive(w, i);
                any = true;
            }
        if (any)
            drop_done(w);
    }
    return why;
}

void hd_async_finish(hd_warp *w)
{
    for (uint32_t i = 0; i < w->async.count; i++) {
        hd_lane_async *a = &w->async.items[i];
        if (a->done)
            continue;
        if (a->bytes)
            write_copy(w, a);
        else
            arrive(w, i); /* the mbarrier may have been invalidated: nobody can observe the arrival */
    }
    w->async.count = 0;
}
