/* Each arithmetic instruction against a reference of its own: plain C on one value, 128-bit integers, libm with
 * directed rounding. Every row runs on all pairs of edge values of its type and on random ones. */
#include "float_bits.h"
#include "instruction.h"

#include <fenv.h>
#include <math.h>

/* ---- references: integers ---------------------------------------------------------------------------------------- */

typedef __int128 wide;
#define A32 ((wide)(int32_t)v.a)
#define B32 ((wide)(int32_t)v.b)
#define C32 ((wide)(int32_t)v.c)
#define REF(name, expression) \
    static uint64_t name(values v) { return (uint64_t)(expression); }
#define U32(x) ((uint32_t)(x))
static wide clamp(wide x, wide low, wide high) { return x < low ? low : x > high ? high : x; }
REF(add16, (uint16_t)(v.a + v.b))
REF(add32, U32(v.a + v.b))
REF(add64, v.a + v.b)
REF(sub32, U32(v.a - v.b))
REF(add_sat, U32(clamp(A32 + B32, INT32_MIN, INT32_MAX)))
REF(sub_sat, U32(clamp(A32 - B32, INT32_MIN, INT32_MAX)))
REF(mul16_lo, (uint16_t)(v.a *v.b))
REF(mul16_hi_s, (uint16_t)((wide)(int16_t)v.a *(int16_t)v.b >> 16))
REF(mul16_wide_s, U32((wide)(int16_t)v.a *(int16_t)v.b))
REF(mul_lo, U32(v.a *v.b))
REF(mul_hi_u, U32(v.a *v.b >> 32))
REF(mul_hi_s, U32(A32 *B32 >> 32))
REF(mul_wide_u, v.a *v.b)
REF(mul_wide_s, A32 *B32)
REF(mul_lo64, v.a *v.b)
REF(mul_hi64_u, (unsigned __int128)v.a *v.b >> 64)
REF(mul_hi64_s, (wide)(int64_t)v.a *(int64_t)v.b >> 64)
REF(mad_lo, U32(v.a *v.b + v.c))
REF(mad_hi_s, U32((A32 * B32 >> 32) + C32))
REF(mad_hi_sat, U32(clamp((A32 * B32 >> 32) + C32, INT32_MIN, INT32_MAX)))
REF(mad_wide_s, (uint64_t)(A32 *B32) + v.c)
static wide low24(uint64_t x) { return x & 0xffffff; }
static wide low24s(uint64_t x) { return (x & 0x800000) ? (wide)(x & 0xffffff) - 0x1000000 : (wide)(x & 0xffffff); }
REF(mul24_lo_u, U32(low24(v.a) * low24(v.b)))
REF(mul24_hi_s, U32(low24s(v.a) * low24s(v.b) >> 16))
REF(mad24_lo_s, U32(low24s(v.a) * low24s(v.b) + C32))
REF(sad_s, U32((A32 < B32 ? B32 - A32 : A32 - B32) + C32))
REF(div_s, U32(v.b ? A32 / B32 : -1))
REF(div_u, U32(v.b ? v.a / v.b : 0xffffffff))
REF(rem_s, U32(v.b ? A32 % B32 : -1))
REF(rem_u, U32(v.b ? v.a % v.b : 0xffffffff))
REF(div64_s, v.b ? (wide)(int64_t)v.a / (int64_t)v.b : -1)
REF(abs_s, U32(A32 < 0 ? -A32 : A32))
REF(neg_s, U32(-A32))
REF(min_s, U32(A32 < B32 ? A32 : B32))
REF(max_u, v.a > v.b ? v.a : v.b)
REF(min16_s, (uint16_t)((int16_t)v.a < (int16_t)v.b ? v.a : v.b))
static uint64_t popcount(values v)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < 64; i++)
        n += v.a >> i & 1;
    return n;
}
static uint64_t leading(uint64_t x, uint32_t width)
{
    uint64_t n = 0;
    while (n < width && !(x >> (width - 1 - n) & 1))
        n++;
    return n;
}
REF(clz32, leading(v.a, 32))
REF(clz64, leading(v.a, 64))
static uint64_t bfind_s(values v)
{
    uint64_t x = A32 < 0 ? U32(~v.a) : v.a;
    return x ? 31 - leading(x, 32) : 0xffffffff;
}
REF(bfind_shift, v.a ? leading(v.a, 64) : 0xffffffff)
static uint64_t brev(values v)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < 32; i++)
        n |= (v.a >> i & 1) << (31 - i);
    return n;
}
/* as the ISA's pseudocode has it, but 64-bit positions and lengths are not taken modulo 256 */
static uint64_t extract(uint64_t a, uint64_t b, uint64_t c, uint32_t msb, bool is_signed)
{
    uint64_t kept = msb == 63 ? 0xffffffff : 255, pos = b & kept, len = c & kept;
    uint64_t sign = is_signed && len ? a >> (pos + len - 1 < msb ? pos + len - 1 : msb) & 1 : 0, d = 0;
    for (uint32_t i = 0; i <= msb; i++)
        d |= (i < len && pos + i <= msb ? a >> (pos + i) & 1 : sign) << i;
    return d;
}
REF(bfe_u, extract(v.a, v.b, v.c, 31, false))
REF(bfe_s, extract(v.a, v.b, v.c, 31, true))
REF(bfe64_s, extract(v.a, v.b, v.c, 63, true))
REF(bfi_12, (v.b & ~(0xfffull << 5 & 0xffffffff)) | (v.a << 5 & 0xfffull << 5))
REF(shl32, v.b >= 32 ? 0 : U32(v.a << v.b))
REF(shr_s, U32(A32 >> (v.b > 31 ? 31 : v.b)))
REF(shr_u, v.b > 31 ? 0 : v.a >> v.b)
REF(shr64_s, (wide)(int64_t)v.a >> (v.b > 63 ? 63 : v.b))
REF(shl16, v.b > 15 ? 0 : (uint16_t)(v.a << v.b))
static uint64_t funnel(values v, bool left, bool wrap)
{
    uint32_t n = wrap ? v.c & 31 : v.c > 32 ? 32 : (uint32_t)v.c;
    uint64_t both = v.b << 32 | v.a;
    return U32(left ? (n == 32 ? v.a : (both << n) >> 32) : (n == 32 ? v.b : both >> n));
}
REF(shf_lc, funnel(v, true, false))
REF(shf_lw, funnel(v, true, true))
REF(shf_rc, funnel(v, false, false))
REF(shf_rw, funnel(v, false, true))
static uint64_t prmt(values v)
{
    uint8_t bytes[8], out[4];
    uint32_t lo = U32(v.a), hi = U32(v.b), r;
    memcpy(bytes, &lo, 4);
    memcpy(bytes + 4, &hi, 4);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t s = U32(v.c) >> (4 * i) & 15;
        out[i] = s & 8 ? (bytes[s & 7] & 0x80 ? 0xff : 0) : bytes[s & 7];
    }
    memcpy(&r, out, 4);
    return r;
}
REF(and32, v.a &v.b)
REF(xor64, v.a ^ v.b)
REF(not16, (uint16_t)~v.a)
REF(cnot32, v.a == 0)
REF(lop3_96, U32(v.a ^ v.b ^ v.c))
REF(lop3_ca, (v.a & v.b) | (~v.a & v.c & 0xffffffff))
REF(bmsk_clamp, v.a > 31 ? 0 : U32((v.b > 31 ? 0xffffffffull : (1ull << v.b) - 1) << v.a))
static uint64_t dot(values v, uint32_t part, uint32_t from, bool a_signed, bool b_signed)
{
    wide sum = (wide)v.c;
    for (uint32_t k = 0; k < 32 / part; k++) {
        wide x = v.a >> (k * part) & ((1u << part) - 1), y = v.b >> ((k + from) * 8) & 255;
        sum += (a_signed && x >> (part - 1) ? x - (1 << part) : x) * (b_signed && y > 127 ? y - 256 : y);
    }
    return U32(sum);
}
REF(dp4a_us, dot(v, 8, 0, false, true))
REF(dp4a_ss, dot(v, 8, 0, true, true))
REF(dp2a_hi_su, dot(v, 16, 2, true, false))
REF(dp2a_lo_us, dot(v, 16, 0, false, true))
REF(selp32, v.c ? v.a : v.b)
REF(slct_s, C32 >= 0 ? v.a : v.b)
REF(setp_lt_s, A32 < B32)
REF(setp_hi_u, v.a > v.b)
REF(setp_ne64, v.a != v.b)
REF(setp_and_not, (A32 >= B32) && !v.c)
REF(set_gt, A32 > B32 ? 0xffffffff : 0)
REF(add_carry, v.a + v.b)
REF(sub_carry, v.a - v.b)

