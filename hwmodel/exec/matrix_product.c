/* Products of dense matrices, a by rows and b by columns: m x n sums of k products each and an accumulator.
 *
 * FLOAT (f16, bf16, tf32, f8): as published measurements of the machines found them to add (Fasi, Higham, Mikaitis,
 * Pranesh: Numerical behavior of NVIDIA tensor cores, 2021; Xie et al.: MMA-Sim, 2025; Khattak, Mikaitis: Accurate models
 * of NVIDIA tensor cores, 2025). `step` products and the accumulator are summed at a time. Products are exact. Each term
 * is cut (toward zero) at so many bits behind the binary point of the term with the largest exponent, where the exponent
 * of a product is the sum of its factors'; the cut terms are summed exactly; the sum is cut to f32, or rounded to nearest
 * to f16, and is the accumulator of the next step. Numbers are integers here: a factor is a significand of 11 bits and an
 * exponent, a product has 22 bits, a term at most 27. Infinities and NaNs are rare and mended afterwards (specials.).
 *
 * INTEGER and BITS are exact; DOUBLE is a chain of fused multiply-adds in the order of k in the host's rounding mode.
 *
 * Sums of 8 columns are made side by side, so that the compiler can vectorize; b is stored by panels of 8 columns. */
#ifdef __GNUC__
#ifndef __clang__
#pragma GCC optimize("O3")
#endif
#endif
#include "hwmodel/exec/lanes.h"
#include "hwmodel/exec/matrix.h"
#include "hwmodel/exec/scalar.h"

enum { WIDE = 8, MOST = 1024, NO_EXPONENT = -1000, LOWEST = -126 };

/* An element of each line for each k, as signed significand (1.0 is 1024) and exponent. */
typedef struct operand {
    s32 significand[MOST], exponent[MOST];
    u32 code[MOST];
    bool special; /* holds an infinity or a NaN */
} operand;

/* ---- elements ------------------------------------------------------------------------------------------------ */

/* Bit patterns, one an element; tf32 without the bits that it ignores. */
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

static u32 count_highest(const u32 *code, u32 count, u32 shift, u32 highest)
{
    u32 found = 0;
    for (u32 i = 0; i < count; i++)
        found |= (code[i] >> shift & highest) == highest;
    return found;
}

