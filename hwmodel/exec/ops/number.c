/* Unpacking and packing of numbers of all formats: see number.h. IEEE 754 sections 4.3 (rounding), 7.4 (overflow); the
 * small formats follow the OCP MX and FP8 definitions: e4m3 has no infinity and one NaN, e2m3, e3m2 and e2m1 have
 * neither, ue8m0 is a power of two. */
#include "hwmodel/exec/ops/number.h"

#define INTEGER(width, is_signed)                                    \
    {                                                                \
        width, is_signed, HD_SPECIALS_INTEGER, 0, width, 1, width, 0 \
    }
#define FLOAT(e, f, specials, low, bits, count, spacing, nan)        \
    {                                                                \
        e, f, HD_SPECIALS_##specials, low, bits, count, spacing, nan \
    }

hd_format hd_format_of(hd_type type)
{
    static const hd_format formats[HD_TYPE_COUNT] = {
        [HD_TYPE_U2] = INTEGER(2, 0),
        [HD_TYPE_S2] = INTEGER(2, 1),
        [HD_TYPE_U4] = INTEGER(4, 0),
        [HD_TYPE_S4] = INTEGER(4, 1),
        [HD_TYPE_U8] = INTEGER(8, 0),
        [HD_TYPE_S8] = INTEGER(8, 1),
        [HD_TYPE_U16] = INTEGER(16, 0),
        [HD_TYPE_S16] = INTEGER(16, 1),
        [HD_TYPE_U32] = INTEGER(32, 0),
        [HD_TYPE_S32] = INTEGER(32, 1),
        [HD_TYPE_U64] = INTEGER(64, 0),
        [HD_TYPE_S64] = INTEGER(64, 1),
        [HD_TYPE_F16] = FLOAT(5, 10, IEEE, 0, 16, 1, 16, 0x7fff),
        [HD_TYPE_F16X2] = FLOAT(5, 10, IEEE, 0, 16, 2, 16, 0x7fff),
        [HD_TYPE_BF16] = FLOAT(8, 7, IEEE, 0, 16, 1, 16, 0x7fff),
        [HD_TYPE_BF16X2] = FLOAT(8, 7, IEEE, 0, 16, 2, 16, 0x7fff),
        [HD_TYPE_F32] = FLOAT(8, 23, IEEE, 0, 32, 1, 32, 0x7fffffff),
        [HD_TYPE_F64] = FLOAT(11, 52, IEEE, 0, 64, 1, 64, 0),
        [HD_TYPE_TF32] = FLOAT(8, 10, IEEE, 13, 32, 1, 32, 0x7fffffff),
        [HD_TYPE_E4M3X2] = FLOAT(4, 3, NAN, 0, 8, 2, 8, 0x7f),
        [HD_TYPE_E4M3X4] = FLOAT(4, 3, NAN, 0, 8, 4, 8, 0x7f),
        [HD_TYPE_E5M2X2] = FLOAT(5, 2, IEEE, 0, 8, 2, 8, 0x7f),
        [HD_TYPE_E5M2X4] = FLOAT(5, 2, IEEE, 0, 8, 4, 8, 0x7f),
        [HD_TYPE_E2M3X2] = FLOAT(2, 3, NONE, 0, 6, 2, 8, 0x1f),
        [HD_TYPE_E2M3X4] = FLOAT(2, 3, NONE, 0, 6, 4, 8, 0x1f),
        [HD_TYPE_E3M2X2] = FLOAT(3, 2, NONE, 0, 6, 2, 8, 0x1f),
        [HD_TYPE_E3M2X4] = FLOAT(3, 2, NONE, 0, 6, 4, 8, 0x1f),
        [HD_TYPE_E2M1X2] = FLOAT(2, 1, NONE, 0, 4, 2, 4, 0x7),
        [HD_TYPE_E2M1X4] = FLOAT(2, 1, NONE, 0, 4, 4, 4, 0x7),
        [HD_TYPE_UE8M0X2] = FLOAT(8, 0, SCALE, 0, 8, 2, 8, 0xff),
    };
    return formats[type];
}

static int32_t bias_of(const hd_format *f) { return (1 << (f->exponent_bits - 1)) - 1; }