static const row integer_rows[] = {
    {"dp4a.u32.s32 D, A, B, C;", 'r', 'r', 'r', 'r', dp4a_us},
    {"dp4a.s32.s32 D, A, B, C;", 'r', 'r', 'r', 'r', dp4a_ss},
    {"dp2a.hi.s32.u32 D, A, B, C;", 'r', 'r', 'r', 'r', dp2a_hi_su},
    {"dp2a.lo.u32.s32 D, A, B, C;", 'r', 'r', 'r', 'r', dp2a_lo_us},
    {"add.u16 D, A, B;", 'h', 'h', 'h', '-', add16},
    {"add.s32 D, A, B;", 'r', 'r', 'r', '-', add32},
    {"add.u64 D, A, B;", 'x', 'x', 'x', '-', add64},
    {"sub.u32 D, A, B;", 'r', 'r', 'r', '-', sub32},
    {"add.sat.s32 D, A, B;", 'r', 'r', 'r', '-', add_sat},
    {"sub.sat.s32 D, A, B;", 'r', 'r', 'r', '-', sub_sat},
    {"mul.lo.u16 D, A, B;", 'h', 'h', 'h', '-', mul16_lo},
    {"mul.hi.s16 D, A, B;", 'h', 'h', 'h', '-', mul16_hi_s},
    {"mul.wide.s16 D, A, B;", 'r', 'h', 'h', '-', mul16_wide_s},
    {"mul.lo.s32 D, A, B;", 'r', 'r', 'r', '-', mul_lo},
    {"mul.hi.u32 D, A, B;", 'r', 'r', 'r', '-', mul_hi_u},
    {"mul.hi.s32 D, A, B;", 'r', 'r', 'r', '-', mul_hi_s},
    {"mul.wide.u32 D, A, B;", 'x', 'r', 'r', '-', mul_wide_u},
    {"mul.wide.s32 D, A, B;", 'x', 'r', 'r', '-', mul_wide_s},
    {"mul.lo.s64 D, A, B;", 'x', 'x', 'x', '-', mul_lo64},
    {"mul.hi.u64 D, A, B;", 'x', 'x', 'x', '-', mul_hi64_u},
    {"mul.hi.s64 D, A, B;", 'x', 'x', 'x', '-', mul_hi64_s},
    {"mad.lo.s32 D, A, B, C;", 'r', 'r', 'r', 'r', mad_lo},
    {"mad.hi.s32 D, A, B, C;", 'r', 'r', 'r', 'r', mad_hi_s},
    {"mad.hi.sat.s32 D, A, B, C;", 'r', 'r', 'r', 'r', mad_hi_sat},
    {"mad.wide.s32 D, A, B, C;", 'x', 'r', 'r', 'x', mad_wide_s},
    {"mul24.lo.u32 D, A, B;", 'r', 'r', 'r', '-', mul24_lo_u},
    {"mul24.hi.s32 D, A, B;", 'r', 'r', 'r', '-', mul24_hi_s},
    {"mad24.lo.s32 D, A, B, C;", 'r', 'r', 'r', 'r', mad24_lo_s},
    {"sad.s32 D, A, B, C;", 'r', 'r', 'r', 'r', sad_s},
    {"div.s32 D, A, B;", 'r', 'r', 'r', '-', div_s},
    {"div.u32 D, A, B;", 'r', 'r', 'r', '-', div_u},
    {"rem.s32 D, A, B;", 'r', 'r', 'r', '-', rem_s},
    {"rem.u32 D, A, B;", 'r', 'r', 'r', '-', rem_u},
    {"div.s64 D, A, B;", 'x', 'x', 'x', '-', div64_s},
    {"abs.s32 D, A;", 'r', 'r', '-', '-', abs_s},
    {"neg.s32 D, A;", 'r', 'r', '-', '-', neg_s},
    {"min.s32 D, A, B;", 'r', 'r', 'r', '-', min_s},
    {"max.u64 D, A, B;", 'x', 'x', 'x', '-', max_u},
    {"min.s16 D, A, B;", 'h', 'h', 'h', '-', min16_s},
    {"popc.b32 D, A;", 'r', 'r', '-', '-', popcount},
    {"popc.b64 D, A;", 'r', 'x', '-', '-', popcount},
    {"clz.b32 D, A;", 'r', 'r', '-', '-', clz32},
    {"clz.b64 D, A;", 'r', 'x', '-', '-', clz64},
    {"bfind.s32 D, A;", 'r', 'r', '-', '-', bfind_s},
    {"bfind.shiftamt.u64 D, A;", 'r', 'x', '-', '-', bfind_shift},
    {"brev.b32 D, A;", 'r', 'r', '-', '-', brev},
    {"bfe.u32 D, A, B, C;", 'r', 'r', 'r', 'r', bfe_u},
    {"bfe.s32 D, A, B, C;", 'r', 'r', 'r', 'r', bfe_s},
    {"bfe.s64 D, A, B, C;", 'x', 'x', 'r', 'r', bfe64_s},
    {"bfi.b32 D, A, B, 5, 12;", 'r', 'r', 'r', '-', bfi_12},
    {"shl.b32 D, A, B;", 'r', 'r', 'r', '-', shl32},
    {"shr.s32 D, A, B;", 'r', 'r', 'r', '-', shr_s},
    {"shr.u32 D, A, B;", 'r', 'r', 'r', '-', shr_u},
    {"shr.s64 D, A, B;", 'x', 'x', 'r', '-', shr64_s},
    {"shl.b16 D, A, B;", 'h', 'h', 'r', '-', shl16},
    {"shf.l.clamp.b32 D, A, B, C;", 'r', 'r', 'r', 'r', shf_lc},
    {"shf.l.wrap.b32 D, A, B, C;", 'r', 'r', 'r', 'r', shf_lw},
    {"shf.r.clamp.b32 D, A, B, C;", 'r', 'r', 'r', 'r', shf_rc},
    {"shf.r.wrap.b32 D, A, B, C;", 'r', 'r', 'r', 'r', shf_rw},
    {"prmt.b32 D, A, B, C;", 'r', 'r', 'r', 'r', prmt},
    {"and.b32 D, A, B;", 'r', 'r', 'r', '-', and32},
    {"xor.b64 D, A, B;", 'x', 'x', 'x', '-', xor64},
    {"not.b16 D, A;", 'h', 'h', '-', '-', not16},
    {"cnot.b32 D, A;", 'r', 'r', '-', '-', cnot32},
    {"lop3.b32 D, A, B, C, 0x96;", 'r', 'r', 'r', 'r', lop3_96},
    {"lop3.b32 D, A, B, C, 0xca;", 'r', 'r', 'r', 'r', lop3_ca},
    {"bmsk.clamp.b32 D, A, B;", 'r', 'r', 'r', '-', bmsk_clamp},
    {"selp.b32 D, A, B, C;", 'r', 'r', 'r', 'p', selp32},
    {"slct.s32.s32 D, A, B, C;", 'r', 'r', 'r', 'r', slct_s},
    {"setp.lt.s32 D, A, B;", 'p', 'r', 'r', '-', setp_lt_s},
    {"setp.hi.u32 D, A, B;", 'p', 'r', 'r', '-', setp_hi_u},
    {"setp.ne.b64 D, A, B;", 'p', 'x', 'x', '-', setp_ne64},
    {"setp.lt.and.s32 %p5| D, A, B, ! C;", 'p', 'r', 'r', 'p', setp_and_not},
    {"set.gt.u32.s32 D, A, B;", 'r', 'r', 'r', '-', set_gt},
    {"mov.b64 {%r20,%r21}, A; mov.b64 {%r22,%r23}, B; add.cc.u32 %r24, %r20, %r22; addc.u32 %r25, %r21, %r23; mov.b64 "
     "D, {%r24,%r25};",
     'x', 'x', 'x', '-', add_carry},
    {"mov.b64 {%r20,%r21}, A; mov.b64 {%r22,%r23}, B; sub.cc.u32 %r24, %r20, %r22; subc.u32 %r25, %r21, %r23; mov.b64 "
     "D, {%r24,%r25};",
     'x', 'x', 'x', '-', sub_carry},
    {"mov.b64 {%r20,%r21}, A; mov.b64 {%r22,%r23}, B; mul.lo.u32 %r24, %r20, %r22; mul.hi.u32 %r25, %r20, %r22; "
     "mad.lo.u32 %r25, %r20, "
     "%r23, %r25; mad.lo.cc.u32 %r25, %r21, %r22, %r25; mov.b64 D, {%r24,%r25};",
     'x', 'x', 'x', '-', mul_lo64},
};

