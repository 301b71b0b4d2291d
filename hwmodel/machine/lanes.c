/* The functions of lanes.def. */
#ifdef __GNUC__
#ifndef __clang__
#pragma GCC optimize("O3")
#endif
#endif
#include "hwmodel/exec/ops/lanes.h"
#include "hwmodel/exec/ops/scalar_approx.h"
#include "hwmodel/exec/ops/scalar_half.h"
#include "hwmodel/machine/decoder.h"

static inline u32 clamped(u32 amount, u32 most) { return amount < most ? amount : most; }
static inline u32 least_u(u32 a, u32 b, u32 c)
{
    u32 least = a < b ? a : b;
    return least < c ? least : c;
}
static inline u32 most_u(u32 a, u32 b, u32 c)
{
    u32 most = a > b ? a : b;
    return most > c ? most : c;
}
static inline s32 least_s(s32 a, s32 b, s32 c)
{
    s32 least = a < b ? a : b;
    return least < c ? least : c;
}
static inline s32 most_s(s32 a, s32 b, s32 c)
{
    s32 most = a > b ? a : b;
    return most > c ? most : c;
}
static inline s32 positive(s32 a) { return a > 0 ? a : 0; }
/* The upper half of a double, of which subnormal ones are zero. */
static inline u32 flushed_high(u64 high) { return high & 0x7ff00000 ? (u32)high : (u32)high & 0x80000000u; }
static inline u32 nearest(s32 a, s32 least, s32 most) { return (u32)(a < least ? least : a > most ? most : a); }
static inline u32 difference_u8(u32 a, u32 b)
{
    a &= 255;
    b &= 255;
    return a > b ? a - b : b - a;
}
static inline u32 byte_of(f32 v, f32 least, f32 most)
{
    f32 whole = v != v ? 0 : rintf(v);
    return (u32)(s32)(whole < least ? least : whole > most ? most : whole) & 255;
}
enum { MINIMUM_OF_BYTES, MAXIMUM_OF_BYTES, SUM_OF_BYTES, DIFFERENCE_OF_BYTES };
static inline u32 each_byte(u32 a, u32 b, u32 operation, bool is_signed)
{
    u32 result = 0;
    for (u32 at = 0; at < 32; at += 8) {
        s32 x = (s32)(a >> at & 255), y = (s32)(b >> at & 255), flip = is_signed ? 128 : 0;
        bool less = (x ^ flip) < (y ^ flip);
        s32 value = operation == MINIMUM_OF_BYTES   ? less ? x : y
                    : operation == MAXIMUM_OF_BYTES ? less ? y : x
                    : operation == SUM_OF_BYTES     ? x + y
                                                    : x - y;
        result |= ((u32)value & 255) << at;
    }
    return result;
}
static inline u64 shift_left(u32 low, u32 high, u32 n)
{
    u64 v = (u64)high << 32 | low;
    return n > 63 ? 0 : v << (n & 63);
}
static inline u64 shift_right(u32 low, u32 high, u32 n)
{
    u64 v = (u64)high << 32 | low;
    return n > 63 ? 0 : v >> (n & 63);
}
static inline s64 shift_right_signed(u32 low, u32 high, u32 n)
{
    s64 v = (s64)((u64)high << 32 | low);
    return v >> (n > 63 ? 63 : n);
}

#define HD_MACHINE_LANES1(name, D, A, expression) HD_LANES_LOOP1(hd_machine_##name, D, A, expression)
#define HD_MACHINE_LANES2(name, D, A, B, expression) HD_LANES_LOOP2(hd_machine_##name, D, A, B, expression)
#define HD_MACHINE_LANES3(name, D, A, B, C, expression) HD_LANES_LOOP3(hd_machine_##name, D, A, B, C, expression)

#include "hwmodel/machine/lanes.def"
