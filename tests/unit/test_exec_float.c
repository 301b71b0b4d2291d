/* Floating point beyond plain IEEE arithmetic: packed and mixed types, minima and maxima with all modifiers, NaNs of
 * double precision, the flushing of old targets; and approximations, over samples of all values and dense ones where
 * the ISA gives a bound, within that bound of libm's double precision. */
#include "float_bits.h"
#include "half.h"
#include "instruction.h"
#include "ptx_file.h"

#include <fenv.h>
#include <math.h>

static void check_rows(const row *rows, size_t size)
{
    for (uint32_t i = 0; i < size / sizeof *rows; i++)
        check_row(&rows[i]);
}

/* One operation in a rounding mode; volatile, so that nothing is computed before. */
#define ROUNDED(name, mode, expression)                      \
    static uint64_t name(uint64_t x, uint64_t y, uint64_t z) \
    {                                                        \
        volatile float a = f(x), b = f(y), c = f(z);         \
        fesetround(mode);                                    \
        volatile float r = expression;                       \
        fesetround(FE_TONEAREST);                            \
        (void)a, (void)b, (void)c;                           \
        return of_f(r);                                      \
    }
ROUNDED(sum_rn, FE_TONEAREST, a + b)
ROUNDED(sum_rz, FE_TOWARDZERO, a + b)
ROUNDED(sum_rm, FE_DOWNWARD, a + b)
ROUNDED(sum_rp, FE_UPWARD, a + b)
ROUNDED(difference_rn, FE_TONEAREST, a - b)
ROUNDED(difference_rp, FE_UPWARD, a - b)
ROUNDED(product_rn, FE_TONEAREST, a *b)
ROUNDED(product_rm, FE_DOWNWARD, a *b)
ROUNDED(fused_rn, FE_TONEAREST, fmaf(a, b, c))
ROUNDED(fused_rz, FE_TOWARDZERO, fmaf(a, b, c))
ROUNDED(fused_rm, FE_DOWNWARD, fmaf(a, b, c))
ROUNDED(fused_rp, FE_UPWARD, fmaf(a, b, c))

/* ---- f32x2: low parts A, B, C; high parts B, C, A ---------------------------------------------------------------- */

typedef uint64_t ternary(uint64_t a, uint64_t b, uint64_t c);
static uint64_t twice(values v, ternary *operation, bool ftz)
{
    uint64_t a = ftz ? flush(v.a) : v.a, b = ftz ? flush(v.b) : v.b, c = ftz ? flush(v.c) : v.c;
    uint64_t low = operation(a, b, c), high = operation(b, c, a);
    return (ftz ? flush(low) : low) | (ftz ? flush(high) : high) << 32;
}
#define TWICE(operation, ftz) \
    static uint64_t two_##operation##_##ftz(values v) { return twice(v, operation, ftz); }
TWICE(sum_rn, 0)
TWICE(sum_rz, 1)
TWICE(difference_rp, 0)
TWICE(product_rm, 0)
TWICE(product_rn, 1)
TWICE(fused_rn, 0)
TWICE(fused_rz, 0)
TWICE(fused_rm, 0)
TWICE(fused_rp, 1)
#define PAIRS "mov.b64 %rd20, { A, B}; mov.b64 %rd21, { B, C}; mov.b64 %rd22, { C, A}; "
#define ROW(text, reference)                      \
    {                                             \
        PAIRS text, 'x', 'f', 'f', 'f', reference \
    }
static const row packed_rows[] = {
    ROW("add.f32x2 D, %rd20, %rd21;", two_sum_rn_0),
    ROW("add.rz.ftz.f32x2 D, %rd20, %rd21;", two_sum_rz_1),
    ROW("sub.rp.f32x2 D, %rd20, %rd21;", two_difference_rp_0),
    ROW("mul.rm.f32x2 D, %rd20, %rd21;", two_product_rm_0),
    ROW("mul.ftz.f32x2 D, %rd20, %rd21;", two_product_rn_1),
    ROW("fma.rn.f32x2 D, %rd20, %rd21, %rd22;", two_fused_rn_0),
    ROW("fma.rz.f32x2 D, %rd20, %rd21, %rd22;", two_fused_rz_0),
    ROW("fma.rm.f32x2 D, %rd20, %rd21, %rd22;", two_fused_rm_0),
    ROW("fma.rp.ftz.f32x2 D, %rd20, %rd21, %rd22;", two_fused_rp_1),
};
#undef ROW

