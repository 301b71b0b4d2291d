/* Completes integer instructions, logic, moves and special registers. */
#include "hwmodel/exec/ops/special.h"
#include "hwmodel/machine/decoder.h"
#include <math.h>

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* Without carries it is a sum of rows. */
bool hd_machine_decode_sum(hd_machine_decoder *d)
{
    bool carries = d->m.in_count || d->m.ones;
    for (uint32_t i = 0; i < d->m.out_count; i++)
        carries = carries || d->m.out[i] != HD_NO_REF;
    if (!carries) {
        d->m.out_count = 0;
        d->m.op.run = hd_run_lanes;
    }
    return true;
}

/* The product becomes an operand of the sum, or of nothing else. */
bool hd_machine_decode_imad(hd_machine_decoder *d)
{
    bool carry = d->m.out_count && d->m.out[0] != HD_NO_REF;
    if ((carry || d->m.in_count) && hd_machine_has(d, "WIDE")) {
        hd_ref product = hd_machine_temporary(d);
        d->m.op.e = product;
        d->m.op.run = hd_machine_run_wide_sum;
        return true;
    }
    if (carry && hd_machine_has(d, "HI")) { /* the upper half of the pair */
        d->m.low = hd_machine_temporary(d);
        d->m.high = d->m.op.d;
        d->m.split = true;
        d->m.op.d = hd_machine_temporary(d);
        d->m.op.e = hd_machine_temporary(d);
        d->m.op.use.lanes = hd_machine_has(d, "U32") ? hd_machine_MULTIPLY_WIDE_U : hd_machine_MULTIPLY_WIDE_S;
        d->m.op.run = hd_machine_run_wide_sum;
        return true;
    }
    if (carry)
        return hd_machine_unsupported(d, "a carry of a product");
    if (d->m.op.run == hd_machine_run_sum) {
        hd_ref product = hd_machine_temporary(d);
        hd_machine_add_step(d,
                            (hd_machine_step){.kind = HD_STEP_PRODUCT, .to = product, .a = d->m.op.a, .b = d->m.op.b});
        d->m.op.a = product;
        d->m.op.b = d->m.op.c;
        d->m.op.c = hd_machine_zero();
        return true;
    }
    d->m.out_count = 0;
    return !d->m.in_count || hd_machine_unsupported(d, "a carry into a wide product");
}

/* LEA d, [p,] a, b, [c,] shift, [q]: a shifted, plus b. */
bool hd_machine_decode_lea(hd_machine_decoder *d)
{
    bool high = hd_machine_has(d, "HI"), sign = hd_machine_has(d, "SX32");
    const hd_machine_operand *a = hd_machine_next(d), *b = hd_machine_next(d);
    const hd_machine_operand *c = high && !sign ? hd_machine_next(d) : NULL, *shift = hd_machine_next(d);
    if (shift->kind != HD_MACHINE_OPERAND_INTEGER || (c && (c->negative || c->complement)))
        return hd_machine_unsupported(d, "these operands");
    hd_machine_operand plain = *a; /* its sign is that of what is shifted */
    plain.negative = plain.complement = false;
    hd_machine_step step = {.kind = high ? sign ? HD_STEP_SIGN_HIGH : HD_STEP_SHIFT_HIGH : HD_STEP_SHIFT,
                            .a = hd_machine_source(d, &plain, 'i'),
                            .b = c ? hd_machine_source(d, c, 'i') : hd_machine_zero(),
                            .value = shift->bits & 31};
    step.to = hd_machine_temporary(d);
    hd_machine_add_step(d, step);
    if (a->negative || a->complement) {
        hd_machine_step inverse = {.kind = HD_STEP_COMPLEMENT, .a = step.to, .to = hd_machine_temporary(d)};
        hd_machine_add_step(d, inverse);
        d->m.ones += a->negative;
        step.to = inverse.to;
    }
    d->m.op.a = step.to;
    d->m.op.b = hd_machine_source(d, b, 'n');
    d->m.op.use.lanes = hd_machine_ADD3;
    if (d->next < d->operands.count && d->m.in_count < HD_MACHINE_PREDICATES)
        d->m.in[d->m.in_count++] = hd_machine_predicate_of(d, hd_machine_next(d));
    return hd_machine_decode_sum(d);
}

