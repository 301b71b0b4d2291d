/* Decodes cluster address operations, cache policies, st.bulk, and nanosleep. */
#include "hwmodel/exec/decode/decoder.h"

/* A cluster has one CTA: mapa returns the address unchanged, and the owner's rank is 0. */
bool hd_decode_map_rank(hd_decoder *d)
{
    hd_op *op = d->op;
    hd_type type = hd_decode_type(d, 0);
    const hd_operand *from = d->operands[1];
    if (from->kind == HD_OPERAND_SYMBOL && d->form->space == HD_SPACE_NONE)
        return hd_decode_unsupported(d, "a variable as a generic address");
    op->d = hd_decode_destination(d, d->operands[0]);
    op->a = hd_decode_source(d, from, type);
    op->run = hd_run_map_rank;
    op->d_bytes = (uint8_t)(hd_types[type].bits / 8);
    op->b = HD_NO_REF;
    if (d->form->opcode == HD_OP_MAPA) {
        op->b = hd_decode_source(d, d->operands[2], HD_TYPE_U32);
    } else {
        op->a = hd_decode_constant(d, 0, 4);
        op->d_bytes = 4;
    }
    return op->a != HD_NO_REF;
}

/* A policy has no effect; it must only be deterministic. */
bool hd_decode_policy(hd_decoder *d)
{
    hd_op *op = d->op;
    op->run = hd_run_move;
    op->d_bytes = op->a_bytes = 8;
    op->d = hd_decode_destination(d, d->operands[0]);
    op->a = hd_decode_modifier(d, HD_GROUP_POLICY) == HD_MOD_POLICY_CVT
                ? hd_decode_source(d, d->operands[1], HD_TYPE_U64)
                : hd_decode_constant(d, 1, 8);
    return op->a != HD_NO_REF;
}

bool hd_decode_store_bulk(hd_decoder *d)
{
    hd_op *op = d->op;
    hd_decoded_address address;
    op->run = hd_run_store_bulk;
    op->b = hd_decode_source(d, d->operands[1], HD_TYPE_U64);
    op->space = d->form->space;
    return hd_decode_address(d, d->operands[0], &address) && hd_decode_set_address(d, &address);
}

bool hd_decode_sleep(hd_decoder *d)
{
    d->op->run = hd_run_sleep;
    return true;
}
