/* The registers that count for the estimate, and their numbers of words.
 *
 * Predicates have a register file of their own; kernel parameters, launch sizes and constants at fixed addresses are
 * operands of the instructions that read them. From sm_75 on, uniform integers may be in the uniform register file;
 * ptxas puts only some there, so the estimate considers both extremes.
 */
#include "passes/estimate/estimate_work.h"
#include "passes/clean/constants.h"

/* ld.const from an address known to the assembler: also an operand. */
static bool reads_fixed_constant(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    if (form->opcode != HD_OP_LD || form->space != HD_SPACE_CONST || insn->guard != HD_NONE)
        return false;
    HD_INSN_REGISTERS (f, insn, o)
        if (o->flags & HD_OPERAND_USE)
            return false;
    return true;
}

/* ---- values that the uniform datapath can hold ------------------------------------------------------------------- */

/* Whether the uniform datapath (sm_75 and up) has such an instruction: integers, no memory except parameters. */
static bool is_uniform_operation(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    if (form->type_count && hd_types[form->types[0]].class == HD_CLASS_FLOAT)
        return form->opcode == HD_OP_MOV;
    switch (form->opcode) {
    case HD_OP_LD: return hd_insn_reads_constant(f, insn);
    case HD_OP_MUL:
    case HD_OP_MAD: return hd_types[form->types[0]].bits == 32;
    case HD_OP_MOV:
    case HD_OP_ADD:
    case HD_OP_SUB:
    case HD_OP_SHL:
    case HD_OP_SHR:
    case HD_OP_AND:
    case HD_OP_OR:
    case HD_OP_XOR:
    case HD_OP_NOT:
    case HD_OP_NEG:
    case HD_OP_LOP3:
    case HD_OP_SETP:
    case HD_OP_SELP:
    case HD_OP_PRMT:
    case HD_OP_SHF:
    case HD_OP_BFE: return true;
    case HD_OP_CVT: return hd_types[form->types[1]].class != HD_CLASS_FLOAT;
    default: return false;
    }
}

/* Drops from `uniform` the registers that an instruction defines other than by uniform operations on uniform
 * registers. */
static bool drop_results(const hd_function *f, const hd_instruction *insn, bool *uniform)
{
    bool fits = is_uniform_operation(f, insn), changed = false;
    if (insn->guard != HD_NONE)
        fits &= uniform[insn->guard];
    HD_INSN_REGISTERS (f, insn, u)
        if (u->flags & HD_OPERAND_USE)
            fits &= uniform[u->value];
    if (fits)
        return false;
    HD_INSN_REGISTERS (f, insn, d)
        if (d->flags & HD_OPERAND_DEF && uniform[d->value]) {
            uniform[d->value] = false;
            changed = true;
        }
    return changed;
}

enum { UNIFORM_ROUNDS = 8, UNIFORM_SINCE = 75 };
static void find_uniform(estimate_work *w, const hd_uniformity *uniformity)
{
    const hd_function *f = w->function;
    for (uint32_t r = 0; r < f->registers.count; r++)
        w->uniform[r] =
            f->module->target_number >= UNIFORM_SINCE && !hd_bitset_has(&uniformity->divergent_registers, r);
    bool changed = f->module->target_number >= UNIFORM_SINCE;
    for (uint32_t round = 0; changed && round < UNIFORM_ROUNDS; round++) {
        changed = false;
        for (uint32_t i = 0; i < f->instructions.count; i++)
            changed |= drop_results(f, &f->instructions.items[i], w->uniform);
    }
}

/* Whether one instruction computes a register from a constant operand (machine instructions take one) and at most one
 * other register, neither of which changes: it can be rematerialized wherever that register is available. *from: that
 * register, or HD_NONE. */
static bool is_cheap(const estimate_work *w, uint32_t ordinal, uint32_t *from)
{
    const hd_function *f = w->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    const hd_form *form = hd_insn_form(f, insn);
    const hd_operand *o = hd_insn_operands(f, insn);
    uint32_t constants = 0, registers = 0;
    *from = HD_NONE;
    if (insn->guard != HD_NONE || !insn->operand_count || o[0].kind != HD_OPERAND_REGISTER ||
        w->definitions[o[0].value] != 1 ||
        (form->opcode != HD_OP_MUL && form->opcode != HD_OP_ADD && form->opcode != HD_OP_SUB &&
         form->opcode != HD_OP_MOV))
        return false;
    HD_INSN_REGISTERS (f, insn, u) {
        if (!(u->flags & HD_OPERAND_USE))
            continue;
        if (w->definitions[u->value] != 1)
            return false;
        if (w->skip[w->first_definition[u->value]]) {
            constants++;
        } else {
            registers++;
            *from = u->value;
        }
    }
    return constants == 1 && registers <= 1;
}

uint32_t estimate_source(const estimate_work *w, uint32_t ordinal)
{
    uint32_t from;
    return w->all || !is_cheap(w, ordinal, &from) || from == HD_NONE || w->base[from] != from ? HD_NONE : from;
}

bool estimate_is_extension(const estimate_work *w, uint32_t ordinal)
{
    const hd_function *f = w->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    const hd_form *form = hd_insn_form(f, insn);
    const hd_operand *o = hd_insn_operands(f, insn);
    if (form->opcode != HD_OP_CVT || insn->operand_count != 2 || insn->guard != HD_NONE)
        return false;
    if (o[0].kind != HD_OPERAND_REGISTER || o[1].kind != HD_OPERAND_REGISTER || w->definitions[o[0].value] != 1)
        return false;
    return hd_types[form->types[0]].bits == 64 && hd_types[form->types[0]].class != HD_CLASS_FLOAT &&
           (form->types[1] == HD_TYPE_U32 || form->types[1] == HD_TYPE_S32);
}

