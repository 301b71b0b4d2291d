/* Video instructions, one lane at a time. PTX ISA, "Video instructions": parts of the sources are extended to values
 * that cannot overflow, combined, and optionally clamped to the result's part; then follows a second operation with c,
 * or a merge into it. Hardware after Kepler emulates them, so performance does not matter here. */
#include "hwmodel/exec/ops/video.h"
#include "hwmodel/exec/ops/alu.h"

typedef __int128 wide;

/* The low `bits` bits of a value, extended. */
static wide extend(uint64_t value, uint32_t bits, bool is_signed)
{
    uint64_t sign = 1ull << (bits - 1), low = value & (2 * sign - 1);
    return is_signed && low & sign ? (wide)low - (wide)(2 * sign) : (wide)low;
}

static wide clamp(wide v, uint32_t bits, bool is_signed)
{
    wide most = ((wide)1 << (bits - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
    return v > most ? most : v < least ? least : v;
}

static bool relation_holds(uint32_t comparison, wide a, wide b)
{
    switch (comparison) {
    case HD_MOD_COMPARE_EQ: return a == b;
    case HD_MOD_COMPARE_NE: return a != b;
    case HD_MOD_COMPARE_LT: return a < b;
    case HD_MOD_COMPARE_LE: return a <= b;
    case HD_MOD_COMPARE_GT: return a > b;
    default: return a >= b;
    }
}

static wide shift_amount(const hd_video *v, wide b) { return v->wrap ? b & 31 : b > 32 ? 32 : b; }

static wide combine(const hd_video *v, wide a, wide b)
{
    switch ((hd_video_operation)v->operation) {
    case HD_VIDEO_ADD: return a + b;
    case HD_VIDEO_SUBTRACT: return a - b;
    case HD_VIDEO_DIFFERENCE: return a > b ? a - b : b - a;
    case HD_VIDEO_AVERAGE: break; /* side by side only */
    case HD_VIDEO_MINIMUM: return a < b ? a : b;
    case HD_VIDEO_MAXIMUM: return a > b ? a : b;
    case HD_VIDEO_SHIFT_LEFT: return a * ((wide)1 << shift_amount(v, b));
    case HD_VIDEO_SHIFT_RIGHT: return a >> shift_amount(v, b);
    case HD_VIDEO_COMPARE: return relation_holds(v->comparison, a, b);
    }
    return 0;
}

/* ---- scalar ------------------------------------------------------------------------------------------------------ */

static wide part_of(const hd_video_parts *p, uint32_t value)
{
    return extend(value >> (p->part[0] * p->bits), p->bits, p->is_signed);
}

static uint32_t scalar(const hd_video *v, uint32_t a, uint32_t b, uint32_t c)
{
    wide result = combine(v, part_of(&v->a, a), part_of(&v->b, b)), third = extend(c, 32, v->d.is_signed);
    if (v->saturate)
        result = clamp(result, v->d.bits, v->d.is_signed);
    wide first = extend((uint64_t)result, 33, true); /* the width that the ISA defines for the second operation */
    switch ((hd_video_second)v->second) {
    case HD_SECOND_NONE: break;
    case HD_SECOND_ADD: return (uint32_t)(first + third);
    case HD_SECOND_MINIMUM: return (uint32_t)(first < third ? first : third);
    case HD_SECOND_MAXIMUM: return (uint32_t)(first > third ? first : third);
    }
    if (!v->merge)
        return (uint32_t)result;
    uint32_t at = v->d.part[0] * v->d.bits, field = (uint32_t)(((1ull << v->d.bits) - 1) << at);
    return ((uint32_t)result << at & field) | (c & ~field);
}

/* ---- SIMD -------------------------------------------------------------------------------------------------------- */

/* Parts of 8 or 16 bits: all results fit an int, and there are no shifts. */
static inline int element_of(const hd_video_parts *p, uint32_t k, uint64_t both)
{
    uint32_t unused = 32u - p->bits, value = (uint32_t)(both >> (p->part[k] * p->bits)) << unused;
    return p->is_signed ? (int)value >> unused : (int)(value >> unused);
}

static inline int clamp_element(int v, uint32_t bits, bool is_signed)
{
    int most = (1 << (bits - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
    return v > most ? most : v < least ? least : v;
}

static inline int combine_elements(const hd_video *v, int a, int b)
{
    switch ((hd_video_operation)v->operation) {
    case HD_VIDEO_ADD: return a + b;
    case HD_VIDEO_SUBTRACT: return a - b;
    case HD_VIDEO_DIFFERENCE: return a > b ? a - b : b - a;
    case HD_VIDEO_AVERAGE: return (a + b + (a + b >= 0)) >> 1;
    case HD_VIDEO_MINIMUM: return a < b ? a : b;
    case HD_VIDEO_MAXIMUM: return a > b ? a : b;
    case HD_VIDEO_SHIFT_LEFT:
    case HD_VIDEO_SHIFT_RIGHT:
    case HD_VIDEO_COMPARE: break;
    }
    return (int)combine(v, a, b);
}

static uint32_t side_by_side(const hd_video *v, uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t out = c, bits = v->d.bits, ones = (1u << bits) - 1;
    for (uint32_t k = 0; k < v->count; k++) {
        if (!(v->d_mask >> k & 1))
            continue;
        int result = combine_elements(v, element_of(&v->a, k, both), element_of(&v->b, k, both));
        if (v->saturate)
            result = clamp_element(result, bits, v->d.is_signed);
        if (v->second == HD_SECOND_ADD)
            out += (uint32_t)result;
        else
            out = (out & ~(ones << (k * bits))) | ((uint32_t)result & ones) << (k * bits);
    }
    return out;
}

/* ---- multiplication ---------------------------------------------------------------------------------------------- */

static uint32_t multiply_add(const hd_video *v, uint32_t a, uint32_t b, uint32_t c)
{
    bool is_signed = v->a.is_signed || v->b.is_signed || v->minus_product || v->minus_c;
    wide product = part_of(&v->a, a) * part_of(&v->b, b), one = v->plus_one;
    if (v->minus_product)
        product = -product;
    wide third = v->minus_c ? extend(~c, 32, true) + 1 : extend(c, 32, is_signed);
    wide result = (product + third + one) >> v->scale;
    return (uint32_t)(v->saturate ? clamp(result, 32, is_signed) : result);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

typedef uint32_t video_function(const hd_video *v, uint32_t a, uint32_t b, uint32_t c);

static inline __attribute__((always_inline)) hd_step run(const hd_op *op, hd_warp *w, uint32_t mask,
                                                         video_function *function)
{
    const uint32_t *a = hd_row(w, op->a), *b = hd_row(w, op->b), *c = hd_row(w, op->c);
    uint32_t *d = hd_row_of_frame(w, op->d);
    HD_EACH_BIT (i, mask) {
        d[i] = function(op->use.detail, a[i], b[i], c[i]);
    }
    return HD_STEP_NEXT;
}

hd_step hd_run_video(const hd_op *op, hd_warp *w, uint32_t mask) { return run(op, w, mask, scalar); }
hd_step hd_run_video_simd(const hd_op *op, hd_warp *w, uint32_t mask) { return run(op, w, mask, side_by_side); }
hd_step hd_run_video_multiply(const hd_op *op, hd_warp *w, uint32_t mask) { return run(op, w, mask, multiply_add); }
