/* f16 and bf16 instructions, scalar and packed, against exact arithmetic (half.h): all 65,536 values where there is one
 * source; all pairs or triples of edge values and many random ones where there are more. A packed instruction runs on
 * the same memory as the scalar one, two values a lane. */
#include "half.h"
#include "kernel.h"

#include <math.h>

enum { COUNT = 65536, SOURCES = 3 };
enum { FTZ = 1, SAT = 2, RELU = 4, NAN_WINS = 8, XORSIGN = 16, PACKED = 32 };
typedef enum operation { ADD, SUB, MUL, FMA, ABS, NEG, MIN, MAX, EX2, TANH, COMPARE } operation;

typedef struct row {
    const char *text; /* of f16; the same with b for bf16 where `both` is set */
    operation operation;
    uint32_t flags;
    half_rounding rounding;
} row;

static uint16_t values[SOURCES][COUNT], results[COUNT];

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Zero, the least and the greatest of each kind, NaNs of both kinds, one and its neighbours; each with both signs. */
static uint32_t list_edges(half_format f, uint16_t edges[64])
{
    uint16_t one = half_one(f), infinity = (uint16_t)(((1 << f.exponent_bits) - 1) << f.fraction_bits);
    uint16_t normal = (uint16_t)(1 << f.fraction_bits), quiet = normal >> 1;
    const uint16_t list[] = {0,
                             1,
                             2,
                             3,
                             (uint16_t)(normal - 1),
                             normal,
                             (uint16_t)(normal + 1),
                             (uint16_t)(one - 1),
                             one,
                             (uint16_t)(one + 1),
                             (uint16_t)(one + 2),
                             (uint16_t)(one + quiet),
                             (uint16_t)(one + normal),
                             (uint16_t)(one - normal),
                             (uint16_t)(infinity - 1),
                             (uint16_t)(infinity - 2),
                             infinity,
                             (uint16_t)(infinity + 1),
                             (uint16_t)(infinity | quiet),
                             0x7fff};
    uint32_t count = sizeof list / sizeof *list;
    for (uint32_t i = 0; i < count; i++) {
        edges[2 * i] = list[i];
        edges[2 * i + 1] = list[i] | 0x8000;
    }
    return 2 * count;
}

/* Random bits; of every second one few digits, so that ties come up. */
static uint16_t random_half(half_format f, uint64_t *state)
{
    uint64_t r = unit_random(state);
    uint16_t v = (uint16_t)r, few = (uint16_t)(r >> 16 & 3);
    if (r >> 32 & 1)
        v = (uint16_t)((v & ~((1 << f.fraction_bits) - 1)) | few << (r >> 40) % (uint32_t)(f.fraction_bits - 1));
    return v;
}

/* Values near each other or near a product, where sums cancel and round. */
static void draw(half_format f, uint64_t *state, uint32_t i)
{
    uint64_t r = unit_random(state);
    for (uint32_t s = 0; s < SOURCES; s++)
        values[s][i] = random_half(f, state);
    if (r & 1)
        values[2][i] = (uint16_t)(half_mul(f, values[0][i], values[1][i]) ^ 0x8000 ^ (r >> 8 & 3));
    if ((r & 6) == 6)
        values[1][i] = (uint16_t)((values[0][i] & 0x7fff) | (r >> 16 & 0x8000)) ^ (r >> 32 & 7);
}

