/* Which instructions compute the low half of their 64-bit result from the low halves of their operands. */
#include "passes/clean/low_half.h"
#include "passes/rewrite.h"

#include <stdio.h>

bool hd_is_integer(uint8_t type, uint32_t bits)
{
    uint8_t class = hd_types[type].class;
    return hd_types[type].bits == bits && hd_types[type].lanes == 1 &&
           (class == HD_CLASS_BITS || class == HD_CLASS_UNSIGNED || class == HD_CLASS_SIGNED);
}

bool hd_is_wide_integer(const hd_function *f, const hd_operand *o)
{
    return o->kind == HD_OPERAND_REGISTER && !o->extra && f->registers.items[o->value].vector == 1 &&
           hd_is_integer(f->registers.items[o->value].type, 64);
}

/* Whether there is no modifier but one of this group (HD_MODIFIER_GROUP_COUNT: none), and no carry. */
static bool has_only(const hd_form *form, uint32_t group)
{
    for (uint32_t g = 0; g < HD_MODIFIER_GROUP_COUNT; g++)
        if (form->modifiers[g] && g != group)
            return false;
    return !(form->flags & (HD_FORM_WRITES_CARRY | HD_FORM_READS_CARRY));
}

static bool is_plain(const hd_form *form) { return has_only(form, HD_MODIFIER_GROUP_COUNT); }

/* Registers and numbers, none of 64 bits that is no integer. */
static bool sources_fit(const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(f, insn);
    for (uint32_t k = 1; k < insn->operand_count; k++) {
        if (o[k].kind == HD_OPERAND_LITERAL)
            continue;
        if (o[k].kind != HD_OPERAND_REGISTER || o[k].extra || o[k].count || f->registers.items[o[k].value].vector != 1)
            return false;
        if (hd_types[f->registers.items[o[k].value].type].bits == 64 && !hd_is_wide_integer(f, &o[k]))
            return false;
    }
    return true;
}

/* The spelling with its last type replaced. */
static bool retype(const hd_function *f, const hd_form *form, const char *type, char to[HD_LOW_HALF_SPELLING])
{
    const char *spelled = hd_names_text(&f->module->names, form->spelling), *last = strrchr(spelled, '.');
    return snprintf(to, HD_LOW_HALF_SPELLING, "%.*s.%s", (int)(last - spelled), spelled, type) < HD_LOW_HALF_SPELLING;
}

static bool product(const hd_form *form, const char *name, char to[HD_LOW_HALF_SPELLING])
{
    uint16_t half = form->modifiers[HD_GROUP_HALF];
    bool fits = (half == HD_MOD_HALF_LO && hd_is_integer(form->types[0], 64)) ||
                (half == HD_MOD_HALF_WIDE && hd_is_integer(form->types[0], 32));
    return fits && has_only(form, HD_GROUP_HALF) && snprintf(to, HD_LOW_HALF_SPELLING, "%s.lo.u32", name) > 0;
}

static bool conversion(const hd_function *f, const hd_form *form, const hd_operand *from, char to[HD_LOW_HALF_SPELLING])
{
    uint8_t type = form->types[1];
    bool is_register = from->kind == HD_OPERAND_REGISTER && !from->extra;
    uint32_t bits = is_register ? hd_types[f->registers.items[from->value].type].bits : 0;
    if (form->type_count != 2 || !hd_is_integer(form->types[0], 64) || !is_register || !is_plain(form))
        return false;
    if (hd_is_integer(type, 64) || hd_is_integer(type, 32))
        return bits == hd_types[type].bits && snprintf(to, HD_LOW_HALF_SPELLING, "mov.b32") > 0;
    return (hd_is_integer(type, 16) || hd_is_integer(type, 8)) && bits <= 32 &&
           snprintf(to, HD_LOW_HALF_SPELLING, "cvt.u32.%s", hd_types[type].spelling) > 0;
}

