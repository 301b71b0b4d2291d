/* Release flags against brute force: every state of a warp's SIMT stack that any outcome of its branches and any order
 * of their sides leads to. In each state the registers that some lane needs are those live where its entries go on, and
 * after instructions at which lanes wait while others run. A flag may release none of them (sound); and before each
 * instruction no register may be mapped, in any state, that is needed in no state there (earliest). Which branches may
 * split is taken from the analysis, liveness of a thread worked out here. */
#include "tests/unit/unit.h"

#include "passes/analysis/liveness.h"
#include "passes/analysis/analyses.h"
#include "tests/unit/rf_bench.h"

enum { MOST_STATES = 3000, MOST_DEPTH = 24, MOST_BLOCKS = 64, MOST_INSTRUCTIONS = 400, TABLE = 8192 };

typedef uint64_t words; /* a mask */

typedef struct state {
    uint8_t depth, block[MOST_DEPTH], join[MOST_DEPTH];
    words mapped; /* that may be mapped when the top block begins */
    bool due;
} state;

typedef struct oracle {
    rf_bench *bench;
    hd_function *f;
    const hd_cfg *cfg;
    hd_storage storage;
    const hd_uniformity *uniformity;
    words renamed, live_in[MOST_BLOCKS + 1], needed[MOST_INSTRUCTIONS], mapped[MOST_INSTRUCTIONS];
    words waiting[2];  /* live after instructions at which lanes wait while others run: anywhere, and in sides */
    uint64_t in_sides; /* of branches that have two or more: blocks */
    state states[MOST_STATES];
    uint32_t count, table[TABLE];
    bool full;
    uint64_t seed;
} oracle;

/* ---- a thread ---------------------------------------------------------------------------------------------------- */

static words words_of(const oracle *o, uint32_t reg)
{
    words mask = 0;
    HD_STORAGE_WORDS (&o->storage, reg, word)
        mask |= 1ull << word;
    return mask;
}

static words written(const oracle *o, uint32_t i, bool for_sure)
{
    const hd_instruction *insn = &o->f->instructions.items[i];
    words mask = 0;
    HD_INSN_REGISTERS (o->f, insn, d)
        if (d->flags & HD_OPERAND_DEF && (!for_sure || insn->guard == HD_NONE))
            mask |= words_of(o, d->value);
    return mask;
}

static words before(const oracle *o, uint32_t i, words live)
{
    const hd_instruction *insn = &o->f->instructions.items[i];
    if (hd_storage_skips(&o->storage, i))
        return live;
    live &= ~written(o, i, true);
    HD_INSN_REGISTERS (o->f, insn, u)
        if (u->flags & HD_OPERAND_USE)
            live |= words_of(o, u->value);
    return live;
}

static words live_out(const oracle *o, uint32_t b)
{
    words live = 0;
    for (uint32_t e = 0; e < o->cfg->blocks[b].succ_count; e++)
        live |= o->live_in[hd_block_successors(o->cfg, b)[e]];
    return live;
}

static words live_before(const oracle *o, uint32_t b, uint32_t ordinal)
{
    words live = live_out(o, b);
    for (uint32_t i = o->cfg->blocks[b].end; i-- > ordinal;)
        live = before(o, i, live);
    return live;
}

static void find_live(oracle *o)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < o->cfg->block_count; b++) {
            words live = live_before(o, b, o->cfg->blocks[b].first);
            changed |= live != o->live_in[b];
            o->live_in[b] = live;
        }
    }
}

/* ---- lanes that wait at an instruction --------------------------------------------------------------------------- */

static uint64_t reached(const oracle *o, uint32_t from, uint32_t stop, uint64_t found)
{
    if (from == stop || from == o->cfg->block_count || found >> from & 1)
        return found;
    found |= 1ull << from;
    for (uint32_t e = 0; e < o->cfg->blocks[from].succ_count; e++)
        found = reached(o, hd_block_successors(o->cfg, from)[e], stop, found);
    return found;
}

/* What lanes may need that wait at branches within sides while others are in the block. */
static words kept_in(const oracle *o, uint32_t block)
{
    words kept = 0;
    HD_BITSET_EACH (&o->uniformity->divergent_branches, b) {
        uint32_t join = o->cfg->blocks[b].post_dominator, count = o->cfg->blocks[b].succ_count;
        const uint32_t *to = hd_block_successors(o->cfg, b);
        for (uint32_t e = 0; e < count && o->in_sides >> b & 1; e++) {
            if (to[e] == join || to[e] == o->cfg->block_count || !(reached(o, to[e], join, 0) >> block & 1))
                continue;
            kept |= o->live_in[join];
            for (uint32_t k = 0; k < count; k++)
                kept |= k != e ? o->live_in[to[k]] : 0;
        }
    }
    return kept;
}