static void fill(half_format f, uint32_t sources)
{
    uint16_t edges[64];
    uint32_t n = list_edges(f, edges), i = 0;
    uint64_t state = 7;
    for (; sources == 1 && i < COUNT; i++)
        values[0][i] = values[1][i] = values[2][i] = (uint16_t)i;
    for (uint32_t a = 0; sources > 1 && a < n; a++)
        for (uint32_t b = 0; b < n; b++)
            for (uint32_t c = 0; c < (sources == 3 ? n : 1) && i < COUNT / 2; c += 1 + (sources == 3)) {
                values[0][i] = edges[a];
                values[1][i] = edges[b];
                values[2][i++] = edges[(c + b) % n];
            }
    for (; i < COUNT; i++)
        draw(f, &state, i);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* @a @b @c @d: registers, of 16 bits or packed; %p3: the (low) value of c is not zero. */
static void name_registers(const char *text, const char *prefix, bool is_bf16, char *out, size_t size)
{
    size_t used = 0;
    for (const char *p = text; *p && used + 16 < size; p++) {
        if (*p == '@')
            used += (size_t)snprintf(out + used, size - used, "%s%d", prefix, *++p - 'a' + 1);
        else if (is_bf16 && p[0] == 'f' && p[1] == '1' && p[2] == '6')
            used += (size_t)snprintf(out + used, size - used, "b%c", *p);
        else
            out[used++] = *p;
    }
    out[used] = 0;
}

static void run_text(const char *instruction, uint32_t bytes)
{
    const char *load = bytes == 2 ? "u16" : "u32", *r = bytes == 2 ? "%h" : "%r";
    char text[2048];
    snprintf(text, sizeof text,
             ".version 9.0\n.target sm_100\n.address_size 64\n"
             ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
             ".reg .pred %%p<8>;\n.reg .b16 %%h<8>;\n.reg .b32 %%r<16>;\n.reg .b64 %%rd<8>;\n"
             "ld.param.u64 %%rd0, [in];\nld.param.u64 %%rd1, [out];\n"
             "mov.u32 %%r10, %%tid.x;\nmov.u32 %%r11, %%ctaid.x;\nmad.lo.u32 %%r10, %%r11, 256, %%r10;\n"
             "mad.wide.u32 %%rd0, %%r10, %u, %%rd0;\nmad.wide.u32 %%rd1, %%r10, %u, %%rd1;\n"
             "ld.global.%s %s1, [%%rd0];\nld.global.%s %s2, [%%rd0+%u];\nld.global.%s %s3, [%%rd0+%u];\n"
             "ld.global.u16 %%h5, [%%rd0+%u];\nsetp.ne.b16 %%p3, %%h5, 0;\n%s\nst.global.%s [%%rd1], %s4;\nret;\n}\n",
             bytes, bytes, load, r, load, r, COUNT * 2, load, r, COUNT * 4, COUNT * 4, instruction, load, r);
    kernel_run run = {.text = text,
                      .in = values,
                      .in_bytes = sizeof values,
                      .out = results,
                      .out_bytes = sizeof results,
                      .grid = COUNT * 2 / bytes / 256,
                      .block = 256};
    memset(results, 0xa5, sizeof results);
    run_kernel(&run);
    if (run.status != HD_EXEC_DONE)
        fail_msg("%s: %s", instruction, run.message);
}

/* ---- references -------------------------------------------------------------------------------------------------- */

static uint16_t flush(half_format f, uint16_t v) { return half_is_subnormal(f, v) ? v & 0x8000 : v; }

/* Zero of its sign where the exact result, rounded to 11 bits, is below the smallest normal number. */
static uint16_t flush_result(half_format f, operation o, uint16_t a, uint16_t b, uint16_t c, uint16_t rounded)
{
    double x = half_value(f, a), y = half_value(f, b);
    bool near = o == MUL || o == FMA;
    if (near && fabs(o == MUL ? x * y : fma(x, y, half_value(f, c))) < 0x1p-14 * (1 - 0x1p-12))
        return rounded & 0x8000;
    return flush(f, rounded);
}

static uint16_t extreme(half_format f, const row *r, uint16_t a, uint16_t b)
{
    uint16_t sign = r->flags & XORSIGN ? (a ^ b) & 0x8000 : 0;
    if (r->flags & XORSIGN) {
        a &= 0x7fff;
        b &= 0x7fff;
    }
    bool a_nan = half_is_nan(f, a), b_nan = half_is_nan(f, b);
    double x = half_value(f, a), y = half_value(f, b);
    if ((a_nan && b_nan) || (r->flags & NAN_WINS && (a_nan || b_nan)))
        return 0x7fff;
    if (a_nan || b_nan)
        return (a_nan ? b : a) | sign;
    bool a_below = x < y || (x == y && a >> 15);
    return (a_below == (r->operation == MIN) ? a : b) | sign;
}

static uint16_t expected(half_format f, const row *r, uint16_t a, uint16_t b, uint16_t c)
{
    uint16_t v = 0;
    if (r->flags & FTZ) {
        a = flush(f, a);
        b = flush(f, b);
        c = flush(f, c);
    }
    switch (r->operation) {
    case ADD: v = half_add(f, a, b); break;
    case SUB: v = half_is_nan(f, b) ? 0x7fff : half_add(f, a, b ^ 0x8000); break;
    case MUL: v = half_mul(f, a, b); break;
    case FMA: v = half_fma(f, r->rounding, a, b, c); break;
    case ABS: v = half_is_nan(f, a) ? 0x7fff : a & 0x7fff; break;
    case NEG: v = half_is_nan(f, a) ? 0x7fff : a ^ 0x8000; break;
    case MIN:
    case MAX: v = extreme(f, r, a, b); break;
    case EX2:
    case TANH:
    case COMPARE: fail();
    }
    v = r->flags & FTZ ? flush_result(f, r->operation, a, b, c, v) : v;
    if (r->flags & RELU && !half_is_nan(f, v) && v & 0x8000)
        v = 0;
    if (r->flags & SAT)
        v = half_is_nan(f, v) || v & 0x8000 ? 0 : half_value(f, v) > 1 ? half_one(f) : v;
    return v;
}

static uint32_t sources_of(operation o) { return o == FMA ? 3 : o == ABS || o == NEG || o == EX2 || o == TANH ? 1 : 2; }

static void check_row(const row *r, half_format f)
{
    char instruction[256];
    bool packed = r->flags & PACKED;
    name_registers(r->text, packed ? "%r" : "%h", f.fraction_bits == 7, instruction, sizeof instruction);
    run_text(instruction, packed ? 4 : 2);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint16_t want = expected(f, r, values[0][i], values[1][i], values[2][i]);
        if (results[i] != want)
            fail_msg("%s of %04x, %04x, %04x gives %04x, expected %04x", instruction, values[0][i], values[1][i],
                     values[2][i], results[i], want);
    }
}

