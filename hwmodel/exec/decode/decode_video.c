/* Decodes the video instructions. */
#include "hwmodel/exec/decode/decoder.h"
#include "hwmodel/exec/ops/video.h"
#include <stdio.h>

/* ---- selectors --------------------------------------------------------------------------------------------------- */

static const char *selector_of(const hd_decoder *d, const hd_operand *o)
{
    hd_name name = o->kind == HD_OPERAND_REGISTER ? hd_operand_selector(d->function, o) : HD_NO_NAME;
    return name == HD_NO_NAME ? NULL : hd_names_text(&d->module->names, name);
}

static bool bad_selector(hd_decoder *d, const char *selector)
{
    char why[64];
    snprintf(why, sizeof why, "the selector '%.16s'", selector);
    return hd_decode_unsupported(d, why);
}

/* One part: .b0 to .b3, .h0, .h1; nothing: the whole register. */
static bool set_part(hd_decoder *d, const hd_operand *o, hd_video_parts *p)
{
    const char *s = selector_of(d, o);
    p->bits = 32;
    if (!s)
        return true;
    p->bits = s[1] == 'b' ? 8 : 16;
    p->part[0] = (uint8_t)(s[2] - '0');
    if ((s[1] != 'b' && s[1] != 'h') || s[2] < '0' || p->part[0] >= 32 / p->bits || s[3])
        return bad_selector(d, s);
    return true;
}

/* `count` parts, the highest first: .h10, .b7654. */
static bool set_parts(hd_decoder *d, const hd_operand *o, hd_video_parts *p, uint32_t count, uint32_t first)
{
    const char *s = selector_of(d, o);
    p->bits = (uint8_t)(32 / count);
    for (uint32_t k = 0; k < count; k++)
        p->part[k] = (uint8_t)(first + k);
    if (!s)
        return true;
    if (s[1] != (count == 2 ? 'h' : 'b') || strlen(s) != count + 2)
        return bad_selector(d, s);
    for (uint32_t k = 0; k < count; k++) {
        char digit = s[2 + count - 1 - k];
        if (digit < '0' || digit >= (char)('0' + 2 * count))
            return bad_selector(d, s);
        p->part[k] = (uint8_t)(digit - '0');
    }
    return true;
}

/* Parts of the result, from the highest to the lowest: .h1, .b310. */
static bool set_mask(hd_decoder *d, const hd_operand *o, hd_video *v)
{
    const char *s = selector_of(d, o);
    v->d.bits = (uint8_t)(32 / v->count);
    v->d_mask = s ? 0 : (uint8_t)((1u << v->count) - 1);
    if (s && (s[1] != (v->count == 2 ? 'h' : 'b') || !s[2]))
        return bad_selector(d, s);
    for (const char *p = s ? s + 2 : ""; *p; p++) {
        uint32_t part = (uint32_t)(*p - '0');
        if (*p < '0' || part >= v->count || v->d_mask & ((2u << part) - 1))
            return bad_selector(d, s);
        v->d_mask |= (uint8_t)(1u << part);
    }
    return true;
}

/* ---- operands and modifiers -------------------------------------------------------------------------------------- */

static hd_ref source(hd_decoder *d, const hd_operand *o)
{
    if (o->kind == HD_OPERAND_REGISTER) /* with its selector */
        return HD_REF(HD_REF_FRAME, d->register_offset[o->value]);
    return hd_decode_source(d, o, HD_TYPE_B32);
}

static bool set_operands(hd_decoder *d)
{
    hd_op *op = d->op;
    if (d->operand_count < 3 || d->operand_count > 4)
        return hd_decode_unsupported(d, "this number of operands");
    op->d = hd_decode_destination(d, d->operands[0]);
    op->a = source(d, d->operands[1]);
    op->b = source(d, d->operands[2]);
    op->c = d->operand_count > 3 ? source(d, d->operands[3]) : hd_decode_constant(d, 0, 4);
    return !d->failed;
}

static hd_video_second second_of(const hd_decoder *d)
{
    switch (hd_decode_modifier(d, HD_GROUP_OP)) {
    case HD_MOD_OP_ADD: return HD_SECOND_ADD;
    case HD_MOD_OP_MIN: return HD_SECOND_MINIMUM;
    case HD_MOD_OP_MAX: return HD_SECOND_MAXIMUM;
    default: return HD_SECOND_NONE;
    }
}

