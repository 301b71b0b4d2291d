#include "half.h"

#include <math.h>
#include <string.h>

const half_format half_f16 = {5, 10}, half_bf16 = {8, 7};

enum { LIMBS = 10, UNIT = 300 }; /* bit k of an exact number counts 2^(k - UNIT) */

typedef struct exact {
    bool negative;
    uint64_t limbs[LIMBS];
} exact;

static uint32_t exponent_of(half_format f, uint16_t v) { return v >> f.fraction_bits & ((1u << f.exponent_bits) - 1); }
static uint32_t fraction_of(half_format f, uint16_t v) { return v & ((1u << f.fraction_bits) - 1); }
static uint32_t top_exponent(half_format f) { return (1u << f.exponent_bits) - 1; }
static int bias_of(half_format f) { return (1 << (f.exponent_bits - 1)) - 1; }
static uint16_t infinity_of(half_format f) { return (uint16_t)(top_exponent(f) << f.fraction_bits); }
static bool is_infinite(half_format f, uint16_t v) { return (v & 0x7fff) == infinity_of(f); }

bool half_is_nan(half_format f, uint16_t v) { return exponent_of(f, v) == top_exponent(f) && fraction_of(f, v); }
bool half_is_subnormal(half_format f, uint16_t v) { return !exponent_of(f, v) && fraction_of(f, v); }
uint16_t half_one(half_format f) { return (uint16_t)(bias_of(f) << f.fraction_bits); }

/* The value is significand * 2^power. */
static uint32_t significand_of(half_format f, uint16_t v)
{
    return exponent_of(f, v) ? fraction_of(f, v) | 1u << f.fraction_bits : fraction_of(f, v);
}
static int power_of(half_format f, uint16_t v)
{
    uint32_t e = exponent_of(f, v);
    return (e ? (int)e : 1) - bias_of(f) - f.fraction_bits;
}

double half_value(half_format f, uint16_t v)
{
    double magnitude = half_is_nan(f, v)   ? (double)NAN
                       : is_infinite(f, v) ? (double)INFINITY
                                           : ldexp(significand_of(f, v), power_of(f, v));
    return v & 0x8000 ? -magnitude : magnitude;
}

/* ---- exact numbers ----------------------------------------------------------------------------------------------- */

static bool bit_of(const exact *x, int k) { return x->limbs[k / 64] >> (k % 64) & 1; }

static exact make(bool negative, uint64_t significand, int power)
{
    exact x = {negative, {0}};
    for (int k = 0; k < 40; k++)
        if (significand >> k & 1)
            x.limbs[(power + UNIT + k) / 64] |= 1ull << ((power + UNIT + k) % 64);
    return x;
}

static int compare_magnitudes(const exact *x, const exact *y)
{
    for (int i = LIMBS; i-- > 0;)
        if (x->limbs[i] != y->limbs[i])
            return x->limbs[i] < y->limbs[i] ? -1 : 1;
    return 0;
}

static exact add_magnitudes(exact x, const exact *y)
{
    unsigned __int128 carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (unsigned __int128)x.limbs[i] + y->limbs[i];
        x.limbs[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return x;
}

static exact subtract_magnitudes(exact x, const exact *y)
{
    __int128 borrow = 0;
    for (int i = 0; i < LIMBS; i++) {
        borrow += (__int128)x.limbs[i] - y->limbs[i];
        x.limbs[i] = (uint64_t)borrow;
        borrow >>= 64;
    }
    return x;
}

/* A sum of zero takes the common sign, else + (rounding down: -). */
static exact add_exact(const exact *x, const exact *y, half_rounding rounding)
{
    if (x->negative == y->negative)
        return add_magnitudes(*x, y);
    int order = compare_magnitudes(x, y);
    exact out = order < 0 ? subtract_magnitudes(*y, x) : subtract_magnitudes(*x, y);
    if (!order)
        out.negative = rounding == TO_MINUS;
    return out;
}

static uint16_t overflow(half_format f, bool negative, half_rounding rounding)
{
    bool away = rounding == TO_NEAREST || (rounding == TO_MINUS && negative) || (rounding == TO_PLUS && !negative);
    return (uint16_t)(negative << 15 | (away ? infinity_of(f) : infinity_of(f) - 1));
}

static uint16_t round_exact(half_format f, const exact *x, half_rounding rounding)
{
    int top = 64 * LIMBS - 1, least = 1 - bias_of(f) - f.fraction_bits + UNIT;
    while (top >= 0 && !bit_of(x, top))
        top--;
    if (top < 0)
        return (uint16_t)(x->negative << 15);
    int low = top - f.fraction_bits > least ? top - f.fraction_bits : least;
    uint32_t kept = 0;
    for (int k = top; k >= low; k--)
        kept = kept << 1 | bit_of(x, k);
    bool half = bit_of(x, low - 1), rest = false;
    for (int k = low - 2; k >= 0 && !rest; k--)
        rest = bit_of(x, k);
    bool up = rounding == TO_NEAREST ? half && (rest || (kept & 1))
              : rounding == TO_ZERO  ? false
                                     : (half || rest) && x->negative == (rounding == TO_MINUS);
    kept += up;
    if (kept >> (f.fraction_bits + 1)) {
        kept >>= 1;
        low++;
    }
    uint32_t exponent = kept >> f.fraction_bits ? (uint32_t)(low - least + 1) : 0;
    if (exponent >= top_exponent(f))
        return overflow(f, x->negative, rounding);
    return (uint16_t)(x->negative << 15 | exponent << f.fraction_bits | (kept & ((1u << f.fraction_bits) - 1)));
}

uint16_t half_fma(half_format f, half_rounding rounding, uint16_t a, uint16_t b, uint16_t c)
{
    bool negative = (a ^ b) >> 15, a_zero = !(a & 0x7fff), b_zero = !(b & 0x7fff);
    bool endless = is_infinite(f, a) || is_infinite(f, b);
    if (half_is_nan(f, a) || half_is_nan(f, b) || half_is_nan(f, c) || (endless && (a_zero || b_zero)) ||
        (endless && is_infinite(f, c) && negative != c >> 15))
        return 0x7fff;
    if (endless)
        return (uint16_t)(negative << 15 | infinity_of(f));
    if (is_infinite(f, c))
        return c;
    exact product =
        make(negative, (uint64_t)significand_of(f, a) * significand_of(f, b), power_of(f, a) + power_of(f, b));
    exact addend = make(c >> 15, significand_of(f, c), power_of(f, c));
    exact sum = add_exact(&product, &addend, rounding);
    return round_exact(f, &sum, rounding);
}

uint16_t half_add(half_format f, uint16_t a, uint16_t b) { return half_fma(f, TO_NEAREST, a, half_one(f), b); }
uint16_t half_mul(half_format f, uint16_t a, uint16_t b)
{
    return half_fma(f, TO_NEAREST, a, b, (uint16_t)((a ^ b) & 0x8000));
}
