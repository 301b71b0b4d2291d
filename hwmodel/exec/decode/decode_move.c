/* Decodes mov: of a register, a constant, an address, a special register; of vectors; packing and unpacking. */
#include "hwmodel/exec/decode/decoder.h"

static bool is_time(const hd_operand *o)
{
    return o->kind == HD_OPERAND_SREG && hd_sregs[o->value].varies == HD_VARIES_TIME;
}

/* The address of a variable of the call frame. */
static bool decode_frame_address(hd_decoder *d, int64_t offset)
{
    hd_op *op = d->op;
    op->run = hd_run_frame_address;
    op->d = hd_decode_destination(d, d->operands[0]);
    op->d_bytes = (uint8_t)hd_decode_lane_bytes(d, d->operands[0], hd_decode_type(d, 0));
    op->offset = offset;
    return true;
}

/* ---- packing and unpacking --------------------------------------------------------------------------------------- */

static hd_type part_type(uint32_t bits)
{
    return bits == 8 ? HD_TYPE_B8 : bits == 16 ? HD_TYPE_B16 : bits == 32 ? HD_TYPE_B32 : HD_TYPE_B64;
}

static bool decode_pack(hd_decoder *d, hd_type type)
{
    hd_op *op = d->op;
    const hd_operand *vector = d->operands[1];
    uint32_t bits = hd_types[type].bits / vector->count;
    op->run = hd_run_pack;
    op->d = hd_decode_destination(d, d->operands[0]);
    op->count = hd_decode_elements(d, vector, part_type(bits), false, &op->first);
    op->item_bytes = (uint8_t)(bits / 8);
    op->d_bytes = (uint8_t)(hd_types[type].bits / 8);
    return true;
}

static bool decode_unpack(hd_decoder *d, hd_type type)
{
    hd_op *op = d->op;
    const hd_operand *vector = d->operands[0], *from = d->operands[1];
    uint32_t bits = hd_types[type].bits / vector->count;
    op->run = hd_run_unpack;
    op->a = hd_decode_source(d, from, type);
    op->boolean = is_time(from);
    op->count = hd_decode_elements(d, vector, part_type(bits), true, &op->first);
    op->item_bytes = (uint8_t)(bits / 8);
    op->a_bytes = (uint8_t)(hd_types[type].bits / 8);
    return true;
}

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

/* mov.v2, mov.v4: separate moves, after all sources were read. The sources follow the destinations. */
static bool decode_vector(hd_decoder *d, hd_type type)
{
    hd_op *op = d->op;
    const hd_operand *to = d->operands[0], *from = d->operands[1];
    uint32_t first;
    op->run = hd_run_move_vector;
    op->count = hd_decode_elements(d, to, type, true, &op->first);
    if (from->kind == HD_OPERAND_VECTOR)
        return hd_decode_elements(d, from, type, false, &first) == op->count || hd_decode_unsupported(d, NULL);
    if (from->kind != HD_OPERAND_SREG || from->extra != HD_NONE)
        return hd_decode_unsupported(d, "an operand of this kind");
    for (uint32_t k = 0; k < op->count; k++) { /* all components */
        hd_operand component = *from;
        component.extra = k;
        hd_decode_push(d, hd_decode_source(d, &component, type), hd_decode_lane_bytes(d, &component, type));
    }
    return true;
}

/* ---- mov --------------------------------------------------------------------------------------------------------- */

static bool decode_single(hd_decoder *d, hd_type type)
{
    hd_op *op = d->op;
    const hd_operand *to = d->operands[0], *from = d->operands[1];
    hd_decoded_address variable;
    uint32_t frame = hd_decode_variable(d, from, &variable) ? hd_decode_frame_offset(d, variable.base->value) : HD_NONE;
    if (frame != HD_NONE)
        return decode_frame_address(d, (int64_t)frame + variable.offset);
    op->d = hd_decode_destination(d, to);
    if (type == HD_TYPE_PRED) {
        op->run = hd_run_move_pred;
        op->a = hd_decode_predicate(d, from, HD_OP_NOT_A);
        return true;
    }
    op->run = is_time(from) ? hd_run_move_time : hd_run_move;
    op->a = hd_decode_source(d, from, type); /* a special register's row has the width of the move */
    op->d_bytes = (uint8_t)hd_decode_lane_bytes(d, to, type);
    return true;
}

bool hd_decode_mov(hd_decoder *d)
{
    hd_type type = hd_decode_type(d, 0);
    if (!HD_DECODE_ONLY(d, HD_GROUP_VECTOR) || d->operand_count != 2)
        return hd_decode_unsupported(d, NULL);
    if (hd_decode_modifier(d, HD_GROUP_VECTOR))
        return decode_vector(d, type);
    if (d->operands[1]->kind == HD_OPERAND_VECTOR)
        return decode_pack(d, type);
    if (d->operands[0]->kind == HD_OPERAND_VECTOR)
        return decode_unpack(d, type);
    return decode_single(d, type);
}
