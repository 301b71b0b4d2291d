/* Loops that end by themselves: see counting.h.
 *
 * The spine of a loop: its blocks that dominate all its back edges and are in no inner loop. Each iteration executes
 * each of them exactly once. A counter is a register whose definitions in the loop are all on the spine, without
 * guards, such that from the one that reaches, which is the sum of a number and a register, following definitions of
 * that kind leads back to one seen before. So its value changes by the same number, modulo 2^bits, every k-th
 * iteration, where k is how many of them read a value of the iteration before. Steps with the factor 2^t, and no larger
 * power of two, take it to one of each 2^t consecutive values, whatever it begins with.
 *
 * The loop ends if the condition of an exit on the spine compares a counter such that it holds for 2^t consecutive
 * values of the counter: with a number; with a register that the loop does not write (for equality, one value); or with
 * anything, also with what is loaded each time, if the exit is taken on >= or <=: then for the greatest or the least
 * value of the type, whatever the other side is. The condition may also be joined with others of which one suffices.
 *
 * So neither a wrap-around nor a limit that another thread moves keeps it from ending. Not found: steps that are not
 * constant, 64-bit counters of machine code (two registers), limits for which a wrap-around cannot be excluded
 * (`i < n` with a step of 2).
 *
 * Loops with calls or unknown instructions, irreducible ones, and functions with registers in flight are left out.
 * Complexity: O(nesting * instructions): after BUDGET_FACTOR definitions an instruction, no more loops are found.
 */
#include "passes/analysis/counting.h"

#include "ir/asynchronous.h"
#include "ir/counting.h"
#include "passes/analysis/liveness.h"

enum { BUDGET_FACTOR = 64, MOST_LINKS = 16 };

typedef struct counting_search {
    const hd_function *function;
    const hd_cfg *cfg;
    uint32_t *definer_first, *definers; /* by register */
    hd_bitset unsuited;                 /* by loop: has a call or an unknown instruction */
    uint32_t loop, tail;                /* tail: the last block of the spine, or after it; dominates all back edges */
    uint64_t budget;                    /* definitions that may still be examined */
} counting_search;

static void list_definers(counting_search *s, hd_arena *scratch)
{
    const hd_function *f = s->function;
    s->definer_first = HD_ARENA_ARRAY(scratch, uint32_t, (size_t)f->registers.count + 2);
    for (uint32_t i = 0; i < f->instructions.count; i++)
        HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
            s->definer_first[o->value + 2] += (o->flags & HD_OPERAND_DEF) != 0;
    for (uint32_t r = 0; r < f->registers.count; r++)
        s->definer_first[r + 2] += s->definer_first[r + 1];
    s->definers = HD_ARENA_ARRAY(scratch, uint32_t, (size_t)s->definer_first[f->registers.count + 1] + 1);
    for (uint32_t i = 0; i < f->instructions.count; i++)
        HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
            if (o->flags & HD_OPERAND_DEF)
                s->definers[s->definer_first[o->value + 1]++] = i;
}

static void find_unsuited(counting_search *s)
{
    const hd_function *f = s->function;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        bool unsuited = insn->flags & HD_INSN_OPAQUE || hd_insn_form(f, insn)->behaviour & HD_BEHAVE_CALL;
        for (uint32_t l = unsuited ? s->cfg->blocks[s->cfg->block_of[i]].loop : HD_NONE; l != HD_NONE;
             l = s->cfg->loops[l].parent)
            hd_bitset_add(&s->unsuited, l);
    }
    for (uint32_t l = 0; l < s->cfg->loop_count; l++)
        if (s->cfg->loops[l].irreducible)
            hd_bitset_add(&s->unsuited, l);
}

static bool is_in_loop(const counting_search *s, uint32_t block)
{
    uint32_t l = block == s->cfg->block_count ? HD_NONE : s->cfg->blocks[block].loop;
    while (l != HD_NONE && l != s->loop)
        l = s->cfg->loops[l].parent;
    return l == s->loop;
}

static bool is_on_spine(const counting_search *s, uint32_t block)
{
    return s->cfg->blocks[block].loop == s->loop && hd_block_dominates(s->cfg, block, s->tail);
}

/* The last block that dominates all back edges; false: the header has none. */
static bool find_tail(counting_search *s)
{
    const hd_cfg *cfg = s->cfg;
    uint32_t header = cfg->loops[s->loop].header;
    s->tail = HD_NONE;
    for (uint32_t e = 0; e < cfg->blocks[header].pred_count; e++) {
        uint32_t from = hd_block_predecessors(cfg, header)[e];
        if (!is_in_loop(s, from))
            continue;
        if (s->tail == HD_NONE)
            s->tail = from;
        while (!hd_block_dominates(cfg, s->tail, from))
            s->tail = cfg->blocks[s->tail].dominator;
    }
    return s->tail != HD_NONE;
}

