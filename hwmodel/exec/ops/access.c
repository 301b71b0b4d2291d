/* Loads and stores of all spaces.
 *
 * The lanes' addresses are computed first (inactive lanes get the address of an active one). Then the host memory
 * region that contains the first address is found, which usually serves all lanes; else the lanes are processed one by
 * one. Every access is checked for alignment and bounds before anything is read or written. If several lanes store to
 * one address, the highest lane's value remains. */
#ifdef __GNUC__
#ifndef __clang__
#pragma GCC optimize("O3")
#endif
#endif
#include "hwmodel/exec/ops/access.h"
#include "hwmodel/exec/ops/alu.h"
#include "hwmodel/exec/ops/faulty_lane.h"
#include "hwmodel/exec/ops/lanes.h"
#include "hwmodel/exec/ops/rows.h"
#include "hwmodel/exec/ops/scalar.h"
#include "hwmodel/memory/heap.h"

/* ---- addresses --------------------------------------------------------------------------------------------------- */

HD_CLONES static void add_wide(u64 *to, const u64 *base, u64 offset) { HD_LANE_LOOP to[i] = base[i] + offset; }
HD_CLONES static void add_narrow(u64 *to, const u32 *base, u32 offset) { HD_LANE_LOOP to[i] = base[i] + offset; }

/* The AND and OR of all addresses: as numbers, bounds of them. */
typedef struct bits {
    u64 all, any;
} bits;
HD_CLONES static void bits_of(const u64 *address, bits *b)
{
    u64 all = ~0ull, any = 0;
    for (int i = 0; i < LANES; i++) {
        all &= address[i];
        any |= address[i];
    }
    *b = (bits){all, any};
}

/* Lowest and highest address. Compared with the top bit inverted, because CPUs have signed vector comparisons. */
typedef struct reach {
    u64 low, high;
} reach;
HD_CLONES static void reach_of(const u64 *address, reach *r)
{
    const u64 top = 1ull << 63;
    s64 low = (s64)(address[0] ^ top), high = low;
    for (int i = 0; i < LANES; i++) {
        s64 a = (s64)(address[i] ^ top);
        low = hd_min(low, a);
        high = hd_max(high, a);
    }
    *r = (reach){(u64)low ^ top, (u64)high ^ top};
}

void hd_lane_addresses(const hd_op *op, hd_warp *w, uint32_t mask)
{
    u64 *to = w->cta->addresses;
    const bool wide = op->flags & HD_OP_WIDE_ADDRESS;
    if (wide)
        add_wide(to, hd_row(w, op->a), (u64)op->offset);
    else
        add_narrow(to, hd_row(w, op->a), (u32)op->offset);
    if (mask != HD_ALL_LANES) {
        u64 one = to[__builtin_ctz(mask)];
        for (int i = 0; i < LANES; i++)
            to[i] = mask >> i & 1 ? to[i] : one;
    }
    if (__builtin_expect(w->cta->addresses_to_change, 0))
        hd_faulty_addresses(w->cta, wide ? 64 : 32, mask);
}

/* ---- regions ----------------------------------------------------------------------------------------------------- */

/* In the device heap, only an allocated block is valid. */
static bool in_block_of_heap(const hd_memory *m, const hd_allocation *a, u64 address, hd_region *r)
{
    hd_heap_block b;
    if (!hd_heap_find(m->heap, address, &b) || b.freed || address - b.base >= b.size)
        return false;
    *r = (hd_region){a->bytes + (b.base - a->base), b.base, b.size, false, false, a, 0};
    return true;
}

static bool in_allocation(const hd_op *op, hd_warp *w, u64 address, u64 bias, hd_space space, hd_region *r)
{
    hd_cta *cta = w->cta;
    const hd_allocation *a = cta->recent[op->cache_slot];
    if (!a || address + bias - a->base >= a->size) {
        a = hd_memory_find(cta->memory, address + bias, 1);
        if (a)
            __atomic_store_n(&((hd_allocation *)(uintptr_t)a)->accessed, true, __ATOMIC_RELAXED);
    }
    if (!a || a->space != space)
        return false;
    cta->recent[op->cache_slot] = a;
    if (a->is_heap)
        return in_block_of_heap(cta->memory, a, address, r);
    *r = (hd_region){a->bytes, a->base - bias, a->size, a->read_only, false, a->read_only ? NULL : a, 0};
    return true;
}

