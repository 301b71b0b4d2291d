#include "matrix_reference.h"
#include "unit.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static const struct format {
    uint32_t bits, exponent, fraction;
} formats[] = {
    [F16] = {16, 5, 10},  [BF16] = {16, 8, 7}, [TF32] = {32, 8, 23}, [E4M3] = {8, 4, 3}, [E5M2] = {8, 5, 2},
    [F64] = {64, 11, 52}, [F32] = {32, 8, 23}, [S8] = {8, 0, 0},     [U8] = {8, 0, 0},   [S4] = {4, 0, 0},
    [U4] = {4, 0, 0},     [B1] = {1, 0, 0},    [S32] = {32, 0, 0},
};

uint32_t kind_bits(kind k) { return formats[k].bits; }

double kind_value(kind k, uint64_t code)
{
    const struct format *f = &formats[k];
    uint64_t exponent = code >> f->fraction & ((1u << f->exponent) - 1);
    uint64_t fraction = code & ((1ull << f->fraction) - 1);
    int bias = (1 << (f->exponent - 1)) - 1;
    if (k == TF32)
        fraction &= ~0x1fffull;
    double sign = code >> (f->bits - 1) & 1 ? -1.0 : 1.0;
    if (k == E4M3 ? exponent == 15 && fraction == 7 : exponent == (1ull << f->exponent) - 1)
        return k != E4M3 && !fraction ? sign * (double)INFINITY : (double)NAN;
    if (!exponent)
        return sign * ldexp((double)fraction, 1 - bias - (int)f->fraction);
    return sign * ldexp(1 + ldexp((double)fraction, -(int)f->fraction), (int)exponent - bias);
}

int32_t kind_integer(kind k, uint64_t code)
{
    switch (k) {
    case S8: return (int8_t)code;
    case S4: return code & 8 ? (int32_t)(code & 15) - 16 : (int32_t)(code & 15);
    case S32: return (int32_t)code;
    default: return (int32_t)code;
    }
}

/* Lowest exponent of a normal number. */
static int lowest(kind k) { return 2 - (1 << (formats[k].exponent - 1)); }

static int exponent_of(double v, kind k)
{
    int e = ilogb(v);
    return e < lowest(k) ? lowest(k) : e;
}

static uint64_t code_of(kind k, double v)
{
    float single = (float)v;
    uint64_t code = 0;
    if (k == F64)
        memcpy(&code, &v, 8);
    else if (k == F32)
        memcpy(&code, &single, 4);
    if (k != F16)
        return v != v && k == F32 ? 0x7fffffff : code;
    if (v != v)
        return 0x7fff;
    uint64_t sign = signbit(v) ? 0x8000 : 0;
    if (isinf(v))
        return sign | 0x7c00;
    if (v == 0)
        return sign;
    int e = exponent_of(v, F16);
    uint64_t significand = (uint64_t)ldexp(fabs(v), 10 - e); /* exact */
    return sign | (significand < 1024 ? significand : ((uint64_t)(e + 15) << 10) + (significand - 1024));
}

/* ---- the documented sum ------------------------------------------------------------------------------------------ */

/* Terms of a step and bits after the largest one's point; bits of fraction that an f32 result keeps. */
static void machine_of(const product *p, uint32_t *step, int *bits, int *kept)
{
    bool f8 = p->a == E4M3 || p->a == E5M2;
    uint32_t bytes = p->sm >= 90 ? 32 : p->sm >= 75 ? 16 : 8;
    *step = bytes * 8 / kind_bits(p->a);
    *bits = p->sm >= 90 ? 25 : p->sm >= 75 ? 24 : 23;
    *kept = 23;
    if (f8 && p->sm == 89)
        *bits = *kept = 13;
}

static double round_sum(double v, bool half, int kept)
{
    if (v == 0 || v != v || isinf(v))
        return v;
    int e = exponent_of(v, half ? F16 : F32), fraction = half ? 10 : kept;
    double whole = ldexp(v, fraction - e);
    double r = ldexp(half ? nearbyint(whole) : trunc(whole), e - fraction);
    double limit = half ? 0x1p16 : 0x1p128;
    return fabs(r) >= limit ? copysign((double)INFINITY, r) : r;
}

static double step_sum(const product *p, const double *a, const double *b, uint32_t count, double c, bool half,
                       int bits)
{
    double plain = c, sum = 0;
    int top = -126;
    for (uint32_t k = 0; k < count; k++)
        plain += a[k] * b[k];
    if (!isfinite(plain))
        return plain;
    if (c != 0 && exponent_of(c, half ? F16 : F32) > top)
        top = exponent_of(c, half ? F16 : F32);
    for (uint32_t k = 0; k < count; k++)
        if (a[k] != 0 && b[k] != 0 && exponent_of(a[k], p->a) + exponent_of(b[k], p->b) > top)
            top = exponent_of(a[k], p->a) + exponent_of(b[k], p->b);
    sum = trunc(ldexp(c, bits - top)) + 0.0;
    for (uint32_t k = 0; k < count; k++)
        sum += trunc(ldexp(a[k] * b[k], bits - top));
    return ldexp(sum, top - bits);
}

