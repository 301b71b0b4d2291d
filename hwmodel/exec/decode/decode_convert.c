/* Decodes cvt and cvt.pack. */
#include "hwmodel/exec/ops/convert.h"
#include "hwmodel/exec/decode/decoder.h"

/* ---- modifiers --------------------------------------------------------------------------------------------------- */

static void set_rounding(hd_conversion *c, uint16_t modifier)
{
    if (modifier >= HD_MOD_ROUND_RNI)
        c->whole = (uint8_t)(modifier - HD_MOD_ROUND_RNI + HD_ROUND_NEAREST_EVEN + 1);
    else if (modifier)
        c->rounding = (uint8_t)(modifier - HD_MOD_ROUND_RN + HD_ROUND_NEAREST_EVEN);
}

/* The number of random bits per value; 0 if the hardware's assignment of bits is unknown. */
static uint8_t random_bits_of(hd_type to) { return to == HD_TYPE_F16X2 ? 13 : to == HD_TYPE_E2M1X4 ? 0 : 16; }

/* NaN as an integer: zero; only the sign bit if the source is .f64 or the result has 64 bits. */
static uint64_t integer_of_nan(const hd_format *to, hd_type from)
{
    if (from != HD_TYPE_F64 && to->bits != 64)
        return 0;
    uint64_t sign = 1ull << (to->bits - 1);
    return to->fraction_bits ? 0 - sign : sign;
}

/* Targets before sm_20 flush subnormals regardless of modifiers; in PTX up to 1.4 only if neither type has 64 bits. */
static bool flushes(const hd_decoder *d, hd_type to, hd_type from)
{
    const hd_module *m = d->module;
    bool old = m->target_number && m->target_number < 20;
    bool legacy = m->version_major < 1 || (m->version_major == 1 && m->version_minor <= 4);
    if (hd_decode_modifier(d, HD_GROUP_FTZ) == HD_MOD_FTZ_FTZ)
        return true;
    return old && !(legacy && (hd_types[to].bits == 64 || hd_types[from].bits == 64));
}

static bool set_conversion(hd_decoder *d, hd_conversion *c)
{
    hd_type to = hd_decode_type(d, 0), from = hd_decode_type(d, 1);
    uint16_t sat = hd_decode_modifier(d, HD_GROUP_SAT), round = hd_decode_modifier(d, HD_GROUP_ROUND);
    bool ftz = flushes(d, to, from);
    *c = (hd_conversion){.to = hd_format_of(to), .from = hd_format_of(from)};
    if (!c->to.bits || !c->from.bits)
        return hd_decode_unsupported(d, NULL);
    c->parts = c->to.count;
    c->packed = c->from.count > 1;
    c->sat = sat == HD_MOD_SAT_SAT;
    c->finite = sat == HD_MOD_SAT_SATFINITE;
    c->relu = hd_decode_modifier(d, HD_GROUP_RELU) != HD_MOD_NONE;
    c->ftz_from = ftz && from == HD_TYPE_F32;
    c->ftz_to = ftz && to == HD_TYPE_F32;
    set_rounding(c, round);
    if (hd_format_is_integer(&c->to))
        c->nan = integer_of_nan(&c->to, from);
    if (to == HD_TYPE_F32 && from == HD_TYPE_BF16)
        c->rounding = HD_ROUND_NEAREST_EVEN; /* exact */
    if (round != HD_MOD_ROUND_RS)
        return true;
    c->random_bits = random_bits_of(to);
    return c->random_bits || hd_decode_unsupported(d, "random bits whose share for each value is not documented");
}

/* ---- operands ---------------------------------------------------------------------------------------------------- */

static void set_operands(hd_decoder *d, uint32_t sources)
{
    hd_op *op = d->op;
    op->d = hd_decode_destination(d, d->operands[0]);
    op->d_bytes = (uint8_t)hd_decode_lane_bytes(d, d->operands[0], hd_decode_type(d, 0));
    op->first = d->code->refs.count;
    for (uint32_t k = 1; k < d->operand_count; k++) {
        uint32_t first;
        hd_type type = op->count < sources ? hd_decode_type(d, 1) : HD_TYPE_U32;
        op->count += hd_decode_elements(d, d->operands[k], type, false, &first);
    }
    for (uint32_t k = 0; k < op->count; k++) /* for 128 bits the low half, which has a row of its own */
        if (d->code->widths.items[op->first + k] > 8)
            d->code->widths.items[op->first + k] = 8;
}

static bool reads_clock(const hd_decoder *d)
{
    const hd_operand *o = d->operands[1];
    return o->kind == HD_OPERAND_SREG && hd_sregs[o->value].varies == HD_VARIES_TIME;
}

/* A loop over whole rows, if there is one. */
static bool use_lanes(hd_decoder *d, const hd_conversion *c)
{
    hd_op *op = d->op;
    hd_type to = hd_decode_type(d, 0), from = hd_decode_type(d, 1);
    const hd_ref *refs = d->code->refs.items + op->first;
    const uint8_t *widths = d->code->widths.items + op->first;
    bool plain = !c->whole && !c->sat && !c->ftz_from;
    if (op->boolean || op->count > 2 || op->d_bytes > 8 || widths[0] != widths[op->count - 1])
        return false;
    op->a = refs[0];
    op->b = refs[op->count - 1];
    if (to == from && !hd_format_is_integer(&c->to) && hd_types[to].bits >= 32 && plain && op->d_bytes == widths[0]) {
        op->run = hd_run_move; /* not even NaNs change */
        return true;
    }
    op->use.lanes = hd_convert_lanes(c, to, from, op->d_bytes, widths[0]);
    op->run = hd_run_lanes;
    return op->use.lanes;
}

bool hd_decode_cvt(hd_decoder *d)
{
    hd_conversion c;
    if (d->form->type_count != 2 || !HD_DECODE_ONLY(d, HD_GROUP_ROUND, HD_GROUP_FTZ, HD_GROUP_SAT, HD_GROUP_RELU))
        return hd_decode_unsupported(d, NULL);
    if (!set_conversion(d, &c))
        return false;
    uint32_t sources = c.packed ? 1 : c.parts;
    set_operands(d, sources);
    if (d->op->count != sources + (c.random_bits != 0))
        return hd_decode_unsupported(d, "this number of operands");
    d->op->boolean = reads_clock(d);
    if (d->op->d == HD_NO_REF || d->failed || use_lanes(d, &c))
        return true;
    hd_conversion *kept = HD_ARENA_NEW(&d->program->arena, hd_conversion);
    *kept = c;
    d->op->use.detail = kept;
    d->op->run = hd_run_convert;
    return true;
}

bool hd_decode_cvt_pack(hd_decoder *d)
{
    if (d->form->type_count < 2 || !HD_DECODE_ONLY(d, HD_GROUP_SAT))
        return hd_decode_unsupported(d, NULL);
    hd_conversion *c = HD_ARENA_NEW(&d->program->arena, hd_conversion);
    *c = (hd_conversion){.to = hd_format_of(hd_decode_type(d, 0)), .from = hd_format_of(HD_TYPE_S32), .sat = true};
    set_operands(d, 2);
    if (!c->to.bits || d->op->count != d->form->type_count)
        return hd_decode_unsupported(d, "this number of operands");
    d->op->use.detail = c;
    d->op->run = d->op->d == HD_NO_REF ? hd_run_nothing : hd_run_convert_pack;
    return true;
}
