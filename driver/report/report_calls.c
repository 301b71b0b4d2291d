/* Resources used by functions and everything that they may call: variables, barriers.
 *
 * A function's name in any operand or in a table of call targets counts as a call. Functions in a cycle of calls have
 * equal results. Strongly connected components of the call graph are processed callees first, and callees' results are
 * added to their callers'. Components: Tarjan, "Depth-first search and linear graph algorithms" (SIAM J. Comput. 1972),
 * without recursion.
 *
 * Complexity: linear in operands, and in the lists of variables that callers get, except for sorting.
 */
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

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Ascending, without duplicates. */
static void sort(hd_u32_array *ids)
{
    uint32_t kept = 0;
    if (ids->count)
        qsort(ids->items, ids->count, sizeof *ids->items, ascending);
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
        uses->barriers = barriers > uses->barriers ? barriers : uses->barriers;
    }
    for (uint32_t t = 0; t < f->tables.count; t++)
        for (uint32_t i = 0; f->tables.items[t].kind == HD_TABLE_CALL_TARGETS && i < f->tables.items[t].count; i++)
            add_callee(module, f->table_entries.items[f->tables.items[t].first + i], &uses->callees);
    sort(&uses->variables);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

typedef struct circles {
    report_uses *uses;
    uint32_t numbers;
    /* by function: order of discovery, 0: not found; the lowest number known to be reachable; its next callee */
    uint32_t *number, *low, *next;
    /* by function: the last component to which it was added, by the number of the component's first function */
    uint32_t *added;
    bool *done;             /* by function: its result is complete */
    hd_u32_array way, open; /* way: the path from the root; open: found, but not done */
} circles;

static void number_function(circles *c, uint32_t function)
{
    c->number[function] = c->low[function] = ++c->numbers;
    hd_array_push(&c->way, function);
    hd_array_push(&c->open, function);
}

static void add_uses(report_uses *to, const report_uses *from)
{
    to->barriers = to->barriers > from->barriers ? to->barriers : from->barriers;
    for (uint32_t i = 0; i < from->variables.count; i++)
        hd_array_push(&to->variables, from->variables.items[i]);
}

/* Adds the results of a callee in another component. */
static void add_callee_uses(circles *c, report_uses *to, uint32_t callee, uint32_t circle)
{
    if (c->done[callee] && c->added[callee] != circle)
        add_uses(to, &c->uses[callee]);
    c->added[callee] = circle;
}

/* Completes the component of the functions found since `first`. */
static void close_circle(circles *c, uint32_t first)
{
    uint32_t begin = c->open.count;
    report_uses all = {0};
    do {
        const report_uses *own = &c->uses[c->open.items[--begin]];
        add_uses(&all, own);
        for (uint32_t i = 0; i < own->callees.count; i++)
            add_callee_uses(c, &all, own->callees.items[i], c->number[first]);
    } while (c->open.items[begin] != first);
    sort(&all.variables);
    for (uint32_t i = begin; i < c->open.count; i++) {
        report_uses *own = &c->uses[c->open.items[i]];
        hd_array_clear(&own->variables);
        add_uses(own, &all);
        c->done[c->open.items[i]] = true;
    }
    c->open.count = begin;
    hd_array_free(&all.variables);
}

static void lower(circles *c, uint32_t function, uint32_t to)
{
    c->low[function] = c->low[function] < to ? c->low[function] : to;
}

static void search(circles *c, uint32_t function)
{
    number_function(c, function);
    while (c->way.count) {
        uint32_t at = hd_array_last(&c->way);
        const hd_u32_array *callees = &c->uses[at].callees;
        if (c->next[at] < callees->count) {
            uint32_t to = callees->items[c->next[at]++];
            if (!c->number[to])
                number_function(c, to);
            else if (!c->done[to])
                lower(c, at, c->number[to]);
            continue;
        }
        c->way.count--;
        if (c->way.count)
            lower(c, hd_array_last(&c->way), c->low[at]);
        if (c->low[at] == c->number[at])
            close_circle(c, at);
    }
}

report_uses *report_find_uses(const hd_module *module, hd_arena *arena)
{
    uint32_t count = module->functions.count;
    hd_arena scratch = {0};
    circles c = {.uses = HD_ARENA_ARRAY(arena, report_uses, count),
                 .number = HD_ARENA_ARRAY(&scratch, uint32_t, count),
                 .low = HD_ARENA_ARRAY(&scratch, uint32_t, count),
                 .next = HD_ARENA_ARRAY(&scratch, uint32_t, count),
                 .added = HD_ARENA_ARRAY(&scratch, uint32_t, count),
                 .done = HD_ARENA_ARRAY(&scratch, bool, count)};
    for (uint32_t f = 0; f < count; f++)
        find_own(module, f, &c.uses[f]);
    for (uint32_t f = 0; f < count; f++)
        if (!c.number[f])
            search(&c, f);
    hd_array_free(&c.way);
    hd_array_free(&c.open);
    hd_arena_free(&scratch);
    return c.uses;
}
