/* fold(fuse): constant folding, algebraic simplification, address offsets; with `fuse` also multiply-add formation.
 *
 *   constants   integer and bit operations, and f32 and f64 sums and products whose result IEEE 754 determines, of
 *               numbers only: replaced by a mov
 *   identities  x + 0, x - 0, x * 1, x & -1, x | 0, x ^ 0, x << 0, x >> 0, a conversion to the same width: a mov of x;
 *               x * 0, x & 0: of 0. None for floats, because of NaNs
 *   division    unsigned, by a power of two: a shift; the remainder: an and
 *   addresses   [d + m] with d = s + n: [s + n + m], if the offset fits the 24 bits of machine code and d is read only
 *               by addresses, so that it becomes dead
 *   packs       {a, b} = d with d = {x, y}: a = x, b = y
 *
 * and with `fuse`, as machine code has them:
 *
 *   widening    (a 64-bit extension of a 32-bit x) * n or << n: mul.wide
 *   sums        t = a * b or a << n, d = t + c, where t has no other read and both are in one block: mad (one machine
 *               instruction, and t needs no register)
 *
 * An assembler fuses these itself, after it has shared and reassociated the terms of addresses. In text for an
 * assembler a fused instruction hides the terms, and ptxas then needs more registers (bench/clean_registers).
 *
 * A register that replaces another must still hold the same value (passes/analysis/values.h). The instruction is
 * changed in place and keeps its guard; dce removes dead code, copyprop propagates moves. Complexity: near-linear. Not
 * handled: comparisons and predicates, f16, sums of sums, carries. Floating-point multiplication and addition are never
 * fused to fma, which would round once.
 */
#include "passes/clean/fold.h"
#include "passes/rewrite.h"
#include "passes/analysis/values.h"

typedef enum fact_kind { FACT_NONE, FACT_NUMBER, FACT_SUM, FACT_WIDE, FACT_PRODUCT, FACT_PACK } fact_kind;

typedef struct term { /* a register at some point, or a number */
    bool number;
    uint32_t reg, value;
    uint64_t bits;
} term;

typedef struct fact {    /* known property of a value */
    uint8_t kind, width; /* width of the value */
    bool sign;           /* WIDE: sign-extended; PRODUCT: .s32 */
    bool wide;           /* PRODUCT: 32 times 32 is 64 bits */
    uint32_t ordinal;
    term a, b; /* NUMBER: a.bits; SUM: a + b (a number); WIDE: a; PRODUCT: a, b; PACK: {a, b} */
} fact;

typedef struct fold {
    hd_function *function;
    hd_value_walk walk;
    hd_edit edit;
    hd_u32_array of_value; /* index in facts + 1 */
    HD_ARRAY(fact) facts;
    uint32_t *readings, *addresses; /* by register: number of reads, and of reads as the base of an address */
    bool fuse;
    uint64_t counts[6];
} fold;
enum { COUNT_NUMBERS, COUNT_IDENTITIES, COUNT_WIDENED, COUNT_SUMS, COUNT_ADDRESSES, COUNT_PACKS };

/* ---- facts ------------------------------------------------------------------------------------------------------- */

static const fact *fact_about(const fold *p, uint32_t reg)
{
    uint32_t value = hd_value_of(&p->walk, reg);
    uint32_t at = value < p->of_value.count ? p->of_value.items[value] : 0;
    return at ? &p->facts.items[at - 1] : NULL;
}

static bool holds(const fold *p, const term *t)
{
    return t->number || (t->value && hd_value_of(&p->walk, t->reg) == t->value);
}

static uint32_t width_of(const fold *p, uint32_t reg) { return hd_types[p->function->registers.items[reg].type].bits; }

