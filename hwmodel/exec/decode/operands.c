/* Operands as rows: registers, immediates (a row of equal values for each distinct value), special registers,
 * addresses. */
#include "hwmodel/exec/decode/decoder.h"
#include "hwmodel/exec/ops/special.h"
#include <stdio.h>

static uint32_t type_lane_bytes(hd_type t)
{
    return t == HD_TYPE_PRED ? 0 : hd_types[t].bits <= 16 ? 2 : hd_types[t].bits / 8u;
}

uint32_t hd_decode_lane_bytes(const hd_decoder *d, const hd_operand *o, hd_type type)
{
    return o->kind == HD_OPERAND_REGISTER ? hd_register_lane_bytes(d->function, o->value) : type_lane_bytes(type);
}

/* ---- constants --------------------------------------------------------------------------------------------------- */

static hd_constant_slot *find_slot(const hd_decoder *d, uint64_t value, uint32_t bytes)
{
    uint32_t i = (uint32_t)((value ^ value >> 32) * 0x9E3779B1u + bytes);
    hd_constant_slot *s = &d->constant_slots[i & d->constant_mask];
    while (s->bytes != HD_NONE && (s->value != value || s->bytes != bytes))
        s = &d->constant_slots[++i & d->constant_mask];
    return s;
}

static void grow_slots(hd_decoder *d)
{
    hd_constant_slot *old = d->constant_slots;
    uint32_t old_count = old ? d->constant_mask + 1 : 0, count = old ? 2 * old_count : 64;
    d->constant_slots = hd_malloc(count * sizeof *old);
    d->constant_mask = count - 1;
    for (uint32_t i = 0; i < count; i++)
        d->constant_slots[i].bytes = HD_NONE;
    for (uint32_t i = 0; i < old_count; i++)
        if (old[i].bytes != HD_NONE)
            *find_slot(d, old[i].value, old[i].bytes) = old[i];
    free(old);
}

hd_ref hd_decode_constant(hd_decoder *d, uint64_t value, uint32_t bytes)
{
    if (!d->constant_slots || 2 * d->constant_count > d->constant_mask)
        grow_slots(d);
    hd_constant_slot *s = find_slot(d, value, bytes);
    if (s->bytes == HD_NONE) {
        uint32_t size = bytes ? bytes * LANES : 64;
        *s = (hd_constant_slot){value, bytes, HD_REF(HD_REF_CONSTANT, d->code->constants.count)};
        d->constant_count++;
        unsigned char *row = hd_array_extend(&d->code->constants, size);
        uint32_t piece = hd_min(bytes, 8);
        memset(row, 0, size);
        for (uint32_t i = 0; i < LANES && bytes; i++)
            memcpy(row + (size_t)i * piece, &value, piece);
        if (!bytes)
            memset(row, value ? 0xff : 0, 4);
    }
    return s->ref;
}

/* Floats in the format of the type; integers and bit patterns unchanged. */
uint64_t hd_decode_literal(const hd_decoder *d, const hd_operand *o, hd_type type)
{
    const hd_literal *l = &d->module->literals.items[o->value];
    bool is_double = l->kind == HD_LITERAL_F64_BITS || l->kind == HD_LITERAL_DECIMAL;
    uint64_t bits = l->bits;
    double wide;
    float narrow;
    if (is_double && type == HD_TYPE_F32) {
        memcpy(&wide, &bits, 8);
        narrow = (float)wide;
        bits = 0;
        memcpy(&bits, &narrow, 4);
    } else if (l->kind == HD_LITERAL_F32_BITS && type == HD_TYPE_F64) {
        memcpy(&narrow, &bits, 4);
        wide = narrow;
        memcpy(&bits, &wide, 8);
    }
    uint32_t unused = hd_types[type].bits < 64 ? 64u - hd_types[type].bits : 0;
    return type == HD_TYPE_PRED ? bits != 0 : bits << unused >> unused;
}

/* ---- special registers ------------------------------------------------------------------------------------------- */

static hd_ref special_row(hd_decoder *d, const hd_operand *o, uint32_t bytes)
{
    hd_program *p = d->program;
    uint32_t component = o->extra == HD_NONE ? 0 : o->extra, size = bytes ? bytes * LANES : 64;
    const hd_sreg_info *info = &hd_sregs[o->value];
    if (!hd_special_known((hd_sreg)o->value)) {
        char why[96];
        snprintf(why, sizeof why, "the special register %%%s", info->spelling);
        return hd_decode_unsupported(d, why), HD_NO_REF;
    }
    for (uint32_t i = 0; i < p->specials.count; i++) {
        const hd_special *s = &p->specials.items[i];
        if (s->sreg == o->value && s->component == component && s->bytes == bytes)
            return HD_REF(HD_REF_SPECIAL, s->offset);
    }
    p->reserves_shared =
        p->reserves_shared || (o->value >= HD_SREG_RESERVED_SMEM_BEGIN && o->value <= HD_SREG_RESERVED_SMEM_1);
    hd_special s = {(uint8_t)o->value, (uint8_t)component, (uint8_t)bytes, info->varies, p->special_bytes};
    hd_array_push(&p->specials, s);
    p->special_bytes += size;
    return HD_REF(HD_REF_SPECIAL, s.offset);
}

/* ---- sources and destinations ------------------------------------------------------------------------------------ */

