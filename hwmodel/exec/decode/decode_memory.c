/* Decodes loads, stores, atomics and the conversion of addresses. */
#include "hwmodel/exec/decode/decoder.h"
#include <stdio.h>

static bool is_param(hd_space s)
{
    return s == HD_SPACE_PARAM || s == HD_SPACE_PARAM_ENTRY || s == HD_SPACE_PARAM_FUNC;
}

/* Parameters of an entry are in the launch's parameter block; all other .param variables are in the call frame, like
 * local memory. */
static hd_space dynamic_space(const hd_decoder *d, hd_space space)
{
    return is_param(space) && !d->function->is_entry ? HD_SPACE_LOCAL : space;
}

/* The address as a row plus an offset. */
bool hd_decode_set_address(hd_decoder *d, const hd_decoded_address *address)
{
    hd_op *op = d->op;
    const hd_operand *base = address->base;
    op->offset = address->offset;
    op->cache_slot = d->program->cache_slots++;
    op->flags |= HD_OP_MEMORY;
    if (base->kind == HD_OPERAND_REGISTER) {
        uint32_t bytes = hd_register_lane_bytes(d->function, base->value);
        if (bytes != 4 && bytes != 8)
            return hd_decode_unsupported(d, "an address of this width");
        op->a = hd_decode_source(d, base, HD_TYPE_B64);
        op->flags |= bytes == 8 ? HD_OP_WIDE_ADDRESS : 0;
        return op->a != HD_NO_REF;
    }
    uint64_t value = 0;
    if (base->kind == HD_OPERAND_LITERAL)
        value = d->module->literals.items[base->value].bits;
    else if (base->kind != HD_OPERAND_SYMBOL || !hd_decode_symbol(d, base->value, &value))
        return hd_decode_unsupported(d, "an address of this kind");
    op->flags |= HD_OP_WIDE_ADDRESS;
    op->a = hd_decode_constant(d, value, 8);
    return true;
}

/* A variable of the call frame, or a kernel parameter, at a constant address. 0: neither; 1: run functions are set; -1:
 * reported. */
static int set_static_place(hd_decoder *d, const hd_decoded_address *address, hd_op_run *frame, hd_op_run *parameter)
{
    hd_op *op = d->op;
    const hd_operand *base = address->base;
    uint32_t bytes = op->item_bytes * op->count, frame_offset, limit;
    if (base->kind != HD_OPERAND_SYMBOL)
        return 0;
    const hd_symbol *s = &d->module->symbols.items[base->value];
    frame_offset = hd_decode_frame_offset(d, base->value);
    bool is_parameter = s->kind == HD_SYMBOL_PARAMETER && d->function->is_entry;
    if (frame_offset == HD_NONE && !is_parameter)
        return 0;
    uint64_t at = (is_parameter ? d->symbol_offset[base->value] : frame_offset) + (uint64_t)address->offset;
    limit = is_parameter ? d->program->parameter_bytes : d->code->local_bytes;
    if (at % bytes || at > limit || bytes > limit - at || (is_parameter && !parameter)) {
        hd_decode_unsupported(d, "a misaligned or outlying access to a parameter or local variable");
        return -1;
    }
    op->flags |= HD_OP_MEMORY;
    op->offset = (int64_t)at;
    op->run = is_parameter ? parameter : frame;
    op->space = is_parameter ? HD_SPACE_PARAM : HD_SPACE_LOCAL;
    return 1;
}

static bool decode_access(hd_decoder *d, const hd_operand *at, hd_op_run *plain, hd_op_run *frame, hd_op_run *parameter)
{
    hd_op *op = d->op;
    hd_decoded_address address;
    if (!hd_decode_address(d, at, &address))
        return false;
    op->run = plain;
    op->space = (uint8_t)dynamic_space(d, (hd_space)d->form->space);
    int known = set_static_place(d, &address, frame, parameter);
    return known ? known > 0 : hd_decode_set_address(d, &address);
}

static bool set_items(hd_decoder *d, const hd_operand *values, bool load)
{
    hd_op *op = d->op;
    hd_type type = hd_decode_type(d, 0);
    op->item_bytes = (uint8_t)(hd_types[type].bits / 8);
    op->count = hd_decode_elements(d, values, type, load, &op->first);
    if (hd_types[type].class == HD_CLASS_SIGNED)
        op->flags |= HD_OP_SIGNED;
    return op->item_bytes * op->count <= 32 || hd_decode_unsupported(d, NULL);
}

static bool only_memory_modifiers(hd_decoder *d)
{
    return HD_DECODE_ONLY(d, HD_GROUP_SPACE, HD_GROUP_VECTOR, HD_GROUP_HINT) || hd_decode_unsupported(d, NULL);
}

bool hd_decode_load(hd_decoder *d)
{
    return only_memory_modifiers(d) && set_items(d, d->operands[0], true) &&
           decode_access(d, d->operands[1], hd_run_load, hd_run_load_frame, hd_run_load_parameter);
}

bool hd_decode_store(hd_decoder *d)
{
    return only_memory_modifiers(d) && set_items(d, d->operands[1], false) &&
           decode_access(d, d->operands[0], hd_run_store, hd_run_store_frame, NULL);
}

/* ---- atomics ----------------------------------------------------------------------------------------------------- */

static bool decode_atomic_vector(hd_decoder *d, hd_type type, const hd_operand *to, const hd_operand *from)
{
    hd_op *op = d->op;
    uint32_t first_result;
    op->run = hd_run_atomic_wide;
    op->count = hd_decode_elements(d, from, type, false, &op->first);
    if (!to)
        return true;
    op->flags |= HD_OP_RESULT;
    return hd_decode_elements(d, to, type, true, &first_result) == op->count || hd_decode_unsupported(d, NULL);
}