static bool in_block(unsigned char *bytes, u64 size, u64 window, bool read_only, hd_region *r)
{
    *r = (hd_region){bytes, window, size, read_only, false, NULL, 0};
    return true;
}

static bool in_local(hd_warp *w, u64 window, hd_region *r)
{
    const hd_frame *f = hd_top_frame(w);
    *r = (hd_region){w->local, window, f->local_end, false, true, NULL, 0};
    return true;
}

bool hd_region_find(const hd_op *op, hd_warp *w, hd_space space, uint64_t address, hd_region *r)
{
    hd_cta *cta = w->cta;
    const hd_memory *m = cta->memory;
    u64 window = 0;
    if (space == HD_SPACE_NONE) {
        space = hd_memory_space_of(m, address);
        window = space == HD_SPACE_SHARED  ? m->shared_window
                 : space == HD_SPACE_LOCAL ? m->local_window
                 : space == HD_SPACE_PARAM ? m->param_window
                                           : 0;
        if (space == HD_SPACE_CONST)
            return in_allocation(op, w, address, 0, HD_SPACE_CONST, r);
    }
    switch (space) {
    case HD_SPACE_GLOBAL: return in_allocation(op, w, address, 0, HD_SPACE_GLOBAL, r);
    case HD_SPACE_CONST: return in_allocation(op, w, address, m->const_window, HD_SPACE_CONST, r);
    case HD_SPACE_SHARED:
    case HD_SPACE_SHARED_CTA:
    case HD_SPACE_SHARED_CLUSTER: return in_block(cta->shared, cta->shared_bytes, window, false, r);
    case HD_SPACE_LOCAL: return in_local(w, window, r);
    case HD_SPACE_PARAM:
    case HD_SPACE_PARAM_ENTRY:
    case HD_SPACE_PARAM_FUNC:
        return in_block((unsigned char *)(uintptr_t)cta->grid->parameters, cta->program->parameter_bytes, window, true,
                        r);
    case HD_SPACE_NONE:
    case HD_SPACE_REG:
    case HD_SPACE_SREG:
    case HD_SPACE_TEX:
    case HD_SPACE_COUNT: break;
    }
    return false;
}

/* ---- checking ---------------------------------------------------------------------------------------------------- */

static bool is_inside(const hd_region *r, u64 address, uint32_t bytes)
{
    return address - r->first < r->size && bytes <= r->size - (address - r->first);
}

/* Checks all lanes: their bounds usually suffice. */
static bool all_fit(const hd_region *r, const u64 *address, const bits *b, uint32_t bytes)
{
    reach lanes;
    if (is_inside(r, b->all, bytes) && is_inside(r, b->any, bytes))
        return true;
    reach_of(address, &lanes);
    return is_inside(r, lanes.low, bytes) && is_inside(r, lanes.high, bytes);
}

void hd_touch(hd_warp *w, const hd_region *r, uint64_t address, uint32_t bytes, bool write)
{
    if (w->cta->footprint && r->shared_by_ctas)
        hd_footprint_range(w->cta->footprint, r->shared_by_ctas, address, bytes, write);
}

/* Records an allowed access to several regions, lane by lane. */
static void touch_slowly(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t bytes, bool write)
{
    hd_region r;
    for (uint32_t i = 0; i < LANES && w->cta->footprint; i++)
        if (mask >> i & 1 && hd_region_find(op, w, (hd_space)op->space, w->cta->addresses[i], &r))
            hd_touch(w, &r, w->cta->addresses[i], bytes, write);
}

