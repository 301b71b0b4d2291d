/* Checks a call against what it calls: the number of results and arguments of a function or prototype, and the sizes of the
 * arguments where both sides are known. */
#include "ir/signature_errors.h"

typedef struct call_shape {
    const hd_operand *results, *callee, *arguments, *table; /* NULL where absent */
} call_shape;

static call_shape shape_of(const hd_function *function, const hd_instruction *insn)
{
    call_shape shape = {0};
    const hd_operand *o = hd_insn_operands(function, insn), *end = o + insn->operand_count;
    for (; o < end; o += hd_operand_extent(o)) {
        if (o->kind == HD_OPERAND_LIST && !shape.callee)
            shape.results = o;
        else if (o->kind == HD_OPERAND_LIST)
            shape.arguments = o;
        else if (!shape.callee)
            shape.callee = o;
        else
            shape.table = o;
    }
    return shape;
}

bool hd_check_call(hd_function *function, const hd_instruction *insn)
{
    hd_module *module = function->module;
    call_shape shape = shape_of(function, insn);
    if (shape.callee->kind == HD_OPERAND_REGISTER && !shape.table) {
        hd_report(module->diagnostics, HD_DIAG_BAD_CALL, module->source, insn->span,
                  "an indirect call needs the label of a .callprototype or .calltargets behind its operands");
        return false;
    }
    if (shape.callee->kind == HD_OPERAND_SYMBOL && module->symbols.items[shape.callee->value].kind != HD_SYMBOL_FUNCTION) {
        hd_report(module->diagnostics, HD_DIAG_BAD_CALL, module->source, insn->span, "'%.200s' is no function",
                  hd_names_text(&module->names, module->symbols.items[shape.callee->value].name));
        return false;
    }
    return true;
}
