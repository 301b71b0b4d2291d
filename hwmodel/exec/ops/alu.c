/* Ops that compute lane by lane: the handling around the rows of exec.def (masks, rounding, flushing, saturation), and
 * hand-written instructions: moves, selections, comparisons, predicates, extended precision. */
#include "hwmodel/exec/ops/alu.h"
#include "hwmodel/exec/ops/rows.h"
#include "hwmodel/exec/ops/scalar.h"
#include "hwmodel/exec/ops/special.h"
#include <fenv.h>

/* ---- rows of exec.def -------------------------------------------------------------------------------------------- */

hd_step hd_run_lanes(const hd_op *op, hd_warp *w, uint32_t mask)
{
    void *d = hd_row_of_frame(w, op->d);
    void *to = mask == HD_ALL_LANES ? d : w->cta->scratch[0];
    op->use.lanes(to, hd_row(w, op->a), hd_row(w, op->b), hd_row(w, op->c));
    if (mask != HD_ALL_LANES)
        hd_merge(d, to, mask, op->d_bytes);
    return HD_STEP_NEXT;
}

static const void *active_lanes(const hd_op *op, hd_warp *w, hd_ref source, uint32_t slot, uint32_t mask)
{
    hd_keep(w->cta->scratch[slot], hd_row(w, source), mask, op->d_bytes);
    return w->cta->scratch[slot];
}

/* Inactive lanes may hold small integers, which are subnormal as floats; many hosts multiply these a hundred times more
 * slowly. */
hd_step hd_run_float_lanes(const hd_op *op, hd_warp *w, uint32_t mask)
{
    if (mask == HD_ALL_LANES)
        return hd_run_lanes(op, w, mask);
    void *to = w->cta->scratch[0];
    op->use.lanes(to, active_lanes(op, w, op->a, 1, mask), op->count > 1 ? active_lanes(op, w, op->b, 2, mask) : NULL,
                  op->count > 2 ? active_lanes(op, w, op->c, 3, mask) : NULL);
    hd_merge(hd_row_of_frame(w, op->d), to, mask, op->d_bytes);
    return HD_STEP_NEXT;
}

static int host_rounding(uint32_t rounding)
{
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    return modes[rounding];
}

/* Bytes of one of the rows that form a row of a packed type. */
static uint32_t part_bytes(const hd_op *op) { return (uint32_t)op->d_bytes * LANES / op->parts; }

/* Packed integers: each source is as wide as the result. */
hd_step hd_run_packed(const hd_op *op, hd_warp *w, uint32_t mask)
{
    unsigned char *to = w->cta->scratch[0];
    const unsigned char *a = hd_row(w, op->a), *b = hd_row(w, op->b), *c = hd_row(w, op->c);
    for (uint32_t at = 0; at < op->parts * part_bytes(op); at += part_bytes(op))
        op->use.lanes(to + at, a + at, b + at, c + at);
    hd_merge(hd_row_of_frame(w, op->d), to, mask, op->d_bytes);
    return HD_STEP_NEXT;
}

static const void *flushed(const hd_op *op, hd_warp *w, const void *row, uint32_t slot)
{
    hd_flush_row(w->cta->scratch[slot], row, (hd_type)op->float_type);
    return w->cta->scratch[slot];
}

static void in_rounding(const hd_op *op, void *to, const void *a, const void *b, const void *c)
{
    if (op->rounding)
        fesetround(host_rounding(op->rounding));
    op->use.lanes(to, a, b, c);
    if (op->rounding)
        fesetround(FE_TONEAREST);
}

/* Hardware flushes by the exponent that a result has when it is rounded to the full significand. As a subnormal it has
 * fewer bits, and may round up to the smallest normal number: twice the product, quotient or sum shows which. */
static void flush_results(const hd_op *op, void *to, const void *a, const void *b, const void *c)
{
    hd_type type = (hd_type)op->float_type;
    _Alignas(64) unsigned char twice_a[LANES * 4], twice_c[LANES * 4], twice[LANES * 4];
    if (op->flags & HD_OP_SCALES && hd_has_smallest(to, type)) {
        hd_double_row(twice_a, a, type);
        if (op->count > 2)
            hd_double_row(twice_c, c, type);
        in_rounding(op, twice, twice_a, b, twice_c);
        hd_flush_rounded_row(to, twice, type);
    }
    hd_flush_row(to, to, type);
}

/* One row of lanes. The host's rounding mode is set only around the call: the function has no constants that could have
 * been rounded before. */
