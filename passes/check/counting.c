/* Loops that end by themselves: see counting.h. */
#include "passes/check/counting.h"

#include "ir/asynchronous.h"
#include "ir/counting.h"

enum { MOST_LINKS = 32 };

typedef struct symbolic { /* what `base` held when the iteration began, plus a number */
    uint32_t base;        /* HD_NONE: unknown */
    uint64_t number;
} symbolic;

typedef struct predicate { /* a value of a predicate register */
    hd_counting computed;
    symbolic sides[2];   /* of a comparison */
    uint32_t sources[3]; /* by term: number of its value in `predicates`; HD_NONE: unknown */
    bool asked[2];       /* by value */
} predicate;

typedef struct leaving { /* if the predicate has the value, an exit is taken */
    uint32_t predicate;
    bool value;
} leaving;

typedef struct iteration {
    const hd_facts *facts;
    hd_bitset body, once; /* by block: in the loop; executed once by every iteration */
    hd_bitset wild;       /* by register: written where that is not certain */
    symbolic *now;        /* by register; base HD_NONE - 1: as when the iteration began */
    uint32_t *holds;      /* by register: number of its value in `predicates` */
    hd_u32_array blocks, touched, order;
    HD_ARRAY(predicate) predicates;
    HD_ARRAY(leaving) exits;
} iteration;

/* ---- the loop's blocks ------------------------------------------------------------------------------------------- */

/* Collects the blocks from which the header is reached again without passing it; false: another block is entered from
 * outside, or calls or unknown instructions are among them. */
static bool collect(iteration *it, uint32_t header)
{
    const hd_cfg *cfg = it->facts->cfg;
    const hd_function *f = it->facts->function;
    hd_array_clear(&it->blocks);
    hd_bitset_add(&it->body, header);
    hd_array_push(&it->blocks, header);
    for (uint32_t n = 0; n < it->blocks.count; n++) {
        uint32_t b = it->blocks.items[n];
        for (uint32_t i = cfg->blocks[b].first; i < cfg->blocks[b].end; i++) {
            const hd_instruction *insn = &f->instructions.items[i];
            if (insn->flags & HD_INSN_OPAQUE || hd_insn_form(f, insn)->behaviour & HD_BEHAVE_CALL)
                return false;
        }
        for (uint32_t e = 0; e < cfg->blocks[b].pred_count; e++) {
            uint32_t from = hd_block_predecessors(cfg, b)[e];
            bool enters = b == header && !hd_block_dominates(cfg, header, from);
            if (!cfg->blocks[from].reachable || enters || hd_bitset_has(&it->body, from))
                continue;
            if (!hd_block_dominates(cfg, header, from))
                return false;
            hd_bitset_add(&it->body, from);
            hd_array_push(&it->blocks, from);
        }
    }
    return true;
}

/* The blocks that each iteration executes once, in this order: they are in no inner loop and dominate the ends of all
 * iterations. */