static void packed(void **state)
{
    (void)state;
    check_rows(packed_rows, sizeof packed_rows);
}

/* ---- f32 with 16-bit sources ------------------------------------------------------------------------------------- */

static uint64_t widened(half_format format, uint64_t v) { return of_f((float)half_value(format, (uint16_t)v)); }
#define MIXED(name, format, expression)                                                               \
    static uint64_t name(values v)                                                                    \
    {                                                                                                 \
        uint64_t a = widened(format, v.a), b = widened(format, v.b), c = v.c, second = v.b, zero = 0; \
        (void)b, (void)c, (void)second, (void)zero;                                                   \
        return expression;                                                                            \
    }
MIXED(add_f16, half_f16, sum_rn(a, second, zero))
MIXED(add_f16_constant, half_f16, sum_rn(a, 0x3fc00001, zero))
MIXED(add_bf16_rm, half_bf16, sum_rm(a, second, zero))
MIXED(add_f16_rp_sat, half_f16, saturate(sum_rp(a, second, zero)))
MIXED(sub_f16_rn, half_f16, difference_rn(a, second, zero))
MIXED(sub_bf16, half_bf16, difference_rn(a, second, zero))
MIXED(fma_f16, half_f16, fused_rn(a, b, c))
MIXED(fma_bf16_rz, half_bf16, fused_rz(a, b, c))
MIXED(fma_bf16_rp_sat, half_bf16, saturate(fused_rp(a, b, c)))
static const row mixed_rows[] = {
    {"add.f32.f16 D, A, B;", 'f', 'h', 'f', '-', add_f16},
    {"add.f32.f16 D, A, 0f3FC00001;", 'f', 'h', '-', '-', add_f16_constant},
    {"add.rm.f32.bf16 D, A, B;", 'f', 'h', 'f', '-', add_bf16_rm},
    {"add.rp.sat.f32.f16 D, A, B;", 'f', 'h', 'f', '-', add_f16_rp_sat},
    {"sub.rn.f32.f16 D, A, B;", 'f', 'h', 'f', '-', sub_f16_rn},
    {"sub.f32.bf16 D, A, B;", 'f', 'h', 'f', '-', sub_bf16},
    {"fma.rn.f32.f16 D, A, B, C;", 'f', 'h', 'h', 'f', fma_f16},
    {"fma.rz.f32.bf16 D, A, B, C;", 'f', 'h', 'h', 'f', fma_bf16_rz},
    {"fma.rp.sat.f32.bf16 D, A, B, C;", 'f', 'h', 'h', 'f', fma_bf16_rp_sat},
};

static void mixed(void **state)
{
    (void)state;
    check_rows(mixed_rows, sizeof mixed_rows);
}

/* ---- minima and maxima ------------------------------------------------------------------------------------------- */

static uint64_t extreme(uint64_t a, uint64_t b, bool larger, bool nan_wins)
{
    float x = f(a), y = f(b);
    if ((isnan(x) && isnan(y)) || (nan_wins && (isnan(x) || isnan(y))))
        return 0x7fffffff;
    if (isnan(x) || isnan(y))
        return isnan(x) ? b : a;
    bool first_below = x < y || (x == y && signbit(x));
    return first_below != larger ? a : b;
}
static uint64_t xorsign(values v, bool larger, bool nan_wins)
{
    uint64_t out = extreme(v.a & 0x7fffffff, v.b & 0x7fffffff, larger, nan_wins);
    return isnan(f(out)) ? out : out | ((v.a ^ v.b) & 0x80000000);
}
static uint64_t of_three(values v, bool larger, bool nan_wins, bool magnitudes)
{
    uint64_t mask = magnitudes ? 0x7fffffff : 0xffffffff;
    return extreme(extreme(v.a & mask, v.b & mask, larger, nan_wins), v.c & mask, larger, nan_wins);
}
static values flushed(values v) { return (values){flush(v.a), flush(v.b), flush(v.c)}; }
#define REF(name, expression) \
    static uint64_t name(values v) { return expression; }
