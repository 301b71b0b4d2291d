/* Completes floating-point instructions, comparisons and conversions. */
#include "hwmodel/exec/ops/convert.h"
#include "hwmodel/machine/decoder.h"

/* ---- arithmetic -------------------------------------------------------------------------------------------------- */

uint8_t hd_machine_rounding(const hd_machine_decoder *d)
{
    return hd_machine_has(d, "RZ") || hd_machine_has(d, "TRUNC")   ? HD_ROUND_ZERO
           : hd_machine_has(d, "RM") || hd_machine_has(d, "FLOOR") ? HD_ROUND_DOWN
           : hd_machine_has(d, "RP") || hd_machine_has(d, "CEIL")  ? HD_ROUND_UP
                                                                   : HD_ROUND_NEAREST_EVEN;
}

bool hd_machine_decode_float(hd_machine_decoder *d)
{
    hd_op *op = &d->m.op;
    op->float_type = d->row->type;
    op->count = d->sources;
    op->parts = 1;
    op->rounding = hd_machine_rounding(d);
    op->flags |= hd_machine_has(d, "FTZ") ? HD_OP_FTZ : 0;
    op->flags |= hd_machine_has(d, "SAT") ? HD_OP_SAT : 0;
    bool scales = op->use.lanes == HD_LANES_NAME(MUL, F32, NONE) || op->use.lanes == HD_LANES_NAME(FMA, F32, NONE);
    op->flags |= scales ? HD_OP_SCALES : 0;
    if (op->rounding || op->flags & (HD_OP_FTZ | HD_OP_SAT))
        op->run = hd_run_float;
    return true;
}

/* The unit flushes subnormal sources and results. */
bool hd_machine_decode_mufu(hd_machine_decoder *d)
{
    hd_op *op = &d->m.op;
    op->float_type = HD_TYPE_F32;
    op->count = 1;
    op->parts = 1;
    op->flags |= HD_OP_FTZ;
    return true;
}

/* ---- comparisons ------------------------------------------------------------------------------------------------- */

static const struct comparison {
    const char *name;
    uint16_t modifier;
} comparisons[] = {
#define COMPARISON(name)             \
    {                                \
#name, HD_MOD_COMPARE_##name \
    }
    COMPARISON(EQ),  COMPARISON(NE),  COMPARISON(LT),  COMPARISON(LE),  COMPARISON(GT),
    COMPARISON(GE),  COMPARISON(EQU), COMPARISON(NEU), COMPARISON(LTU), COMPARISON(LEU),
    COMPARISON(GTU), COMPARISON(GEU), COMPARISON(NUM), COMPARISON(NAN),
#undef COMPARISON
};

static hd_compare *compare_of(const hd_machine_decoder *d, hd_type type)
{
    for (uint32_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (hd_machine_has(d, comparisons[i].name))
            return hd_compare_find(type == HD_TYPE_NONE ? HD_TYPE_S32 : type, comparisons[i].modifier);
    return NULL;
}

/* p, q, a, b, r: p = (a compared with b) BOOLEAN r, q = (the inverse) BOOLEAN r. */
bool hd_machine_decode_compare(hd_machine_decoder *d)
{
    hd_op *op = &d->m.op;
    hd_type type = (hd_type)d->row->type;
    if (hd_machine_has(d, "EX"))
        type = hd_machine_has(d, "U32") ? HD_TYPE_U32 : HD_TYPE_S32;
    op->use.compare = compare_of(d, type);
    if (!op->use.compare && op->run == hd_run_setp && !hd_machine_has(d, "T") && hd_machine_has(d, "F"))
        return hd_machine_unsupported(d, "this comparison");
    if (!op->use.compare)
        return hd_machine_unsupported(d, "this comparison");
    op->boolean = hd_machine_has(d, "AND") ? 1 : hd_machine_has(d, "OR") ? 2 : hd_machine_has(d, "XOR") ? 3 : 0;
    op->c = d->m.in[0].word;
    op->flags |= d->m.in[0].negated ? HD_OP_NOT_C : 0;
    op->flags |= hd_machine_has(d, "FTZ") ? HD_OP_FTZ : 0;
    op->float_type = (uint8_t)type;
    op->parts = 1;
    if (op->run == hd_run_set) {
        op->offset = hd_machine_has(d, "BF") ? 0x3f800000 : (int64_t)UINT32_MAX;
        d->m.in_count = 0;
        return true;
    }
    op->d = d->m.out[0];
    op->e = d->m.out[1];
    if (op->run == hd_machine_run_compare_high)
        return true;
    d->m.in_count = d->m.out_count = 0;
    return true;
}

/* ---- packed halves ----------------------------------------------------------------------------------------------- */

static hd_ref half_immediates(hd_machine_decoder *d, const hd_machine_operand *high, const hd_machine_operand *low)
{
    bool bf16 = d->row->type == HD_TYPE_BF16;
    hd_format f = hd_format_of(bf16 ? HD_TYPE_BF16 : HD_TYPE_F16), wide = hd_format_of(HD_TYPE_F64);
    const double values[] = {low->kind == HD_MACHINE_OPERAND_REAL ? low->real : 0,
                             high->kind == HD_MACHINE_OPERAND_REAL ? high->real : 0};
    uint32_t halves[2];
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], 8);
        halves[i] =
            (uint32_t)hd_number_store(hd_number_load(bits, &wide), &f, HD_ROUND_NEAREST_EVEN, (hd_random){0, 0}, false);
    }
    return hd_machine_constant(d, halves[0] | halves[1] << 16, 4);
}

