/* Matrix instructions: wmma, mma, ldmatrix, stmatrix, movmatrix. Private to hwmodel/exec.
 *
 * Fragments. A matrix consists of lines: rows of A and of the accumulators, columns of B. One register of the 32 lanes
 * holds 8 lines of 4 units each (a unit is a lane's register: 32 bits, or 64 for f64): lane l holds unit l % 4 of line
 * l / 4. So a register of a fragment is a block of 8 lines by 4 units, in the same layout as in memory, and a fragment
 * is a grid of blocks. The order of the blocks in the register list:
 *   A             down the lines first, then along k
 *   B             along k first, then over the lines
 *   accumulators  down the lines first, then along n; if a unit is an element (not a pair of f16), a block is 8 x 8
 *                 elements in two registers: lane l holds elements 2 * (l % 4) and 2 * (l % 4) + 1 of line l / 4
 * This is the PTX ISA's definition for mma. For wmma, whose fragments the ISA leaves unspecified, it is this model's
 * choice. A wmma fragment with more registers than blocks (most of those of f16 A and B with m8 or n8) repeats the
 * blocks; products read the first.
 *
 * mma.m8n8k4 of f16 is four products, one for each group of 8 lanes 4q..4q+3 and 4q+16..4q+19, with its own fragment
 * layout (matrix_quad.c). */
#ifndef HD_HWMODEL_EXEC_OPS_MATRIX_H
#define HD_HWMODEL_EXEC_OPS_MATRIX_H

#include "hwmodel/exec/state/program.h"

/* maximum bytes of a matrix; maximum number of accumulators of a product */
enum { HD_MATRIX_BYTES = 2048, HD_MATRIX_SUMS = 256 };

typedef enum hd_matrix_kind {
    HD_MATRIX_FLOAT,   /* summed as described in heddle-model(7) */
    HD_MATRIX_DOUBLE,  /* fused multiply-adds in the order of k */
    HD_MATRIX_INTEGER, /* exact, modulo 2^32 or clamped */
    HD_MATRIX_BITS,    /* population counts of the exclusive or, or of the and */
    HD_MATRIX_ACCUMULATOR,
} hd_matrix_kind;

typedef struct hd_matrix_type {
    uint8_t bits, kind, exponent_bits, fraction_bits;
} hd_matrix_type;
extern const hd_matrix_type hd_matrix_types[HD_TYPE_COUNT]; /* bits = 0: not a matrix element type */

typedef struct hd_fragment {
    uint32_t first;      /* its registers in code->refs */
    uint8_t count;       /* of them */
    uint8_t type;        /* hd_type of the elements */
    uint8_t unit;        /* bytes of a lane's register */
    uint8_t line_blocks; /* blocks of 8 lines */
    uint8_t blocks;      /* along a line */
    bool along_first;    /* block order: along the lines first (B) */
    bool pairs;          /* two registers form a block of 8 x 8 elements (accumulators) */
    uint16_t line_bytes;
} hd_fragment;

/* How FLOAT products are summed. */
typedef struct hd_matrix_model {
    uint8_t step;      /* number of products summed at a time */
    uint8_t cut;       /* 25 minus the number of bits kept after the binary point of the largest term */
    uint32_t f32_mask; /* mask of the bits of an f32 result that are kept */
} hd_matrix_model;

/* hd_op.use.detail of wmma.mma and mma. */
typedef struct hd_matrix {
    uint16_t m, n, k;
    uint8_t kind;               /* hd_matrix_kind */
    bool quads;                 /* four products of 8 x 8 x 4 */
    bool a_by_column, b_by_row; /* quads only */
    bool satfinite, is_and;
    hd_fragment d, a, b, c;
    hd_matrix_model model;
} hd_matrix;

/* hd_op.use.detail of wmma.load and wmma.store. */
typedef struct hd_matrix_access {
    hd_fragment fragment;
    bool across;         /* memory holds the matrix by the other kind of lines than the fragment */
    uint16_t line_bytes; /* of a line of memory */
    uint16_t lines;      /* of memory */
} hd_matrix_access;

/* hd_op.use.detail of ldmatrix and stmatrix. */
typedef struct hd_matrix_rows {
    uint32_t first;   /* registers in code->refs */
    uint8_t matrices; /* 1, 2 or 4 */
    bool transposed;
} hd_matrix_rows;

/* matrix_types.c: a fragment ('a', 'b' or 'c': accumulators) of `lines` lines of `length` elements, and its number of
 * registers. */
hd_fragment hd_matrix_lay_fragment(hd_type type, char matrix, uint32_t lines, uint32_t length);
uint32_t hd_fragment_registers(const hd_fragment *f);
/* Completes a product whose m, n and k are set: the kind, the fragments of d, a, b and c without their registers, and
 * how machines of that architecture (0: sm_80) sum. */
void hd_matrix_lay_product(hd_matrix *x, const hd_type types[4], uint32_t sm);

/* One product of dense matrices: a by rows, b by columns, packed as in memory; c, replaced by d, by rows: f32 (also for
 * f16 accumulators), s32 or f64. matrix_product.c */
typedef union hd_matrix_sums {
    float f32[HD_MATRIX_SUMS];
    int32_t s32[HD_MATRIX_SUMS];
    double f64[HD_MATRIX_SUMS];
} hd_matrix_sums;
void hd_matrix_multiply(const hd_matrix *x, const void *a, const void *b, hd_matrix_sums *sums);

/* Faults unless all 32 lanes execute it. matrix.c */
hd_step hd_matrix_converged(const hd_op *op, hd_warp *w, uint32_t mask);
void hd_fragment_read(const hd_warp *w, const hd_fragment *f, void *lines);
void hd_fragment_write(hd_warp *w, const hd_fragment *f, const void *lines);
/* matrix_quad.c: the product of mma.m8n8k4 of f16 */
void hd_matrix_multiply_quads(const hd_matrix *x, hd_warp *w);
/* Converts accumulators between the fragment's elements and f32. */
void hd_matrix_widen(float *to, const uint16_t *halves, uint32_t count);
void hd_matrix_narrow(uint16_t *to, const float *values, uint32_t count); /* rounds to nearest */

hd_op_run hd_run_matrix_multiply, hd_run_matrix_load, hd_run_matrix_store, hd_run_matrix_rows_load,
    hd_run_matrix_rows_store, hd_run_matrix_transpose;

#endif