static bool is_variable(const hd_function *f, const hd_operand *o)
{
    return o->kind == HD_OPERAND_SYMBOL && f->module->symbols.items[o->value].kind == HD_SYMBOL_VARIABLE;
}

/* A plain load reads the low half in its place: little-endian. Parameters of device functions are in registers. */
static bool load(const hd_function *f, const hd_form *form, const hd_operand *address, char to[HD_LOW_HALF_SPELLING])
{
    bool parameter =
        form->space == HD_SPACE_PARAM || form->space == HD_SPACE_PARAM_ENTRY || form->space == HD_SPACE_PARAM_FUNC;
    uint16_t order = form->modifiers[HD_GROUP_SEM];
    if (form->vector != 1 || form->behaviour & HD_BEHAVE_VOLATILE || form->modifiers[HD_GROUP_MMIO] ||
        form->modifiers[HD_GROUP_VOLATILE] || form->modifiers[HD_GROUP_HINT] || (order && order != HD_MOD_SEM_WEAK) ||
        address->count != 1)
        return false;
    if (parameter && (!f->is_entry || address[1].kind != HD_OPERAND_SYMBOL ||
                      f->module->symbols.items[address[1].value].kind != HD_SYMBOL_PARAMETER))
        return false;
    return retype(f, form, "u32", to);
}

bool hd_low_half(const hd_function *f, const hd_instruction *insn, char to[HD_LOW_HALF_SPELLING])
{
    const hd_form *form = hd_insn_form(f, insn);
    const hd_operand *o = hd_insn_operands(f, insn);
    if (insn->flags & HD_INSN_OPAQUE || insn->operand_count < 2 || insn->operand_count > HD_REWRITE_OPERANDS ||
        !hd_is_wide_integer(f, o) || !(o->flags & HD_OPERAND_DEF))
        return false;
    bool fits = sources_fit(f, insn), plain = fits && hd_is_integer(form->types[0], 64) && is_plain(form);
    switch (form->opcode) {
    case HD_OP_ADD: return plain && snprintf(to, HD_LOW_HALF_SPELLING, "add.u32") > 0;
    case HD_OP_SUB: return plain && snprintf(to, HD_LOW_HALF_SPELLING, "sub.u32") > 0;
    case HD_OP_NEG: return plain && snprintf(to, HD_LOW_HALF_SPELLING, "neg.s32") > 0;
    case HD_OP_AND:
    case HD_OP_OR:
    case HD_OP_XOR:
    case HD_OP_NOT:
    case HD_OP_SHL:
    case HD_OP_SELP: return plain && retype(f, form, "b32", to);
    case HD_OP_MUL: return fits && product(form, "mul", to);
    case HD_OP_MAD: return fits && product(form, "mad", to);
    case HD_OP_CVT: return fits && conversion(f, form, &o[1], to);
    case HD_OP_MOV:
        return (plain || (hd_is_integer(form->types[0], 64) && is_variable(f, &o[1]))) && retype(f, form, "u32", to);
    case HD_OP_CVTA: return fits && hd_is_integer(form->types[0], 64) && retype(f, form, "u32", to);
    case HD_OP_LD: return hd_is_integer(form->types[0], 64) && load(f, form, &o[1], to);
    default: return false;
    }
}

bool hd_is_truncation(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    const hd_operand *o = hd_insn_operands(f, insn);
    return form->opcode == HD_OP_CVT && form->type_count == 2 && insn->operand_count == 2 &&
           hd_is_integer(form->types[1], 64) && !hd_is_integer(form->types[0], 64) &&
           o[0].kind == HD_OPERAND_REGISTER && !o[0].extra &&
           (hd_is_integer(form->types[0], 32) || hd_is_integer(form->types[0], 16)) &&
           hd_types[f->registers.items[o[0].value].type].bits == hd_types[form->types[0]].bits && is_plain(form);
}