hd_step hd_access_check(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t bytes, bool write, hd_region *r,
                        bool *single)
{
    const u64 *address = w->cta->addresses;
    bits lanes;
    uint32_t bad = 0;
    bits_of(address, &lanes);
    if (lanes.any & (bytes - 1)) {
        for (uint32_t i = 0; i < LANES; i++)
            bad |= (uint32_t)((address[i] & (bytes - 1)) != 0) << i & mask;
        return hd_bad_access(op, w, bad, bytes, HD_FAULT_MISALIGNED, "misaligned");
    }
    *single = hd_region_find(op, w, (hd_space)op->space, address[0], r) && all_fit(r, address, &lanes, bytes);
    if (*single && !(write && r->read_only)) {
        if (w->cta->footprint && r->shared_by_ctas &&
            hd_footprint_lanes(w->cta->footprint, r->shared_by_ctas, address, mask, bytes, write))
            r->row_bytes = bytes;
        return HD_STEP_NEXT;
    }
    uint32_t forbidden = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        hd_region one;
        bool found = hd_region_find(op, w, (hd_space)op->space, address[i], &one) && is_inside(&one, address[i], bytes);
        bad |= (uint32_t)!found << i & mask;
        forbidden |= (uint32_t)(found && write && one.read_only) << i & mask;
    }
    if (bad)
        return hd_bad_access(op, w, bad, bytes, HD_FAULT_ADDRESS, "out-of-bounds");
    if (forbidden)
        return hd_bad_access(op, w, forbidden, bytes, HD_FAULT_ADDRESS, "read-only memory: forbidden");
    touch_slowly(op, w, mask, bytes, write);
    return HD_STEP_NEXT;
}

/* ---- loads ------------------------------------------------------------------------------------------------------- */

#define GATHER(T)                                                                         \
    HD_CLONES static void gather_##T(T *d, uintptr_t host, const u64 *address)            \
    {                                                                                     \
        HD_LANE_LOOP hd_memory_copy(&d[i], (const void *)(host + address[i]), sizeof(T)); \
    }
GATHER(u8)
GATHER(u16)
GATHER(u32)
GATHER(u64)

static inline bool contiguous(const u64 *address, u64 stride)
{
    u64 difference = 0;
    if (address[1] != address[0] + stride)
        return false;
    for (u64 i = 0; i < LANES; i++)
        difference |= address[i] ^ (address[0] + i * stride);
    return !difference;
}

/* `host`: host location of address 0; only the sums are valid pointers. */
static void gather(void *to, uintptr_t host, const u64 *address, uint32_t bytes)
{
    switch (bytes) {
    case 1: gather_u8(to, host, address); break;
    case 2: gather_u16(to, host, address); break;
    case 4: gather_u32(to, host, address); break;
    default: gather_u64(to, host, address);
    }
}

/* Host location of byte `at` of a lane's region. */
static unsigned char *host_byte(const hd_region *r, u64 at, uint32_t lane)
{
    return r->interleaved ? r->bytes + at / 4 * 4 * LANES + lane * 4 + at % 4 : r->bytes + at;
}

static void copy_in(void *value, const hd_region *r, u64 at, uint32_t lane, uint32_t bytes)
{
    uint32_t piece = r->interleaved && bytes > 4 ? 4 : bytes;
    for (uint32_t k = 0; k < bytes; k += piece)
        hd_memory_copy((unsigned char *)value + k, host_byte(r, at + k, lane), piece);
}
static void copy_out(const void *value, const hd_region *r, u64 at, uint32_t lane, uint32_t bytes)
{
    uint32_t piece = r->interleaved && bytes > 4 ? 4 : bytes;
    for (uint32_t k = 0; k < bytes; k += piece)
        hd_memory_copy(host_byte(r, at + k, lane), (const unsigned char *)value + k, piece);
}

bool hd_read_lane(const hd_op *op, hd_warp *w, uint32_t lane, uint64_t address, void *to, uint32_t bytes)
{
    hd_region r;
    if (!hd_region_find(op, w, HD_SPACE_NONE, address, &r) || !is_inside(&r, address, bytes))
        return false;
    hd_touch(w, &r, address, bytes, false);
    for (uint32_t k = 0; k < bytes; k++)
        hd_memory_copy((unsigned char *)to + k, host_byte(&r, address - r.first + k, lane), 1);
    return true;
}

