/* Vector accesses whose elements cannot lie side by side where they are: each element gets a register of its own, with
 * a move before a store and behind a load; a guarded load gets the old values by moves before it. Linear in the
 * function. */
#include "passes/regalloc_work.h"

#include "ir/build.h"

static const char *move_opcode(hd_type type)
{
    switch (hd_physical_class_of(type)) {
    case HD_PHYSICAL_HALF:
        return "mov.b16";
    case HD_PHYSICAL_PAIR:
        return "mov.b64";
    case HD_PHYSICAL_QUAD:
        return "mov.b128";
    default:
        return "mov.b32";
    }
}

static hd_instruction move_to(hd_regalloc *ra, const hd_instruction *beside, uint32_t to, uint32_t from)
{
    hd_function *f = ra->function;
    hd_operand o[] = {hd_make_register_operand(to), hd_make_register_operand(from)};
    hd_instruction move =
        hd_make_instruction(f, move_opcode((hd_type)f->registers.items[to].type), HD_NONE, false, o, 2, NULL);
    move.location = beside->location;
    ra->result.moves++;
    return move;
}

static void split(hd_regalloc *ra, hd_edit *edit, uint32_t ordinal)
{
    hd_function *f = ra->function;
    hd_instruction *insn = &f->instructions.items[ordinal];
    uint32_t at = insn->operand_first + hd_regalloc_vector_of(f, insn), count = f->operands.items[at].count;
    for (uint32_t i = at + 1; i <= at + count; i++) {
        hd_operand element = f->operands.items[i];
        if (element.kind != HD_OPERAND_REGISTER)
            continue;
        bool is_load = element.flags & HD_OPERAND_DEF;
        uint32_t t = hd_regalloc_new_register(ra, (hd_type)f->registers.items[element.value].type, HD_NO_SPILL);
        if (!is_load || insn->guard != HD_NONE)
            hd_edit_before(edit, ordinal, move_to(ra, insn, t, element.value));
        if (is_load)
            hd_edit_after(edit, ordinal, move_to(ra, insn, element.value, t));
        f->operands.items[i].value = t;
    }
    insn->flags |= HD_INSN_DIRTY;
}

void hd_regalloc_split_vectors(hd_regalloc *ra, const hd_u32_array *conflicts)
{
    hd_edit edit;
    hd_edit_begin(&edit, ra->function);
    for (uint32_t i = 0; i < conflicts->count; i++)
        split(ra, &edit, conflicts->items[i]);
    hd_edit_end(&edit);
}