/* ---- unpacking --------------------------------------------------------------------------------------------------- */

static hd_number load_integer(uint64_t bits, const hd_format *f)
{
    uint32_t unused = 64u - f->bits;
    bool negative = f->fraction_bits && bits >> (f->bits - 1) & 1;
    uint64_t value = negative ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits << unused >> unused;
    return (hd_number){negative ? 0 - value : value, 0, HD_NUMBER_FINITE, negative};
}

static hd_number load_scale(uint64_t bits)
{
    if (bits == 0xff)
        return (hd_number){1ull << 51, 0, HD_NUMBER_NAN, false};
    return (hd_number){1, (int32_t)bits - 127, HD_NUMBER_FINITE, false};
}

static bool is_special(const hd_format *f, uint32_t exponent, uint64_t fraction)
{
    bool all_ones = exponent == (1u << f->exponent_bits) - 1;
    return f->specials == HD_SPECIALS_IEEE
               ? all_ones
               : f->specials == HD_SPECIALS_NAN && all_ones && fraction == (1ull << f->fraction_bits) - 1;
}

hd_number hd_number_load(uint64_t bits, const hd_format *f)
{
    if (f->specials == HD_SPECIALS_INTEGER)
        return load_integer(bits, f);
    if (f->bits < 64)
        bits &= (1ull << f->bits) - 1;
    if (f->specials == HD_SPECIALS_SCALE)
        return load_scale(bits);
    bool negative = bits >> (f->bits - 1) & 1;
    bits >>= f->low_zeros;
    uint64_t fraction = bits & ((1ull << f->fraction_bits) - 1);
    uint32_t exponent = (uint32_t)(bits >> f->fraction_bits) & ((1u << f->exponent_bits) - 1);
    int32_t unit = 1 - bias_of(f) - f->fraction_bits; /* exponent of the fraction's last bit in subnormals */
    if (is_special(f, exponent, fraction))
        return (hd_number){fraction << (52 - f->fraction_bits), 0, fraction ? HD_NUMBER_NAN : HD_NUMBER_INFINITE,
                           negative};
    if (!exponent)
        return (hd_number){fraction, unit, HD_NUMBER_FINITE, negative};
    return (hd_number){fraction | 1ull << f->fraction_bits, unit + (int32_t)exponent - 1, HD_NUMBER_FINITE, negative};
}

/* ---- rounding ---------------------------------------------------------------------------------------------------- */

/* Whether adding the random bits to the dropped ones, aligned at their highest bits, carries. */
static bool random_carry(uint64_t significand, uint32_t drop, hd_random random)
{
    uint64_t below = drop >= 64 ? significand : significand & ((1ull << drop) - 1);
    uint64_t mask = (1ull << random.count) - 1, top;
    if (drop >= random.count)
        top = drop - random.count >= 64 ? 0 : below >> (drop - random.count);
    else
        top = below << (random.count - drop);
    return (top + (random.bits & mask)) >> random.count;
}

/* significand / 2^drop, rounded; drop > 0. */
static uint64_t drop_bits(uint64_t significand, uint32_t drop, bool negative, hd_rounding rounding, hd_random random)
{
    uint64_t kept = drop >= 64 ? 0 : significand >> drop;
    uint64_t rest = drop >= 64 ? significand : significand & ((1ull << drop) - 1);
    uint64_t half = drop > 64 ? 0 : 1ull << (drop - 1);
    bool above = half && rest > half, tie = half && rest == half;
    switch (rounding) {
    case HD_ROUND_NEAREST_EVEN: return kept + (above || (tie && (kept & 1)));
    case HD_ROUND_NEAREST_AWAY: return kept + (above || tie);
    case HD_ROUND_ZERO: return kept;
    case HD_ROUND_DOWN: return kept + (negative && rest);
    case HD_ROUND_UP: return kept + (!negative && rest);
    case HD_ROUND_RANDOM: return kept + random_carry(significand, drop, random);
    }
    return kept;
}

hd_number hd_number_round(hd_number n, hd_rounding rounding)
{
    if (n.kind == HD_NUMBER_FINITE && n.exponent < 0) {
        n.significand = drop_bits(n.significand, (uint32_t)-n.exponent, n.negative, rounding, (hd_random){0, 0});
        n.exponent = 0;
    }
    return n;
}

