/* Completes loads, stores, atomics, and reads of constant banks. */
#include "hwmodel/machine/decoder.h"

/* ---- addresses --------------------------------------------------------------------------------------------------- */

static hd_space space_of(const hd_machine_decoder *d)
{
    const char *opcode = d->row->opcode;
    switch (opcode[strlen(opcode) - 1]) {
    case 'G': return HD_SPACE_GLOBAL;
    case 'S': return HD_SPACE_SHARED;
    case 'L': return HD_SPACE_LOCAL;
    case 'D': return strcmp(opcode, "RED") == 0 ? HD_SPACE_GLOBAL : HD_SPACE_NONE;
    default: return HD_SPACE_NONE; /* LD, ST, ATOM */
    }
}

/* Addresses of global memory have 64 bits with .E: the base is a pair unless it is marked as narrow, and so is a
 * uniform register. A row of 8 bytes a lane. */
static hd_ref wide_base(hd_machine_decoder *d, const hd_machine_operand *o)
{
    hd_ref to = hd_machine_temporary(d), zero = hd_machine_zero();
    hd_machine_operand base = {.kind = HD_MACHINE_OPERAND_REGISTER, .class = HD_SASS_GENERAL, .number = o->base};
    hd_machine_operand uniform = {.kind = HD_MACHINE_OPERAND_REGISTER, .class = HD_SASS_UNIFORM, .number = o->uniform};
    bool narrow = o->base_narrow;
    hd_machine_step step = {.kind = HD_STEP_ADDRESS, .to = to, .wide_a = true, .wide_b = true, .value = o->base_scale};
    step.a = hd_machine_source(d, &base, narrow ? 'i' : 'I');
    step.wide_a = !narrow;
    step.b = hd_machine_source(d, &uniform, 'I');
    if (step.b == zero && !narrow)
        return step.a;
    hd_machine_add_step(d, step);
    return to;
}

static hd_ref narrow_base(hd_machine_decoder *d, const hd_machine_operand *o)
{
    hd_ref base = hd_machine_register_row(d, HD_SASS_GENERAL, o->base);
    hd_ref uniform = hd_machine_register_row(d, HD_SASS_UNIFORM, o->uniform);
    if (o->uniform == HD_SASS_NO_NUMBER && o->base_scale == 1)
        return base;
    hd_ref to = hd_machine_temporary(d);
    hd_machine_add_step(
        d, (hd_machine_step){.kind = HD_STEP_ADDRESS, .to = to, .a = base, .b = uniform, .value = o->base_scale});
    return to;
}

bool hd_machine_take_address(hd_machine_decoder *d, const hd_machine_operand *o, hd_space space)
{
    hd_op *op = &d->m.op;
    bool wide = space == HD_SPACE_GLOBAL || space == HD_SPACE_NONE;
    if (o->kind != HD_MACHINE_OPERAND_ADDRESS)
        return hd_machine_unsupported(d, "these operands");
    if (wide && !hd_machine_has(d, "E"))
        return hd_machine_unsupported(d, "an address of 32 bits");
    op->space = (uint8_t)space;
    op->a = wide ? wide_base(d, o) : narrow_base(d, o);
    op->offset = o->offset;
    op->flags |= HD_OP_MEMORY | (wide ? HD_OP_WIDE_ADDRESS : 0);
    op->cache_slot = d->program->cache_slots++;
    if (wide && hd_machine_has(d, "STRONG") && !hd_machine_has(d, "CTA"))
        op->flags |= HD_OP_ORDERED;
    return true;
}

/* ---- loads and stores -------------------------------------------------------------------------------------------- */

/* Elements of memory, each for a register of 32 bits. */
static void set_width(hd_machine_decoder *d)
{
    hd_op *op = &d->m.op;
    bool byte = hd_machine_has(d, "U8") || hd_machine_has(d, "S8"),
         half = hd_machine_has(d, "U16") || hd_machine_has(d, "S16");
    op->item_bytes = byte ? 1 : half ? 2 : 4;
    op->count = hd_machine_has(d, "128") ? 4 : hd_machine_has(d, "64") ? 2 : 1;
    op->flags |= hd_machine_has(d, "S8") || hd_machine_has(d, "S16") ? HD_OP_SIGNED : 0;
}