/* Lane by lane: local memory, and lanes in several regions. */
static void gather_slowly(const hd_op *op, hd_warp *w, void *to, uint32_t mask, uint32_t skip, uint32_t bytes)
{
    const u64 *address = w->cta->addresses;
    hd_region r = {0};
    for (uint32_t i = 0; i < LANES; i++)
        if (mask >> i & 1 && hd_region_find(op, w, (hd_space)op->space, address[i], &r))
            copy_in((unsigned char *)to + (size_t)i * bytes, &r, address[i] - r.first + skip, i, bytes);
}

/* Loads one element of `bytes` (at most 8) of every lane, `skip` bytes after its address. */
static void load_row(const hd_op *op, hd_warp *w, void *to, uint32_t mask, uint32_t skip, uint32_t bytes,
                     const hd_region *r)
{
    const u64 *address = w->cta->addresses;
    if (!r || r->interleaved)
        gather_slowly(op, w, to, mask, skip, bytes);
    else if (r->row_bytes == bytes || contiguous(address, bytes))
        hd_memory_copy(to, r->bytes + (address[0] - r->first) + skip, (size_t)bytes * LANES);
    else
        gather(to, (uintptr_t)r->bytes - r->first + skip, address, bytes);
}

/* Converts the element from memory to the register's width. */
static void take_element(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t k, const void *raw)
{
    const hd_code *code = hd_top_frame(w)->code;
    uint32_t width = code->widths.items[op->first + k];
    if (width != op->item_bytes) {
        hd_resize(w->cta->scratch[0], width, raw, op->item_bytes, op->flags & HD_OP_SIGNED);
        raw = w->cta->scratch[0];
    }
    hd_merge(hd_row_of_frame(w, code->refs.items[op->first + k]), raw, mask, width);
}

static bool is_wanted(const hd_op *op, const hd_warp *w, uint32_t k)
{
    return hd_top_frame(w)->code->refs.items[op->first + k] != HD_NO_REF;
}

static void load_element(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t k, const hd_region *r)
{
    uint32_t bytes = op->item_bytes;
    unsigned char *raw = w->cta->scratch[1];
    if (!is_wanted(op, w, k))
        return;
    if (bytes == 16) {
        load_row(op, w, raw, mask, k * 16, 8, r);
        load_row(op, w, raw + 8 * LANES, mask, k * 16 + 8, 8, r);
    } else {
        load_row(op, w, raw, mask, k * bytes, bytes, r);
    }
    take_element(op, w, mask, k, raw);
}

hd_step hd_run_load(const hd_op *op, hd_warp *w, uint32_t mask)
{
    hd_region r;
    bool single;
    hd_lane_addresses(op, w, mask);
    hd_step step = hd_access_check(op, w, mask, op->item_bytes * op->count, false, &r, &single);
    if (step != HD_STEP_NEXT)
        return step;
    for (uint32_t k = 0; k < op->count; k++)
        load_element(op, w, mask, k, single ? &r : NULL);
    return HD_STEP_NEXT;
}

/* ---- stores ------------------------------------------------------------------------------------------------------ */

#define SCATTER(T)                                                                                       \
    static void scatter_##T(uintptr_t host, const u64 *address, const unsigned char *row, uint32_t mask) \
    {                                                                                                    \
        HD_EACH_BIT (i, mask)                                                                            \
            hd_memory_copy((void *)(host + address[i]), row + i * sizeof(T), sizeof(T));                 \
    }
SCATTER(u8)
SCATTER(u16)
SCATTER(u32)
SCATTER(u64)

