/* Completes the instructions of tensor cores: products, and moves of matrices. Registers follow each other as those of
 * the lists of PTX's mma do (hwmodel/exec/ops/matrix.h has the layout), so that its functions compute. */
#include "hwmodel/exec/ops/matrix.h"
#include "hwmodel/machine/decoder.h"

/* ---- shapes and types -------------------------------------------------------------------------------------------- */

static const struct shape {
    const char *name;
    uint16_t m, n, k;
} shapes[] = {{"1684", 16, 8, 4},     {"1688", 16, 8, 8},     {"16816", 16, 8, 16},  {"16832", 16, 8, 32},
              {"16864", 16, 8, 64},   {"8816", 8, 8, 16},     {"8832", 8, 8, 32},    {"88128", 8, 8, 128},
              {"168128", 16, 8, 128}, {"168256", 16, 8, 256}, {"884", 8, 8, 4},      {"8x8x4", 8, 8, 4},
              {"16x8x4", 16, 8, 4},   {"16x8x8", 16, 8, 8},   {"16x8x16", 16, 8, 16}};

static const struct element {
    const char *name;
    uint8_t type;
} elements[] = {{"F16", HD_TYPE_F16},   {"F32", HD_TYPE_F32},  {"BF16", HD_TYPE_BF16}, {"TF32", HD_TYPE_TF32},
                {"S8", HD_TYPE_S8},     {"U8", HD_TYPE_U8},    {"S4", HD_TYPE_S4},     {"U4", HD_TYPE_U4},
                {"E4M3", HD_TYPE_E4M3}, {"E5M2", HD_TYPE_E5M2}};

