/* Changes instructions in place (passes/rewrite.h). Operands that do not fit in their old range are appended to the
 * function's operands, as the parser does; O(operands of the instruction) each. */
#include "passes/rewrite.h"
#include "ir/machine.h"

/* ---- operand positions ------------------------------------------------------------------------------------------- */

/* Marks operand `index` and its elements; returns the index after them. */
static uint32_t mark_slots(const hd_operand *operands, uint32_t index, uint8_t slot, uint8_t *slots)
{
    const hd_operand *o = &operands[index];
    uint32_t next = index + 1;
    slots[index] = slot;
    for (uint32_t i = 0; i < o->count; i++) {
        uint8_t inner = HD_SLOT_ELEMENT;
        if (o->flags & (HD_OPERAND_WHOLE | HD_OPERAND_BARE) || slot == HD_SLOT_FIXED)
            inner = HD_SLOT_FIXED;
        else if (o->kind == HD_OPERAND_ADDRESS && i == 0)
            inner = HD_SLOT_BASE;
        else if (o->kind == HD_OPERAND_PAIR)
            inner = HD_SLOT_SCALAR;
        next = mark_slots(operands, next, inner, slots);
    }
    return next;
}

bool hd_operand_slots(const hd_function *f, const hd_instruction *insn, uint8_t slots[HD_REWRITE_OPERANDS])
{
    if (insn->operand_count > HD_REWRITE_OPERANDS)
        return false;
    for (uint32_t i = 0; i < insn->operand_count;)
        i = mark_slots(hd_insn_operands(f, insn), i, HD_SLOT_SCALAR, slots);
    return true;
}

bool hd_operand_is_reading(const hd_function *f, const hd_instruction *insn, const hd_operand *o)
{
    return o->kind == HD_OPERAND_REGISTER && (o->flags & (HD_OPERAND_DEF | HD_OPERAND_USE)) == HD_OPERAND_USE &&
           !(o->flags & HD_OPERAND_IMPLICIT) && !o->extra && !(insn->flags & HD_INSN_OPAQUE) &&
           f->registers.items[o->value].vector == 1;
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

static uint32_t explicit_count(const hd_function *f, const hd_instruction *insn)
{
    uint32_t count = insn->operand_count;
    while (count && hd_insn_operands(f, insn)[count - 1].flags & HD_OPERAND_IMPLICIT)
        count--;
    return count;
}

/* `operands` have their roles, and include implicit ones. */
static void put_operands(hd_function *f, uint32_t ordinal, const hd_operand *operands, uint32_t count)
{
    hd_instruction *insn = &f->instructions.items[ordinal];
    if (count > insn->operand_count) {
        insn->operand_first = f->operands.count;
        (void)hd_array_extend(&f->operands, count);
    }
    memcpy(f->operands.items + insn->operand_first, operands, count * sizeof *operands);
    insn->operand_count = (uint16_t)count;
    insn->flags |= HD_INSN_DIRTY;
    f->changed = true;
}

bool hd_rewrite_instruction(hd_function *f, uint32_t ordinal, const char *spelling, const hd_operand *operands,
                            uint32_t count)
{
    hd_operand copy[HD_REWRITE_OPERANDS];
    uint32_t form = hd_form_of(f->module, hd_names_add_string(&f->module->names, spelling));
    if (count > HD_REWRITE_OPERANDS)
        return false;
    memcpy(copy, operands, count * sizeof *copy);
    const hd_form *info = &f->module->forms.items[form];
    if (info->flags & (HD_FORM_READS_CARRY | HD_FORM_WRITES_CARRY) || !hd_form_accepts(f, info, copy, count))
        return false;
    f->instructions.items[ordinal].form = form;
    put_operands(f, ordinal, copy, count);
    return true;
}

bool hd_rewrite_operand(hd_function *f, uint32_t ordinal, uint32_t index, const hd_operand *with, uint32_t count)
{
    const hd_instruction *insn = &f->instructions.items[ordinal];
    const hd_operand *old = hd_insn_operands(f, insn);
    uint32_t extent = hd_operand_extent(&old[index]), fixed = explicit_count(f, insn), all = insn->operand_count;
    if (all - extent + count > HD_REWRITE_OPERANDS)
        return false;
    hd_operand copy[HD_REWRITE_OPERANDS];
    memcpy(copy, old, index * sizeof *copy);
    memcpy(copy + index, with, count * sizeof *copy);
    memcpy(copy + index + count, old + index + extent, (all - index - extent) * sizeof *copy);
    if (!hd_form_accepts(f, hd_insn_form(f, insn), copy, fixed - extent + count))
        return false;
    put_operands(f, ordinal, copy, all - extent + count);
    return true;
}

/* ---- operands for changes ---------------------------------------------------------------------------------------- */

hd_operand hd_rewrite_integer(hd_module *module, uint64_t bits, uint32_t width)
{
    if (width < 64) {
        uint64_t sign = 1ull << (width - 1);
        bits &= (sign << 1) - 1;
        bits = (bits ^ sign) - sign;
    } else if (bits >> 63 && bits < 0xffffffff00000000u) {
        return hd_make_literal_operand(module, bits, HD_LITERAL_UNSIGNED);
    }
    return hd_make_literal_operand(module, bits, HD_LITERAL_SIGNED);
}

static bool is_taken(const hd_function *f, const char *stem)
{
    for (uint32_t i = 0; i < f->declarations.count; i++)
        if (strncmp(hd_names_text(&f->module->names, f->declarations.items[i].name), stem, strlen(stem)) == 0)
            return true;
    return false;
}

const char *hd_rewrite_stem(const hd_function *f, const char *name, hd_arena *arena)
{
    const char *stem = hd_arena_printf(arena, "%%%s", name);
    for (uint32_t i = 1; is_taken(f, stem); i++)
        stem = hd_arena_printf(arena, "%%%s%u_", name, i);
    return stem;
}

/* ---- scopes ------------------------------------------------------------------------------------------------------ */

static void rename_operands(hd_function *f, const uint32_t *renamed)
{
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        hd_instruction *insn = &f->instructions.items[i];
        hd_operand *o = f->operands.items + insn->operand_first;
        if (insn->guard != HD_NONE && renamed[insn->guard] != HD_NONE) {
            insn->guard = renamed[insn->guard];
            insn->flags |= HD_INSN_DIRTY;
        }
        for (uint32_t k = 0; k < insn->operand_count; k++) {
            if (o[k].kind != HD_OPERAND_REGISTER || renamed[o[k].value] == HD_NONE)
                continue;
            o[k].extra = hd_operand_selector(f, &o[k]);
            o[k].value = renamed[o[k].value];
            insn->flags |= HD_INSN_DIRTY;
        }
    }
}