static void find_waiting(oracle *o)
{
    o->in_sides = o->waiting[0] = o->waiting[1] = 0;
    HD_BITSET_EACH (&o->uniformity->divergent_branches, b) {
        uint32_t join = o->cfg->blocks[b].post_dominator, sides = 0;
        uint64_t found = 0;
        for (uint32_t e = 0; e < o->cfg->blocks[b].succ_count; e++) {
            uint32_t to = hd_block_successors(o->cfg, b)[e];
            sides += to != join && to != o->cfg->block_count;
            found |= reached(o, to, join, 0);
        }
        o->in_sides |= sides > 1 ? found : 0;
    }
    for (uint32_t b = 0; b < o->cfg->block_count; b++)
        for (uint32_t i = o->cfg->blocks[b].first; i < o->cfg->blocks[b].end; i++) {
            const hd_instruction *insn = &o->f->instructions.items[i];
            if (hd_insn_form(o->f, insn)->behaviour & (HD_BEHAVE_BARRIER | HD_BEHAVE_YIELD) &&
                (insn->guard != HD_NONE || o->in_sides >> b & 1))
                o->waiting[insn->guard == HD_NONE] |= live_before(o, b, i + 1);
            if (hd_insn_form(o->f, insn)->behaviour & (HD_BEHAVE_BARRIER | HD_BEHAVE_YIELD))
                o->waiting[1] |= kept_in(o, b);
            if (hd_insn_form(o->f, insn)->behaviour & HD_BEHAVE_MEET && o->in_sides >> b & 1)
                o->waiting[1] |= live_before(o, b, i + 1) | live_before(o, b, i) | kept_in(o, b);
        }
}

/* ---- states ------------------------------------------------------------------------------------------------------ */

/* Entries that have nothing left to do go, and those that have come to where an entry below waits for them: so stacks
 * stay low in loops. */
static void settle(const oracle *o, state *s)
{
    uint8_t kept = 0;
    for (uint32_t d = 0; d < s->depth; d++) {
        if (s->block[d] == o->cfg->block_count || (d > 0 && s->block[d] == s->join[d]))
            continue;
        s->block[kept] = s->block[d];
        s->join[kept++] = s->join[d];
    }
    s->depth = kept;
}

static bool same(const state *a, const state *b)
{
    return a->depth == b->depth && !memcmp(a->block, b->block, a->depth) && !memcmp(a->join, b->join, a->depth);
}

static void add_state(oracle *o, state s, words mapped)
{
    settle(o, &s);
    if (!s.depth)
        return;
    uint32_t hash = s.depth;
    for (uint32_t d = 0; d < s.depth; d++)
        hash = hash * 31 + s.block[d] * 7 + s.join[d];
    uint32_t slot = hash % TABLE;
    while (o->table[slot] && !same(&o->states[o->table[slot] - 1], &s))
        slot = (slot + 1) % TABLE;
    if (!o->table[slot]) {
        o->full |= o->count == MOST_STATES;
        if (o->full)
            return;
        s.mapped = 0;
        s.due = true;
        o->states[o->count++] = s;
        o->table[slot] = o->count;
    }
    state *at = &o->states[o->table[slot] - 1];
    at->due |= (mapped & ~at->mapped) != 0;
    at->mapped |= mapped;
}

static void push(oracle *o, state *s, uint32_t block, uint32_t join)
{
    if (block == join || block == o->cfg->block_count)
        return;
    o->full |= s->depth == MOST_DEPTH;
    if (o->full)
        return;
    s->block[s->depth] = (uint8_t)block;
    s->join[s->depth++] = (uint8_t)join;
}

/* Sides are added to the stack, any that are not there yet in any order. */
static void split(oracle *o, const state *from, uint32_t b, uint32_t chosen, words mapped)
{
    const uint32_t *to = hd_block_successors(o->cfg, b);
    for (uint32_t e = 0; e < o->cfg->blocks[b].succ_count; e++) {
        state s = *from;
        if (chosen >> e & 1 || to[e] == o->cfg->block_count)
            continue;
        push(o, &s, to[e], o->cfg->blocks[b].post_dominator);
        if (chosen)
            add_state(o, s, mapped);
        split(o, &s, b, chosen | 1u << e, mapped);
    }
}

/* Every way on: all lanes to one target, or some to each of several, in any order. */
static void go_on(oracle *o, const state *from, words mapped)
{
    uint32_t b = from->block[from->depth - 1], count = o->cfg->blocks[b].succ_count;
    const uint32_t *to = hd_block_successors(o->cfg, b);
    bool leaves = false; /* lanes do: the others stay in their entry */
    for (uint32_t e = 0; e < count; e++) {
        state s = *from;
        s.block[s.depth - 1] = (uint8_t)to[e];
        add_state(o, s, mapped);
        leaves = leaves || to[e] == o->cfg->block_count;
    }
    if (count < 2 || !hd_bitset_has(&o->uniformity->divergent_branches, b) || (leaves && count == 2))
        return;
    state s = *from;
    s.block[s.depth - 1] = (uint8_t)o->cfg->blocks[b].post_dominator;
    split(o, &s, b, 0, mapped);
}

/* ---- flags ------------------------------------------------------------------------------------------------------- */

