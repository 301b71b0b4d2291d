/* Builds the control-flow graph of a function: blocks, edges, dominators, post-dominators (the reconvergence table),
 * loops.
 *
 * A block ends at a branch, return, exit, trap, or call of a .noreturn function. A guarded one also falls through. An
 * opaque instruction that names a label may branch to it or fall through. A label that is no branch target (nvcc emits
 * many in code with line information) does not start a block.
 *
 * The reconvergence table ignores edges into blocks from which every path ends in an unguarded trap or a .noreturn
 * call, if another edge exists: sides reconverge after `if (..) { .. assert(..); .. }` as on a GPU, not at X.
 *
 * Complexity: O(n) for blocks and edges, O(m log n) for the trees. Nothing recurses.
 */
#include "ir/graph.h"

enum { LEAVES = HD_BEHAVE_RETURN | HD_BEHAVE_EXIT | HD_BEHAVE_TRAP };

/* ---- control flow of one instruction ----------------------------------------------------------------------------- */

static const hd_function *called_function(const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(f, insn);
    for (uint32_t i = 0; i < insn->operand_count; i += hd_operand_extent(o + i)) {
        if (o[i].kind != HD_OPERAND_SYMBOL)
            continue;
        const hd_symbol *symbol = &f->module->symbols.items[o[i].value];
        if (symbol->kind == HD_SYMBOL_FUNCTION && symbol->function != HD_NONE)
            return f->module->functions.items[symbol->function];
    }
    return NULL;
}

static bool call_never_returns(const hd_function *f, const hd_instruction *insn)
{
    const hd_function *callee = called_function(f, insn);
    if (callee)
        return callee->no_return;
    const hd_operand *o = hd_insn_operands(f, insn);
    for (uint32_t i = 0; i < insn->operand_count; i += hd_operand_extent(o + i))
        if (o[i].kind == HD_OPERAND_TABLE && f->tables.items[o[i].value].kind == HD_TABLE_CALL_PROTOTYPE)
            return f->tables.items[o[i].value].no_return;
    return false;
}

static bool names_label(const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(f, insn);
    for (uint32_t i = 0; i < insn->operand_count; i++)
        if (o[i].kind == HD_OPERAND_LABEL)
            return true;
    return false;
}

/* Machine code: the last operand, where it is a table, has the targets of a return, or of SYNC and the like. */
static bool has_table(const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(f, insn);
    for (uint32_t i = insn->operand_count; i-- > 0;)
        if (o[i].kind == HD_OPERAND_TABLE)
            return f->tables.items[o[i].value].count != 0;
    return false;
}

static hd_flow machine_flow(const hd_function *f, const hd_instruction *insn, uint32_t behaviour)
{
    if (behaviour & (HD_BEHAVE_EXIT | HD_BEHAVE_RETURN)) /* an exit: of a trace, where other lanes go on */
        return has_table(f, insn) ? HD_FLOW_BRANCH : HD_FLOW_LEAVE;
    if (behaviour & HD_BEHAVE_BRANCH)
        return names_label(f, insn) || has_table(f, insn) ? HD_FLOW_BRANCH : HD_FLOW_LEAVE;
    return HD_FLOW_NEXT;
}

hd_flow hd_insn_flow(const hd_function *f, const hd_instruction *insn)
{
    uint32_t behaviour = hd_insn_form(f, insn)->behaviour;
    if (f->machine)
        return machine_flow(f, insn, behaviour);
    if (behaviour & LEAVES)
        return HD_FLOW_LEAVE;
    if (behaviour & HD_BEHAVE_BRANCH)
        return HD_FLOW_BRANCH;
    if (behaviour & HD_BEHAVE_CALL)
        return call_never_returns(f, insn) ? HD_FLOW_LEAVE : HD_FLOW_NEXT;
    if (insn->flags & HD_INSN_OPAQUE && names_label(f, insn))
        return HD_FLOW_BRANCH;
    return HD_FLOW_NEXT;
}

/* Whether control may continue at the next instruction. */
static bool falls_through(const hd_function *f, const hd_instruction *insn)
{
    return insn->guard != HD_NONE || insn->flags & (HD_INSN_OPAQUE | HD_INSN_CONDITIONAL) ||
           hd_insn_flow(f, insn) == HD_FLOW_NEXT;
}

