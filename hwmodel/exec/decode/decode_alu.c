/* Decodes arithmetic and comparisons. */
#include "hwmodel/exec/decode/decoder.h"

/* ---- rows of exec.def -------------------------------------------------------------------------------------------- */

static bool set_rounding(hd_decoder *d)
{
    uint16_t round = hd_decode_modifier(d, HD_GROUP_ROUND);
    if (round > HD_MOD_ROUND_RP)
        return hd_decode_unsupported(d, "this rounding");
    d->op->rounding = round ? (uint8_t)(round - HD_MOD_ROUND_RN) : 0;
    return true;
}

static void set_float_flags(hd_decoder *d)
{
    if (hd_decode_modifier(d, HD_GROUP_FTZ) == HD_MOD_FTZ_FTZ)
        d->op->flags |= HD_OP_FTZ;
    if (hd_decode_modifier(d, HD_GROUP_SAT) == HD_MOD_SAT_SAT)
        d->op->flags |= HD_OP_SAT;
}

/* On targets before sm_20 single precision has no subnormals, regardless of modifiers. */
static void set_old_flush(hd_decoder *d, hd_type type)
{
    uint32_t target = d->module->target_number;
    if (type == HD_TYPE_F32 && target && target < 20)
        d->op->flags |= HD_OP_FTZ;
}

/* The type of source k: that of its register; else the instruction's, or .u32 (shift amounts, positions). */
static hd_type source_type(const hd_decoder *d, uint32_t k)
{
    hd_type type = hd_decode_type(d, 0);
    uint32_t half = hd_decode_modifier(d, HD_GROUP_HALF);
    switch (d->form->opcode) {
    case HD_OP_SHL:
    case HD_OP_SHR:
    case HD_OP_SZEXT:
    case HD_OP_BMSK: return k ? HD_TYPE_U32 : type;
    case HD_OP_BFE: return k ? HD_TYPE_U32 : type;
    case HD_OP_SHF:
    case HD_OP_PRMT: return k == 2 ? HD_TYPE_U32 : type;
    case HD_OP_MAD:
        if (k == 2 && half == HD_MOD_HALF_WIDE)
            return hd_types[type].bits == 16 ? HD_TYPE_B32 : HD_TYPE_B64;
        return type;
    default: return type;
    }
}

/* What can round to the smallest normal number as a subnormal; sums of two are exact there. */
static bool is_scaled(const hd_lanes_row *row)
{
    uint16_t opcode = row->opcode;
    bool scales = opcode == HD_OP_MUL || opcode == HD_OP_DIV || opcode == HD_OP_FMA || opcode == HD_OP_MAD;
    return scales && (row->type == HD_TYPE_F32 || row->type == HD_TYPE_F16);
}

static bool set_float(hd_decoder *d, const hd_lanes_row *row)
{
    hd_op *op = d->op;
    set_float_flags(d);
    set_old_flush(d, (hd_type)row->type);
    op->flags |= is_scaled(row) ? HD_OP_SCALES : 0;
    op->float_type = row->type;
    op->count = row->sources;
    if (row->kind == HD_LANES_FLOAT && !set_rounding(d))
        return false;
    if (op->rounding || op->flags & (HD_OP_FTZ | HD_OP_SAT))
        op->run = hd_run_float;
    else if (row->kind == HD_LANES_FLOAT && op->parts == 1 && row->opcode != HD_OP_ADD && row->opcode != HD_OP_SUB)
        op->run = hd_run_float_lanes;
    return true;
}

bool hd_decode_row(hd_decoder *d, const hd_lanes_row *row)
{
    hd_op *op = d->op;
    hd_ref *sources[] = {&op->a, &op->b, &op->c};
    op->use.lanes = row->lanes;
    op->parts = (uint8_t)(hd_lanes_element(hd_decode_type(d, 0)) == hd_decode_type(d, 0) ? 1 : 2);
    op->d_bytes = (uint8_t)(row->d_bytes * op->parts);
    op->run = op->parts == 1 ? hd_run_lanes : hd_run_packed;
    for (uint32_t k = 0; k < row->sources; k++)
        *sources[k] = hd_decode_source(d, d->operands[k + 1], source_type(d, k));
    if (row->kind != HD_LANES_INT && !set_float(d, row))
        return false;
    op->d = hd_decode_destination(d, d->operands[0]);
    if (op->d == HD_NO_REF)
        op->run = hd_run_nothing;
    return true;
}