/* IDP.4A.S8.U8 d, a, b, c: c and the products of bytes. IDP.2A.LO.U16.S8: of the halves of a and two bytes of b. */
bool hd_machine_decode_dot(hd_machine_decoder *d)
{
    hd_op *op = &d->m.op;
    bool four = hd_machine_has(d, "4A");
    const char *types = strstr(hd_machine_spelling(d), four ? "4A." : "O.");
    types = types ? types : strstr(hd_machine_spelling(d), "HI.");
    if (!types)
        return hd_machine_unsupported(d, "these types");
    types = strchr(types, '.') + 1;
    const char *second = strchr(types, '.');
    if (!second)
        return hd_machine_unsupported(d, "these types");
    op->item_bytes = four ? 1 : 2;
    op->offset = hd_machine_has(d, "HI") ? 2 : 0;
    op->flags |= *types == 'S' ? HD_OP_SIGNED : 0;
    op->flags |= second[1] == 'S' ? HD_OP_NOT_A : 0;
    return true;
}

/* ---- shifts and bits --------------------------------------------------------------------------------------------- */

bool hd_machine_decode_shift(hd_machine_decoder *d)
{
    static hd_lanes *const lanes[2][2][4] = {
        /* clamped at 32, wrapped, clamped at 64 */
        {{hd_machine_SHIFT_LEFT_LOW, hd_machine_SHIFT_LEFT_LOW_WRAP, hd_machine_SHIFT_LEFT_LOW_64},
         {hd_machine_SHIFT_LEFT_HIGH, hd_machine_SHIFT_LEFT_HIGH_WRAP, hd_machine_SHIFT_LEFT_HIGH_64}},
        {{hd_machine_SHIFT_RIGHT_LOW, hd_machine_SHIFT_RIGHT_LOW_WRAP, hd_machine_SHIFT_RIGHT_LOW_64},
         {hd_machine_SHIFT_RIGHT_HIGH, hd_machine_SHIFT_RIGHT_HIGH_WRAP, hd_machine_SHIFT_RIGHT_HIGH_64}}};
    static hd_lanes *const with_sign[2][3] = {
        {hd_machine_SHIFT_RIGHT_LOW_SIGNED, hd_machine_SHIFT_RIGHT_LOW_SIGNED_WRAP,
         hd_machine_SHIFT_RIGHT_LOW_SIGNED_64},
        {hd_machine_SHIFT_RIGHT_HIGH_SIGNED, hd_machine_SHIFT_RIGHT_HIGH_SIGNED_WRAP,
         hd_machine_SHIFT_RIGHT_HIGH_SIGNED_64}};
    bool right = hd_machine_has(d, "R"), high = hd_machine_has(d, "HI"), wrap = hd_machine_has(d, "W");
    bool wide = hd_machine_has(d, "U64") || hd_machine_has(d, "S64");
    bool sign = hd_machine_has(d, "S32") || hd_machine_has(d, "S64");
    uint32_t amount = wrap ? 1 : wide ? 2 : 0;
    if (wrap && wide)
        return hd_machine_unsupported(d, "this combination of modifiers");
    d->m.op.use.lanes = right && sign ? with_sign[high][amount] : lanes[right][high][amount];
    return true;
}

/* PRMT.F4E d, a, selector, b; without a mode the operand in the middle is taken as the selector by its function. */
bool hd_machine_decode_permute(hd_machine_decoder *d)
{
    hd_ref selector = d->m.op.b;
    d->m.op.b = d->m.op.c;
    d->m.op.c = selector;
    return true;
}

/* Differences of bytes that are not summed. */
bool hd_machine_decode_differences(hd_machine_decoder *d)
{
    return d->m.op.c == hd_machine_zero() || hd_machine_unsupported(d, "what the third operand does");
}

bool hd_machine_decode_find(hd_machine_decoder *d)
{
    bool shift = hd_machine_has(d, "SH"), is_unsigned = hd_machine_has(d, "U32");
    if (d->m.out_count && d->m.out[0] != HD_NO_REF)
        return hd_machine_unsupported(d, "a predicate of the result");
    d->m.out_count = 0;
    d->m.op.use.lanes = is_unsigned ? shift ? hd_machine_FIND_SHIFT_U : hd_machine_FIND_U
                        : shift     ? hd_machine_FIND_SHIFT_S
                                    : hd_machine_FIND_S;
    return true;
}

bool hd_machine_decode_sgxt(hd_machine_decoder *d)
{
    bool wrap = hd_machine_has(d, "W"), is_unsigned = hd_machine_has(d, "U32");
    d->m.op.use.lanes = is_unsigned ? wrap ? hd_machine_ZERO_EXTEND_WRAP : hd_machine_ZERO_EXTEND
                        : wrap      ? hd_machine_SIGN_EXTEND_WRAP
                                    : hd_machine_SIGN_EXTEND;
    return true;
}