/* In ascending order of lanes. `host`: as in gather. */
static void scatter(uintptr_t host, const u64 *address, const unsigned char *row, uint32_t mask, uint32_t bytes)
{
    switch (bytes) {
    case 1: scatter_u8(host, address, row, mask); break;
    case 2: scatter_u16(host, address, row, mask); break;
    case 4: scatter_u32(host, address, row, mask); break;
    default: scatter_u64(host, address, row, mask);
    }
}

static void store_row(const hd_op *op, hd_warp *w, const unsigned char *row, uint32_t mask, uint32_t skip,
                      uint32_t bytes, const hd_region *r)
{
    const u64 *address = w->cta->addresses;
    if (r && !r->interleaved && mask == HD_ALL_LANES && (r->row_bytes == bytes || contiguous(address, bytes))) {
        hd_memory_copy(r->bytes + (address[0] - r->first) + skip, row, (size_t)bytes * LANES);
        return;
    }
    if (r && !r->interleaved) {
        scatter((uintptr_t)r->bytes - r->first + skip, address, row, mask, bytes);
        return;
    }
    hd_region one = {0};
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(mask >> i & 1))
            continue;
        if (!r)
            hd_region_find(op, w, (hd_space)op->space, address[i], &one);
        const hd_region *at = r ? r : &one;
        copy_out(row + (size_t)i * bytes, at, address[i] - at->first + skip, i, bytes);
    }
}

static void store_element(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t k, const hd_region *r)
{
    const hd_code *code = hd_top_frame(w)->code;
    hd_ref ref = code->refs.items[op->first + k];
    uint32_t bytes = op->item_bytes, width = code->widths.items[op->first + k];
    const unsigned char *row = hd_row(w, ref);
    if (bytes == 16) {
        store_row(op, w, row, mask, k * 16, 8, r);
        store_row(op, w, row + 8 * LANES, mask, k * 16 + 8, 8, r);
        return;
    }
    if (width != bytes) {
        hd_resize(w->cta->scratch[0], bytes, row, width, false);
        row = w->cta->scratch[0];
    }
    store_row(op, w, row, mask, k * bytes, bytes, r);
}

/* As hd_run_store, but only stores that change bytes count as writes. */
static void store_carefully(const hd_op *op, hd_warp *w, uint32_t mask, const hd_region *r)
{
    unsigned char old[LANES][32];
    uint32_t bytes = op->item_bytes * op->count;
    bool changed = false;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < LANES; i++) {
            hd_region one = {0};
            if (!(mask >> i & 1) || (!r && !hd_region_find(op, w, (hd_space)op->space, w->cta->addresses[i], &one)))
                continue;
            const hd_region *at = r ? r : &one;
            for (uint32_t k = 0; k < bytes && !at->interleaved; k++) {
                unsigned char now;
                hd_memory_copy(&now, host_byte(at, w->cta->addresses[i] - at->first + k, i), 1);
                changed |= pass && now != old[i][k];
                old[i][k] = now;
            }
        }
        for (uint32_t k = 0; k < op->count && !pass; k++)
            store_element(op, w, mask, k, r);
    }
    w->cta->writes += changed;
}

hd_step hd_run_store(const hd_op *op, hd_warp *w, uint32_t mask)
{
    hd_region r;
    bool single;
    hd_lane_addresses(op, w, mask);
    hd_step step = hd_access_check(op, w, mask, op->item_bytes * op->count, true, &r, &single);
    if (step != HD_STEP_NEXT)
        return step;
    if (__builtin_expect(w->cta->livelock.careful, 0)) {
        store_carefully(op, w, mask, single ? &r : NULL);
        return HD_STEP_NEXT;
    }
    w->cta->writes += !single || !r.interleaved;
    for (uint32_t k = 0; k < op->count; k++)
        store_element(op, w, mask, k, single ? &r : NULL);
    return HD_STEP_NEXT;
}

/* ---- constant addresses: kernel parameters, a call frame's own variables ----------------------------------------- */

static void set_addresses(hd_warp *w, u64 address)
{
    for (int i = 0; i < LANES; i++)
        w->cta->addresses[i] = address;
}