/* Appends the ordinals of a branch's targets (the instruction count denotes the end of the body). */
static void branch_targets(const hd_function *f, const hd_instruction *insn, hd_u32_array *targets)
{
    const hd_operand *o = hd_insn_operands(f, insn);
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        if (o[i].kind == HD_OPERAND_LABEL)
            hd_array_push(targets, f->labels.items[o[i].value].instruction);
        if (o[i].kind != HD_OPERAND_TABLE || f->tables.items[o[i].value].kind != HD_TABLE_BRANCH_TARGETS)
            continue;
        const hd_table *table = &f->tables.items[o[i].value];
        for (uint32_t k = 0; k < table->count; k++)
            hd_array_push(targets, f->labels.items[f->table_entries.items[table->first + k]].instruction);
    }
}

/* ---- blocks and edges -------------------------------------------------------------------------------------------- */

/* An instruction that ends its block. Its targets extend from `target_first` to the next ending's. */
typedef struct ending {
    uint32_t instruction, target_first;
    hd_flow flow;
    bool goes_on; /* the next instruction may follow */
} ending;

typedef struct endings { /* in text order, with a sentinel */
    HD_ARRAY(ending) items;
    hd_u32_array targets; /* ordinals */
} endings;

/* Rejects most instructions by their form alone. */
static bool may_end(const hd_function *f, const hd_instruction *insn)
{
    return hd_insn_form(f, insn)->behaviour & (LEAVES | HD_BEHAVE_BRANCH | HD_BEHAVE_CALL) ||
           insn->flags & HD_INSN_OPAQUE;
}

static endings find_endings(const hd_function *f)
{
    endings all = {0};
    const hd_instruction *instructions = f->instructions.items;
    uint32_t count = f->instructions.count;
    for (uint32_t i = 0; i < count; i++) {
        if (i + HD_PREFETCH_AHEAD < count && may_end(f, &instructions[i + HD_PREFETCH_AHEAD]))
            hd_insn_prefetch(f, i + HD_PREFETCH_AHEAD);
        if (!may_end(f, &instructions[i]))
            continue;
        hd_flow flow = hd_insn_flow(f, &instructions[i]);
        if (flow == HD_FLOW_NEXT)
            continue;
        hd_array_push(&all.items, (ending){i, all.targets.count, flow, falls_through(f, &instructions[i])});
        if (flow == HD_FLOW_BRANCH)
            branch_targets(f, &instructions[i], &all.targets);
    }
    hd_array_push(&all.items, (ending){count, all.targets.count, HD_FLOW_NEXT, true});
    return all;
}

/* Marks the first instruction of each block in block_of (1 or 0). */
static void mark_leaders(const endings *all, uint32_t count, uint32_t *block_of)
{
    block_of[0] = 1;
    for (uint32_t k = 0; k + 1 < all->items.count; k++)
        block_of[all->items.items[k].instruction + 1] = 1;
    for (uint32_t t = 0; t < all->targets.count; t++)
        block_of[all->targets.items[t]] = 1;
    block_of[count] = 0;
}

static void make_blocks(hd_cfg *cfg, const hd_function *f, const endings *all)
{
    uint32_t count = f->instructions.count;
    cfg->block_of = HD_ARENA_ARRAY(&cfg->arena, uint32_t, (size_t)count + 1);
    mark_leaders(all, count, cfg->block_of);
    for (uint32_t i = 0; i < count; i++)
        cfg->block_count += cfg->block_of[i];
    if (!count)
        cfg->block_count = 1; /* an empty body is one empty block */
    cfg->blocks = HD_ARENA_ARRAY(&cfg->arena, hd_block, cfg->block_count);
    uint32_t block = HD_NONE;
    for (uint32_t i = 0; i < count; i++) {
        if (cfg->block_of[i]) {
            block++; /* HD_NONE + 1 = 0 */
            cfg->blocks[block].first = i;
            if (block)
                cfg->blocks[block - 1].end = i;
        }
        cfg->block_of[i] = block;
    }
    cfg->blocks[cfg->block_count - 1].end = count;
    cfg->block_of[count] = cfg->block_count;
}

