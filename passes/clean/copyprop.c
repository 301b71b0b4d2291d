/* copyprop(all): copy propagation.
 *
 * A read of d is replaced if d still holds the value of an unguarded `mov`:
 *
 *   mov d, s         by s, while s still holds the copied value (passes/analysis/values.h: no definition and no join
 *                    between); guards too
 *   mov d, 5         by the number, if the instruction has an immediate field: not for values sent to memory, textures,
 *                    calls, matrix units (zero may be stored), nor for elements of vectors, which machine code takes
 *                    from registers
 *   mov d, variable  by the variable, as the base of an address in the variable's own space
 *
 * A copy to a register with several definitions often ends a side of a branch or a loop (a phi copy); later reads are
 * kept, or both registers would stay live. They are replaced if the copy is not live out of its block. With `all` every
 * copy is propagated. Reads of special registers are not moved, and copies of kernel parameters are left to the pass
 * params.
 *
 * Registers of inner scopes are declared for the whole body first, so that the copied registers can be named; a
 * function with vector registers in inner scopes is not changed.
 *
 * The copies themselves remain: dce removes them. Complexity: near-linear (passes/analysis/values.h). Not handled:
 * guarded copies, and copies equal only on all paths; halves of packed and unpacked vectors (see fold).
 */
#include "passes/analysis/liveness.h"
#include "passes/rewrite.h"
#include "passes/analysis/values.h"

typedef enum fact_kind { FACT_NONE, FACT_COPY, FACT_NUMBER, FACT_VARIABLE } fact_kind;

typedef struct fact {    /* known property of a value */
    uint8_t kind, width; /* NUMBER: bits */
    uint32_t reg, value; /* COPY: the source */
    uint64_t bits;       /* NUMBER */
    hd_operand from[2];  /* VARIABLE: symbol and offset */
} fact;

typedef struct copyprop {
    hd_function *function;
    hd_value_walk walk;
    uint32_t *facts_of; /* by value: index in facts + 1; 0 = none */
    uint32_t capacity;  /* of facts_of */
    HD_ARRAY(fact) facts;
    uint8_t *definitions; /* by register: 0, 1, 2 = more */
    hd_bitset escapes;    /* by ordinal: its result is live out of its block */
    hd_u32_array scoped;  /* variables of inner scopes, except call parameters */
    bool all;
    uint64_t replaced[4]; /* by fact_kind */
} copyprop;

/* ---- recognizing copies ------------------------------------------------------------------------------------------ */

/* The value of a literal in a register of the mov's type. */
static bool number_of(const hd_literal *literal, hd_type type, uint64_t *bits)
{
    uint32_t width = hd_types[type].bits;
    *bits = literal->bits & (width < 64 ? (1ull << width) - 1 : ~0ull);
    switch ((hd_literal_kind)literal->kind) {
    case HD_LITERAL_SIGNED:
    case HD_LITERAL_UNSIGNED: return hd_types[type].class != HD_CLASS_FLOAT;
    case HD_LITERAL_F32_BITS: return width == 32;
    case HD_LITERAL_F64_BITS:
    case HD_LITERAL_DECIMAL: break;
    }
    if (type != HD_TYPE_F32)
        return type == HD_TYPE_F64;
    double wide;
    memcpy(&wide, &literal->bits, sizeof wide);
    float narrow = (float)wide;
    uint32_t word;
    memcpy(&word, &narrow, sizeof word);
    *bits = word;
    return (double)narrow == wide;
}