/* Counts the registers of inner scopes by type and numbers them within their type. */
static bool count_scoped(const hd_function *f, uint32_t *numbers, uint32_t *counts, bool *vectors)
{
    bool any = false;
    for (uint32_t r = 0; r < f->registers.count; r++) {
        const hd_register *reg = &f->registers.items[r];
        numbers[r] = HD_NONE;
        if (reg->declaration >= f->declarations.count || f->declarations.items[reg->declaration].depth < 2)
            continue;
        *vectors |= reg->vector > 1;
        if (reg->vector == 1)
            any = true, numbers[r] = counts[reg->type]++;
    }
    return any;
}

bool hd_rewrite_hoist(hd_function *f, hd_arena *arena, bool *vectors)
{
    uint32_t count = f->registers.count, counts[HD_TYPE_COUNT] = {0}, bases[HD_TYPE_COUNT];
    uint32_t *renamed = HD_ARENA_ARRAY(arena, uint32_t, count);
    *vectors = false;
    if (!count_scoped(f, renamed, counts, vectors))
        return false;
    for (uint32_t t = 0; t < HD_TYPE_COUNT; t++) {
        if (!counts[t])
            continue;
        const char *name = hd_arena_printf(arena, "scoped_%s_", hd_types[t].spelling);
        bases[t] = hd_make_registers(f, hd_rewrite_stem(f, name, arena), (hd_type)t, counts[t]);
    }
    for (uint32_t r = 0; r < count; r++)
        if (renamed[r] != HD_NONE)
            renamed[r] += bases[f->registers.items[r].type];
    rename_operands(f, renamed);
    return true;
}

void hd_scoped_variables(const hd_function *f, hd_u32_array *variables)
{
    const hd_module *m = f->module;
    uint32_t depth = 1;
    for (uint32_t i = 0; i < f->statements.count; i++) {
        const hd_statement *s = &f->statements.items[i];
        depth += s->kind == HD_STATEMENT_SCOPE_OPEN;
        depth -= s->kind == HD_STATEMENT_SCOPE_CLOSE;
        if (s->kind != HD_STATEMENT_VARIABLES || depth == 1)
            continue;
        const hd_group *group = &m->variable_groups.items[s->index];
        for (uint32_t k = group->first; k < group->first + group->count; k++)
            if (m->symbols.items[k].space != HD_SPACE_PARAM)
                hd_array_push(variables, k);
    }
}

bool hd_is_scoped_name(const hd_module *m, const hd_u32_array *variables, uint32_t symbol)
{
    for (uint32_t i = 0; i < variables->count; i++)
        if (m->symbols.items[variables->items[i]].name == m->symbols.items[symbol].name)
            return true;
    return false;
}

/* ---- effects of instructions ------------------------------------------------------------------------------------- */

static bool is_plain_load(const hd_form *form)
{
    if (form->machine)
        return hd_machine_is_plain_load(form);
    if (form->opcode != HD_OP_LD && form->opcode != HD_OP_LDU && !(form->behaviour & HD_BEHAVE_TEXTURE))
        return false;
    uint16_t order = form->modifiers[HD_GROUP_SEM];
    return (order == 0 || order == HD_MOD_SEM_WEAK) && form->modifiers[HD_GROUP_CACHE] != HD_MOD_CACHE_CV;
}

bool hd_insn_is_removable(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    const uint32_t effects = HD_BEHAVE_STORE | HD_BEHAVE_ATOMIC | HD_BEHAVE_BARRIER | HD_BEHAVE_WARP | HD_BEHAVE_FENCE |
                             HD_BEHAVE_BRANCH | HD_BEHAVE_CALL | HD_BEHAVE_RETURN | HD_BEHAVE_EXIT | HD_BEHAVE_TRAP |
                             HD_BEHAVE_ASYNC | HD_BEHAVE_VOLATILE;
    if (insn->flags & HD_INSN_OPAQUE || form->behaviour & effects)
        return false;
    return !(form->behaviour & HD_BEHAVE_LOAD) || is_plain_load(form);
}
