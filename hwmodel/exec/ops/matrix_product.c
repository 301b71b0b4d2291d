/* Products of dense matrices, a by rows and b by columns: m x n sums of k products each and an accumulator.
 *
 * FLOAT (f16, bf16, tf32, f8): as published measurements of the hardware found (Fasi, Higham, Mikaitis, Pranesh:
 * Numerical behavior of NVIDIA tensor cores, 2021; Xie et al.: MMA-Sim, 2025; Khattak, Mikaitis: Accurate models of
 * NVIDIA tensor cores, 2025). `step` products and the accumulator are summed at a time. Products are exact. Each term
 * is truncated (toward zero) to a number of bits after the binary point of the term with the largest exponent, where
 * the exponent of a product is the sum of its factors'; the truncated terms are summed exactly; the sum is truncated to
 * f32, or rounded to nearest to f16, and is the accumulator of the next step. Numbers are integers here: a factor is a
 * significand of 11 bits and an exponent, a product has 22 bits, a term at most 27. Infinities and NaNs are rare and
 * handled afterwards.
 *
 * INTEGER and BITS are exact; DOUBLE is a chain of fused multiply-adds in the order of k in the host's rounding mode.
 *
 * Sums of 8 columns are computed together, so that the compiler can vectorize; b is stored in panels of 8 columns. */
#ifdef __GNUC__
#ifndef __clang__
#pragma GCC optimize("O3")
#endif
#endif
#include "hwmodel/exec/ops/lanes.h"
#include "hwmodel/exec/ops/matrix.h"
#include "hwmodel/exec/ops/scalar.h"

enum { WIDE = 8, MOST = 1024, NO_EXPONENT = -1000, LOWEST = -126 };

/* Explicit vectors: compilers see gathers along k instead. Only in local variables and through pointers, so that no
 * calling convention depends on the CPU. */
typedef s32 s32x8 __attribute__((vector_size(32)));
typedef u32 u32x8 __attribute__((vector_size(32)));
typedef f32 f32x8 __attribute__((vector_size(32)));
typedef s32 s32x4 __attribute__((vector_size(16)));
typedef f32 f32x4 __attribute__((vector_size(16)));
typedef s64 s64x4 __attribute__((vector_size(32)));
typedef f64 f64x4 __attribute__((vector_size(32)));
typedef union s32_halves {
    s32x8 all;
    s32x4 half[2];
} s32_halves;
#define INLINE static inline __attribute__((always_inline))
#define SELECT(mask, a, b) (((a) & (mask)) | ((b) & ~(mask)))

/* An element of each line for each k, as signed significand (1.0 is 1024) and exponent; and as f32, valid if all
 * exponents are moderate, so that products and their scaling neither overflow nor underflow. */
typedef struct operand {
    s32x8 significand[MOST / WIDE], exponent[MOST / WIDE];
    f32x8 value[MOST / WIDE];
    u32x8 code[MOST / WIDE];
    bool special; /* holds an infinity or a NaN */
    bool moderate;
} operand;
enum { MODERATE_LOW = -38, MODERATE_HIGH = 50 };

/* ---- elements ---------------------------------------------------------------------------------------------------- */

/* Bit patterns, one per element; tf32 without its ignored bits. */
static void spread(u32 *code, const unsigned char *packed, u32 count, u32 bits)
{
    const u16 *halves = (const void *)packed;
    const u32 *words = (const void *)packed;
    switch (bits) {
    case 32:
        for (u32 i = 0; i < count; i++)
            code[i] = words[i] >> 13;
        break;
    case 16:
        for (u32 i = 0; i < count; i++)
            code[i] = halves[i];
        break;
    case 8:
        for (u32 i = 0; i < count; i++)
            code[i] = packed[i];
        break;
    default:
        for (u32 i = 0; i < count; i++)
            code[i] = packed[i / 2] >> (i % 2 * 4) & 15;
    }
}

INLINE bool any_lane(const u32x8 *mask)
{
    u32 any = 0;
    for (u32 i = 0; i < WIDE; i++)
        any |= (*mask)[i];
    return any;
}