typedef struct edge_builder {
    const hd_cfg *cfg;
    const endings *endings;
    uint32_t next; /* index of the next ending */
    hd_u32_array edges;
    uint32_t *seen; /* by block: last block + 1 that got an edge to it */
} edge_builder;

static void add_edge(edge_builder *m, uint32_t from, uint32_t to)
{
    if (m->seen[to] == from + 1)
        return;
    m->seen[to] = from + 1;
    hd_array_push(&m->edges, to);
}

/* Edges are added in block order. */
static void add_block_edges(edge_builder *m, uint32_t b)
{
    const hd_block *block = &m->cfg->blocks[b];
    const ending *e = &m->endings->items.items[m->next];
    bool goes_on = true;
    if (block->end > block->first && e->instruction == block->end - 1) {
        if (e->flow == HD_FLOW_LEAVE)
            add_edge(m, b, m->cfg->block_count);
        for (uint32_t t = e->target_first; t < e[1].target_first; t++)
            add_edge(m, b, m->cfg->block_of[m->endings->targets.items[t]]);
        goes_on = e->goes_on;
        m->next++;
    }
    if (goes_on)
        add_edge(m, b, b + 1); /* from the last block: to X */
}

/* Stores the successors of all blocks in compressed rows with n + 2 starts: X is a node without successors. */
static void make_edges(hd_cfg *cfg, const endings *all, hd_arena *scratch, hd_graph *graph)
{
    uint32_t n = cfg->block_count;
    uint32_t *first = hd_arena_alloc(scratch, ((size_t)n + 2) * sizeof(uint32_t));
    edge_builder m = {cfg, all, 0, {0}, HD_ARENA_ARRAY(scratch, uint32_t, (size_t)n + 1)};
    hd_array_reserve(&m.edges, n + all->targets.count);
    for (uint32_t b = 0; b < n; b++) {
        first[b] = m.edges.count;
        add_block_edges(&m, b);
    }
    first[n] = first[n + 1] = m.edges.count;
    cfg->successors = hd_arena_copy(&cfg->arena, m.edges.items, m.edges.count * sizeof(uint32_t));
    *graph = (hd_graph){.node_count = n + 1, .out_first = first, .out = cfg->successors};
    uint32_t *in_first;
    hd_graph_reverse(n + 1, first, cfg->successors, &cfg->arena, &in_first, &cfg->predecessors);
    graph->in_first = in_first;
    graph->in = cfg->predecessors;
    for (uint32_t b = 0; b < n; b++) {
        hd_block *block = &cfg->blocks[b];
        block->succ_first = first[b];
        block->succ_count = first[b + 1] - first[b];
        block->pred_first = in_first[b];
        block->pred_count = in_first[b + 1] - in_first[b];
        block->conditional = block->succ_count > 1;
    }
    cfg->exit_predecessors = cfg->predecessors + in_first[n];
    cfg->exit_predecessor_count = in_first[n + 1] - in_first[n];
    hd_array_free(&m.edges);
}

/* ---- trees ------------------------------------------------------------------------------------------------------- */

static void order_blocks(hd_cfg *cfg, const hd_search *search)
{
    uint32_t n = cfg->block_count, count = 0;
    cfg->post_order = hd_arena_alloc(&cfg->arena, (size_t)n * sizeof(uint32_t));
    cfg->reverse_post_order = hd_arena_alloc(&cfg->arena, (size_t)n * sizeof(uint32_t));
    for (uint32_t i = 0; i < search->count; i++)
        if (search->post_order[i] != n)
            cfg->post_order[count++] = search->post_order[i];
    cfg->reachable_count = count;
    for (uint32_t i = 0; i < count; i++) {
        cfg->reverse_post_order[i] = cfg->post_order[count - 1 - i];
        cfg->blocks[cfg->post_order[i]].reachable = true;
    }
}

