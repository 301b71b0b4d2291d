/* Operations on whole rows: merging under a mask, other widths, flushing of subnormals, saturation; and operations with
 * more sources than a row of exec.def supports. */
#ifdef __GNUC__
#ifndef __clang__
#pragma GCC optimize("O3", "no-trapping-math") /* otherwise selections would stay branches */
#endif
#endif
#include "hwmodel/exec/ops/rows.h"
#include "hwmodel/exec/ops/lanes.h"
#include "hwmodel/exec/ops/scalar_half.h"

#define MERGE(T)                                                        \
    HD_CLONES static void merge_##T(T *d, const T *from, uint32_t mask) \
    {                                                                   \
        HD_LANE_LOOP d[i] = mask >> i & 1 ? from[i] : d[i];             \
    }
MERGE(u8)
MERGE(u16)
MERGE(u32)
MERGE(u64)

void hd_merge(void *d, const void *from, uint32_t mask, uint32_t bytes)
{
    if (mask == HD_ALL_LANES) {
        memmove(d, from, (size_t)bytes * LANES);
        return;
    }
    switch (bytes) {
    case 1: merge_u8(d, from, mask); break;
    case 2: merge_u16(d, from, mask); break;
    case 4: merge_u32(d, from, mask); break;
    case 8: merge_u64(d, from, mask); break;
    default: merge_u64(d, from, mask); merge_u64((u64 *)d + LANES, (const u64 *)from + LANES, mask);
    }
}

HD_CLONES static void keep_u32(u32 *d, const u32 *from, uint32_t mask)
{
    HD_LANE_LOOP d[i] = mask >> i & 1 ? from[i] : 0;
}
HD_CLONES static void keep_u64(u64 *d, const u64 *from, uint32_t mask)
{
    HD_LANE_LOOP d[i] = mask >> i & 1 ? from[i] : 0;
}

void hd_keep(void *d, const void *from, uint32_t mask, uint32_t bytes)
{
    if (bytes == 4)
        keep_u32(d, from, mask);
    else
        keep_u64(d, from, mask);
}

#define SPREAD(T) \
    HD_CLONES static void spread_##T(T *d, T value) { HD_LANE_LOOP d[i] = value; }
SPREAD(u8)
SPREAD(u16)
SPREAD(u32)
SPREAD(u64)

void hd_spread(void *d, const void *value, uint32_t bytes)
{
    u64 of[2] = {0};
    memcpy(of, value, bytes);
    switch (bytes) {
    case 1: spread_u8(d, (u8)of[0]); break;
    case 2: spread_u16(d, (u16)of[0]); break;
    case 4: spread_u32(d, (u32)of[0]); break;
    case 8: spread_u64(d, of[0]); break;
    default: spread_u64(d, of[0]); spread_u64((u64 *)d + LANES, of[1]);
    }
}

#define RESIZE(D, A)                                                   \
    HD_CLONES static void resize_##A##_##D(void *to, const void *of_a) \
    {                                                                  \
        D *d = to;                                                     \
        const A *a = of_a;                                             \
        HD_LANE_LOOP d[i] = (D)a[i];                                   \
    }
#define RESIZE_FROM(A) RESIZE(u8, A) RESIZE(u16, A) RESIZE(u32, A) RESIZE(u64, A)
RESIZE_FROM(u8)
RESIZE_FROM(u16)
RESIZE_FROM(u32)
RESIZE_FROM(u64)
RESIZE_FROM(s8)
RESIZE_FROM(s16)
RESIZE_FROM(s32)