typedef struct wish { /* a value of a predicate: if it comes, the loop ends */
    hd_counting computed;
    uint32_t at;
    bool value;
} wish;

typedef struct wishes {
    wish items[MOST_LINKS];
    uint32_t count;
} wishes;

/* ---- definitions ------------------------------------------------------------------------------------------------- */

static bool is_before(const counting_search *s, uint32_t ordinal, uint32_t other)
{
    uint32_t block = s->cfg->block_of[ordinal], at = s->cfg->block_of[other];
    return block == at ? ordinal < other : hd_block_dominates(s->cfg, block, at);
}

typedef enum reach { REACH_UNKNOWN, REACH_NONE, REACH_BEFORE, REACH_AROUND } reach;

/* Which definition instruction `reader`, on the spine, reads: the last one before it, or that of the iteration before.
 * NONE: the loop has none. */
static reach reaching(counting_search *s, uint32_t reg, uint32_t reader, uint32_t *found)
{
    uint32_t before = HD_NONE, last = HD_NONE;
    for (uint32_t d = s->definer_first[reg]; d < s->definer_first[reg + 1]; d++) {
        uint32_t at = s->definers[d];
        if (!s->budget || !--s->budget)
            return REACH_UNKNOWN;
        if (!is_in_loop(s, s->cfg->block_of[at]))
            continue;
        if (!is_on_spine(s, s->cfg->block_of[at]) || s->function->instructions.items[at].guard != HD_NONE)
            return REACH_UNKNOWN;
        if (last == HD_NONE || is_before(s, last, at))
            last = at;
        if (is_before(s, at, reader) && (before == HD_NONE || is_before(s, before, at)))
            before = at;
    }
    *found = before != HD_NONE ? before : last;
    return before != HD_NONE ? REACH_BEFORE : last != HD_NONE ? REACH_AROUND : REACH_NONE;
}

static hd_counting computed_at(const counting_search *s, uint32_t ordinal, uint32_t reg)
{
    hd_counting c = hd_insn_counting(s->function, &s->function->instructions.items[ordinal]);
    return c.result == reg ? c : (hd_counting){0};
}

/* By how much a register advances that is a counter where `reader` reads it; 0: it is none. */
static uint64_t step_of(counting_search *s, uint32_t reg, uint32_t reader)
{
    uint32_t seen[MOST_LINKS], at;
    uint64_t sums[MOST_LINKS], sum = 0;
    for (uint32_t n = 0; n < MOST_LINKS; n++) {
        if (reaching(s, reg, reader, &at) < REACH_BEFORE)
            return 0;
        for (uint32_t i = 0; i < n; i++)
            if (seen[i] == at)
                return sum - sums[i];
        hd_counting c = computed_at(s, at, reg);
        if (c.kind != HD_COUNTING_SUM)
            return 0;
        seen[n] = at;
        sums[n] = sum;
        sum += c.terms[0].number;
        reg = c.terms[0].reg;
        reader = at;
    }
    return 0;
}

/* ---- conditions -------------------------------------------------------------------------------------------------- */

/* A limit's kind: registers are fixed if the loop does not write them, or with the same each time. */
static uint8_t kind_of_limit(counting_search *s, const hd_term *limit, uint32_t reader)
{
    uint32_t at;
    if (limit->kind != HD_TERM_REGISTER)
        return limit->kind;
    switch (reaching(s, limit->reg, reader, &at)) {
    case REACH_NONE: return HD_TERM_FIXED;
    case REACH_BEFORE:
        return computed_at(s, at, limit->reg).kind == HD_COUNTING_FIXED ? HD_TERM_FIXED : HD_TERM_UNKNOWN;
    case REACH_AROUND:
    case REACH_UNKNOWN: return HD_TERM_UNKNOWN;
    }
    return HD_TERM_UNKNOWN;
}

/* Whether the comparison at `reader` certainly holds in some iteration. */
static bool meets(counting_search *s, const hd_counting *c, hd_relation relation, uint32_t counter, uint32_t reader)
{
    hd_term limit = c->terms[!counter];
    if (c->terms[counter].kind != HD_TERM_REGISTER)
        return false;
    limit.kind = kind_of_limit(s, &limit, reader);
    return hd_steps_meet(step_of(s, c->terms[counter].reg, reader), c->bits, hd_relation_size(c, relation, &limit));
}

