/* A reference for 16-bit floats that shares nothing with the interpreter: values are exact numbers of 640 bits, rounded
 * bit by bit. */
#ifndef HD_TESTS_HALF_H
#define HD_TESTS_HALF_H

#include <stdbool.h>
#include <stdint.h>

typedef struct half_format {
    int exponent_bits, fraction_bits;
} half_format;
extern const half_format half_f16, half_bf16;

typedef enum half_rounding { TO_NEAREST, TO_ZERO, TO_MINUS, TO_PLUS } half_rounding;

bool half_is_nan(half_format f, uint16_t v);
bool half_is_subnormal(half_format f, uint16_t v);
double half_value(half_format f, uint16_t v);
uint16_t half_one(half_format f);
/* a * b + c, rounded once; a NaN result is 0x7fff. */
uint16_t half_fma(half_format f, half_rounding rounding, uint16_t a, uint16_t b, uint16_t c);
uint16_t half_add(half_format f, uint16_t a, uint16_t b);
uint16_t half_mul(half_format f, uint16_t a, uint16_t b);

#endif