REF(max_plain, extreme(v.a, v.b, true, false))
REF(min_nan, extreme(v.a, v.b, false, true))
REF(min_ftz, extreme(flush(v.a), flush(v.b), false, false))
REF(min_xor, xorsign(v, false, false))
REF(max_xor_nan, xorsign(v, true, true))
REF(max_xor_ftz, xorsign(flushed(v), true, false))
REF(min_three, of_three(v, false, false, false))
REF(max_three_nan, of_three(v, true, true, false))
REF(max_three_abs, of_three(v, true, false, true))
REF(min_three_all, of_three(flushed(v), false, true, true))
static uint64_t quiet(uint64_t v) { return v | 1ull << 51; }
static uint64_t extreme_d(values v, bool larger)
{
    double x = d(v.a), y = d(v.b);
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y) ? quiet(v.a) : isnan(x) ? v.b : v.a;
    bool first_below = x < y || (x == y && signbit(x));
    return first_below != larger ? v.a : v.b;
}
REF(min_d, extreme_d(v, false))
REF(max_d, extreme_d(v, true))
static const row extreme_rows[] = {
    {"max.f32 D, A, B;", 'f', 'f', 'f', '-', max_plain},
    {"min.NaN.f32 D, A, B;", 'f', 'f', 'f', '-', min_nan},
    {"min.ftz.f32 D, A, B;", 'f', 'f', 'f', '-', min_ftz},
    {"min.xorsign.abs.f32 D, A, B;", 'f', 'f', 'f', '-', min_xor},
    {"max.NaN.xorsign.abs.f32 D, A, B;", 'f', 'f', 'f', '-', max_xor_nan},
    {"max.ftz.xorsign.abs.f32 D, A, B;", 'f', 'f', 'f', '-', max_xor_ftz},
    {"min.f32 D, A, B, C;", 'f', 'f', 'f', 'f', min_three},
    {"max.NaN.f32 D, A, B, C;", 'f', 'f', 'f', 'f', max_three_nan},
    {"max.abs.f32 D, A, B, C;", 'f', 'f', 'f', 'f', max_three_abs},
    {"min.ftz.NaN.abs.f32 D, A, B, C;", 'f', 'f', 'f', 'f', min_three_all},
    {"min.f32 %f20, A, B; min.f32 D, %f20, %f20, C;", 'f', 'f', 'f', 'f', min_three},
    {"min.f64 D, A, B;", 'd', 'd', 'd', '-', min_d},
    {"max.f64 D, A, B;", 'd', 'd', 'd', '-', max_d},
};

static void extremes(void **state)
{
    (void)state;
    check_rows(extreme_rows, sizeof extreme_rows);
}

/* ---- NaNs of double precision: the first one among the sources, quiet -------------------------------------------- */

static const uint64_t nans[] = {0x7ff0000000000001, 0xfff8000000000123, 0x7ff8000000000000, 0xfff4000000000000,
                                0x3ff0000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0};
enum { NANS = sizeof nans / sizeof *nans };

static uint64_t first_nan(uint64_t a, uint64_t b, uint64_t c)
{
    return isnan(d(a)) ? quiet(a) : isnan(d(b)) ? quiet(b) : isnan(d(c)) ? quiet(c) : 0xfff8000000000000;
}

static void check_nans(const char *instruction, double (*operation)(double, double, double), uint32_t sources)
{
    static uint64_t in[NANS * NANS * NANS][3], out[NANS * NANS * NANS];
    char body[1024], text[2048];
    for (uint32_t i = 0; i < NANS * NANS * NANS; i++) {
        in[i][0] = nans[i % NANS];
        in[i][1] = nans[i / NANS % NANS];
        in[i][2] = nans[i / NANS / NANS];
    }
    snprintf(body, sizeof body,
             "mov.u32 %%r1, %%ctaid.x;\nmad.lo.u32 %%r0, %%r1, 32, %%r0;\nmad.wide.u32 %%rd2, %%r0, 24, %%rd0;\n"
             "mad.wide.u32 %%rd3, %%r0, 8, %%rd1;\nld.global.f64 %%fd1, [%%rd2];\nld.global.f64 %%fd2, [%%rd2+8];\n"
             "ld.global.f64 %%fd3, [%%rd2+16];\n%s\nst.global.f64 [%%rd3], %%fd4;\n",
             instruction);
    kernel_run run = {.text = kernel_text(text, sizeof text, body),
                      .in = in,
                      .in_bytes = sizeof in,
                      .out = out,
                      .out_bytes = sizeof out,
                      .grid = NANS * NANS * NANS / 32};
    run_kernel(&run);
    assert_int_equal(run.status, HD_EXEC_DONE);
    for (uint32_t i = 0; i < NANS * NANS * NANS; i++) {
        double r = operation(d(in[i][0]), d(in[i][1]), d(in[i][2]));
        uint64_t want =
            !isnan(r) ? of_d(r) : first_nan(in[i][0], sources > 1 ? in[i][1] : 0, sources > 2 ? in[i][2] : 0);
        if (out[i] != want)
            fail_msg("%s of %llx, %llx, %llx gives %llx, expected %llx", instruction, (unsigned long long)in[i][0],
                     (unsigned long long)in[i][1], (unsigned long long)in[i][2], (unsigned long long)out[i],
                     (unsigned long long)want);
    }
}

