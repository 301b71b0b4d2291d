/* Cluster address operations, st.bulk and nanosleep. */
#include "hwmodel/exec/ops/access.h"
#include "hwmodel/exec/ops/alu.h"
#include "hwmodel/exec/ops/rows.h"
#include "hwmodel/exec/state/fault.h"

hd_step hd_run_map_rank(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const uint32_t *ranks = op->b == HD_NO_REF ? NULL : hd_row(w, op->b);
    for (uint32_t i = 0; ranks && i < LANES; i++)
        if (mask >> i & 1 && ranks[i])
            return hd_fault(op, w, 1u << i, "mapa with CTA rank %u in a cluster of one", ranks[i]);
    hd_merge(hd_row_of_frame(w, op->d), hd_row(w, op->a), mask, op->d_bytes);
    return HD_STEP_NEXT;
}

/* Zeros `b` bytes of shared memory; the lanes' ranges are checked one by one. */
hd_step hd_run_store_bulk(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const uint64_t *sizes = hd_row(w, op->b);
    hd_lane_addresses(op, w, mask);
    for (uint32_t i = 0; i < LANES; i++) {
        uint64_t address = w->cta->addresses[i];
        hd_region r;
        if (!(mask >> i & 1))
            continue;
        if ((address | sizes[i]) % 8)
            return hd_fault_is(w, HD_FAULT_MISALIGNED,
                               hd_fault(op, w, 1u << i, "misaligned st.bulk of %llu bytes at 0x%llx",
                                        (unsigned long long)sizes[i], (unsigned long long)address));
        if (!hd_region_find(op, w, (hd_space)op->space, address, &r) || r.bytes != w->cta->shared ||
            address - r.first > r.size || sizes[i] > r.size - (address - r.first))
            return hd_fault_is(w, HD_FAULT_ADDRESS,
                               hd_fault(op, w, 1u << i, "out-of-bounds st.bulk of %llu bytes at shared address 0x%llx",
                                        (unsigned long long)sizes[i], (unsigned long long)address));
        memset(r.bytes + (address - r.first), 0, sizes[i]);
        w->cta->writes++;
    }
    return HD_STEP_NEXT;
}

hd_step hd_run_sleep(const hd_op *op, hd_warp *w, uint32_t mask)
{
    (void)op, (void)w, (void)mask;
    return HD_STEP_YIELD;
}
