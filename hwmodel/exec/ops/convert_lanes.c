/* Loops over whole rows for frequent conversions: between integers of all widths, integers and f32, f64, f16 and bf16
 * to and from f32, f32 to tf32, packing of two f32. Bit for bit the same as convert.c, which handles everything else.
 *
 * The 16-bit formats are converted with integer arithmetic that the compiler vectorizes; see the comments there. The
 * host must round to nearest. */
#ifdef __GNUC__
#ifndef __clang__
#pragma GCC optimize("O3")
#endif
#endif
#include "hwmodel/exec/ops/convert.h"
#include "hwmodel/exec/ops/lanes.h"
#include "hwmodel/exec/ops/scalar.h"

#define LOOP(name, D, A, expression) static HD_LANES_LOOP1(name, D, A, expression)
#define LOOP2(name, D, A, expression) static HD_LANES_LOOP2(name, D, A, A, expression)

static inline u32 flushed(u32 v) { return v & 0x7f800000u ? v : v & 0x80000000u; }
static inline f32 float_of(u32 bits)
{
    f32 v;
    memcpy(&v, &bits, 4);
    return v;
}

static inline u32 either(bool condition, u32 a, u32 b)
{
    u32 mask = 0 - (u32)condition;
    return (a & mask) | (b & ~mask);
}

/* ---- integers to integers ---------------------------------------------------------------------------------------- */

/* Registers of type A to registers of type D, via type X: the narrower of the instruction's two types. */
#define THROUGH(D, A, X) LOOP(D##_of_##A##_as_##X, D, A, (X)a)
#define TO_U16(A) THROUGH(u16, A, u8) THROUGH(u16, A, s8) THROUGH(u16, A, u16)
#define TO_U32(A) THROUGH(u32, A, u8) THROUGH(u32, A, s8) THROUGH(u32, A, u16) THROUGH(u32, A, s16) THROUGH(u32, A, u32)
#define TO_U64(A) TO_U32_64(A) THROUGH(u64, A, u32) THROUGH(u64, A, s32) THROUGH(u64, A, u64)
#define TO_U32_64(A) THROUGH(u64, A, u8) THROUGH(u64, A, s8) THROUGH(u64, A, u16) THROUGH(u64, A, s16)
#define TO_ALL(A) TO_U16(A) TO_U32(A) TO_U64(A)
TO_ALL(u16)
TO_ALL(u32)
TO_ALL(u64)