void hd_resize(void *d, uint32_t d_bytes, const void *a, uint32_t a_bytes, bool is_signed)
{
    typedef void resize(void *, const void *);
#define TO(A)                                                                 \
    {                                                                         \
        resize_##A##_u8, resize_##A##_u16, resize_##A##_u32, resize_##A##_u64 \
    }
    static resize *const table[2][4][4] = {{TO(u8), TO(u16), TO(u32), TO(u64)}, {TO(s8), TO(s16), TO(s32), TO(u64)}};
    uint32_t from = (uint32_t)__builtin_ctz(a_bytes), to = (uint32_t)__builtin_ctz(d_bytes);
    if (from == to)
        memmove(d, a, (size_t)a_bytes * LANES);
    else
        table[is_signed][from][to](d, a);
}

static inline u16 flush_f16(u16 v) { return v & 0x7c00 ? v : v & 0x8000; }
static inline u16 flush_bf16(u16 v) { return v & 0x7f80 ? v : v & 0x8000; }
static inline u32 flush_u32(u32 v) { return v & 0x7f800000u ? v : v & 0x80000000u; }
static inline u64 flush_u64(u64 v) { return v & 0x7ffull << 52 ? v : v & 1ull << 63; }

HD_CLONES static void flush_row_f16(u16 *d, const u16 *a) { HD_LANE_LOOP d[i] = flush_f16(a[i]); }
HD_CLONES static void flush_row_bf16(u16 *d, const u16 *a) { HD_LANE_LOOP d[i] = flush_bf16(a[i]); }
HD_CLONES static void flush_row_u32(u32 *d, const u32 *a) { HD_LANE_LOOP d[i] = flush_u32(a[i]); }
HD_CLONES static void flush_row_u64(u64 *d, const u64 *a) { HD_LANE_LOOP d[i] = flush_u64(a[i]); }

void hd_flush_row(void *d, const void *a, hd_type type)
{
    if (type == HD_TYPE_F32)
        flush_row_u32(d, a);
    else if (type == HD_TYPE_F64)
        flush_row_u64(d, a);
    else if (type == HD_TYPE_F16)
        flush_row_f16(d, a);
    else
        flush_row_bf16(d, a);
}

/* Smallest normal numbers, which are also the step of an exponent. */
enum { LEAST_F16 = 1 << 10, LEAST_F32 = 1 << 23, SIGN_F16 = 1 << 15 };
#define SIGN_F32 0x80000000u

#define LEAST_ROW(type, LEAST, SIGN)                                                         \
    HD_CLONES static bool has_smallest_##type(const type *a)                                 \
    {                                                                                        \
        u32 found = 0;                                                                       \
        HD_LANE_LOOP found |= (a[i] & ~(u32)SIGN) == LEAST;                                  \
        return found;                                                                        \
    }                                                                                        \
    HD_CLONES static void double_##type(type *d, const type *a)                              \
    {                                                                                        \
        HD_LANE_LOOP d[i] = (type)((a[i] & ~(u32)SIGN) < LEAST ? a[i] : a[i] + LEAST);       \
    }                                                                                        \
    HD_CLONES static void flush_rounded_##type(type *d, const type *twice)                   \
    {                                                                                        \
        HD_LANE_LOOP                                                                         \
        {                                                                                    \
            bool less = (d[i] & ~(u32)SIGN) == LEAST && (twice[i] & ~(u32)SIGN) < 2 * LEAST; \
            d[i] = (type)(less ? d[i] & SIGN : d[i]);                                        \
        }                                                                                    \
    }
LEAST_ROW(u16, LEAST_F16, SIGN_F16)
LEAST_ROW(u32, LEAST_F32, SIGN_F32)

bool hd_has_smallest(const void *row, hd_type type)
{
    return type == HD_TYPE_F32 ? has_smallest_u32(row) : has_smallest_u16(row);
}

void hd_double_row(void *d, const void *a, hd_type type)
{
    if (type == HD_TYPE_F32)
        double_u32(d, a);
    else
        double_u16(d, a);
}

void hd_flush_rounded_row(void *d, const void *twice, hd_type type)
{
    if (type == HD_TYPE_F32)
        flush_rounded_u32(d, twice);
    else
        flush_rounded_u16(d, twice);
}