/* add, sub, fma of f32 with 16-bit sources use the row of f32. */
static bool decode_mixed(hd_decoder *d)
{
    hd_op *op = d->op;
    hd_form single = *d->form;
    hd_type narrow = hd_decode_type(d, 1);
    single.type_count = 1;
    const hd_lanes_row *row = hd_lanes_find(&single, d->operand_count - 1);
    if (!row || hd_decode_type(d, 0) != HD_TYPE_F32 || (narrow != HD_TYPE_F16 && narrow != HD_TYPE_BF16))
        return hd_decode_unsupported(d, NULL);
    op->use.lanes = row->lanes;
    op->d_bytes = row->d_bytes;
    op->from_type = (uint8_t)narrow;
    op->a = hd_decode_source(d, d->operands[1], narrow);
    op->b = hd_decode_source(d, d->operands[2], row->sources == 3 ? narrow : HD_TYPE_F32);
    op->c = row->sources == 3 ? hd_decode_source(d, d->operands[3], HD_TYPE_F32) : op->c;
    if (!set_float(d, row))
        return false;
    op->run = hd_run_mixed;
    op->d = hd_decode_destination(d, d->operands[0]);
    return true;
}

bool hd_decode_fma(hd_decoder *d)
{
    return d->form->type_count == 2 ? decode_mixed(d) : hd_decode_unsupported(d, NULL);
}

bool hd_decode_nothing(hd_decoder *d)
{
    d->op->run = hd_run_nothing;
    return true;
}

/* ---- selections and comparisons ---------------------------------------------------------------------------------- */

bool hd_decode_selp(hd_decoder *d)
{
    hd_op *op = d->op;
    hd_type type = hd_decode_type(d, 0);
    op->run = hd_run_selp;
    op->d = hd_decode_destination(d, d->operands[0]);
    op->a = hd_decode_source(d, d->operands[1], type);
    op->b = hd_decode_source(d, d->operands[2], type);
    op->c = hd_decode_predicate(d, d->operands[3], HD_OP_NOT_C);
    op->d_bytes = (uint8_t)(hd_types[type].bits / 8);
    return true;
}

bool hd_decode_slct(hd_decoder *d)
{
    hd_op *op = d->op;
    hd_type type = hd_decode_type(d, 0), by = hd_decode_type(d, 1);
    op->run = hd_run_slct;
    op->d = hd_decode_destination(d, d->operands[0]);
    op->a = hd_decode_source(d, d->operands[1], type);
    op->b = hd_decode_source(d, d->operands[2], type);
    op->c = hd_decode_source(d, d->operands[3], by);
    op->d_bytes = (uint8_t)(hd_types[type].bits / 8);
    op->flags |= by == HD_TYPE_S32 ? HD_OP_SIGNED : 0;
    set_float_flags(d);
    return true;
}

static uint8_t boolean_of(const hd_decoder *d)
{
    uint16_t m = hd_decode_modifier(d, HD_GROUP_BOOL);
    return m ? (uint8_t)(m - HD_MOD_BOOL_AND + 1) : 0;
}

/* The comparison of operands[1] and the next, and the predicate after them. */
static bool decode_comparison(hd_decoder *d, hd_type type)
{
    hd_op *op = d->op;
    hd_type element = hd_lanes_element(type);
    op->use.compare = hd_compare_find(element, hd_decode_modifier(d, HD_GROUP_COMPARE));
    if (!op->use.compare)
        return hd_decode_unsupported(d, NULL);
    op->parts = element == type ? 1 : 2;
    op->a = hd_decode_source(d, d->operands[1], type);
    op->b = hd_decode_source(d, d->operands[2], type);
    op->boolean = boolean_of(d);
    if (op->boolean)
        op->c = hd_decode_predicate(d, d->operands[3], HD_OP_NOT_C);
    op->float_type = (uint8_t)element;
    set_float_flags(d);
    set_old_flush(d, element);
    return true;
}

