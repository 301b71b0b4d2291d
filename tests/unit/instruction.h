/* Executes one instruction in the interpreter on many values and compares with a reference: all pairs of edge values of
 * its types, and random ones; in all lanes of the warps, and in some, where the other lanes must keep D. */
#ifndef HD_TESTS_INSTRUCTION_H
#define HD_TESTS_INSTRUCTION_H

#include "kernel.h"

typedef struct values {
    uint64_t a, b, c;
} values;
typedef uint64_t reference(values v);

typedef struct row {
    const char *instruction; /* with the operands D A B C */
    char d, a, b, c;         /* register kinds: h 16 bits, r 32, x 64, f f32, d f64, p predicate, - none */
    reference *expected;
} row;

void check_row(const row *r);

#endif