HD_CLONES static void split(operand *o, u32 count, u32 exponent_bits, u32 fraction_bits)
{
    const u32 highest = (1u << exponent_bits) - 1, one = 1u << fraction_bits, sign_at = exponent_bits + fraction_bits;
    /* e4m3 has no infinity, and one NaN: all ones */
    const u32 special = exponent_bits == 4 ? 0x7f : highest << fraction_bits;
    const s32 bias = (s32)(highest / 2), up = 10 - (s32)fraction_bits;
    u32x8 specials = {0}, far = {0};
    for (u32 i = 0; i < count / WIDE; i++) {
        u32x8 code = o->code[i], e = code >> fraction_bits & highest, normal = (u32x8)(e != 0);
        s32x8 size = (s32x8)(((code & (one - 1)) | (normal & one)) << up), some = size != 0;
        s32x8 sign = -(s32x8)(code >> sign_at & 1), exponent = (s32x8)e + (s32x8)normal + 1 - bias;
        s32x8 moderate = (exponent >= MODERATE_LOW) & (exponent <= MODERATE_HIGH);
        s32x8 significand = (size ^ sign) - sign;
        o->significand[i] = significand;
        o->exponent[i] = SELECT(some, exponent, (s32x8){0} + NO_EXPONENT);
        o->value[i] = __builtin_convertvector(significand, f32x8) * (f32x8)((exponent + (127 - 10)) << 23);
        far |= (u32x8)(some & ~moderate);
        specials |= (u32x8)((code & special) == special);
    }
    o->moderate = !any_lane(&far);
    o->special = any_lane(&specials);
}

static f64 value_of(u32 code, const hd_matrix_type *t)
{
    u32 highest = (1u << t->exponent_bits) - 1, e = code >> t->fraction_bits & highest;
    u32 f = code & ((1u << t->fraction_bits) - 1);
    bool negative = code >> (t->exponent_bits + t->fraction_bits) & 1;
    bool all_ones = e == highest && f == (1u << t->fraction_bits) - 1;
    s32 bias = (s32)(highest / 2) + t->fraction_bits;
    f64 v = e ? ldexp(f + (1 << t->fraction_bits), (s32)e - bias) : ldexp(f, 1 - bias);
    if (t->exponent_bits == 4 ? all_ones : e == highest)
        v = t->exponent_bits == 4 || f ? (f64)__builtin_nanf("") : (f64)__builtin_inff();
    return negative ? -v : v;
}

/* Lines of k elements to panels: [line / 8][k][line % 8]. */
static void make_panels(void *to, const void *from, u32 lines, u32 depth)
{
    for (u32 line = 0; line < lines; line++)
        for (u32 k = 0; k < depth; k++)
            memcpy((unsigned char *)to + 4 * ((line / WIDE * depth + k) * WIDE + line % WIDE),
                   (const unsigned char *)from + 4 * (line * depth + k), 4);
}

/* ---- a step of eight sums ---------------------------------------------------------------------------------------- */

/* The operands of a step: from k on, a line of A and a panel of B. */
typedef struct factors {
    const s32 *a_significand, *a_exponent;
    const s32x8 *b_significand, *b_exponent;
    const f32 *a; /* NULL: not moderate */
    const f32x8 *b;
    u32 steps;
} factors;

typedef struct eight {
    s32x8 top;      /* exponent of the largest term */
    f64x4 total[2]; /* exact: an integer, in units of 2^(top - 25 + cut) */
} eight;

INLINE void raise_top(s32x8 *top, const s32x8 *exponent)
{
    s32x8 larger = *exponent > *top;
    *top = SELECT(larger, *exponent, *top);
}

INLINE void find_top(eight *x, const factors *f)
{
    x->top = (s32x8){0} + LOWEST;
    for (u32 k = 0; k < f->steps; k++) {
        s32x8 exponent = f->b_exponent[k] + f->a_exponent[k];
        raise_top(&x->top, &exponent);
    }
}

/* Terms of magnitude m * 2^(e - 25) in the sum's units, toward zero. */
INLINE void align(s32x8 *terms, const s32x8 *shifts)
{
    s32x8 sign = *terms >> 31, far = *shifts > 31, shift = SELECT(far, (s32x8){0} + 31, *shifts);
    u32x8 size = (u32x8)((*terms ^ sign) - sign) >> (u32x8)shift;
    *terms = ((s32x8)size ^ sign) - sign;
}

INLINE void add_part(eight *x, const s32x8 *part)
{
    s32_halves p = {.all = *part};
    x->total[0] += __builtin_convertvector(p.half[0], f64x4);
    x->total[1] += __builtin_convertvector(p.half[1], f64x4);
}