bool hd_decode_setp(hd_decoder *d)
{
    const hd_operand *to = d->operands[0];
    bool pair = to->kind == HD_OPERAND_PAIR;
    d->op->run = hd_run_setp;
    d->op->d = hd_decode_destination(d, pair ? to + 1 : to);
    if (pair)
        d->op->e = hd_decode_destination(d, to + 2);
    return decode_comparison(d, hd_decode_type(d, 0));
}

/* The value that set writes if the comparison holds: one, or all ones; for packed sources in 16 bits of each half. */
static int64_t true_value(hd_type to, bool packed)
{
    switch (hd_lanes_element(to)) {
    case HD_TYPE_F16: return 0x3c00;
    case HD_TYPE_BF16: return 0x3f80;
    case HD_TYPE_F32: return 0x3f800000;
    default: return packed || hd_types[to].bits == 16 ? 0xffff : 0xffffffff;
    }
}

bool hd_decode_set(hd_decoder *d)
{
    hd_type to = hd_decode_type(d, 0), from = hd_decode_type(d, 1);
    hd_op *op = d->op;
    op->run = hd_run_set;
    op->d = hd_decode_destination(d, d->operands[0]);
    op->d_bytes = (uint8_t)(hd_types[to].bits / 8);
    op->offset = true_value(to, hd_lanes_element(from) != from);
    return decode_comparison(d, from);
}

/* For predicates; other types have rows. */
bool hd_decode_logic(hd_decoder *d)
{
    hd_op *op = d->op;
    if (hd_decode_type(d, 0) != HD_TYPE_PRED)
        return hd_decode_unsupported(d, NULL);
    op->run = hd_run_pred_logic;
    op->boolean = d->form->opcode == HD_OP_AND   ? 1
                  : d->form->opcode == HD_OP_OR  ? 2
                  : d->form->opcode == HD_OP_XOR ? 3
                                                 : 0;
    op->d = hd_decode_destination(d, d->operands[0]);
    op->a = hd_decode_predicate(d, d->operands[1], HD_OP_NOT_A);
    if (op->boolean)
        op->b = hd_decode_predicate(d, d->operands[2], HD_OP_NOT_C);
    return true;
}

bool hd_decode_testp(hd_decoder *d)
{
    hd_op *op = d->op;
    hd_type type = hd_decode_type(d, 0);
    if (!hd_decode_modifier(d, HD_GROUP_TEST))
        return hd_decode_unsupported(d, "no name of a test");
    op->run = hd_run_testp;
    op->d = hd_decode_destination(d, d->operands[0]);
    op->a = hd_decode_source(d, d->operands[1], type);
    op->float_type = (uint8_t)type;
    op->boolean = (uint8_t)(hd_decode_modifier(d, HD_GROUP_TEST) - HD_MOD_TEST_FINITE);
    return true;
}

bool hd_decode_lop3(hd_decoder *d)
{
    hd_op *op = d->op;
    const hd_operand *to = d->operands[0];
    bool pair = to->kind == HD_OPERAND_PAIR;
    op->run = hd_run_lop3;
    op->d = hd_decode_destination(d, pair ? to + 1 : to);
    op->a = hd_decode_source(d, d->operands[1], HD_TYPE_B32);
    op->b = hd_decode_source(d, d->operands[2], HD_TYPE_B32);
    op->c = hd_decode_source(d, d->operands[3], HD_TYPE_B32);
    if (d->operands[4]->kind != HD_OPERAND_LITERAL)
        return hd_decode_unsupported(d, "a table that is no constant");
    op->offset = (int64_t)(hd_decode_literal(d, d->operands[4], HD_TYPE_B32) & 255);
    if (!pair)
        return true;
    op->e = hd_decode_destination(d, to + 2);
    op->boolean = boolean_of(d);
    op->f = hd_decode_predicate(d, d->operands[5], HD_OP_NOT_C);
    return true;
}

