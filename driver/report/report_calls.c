/* Resources used by functions and everything that they may call: variables, barriers.
 *
 * A function's name in any operand or in a table of call targets counts as a call. Functions in a cycle of calls have
 * equal results. Strongly connected components of the call graph are processed callees first, and callees' results are
 * added to their callers'.
 *
 * Complexity: linear in operands, and in the lists of variables that callers get, except for sorting.
 */
#include "base/compare.h"
#include "base/components.h"
#include "driver/report/report_work.h"

enum { BARRIERS_OF_A_CTA = 16 };

/* ---- one function ------------------------------------------------------------------------------------------------ */

static uint32_t body_of(const hd_module *module, uint32_t symbol)
{
    const hd_symbol *s = &module->symbols.items[symbol];
    if (s->kind != HD_SYMBOL_FUNCTION || s->function == HD_NONE)
        return HD_NONE;
    const hd_function *f = hd_module_function(module, s->name);
    return f && f->has_body ? f->index : HD_NONE;
}

static void add_callee(const hd_module *module, uint32_t symbol, hd_u32_array *callees)
{
    uint32_t body = body_of(module, symbol);
    if (body != HD_NONE)
        hd_array_push(callees, body);
}

static bool is_indirect_call(const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(f, insn), *end = o + insn->operand_count;
    if (!(hd_insn_form(f, insn)->behaviour & HD_BEHAVE_CALL))
        return false;
    while (o < end && o->kind == HD_OPERAND_LIST)
        o += hd_operand_extent(o);
    return o < end && o->kind != HD_OPERAND_SYMBOL;
}

/* The barriers that an instruction names: the highest plus 1; all if a register selects it. */
static uint32_t barriers_of(const hd_function *f, const hd_instruction *insn)
{
    uint16_t opcode = hd_insn_form(f, insn)->opcode;
    if (opcode != HD_OP_BAR && opcode != HD_OP_BARRIER)
        return 0;
    const hd_operand *o = hd_insn_operands(f, insn);
    for (uint32_t i = 0; i < insn->operand_count; i += hd_operand_extent(&o[i])) {
        if (o[i].flags & HD_OPERAND_DEF)
            continue;
        uint64_t id = o[i].kind == HD_OPERAND_LITERAL ? f->module->literals.items[o[i].value].bits : BARRIERS_OF_A_CTA;
        return id < BARRIERS_OF_A_CTA ? (uint32_t)id + 1 : BARRIERS_OF_A_CTA;
    }
    return 1;
}

/* Ascending, without duplicates. */
static void sort(hd_u32_array *ids)
{
    uint32_t kept = 0;
    if (ids->count)
        qsort(ids->items, ids->count, sizeof *ids->items, hd_compare_u32);
    for (uint32_t i = 0; i < ids->count; i++)
        if (!kept || ids->items[kept - 1] != ids->items[i])
            ids->items[kept++] = ids->items[i];
    ids->count = kept;
}

static void find_own(const hd_module *module, uint32_t function, report_uses *uses)
{
    const hd_function *f = module->functions.items[function];
    for (uint32_t i = 0; i < f->operands.count; i++) {
        const hd_operand *o = &f->operands.items[i];
        if (o->kind != HD_OPERAND_SYMBOL)
            continue;
        const hd_symbol *s = &module->symbols.items[o->value];
        if (s->kind == HD_SYMBOL_FUNCTION)
            add_callee(module, o->value, &uses->callees);
        else if (s->kind == HD_SYMBOL_VARIABLE && (s->space == HD_SPACE_SHARED || s->space == HD_SPACE_CONST))
            hd_array_push(&uses->variables, o->value);
    }
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        uint32_t barriers = barriers_of(f, &f->instructions.items[i]);
        uses->indirect |= is_indirect_call(f, &f->instructions.items[i]);
        uses->barriers = hd_max(uses->barriers, barriers);
    }
    for (uint32_t t = 0; t < f->tables.count; t++)
        for (uint32_t i = 0; f->tables.items[t].kind == HD_TABLE_CALL_TARGETS && i < f->tables.items[t].count; i++)
            add_callee(module, f->table_entries.items[f->tables.items[t].first + i], &uses->callees);
    sort(&uses->variables);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

typedef struct calls {
    hd_components components;
    report_uses *uses;      /* by function */
    uint32_t round, *added; /* by function: the last component, counted from 1, to which it was added */
} calls;

static void add_uses(report_uses *to, const report_uses *from)
{
    to->barriers = hd_max(to->barriers, from->barriers);
    for (uint32_t i = 0; i < from->variables.count; i++)
        hd_array_push(&to->variables, from->variables.items[i]);
}

/* Adds the results of callees in other components. */
static void add_callee_uses(calls *c, report_uses *to, const hd_u32_array *callees)
{
    for (uint32_t i = 0; i < callees->count; i++) {
        uint32_t callee = callees->items[i];
        if (c->components.closed[callee] && c->added[callee] != c->round)
            add_uses(to, &c->uses[callee]);
        c->added[callee] = c->round;
    }
}

static void close_component(void *context, const uint32_t *functions, uint32_t count)
{
    calls *c = context;
    report_uses all = {0};
    c->round++;
    for (uint32_t i = 0; i < count; i++) {
        add_uses(&all, &c->uses[functions[i]]);
        add_callee_uses(c, &all, &c->uses[functions[i]].callees);
    }
    sort(&all.variables);
    for (uint32_t i = 0; i < count; i++) {
        report_uses *own = &c->uses[functions[i]];
        hd_array_clear(&own->variables);
        add_uses(own, &all);
    }
    hd_array_free(&all.variables);
}

/* The callees of all functions, one after another. */
static void list_callees(hd_components *c, const report_uses *uses, uint32_t count, hd_arena *arena)
{
    uint32_t *first = HD_ARENA_ARRAY(arena, uint32_t, (size_t)count + 1);
    for (uint32_t f = 0; f < count; f++)
        first[f + 1] = first[f] + uses[f].callees.count;
    uint32_t *all = HD_ARENA_ARRAY(arena, uint32_t, (size_t)first[count] + 1);
    for (uint32_t f = 0; f < count; f++)
        for (uint32_t i = 0; i < uses[f].callees.count; i++)
            all[first[f] + i] = uses[f].callees.items[i];
    c->first = first;
    c->next = all;
}

report_uses *report_find_uses(const hd_module *module, hd_arena *arena)
{
    uint32_t count = module->functions.count;
    hd_arena scratch = {0};
    calls c = {.components = {.close = close_component, .context = &c},
               .uses = HD_ARENA_ARRAY(arena, report_uses, count),
               .added = HD_ARENA_ARRAY(&scratch, uint32_t, count)};
    for (uint32_t f = 0; f < count; f++)
        find_own(module, f, &c.uses[f]);
    list_callees(&c.components, c.uses, count, &scratch);
    hd_components_open(&c.components, count);
    for (uint32_t f = 0; f < count; f++)
        hd_components_search(&c.components, f);
    hd_components_free(&c.components);
    hd_arena_free(&scratch);
    return c.uses;
}
