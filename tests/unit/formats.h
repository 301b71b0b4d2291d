/* A second implementation of conversions between all formats, for tests: a result is found by binary search among the
 * values of its format and selected by comparison with the midpoint, in long double, which represents every source and
 * every midpoint exactly. */
#ifndef HD_TESTS_FORMATS_H
#define HD_TESTS_FORMATS_H

#include <stdbool.h>
#include <stdint.h>

typedef long double real;

typedef struct format {
    const char *name;
    int exponent, fraction; /* bits; integers: exponent 0, fraction 1 where signed */
    char special;           /* i: infinity and NaN, n: NaN only, -: none, s: scale, #: integer */
    int bits, count, spacing, zeros;
    char reg; /* c 8 bits, h 16, r 32, x 64, f, d */
    uint64_t nan;
} format;

enum {
    U8,
    S8,
    U16,
    S16,
    U32,
    S32,
    U64,
    S64,
    INTEGERS,
    F16 = INTEGERS,
    BF16,
    F32,
    F64,
    TF32,
    F16X2,
    BF16X2,
    E4M3X2,
    E5M2X2,
    E2M3X2,
    E3M2X2,
    E2M1X2,
    UE8M0X2,
    E4M3X4,
    E5M2X4,
    E2M3X4,
    E3M2X4,
    FORMATS
};
extern const format formats[FORMATS];

typedef struct value {
    char kind; /* 0 finite, i infinite, n NaN */
    bool negative;
    real magnitude;
    uint64_t payload; /* of a NaN: as an f64 has it */
} value;

/* rounding: N nearest even, A nearest away, Z zero, M down, P up, S with random bits */
typedef struct how {
    char rounding, whole; /* whole: N Z M P, or 0 */
    bool ftz, sat, finite, relu;
    uint32_t random, random_bits;
} how;

real magnitude_of(uint64_t pattern, const format *f); /* without sign, ignoring special values */
uint64_t largest_of(const format *f);                 /* the pattern of the largest finite value */
value decode(uint64_t bits, const format *f);
uint64_t encode(value v, const format *f, const how *h);
/* Converts one value; integers in 64 bits, to be truncated to the register. */
uint64_t convert(uint64_t bits, const format *from, const format *to, const how *h);

#endif