bool hd_decode_bfi(hd_decoder *d)
{
    hd_op *op = d->op;
    hd_type type = hd_decode_type(d, 0);
    op->run = hd_run_bfi;
    op->d = hd_decode_destination(d, d->operands[0]);
    op->a = hd_decode_source(d, d->operands[1], type);
    op->b = hd_decode_source(d, d->operands[2], type);
    op->c = hd_decode_source(d, d->operands[3], HD_TYPE_U32);
    op->f = hd_decode_source(d, d->operands[4], HD_TYPE_U32);
    op->d_bytes = (uint8_t)(hd_types[type].bits / 8);
    return true;
}

bool hd_decode_dot(hd_decoder *d)
{
    hd_op *op = d->op;
    bool four = d->form->opcode == HD_OP_DP4A;
    op->run = hd_run_dot;
    op->d = hd_decode_destination(d, d->operands[0]);
    op->a = hd_decode_source(d, d->operands[1], HD_TYPE_B32);
    op->b = hd_decode_source(d, d->operands[2], HD_TYPE_B32);
    op->c = hd_decode_source(d, d->operands[3], HD_TYPE_B32);
    op->item_bytes = four ? 1 : 2;
    op->offset = !four && hd_decode_modifier(d, HD_GROUP_HALF) == HD_MOD_HALF_HI ? 2 : 0;
    op->flags |= hd_decode_type(d, 0) == HD_TYPE_S32 ? HD_OP_SIGNED : 0;
    op->flags |= hd_decode_type(d, 1) == HD_TYPE_S32 ? HD_OP_NOT_A : 0;
    return true;
}

/* ---- extended precision ------------------------------------------------------------------------------------------ */

static bool set_carry(hd_decoder *d, bool reads)
{
    hd_op *op = d->op;
    hd_type type = hd_decode_type(d, 0);
    bool writes = hd_decode_modifier(d, HD_GROUP_CC) != HD_MOD_NONE;
    if (!HD_DECODE_ONLY(d, HD_GROUP_CC, HD_GROUP_HALF) || d->function->carry_register == HD_NONE ||
        d->form->type_count != 1)
        return hd_decode_unsupported(d, NULL);
    hd_ref carry = d->register_offset[d->function->carry_register];
    op->d_bytes = (uint8_t)(hd_types[type].bits / 8);
    op->flags |= (writes ? HD_OP_CARRY_OUT : 0) | (reads ? HD_OP_CARRY_IN : 0);
    op->flags |= hd_types[type].class == HD_CLASS_SIGNED ? HD_OP_SIGNED : 0;
    op->e = op->f = carry;
    op->d = hd_decode_destination(d, d->operands[0]);
    op->a = hd_decode_source(d, d->operands[1], type);
    op->b = hd_decode_source(d, d->operands[2], type);
    return true;
}

bool hd_decode_carry(hd_decoder *d)
{
    uint32_t opcode = d->form->opcode;
    if (d->form->type_count == 2)
        return decode_mixed(d);
    d->op->run = hd_run_carry;
    d->op->boolean = opcode == HD_OP_SUB || opcode == HD_OP_SUBC ? HD_CARRY_SUBTRACT : HD_CARRY_ADD;
    return set_carry(d, opcode == HD_OP_ADDC || opcode == HD_OP_SUBC);
}

bool hd_decode_carry_mad(hd_decoder *d)
{
    hd_form product = *d->form;
    product.opcode = HD_OP_MUL;
    product.modifiers[HD_GROUP_CC] = HD_MOD_NONE;
    const hd_lanes_row *row = hd_lanes_find(&product, 2);
    if (!row || d->operand_count != 4)
        return hd_decode_unsupported(d, NULL);
    d->op->run = hd_run_carry_mad;
    d->op->use.lanes = row->lanes;
    if (!set_carry(d, d->form->opcode == HD_OP_MADC))
        return false;
    d->op->c = hd_decode_source(d, d->operands[3], hd_decode_type(d, 0));
    return true;
}
