/* mbarrier objects in shared memory: see mbarrier.h. */
#include "hwmodel/exec/control/mbarrier.h"
#include "hwmodel/exec/checks/checks.h"
#include "hwmodel/exec/control/events.h"
#include "hwmodel/exec/ops/access.h"
#include "hwmodel/exec/state/fault.h"

uint64_t hd_mbarrier_read(const hd_cta *cta, uint32_t offset)
{
    uint64_t object;
    memcpy(&object, cta->shared + offset, sizeof object);
    return object;
}

void hd_mbarrier_write(hd_cta *cta, uint32_t offset, uint64_t object)
{
    memcpy(cta->shared + offset, &object, sizeof object);
    hd_uninitialized_shared(cta, offset, sizeof object, false);
    cta->writes++;
}

void hd_mbarrier_change(hd_cta *cta, uint32_t offset, uint64_t before, uint64_t object)
{
    hd_mbarrier_write(cta, offset, object);
    if (hd_mbarrier_phase(object) != hd_mbarrier_phase(before))
        hd_emit_mbarrier_open(cta, offset, hd_mbarrier_phase(before));
}

uint64_t hd_mbarrier_settle(uint32_t pending, uint32_t expected, int32_t transactions, uint32_t phase)
{
    bool complete = !pending && !transactions;
    return hd_mbarrier_make(complete ? expected : pending, expected, transactions, phase ^ complete);
}

const char *hd_mbarrier_arrive(uint64_t *object, uint32_t count)
{
    uint32_t pending = hd_mbarrier_pending(*object);
    if (!hd_mbarrier_valid(*object))
        return "it is not initialized";
    if (count > pending)
        return "more arrivals than the phase waits for";
    *object = hd_mbarrier_settle(pending - count, hd_mbarrier_expected(*object), hd_mbarrier_transactions(*object),
                                 hd_mbarrier_phase(*object));
    return NULL;
}

hd_step hd_mbarrier_find(const hd_op *op, hd_warp *w, uint32_t mask, bool valid)
{
    hd_region r;
    bool single;
    uint64_t *address = w->cta->addresses;
    hd_lane_addresses(op, w, mask);
    hd_step step = hd_access_check(op, w, mask, 8, true, &r, &single);
    for (uint32_t i = 0; i < LANES && step == HD_STEP_NEXT; i++) {
        if (!(mask >> i & 1))
            continue;
        if (!hd_region_find(op, w, (hd_space)op->space, address[i], &r) || r.bytes != w->cta->shared)
            return hd_fault(op, w, 1u << i, "an mbarrier at 0x%llx, which is not in shared memory",
                            (unsigned long long)address[i]);
        uint32_t offset = (uint32_t)(address[i] - r.first);
        if (valid && !hd_mbarrier_valid(hd_mbarrier_read(w->cta, offset)))
            return hd_fault(op, w, 1u << i, "the mbarrier at shared address 0x%x is not initialized", offset);
        address[i] = offset;
    }
    return step;
}