/* Source k of an instruction with scalar operands only; false: something else. */
static bool read_term(const fold *p, const hd_operand *o, uint32_t width, term *t)
{
    const hd_module *m = p->function->module;
    *t = (term){0};
    if (o->kind == HD_OPERAND_LITERAL) {
        const hd_literal *literal = &m->literals.items[o->value];
        bool integer = literal->kind == HD_LITERAL_SIGNED || literal->kind == HD_LITERAL_UNSIGNED;
        bool raw = literal->kind == (width == 64 ? HD_LITERAL_F64_BITS : HD_LITERAL_F32_BITS) && width >= 32;
        *t = (term){.number = true, .bits = literal->bits & (width < 64 ? (1ull << width) - 1 : ~0ull)};
        return (integer || raw) && !o->flags;
    }
    if (o->kind != HD_OPERAND_REGISTER || (o->flags & ~HD_OPERAND_USE) || o->extra ||
        p->function->registers.items[o->value].vector != 1 || width_of(p, o->value) != width)
        return false;
    t->reg = o->value;
    t->value = hd_value_of(&p->walk, o->value);
    const fact *known = fact_about(p, o->value);
    if (known && known->kind == FACT_NUMBER)
        *t = (term){.number = true, .reg = o->value, .value = t->value, .bits = known->a.bits};
    return t->value != 0;
}

static hd_operand operand_of(const fold *p, const term *t, uint32_t width)
{
    return t->number ? hd_rewrite_integer(p->function->module, t->bits, width) : hd_make_register_operand(t->reg);
}

/* ---- one instruction --------------------------------------------------------------------------------------------- */

typedef struct site {
    uint32_t ordinal, count; /* sources */
    const hd_form *form;
    hd_operand d;
    term s[HD_FOLD_SOURCES];
    uint32_t width; /* of the destination */
} site;

/* Reads an instruction of a form that fold handles; false: another form. */
static bool read_site(const fold *p, uint32_t ordinal, site *x)
{
    const hd_function *f = p->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    const hd_operand *o = hd_insn_operands(f, insn);
    *x = (site){.ordinal = ordinal, .form = hd_insn_form(f, insn)};
    x->width = hd_fold_result_width(x->form);
    if (!x->width || insn->flags & HD_INSN_OPAQUE || insn->operand_count < 2 ||
        insn->operand_count > HD_FOLD_SOURCES + 1 || o->kind != HD_OPERAND_REGISTER || o->extra ||
        width_of(p, o->value) != x->width)
        return false;
    x->d = *o;
    x->count = insn->operand_count - 1u;
    for (uint32_t k = 0; k < x->count; k++)
        if (!read_term(p, &o[k + 1], hd_fold_width(x->form, k), &x->s[k]))
            return false;
    return true;
}

static bool write_mov(fold *p, const site *x, const hd_operand *from)
{
    char spelling[8];
    memcpy(spelling, "mov.b", 5);
    memcpy(spelling + 5, x->width == 16 ? "16" : x->width == 32 ? "32" : "64", 3);
    return hd_rewrite_instruction(p->function, x->ordinal, spelling, (const hd_operand[]){x->d, *from}, 2);
}

static bool fold_numbers(fold *p, const site *x)
{
    uint64_t sources[HD_FOLD_SOURCES], result;
    for (uint32_t k = 0; k < x->count; k++) {
        if (!x->s[k].number)
            return false;
        sources[k] = x->s[k].bits;
    }
    if (!hd_fold_number(x->form, sources, x->count, &result))
        return false;
    hd_operand number = hd_rewrite_integer(p->function->module, result, x->width);
    if (write_mov(p, x, &number))
        return true;
    number = hd_make_literal_operand(p->function->module, result,
                                     x->width == 64 ? HD_LITERAL_F64_BITS : HD_LITERAL_F32_BITS);
    return hd_rewrite_instruction(p->function, x->ordinal, x->width == 64 ? "mov.f64" : "mov.f32",
                                  (const hd_operand[]){x->d, number}, 2);
}

static bool is_number(const term *t, uint64_t bits, uint32_t width)
{
    return t->number && ((t->bits ^ bits) & (width < 64 ? (1ull << width) - 1 : ~0ull)) == 0;
}

