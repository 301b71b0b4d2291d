/* Spans of asynchronous register accesses: see async_spans.h.
 *
 * A forward data-flow analysis. The state is a list of asynchronous instructions with an age each: 0 until a commit
 * closes the instruction's group, then 1 plus the number of later commits. A commit increments the ages of its queue; a
 * wait that leaves N groups pending removes entries older than N; executing an instruction again resets its age to 0.
 * At joins the minimum age is taken. Calls have no effect: what a callee waits for or commits only completes more than
 * is assumed.
 *
 * Complexity: O(ages * (edges * instructions in flight)); ages are capped at MOST_AGE. Functions without such
 * instructions cost nothing.
 */
#include "passes/analysis/async_spans.h"

#include "ir/asynchronous.h"

enum { MOST_AGE = 32 };

typedef struct flight { /* an asynchronous instruction in flight */
    uint32_t ordinal, age;
} flight;
HD_ARRAY_TYPE(flight_list, flight);

typedef struct flow {
    hd_function *function;
    const hd_cfg *cfg;
    flight_list *in; /* by block; sorted by ordinal */
    bool *reached;
    flight_list now, merged;
} flow;

/* ---- transfer function ------------------------------------------------------------------------------------------- */

static uint8_t queue_of(const flow *s, uint32_t ordinal)
{
    return hd_insn_async(s->function, &s->function->instructions.items[ordinal]).queue;
}

static void begin(flow *s, uint32_t ordinal)
{
    uint32_t at = s->now.count;
    while (at && s->now.items[at - 1].ordinal > ordinal)
        at--;
    if (at && s->now.items[at - 1].ordinal == ordinal) {
        s->now.items[at - 1].age = 0;
        return;
    }
    hd_array_push(&s->now, (flight){0});
    memmove(s->now.items + at + 1, s->now.items + at, (s->now.count - 1 - at) * sizeof(flight));
    s->now.items[at] = (flight){ordinal, 0};
}

/* In groups, only those whose group is closed and followed by at least `pending` later ones. */
static bool is_covered(const flow *s, const flight *f, hd_async wait)
{
    return queue_of(s, f->ordinal) == wait.queue && (wait.queue != HD_ASYNC_GROUP || f->age > wait.pending);
}

static void step(flow *s, uint32_t ordinal)
{
    hd_async what = hd_insn_async(s->function, &s->function->instructions.items[ordinal]);
    uint32_t kept = 0;
    switch ((hd_async_part)what.part) {
    case HD_ASYNC_NONE: return;
    case HD_ASYNC_BEGIN: begin(s, ordinal); return;
    case HD_ASYNC_COMMIT:
        for (uint32_t i = 0; i < s->now.count; i++)
            s->now.items[i].age += queue_of(s, s->now.items[i].ordinal) == what.queue && s->now.items[i].age < MOST_AGE;
        return;
    case HD_ASYNC_WAIT:
        for (uint32_t i = 0; i < s->now.count; i++)
            if (!is_covered(s, &s->now.items[i], what))
                s->now.items[kept++] = s->now.items[i];
        s->now.count = kept;
        return;
    }
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static void copy_list(flight_list *to, const flight_list *from)
{
    hd_array_clear(to);
    for (uint32_t i = 0; i < from->count; i++)
        hd_array_push(to, from->items[i]);
}

/* Merges the current state into the input of a block; true if the input grew. */
static bool meet(flow *s, uint32_t block)
{
    flight_list *in = &s->in[block];
    uint32_t a = 0, b = 0;
    bool more = !s->reached[block];
    s->reached[block] = true;
    hd_array_clear(&s->merged);
    while (a < in->count || b < s->now.count) {
        bool first = b == s->now.count || (a < in->count && in->items[a].ordinal <= s->now.items[b].ordinal);
        bool second = a == in->count || (b < s->now.count && s->now.items[b].ordinal <= in->items[a].ordinal);
        flight f = first ? in->items[a] : s->now.items[b];
        if (second && (!first || s->now.items[b].age < f.age)) {
            f.age = s->now.items[b].age;
            more = true;
        }
        hd_array_push(&s->merged, f);
        a += first;
        b += second;
    }
    if (more)
        copy_list(in, &s->merged);
    return more;
}

/* Processes blocks whose input changed, in reverse post-order, up to the fixed point. */
static void follow(flow *s, hd_arena *scratch)
{
    const hd_cfg *cfg = s->cfg;
    hd_bitset due = hd_bitset_new(scratch, cfg->block_count + 1);
    s->reached[0] = true;
    hd_bitset_add(&due, 0);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < cfg->reachable_count; i++) {
            uint32_t b = cfg->reverse_post_order[i];
            if (!hd_bitset_has(&due, b))
                continue;
            hd_bitset_remove(&due, b);
            copy_list(&s->now, &s->in[b]);
            for (uint32_t k = cfg->blocks[b].first; k < cfg->blocks[b].end; k++)
                step(s, k);
            for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++) {
                uint32_t to = hd_block_successors(cfg, b)[e];
                if (to == cfg->block_count || !meet(s, to))
                    continue;
                hd_bitset_add(&due, to);
                changed = true;
            }
        }
    }
}

/* ---- uses -------------------------------------------------------------------------------------------------------- */

typedef struct use {
    uint32_t ordinal, reg;
} use;

typedef struct lister {
    flow *flow;
    hd_async_spans *spans;
    uint32_t *seen, seeing; /* by register: `seeing` while it is in flight */
    hd_u32_array registers; /* those in flight */
    HD_ARRAY(use) uses;
} lister;

