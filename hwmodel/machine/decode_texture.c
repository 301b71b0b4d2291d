/* Completes textures and surfaces.
 *
 * Values are in two vectors of registers, which the text names by their first ones: coordinates (of arrays the layer
 * first), then the handle (.B), the level (.LL, .LB), packed offsets (.AOFFI) and the depth to compare with (.DC). The
 * second vector begins after the coordinates; with .SCR after half of all, rounded up. TXD has gradients there, and the
 * layer after the coordinates. Results are in two vectors of two. Levels and gradients have no effect: a texture has
 * one level.
 *
 * A handle in a constant bank or a register has the lower word only, of which the upper one is the same for all. */
#include "hwmodel/exec/ops/texture.h"
#include "hwmodel/machine/decoder.h"

enum { MOST_VALUES = 16, COMPONENTS = 4 };

static const struct dimension {
    const char *name, *of_surface;
    uint8_t geometry, coordinates;
    bool layered;
} dimensions[] = {
    {"1D", "1D", HD_TEXTURE_1D, 1, false},
    {"2D", "2D", HD_TEXTURE_2D, 2, false},
    {"3D", "3D", HD_TEXTURE_3D, 3, false},
    {"CUBE", "", HD_TEXTURE_CUBE, 3, false},
    {"ARRAY_1D", "1D_ARRAY", HD_TEXTURE_A1D, 1, true},
    {"ARRAY_2D", "2D_ARRAY", HD_TEXTURE_A2D, 2, true},
    {"ARRAY_CUBE", "", HD_TEXTURE_ACUBE, 3, true},
};
enum { DIMENSIONS = sizeof dimensions / sizeof *dimensions };

static hd_texture_use *new_use(hd_machine_decoder *d)
{
    hd_texture_use *use = HD_ARENA_NEW(&d->program->arena, hd_texture_use);
    use->type = HD_TYPE_NONE; /* the texture says it */
    d->m.op.use.detail = use;
    d->m.op.b = d->m.op.c = d->m.op.f = HD_NO_REF;
    return use;
}

static hd_ref handle_row(hd_machine_decoder *d, hd_ref low)
{
    hd_machine_step step = {.kind = HD_STEP_PAIR, .a = low, .to = hd_machine_temporary(d)};
    step.b = hd_machine_constant(d, HD_TEXTURE_FIRST_HANDLE >> 32, 4);
    hd_machine_add_step(d, step);
    return step.to;
}

/* The handle that operands name: a bank and the number of a word in it, or a uniform register, after which older code
 * has a zero; or else a register. */
static bool take_handle(hd_machine_decoder *d)
{
    const hd_machine_operand *o = hd_machine_next(d);
    hd_ref low = HD_NO_REF;
    if (o->kind == HD_MACHINE_OPERAND_INTEGER)
        low = hd_machine_bank_row(d, (uint32_t)o->bits, (int64_t)hd_machine_next(d)->bits * 4, 4);
    else if (o->kind == HD_MACHINE_OPERAND_REGISTER)
        low = hd_machine_source(d, o, 'i');
    else
        return hd_machine_unsupported(d, "these operands");
    if (o->kind == HD_MACHINE_OPERAND_REGISTER && o->class == HD_SASS_UNIFORM && d->next < d->operands.count &&
        d->operands.items[d->next].kind == HD_MACHINE_OPERAND_INTEGER && !d->operands.items[d->next].bits)
        d->next++;
    d->m.op.a = handle_row(d, low);
    return true;
}

static const struct dimension *take_dimension(hd_machine_decoder *d)
{
    const hd_machine_operand *o = hd_machine_next(d);
    for (uint32_t i = 0; i < DIMENSIONS; i++)
        if (o->kind == HD_MACHINE_OPERAND_WORD && hd_machine_operand_is(o, dimensions[i].name))
            return &dimensions[i];
    hd_machine_unsupported(d, "a texture of this geometry");
    return NULL;
}

/* The components that the mask selects, in their order, two in each vector. */
static void push_results(hd_machine_decoder *d, const hd_machine_operand *upper, const hd_machine_operand *lower,
                         uint32_t mask)
{
    uint32_t given = 0;
    d->m.op.count = COMPONENTS;
    for (uint32_t i = 0; i < COMPONENTS; i++) {
        const hd_machine_operand *o = given < 2 ? lower : upper;
        bool none = !(mask >> i & 1) || o->number == HD_SASS_NO_NUMBER;
        hd_ref row = none ? HD_NO_REF : hd_machine_register_row(d, HD_SASS_GENERAL, o->number + (given & 1));
        uint32_t at = hd_machine_push(d, row, 4);
        d->m.op.first = i ? d->m.op.first : at;
        given += mask >> i & 1;
    }
}