/* -0 becomes +0, NaN becomes +0. */
HD_CLONES static void saturate_f32(f32 *d, const f32 *a)
{
    HD_LANE_LOOP d[i] = a[i] > 0 ? a[i] < 1 ? a[i] : 1.0f : 0.0f;
}
HD_CLONES static void saturate_f64(f64 *d, const f64 *a) { HD_LANE_LOOP d[i] = a[i] > 0 ? a[i] < 1 ? a[i] : 1.0 : 0.0; }
/* The bits of positive values are ordered like the values; what is above infinity is NaN or negative. */
HD_CLONES static void saturate_f16(u16 *d, const u16 *a)
{
    HD_LANE_LOOP d[i] = a[i] <= F16_INFINITY ? a[i] < 0x3c00 ? a[i] : 0x3c00 : 0;
}
HD_CLONES static void saturate_bf16(u16 *d, const u16 *a)
{
    HD_LANE_LOOP d[i] = a[i] <= BF16_INFINITY ? a[i] < 0x3f80 ? a[i] : 0x3f80 : 0;
}

void hd_saturate_row(void *d, const void *a, hd_type type)
{
    if (type == HD_TYPE_F32)
        saturate_f32(d, a);
    else if (type == HD_TYPE_F64)
        saturate_f64(d, a);
    else if (type == HD_TYPE_F16)
        saturate_f16(d, a);
    else
        saturate_bf16(d, a);
}

HD_CLONES static void widen_row_f16(f32 *d, const u16 *a) { HD_LANE_LOOP d[i] = widen_f16(a[i]); }
HD_CLONES static void widen_row_bf16(f32 *d, const u16 *a) { HD_LANE_LOOP d[i] = widen_bf16(a[i]); }

void hd_widen_row(void *d, const void *a, hd_type type)
{
    if (type == HD_TYPE_F16)
        widen_row_f16(d, a);
    else
        widen_row_bf16(d, a);
}

HD_CLONES void hd_spread_row(uint32_t *d, uint32_t low, uint32_t high, uint32_t one)
{
    HD_LANE_LOOP d[i] = (low >> i & 1 ? one : 0) | (high >> i & 1 ? one << 16 : 0);
}

/* Seven selections: c selects among pairs of the table's bits, b among the results, a among those. */
HD_CLONES static void logic_row(u32 *d, const u32 *ra, const u32 *rb, const u32 *rc, const u32 *bits)
{
    u32 t0 = bits[0], t1 = bits[1], t2 = bits[2], t3 = bits[3], t4 = bits[4], t5 = bits[5], t6 = bits[6], t7 = bits[7];
    HD_LANE_LOOP
    {
        u32 a = ra[i], b = rb[i], c = rc[i];
        u32 c0 = t0 ^ (c & t1), c1 = t2 ^ (c & t3), c2 = t4 ^ (c & t5), c3 = t6 ^ (c & t7);
        u32 b0 = c0 ^ (b & (c0 ^ c1)), b1 = c2 ^ (b & (c2 ^ c3));
        d[i] = b0 ^ (a & (b0 ^ b1));
    }
}

void hd_logic_row(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t table)
{
    u32 bits[8];
    for (u32 k = 0; k < 8; k += 2) { /* the bit for c = 0, and what c = 1 flips */
        bits[k] = 0u - (table >> k & 1);
        bits[k + 1] = 0u - ((table >> k ^ table >> (k + 1)) & 1);
    }
    logic_row(d, a, b, c, bits);
}

#define INSERT(T, width)                                                                                         \
    HD_CLONES static void insert_##T(T *d, const T *from, const T *into, const u32 *position, const u32 *length) \
    {                                                                                                            \
        HD_LANE_LOOP                                                                                             \
        {                                                                                                        \
            const u32 kept = HD_FIELD_ARGUMENT(width);                                                           \
            T at = position[i] & kept, count = length[i] & kept, ones = (T) ~(T)0;                               \
            T field = count < width ? (T)(((T)1 << (count & (width - 1))) - 1) : ones, near = at & (width - 1);  \
            field = at < width ? (T)(field << near) : 0;                                                         \
            d[i] = (into[i] & ~field) | ((T)(from[i] << near) & field);                                          \
        }                                                                                                        \
    }
