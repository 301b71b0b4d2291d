/* What a load may not pass on its way to its consumer: see demo.c for the rules. Linear in the operands, times the
 * logarithm of the local variables. */
#include "base/search.h"
#include "ir/sregs.h"
#include "passes/technique/demo_work.h"

/* ---- what instructions are --------------------------------------------------------------------------------------- */

static bool is_weak(const hd_form *form)
{
    uint16_t order = form->modifiers[HD_GROUP_SEM];
    return order == 0 || order == HD_MOD_SEM_WEAK;
}

static bool reads_clock(const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(f, insn);
    for (uint32_t i = 0; i < insn->operand_count; i++)
        if (o[i].kind == HD_OPERAND_SREG && hd_sregs[o[i].value].varies == HD_VARIES_TIME)
            return true;
    return false;
}

/* The variable that an access names as its base; HD_NONE. */
static uint32_t variable_of(const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(f, insn);
    for (uint32_t i = 0; i + 1 < insn->operand_count; i++)
        if (o[i].kind == HD_OPERAND_ADDRESS)
            return o[i + 1].kind == HD_OPERAND_SYMBOL ? o[i + 1].value : HD_NONE;
    return HD_NONE;
}

static demo_variable *find_variable(const demo_pass *p, uint32_t symbol)
{
    uint32_t low = 0, high = p->variables.count;
    HD_SEARCH(low, high, at, p->variables.items[at].symbol < symbol);
    return low < p->variables.count && p->variables.items[low].symbol == symbol ? &p->variables.items[low] : NULL;
}

/* The local variable that an access names, if no pointer leads to it; else NULL. */
static demo_variable *own_variable(const demo_pass *p, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(p->function, insn);
    uint32_t symbol = form->space == HD_SPACE_LOCAL ? variable_of(p->function, insn) : HD_NONE;
    demo_variable *v = symbol == HD_NONE ? NULL : find_variable(p, symbol);
    return v && !v->named ? v : NULL;
}

static int compare_variables(const void *left, const void *right)
{
    uint32_t a = ((const demo_variable *)left)->symbol, b = ((const demo_variable *)right)->symbol;
    return (a > b) - (a < b);
}

void demo_list_variables(demo_pass *p)
{
    const hd_function *f = p->function;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        const hd_form *form = hd_insn_form(f, insn);
        const hd_operand *o = hd_insn_operands(f, insn);
        bool accesses = (form->opcode == HD_OP_LD || form->opcode == HD_OP_ST) && form->space == HD_SPACE_LOCAL;
        for (uint32_t k = 0; k < insn->operand_count; k++)
            if (o[k].kind == HD_OPERAND_SYMBOL && f->module->symbols.items[o[k].value].space == HD_SPACE_LOCAL)
                hd_array_push(&p->variables,
                              ((demo_variable){o[k].value, 0, !accesses || !k || o[k - 1].kind != HD_OPERAND_ADDRESS}));
    }
    if (!p->variables.count)
        return;
    qsort(p->variables.items, p->variables.count, sizeof *p->variables.items, compare_variables);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->variables.count; i++)
        if (kept && p->variables.items[kept - 1].symbol == p->variables.items[i].symbol)
            p->variables.items[kept - 1].named |= p->variables.items[i].named;
        else
            p->variables.items[kept++] = p->variables.items[i];
    p->variables.count = kept;
}

static bool orders(const demo_pass *p, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(p->function, insn);
    const uint32_t harmless = HD_BEHAVE_LOAD | HD_BEHAVE_STORE | HD_BEHAVE_DIVERGENT | HD_BEHAVE_TEXTURE;
    bool memory = form->behaviour & (HD_BEHAVE_LOAD | HD_BEHAVE_STORE);
    bool ordered = memory && (!is_weak(form) || form->modifiers[HD_GROUP_CACHE] == HD_MOD_CACHE_CV);
    return insn->flags & HD_INSN_OPAQUE || form->behaviour & ~harmless || ordered || reads_clock(p->function, insn);
}

static uint32_t *store_of_space(demo_past *past, uint8_t space)
{
    switch (space) {
    case HD_SPACE_GLOBAL: return &past->global;
    case HD_SPACE_SHARED:
    case HD_SPACE_SHARED_CTA:
    case HD_SPACE_SHARED_CLUSTER: return &past->shared;
    case HD_SPACE_LOCAL: return &past->local;
    case HD_SPACE_PARAM:
    case HD_SPACE_PARAM_ENTRY:
    case HD_SPACE_PARAM_FUNC: return &past->param;
    default: return &past->generic;
    }
}

void demo_remember(demo_pass *p, uint32_t ordinal)
{
    const hd_instruction *insn = &p->function->instructions.items[ordinal];
    const hd_form *form = hd_insn_form(p->function, insn);
    demo_variable *variable = own_variable(p, insn);
    if (orders(p, insn)) {
        p->past.ordering++;
    } else if (form->behaviour & HD_BEHAVE_STORE && variable) {
        variable->stores++;
    } else if (form->behaviour & HD_BEHAVE_STORE) {
        p->past.any_store++;
        ++*store_of_space(&p->past, form->opcode == HD_OP_ST ? form->space : HD_SPACE_NONE);
    }
}

/* ---- is it safe -------------------------------------------------------------------------------------------------- */

static bool is_parameter_space(uint8_t space)
{
    return space == HD_SPACE_PARAM || space == HD_SPACE_PARAM_ENTRY || space == HD_SPACE_PARAM_FUNC;
}

uint32_t demo_hazards_of(demo_pass *p, const hd_instruction *load)
{
    const hd_form *form = hd_insn_form(p->function, load);
    const demo_variable *variable = own_variable(p, load);
    uint32_t count = p->past.ordering;
    if (form->space == HD_SPACE_CONST || form->modifiers[HD_GROUP_NC])
        return count;
    if (variable)
        return count + variable->stores;
    if (form->space == HD_SPACE_NONE)
        return count + p->past.any_store;
    if (is_parameter_space(form->space))
        return count + p->past.param;
    return count + p->past.generic + *store_of_space(&p->past, form->space);
}

static bool written_between(const demo_pass *p, uint32_t reg, uint32_t after)
{
    if (p->register_written[reg] > after)
        return true;
    HD_STORAGE_WORDS (&p->storage, reg, word)
        if (p->word_written[word] > after)
            return true;
    return false;
}

bool demo_is_safe(demo_pass *p, const demo_load *load, uint32_t to)
{
    const hd_function *f = p->function;
    const hd_instruction *from = &f->instructions.items[load->loader], *consumer = &f->instructions.items[to];
    uint32_t after = load->loader + 1;
    if (from->guard != consumer->guard || (from->flags ^ consumer->flags) & HD_INSN_GUARD_NOT)
        return false;
    if (from->guard != HD_NONE && written_between(p, from->guard, after))
        return false;
    HD_INSN_REGISTERS (f, from, o)
        if (o->flags & HD_OPERAND_USE && written_between(p, o->value, after))
            return false;
    return demo_hazards_of(p, from) == load->after && p->scope_of[load->loader] == p->scope_of[to];
}