/* The source that the result equals; -1: none, -2: zero. */
static int identity(const site *x)
{
    const term *a = &x->s[0], *b = &x->s[1];
    uint32_t w = x->width;
    bool low = x->form->modifiers[HD_GROUP_HALF] == HD_MOD_HALF_LO;
    if (x->form->types[0] == HD_TYPE_F32 || x->form->types[0] == HD_TYPE_F64)
        return -1;
    switch (x->form->opcode) {
    case HD_OP_ADD:
    case HD_OP_OR:
    case HD_OP_XOR: return is_number(b, 0, w) ? 0 : is_number(a, 0, w) ? 1 : -1;
    case HD_OP_SUB:
    case HD_OP_SHL:
    case HD_OP_SHR: return is_number(b, 0, 32) && (x->form->opcode != HD_OP_SUB || is_number(b, 0, w)) ? 0 : -1;
    case HD_OP_MUL:
        if (low && (is_number(a, 0, w) || is_number(b, 0, w)))
            return -2;
        return low && is_number(b, 1, w) ? 0 : low && is_number(a, 1, w) ? 1 : -1;
    case HD_OP_AND:
        if (is_number(a, 0, w) || is_number(b, 0, w))
            return -2;
        return is_number(b, ~0ull, w) ? 0 : is_number(a, ~0ull, w) ? 1 : -1;
    case HD_OP_CVT: return hd_types[x->form->types[1]].bits == w ? 0 : -1;
    default: return -1;
    }
}

static bool fold_identity(fold *p, const site *x)
{
    int same = identity(x);
    hd_operand from;
    if (same == -1)
        return false;
    if (same == -2)
        from = hd_rewrite_integer(p->function->module, 0, x->width);
    else
        from = operand_of(p, &x->s[same], x->width);
    return write_mov(p, x, &from);
}

/* Unsigned division by a power of two. */
static bool fold_division(fold *p, const site *x)
{
    uint64_t n = x->s[1].bits;
    bool rest = x->form->opcode == HD_OP_REM;
    if ((x->form->opcode != HD_OP_DIV && !rest) || hd_types[x->form->types[0]].class != HD_CLASS_UNSIGNED ||
        !x->s[1].number || !n || n & (n - 1))
        return false;
    const char *const shifts[] = {"shr.u16", "shr.u32", "shr.u64"}, *const ands[] = {"and.b16", "and.b32", "and.b64"};
    uint32_t k = x->width == 16 ? 0 : x->width == 32 ? 1 : 2;
    hd_operand number = rest ? hd_rewrite_integer(p->function->module, n - 1, x->width)
                             : hd_rewrite_integer(p->function->module, (uint64_t)__builtin_ctzll(n), 32);
    return hd_rewrite_instruction(p->function, x->ordinal, rest ? ands[k] : shifts[k],
                                  (const hd_operand[]){x->d, operand_of(p, &x->s[0], x->width), number}, 3);
}

/* The factor of a multiplication by a number or of a left shift; false: neither. */
static bool factor_of(const site *x, uint64_t *factor)
{
    if (!x->s[1].number)
        return false;
    if (x->form->opcode == HD_OP_SHL && x->s[1].bits < x->width)
        return *factor = 1ull << x->s[1].bits, true;
    *factor = x->s[1].bits;
    return x->form->opcode == HD_OP_MUL && x->form->modifiers[HD_GROUP_HALF] == HD_MOD_HALF_LO;
}

/* (64-bit extension of x) * n, where n is representable in x's type. */
static bool fold_widening(fold *p, const site *x)
{
    uint64_t factor;
    if (x->width != 64 || x->s[0].number || !factor_of(x, &factor))
        return false;
    const fact *known = fact_about(p, x->s[0].reg);
    if (!known || known->kind != FACT_WIDE || !holds(p, &known->a))
        return false;
    if (known->sign ? (uint64_t)(int64_t)(int32_t)factor != factor : factor >> 32 != 0)
        return false;
    hd_operand operands[3] = {x->d, hd_make_register_operand(known->a.reg),
                              hd_rewrite_integer(p->function->module, factor, 32)};
    return hd_rewrite_instruction(p->function, x->ordinal, known->sign ? "mul.wide.s32" : "mul.wide.u32", operands, 3);
}

/* The low half of a 64-bit extension of y: y. */
static bool fold_narrowing(fold *p, const site *x)
{
    const fact *known =
        x->form->opcode == HD_OP_CVT && x->width == 32 && !x->s[0].number ? fact_about(p, x->s[0].reg) : NULL;
    if (!known || known->kind != FACT_WIDE || !holds(p, &known->a))
        return false;
    hd_operand from = hd_make_register_operand(known->a.reg);
    return write_mov(p, x, &from);
}

