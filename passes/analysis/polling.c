/* Loops that may poll: see polling.h.
 *
 * For each loop, a backward slice from the conditions of the branches that leave it, or that may execute again before
 * their sides reconverge: the definitions in the loop that reach them, the operands of these, and the conditions of
 * branches in the loop on which they are control dependent. The slice ends at instructions that load a value from
 * memory that other threads may write (ir/waits.h); these are polls. From a load of local memory it goes on to the
 * stores in the loop that may write there, because a spilled value is stored and loaded again.
 *
 * Why this finds every wait: a thread that never goes on stays in a loop, the innermost one that it repeats for ever,
 * and the values that decide the loop's exits let it stay. Without an instruction in the slice that reads what others
 * write, they are functions of the thread's own state, so no other warp can end the loop: it is an endless loop, but no
 * wait. A loop that ends by itself (counting.h) is none that is repeated for ever. There, plain loads are no polls.
 * Atomics and strong loads still are: they exist to observe others, and such a loop is a wait that gives up.
 *
 * Complexity: O(nesting * blocks in which exits depend on registers), plus the blocks between branches and their
 * reconvergence points. With more of these than DEPENDENCES_FACTOR times the blocks, or with a loop that never ends,
 * all loads of all loops are assumed to be in the slice.
 */
#include "passes/analysis/polling.h"
#include "base/search.h"

#include "ir/asynchronous.h"
#include "ir/waits.h"
#include "passes/analysis/counting.h"
#include "passes/analysis/liveness.h"

enum { DEPENDENCES_FACTOR = 64 };

typedef struct exit_edge {
    uint32_t loop, block;
} exit_edge;

typedef struct request { /* a register before an instruction, or at the end of a block */
    uint32_t reg, block, before;
} request;

typedef struct poll_search {
    hd_function *function;
    const hd_cfg *cfg;
    hd_arena *arena;
    uint32_t *definer_first, *definers; /* by register */
    uint32_t *branch_first, *branches;  /* by block: branches that it is control dependent on */
    hd_bitset counting;                 /* by loop: ends by itself */
    hd_u32_array local_writers;         /* instructions that may write local memory */
    uint32_t loop, stored;              /* stored: 1 + the last loop for which these were visited */
    uint32_t *visited, *asked;          /* by instruction, block: 1 + the last loop that visited it */
    /* by register: blocks at whose end it is in the slice; in the loop's arena, empty until needed */
    hd_bitset *wanted;
    hd_arena scratch;        /* per loop */
    hd_u32_array conditions; /* blocks whose branch is still to be examined */
    hd_u32_array in_slice;   /* registers with a set in `wanted` */
    HD_ARRAY(request) due;
    HD_ARRAY(exit_edge) exits;
    hd_bitset polls, in_flight; /* in_flight: by register, of asynchronous instructions */
} poll_search;

/* ---- definitions and control dependence -------------------------------------------------------------------------- */

static void list_definers(poll_search *s)
{
    const hd_function *f = s->function;
    s->definer_first = HD_ARENA_ARRAY(s->arena, uint32_t, (size_t)f->registers.count + 2);
    for (uint32_t i = 0; i < f->instructions.count; i++)
        HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
            s->definer_first[o->value + 2] += (o->flags & HD_OPERAND_DEF) != 0;
    for (uint32_t r = 0; r < f->registers.count; r++)
        s->definer_first[r + 2] += s->definer_first[r + 1];
    s->definers = HD_ARENA_ARRAY(s->arena, uint32_t, (size_t)s->definer_first[f->registers.count + 1] + 1);
    for (uint32_t i = 0; i < f->instructions.count; i++)
        HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
            if (o->flags & HD_OPERAND_DEF)
                s->definers[s->definer_first[o->value + 1]++] = i;
}

/* Enumerates the pairs (branch, block) where the block is executed on some, but not all paths from the branch. false:
 * too many. */
static bool each_dependence(poll_search *s, bool fill)
{
    const hd_cfg *cfg = s->cfg;
    uint64_t budget = (uint64_t)DEPENDENCES_FACTOR * cfg->block_count + 4096;
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        if (cfg->blocks[b].loop == HD_NONE || cfg->blocks[b].succ_count < 2)
            continue;
        for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++) {
            uint32_t at = hd_block_successors(cfg, b)[e];
            for (; at != cfg->blocks[b].post_dominator && at < cfg->block_count; at = cfg->blocks[at].post_dominator) {
                if (fill)
                    s->branches[s->branch_first[at + 1]++] = b;
                else if (s->branch_first[at + 2]++, !budget--)
                    return false;
            }
        }
    }
    return true;
}