/* ---- packing ----------------------------------------------------------------------------------------------------- */

static uint64_t largest_of(const hd_format *f)
{
    uint64_t ones = (1ull << (f->exponent_bits + f->fraction_bits)) - 1;
    if (f->specials == HD_SPECIALS_IEEE)
        return ones - ((1ull << f->fraction_bits) - 1) - 1;
    return f->specials == HD_SPECIALS_NAN ? ones - 1 : ones;
}

static bool overflows_to_infinity(hd_number n, hd_rounding rounding)
{
    return n.kind == HD_NUMBER_INFINITE || !(rounding == HD_ROUND_ZERO || (rounding == HD_ROUND_DOWN && !n.negative) ||
                                             (rounding == HD_ROUND_UP && n.negative));
}

/* The biased exponent and the fraction, without the sign, of a finite number; overflows exceed largest_of. */
static uint64_t pack(hd_number n, const hd_format *f, hd_rounding rounding, hd_random random)
{
    if (!n.significand)
        return 0;
    uint32_t zeros = (uint32_t)__builtin_clzll(n.significand);
    uint64_t significand = n.significand << zeros; /* the leading one at bit 63 */
    int32_t exponent = n.exponent - (int32_t)zeros + 63, least = 1 - bias_of(f);
    int32_t kept = f->fraction_bits + 1 - (exponent < least ? least - exponent : 0);
    uint64_t rounded = drop_bits(significand, (uint32_t)(64 - kept), n.negative, rounding, random);
    return exponent < least ? rounded : ((uint64_t)(exponent - least) << f->fraction_bits) + rounded;
}

static uint64_t store_nan(hd_number n, const hd_format *f)
{
    if (f->nan)
        return f->nan;
    return (uint64_t)n.negative << 63 | 0x7ff8ull << 48 | n.significand;
}

/* The least power of two that is not below the magnitude, or the largest that is not above. */
static uint64_t store_scale(hd_number n, hd_rounding rounding, bool finite)
{
    uint64_t most = finite ? 0xfe : 0xff;
    if (n.kind == HD_NUMBER_INFINITE)
        return most;
    if (!n.significand)
        return 0;
    int32_t top = 63 - __builtin_clzll(n.significand), exponent = n.exponent + top + 127;
    bool more = (n.significand & (n.significand - 1)) && rounding == HD_ROUND_UP;
    exponent += more;
    return exponent < 0 ? 0 : (uint64_t)exponent > most ? most : (uint64_t)exponent;
}

uint64_t hd_number_store(hd_number n, const hd_format *f, hd_rounding rounding, hd_random random, bool finite)
{
    if (n.kind == HD_NUMBER_NAN)
        return store_nan(n, f);
    if (f->specials == HD_SPECIALS_SCALE)
        return store_scale(n, rounding, finite);
    uint64_t sign = (uint64_t)n.negative << (f->bits - 1 - f->low_zeros), largest = largest_of(f);
    uint64_t packed = n.kind == HD_NUMBER_INFINITE ? largest + 1 : pack(n, f, rounding, random);
    if (packed > largest)
        packed = !finite && overflows_to_infinity(n, rounding) ? largest + 1 : largest;
    return (sign | packed) << f->low_zeros;
}

uint64_t hd_number_clamp(hd_number n, const hd_format *f, uint64_t nan)
{
    bool is_signed = f->fraction_bits;
    uint64_t most = ~0ull >> (64 - f->bits + is_signed), least = is_signed ? 0 - most - 1 : 0;
    if (n.kind == HD_NUMBER_NAN)
        return nan;
    bool large = n.kind == HD_NUMBER_INFINITE ||
                 (n.significand && n.exponent > 0 && n.exponent > __builtin_clzll(n.significand));
    uint64_t magnitude = large || n.exponent >= 64 ? 0 : n.significand << n.exponent;
    if (n.negative)
        return !is_signed ? 0 : large || magnitude > most ? least : 0 - magnitude;
    return large || magnitude > most ? most : magnitude;
}
