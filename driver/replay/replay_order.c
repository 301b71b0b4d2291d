/* Kernels whose results may depend on when warps do what. The interpreter decides their values, and cycles are those of
 * what it did. Static: what the kernel contains, and if it calls, all that may be called. Whether a run comes to it is
 * not asked, and of what an atomic returns only whether some instruction reads its register. Loads that wait for stores
 * of other blocks are not found. O(instructions) for each atomic. */
#include "driver/replay/replay_work.h"
#include "ir/form.h"
#include "ir/sregs.h"

static bool reads_time(const hd_function *f)
{
    for (uint32_t o = 0; o < f->operands.count; o++)
        if (f->operands.items[o].kind == HD_OPERAND_SREG &&
            hd_sregs[f->operands.items[o].value].varies == HD_VARIES_TIME)
            return true;
    return false;
}

static bool is_read(const hd_function *f, uint32_t reg)
{
    for (uint32_t i = 0; i < f->instructions.count; i++)
        HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
            if (o->flags & HD_OPERAND_USE && o->value == reg)
                return true;
    return false;
}

static bool returns_something(const hd_function *f, const hd_instruction *insn)
{
    HD_INSN_REGISTERS (f, insn, o)
        if (o->flags & HD_OPERAND_DEF && is_read(f, o->value))
            return true;
    return false;
}

static const char *reason_in(const hd_function *f, bool *calls)
{
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        const hd_form *form = hd_insn_form(f, insn);
        bool atomic = form->opcode == HD_OP_ATOM || form->opcode == HD_OP_RED;
        *calls = *calls || form->behaviour & HD_BEHAVE_CALL;
        if (atomic && returns_something(f, insn))
            return "what its atomics return";
        if (atomic && form->type_count && hd_types[form->types[0]].class == HD_CLASS_FLOAT)
            return "floats that it adds atomically";
    }
    return reads_time(f) ? "clocks that it reads" : NULL;
}

const char *replay_order_of(const hd_module *module, const char *kernel)
{
    const hd_function *f = hd_module_find_function(module, kernel);
    bool calls = false;
    const char *reason = f ? reason_in(f, &calls) : NULL;
    for (uint32_t i = 0; i < module->functions.count && calls && !reason; i++)
        if (!module->functions.items[i]->is_entry)
            reason = reason_in(module->functions.items[i], &calls);
    return reason;
}

bool replay_reads_time(const hd_module *module)
{
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (reads_time(module->functions.items[i]))
            return true;
    return false;
}