/* A source: a register with signs, and its halves in some order (.H0_H0). */
static hd_ref half_source(hd_machine_decoder *d, const hd_machine_operand *o)
{
    hd_machine_operand plain = *o;
    plain.negative = plain.absolute = false;
    hd_ref row = hd_machine_source(d, &plain, 'i');
    bool low = hd_machine_operand_is(o, "H0_H0"), high = hd_machine_operand_is(o, "H1_H1");
    if (hd_machine_operand_is(o, "F32") || hd_machine_operand_is(o, "H0_NH1"))
        hd_machine_unsupported(d, "a source of this kind");
    if (low || high) {
        hd_ref to = hd_machine_temporary(d);
        hd_machine_add_step(d, (hd_machine_step){.kind = HD_STEP_HALVES, .to = to, .a = row, .value = high});
        row = to;
    }
    if (o->negative || o->absolute) {
        hd_ref to = hd_machine_temporary(d);
        hd_machine_add_step(d, (hd_machine_step){.kind = HD_STEP_SIGN,
                                                 .to = to,
                                                 .a = row,
                                                 .value = o->negative ? 0x80008000u : 0,
                                                 .mask = o->absolute ? 0x80008000u : 0});
        row = to;
    }
    return row;
}

/* Up to three sources. An immediate has two numbers, the upper half first. */
static bool take_halves(hd_machine_decoder *d, uint32_t wanted)
{
    hd_ref *const places[] = {&d->m.op.a, &d->m.op.b, &d->m.op.c};
    for (uint32_t i = 0; i < wanted; i++) {
        const hd_machine_operand *o = hd_machine_next(d);
        if (o->kind == HD_MACHINE_OPERAND_REAL || o->kind == HD_MACHINE_OPERAND_INTEGER)
            *places[i] = half_immediates(d, o, hd_machine_next(d));
        else
            *places[i] = half_source(d, o);
    }
    d->m.op.count = wanted;
    d->m.op.parts = 2;
    d->m.op.float_type = d->row->type;
    d->m.op.flags |= hd_machine_has(d, "FTZ") ? HD_OP_FTZ : 0;
    d->m.op.flags |= hd_machine_has(d, "SAT") ? HD_OP_SAT : 0;
    return !d->failed;
}

/* The predicate that ends the text. */
static bool take_last_predicate(hd_machine_decoder *d, hd_machine_predicate *p)
{
    *p = (hd_machine_predicate){hd_machine_true(), false};
    if (d->next < d->operands.count)
        *p = hd_machine_predicate_of(d, hd_machine_next(d));
    return d->next == d->operands.count || hd_machine_unsupported(d, "these operands");
}

/* HFMA2 d, -RZ, RZ, 1, 1 moves a constant. */
static bool is_half_move(const hd_machine_decoder *d, uint32_t wanted)
{
    const hd_machine_operand *a = &d->operands.items[1], *b = a + 1, *c = a + 2;
    return wanted == 3 && d->operands.count >= 5 && a->kind == HD_MACHINE_OPERAND_REGISTER && a->negative &&
           a->number == HD_SASS_NO_NUMBER && b->kind == HD_MACHINE_OPERAND_REGISTER && !b->negative &&
           b->number == HD_SASS_NO_NUMBER && c->kind != HD_MACHINE_OPERAND_REGISTER &&
           c->kind != HD_MACHINE_OPERAND_CONSTANT && !d->m.op.flags;
}

