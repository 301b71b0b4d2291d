/* mov between a register and its parts, and of vectors.
 *
 * Parts are inserted into a row one after the other, from the lowest bits up, in loops that the compiler vectorizes,
 * and extracted in the same way. A row of 128 bits is two rows of 64 bits with half of the parts each. An 8-bit
 * register has 16 bits in its row. */
#ifdef __GNUC__
#ifndef __clang__
#pragma GCC optimize("O3")
#endif
#endif
#include "hwmodel/exec/ops/alu.h"
#include "hwmodel/exec/ops/lanes.h"
#include "hwmodel/exec/ops/rows.h"
#include "hwmodel/exec/ops/scalar.h"
#include "hwmodel/exec/ops/special.h"

typedef void part_loop(void *d, const void *a, uint32_t shift);

/* PUT: d |= part << shift, after an assignment for the lowest part. TAKE: part = a >> shift. S: the lane type of the
 * part's register, T: the part. */
#define PUT(D, S, T)                                                                \
    HD_CLONES static void put_##T##_##D(void *to, const void *of_a, uint32_t shift) \
    {                                                                               \
        D *d = to;                                                                  \
        const S *a = of_a;                                                          \
        if (!shift) {                                                               \
            HD_LANE_LOOP d[i] = (T)a[i];                                            \
        } else {                                                                    \
            HD_LANE_LOOP d[i] = (D)(d[i] | (D)((D)(T)a[i] << shift));               \
        }                                                                           \
    }
#define TAKE(D, S, T)                                                                \
    HD_CLONES static void take_##T##_##D(void *to, const void *of_a, uint32_t shift) \
    {                                                                                \
        S *d = to;                                                                   \
        const D *a = of_a;                                                           \
        HD_LANE_LOOP d[i] = (T)(a[i] >> shift);                                      \
    }
#define BOTH(D, S, T) PUT(D, S, T) TAKE(D, S, T)
BOTH(u16, u16, u8)
BOTH(u32, u16, u8)
BOTH(u32, u16, u16)
BOTH(u64, u16, u16)
BOTH(u64, u32, u32)
BOTH(u64, u64, u64)

static const struct part_row {
    uint8_t whole, part; /* sizes in bytes; for a whole of 16: half of it */
    part_loop *put, *take;
} part_rows[] = {
    {2, 1, put_u8_u16, take_u8_u16},   {4, 1, put_u8_u32, take_u8_u32},   {4, 2, put_u16_u32, take_u16_u32},
    {8, 2, put_u16_u64, take_u16_u64}, {8, 4, put_u32_u64, take_u32_u64}, {8, 8, put_u64_u64, take_u64_u64},
};

static const struct part_row *row_of(uint32_t whole, uint32_t part)
{
    const struct part_row *r = part_rows;
    while (r->whole != (whole > 8 ? 8 : whole) || r->part != part)
        r++;
    return r;
}

/* mov.b64 d, {a, b, ..} */
hd_step hd_run_pack(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_ref *parts = hd_top_frame(w)->code->refs.items + op->first;
    unsigned char *d = hd_row_of_frame(w, op->d), *to = mask == HD_ALL_LANES ? d : w->cta->scratch[0];
    part_loop *put = row_of(op->d_bytes, op->item_bytes)->put;
    for (uint32_t k = 0, at = 0; k < op->count; k++, at += op->item_bytes)
        put(to + at / 8 * (8 * LANES), hd_row(w, parts[k]), at % 8 * 8);
    if (mask != HD_ALL_LANES)
        hd_merge(d, to, mask, op->d_bytes);
    return HD_STEP_NEXT;
}

/* mov.b64 {d, e, ..}, a */
hd_step hd_run_unpack(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_code *code = hd_top_frame(w)->code;
    part_loop *take = row_of(op->a_bytes, op->item_bytes)->take;
    if (op->boolean) /* a clock */
        hd_special_refresh(w->cta->program, w);
    const unsigned char *a = hd_row(w, op->a);
    for (uint32_t k = 0, at = 0; k < op->count; k++, at += op->item_bytes) {
        hd_ref ref = code->refs.items[op->first + k];
        if (ref == HD_NO_REF)
            continue;
        void *d = hd_row_of_frame(w, ref), *to = mask == HD_ALL_LANES ? d : w->cta->scratch[0];
        take(to, a + at / 8 * (8 * LANES), at % 8 * 8);
        if (mask != HD_ALL_LANES)
            hd_merge(d, to, mask, code->widths.items[op->first + k]);
    }
    return HD_STEP_NEXT;
}

/* mov.v4 {d, ..}, {a, ..}: a destination may be the source of a later move. */
hd_step hd_run_move_vector(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_code *code = hd_top_frame(w)->code;
    const hd_ref *to = code->refs.items + op->first, *from = to + op->count;
    const uint8_t *widths = code->widths.items + op->first + op->count;
    u64 values[4][LANES];
    for (uint32_t k = 0; k < op->count; k++)
        memcpy(values[k], hd_row(w, from[k]), (size_t)widths[k] * LANES);
    for (uint32_t k = 0; k < op->count; k++)
        if (to[k] != HD_NO_REF)
            hd_merge(hd_row_of_frame(w, to[k]), values[k], mask, widths[k]);
    return HD_STEP_NEXT;
}