static bool list_dependences(poll_search *s)
{
    uint32_t blocks = s->cfg->block_count;
    s->branch_first = HD_ARENA_ARRAY(s->arena, uint32_t, (size_t)blocks + 2);
    if (!each_dependence(s, false))
        return false;
    for (uint32_t b = 0; b < blocks; b++)
        s->branch_first[b + 2] += s->branch_first[b + 1];
    s->branches = HD_ARENA_ARRAY(s->arena, uint32_t, (size_t)s->branch_first[blocks + 1] + 1);
    return each_dependence(s, true);
}

/* ---- one loop ---------------------------------------------------------------------------------------------------- */

static bool is_in_loop(const hd_cfg *cfg, uint32_t block, uint32_t loop)
{
    uint32_t l = cfg->blocks[block].loop;
    while (l != HD_NONE && cfg->loops[l].depth > cfg->loops[loop].depth)
        l = cfg->loops[l].parent;
    return l == loop;
}

static void want_sources(poll_search *s, uint32_t ordinal)
{
    const hd_instruction *insn = &s->function->instructions.items[ordinal];
    uint32_t block = s->cfg->block_of[ordinal];
    HD_INSN_REGISTERS (s->function, insn, o)
        if (o->flags & HD_OPERAND_USE || insn->flags & HD_INSN_OPAQUE)
            hd_array_push(&s->due, (request){o->value, block, ordinal});
    if (insn->guard != HD_NONE)
        hd_array_push(&s->due, (request){insn->guard, block, ordinal});
}

/* Adds the operands of a branch, and of the branches that it is control dependent on. */
static void want_condition(poll_search *s, uint32_t block)
{
    hd_array_push(&s->conditions, block);
    while (s->conditions.count) {
        uint32_t at = hd_array_pop(&s->conditions);
        const hd_block *b = &s->cfg->blocks[at];
        if (s->asked[at] == s->loop + 1 || b->end == b->first || !is_in_loop(s->cfg, at, s->loop))
            continue;
        s->asked[at] = s->loop + 1;
        want_sources(s, b->end - 1);
        for (uint32_t i = s->branch_first[at]; i < s->branch_first[at + 1]; i++)
            hd_array_push(&s->conditions, s->branches[i]);
    }
}

static void visit(poll_search *s, uint32_t ordinal);

/* Adds the instructions of the loop that may write local memory. */
static void visit_local_writers(poll_search *s)
{
    if (s->stored == s->loop + 1)
        return;
    s->stored = s->loop + 1;
    for (uint32_t i = 0; i < s->local_writers.count; i++)
        if (is_in_loop(s->cfg, s->cfg->block_of[s->local_writers.items[i]], s->loop))
            visit(s, s->local_writers.items[i]);
}

/* Adds a definition in the loop that may reach, or what may store a value that is loaded. */
static void visit(poll_search *s, uint32_t ordinal)
{
    uint32_t block = s->cfg->block_of[ordinal];
    if (s->visited[ordinal] == s->loop + 1)
        return;
    s->visited[ordinal] = s->loop + 1;
    const hd_instruction *insn = &s->function->instructions.items[ordinal];
    if (!hd_insn_loads_shared_value(s->function, insn)) {
        want_sources(s, ordinal);
    } else {
        if (!hd_bitset_has(&s->counting, s->loop) || hd_insn_observes_other_warps(s->function, insn))
            hd_bitset_add(&s->polls, ordinal);
        if (insn->guard != HD_NONE)
            hd_array_push(&s->due, (request){insn->guard, block, ordinal});
    }
    for (uint32_t i = s->branch_first[block]; i < s->branch_first[block + 1]; i++)
        want_condition(s, s->branches[i]);
    if (hd_insn_loads_local(s->function, insn))
        visit_local_writers(s);
}