static words listed(const oracle *o, uint32_t i)
{
    const hd_annotation *note = hd_annotation_at(o->f, HD_ANNOTATION_PBR, i, 0);
    words mask = 0;
    for (uint32_t k = 0; note && k < note->count; k++)
        mask |= 1ull << o->f->annotation_words.items[note->value + k];
    return mask;
}

static words flagged(const oracle *o, uint32_t i)
{
    const hd_annotation *note = hd_annotation_at(o->f, HD_ANNOTATION_PIR, i, 0);
    const hd_instruction *insn = &o->f->instructions.items[i];
    words mask = 0;
    for (uint32_t slot = 0; note && slot < 3; slot++)
        if (note->value >> slot & 1)
            mask |= words_of(o, o->f->operands.items[hd_insn_source_slot(o->f, insn, slot)].value);
    return mask & o->renamed;
}

static void expect_none(const oracle *o, words released, words needed, uint32_t i, const char *what)
{
    if (released & needed)
        fail_msg("seed %llu, instruction %u: %s releases 0x%llx, needed are 0x%llx", (unsigned long long)o->seed, i,
                 what, (unsigned long long)released, (unsigned long long)needed);
}

/* What lanes need that wait below the top. */
static words needed_below(const oracle *o, const state *s)
{
    words mask = 0;
    for (uint32_t d = 0; d + 1 < s->depth; d++)
        mask |= o->live_in[s->block[d]];
    return mask;
}

static words run_block(oracle *o, const state *s)
{
    uint32_t b = s->block[s->depth - 1];
    words mapped = s->mapped, below = needed_below(o, s) | o->waiting[0] | (o->in_sides >> b & 1 ? o->waiting[1] : 0);
    for (uint32_t i = o->cfg->blocks[b].first; i < o->cfg->blocks[b].end; i++) {
        if (hd_storage_skips(&o->storage, i))
            continue;
        words needed = live_before(o, b, i) | below, after = live_before(o, b, i + 1) | below;
        expect_none(o, listed(o, i), needed, i, "the list");
        mapped &= ~listed(o, i);
        o->needed[i] |= needed;
        o->mapped[i] |= mapped;
        mapped |= written(o, i, false);
        expect_none(o, flagged(o, i), after | written(o, i, false), i, "a bit");
        mapped &= ~flagged(o, i);
    }
    return mapped;
}

static void explore(oracle *o)
{
    state start = {.depth = 1};
    start.join[0] = (uint8_t)o->cfg->block_count;
    add_state(o, start, 0);
    for (bool any = true; any && !o->full;) {
        any = false;
        for (uint32_t s = 0; s < o->count && !o->full; s++) {
            if (!o->states[s].due)
                continue;
            o->states[s].due = false;
            any = true;
            state from = o->states[s];
            go_on(o, &from, run_block(o, &from));
        }
    }
}

static void expect_earliest(const oracle *o)
{
    for (uint32_t i = 0; i < o->f->instructions.count; i++) {
        words late = o->mapped[i] & o->renamed & ~o->needed[i];
        if (late)
            fail_msg("seed %llu, instruction %u: 0x%llx may be mapped, but nobody needs it",
                     (unsigned long long)o->seed, i, (unsigned long long)late);
    }
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

static bool fits(const oracle *o)
{
    return o->cfg->block_count < MOST_BLOCKS && o->f->instructions.count < MOST_INSTRUCTIONS && o->storage.words <= 64;
}

/* false: too many states. */
static bool try_kernel(uint64_t seed, uint32_t *split)
{
    rf_bench b;
    hd_pass_context context;
    oracle *o = calloc(1, sizeof *o);
    rf_bench_open_random(&b, seed);
    rf_bench_pass(&b, "release(table=1000000)");
    hd_pass_context_init(&context, b.kernel, &b.diagnostics);
    o->bench = &b;
    o->seed = seed;
    o->f = b.kernel;
    o->cfg = hd_function_cfg(b.kernel);
    o->storage = hd_storage_of(b.kernel, &context.scratch);
    o->uniformity = hd_analysis_get(&context, HD_ANALYSIS_UNIFORMITY);
    const hd_annotation *renamed = hd_annotation_at(o->f, HD_ANNOTATION_RELEASE_RENAMED, HD_NONE, 0);
    for (uint32_t i = 0; renamed && fits(o) && i < renamed->count; i++)
        o->renamed |= 1ull << o->f->annotation_words.items[renamed->value + i];
    bool whole = fits(o);
    if (whole) {
        find_live(o);
        find_waiting(o);
        explore(o);
        whole = !o->full;
    }
    if (whole)
        expect_earliest(o);
    *split += whole && hd_bitset_count(&o->uniformity->divergent_branches) > 1;
    hd_pass_context_free(&context);
    rf_bench_close(&b);
    free(o);
    return whole;
}

static void flags_are_sound_and_earliest(void **state_)
{
    uint32_t whole = 0, split = 0, kernels = 1500;
    (void)state_;
    for (uint64_t seed = 0; seed < kernels; seed++)
        whole += try_kernel(seed, &split);
    print_message("%u kernels, %u of them with two and more branches that split\n", whole, split);
    assert_true(whole > kernels / 2 && split > kernels / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_are_sound_and_earliest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
