/* The dependence graph of a block, as the estimate models it.
 *
 * Every definition creates a new value, so the only dependences are those of values and of memory: loads do not cross
 * stores of the same space (generic addresses count as global), stores do not cross loads and stores, and no memory
 * access crosses barriers, fences and calls. Latencies approximate those that an assembler's scheduler assumes.
 *
 * A 64-bit sum of a value and a constant is the same value in machine code, because memory instructions add constants
 * for free; so are two sums of the same values. They share a root (estimate_value).
 *
 * Complexity: near-linear in instructions and live-in registers.
 */
#include "passes/estimate/estimate_work.h"

/* ---- latencies --------------------------------------------------------------------------------------------------- */

static uint32_t load_latency(const hd_form *form)
{
    switch (form->space) {
    case HD_SPACE_SHARED:
    case HD_SPACE_SHARED_CTA:
    case HD_SPACE_CONST:
    case HD_SPACE_PARAM:
    case HD_SPACE_PARAM_ENTRY: return 30;
    default: return 1000;
    }
}

static uint32_t latency_of(const hd_form *form)
{
    if (form->behaviour & HD_BEHAVE_TEXTURE)
        return 1000;
    if (form->behaviour & (HD_BEHAVE_LOAD | HD_BEHAVE_ATOMIC))
        return load_latency(form);
    switch (hd_form_unit(form)) {
    case HD_UNIT_SFU: return 20;
    case HD_UNIT_DP: return 8;
    case HD_UNIT_TENSOR: return 20;
    case HD_UNIT_LDST: return 25;
    default: return form->opcode == HD_OP_MOV ? 12 : 5;
    }
}

/* Words that an instruction needs while it executes, besides sources and results: temporaries of the code that ptxas
 * expands it to. */