/* The writes of asynchronous instructions may happen at any time, so no definition kills them. */
static bool kills(const poll_search *s, uint32_t ordinal, uint32_t reg)
{
    const hd_instruction *insn = &s->function->instructions.items[ordinal];
    if (hd_bitset_has(&s->in_flight, reg))
        return false;
    HD_INSN_REGISTERS (s->function, insn, o)
        if (o->value == reg && hd_definition_kills(s->function, insn, o))
            return true;
    return false;
}

/* Visits the definitions of the register in its block, last first; returns true if one of them certainly kills it. */
static bool look_back(poll_search *s, request w)
{
    uint32_t first = s->definer_first[w.reg],
             at = hd_search_u32(s->definers, first, s->definer_first[w.reg + 1], w.before);
    for (; at > first && s->definers[at - 1] >= s->cfg->blocks[w.block].first; at--) {
        visit(s, s->definers[at - 1]);
        if (kills(s, s->definers[at - 1], w.reg))
            return false;
    }
    return true;
}

static void add_to_slice(poll_search *s, request w)
{
    const hd_cfg *cfg = s->cfg;
    if (!look_back(s, w))
        return;
    if (!s->wanted[w.reg].bits) {
        s->wanted[w.reg] = hd_bitset_new(&s->scratch, cfg->block_count + 1);
        hd_array_push(&s->in_slice, w.reg);
    }
    for (uint32_t e = 0; e < cfg->blocks[w.block].pred_count; e++) {
        uint32_t from = hd_block_predecessors(cfg, w.block)[e];
        if (hd_bitset_has(&s->wanted[w.reg], from) || !is_in_loop(cfg, from, s->loop))
            continue;
        hd_bitset_add(&s->wanted[w.reg], from);
        hd_array_push(&s->due, (request){w.reg, from, cfg->blocks[from].end});
    }
}

static void search_loop(poll_search *s, uint32_t loop, uint32_t from, uint32_t end)
{
    s->loop = loop;
    for (uint32_t e = from; e < end; e++)
        want_condition(s, s->exits.items[e].block);
    while (s->due.count)
        add_to_slice(s, hd_array_pop(&s->due));
    while (s->in_slice.count)
        s->wanted[hd_array_pop(&s->in_slice)] = (hd_bitset){0};
    hd_arena_free(&s->scratch);
}

/* ---- all loops --------------------------------------------------------------------------------------------------- */

static int compare_exits(const void *left, const void *right)
{
    const exit_edge *a = left, *b = right;
    if (a->loop != b->loop)
        return a->loop < b->loop ? -1 : 1;
    return (a->block > b->block) - (a->block < b->block);
}

/* Whether the branch can execute again before its sides reconverge, without leaving its innermost loop. */
static bool repeats_itself(poll_search *s, uint32_t branch, uint64_t *budget)
{
    const hd_cfg *cfg = s->cfg;
    uint32_t join = cfg->blocks[branch].post_dominator, loop = cfg->blocks[branch].loop;
    hd_array_clear(&s->conditions);
    hd_array_push(&s->conditions, branch);
    while (s->conditions.count) {
        uint32_t b = hd_array_pop(&s->conditions);
        for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++) {
            uint32_t to = hd_block_successors(cfg, b)[e];
            if (to == join || to == cfg->block_count || s->asked[to] == branch + 1 || !is_in_loop(cfg, to, loop))
                continue;
            if (to == branch || !*budget)
                return true;
            --*budget;
            s->asked[to] = branch + 1;
            hd_array_push(&s->conditions, to);
        }
    }
    return false;
}

static bool leaves_loop(const hd_cfg *cfg, uint32_t b)
{
    for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++) {
        uint32_t to = hd_block_successors(cfg, b)[e];
        if (to == cfg->block_count || !is_in_loop(cfg, to, cfg->blocks[b].loop))
            return true;
    }
    return false;
}

/* Branches that only decide how often an inner part of a loop with the same header is repeated. */
static void list_repeats(poll_search *s)
{
    const hd_cfg *cfg = s->cfg;
    uint64_t budget = (uint64_t)DEPENDENCES_FACTOR * cfg->block_count + 4096;
    for (uint32_t b = 0; b < cfg->block_count; b++)
        if (cfg->blocks[b].loop != HD_NONE && cfg->blocks[b].succ_count > 1 && !leaves_loop(cfg, b) &&
            repeats_itself(s, b, &budget))
            hd_array_push(&s->exits, (exit_edge){cfg->blocks[b].loop, b});
    memset(s->asked, 0, cfg->block_count * sizeof *s->asked);
}

