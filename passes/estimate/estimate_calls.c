/* Calls that follow the calling convention, which reserves 24 registers: indirect ones, and calls of a function without
 * a body in the module, that calls itself, or whose address is in a variable or taken by the caller. Of other callees
 * ptxas inlines small ones and allocates large ones together with their caller; the registers that these need,
 * addresses taken by other functions, and recursion through several functions are not considered.
 *
 * Complexity: linear in the caller, in the bodies of its callees and in initializers, except for sorting.
 */
#include "passes/estimate/estimate_work.h"

#include "base/compare.h"

/* The operand that names the callee. */
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

static void sort(hd_u32_array *symbols)
{
    if (symbols->count)
        qsort(symbols->items, symbols->count, sizeof *symbols->items, hd_compare_u32);
}

typedef struct named {          /* lists of functions, with duplicates */
    hd_u32_array called, taken; /* by the caller's calls; by its other operands, and in variables */
} named;

/* The number of calls whose callee is not a function's name. */
static uint32_t find_named(const hd_function *f, named *n)
{
    const hd_module *m = f->module;
    uint32_t others = 0;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        const hd_operand *o = hd_insn_operands(f, insn), *callee = callee_of(f, insn);
        bool by_name = callee && callee->kind == HD_OPERAND_SYMBOL;
        if (by_name)
            hd_array_push(&n->called, callee->value);
        others += hd_insn_form(f, insn)->behaviour & HD_BEHAVE_CALL && !by_name;
        for (uint32_t k = 0; k < insn->operand_count; k++)
            if (&o[k] != callee && o[k].kind == HD_OPERAND_SYMBOL &&
                m->symbols.items[o[k].value].kind == HD_SYMBOL_FUNCTION)
                hd_array_push(&n->taken, o[k].value);
    }
    for (uint32_t i = 0; n->called.count && i < m->initializers.count; i++)
        if (m->initializers.items[i].kind == HD_INIT_ADDRESS)
            hd_array_push(&n->taken, m->initializers.items[i].symbol);
    sort(&n->called);
    sort(&n->taken);
    return others;
}

static bool keeps_convention(const hd_module *m, const named *n, uint32_t symbol)
{
    const hd_function *callee = hd_module_function(m, m->symbols.items[symbol].name);
    return !callee || !callee->has_body || calls_symbol(callee, symbol) ||
           (n->taken.count && bsearch(&symbol, n->taken.items, n->taken.count, sizeof symbol, hd_compare_u32));
}

uint32_t estimate_count_calls(const hd_function *f)
{
    named n = {0};
    uint32_t calls = find_named(f, &n);
    bool keeps = false;
    for (uint32_t i = 0; i < n.called.count; i++) {
        if (!i || n.called.items[i] != n.called.items[i - 1])
            keeps = keeps_convention(f->module, &n, n.called.items[i]);
        calls += keeps;
    }
    hd_array_free(&n.called);
    hd_array_free(&n.taken);
    return calls;
}