/* LOP3 [p,] d, a, b, c, table, q: p is whether d has a bit, or q. */
bool hd_machine_decode_logic(hd_machine_decoder *d)
{
    hd_op *op = &d->m.op;
    op->count = 0;
    if (d->m.out_count && d->m.out[0] != HD_NO_REF) {
        hd_machine_predicate q = d->m.in_count ? d->m.in[0] : (hd_machine_predicate){hd_machine_true(), true};
        op->boolean = 2;
        op->e = d->m.out[0];
        op->f = q.word;
        op->flags |= q.negated ? HD_OP_NOT_C : 0;
    }
    d->m.in_count = d->m.out_count = 0;
    return true;
}

/* ---- selections -------------------------------------------------------------------------------------------------- */

bool hd_machine_decode_select(hd_machine_decoder *d)
{
    d->m.op.c = d->m.in[0].word;
    d->m.op.flags |= d->m.in[0].negated ? HD_OP_NOT_C : 0;
    d->m.in_count = 0;
    return true;
}

/* What is chosen may be half of a double. The text of a NaN does not say its bits, which are in the word. */
bool hd_machine_decode_float_select(hd_machine_decoder *d)
{
    uint64_t word = 0;
    for (uint32_t i = 0; i < d->operands.count; i++) {
        hd_machine_operand *o = &d->operands.items[i];
        if (o->kind != HD_MACHINE_OPERAND_REAL || !isnan(o->real))
            continue;
        if (!hd_machine_word_of(d->function, d->ordinal, &word))
            return hd_machine_unsupported(d, "the bits of this NaN are not in the text");
        *o = (hd_machine_operand){.kind = HD_MACHINE_OPERAND_INTEGER, .bits = word >> 32};
    }
    return hd_machine_decode_select(d);
}

/* The minimum and the maximum of integers, by the type in the spelling. */
static hd_lanes *const *integer_extremes(const hd_machine_decoder *d)
{
    static hd_lanes *const lanes[][2] = {{hd_machine_MINIMUM_S, hd_machine_MAXIMUM_S},
                                         {hd_machine_MINIMUM_S_RELU, hd_machine_MAXIMUM_S_RELU},
                                         {hd_machine_MINIMUM_S16X2, hd_machine_MAXIMUM_S16X2},
                                         {hd_machine_MINIMUM_S16X2_RELU, hd_machine_MAXIMUM_S16X2_RELU},
                                         {hd_machine_MINIMUM_U, hd_machine_MAXIMUM_U},
                                         {hd_machine_MINIMUM_U16X2, hd_machine_MAXIMUM_U16X2},
                                         {HD_LANES_NAME(MIN, S64, NONE), HD_LANES_NAME(MAX, S64, NONE)},
                                         {HD_LANES_NAME(MIN, U64, NONE), HD_LANES_NAME(MAX, U64, NONE)},
                                         {hd_machine_MINIMUM_U8X4, hd_machine_MAXIMUM_U8X4},
                                         {hd_machine_MINIMUM_S8X4, hd_machine_MAXIMUM_S8X4}};
    if (d->row->type == HD_TYPE_U8 || d->row->type == HD_TYPE_S8)
        return lanes[d->row->type == HD_TYPE_U8 ? 8 : 9];
    if (d->row->type == HD_TYPE_S64 || d->row->type == HD_TYPE_U64)
        return lanes[d->row->type == HD_TYPE_S64 ? 6 : 7];
    if (hd_machine_has(d, "U16x2"))
        return lanes[5];
    if (hd_machine_has(d, "U32"))
        return lanes[4];
    return lanes[(hd_machine_has(d, "S16x2") ? 2 : 0) + hd_machine_has(d, "RELU")];
}

static hd_lanes *const *float_extremes(const hd_machine_decoder *d)
{
    static hd_lanes *const lanes[][2] = {{HD_LANES_NAME(MIN, F32, NONE), HD_LANES_NAME(MAX, F32, NONE)},
                                         {HD_LANES_NAME(MIN, F32, NAN), HD_LANES_NAME(MAX, F32, NAN)},
                                         {HD_LANES_NAME(MIN, F32, NONE_3), HD_LANES_NAME(MAX, F32, NONE_3)},
                                         {HD_LANES_NAME(MIN, F32, NAN_3), HD_LANES_NAME(MAX, F32, NAN_3)}};
    return lanes[(d->sources == 3 ? 2 : 0) + hd_machine_has(d, "NAN")];
}

