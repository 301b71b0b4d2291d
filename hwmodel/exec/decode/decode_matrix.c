/* Decodes matrix instructions: shapes and types from matrix.def, fragment layouts from matrix.h.
 *
 * Unsupported, and reported: products of sparse matrices (mma.sp), with block scales or a .kind, wgmma, tcgen05, and
 * the forms of ldmatrix and stmatrix whose elements have fewer than 16 bits. */
#include "hwmodel/exec/decode/decoder.h"
#include "hwmodel/exec/ops/matrix.h"

static const struct hd_shape {
    uint16_t shape, m, n, k;
} shapes[] = {
#define HD_MATRIX_SHAPE(shape, m, n, k) {HD_MOD_SHAPE_##shape, m, n, k},
#include "hwmodel/exec/ops/matrix.def"
};

static const struct hd_shape *find_shape(const hd_decoder *d)
{
    uint16_t wanted = hd_decode_modifier(d, HD_GROUP_SHAPE);
    for (uint32_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i].shape == wanted)
            return &shapes[i];
    return NULL;
}

/* ---- fragments --------------------------------------------------------------------------------------------------- */

/* Takes its registers from the brace vector. */
static bool take_registers(hd_decoder *d, const hd_operand *o, bool destination, hd_fragment *f)
{
    hd_type type = f->unit == 8 ? HD_TYPE_F64 : HD_TYPE_B32;
    f->count = (uint8_t)hd_decode_elements(d, o, type, destination, &f->first);
    for (uint32_t i = 0; i < f->count; i++)
        if (d->code->widths.items[f->first + i] != f->unit ||
            (!destination && d->code->refs.items[f->first + i] == HD_NO_REF))
            return hd_decode_unsupported(d, "registers of this width");
    return !d->failed;
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

/* The types of d, a, b and c: wmma of f16 names only d and c. */
static bool product_types(hd_decoder *d, hd_type types[4])
{
    bool short_form = d->form->type_count == 2;
    if (!short_form && d->form->type_count != 4)
        return false;
    for (uint32_t i = 0; i < 4; i++)
        types[i] = short_form ? i == 1 || i == 2 ? HD_TYPE_F16 : hd_decode_type(d, i / 3) : hd_decode_type(d, i);
    return hd_matrix_types[types[0]].bits && hd_matrix_types[types[1]].bits && hd_matrix_types[types[2]].bits &&
           hd_matrix_types[types[3]].bits;
}

static bool take_product(hd_decoder *d, hd_matrix *x)
{
    hd_fragment *fragments[4] = {&x->d, &x->a, &x->b, &x->c};
    for (uint32_t i = 0; i < 4; i++)
        if (!take_registers(d, d->operands[i], i == 0, fragments[i]))
            return false;
    for (uint32_t i = 0; i < 4 && !x->quads; i++)
        if (fragments[i]->count < hd_fragment_registers(fragments[i]))
            return hd_decode_unsupported(d, "fragments of this size");
    return true;
}

bool hd_decode_matrix_multiply(hd_decoder *d)
{
    const struct hd_shape *shape = find_shape(d);
    hd_type types[4];
    if (!shape || d->operand_count != 4 || !product_types(d, types) ||
        !HD_DECODE_ONLY(d, HD_GROUP_SYNC, HD_GROUP_LAYOUT, HD_GROUP_LAYOUT2, HD_GROUP_SAT, HD_GROUP_SHAPE,
                        HD_GROUP_ROUND, HD_GROUP_BOOL, HD_GROUP_POPC))
        return hd_decode_unsupported(d, NULL);
    hd_matrix *x = HD_ARENA_NEW(&d->program->arena, hd_matrix);
    uint16_t rounding = hd_decode_modifier(d, HD_GROUP_ROUND);
    *x = (hd_matrix){.m = shape->m, .n = shape->n, .k = shape->k};
    x->satfinite = hd_decode_modifier(d, HD_GROUP_SAT) == HD_MOD_SAT_SATFINITE;
    x->is_and = hd_decode_modifier(d, HD_GROUP_BOOL) == HD_MOD_BOOL_AND;
    x->quads = d->form->opcode == HD_OP_MMA && shape->shape == HD_MOD_SHAPE_M8N8K4 && types[1] == HD_TYPE_F16;
    x->a_by_column = hd_decode_modifier(d, HD_GROUP_LAYOUT) == HD_MOD_LAYOUT_COL;
    x->b_by_row = hd_decode_modifier(d, HD_GROUP_LAYOUT2) == HD_MOD_LAYOUT2_ROW;
    d->op->rounding = rounding ? (uint8_t)(rounding - HD_MOD_ROUND_RN) : 0;
    d->op->run = hd_run_matrix_multiply;
    d->op->use.detail = x;
    hd_matrix_lay_product(x, types, d->module->target_number);
    return take_product(d, x);
}

/* ---- wmma.load, wmma.store --------------------------------------------------------------------------------------- */

static hd_fragment access_fragment(hd_decoder *d, const struct hd_shape *s, char matrix)
{
    hd_type type = hd_decode_type(d, 0);
    uint32_t lines = matrix == 'b' ? s->n : s->m, length = matrix == 'c' ? s->n : s->k;
    return hd_matrix_lay_fragment(type, matrix, lines, length);
}

/* The memory side: lines of `length` elements. */
static void lay_memory(hd_matrix_access *x, bool across)
{
    uint32_t bits = hd_matrix_types[x->fragment.type].bits, lines = x->fragment.line_blocks * 8u;
    x->across = across;
    x->lines = (uint16_t)(across ? x->fragment.line_bytes * 8 / bits : lines);
    x->line_bytes = (uint16_t)(across ? lines * bits / 8 : x->fragment.line_bytes);
}

static bool take_access(hd_decoder *d, hd_matrix_access *x, uint32_t address_at, uint32_t vector_at)
{
    hd_op *op = d->op;
    hd_decoded_address address;
    if (!take_registers(d, d->operands[vector_at], vector_at == 0, &x->fragment))
        return false;
    if (x->fragment.count < hd_fragment_registers(&x->fragment))
        return hd_decode_unsupported(d, "fragments of this size");
    op->space = d->form->space;
    op->item_bytes = (uint8_t)(x->lines * x->line_bytes / LANES);
    op->b = HD_NO_REF;
    if (d->operand_count == 3 && (op->b = hd_decode_source(d, d->operands[2], HD_TYPE_U32)) == HD_NO_REF)
        return false;
    return hd_decode_address(d, d->operands[address_at], &address) && hd_decode_set_address(d, &address);
}

bool hd_decode_matrix_access(hd_decoder *d)
{
    bool load = d->form->opcode == HD_OP_WMMA_LOAD;
    const struct hd_shape *shape = find_shape(d);
    uint16_t which = hd_decode_modifier(d, HD_GROUP_FRAGMENT);
    char matrix = which == HD_MOD_FRAGMENT_A ? 'a' : which == HD_MOD_FRAGMENT_B ? 'b' : 'c';
    bool by_column = hd_decode_modifier(d, HD_GROUP_LAYOUT) == HD_MOD_LAYOUT_COL;
    if (!shape || d->operand_count < 2 || !hd_matrix_types[hd_decode_type(d, 0)].bits ||
        !HD_DECODE_ONLY(d, HD_GROUP_SYNC, HD_GROUP_FRAGMENT, HD_GROUP_LAYOUT, HD_GROUP_SHAPE, HD_GROUP_SPACE))
        return hd_decode_unsupported(d, NULL);
    hd_matrix_access *x = HD_ARENA_NEW(&d->program->arena, hd_matrix_access);
    *x = (hd_matrix_access){.fragment = access_fragment(d, shape, matrix)};
    lay_memory(x, by_column != (matrix == 'b'));
    d->op->use.detail = x;
    d->op->run = load ? hd_run_matrix_load : hd_run_matrix_store;
    return take_access(d, x, load ? 1 : 0, load ? 0 : 1);
}

/* ---- ldmatrix, stmatrix, movmatrix ------------------------------------------------------------------------------- */

bool hd_decode_matrix_rows(hd_decoder *d)
{
    hd_op *op = d->op;
    bool load = d->form->opcode == HD_OP_LDMATRIX;
    hd_fragment registers = {.unit = 4};
    hd_decoded_address address;
    if (hd_decode_modifier(d, HD_GROUP_SHAPE) != HD_MOD_SHAPE_M8N8 || hd_decode_type(d, 0) != HD_TYPE_B16 ||
        !HD_DECODE_ONLY(d, HD_GROUP_SYNC, HD_GROUP_SHAPE, HD_GROUP_NUM, HD_GROUP_TRANS, HD_GROUP_SPACE))
        return hd_decode_unsupported(d, NULL);
    hd_matrix_rows *x = HD_ARENA_NEW(&d->program->arena, hd_matrix_rows);
    op->use.detail = x;
    op->run = load ? hd_run_matrix_rows_load : hd_run_matrix_rows_store;
    op->item_bytes = 16;
    op->space = d->form->space;
    if (!take_registers(d, d->operands[load ? 0 : 1], load, &registers))
        return false;
    *x = (hd_matrix_rows){registers.first, registers.count, hd_decode_modifier(d, HD_GROUP_TRANS) != HD_MOD_NONE};
    return hd_decode_address(d, d->operands[load ? 1 : 0], &address) && hd_decode_set_address(d, &address);
}

bool hd_decode_matrix_transpose(hd_decoder *d)
{
    hd_op *op = d->op;
    if (!HD_DECODE_ONLY(d, HD_GROUP_SYNC, HD_GROUP_SHAPE, HD_GROUP_TRANS))
        return hd_decode_unsupported(d, NULL);
    op->run = hd_run_matrix_transpose;
    op->d = hd_decode_destination(d, d->operands[0]);
    op->a = hd_decode_source(d, d->operands[1], HD_TYPE_B32);
    return op->a != HD_NO_REF;
}