static const row both_rows[] = {
    {"add.f16 @d, @a, @b;", ADD, 0, 0},
    {"add.rn.f16x2 @d, @a, @b;", ADD, PACKED, 0},
    {"sub.f16 @d, @a, @b;", SUB, 0, 0},
    {"sub.f16x2 @d, @a, @b;", SUB, PACKED, 0},
    {"mul.f16 @d, @a, @b;", MUL, 0, 0},
    {"mul.f16x2 @d, @a, @b;", MUL, PACKED, 0},
    {"abs.f16 @d, @a;", ABS, 0, 0},
    {"neg.f16x2 @d, @a;", NEG, PACKED, 0},
    {"min.f16 @d, @a, @b;", MIN, 0, 0},
    {"max.f16x2 @d, @a, @b;", MAX, PACKED, 0},
    {"min.NaN.f16x2 @d, @a, @b;", MIN, PACKED | NAN_WINS, 0},
    {"max.NaN.f16 @d, @a, @b;", MAX, NAN_WINS, 0},
    {"min.xorsign.abs.f16 @d, @a, @b;", MIN, XORSIGN, 0},
    {"max.NaN.xorsign.abs.f16x2 @d, @a, @b;", MAX, NAN_WINS | XORSIGN | PACKED, 0},
    {"fma.rn.f16 @d, @a, @b, @c;", FMA, 0, 0},
    {"fma.rn.f16x2 @d, @a, @b, @c;", FMA, PACKED, 0},
    {"fma.rn.relu.f16 @d, @a, @b, @c;", FMA, RELU, 0},
    {"fma.rn.oob.relu.f16x2 @d, @a, @b, @c;", FMA, RELU | PACKED, 0},
};
static const row f16_rows[] = {
    {"add.ftz.f16 @d, @a, @b;", ADD, FTZ, 0},
    {"add.sat.f16x2 @d, @a, @b;", ADD, SAT | PACKED, 0},
    {"sub.ftz.sat.f16 @d, @a, @b;", SUB, FTZ | SAT, 0},
    {"mul.rn.ftz.f16x2 @d, @a, @b;", MUL, FTZ | PACKED, 0},
    {"mul.sat.f16 @d, @a, @b;", MUL, SAT, 0},
    {"abs.ftz.f16x2 @d, @a;", ABS, FTZ | PACKED, 0},
    {"neg.ftz.f16 @d, @a;", NEG, FTZ, 0},
    {"min.ftz.NaN.f16x2 @d, @a, @b;", MIN, FTZ | NAN_WINS | PACKED, 0},
    {"max.ftz.xorsign.abs.f16 @d, @a, @b;", MAX, FTZ | XORSIGN, 0},
    {"fma.rn.ftz.f16 @d, @a, @b, @c;", FMA, FTZ, 0},
    {"fma.rn.ftz.sat.f16x2 @d, @a, @b, @c;", FMA, FTZ | SAT | PACKED, 0},
    {"fma.rn.ftz.relu.f16x2 @d, @a, @b, @c;", FMA, FTZ | RELU | PACKED, 0},
};
static const row bf16_rows[] = {
    {"fma.rz.f16 @d, @a, @b, @c;", FMA, 0, TO_ZERO},
    {"fma.rm.f16x2 @d, @a, @b, @c;", FMA, PACKED, TO_MINUS},
    {"fma.rp.f16 @d, @a, @b, @c;", FMA, 0, TO_PLUS},
    {"fma.rz.relu.f16x2 @d, @a, @b, @c;", FMA, RELU | PACKED, TO_ZERO},
    {"fma.rm.relu.f16 @d, @a, @b, @c;", FMA, RELU, TO_MINUS},
    {"fma.rp.relu.f16x2 @d, @a, @b, @c;", FMA, RELU | PACKED, TO_PLUS},
};