#define OPERATION(name, expression)                  \
    static double name(double a, double b, double c) \
    {                                                \
        (void)b, (void)c;                            \
        return expression;                           \
    }
OPERATION(plus, a + b)
OPERATION(minus, a - b)
OPERATION(times, a *b)
OPERATION(over, a / b)
OPERATION(fused, fma(a, b, c))
OPERATION(root, sqrt(a))
OPERATION(inverse, 1 / a)
OPERATION(inverse_root, 1 / sqrt(a))

static void double_nans(void **state)
{
    (void)state;
    check_nans("add.f64 %fd4, %fd1, %fd2;", plus, 2);
    check_nans("sub.rn.f64 %fd4, %fd1, %fd2;", minus, 2);
    check_nans("mul.rz.f64 %fd4, %fd1, %fd2;", times, 2);
    check_nans("div.rn.f64 %fd4, %fd1, %fd2;", over, 2);
    check_nans("fma.rn.f64 %fd4, %fd1, %fd2, %fd3;", fused, 3);
    check_nans("mad.rn.f64 %fd4, %fd1, %fd2, %fd3;", fused, 3);
    check_nans("sqrt.rn.f64 %fd4, %fd1;", root, 1);
    check_nans("rcp.rn.f64 %fd4, %fd1;", inverse, 1);
    check_nans("rsqrt.approx.f64 %fd4, %fd1;", inverse_root, 1);
}

/* ---- approximations ---------------------------------------------------------------------------------------------- */

enum { SAMPLES = 65536 };
static uint32_t single_in[2][SAMPLES], single_out[SAMPLES];

static void run_singles(const char *instruction)
{
    char text[2048];
    snprintf(
        text, sizeof text,
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
        ".reg .b32 %%r<4>;\n.reg .f32 %%f<8>;\n.reg .b64 %%rd<4>;\n"
        "ld.param.u64 %%rd0, [in];\nld.param.u64 %%rd1, [out];\n"
        "mov.u32 %%r0, %%tid.x;\nmov.u32 %%r1, %%ctaid.x;\nmad.lo.u32 %%r0, %%r1, 256, %%r0;\n"
        "mad.wide.u32 %%rd0, %%r0, 4, %%rd0;\nmad.wide.u32 %%rd1, %%r0, 4, %%rd1;\n"
        "ld.global.f32 %%f1, [%%rd0];\nld.global.f32 %%f2, [%%rd0+%d];\n%s\nst.global.f32 [%%rd1], %%f0;\nret;\n}\n",
        SAMPLES * 4, instruction);
    kernel_run run = {.text = text,
                      .in = single_in,
                      .in_bytes = sizeof single_in,
                      .out = single_out,
                      .out_bytes = sizeof single_out,
                      .grid = SAMPLES / 256,
                      .block = 256};
    run_kernel(&run);
    if (run.status != HD_EXEC_DONE)
        fail_msg("%s: %s", instruction, run.message);
}

typedef struct approximation {
    const char *instruction;
    double (*exact)(double);
    double relative, absolute;
    double low, high; /* dense samples between these; equal: samples of all bit patterns */
    bool ftz;
} approximation;

static double inverse_of(double x) { return 1 / x; }
static double inverse_root_of(double x) { return 1 / sqrt(x); }

