/* Registers of what a function calls: see hd_rf_module_new in code.h.
 *
 * A function needs as many registers as the one that needs most of all that it reaches by calls, itself included: a
 * callee's registers are those of its caller again, saved on the stack as far as it needs them, and a recursion needs
 * no more than a call. An indirect call may reach every function of the module that is no kernel. O(functions log
 * functions + calls). */
#include "hwmodel/rf/code.h"
#include "ir/architected.h"
#include "ir/form.h"

typedef struct call_edge {
    uint32_t from, to; /* callee, caller */
} call_edge;

typedef struct call_graph { /* one node a function, and one for all that an indirect call may reach */
    const hd_module *module;
    hd_rf_code **functions;
    uint32_t *by_name; /* 1 + function; 0: none */
    HD_ARRAY(call_edge) edges;
    uint32_t *first, *callers; /* by node, and one more: in `callers` */
} call_graph;

static uint32_t own_registers(const hd_rf_code *code)
{
    hd_architected numbers;
    return hd_architected_of(code->function, &numbers) ? numbers.registers : code->storage.frame;
}

/* Where its value is what a call calls; else the node of indirect calls. */
static uint32_t callee_of(const call_graph *g, const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(f, insn), *end = o + insn->operand_count;
    while (o < end && o->kind == HD_OPERAND_LIST)
        o += hd_operand_extent(o);
    if (o == end || o->kind != HD_OPERAND_SYMBOL)
        return g->module->functions.count;
    uint32_t function = g->by_name[g->module->symbols.items[o->value].name];
    return function ? function - 1 : HD_NONE;
}

static void add_calls(call_graph *g, uint32_t caller)
{
    const hd_function *f = g->functions[caller]->function;
    if (!f->is_entry)
        hd_array_push(&g->edges, (call_edge){caller, g->module->functions.count});
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        if (!(hd_insn_form(f, insn)->behaviour & HD_BEHAVE_CALL))
            continue;
        uint32_t callee = callee_of(g, f, insn);
        if (callee != HD_NONE)
            hd_array_push(&g->edges, (call_edge){callee, caller});
        g->functions[caller]->calls = true;
    }
}

static void sort_edges(call_graph *g, hd_arena *arena)
{
    uint32_t nodes = g->module->functions.count + 1;
    g->first = HD_ARENA_ARRAY(arena, uint32_t, nodes + 1);
    g->callers = HD_ARENA_ARRAY(arena, uint32_t, g->edges.count + 1);
    for (uint32_t e = 0; e < g->edges.count; e++)
        g->first[g->edges.items[e].from]++;
    for (uint32_t n = 1; n <= nodes; n++)
        g->first[n] += g->first[n - 1];
    for (uint32_t e = g->edges.count; e-- > 0;)
        g->callers[--g->first[g->edges.items[e].from]] = g->edges.items[e].to;
}

static int more_registers(const void *a, const void *b)
{
    const hd_rf_code *one = *(hd_rf_code *const *)a, *other = *(hd_rf_code *const *)b;
    return (one->registers < other->registers) - (one->registers > other->registers);
}

/* Whoever reaches the node and was not reached from one with more. */
static void spread(const call_graph *g, uint32_t node, uint32_t registers, bool *reached, hd_u32_array *work)
{
    hd_array_push(work, node);
    while (work->count) {
        uint32_t n = hd_array_pop(work);
        if (reached[n])
            continue;
        reached[n] = true;
        if (n < g->module->functions.count && g->functions[n])
            g->functions[n]->registers = registers;
        for (uint32_t e = g->first[n]; e < g->first[n + 1]; e++)
            hd_array_push(work, g->callers[e]);
    }
}

void hd_rf_code_find_registers(hd_rf_module *code)
{
    hd_arena arena;
    hd_arena_init(&arena);
    uint32_t count = code->module->functions.count, bodies = 0;
    call_graph g = {.module = code->module, .functions = code->functions};
    g.by_name = HD_ARENA_ARRAY(&arena, uint32_t, code->module->names.entries.count + 1);
    hd_rf_code **sorted = HD_ARENA_ARRAY(&arena, hd_rf_code *, count + 1);
    for (uint32_t f = 0; f < count; f++) {
        if (!code->functions[f])
            continue;
        g.by_name[code->module->functions.items[f]->name] = f + 1;
        code->functions[f]->number = f;
        code->functions[f]->registers = own_registers(code->functions[f]);
        sorted[bodies++] = code->functions[f];
    }
    for (uint32_t f = 0; f < count; f++)
        if (code->functions[f])
            add_calls(&g, f);
    sort_edges(&g, &arena);
    qsort(sorted, bodies, sizeof *sorted, more_registers);
    bool *reached = HD_ARENA_ARRAY(&arena, bool, count + 1);
    hd_u32_array work = {0};
    for (uint32_t k = 0; k < bodies; k++) {
        code->calls = code->calls || sorted[k]->calls;
        spread(&g, sorted[k]->number, sorted[k]->registers, reached, &work);
    }
    hd_array_free(&work);
    hd_array_free(&g.edges);
    hd_arena_free(&arena);
}
