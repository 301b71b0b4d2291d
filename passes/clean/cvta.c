/* cvta: replaces address conversions between global and generic by moves.
 *
 * Global memory has the same addresses in the generic space on every GPU, so cvta.to.global and cvta.global generate no
 * machine code; copyprop then propagates the moves. Conversions of other spaces (shared, local, constant, parameters)
 * add the base of a window and stay. The instruction is changed in place and keeps its guard. Linear.
 */
#include "passes/rewrite.h"

static bool is_no_op(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    const hd_operand *o = hd_insn_operands(f, insn);
    if (form->opcode != HD_OP_CVTA || form->space != HD_SPACE_GLOBAL || insn->flags & HD_INSN_OPAQUE)
        return false;
    return o[1].kind == HD_OPERAND_REGISTER ||
           (o[1].kind == HD_OPERAND_SYMBOL && f->module->symbols.items[o[1].value].space == HD_SPACE_GLOBAL);
}

bool hd_pass_cvta(hd_pass_context *context)
{
    hd_function *f = context->function;
    uint64_t count = 0;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        if (!is_no_op(f, insn))
            continue;
        bool wide = hd_types[hd_insn_form(f, insn)->types[0]].bits == 64;
        hd_operand operands[HD_REWRITE_OPERANDS];
        if (insn->operand_count > HD_REWRITE_OPERANDS)
            continue;
        memcpy(operands, hd_insn_operands(f, insn), insn->operand_count * sizeof *operands);
        count += hd_rewrite_instruction(f, i, wide ? "mov.u64" : "mov.u32", operands, insn->operand_count);
    }
    hd_statistic_add(context, "address conversions that are moves", count);
    return count != 0;
}