static void integers(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof integer_rows / sizeof *integer_rows; i++)
        check_row(&integer_rows[i]);
}

/* ---- references: floating point ---------------------------------------------------------------------------------- */

#define ROUNDED(name, mode, type, expression)                          \
    static uint64_t name(values v)                                     \
    {                                                                  \
        fesetround(mode);                                              \
        volatile type a = (type)(sizeof(type) == 4 ? f(v.a) : d(v.a)), \
                      b = (type)(sizeof(type) == 4 ? f(v.b) : d(v.b)); \
        volatile type c = (type)(sizeof(type) == 4 ? f(v.c) : d(v.c)); \
        volatile type r = expression;                                  \
        (void)b, (void)c;                                              \
        fesetround(FE_TONEAREST);                                      \
        return sizeof(type) == 4 ? of_f((float)r) : of_d((double)r);   \
    }
ROUNDED(add_f, FE_TONEAREST, float, a + b)
ROUNDED(add_f_rz, FE_TOWARDZERO, float, a + b)
ROUNDED(add_f_rm, FE_DOWNWARD, float, a + b)
ROUNDED(add_f_rp, FE_UPWARD, float, a + b)
ROUNDED(sub_f, FE_TONEAREST, float, a - b)
ROUNDED(mul_f, FE_TONEAREST, float, a *b)
ROUNDED(mul_f_rp, FE_UPWARD, float, a *b)
ROUNDED(fma_f, FE_TONEAREST, float, fmaf(a, b, c))
ROUNDED(fma_f_rz, FE_TOWARDZERO, float, fmaf(a, b, c))
ROUNDED(div_f, FE_TONEAREST, float, a / b)
ROUNDED(div_f_rm, FE_DOWNWARD, float, a / b)
ROUNDED(rcp_f, FE_TONEAREST, float, 1 / a)
ROUNDED(sqrt_f, FE_TONEAREST, float, sqrtf(a))
ROUNDED(sqrt_f_rp, FE_UPWARD, float, sqrtf(a))
ROUNDED(add_d, FE_TONEAREST, double, a + b)
ROUNDED(mul_d_rm, FE_DOWNWARD, double, a *b)
ROUNDED(fma_d, FE_TONEAREST, double, fma(a, b, c))
ROUNDED(fma_d_rz, FE_TOWARDZERO, double, fma(a, b, c))
ROUNDED(div_d, FE_TONEAREST, double, a / b)
ROUNDED(sqrt_d, FE_TONEAREST, double, sqrt(a))
static uint64_t add_f_ftz(values v) { return flush(add_f((values){flush(v.a), flush(v.b), 0})); }
static uint64_t mul_f_ftz_sat(values v) { return saturate(flush(mul_f((values){flush(v.a), flush(v.b), 0}))); }
static uint64_t fma_f_sat(values v) { return saturate(fma_f(v)); }
static uint64_t min_f(values v)
{
    float a = f(v.a), b = f(v.b);
    if (isnan(a) || isnan(b))
        return isnan(a) ? of_f(b) : of_f(a);
    return a == b ? (signbit(a) ? v.a : v.b) : of_f(a < b ? a : b);
}
static uint64_t max_f_nan(values v)
{
    float a = f(v.a), b = f(v.b);
    if (isnan(a) || isnan(b))
        return 0x7fffffff;
    return a == b ? (signbit(a) ? v.b : v.a) : of_f(a > b ? a : b);
}
REF(abs_f, of_f(fabsf(f(v.a))))
REF(neg_f, isnan(f(v.a)) ? 0x7fffffff : v.a ^ 0x80000000)
REF(neg_d, v.a ^ 1ull << 63)
REF(copysign_f, (v.a & 0x80000000) | (v.b & 0x7fffffff))
REF(setp_lt_f, isless(f(v.a), f(v.b)))
REF(setp_ne_f, islessgreater(f(v.a), f(v.b)))
REF(setp_neu_f, !(f(v.a) == f(v.b)))
REF(setp_ltu_f, isunordered(f(v.a), f(v.b)) || f(v.a) < f(v.b))
REF(setp_num_d, !isunordered(d(v.a), d(v.b)))
REF(setp_nan_f, isunordered(f(v.a), f(v.b)))
REF(setp_eq_ftz, f(flush(v.a)) == f(flush(v.b)))
REF(testp_sub, fpclassify(f(v.a)) == FP_SUBNORMAL)
REF(testp_inf, isinf(d(v.a)) != 0)
REF(slct_f_ftz, f(flush(v.c)) >= 0 ? v.a : v.b)
REF(slct_f, f(v.c) >= 0 ? v.a : v.b)