static fact fact_of_mov(const copyprop *p, const hd_form *form, const hd_operand *from)
{
    const hd_module *m = p->function->module;
    fact none = {0};
    switch ((hd_operand_kind)from->kind) {
    case HD_OPERAND_REGISTER:
        if (from->flags & HD_OPERAND_NOT || from->extra || p->function->registers.items[from->value].vector != 1)
            return none;
        return (fact){.kind = FACT_COPY, .reg = from->value, .value = hd_value_of(&p->walk, from->value)};
    case HD_OPERAND_LITERAL:
        none.width = (uint8_t)hd_types[form->types[0]].bits;
        none.kind = none.width >= 16 && none.width <= 64 &&
                            number_of(&m->literals.items[from->value], (hd_type)form->types[0], &none.bits)
                        ? FACT_NUMBER
                        : FACT_NONE;
        return none;
    case HD_OPERAND_SYMBOL:
        if (m->symbols.items[from->value].kind != HD_SYMBOL_VARIABLE || hd_is_scoped_name(m, &p->scoped, from->value))
            return none;
        none.kind = FACT_VARIABLE;
        memcpy(none.from, from, (1u + from->count) * sizeof *from);
        return none;
    default: /* others are not copied */ return none;
    }
}

static bool may_propagate(const copyprop *p, uint32_t ordinal, uint32_t reg)
{
    return p->all || p->definitions[reg] < 2 || !hd_bitset_has(&p->escapes, ordinal);
}

/* Called after hd_value_define: records the property of the new value. */
static void learn(copyprop *p, uint32_t ordinal, fact found)
{
    uint32_t value =
        hd_value_of(&p->walk, hd_insn_operands(p->function, &p->function->instructions.items[ordinal])->value);
    if (!value)
        return;
    if (value >= p->capacity) {
        uint32_t old = p->capacity;
        p->capacity = 2 * value + 64;
        p->facts_of = hd_realloc(p->facts_of, p->capacity * sizeof *p->facts_of);
        memset(p->facts_of + old, 0, (p->capacity - old) * sizeof *p->facts_of);
    }
    hd_array_push(&p->facts, found);
    p->facts_of[value] = p->facts.count;
}

/* The property defined by an unguarded mov to one whole register. */
static fact find_fact(const copyprop *p, uint32_t ordinal)
{
    const hd_instruction *insn = &p->function->instructions.items[ordinal];
    const hd_form *form = hd_insn_form(p->function, insn);
    const hd_operand *o = hd_insn_operands(p->function, insn);
    if (form->opcode != HD_OP_MOV || insn->guard != HD_NONE || insn->operand_count < 2 ||
        insn->flags & HD_INSN_OPAQUE || o->kind != HD_OPERAND_REGISTER || o->extra ||
        p->function->registers.items[o->value].vector != 1 || o[1].kind == HD_OPERAND_VECTOR ||
        !may_propagate(p, ordinal, o->value))
        return (fact){0};
    return fact_of_mov(p, form, &o[1]);
}

/* ---- replacing reads --------------------------------------------------------------------------------------------- */

static const fact *fact_about(const copyprop *p, uint32_t reg)
{
    uint32_t value = hd_value_of(&p->walk, reg);
    return value && value < p->capacity && p->facts_of[value] ? &p->facts.items[p->facts_of[value] - 1] : NULL;
}

static bool holds_still(const copyprop *p, const fact *known)
{
    return known && known->kind == FACT_COPY && known->value && hd_value_of(&p->walk, known->reg) == known->value;
}

/* Zero is a register in machine code (RZ), so stores can read it, too. */
static bool takes_number(const hd_form *form, uint64_t bits)
{
    const uint32_t others =
        HD_BEHAVE_LOAD | HD_BEHAVE_STORE | HD_BEHAVE_ATOMIC | HD_BEHAVE_TEXTURE | HD_BEHAVE_CALL | HD_BEHAVE_ASYNC;
    bool video = form->opcode >= HD_OP_VADD && form->opcode <= HD_OP_VSET4; /* take no immediates, as measured */
    /* ptxas 13.0 keeps the lower half of a constant that says how far to shift 16 bits: in a register it is right */
    bool cut = (form->opcode == HD_OP_SHL || form->opcode == HD_OP_SHR) && hd_types[form->types[0]].bits == 16;
    if (cut && bits > UINT16_MAX)
        return false;
    if (form->opcode == HD_OP_ST && bits == 0)
        return true;
    return !(form->behaviour & others) && form->opcode != HD_OP_CVT && !video && hd_form_unit(form) != HD_UNIT_TENSOR;
}

