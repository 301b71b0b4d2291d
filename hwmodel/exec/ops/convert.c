/* cvt and cvt.pack, one lane at a time: every pair of formats, every rounding mode. A value is unpacked, rounded once,
 * and packed (number.c). Frequent pairs have loops in convert_lanes.c, which decoding prefers.
 *
 * To an integer: rounded as specified, clamped to the type's range. NaN to a float: the type's canonical NaN; f64 keeps
 * the payload, quieted. */
#include "hwmodel/exec/ops/convert.h"
#include "hwmodel/exec/ops/alu.h"
#include "hwmodel/exec/ops/special.h"

static bool is_subnormal_f32(uint64_t bits) { return !(bits & 0x7f800000u); }

/* Whether hardware flushes: the result has the exponent of a subnormal when it is rounded to the full significand, as
 * twice as much is. */
static bool is_flushed_f32(const hd_conversion *c, hd_number n, hd_random random)
{
    n.exponent++;
    return (hd_number_store(n, &c->to, (hd_rounding)c->rounding, random, c->finite) & 0x7fffffff) < 0x01000000;
}

static uint64_t extend(uint64_t value, const hd_format *f)
{
    uint32_t unused = 64u - f->bits;
    return f->fraction_bits ? (uint64_t)((int64_t)(value << unused) >> unused) : value << unused >> unused;
}

static uint64_t to_integer(const hd_conversion *c, hd_number n)
{
    if (hd_format_is_integer(&c->from) && !c->sat)
        return extend(n.negative ? 0 - n.significand : n.significand, &c->to);
    return hd_number_clamp(n, &c->to, c->nan);
}

static hd_number between_0_and_1(hd_number n)
{
    if (n.kind == HD_NUMBER_NAN || n.negative)
        return (hd_number){0, 0, HD_NUMBER_FINITE, false};
    bool large =
        n.kind == HD_NUMBER_INFINITE || (n.significand && n.exponent + 63 - __builtin_clzll(n.significand) >= 0);
    return large ? (hd_number){1, 0, HD_NUMBER_FINITE, false} : n;
}

static uint64_t convert_value(const hd_conversion *c, uint64_t bits, hd_random random)
{
    hd_number n = hd_number_load(bits, &c->from);
    if (c->ftz_from && is_subnormal_f32(bits))
        n.significand = 0;
    if (c->whole)
        n = hd_number_round(n, (hd_rounding)(c->whole - 1));
    if (hd_format_is_integer(&c->to))
        return to_integer(c, n);
    if (c->sat)
        n = between_0_and_1(n);
    if (c->relu && n.negative && n.kind != HD_NUMBER_NAN)
        n = (hd_number){0, 0, HD_NUMBER_FINITE, false};
    uint64_t result = hd_number_store(n, &c->to, (hd_rounding)c->rounding, random, c->finite);
    return c->ftz_to && is_flushed_f32(c, n, random) ? result & 0x80000000u : result;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* The random bits of part k, counted from the highest: each half of the register serves half of the parts. */
static hd_random random_of(const hd_conversion *c, uint32_t k, uint64_t bits)
{
    return (hd_random){(uint32_t)(2 * k < c->parts ? bits >> 16 : bits), c->random_bits};
}

static uint64_t convert_lane(const hd_conversion *c, const uint64_t *sources)
{
    uint64_t out = 0;
    for (uint32_t k = 0; k < c->parts; k++) {
        uint32_t after = c->parts - 1u - k;
        uint64_t bits = c->packed ? sources[0] >> (after * c->from.spacing) : sources[k];
        hd_random random = c->random_bits ? random_of(c, k, sources[c->parts]) : (hd_random){0, 0};
        out |= convert_value(c, bits, random) << (after * c->to.spacing);
    }
    return out;
}

static void store(const hd_op *op, unsigned char *d, uint32_t lane, uint64_t value, bool is_signed)
{
    if (op->d_bytes <= 8) {
        memcpy(d + (size_t)lane * op->d_bytes, &value, op->d_bytes);
        return;
    }
    uint64_t high = is_signed && value >> 63 ? ~0ull : 0;
    memcpy(d + (size_t)lane * 8, &value, 8);
    memcpy(d + (size_t)(lane + LANES) * 8, &high, 8);
}

hd_step hd_run_convert(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_conversion *c = op->use.detail;
    const hd_code *code = hd_top_frame(w)->code;
    unsigned char *d = hd_row_of_frame(w, op->d);
    if (op->boolean) /* a clock */
        hd_special_refresh(w->cta->program, w);
    HD_EACH_BIT (lane, mask) {
        uint64_t sources[5] = {0};
        for (uint32_t k = 0; k < op->count; k++)
            sources[k] =
                hd_lane_value(hd_row(w, code->refs.items[op->first + k]), code->widths.items[op->first + k], lane);
        store(op, d, lane, convert_lane(c, sources), hd_format_is_integer(&c->to) && c->to.fraction_bits);
    }
    return HD_STEP_NEXT;
}

/* d = the low bits of c, a and b, from high to low; a and b are clamped to the type. */
hd_step hd_run_convert_pack(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_conversion *c = op->use.detail;
    const hd_code *code = hd_top_frame(w)->code;
    uint32_t width = c->to.bits, ones = (1u << width) - 1;
    unsigned char *d = hd_row_of_frame(w, op->d);
    HD_EACH_BIT (lane, mask) {
        uint32_t sources[3] = {0};
        for (uint32_t k = 0; k < op->count; k++)
            sources[k] = (uint32_t)hd_lane_value(hd_row(w, code->refs.items[op->first + k]),
                                                 code->widths.items[op->first + k], lane);
        uint64_t high = convert_value(c, sources[0], (hd_random){0, 0}) & ones;
        uint64_t low = convert_value(c, sources[1], (hd_random){0, 0}) & ones;
        uint64_t out = (uint32_t)((width == 16 ? 0 : sources[2] << (2 * width)) | high << width | low);
        store(op, d, lane, out, false);
    }
    return HD_STEP_NEXT;
}