/* Rows of the values of both vectors, in order. */
static uint32_t list_values(hd_machine_decoder *d, const hd_machine_operand *first, const hd_machine_operand *second,
                            uint32_t in_first, uint32_t count, hd_ref *rows)
{
    for (uint32_t i = 0; i < count; i++) {
        const hd_machine_operand *o = i < in_first ? first : second;
        if (!o) {
            hd_machine_unsupported(d, "these operands");
            return 0;
        }
        uint32_t number = o->number == HD_SASS_NO_NUMBER ? o->number : o->number + (i < in_first ? i : i - in_first);
        rows[i] = hd_machine_register_row(d, HD_SASS_GENERAL, number);
    }
    return count;
}

/* Of four bits each; of TLD4, of six in a byte each. */
static void push_offsets(hd_machine_decoder *d, hd_ref packed, const hd_texture_use *use)
{
    for (uint32_t i = 0; i < use->offsets; i++) {
        hd_machine_step step = {.kind = HD_STEP_FIELD, .a = packed, .to = hd_machine_temporary(d)};
        step.value = (use->gather ? 8 : 4) * i;
        step.mask = use->gather ? 6 : 4;
        hd_machine_add_step(d, step);
        hd_machine_push(d, step.to, 4);
    }
}

static bool is_general(const hd_machine_operand *o)
{
    return o->kind == HD_MACHINE_OPERAND_REGISTER && o->class == HD_SASS_GENERAL;
}

/* TEX d2, d, a[, b][, handle], geometry[, mask]. */
bool hd_machine_decode_texture(hd_machine_decoder *d)
{
    hd_op *op = &d->m.op;
    hd_texture_use *use = new_use(d);
    const char *opcode = d->row->opcode;
    const hd_machine_operand *upper = hd_machine_next(d), *lower = hd_machine_next(d), *a = hd_machine_next(d);
    const hd_machine_operand *b = is_general(&d->operands.items[d->next]) ? hd_machine_next(d) : NULL;
    bool by_register = hd_machine_has(d, "B") && !strstr(hd_machine_spelling(d), "TLD4.B");
    if (strcmp(opcode, "TLD4") == 0) { /* the component is the first word after the name, or after .SCR */
        static const char *const components[] = {"R", "G", "B", "A"};
        const char *at = hd_machine_spelling(d) + strlen(opcode);
        at += strncmp(at, ".SCR", 4) == 0 ? 4 : 0;
        for (uint32_t i = 0; i < COMPONENTS; i++)
            use->component = at[1] == *components[i] ? (uint8_t)i : use->component;
        by_register = strstr(at + 1, ".B") != NULL;
        use->gather = true;
    }
    if (!is_general(upper) || !is_general(lower) || !is_general(a) || (!by_register && !take_handle(d)))
        return hd_machine_unsupported(d, "these operands");
    const struct dimension *dimension = take_dimension(d);
    uint32_t mask = d->next < d->operands.count ? (uint32_t)hd_machine_next(d)->bits : 15;
    if (!dimension || d->next != d->operands.count)
        return hd_machine_unsupported(d, "these operands");
    bool level = hd_machine_has(d, "LL") || hd_machine_has(d, "LB"), gradients = strcmp(opcode, "TXD") == 0;
    bool offsets = hd_machine_has(d, "AOFFI"), compare = hd_machine_has(d, "DC");
    if (gradients && (by_register || offsets || compare))
        return hd_machine_unsupported(d, "gradients with more operands");
    uint32_t coordinates = dimension->coordinates + dimension->layered, at = coordinates;
    uint32_t count = coordinates + by_register + level + offsets + compare;
    bool halved = hd_machine_has(d, "SCR");
    hd_ref rows[MOST_VALUES];
    if (!list_values(d, a, b, halved ? (count + 1) / 2 : coordinates, count, rows))
        return false;
    if (gradients && dimension->layered) { /* there the layer comes last */
        hd_ref layer = rows[coordinates - 1];
        memmove(rows + 1, rows, (coordinates - 1) * sizeof *rows);
        rows[0] = layer;
    }
    push_results(d, upper, lower, mask);
    use->geometry = dimension->geometry;
    use->integer = strcmp(opcode, "TLD") == 0;
    use->coordinates = (uint8_t)coordinates;
    for (uint32_t i = 0; i < coordinates; i++)
        hd_machine_push(d, rows[i], 4);
    if (by_register)
        op->a = handle_row(d, rows[at++]);
    at += level;
    if (offsets) {
        use->offsets = dimension->coordinates;
        push_offsets(d, rows[at++], use);
    }
    use->compare = compare;
    op->f = compare ? rows[at] : HD_NO_REF;
    return true;
}