static bool is_free(const estimate_work *w, uint32_t reg)
{
    uint32_t from;
    return w->uniform[reg] ||
           (w->definitions[reg] == 1 && is_cheap(w, w->first_definition[reg], &from) && from == HD_NONE);
}

void estimate_weigh(estimate_work *w, bool all)
{
    const hd_function *f = w->function;
    w->all = all;
    for (uint32_t r = 0; r < f->registers.count; r++) {
        w->words[r] = !all && is_free(w, r) ? 0 : (uint8_t)hd_register_words(f, r);
        w->root[r] = w->base[r];
    }
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_operand *o = hd_insn_operands(f, &f->instructions.items[i]);
        uint32_t source = estimate_source(w, i);
        if (estimate_is_extension(w, i))
            w->words[o[0].value] = w->words[o[1].value];
        if (source != HD_NONE && w->base[o[0].value] == o[0].value)
            w->root[o[0].value] = source;
    }
    /* registers that differ by a constant from a rematerialized one */
    for (uint32_t r = 0; r < f->registers.count; r++)
        w->root[r] = w->root[w->base[r]];
    for (uint32_t i = 0; i < f->instructions.count; i++)
        if (w->skip[i])
            HD_INSN_REGISTERS (f, &f->instructions.items[i], d)
                w->words[d->value] = 0;
}

/* ---- addresses --------------------------------------------------------------------------------------------------- */

bool estimate_is_address_sum(const estimate_work *w, const hd_instruction *insn)
{
    const hd_function *f = w->function;
    const hd_operand *o = hd_insn_operands(f, insn);
    const hd_form *form = hd_insn_form(f, insn);
    if (form->opcode != HD_OP_ADD || insn->guard != HD_NONE || insn->operand_count != 3 ||
        o[0].kind != HD_OPERAND_REGISTER || o[1].kind != HD_OPERAND_REGISTER)
        return false;
    if (hd_types[form->types[0]].class == HD_CLASS_FLOAT ||
        (o[2].kind != HD_OPERAND_LITERAL && o[2].kind != HD_OPERAND_REGISTER))
        return false;
    return w->words[o[0].value] == 2 || w->address_only[o[0].value];
}

static void find_uses(estimate_work *w)
{
    const hd_function *f = w->function;
    for (uint32_t r = 0; r < f->registers.count; r++) {
        w->base[r] = r;
        w->address_only[r] = true;
    }
    for (uint32_t i = f->instructions.count; i-- > 0;) {
        const hd_operand *o = hd_insn_operands(f, &f->instructions.items[i]);
        for (uint32_t k = 0; k < f->instructions.items[i].operand_count; k++) {
            if (o[k].kind != HD_OPERAND_REGISTER)
                continue;
            if (o[k].flags & HD_OPERAND_DEF) {
                w->first_definition[o[k].value] = i;
                w->definitions[o[k].value]++;
            }
            if (o[k].flags & HD_OPERAND_USE && (!k || o[k - 1].kind != HD_OPERAND_ADDRESS))
                w->address_only[o[k].value] = false;
        }
    }
}

/* `base`: registers that are another one plus a constant, an extension of it, or its other half, where neither changes.
 * In PTX order definitions precede uses, except with backward jumps, where roots are found one step at a time. */
static void find_bases(estimate_work *w)
{
    const hd_function *f = w->function;
    for (uint32_t r = 0; r < f->registers.count; r++)
        if (w->packed[r] < r)
            w->base[r] = w->packed[r];
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        const hd_operand *o = hd_insn_operands(f, insn);
        bool moved = estimate_is_address_sum(w, insn) && o[2].kind == HD_OPERAND_LITERAL;
        if (!moved && !estimate_is_extension(w, i))
            continue;
        if (w->definitions[o[0].value] == 1 && w->definitions[o[1].value] == 1 && w->base[o[1].value] != o[0].value)
            w->base[o[0].value] = w->base[o[1].value];
    }
}

void estimate_values_init(estimate_work *w, const hd_uniformity *uniformity)
{
    uint32_t registers = w->function->registers.count, instructions = w->function->instructions.count;
    w->words = HD_ARENA_ARRAY(w->arena, uint8_t, registers);
    w->uniform = HD_ARENA_ARRAY(w->arena, bool, registers);
    w->address_only = HD_ARENA_ARRAY(w->arena, bool, registers);
    w->base = HD_ARENA_ARRAY(w->arena, uint32_t, registers);
    w->root = HD_ARENA_ARRAY(w->arena, uint32_t, registers);
    w->definitions = HD_ARENA_ARRAY(w->arena, uint32_t, registers);
    w->first_definition = HD_ARENA_ARRAY(w->arena, uint32_t, registers);
    w->value_of = HD_ARENA_ARRAY(w->arena, uint32_t, registers);
    w->stamp = HD_ARENA_ARRAY(w->arena, uint32_t, registers);
    w->packed = hd_packed_halves(w->function, w->arena);
    w->skip = HD_ARENA_ARRAY(w->arena, bool, instructions);
    for (uint32_t i = 0; i < instructions; i++) {
        const hd_instruction *insn = &w->function->instructions.items[i];
        w->skip[i] = hd_insn_reads_constant(w->function, insn) || reads_fixed_constant(w->function, insn);
    }
    find_uses(w);
    find_uniform(w, uniformity);
    estimate_weigh(w, true);
    find_bases(w);
}