/* Clamped to 8 and 16 bits. */
#define CLAMP(to, A, low, high)                                                           \
    LOOP(u16_of_##A##_sat_##to, u16, A, a<(A)(low) ? (A)(low) : a>(high) ? (A)(high) : a) \
    LOOP(u32_of_##A##_sat_##to, u32, A, a<(A)(low) ? (A)(low) : a>(high) ? (A)(high) : a)
CLAMP(u8, s32, 0, 255)
CLAMP(s8, s32, -128, 127)
CLAMP(u16, s32, 0, 65535)
CLAMP(s16, s32, -32768, 32767)

/* By the width of D, that of A, and X in the order u8 s8 u16 s16 u32 s32 u64 s64. */
#define ROW_U16(A)                                                                       \
    {                                                                                    \
        u16_of_##A##_as_u8, u16_of_##A##_as_s8, u16_of_##A##_as_u16, u16_of_##A##_as_u16 \
    }
#define ROW_U32(A)                                                                                             \
    {                                                                                                          \
        u32_of_##A##_as_u8, u32_of_##A##_as_s8, u32_of_##A##_as_u16, u32_of_##A##_as_s16, u32_of_##A##_as_u32, \
            u32_of_##A##_as_u32                                                                                \
    }
#define ROW_U64(A)                                                                                             \
    {                                                                                                          \
        u64_of_##A##_as_u8, u64_of_##A##_as_s8, u64_of_##A##_as_u16, u64_of_##A##_as_s16, u64_of_##A##_as_u32, \
            u64_of_##A##_as_s32, u64_of_##A##_as_u64, u64_of_##A##_as_u64                                      \
    }
static hd_lanes *const integer_loops[3][3][8] = {
    {ROW_U16(u16), ROW_U16(u32), ROW_U16(u64)},
    {ROW_U32(u16), ROW_U32(u32), ROW_U32(u64)},
    {ROW_U64(u16), ROW_U64(u32), ROW_U64(u64)},
};

static uint32_t width_index(uint32_t bits) { return (uint32_t)__builtin_ctz(bits) - 4; }

/* By the width of D, the width of the type that values are clamped to, and its sign: from s32. */
static hd_lanes *const clamping_loops[2][2][2] = {
    {{u16_of_s32_sat_u8, u16_of_s32_sat_s8}, {u16_of_s32_sat_u16, u16_of_s32_sat_s16}},
    {{u32_of_s32_sat_u8, u32_of_s32_sat_s8}, {u32_of_s32_sat_u16, u32_of_s32_sat_s16}},
};

static hd_lanes *integer_loop(const hd_conversion *c, uint32_t d_bytes, uint32_t a_bytes)
{
    const hd_format *to = &c->to, *from = &c->from, *narrow = to->bits <= from->bits ? to : from;
    if (c->sat && from->bits == 32 && from->fraction_bits && a_bytes == 4 && to->bits <= 16 && d_bytes <= 4)
        return clamping_loops[d_bytes / 4][to->bits / 16][to->fraction_bits != 0];
    /* a negative value in an unsigned type narrower than its register would need two extensions */
    if (c->sat || (narrow == from && from->fraction_bits && !to->fraction_bits && to->bits < d_bytes * 8))
        return NULL;
    uint32_t through = 2 * ((uint32_t)__builtin_ctz(narrow->bits) - 3) + (narrow->fraction_bits != 0);
    return integer_loops[width_index(d_bytes * 8)][width_index(a_bytes * 8)][through];
}

/* ---- integers and floats ----------------------------------------------------------------------------------------- */

LOOP(f32_of_s32, f32, s32, (f32)a)
LOOP(f32_of_u32, f32, u32, (f32)a)
LOOP(f32_of_s64, f32, s64, (f32)a)
LOOP(f32_of_u64, f32, u64, (f32)a)
LOOP(f32_of_s16, f32, s16, (f32)a)
LOOP(f32_of_u16, f32, u16, (f32)a)
LOOP(f32_of_s8, f32, s16, (f32)(s8)a)
LOOP(f32_of_u8, f32, u16, (f32)(u8)a)
LOOP(f64_of_s32, f64, s32, (f64)a)
LOOP(f64_of_u32, f64, u32, (f64)a)
LOOP(f64_of_s64, f64, s64, (f64)a)
LOOP(f64_of_u64, f64, u64, (f64)a)

/* A NaN keeps its payload. */
static inline f64 quieted(f64 v)
{
    u64 bits = 0;
    memcpy(&bits, &v, 8);
    bits |= (u64)(v != v) << 51;
    memcpy(&v, &bits, 8);
    return v;
}

/* NaN is 0 between 32-bit types, else the sign bit. */
static inline s32 s32_in_range(f32 v) /* without a branch, for the vectorizer */
{
    u32 large = v >= 0x1p31f, small = v < -0x1p31f, number = v == v;
    s32 inside = (s32)float_of(bits_f32(v) & (0 - (number & ~(large | small))));
    return (s32)((u32)inside | ((0 - large) & 0x7fffffffu) | ((0 - small) & 0x80000000u));
}
static inline u32 u32_in_range(f32 v) { return !(v > 0) ? 0 : v >= 0x1p32f ? UINT32_MAX : (u32)v; }
static inline s32 s32_in_range_d(f64 v) { return v >= 0x1p31 ? INT32_MAX : v > -0x1p31 ? (s32)v : INT32_MIN; }
static inline u32 u32_in_range_d(f64 v)
{
    return v != v ? 0x80000000u : !(v > 0) ? 0 : v >= 0x1p32 ? UINT32_MAX : (u32)v;
}
static inline s64 s64_in_range(f64 v) { return v >= 0x1p63 ? INT64_MAX : v > -0x1p63 ? (s64)v : INT64_MIN; }
static inline u64 u64_in_range(f64 v) { return v != v ? 1ull << 63 : !(v > 0) ? 0 : v >= 0x1p64 ? UINT64_MAX : (u64)v; }
/* The conversion itself rounds toward zero. */
#define WHOLE(type, of, A, in_range, rzi, suffix)                   \
    LOOP(type##_of_##of##_rni, type, A, in_range(rint##suffix(a)))  \
    LOOP(type##_of_##of##_rzi, type, A, in_range(rzi(a)))           \
    LOOP(type##_of_##of##_rmi, type, A, in_range(floor##suffix(a))) \
    LOOP(type##_of_##of##_rpi, type, A, in_range(ceil##suffix(a)))
WHOLE(s32, f32, f32, s32_in_range, , f)
WHOLE(u32, f32, f32, u32_in_range, , f)
WHOLE(s64, f32, f32, s64_in_range, , f)
WHOLE(u64, f32, f32, u64_in_range, , f)
WHOLE(s32, f64, f64, s32_in_range_d, , )
WHOLE(u32, f64, f64, u32_in_range_d, , )
WHOLE(s64, f64, f64, s64_in_range, , )
WHOLE(u64, f64, f64, u64_in_range, , )
WHOLE(f32, f32, f32, canonical, truncf, f)
WHOLE(f64, f64, f64, quieted, trunc, )

/* ---- floats ------------------------------------------------------------------------------------------------------ */

static inline f64 widened(u32 bits)
{
    f32 v = float_of(bits);
    f64 wide = (f64)v;
    u64 nan = (u64)(bits >> 31) << 63 | 0x7ff8ull << 48 | (u64)(bits & 0x7fffffu) << 29, out;
    memcpy(&out, &wide, 8);
    out = v != v ? nan : out;
    memcpy(&wide, &out, 8);
    return wide;
}

/* A half's bits are moved to the fraction's position in a single, and the exponent's bias is added. Infinity and NaN
 * get the highest exponent; subnormals are normalized by an exact subtraction. */
static inline f32 single_of_half(u16 h)
{
    u32 magnitude = (u32)(h & 0x7fff) << 13, sign = (u32)(h & 0x8000) << 16;
    u32 subnormal = bits_f32(float_of(magnitude + (113u << 23)) - float_of(113u << 23));
    u32 finite = either(magnitude < 1u << 23, subnormal, magnitude + (112u << 23)) | sign;
    u32 special = either(magnitude > 0x0f800000u, 0x7fffffffu, 0x7f800000u | sign);
    return float_of(either(magnitude < 0x0f800000u, finite, special));
}

/* Rounds to nearest even: normal results by integer arithmetic; subnormal ones by adding a number whose last bit is the
 * smallest half. */
static inline u32 half_of_single(u32 bits)
{
    u32 sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffffu;
    u32 normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    bool is_small = magnitude < 113u << 23;
    u32 subnormal = bits_f32(float_of(either(is_small, magnitude, 0)) + 0.5f) - (126u << 23);
    u32 finite = either(is_small, subnormal, normal) | sign;
    u32 special = either(magnitude > 0x7f800000u, 0x7fff, 0x7c00 | sign);
    return either(magnitude < 0x477ff000u, finite, special);
}

static inline u32 brain_of_single(u32 bits)
{
    u32 rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fff : rounded;
}

/* Integers beyond f32's precision are beyond f16's range; integral f16 values are exact. */
LOOP(f16_of_s32, u16, s32, half_of_single(bits_f32((f32)a)))
LOOP(f16_of_u32, u16, u32, half_of_single(bits_f32((f32)a)))
LOOP(f16_of_s16, u16, s16, half_of_single(bits_f32((f32)a)))
LOOP(f16_of_u16, u16, u16, half_of_single(bits_f32((f32)a)))
#define whole_half(v) half_of_single(bits_f32(v))
#define WHOLE_HALF(type, D, in_range)                                    \
    LOOP(type##_of_f16_rni, D, u16, in_range(rintf(single_of_half(a))))  \
    LOOP(type##_of_f16_rzi, D, u16, in_range(truncf(single_of_half(a)))) \
    LOOP(type##_of_f16_rmi, D, u16, in_range(floorf(single_of_half(a)))) \
    LOOP(type##_of_f16_rpi, D, u16, in_range(ceilf(single_of_half(a))))
WHOLE_HALF(s32, s32, s32_in_range)
WHOLE_HALF(u32, u32, u32_in_range)
WHOLE_HALF(f16, u16, whole_half)

static inline f32 clamped(f32 v) { return v > 0 ? v < 1 ? v : 1.0f : 0.0f; }

LOOP(f64_of_f32, f64, u32, widened(a))
LOOP(f64_of_f32_ftz, f64, u32, widened(flushed(a)))
LOOP(f32_of_f64, f32, f64, canonical((f32)a))
/* Flushed is what is less than the smallest normal number when it is rounded to 24 bits. */
LOOP(f32_of_f64_ftz, u32, f64, fabs(a) < 0x1.ffffffp-127 ? (u32)signbit(a) << 31 : bits_f32(canonical((f32)a)))
LOOP(f32_of_f32_ftz, f32, u32, canonical(float_of(flushed(a))))
LOOP(f32_of_f32_sat, f32, f32, clamped(a))
LOOP(f32_of_f32_ftz_sat, f32, u32, clamped(float_of(flushed(a))))
LOOP(f32_of_f16, f32, u16, single_of_half(a))
LOOP(f16_of_f32, u16, u32, half_of_single(a))
LOOP2(f16x2_of_f32, u32, u32, half_of_single(a) << 16 | half_of_single(b))
LOOP(bf16_of_f32, u16, u32, brain_of_single(a))
LOOP2(bf16x2_of_f32, u32, u32, brain_of_single(a) << 16 | brain_of_single(b))
LOOP(f32_of_bf16, u32, u16, (u32)a << 16) /* a NaN keeps its payload, as in the shift that hardware does */

/* ---- f8, f6 and f4 ----------------------------------------------------------------------------------------------- */

/* Negative numbers become +0. */
static inline u32 rectified(u32 bits) { return either(bits >> 31 && (bits & 0x7fffffffu) <= 0x7f800000u, 0, bits); }

/* As half_of_single, to e exponent and f fraction bits; too large values become the largest one. */
static inline u32 small_of_single(u32 bits, u32 e, u32 f, u32 largest, u32 nan)
{
    u32 sign = bits >> 31 << (e + f), magnitude = bits & 0x7fffffffu, bias = (1u << (e - 1)) - 1;
    u32 normal = (magnitude - ((127 - bias) << 23) + ((1u << (22 - f)) - 1) + (magnitude >> (23 - f) & 1)) >> (23 - f);
    u32 unit = (151 - bias - f) << 23; /* its last bit is the smallest value */
    bool is_small = magnitude < (128 - bias) << 23;
    u32 subnormal = bits_f32(float_of(either(is_small, magnitude, 0)) + float_of(unit)) - unit;
    u32 finite = either(is_small, subnormal, normal);
    return either(magnitude > 0x7f800000u, nan, either(finite > largest, largest, finite) | sign);
}

/* To f16, exactly: the bits are moved into position and scaled by the difference of the biases. */
static inline u32 half_of_small(u32 v, u32 e, u32 f, f32 scale, u32 first_nan)
{
    u32 magnitude = v & ((1u << (e + f)) - 1), sign = v >> (e + f) & 1;
    u32 half = half_of_single(bits_f32(single_of_half((u16)(magnitude << (10 - f))) * scale)) | sign << 15;
    return either(magnitude >= first_nan, 0x7fff, half);
}
static inline u32 rectified_half(u32 v) { return either(v > 0x7fff, 0, v); }

/* d and its position for the higher of two values; the same with .relu; the inverse; both. */
#define SMALL(name, D, shift, e, f, largest, nan, scale, first_nan)                                          \
    LOOP2(name##_of_f32, D, u32,                                                                             \
          small_of_single(a, e, f, largest, nan) << shift | small_of_single(b, e, f, largest, nan))          \
    LOOP2(name##_of_f32_relu, D, u32,                                                                        \
          small_of_single(rectified(a), e, f, largest, nan) << shift |                                       \
              small_of_single(rectified(b), e, f, largest, nan))                                             \
    LOOP(f16x2_of_##name, u32, D,                                                                            \
         half_of_small(a >> shift, e, f, scale, first_nan) << 16 | half_of_small(a, e, f, scale, first_nan)) \
    LOOP(f16x2_of_##name##_relu, u32, D,                                                                     \
         rectified_half(half_of_small(a >> shift, e, f, scale, first_nan)) << 16 |                           \
             rectified_half(half_of_small(a, e, f, scale, first_nan)))
SMALL(e4m3x2, u16, 8, 4, 3, 0x7e, 0x7f, 256.0f, 0x7f)
SMALL(e5m2x2, u16, 8, 5, 2, 0x7b, 0x7f, 1.0f, 0x7d)
SMALL(e2m3x2, u16, 8, 2, 3, 0x1f, 0x1f, 16384.0f, 0xff)
SMALL(e3m2x2, u16, 8, 3, 2, 0x1f, 0x1f, 4096.0f, 0xff)
SMALL(e2m1x2, u16, 4, 2, 1, 0x7, 0x7, 16384.0f, 0xff)

/* ---- tf32 -------------------------------------------------------------------------------------------------------- */

/* An f32 whose low 13 bits are zero: `more` is added to the magnitude before they are cut off. */
static inline u32 tensor_of_single(u32 bits, u32 more, bool finite)
{
    u32 magnitude = bits & 0x7fffffffu, cut = (magnitude + more) & ~0x1fffu;
    cut = either(magnitude == 0x7f800000u, magnitude, cut); /* infinity is not changed */
    cut = either(finite && cut >= 0x7f800000u, 0x7f7fe000u, cut);
    return either(magnitude > 0x7f800000u, 0x7fffffffu, cut | (bits & 0x80000000u));
}
#define AWAY(v) 0x1000u
#define EVEN(v) (0xfffu + ((v) >> 13 & 1))
#define ZERO(v) 0u
#define TENSOR(name, more)                                                                 \
    LOOP(name, u32, u32, tensor_of_single(a, more(a), false))                              \
    LOOP(name##_finite, u32, u32, tensor_of_single(a, more(a), true))                      \
    LOOP(name##_relu, u32, u32, tensor_of_single(rectified(a), more(rectified(a)), false)) \
    LOOP(name##_finite_relu, u32, u32, tensor_of_single(rectified(a), more(rectified(a)), true))
TENSOR(tf32_rna, AWAY)
TENSOR(tf32_rn, EVEN)
TENSOR(tf32_rz, ZERO)

/* NULL: another rounding mode. */
static hd_lanes *tensor_loop(const hd_conversion *c)
{
    static hd_lanes *const away[] = {tf32_rna, tf32_rna_finite, tf32_rna_relu, tf32_rna_finite_relu},
                           *const even[] = {tf32_rn, tf32_rn_finite, tf32_rn_relu, tf32_rn_finite_relu},
                           *const zero[] = {tf32_rz, tf32_rz_finite, tf32_rz_relu, tf32_rz_finite_relu};
    uint32_t variant = (uint32_t)c->finite | (uint32_t)c->relu << 1;
    switch ((uint32_t)c->rounding) {
    case HD_ROUND_NEAREST_AWAY: return away[variant];
    case HD_ROUND_NEAREST_EVEN: return even[variant];
    case HD_ROUND_ZERO: return zero[variant];
    default: return NULL;
    }
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

enum { PLAIN, FTZ, SAT, FTZ_SAT, FINITE, RELU = 8, FINITE_RELU = FINITE | RELU };

static const struct row {
    uint8_t to, from;
    uint8_t whole, variant; /* as hd_conversion.whole; of the enumeration above */
    uint8_t d_bytes, a_bytes;
    hd_lanes *lanes;
} rows[] = {
#define ROW(to, from, whole, variant, d_bytes, a_bytes, lanes)                \
    {                                                                         \
        HD_TYPE_##to, HD_TYPE_##from, whole, variant, d_bytes, a_bytes, lanes \
    }
#define ROWS_WHOLE(to, from, d_bytes, a_bytes, name)                                                              \
    ROW(to, from, 1, PLAIN, d_bytes, a_bytes, name##_rni), ROW(to, from, 2, PLAIN, d_bytes, a_bytes, name##_rzi), \
        ROW(to, from, 3, PLAIN, d_bytes, a_bytes, name##_rmi), ROW(to, from, 4, PLAIN, d_bytes, a_bytes, name##_rpi)
#define ROWS_SMALL(type, name)                                                                                \
    ROW(type, F32, 0, FINITE, 2, 4, name##_of_f32), ROW(type, F32, 0, FINITE_RELU, 2, 4, name##_of_f32_relu), \
        ROW(F16X2, type, 0, PLAIN, 4, 2, f16x2_of_##name), ROW(F16X2, type, 0, RELU, 4, 2, f16x2_of_##name##_relu)
    ROW(F32, S32, 0, PLAIN, 4, 4, f32_of_s32),
    ROW(F32, U32, 0, PLAIN, 4, 4, f32_of_u32),
    ROW(F32, S64, 0, PLAIN, 4, 8, f32_of_s64),
    ROW(F32, U64, 0, PLAIN, 4, 8, f32_of_u64),
    ROW(F32, S16, 0, PLAIN, 4, 2, f32_of_s16),
    ROW(F32, U16, 0, PLAIN, 4, 2, f32_of_u16),
    ROW(F32, S8, 0, PLAIN, 4, 2, f32_of_s8),
    ROW(F32, U8, 0, PLAIN, 4, 2, f32_of_u8),
    ROW(F16, S32, 0, PLAIN, 2, 4, f16_of_s32),
    ROW(F16, U32, 0, PLAIN, 2, 4, f16_of_u32),
    ROW(F16, S16, 0, PLAIN, 2, 2, f16_of_s16),
    ROW(F16, U16, 0, PLAIN, 2, 2, f16_of_u16),
    ROW(F64, S32, 0, PLAIN, 8, 4, f64_of_s32),
    ROW(F64, U32, 0, PLAIN, 8, 4, f64_of_u32),
    ROW(F64, S64, 0, PLAIN, 8, 8, f64_of_s64),
    ROW(F64, U64, 0, PLAIN, 8, 8, f64_of_u64),
    ROWS_WHOLE(S32, F32, 4, 4, s32_of_f32),
    ROWS_WHOLE(U32, F32, 4, 4, u32_of_f32),
    ROWS_WHOLE(S64, F32, 8, 4, s64_of_f32),
    ROWS_WHOLE(U64, F32, 8, 4, u64_of_f32),
    ROWS_WHOLE(S32, F64, 4, 8, s32_of_f64),
    ROWS_WHOLE(U32, F64, 4, 8, u32_of_f64),
    ROWS_WHOLE(S64, F64, 8, 8, s64_of_f64),
    ROWS_WHOLE(U64, F64, 8, 8, u64_of_f64),
    ROWS_WHOLE(F32, F32, 4, 4, f32_of_f32),
    ROWS_WHOLE(F64, F64, 8, 8, f64_of_f64),
    ROWS_WHOLE(S32, F16, 4, 2, s32_of_f16),
    ROWS_WHOLE(U32, F16, 4, 2, u32_of_f16),
    ROWS_WHOLE(F16, F16, 2, 2, f16_of_f16),
    ROW(F64, F32, 0, PLAIN, 8, 4, f64_of_f32),
    ROW(F64, F32, 0, FTZ, 8, 4, f64_of_f32_ftz),
    ROW(F32, F64, 0, PLAIN, 4, 8, f32_of_f64),
    ROW(F32, F64, 0, FTZ, 4, 8, f32_of_f64_ftz),
    ROW(F32, F32, 0, FTZ, 4, 4, f32_of_f32_ftz),
    ROW(F32, F32, 0, SAT, 4, 4, f32_of_f32_sat),
    ROW(F32, F32, 0, FTZ_SAT, 4, 4, f32_of_f32_ftz_sat),
    ROW(F32, F16, 0, PLAIN, 4, 2, f32_of_f16),
    ROW(F16, F32, 0, PLAIN, 2, 4, f16_of_f32),
    ROW(F16X2, F32, 0, PLAIN, 4, 4, f16x2_of_f32),
    ROW(BF16, F32, 0, PLAIN, 2, 4, bf16_of_f32),
    ROW(BF16X2, F32, 0, PLAIN, 4, 4, bf16x2_of_f32),
    ROW(F32, BF16, 0, PLAIN, 4, 2, f32_of_bf16),
    ROWS_SMALL(E4M3X2, e4m3x2),
    ROWS_SMALL(E5M2X2, e5m2x2),
    ROWS_SMALL(E2M3X2, e2m3x2),
    ROWS_SMALL(E3M2X2, e3m2x2),
    ROWS_SMALL(E2M1X2, e2m1x2),
#undef ROW
#undef ROWS_WHOLE
#undef ROWS_SMALL
};

/* Whether flushing subnormals changes the result: not if they round to zero anyway, nor if there can be none. */
static bool flush_matters(const hd_conversion *c, hd_type to, hd_type from)
{
    if (!c->ftz_from && !c->ftz_to)
        return false;
    if (hd_format_is_integer(&c->from) || from == HD_TYPE_F16)
        return false;
    bool toward_zero = c->whole == 1 || c->whole == 2;
    return !((c->whole && toward_zero) || to == HD_TYPE_F16);
}

hd_lanes *hd_convert_lanes(const hd_conversion *c, hd_type to, hd_type from, uint32_t d_bytes, uint32_t a_bytes)
{
    if (to == HD_TYPE_TF32 && from == HD_TYPE_F32 && !c->ftz_from && !c->whole && !c->sat && d_bytes == 4 &&
        a_bytes == 4)
        return tensor_loop(c);
    if (c->rounding != HD_ROUND_NEAREST_EVEN)
        return NULL;
    if (hd_format_is_integer(&c->to) && hd_format_is_integer(&c->from))
        return integer_loop(c, d_bytes, a_bytes);
    bool sat = c->sat && !hd_format_is_integer(&c->to);
    uint8_t variant = (uint8_t)(flush_matters(c, to, from) | sat << 1 | c->finite << 2 | c->relu << 3);
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        if (r->to == to && r->from == from && r->whole == c->whole && r->variant == variant && r->d_bytes == d_bytes &&
            r->a_bytes == a_bytes)
            return r->lanes;
    }
    return NULL;
}