static const row float_rows[] = {
    {"add.f32 D, A, B;", 'f', 'f', 'f', '-', add_f},
    {"add.rz.f32 D, A, B;", 'f', 'f', 'f', '-', add_f_rz},
    {"add.rm.f32 D, A, B;", 'f', 'f', 'f', '-', add_f_rm},
    {"add.rp.f32 D, A, B;", 'f', 'f', 'f', '-', add_f_rp},
    {"sub.rn.f32 D, A, B;", 'f', 'f', 'f', '-', sub_f},
    {"mul.f32 D, A, B;", 'f', 'f', 'f', '-', mul_f},
    {"mul.rp.f32 D, A, B;", 'f', 'f', 'f', '-', mul_f_rp},
    {"fma.rn.f32 D, A, B, C;", 'f', 'f', 'f', 'f', fma_f},
    {"fma.rz.f32 D, A, B, C;", 'f', 'f', 'f', 'f', fma_f_rz},
    {"div.rn.f32 D, A, B;", 'f', 'f', 'f', '-', div_f},
    {"div.rm.f32 D, A, B;", 'f', 'f', 'f', '-', div_f_rm},
    {"rcp.rn.f32 D, A;", 'f', 'f', '-', '-', rcp_f},
    {"sqrt.rn.f32 D, A;", 'f', 'f', '-', '-', sqrt_f},
    {"sqrt.rp.f32 D, A;", 'f', 'f', '-', '-', sqrt_f_rp},
    {"mul.rm.f64 D, A, B;", 'd', 'd', 'd', '-', mul_d_rm},
    {"add.f64 D, A, B;", 'd', 'd', 'd', '-', add_d},
    {"fma.rn.f64 D, A, B, C;", 'd', 'd', 'd', 'd', fma_d},
    {"fma.rz.f64 D, A, B, C;", 'd', 'd', 'd', 'd', fma_d_rz},
    {"div.rn.f64 D, A, B;", 'd', 'd', 'd', '-', div_d},
    {"sqrt.rn.f64 D, A;", 'd', 'd', '-', '-', sqrt_d},
    {"add.ftz.f32 D, A, B;", 'f', 'f', 'f', '-', add_f_ftz},
    {"mul.ftz.sat.f32 D, A, B;", 'f', 'f', 'f', '-', mul_f_ftz_sat},
    {"fma.rn.sat.f32 D, A, B, C;", 'f', 'f', 'f', 'f', fma_f_sat},
    {"min.f32 D, A, B;", 'f', 'f', 'f', '-', min_f},
    {"max.NaN.f32 D, A, B;", 'f', 'f', 'f', '-', max_f_nan},
    {"abs.f32 D, A;", 'f', 'f', '-', '-', abs_f},
    {"neg.f32 D, A;", 'f', 'f', '-', '-', neg_f},
    {"neg.f64 D, A;", 'd', 'd', '-', '-', neg_d},
    {"copysign.f32 D, A, B;", 'f', 'f', 'f', '-', copysign_f},
    {"setp.lt.f32 D, A, B;", 'p', 'f', 'f', '-', setp_lt_f},
    {"setp.ne.f32 D, A, B;", 'p', 'f', 'f', '-', setp_ne_f},
    {"setp.neu.f32 D, A, B;", 'p', 'f', 'f', '-', setp_neu_f},
    {"setp.ltu.f32 D, A, B;", 'p', 'f', 'f', '-', setp_ltu_f},
    {"setp.num.f64 D, A, B;", 'p', 'd', 'd', '-', setp_num_d},
    {"setp.nan.f32 D, A, B;", 'p', 'f', 'f', '-', setp_nan_f},
    {"setp.eq.ftz.f32 D, A, B;", 'p', 'f', 'f', '-', setp_eq_ftz},
    {"testp.subnormal.f32 D, A;", 'p', 'f', '-', '-', testp_sub},
    {"testp.infinite.f64 D, A;", 'p', 'd', '-', '-', testp_inf},
    {"slct.ftz.f32.f32 D, A, B, C;", 'f', 'r', 'r', 'f', slct_f_ftz},
    {"slct.f32.f32 D, A, B, C;", 'f', 'r', 'r', 'f', slct_f},
};