INSERT(u32, 32)
INSERT(u64, 64)

void hd_insert_row(void *d, const void *from, const void *into, const uint32_t *position, const uint32_t *length,
                   uint32_t bytes)
{
    if (bytes == 4)
        insert_u32(d, from, into, position, length);
    else
        insert_u64(d, from, into, position, length);
}

/* A field of the value, extended by its sign where `sign` is its highest bit, not zero. */
static inline u32 field(u32 v, u32 from, u32 ones, u32 sign) { return ((v >> from & ones) ^ sign) - sign; }

HD_CLONES static void dot_bytes(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 a_sign, u32 b_sign)
{
    HD_LANE_LOOP
    {
        u32 x = a[i], y = b[i];
        d[i] = c[i] + field(x, 0, 255, a_sign) * field(y, 0, 255, b_sign) +
               field(x, 8, 255, a_sign) * field(y, 8, 255, b_sign) +
               field(x, 16, 255, a_sign) * field(y, 16, 255, b_sign) +
               field(x, 24, 255, a_sign) * field(y, 24, 255, b_sign);
    }
}
HD_CLONES static void dot_halves(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 from, u32 a_sign, u32 b_sign)
{
    HD_LANE_LOOP
    {
        u32 x = a[i], y = b[i] >> from;
        d[i] = c[i] + field(x, 0, 0xffff, a_sign) * field(y, 0, 255, b_sign) +
               field(x, 16, 0xffff, a_sign) * field(y, 8, 255, b_sign);
    }
}

void hd_dot_row(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t part_bytes,
                uint32_t from, bool a_signed, bool b_signed)
{
    u32 a_sign = !a_signed ? 0 : part_bytes == 1 ? 0x80 : 0x8000, b_sign = b_signed ? 0x80 : 0;
    if (part_bytes == 1)
        dot_bytes(d, a, b, c, a_sign, b_sign);
    else
        dot_halves(d, a, b, c, from, a_sign, b_sign);
}

/* ---- sums with a carry ------------------------------------------------------------------------------------------- */

/* `in` and the result: one bit per lane. */
#define CARRY(T)                                                                     \
    HD_CLONES static u32 add_carry_##T(T *d, const T *ra, const T *rb, u32 in)       \
    {                                                                                \
        u32 out = 0;                                                                 \
        for (u32 i = 0; i < LANES; i++) {                                            \
            T a = ra[i], sum = a + rb[i], all = sum + (in >> i & 1);                 \
            d[i] = all;                                                              \
            out |= (u32)((sum < a) | (all < sum)) << i;                              \
        }                                                                            \
        return out;                                                                  \
    }                                                                                \
    HD_CLONES static u32 subtract_borrow_##T(T *d, const T *ra, const T *rb, u32 in) \
    {                                                                                \
        u32 out = 0;                                                                 \
        for (u32 i = 0; i < LANES; i++) {                                            \
            T a = ra[i], rest = a - rb[i], all = rest - (in >> i & 1);               \
            d[i] = all;                                                              \
            out |= (u32)((rest > a) | (all > rest)) << i;                            \
        }                                                                            \
        return out;                                                                  \
    }
CARRY(u32)
CARRY(u64)

uint32_t hd_carry_row(void *d, const void *a, const void *b, uint32_t in, bool subtract, uint32_t bytes)
{
    if (bytes == 4)
        return subtract ? subtract_borrow_u32(d, a, b, in) : add_carry_u32(d, a, b, in);
    return subtract ? subtract_borrow_u64(d, a, b, in) : add_carry_u64(d, a, b, in);
}