static uint32_t extra_words(const hd_form *form)
{
    hd_type t = form->type_count ? (hd_type)form->types[0] : HD_TYPE_NONE;
    uint32_t bits = hd_types[t].bits;
    bool approximate = form->modifiers[HD_GROUP_APPROX];
    bool is_float = hd_types[t].class == HD_CLASS_FLOAT;
    switch (form->opcode) {
    case HD_OP_DIV:
    case HD_OP_REM:
        if (is_float)
            return bits == 64 ? 11 : approximate ? 0 : 5;
        return bits == 64 ? 12 : 5;
    case HD_OP_SQRT:
    case HD_OP_RCP: return bits == 64 ? (form->opcode == HD_OP_SQRT ? 12 : 6) : approximate ? 0 : 3;
    case HD_OP_MUL: return bits == 64 && !is_float ? 2 : 0;
    default: return 0;
    }
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

static void depend(estimate_graph *g, uint32_t from, uint32_t to)
{
    if (from == HD_NONE || from == to)
        return;
    estimate_node *n = &g->nodes.items[from];
    if (n->edge != HD_NONE && g->edges.items[n->edge].to == to)
        return;
    hd_array_push(&g->edges, (estimate_edge){to, n->edge});
    n->edge = g->edges.count - 1;
    g->nodes.items[to].waits++;
}

static uint32_t new_value(estimate_graph *g, uint32_t reg, uint32_t producer)
{
    estimate_work *w = g->work;
    uint32_t v = g->values.count;
    hd_array_push(&g->values, (estimate_value){.words = w->words[reg], .root = v, .producer = producer});
    w->stamp[reg] = w->order_number;
    w->value_of[reg] = v;
    return v;
}

static uint32_t current_value(estimate_graph *g, uint32_t reg)
{
    if (g->work->stamp[reg] == g->work->order_number)
        return g->work->value_of[reg];
    return new_value(g, reg, HD_NONE);
}

static void read_register(estimate_graph *g, uint32_t n, uint32_t reg)
{
    uint32_t v = current_value(g, reg);
    estimate_node *at = &g->nodes.items[n];
    for (uint32_t i = at->use_first; i < at->use_first + at->use_count; i++)
        if (g->lists.items[i] == v)
            return;
    hd_array_push(&g->lists, v);
    at->use_count++;
    g->values.items[v].uses++;
    depend(g, g->values.items[v].producer, n);
}

/* ---- sums that differ by a constant ------------------------------------------------------------------------------ */

static void grow_sums(estimate_graph *g)
{
    uint32_t size = g->sums.count ? 2 * g->sums.count : 64;
    estimate_sum *old = g->sums.items;
    uint32_t old_size = g->sums.count;
    g->sums.items = hd_malloc(size * sizeof *old);
    g->sums.count = g->sums.capacity = size;
    for (uint32_t i = 0; i < size; i++)
        g->sums.items[i].a = HD_NONE;
    for (uint32_t i = 0; i < old_size; i++) {
        uint32_t at = (old[i].a * 0x9e3779b1u ^ old[i].b * 0x85ebca6bu) & (size - 1);
        if (old[i].a == HD_NONE)
            continue;
        while (g->sums.items[at].a != HD_NONE)
            at = (at + 1) & (size - 1);
        g->sums.items[at] = old[i];
    }
    free(old);
}

/* The root of the first sum of these roots; `otherwise` if this is the first. */
static uint32_t root_of_sum(estimate_graph *g, uint32_t a, uint32_t b, uint32_t otherwise)
{
    if (2 * g->sum_count >= g->sums.count)
        grow_sums(g);
    if (a > b) {
        uint32_t swap = a;
        a = b;
        b = swap;
    }
    uint32_t mask = g->sums.count - 1, at = (a * 0x9e3779b1u ^ b * 0x85ebca6bu) & mask;
    for (; g->sums.items[at].a != HD_NONE; at = (at + 1) & mask)
        if (g->sums.items[at].a == a && g->sums.items[at].b == b)
            return g->sums.items[at].root;
    g->sums.items[at] = (estimate_sum){a, b, otherwise};
    g->sum_count++;
    return otherwise;
}

/* The root of a sum that is its node's only result. */
static void find_root(estimate_graph *g, uint32_t n, const hd_instruction *insn)
{
    const hd_operand *op = hd_insn_operands(g->work->function, insn);
    const estimate_node *at = &g->nodes.items[n];
    if (at->def_count == 1 && at->use_count == 1 && estimate_is_extension(g->work, at->ordinal))
        g->values.items[g->lists.items[at->def_first]].root = g->values.items[g->lists.items[at->use_first]].root;
    uint32_t source = at->def_count == 1 ? estimate_source(g->work, at->ordinal) : HD_NONE;
    if (source != HD_NONE)
        g->values.items[g->lists.items[at->def_first]].root = g->values.items[current_value(g, source)].root;
    if (!estimate_is_address_sum(g->work, insn) || at->def_count != 1)
        return;
    uint32_t v = g->lists.items[at->def_first], a = g->values.items[g->lists.items[at->use_first]].root;
    if (op[2].kind == HD_OPERAND_LITERAL)
        g->values.items[v].root = a;
    else if (at->use_count == 2)
        g->values.items[v].root = root_of_sum(g, a, g->values.items[g->lists.items[at->use_first + 1]].root, v);
}

/* The node defines two halves of one register: the first holds the word. */
static void join_halves(estimate_graph *g, uint32_t n)
{
    const estimate_node *at = &g->nodes.items[n];
    const hd_instruction *insn = &g->work->function->instructions.items[at->ordinal];
    HD_INSN_REGISTERS (g->work->function, insn, d) {
        uint32_t other = d->flags & HD_OPERAND_DEF ? g->work->packed[d->value] : HD_NONE;
        if (other == HD_NONE || other > d->value)
            continue;
        estimate_value *half = &g->values.items[current_value(g, d->value)];
        half->root = current_value(g, other);
        half->words = 0;
    }
}

/* Whether the old value of `d` is needed: the definition is partial or guarded. */
static bool keeps_old(const estimate_work *w, const hd_instruction *insn, const hd_operand *d, uint32_t block)
{
    if (!hd_definition_kills(w->function, insn, d))
        return true;
    return w->join[block] != HD_NONE && hd_register_set_has(w->liveness->live_in[w->join[block]], d->value);
}

static void add_values(estimate_graph *g, uint32_t n, const hd_instruction *insn, uint32_t block)
{
    const hd_function *f = g->work->function;
    g->nodes.items[n].use_first = g->lists.count;
    if (insn->guard != HD_NONE)
        read_register(g, n, insn->guard);
    if (g->work->join[block] != HD_NONE)
        read_register(g, n, g->work->guard[block]);
    HD_INSN_REGISTERS (f, insn, u)
        if (u->flags & HD_OPERAND_USE || insn->flags & HD_INSN_OPAQUE || keeps_old(g->work, insn, u, block))
            read_register(g, n, u->value);
    g->nodes.items[n].def_first = g->lists.count;
    HD_INSN_REGISTERS (f, insn, d)
        if (d->flags & HD_OPERAND_DEF) {
            hd_array_push(&g->lists, new_value(g, d->value, n));
            g->nodes.items[n].def_count++;
        }
    join_halves(g, n);
    if (insn->guard == HD_NONE && g->work->join[block] == HD_NONE)
        find_root(g, n, insn);
}

static uint32_t space_class(const hd_form *form)
{
    switch (form->space) {
    case HD_SPACE_SHARED:
    case HD_SPACE_SHARED_CTA:
    case HD_SPACE_SHARED_CLUSTER: return 1;
    case HD_SPACE_LOCAL: return 2;
    case HD_SPACE_PARAM:
    case HD_SPACE_PARAM_FUNC: return 3;
    default: return 0;
    }
}

static void add_store(estimate_graph *g, uint32_t n, uint32_t s)
{
    depend(g, g->last_store[s], n);
    for (uint32_t i = 0; i < g->loads[s].count; i++)
        depend(g, g->loads[s].items[i], n);
    hd_array_clear(&g->loads[s]);
    g->last_store[s] = n;
}

static void add_memory(estimate_graph *g, uint32_t n, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(g->work->function, insn);
    const uint32_t fences = HD_BEHAVE_BARRIER | HD_BEHAVE_FENCE | HD_BEHAVE_CALL | HD_BEHAVE_VOLATILE | HD_BEHAVE_YIELD;
    depend(g, g->fence, n);
    if (form->behaviour & fences && !(form->behaviour & (HD_BEHAVE_LOAD | HD_BEHAVE_STORE))) {
        for (uint32_t s = 0; s < ESTIMATE_SPACES; s++)
            add_store(g, n, s);
        if (form->behaviour & HD_BEHAVE_CALL)
            g->fence = n;
        return;
    }
    uint32_t s = space_class(form);
    bool reads = form->behaviour & HD_BEHAVE_LOAD,
         writes = form->behaviour & (HD_BEHAVE_STORE | HD_BEHAVE_ATOMIC | HD_BEHAVE_ASYNC);
    if (reads && !writes &&
        !(form->modifiers[HD_GROUP_NC] || form->space == HD_SPACE_CONST || form->behaviour & HD_BEHAVE_TEXTURE)) {
        depend(g, g->last_store[s], n);
        hd_array_push(&g->loads[s], n);
    } else if (writes) {
        add_store(g, n, s);
    }
}

static void add_node(estimate_graph *g, uint32_t ordinal)
{
    const hd_instruction *insn = &g->work->function->instructions.items[ordinal];
    const hd_form *form = hd_insn_form(g->work->function, insn);
    hd_array_push(&g->nodes, (estimate_node){.ordinal = ordinal,
                                             .edge = HD_NONE,
                                             .latency = latency_of(form),
                                             .extra = extra_words(form),
                                             .slow = (form->behaviour & (HD_BEHAVE_LOAD | HD_BEHAVE_STORE |
                                                                         HD_BEHAVE_ATOMIC | HD_BEHAVE_TEXTURE)) != 0});
    uint32_t n = g->nodes.count - 1;
    add_values(g, n, insn, g->work->cfg->block_of[ordinal]);
    add_memory(g, n, insn);
}

static void find_chains(estimate_graph *g)
{
    for (uint32_t n = g->nodes.count; n-- > 0;) {
        estimate_node *at = &g->nodes.items[n];
        at->chain = at->latency;
        for (uint32_t e = at->edge; e != HD_NONE; e = g->edges.items[e].next) {
            uint32_t below = at->latency + g->nodes.items[g->edges.items[e].to].chain;
            if (below > at->chain)
                at->chain = below;
        }
    }
}

void estimate_graph_build(estimate_graph *g, estimate_work *w, estimate_region region, uint32_t copies)
{
    *g = (estimate_graph){.work = w};
    uint32_t first = w->cfg->blocks[region.first].first, end = w->cfg->blocks[region.last].end;
    hd_register_set in = w->liveness->live_in[region.first], out = w->liveness->live_out[region.last];
    for (uint32_t s = 0; s < ESTIMATE_SPACES; s++)
        g->last_store[s] = HD_NONE;
    g->fence = HD_NONE;
    w->order_number++;
    for (uint32_t i = 0; i < in.count; i++)
        new_value(g, in.items[i], HD_NONE);
    for (uint32_t i = 0; i < in.count; i++) {
        uint32_t root = w->root[in.items[i]] == in.items[i] ? i : current_value(g, w->root[in.items[i]]);
        g->values.items[i].root = root;
    }
    for (uint32_t c = 0; c < copies; c++)
        for (uint32_t i = first; i < end; i++)
            if (!w->skip[i])
                add_node(g, i);
    for (uint32_t i = 0; i < out.count; i++) {
        uint32_t v = current_value(g, out.items[i]);
        g->values.items[v].uses++;
    }
    for (uint32_t v = 0; v < in.count; v++)
        if (g->values.items[v].uses)
            estimate_bear(g, v);
    find_chains(g);
}

void estimate_graph_free(estimate_graph *g)
{
    hd_array_free(&g->nodes);
    hd_array_free(&g->edges);
    hd_array_free(&g->values);
    hd_array_free(&g->lists);
    hd_array_free(&g->sums);
    for (uint32_t s = 0; s < ESTIMATE_SPACES; s++)
        hd_array_free(&g->loads[s]);
}