static void floats(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof float_rows / sizeof *float_rows; i++)
        check_row(&float_rows[i]);
}

/* ---- references: conversions ------------------------------------------------------------------------------------- */

/* NaN is 0, but 2^63 where the source is f64 or the result has 64 bits */
#define TO_INT(name, value, round, low, high, nan)             \
    static uint64_t name(values v)                             \
    {                                                          \
        double x = round(value);                               \
        return (uint64_t)(isnan(x)              ? (wide)(nan)  \
                          : x < (double)(low)   ? (wide)(low)  \
                          : x >= (double)(high) ? (wide)(high) \
                                                : (wide)x);    \
    }
TO_INT(f_to_s32, f(v.a), trunc, INT32_MIN, INT32_MAX, 0)
TO_INT(f_to_u32_rni, f(v.a), nearbyint, 0, UINT32_MAX, 0)
TO_INT(f_to_s8, f(v.a), floor, INT8_MIN, INT8_MAX, 0)
TO_INT(d_to_s64_up, d(v.a), ceil, INT64_MIN, INT64_MAX, 1ull << 63)
TO_INT(d_to_u64, d(v.a), trunc, 0, UINT64_MAX, 1ull << 63)
static uint64_t masked_f_to_s32(values v) { return U32(f_to_s32(v)); }
static uint64_t s8_in_32(values v) { return U32(f_to_s8(v)); }
REF(u8_of, v.a & 255)
REF(s8_of, U32((int8_t)v.a))
REF(sat_u8_s32, clamp(A32, 0, 255))
REF(sat_s16_u32, (uint16_t)clamp(v.a, 0, 32767))
REF(s32_to_s64, A32)
REF(u64_to_u32, U32(v.a))
REF(s32_to_f, of_f((float)(int32_t)v.a))
static uint64_t u64_to_f_rz(values v)
{
    double exact = 0;
    uint64_t m = v.a;
    if (!m)
        return 0;
    int shift = 0;
    while (m >> 24) {
        m >>= 1;
        shift++;
    }
    exact = ldexp((double)m, shift);
    return of_f((float)exact);
}
REF(s64_to_d, of_d((double)(int64_t)v.a))
REF(f_to_d, of_d(f(v.a)))
static uint64_t d_to_f_rm(values v)
{
    double x = d(v.a);
    float r = (float)x;
    if (!isnan(x) && (double)r > x)
        r = nextafterf(r, -INFINITY);
    return of_f(r);
}
REF(f_rni, isnan(f(v.a)) ? 0x7fffffff : of_f(rintf(f(v.a))))
REF(d_sat_f, saturate(of_f((float)d(v.a))))
static double half_value(uint64_t h)
{
    int e = (int)(h >> 10 & 31), m = (int)(h & 1023);
    double x = e == 31 ? (m ? (double)NAN : (double)INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
    return h & 0x8000 ? -x : x;
}
REF(half_to_f, of_f((float)half_value(v.a)))
/* the nearest of all 65,536 values, ties to the even one */
static uint64_t f_to_half(values v)
{
    double x = f(v.a), magnitude = fabs(x);
    uint64_t sign = v.a >> 16 & 0x8000, low = 0, high = 0x7c00;
    if (isnan(x))
        return 0x7fff;
    if (magnitude >= 65520)
        return sign | 0x7c00;
    while (high - low > 1) {
        uint64_t middle = (low + high) / 2;
        if (half_value(middle) <= magnitude)
            low = middle;
        else
            high = middle;
    }
    double above = high == 0x7c00 ? 65536 : half_value(high), down = magnitude - half_value(low),
           up = above - magnitude;
    return sign | (down < up || (down == up && !(low & 1)) ? low : high);
}

static const row convert_rows[] = {
    {"cvt.rzi.s32.f32 D, A;", 'r', 'f', '-', '-', masked_f_to_s32},
    {"cvt.rni.u32.f32 D, A;", 'r', 'f', '-', '-', f_to_u32_rni},
    {"cvt.rmi.s8.f32 D, A;", 'r', 'f', '-', '-', s8_in_32},
    {"cvt.rpi.s64.f64 D, A;", 'x', 'd', '-', '-', d_to_s64_up},
    {"cvt.rzi.u64.f64 D, A;", 'x', 'd', '-', '-', d_to_u64},
    {"cvt.u32.u8 D, A;", 'r', 'r', '-', '-', u8_of},
    {"cvt.s32.s8 D, A;", 'r', 'r', '-', '-', s8_of},
    {"cvt.sat.u8.s32 D, A;", 'r', 'r', '-', '-', sat_u8_s32},
    {"cvt.sat.s16.u32 D, A;", 'h', 'r', '-', '-', sat_s16_u32},
    {"cvt.s64.s32 D, A;", 'x', 'r', '-', '-', s32_to_s64},
    {"cvt.u32.u64 D, A;", 'r', 'x', '-', '-', u64_to_u32},
    {"cvt.rn.f32.s32 D, A;", 'f', 'r', '-', '-', s32_to_f},
    {"cvt.rz.f32.u64 D, A;", 'f', 'x', '-', '-', u64_to_f_rz},
    {"cvt.rn.f64.s64 D, A;", 'd', 'x', '-', '-', s64_to_d},
    {"cvt.f64.f32 D, A;", 'd', 'f', '-', '-', f_to_d},
    {"cvt.rm.f32.f64 D, A;", 'f', 'd', '-', '-', d_to_f_rm},
    {"cvt.rni.f32.f32 D, A;", 'f', 'f', '-', '-', f_rni},
    {"cvt.rn.sat.f32.f64 D, A;", 'f', 'd', '-', '-', d_sat_f},
    {"cvt.f32.f16 D, A;", 'f', 'h', '-', '-', half_to_f},
    {"cvt.rn.f16.f32 D, A;", 'h', 'f', '-', '-', f_to_half},
};

static void conversions(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof convert_rows / sizeof *convert_rows; i++)
        check_row(&convert_rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(integers), cmocka_unit_test(floats),
                                       cmocka_unit_test(conversions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
