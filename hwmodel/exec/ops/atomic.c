/* Atomics and reductions: lane by lane in ascending order, each reading the result of the previous one. The elements of
 * a vector are combined independently; 128 bits are exchanged or compared as a whole. */
#include "hwmodel/exec/ops/access.h"
#include "hwmodel/exec/ops/alu.h"
#include "hwmodel/exec/ops/rows.h"
#include "hwmodel/exec/ops/scalar.h"
#include "hwmodel/exec/state/fault.h"

static uint64_t flush(uint64_t v) { return v & 0x7f800000u ? v : v & 0x80000000u; }

/* atom.add.f32 on global memory flushes subnormals; on shared memory it does not. */
static uint64_t combine(const hd_op *op, const hd_region *r, const hd_warp *w, uint64_t old, uint64_t b, uint64_t c)
{
    bool ftz = op->flags & HD_OP_FTZ && r->bytes != w->cta->shared;
    uint64_t value = ftz ? op->use.combine(flush(old), flush(b), c) : op->use.combine(old, b, c);
    return ftz ? flush(value) : value;
}

/* All lanes in one region that is not interleaved; element and register sizes known to the compiler. */
static inline __attribute__((always_inline)) void
combine_lanes(const hd_op *op, hd_warp *w, uint32_t mask, const hd_region *r, uint64_t *old_values, uint32_t bytes)
{
    const unsigned char *b = hd_row(w, op->b), *c = op->c == HD_NO_REF ? NULL : hd_row(w, op->c);
    const uintptr_t host = (uintptr_t)r->bytes - r->first;
    bool ftz = op->flags & HD_OP_FTZ && r->bytes != w->cta->shared;
    hd_combine *function = op->use.combine;
    uint64_t changed = 0;
    HD_EACH_BIT (i, mask) {
        unsigned char *at = (unsigned char *)(host + w->cta->addresses[i]);
        uint64_t old = 0, vb = 0, vc = 0;
        hd_memory_copy(&old, at, bytes);
        memcpy(&vb, b + i * bytes, bytes);
        if (c)
            memcpy(&vc, c + i * bytes, bytes);
        uint64_t value = ftz ? flush(function(flush(old), flush(vb), vc)) : function(old, vb, vc);
        hd_memory_copy(at, &value, bytes);
        changed += value != old;
        old_values[i] = old;
    }
    w->cta->writes += changed;
}

static bool combine_quickly(const hd_op *op, hd_warp *w, uint32_t mask, const hd_region *r, uint64_t *old_values)
{
    if (r->interleaved || op->a_bytes != op->item_bytes || (op->item_bytes != 4 && op->item_bytes != 8))
        return false;
    if (op->item_bytes == 4)
        combine_lanes(op, w, mask, r, old_values, 4);
    else
        combine_lanes(op, w, mask, r, old_values, 8);
    return true;
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
    uint32_t slow = single && combine_quickly(op, w, mask, &r, old_values) ? 0 : mask;
    for (uint32_t i = 0; i < LANES; i++) {
        uint64_t address = w->cta->addresses[i], old = 0;
        if (!(slow >> i & 1))
            continue;
        if (!single)
            hd_region_find(op, w, (hd_space)op->space, address, &r);
        if (r.interleaved)
            return hd_fault(op, w, 1u << i, "atomic access to local memory");
        unsigned char *at = r.bytes + (address - r.first);
        hd_memory_copy(&old, at, bytes);
        uint64_t value =
            combine(op, &r, w, old, hd_lane_value(b, op->a_bytes, i), c ? hd_lane_value(c, op->a_bytes, i) : 0);
        hd_memory_copy(at, &value, bytes);
        w->cta->writes += value != old;
        old_values[i] = old;
    }
    if (op->d != HD_NO_REF) {
        hd_resize(w->cta->scratch[0], op->d_bytes, old_values, 8, false);
        hd_merge(hd_row_of_frame(w, op->d), w->cta->scratch[0], mask, op->d_bytes);
    }
    return HD_STEP_NEXT;
}

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