static bool push_registers(hd_machine_decoder *d, const hd_machine_operand *o, bool written)
{
    bool none = o->number == HD_SASS_NO_NUMBER;
    if (o->kind != HD_MACHINE_OPERAND_REGISTER || o->negative || o->complement || hd_machine_has(d, "256"))
        return hd_machine_unsupported(d, "these operands");
    for (uint32_t k = 0; k < d->m.op.count; k++) {
        hd_ref row = none ? hd_machine_zero() : hd_machine_register_row(d, o->class, o->number + k);
        uint32_t at = hd_machine_push(d, none && written ? HD_NO_REF : row, 4);
        d->m.op.first = k ? d->m.op.first : at;
    }
    return true;
}

bool hd_machine_decode_load(hd_machine_decoder *d)
{
    const hd_machine_operand *to = hd_machine_next(d);
    set_width(d);
    if (to->kind == HD_MACHINE_OPERAND_REGISTER && to->class == HD_SASS_PREDICATE) { /* LDG P, R, [..] */
        if (to->number != HD_SASS_NO_NUMBER)
            return hd_machine_unsupported(d, "a predicate of the load");
        to = hd_machine_next(d);
    }
    return push_registers(d, to, true) && hd_machine_take_address(d, hd_machine_next(d), space_of(d)) &&
           (d->next == d->operands.count || hd_machine_unsupported(d, "these operands"));
}

bool hd_machine_decode_store(hd_machine_decoder *d)
{
    set_width(d);
    return hd_machine_take_address(d, hd_machine_next(d), space_of(d)) &&
           push_registers(d, hd_machine_next(d), false) &&
           (d->next == d->operands.count || hd_machine_unsupported(d, "these operands"));
}

void hd_machine_set_pair(hd_machine_decoder *d, const hd_machine_operand *o)
{
    if (o->number == HD_SASS_NO_NUMBER)
        return;
    d->m.split = 1;
    d->m.low = hd_machine_register_row(d, o->class, o->number);
    d->m.high = hd_machine_register_row(d, o->class, o->number + 1u);
    d->m.op.d = hd_machine_temporary(d);
    d->m.op.d_bytes = 8;
}

/* ---- atomics ----------------------------------------------------------------------------------------------------- */

static hd_type atomic_type(const hd_machine_decoder *d, bool bits)
{
    static const struct {
        const char *name;
        hd_type type;
    } types[] = {{"F64", HD_TYPE_F64},      {"F32", HD_TYPE_F32},       {"F16x2", HD_TYPE_F16X2},
                 {"F16_V2", HD_TYPE_F16X2}, {"BF16x2", HD_TYPE_BF16X2}, {"BF16_V2", HD_TYPE_BF16X2},
                 {"S32", HD_TYPE_S32},      {"S64", HD_TYPE_S64},       {"U64", HD_TYPE_U64},
                 {"64", HD_TYPE_U64},       {"U32", HD_TYPE_U32}};
    for (uint32_t i = 0; i < sizeof types / sizeof *types; i++)
        if (hd_machine_has(d, types[i].name))
            return !bits ? types[i].type : hd_types[types[i].type].bits == 64 ? HD_TYPE_B64 : HD_TYPE_B32;
    return bits ? HD_TYPE_B32 : HD_TYPE_U32;
}

