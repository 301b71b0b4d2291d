/* See frames.h. The convention (ir/architected.h, heddle-passes(7)): a callee's registers are above those that its
 * caller holds during calls. If the callee is called through a register, or caller and callee are in a cycle of calls
 * or between two cycles, the caller saves its held registers, and the callee's registers begin where its own do.
 * So the functions matter that the kernel reaches, and those that reach one of these, through which another kernel may
 * call. Complexity: O(n * n * calls) for n such functions, and O(n * calls of the module). */
#include "passes/check/frames.h"
#include "base/bitset.h"
#include "ir/form.h"

typedef struct call {
    uint32_t from, to; /* indices in `functions` */
    bool indirect;
} call;

typedef struct callees {
    const hd_module *module;
    hd_arena arena;
    HD_ARRAY(const hd_function *) functions; /* with bodies; the kernel first */
    uint32_t *by_name;                       /* 1 + the index in `functions` */
    HD_ARRAY(call) calls;
    hd_bitset *reach; /* by function: the functions that one or more calls lead to */
} callees;

static const hd_operand *called(const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(f, insn), *end = o + insn->operand_count;
    while (o < end && o->kind == HD_OPERAND_LIST)
        o += hd_operand_extent(o);
    return o < end ? o : NULL;
}

static void add_function(callees *c, const hd_function *f)
{
    hd_array_push(&c->functions, f);
    c->by_name[f->name] = c->functions.count;
}

static void find_functions(callees *c, const hd_function *kernel)
{
    const hd_module *m = c->module;
    c->by_name = HD_ARENA_ARRAY(&c->arena, uint32_t, m->names.entries.count);
    add_function(c, kernel);
    for (uint32_t i = 0; i < m->functions.count; i++)
        if (m->functions.items[i]->has_body && m->functions.items[i] != kernel)
            add_function(c, m->functions.items[i]);
}

static void add_call(callees *c, uint32_t from, uint32_t symbol, bool indirect)
{
    const hd_symbol *s = &c->module->symbols.items[symbol];
    uint32_t to = s->kind == HD_SYMBOL_FUNCTION ? c->by_name[s->name] : 0;
    if (to)
        hd_array_push(&c->calls, (call){from, to - 1, indirect});
}

/* Adds every function that is named other than as a callee. */
static void add_taken(callees *c, uint32_t from)
{
    const hd_module *m = c->module;
    for (uint32_t i = 0; i < m->initializers.count; i++)
        if (m->initializers.items[i].kind == HD_INIT_ADDRESS)
            add_call(c, from, m->initializers.items[i].symbol, true);
    for (uint32_t k = 0; k < m->functions.count; k++) {
        const hd_function *f = m->functions.items[k];
        for (uint32_t i = 0; i < f->instructions.count; i++) {
            const hd_instruction *insn = &f->instructions.items[i];
            const hd_operand *skipped = hd_insn_form(f, insn)->behaviour & HD_BEHAVE_CALL ? called(f, insn) : NULL;
            for (const hd_operand *o = hd_insn_operands(f, insn), *end = o + insn->operand_count; o < end; o++)
                if (o != skipped && o->kind == HD_OPERAND_SYMBOL)
                    add_call(c, from, o->value, true);
        }
    }
}

static void add_indirect(callees *c, uint32_t from, const hd_function *f, const hd_instruction *insn)
{
    for (const hd_operand *o = hd_insn_operands(f, insn), *end = o + insn->operand_count; o < end; o++) {
        const hd_table *t = o->kind == HD_OPERAND_TABLE ? &f->tables.items[o->value] : NULL;
        if (!t || t->kind != HD_TABLE_CALL_TARGETS)
            continue;
        for (uint32_t i = 0; i < t->count; i++)
            add_call(c, from, f->table_entries.items[t->first + i], true);
        return;
    }
    add_taken(c, from);
}

static void find_calls(callees *c)
{
    for (uint32_t from = 0; from < c->functions.count; from++) {
        const hd_function *f = c->functions.items[from];
        for (uint32_t i = 0; i < f->instructions.count; i++) {
            const hd_instruction *insn = &f->instructions.items[i];
            if (!(hd_insn_form(f, insn)->behaviour & HD_BEHAVE_CALL))
                continue;
            const hd_operand *to = called(f, insn);
            if (to && to->kind == HD_OPERAND_SYMBOL)
                add_call(c, from, to->value, false);
            else
                add_indirect(c, from, f, insn);
        }
    }
}