/* Adds the value of a predicate, as instruction `reader` sees it, to what suffices. */
static void add_wish(wishes *w, counting_search *s, uint32_t predicate, bool value, uint32_t reader)
{
    uint32_t at;
    if (w->count == MOST_LINKS || reaching(s, predicate, reader, &at) != REACH_BEFORE)
        return;
    hd_counting c = computed_at(s, at, predicate);
    if (c.kind != HD_COUNTING_COMPARE && c.kind != HD_COUNTING_AND && c.kind != HD_COUNTING_OR)
        return;
    for (uint32_t i = 0; i < w->count; i++)
        if (w->items[i].at == at && w->items[i].value == value)
            return;
    w->items[w->count++] = (wish){c, at, value};
}

/* Whether one of the values certainly comes in some iteration. */
static bool one_comes(wishes *w, counting_search *s)
{
    for (uint32_t n = 0; n < w->count; n++) {
        const wish now = w->items[n];
        const hd_counting *c = &now.computed;
        bool compares = c->kind == HD_COUNTING_COMPARE;
        uint32_t first = compares ? 2 : 0, parts = c->term_count - first + compares;
        uint8_t join = compares ? c->joined : c->kind;
        if (parts > 1 && now.value != (join == HD_COUNTING_OR)) /* all parts would have to get it at once */
            continue;
        hd_relation relation = now.value ? (hd_relation)c->relation : hd_relation_not((hd_relation)c->relation);
        if (compares && (meets(s, c, relation, 0, now.at) || meets(s, c, hd_relation_swapped(relation), 1, now.at)))
            return true;
        for (uint32_t t = first; t < c->term_count; t++)
            if (c->terms[t].kind == HD_TERM_REGISTER)
                add_wish(w, s, c->terms[t].reg, now.value != c->terms[t].negated, now.at);
    }
    return false;
}

/* The register on which a branch depends, alone; HD_NONE: there is none, or more. *taken: its value if it is taken. */
static uint32_t condition_of(const hd_function *f, const hd_instruction *insn, bool *taken)
{
    uint32_t condition = insn->guard;
    *taken = !(insn->flags & HD_INSN_GUARD_NOT);
    if (!(insn->flags & HD_INSN_CONDITIONAL))
        return condition;
    HD_INSN_REGISTERS (f, insn, o) {
        if (condition != HD_NONE || f->registers.items[o->value].type != HD_TYPE_PRED)
            return HD_NONE;
        condition = o->value;
        *taken = !(o->flags & HD_OPERAND_NOT);
    }
    return insn->guard == HD_NONE ? condition : HD_NONE;
}

static bool ends_at(counting_search *s, uint32_t block)
{
    const hd_block *b = &s->cfg->blocks[block];
    const hd_function *f = s->function;
    const hd_instruction *insn = &f->instructions.items[b->end - 1];
    if (b->succ_count != 2 ||
        !(hd_insn_form(f, insn)->behaviour & (HD_BEHAVE_BRANCH | HD_BEHAVE_EXIT | HD_BEHAVE_RETURN)))
        return false;
    bool taken, leaves = !is_in_loop(s, hd_block_successors(s->cfg, block)[0]);
    uint32_t condition = condition_of(f, insn, &taken);
    if (condition == HD_NONE || (!leaves && is_in_loop(s, hd_block_successors(s->cfg, block)[1])))
        return false;
    wishes w = {.count = 0};
    add_wish(&w, s, condition, taken == leaves, b->end - 1);
    return one_comes(&w, s);
}

static bool ends(counting_search *s)
{
    uint32_t header = s->cfg->loops[s->loop].header, block;
    if (!find_tail(s))
        return false;
    for (block = s->tail; block != header; block = s->cfg->blocks[block].dominator)
        if (is_on_spine(s, block) && ends_at(s, block))
            return true;
    return is_on_spine(s, block) && ends_at(s, block);
}

hd_bitset hd_find_counting_loops(hd_function *f, hd_arena *arena)
{
    hd_arena scratch = {0};
    counting_search s = {.function = f, .cfg = hd_function_cfg(f)};
    hd_bitset found = hd_bitset_new(arena, s.cfg->loop_count);
    s.unsuited = hd_bitset_new(&scratch, s.cfg->loop_count);
    find_unsuited(&s);
    list_definers(&s, &scratch);
    s.budget = (uint64_t)BUDGET_FACTOR * f->instructions.count + 4096;
    for (s.loop = 0; s.loop < s.cfg->loop_count && !hd_function_has_async(f); s.loop++)
        if (!hd_bitset_has(&s.unsuited, s.loop) && ends(&s))
            hd_bitset_add(&found, s.loop);
    hd_arena_free(&scratch);
    return found;
}
