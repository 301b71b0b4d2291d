/* Register frames of functions that call each other.
 *
 * Registers are numbered from 0 in each function; a callee's frame is above the registers that its caller must preserve
 * during the call (hd_architected.held, the maximum over the caller's calls). So a launch of a kernel needs the maximum
 * of its own registers and, over its callees, of what it holds plus the callee's total. A frame's base is the maximum
 * over its callers.
 *
 * Where such stacking is impossible, the caller saves its held registers in local memory, and the callee begins where
 * the caller does: calls through a register (which may reach the functions of the .calltargets list, or all whose
 * address is taken), and calls among functions in a cycle of calls or between two cycles.
 *
 * Complexity: O(instructions + calls). Not handled: different held sets at different calls of a function (there is one
 * number per function), functions of other modules. */
#include "passes/regalloc/regalloc.h"

#include "ir/annotations.h"

typedef struct call_edge {
    uint32_t caller, callee;
    bool indirect;
} call_edge;

typedef struct stacker {
    const hd_module *module;
    hd_arena *arena;
    hd_ra_frame *frames;
    uint32_t *held;
    uint32_t *body_of; /* by symbol: the function with its body, or HD_NONE */
    bool *taken;       /* by function: its address is taken */
    HD_ARRAY(call_edge) edges;
} stacker;

/* ---- call graph -------------------------------------------------------------------------------------------------- */

static void find_bodies(stacker *s)
{
    const hd_module *m = s->module;
    s->body_of = HD_ARENA_ARRAY(s->arena, uint32_t, m->symbols.count);
    uint32_t *by_name = HD_ARENA_ARRAY(s->arena, uint32_t, m->names.entries.count); /* function + 1 */
    for (uint32_t i = 0; i < m->functions.count; i++)
        if (m->functions.items[i]->has_body)
            by_name[m->functions.items[i]->name] = i + 1;
    for (uint32_t i = 0; i < m->symbols.count; i++) {
        bool is_function = m->symbols.items[i].kind == HD_SYMBOL_FUNCTION && by_name[m->symbols.items[i].name];
        s->body_of[i] = is_function ? by_name[m->symbols.items[i].name] - 1 : HD_NONE;
    }
}

static void add_edge(stacker *s, uint32_t caller, uint32_t callee, bool indirect)
{
    if (callee != HD_NONE)
        hd_array_push(&s->edges, (call_edge){caller, callee, indirect});
}

/* The operand that names the callee. */
static const hd_operand *callee_of(const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(f, insn), *end = o + insn->operand_count;
    for (; o < end; o += hd_operand_extent(o))
        if (o->kind != HD_OPERAND_LIST)
            return o;
    return NULL;
}

static void find_taken(stacker *s)
{
    const hd_module *m = s->module;
    s->taken = HD_ARENA_ARRAY(s->arena, bool, m->functions.count);
    for (uint32_t i = 0; i < m->initializers.count; i++) {
        const hd_initializer *v = &m->initializers.items[i];
        if (v->kind == HD_INIT_ADDRESS && s->body_of[v->symbol] != HD_NONE)
            s->taken[s->body_of[v->symbol]] = true;
    }
    for (uint32_t k = 0; k < m->functions.count; k++) {
        const hd_function *f = m->functions.items[k];
        for (uint32_t i = 0; i < f->instructions.count; i++) {
            const hd_instruction *insn = &f->instructions.items[i];
            const hd_operand *callee = hd_insn_form(f, insn)->behaviour & HD_BEHAVE_CALL ? callee_of(f, insn) : NULL;
            for (const hd_operand *o = hd_insn_operands(f, insn), *end = o + insn->operand_count; o < end; o++)
                if (o != callee && o->kind == HD_OPERAND_SYMBOL && s->body_of[o->value] != HD_NONE)
                    s->taken[s->body_of[o->value]] = true;
        }
    }
}

static void add_indirect(stacker *s, uint32_t caller, const hd_instruction *insn)
{
    const hd_function *f = s->module->functions.items[caller];
    const hd_operand *o = hd_insn_operands(f, insn), *end = o + insn->operand_count;
    s->frames[caller].indirect = true;
    for (; o < end; o++) {
        const hd_table *t = o->kind == HD_OPERAND_TABLE ? &f->tables.items[o->value] : NULL;
        if (!t || t->kind != HD_TABLE_CALL_TARGETS)
            continue;
        for (uint32_t i = 0; i < t->count; i++)
            add_edge(s, caller, s->body_of[f->table_entries.items[t->first + i]], true);
        return;
    }
    for (uint32_t i = 0; i < s->module->functions.count; i++)
        if (s->taken[i])
            add_edge(s, caller, i, true);
}

static void find_edges(stacker *s, uint32_t caller)
{
    const hd_function *f = s->module->functions.items[caller];
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        if (!(hd_insn_form(f, insn)->behaviour & HD_BEHAVE_CALL))
            continue;
        const hd_operand *callee = callee_of(f, insn);
        if (callee && callee->kind == HD_OPERAND_SYMBOL)
            add_edge(s, caller, s->body_of[callee->value], false);
        else
            add_indirect(s, caller, insn);
    }
}

/* ---- stacking ---------------------------------------------------------------------------------------------------- */

