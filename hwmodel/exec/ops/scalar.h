/* Operations on the value of one lane, used by the rows of exec.def. Branch-free where this lets the compiler
 * vectorize. */
#ifndef HD_HWMODEL_EXEC_OPS_SCALAR_H
#define HD_HWMODEL_EXEC_OPS_SCALAR_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#undef NAN /* a modifier in exec.def */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* a * b + c has two roundings; gcc -std=c17 knows */
#endif

typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;

static inline s32 clamp_s32(s64 v) { return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (s32)v; }
static inline s32 relu_s32(s32 v) { return v < 0 ? 0 : v; }
static inline u64 high_u64(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }
static inline s64 high_s64(s64 a, s64 b) { return (s64)((__int128)a * b >> 64); }
static inline s32 divide_s32(s32 a, s32 b) { return b == -1 ? (s32)(0u - (u32)a) : b ? a / b : -1; }
static inline s64 divide_s64(s64 a, s64 b) { return b == -1 ? (s64)(0ull - (u64)a) : b ? a / b : -1; }
static inline u64 product24_u(u32 a, u32 b) { return (u64)(a & 0xffffff) * (b & 0xffffff); }
static inline s64 product24_s(u32 a, u32 b) { return (s64)((s32)(a << 8) >> 8) * ((s32)(b << 8) >> 8); }

static inline u32 reverse_u32(u32 v)
{
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(v);
}
static inline u64 reverse_u64(u64 v) { return (u64)reverse_u32((u32)v) << 32 | reverse_u32((u32)(v >> 32)); }

/* Position of the highest one, or all ones if there is none. */
static inline u32 find_bit(u64 v, u32 top) { return (void)top, v ? 63u - (u32)__builtin_clzll(v) : 0xffffffffu; }
static inline u32 find_shift(u64 v, u32 top) { return v ? top - find_bit(v, top) : 0xffffffffu; }

/* bfe: `length` bits from `position`; bits beyond the width are zero, or the sign: that of the field's highest bit, or
 * of the value if the field extends beyond it. Both arguments are taken modulo 256 as the ISA has it, but not for 64
 * bits: that is what ptxas makes of it (measured on an H100, CUDA 13.0). */
#define HD_FIELD_ARGUMENT(width) ((width) == 64 ? 0xffffffffu : 255u)
#define HD_EXTRACT(U, S, width)                                                         \
    static inline U extract_##U(U v, u32 position, u32 length)                          \
    {                                                                                   \
        position &= HD_FIELD_ARGUMENT(width);                                           \
        length &= HD_FIELD_ARGUMENT(width);                                             \
        U field = position < width ? v >> (position & (width - 1)) : 0;                 \
        return length < width ? field & (((U)1 << (length & (width - 1))) - 1) : field; \
    }                                                                                   \
    static inline U extract_##S(S v, u32 position, u32 length)                          \
    {                                                                                   \
        position &= HD_FIELD_ARGUMENT(width);                                           \
        length &= HD_FIELD_ARGUMENT(width);                                             \
        U field = (U)(v >> (position < width ? position : width - 1));                  \
        u32 unused = length < width ? width - length : 0;                               \
        field = (U)((S)(field << (unused & (width - 1))) >> (unused & (width - 1)));    \
        return length ? field : 0;                                                      \
    }
HD_EXTRACT(u32, s32, 32)
HD_EXTRACT(u64, s64, 64)
#undef HD_EXTRACT

/* bmsk: `length` ones from `position` up. */
static inline u32 mask_u32(u32 position, u32 length, bool wrap)
{
    if (wrap) {
        position &= 31;
        length &= 31;
    }
    if (position > 31)
        return 0;
    u32 ones = length > 31 ? 0xffffffffu : (1u << length) - 1;
    return ones << position;
}
/* The low `bits` bits of v, sign-extended; of no bits, zero. */
static inline u32 extend_s32(u32 v, u32 bits) { return bits ? (u32)((s32)(v << (32 - bits)) >> (32 - bits)) : 0; }

static inline u32 funnel_left(u32 low, u32 high, u32 n)
{
    return n > 31 ? low : n ? high << n | low >> (32 - n) : high;
}
static inline u32 funnel_right(u32 low, u32 high, u32 n)
{
    return n > 31 ? high : n ? high << (32 - n) | low >> n : low;
}

/* prmt: four selectors of four bits; bit 3 of one replicates the byte's sign. */
static inline u32 permute(u32 a, u32 b, u32 selectors)
{
    u32 out = 0;
    for (u32 i = 0; i < 4; i++) {
        u32 s = selectors >> (4 * i), byte = (s & 4 ? b : a) >> (8 * (s & 3)) & 255;
        u32 sign = byte & 128 ? 255 : 0;
        out |= (s & 8 ? sign : byte) << (8 * i);
    }
    return out;
}
static inline u32 permute_backward(u32 a, u32 b, u32 c)
{
    static const u16 selectors[4] = {0x5670, 0x6701, 0x7012, 0x0123};
    return permute(a, b, selectors[c & 3]);
}
static inline u32 permute_edge(u32 a, u32 b, u32 c, bool left)
{
    static const u16 to_left[4] = {0x3210, 0x3211, 0x3222, 0x3333}, to_right[4] = {0x0000, 0x1110, 0x2210, 0x3210};
    return permute(a, b, left ? to_left[c & 3] : to_right[c & 3]);
}