hd_ref hd_decode_source(hd_decoder *d, const hd_operand *o, hd_type type)
{
    uint64_t address;
    uint32_t bytes = type_lane_bytes(type);
    switch ((hd_operand_kind)o->kind) {
    case HD_OPERAND_REGISTER:
        if (hd_operand_selector(d->function, o) && d->function->registers.items[o->value].vector == 1)
            break;
        return HD_REF(HD_REF_FRAME, d->register_offset[o->value]);
    case HD_OPERAND_LITERAL: return hd_decode_constant(d, hd_decode_literal(d, o, type), bytes);
    case HD_OPERAND_SREG: return special_row(d, o, bytes);
    case HD_OPERAND_SYMBOL:
    case HD_OPERAND_ADDRESS: {
        hd_decoded_address place;
        if (hd_decode_variable(d, o, &place) && hd_decode_symbol(d, place.base->value, &address)) {
            address += (uint64_t)place.offset;
            return hd_decode_constant(d, bytes == 4 ? (uint32_t)address : address, bytes);
        }
        break;
    }
    case HD_OPERAND_LABEL:
    case HD_OPERAND_TABLE:
    case HD_OPERAND_SINK:
    case HD_OPERAND_NAME:
    case HD_OPERAND_VECTOR:
    case HD_OPERAND_PAIR:
    case HD_OPERAND_LIST: break;
    }
    hd_decode_unsupported(d, "an operand of this kind");
    return HD_NO_REF;
}

hd_ref hd_decode_destination(hd_decoder *d, const hd_operand *o)
{
    if (o->kind == HD_OPERAND_REGISTER)
        return HD_REF(HD_REF_FRAME, d->register_offset[o->value]);
    if (o->kind != HD_OPERAND_SINK)
        hd_decode_unsupported(d, "a destination of this kind");
    return HD_NO_REF;
}

hd_ref hd_decode_predicate(hd_decoder *d, const hd_operand *o, uint16_t inverted)
{
    if (o->flags & HD_OPERAND_NOT)
        d->op->flags |= inverted;
    return hd_decode_source(d, o, HD_TYPE_PRED);
}

uint32_t hd_decode_push(hd_decoder *d, hd_ref ref, uint32_t bytes)
{
    hd_array_push(&d->code->refs, ref);
    hd_array_push(&d->code->widths, (uint8_t)bytes);
    return d->code->refs.count - 1;
}

uint32_t hd_decode_elements(hd_decoder *d, const hd_operand *o, hd_type type, bool destination, uint32_t *first)
{
    uint32_t count = o->kind == HD_OPERAND_VECTOR ? o->count : 1;
    const hd_operand *element = o->kind == HD_OPERAND_VECTOR ? o + 1 : o;
    *first = d->code->refs.count;
    for (uint32_t i = 0; i < count; i++, element += hd_operand_extent(element)) {
        uint32_t bytes = hd_decode_lane_bytes(d, element, type);
        hd_ref ref = destination ? hd_decode_destination(d, element) : hd_decode_source(d, element, type);
        hd_decode_push(d, ref, bytes);
    }
    return count;
}

/* ---- symbols and addresses --------------------------------------------------------------------------------------- */

bool hd_decode_symbol(hd_decoder *d, uint32_t symbol, uint64_t *address)
{
    const hd_symbol *s = &d->module->symbols.items[symbol];
    if (hd_decode_frame_offset(d, symbol) != HD_NONE)
        return false;
    if (s->kind == HD_SYMBOL_FUNCTION || s->space == HD_SPACE_GLOBAL || s->space == HD_SPACE_CONST) {
        *address = d->program->image->addresses[symbol];
        return true;
    }
    *address = d->symbol_offset[symbol];
    return d->symbol_offset[symbol] != HD_NONE;
}

uint32_t hd_decode_frame_offset(const hd_decoder *d, uint32_t symbol)
{
    const hd_symbol *s = &d->module->symbols.items[symbol];
    if (s->space == HD_SPACE_SHARED || s->space == HD_SPACE_GLOBAL || s->space == HD_SPACE_CONST ||
        s->kind == HD_SYMBOL_FUNCTION)
        return HD_NONE;
    if (s->kind == HD_SYMBOL_PARAMETER && d->function->is_entry)
        return HD_NONE;
    return d->symbol_offset[symbol];
}

/* The LITERAL that follows an operand with an offset. */
static int64_t literal_behind(const hd_decoder *d, const hd_operand *o)
{
    return (int64_t)d->module->literals.items[o[1].value].bits;
}

bool hd_decode_variable(const hd_decoder *d, const hd_operand *o, hd_decoded_address *address)
{
    const hd_operand *base = o->kind == HD_OPERAND_ADDRESS && o->flags & HD_OPERAND_BARE ? o + 1 : o;
    if (base->kind != HD_OPERAND_SYMBOL)
        return false;
    *address = (hd_decoded_address){base, base->count ? literal_behind(d, base) : 0};
    if (base == o)
        return true;
    const hd_symbol *s = &d->module->symbols.items[base->value];
    const hd_operand *index = base + hd_operand_extent(base);
    if (o->count != 2 || index->kind != HD_OPERAND_LITERAL)
        return false;
    uint64_t element_bytes = hd_types[s->type].bits / 8u * s->vector;
    address->offset = (int64_t)(d->module->literals.items[index->value].bits * element_bytes);
    return true;
}

bool hd_decode_address(hd_decoder *d, const hd_operand *o, hd_decoded_address *address)
{
    if (o->kind != HD_OPERAND_ADDRESS || !o->count)
        return hd_decode_unsupported(d, "an address of this kind");
    const hd_operand *base = o + 1;
    *address = (hd_decoded_address){base, 0};
    if (o->flags & HD_OPERAND_BARE)
        return hd_decode_variable(d, o, address) || hd_decode_unsupported(d, "a subscript of this kind");
    if (o->count != 1)
        return hd_decode_unsupported(d, "an address of this kind");
    if (base->count)
        address->offset = literal_behind(d, base);
    return true;
}