/* 2^-22.9 is 1.277e-7, 2^-20.5 6.743e-7, 2^-14.7 3.757e-5; sin and cos have bounds in one and in fifty turns. */
#define TWO_PI 6.283185307179586
static const approximation approximations[] = {
    {"rcp.approx.f32 %f0, %f1;", inverse_of, 0x1p-23, 0, 0, 0, false},
    {"rcp.approx.ftz.f32 %f0, %f1;", inverse_of, 0x1p-23, 0, 0, 0, true},
    {"sqrt.approx.f32 %f0, %f1;", sqrt, 0x1p-23, 0, 0, 0, false},
    {"sqrt.approx.ftz.f32 %f0, %f1;", sqrt, 0x1p-23, 0, 0, 0, true},
    {"rsqrt.approx.f32 %f0, %f1;", inverse_root_of, 1.27e-7, 0, 0, 0, false},
    {"rsqrt.approx.ftz.f32 %f0, %f1;", inverse_root_of, 1.27e-7, 0, 0, 0, true},
    {"sin.approx.f32 %f0, %f1;", sin, 0, 6.74e-7, -TWO_PI, TWO_PI, false},
    {"sin.approx.f32 %f0, %f1;", sin, 0, 3.75e-5, -50 * TWO_PI, 50 * TWO_PI, false},
    {"sin.approx.ftz.f32 %f0, %f1;", sin, 0, 6.74e-7, -0x1p-120, 0x1p-120, true},
    {"cos.approx.f32 %f0, %f1;", cos, 0, 6.74e-7, -TWO_PI, TWO_PI, false},
    {"cos.approx.ftz.f32 %f0, %f1;", cos, 0, 3.75e-5, -50 * TWO_PI, 50 * TWO_PI, true},
    {"sin.approx.f32 %f0, %f1;", sin, 0, 0x1p-24, 0, 0, false}, /* what the manual says of all angles */
    {"cos.approx.f32 %f0, %f1;", cos, 0, 0x1p-24, 0, 0, false},
    {"lg2.approx.f32 %f0, %f1;", log2, 0, 0x1p-22, 0.5, 2, false},
    {"lg2.approx.f32 %f0, %f1;", log2, 0x1p-22, 0x1p-22, 0, 0, false},
    {"lg2.approx.ftz.f32 %f0, %f1;", log2, 0x1p-22, 0x1p-22, 0, 0, true},
    {"ex2.approx.f32 %f0, %f1;", exp2, 0x1p-22, 0, -150, 129, false},
    {"ex2.approx.f32 %f0, %f1;", exp2, 0x1p-22, 0, -1, 1, false},
    {"ex2.approx.f32 %f0, %f1;", exp2, 0x1p-22, 0, 0, 0, false},
    {"ex2.approx.ftz.f32 %f0, %f1;", exp2, 0x1p-22, 0, -150, 129, true},
    {"tanh.approx.f32 %f0, %f1;", tanh, 0x1p-11, 0, -8, 8, false},
    {"tanh.approx.f32 %f0, %f1;", tanh, 0x1p-11, 0, 0, 0, false},
};

static void check_single(const char *instruction, uint32_t i, double want, double error, bool ftz)
{
    double got = f(single_out[i]), least = ftz ? 0x1p-126 : 0x1p-149;
    bool right = isnan(want)             ? single_out[i] == 0x7fffffff
                 : isinf(want)           ? got == want
                 : isinf(got)            ? fabs(want) >= 0x1.fffffep127 && signbit(got) == signbit(want)
                 : fabs(want) < 0x1p-126 ? fabs(got - want) <= error + least
                                         : fabs(got - want) <= error;
    if (!right)
        fail_msg("%s of %08x, %08x gives %08x (%g), expected %g", instruction, single_in[0][i], single_in[1][i],
                 single_out[i], got, want);
}

static void check_approximation(const approximation *a)
{
    for (uint32_t i = 0; i < SAMPLES; i++) {
        float x = (float)(a->low + (a->high - a->low) * i / (SAMPLES - 1));
        single_in[0][i] = a->low < a->high ? (uint32_t)of_f(x) : i * 65537u;
    }
    run_singles(a->instruction);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        double x = f(a->ftz ? flush(single_in[0][i]) : single_in[0][i]), want = a->exact(x);
        check_single(a->instruction, i, want, a->relative * fabs(want) + a->absolute, a->ftz);
    }
}