bool hd_decode_atomic(hd_decoder *d)
{
    hd_op *op = d->op;
    hd_type type = hd_decode_type(d, 0);
    bool red = d->form->opcode == HD_OP_RED, wide = type == HD_TYPE_B128;
    uint32_t at = red ? 0 : 1, operation = hd_decode_modifier(d, HD_GROUP_OP);
    const hd_operand *to = red ? NULL : d->operands[0], *from = d->operands[at + 1];
    hd_decoded_address address;
    op->use.combine = hd_combine_find(operation, type);
    if ((!op->use.combine && !wide) ||
        !HD_DECODE_ONLY(d, HD_GROUP_SPACE, HD_GROUP_OP, HD_GROUP_HINT, HD_GROUP_VECTOR, HD_GROUP_FTZ))
        return hd_decode_unsupported(d, NULL);
    op->item_bytes = (uint8_t)(hd_types[type].bits / 8);
    op->count = 1;
    op->flags |= type == HD_TYPE_F32 ? HD_OP_FTZ : 0;
    op->space = d->form->space;
    if (d->form->vector > 1) {
        if (!decode_atomic_vector(d, type, to, from))
            return false;
    } else {
        op->run = wide ? hd_run_atomic_wide : hd_run_atomic;
        op->d = to ? hd_decode_destination(d, to) : HD_NO_REF;
        op->d_bytes = to ? (uint8_t)hd_decode_lane_bytes(d, to, type) : op->item_bytes;
        op->b = hd_decode_source(d, from, type);
        op->a_bytes = (uint8_t)hd_decode_lane_bytes(d, from, type);
        op->c = operation == HD_MOD_OP_CAS ? hd_decode_source(d, d->operands[at + 2], type) : HD_NO_REF;
    }
    return hd_decode_address(d, d->operands[at], &address) && hd_decode_set_address(d, &address);
}

/* ---- addresses as values ----------------------------------------------------------------------------------------- */

/* false: a space whose window is not modelled. */
static bool window_of(const hd_decoder *d, hd_space space, uint64_t *window)
{
    const hd_memory *m = d->program->image->memory;
    *window = 0;
    switch (space) {
    case HD_SPACE_GLOBAL: return true;
    case HD_SPACE_CONST: *window = m->const_window; return true;
    case HD_SPACE_LOCAL: *window = m->local_window; return true;
    case HD_SPACE_SHARED:
    case HD_SPACE_SHARED_CTA:
    case HD_SPACE_SHARED_CLUSTER: /* of one CTA */ *window = m->shared_window; return true;
    case HD_SPACE_PARAM:
    case HD_SPACE_PARAM_ENTRY: *window = m->param_window; return true;
    case HD_SPACE_NONE:
    case HD_SPACE_REG:
    case HD_SPACE_SREG:
    case HD_SPACE_TEX:
    case HD_SPACE_PARAM_FUNC:
    case HD_SPACE_COUNT: break;
    }
    return false;
}

bool hd_decode_cvta(hd_decoder *d)
{
    hd_op *op = d->op;
    hd_type type = hd_decode_type(d, 0);
    const hd_operand *from = d->operands[1];
    bool to_space = hd_decode_modifier(d, HD_GROUP_TO) != HD_MOD_NONE;
    uint64_t window;
    if (!window_of(d, dynamic_space(d, (hd_space)d->form->space), &window) ||
        !HD_DECODE_ONLY(d, HD_GROUP_SPACE, HD_GROUP_TO))
        return hd_decode_unsupported(d, NULL);
    op->d = hd_decode_destination(d, d->operands[0]);
    op->d_bytes = (uint8_t)hd_decode_lane_bytes(d, d->operands[0], type);
    hd_decoded_address variable;
    uint32_t frame = hd_decode_variable(d, from, &variable) ? hd_decode_frame_offset(d, variable.base->value) : HD_NONE;
    if (frame != HD_NONE) {
        op->run = hd_run_frame_address;
        op->offset = (int64_t)(frame + window) + variable.offset;
        return true;
    }
    op->run = window ? hd_run_shift_address : hd_run_move;
    op->a = hd_decode_source(d, from, type);
    op->a_bytes = (uint8_t)hd_decode_lane_bytes(d, from, type);
    op->offset = (int64_t)(to_space ? 0 - window : window);
    if (op->a_bytes != op->d_bytes)
        op->run = hd_run_shift_address;
    return op->a != HD_NO_REF;
}

bool hd_decode_isspacep(hd_decoder *d)
{
    hd_op *op = d->op;
    const hd_operand *from = d->operands[1];
    uint64_t window;
    hd_space space = dynamic_space(d, (hd_space)d->form->space);
    if (!window_of(d, space, &window))
        return hd_decode_unsupported(d, NULL);
    op->run = hd_run_space_of;
    op->space = (uint8_t)(space == HD_SPACE_SHARED_CTA || space == HD_SPACE_SHARED_CLUSTER ? HD_SPACE_SHARED
                          : space == HD_SPACE_PARAM_ENTRY                                  ? HD_SPACE_PARAM
                                                                                           : space);
    op->d = hd_decode_destination(d, d->operands[0]);
    op->a = hd_decode_source(d, from, d->module->address_bits == 32 ? HD_TYPE_B32 : HD_TYPE_B64);
    op->a_bytes = (uint8_t)hd_decode_lane_bytes(d, from, d->module->address_bits == 32 ? HD_TYPE_B32 : HD_TYPE_B64);
    return op->a != HD_NO_REF;
}