bool hd_machine_decode_half(hd_machine_decoder *d)
{
    hd_machine_predicate p;
    uint32_t wanted = strcmp(d->row->opcode, "HFMA2") == 0 ? 3 : 2;
    if (!take_halves(d, wanted) || !take_last_predicate(d, &p))
        return false;
    if (p.word != hd_machine_true() || p.negated)
        return hd_machine_unsupported(d, "a predicate of the result");
    if (is_half_move(d, wanted) && !hd_machine_has(d, "RELU")) {
        d->m.op.a = d->m.op.c;
        d->m.op.run = hd_run_move;
    } else if (!(d->m.op.flags & (HD_OP_FTZ | HD_OP_SAT))) {
        d->m.op.run = hd_run_packed;
    }
    return true;
}

/* HMNMX2 d, a, b, p: the minimum where p holds, else the maximum. .XORSIGN compares the sources' magnitudes. */
bool hd_machine_decode_half_extreme(hd_machine_decoder *d)
{
#define EXTREMES(type, modifiers)                                                \
    {                                                                            \
        HD_LANES_NAME(MIN, type, modifiers), HD_LANES_NAME(MAX, type, modifiers) \
    }
    static hd_lanes *const lanes[2][4][2] = {
        {EXTREMES(F16, NONE), EXTREMES(F16, NAN), EXTREMES(F16, XORSIGN_ABS), EXTREMES(F16, NAN_XORSIGN_ABS)},
        {EXTREMES(BF16, NONE), EXTREMES(BF16, NAN), EXTREMES(BF16, XORSIGN_ABS), EXTREMES(BF16, NAN_XORSIGN_ABS)}};
#undef EXTREMES
    hd_machine_predicate p;
    bool xorsign = hd_machine_has(d, "XORSIGN");
    for (uint32_t i = d->next; i < d->operands.count && xorsign; i++)
        d->operands.items[i].absolute = false;
    if (!take_halves(d, 2) || !take_last_predicate(d, &p))
        return false;
    if (p.word != hd_machine_true())
        return hd_machine_unsupported(d, "a predicate that chooses between minimum and maximum");
    uint32_t kind = (xorsign ? 2 : 0) + hd_machine_has(d, "NAN");
    d->m.op.use.lanes = lanes[d->row->type == HD_TYPE_BF16][kind][p.negated];
    if (!(d->m.op.flags & HD_OP_FTZ))
        d->m.op.run = hd_run_packed;
    return true;
}

/* HSETP2 p, q, a, b, r: p of the lower halves, q of the upper ones. HSET2 d, a, b, r: ones, or with .BF 1.0,
 * in each half. */
bool hd_machine_decode_half_compare(hd_machine_decoder *d)
{
    hd_op *op = &d->m.op;
    hd_machine_predicate p;
    op->use.compare = compare_of(d, (hd_type)d->row->type);
    if (!op->use.compare)
        return hd_machine_unsupported(d, "this comparison");
    op->d = op->run == hd_run_setp ? d->m.out[0] : op->d;
    op->e = op->run == hd_run_setp ? d->m.out[1] : op->e;
    d->m.out_count = 0;
    if (!take_halves(d, 2) || !take_last_predicate(d, &p))
        return false;
    op->boolean = hd_machine_has(d, "AND") ? 1 : hd_machine_has(d, "OR") ? 2 : 3;
    op->c = p.word;
    op->flags |= p.negated ? HD_OP_NOT_C : 0;
    op->offset = !hd_machine_has(d, "BF") ? 0xffff : d->row->type == HD_TYPE_BF16 ? 0x3f80 : 0x3c00;
    return true;
}

/* ---- conversions ------------------------------------------------------------------------------------------------- */

static hd_type integer_of(const hd_machine_decoder *d)
{
    static const struct {
        const char *name;
        hd_type type;
    } types[] = {{"U8", HD_TYPE_U8},   {"S8", HD_TYPE_S8},   {"U16", HD_TYPE_U16}, {"S16", HD_TYPE_S16},
                 {"U32", HD_TYPE_U32}, {"S32", HD_TYPE_S32}, {"U64", HD_TYPE_U64}, {"S64", HD_TYPE_S64}};
    for (uint32_t i = 0; i < sizeof types / sizeof *types; i++)
        if (hd_machine_has(d, types[i].name))
            return types[i].type;
    return HD_TYPE_S32;
}

