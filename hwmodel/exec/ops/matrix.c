/* Fragments and dense matrices; products of fragments. A register holds a block of 8 lines by 4 units, so that
 * gathering and scattering are copies of 16 or 32 bytes (layout: matrix.h). */
#include "hwmodel/exec/ops/matrix.h"
#include "hwmodel/exec/ops/scalar.h"
#include "hwmodel/exec/state/fault.h"
#include <fenv.h>
#include <stdio.h>

hd_step hd_matrix_converged(const hd_op *op, hd_warp *w, uint32_t mask)
{
    char note[160];
    if (mask == HD_ALL_LANES)
        return HD_STEP_NEXT;
    if (w->lanes == mask)
        snprintf(note, sizeof note, "the others have ended or were never there (a block of %u threads)",
                 hd_grid_threads_per_cta(w->cta->grid));
    else
        snprintf(note, sizeof note, "the lanes 0x%08x of the warp have not ended and are elsewhere", w->lanes & ~mask);
    return hd_fault_note(op, w, mask, note,
                         "divergent matrix instruction: only %d of the 32 lanes of the warp execute it",
                         __builtin_popcount(mask));
}

/* ---- fragments --------------------------------------------------------------------------------------------------- */

/* The register of a block; if two registers form a block, the first. */
static uint32_t block_register(const hd_fragment *f, uint32_t line_block, uint32_t block)
{
    uint32_t at = f->along_first ? line_block * f->blocks + block : block * f->line_blocks + line_block;
    return f->pairs ? 2 * at : at;
}

/* Sizes are constants at the call sites, so that copies become moves. Copies lane l's elements 2 * (l % 4) and the next
 * of line l / 4, from or to two registers. */
static inline void read_pair(unsigned char *to, const unsigned char *low, const unsigned char *high, uint32_t unit)
{
    for (uint32_t i = 0; i < 4; i++) {
        memcpy(to + (size_t)2 * i * unit, low + (size_t)i * unit, unit);
        memcpy(to + (size_t)(2 * i + 1) * unit, high + (size_t)i * unit, unit);
    }
}
static inline void write_pair(unsigned char *low, unsigned char *high, const unsigned char *from, uint32_t unit)
{
    for (uint32_t i = 0; i < 4; i++) {
        memcpy(low + (size_t)i * unit, from + (size_t)2 * i * unit, unit);
        memcpy(high + (size_t)i * unit, from + (size_t)(2 * i + 1) * unit, unit);
    }
}

static void read_block(const hd_warp *w, const hd_fragment *f, const hd_ref *refs, unsigned char *to)
{
    const unsigned char *low = hd_row(w, refs[0]), *high = f->pairs ? hd_row(w, refs[1]) : NULL;
    uint32_t size = 4u * f->unit;
    for (uint32_t line = 0; line < 8; line++, to += f->line_bytes, low += size) {
        if (!high && size == 16)
            memcpy(to, low, 16);
        else if (!high)
            memcpy(to, low, 32);
        else if (f->unit == 4)
            read_pair(to, low, high + (size_t)line * 16, 4);
        else
            read_pair(to, low, high + (size_t)line * 32, 8);
    }
}

void hd_fragment_read(const hd_warp *w, const hd_fragment *f, void *lines)
{
    const hd_ref *refs = hd_top_frame(w)->code->refs.items + f->first;
    uint32_t size = (f->pairs ? 8u : 4u) * f->unit;
    for (uint32_t i = 0; i < f->line_blocks; i++)
        for (uint32_t k = 0; k < f->blocks; k++)
            read_block(w, f, refs + block_register(f, i, k),
                       (unsigned char *)lines + (size_t)i * 8 * f->line_bytes + (size_t)k * size);
}

static void write_block(unsigned char *low, unsigned char *high, const hd_fragment *f, const unsigned char *from)
{
    uint32_t size = 4u * f->unit;
    for (uint32_t line = 0; line < 8; line++, from += f->line_bytes, low += size) {
        if (!f->pairs && size == 16)
            memcpy(low, from, 16);
        else if (!f->pairs)
            memcpy(low, from, 32);
        else if (f->unit == 4)
            write_pair(low, high + (size_t)line * 16, from, 4);
        else
            write_pair(low, high + (size_t)line * 32, from, 8);
    }
}

/* Discarded registers of the list (_) have scratch rows. */
void hd_fragment_write(hd_warp *w, const hd_fragment *f, const void *lines)
{
    const hd_ref *refs = hd_top_frame(w)->code->refs.items + f->first;
    uint32_t size = (f->pairs ? 8u : 4u) * f->unit, distinct = f->line_blocks * f->blocks * (f->pairs ? 2u : 1u);
    unsigned char unused[2][LANES * 8];
    for (uint32_t repeat = 0; repeat < f->count; repeat += distinct)
        for (uint32_t i = 0; i < f->line_blocks; i++)
            for (uint32_t k = 0; k < f->blocks; k++) {
                const hd_ref *at = refs + repeat + block_register(f, i, k);
                unsigned char *low = at[0] == HD_NO_REF ? unused[0] : hd_row_of_frame(w, at[0]);
                unsigned char *high = !f->pairs || at[1] == HD_NO_REF ? unused[1] : hd_row_of_frame(w, at[1]);
                write_block(low, high, f,
                            (const unsigned char *)lines + (size_t)i * 8 * f->line_bytes + (size_t)k * size);
            }
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

static void read_sums(const hd_warp *w, const hd_matrix *x, hd_matrix_sums *sums)
{
    uint16_t halves[HD_MATRIX_SUMS];
    if (x->c.type == HD_TYPE_F16) {
        hd_fragment_read(w, &x->c, halves);
        hd_matrix_widen(sums->f32, halves, (uint32_t)x->m * x->n);
    } else {
        hd_fragment_read(w, &x->c, sums);
    }
}

static void write_sums(hd_warp *w, const hd_matrix *x, const hd_matrix_sums *sums)
{
    uint16_t halves[HD_MATRIX_SUMS];
    if (x->d.type == HD_TYPE_F16) {
        hd_matrix_narrow(halves, sums->f32, (uint32_t)x->m * x->n);
        hd_fragment_write(w, &x->d, halves);
    } else {
        hd_fragment_write(w, &x->d, sums);
    }
}

static void multiply(const hd_matrix *x, hd_warp *w)
{
    _Alignas(64) unsigned char a[HD_MATRIX_BYTES], b[HD_MATRIX_BYTES];
    _Alignas(64) hd_matrix_sums sums;
    hd_fragment_read(w, &x->a, a);
    hd_fragment_read(w, &x->b, b);
    read_sums(w, x, &sums);
    hd_matrix_multiply(x, a, b, &sums);
    write_sums(w, x, &sums);
}

hd_step hd_run_matrix_multiply(const hd_op *op, hd_warp *w, uint32_t mask)
{
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    const hd_matrix *x = op->use.detail;
    if (hd_matrix_converged(op, w, mask) != HD_STEP_NEXT)
        return HD_STEP_STOP;
    if (op->rounding)
        fesetround(modes[op->rounding]);
    if (x->quads)
        hd_matrix_multiply_quads(x, w);
    else
        multiply(x, w);
    if (op->rounding)
        fesetround(FE_TONEAREST);
    return HD_STEP_NEXT;
}
