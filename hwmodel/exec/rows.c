/* Rows as such: merging under a mask, other widths, flushing of subnormals, saturation. */
#ifdef __GNUC__
#ifndef __clang__
#pragma GCC optimize("O3")
#endif
#endif
#include "hwmodel/exec/lanes.h"
#include "hwmodel/exec/scalar.h"

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
    case 1:
        merge_u8(d, from, mask);
        break;
    case 2:
        merge_u16(d, from, mask);
        break;
    case 4:
        merge_u32(d, from, mask);
        break;
    case 8:
        merge_u64(d, from, mask);
        break;
    default:
        merge_u64(d, from, mask);
        merge_u64((u64 *)d + LANES, (const u64 *)from + LANES, mask);
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

static inline u32 flush_u32(u32 v) { return v & 0x7f800000u ? v : v & 0x80000000u; }
static inline u64 flush_u64(u64 v) { return v & 0x7ffull << 52 ? v : v & 1ull << 63; }

HD_CLONES static void flush_row_u32(u32 *d, const u32 *a) { HD_LANE_LOOP d[i] = flush_u32(a[i]); }
HD_CLONES static void flush_row_u64(u64 *d, const u64 *a) { HD_LANE_LOOP d[i] = flush_u64(a[i]); }

void hd_flush_row(void *d, const void *a, uint32_t float_bytes)
{
    if (float_bytes == 4)
        flush_row_u32(d, a);
    else
        flush_row_u64(d, a);
}

/* -0 becomes +0, NaN becomes +0. */
HD_CLONES static void saturate_f32(f32 *d, const f32 *a)
{
    HD_LANE_LOOP d[i] = a[i] > 0 ? a[i] < 1 ? a[i] : 1.0f : 0.0f;
}
HD_CLONES static void saturate_f64(f64 *d, const f64 *a) { HD_LANE_LOOP d[i] = a[i] > 0 ? a[i] < 1 ? a[i] : 1.0 : 0.0; }

void hd_saturate_row(void *d, const void *a, uint32_t float_bytes)
{
    if (float_bytes == 4)
        saturate_f32(d, a);
    else
        saturate_f64(d, a);
}
