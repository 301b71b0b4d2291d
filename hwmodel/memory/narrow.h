/* 16-bit floats: f16 (1+5+10 bits) and bf16 (1+8+7 bits) from and to wider formats, exact, round to nearest even in one
 * step. NaNs become the quiet NaN 0x7fff, as in the GPU's conversions. */
#ifndef HD_HWMODEL_MEMORY_NARROW_H
#define HD_HWMODEL_MEMORY_NARROW_H

#include <stdint.h>
#include <string.h>

/* A double in a binary format of `exponent_bits` and `fraction_bits` (at most 11 and 32): round to nearest even. */
static inline uint32_t hd_narrow_double(double value, uint32_t exponent_bits, uint32_t fraction_bits)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    uint32_t total = 1 + exponent_bits + fraction_bits;
    uint32_t sign = (uint32_t)(bits >> 63) << (total - 1);
    uint32_t infinity = ((1u << exponent_bits) - 1) << fraction_bits;
    int32_t exponent = (int32_t)(bits >> 52 & 0x7ff);
    uint64_t fraction = bits & 0xfffffffffffffull;
    if (exponent == 0x7ff)
        return fraction ? (1u << (total - 1)) - 1 : sign | infinity;
    if (!exponent) /* a subnormal double is far below half the smallest value of the format */
        return sign;
    int32_t bias = (1 << (exponent_bits - 1)) - 1;
    int32_t narrow = exponent - 1023 + bias; /* biased exponent in the format, if normal */
    uint64_t significand = fraction | 1ull << 52;
    uint32_t drop = 52 - fraction_bits; /* bits to drop */
    if (narrow < 1) {
        drop += (uint32_t)(1 - narrow);
        narrow = 0;
    }
    if (drop > 54)
        return sign;
    uint64_t kept = significand >> drop, rest = significand & ((1ull << drop) - 1), half = 1ull << (drop - 1);
    kept += rest > half || (rest == half && (kept & 1));
    /* A normal value's leading bit adds one to the exponent field; a carry out of the fraction moves up by itself. */
    uint64_t packed = ((uint64_t)(narrow ? narrow - 1 : 0) << fraction_bits) + kept;
    return sign | (packed >= infinity ? infinity : (uint32_t)packed);
}

static inline uint16_t hd_f16_from_double(double value) { return (uint16_t)hd_narrow_double(value, 5, 10); }
static inline uint16_t hd_bf16_from_double(double value) { return (uint16_t)hd_narrow_double(value, 8, 7); }

static inline double hd_f16_to_double(uint16_t half)
{
    uint32_t exponent = half >> 10 & 31, fraction = half & 0x3ff;
    uint64_t sign = (uint64_t)(half >> 15) << 63, bits;
    if (exponent == 31) {
        bits = sign | 0x7ffull << 52 | (uint64_t)fraction << 42;
    } else if (exponent) {
        bits = sign | (uint64_t)(exponent - 15 + 1023) << 52 | (uint64_t)fraction << 42;
    } else {
        double value = (double)fraction * 0x1p-24;
        memcpy(&bits, &value, 8);
        bits |= sign;
    }
    double out;
    memcpy(&out, &bits, 8);
    return out;
}

#endif