/* The float types in the spelling, in order; F32 where one is missing. */
static void floats_of(const hd_machine_decoder *d, hd_type types[2], uint32_t *count)
{
    static const struct {
        const char *name;
        hd_type type;
    } names[] = {{"F16", HD_TYPE_F16}, {"BF16", HD_TYPE_BF16}, {"F32", HD_TYPE_F32}, {"F64", HD_TYPE_F64}};
    const char *at = hd_names_text(&d->module->names, d->module->forms.items[d->insn->form].spelling);
    *count = 0;
    types[0] = types[1] = HD_TYPE_F32;
    while ((at = strchr(at, '.'))) {
        size_t length = strcspn(++at, ".");
        for (uint32_t i = 0; i < 4 && *count < 2; i++)
            if (strlen(names[i].name) == length && memcmp(names[i].name, at, length) == 0)
                types[(*count)++] = names[i].type;
    }
}

/* The types, from the spelling: I2F.F64.S64, F2I.S64.F64.TRUNC, F2F.F64.F32, FRND.F64.FLOOR, F2FP.F16.F32.PACK_AB. */
static void conversion_types(const hd_machine_decoder *d, hd_type *to, hd_type *from)
{
    const char *name = d->row->opcode + (d->row->opcode[0] == 'U');
    hd_type floats[2];
    uint32_t count;
    floats_of(d, floats, &count);
    *to = *from = floats[0];
    if (name[0] == 'I')
        *from = integer_of(d);
    else if (strcmp(name, "F2I") == 0)
        *to = integer_of(d);
    else if (strcmp(name, "F2F") == 0)
        *from = floats[1];
    else if (strcmp(name, "HADD2") == 0) {
        *to = HD_TYPE_F32;
        *from = hd_machine_has(d, "BF16_V2") ? HD_TYPE_BF16 : HD_TYPE_F16;
    } else if (strcmp(name, "F2FP") == 0) {
        *to = floats[0] == HD_TYPE_BF16 ? HD_TYPE_BF16X2 : HD_TYPE_F16X2;
        *from = HD_TYPE_F32;
    }
}

/* A source of fewer bits than its register: a byte of it, or a half (.B1, .H1). */
static hd_ref part_of_register(hd_machine_decoder *d, const hd_machine_operand *o, hd_ref row)
{
    bool part = o->kind == HD_MACHINE_OPERAND_REGISTER && o->length && !hd_machine_operand_is(o, "reuse") &&
                !hd_machine_operand_is(o, "B0") && !hd_machine_operand_is(o, "H0") &&
                !hd_machine_operand_is(o, "H0_H0");
    if (!part)
        return row;
    if (!hd_machine_operand_is(o, "H1") && !hd_machine_operand_is(o, "H1_H1") && !hd_machine_operand_is(o, "B1") &&
        !hd_machine_operand_is(o, "B2") && !hd_machine_operand_is(o, "B3"))
        return row;
    hd_ref to = hd_machine_temporary(d);
    uint32_t by = hd_machine_operand_is(o, "B1") ? 8 : hd_machine_operand_is(o, "B3") ? 24 : 16;
    hd_machine_add_step(
        d, (hd_machine_step){.kind = HD_STEP_SHIFT_HIGH, .to = to, .a = row, .b = hd_machine_zero(), .value = 32 - by});
    return to;
}

static hd_ref conversion_source(hd_machine_decoder *d, hd_type type, const hd_machine_operand *o)
{
    bool is_float = hd_types[type].class == HD_CLASS_FLOAT, wide = hd_types[type].bits == 64;
    if (hd_types[type].bits == 16 && is_float) {
        hd_machine_operand plain = *o;
        plain.negative = plain.absolute = false;
        hd_ref row = part_of_register(d, o, hd_machine_source(d, &plain, 'i'));
        if (!o->negative && !o->absolute)
            return row;
        hd_ref to = hd_machine_temporary(d);
        hd_machine_add_step(d, (hd_machine_step){.kind = HD_STEP_SIGN,
                                                 .to = to,
                                                 .a = row,
                                                 .value = o->negative ? 0x8000u : 0,
                                                 .mask = o->absolute ? 0x8000u : 0});
        return to;
    }
    hd_machine_operand upper = *o; /* as of a double, the instruction holds the upper half of a 64-bit integer */
    if (wide && o->kind == HD_MACHINE_OPERAND_INTEGER)
        upper.bits <<= 32;
    hd_ref row = hd_machine_source(d, &upper, wide ? is_float ? 'F' : 'I' : is_float ? 'f' : 'i');
    return wide ? row : part_of_register(d, o, row);
}