static void run_float_part(const hd_op *op, hd_warp *w, void *to, const void *a, const void *b, const void *c)
{
    hd_type type = (hd_type)op->float_type;
    if (op->flags & HD_OP_FTZ) {
        a = flushed(op, w, a, 1);
        b = op->count > 1 ? flushed(op, w, b, 2) : b;
        c = op->count > 2 ? flushed(op, w, c, 3) : c;
    }
    in_rounding(op, to, a, b, c);
    if (op->flags & HD_OP_FTZ)
        flush_results(op, to, a, b, c);
    if (op->flags & HD_OP_SAT)
        hd_saturate_row(to, to, type);
}

/* Floating point with .ftz, .sat or a rounding mode other than to nearest. */
hd_step hd_run_float(const hd_op *op, hd_warp *w, uint32_t mask)
{
    unsigned char *to = w->cta->scratch[0];
    const unsigned char *a = hd_row(w, op->a), *b = hd_row(w, op->b), *c = hd_row(w, op->c);
    for (uint32_t at = 0; at < op->parts * part_bytes(op); at += part_bytes(op))
        run_float_part(op, w, to + at, a + at, b + at, c + at);
    hd_merge(hd_row_of_frame(w, op->d), to, mask, op->d_bytes);
    return HD_STEP_NEXT;
}

