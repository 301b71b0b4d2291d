/* Pairs of 16-bit registers in one register: see packed.h. Linear in operands. */
#include "passes/analysis/packed.h"

#include "ir/form.h"

enum { HALF_BITS = 16 };

/* Whether elements of the instruction's vectors are adjacent 16-bit halves: smaller elements are moved into registers
 * of their own. */
static bool has_halves(const hd_form *form, uint32_t elements)
{
    uint32_t bits = form->type_count ? hd_types[form->types[0]].bits : 0;
    return form->opcode == HD_OP_MOV ? bits == HALF_BITS * elements : bits == HALF_BITS;
}

static bool is_half(const hd_function *f, const hd_operand *o, const uint32_t *definitions)
{
    return o->kind == HD_OPERAND_REGISTER && o->flags & HD_OPERAND_DEF && definitions[o->value] == 1 &&
           hd_types[f->registers.items[o->value].type].bits == HALF_BITS;
}

static void pair_elements(const hd_function *f, const hd_operand *vector, const uint32_t *definitions, uint32_t *other)
{
    const hd_operand *element = vector + 1;
    for (uint32_t i = 0; i + 1 < vector->count; i += 2) {
        if (!is_half(f, &element[i], definitions) || !is_half(f, &element[i + 1], definitions))
            continue;
        other[element[i].value] = element[i + 1].value;
        other[element[i + 1].value] = element[i].value;
    }
}

static bool is_module_wide(const hd_function *f, uint32_t reg)
{
    uint32_t declaration = f->registers.items[reg].declaration; /* %CC has no declaration */
    return declaration < f->declarations.count && f->declarations.items[declaration].depth == 0;
}

/* By register: its definition count; registers that may be defined outside the function count as more than one. */
static uint32_t *count_definitions(const hd_function *f, hd_arena *scratch)
{
    uint32_t *definitions = HD_ARENA_ARRAY(scratch, uint32_t, f->registers.count);
    for (uint32_t r = 0; r < f->registers.count; r++)
        definitions[r] = is_module_wide(f, r) ? 2 : 0;
    for (uint32_t i = 0; i < f->register_parameters.count; i++)
        definitions[f->register_parameters.items[i]]++;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        HD_INSN_REGISTERS (f, insn, o)
            if (o->flags & HD_OPERAND_DEF || insn->flags & HD_INSN_OPAQUE)
                definitions[o->value]++;
    }
    return definitions;
}

uint32_t *hd_packed_halves(const hd_function *f, hd_arena *arena)
{
    hd_arena scratch = {0};
    uint32_t *other = hd_arena_alloc(arena, ((size_t)f->registers.count + 1) * sizeof *other);
    uint32_t *definitions = count_definitions(f, &scratch);
    memset(other, 0xff, ((size_t)f->registers.count + 1) * sizeof *other);
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        const hd_operand *o = hd_insn_operands(f, insn), *end = o + insn->operand_count;
        for (; o < end && !(insn->flags & HD_INSN_OPAQUE); o += hd_operand_extent(o))
            if (o->kind == HD_OPERAND_VECTOR && has_halves(hd_insn_form(f, insn), o->count))
                pair_elements(f, o, definitions, other);
    }
    hd_arena_free(&scratch);
    return other;
}