/* The manual promises more than the ISA: half a unit in the last place, and little more. Angles next to quarter turns,
 * where little remains of them; other sources as they come. */
static void check_rounding(const approximation *a, bool is_angle)
{
    for (uint32_t i = 0; i < SAMPLES; i++)
        single_in[0][i] = is_angle ? (uint32_t)of_f((float)(i * 10 * (TWO_PI / 4))) : i * 65537u;
    run_singles(a->instruction);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        double x = f(single_in[0][i]), want = a->exact(x);
        if (fabs(want) >= 0x1p-126 && fabs(want) < 0x1p127)
            check_single(a->instruction, i, want, 0x1.01p-24 * fabs(want), false);
    }
}

static void single_precision(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof approximations / sizeof *approximations; i++)
        if (!approximations[i].ftz)
            check_rounding(&approximations[i], approximations[i].exact == sin || approximations[i].exact == cos);
    for (uint32_t i = 0; i < sizeof approximations / sizeof *approximations; i++)
        check_approximation(&approximations[i]);
}

/* div.approx loses divisors above 2^126; both allow two units in the last place. */
static void division(void **state)
{
    uint64_t seed = 11;
    (void)state;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        single_in[0][i] = (uint32_t)unit_random(&seed);
        single_in[1][i] = i % 4 ? (uint32_t)unit_random(&seed) : (i * 2654435761u & 0x81ffffff) | 0x7e000000;
    }
    run_singles("div.full.f32 %f0, %f1, %f2;");
    for (uint32_t i = 0; i < SAMPLES; i++) {
        double want = (double)f(single_in[0][i]) / f(single_in[1][i]);
        check_single("div.full.f32", i, want, 0x1p-22 * fabs(want), false);
    }
    run_singles("div.approx.ftz.f32 %f0, %f1, %f2;");
    for (uint32_t i = 0; i < SAMPLES; i++) {
        double a = f(flush(single_in[0][i])), b = f(flush(single_in[1][i]));
        bool lost = fabs(b) > 0x1p126 && !isinf(b);
        double want = lost ? a * copysign(0, b) : a / b;
        check_single("div.approx.ftz.f32", i, want, 0x1p-22 * fabs(want), true);
    }
}

/* The gross approximations of double precision see the upper word, and leave zero in the lower. */
static void check_gross(const char *instruction, double (*exact)(double))
{
    static uint64_t in[SAMPLES], out[SAMPLES];
    char body[1024], text[2048];
    uint64_t seed = 13;
    for (uint32_t i = 0; i < SAMPLES; i++)
        in[i] = i < 4096 ? (uint64_t)i << 52 : unit_random(&seed);
    snprintf(body, sizeof body,
             "mov.u32 %%r1, %%ctaid.x;\nmad.lo.u32 %%r0, %%r1, 256, %%r0;\nmad.wide.u32 %%rd2, %%r0, 8, %%rd0;\n"
             "mad.wide.u32 %%rd3, %%r0, 8, %%rd1;\nld.global.f64 %%fd1, [%%rd2];\n%s\nst.global.f64 [%%rd3], %%fd0;\n",
             instruction);
    kernel_run run = {.text = kernel_text(text, sizeof text, body),
                      .in = in,
                      .in_bytes = sizeof in,
                      .out = out,
                      .out_bytes = sizeof out,
                      .grid = SAMPLES / 256,
                      .block = 256};
    run_kernel(&run);
    assert_int_equal(run.status, HD_EXEC_DONE);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        double x = d(in[i]), got = d(out[i]);
        double want = exact(fpclassify(x) == FP_SUBNORMAL ? copysign(0, x) : x);
        bool right = isnan(want)                ? isnan(got)
                     : isinf(want) || want == 0 ? got == want && signbit(got) == signbit(want)
                     : fabs(want) < 0x1p-1021   ? fabs(got) <= 0x1p-1021
                                                : fabs(got - want) <= 0x1p-19 * fabs(want);
        if (!right || out[i] & 0xffffffff)
            fail_msg("%s of %llx gives %llx (%g), expected %g", instruction, (unsigned long long)in[i],
                     (unsigned long long)out[i], got, want);
    }
}

static void double_precision(void **state)
{
    (void)state;
    check_gross("rcp.approx.ftz.f64 %fd0, %fd1;", inverse_of);
    check_gross("rsqrt.approx.ftz.f64 %fd0, %fd1;", inverse_root_of);
}