/* Marks what calls lead to from marked functions; or backwards. */
static void spread(const callees *c, bool *marked, bool backwards)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t e = 0; e < c->calls.count; e++) {
            const call *k = &c->calls.items[e];
            bool *next = &marked[backwards ? k->from : k->to], on = marked[backwards ? k->to : k->from];
            changed = changed || (on && !*next);
            *next = *next || on;
        }
    }
}

/* Leaves out the functions that do not matter to the kernel, the first one, and their calls. */
static void keep_related(callees *c)
{
    bool *kept = HD_ARENA_ARRAY(&c->arena, bool, c->functions.count);
    uint32_t *new_index = HD_ARENA_ARRAY(&c->arena, uint32_t, c->functions.count), functions = 0, calls = 0;
    kept[0] = true;
    spread(c, kept, false);
    spread(c, kept, true);
    for (uint32_t f = 0; f < c->functions.count; f++)
        if (kept[f]) {
            new_index[f] = functions;
            c->functions.items[functions++] = c->functions.items[f];
        }
    for (uint32_t e = 0; e < c->calls.count; e++) {
        call k = c->calls.items[e];
        if (kept[k.from] && kept[k.to])
            c->calls.items[calls++] = (call){new_index[k.from], new_index[k.to], k.indirect};
    }
    c->functions.count = functions;
    c->calls.count = calls;
}

static void find_reach(callees *c)
{
    c->reach = HD_ARENA_ARRAY(&c->arena, hd_bitset, c->functions.count);
    for (uint32_t f = 0; f < c->functions.count; f++)
        c->reach[f] = hd_bitset_new(&c->arena, c->functions.count);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t e = 0; e < c->calls.count; e++)
            for (uint32_t f = 0; f < c->functions.count; f++) {
                const call *k = &c->calls.items[e];
                if ((f != k->to && !hd_bitset_has(&c->reach[k->to], f)) || hd_bitset_has(&c->reach[k->from], f))
                    continue;
                hd_bitset_add(&c->reach[k->from], f);
                changed = true;
            }
    }
}

/* Whether it is in a cycle of calls, or between two. */
static bool recurs(const callees *c, uint32_t f)
{
    bool after = false, before = false;
    for (uint32_t k = 0; k < c->functions.count; k++) {
        if (!hd_bitset_has(&c->reach[k], k))
            continue;
        after = after || k == f || hd_bitset_has(&c->reach[k], f);
        before = before || k == f || hd_bitset_has(&c->reach[f], k);
    }
    return after && before;
}

static uint32_t deepest(const callees *c)
{
    uint32_t count = c->functions.count, callees_of_kernel = 0;
    uint32_t *total = hd_calloc(count, sizeof *total);
    hd_architected *numbers = hd_calloc(count, sizeof *numbers);
    bool known = true;
    for (uint32_t f = 0; f < count; f++) {
        bool allocated = hd_architected_of(c->functions.items[f], &numbers[f]);
        known = known && (allocated || (f && !hd_bitset_has(&c->reach[0], f)));
        total[f] = f ? numbers[f].registers : 0;
    }
    for (bool changed = true; changed && known;) {
        changed = false;
        for (uint32_t e = 0; e < c->calls.count; e++) {
            const call *k = &c->calls.items[e];
            bool saved = k->indirect || (recurs(c, k->from) && recurs(c, k->to));
            uint32_t needs = total[k->to] + (saved ? 0 : numbers[k->from].held);
            changed = changed || needs > total[k->from];
            total[k->from] = hd_max(total[k->from], needs);
        }
    }
    callees_of_kernel = known ? total[0] : HD_NONE;
    free(total);
    free(numbers);
    return callees_of_kernel;
}

uint32_t hd_check_callees(const hd_function *kernel)
{
    callees c = {.module = kernel->module};
    find_functions(&c, kernel);
    find_calls(&c);
    keep_related(&c);
    find_reach(&c);
    uint32_t registers = deepest(&c);
    hd_array_free(&c.functions);
    hd_array_free(&c.calls);
    hd_arena_free(&c.arena);
    return registers;
}
