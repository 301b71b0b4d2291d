/* The functions of approximate instructions, in double precision, for sources that are f32 or narrower: without
 * branches, so that rows are vectorized, and with plain sums and products only, so that every host gives the same bits.
 * Errors are below 2^-48 of the result (sin and cos beyond 2^20: below 2^-24, absolute); the caller rounds to the type.
 * The host must round to nearest. */
#ifndef HD_HWMODEL_EXEC_OPS_SCALAR_APPROX_H
#define HD_HWMODEL_EXEC_OPS_SCALAR_APPROX_H

#include "hwmodel/exec/ops/scalar.h"

/* Adding it leaves an integer in the low bits; subtracting it again rounds. */
#define WHOLE 0x1.8p52

/* (e^t - 1) / t for |t| <= ln(2) / 2: Taylor's series. */
static inline f64 growth(f64 t)
{
    f64 p = 1 / 87178291200.0; /* 1 / 14! */
    p = p * t + 1 / 6227020800.0;
    p = p * t + 1 / 479001600.0;
    p = p * t + 1 / 39916800.0;
    p = p * t + 1 / 3628800.0;
    p = p * t + 1 / 362880.0;
    p = p * t + 1 / 40320.0;
    p = p * t + 1 / 5040.0;
    p = p * t + 1 / 720.0;
    p = p * t + 1 / 120.0;
    p = p * t + 1 / 24.0;
    p = p * t + 1 / 6.0;
    p = p * t + 0.5;
    return p * t + 1;
}

/* 2^n of the integer in the low bits of n + WHOLE, -1022 to 1023. */
static inline f64 power_of_two(f64 shifted) { return value_f64((bits_f64(shifted) + 1023) << 52); }

static inline f64 exp2_wide(f64 x)
{
    x = x < -160 ? -160 : x; /* below and above: zero and infinity in f32 */
    x = x > 130 ? 130 : x;
    f64 shifted = x + WHOLE, t = (x - (shifted - WHOLE)) * 0x1.62e42fefa39efp-1;
    return (1 + t * growth(t)) * power_of_two(shifted);
}

/* log2 of m 2^e, m from sqrt(1/2) to sqrt(2): e and the series of artanh((m - 1) / (m + 1)). */
static inline f64 log2_wide(f64 x)
{
    u64 bits = bits_f64(x), shifted = bits - 0x3fe6a09e667f3bcdull + (1023ull << 52);
    u64 exponent = (shifted >> 52) - 1023;
    f64 m = value_f64(bits - (exponent << 52)), s = (m - 1) / (m + 1), z = s * s;
    f64 e = value_f64(bits_f64(WHOLE) + exponent) - WHOLE;
    f64 p = 1 / 25.0;
    p = p * z + 1 / 23.0;
    p = p * z + 1 / 21.0;
    p = p * z + 1 / 19.0;
    p = p * z + 1 / 17.0;
    p = p * z + 1 / 15.0;
    p = p * z + 1 / 13.0;
    p = p * z + 1 / 11.0;
    p = p * z + 1 / 9.0;
    p = p * z + 1 / 7.0;
    p = p * z + 1 / 5.0;
    p = p * z + 1 / 3.0;
    p = p * z + 1;
    f64 result = e + 0x1.71547652b82fep+1 * (s * p);
    result = x == 0 ? -(f64)INFINITY : result;
    result = bits == 0x7ffull << 52 ? x : result;
    return x >= 0 ? result : value_f64(HD_NAN_F64);
}

/* Reduces an f32 angle beyond 2^20 to one below 2^27 with the same sine: the significand times the remainder of its
 * power of two. Infinities and NaNs become NaN. Other angles are unchanged: the table's first value is 0, and -0 is
 * kept. A selection instead of the sum would prevent vectorized table lookups. */
static inline f64 near_angle(f64 x)
{
    static const f64 angles[110] = {
        [109] = __builtin_nan(""),
#define HD_ANGLE(e, value) [(e)-19] = value,
#include "hwmodel/exec/ops/angles.def"
#undef HD_ANGLE
    };
    u64 bits = bits_f64(x), exponent = bits >> 52 & 2047, base = 1023 + 19;
    u64 at = (exponent > base ? exponent : base) - base;
    at = at > 109 ? 109 : at;
    f64 significand = value_f64((bits & ~(2047ull << 52)) | 1023ull << 52) * 0x1p23;
    return angles[at] * significand + (exponent > base ? 0 : x);
}

/* The sine of x plus so many quarter turns. */
static inline f64 sine(f64 angle, u64 quarters)
{
    f64 x = near_angle(angle), shifted = x * 0x1.45f306dc9c883p-1 + WHOLE, n = shifted - WHOLE;
    u64 quadrant = bits_f64(shifted) + quarters;
    f64 r = ((x - n * 0x1.921fb544p+0) - n * 0x1.0b4611a6p-34) - n * 0x1.3198a2e037073p-69, z = r * r;
    f64 odd = -1 / 121645100408832000.0; /* 19! */
    odd = odd * z + 1 / 355687428096000.0;
    odd = odd * z - 1 / 1307674368000.0;
    odd = odd * z + 1 / 6227020800.0;
    odd = odd * z - 1 / 39916800.0;
    odd = odd * z + 1 / 362880.0;
    odd = odd * z - 1 / 5040.0;
    odd = odd * z + 1 / 120.0;
    odd = odd * z - 1 / 6.0;
    odd = r * (1 + z * odd);
    f64 even = -1 / 6402373705728000.0; /* 18! */
    even = even * z + 1 / 20922789888000.0;
    even = even * z - 1 / 87178291200.0;
    even = even * z + 1 / 479001600.0;
    even = even * z - 1 / 3628800.0;
    even = even * z + 1 / 40320.0;
    even = even * z - 1 / 720.0;
    even = even * z + 1 / 24.0;
    even = even * z - 0.5;
    even = even * z + 1;
    f64 value = quadrant & 1 ? even : odd;
    return quadrant & 2 ? -value : value;
}
static inline f64 sin_wide(f64 x) { return sine(x, 0); }
static inline f64 cos_wide(f64 x) { return sine(x, 1); }

/* E / (E + 2), E = e^2|x| - 1 without cancellation; the sign of x. */
static inline f64 tanh_wide(f64 x)
{
    f64 y = 2 * fabs(x);
    y = y > 80 ? 80 : y;
    f64 shifted = y * 0x1.71547652b82fep+0 + WHOLE, n = shifted - WHOLE;
    f64 t = (y - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33, s = power_of_two(shifted);
    f64 grown = s * (t * growth(t)) + (s - 1);
    return copysign(grown / (grown + 2), x);
}

#endif