static bool is_negative_zero(const hd_machine_operand *o)
{
    return o->kind == HD_MACHINE_OPERAND_REGISTER && o->number == HD_SASS_NO_NUMBER && o->negative;
}

/* F2IP d, RZ, b, RZ: where the bytes of two floats and of the third operand go was not seen. */
bool hd_machine_decode_two_bytes(hd_machine_decoder *d)
{
    if (d->m.op.a != hd_machine_zero() || d->m.op.c != hd_machine_zero())
        return hd_machine_unsupported(d, "two floats");
    d->m.op.a = d->m.op.b;
    return true;
}

/* HADD2.F32 d, -RZ, a.H0_H0: a half as a float, since the sum with -0 is the half itself. Other sums do not occur. */
bool hd_machine_decode_widen(hd_machine_decoder *d)
{
    hd_machine_operand *o = d->operands.items;
    if (d->operands.count == 3 && is_negative_zero(&o[1]))
        o[1] = o[2];
    else if (d->operands.count != 3 || !is_negative_zero(&o[2]))
        return hd_machine_unsupported(d, "these operands");
    if (o[1].kind == HD_MACHINE_OPERAND_REAL || o[1].kind == HD_MACHINE_OPERAND_INTEGER)
        return hd_machine_unsupported(d, "these operands");
    d->operands.count = 2;
    return hd_machine_decode_convert(d);
}

bool hd_machine_decode_convert(hd_machine_decoder *d)
{
    hd_type to, from;
    hd_op *op = &d->m.op;
    hd_conversion *c = HD_ARENA_NEW(&d->program->arena, hd_conversion);
    conversion_types(d, &to, &from);
    const hd_machine_operand *destination = hd_machine_next(d);
    bool to_integer = hd_types[to].class != HD_CLASS_FLOAT, integral = strcmp(d->row->opcode, "FRND") == 0;
    bool pair = hd_types[to].bits == 64, ftz = hd_machine_has(d, "FTZ");
    *c = (hd_conversion){.to = hd_format_of(to), .from = hd_format_of(from), .parts = 1};
    c->parts = c->to.count;
    if (to == HD_TYPE_F16X2 || to == HD_TYPE_BF16X2)
        to_integer = false;
    if (to_integer || integral)
        c->whole = (uint8_t)(hd_machine_rounding(d) + 1);
    else
        c->rounding = hd_machine_rounding(d);
    c->sat = to_integer;
    c->relu = hd_machine_has(d, "RELU");
    c->sat = c->sat || hd_machine_has(d, "SAT");
    c->ftz_from = ftz && from == HD_TYPE_F32;
    c->ftz_to = ftz && to == HD_TYPE_F32;
    if (to_integer && (from == HD_TYPE_F64 || pair)) /* as cvt: decode_convert.c */
        c->nan = c->to.fraction_bits ? 0 - (1ull << (c->to.bits - 1)) : 1ull << (c->to.bits - 1);
    if (destination->kind != HD_MACHINE_OPERAND_REGISTER || !c->to.bits || !c->from.bits)
        return hd_machine_unsupported(d, "this conversion");
    d->m.uniform = destination->class == HD_SASS_UNIFORM;
    hd_ref row = hd_machine_register_row(d, destination->class, destination->number);
    op->d_bytes = pair ? 8 : 4;
    op->d = pair || destination->number == HD_SASS_NO_NUMBER ? hd_machine_temporary(d) : row;
    if (pair && destination->number != HD_SASS_NO_NUMBER) {
        d->m.split = 1;
        d->m.low = row;
        d->m.high = hd_machine_register_row(d, destination->class, destination->number + 1u);
    }
    hd_ref sources[3];
    for (op->count = 0; op->count < c->parts && op->count < 3; op->count++)
        sources[op->count] = conversion_source(d, from, hd_machine_next(d));
    for (uint32_t i = 0; i < op->count; i++) {
        uint32_t at = hd_machine_push(d, sources[i], hd_types[from].bits == 64 ? 8 : 4);
        op->first = i ? op->first : at;
    }
    if (strcmp(d->row->opcode, "F2FP") == 0 && d->next < d->operands.count &&
        d->operands.items[d->next].number == HD_SASS_NO_NUMBER)
        d->next++;
    op->use.detail = c;
    op->run = hd_run_convert;
    return d->next == d->operands.count || hd_machine_unsupported(d, "these operands");
}