static void list_exits(poll_search *s)
{
    const hd_cfg *cfg = s->cfg;
    list_repeats(s);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++) {
            uint32_t to = hd_block_successors(cfg, b)[e];
            for (uint32_t l = cfg->blocks[b].loop; l != HD_NONE; l = cfg->loops[l].parent) {
                if (to != cfg->block_count && is_in_loop(cfg, to, l))
                    break;
                hd_array_push(&s->exits, (exit_edge){l, b});
            }
        }
    if (s->exits.count)
        qsort(s->exits.items, s->exits.count, sizeof *s->exits.items, compare_exits);
}

static bool loops_load(const poll_search *s)
{
    const hd_function *f = s->function;
    for (uint32_t i = 0; s->cfg->loop_count && i < f->instructions.count; i++)
        if (s->cfg->blocks[s->cfg->block_of[i]].loop != HD_NONE &&
            hd_insn_loads_shared_value(f, &f->instructions.items[i]))
            return true;
    return false;
}

static void add_all(poll_search *s)
{
    const hd_function *f = s->function;
    for (uint32_t i = 0; i < f->instructions.count; i++)
        if (s->cfg->blocks[s->cfg->block_of[i]].loop != HD_NONE &&
            hd_insn_loads_shared_value(f, &f->instructions.items[i]))
            hd_bitset_add(&s->polls, i);
}

/* Whether the function's end cannot be reached from somewhere in a loop. Such blocks have no reconvergence points, from
 * which control dependence follows. */
static bool some_loop_never_ends(const poll_search *s)
{
    const hd_cfg *cfg = s->cfg;
    hd_u32_array last = {0};
    for (uint32_t e = 0; e < cfg->exit_predecessor_count; e++)
        hd_array_push(&last, cfg->exit_predecessors[e]);
    hd_bitset ends = hd_cfg_reaching(cfg, &last, s->arena);
    hd_array_free(&last);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        if (cfg->blocks[b].loop != HD_NONE && !hd_bitset_has(&ends, b))
            return true;
    return false;
}

static void search_loops(poll_search *s)
{
    const hd_function *f = s->function;
    list_definers(s);
    s->in_flight = hd_bitset_new(s->arena, f->registers.count);
    bool any = hd_function_has_async(f);
    for (uint32_t i = 0; any && i < f->instructions.count; i++)
        if (hd_insn_async(f, &f->instructions.items[i]).part == HD_ASYNC_BEGIN)
            HD_ASYNC_DATA (f, &f->instructions.items[i], o)
                hd_bitset_add(&s->in_flight, o->value);
    for (uint32_t i = 0; i < f->instructions.count; i++)
        if (hd_insn_may_store_local(f, &f->instructions.items[i]))
            hd_array_push(&s->local_writers, i);
    s->counting = hd_find_counting_loops(s->function, s->arena);
    s->wanted = HD_ARENA_ARRAY(s->arena, hd_bitset, f->registers.count);
    s->visited = HD_ARENA_ARRAY(s->arena, uint32_t, f->instructions.count);
    s->asked = HD_ARENA_ARRAY(s->arena, uint32_t, s->cfg->block_count);
    list_exits(s);
    for (uint32_t from = 0, end; from < s->exits.count; from = end) {
        for (end = from + 1; end < s->exits.count && s->exits.items[end].loop == s->exits.items[from].loop;)
            end++;
        search_loop(s, s->exits.items[from].loop, from, end);
    }
    hd_array_free(&s->local_writers);
    hd_array_free(&s->due);
    hd_array_free(&s->in_slice);
    hd_array_free(&s->conditions);
    hd_array_free(&s->exits);
}

hd_bitset hd_find_polls(hd_function *f, hd_arena *arena)
{
    hd_arena scratch = {0};
    poll_search s = {.function = f, .cfg = hd_function_cfg(f), .arena = &scratch};
    s.polls = hd_bitset_new(arena, f->instructions.count);
    if (loops_load(&s)) {
        if (!some_loop_never_ends(&s) && list_dependences(&s))
            search_loops(&s);
        else
            add_all(&s);
    }
    hd_arena_free(&scratch);
    return s.polls;
}