/* A minimum where the predicate holds, else a maximum. */
bool hd_machine_decode_extreme(hd_machine_decoder *d)
{
    hd_machine_op *m = &d->m;
    bool is_float = d->row->type == HD_TYPE_F32;
    for (uint32_t i = 0; i < m->out_count; i++)
        if (m->out[i] != HD_NO_REF)
            return hd_machine_unsupported(d, "a predicate of the result");
    m->out_count = 0;
    if ((hd_machine_has(d, "U32") || hd_machine_has(d, "U16x2")) && hd_machine_has(d, "RELU"))
        return hd_machine_unsupported(d, "this combination of modifiers");
    hd_lanes *const *lanes = is_float ? float_extremes(d) : integer_extremes(d);
    m->lanes[0] = lanes[0];
    m->lanes[1] = lanes[1];
    m->op.c = d->sources == 2 ? m->op.b : m->op.c;
    if (m->in[0].word == hd_machine_true()) {
        m->op.use.lanes = m->lanes[m->in[0].negated];
        m->op.run = hd_run_lanes;
        m->in_count = 0;
    }
    if (!is_float || !hd_machine_has(d, "FTZ"))
        return true;
    m->op.flags |= HD_OP_FTZ;
    m->op.float_type = HD_TYPE_F32;
    m->op.parts = 1;
    m->op.count = d->sources;
    if (m->in_count)
        return hd_machine_unsupported(d, "a predicate that chooses between minimum and maximum, with FTZ");
    m->op.run = hd_run_float;
    return true;
}

/* The sum of a and b, and c. */
bool hd_machine_decode_add_extreme(hd_machine_decoder *d)
{
    hd_ref sum = hd_machine_temporary(d);
    bool halves = hd_machine_has(d, "U16x2") || hd_machine_has(d, "S16x2");
    hd_machine_add_step(
        d, (hd_machine_step){
               .kind = halves ? HD_STEP_ADD_HALVES : HD_STEP_ADD, .to = sum, .a = d->m.op.a, .b = d->m.op.b});
    d->m.op.a = sum;
    d->m.op.b = d->m.op.c;
    return hd_machine_decode_extreme(d);
}

/* The operand without its sign; *minus: it has one. */
static hd_ref magnitude(hd_machine_decoder *d, bool *minus)
{
    hd_machine_operand o = *hd_machine_next(d);
    *minus = o.kind == HD_MACHINE_OPERAND_REGISTER && o.negative;
    o.negative = o.negative && !*minus;
    return hd_machine_source(d, &o, 'i');
}

/* d, a, b: -b is subtracted from a, and -a from b: of bytes each, and before the result is saturated. */
bool hd_machine_decode_add_or_subtract(hd_machine_decoder *d)
{
    bool bytes = d->row->type == HD_TYPE_U8, minus_a, minus_b;
    hd_ref a = magnitude(d, &minus_a), b = magnitude(d, &minus_b);
    d->m.op.a = minus_a ? b : a;
    d->m.op.b = minus_a ? a : b;
    d->m.op.use.lanes = minus_a || minus_b ? bytes ? hd_machine_SUBTRACT_U8X4 : HD_LANES_NAME(SUB, S32, SAT)
                        : bytes ? hd_machine_ADD_U8X4
                                           : HD_LANES_NAME(ADD, S32, SAT);
    if (d->next != d->operands.count || (minus_a && minus_b))
        return hd_machine_unsupported(d, "these operands");
    return true;
}

/* Halves are not negated as a whole. */
bool hd_machine_decode_add_halves(hd_machine_decoder *d)
{
    return !d->m.step_count || hd_machine_unsupported(d, "the sign of packed halves");
}

/* ---- predicates -------------------------------------------------------------------------------------------------- */