/* A lane's value in a row of up to 8 bytes, of which an element uses the low `bytes`. */
static uint64_t element_of(hd_warp *w, const hd_code *code, uint32_t at, uint32_t lane, uint32_t bytes)
{
    uint64_t value = hd_lane_value(hd_row(w, code->refs.items[at]), code->widths.items[at], lane);
    return bytes < 8 ? value & ((1ull << 8 * bytes) - 1) : value;
}

static void put_element(hd_warp *w, const hd_code *code, uint32_t at, uint32_t lane, uint64_t value)
{
    hd_ref ref = code->refs.items[at];
    uint32_t bytes = code->widths.items[at];
    if (ref != HD_NO_REF)
        memcpy((unsigned char *)hd_row_of_frame(w, ref) + (size_t)lane * bytes, &value, bytes);
}

/* code->refs from op->first: the sources, then (atom) the destinations. */
static void combine_vector(const hd_op *op, hd_warp *w, uint32_t lane, const hd_region *r, unsigned char *at)
{
    const hd_code *code = hd_top_frame(w)->code;
    uint32_t bytes = op->item_bytes;
    uint64_t old_values[8], values[8];
    for (uint32_t k = 0; k < op->count; k++) {
        old_values[k] = 0;
        hd_memory_copy(&old_values[k], at + (size_t)k * bytes, bytes);
        values[k] = combine(op, r, w, old_values[k], element_of(w, code, op->first + k, lane, bytes), 0);
        w->cta->writes += values[k] != old_values[k];
    }
    for (uint32_t k = 0; k < op->count; k++) {
        hd_memory_copy(at + (size_t)k * bytes, &values[k], bytes);
        if (op->flags & HD_OP_RESULT)
            put_element(w, code, op->first + op->count + k, lane, old_values[k]);
    }
}

/* A row of 128-bit values is two rows of 64 bits. */
static void load_wide(uint64_t value[2], const unsigned char *row, uint32_t lane)
{
    memcpy(&value[0], row + (size_t)lane * 8, 8);
    memcpy(&value[1], row + (size_t)(LANES + lane) * 8, 8);
}

/* op->c: the new value of cas, where b is the compared value; exch has no comparison. */
static void exchange_wide(const hd_op *op, hd_warp *w, uint32_t lane, unsigned char *at)
{
    uint64_t old[2], b[2], c[2] = {0};
    hd_memory_copy(old, at, 16);
    load_wide(b, hd_row(w, op->b), lane);
    bool compares = op->c != HD_NO_REF;
    if (compares)
        load_wide(c, hd_row(w, op->c), lane);
    const uint64_t *value = !compares ? b : memcmp(old, b, 16) ? old : c;
    w->cta->writes += memcmp(value, old, 16) != 0;
    hd_memory_copy(at, value, 16);
    if (op->d != HD_NO_REF)
        for (uint32_t half = 0; half < 2; half++)
            memcpy((unsigned char *)hd_row_of_frame(w, op->d) + (size_t)(half * LANES + lane) * 8, &old[half], 8);
}

/* For several elements, or for 16 bytes. */
hd_step hd_run_atomic_wide(const hd_op *op, hd_warp *w, uint32_t mask)
{
    hd_region r;
    bool single;
    hd_lane_addresses(op, w, mask);
    hd_step step = hd_access_check(op, w, mask, op->item_bytes * op->count, true, &r, &single);
    if (step != HD_STEP_NEXT)
        return step;
    for (uint32_t i = 0; i < LANES; i++) {
        uint64_t address = w->cta->addresses[i];
        if (!(mask >> i & 1))
            continue;
        if (!single)
            hd_region_find(op, w, (hd_space)op->space, address, &r);
        if (r.interleaved)
            return hd_fault(op, w, 1u << i, "atomic access to local memory");
        if (op->item_bytes == 16)
            exchange_wide(op, w, i, r.bytes + (address - r.first));
        else
            combine_vector(op, w, i, &r, r.bytes + (address - r.first));
    }
    return HD_STEP_NEXT;
}