static void find_dominators(hd_cfg *cfg, const hd_graph *graph, const hd_search *search, hd_arena *scratch)
{
    uint32_t nodes = graph->node_count;
    uint32_t *immediate = hd_arena_alloc(scratch, (size_t)nodes * sizeof(uint32_t));
    hd_graph_dominators(graph, search, scratch, immediate);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        cfg->blocks[b].dominator = immediate[b];
    cfg->dominator_enter = hd_arena_alloc(&cfg->arena, (size_t)nodes * 2 * sizeof(uint32_t));
    cfg->dominator_leave = cfg->dominator_enter + nodes;
    hd_tree_intervals(nodes, immediate, scratch, cfg->dominator_enter, cfg->dominator_leave);
}

/* The block ends in a trap or a .noreturn call, so no lane waits for the lanes that enter it. */
static bool fails(const hd_function *f, const hd_block *b)
{
    if (b->first == b->end)
        return false;
    const hd_instruction *last = &f->instructions.items[b->end - 1];
    uint32_t behaviour = hd_insn_form(f, last)->behaviour;
    return last->guard == HD_NONE &&
           (behaviour & HD_BEHAVE_TRAP || (behaviour & HD_BEHAVE_CALL && hd_insn_flow(f, last) == HD_FLOW_LEAVE));
}

/* Blocks from which X is reachable, but no return or exit is. */
static bool *find_lost(const hd_cfg *cfg, const hd_function *f, const hd_graph *graph, const hd_search *reaching,
                       hd_arena *scratch)
{
    uint32_t nodes = graph->node_count, exit = nodes - 1, count = 0;
    bool *lost = HD_ARENA_ARRAY(scratch, bool, nodes);
    uint32_t *stack = hd_arena_alloc(scratch, (size_t)nodes * sizeof(uint32_t));
    for (uint32_t v = 0; v < exit; v++)
        lost[v] = reaching->number[v] != HD_NONE;
    for (uint32_t e = graph->in_first[exit]; e < graph->in_first[exit + 1]; e++)
        if (!fails(f, &cfg->blocks[graph->in[e]]))
            stack[count++] = graph->in[e], lost[graph->in[e]] = false;
    while (count) {
        uint32_t v = stack[--count];
        for (uint32_t e = graph->in_first[v]; e < graph->in_first[v + 1]; e++)
            if (lost[graph->in[e]])
                stack[count++] = graph->in[e], lost[graph->in[e]] = false;
    }
    return lost;
}

/* Whether every block reaches X, and none reaches it only by failing. */
static bool all_leave(const hd_cfg *cfg, const hd_function *f, const hd_graph *graph, const hd_search *reaching)
{
    uint32_t exit = graph->node_count - 1;
    for (uint32_t e = graph->in_first[exit]; e < graph->in_first[exit + 1]; e++)
        if (fails(f, &cfg->blocks[graph->in[e]]))
            return false;
    return reaching->count == graph->node_count;
}

/* The reversed graph with a pseudo-edge to X from each block that cannot reach X, and without edges to failing blocks;
 * and its depth-first search from X. */
static hd_graph exit_graph(hd_cfg *cfg, const hd_function *f, const hd_graph *graph, hd_arena *scratch,
                           hd_search *reaching)
{
    uint32_t nodes = graph->node_count, exit = nodes - 1, edges = graph->out_first[nodes];
    hd_graph backward = {nodes, graph->in_first, graph->in, graph->out_first, graph->out};
    hd_graph_search(&backward, exit, scratch, reaching);
    if (all_leave(cfg, f, graph, reaching))
        return backward;
    const bool *lost = find_lost(cfg, f, graph, reaching, scratch);
    for (uint32_t v = 0; v < exit; v++)
        cfg->blocks[v].fails = lost[v];
    uint32_t *first = hd_arena_alloc(scratch, ((size_t)nodes + 1) * sizeof(uint32_t)), count = 0;
    uint32_t *to = hd_arena_alloc(scratch, ((size_t)nodes + edges) * sizeof(uint32_t));
    for (uint32_t v = 0; v < nodes; v++) {
        first[v] = count;
        for (uint32_t e = graph->out_first[v]; e < graph->out_first[v + 1]; e++)
            if (lost[v] || !lost[graph->out[e]])
                to[count++] = graph->out[e];
        if (reaching->number[v] == HD_NONE)
            to[count++] = exit;
    }
    first[nodes] = count;
    uint32_t *from_first, *from;
    hd_graph_reverse(nodes, first, to, scratch, &from_first, &from);
    backward = (hd_graph){nodes, from_first, from, first, to};
    hd_graph_search(&backward, exit, scratch, reaching);
    return backward;
}

