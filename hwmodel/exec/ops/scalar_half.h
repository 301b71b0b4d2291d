/* f16 and bf16 operations on the value of one lane, used by the rows of exec.def. A value is its 16 bits.
 *
 * Every result is rounded once. If a wider format holds the exact result, or has more than twice the digits plus two
 * (so that double rounding is harmless), the operation is performed there: f32 for sums and products of both types,
 * double for f16's fma. A bf16 fma may exceed a double: its sum is rounded to odd, which preserves what the second
 * rounding needs. NaN results are 0x7fff. Everything is branch-free, so that the compiler vectorizes it; the host must
 * round to nearest. */
#ifndef HD_HWMODEL_EXEC_OPS_SCALAR_HALF_H
#define HD_HWMODEL_EXEC_OPS_SCALAR_HALF_H

#include "hwmodel/exec/ops/scalar.h"

enum { HALF_NAN = 0x7fff, F16_INFINITY = 0x7c00, BF16_INFINITY = 0x7f80 };
enum { HALF_ZERO, HALF_DOWN, HALF_UP }; /* rounding modes other than to nearest */

/* ---- from and to wider formats ----------------------------------------------------------------------------------- */

static inline f32 widen_f16(u16 h)
{
    u32 magnitude = (u32)(h & 0x7fff) << 13, exponent = h & 0x7c00u, sign = (u32)(h & 0x8000) << 16;
    f32 subnormal = (f32)(s32)(h & 0x3ff) * 0x1p-24f;
    u32 bits = magnitude + (112u << 23);
    bits = exponent ? bits : bits_f32(subnormal);
    bits = exponent == F16_INFINITY ? magnitude | 0x7f800000u : bits;
    return value_f32(bits | sign);
}
static inline f32 widen_bf16(u16 h) { return value_f32((u32)h << 16); }

static inline u16 narrow_f16(f32 v)
{
    u32 bits = bits_f32(v), magnitude = bits & 0x7fffffffu;
    u32 normal = ((magnitude + 0xfff + (magnitude >> 13 & 1)) >> 13) - (112u << 10);
    u32 subnormal = bits_f32(value_f32(magnitude) + 0.5f) - 0x3f000000u; /* a unit of 0.5f is one of f16's subnormals */
    u32 out = magnitude < 0x38800000u ? subnormal : normal;
    out = magnitude >= 0x477ff000u ? F16_INFINITY : out;
    out |= bits >> 16 & 0x8000;
    return (u16)(magnitude > 0x7f800000u ? HALF_NAN : out);
}
static inline u16 narrow_bf16(f32 v)
{
    u32 bits = bits_f32(v);
    u32 out = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (u16)((bits & 0x7fffffffu) > 0x7f800000u ? HALF_NAN : out);
}

/* A double, zero or at least 2^-1000, as bf16 toward zero, minus or plus infinity. */
static inline u16 directed_bf16(f64 v, int rounding)
{
    u64 bits = bits_f64(v), magnitude = bits & ~(1ull << 63), sign = bits >> 63;
    s64 exponent = (s64)(magnitude >> 52) - 1023 + 127;
    u64 significand = magnitude ? (magnitude & 0xfffffffffffffull) | 1ull << 52 : 0;
    s64 drop = 52 - 7 + (exponent < 1 ? 1 - exponent : 0);
    drop = drop > 63 ? 63 : drop;
    u64 kept = significand >> drop, rest = significand & ((1ull << drop) - 1);
    bool outward = (rounding == HALF_DOWN && sign) || (rounding == HALF_UP && !sign);
    /* a normal value's leading bit adds one to the exponent; a carry out of the fraction moves up by itself */
    u64 out = ((u64)(exponent > 1 ? exponent - 1 : 0) << 7) + kept + (outward && rest);
    bool infinite = outward || magnitude == 0x7ffull << 52;
    out = out < BF16_INFINITY ? out : infinite ? BF16_INFINITY : BF16_INFINITY - 1;
    out |= sign << 15;
    return (u16)(magnitude > 0x7ffull << 52 ? HALF_NAN : out);
}

/* ---- arithmetic -------------------------------------------------------------------------------------------------- */

static inline u16 add_f16(u16 a, u16 b) { return narrow_f16(widen_f16(a) + widen_f16(b)); }
static inline u16 sub_f16(u16 a, u16 b) { return narrow_f16(widen_f16(a) - widen_f16(b)); }
static inline u16 mul_f16(u16 a, u16 b) { return narrow_f16(widen_f16(a) * widen_f16(b)); }
static inline u16 add_bf16(u16 a, u16 b) { return narrow_bf16(widen_bf16(a) + widen_bf16(b)); }
static inline u16 sub_bf16(u16 a, u16 b) { return narrow_bf16(widen_bf16(a) - widen_bf16(b)); }
static inline u16 mul_bf16(u16 a, u16 b) { return narrow_bf16(widen_bf16(a) * widen_bf16(b)); }