/* a * b + c, where the product has no other read. */
static bool fold_sum(fold *p, const site *x)
{
    if (x->form->opcode != HD_OP_ADD || (x->width != 32 && x->width != 64) || x->form->types[0] == HD_TYPE_F32 ||
        x->form->types[0] == HD_TYPE_F64)
        return false;
    for (uint32_t k = 0; k < 2; k++) {
        const fact *known = x->s[k].number ? NULL : fact_about(p, x->s[k].reg);
        if (!known || known->kind != FACT_PRODUCT || p->readings[x->s[k].reg] != 1 || !holds(p, &known->a) ||
            !holds(p, &known->b) || known->ordinal < p->walk.cfg->blocks[p->walk.block].first ||
            known->ordinal > x->ordinal || (known->b.number && x->s[1 - k].number))
            continue;
        const char *spelling = !known->wide ? "mad.lo.s32" : known->sign ? "mad.wide.s32" : "mad.wide.u32";
        hd_operand operands[4] = {x->d, operand_of(p, &known->a, 32), operand_of(p, &known->b, 32),
                                  operand_of(p, &x->s[1 - k], x->width)};
        if (hd_rewrite_instruction(p->function, x->ordinal, spelling, operands, 4))
            return true;
    }
    return false;
}

/* ---- addresses and packs ----------------------------------------------------------------------------------------- */

static bool fold_address(fold *p, uint32_t ordinal, uint32_t index)
{
    hd_function *f = p->function;
    const hd_operand *o = &hd_insn_operands(f, &f->instructions.items[ordinal])[index];
    const fact *known = fact_about(p, o->value);
    if (!known || known->kind != FACT_SUM || !holds(p, &known->a) || p->readings[o->value] != p->addresses[o->value] ||
        width_of(p, known->a.reg) != width_of(p, o->value))
        return false;
    int64_t offset = (int64_t)known->b.bits;
    if (known->width == 32)
        offset = (int32_t)known->b.bits;
    if (offset < -(1 << 23) || offset >= 1 << 23)
        return false;
    offset += o->count ? (int64_t)f->module->literals.items[o[1].value].bits : 0;
    if (offset < -(1 << 23) || offset >= 1 << 23)
        return false;
    hd_operand with[2] = {hd_make_register_operand(known->a.reg)};
    if (offset) {
        with[0].flags |= HD_OPERAND_OFFSET;
        with[0].count = 1;
        with[1] = hd_rewrite_integer(f->module, (uint64_t)offset, 64);
    }
    return hd_rewrite_operand(f, ordinal, index, with, 1u + with[0].count);
}

static void fold_addresses(fold *p, uint32_t ordinal)
{
    hd_function *f = p->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    uint8_t slots[HD_REWRITE_OPERANDS];
    const hd_form *form = hd_insn_form(f, insn);
    if (!(form->behaviour & (HD_BEHAVE_LOAD | HD_BEHAVE_STORE | HD_BEHAVE_ATOMIC)) ||
        form->behaviour & HD_BEHAVE_TEXTURE || !hd_operand_slots(f, insn, slots))
        return;
    for (uint32_t k = insn->operand_count; k-- > 0;)
        if (slots[k] == HD_SLOT_BASE && hd_operand_is_reading(f, insn, &hd_insn_operands(f, insn)[k]))
            p->counts[COUNT_ADDRESSES] += fold_address(p, ordinal, k);
}

static const char *half_mov(uint32_t width) { return width == 64 ? "mov.b32" : "mov.b16"; }