static void find_post_dominators(hd_cfg *cfg, const hd_function *f, const hd_graph *graph, hd_arena *scratch)
{
    uint32_t nodes = graph->node_count, exit = nodes - 1;
    hd_search search;
    hd_graph backward = exit_graph(cfg, f, graph, scratch, &search);
    uint32_t *immediate = hd_arena_alloc(scratch, (size_t)nodes * sizeof(uint32_t));
    hd_graph_dominators(&backward, &search, scratch, immediate);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        cfg->blocks[b].post_dominator = immediate[b];
    cfg->post_dominator_enter = hd_arena_alloc(&cfg->arena, (size_t)nodes * 2 * sizeof(uint32_t));
    cfg->post_dominator_leave = cfg->post_dominator_enter + nodes;
    hd_tree_intervals(nodes, immediate, scratch, cfg->post_dominator_enter, cfg->post_dominator_leave);
    uint32_t *by_enter = hd_arena_alloc(scratch, (size_t)nodes * sizeof(uint32_t));
    for (uint32_t v = 0; v < nodes; v++)
        by_enter[cfg->post_dominator_enter[v]] = v;
    cfg->post_dominator_depth = HD_ARENA_ARRAY(&cfg->arena, uint32_t, nodes);
    for (uint32_t i = 0; i < nodes; i++) /* parents first */
        if (by_enter[i] != exit)
            cfg->post_dominator_depth[by_enter[i]] = cfg->post_dominator_depth[immediate[by_enter[i]]] + 1;
}

/* ---- entry points ------------------------------------------------------------------------------------------------ */

hd_cfg *hd_function_cfg(hd_function *function)
{
    if (function->cfg)
        return function->cfg;
    hd_cfg *cfg = hd_calloc(1, sizeof *cfg);
    hd_arena scratch = {0};
    hd_graph graph;
    hd_search search;
    endings ends = find_endings(function);
    make_blocks(cfg, function, &ends);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        cfg->blocks[b].loop = HD_NONE;
    make_edges(cfg, &ends, &scratch, &graph);
    hd_array_free(&ends.items);
    hd_array_free(&ends.targets);
    hd_graph_search(&graph, 0, &scratch, &search);
    order_blocks(cfg, &search);
    find_dominators(cfg, &graph, &search, &scratch);
    find_post_dominators(cfg, function, &graph, &scratch);
    hd_cfg_find_loops(cfg, &graph, &search, &scratch);
    hd_arena_free(&scratch);
    return function->cfg = cfg;
}

void hd_function_drop_cfg(hd_function *function)
{
    if (!function->cfg)
        return;
    hd_arena_free(&function->cfg->arena);
    free(function->cfg);
    function->cfg = NULL;
}

hd_bitset hd_cfg_reaching(const hd_cfg *cfg, hd_u32_array *blocks, hd_arena *arena)
{
    hd_bitset reaching = hd_bitset_new(arena, cfg->block_count + 1);
    while (blocks->count) {
        uint32_t b = hd_array_pop(blocks);
        if (hd_bitset_has(&reaching, b))
            continue;
        hd_bitset_add(&reaching, b);
        for (uint32_t e = 0; e < cfg->blocks[b].pred_count; e++)
            hd_array_push(blocks, hd_block_predecessors(cfg, b)[e]);
    }
    return reaching;
}

bool hd_block_dominates(const hd_cfg *cfg, uint32_t a, uint32_t b)
{
    return cfg->dominator_enter[a] <= cfg->dominator_enter[b] && cfg->dominator_enter[b] <= cfg->dominator_leave[a];
}

bool hd_block_post_dominates(const hd_cfg *cfg, uint32_t a, uint32_t b)
{
    return cfg->post_dominator_enter[a] <= cfg->post_dominator_enter[b] &&
           cfg->post_dominator_enter[b] <= cfg->post_dominator_leave[a];
}
