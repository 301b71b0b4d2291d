/* Matrix instructions: wmma, mma, ldmatrix, stmatrix, movmatrix. Private to hwmodel/exec.
 *
 * Fragments. A matrix is seen as lines: rows of A and of the accumulators, columns of B. One register of the 32 lanes
 * holds 8 lines of 4 units each (a unit is what a lane's register holds: 32 bits, or 64 of f64): lane l has unit l % 4
 * of line l / 4. So a register of a fragment is a block of 8 lines by 4 units, stored exactly as such a block is
 * stored, and a fragment is a grid of blocks. The order of the blocks in the register list: A             down the
 * lines first, then along k B             along k first, then over the lines accumulators  down the lines first, then
 * along n; where a unit is an element (not a pair of f16), the block is 8 x 8 elements in two registers: lane l has
 * elements 2 * (l % 4) and 2 * (l % 4) + 1 of line l / 4 This is what the PTX ISA defines for mma. For wmma, whose
 * fragments the ISA leaves open, it is this model's choice. A wmma fragment with more registers than blocks (A and B of
 * f16, m8 or n8 of them most) repeats the blocks; products read the first.
 *
 * mma.m8n8k4 of f16 is four products, one for each group of 8 lanes 4q..4q+3 and 4q+16..4q+19, with fragments of its
 * own (matrix_quad.c). */
#ifndef HD_HWMODEL_EXEC_OPS_MATRIX_H
#define HD_HWMODEL_EXEC_OPS_MATRIX_H

#include "hwmodel/exec/state/program.h"

enum { HD_MATRIX_BYTES = 2048, HD_MATRIX_SUMS = 256 }; /* the most that a matrix has; accumulators of a product */

typedef enum hd_matrix_kind {
    HD_MATRIX_FLOAT,   /* products summed as heddle-model(7) says */
    HD_MATRIX_DOUBLE,  /* fused multiply-adds in the order of k */
    HD_MATRIX_INTEGER, /* exact, modulo 2^32 or clamped */
    HD_MATRIX_BITS,    /* ones of the exclusive or, or of the and */
    HD_MATRIX_ACCUMULATOR,
} hd_matrix_kind;

typedef struct hd_matrix_type {
    uint8_t bits, kind, exponent_bits, fraction_bits;
} hd_matrix_type;
extern const hd_matrix_type hd_matrix_types[HD_TYPE_COUNT]; /* bits = 0: no type of matrices */

typedef struct hd_fragment {
    uint32_t first;      /* its registers in code->refs */
    uint8_t count;       /* of them */
    uint8_t type;        /* hd_type of the elements */
    uint8_t unit;        /* bytes of a lane's register */
    uint8_t line_blocks; /* blocks of 8 lines */
    uint8_t blocks;      /* along a line */
    bool along_first;    /* order: along the lines first (B) */
    bool pairs;          /* two registers make a block of 8 x 8 elements (accumulators) */
    uint16_t line_bytes;
} hd_fragment;

/* How sums of FLOAT products are made. */
typedef struct hd_matrix_model {
    uint8_t step;      /* products summed at a time */
    uint8_t cut;       /* 25 less the bits that are kept behind the binary point of the largest */
    uint32_t f32_mask; /* bits of an f32 result that are kept */
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
    bool across;         /* memory holds the matrix by lines of the other kind than the fragment's */
    uint16_t line_bytes; /* of a line of memory */
    uint16_t lines;      /* of memory */
} hd_matrix_access;

/* hd_op.use.detail of ldmatrix and stmatrix. */
typedef struct hd_matrix_rows {
    uint32_t first;   /* registers in code->refs */
    uint8_t matrices; /* 1, 2 or 4 */
    bool transposed;
} hd_matrix_rows;

/* One product of dense matrices: a by rows, b by columns, packed as in memory; c, which becomes d, by rows: f32 (also
 * where the accumulators are f16), s32 or f64. matrix_product.c */
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
/* Accumulators between the fragment's elements and f32. */
void hd_matrix_widen(float *to, const uint16_t *halves, uint32_t count);
void hd_matrix_narrow(uint16_t *to, const float *values, uint32_t count); /* rounds to nearest */

hd_run hd_run_matrix_multiply, hd_run_matrix_load, hd_run_matrix_store, hd_run_matrix_rows_load,
    hd_run_matrix_rows_store, hd_run_matrix_transpose;

#endif