/* {a, b} = d. *more: the register defined by an instruction inserted after it, or HD_NONE. */
static bool fold_unpack(fold *p, uint32_t ordinal, uint32_t *more)
{
    *more = HD_NONE;
    hd_function *f = p->function;
    const hd_instruction insn = f->instructions.items[ordinal];
    const hd_operand *o = hd_insn_operands(f, &insn);
    if (hd_insn_form(f, &insn)->opcode != HD_OP_MOV || insn.operand_count != 4 || o->kind != HD_OPERAND_VECTOR ||
        o->count != 2 || o->flags & HD_OPERAND_WHOLE || !hd_operand_is_reading(f, &insn, &o[3]))
        return false;
    const fact *known = fact_about(p, o[3].value);
    hd_operand a = o[1], b = o[2];
    bool has_a = a.kind == HD_OPERAND_REGISTER, has_b = b.kind == HD_OPERAND_REGISTER;
    if (!known || known->kind != FACT_PACK || !holds(p, &known->a) || !holds(p, &known->b) || a.extra || b.extra ||
        (has_a && has_b && a.value == known->b.reg) || (!has_a && !has_b))
        return false;
    uint32_t first = has_a ? a.value : b.value, from = has_a ? known->a.reg : known->b.reg, last = known->b.reg;
    const char *spelling = half_mov(known->width);
    hd_operand second[2] = {hd_make_register_operand(b.value), hd_make_register_operand(last)};
    if (has_a && has_b && width_of(p, b.value) != width_of(p, last))
        return false;
    if (!hd_rewrite_instruction(f, ordinal, spelling,
                                (const hd_operand[]){hd_make_register_operand(first), hd_make_register_operand(from)},
                                2))
        return false;
    if (has_a && has_b) {
        hd_instruction added =
            hd_make_instruction(f, spelling, insn.guard, insn.flags & HD_INSN_GUARD_NOT, second, 2, NULL);
        added.origin = insn.origin;
        added.location = insn.location;
        hd_edit_after(&p->edit, ordinal, added);
        *more = b.value;
    }
    return true;
}

/* ---- properties of results --------------------------------------------------------------------------------------- */

static fact fact_of_site(const site *x)
{
    fact known = {.width = (uint8_t)x->width, .ordinal = x->ordinal, .a = x->s[0], .b = x->s[1]};
    hd_type type = (hd_type)x->form->types[0];
    bool sign = hd_types[type].class == HD_CLASS_SIGNED;
    uint32_t half = x->form->modifiers[HD_GROUP_HALF];
    uint64_t factor;
    if (type == HD_TYPE_F32 || type == HD_TYPE_F64 || x->s[0].number)
        return known;
    if ((x->form->opcode == HD_OP_ADD || x->form->opcode == HD_OP_SUB) && x->s[1].number) {
        known.kind = FACT_SUM;
        known.b.bits = x->form->opcode == HD_OP_SUB ? 0 - x->s[1].bits : x->s[1].bits;
    } else if (x->form->opcode == HD_OP_CVT && x->width == 64 && hd_types[x->form->types[1]].bits == 32) {
        known.kind = FACT_WIDE;
        known.sign = hd_types[x->form->types[1]].class == HD_CLASS_SIGNED;
    } else if (x->form->opcode == HD_OP_MUL && hd_types[type].bits == 32 && half != HD_MOD_HALF_HI) {
        known.kind = FACT_PRODUCT;
        known.wide = half == HD_MOD_HALF_WIDE;
        known.sign = sign;
    } else if (x->form->opcode == HD_OP_SHL && x->width == 32 && factor_of(x, &factor)) {
        known.kind = FACT_PRODUCT;
        known.b.bits = factor;
    }
    return known;
}

/* mov d, number; mov d, {x, y}. */
static fact fact_of_mov(const fold *p, uint32_t ordinal)
{
    const hd_function *f = p->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    const hd_operand *o = hd_insn_operands(f, insn);
    fact known = {.ordinal = ordinal};
    if (hd_insn_form(f, insn)->opcode != HD_OP_MOV || insn->operand_count < 2 || o->kind != HD_OPERAND_REGISTER ||
        o->extra || f->registers.items[o->value].vector != 1)
        return known;
    uint32_t width = width_of(p, o->value);
    known.width = (uint8_t)width;
    if (width >= 16 && width <= 64 && o[1].kind == HD_OPERAND_LITERAL && read_term(p, &o[1], width, &known.a))
        known.kind = FACT_NUMBER;
    else if ((width == 32 || width == 64) && o[1].kind == HD_OPERAND_VECTOR && o[1].count == 2 &&
             insn->operand_count == 4 && read_term(p, &o[2], width / 2, &known.a) &&
             read_term(p, &o[3], width / 2, &known.b) && o[2].kind == HD_OPERAND_REGISTER &&
             o[3].kind == HD_OPERAND_REGISTER)
        known.kind = FACT_PACK, known.a.number = known.b.number = false;
    return known;
}