static void find_once(iteration *it, uint32_t loop)
{
    const hd_cfg *cfg = it->facts->cfg;
    uint32_t header = cfg->loops[loop].header, last = HD_NONE;
    for (uint32_t e = 0; e < cfg->blocks[header].pred_count; e++) {
        uint32_t from = hd_block_predecessors(cfg, header)[e];
        if (!hd_bitset_has(&it->body, from))
            continue;
        last = last == HD_NONE ? from : last;
        while (!hd_block_dominates(cfg, last, from))
            last = cfg->blocks[last].dominator;
    }
    hd_array_clear(&it->order);
    for (uint32_t b = last; b != HD_NONE; b = b == header ? HD_NONE : cfg->blocks[b].dominator)
        if (cfg->blocks[b].loop == loop) {
            hd_bitset_add(&it->once, b);
            hd_array_push(&it->order, b);
        }
    for (uint32_t i = 0; i < it->order.count / 2; i++) {
        uint32_t swapped = it->order.items[i];
        it->order.items[i] = it->order.items[it->order.count - 1 - i];
        it->order.items[it->order.count - 1 - i] = swapped;
    }
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

enum { AS_BEFORE = HD_NONE - 1, FIXED = HD_NONE - 2 }; /* FIXED: the same number in every iteration */

static symbolic value_of(const iteration *it, uint32_t reg)
{
    symbolic unknown = {.base = HD_NONE};
    if (hd_bitset_has(&it->wild, reg))
        return unknown;
    return it->now[reg].base == AS_BEFORE ? (symbolic){.base = reg} : it->now[reg];
}

static void touch(iteration *it, uint32_t reg)
{
    if (it->now[reg].base == AS_BEFORE)
        hd_array_push(&it->touched, reg);
    it->now[reg] = (symbolic){.base = HD_NONE};
    it->holds[reg] = HD_NONE;
}

static void find_wild(iteration *it)
{
    const hd_function *f = it->facts->function;
    for (uint32_t n = 0; n < it->blocks.count; n++) {
        const hd_block *b = &it->facts->cfg->blocks[it->blocks.items[n]];
        bool once = hd_bitset_has(&it->once, it->blocks.items[n]);
        for (uint32_t i = b->first; i < b->end; i++)
            HD_INSN_REGISTERS (f, &f->instructions.items[i], o) {
                if (!(o->flags & HD_OPERAND_DEF))
                    continue;
                touch(it, o->value);
                if (!once || f->instructions.items[i].guard != HD_NONE)
                    hd_bitset_add(&it->wild, o->value);
            }
    }
    for (uint32_t t = 0; t < it->touched.count; t++)
        it->now[it->touched.items[t]].base = AS_BEFORE;
}

static uint32_t add_predicate(iteration *it, const hd_counting *c)
{
    predicate p = {.computed = *c, .sides = {{.base = HD_NONE}, {.base = HD_NONE}}};
    for (uint32_t t = 0; t < c->term_count; t++) {
        bool side = c->kind == HD_COUNTING_COMPARE && t < 2, reg = c->terms[t].kind == HD_TERM_REGISTER;
        p.sources[t] =
            !side && reg && !hd_bitset_has(&it->wild, c->terms[t].reg) ? it->holds[c->terms[t].reg] : HD_NONE;
        if (side && reg)
            p.sides[t] = value_of(it, c->terms[t].reg);
    }
    hd_array_push(&it->predicates, p);
    return it->predicates.count - 1;
}

static void execute(iteration *it, uint32_t ordinal)
{
    const hd_function *f = it->facts->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    hd_counting c = hd_insn_counting(f, insn);
    symbolic sum = {.base = HD_NONE};
    uint32_t holds = HD_NONE;
    if (c.kind == HD_COUNTING_SUM) {
        sum = value_of(it, c.terms[0].reg);
        sum.number += c.terms[0].number;
    } else if (c.kind == HD_COUNTING_FIXED) {
        sum.base = FIXED;
    } else if (c.kind != HD_COUNTING_NONE) {
        holds = add_predicate(it, &c);
    }
    HD_INSN_REGISTERS (f, insn, o)
        if (o->flags & HD_OPERAND_DEF) {
            it->now[o->value] = o->value == c.result ? sum : (symbolic){.base = HD_NONE};
            it->holds[o->value] = o->value == c.result ? holds : HD_NONE;
        }
}

static void ask(iteration *it, uint32_t number, bool value)
{
    if (number == HD_NONE || it->predicates.items[number].asked[value])
        return;
    it->predicates.items[number].asked[value] = true;
    hd_array_push(&it->exits, (leaving){number, value});
}

/* Notes an exit that depends on one predicate. */
static void leave(iteration *it, uint32_t block)
{
    const hd_cfg *cfg = it->facts->cfg;
    const hd_function *f = it->facts->function;
    const hd_instruction *insn = &f->instructions.items[cfg->blocks[block].end - 1];
    const uint32_t *to = hd_block_successors(cfg, block);
    uint32_t reg = insn->guard, conditions = insn->guard != HD_NONE;
    bool value = !(insn->flags & HD_INSN_GUARD_NOT);
    if (cfg->blocks[block].succ_count != 2 ||
        !(hd_insn_form(f, insn)->behaviour & (HD_BEHAVE_BRANCH | HD_BEHAVE_EXIT | HD_BEHAVE_RETURN)))
        return;
    if (insn->flags & HD_INSN_CONDITIONAL)
        HD_INSN_REGISTERS (f, insn, o) {
            conditions++;
            reg = o->value;
            value = !(o->flags & HD_OPERAND_NOT);
        }
    bool first = to[0] == cfg->block_count || !hd_bitset_has(&it->body, to[0]),
         second = to[1] == cfg->block_count || !hd_bitset_has(&it->body, to[1]);
    if (conditions != 1 || (!first && !second) || hd_bitset_has(&it->wild, reg))
        return;
    ask(it, it->holds[reg], value == first);
}

/* ---- conditions -------------------------------------------------------------------------------------------------- */

/* By how much what a register holds at the beginning of iterations changes from one to the next, or every k-th; 0:
 * unknown, or not at all. */
static uint64_t step_of(const iteration *it, uint32_t base)
{
    symbolic links[MOST_LINKS]; /* the registers passed, and what was added after them */
    uint64_t sum = 0;
    for (uint32_t n = 0; n < MOST_LINKS && base < FIXED; n++) {
        for (uint32_t i = 0; i < n; i++)
            if (links[i].base == base)
                return sum - links[i].number;
        links[n] = (symbolic){base, sum};
        symbolic end = value_of(it, base);
        sum += end.number;
        base = end.base;
    }
    return 0;
}

static bool meets(const iteration *it, const predicate *p, hd_relation relation, uint32_t counter)
{
    hd_term limit = p->computed.terms[!counter];
    symbolic other = p->sides[!counter];
    if (limit.kind == HD_TERM_REGISTER) {
        symbolic end = other.base >= FIXED ? other : value_of(it, other.base);
        bool same = other.base == FIXED || (other.base != HD_NONE && end.base == other.base && !end.number);
        limit.kind = same ? HD_TERM_FIXED : HD_TERM_UNKNOWN;
    }
    uint64_t size = hd_relation_size(&p->computed, relation, &limit);
    return p->sides[counter].base != HD_NONE &&
           hd_steps_meet(step_of(it, p->sides[counter].base), p->computed.bits, size);
}

/* Whether the predicate certainly gets the value in some iteration, by a comparison; if others of its parts suffice,
 * they are asked. */
static bool comes(iteration *it, uint32_t number, bool value)
{
    const predicate p = it->predicates.items[number];
    const hd_counting *c = &p.computed;
    bool compares = c->kind == HD_COUNTING_COMPARE;
    uint8_t join = compares ? c->joined : c->term_count > 1 ? c->kind : (uint8_t)HD_COUNTING_NONE;
    if ((join == HD_COUNTING_AND && value) || (join == HD_COUNTING_OR && !value))
        return false;
    hd_relation relation = value ? (hd_relation)c->relation : hd_relation_not((hd_relation)c->relation);
    if (compares && (meets(it, &p, relation, 0) || meets(it, &p, hd_relation_swapped(relation), 1)))
        return true;
    for (uint32_t t = compares ? 2 : 0; t < c->term_count; t++)
        ask(it, p.sources[t], value != c->terms[t].negated);
    return false;
}

/* ---- all loops --------------------------------------------------------------------------------------------------- */

static bool iterate(iteration *it, uint32_t loop)
{
    const hd_cfg *cfg = it->facts->cfg;
    bool ends = false;
    if (!cfg->loops[loop].irreducible && collect(it, cfg->loops[loop].header)) {
        find_once(it, loop);
        find_wild(it);
        for (uint32_t n = 0; n < it->order.count; n++) {
            for (uint32_t i = cfg->blocks[it->order.items[n]].first; i < cfg->blocks[it->order.items[n]].end; i++)
                execute(it, i);
            leave(it, it->order.items[n]);
        }
        while (it->exits.count && !ends) {
            leaving exit = hd_array_pop(&it->exits);
            ends = comes(it, exit.predicate, exit.value);
        }
    }
    for (uint32_t n = 0; n < it->blocks.count; n++) {
        hd_bitset_remove(&it->body, it->blocks.items[n]);
        hd_bitset_remove(&it->once, it->blocks.items[n]);
    }
    for (uint32_t t = 0; t < it->touched.count; t++) {
        it->now[it->touched.items[t]].base = AS_BEFORE;
        it->holds[it->touched.items[t]] = HD_NONE;
        hd_bitset_remove(&it->wild, it->touched.items[t]);
    }
    hd_array_clear(&it->touched);
    hd_array_clear(&it->predicates);
    hd_array_clear(&it->exits);
    return ends;
}

hd_bitset hd_check_counting_loops(hd_facts *facts)
{
    hd_arena scratch = {0};
    uint32_t registers = facts->function->registers.count;
    hd_bitset found = hd_bitset_new(&facts->arena, facts->cfg->loop_count);
    iteration it = {.facts = facts,
                    .body = hd_bitset_new(&scratch, facts->cfg->block_count + 1),
                    .once = hd_bitset_new(&scratch, facts->cfg->block_count + 1),
                    .wild = hd_bitset_new(&scratch, registers),
                    .now = HD_ARENA_ARRAY(&scratch, symbolic, registers),
                    .holds = HD_ARENA_ARRAY(&scratch, uint32_t, registers)};
    for (uint32_t r = 0; r < registers; r++) {
        it.now[r].base = AS_BEFORE;
        it.holds[r] = HD_NONE;
    }
    for (uint32_t l = 0; l < facts->cfg->loop_count && !hd_function_has_async(facts->function); l++)
        if (iterate(&it, l))
            hd_bitset_add(&found, l);
    hd_array_free(&it.blocks);
    hd_array_free(&it.touched);
    hd_array_free(&it.order);
    hd_array_free(&it.predicates);
    hd_array_free(&it.exits);
    hd_arena_free(&scratch);
    return found;
}