static void measure(stacker *s, uint32_t function)
{
    const hd_function *f = s->module->functions.items[function];
    hd_architected numbers = {0};
    if (!hd_architected_of(f, &numbers))
        for (uint32_t r = 0; r < f->registers.count; r++)
            numbers.registers += hd_register_words(f, r);
    s->frames[function].own = s->frames[function].total = numbers.registers;
    s->held[function] = hd_min(numbers.held, numbers.registers);
}

/* Sorts edges by one end; first[f] .. first[f + 1]. */
static call_edge *sort_edges(const stacker *s, bool by_callee, uint32_t *first)
{
    uint32_t functions = s->module->functions.count;
    call_edge *sorted = HD_ARENA_ARRAY(s->arena, call_edge, s->edges.count);
    for (uint32_t i = 0; i < s->edges.count; i++)
        first[(by_callee ? s->edges.items[i].callee : s->edges.items[i].caller) + 2]++;
    for (uint32_t f = 0; f < functions; f++)
        first[f + 2] += first[f + 1];
    for (uint32_t i = 0; i < s->edges.count; i++)
        sorted[first[(by_callee ? s->edges.items[i].callee : s->edges.items[i].caller) + 1]++] = s->edges.items[i];
    return sorted;
}

/* Topological order of the functions along their edges; functions in or between cycles are left out. */
static uint32_t peel(const stacker *s, bool callees_first, uint32_t *order)
{
    uint32_t functions = s->module->functions.count, count = 0;
    uint32_t *first = HD_ARENA_ARRAY(s->arena, uint32_t, functions + 2u);
    uint32_t *pending = HD_ARENA_ARRAY(s->arena, uint32_t, functions);
    const call_edge *edges = sort_edges(s, callees_first, first);
    for (uint32_t i = 0; i < s->edges.count; i++)
        pending[callees_first ? s->edges.items[i].caller : s->edges.items[i].callee]++;
    for (uint32_t f = 0; f < functions; f++)
        if (!pending[f])
            order[count++] = f;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t e = first[order[i]]; e < first[order[i] + 1]; e++) {
            uint32_t to = callees_first ? edges[e].caller : edges[e].callee;
            if (--pending[to] == 0)
                order[count++] = to;
        }
    return count;
}

static bool is_stacked(const stacker *s, const call_edge *e)
{
    return !e->indirect && !(s->frames[e->caller].recursive && s->frames[e->callee].recursive);
}

static void raise(uint32_t *value, uint32_t to) { *value = hd_max(*value, to); }

/* Applies an edge's constraints to its caller's total and its callee's base. */
static bool relax(stacker *s, const call_edge *e)
{
    hd_ra_frame *from = &s->frames[e->caller], *to = &s->frames[e->callee];
    uint32_t held = is_stacked(s, e) ? s->held[e->caller] : 0, total = from->total, base = to->base;
    raise(&from->callees, held + to->total);
    raise(&from->total, from->callees);
    raise(&to->base, from->base + held);
    if (!is_stacked(s, e))
        from->saved_bytes = 4 * s->held[e->caller];
    return from->total != total || to->base != base;
}

static void mark_recursive(stacker *s)
{
    uint32_t functions = s->module->functions.count;
    uint32_t *order = HD_ARENA_ARRAY(s->arena, uint32_t, functions);
    bool *peeled = HD_ARENA_ARRAY(s->arena, bool, functions);
    for (uint32_t direction = 0; direction < 2; direction++) {
        uint32_t count = peel(s, direction == 0, order);
        for (uint32_t i = 0; i < count; i++)
            peeled[order[i]] = true;
    }
    for (uint32_t f = 0; f < functions; f++)
        s->frames[f].recursive = !peeled[f];
}

/* Stacked edges are acyclic, so totals and bases propagate; a suitable edge order makes it fast: callers before callees
 * for bases, after them for totals. */
static void propagate(stacker *s)
{
    uint32_t functions = s->module->functions.count;
    uint32_t *first = HD_ARENA_ARRAY(s->arena, uint32_t, functions + 2u);
    uint32_t *order = HD_ARENA_ARRAY(s->arena, uint32_t, functions + 1u);
    const call_edge *edges = sort_edges(s, false, first);
    uint32_t count = peel(s, true, order);
    bool *listed = HD_ARENA_ARRAY(s->arena, bool, functions);
    for (uint32_t i = 0; i < count; i++)
        listed[order[i]] = true;
    for (uint32_t f = 0; f < functions; f++)
        if (!listed[f])
            order[count++] = f;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < 2 * count; k++) {
            uint32_t f = k < count ? order[k] : order[2 * count - 1 - k];
            for (uint32_t e = first[f]; e < first[f + 1]; e++)
                changed |= relax(s, &edges[e]);
        }
    }
}

hd_ra_frame *hd_regalloc_frames(const hd_module *module, hd_arena *arena)
{
    uint32_t functions = module->functions.count;
    hd_ra_frame *frames = HD_ARENA_ARRAY(arena, hd_ra_frame, functions);
    hd_arena scratch = {0};
    stacker s = {.module = module, .arena = &scratch, .frames = frames};
    s.held = HD_ARENA_ARRAY(&scratch, uint32_t, functions);
    find_bodies(&s);
    find_taken(&s);
    for (uint32_t f = 0; f < functions; f++) {
        measure(&s, f);
        find_edges(&s, f);
    }
    mark_recursive(&s);
    propagate(&s);
    hd_array_free(&s.edges);
    hd_arena_free(&scratch);
    return frames;
}