static hd_combine *combine_of(const hd_machine_decoder *d, hd_type *type)
{
    static const struct {
        const char *name;
        uint16_t operation;
        bool bits;
    } operations[] = {{"ADD", HD_MOD_OP_ADD, false}, {"MIN", HD_MOD_OP_MIN, false}, {"MAX", HD_MOD_OP_MAX, false},
                      {"INC", HD_MOD_OP_INC, false}, {"DEC", HD_MOD_OP_DEC, false}, {"AND", HD_MOD_OP_AND, true},
                      {"OR", HD_MOD_OP_OR, true},    {"XOR", HD_MOD_OP_XOR, true},  {"EXCH", HD_MOD_OP_EXCH, true},
                      {"CAS", HD_MOD_OP_CAS, true},  {"CAST", HD_MOD_OP_CAS, true}};
    for (uint32_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (hd_machine_has(d, operations[i].name)) {
            *type = atomic_type(d, operations[i].bits);
            return hd_combine_find(operations[i].operation, *type);
        }
    return NULL;
}

/* [p,] [d,] address, b [, c]: RED has no result. */
bool hd_machine_decode_atomic(hd_machine_decoder *d)
{
    hd_op *op = &d->m.op;
    hd_type type = HD_TYPE_U32;
    bool count = hd_machine_has(d, "POPC"); /* POPC.INC: adds one for each lane */
    op->use.combine = count ? hd_combine_find(HD_MOD_OP_ADD, HD_TYPE_U32) : combine_of(d, &type);
    if (!op->use.combine)
        return hd_machine_unsupported(d, "this operation");
    uint8_t bytes = hd_types[type].bits / 8;
    const hd_machine_operand *o = hd_machine_next(d);
    if (o->kind == HD_MACHINE_OPERAND_REGISTER && o->class == HD_SASS_PREDICATE) {
        if (o->number != HD_SASS_NO_NUMBER)
            return hd_machine_unsupported(d, "a predicate of the result");
        o = hd_machine_next(d);
    }
    if (o->kind == HD_MACHINE_OPERAND_REGISTER) {
        bool none = o->number == HD_SASS_NO_NUMBER;
        hd_ref row = none ? HD_NO_REF : hd_machine_register_row(d, o->class, o->number);
        op->d = row;
        if (!none && bytes == 8) {
            d->m.split = 1;
            d->m.low = row;
            d->m.high = hd_machine_register_row(d, o->class, o->number + 1u);
            op->d = hd_machine_temporary(d);
        }
        op->flags |= none ? 0 : HD_OP_RESULT;
        o = hd_machine_next(d);
    }
    op->item_bytes = op->a_bytes = op->d_bytes = bytes;
    op->count = 1;
    op->flags |= hd_machine_has(d, "FTZ") ? HD_OP_FTZ : 0;
    if (!hd_machine_take_address(d, o, space_of(d)))
        return false;
    op->b = count ? hd_machine_constant(d, 1, 4) : hd_machine_source(d, hd_machine_next(d), bytes == 8 ? 'I' : 'i');
    op->c = HD_NO_REF;
    if (d->next < d->operands.count)
        op->c = hd_machine_source(d, hd_machine_next(d), bytes == 8 ? 'I' : 'i');
    if (op->space != HD_SPACE_SHARED)
        op->flags |= HD_OP_ORDERED;
    if (hd_machine_has(d, "CAST"))
        op->run = hd_machine_run_swap;
    return d->next == d->operands.count || hd_machine_unsupported(d, "these operands");
}

/* ---- constant banks ---------------------------------------------------------------------------------------------- */

/* LDC d, c[bank][register + offset]. Without a register the values are rows that are filled at the launch. */
bool hd_machine_decode_bank(hd_machine_decoder *d)
{
    hd_op *op = &d->m.op;
    const hd_machine_operand *to = hd_machine_next(d), *from = hd_machine_next(d);
    set_width(d);
    d->m.uniform = to->class == HD_SASS_UNIFORM;
    if (from->kind != HD_MACHINE_OPERAND_CONSTANT || d->next != d->operands.count || !push_registers(d, to, true))
        return hd_machine_unsupported(d, "these operands");
    bool plain = from->base == HD_SASS_NO_NUMBER && from->uniform == HD_SASS_NO_NUMBER && op->item_bytes == 4;
    if (plain) {
        for (uint32_t k = 0; k < op->count; k++)
            hd_machine_push(d, hd_machine_bank_row(d, from->bank, from->offset + 4 * k, 4), 4);
        return true;
    }
    op->run = hd_machine_run_bank;
    op->a = hd_machine_register_row(d, HD_SASS_GENERAL, from->base);
    op->b = hd_machine_register_row(d, HD_SASS_UNIFORM, from->uniform);
    op->offset = from->offset;
    op->target = from->bank;
    return true;
}