static void check_rows(const row *rows, size_t size, half_format f)
{
    for (uint32_t sources = 1; sources <= SOURCES; sources++) {
        fill(f, sources);
        for (uint32_t i = 0; i < size / sizeof *rows; i++)
            if (sources_of(rows[i].operation) == sources)
                check_row(&rows[i], f);
    }
}

static void f16_arithmetic(void **state)
{
    (void)state;
    check_rows(both_rows, sizeof both_rows, half_f16);
    check_rows(f16_rows, sizeof f16_rows, half_f16);
}

static void bf16_arithmetic(void **state)
{
    (void)state;
    check_rows(both_rows, sizeof both_rows, half_bf16);
    check_rows(bf16_rows, sizeof bf16_rows, half_bf16);
}

/* ---- approximations ---------------------------------------------------------------------------------------------- */

/* The error that the ISA allows, relative or absolute; all values of the type. */
static void check_bound(const char *text, half_format f, bool packed, double (*exact)(double), double relative,
                        double absolute, bool ftz)
{
    char instruction[256];
    name_registers(text, packed ? "%r" : "%h", f.fraction_bits == 7, instruction, sizeof instruction);
    fill(f, 1);
    run_text(instruction, packed ? 4 : 2);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint16_t in = ftz ? flush(f, (uint16_t)i) : (uint16_t)i;
        double want = exact(half_value(f, in)), got = half_value(f, results[i]);
        double most = half_value(f, (uint16_t)((((1 << f.exponent_bits) - 1) << f.fraction_bits) - 1));
        double least = ldexp(1, 1 - ((1 << (f.exponent_bits - 1)) - 1) - f.fraction_bits);
        bool right = isnan(want)       ? results[i] == 0x7fff
                     : isinf(got)      ? want > most
                     : ftz && got == 0 ? want < least * (1 << f.fraction_bits)
                                       : fabs(got - want) <= relative * fabs(want) + absolute + least / 2;
        if (!right)
            fail_msg("%s of %04x gives %04x (%g), expected %g", instruction, i, results[i], got, want);
    }
}

static void approximations(void **state)
{
    (void)state;
    check_bound("ex2.approx.f16 @d, @a;", half_f16, false, exp2, exp2(-9.9), 0, false);
    check_bound("ex2.approx.f16x2 @d, @a;", half_f16, true, exp2, exp2(-9.9), 0, false);
    check_bound("ex2.approx.ftz.f16 @d, @a;", half_bf16, false, exp2, exp2(-7), 0, true);
    check_bound("ex2.approx.ftz.f16x2 @d, @a;", half_bf16, true, exp2, exp2(-7), 0, true);
    check_bound("tanh.approx.f16 @d, @a;", half_f16, false, tanh, 0, exp2(-10.987), false);
    check_bound("tanh.approx.f16x2 @d, @a;", half_f16, true, tanh, 0, exp2(-10.987), false);
    check_bound("tanh.approx.f16 @d, @a;", half_bf16, false, tanh, 0, exp2(-8), false);
    check_bound("tanh.approx.f16x2 @d, @a;", half_bf16, true, tanh, 0, exp2(-8), false);
}