/* P2R d, PR, c, mask; R2P PR, a, mask: a bit for each of P0 to P6, from bit 8 n on with .Bn. */
bool hd_machine_decode_p2r(hd_machine_decoder *d)
{
    uint32_t byte = hd_machine_has(d, "B1") ? 1 : hd_machine_has(d, "B2") ? 2 : hd_machine_has(d, "B3") ? 3 : 0;
    const hd_machine_operand *which = &d->operands.items[d->m.op.run == hd_machine_run_p2r];
    if (which->length != 2 || memcmp(which->text, "PR", 2) != 0)
        return hd_machine_unsupported(d, "these operands");
    d->m.op.b = HD_REF(HD_REF_FRAME, d->predicates);
    d->m.table[1] = 8 * byte;
    d->m.ones = 1; /* the op needs its hd_machine_op */
    return true;
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

static hd_ref special_row(hd_machine_decoder *d, hd_sreg sreg, uint32_t component)
{
    hd_program *p = d->program;
    for (uint32_t i = 0; i < p->specials.count; i++) {
        const hd_special *s = &p->specials.items[i];
        if (s->sreg == sreg && s->component == component && s->bytes == 4)
            return HD_REF(HD_REF_SPECIAL, s->offset);
    }
    hd_special s = {(uint8_t)sreg, (uint8_t)component, 4, hd_sregs[sreg].varies, p->special_bytes};
    hd_array_push(&p->specials, s);
    p->special_bytes += 4 * LANES;
    return HD_REF(HD_REF_SPECIAL, s.offset);
}

/* The row of a special register; HD_NO_REF: it is unknown. */
static hd_ref special_source(hd_machine_decoder *d, const hd_machine_operand *o, bool *time)
{
    uint32_t component;
    uint64_t window = d->program->image->memory->shared_window;
    *time = false;
    if (o->kind != HD_MACHINE_OPERAND_WORD)
        return HD_NO_REF;
    bool stack_end = hd_machine_operand_is(o, "SR_LMEMHIOFF"); /* where local memory begins */
    if (stack_end || hd_machine_operand_is(o, "SRZ"))
        return hd_machine_zero();
    if (hd_machine_operand_is(o, "SR_SWINHI"))
        return hd_machine_constant(d, window >> 32, 4);
    int sreg = hd_machine_special(o->text, o->length, &component);
    if (sreg < 0 || !hd_special_known((hd_sreg)sreg))
        return HD_NO_REF;
    *time = hd_sregs[sreg].varies == HD_VARIES_TIME;
    return special_row(d, (hd_sreg)sreg, component == HD_NONE ? 0 : component);
}

/* S2R d, SR_TID.X; CS2R d, SRZ writes a pair, but for .32. */
bool hd_machine_decode_special(hd_machine_decoder *d)
{
    bool time, pair = d->row->operands[0] == '*' && !hd_machine_has(d, "32");
    const hd_machine_operand *to = &d->operands.items[0], *from = &d->operands.items[1];
    hd_ref row =
        d->operands.count == 2 && to->kind == HD_MACHINE_OPERAND_REGISTER ? special_source(d, from, &time) : HD_NO_REF;
    if (row == HD_NO_REF)
        return hd_machine_unsupported(d, "this special register");
    d->m.uniform = to->class == HD_SASS_UNIFORM;
    d->m.op.d =
        to->number == HD_SASS_NO_NUMBER ? hd_machine_temporary(d) : hd_machine_register_row(d, to->class, to->number);
    d->m.op.d_bytes = 4;
    d->m.op.a = row;
    d->m.op.run = time ? hd_run_move_time : hd_run_move;
    if (!pair)
        return true;
    hd_ref upper = hd_machine_zero();
    if (time) { /* CLOCKLO and GLOBALTIMERLO name the low half of 64 bits */
        int low = hd_machine_special(from->text, from->length, &(uint32_t){0});
        upper = special_row(d, low == HD_SREG_CLOCK ? HD_SREG_CLOCK_HI : HD_SREG_GLOBALTIMER_HI, 0);
    }
    d->m.op.run = hd_machine_run_rows;
    d->m.op.count = 2;
    d->m.op.boolean = time;
    d->m.op.first = hd_machine_push(d, d->m.op.d, 4);
    hd_machine_push(
        d, hd_machine_register_row(d, to->class, to->number == HD_SASS_NO_NUMBER ? to->number : to->number + 1u), 4);
    hd_machine_push(d, row, 4);
    hd_machine_push(d, upper, 4);
    return true;
}

/* R2UR [p,] d, a: of the first lane; p of the lanes that have another, or with .OR what p was. */
bool hd_machine_decode_first(hd_machine_decoder *d)
{
    d->m.table[0] = hd_machine_has(d, "OR");
    d->m.uniform = false; /* its lanes are those that execute it */
    d->m.ones = 1;        /* the op needs its hd_machine_op */
    return true;
}
