/* Expected results of matrix products, one sum at a time: an independent reference for the tests of matrix
 * instructions. */
#ifndef HD_TESTS_MATRIX_REFERENCE_H
#define HD_TESTS_MATRIX_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum kind { F16, BF16, TF32, E4M3, E5M2, F64, F32, S8, U8, S4, U4, B1, S32 } kind;

uint32_t kind_bits(kind k);
double kind_value(kind k, uint64_t code); /* floats; NaN and infinities too */
int32_t kind_integer(kind k, uint64_t code);

typedef struct product {
    kind a, b, c, d;
    uint32_t depth;
    uint32_t sm;   /* of the target */
    bool saturate; /* .satfinite */
    bool bits_and; /* b1: and, else xor */
    int rounding;  /* f64: of fesetround */
} product;

/* One element of d: codes of a row of A, of a column of B, and of c. */
uint64_t product_of(const product *p, const uint64_t *a, const uint64_t *b, uint64_t c);

/* The maximum error of d against the exact sum, according to the manual. */
double product_bound(const product *p, const uint64_t *a, const uint64_t *b, uint64_t c, double *exact);

/* A random code. Floats: exponents around `center`, now and then a zero. */
enum { ANY_BITS = 10000 }; /* as center: any bits; of s32, often close to its limits */
uint64_t random_code(kind k, int center, uint64_t *state);

/* Bit fields of packed elements: element i of `bits` each. */
uint64_t field_get(const void *packed, uint32_t i, uint32_t bits);
void field_set(void *packed, uint32_t i, uint32_t bits, uint64_t code);

#endif