/* The bits of a value, and back. */
static inline u32 bits_f32(f32 v)
{
    u32 b;
    memcpy(&b, &v, 4);
    return b;
}
static inline u64 bits_f64(f64 v)
{
    u64 b;
    memcpy(&b, &v, 8);
    return b;
}
static inline f32 value_f32(u32 b)
{
    f32 v;
    memcpy(&v, &b, 4);
    return v;
}
static inline f64 value_f64(u64 b)
{
    f64 v;
    memcpy(&v, &b, 8);
    return v;
}

/* NaN results of single precision are always 0x7fffffff. */
static inline f32 canonical(f32 v) { return value_f32(v != v ? 0x7fffffffu : bits_f32(v)); }

/* NaN results of double precision are the first NaN among the sources, quieted; if there is none, this one. The host's
 * choice would depend on its registers. */
#define HD_NAN_F64 0xfff8000000000000ull
static inline f64 quiet1(f64 v, f64 a)
{
    return value_f64(v == v ? bits_f64(v) : a != a ? bits_f64(a) | 1ull << 51 : HD_NAN_F64);
}
static inline f64 quiet2(f64 v, f64 a, f64 b)
{
    return value_f64(v == v   ? bits_f64(v)
                     : a != a ? bits_f64(a) | 1ull << 51
                     : b != b ? bits_f64(b) | 1ull << 51
                              : HD_NAN_F64);
}
static inline f64 quiet3(f64 v, f64 a, f64 b, f64 c)
{
    return value_f64(v == v   ? bits_f64(v)
                     : a != a ? bits_f64(a) | 1ull << 51
                     : b != b ? bits_f64(b) | 1ull << 51
                     : c != c ? bits_f64(c) | 1ull << 51
                              : HD_NAN_F64);
}

/* min and max: -0 is below +0; if one input is NaN the result is the other. */
static inline f32 smaller_f32(f32 a, f32 b)
{
    bool first = a < b || (a == b && bits_f32(a) >> 31) || b != b;
    return first ? a : b;
}
static inline f32 larger_f32(f32 a, f32 b)
{
    bool first = a > b || (a == b && !(bits_f32(a) >> 31)) || b != b;
    return first ? a : b;
}
static inline f64 smaller_f64(f64 a, f64 b)
{
    bool first = a < b || (a == b && bits_f64(a) >> 63) || b != b;
    return first ? a : b;
}
static inline f64 larger_f64(f64 a, f64 b)
{
    bool first = a > b || (a == b && !(bits_f64(a) >> 63)) || b != b;
    return first ? a : b;
}
/* .NaN: where one is NaN, so is the result. */
static inline f32 strict_f32(f32 v, f32 a, f32 b) { return a != a || b != b ? a + b : v; }
static inline f32 strict3_f32(f32 v, f32 a, f32 b, f32 c) { return a != a || b != b || c != c ? a + b + c : v; }
/* .xorsign: a magnitude gets the product's sign; a NaN has none. */
static inline f32 signed_f32(f32 v, f32 a, f32 b)
{
    return v != v ? v : value_f32(bits_f32(v) | ((bits_f32(a) ^ bits_f32(b)) & 0x80000000u));
}

/* div.approx is a times 1 / b; the reciprocal of a divisor above 2^126 underflows. */
static inline f32 divide_roughly(f32 a, f32 b)
{
    bool lost = fabsf(b) > 0x1p126f && fabsf(b) <= 0x1.fffffep127f;
    f32 zero = value_f32(bits_f32(b) & 0x80000000u);
    return lost ? a * zero : a / b; /* infinity times zero: NaN */
}

/* rcp and rsqrt.approx.ftz.f64: of the upper half of the source, to the upper half of the result. */
static inline f64 upper_half(f64 v) { return value_f64(bits_f64(v) & ~0xffffffffull); }
static inline f64 rough_result(f64 v) { return value_f64(v != v ? 0x7fffffff00000000ull : bits_f64(upper_half(v))); }

/* fns: the bit that is the offset-th one at or above (offset < 0: at or below) the base; 0: the base itself. */
static inline u32 find_nth(u32 mask, u32 base, s32 offset)
{
    s32 step = offset < 0 ? -1 : 1;
    u32 left = offset < 0 ? 0u - (u32)offset : (u32)offset, position = base;
    if (!offset)
        return base < 32 && mask >> base & 1 ? base : 0xffffffffu;
    for (; position < 32; position += (u32)step)
        if (mask >> position & 1 && !--left)
            return position;
    return 0xffffffffu;
}

#endif
