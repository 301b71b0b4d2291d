/* Where a warp may wait for another one: see waits.h. */
#include "ir/waits.h"
#include "ir/machine.h"

typedef struct wait_row {
    uint16_t opcode, group, modifier;
} wait_row;

#define HD_GROUP_NONE HD_MODIFIER_GROUP_COUNT
#define HD_MOD_NONE_NONE HD_MOD_NONE
static const wait_row rows[] = {
#define HD_WAIT(id, group, modifier) {HD_OP_##id, HD_GROUP_##group, HD_MOD_##group##_##modifier},
#include "ir/waits.def"
#undef HD_WAIT
};

bool hd_insn_waits_for_others(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    if (form->machine)
        return hd_machine_waits_for_others(form->machine);
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].opcode == form->opcode &&
            (rows[i].group == HD_GROUP_NONE || form->modifiers[rows[i].group] == rows[i].modifier))
            return true;
    return false;
}

bool hd_insn_waits(const hd_function *f, const hd_instruction *insn)
{
    uint32_t behaviour = hd_insn_form(f, insn)->behaviour;
    bool yields = behaviour & HD_BEHAVE_YIELD && !(behaviour & HD_BEHAVE_WARP);
    return behaviour & HD_BEHAVE_BARRIER || yields || hd_insn_waits_for_others(f, insn);
}

static bool brings_value(const hd_function *f, const hd_instruction *insn)
{
    HD_INSN_REGISTERS (f, insn, o)
        if (o->flags & HD_OPERAND_DEF)
            return true;
    return false;
}

/* Loads of what no thread may write while the kernel runs. */
static bool is_read_only(const hd_form *form)
{
    if (form->machine)
        return hd_machine_loads_read_only(form->machine);
    switch (form->opcode) {
    case HD_OP_LDU:
    case HD_OP_TEX:
    case HD_OP_TLD4:
    case HD_OP_TXQ:
    case HD_OP_SUQ: return true;
    default: return form->modifiers[HD_GROUP_NC];
    }
}

bool hd_insn_loads_shared_value(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    bool fixed = form->space == HD_SPACE_PARAM || form->space == HD_SPACE_PARAM_ENTRY ||
                 form->space == HD_SPACE_PARAM_FUNC || form->space == HD_SPACE_CONST || is_read_only(form);
    return form->behaviour & (HD_BEHAVE_LOAD | HD_BEHAVE_ATOMIC | HD_BEHAVE_TEXTURE) && !fixed &&
           form->space != HD_SPACE_LOCAL && brings_value(f, insn);
}

bool hd_insn_loads_local(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    return form->behaviour & HD_BEHAVE_LOAD && form->space == HD_SPACE_LOCAL && brings_value(f, insn);
}

bool hd_insn_may_store_local(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    bool somewhere = form->space == HD_SPACE_LOCAL || form->space == HD_SPACE_NONE;
    return insn->flags & HD_INSN_OPAQUE || (form->behaviour & (HD_BEHAVE_STORE | HD_BEHAVE_ATOMIC) && somewhere);
}

bool hd_insn_observes_other_warps(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    uint16_t order = form->modifiers[HD_GROUP_SEM];
    bool strong = form->behaviour & (HD_BEHAVE_ATOMIC | HD_BEHAVE_VOLATILE) || (order && order != HD_MOD_SEM_WEAK) ||
                  form->modifiers[HD_GROUP_CACHE] == HD_MOD_CACHE_CV;
    if (form->machine)
        strong = !hd_machine_is_plain_load(form);
    return strong && !(form->behaviour & HD_BEHAVE_TEXTURE) && hd_insn_loads_shared_value(f, insn);
}
