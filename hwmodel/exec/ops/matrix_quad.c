/* mma.m8n8k4 of f16: four products of 8 x 8 x 4. Product q belongs to the lanes 4q..4q+3 and 4q+16..4q+19. Its line r
 * (a row of A by rows and of f16 accumulators, a column of B by columns) belongs to the lane with index r % 4, below 16
 * for r < 4, else above. A by columns and B by rows are stored across: a lane holds one k of four lines. f32
 * accumulators are distributed by 2 x 2 blocks. */
#include "hwmodel/exec/ops/matrix.h"
#include "hwmodel/exec/state/state.h"

enum { SIDE = 8, DEPTH = 4 };

static uint32_t lane_of(uint32_t product, uint32_t line) { return 4 * product + line % 4 + (line >= 4 ? 16 : 0); }

static const uint16_t *halves_of(const hd_warp *w, const hd_fragment *f, uint32_t reg, uint32_t lane)
{
    const hd_ref *refs = hd_top_frame(w)->code->refs.items + f->first;
    return (const uint16_t *)hd_row(w, refs[reg]) + (size_t)2 * lane;
}

/* Lines of four halves, from two registers. */
static void read_factor(const hd_warp *w, const hd_fragment *f, uint32_t product, bool across, uint16_t to[SIDE][DEPTH])
{
    for (uint32_t line = 0; line < SIDE; line++)
        for (uint32_t k = 0; k < DEPTH; k++) {
            uint32_t lane = lane_of(product, across ? k + (line & 4) : line), at = across ? line % 4 : k;
            to[line][k] = halves_of(w, f, at / 2, lane)[at % 2];
        }
}

/* Lane and register of an f32 accumulator, by row and column. */
static void locate_accumulator(uint32_t product, uint32_t row, uint32_t column, uint32_t *lane, uint32_t *reg)
{
    *lane = 4 * product + (row & 1) + (column & 2) + (row & 4 ? 16 : 0);
    *reg = (column & 1) + (row & 2) + (column & 4);
}

static void read_sums(const hd_warp *w, const hd_fragment *f, uint32_t product, float *to)
{
    const hd_ref *refs = hd_top_frame(w)->code->refs.items + f->first;
    for (uint32_t row = 0; row < SIDE; row++)
        for (uint32_t column = 0; column < SIDE; column++) {
            uint32_t lane, reg;
            locate_accumulator(product, row, column, &lane, &reg);
            if (f->type == HD_TYPE_F16)
                hd_matrix_widen(&to[row * SIDE + column],
                                halves_of(w, f, column / 2, lane_of(product, row)) + column % 2, 1);
            else
                to[row * SIDE + column] = ((const float *)hd_row(w, refs[reg]))[lane];
        }
}

static void write_sums(hd_warp *w, const hd_fragment *f, uint32_t product, const float *from)
{
    const hd_ref *refs = hd_top_frame(w)->code->refs.items + f->first;
    for (uint32_t row = 0; row < SIDE; row++)
        for (uint32_t column = 0; column < SIDE; column++) {
            uint32_t lane, reg;
            locate_accumulator(product, row, column, &lane, &reg);
            if (f->type == HD_TYPE_F16) {
                reg = column / 2;
                lane = lane_of(product, row);
            }
            if (refs[reg] == HD_NO_REF)
                continue;
            if (f->type == HD_TYPE_F16)
                hd_matrix_narrow((uint16_t *)hd_row_of_frame(w, refs[reg]) + 2 * lane + column % 2,
                                 &from[row * SIDE + column], 1);
            else
                ((float *)hd_row_of_frame(w, refs[reg]))[lane] = from[row * SIDE + column];
        }
}

void hd_matrix_multiply_quads(const hd_matrix *x, hd_warp *w)
{
    hd_matrix_sums sums[4];
    for (uint32_t q = 0; q < 4; q++) {
        uint16_t a[SIDE][DEPTH], b[SIDE][DEPTH];
        read_factor(w, &x->a, q, x->a_by_column, a);
        read_factor(w, &x->b, q, x->b_by_row, b);
        read_sums(w, &x->c, q, sums[q].f32);
        hd_matrix_multiply(x, a, b, &sums[q]);
    }
    for (uint32_t q = 0; q < 4; q++)
        write_sums(w, &x->d, q, sums[q].f32);
}