/* TXQ d2, d, a, TEX_HEADER_DIMENSION[, handle], mask: one of width, height and depth, of the level in a; with .B that
 * is in the register after the handle's. */
bool hd_machine_decode_texture_query(hd_machine_decoder *d)
{
    hd_op *op = &d->m.op;
    hd_texture_use *use = new_use(d);
    const hd_machine_operand *upper = hd_machine_next(d), *to = hd_machine_next(d), *a = hd_machine_next(d);
    bool by_register = hd_machine_has(d, "B");
    d->next++;
    if (!is_general(to) || !is_general(a) || upper->number != HD_SASS_NO_NUMBER || (!by_register && !take_handle(d)))
        return hd_machine_unsupported(d, "these operands");
    if (by_register)
        op->a = handle_row(d, hd_machine_register_row(d, HD_SASS_GENERAL, a->number));
    uint64_t mask = hd_machine_next(d)->bits;
    if (mask != 1 && mask != 2 && mask != 4)
        return hd_machine_unsupported(d, "what is asked for");
    use->query = mask == 1 ? HD_MOD_QUERY_WIDTH : mask == 2 ? HD_MOD_QUERY_HEIGHT : HD_MOD_QUERY_DEPTH;
    op->c = hd_machine_register_row(d, HD_SASS_GENERAL,
                                    a->number == HD_SASS_NO_NUMBER ? a->number : a->number + by_register);
    op->d = to->number == HD_SASS_NO_NUMBER ? HD_NO_REF : hd_machine_register_row(d, HD_SASS_GENERAL, to->number);
    return d->next == d->operands.count || hd_machine_unsupported(d, "these operands");
}

/* ---- surfaces ---------------------------------------------------------------------------------------------------- */

/* SULD d, [a], handle; SUST [a], b, handle. The layer comes after the coordinates. */
bool hd_machine_decode_surface(hd_machine_decoder *d)
{
    hd_op *op = &d->m.op;
    hd_texture_use *use = new_use(d);
    const struct dimension *dimension = NULL;
    bool load = strcmp(d->row->opcode, "SULD") == 0, formatted = hd_machine_has(d, "P");
    const hd_machine_operand *first = hd_machine_next(d), *second = hd_machine_next(d);
    const hd_machine_operand *value = load ? first : second, *at = load ? second : first;
    for (uint32_t i = 0; i < DIMENSIONS; i++)
        if (*dimensions[i].of_surface && hd_machine_has(d, dimensions[i].of_surface))
            dimension = &dimensions[i];
    if (!dimension || !is_general(value) || at->kind != HD_MACHINE_OPERAND_ADDRESS || at->offset || !take_handle(d) ||
        d->next != d->operands.count)
        return hd_machine_unsupported(d, "these operands");
    op->item_bytes = hd_machine_has(d, "U8") ? 1 : hd_machine_has(d, "U16") ? 2 : 4;
    op->count = hd_machine_has(d, "128") ? 4 : hd_machine_has(d, "64") ? 2 : 1;
    if (formatted)
        op->count = hd_machine_has(d, "R") ? 1 : hd_machine_has(d, "RG") ? 2 : 4;
    for (uint32_t k = 0; k < op->count; k++) {
        bool none = value->number == HD_SASS_NO_NUMBER;
        hd_ref row = none ? hd_machine_zero() : hd_machine_register_row(d, HD_SASS_GENERAL, value->number + k);
        uint32_t pushed = hd_machine_push(d, none && load ? HD_NO_REF : row, 4);
        op->first = k ? op->first : pushed;
    }
    if (dimension->layered)
        hd_machine_push(d, hd_machine_register_row(d, HD_SASS_GENERAL, at->base + dimension->coordinates), 4);
    for (uint32_t k = 0; k < dimension->coordinates; k++)
        hd_machine_push(
            d, hd_machine_register_row(d, HD_SASS_GENERAL, at->base == HD_SASS_NO_NUMBER ? at->base : at->base + k), 4);
    use->geometry = dimension->geometry;
    use->coordinates = (uint8_t)(dimension->coordinates + dimension->layered);
    use->integer = true;
    use->formatted = formatted;
    use->bounds = hd_machine_has(d, "TRAP")  ? HD_SURFACE_TRAP
                  : hd_machine_has(d, "IGN") ? HD_SURFACE_ZERO
                                             : HD_SURFACE_CLAMP;
    d->program->surfaces = true;
    op->run = load ? hd_run_surface_load : formatted ? hd_run_surface_format : hd_run_surface_store;
    return true;
}