static void add_data(lister *l, uint32_t ordinal)
{
    const hd_function *f = l->flow->function;
    HD_ASYNC_DATA (f, &f->instructions.items[ordinal], o) {
        if (l->seen[o->value] == l->seeing)
            continue;
        l->seen[o->value] = l->seeing;
        hd_array_push(&l->registers, o->value);
    }
}

static void list_registers(lister *l)
{
    l->seeing++;
    hd_array_clear(&l->registers);
    for (uint32_t i = 0; i < l->flow->now.count; i++)
        add_data(l, l->flow->now.items[i].ordinal);
}

static void use_all(lister *l, uint32_t ordinal)
{
    for (uint32_t i = 0; i < l->registers.count; i++)
        hd_array_push(&l->uses, (use){ordinal, l->registers.items[i]});
}

/* A definition of a register in flight does not end the span, not even one that starts another access. */
static void use_defined(lister *l, uint32_t ordinal)
{
    const hd_function *f = l->flow->function;
    HD_INSN_REGISTERS (f, &f->instructions.items[ordinal], o)
        if (o->flags & HD_OPERAND_DEF && l->seen[o->value] == l->seeing)
            hd_array_push(&l->uses, (use){ordinal, o->value});
}

static bool ends_function(const hd_cfg *cfg, const hd_block *block)
{
    for (uint32_t e = block->succ_first; e < block->succ_first + block->succ_count; e++)
        if (cfg->successors[e] == cfg->block_count)
            return true;
    return !block->succ_count;
}

static void list_block(lister *l, uint32_t b)
{
    flow *s = l->flow;
    const hd_block *block = &s->cfg->blocks[b];
    bool ends = ends_function(s->cfg, block);
    uint32_t behaviour = 0;
    copy_list(&s->now, &s->in[b]);
    list_registers(l);
    for (uint32_t i = block->first; i < block->end; i++) {
        const hd_instruction *insn = &s->function->instructions.items[i];
        hd_async_part part = (hd_async_part)hd_insn_async(s->function, insn).part;
        if (i == block->first || part == HD_ASYNC_WAIT || (ends && i + 1 == block->end))
            use_all(l, i);
        else
            use_defined(l, i);
        step(s, i);
        if (part == HD_ASYNC_WAIT)
            list_registers(l);
        else if (part == HD_ASYNC_BEGIN)
            add_data(l, i);
        behaviour = hd_insn_form(s->function, insn)->behaviour;
    }
    if (ends && s->now.count && !s->function->is_entry && !(behaviour & (HD_BEHAVE_EXIT | HD_BEHAVE_TRAP)))
        l->spans->leaves = true;
}

static void group_uses(lister *l, hd_arena *arena)
{
    uint32_t count = l->flow->function->instructions.count;
    hd_async_spans *spans = l->spans;
    spans->use_first = HD_ARENA_ARRAY(arena, uint32_t, (size_t)count + 2);
    spans->uses = HD_ARENA_ARRAY(arena, uint32_t, (size_t)l->uses.count + 1);
    for (uint32_t i = 0; i < l->uses.count; i++)
        spans->use_first[l->uses.items[i].ordinal + 2]++;
    for (uint32_t i = 0; i < count; i++)
        spans->use_first[i + 2] += spans->use_first[i + 1];
    for (uint32_t i = 0; i < l->uses.count; i++)
        spans->uses[spans->use_first[l->uses.items[i].ordinal + 1]++] = l->uses.items[i].reg;
}

static void find_named(const hd_function *f, hd_bitset *named)
{
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        if (hd_insn_async(f, insn).part == HD_ASYNC_BEGIN)
            HD_ASYNC_DATA (f, insn, o)
                hd_bitset_add(named, o->value);
    }
}

const hd_async_spans *hd_async_spans_of(hd_function *f, hd_arena *arena)
{
    if (!hd_function_has_async(f))
        return NULL;
    hd_arena scratch = {0};
    flow s = {.function = f, .cfg = hd_function_cfg(f)};
    s.in = HD_ARENA_ARRAY(&scratch, flight_list, s.cfg->block_count);
    s.reached = HD_ARENA_ARRAY(&scratch, bool, s.cfg->block_count);
    follow(&s, &scratch);
    lister l = {.flow = &s,
                .spans = HD_ARENA_NEW(arena, hd_async_spans),
                .seen = HD_ARENA_ARRAY(&scratch, uint32_t, f->registers.count)};
    l.spans->named = hd_bitset_new(arena, f->registers.count);
    find_named(f, &l.spans->named);
    for (uint32_t b = 0; b < s.cfg->block_count; b++)
        list_block(&l, b);
    group_uses(&l, arena);
    for (uint32_t b = 0; b < s.cfg->block_count; b++)
        hd_array_free(&s.in[b]);
    hd_array_free(&s.now);
    hd_array_free(&s.merged);
    hd_array_free(&l.uses);
    hd_array_free(&l.registers);
    hd_arena_free(&scratch);
    return l.spans;
}

const hd_bitset *hd_async_words(const hd_function *f, const hd_storage *storage, hd_arena *arena)
{
    if (!hd_function_has_async(f))
        return NULL;
    hd_bitset *words = HD_ARENA_NEW(arena, hd_bitset), named = hd_bitset_new(arena, f->registers.count);
    *words = hd_bitset_new(arena, storage->words + 1);
    find_named(f, &named);
    HD_BITSET_EACH (&named, reg)
        HD_STORAGE_WORDS (storage, reg, word)
            hd_bitset_add(words, word);
    return words;
}