static bool put_number(copyprop *p, uint32_t ordinal, uint32_t index, const fact *known)
{
    hd_function *f = p->function;
    const hd_operand *o = &hd_insn_operands(f, &f->instructions.items[ordinal])[index];
    if (!takes_number(hd_insn_form(f, &f->instructions.items[ordinal]), known->bits) ||
        o->flags & (HD_OPERAND_NOT | HD_OPERAND_MINUS) ||
        hd_types[f->registers.items[o->value].type].bits != known->width)
        return false;
    hd_operand number = hd_rewrite_integer(f->module, known->bits, known->width);
    if (hd_rewrite_operand(f, ordinal, index, &number, 1))
        return true;
    if (known->width < 32)
        return false;
    number =
        hd_make_literal_operand(f->module, known->bits, known->width == 32 ? HD_LITERAL_F32_BITS : HD_LITERAL_F64_BITS);
    return hd_rewrite_operand(f, ordinal, index, &number, 1);
}

static bool put_register(copyprop *p, uint32_t ordinal, uint32_t index, const fact *known)
{
    hd_function *f = p->function;
    const hd_operand *o = &hd_insn_operands(f, &f->instructions.items[ordinal])[index];
    const hd_register *registers = f->registers.items;
    if (hd_types[registers[o->value].type].bits != hd_types[registers[known->reg].type].bits || o->value == known->reg)
        return false;
    hd_operand with[2] = {*o};
    if (o->count)
        with[1] = o[1];
    with[0].value = known->reg;
    return hd_rewrite_operand(f, ordinal, index, with, 1u + o->count);
}

/* [d + 4], d = variable + 8: [variable + 12]. */
static bool put_variable(copyprop *p, uint32_t ordinal, uint32_t index, const fact *known)
{
    hd_function *f = p->function;
    hd_module *m = f->module;
    const hd_operand *o = &hd_insn_operands(f, &f->instructions.items[ordinal])[index];
    const hd_form *form = hd_insn_form(f, &f->instructions.items[ordinal]);
    if (form->space == HD_SPACE_NONE || !(form->behaviour & (HD_BEHAVE_LOAD | HD_BEHAVE_STORE | HD_BEHAVE_ATOMIC)))
        return false;
    int64_t offset = (known->from[0].count ? (int64_t)m->literals.items[known->from[1].value].bits : 0) +
                     (o->count ? (int64_t)m->literals.items[o[1].value].bits : 0);
    if (offset < -(1 << 23) || offset >= 1 << 23)
        return false;
    hd_operand with[2] = {hd_make_operand(HD_OPERAND_SYMBOL, known->from[0].value)};
    if (offset) {
        with[0].count = 1;
        with[1] = hd_rewrite_integer(m, (uint64_t)offset, 64);
    }
    return hd_rewrite_operand(f, ordinal, index, with, 1u + with[0].count);
}

/* One step: the replacement may be known to be a copy, a number or a variable itself. */
static bool replace(copyprop *p, uint32_t ordinal, uint32_t index, hd_operand_slot slot)
{
    const hd_operand *o = &hd_insn_operands(p->function, &p->function->instructions.items[ordinal])[index];
    const fact *known = o->kind == HD_OPERAND_REGISTER ? fact_about(p, o->value) : NULL;
    bool done = false;
    if (holds_still(p, known))
        done = put_register(p, ordinal, index, known);
    else if (known && known->kind == FACT_NUMBER && slot == HD_SLOT_SCALAR)
        done = put_number(p, ordinal, index, known);
    else if (known && known->kind == FACT_VARIABLE && slot == HD_SLOT_BASE)
        done = put_variable(p, ordinal, index, known);
    if (done)
        p->replaced[known->kind]++;
    return done;
}