/* A double as f32, rounded to odd: if inexact, the neighbour with an odd last bit. */
static inline f32 f32_to_odd(f64 v)
{
    f32 near = (f32)v;
    f64 error = v - (f64)near; /* exact */
    bool inexact = (error < 0) | (error > 0), outward = (error > 0) == (v > 0);
    u32 bits = bits_f32(near), even = inexact ? ~bits & 1 : 0;
    return value_f32(outward ? bits + even : bits - even);
}

/* The product has 22 bits. If the sum has more than 53, either c alone gives the same result (the product is far below
 * its last bit), or the result overflows: the double's rounding changes nothing. */
static inline u16 fma_f16(u16 a, u16 b, u16 c)
{
    f64 product = (f64)widen_f16(a) * (f64)widen_f16(b);
    return narrow_f16(f32_to_odd(product + (f64)widen_f16(c)));
}

/* a + b; if inexact with an even last bit, moved to the odd neighbour on the exact value's side. The error of the sum
 * is computed exactly (the two-sum of Knuth and Moller). */
static inline f64 sum_to_odd(f64 a, f64 b)
{
    f64 sum = a + b, part = sum - a, error = (a - (sum - part)) + (b - part);
    u64 bits = bits_f64(sum);
    bool inexact = (error < 0) | (error > 0), outward = (error > 0) == (sum > 0);
    u64 even = inexact ? ~bits & 1 : 0;
    return value_f64(outward ? bits + even : bits - even);
}
static inline u16 fma_bf16(u16 a, u16 b, u16 c)
{
    f64 product = (f64)widen_bf16(a) * (f64)widen_bf16(b);
    return narrow_bf16(f32_to_odd(sum_to_odd(product, (f64)widen_bf16(c))));
}
static inline u16 fma_bf16_directed(u16 a, u16 b, u16 c, int rounding)
{
    f64 product = (f64)widen_bf16(a) * (f64)widen_bf16(b), addend = (f64)widen_bf16(c);
    f64 sum = sum_to_odd(product, addend);
    u64 signs = (bits_f64(product) | bits_f64(addend)) & 1ull << 63;
    /* downward, a sum that is zero is -0 unless both parts are +0 */
    sum = rounding == HALF_DOWN && bits_f64(sum) << 1 == 0 ? value_f64(signs) : sum;
    return directed_bf16(sum, rounding);
}

static inline u16 relu_half(u16 v) { return v & 0x8000 ? 0 : v; } /* a NaN result has no sign */

/* ---- min and max ------------------------------------------------------------------------------------------------- */

static inline bool is_nan_half(u16 v, u16 infinity) { return (v & 0x7fff) > infinity; }
static inline u16 canonical_half(u16 v, u16 infinity) { return is_nan_half(v, infinity) ? HALF_NAN : v; }
/* Integers in the order of the values; -0 is below +0. */
static inline u16 order_half(u16 v) { return (u16)(v & 0x8000 ? ~v : v | 0x8000); }
static inline u16 smaller_half(u16 a, u16 b, u16 infinity)
{
    bool first = order_half(a) < order_half(b);
    u16 out = (first && !is_nan_half(a, infinity)) || is_nan_half(b, infinity) ? a : b;
    return canonical_half(out, infinity);
}
static inline u16 larger_half(u16 a, u16 b, u16 infinity)
{
    bool first = order_half(a) > order_half(b);
    u16 out = (first && !is_nan_half(a, infinity)) || is_nan_half(b, infinity) ? a : b;
    return canonical_half(out, infinity);
}
/* .NaN: where one is NaN, so is the result. */
static inline u16 strict_half(u16 v, u16 a, u16 b, u16 infinity)
{
    return is_nan_half(a, infinity) || is_nan_half(b, infinity) ? HALF_NAN : v;
}
/* .xorsign: a magnitude gets the product's sign; a NaN has none. */
static inline u16 signed_half(u16 magnitude, u16 a, u16 b)
{
    return magnitude == HALF_NAN ? magnitude : magnitude | ((a ^ b) & 0x8000);
}
static inline u16 magnitude_half(u16 v) { return v & 0x7fff; }
static inline u32 pack_halves(u16 low, u16 high) { return low | (u32)high << 16; }

#endif
