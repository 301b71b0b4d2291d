/* cvt between integers of 8 to 64 bits, f16, bf16, f32 and f64.
 *
 * A value passes through __int128 or double, which hold every source exactly; the one rounding is that to the result.
 * Pairs that kernels use much have loops of their own. To an integer: rounded as asked, clamped to the type's range,
 * NaN to 0. Not here: f16 and bf16 with another rounding than to nearest, f8, f6, f4, tf32. */
#ifdef __GNUC__
#ifndef __clang__
#pragma GCC optimize("O3")
#endif
#endif
#include "hwmodel/exec/alu.h"
#include "hwmodel/exec/lanes.h"
#include "hwmodel/exec/scalar.h"
#include "hwmodel/narrow.h"
#include <fenv.h>

static bool is_integer(hd_type t)
{
    return hd_types[t].class == HD_CLASS_SIGNED || hd_types[t].class == HD_CLASS_UNSIGNED;
}
static bool is_signed(hd_type t) { return hd_types[t].class == HD_CLASS_SIGNED; }

bool hd_convert_known(hd_type to, hd_type from)
{
    const hd_type types[] = {to, from};
    for (uint32_t i = 0; i < 2; i++)
        if (!(is_integer(types[i]) && hd_types[types[i]].lanes == 1 && hd_types[types[i]].bits >= 8) &&
            types[i] != HD_TYPE_F16 && types[i] != HD_TYPE_BF16 && types[i] != HD_TYPE_F32 && types[i] != HD_TYPE_F64)
            return false;
    return true;
}

/* ---- a lane -------------------------------------------------------------------------------------------------- */

static __int128 load_integer(uint64_t bits, hd_type t)
{
    uint32_t unused = 64 - hd_types[t].bits;
    return is_signed(t) ? (__int128)((int64_t)(bits << unused) >> unused) : (__int128)(bits << unused >> unused);
}

static uint64_t clamp_integer(__int128 v, hd_type t)
{
    uint32_t bits = hd_types[t].bits;
    __int128 most = ((__int128)1 << (bits - is_signed(t))) - 1, least = is_signed(t) ? -most - 1 : 0;
    return (uint64_t)(v > most ? most : v < least ? least : v);
}

static double load_float(uint64_t bits, hd_type t, bool ftz)
{
    double d;
    if (t == HD_TYPE_F16)
        return hd_f16_to_double((uint16_t)bits);
    if (t == HD_TYPE_F64) {
        memcpy(&d, &bits, 8);
        return d;
    }
    uint32_t narrow = (uint32_t)(t == HD_TYPE_BF16 ? bits << 16 : bits);
    float f;
    if (ftz && !(narrow & 0x7f800000u))
        narrow &= 0x80000000u;
    memcpy(&f, &narrow, 4);
    return f;
}

/* Stores a value that the type holds exactly, or rounds it: to nearest, and f32 as the host rounds now. */
static uint64_t store_float(double v, hd_type t, bool ftz)
{
    uint64_t bits = 0;
    if (t == HD_TYPE_F16)
        return hd_f16_from_double(v);
    if (t == HD_TYPE_BF16)
        return hd_bf16_from_double(v);
    if (t == HD_TYPE_F64) {
        memcpy(&bits, &v, 8);
        return bits;
    }
    volatile double wide = v; /* the conversion must happen here, in the rounding mode that is set now */
    float f = canonical((float)wide);
    memcpy(&bits, &f, 4);
    return ftz && !(bits & 0x7f800000u) ? bits & 0x80000000u : bits;
}

/* Rounds to an integer value: mode 1 nearest even, 2 toward zero, 3 down, 4 up. */
static double round_whole(double v, uint32_t mode)
{
    switch (mode) {
    case 1:
        return rint(v); /* the host's mode is to nearest here */
    case 2:
        return trunc(v);
    case 3:
        return floor(v);
    case 4:
        return ceil(v);
    default:
        return v;
    }
}

static __int128 whole_of(double v)
{
    if (v != v)
        return 0;
    return v >= 0x1p100 ? (__int128)1 << 100 : v <= -0x1p100 ? -((__int128)1 << 100) : (__int128)v;
}

/* An integer to f32 or f64: one rounding, in the host's mode. */
static uint64_t integer_to_float(__int128 v, hd_type t)
{
    uint64_t bits = 0;
    volatile uint64_t magnitude = (uint64_t)(v < 0 ? -v : v);
    volatile int64_t as_signed = (int64_t)v;
    bool negative = v < 0;
    if (t == HD_TYPE_F32) {
        float f = negative ? (float)as_signed : (float)magnitude;
        memcpy(&bits, &f, 4);
    } else if (t == HD_TYPE_F64) {
        double d = negative ? (double)as_signed : (double)magnitude;
        memcpy(&bits, &d, 8);
    } else {
        double d = negative ? (double)as_signed : (double)magnitude;
        bits = store_float(d, t, false);
    }
    return bits;
}

