/* Asynchronous use of registers: see asynchronous.h. Linear in operands. */
#include "ir/asynchronous.h"
#include "ir/machine.h"

static hd_async row_of(uint16_t opcode)
{
    switch (opcode) {
#define HD_ASYNCHRONOUS(id, queue, part) \
    case HD_OP_##id:                     \
        return (hd_async){HD_ASYNC_##part, HD_ASYNC_##queue, 0};
#include "ir/asynchronous.def"
#undef HD_ASYNCHRONOUS
    default: return (hd_async){.part = HD_ASYNC_NONE};
    }
}

/* In machine code one instruction waits for all operations (WARPGROUP.DEPBAR.LE gsb0, 0x0). It has no wait for tensor
 * memory. */
static hd_async machine_part(const hd_machine_form *form)
{
    if (!form->row || form->variant == HD_MACHINE_NEVER)
        return (hd_async){.part = HD_ASYNC_NONE};
    const char *opcode = form->row->opcode;
    if (strcmp(opcode + 1, "GMMA") == 0)
        return (hd_async){HD_ASYNC_BEGIN, HD_ASYNC_LOAD, 0};
    if (strcmp(opcode, "LDTM") == 0 || strcmp(opcode, "STTM") == 0)
        return (hd_async){HD_ASYNC_BEGIN, HD_ASYNC_STORE, 0};
    if (strcmp(opcode, "WARPGROUP") == 0 && hd_sass_form_has(form->sass, ".DEPBAR"))
        return (hd_async){HD_ASYNC_WAIT, HD_ASYNC_LOAD, 0};
    return (hd_async){.part = HD_ASYNC_NONE};
}

static hd_async part_of(const hd_form *form)
{
    return form->machine ? machine_part(form->machine) : row_of(form->opcode);
}

/* Whether the last operand is 0x0. */
static bool waits_for_all(const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *last = hd_insn_operands(f, insn) + insn->operand_count - 1;
    return insn->operand_count && last->kind == HD_OPERAND_NAME &&
           strcmp(hd_names_text(&f->module->names, last->value), "0x0") == 0;
}

hd_async hd_insn_async(const hd_function *f, const hd_instruction *insn)
{
    hd_async row = part_of(hd_insn_form(f, insn));
    const hd_operand *o = hd_insn_operands(f, insn);
    if (row.part == HD_ASYNC_NONE || row.part == HD_ASYNC_BEGIN)
        return row;
    if (insn->guard != HD_NONE || insn->flags & HD_INSN_OPAQUE)
        return (hd_async){.part = HD_ASYNC_NONE};
    if (f->machine && row.part == HD_ASYNC_WAIT && !waits_for_all(f, insn))
        return (hd_async){.part = HD_ASYNC_NONE};
    if (row.part != HD_ASYNC_WAIT || row.queue != HD_ASYNC_GROUP)
        return row;
    if (insn->operand_count != 1 || o->kind != HD_OPERAND_LITERAL)
        return (hd_async){.part = HD_ASYNC_NONE};
    uint64_t pending = f->module->literals.items[o->value].bits;
    row.pending = pending < UINT32_MAX ? (uint32_t)pending : UINT32_MAX;
    return row;
}

/* Most modules have no such instruction. */
static bool module_has_async(const hd_module *m)
{
    for (uint32_t i = 0; i < m->forms.count; i++)
        if (part_of(&m->forms.items[i]).part == HD_ASYNC_BEGIN)
            return true;
    return false;
}

bool hd_function_has_async(const hd_function *f)
{
    if (!module_has_async(f->module))
        return false;
    for (uint32_t i = 0; i < f->instructions.count; i++)
        if (part_of(hd_insn_form(f, &f->instructions.items[i])).part == HD_ASYNC_BEGIN)
            return true;
    return false;
}

const hd_operand *hd_async_data(const hd_function *f, const hd_instruction *insn, const hd_operand *from)
{
    const hd_operand *end = hd_insn_operands(f, insn) + insn->operand_count;
    while (from < end) {
        if (from->kind == HD_OPERAND_ADDRESS) {
            from += hd_operand_extent(from);
            continue;
        }
        if (from->kind == HD_OPERAND_REGISTER && hd_register_words(f, from->value) == 1)
            return from;
        from++;
    }
    return NULL;
}
