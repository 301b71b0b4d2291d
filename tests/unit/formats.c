#include "formats.h"

#include <float.h>
#include <math.h>

_Static_assert(LDBL_MANT_DIG >= 64, "the reference needs 64 bits of precision");

const format formats[FORMATS] = {
    {"u8", 0, 0, '#', 8, 1, 8, 0, 'r', 0},
    {"s8", 0, 1, '#', 8, 1, 8, 0, 'r', 0},
    {"u16", 0, 0, '#', 16, 1, 16, 0, 'h', 0},
    {"s16", 0, 1, '#', 16, 1, 16, 0, 'h', 0},
    {"u32", 0, 0, '#', 32, 1, 32, 0, 'r', 0},
    {"s32", 0, 1, '#', 32, 1, 32, 0, 'r', 0},
    {"u64", 0, 0, '#', 64, 1, 64, 0, 'x', 0},
    {"s64", 0, 1, '#', 64, 1, 64, 0, 'x', 0},
    {"f16", 5, 10, 'i', 16, 1, 16, 0, 'h', 0x7fff},
    {"bf16", 8, 7, 'i', 16, 1, 16, 0, 'h', 0x7fff},
    {"f32", 8, 23, 'i', 32, 1, 32, 0, 'f', 0x7fffffff},
    {"f64", 11, 52, 'i', 64, 1, 64, 0, 'd', 0},
    {"tf32", 8, 10, 'i', 32, 1, 32, 13, 'r', 0x7fffffff},
    {"f16x2", 5, 10, 'i', 16, 2, 16, 0, 'r', 0x7fff},
    {"bf16x2", 8, 7, 'i', 16, 2, 16, 0, 'r', 0x7fff},
    {"e4m3x2", 4, 3, 'n', 8, 2, 8, 0, 'h', 0x7f},
    {"e5m2x2", 5, 2, 'i', 8, 2, 8, 0, 'h', 0x7f},
    {"e2m3x2", 2, 3, '-', 6, 2, 8, 0, 'h', 0x1f},
    {"e3m2x2", 3, 2, '-', 6, 2, 8, 0, 'h', 0x1f},
    {"e2m1x2", 2, 1, '-', 4, 2, 4, 0, 'c', 0x7},
    {"ue8m0x2", 8, 0, 's', 8, 2, 8, 0, 'h', 0xff},
    {"e4m3x4", 4, 3, 'n', 8, 4, 8, 0, 'r', 0x7f},
    {"e5m2x4", 5, 2, 'i', 8, 4, 8, 0, 'r', 0x7f},
    {"e2m3x4", 2, 3, '-', 6, 4, 8, 0, 'r', 0x1f},
    {"e3m2x4", 3, 2, '-', 6, 4, 8, 0, 'r', 0x1f},
};

static real power_of_2(int exponent)
{
    static real powers[2400];
    if (powers[0] == 0)
        for (int i = 0; i < 2400; i++)
            powers[i] = ldexpl(1, i - 1200);
    return powers[exponent + 1200];
}

/* The magnitude of a pattern without sign, as if the format had no special values. */
real magnitude_of(uint64_t pattern, const format *f)
{
    int exponent = (int)(pattern >> f->fraction), bias = (1 << (f->exponent - 1)) - 1;
    uint64_t fraction = pattern & ((1ull << f->fraction) - 1);
    if (f->special == 's')
        return power_of_2((int)pattern - 127);
    return exponent ? (real)(fraction | 1ull << f->fraction) * power_of_2(exponent - bias - f->fraction)
                    : (real)fraction * power_of_2(1 - bias - f->fraction);
}

uint64_t largest_of(const format *f)
{
    uint64_t ones = (1ull << (f->exponent + f->fraction)) - 1;
    return f->special == 'i' ? (ones >> f->fraction << f->fraction) - 1 : f->special == '-' ? ones : ones - 1;
}

value decode(uint64_t bits, const format *f)
{
    value v = {0};
    if (f->bits < 64)
        bits &= (1ull << f->bits) - 1;
    if (f->special == '#') {
        v.negative = f->fraction && bits >> (f->bits - 1);
        v.magnitude = (real)(v.negative ? (~bits & (~0ull >> (64 - f->bits))) : bits) + (v.negative ? 1 : 0);
        return v;
    }
    uint64_t pattern = bits;
    if (f->special != 's') {
        v.negative = bits >> (f->bits - 1);
        pattern = (bits & ~(1ull << (f->bits - 1))) >> f->zeros;
    }
    if (pattern > largest_of(f)) {
        uint64_t fraction = pattern & ((1ull << f->fraction) - 1);
        v.kind = f->special == 'i' && !fraction ? 'i' : 'n';
        v.payload = (uint64_t)v.negative << 63 | 0x7ff8ull << 48 | fraction << (52 - f->fraction);
        return v;
    }
    v.magnitude = magnitude_of(pattern, f);
    return v;
}

