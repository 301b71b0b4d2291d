/* Vector accesses whose elements cannot be adjacent: each element gets a new register, with a move before a store and
 * after a load; before a guarded load, moves copy the old values. Linear in the function. */
#include "passes/regalloc/regalloc_work.h"

#include "ir/build.h"

enum { HD_VECTOR_MOST = 8, HD_VECTOR_REACH = 64 /* instructions */ };

static const char *move_opcode(hd_type type)
{
    switch (hd_physical_class_of(type)) {
    case HD_PHYSICAL_HALF: return "mov.b16";
    case HD_PHYSICAL_PAIR: return "mov.b64";
    case HD_PHYSICAL_QUAD: return "mov.b128";
    default: return "mov.b32";
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

/* The last store that was split: following stores of the same registers reuse its copies. */
typedef struct last_store {
    uint32_t ordinal, count; /* no elements: none */
    uint32_t elements[HD_VECTOR_MOST], copies[HD_VECTOR_MOST];
} last_store;

static bool writes_any(const hd_function *f, const hd_instruction *insn, const last_store *last)
{
    HD_INSN_REGISTERS (f, insn, o)
        for (uint32_t i = 0; i < last->count; i++)
            if (o->flags & HD_OPERAND_DEF && o->value == last->elements[i])
                return true;
    return false;
}

static bool same_elements(const last_store *last, const hd_operand *vector)
{
    bool same = last->count == vector->count;
    for (uint32_t i = 0; same && i < last->count; i++)
        same = vector[1 + i].kind == HD_OPERAND_REGISTER && vector[1 + i].value == last->elements[i];
    return same;
}

static bool reuses(hd_regalloc *ra, last_store *last, uint32_t ordinal, hd_operand *vector)
{
    const hd_function *f = ra->function;
    if (!last->count || !same_elements(last, vector) || ordinal - last->ordinal > HD_VECTOR_REACH ||
        ra->cfg->block_of[ordinal] != ra->cfg->block_of[last->ordinal])
        return false;
    for (uint32_t i = last->ordinal; i < ordinal; i++)
        if (writes_any(f, &f->instructions.items[i], last))
            return false;
    for (uint32_t i = 0; i < last->count; i++) {
        vector[1 + i].value = last->copies[i];
        ra->flags.items[last->copies[i]] = 0; /* its live range grows: treat it like any other register */
    }
    last->ordinal = ordinal;
    return true;
}

static void split_load(hd_regalloc *ra, hd_edit *edit, uint32_t ordinal, uint32_t at)
{
    hd_function *f = ra->function;
    hd_instruction *insn = &f->instructions.items[ordinal];
    for (uint32_t i = at + 1, end = at + f->operands.items[at].count; i <= end; i++) {
        hd_operand element = f->operands.items[i];
        if (element.kind != HD_OPERAND_REGISTER)
            continue;
        uint32_t t = hd_regalloc_new_register(ra, (hd_type)f->registers.items[element.value].type, HD_NO_SPILL);
        if (insn->guard != HD_NONE)
            hd_edit_before(edit, ordinal, move_to(ra, insn, t, element.value));
        hd_edit_after(edit, ordinal, move_to(ra, insn, element.value, t));
        f->operands.items[i].value = t;
    }
}

static void split_store(hd_regalloc *ra, hd_edit *edit, uint32_t ordinal, uint32_t at, last_store *last)
{
    hd_function *f = ra->function;
    uint32_t count = f->operands.items[at].count;
    if (reuses(ra, last, ordinal, &f->operands.items[at]))
        return;
    last->ordinal = ordinal;
    last->count = count <= HD_VECTOR_MOST ? count : 0;
    for (uint32_t i = 0; i < count; i++) {
        hd_operand element = f->operands.items[at + 1 + i];
        if (element.kind != HD_OPERAND_REGISTER) {
            last->count = 0;
            continue;
        }
        uint32_t t = hd_regalloc_new_register(ra, (hd_type)f->registers.items[element.value].type, HD_NO_SPILL);
        hd_edit_before(edit, ordinal, move_to(ra, &f->instructions.items[ordinal], t, element.value));
        f->operands.items[at + 1 + i].value = t;
        if (i < last->count) {
            last->elements[i] = element.value;
            last->copies[i] = t;
        }
    }
}

void hd_regalloc_split_vectors(hd_regalloc *ra, const hd_u32_array *conflicts)
{
    hd_edit edit;
    last_store last = {0};
    hd_edit_begin(&edit, ra->function);
    for (uint32_t i = 0; i < conflicts->count; i++) {
        hd_instruction *insn = &ra->function->instructions.items[conflicts->items[i]];
        uint32_t at = insn->operand_first + hd_regalloc_vector_of(ra->function, insn);
        insn->flags |= HD_INSN_DIRTY;
        if (hd_insn_form(ra->function, insn)->opcode == HD_OP_ST)
            split_store(ra, &edit, conflicts->items[i], at, &last);
        else
            split_load(ra, &edit, conflicts->items[i], at);
    }
    hd_edit_end(&edit);
}
