/* Decodes texture and surface instructions. Unsupported, and reported: textures in the .tex space or named as kernel
 * parameters, offsets in cubes and multisample textures, comparison in 3D and multisample ones and by index, which the
 * ISA does not define. Levels and gradients are accepted: a texture has one level, so they have no effect. */
#include "hwmodel/exec/ops/texture.h"
#include "hwmodel/exec/decode/decoder.h"

static hd_texture_use *new_use(hd_decoder *d)
{
    hd_texture_use *use = HD_ARENA_NEW(&d->program->arena, hd_texture_use);
    d->op->use.detail = use;
    use->type = (uint8_t)hd_decode_type(d, 0);
    return use;
}

static bool set_geometry(hd_decoder *d, hd_texture_use *use)
{
    switch (hd_decode_modifier(d, HD_GROUP_GEOMETRY)) {
    case HD_MOD_GEOMETRY_1D: use->geometry = HD_TEXTURE_1D; return true;
    case HD_MOD_GEOMETRY_2D: use->geometry = HD_TEXTURE_2D; return true;
    case HD_MOD_GEOMETRY_3D: use->geometry = HD_TEXTURE_3D; return true;
    case HD_MOD_GEOMETRY_A1D: use->geometry = HD_TEXTURE_A1D; return true;
    case HD_MOD_GEOMETRY_A2D: use->geometry = HD_TEXTURE_A2D; return true;
    case HD_MOD_GEOMETRY_CUBE: use->geometry = HD_TEXTURE_CUBE; return true;
    case HD_MOD_GEOMETRY_ACUBE: use->geometry = HD_TEXTURE_ACUBE; return true;
    case HD_MOD_GEOMETRY_2DMS: use->geometry = HD_TEXTURE_2DMS; return true;
    case HD_MOD_GEOMETRY_A2DMS: use->geometry = HD_TEXTURE_A2DMS; return true;
    default: return hd_decode_unsupported(d, NULL);
    }
}

/* The row of a handle: of a register, or the address of a module's variable. */
static bool set_handle(hd_decoder *d, const hd_operand *o, hd_ref *row)
{
    const hd_symbol *s = o->kind == HD_OPERAND_SYMBOL ? &d->module->symbols.items[o->value] : NULL;
    if (s && (s->kind != HD_SYMBOL_VARIABLE || s->space != HD_SPACE_GLOBAL))
        return hd_decode_unsupported(d, "a texture that is no .global variable");
    if (o->kind == HD_OPERAND_REGISTER && hd_register_lane_bytes(d->function, o->value) != 8)
        return hd_decode_unsupported(d, "a handle of this width");
    *row = hd_decode_source(d, o, HD_TYPE_B64);
    return *row != HD_NO_REF;
}

/* [handle, (sampler,) coordinates]; coordinates NULL: [handle]. */
static bool set_coordinates(hd_decoder *d, const hd_operand *address, hd_texture_use *use, hd_type type)
{
    uint32_t first;
    const hd_operand *o = address + 1;
    d->op->b = HD_NO_REF;
    if (address->kind != HD_OPERAND_ADDRESS || address->count < 1 || !set_handle(d, o, &d->op->a))
        return address->kind == HD_OPERAND_ADDRESS || hd_decode_unsupported(d, NULL);
    if (address->count == 1)
        return true;
    o += hd_operand_extent(o);
    if (address->count == 3) {
        if (!set_handle(d, o, &d->op->b))
            return false;
        o += hd_operand_extent(o);
    }
    use->coordinates = (uint8_t)hd_decode_elements(d, o, type, false, &first);
    return true;
}

static bool is_float_operand(const hd_decoder *d, const hd_operand *o)
{
    hd_type type = HD_TYPE_NONE;
    if (o->kind == HD_OPERAND_REGISTER)
        type = (hd_type)d->function->registers.items[o->value].type;
    else if (o->kind == HD_OPERAND_LITERAL)
        return d->module->literals.items[o->value].kind >= HD_LITERAL_F32_BITS;
    return hd_types[type].class == HD_CLASS_FLOAT;
}

/* Checks that the ISA defines the offsets and comparisons. */
static bool check_extras(hd_decoder *d, const hd_texture_use *use)
{
    bool cube = use->geometry == HD_TEXTURE_CUBE || use->geometry == HD_TEXTURE_ACUBE;
    bool samples = use->geometry == HD_TEXTURE_2DMS || use->geometry == HD_TEXTURE_A2DMS;
    if (use->offsets && (cube || samples))
        return hd_decode_unsupported(d, "an offset in a texture of this geometry");
    if (samples && !use->integer)
        return hd_decode_unsupported(d, "multisample textures by coordinates that are not .s32");
    if (use->compare && (samples || use->integer || use->geometry == HD_TEXTURE_3D))
        return hd_decode_unsupported(d, use->integer ? "a depth comparison by .s32 coordinates"
                                                     : "a depth comparison in a texture of this geometry");
    return true;
}

/* Optional operands: a level or two gradients, then offsets, then the depth to compare with. */
static bool set_extras(hd_decoder *d, hd_texture_use *use)
{
    uint16_t lod = hd_decode_modifier(d, HD_GROUP_LOD);
    uint32_t at = 2 + (lod == HD_MOD_LOD_LEVEL) + 2 * (lod == HD_MOD_LOD_GRAD), first;
    bool vector = at < d->operand_count && d->operands[at]->kind == HD_OPERAND_VECTOR;
    bool one_dimension = use->geometry == HD_TEXTURE_1D || use->geometry == HD_TEXTURE_A1D;
    if (at < d->operand_count && one_dimension) /* an offset or a depth: distinguished by their type */
        vector = vector || at + 2 == d->operand_count || !is_float_operand(d, d->operands[at]);
    d->op->f = HD_NO_REF;
    if (vector)
        use->offsets = (uint8_t)hd_decode_elements(d, d->operands[at++], HD_TYPE_S32, false, &first);
    if (at < d->operand_count) {
        use->compare = true;
        d->op->f = hd_decode_source(d, d->operands[at++], HD_TYPE_F32);
        if (d->op->f == HD_NO_REF)
            return false;
    }
    return at >= d->operand_count ? check_extras(d, use) : hd_decode_unsupported(d, NULL);
}