static hd_video_operation operation_of(uint32_t opcode)
{
    switch (opcode) {
    case HD_OP_VSUB:
    case HD_OP_VSUB2:
    case HD_OP_VSUB4: return HD_VIDEO_SUBTRACT;
    case HD_OP_VABSDIFF:
    case HD_OP_VABSDIFF2:
    case HD_OP_VABSDIFF4: return HD_VIDEO_DIFFERENCE;
    case HD_OP_VAVRG2:
    case HD_OP_VAVRG4: return HD_VIDEO_AVERAGE;
    case HD_OP_VMIN:
    case HD_OP_VMIN2:
    case HD_OP_VMIN4: return HD_VIDEO_MINIMUM;
    case HD_OP_VMAX:
    case HD_OP_VMAX2:
    case HD_OP_VMAX4: return HD_VIDEO_MAXIMUM;
    case HD_OP_VSHL: return HD_VIDEO_SHIFT_LEFT;
    case HD_OP_VSHR: return HD_VIDEO_SHIFT_RIGHT;
    case HD_OP_VSET:
    case HD_OP_VSET2:
    case HD_OP_VSET4: return HD_VIDEO_COMPARE;
    default: return HD_VIDEO_ADD;
    }
}

/* The types of the result, a, and b; a comparison has an implicit unsigned result. */
static void set_types(hd_decoder *d, hd_video *v)
{
    uint32_t first = v->operation == HD_VIDEO_COMPARE ? 0 : 1;
    v->d.is_signed = first && hd_decode_type(d, 0) == HD_TYPE_S32;
    v->a.is_signed = hd_decode_type(d, first) == HD_TYPE_S32;
    v->b.is_signed = hd_decode_type(d, first + 1) == HD_TYPE_S32;
}

static hd_video *new_video(hd_decoder *d, uint32_t count)
{
    hd_video *v = HD_ARENA_NEW(&d->program->arena, hd_video);
    *v = (hd_video){.operation = (uint8_t)operation_of(d->form->opcode),
                    .second = (uint8_t)second_of(d),
                    .comparison = hd_decode_modifier(d, HD_GROUP_COMPARE),
                    .count = (uint8_t)count,
                    .saturate = hd_decode_modifier(d, HD_GROUP_SAT) != HD_MOD_NONE,
                    .wrap = hd_decode_modifier(d, HD_GROUP_SHIFT) == HD_MOD_SHIFT_WRAP};
    set_types(d, v);
    d->op->use.detail = v;
    return v;
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

bool hd_decode_video(hd_decoder *d)
{
    if (!HD_DECODE_ONLY(d, HD_GROUP_SAT, HD_GROUP_OP, HD_GROUP_SHIFT, HD_GROUP_COMPARE))
        return hd_decode_unsupported(d, NULL);
    hd_video *v = new_video(d, 1);
    v->merge = selector_of(d, d->operands[0]);
    d->op->run = hd_run_video;
    if (!set_operands(d) || !set_part(d, d->operands[0], &v->d) || !set_part(d, d->operands[1], &v->a) ||
        !set_part(d, d->operands[2], &v->b))
        return false;
    if (v->merge && (v->second || d->operand_count < 4))
        return hd_decode_unsupported(d, "a part of the destination and no operand to merge it into");
    return true;
}

bool hd_decode_video_simd(hd_decoder *d)
{
    uint32_t opcode = d->form->opcode;
    bool four = opcode == HD_OP_VADD4 || opcode == HD_OP_VSUB4 || opcode == HD_OP_VAVRG4 || opcode == HD_OP_VABSDIFF4 ||
                opcode == HD_OP_VMIN4 || opcode == HD_OP_VMAX4 || opcode == HD_OP_VSET4;
    if (!HD_DECODE_ONLY(d, HD_GROUP_SAT, HD_GROUP_OP, HD_GROUP_COMPARE))
        return hd_decode_unsupported(d, NULL);
    hd_video *v = new_video(d, four ? 4 : 2);
    d->op->run = hd_run_video_simd;
    if (v->saturate && v->second)
        return hd_decode_unsupported(d, "both .sat and .add");
    return set_operands(d) && set_mask(d, d->operands[0], v) && set_parts(d, d->operands[1], &v->a, v->count, 0) &&
           set_parts(d, d->operands[2], &v->b, v->count, v->count);
}

bool hd_decode_video_multiply(hd_decoder *d)
{
    if (!HD_DECODE_ONLY(d, HD_GROUP_SAT, HD_GROUP_PLUSONE, HD_GROUP_SCALE))
        return hd_decode_unsupported(d, NULL);
    hd_video *v = new_video(d, 1);
    uint16_t scale = hd_decode_modifier(d, HD_GROUP_SCALE);
    d->op->run = hd_run_video_multiply;
    if (!set_operands(d) || !set_part(d, d->operands[1], &v->a) || !set_part(d, d->operands[2], &v->b))
        return false;
    v->minus_product = (d->operands[1]->flags ^ d->operands[2]->flags) & HD_OPERAND_MINUS;
    v->minus_c = d->operand_count > 3 && d->operands[3]->flags & HD_OPERAND_MINUS;
    v->plus_one = hd_decode_modifier(d, HD_GROUP_PLUSONE) != HD_MOD_NONE;
    v->scale = scale == HD_MOD_SCALE_SHR7 ? 7 : scale == HD_MOD_SCALE_SHR15 ? 15 : 0;
    if (v->minus_product + v->minus_c + v->plus_one > 1)
        return hd_decode_unsupported(d, "more than one of a negated product, a negated addend and .po");
    return true;
}