INLINE void add_accumulators(eight *x, const u32x8 *bits, s32 lowest, s32 cut)
{
    s32x8 e = (s32x8)(*bits >> 23 & 255), normal = e != 0;
    s32x8 significand = (s32x8)(*bits & 0x7fffff) | (normal & 0x800000), some = significand != 0;
    s32x8 exponent = e + normal + 1 - 127, counted = (s32x8){0} + lowest, sign = (s32x8)*bits >> 31;
    raise_top(&counted, &exponent);
    counted = SELECT(some, counted, (s32x8){0} + LOWEST);
    raise_top(&x->top, &counted);
    s32x8 term = ((significand * 4) ^ sign) - sign, shift = x->top - exponent + cut;
    align(&term, &shift);
    x->total[0] = x->total[1] = (f64x4){0};
    add_part(x, &term);
}

INLINE void add_products(eight *x, const factors *f, s32 cut)
{
    for (u32 first = 0; first < f->steps; first += 8) { /* eight terms of 27 bits fit in 32 */
        s32x8 part = {0};
        for (u32 k = first; k < first + 8 && k < f->steps; k++) {
            s32x8 term = f->b_significand[k] * f->a_significand[k] * 32;
            s32x8 shift = x->top - f->b_exponent[k] + (cut - f->a_exponent[k]);
            align(&term, &shift);
            part += term;
        }
        add_part(x, &part);
    }
}

/* The same from f32: products are exact, and so is their scaling, except where the result is less than 1. */
INLINE void add_moderate(eight *x, const factors *f, s32 cut)
{
    s32x8 up = 25 - cut - x->top, far = up > 127; /* far: all are zero */
    f32x8 scale = (f32x8)((SELECT(far, (s32x8){0} + 127, up) + 127) << 23);
    for (u32 first = 0; first < f->steps; first += 8) {
        s32x8 part = {0};
        for (u32 k = first; k < first + 8 && k < f->steps; k++)
            part += __builtin_convertvector(f->b[k] * f->a[k] * scale, s32x8);
        add_part(x, &part);
    }
}

/* To f32, toward zero; what is 2^128 or more becomes infinity. */
INLINE void cut_to_f32(s32x4 *bits, const f64x4 *v, s32 kept)
{
    f32x4 f = __builtin_convertvector(*v, f32x4);
    f64x4 back = __builtin_convertvector(f, f64x4);
    f64x4 size = (f64x4)((s64x4)*v & INT64_MAX), back_size = (f64x4)((s64x4)back & INT64_MAX);
    s64x4 beyond = (back_size > size) & (size < 0x1p128);
    *bits = ((s32x4)f + __builtin_convertvector(beyond, s32x4)) & kept;
}

/* To f16, to nearest even: adding a number whose last bit is f16's last bit here rounds. */
INLINE void round_to_f16(s32x4 *bits, const f64x4 *v)
{
    s64x4 e = (s64x4)((f64x4)((s64x4)*v & INT64_MAX)), least = (s64x4){0} + ((s64)(1023 - 14) << 52), small = e < least;
    e = SELECT(small, least, e) & ((s64)0x7ff << 52);
    f64x4 magic = (f64x4)(e + (((s64)(52 - 10) << 52) | (s64)1 << 51));
    f64x4 r = (*v + magic) - magic;
    s32x4 size = (s32x4) __builtin_convertvector(r, f32x4) & INT32_MAX, over = size > 0x477fe000; /* 65504 */
    s32x4 sign = __builtin_convertvector((s64x4)(*v < 0), s32x4) & INT32_MIN;
    *bits = SELECT(over, (s32x4){0} + 0x7f800000, size) | sign;
}

INLINE void round_half(s32x4 *bits, f64x4 *total, const s32x4 *exponent, const hd_matrix_model *model, bool halves)
{
    f64x4 v = *total * (f64x4)(__builtin_convertvector(*exponent, s64x4) << 52);
    if (halves)
        round_to_f16(bits, &v);
    else
        cut_to_f32(bits, &v, (s32)model->f32_mask);
}

/* sums += products, in one step. */
HD_CLONES static void step_of_eight(f32 *sums, const factors *f, const hd_matrix_model *model, bool halves)
{
    const s32 cut = model->cut;
    u32x8 before;
    eight x;
    memcpy(&before, sums, sizeof before);
    find_top(&x, f);
    add_accumulators(&x, &before, halves ? -14 : LOWEST, cut);
    if (f->a)
        add_moderate(&x, f, cut);
    else
        add_products(&x, f, cut);
    s32_halves exponent = {.all = x.top + (1023 - 25 + cut)}, after;
    round_half(&after.half[0], &x.total[0], &exponent.half[0], model, halves);
    round_half(&after.half[1], &x.total[1], &exponent.half[1], model, halves);
    s32x8 size = (s32x8)(before & 0x7fffffff), infinite = size > 0x7f7fffff, nan = size > 0x7f800000;
    after.all = SELECT(infinite, (s32x8)before, after.all); /* infinities and NaNs propagate */
    after.all = SELECT(nan, (s32x8){0} + 0x7fffffff, after.all);
    memcpy(sums, &after, sizeof after);
}