/* f32 with 16-bit sources: the first, and with three sources the second too. */
hd_step hd_run_mixed(const hd_op *op, hd_warp *w, uint32_t mask)
{
    void *to = w->cta->scratch[0], *a = w->cta->scratch[1], *wide = w->cta->scratch[2];
    const void *b = hd_row(w, op->b);
    hd_widen_row(a, hd_row(w, op->a), (hd_type)op->from_type);
    if (op->count == 3) {
        hd_widen_row(wide, b, (hd_type)op->from_type);
        b = wide;
    }
    run_float_part(op, w, to, a, b, hd_row(w, op->c));
    hd_merge(hd_row_of_frame(w, op->d), to, mask, op->d_bytes);
    return HD_STEP_NEXT;
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

hd_step hd_run_move(const hd_op *op, hd_warp *w, uint32_t mask)
{
    hd_merge(hd_row_of_frame(w, op->d), hd_row(w, op->a), mask, op->d_bytes);
    return HD_STEP_NEXT;
}

hd_step hd_run_move_pred(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t value = hd_warp_word(w, op->a);
    hd_set_warp_word(w, op->d, op->flags & HD_OP_NOT_A ? ~value : value, mask);
    return HD_STEP_NEXT;
}

hd_step hd_run_move_time(const hd_op *op, hd_warp *w, uint32_t mask)
{
    hd_special_refresh(w->cta->program, w);
    return hd_run_move(op, w, mask);
}

hd_step hd_run_nothing(const hd_op *op, hd_warp *w, uint32_t mask)
{
    (void)op, (void)w, (void)mask;
    return HD_STEP_NEXT;
}

/* ---- predicates and comparisons ---------------------------------------------------------------------------------- */

static uint32_t source_word(const hd_op *op, const hd_warp *w, hd_ref ref, uint32_t inverted)
{
    uint32_t value = hd_warp_word(w, ref);
    return op->flags & inverted ? ~value : value;
}

static uint32_t combine_words(uint32_t boolean, uint32_t a, uint32_t b)
{
    switch (boolean) {
    case 1: return a & b;
    case 2: return a | b;
    case 3: return a ^ b;
    default: return a;
    }
}

/* and, or, xor, not of predicates. The second one's inversion flag is that of c. */
hd_step hd_run_pred_logic(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t a = source_word(op, w, op->a, HD_OP_NOT_A);
    uint32_t b = op->boolean ? source_word(op, w, op->b, HD_OP_NOT_C) : 0;
    hd_set_warp_word(w, op->d, op->boolean ? combine_words(op->boolean, a, b) : ~a, mask);
    return HD_STEP_NEXT;
}

static uint32_t compare_rows(const hd_op *op, hd_warp *w, const void *a, const void *b)
{
    if (op->flags & HD_OP_FTZ)
        return op->use.compare(flushed(op, w, a, 1), flushed(op, w, b, 2));
    return op->use.compare(a, b);
}

static uint32_t compare(const hd_op *op, hd_warp *w) { return compare_rows(op, w, hd_row(w, op->a), hd_row(w, op->b)); }

/* The even bits, packed. */
static uint32_t even_bits(uint64_t v)
{
    v &= 0x5555555555555555ull;
    for (uint32_t step = 1; step < 32; step *= 2) {
        static const uint64_t keep[] = {0x3333333333333333ull, 0x0f0f0f0f0f0f0f0full, 0x00ff00ff00ff00ffull,
                                        0x0000ffff0000ffffull, 0x00000000ffffffffull};
        v = (v | v >> step) & keep[__builtin_ctz(step)];
    }
    return (uint32_t)v;
}

/* Packed halves: separate words for the low and the high ones. */
static void compare_packed(const hd_op *op, hd_warp *w, uint32_t truth[2])
{
    const unsigned char *a = hd_row(w, op->a), *b = hd_row(w, op->b);
    uint64_t both = compare_rows(op, w, a, b);
    both |= (uint64_t)compare_rows(op, w, a + 2 * LANES, b + 2 * LANES) << 32;
    truth[0] = even_bits(both);
    truth[1] = even_bits(both >> 1);
}

static uint32_t other_word(const hd_op *op, const hd_warp *w)
{
    return op->boolean ? source_word(op, w, op->c, HD_OP_NOT_C) : 0;
}

/* p|q of scalars: the comparison and its inverse; of packed halves: the comparison of the low and of the high ones. */
hd_step hd_run_setp(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t truth[2], other = other_word(op, w);
    if (op->parts == 2) {
        compare_packed(op, w, truth);
    } else {
        truth[0] = compare(op, w);
        truth[1] = ~truth[0];
    }
    if (op->d != HD_NO_REF)
        hd_set_warp_word(w, op->d, combine_words(op->boolean, truth[0], other), mask);
    if (op->e != HD_NO_REF)
        hd_set_warp_word(w, op->e, combine_words(op->boolean, truth[1], other), mask);
    return HD_STEP_NEXT;
}

/* op->offset: the value written if the comparison holds; for packed halves, per half. */
hd_step hd_run_set(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t truth[2] = {0, 0}, other = other_word(op, w), one = (uint32_t)op->offset;
    uint32_t *to = (uint32_t *)(void *)w->cta->scratch[0];
    if (op->parts == 2)
        compare_packed(op, w, truth);
    else
        truth[0] = compare(op, w);
    truth[0] = combine_words(op->boolean, truth[0], other);
    truth[1] = op->parts == 2 ? combine_words(op->boolean, truth[1], other) : 0;
    hd_spread_row(to, truth[0], truth[1], one);
    if (op->d_bytes == 2)
        hd_resize(to = (uint32_t *)(void *)w->cta->scratch[1], 2, w->cta->scratch[0], 4, false);
    hd_merge(hd_row_of_frame(w, op->d), to, mask, op->d_bytes);
    return HD_STEP_NEXT;
}

/* d = a in the lanes of `choice`, else b */
static hd_step choose(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t choice)
{
    void *to = w->cta->scratch[0];
    memcpy(to, hd_row(w, op->b), (size_t)op->d_bytes * LANES);
    hd_merge(to, hd_row(w, op->a), choice, op->d_bytes);
    hd_merge(hd_row_of_frame(w, op->d), to, mask, op->d_bytes);
    return HD_STEP_NEXT;
}

/* d = c ? a : b */
hd_step hd_run_selp(const hd_op *op, hd_warp *w, uint32_t mask)
{
    return choose(op, w, mask, source_word(op, w, op->c, HD_OP_NOT_C));
}

/* d = c >= 0 ? a : b; a NaN selects b, -0 selects a. */
hd_step hd_run_slct(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t choice = 0;
    const uint32_t *c = hd_row(w, op->c);
    for (uint32_t i = 0; i < LANES; i++) {
        f32 v;
        memcpy(&v, &c[i], 4);
        choice |=
            (uint32_t)(op->flags & HD_OP_SIGNED ? (s32)c[i] >= 0 : v >= 0 || (op->flags & HD_OP_FTZ && v > -0x1p-126f))
            << i;
    }
    return choose(op, w, mask, choice);
}

/* ---- other hand-written instructions ----------------------------------------------------------------------------- */

hd_step hd_run_lop3(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t *to = (uint32_t *)(void *)w->cta->scratch[0], not_zero = 0;
    hd_logic_row(to, hd_row(w, op->a), hd_row(w, op->b), hd_row(w, op->c), (uint32_t)op->offset);
    for (uint32_t i = 0; op->boolean && i < LANES; i++)
        not_zero |= (uint32_t)(to[i] != 0) << i;
    if (op->boolean && op->e != HD_NO_REF)
        hd_set_warp_word(w, op->e, combine_words(op->boolean, not_zero, source_word(op, w, op->f, HD_OP_NOT_C)), mask);
    if (op->d != HD_NO_REF)
        hd_merge(hd_row_of_frame(w, op->d), to, mask, 4);
    return HD_STEP_NEXT;
}

hd_step hd_run_bfi(const hd_op *op, hd_warp *w, uint32_t mask)
{
    void *to = w->cta->scratch[0];
    hd_insert_row(to, hd_row(w, op->a), hd_row(w, op->b), hd_row(w, op->c), hd_row(w, op->f), op->d_bytes);
    hd_merge(hd_row_of_frame(w, op->d), to, mask, op->d_bytes);
    return HD_STEP_NEXT;
}

/* dp4a, dp2a: parts of a (item_bytes each) times the bytes of b, plus c. b starts at byte op->offset. */
hd_step hd_run_dot(const hd_op *op, hd_warp *w, uint32_t mask)
{
    void *to = w->cta->scratch[0];
    hd_dot_row(to, hd_row(w, op->a), hd_row(w, op->b), hd_row(w, op->c), op->item_bytes, 8 * (uint32_t)op->offset,
               op->flags & HD_OP_SIGNED, op->flags & HD_OP_NOT_A);
    hd_merge(hd_row_of_frame(w, op->d), to, mask, 4);
    return HD_STEP_NEXT;
}

/* op->boolean: the index of the modifier in the group TEST, from 0. */
hd_step hd_run_testp(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t truth = 0;
    const void *a = hd_row(w, op->a);
    for (uint32_t i = 0; i < LANES; i++) {
        bool single = op->float_type == HD_TYPE_F32;
        uint64_t bits = hd_lane_value(a, single ? 4 : 8, i);
        uint32_t exponent = (uint32_t)(single ? bits >> 23 & 0xff : bits >> 52 & 0x7ff), most = single ? 0xff : 0x7ff;
        bool fraction = single ? bits & 0x7fffff : bits & 0xfffffffffffffull;
        const bool answers[] = {exponent != most,
                                exponent == most && !fraction,
                                !(exponent == most && fraction),
                                exponent == most && fraction,
                                exponent && exponent != most,
                                !exponent && fraction};
        truth |= (uint32_t)answers[op->boolean] << i;
    }
    hd_set_warp_word(w, op->d, truth, mask);
    return HD_STEP_NEXT;
}

/* ---- extended precision ------------------------------------------------------------------------------------------ */

/* d, carry = a + b + carry in; a - b - borrow in. %CC holds a carry, not a borrow: a difference is the sum of a, the
 * complement of b and the carry, and compiled code relies on it. */
hd_step hd_run_carry(const hd_op *op, hd_warp *w, uint32_t mask)
{
    void *to = w->cta->scratch[0];
    bool subtract = op->boolean == HD_CARRY_SUBTRACT;
    uint32_t borrow = subtract ? UINT32_MAX : 0;
    uint32_t in = op->flags & HD_OP_CARRY_IN ? hd_warp_word(w, op->f) ^ borrow : 0;
    uint32_t out = borrow ^ hd_carry_row(to, hd_row(w, op->a), hd_row(w, op->b), in, subtract, op->d_bytes);
    hd_merge(hd_row_of_frame(w, op->d), to, mask, op->d_bytes);
    if (op->flags & HD_OP_CARRY_OUT)
        hd_set_warp_word(w, op->e, out, mask);
    return HD_STEP_NEXT;
}

/* mad.cc and madc: half of a * b (op->use.lanes), plus c, plus the carry. */
hd_step hd_run_carry_mad(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t in = op->flags & HD_OP_CARRY_IN ? hd_warp_word(w, op->f) : 0;
    void *to = w->cta->scratch[0], *product = w->cta->scratch[1];
    op->use.lanes(product, hd_row(w, op->a), hd_row(w, op->b), NULL);
    uint32_t out = hd_carry_row(to, product, hd_row(w, op->c), in, false, op->d_bytes);
    hd_merge(hd_row_of_frame(w, op->d), to, mask, op->d_bytes);
    if (op->flags & HD_OP_CARRY_OUT)
        hd_set_warp_word(w, op->e, out, mask);
    return HD_STEP_NEXT;
}
