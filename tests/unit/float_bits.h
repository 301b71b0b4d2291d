/* Registers' bits as floating-point values, and back, for references of instructions. */
#ifndef HD_TESTS_FLOAT_BITS_H
#define HD_TESTS_FLOAT_BITS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float f(uint64_t bits)
{
    uint32_t b = (uint32_t)bits;
    float x;
    memcpy(&x, &b, 4);
    return x;
}

static inline double d(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

static inline uint64_t of_f(float x)
{
    uint32_t b;
    memcpy(&b, &x, 4);
    return isnan(x) ? 0x7fffffff : b;
}

static inline uint64_t of_d(double x)
{
    uint64_t b;
    memcpy(&b, &x, 8);
    return b;
}

static inline uint64_t flush(uint64_t bits) { return fpclassify(f(bits)) == FP_SUBNORMAL ? bits & 0x80000000 : bits; }

static inline uint64_t saturate(uint64_t bits)
{
    float x = f(bits);
    return of_f(!(x > 0) ? 0 : x > 1 ? 1 : x);
}

#endif