bool hd_decode_texture(hd_decoder *d)
{
    hd_op *op = d->op;
    const hd_operand *to = d->operands[0];
    hd_texture_use *use = new_use(d);
    bool pair = to->kind == HD_OPERAND_PAIR;
    hd_type coordinates = hd_decode_type(d, 1);
    op->run = hd_run_texture;
    if (!HD_DECODE_ONLY(d, HD_GROUP_GEOMETRY, HD_GROUP_VECTOR, HD_GROUP_LOD, HD_GROUP_COMPONENT))
        return hd_decode_unsupported(d, NULL);
    to += pair;
    op->count = hd_decode_elements(d, to, (hd_type)use->type, true, &op->first);
    op->e = pair ? hd_decode_destination(d, to + hd_operand_extent(to)) : HD_NO_REF;
    use->integer = coordinates == HD_TYPE_S32;
    use->gather = d->form->opcode == HD_OP_TLD4;
    if (use->gather)
        use->component = (uint8_t)(hd_decode_modifier(d, HD_GROUP_COMPONENT) - HD_MOD_COMPONENT_R);
    return set_geometry(d, use) && set_coordinates(d, d->operands[1], use, coordinates) && set_extras(d, use);
}

bool hd_decode_texture_query(hd_decoder *d)
{
    hd_op *op = d->op;
    hd_texture_use *use = new_use(d);
    op->run = hd_run_texture_query;
    use->query = hd_decode_modifier(d, HD_GROUP_QUERY);
    if (!HD_DECODE_ONLY(d, HD_GROUP_QUERY, HD_GROUP_LOD))
        return hd_decode_unsupported(d, NULL);
    op->d = hd_decode_destination(d, d->operands[0]);
    if (!set_coordinates(d, d->operands[1], use, HD_TYPE_S32))
        return false;
    op->c = d->operand_count > 2 ? hd_decode_source(d, d->operands[2], HD_TYPE_S32) : HD_NO_REF;
    return true;
}

bool hd_decode_texture_type(hd_decoder *d)
{
    hd_op *op = d->op;
    new_use(d);
    op->run = hd_run_texture_type;
    op->d = hd_decode_destination(d, d->operands[0]);
    return set_handle(d, d->operands[1], &op->a);
}

/* ---- surfaces ---------------------------------------------------------------------------------------------------- */

static bool set_surface(hd_decoder *d, const hd_operand *address, const hd_operand *values, bool load)
{
    hd_op *op = d->op;
    hd_texture_use *use = new_use(d);
    hd_type type = hd_decode_type(d, 0);
    op->item_bytes = (uint8_t)(hd_types[type].bits / 8);
    use->bounds = (uint8_t)(HD_SURFACE_TRAP + hd_decode_modifier(d, HD_GROUP_BOUNDS) - HD_MOD_BOUNDS_TRAP);
    use->formatted = hd_decode_modifier(d, HD_GROUP_ACCESS) == HD_MOD_ACCESS_P;
    use->integer = true;
    d->program->surfaces = true;
    if (!HD_DECODE_ONLY(d, HD_GROUP_GEOMETRY, HD_GROUP_VECTOR, HD_GROUP_ACCESS, HD_GROUP_BOUNDS, HD_GROUP_OP))
        return hd_decode_unsupported(d, NULL);
    op->count = hd_decode_elements(d, values, type, load, &op->first);
    return set_geometry(d, use) && set_coordinates(d, address, use, HD_TYPE_S32);
}

bool hd_decode_surface_load(hd_decoder *d)
{
    d->op->run = hd_run_surface_load;
    return set_surface(d, d->operands[1], d->operands[0], true);
}

bool hd_decode_surface_store(hd_decoder *d)
{
    bool formatted = hd_decode_modifier(d, HD_GROUP_ACCESS) == HD_MOD_ACCESS_P;
    d->op->run = formatted ? hd_run_surface_format : hd_run_surface_store;
    return set_surface(d, d->operands[0], d->operands[1], false);
}

bool hd_decode_surface_reduce(hd_decoder *d)
{
    uint16_t operation = hd_decode_modifier(d, HD_GROUP_OP);
    hd_type type = hd_decode_type(d, 0);
    bool bits = operation == HD_MOD_OP_AND || operation == HD_MOD_OP_OR;
    d->op->run = hd_run_surface_reduce;
    if (!set_surface(d, d->operands[0], d->operands[1], false))
        return false;
    hd_texture_use *use = (hd_texture_use *)(uintptr_t)d->op->use.detail;
    bool wide = hd_types[type].bits == 64;
    hd_type plain = bits ? wide ? HD_TYPE_B64 : HD_TYPE_B32 : type;
    use->combine[0] = hd_combine_find(operation, use->formatted && !bits ? HD_TYPE_U32 : plain);
    use->combine[1] = hd_combine_find(operation, use->formatted && !bits ? HD_TYPE_S32 : plain);
    if (!use->combine[1] && operation == HD_MOD_OP_ADD) /* addition does not depend on the sign */
        use->combine[1] = use->combine[0] = hd_combine_find(operation, wide ? HD_TYPE_U64 : HD_TYPE_U32);
    return (use->combine[0] && use->combine[1]) || hd_decode_unsupported(d, NULL);
}