HD_CLONES static void split(operand *o, u32 count, u32 exponent_bits, u32 fraction_bits)
{
    const u32 highest = (1u << exponent_bits) - 1, fraction = (1u << fraction_bits) - 1;
    const s32 bias = (s32)(highest / 2), up = 10 - (s32)fraction_bits;
    for (u32 i = 0; i < count; i++) {
        u32 e = o->code[i] >> fraction_bits & highest, f = o->code[i] & fraction;
        u32 negative = o->code[i] >> (fraction_bits + exponent_bits) & 1;
        s32 s = (s32)((f | (e ? fraction + 1 : 0)) << up);
        o->significand[i] = negative ? -s : s;
        o->exponent[i] = s ? (s32)(e ? e : 1) - bias : NO_EXPONENT;
    }
    /* e4m3 has no infinity, and one NaN: all ones */
    o->special = exponent_bits == 4 ? count_highest(o->code, count, 0, 0x7f)
                                    : count_highest(o->code, count, fraction_bits, highest);
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
static void make_panels(s32 *to, const s32 *from, u32 lines, u32 depth)
{
    for (u32 line = 0; line < lines; line++)
        for (u32 k = 0; k < depth; k++)
            to[(line / WIDE * depth + k) * WIDE + line % WIDE] = from[line * depth + k];
}

/* ---- a step of eight sums ------------------------------------------------------------------------------------ */

typedef struct eight {
    s32 top[WIDE];   /* exponent of the largest term */
    f64 total[WIDE]; /* exact: an integer, in units of 2^(top - 25 + cut) */
} eight;

/* A term of magnitude m * 2^(e - 25) in the sum's units, toward zero. */
static inline s32 aligned(s32 m, s32 shift)
{
    s32 sign = m >> 31;
    u32 size = (u32)((m ^ sign) - sign) >> (shift < 31 ? shift : 31);
    return ((s32)size ^ sign) - sign;
}

static inline void add_accumulators(eight *x, const f32 *sums, s32 lowest, s32 cut)
{
    s32 significand[WIDE], exponent[WIDE];
    for (u32 j = 0; j < WIDE; j++) {
        u32 bits = bits_f32(sums[j]);
        s32 e = (s32)(bits >> 23 & 255), s = (s32)((bits & 0x7fffffu) | (e ? 0x800000u : 0));
        exponent[j] = (e ? e : 1) - 127;
        significand[j] = bits >> 31 ? -4 * s : 4 * s;
        s32 counted = exponent[j] < lowest ? lowest : exponent[j];
        counted = s ? counted : LOWEST;
        x->top[j] = x->top[j] < counted ? counted : x->top[j];
    }
    for (u32 j = 0; j < WIDE; j++)
        x->total[j] = aligned(significand[j], x->top[j] - exponent[j] + cut);
}

static inline void add_products(eight *x, const s32 *sa, const s32 *ea, const s32 *sb, const s32 *eb, u32 steps,
                                s32 cut)
{
    for (u32 first = 0; first < steps; first += 8) { /* eight terms of 27 bits fit in 32 */
        s32 part[WIDE] = {0};
        u32 end = first + 8 < steps ? first + 8 : steps;
        for (u32 k = first; k < end; k++)
            for (u32 j = 0; j < WIDE; j++)
                part[j] += aligned(sa[k] * sb[k * WIDE + j] * 32, x->top[j] - ea[k] - eb[k * WIDE + j] + cut);
        for (u32 j = 0; j < WIDE; j++)
            x->total[j] += part[j];
    }
}

static inline f64 power_of_two(s32 e) /* -1022 .. 1023 */
{
    u64 bits = (u64)(e + 1023) << 52;
    f64 v;
    memcpy(&v, &bits, 8);
    return v;
}

/* To f32, toward zero; what is 2^128 or more becomes infinity. */
static inline f32 cut_to_f32(f64 v, u32 kept)
{
    f32 f = (f32)v;
    u32 bits = bits_f32(f);
    f64 size = fabs(v);
    bits -= (f64)fabsf(f) > size && size < 0x1p128;
    bits &= kept;
    memcpy(&f, &bits, 4);
    return f;
}

/* To f16, to nearest even: adding a number whose last bit is f16's last bit here rounds. */
static inline f32 round_to_f16(f64 v)
{
    u64 bits = bits_f64(v), magic;
    s32 e = (s32)(bits >> 52 & 0x7ff) - 1023;
    e = e < -14 ? -14 : e;
    magic = (u64)(e - 10 + 52 + 1023) << 52 | 1ull << 51;
    f64 m, r;
    memcpy(&m, &magic, 8);
    r = (v + m) - m;
    f32 size = fabsf((f32)r);
    size = size > 65504 ? __builtin_inff() : size;
    return v < 0 ? -size : size;
}

/* sums += products of `steps` k, in one step. */
HD_CLONES static void step_of_eight(f32 *sums, const s32 *sa, const s32 *ea, const s32 *sb, const s32 *eb, u32 steps,
                                    const hd_matrix_model *model, bool halves)
{
    eight x;
    f32 result[WIDE];
    for (u32 j = 0; j < WIDE; j++)
        x.top[j] = LOWEST;
    for (u32 k = 0; k < steps; k++)
        for (u32 j = 0; j < WIDE; j++) {
            s32 e = ea[k] + eb[k * WIDE + j];
            x.top[j] = x.top[j] < e ? e : x.top[j];
        }
    add_accumulators(&x, sums, halves ? -14 : LOWEST, model->cut);
    add_products(&x, sa, ea, sb, eb, steps, model->cut);
    for (u32 j = 0; j < WIDE; j++)
        x.total[j] *= power_of_two(x.top[j] - 25 + model->cut);
    if (halves)
        for (u32 j = 0; j < WIDE; j++)
            result[j] = round_to_f16(x.total[j]);
    else
        for (u32 j = 0; j < WIDE; j++)
            result[j] = cut_to_f32(x.total[j], model->f32_mask);
    for (u32 j = 0; j < WIDE; j++) { /* infinities and NaNs stay */
        bool finite = (bits_f32(sums[j]) >> 23 & 255) != 255;
        sums[j] = finite ? result[j] : canonical(sums[j]);
    }
}

/* Sums of a step that an infinity or a NaN among the factors decides: of doubles, in which no finite sum overflows. */
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

/* ---- FLOAT --------------------------------------------------------------------------------------------------- */

static bool decode_operand(operand *o, const void *packed, u32 count, hd_type type)
{
    const hd_matrix_type *t = &hd_matrix_types[type];
    spread(o->code, packed, count, t->bits);
    split(o, count, t->exponent_bits, t->fraction_bits);
    return o->special;
}

static void values_of(f64 *to, const operand *o, u32 count, hd_type type)
{
    for (u32 i = 0; i < count; i++)
        to[i] = value_of(o->code[i], &hd_matrix_types[type]);
}

/* Infinities and NaNs count as zero while the finite sums are made. */
static void drop_specials(operand *o, const f64 *values, u32 count)
{
    for (u32 i = 0; i < count; i++)
        if (!isfinite(values[i])) {
            o->significand[i] = 0;
            o->exponent[i] = NO_EXPONENT;
        }
}

static void clamp_sums(f32 *sums, u32 count, bool halves)
{
    const f32 most = halves ? 65504 : 0x1.fffffep127f;
    for (u32 i = 0; i < count; i++)
        sums[i] = sums[i] != sums[i] ? 0 : sums[i] > most ? most : sums[i] < -most ? -most : sums[i];
}

static void multiply_floats(const hd_matrix *x, const void *a, const void *b, f32 *sums)
{
    const u32 depth = x->k, a_count = x->m * depth, b_count = x->n * depth;
    const bool halves = x->d.type == HD_TYPE_F16 && x->c.type == HD_TYPE_F16;
    const u32 step = x->model.step < depth ? x->model.step : depth;
    operand left, right;
    s32 sb[MOST], eb[MOST];
    f64 a_values[MOST], b_values[MOST];
    bool a_special = decode_operand(&left, a, a_count, (hd_type)x->a.type);
    bool special = decode_operand(&right, b, b_count, (hd_type)x->b.type) || a_special;
    if (special) {
        values_of(a_values, &left, a_count, (hd_type)x->a.type);
        values_of(b_values, &right, b_count, (hd_type)x->b.type);
        drop_specials(&left, a_values, a_count);
        drop_specials(&right, b_values, b_count);
    }
    make_panels(sb, right.significand, x->n, depth);
    make_panels(eb, right.exponent, x->n, depth);
    for (u32 i = 0; i < x->m; i++)
        for (u32 j = 0; j < x->n; j += WIDE)
            for (u32 k = 0; k < depth; k += step) {
                f32 *at = sums + i * x->n + j, before[WIDE];
                memcpy(before, at, sizeof before);
                step_of_eight(at, left.significand + i * depth + k, left.exponent + i * depth + k,
                              sb + j * depth + k * WIDE, eb + j * depth + k * WIDE, step, &x->model, halves);
                if (special)
                    mend(at, before, a_values + i * depth + k, b_values + j * depth + k, depth, step);
            }
    if (x->satfinite)
        clamp_sums(sums, (u32)x->m * x->n, x->d.type == HD_TYPE_F16);
}

/* ---- INTEGER, BITS, DOUBLE ----------------------------------------------------------------------------------- */

static void decode_integers(s32 *to, const void *packed, u32 count, hd_type type)
{
    u32 code[MOST], bits = hd_matrix_types[type].bits;
    bool is_signed = hd_types[type].class == HD_CLASS_SIGNED;
    spread(code, packed, count, bits);
    for (u32 i = 0; i < count; i++)
        to[i] = is_signed ? (s32)(code[i] << (32 - bits)) >> (32 - bits) : (s32)code[i];
}

HD_CLONES static void dots_of_eight(s32 *dots, const s32 *a, const s32 *b, u32 depth)
{
    s32 sum[WIDE] = {0};
    for (u32 k = 0; k < depth; k++)
        for (u32 j = 0; j < WIDE; j++)
            sum[j] += a[k] * b[k * WIDE + j];
    memcpy(dots, sum, sizeof sum);
}

static void add_dots(s32 *sums, const s32 *dots, u32 count, bool saturate)
{
    for (u32 j = 0; j < count; j++)
        sums[j] = saturate ? clamp_s32((s64)sums[j] + dots[j]) : (s32)((u32)sums[j] + (u32)dots[j]);
}

static void multiply_integers(const hd_matrix *x, const void *a, const void *b, s32 *sums)
{
    s32 left[MOST], right[MOST], panels[MOST], dots[WIDE];
    decode_integers(left, a, (u32)x->m * x->k, (hd_type)x->a.type);
    decode_integers(right, b, (u32)x->n * x->k, (hd_type)x->b.type);
    make_panels(panels, right, x->n, x->k);
    for (u32 i = 0; i < x->m; i++)
        for (u32 j = 0; j < x->n; j += WIDE) {
            dots_of_eight(dots, left + i * x->k, panels + j * x->k, x->k);
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
            sums[j] = fma(a[k], b[k * WIDE + j], sums[j]);
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
    case HD_MATRIX_FLOAT:
        multiply_floats(x, a, b, sums->f32);
        break;
    case HD_MATRIX_DOUBLE:
        multiply_doubles(x, a, b, sums->f64);
        break;
    case HD_MATRIX_INTEGER:
        multiply_integers(x, a, b, sums->s32);
        break;
    case HD_MATRIX_BITS:
        multiply_bits(x, a, b, sums->s32);
        break;
    case HD_MATRIX_ACCUMULATOR:
        break;
    }
}