static bool set_shape(const hd_machine_decoder *d, hd_matrix *x)
{
    for (uint32_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (hd_machine_has(d, shapes[i].name)) {
            x->m = shapes[i].m;
            x->n = shapes[i].n;
            x->k = shapes[i].k;
            return true;
        }
    return false;
}

/* The types in the spelling, in order; their number. */
static uint32_t named_types(const hd_machine_decoder *d, hd_type types[3])
{
    uint32_t count = 0;
    for (const char *at = strchr(hd_machine_spelling(d), '.'); at; at = strchr(at, '.')) {
        size_t length = strcspn(++at, ".");
        for (uint32_t i = 0; i < sizeof elements / sizeof *elements && count < 3; i++)
            if (strlen(elements[i].name) == length && memcmp(elements[i].name, at, length) == 0)
                types[count++] = (hd_type)elements[i].type;
    }
    return count;
}

/* Of d, a, b and c: HMMA.16816.F32.BF16 and QMMA.16832.F32.E4M3.E5M2 name the accumulators first, IMMA.16832.S8.U8 does
 * not name them; HMMA without another type has f16. */
static bool product_types(const hd_machine_decoder *d, hd_type types[4])
{
    hd_type named[3] = {HD_TYPE_NONE, HD_TYPE_NONE, HD_TYPE_NONE};
    uint32_t count = named_types(d, named);
    switch (d->row->opcode[0]) {
    case 'H':
    case 'Q':
        if (!count)
            return false;
        types[0] = types[3] = named[0];
        types[1] = count > 1 ? named[1] : HD_TYPE_F16;
        types[2] = count > 2 ? named[2] : types[1];
        return true;
    case 'I':
        types[0] = types[3] = HD_TYPE_S32;
        types[1] = named[0];
        types[2] = named[1];
        return count == 2;
    case 'B':
        types[0] = types[3] = HD_TYPE_S32;
        types[1] = types[2] = HD_TYPE_B1;
        return true;
    default: types[0] = types[1] = types[2] = types[3] = HD_TYPE_F64; return true;
    }
}

/* ---- fragments --------------------------------------------------------------------------------------------------- */

static void push_zeros(hd_machine_decoder *d, hd_fragment *f)
{
    f->first = d->code->refs.count;
    for (uint32_t i = 0; i < f->count; i++)
        hd_machine_push(d, hd_machine_zero(), f->unit);
}

/* Elements of 64 bits are pairs of registers: they are joined before the product. */
static void push_pairs(hd_machine_decoder *d, hd_fragment *f, const hd_machine_operand *o)
{
    hd_machine_step step = {.kind = HD_STEP_PAIRS, .value = f->count};
    step.a = hd_machine_register_row(d, o->class, o->number);
    f->first = d->code->refs.count;
    for (uint32_t i = 0; i < f->count; i++) {
        hd_ref row = hd_machine_temporary(d);
        step.to = i ? step.to : row;
        hd_machine_push(d, row, 8);
    }
    hd_machine_add_step(d, step);
}

static void push_rows(hd_machine_decoder *d, hd_fragment *f, const hd_machine_operand *o)
{
    f->first = d->code->refs.count;
    for (uint32_t i = 0; i < f->count; i++)
        hd_machine_push(d, hd_machine_register_row(d, o->class, o->number + i), 4);
}

static bool take_fragment(hd_machine_decoder *d, hd_fragment *f)
{
    const hd_machine_operand *o = hd_machine_next(d);
    bool wide = f->unit == 8, signs = o->negative || o->absolute;
    f->count = (uint8_t)hd_fragment_registers(f);
    if (o->kind != HD_MACHINE_OPERAND_REGISTER || o->class != HD_SASS_GENERAL || (signs && !(wide && f->count == 1)))
        return hd_machine_unsupported(d, "these operands");
    if (o->number == HD_SASS_NO_NUMBER && !signs)
        push_zeros(d, f);
    else if (signs)
        f->first = hd_machine_push(d, hd_machine_source(d, o, 'F'), 8);
    else if (wide)
        push_pairs(d, f, o);
    else
        push_rows(d, f, o);
    return true;
}

static bool take_result(hd_machine_decoder *d, hd_fragment *f)
{
    const hd_machine_operand *o = hd_machine_next(d);
    f->count = (uint8_t)hd_fragment_registers(f);
    if (o->kind != HD_MACHINE_OPERAND_REGISTER || o->class != HD_SASS_GENERAL || o->number == HD_SASS_NO_NUMBER)
        return hd_machine_unsupported(d, "these operands");
    if (f->unit == 4) {
        push_rows(d, f, o);
        return true;
    }
    f->first = d->code->refs.count;
    for (uint32_t i = 0; i < f->count; i++) {
        hd_ref row = hd_machine_temporary(d);
        d->m.op.d = i ? d->m.op.d : row;
        hd_machine_push(d, row, 8);
    }
    d->m.split = f->count;
    d->m.low = hd_machine_register_row(d, o->class, o->number);
    d->m.high = hd_machine_register_row(d, o->class, o->number + 1u);
    return true;
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

/* HMMA.16816.F32 d, a, b, c: d = a * b + c. */
bool hd_machine_decode_product(hd_machine_decoder *d)
{
    hd_matrix *x = HD_ARENA_NEW(&d->program->arena, hd_matrix);
    hd_type types[4];
    *x = (hd_matrix){0};
    if (!set_shape(d, x) || !product_types(d, types))
        return hd_machine_unsupported(d, "this shape");
    x->satfinite = hd_machine_has(d, "SAT");
    x->is_and = hd_machine_has(d, "AND");
    hd_matrix_lay_product(x, types, d->kernel->sm);
    d->m.op.rounding = hd_machine_rounding(d);
    d->m.op.use.detail = x;
    return take_result(d, &x->d) && take_fragment(d, &x->a) && take_fragment(d, &x->b) && take_fragment(d, &x->c) &&
           (d->next == d->operands.count || hd_machine_unsupported(d, "these operands"));
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

/* LDSM.16.M88.4 d, [address]; STSM.16.MT88.2 [address], a: as many registers as matrices. */
bool hd_machine_decode_matrix_rows(hd_machine_decoder *d)
{
    hd_matrix_rows *x = HD_ARENA_NEW(&d->program->arena, hd_matrix_rows);
    bool load = d->row->opcode[0] == 'L';
    const hd_machine_operand *first = hd_machine_next(d), *second = hd_machine_next(d), *o = load ? first : second;
    hd_fragment f = {.count = hd_machine_has(d, "4") ? 4 : hd_machine_has(d, "2") ? 2 : 1};
    if (o->kind != HD_MACHINE_OPERAND_REGISTER || o->number == HD_SASS_NO_NUMBER || d->next != d->operands.count)
        return hd_machine_unsupported(d, "these operands");
    push_rows(d, &f, o);
    *x = (hd_matrix_rows){f.first, f.count, hd_machine_has(d, "MT88")};
    d->m.op.use.detail = x;
    d->m.op.item_bytes = 16;
    return hd_machine_take_address(d, load ? second : first, HD_SPACE_SHARED);
}

/* MOVM.16.MT88 d, a. */
bool hd_machine_decode_transpose(hd_machine_decoder *d)
{
    return d->m.op.d != HD_NO_REF || hd_machine_unsupported(d, "these operands");
}