/* Bounds and alignment were checked when decoding; all lanes read the same. */
hd_step hd_run_load_parameter(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const unsigned char *from = (const unsigned char *)w->cta->grid->parameters + op->offset;
    if (w->cta->columns & HD_COLUMN_ADDRESSES)
        set_addresses(w, (u64)op->offset);
    for (uint32_t k = 0; k < op->count; k++) {
        if (!is_wanted(op, w, k))
            continue;
        hd_spread(w->cta->scratch[1], from + (size_t)k * op->item_bytes, op->item_bytes);
        take_element(op, w, mask, k, w->cta->scratch[1]);
    }
    return HD_STEP_NEXT;
}

hd_step hd_run_load_frame(const hd_op *op, hd_warp *w, uint32_t mask)
{
    u64 at = hd_top_frame(w)->local_base + (u64)op->offset;
    set_addresses(w, at);
    for (uint32_t k = 0; k < op->count; k++) {
        const hd_code *code = hd_top_frame(w)->code;
        hd_ref ref = code->refs.items[op->first + k];
        if (op->item_bytes == 4 && ref != HD_NO_REF && code->widths.items[op->first + k] == 4)
            hd_merge(hd_row_of_frame(w, ref), w->local + (at / 4 + k) * 4 * LANES, mask, 4);
        else
            load_element(op, w, mask, k, NULL);
    }
    return HD_STEP_NEXT;
}

hd_step hd_run_store_frame(const hd_op *op, hd_warp *w, uint32_t mask)
{
    u64 at = hd_top_frame(w)->local_base + (u64)op->offset;
    set_addresses(w, at);
    for (uint32_t k = 0; k < op->count; k++) {
        const hd_code *code = hd_top_frame(w)->code;
        hd_ref ref = code->refs.items[op->first + k];
        if (op->item_bytes == 4 && code->widths.items[op->first + k] == 4)
            hd_merge(w->local + (at / 4 + k) * 4 * LANES, hd_row(w, ref), mask, 4);
        else
            store_element(op, w, mask, k, NULL);
    }
    return HD_STEP_NEXT;
}

/* ---- addresses as values ----------------------------------------------------------------------------------------- */

/* d = the address of a variable of this call frame; op->offset: its offset, plus the window's base for a generic
 * address. */
hd_step hd_run_frame_address(const hd_op *op, hd_warp *w, uint32_t mask)
{
    u64 *to = (u64 *)(void *)w->cta->scratch[1];
    void *row = w->cta->scratch[0];
    for (int i = 0; i < LANES; i++)
        to[i] = hd_top_frame(w)->local_base + (u64)op->offset;
    hd_resize(row, op->d_bytes, to, 8, false);
    hd_merge(hd_row_of_frame(w, op->d), row, mask, op->d_bytes);
    return HD_STEP_NEXT;
}

/* cvta: d = a + offset, where a may have another width. */
hd_step hd_run_shift_address(const hd_op *op, hd_warp *w, uint32_t mask)
{
    u64 *wide = (u64 *)(void *)w->cta->scratch[1];
    void *row = w->cta->scratch[0];
    hd_resize(wide, 8, hd_row(w, op->a), op->a_bytes, false);
    add_wide(wide, wide, (u64)op->offset);
    hd_resize(row, op->d_bytes, wide, 8, false);
    hd_merge(hd_row_of_frame(w, op->d), row, mask, op->d_bytes);
    return HD_STEP_NEXT;
}

/* isspacep */
hd_step hd_run_space_of(const hd_op *op, hd_warp *w, uint32_t mask)
{
    u64 *wide = (u64 *)(void *)w->cta->scratch[1];
    uint32_t truth = 0;
    hd_resize(wide, 8, hd_row(w, op->a), op->a_bytes, false);
    for (uint32_t i = 0; i < LANES; i++)
        truth |= (uint32_t)(hd_memory_space_of(w->cta->memory, wide[i]) == (hd_space)op->space) << i;
    hd_set_warp_word(w, op->d, truth, mask);
    return HD_STEP_NEXT;
}