/* Sums of a step with an infinity or a NaN among the factors: computed in double, in which no finite sum overflows. */
static void mend(f32 *sums, const f32 *before, const f64 *a, const f64 *b, u32 depth, u32 steps)
{
    for (u32 j = 0; j < WIDE; j++, b += depth) {
        f64 sum = before[j];
        for (u32 k = 0; k < steps; k++)
            sum += a[k] * b[k];
        if (!isfinite(sum))
            sums[j] = canonical((f32)sum);
    }
}

/* ---- FLOAT ------------------------------------------------------------------------------------------------------- */

static bool decode_operand(operand *o, const void *packed, u32 count, hd_type type)
{
    const hd_matrix_type *t = &hd_matrix_types[type];
    spread((u32 *)o->code, packed, count, t->bits);
    split(o, count, t->exponent_bits, t->fraction_bits);
    return o->special;
}

static void values_of(f64 *to, const operand *o, u32 count, hd_type type)
{
    for (u32 i = 0; i < count; i++)
        to[i] = value_of(((const u32 *)o->code)[i], &hd_matrix_types[type]);
}

/* Infinities and NaNs count as zero while the finite sums are computed. */
static void drop_specials(operand *o, const f64 *values, u32 count)
{
    for (u32 i = 0; i < count; i++)
        if (!isfinite(values[i])) {
            o->significand[i / WIDE][i % WIDE] = 0;
            o->exponent[i / WIDE][i % WIDE] = NO_EXPONENT;
            o->value[i / WIDE][i % WIDE] = 0;
        }
}

static void clamp_sums(f32 *sums, u32 count, bool halves)
{
    const f32 most = halves ? 65504 : 0x1.fffffep127f;
    for (u32 i = 0; i < count; i++)
        sums[i] = sums[i] != sums[i] ? 0 : sums[i] > most ? most : sums[i] < -most ? -most : sums[i];
}

/* Both factors by lines, B also by panels; as doubles if there are infinities or NaNs. */
typedef struct floats {
    operand a, b;
    s32x8 b_significand[MOST / WIDE], b_exponent[MOST / WIDE];
    f32x8 b_value[MOST / WIDE];
    f64 a_doubles[MOST], b_doubles[MOST];
    bool special, moderate;
} floats;

static void prepare(floats *f, const hd_matrix *x, const void *a, const void *b)
{
    const u32 a_count = (u32)x->m * x->k, b_count = (u32)x->n * x->k;
    bool a_special = decode_operand(&f->a, a, a_count, (hd_type)x->a.type);
    f->special = decode_operand(&f->b, b, b_count, (hd_type)x->b.type) || a_special;
    f->moderate = f->a.moderate && f->b.moderate;
    if (f->special) {
        values_of(f->a_doubles, &f->a, a_count, (hd_type)x->a.type);
        values_of(f->b_doubles, &f->b, b_count, (hd_type)x->b.type);
        drop_specials(&f->a, f->a_doubles, a_count);
        drop_specials(&f->b, f->b_doubles, b_count);
    }
    make_panels(f->b_exponent, f->b.exponent, x->n, x->k);
    if (f->moderate)
        make_panels(f->b_value, f->b.value, x->n, x->k);
    else
        make_panels(f->b_significand, f->b.significand, x->n, x->k);
}

/* Eight sums of line i, starting at column j. */
static void sum_eight(f32 *at, const floats *f, const hd_matrix *x, u32 i, u32 j, bool halves)
{
    const u32 step = x->model.step < x->k ? x->model.step : x->k;
    for (u32 k = 0; k < x->k; k += step) {
        u32 a = i * x->k + k, b = j / WIDE * x->k + k;
        factors now = {(const s32 *)f->a.significand + a,
                       (const s32 *)f->a.exponent + a,
                       f->b_significand + b,
                       f->b_exponent + b,
                       f->moderate ? (const f32 *)f->a.value + a : NULL,
                       f->b_value + b,
                       step};
        f32 before[WIDE];
        memcpy(before, at, sizeof before);
        step_of_eight(at, &now, &x->model, halves);
        if (f->special)
            mend(at, before, f->a_doubles + a, f->b_doubles + j * x->k + k, x->k, step);
    }
}