/* Between the neighbours low and high = low + 1 of magnitude m: the one to take. */
static bool takes_high(real m, real low, real high, bool low_even, bool negative, const how *h)
{
    real middle = (low + high) / 2;
    if (m == low)
        return false;
    switch (h->rounding) {
    case 'N': return m > middle || (m == middle && !low_even);
    case 'A': return m >= middle;
    case 'Z': return false;
    case 'M': return negative;
    case 'P': return !negative;
    default: return floorl((m - low) / (high - low) * (real)(1u << h->random_bits)) + h->random >= 1u << h->random_bits;
    }
}

static uint64_t encode_magnitude(value v, const format *f, const how *h)
{
    uint64_t largest = largest_of(f), low = 0, high = largest + 1;
    real top = magnitude_of(largest, f), beyond = top + (top - magnitude_of(largest - 1, f));
    if (v.kind == 'i')
        return h->finite ? largest : largest + 1;
    if (v.magnitude >= beyond && !(h->rounding == 'S' || h->rounding == 'N' || h->rounding == 'A'))
        v.magnitude = (top + beyond) / 2; /* beyond the range: as between the largest and infinity */
    if (v.magnitude >= beyond)
        return h->finite ? largest : largest + 1;
    if (v.magnitude < top) { /* a bracket near by: the magnitude is in [2^e, 2^(e+1)) */
        int exponent, bias = (1 << (f->exponent - 1)) - 1;
        frexpl(v.magnitude, &exponent);
        low = v.magnitude > 0 && exponent - 1 + bias > 0 ? (uint64_t)(exponent - 1 + bias) << f->fraction : 0;
        high = low + (v.magnitude > 0 ? 1ull << f->fraction : 1);
    }
    while (high - low > 1) {
        uint64_t middle = (low + high) / 2;
        if (magnitude_of(middle, f) <= v.magnitude)
            low = middle;
        else
            high = middle;
    }
    real above = high > largest ? beyond : magnitude_of(high, f);
    uint64_t chosen = takes_high(v.magnitude, magnitude_of(low, f), above, !(low & 1), v.negative, h) ? high : low;
    return chosen > largest && h->finite ? largest : chosen;
}

static uint64_t encode_scale(value v, const how *h)
{
    uint64_t n = 0, most = h->finite ? 254 : 255;
    if (v.kind == 'i')
        return most;
    while (n < 255 && power_of_2((int)n - 127) < v.magnitude)
        n++;
    if (n && h->rounding == 'Z' && power_of_2((int)n - 127) > v.magnitude)
        n--;
    return n > most ? most : n;
}

uint64_t encode(value v, const format *f, const how *h)
{
    if (h->sat && (v.kind == 'n' || v.negative))
        v = (value){0};
    if (v.kind == 'n')
        return f->nan ? f->nan : v.payload;
    if (h->sat && (v.kind == 'i' || v.magnitude > 1))
        v = (value){.magnitude = 1};
    if (h->relu && v.negative)
        v = (value){0};
    if (f->special == 's')
        return encode_scale(v, h);
    uint64_t pattern = encode_magnitude(v, f, h) << f->zeros;
    if (h->ftz && f == &formats[F32] && pattern < 0x800000)
        pattern = 0;
    return pattern | (uint64_t)v.negative << (f->bits - 1);
}

static real rounded_whole(real x, char mode)
{
    real down = floorl(x), rest = x - down;
    switch (mode) {
    case 'N': return rest > 0.5L || (rest == 0.5L && fmodl(down, 2) != 0) ? down + 1 : down;
    case 'Z': return x < 0 && rest > 0 ? down + 1 : down;
    case 'M': return down;
    default: return rest > 0 ? down + 1 : down;
    }
}

/* An integer in 64 bits; the caller cuts it to the register. */
static uint64_t encode_integer(value v, const format *f, const format *from, const how *h)
{
    int width = f->bits - f->fraction;
    real most = ldexpl(1, width) - 1, least = f->fraction ? -ldexpl(1, width) : 0;
    real x = v.negative ? -v.magnitude : v.magnitude;
    if (v.kind == 'n') {
        uint64_t sign = from == &formats[F64] || f->bits == 64 ? 1ull << (f->bits - 1) : 0;
        return f->fraction ? 0 - sign : sign;
    }
    if (from->special == '#' && !h->sat) {
        uint64_t wrapped = v.negative ? 0 - (uint64_t)v.magnitude : (uint64_t)v.magnitude;
        uint64_t cut = wrapped & (~0ull >> (64 - f->bits));
        return f->fraction && cut >> (f->bits - 1) ? cut | ~(~0ull >> (64 - f->bits)) : cut;
    }
    x = v.kind == 'i' ? (v.negative ? least : most) : x < least ? least : x > most ? most : x;
    return x < 0 ? 0 - (uint64_t)-x : (uint64_t)x;
}

uint64_t convert(uint64_t bits, const format *from, const format *to, const how *h)
{
    value v = decode(bits, from);
    if (h->ftz && from == &formats[F32] && v.kind == 0 && v.magnitude < 0x1p-126L)
        v.magnitude = 0;
    if (h->whole && v.kind == 0)
        v.magnitude = fabsl(rounded_whole(v.negative ? -v.magnitude : v.magnitude, h->whole));
    return to->special == '#' ? encode_integer(v, to, from, h) : encode(v, to, h);
}