/* ---- comparisons ------------------------------------------------------------------------------------------------- */

static const char *const comparisons[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                          "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

static bool holds(uint32_t comparison, double a, double b)
{
    bool unordered = isnan(a) || isnan(b);
    const bool ordered[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
    return comparison < 6    ? !unordered && ordered[comparison]
           : comparison < 12 ? unordered || ordered[comparison - 6]
                             : unordered == (comparison == 13);
}

static bool combine(const char *boolean, bool truth, bool other)
{
    switch (*boolean ? boolean[1] : 0) {
    case 'a': return truth && other;
    case 'o': return truth || other;
    case 'x': return truth != other;
    default: return truth;
    }
}

typedef struct comparer {
    const char *text; /* %s: the comparison, then .and, .or, .xor and what follows, or nothing; then the predicate */
    uint16_t one;     /* in each half of d; 0: the type's 1.0 */
    bool packed;
} comparer;

/* set of a scalar to 32 bits is looked at through its upper half; setp f16x2 gives a predicate a lane. */
static const comparer comparers[] = {
    {"setp.%s%s.f16 %%p1, @a, @b%s; selp.b16 @d, 1, 0, %%p1;", 1, false},
    {"setp.%s%s.f16x2 %%p1|%%p2, @a, @b%s; selp.b32 @d, 1, 0, %%p1; selp.b32 %%r5, 65536, 0, %%p2; or.b32 @d, @d, "
     "%%r5;",
     1, true},
    {"set.%s%s.u16.f16 @d, @a, @b%s;", 0xffff, false},
    {"set.%s%s.f16.f16 @d, @a, @b%s;", 0, false},
    {"set.%s%s.s32.f16 %%r5, @a, @b%s; shr.u32 %%r5, %%r5, 16; cvt.u16.u32 @d, %%r5;", 0xffff, false},
    {"set.%s%s.u32.f16x2 @d, @a, @b%s;", 0xffff, true},
    {"set.%s%s.f16x2.f16x2 @d, @a, @b%s;", 0, true},
};

static void check_comparison(const comparer *c, half_format f, uint32_t comparison, const char *boolean, bool ftz)
{
    char modifiers[32], text[512], instruction[512];
    snprintf(modifiers, sizeof modifiers, "%s%s", boolean, ftz ? ".ftz" : "");
    snprintf(text, sizeof text, c->text, comparisons[comparison], modifiers, *boolean ? ", !%p3" : "");
    name_registers(text, c->packed ? "%r" : "%h", f.fraction_bits == 7, instruction, sizeof instruction);
    run_text(instruction, c->packed ? 4 : 2);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint16_t a = ftz ? flush(f, values[0][i]) : values[0][i], b = ftz ? flush(f, values[1][i]) : values[1][i];
        bool other = !values[2][c->packed ? i & ~1u : i];
        bool truth = combine(boolean, holds(comparison, half_value(f, a), half_value(f, b)), other);
        uint16_t want = !truth ? 0 : c->one ? c->one : half_one(f);
        if (results[i] != want)
            fail_msg("%s of %04x, %04x, %04x gives %04x, expected %04x", instruction, a, b, values[2][i], results[i],
                     want);
    }
}

static void compare_all(half_format f, bool has_ftz)
{
    static const char *const booleans[] = {"", ".and", ".or", ".xor"};
    fill(f, 2);
    for (uint32_t i = 0; i < COUNT; i++) /* a predicate that differs between neighbours */
        values[2][i] = (i / 2 * 2654435761u >> 20 & 1) ? (uint16_t)(i | 1) : 0;
    for (uint32_t k = 0; k < sizeof comparers / sizeof *comparers; k++)
        for (uint32_t comparison = 0; comparison < 14; comparison++)
            check_comparison(&comparers[k], f, comparison, booleans[(comparison + k) % 4],
                             has_ftz && (comparison + k) % 3 == 0);
}

static void f16_comparisons(void **state)
{
    (void)state;
    compare_all(half_f16, true);
}
static void bf16_comparisons(void **state)
{
    (void)state;
    compare_all(half_bf16, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(f16_arithmetic), cmocka_unit_test(bf16_arithmetic),
                                       cmocka_unit_test(approximations), cmocka_unit_test(f16_comparisons),
                                       cmocka_unit_test(bf16_comparisons)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