/* ---- old PTX ----------------------------------------------------------------------------------------------------- */

/* Before PTX 1.4 the bare names mean approximations; before sm_20 single precision has no subnormals. */
static void old_spellings(void **state)
{
    static const uint32_t in[32] = {0x3f800000, 0x40000000, 0x00000001, 0x80000001, 0x7f000000, 0x7e800001};
    uint32_t out[32 * 3];
    const char *text = ptx_file("exec_float-old_spellings");
    kernel_run run = {.text = text, .in = in, .in_bytes = sizeof in, .out = out, .out_bytes = sizeof out};
    (void)state;
    run_kernel(&run);
    if (run.status != HD_EXEC_DONE)
        fail_msg("%s", run.message);
    assert_int_equal(out[0], 0x60000000);
    assert_int_equal(out[1], 0x5f800000);
    assert_int_equal(out[2], 0x7f800000); /* by a flushed subnormal */
    assert_int_equal(out[3], 0xff800000);
    assert_int_equal(out[4], 0); /* a divisor above 2^126 */
    assert_int_equal(out[32 + 1], 0x40800000);
    assert_int_equal(out[32 + 2], 0); /* a subnormal and itself */
    assert_int_equal(out[32 + 3], 0x80000000);
    assert_int_equal(out[64 + 1], 0);
    assert_int_equal(out[64 + 2], 1); /* equals zero */
}

/* ---- flushed results --------------------------------------------------------------------------------------------- */

/* Next to the smallest normal number, as an H200 computes them (CUDA 13.0, driver 580.159): flushed is what is below it
 * when it is rounded to 24 bits, though it may round up to it as a subnormal, with fewer. */
enum { FLUSHED_RESULTS = 15, FLUSHED_ROWS = 15 };
static const char flushed_code[] =
    "mul.wide.u32 %rd2, %r0, 8;\nadd.u64 %rd2, %rd0, %rd2;\nld.global.v2.f32 {%f1, %f2}, [%rd2];\n"
    "mov.f32 %f3, 0f00000000;\nmul.wide.u32 %rd3, %r0, 60;\nadd.u64 %rd3, %rd1, %rd3;\n"
    "mul.rn.ftz.f32 %f0, %f1, %f2;\nst.global.f32 [%rd3], %f0;\n"
    "mul.rz.ftz.f32 %f0, %f1, %f2;\nst.global.f32 [%rd3+4], %f0;\n"
    "mul.rp.ftz.f32 %f0, %f1, %f2;\nst.global.f32 [%rd3+8], %f0;\n"
    "mul.rm.ftz.f32 %f0, %f1, %f2;\nst.global.f32 [%rd3+12], %f0;\n"
    "mul.rn.ftz.sat.f32 %f0, %f1, %f2;\nst.global.f32 [%rd3+16], %f0;\n"
    "fma.rn.ftz.f32 %f0, %f1, %f2, %f3;\nst.global.f32 [%rd3+20], %f0;\n"
    "fma.rz.ftz.f32 %f0, %f1, %f2, %f3;\nst.global.f32 [%rd3+24], %f0;\n"
    "fma.rp.ftz.f32 %f0, %f1, %f2, %f3;\nst.global.f32 [%rd3+28], %f0;\n"
    "fma.rm.ftz.f32 %f0, %f1, %f2, %f3;\nst.global.f32 [%rd3+32], %f0;\n"
    "cvt.f64.f32 %fd1, %f1;\ncvt.f64.f32 %fd2, %f2;\nmul.f64 %fd1, %fd1, %fd2;\n"
    "cvt.rn.ftz.f32.f64 %f0, %fd1;\nst.global.f32 [%rd3+36], %f0;\n"
    "mul.rn.f32 %f0, %f1, %f2;\nst.global.f32 [%rd3+40], %f0;\n"
    "div.rn.ftz.f32 %f0, %f1, %f2;\nst.global.f32 [%rd3+44], %f0;\n"
    "div.rp.ftz.f32 %f0, %f1, %f2;\nst.global.f32 [%rd3+48], %f0;\n"
    "div.rm.ftz.f32 %f0, %f1, %f2;\nst.global.f32 [%rd3+52], %f0;\n"
    "div.rz.ftz.f32 %f0, %f1, %f2;\nst.global.f32 [%rd3+56], %f0;\n";