static void multiply_floats(const hd_matrix *x, const void *a, const void *b, f32 *sums)
{
    const bool halves = x->d.type == HD_TYPE_F16 && x->c.type == HD_TYPE_F16;
    floats f;
    prepare(&f, x, a, b);
    for (u32 i = 0; i < x->m; i++)
        for (u32 j = 0; j < x->n; j += WIDE)
            sum_eight(sums + i * x->n + j, &f, x, i, j, halves);
    if (x->satfinite)
        clamp_sums(sums, (u32)x->m * x->n, x->d.type == HD_TYPE_F16);
}

/* ---- INTEGER, BITS, DOUBLE --------------------------------------------------------------------------------------- */

static void decode_integers(s32 *to, const void *packed, u32 count, hd_type type)
{
    u32 code[MOST], bits = hd_matrix_types[type].bits;
    bool is_signed = hd_types[type].class == HD_CLASS_SIGNED;
    spread(code, packed, count, bits);
    for (u32 i = 0; i < count; i++)
        to[i] = is_signed ? (s32)(code[i] << (32 - bits)) >> (32 - bits) : (s32)code[i];
}

HD_CLONES static void dots_of_eight(s32 *dots, const s32 *a, const s32x8 *b, u32 depth)
{
    s32x8 sum = {0};
    for (u32 k = 0; k < depth; k++)
        sum += b[k] * a[k];
    memcpy(dots, &sum, sizeof sum);
}

static void add_dots(s32 *sums, const s32 *dots, u32 count, bool saturate)
{
    for (u32 j = 0; j < count; j++)
        sums[j] = saturate ? clamp_s32((s64)sums[j] + dots[j]) : (s32)((u32)sums[j] + (u32)dots[j]);
}

static void multiply_integers(const hd_matrix *x, const void *a, const void *b, s32 *sums)
{
    s32 left[MOST], right[MOST], dots[WIDE];
    s32x8 panels[MOST / WIDE];
    decode_integers(left, a, (u32)x->m * x->k, (hd_type)x->a.type);
    decode_integers(right, b, (u32)x->n * x->k, (hd_type)x->b.type);
    make_panels(panels, right, x->n, x->k);
    for (u32 i = 0; i < x->m; i++)
        for (u32 j = 0; j < x->n; j += WIDE) {
            dots_of_eight(dots, left + i * x->k, panels + j / WIDE * x->k, x->k);
            add_dots(sums + i * x->n + j, dots, WIDE, x->satfinite);
        }
}

static void multiply_bits(const hd_matrix *x, const void *a, const void *b, s32 *sums)
{
    const u32 *left = a, *right = b, words = x->k / 32;
    for (u32 i = 0; i < x->m; i++)
        for (u32 j = 0; j < x->n; j++) {
            u32 ones = 0;
            for (u32 k = 0; k < words; k++) {
                u32 l = left[i * words + k], r = right[j * words + k];
                ones += (u32)__builtin_popcount(x->is_and ? l & r : l ^ r);
            }
            sums[i * x->n + j] = (s32)((u32)sums[i * x->n + j] + ones);
        }
}

HD_CLONES static void chains_of_eight(f64 *sums, const f64 *a, const f64 *b, u32 depth)
{
    for (u32 k = 0; k < depth; k++)
        for (u32 j = 0; j < WIDE; j++)
            sums[j] = quiet3(fma(a[k], b[k * WIDE + j], sums[j]), a[k], b[k * WIDE + j], sums[j]);
}

static void multiply_doubles(const hd_matrix *x, const void *a, const void *b, f64 *sums)
{
    const f64 *left = a, *right = b;
    f64 panel[HD_MATRIX_BYTES / 8];
    for (u32 j = 0; j < WIDE; j++) /* all shapes have eight columns */
        for (u32 k = 0; k < x->k; k++)
            panel[k * WIDE + j] = right[j * x->k + k];
    for (u32 i = 0; i < x->m; i++)
        chains_of_eight(sums + i * WIDE, left + i * x->k, panel, x->k);
}

void hd_matrix_multiply(const hd_matrix *x, const void *a, const void *b, hd_matrix_sums *sums)
{
    switch ((hd_matrix_kind)x->kind) {
    case HD_MATRIX_FLOAT: multiply_floats(x, a, b, sums->f32); break;
    case HD_MATRIX_DOUBLE: multiply_doubles(x, a, b, sums->f64); break;
    case HD_MATRIX_INTEGER: multiply_integers(x, a, b, sums->s32); break;
    case HD_MATRIX_BITS: multiply_bits(x, a, b, sums->s32); break;
    case HD_MATRIX_ACCUMULATOR: break;
    }
}
