/* Calls that keep to the calling convention, which takes 24 registers: indirect ones, and those of a function that has
 * no body here, that calls itself, or whose address is in a variable or taken by the caller. Of other functions ptxas
 * inlines small ones and gives big ones registers as their caller needs them; what they need themselves is not seen
 * here, nor is an address that another function takes, nor recursion through several.
 *
 * Complexity: linear in the caller, in initializers and in the bodies of its callees, times the callees.
 */
#include "passes/estimate_work.h"

/* The operand that says what a call calls. */
static const hd_operand *callee_of(const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(f, insn), *end = o + insn->operand_count;
    if (!(hd_insn_form(f, insn)->behaviour & HD_BEHAVE_CALL))
        return NULL;
    while (o < end && o->kind == HD_OPERAND_LIST)
        o += hd_operand_extent(o);
    return o < end ? o : NULL;
}

static bool calls_symbol(const hd_function *f, uint32_t symbol)
{
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_operand *o = callee_of(f, &f->instructions.items[i]);
        if (o && o->kind == HD_OPERAND_SYMBOL && o->value == symbol)
            return true;
    }
    return false;
}

static bool takes_address(const hd_function *f, uint32_t symbol)
{
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        const hd_operand *o = hd_insn_operands(f, insn), *callee = callee_of(f, insn);
        for (uint32_t k = 0; k < insn->operand_count; k++)
            if (&o[k] != callee && o[k].kind == HD_OPERAND_SYMBOL && o[k].value == symbol)
                return true;
    }
    return false;
}

static bool is_stored(const hd_module *m, uint32_t symbol)
{
    for (uint32_t i = 0; i < m->initializers.count; i++)
        if (m->initializers.items[i].kind == HD_INIT_ADDRESS && m->initializers.items[i].symbol == symbol)
            return true;
    return false;
}

static bool keeps_convention(const hd_function *caller, uint32_t symbol)
{
    hd_module *m = caller->module;
    const hd_function *callee = hd_module_find_function(m, hd_names_text(&m->names, m->symbols.items[symbol].name));
    return !callee || !callee->has_body || is_stored(m, symbol) || takes_address(caller, symbol) ||
           calls_symbol(callee, symbol);
}

uint32_t estimate_count_calls(const hd_function *f)
{
    hd_u32_array known = {0}; /* 2 * symbol + whether calls of it keep to the convention */
    uint32_t calls = 0;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_operand *o = callee_of(f, &f->instructions.items[i]);
        if (!(hd_insn_form(f, &f->instructions.items[i])->behaviour & HD_BEHAVE_CALL))
            continue;
        if (!o || o->kind != HD_OPERAND_SYMBOL) {
            calls++;
            continue;
        }
        uint32_t k = 0;
        while (k < known.count && known.items[k] / 2 != o->value)
            k++;
        if (k == known.count)
            hd_array_push(&known, 2 * o->value + keeps_convention(f, o->value));
        calls += known.items[k] & 1;
    }
    hd_array_free(&known);
    return calls;
}