static void replace_guard(copyprop *p, uint32_t ordinal)
{
    hd_instruction *insn = &p->function->instructions.items[ordinal];
    const fact *known = insn->guard == HD_NONE ? NULL : fact_about(p, insn->guard);
    if (!holds_still(p, known) || known->reg == insn->guard)
        return;
    insn->guard = known->reg;
    insn->flags |= HD_INSN_DIRTY;
    p->function->changed = true;
    p->replaced[FACT_COPY]++;
}

static void visit(copyprop *p, uint32_t ordinal)
{
    hd_function *f = p->function;
    uint8_t slots[HD_REWRITE_OPERANDS];
    hd_instruction *insn = &f->instructions.items[ordinal];
    replace_guard(p, ordinal);
    if (hd_insn_form(f, insn)->opcode != HD_OP_CALL && hd_operand_slots(f, insn, slots))
        for (uint32_t i = insn->operand_count; i-- > 0;) /* backwards: a change moves only operands already visited */
            if (slots[i] != HD_SLOT_FIXED && hd_operand_is_reading(f, insn, &hd_insn_operands(f, insn)[i]))
                while (replace(p, ordinal, i, (hd_operand_slot)slots[i])) {
                }
    fact found = find_fact(p, ordinal);
    hd_value_define(&p->walk, ordinal);
    if (found.kind != FACT_NONE)
        learn(p, ordinal, found);
}

/* ---- the function ------------------------------------------------------------------------------------------------ */

static void count_definitions(copyprop *p, const hd_liveness *liveness, hd_arena *arena)
{
    const hd_function *f = p->function;
    const hd_cfg *cfg = hd_function_cfg(p->function);
    uint32_t *killed = HD_ARENA_ARRAY(arena, uint32_t, f->registers.count);
    p->definitions = HD_ARENA_ARRAY(arena, uint8_t, f->registers.count);
    p->escapes = hd_bitset_new(arena, f->instructions.count);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        for (uint32_t i = cfg->blocks[b].end; i-- > cfg->blocks[b].first;)
            HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
                if (o->flags & HD_OPERAND_DEF) {
                    p->definitions[o->value] += p->definitions[o->value] < 2;
                    if (killed[o->value] != b + 1 && hd_register_set_has(liveness->live_out[b], o->value))
                        hd_bitset_add(&p->escapes, i);
                    if (hd_definition_kills(f, &f->instructions.items[i], o))
                        killed[o->value] = b + 1;
                }
}

bool hd_pass_copyprop(hd_pass_context *context)
{
    copyprop p = {.function = context->function, .all = hd_option_text(context, "all") != NULL};
    bool vectors, hoisted = hd_rewrite_hoist(p.function, &context->scratch, &vectors);
    if (vectors)
        return hoisted;
    hd_scoped_variables(p.function, &p.scoped);
    count_definitions(&p, hd_liveness_build(context, &context->scratch), &context->scratch);
    hd_value_walk_start(&p.walk, p.function, &context->scratch);
    for (uint32_t i; (i = hd_value_walk_block(&p.walk)) != HD_NONE;)
        for (; i < p.walk.end; i++)
            visit(&p, i);
    hd_value_walk_end(&p.walk);
    free(p.facts_of);
    hd_array_free(&p.facts);
    hd_array_free(&p.scoped);
    hd_statistic_add(context, "uses replaced by the copied register", p.replaced[FACT_COPY]);
    hd_statistic_add(context, "uses replaced by a constant", p.replaced[FACT_NUMBER]);
    hd_statistic_add(context, "addresses folded into variables", p.replaced[FACT_VARIABLE]);
    return hoisted || p.replaced[FACT_COPY] + p.replaced[FACT_NUMBER] + p.replaced[FACT_VARIABLE] != 0;
}
