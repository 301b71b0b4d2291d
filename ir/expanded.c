/* See expanded.h. */
#include "ir/expanded.h"

#include "ir/form.h"

enum { ACCUMULATOR = 3 }; /* operands: result, two factors, accumulator */

bool hd_insn_is_expanded(const hd_function *function, const hd_instruction *insn)
{
    uint16_t opcode = hd_insn_form(function, insn)->opcode;
    return opcode == HD_OP_WMMA_MMA || opcode == HD_OP_MMA;
}

static uint32_t elements_of(const hd_operand *o) { return o->kind == HD_OPERAND_VECTOR ? o->count : 1; }

uint32_t hd_insn_accumulator(const hd_function *function, const hd_instruction *insn, uint32_t result)
{
    const hd_operand *o = hd_insn_operands(function, insn);
    uint32_t at = 0;
    for (uint32_t k = 0; k < ACCUMULATOR && at < insn->operand_count; k++)
        at += (o[at].kind == HD_OPERAND_VECTOR) + elements_of(&o[at]);
    if (at >= insn->operand_count || elements_of(&o[at]) != elements_of(o))
        return HD_NONE;
    uint32_t place = result - (o->kind == HD_OPERAND_VECTOR);
    return at + (o[at].kind == HD_OPERAND_VECTOR) + place;
}
