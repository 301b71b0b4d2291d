/* Atomics and reductions: lane after lane in ascending order, each reading what the one before left. */
#include "hwmodel/exec/access.h"
#include "hwmodel/exec/alu.h"
#include "hwmodel/exec/scalar.h"

static uint64_t lane_of(const void *row, uint32_t bytes, uint32_t lane)
{
    uint64_t value = 0;
    memcpy(&value, (const unsigned char *)row + (size_t)lane * bytes, bytes);
    return value;
}

static uint64_t flush(uint64_t v) { return v & 0x7f800000u ? v : v & 0x80000000u; }

/* atom.add.f32 on global memory flushes subnormals; on shared memory it does not. */
static uint64_t combine(const hd_op *op, const hd_region *r, const hd_warp *w, uint64_t old, uint64_t b, uint64_t c)
{
    bool ftz = op->flags & HD_OP_FTZ && r->bytes != w->cta->shared;
    uint64_t value = ftz ? op->use.combine(flush(old), flush(b), c) : op->use.combine(old, b, c);
    return ftz ? flush(value) : value;
}

hd_step hd_run_atomic(const hd_op *op, hd_warp *w, uint32_t mask)
{
    hd_region r;
    bool single;
    uint32_t bytes = op->item_bytes;
    const void *b = hd_row(w, op->b), *c = op->c == HD_NO_REF ? NULL : hd_row(w, op->c);
    uint64_t old_values[LANES] = {0};
    hd_lane_addresses(op, w, mask);
    hd_step step = hd_access_check(op, w, mask, bytes, true, &r, &single);
    if (step != HD_STEP_NEXT)
        return step;
    for (uint32_t i = 0; i < LANES; i++) {
        uint64_t address = w->cta->addresses[i], old = 0;
        if (!(mask >> i & 1))
            continue;
        if (!single)
            hd_region_find(op, w, (hd_space)op->space, address, &r);
        if (r.interleaved)
            return hd_fault(op, w, 1u << i, "atomic access to local memory");
        unsigned char *at = r.bytes + (address - r.first);
        memcpy(&old, at, bytes);
        uint64_t value = combine(op, &r, w, old, lane_of(b, op->a_bytes, i), c ? lane_of(c, op->a_bytes, i) : 0);
        memcpy(at, &value, bytes);
        w->cta->writes += value != old;
        old_values[i] = old;
    }
    if (op->d != HD_NO_REF) {
        hd_resize(w->cta->scratch[0], op->d_bytes, old_values, 8, false);
        hd_merge(hd_row_of_frame(w, op->d), w->cta->scratch[0], mask, op->d_bytes);
    }
    return HD_STEP_NEXT;
}