enum { N = 0x00800000, M = (int)0x80800000, Z = (int)0x80000000, ANY = 0x11111111 /* not measured */ };
static const uint32_t flushed_rows[FLUSHED_ROWS][2 + FLUSHED_RESULTS] = {
    /* sources; mul rn, rz, rp, rm, rn.sat; fma rn, rz, rp, rm; cvt; mul without .ftz; div rn, rp, rm, rz */
    {0x01000000, 0x3effffff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, N, ANY, ANY, ANY, ANY},
    {0x01000000, 0x3efffffe, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, N - 1, ANY, ANY, ANY, ANY},
    {0x00800001, 0x3f7ffffe, N, 0, N, 0, N, N, 0, N, 0, N, N, ANY, ANY, ANY, ANY},
    {0x00800001, 0x3f7fffff, N, N, N + 1, N, N, N, N, N + 1, N, N, N, ANY, ANY, ANY, ANY},
    {0x00ffffff, 0x3f000000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, N, ANY, ANY, ANY, ANY},
    {0x00ffffff, 0x3f000001, N, N, N + 1, N, N, N, N, N + 1, N, N, N, ANY, ANY, ANY, ANY},
    {0x00ffffff, 0x3f000002, N + 1, N + 1, N + 2, N + 1, N + 1, N + 1, N + 1, N + 2, N + 1, N + 1, N + 1, ANY, ANY, ANY,
     ANY},
    {0x00b504f3, 0x3f3504f3, 0, 0, N, 0, 0, 0, 0, N, 0, 0, N, ANY, ANY, ANY, ANY},
    {0x80800001, 0x3f7ffffe, M, Z, Z, M, 0, M, Z, Z, M, M, M, ANY, ANY, ANY, ANY},
    {0x80ffffff, 0x3f000001, M, M, M, M + 1, 0, M, M, M, M + 1, M, M, ANY, ANY, ANY, ANY},
    {0x00fffffe, 0x3fffffff, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, 0, 0, 0, 0},
    {0x00ffffff, 0x40000000, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, 0, 0, 0, 0},
    {0x00800000, 0x3f800001, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, 0, 0, 0, 0},
    {0x00ffffff, 0x3fffffff, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, N, N, N, N},
    {0x80fffffe, 0x3fffffff, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, Z, Z, Z, Z}};

static void flushed_results(void **state)
{
    uint32_t in[32][2] = {{0}}, out[32][FLUSHED_RESULTS];
    char text[8192];
    kernel_run run = {.text = kernel_text(text, sizeof text, flushed_code),
                      .in = in,
                      .in_bytes = sizeof in,
                      .out = out,
                      .out_bytes = sizeof out};
    (void)state;
    for (uint32_t r = 0; r < FLUSHED_ROWS; r++)
        memcpy(in[r], flushed_rows[r], sizeof in[r]);
    run_kernel(&run);
    if (run.status != HD_EXEC_DONE)
        fail_msg("%s", run.message);
    for (uint32_t r = 0; r < FLUSHED_ROWS; r++)
        for (uint32_t k = 0; k < FLUSHED_RESULTS; k++) {
            uint32_t want = flushed_rows[r][2 + k];
            if (want != ANY && out[r][k] != want)
                fail_msg("result %u of %08x, %08x is %08x, expected %08x", k, in[r][0], in[r][1], out[r][k], want);
        }
}

/* The assembler takes a testp that names no test; it has no meaning. */
static void nameless_test(void **state)
{
    char text[2048];
    kernel_run run = {.text = kernel_text(text, sizeof text, "testp.f32 %p1, %f1;")};
    (void)state;
    run_kernel(&run);
    assert_int_equal(run.status, HD_EXEC_UNSUPPORTED);
    assert_string_equal(run.slug, "unsupported");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(packed),           cmocka_unit_test(mixed),
                                       cmocka_unit_test(extremes),         cmocka_unit_test(double_nans),
                                       cmocka_unit_test(division),         cmocka_unit_test(single_precision),
                                       cmocka_unit_test(double_precision), cmocka_unit_test(old_spellings),
                                       cmocka_unit_test(nameless_test),    cmocka_unit_test(flushed_results)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