static uint64_t saturated(double v, hd_type t, bool ftz) { return store_float(v > 0 ? v < 1 ? v : 1 : 0, t, ftz); }

static uint64_t convert_lane(const hd_op *op, uint64_t bits)
{
    hd_type to = (hd_type)op->to_type, from = (hd_type)op->from_type;
    bool ftz = op->flags & HD_OP_FTZ, sat = op->flags & HD_OP_SAT;
    if (is_integer(from)) {
        __int128 v = load_integer(bits, from);
        if (is_integer(to))
            return sat ? clamp_integer(v, to) : (uint64_t)v;
        return sat ? saturated((double)v, to, ftz) : integer_to_float(v, to);
    }
    double v = round_whole(load_float(bits, from, ftz), op->boolean);
    if (is_integer(to))
        return clamp_integer(whole_of(v), to);
    return sat ? saturated(v, to, ftz) : store_float(v, to, ftz);
}

static void convert_slowly(const hd_op *op, void *to, const void *from)
{
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    if (op->rounding)
        fesetround(modes[op->rounding]);
    for (uint32_t i = 0; i < LANES; i++) {
        uint64_t bits = 0;
        memcpy(&bits, (const unsigned char *)from + (size_t)i * op->item_bytes, op->item_bytes);
        bits = convert_lane(op, bits);
        memcpy((unsigned char *)to + (size_t)i * op->out_bytes, &bits, op->out_bytes);
    }
    if (op->rounding)
        fesetround(FE_TONEAREST);
}

/* ---- pairs that are frequent --------------------------------------------------------------------------------- */

#define LOOP(D, A, expression)                                   \
    HD_CLONES static void A##_to_##D(void *to, const void *from) \
    {                                                            \
        D *d = to;                                               \
        const A *source = from;                                  \
        HD_LANE_LOOP                                             \
        {                                                        \
            A a = source[i];                                     \
            d[i] = expression;                                   \
        }                                                        \
    }
LOOP(f32, s32, (f32)a)
LOOP(f32, u32, (f32)a)
LOOP(f64, s32, (f64)a)
LOOP(f64, u32, (f64)a)
LOOP(f64, f32, (f64)a)
LOOP(f32, f64, canonical((f32)a))
LOOP(s32, f32, a != a ? 0 : a >= 0x1p31f ? INT32_MAX : a < -0x1p31f ? INT32_MIN : (s32)a)

static const struct fast_pair {
    uint8_t to, from, whole; /* whole: rounding to an integer, as op->boolean */
    void (*run)(void *, const void *);
} fast_pairs[] = {
    {HD_TYPE_F32, HD_TYPE_S32, 0, s32_to_f32}, {HD_TYPE_F32, HD_TYPE_U32, 0, u32_to_f32},
    {HD_TYPE_F64, HD_TYPE_S32, 0, s32_to_f64}, {HD_TYPE_F64, HD_TYPE_U32, 0, u32_to_f64},
    {HD_TYPE_F64, HD_TYPE_F32, 0, f32_to_f64}, {HD_TYPE_F32, HD_TYPE_F64, 0, f64_to_f32},
    {HD_TYPE_S32, HD_TYPE_F32, 2, f32_to_s32},
};

static void convert(const hd_op *op, void *to, const void *from)
{
    hd_type to_type = (hd_type)op->to_type, from_type = (hd_type)op->from_type;
    bool plain = !op->rounding && !(op->flags & (HD_OP_FTZ | HD_OP_SAT));
    if (plain && is_integer(to_type) && is_integer(from_type)) {
        hd_resize(to, op->out_bytes, from, op->item_bytes, is_signed(from_type));
        return;
    }
    for (uint32_t i = 0; plain && i < sizeof fast_pairs / sizeof *fast_pairs; i++)
        if (fast_pairs[i].to == op->to_type && fast_pairs[i].from == op->from_type &&
            fast_pairs[i].whole == op->boolean) {
            fast_pairs[i].run(to, from);
            return;
        }
    convert_slowly(op, to, from);
}

hd_step hd_run_convert(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const void *from = hd_row(w, op->a);
    void *to = w->cta->scratch[0], *wide = w->cta->scratch[2];
    if (op->a_bytes != op->item_bytes) {
        hd_resize(w->cta->scratch[1], op->item_bytes, from, op->a_bytes, false);
        from = w->cta->scratch[1];
    }
    convert(op, to, from);
    if (op->d_bytes != op->out_bytes) {
        hd_resize(wide, op->d_bytes, to, op->out_bytes, is_signed((hd_type)op->to_type));
        to = wide;
    }
    hd_merge(hd_row_of_frame(w, op->d), to, mask, op->d_bytes);
    return HD_STEP_NEXT;
}