static void learn(fold *p, uint32_t reg, fact known)
{
    uint32_t value = known.kind == FACT_NONE ? 0 : hd_value_of(&p->walk, reg);
    if (!value)
        return;
    while (p->of_value.count <= value)
        hd_array_push(&p->of_value, 0u);
    hd_array_push(&p->facts, known);
    p->of_value.items[value] = p->facts.count;
}

static bool change(fold *p, const site *x)
{
    static const struct {
        bool (*simplify)(fold *, const site *);
        uint8_t count;
        bool fuses;
    } ways[] = {{fold_numbers, COUNT_NUMBERS, false},      {fold_identity, COUNT_IDENTITIES, false},
                {fold_division, COUNT_IDENTITIES, false},  {fold_widening, COUNT_WIDENED, true},
                {fold_narrowing, COUNT_IDENTITIES, false}, {fold_sum, COUNT_SUMS, true}};
    for (uint32_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if ((p->fuse || !ways[i].fuses) && ways[i].simplify(p, x)) {
            p->counts[ways[i].count]++;
            return true;
        }
    return false;
}

static void visit(fold *p, uint32_t ordinal)
{
    hd_function *f = p->function;
    site x;
    uint32_t more;
    while (read_site(p, ordinal, &x) && change(p, &x)) {
    } /* each step simplifies the instruction */
    fold_addresses(p, ordinal);
    p->counts[COUNT_PACKS] += fold_unpack(p, ordinal, &more);
    fact known = read_site(p, ordinal, &x) ? fact_of_site(&x) : fact_of_mov(p, ordinal);
    const hd_instruction *insn = &f->instructions.items[ordinal];
    uint32_t reg = insn->operand_count ? hd_insn_operands(f, insn)->value : 0;
    hd_value_define(&p->walk, ordinal);
    if (insn->guard == HD_NONE && !(insn->flags & HD_INSN_OPAQUE))
        learn(p, reg, known);
    if (more != HD_NONE)
        hd_value_define_register(&p->walk, more);
}

static void count_readings(fold *p, hd_arena *arena)
{
    const hd_function *f = p->function;
    uint8_t slots[HD_REWRITE_OPERANDS];
    p->readings = HD_ARENA_ARRAY(arena, uint32_t, f->registers.count);
    p->addresses = HD_ARENA_ARRAY(arena, uint32_t, f->registers.count);
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        bool known = hd_operand_slots(f, insn, slots);
        const hd_operand *o = hd_insn_operands(f, insn);
        if (insn->guard != HD_NONE)
            p->readings[insn->guard]++;
        for (uint32_t k = 0; k < insn->operand_count; k++)
            if (o[k].kind == HD_OPERAND_REGISTER && (o[k].flags & HD_OPERAND_USE || insn->flags & HD_INSN_OPAQUE)) {
                p->readings[o[k].value]++;
                p->addresses[o[k].value] += known && slots[k] == HD_SLOT_BASE;
            }
    }
}

bool hd_pass_fold(hd_pass_context *context)
{
    static const char *const names[] = {"constant results",       "identities",
                                        "widening products",      "products fused with a sum",
                                        "address offsets folded", "packs split"};
    fold p = {.function = context->function, .fuse = hd_option_text(context, "fuse") != NULL};
    bool vectors, changed = hd_rewrite_hoist(p.function, &context->scratch, &vectors);
    if (vectors)
        return changed;
    hd_edit_begin(&p.edit, p.function);
    count_readings(&p, &context->scratch);
    hd_value_walk_start(&p.walk, p.function, &context->scratch);
    for (uint32_t i; (i = hd_value_walk_block(&p.walk)) != HD_NONE;)
        for (; i < p.walk.end; i++)
            visit(&p, i);
    hd_value_walk_end(&p.walk);
    hd_edit_end(&p.edit);
    for (uint32_t c = 0; c < sizeof names / sizeof *names; c++) {
        hd_statistic_add(context, names[c], p.counts[c]);
        changed |= p.counts[c] != 0;
    }
    hd_array_free(&p.of_value);
    hd_array_free(&p.facts);
    return changed;
}