static uint64_t float_product(const product *p, const uint64_t *a, const uint64_t *b, uint64_t c)
{
    double left[64], right[64], sum = kind_value(p->c, c);
    bool half = p->c == F16 && p->d == F16;
    uint32_t step;
    int bits, kept;
    machine_of(p, &step, &bits, &kept);
    for (uint32_t k = 0; k < p->depth; k++) {
        left[k] = kind_value(p->a, a[k]);
        right[k] = kind_value(p->b, b[k]);
    }
    for (uint32_t k = 0; k < p->depth; k += step) {
        uint32_t count = step < p->depth - k ? step : p->depth - k;
        sum = round_sum(step_sum(p, left + k, right + k, count, sum, half, bits), half, kept);
    }
    if (p->d == F16 && !half)
        sum = round_sum(sum, true, 0);
    if (p->saturate)
        sum = sum != sum ? 0 : isinf(sum) ? copysign(p->d == F16 ? 65504.0 : 0x1.fffffep127, sum) : sum;
    return code_of(p->d, sum);
}

/* A NaN is the first one among the sources, made quiet. */
static uint64_t fused(uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t sources[3] = {a, b, c}, quiet = 1ull << 51, infinity = 0x7ffull << 52;
    volatile double values[3], sum;
    uint64_t bits;
    memcpy((void *)(uintptr_t)values, sources, sizeof sources);
    sum = fma(values[0], values[1], values[2]);
    memcpy(&bits, (void *)(uintptr_t)&sum, 8);
    if ((bits & ~(1ull << 63)) <= infinity)
        return bits;
    for (int i = 0; i < 3; i++)
        if ((sources[i] & ~(1ull << 63)) > infinity)
            return sources[i] | quiet;
    return 0xfff8000000000000;
}

static uint64_t double_product(const product *p, const uint64_t *a, const uint64_t *b, uint64_t c)
{
    fesetround(p->rounding);
    for (uint32_t k = 0; k < p->depth; k++)
        c = fused(a[k], b[k], c);
    fesetround(FE_TONEAREST);
    return c;
}

uint64_t product_of(const product *p, const uint64_t *a, const uint64_t *b, uint64_t c)
{
    int64_t sum = kind_integer(S32, c);
    if (p->a == F64)
        return double_product(p, a, b, c);
    if (formats[p->a].exponent)
        return float_product(p, a, b, c);
    for (uint32_t k = 0; k < p->depth; k++)
        sum += p->a == B1 ? (int64_t)(p->bits_and ? a[k] & b[k] : a[k] ^ b[k])
                          : (int64_t)kind_integer(p->a, a[k]) * kind_integer(p->b, b[k]);
    if (p->saturate && sum > INT32_MAX)
        sum = INT32_MAX;
    if (p->saturate && sum < INT32_MIN)
        sum = INT32_MIN;
    return (uint32_t)sum;
}

double product_bound(const product *p, const uint64_t *a, const uint64_t *b, uint64_t c, double *exact)
{
    uint32_t step;
    int bits, kept;
    double all = fabs(kind_value(p->c, c));
    long double sum = kind_value(p->c, c);
    machine_of(p, &step, &bits, &kept);
    for (uint32_t k = 0; k < p->depth; k++) {
        long double term = (long double)kind_value(p->a, a[k]) * kind_value(p->b, b[k]);
        sum += term;
        all += (double)fabsl(term);
    }
    *exact = (double)sum;
    uint32_t steps = (p->depth + step - 1) / step, terms = step < p->depth ? step : p->depth;
    return steps * all * ((terms + 1) * ldexp(1, -bits) + ldexp(1, p->d == F16 ? -11 : -kept)) * 1.01 + 0x1p-24;
}

/* ---- codes ------------------------------------------------------------------------------------------------------- */

uint64_t random_code(kind k, int center, uint64_t *state)
{
    const struct format *f = &formats[k];
    uint64_t any = unit_random(state), mask = f->bits == 64 ? ~0ull : (1ull << f->bits) - 1;
    if (k == S32 && center == ANY_BITS && any >> 63)
        return (any & 1 ? 0x80000000u : 0x7fffffffu) ^ (any >> 8 & 0xfff);
    if (k == S32 && center != ANY_BITS)
        return (uint32_t)((int32_t)(any % 2001) - 1000);
    if (k == F64 && center == ANY_BITS && !(any >> 24 & 7))
        any |= 0x7ffull << 52;
    if (center == ANY_BITS || !f->exponent)
        return any & mask;
    int bias = (1 << (f->exponent - 1)) - 1, exponent = bias + center + 2 - (int)(any % 5);
    exponent = exponent < 0 ? 0 : exponent > 2 * bias ? 2 * bias : exponent;
    uint64_t fraction = unit_random(state) & ((1ull << f->fraction) - 1);
    if (!(any >> 32 & 15))
        return 0;
    return (any >> 40 & 1) << (f->bits - 1) | (uint64_t)exponent << f->fraction | fraction;
}

uint64_t field_get(const void *packed, uint32_t i, uint32_t bits)
{
    const uint8_t *bytes = packed;
    uint64_t code = 0;
    if (bits < 8)
        return bytes[i * bits / 8] >> (i * bits % 8) & ((1u << bits) - 1);
    memcpy(&code, bytes + (size_t)i * bits / 8, bits / 8);
    return code;
}

void field_set(void *packed, uint32_t i, uint32_t bits, uint64_t code)
{
    uint8_t *bytes = packed, *at = bytes + i * bits / 8;
    uint32_t shift = i * bits % 8, mask = bits < 8 ? ((1u << bits) - 1) << shift : 0;
    if (bits < 8)
        *at = (uint8_t)((*at & ~mask) | (code << shift & mask));
    else
        memcpy(bytes + (size_t)i * bits / 8, &code, bits / 8);
}
