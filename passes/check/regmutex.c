/* Verifies the sets of regmutex: no word of the extended set is named or live at warp level at an instruction where the
 * warp may not hold the set, and the set is not held where the warp may wait for another warp.
 *
 *   state    which of "held" and "not held" may reach an instruction: propagated along the warp order (order.h), from
 *            "not held" at the entry; an acquire sets it to held, a release to not held, both before their instruction.
 *            Where lanes wait at an instruction (waits.h), other lanes of the warp leave it in some state: the states
 *            at any such instruction, or at the end of a side, may hold after each of them, before it if it uses the
 *            set, and at the sides and joins of the branches around it
 *   live     registers that a lane may read on a path from there (facts.h); in every block between a divergent branch
 *            and its join, registers live into the join or another side; and registers live after an instruction at
 *            which lanes wait while others run (waits.h)
 *   waits    barriers, calls, exits, the end of the code, unknown instructions, waiting ones (ir/waits.h); in loops,
 *            ordered and volatile loads, atomics that return a value, and all other loads on which an exit of the loop
 *            depends (polling.h)
 *
 * The sets themselves: both annotated, in an architected kernel all of whose words they contain. Refuted are an acquire
 * or release at an instruction that is not issued or in a function without sets, and both at one instruction.
 *
 * Callees' frames are in the base set (frames.h), because the set is not held during calls.
 *
 * Complexity: O(extended words * log accesses) per instruction and per target of a divergent branch, and for each join
 * a search of the sides that end there.
 */
#include "passes/check/check.h"
#include "passes/check/frames.h"
#include "passes/check/order.h"
#include "passes/check/polling.h"
#include "passes/check/waits.h"
#include "ir/waits.h"

enum { RELEASED = 1, HELD = 2, MOST_EXTENDED = 256 };

typedef struct extended_set { /* of extended words, numbered from |Bs| */
    uint64_t bits[MOST_EXTENDED / 64];
} extended_set;

typedef struct mutex_check {
    hd_facts facts;
    hd_order order;
    hd_polls *polls;
    hd_function *function;
    hd_diagnostics *diagnostics;
    uint32_t base, extended;
    uint8_t *marks;        /* by instruction: HELD or RELEASED if an acquire or release precedes it */
    uint8_t *in;           /* by block and hub: states that may reach it */
    extended_set *waiting; /* by block: words needed by other lanes of the warp */
    hd_waits waits;        /* lanes that wait at instructions */
    bool *meets;           /* by instruction: whether it is one of these */
    bool *joins;           /* by block and X */
    bool anywhere;         /* other lanes may meanwhile be in any block */
    uint8_t others;        /* states in which lanes may continue after a wait, or after waiting for another side */
    bool good;
} mutex_check;

static void refute(mutex_check *c, uint32_t ordinal, const char *why)
{
    const hd_function *f = c->function;
    hd_span span = ordinal == HD_NONE ? f->header_span : f->instructions.items[ordinal].span;
    hd_report(c->diagnostics, HD_DIAG_UNSOUND_ANNOTATION, f->module->source, span,
              "register sets that cannot be so: %s", why);
    c->good = false;
}

static void refute_word(mutex_check *c, uint32_t ordinal, uint32_t word, const char *why)
{
    const hd_function *f = c->function;
    char name[128];
    hd_storage_spell(&c->facts.storage, word, name, sizeof name);
    hd_report(c->diagnostics, HD_DIAG_UNSOUND_ANNOTATION, f->module->source, f->instructions.items[ordinal].span,
              "%s is in the extended set (from R%u on), which the warp may not hold here, and %s", name, c->base, why);
    c->good = false;
}

/* ---- annotations ------------------------------------------------------------------------------------------------- */

static void read_mark(mutex_check *c, const hd_annotation *note, uint8_t state)
{
    uint8_t *mark = &c->marks[note->instruction];
    if (*mark)
        refute(c, note->instruction, "an instruction that both acquires and releases");
    if (hd_storage_skips(&c->facts.storage, note->instruction))
        refute(c, note->instruction, "an acquire or release at what is no instruction of the machine");
    *mark = state;
}

static void read_marks(mutex_check *c, uint64_t *count)
{
    const hd_function *f = c->function;
    c->marks = HD_ARENA_ARRAY(&c->facts.arena, uint8_t, f->instructions.count + 1u);
    for (uint32_t a = 0; a < f->annotations.count; a++) {
        const hd_annotation *note = &f->annotations.items[a];
        if (note->kind == HD_ANNOTATION_REGMUTEX_ACQUIRE)
            read_mark(c, note, HELD);
        else if (note->kind == HD_ANNOTATION_REGMUTEX_RELEASE)
            read_mark(c, note, RELEASED);
        else if (note->kind != HD_ANNOTATION_REGMUTEX)
            continue;
        ++*count;
    }
}

static uint32_t registers_named(const mutex_check *c)
{
    const hd_lives *words = &c->facts.words;
    uint32_t count = c->facts.storage.physical_words;
    while (count && words->access_first[count] == words->access_first[count - 1])
        count--;
    return count;
}

/* Reads the sets of the function; false (reported) if they are invalid. */
static bool read_sets(mutex_check *c)
{
    const hd_function *f = c->function;
    const hd_annotation *sets = hd_annotation_at(f, HD_ANNOTATION_REGMUTEX, HD_NONE, 0);
    if (!sets || sets->count != 2)
        refute(c, HD_NONE, "acquires or releases without the sizes of both sets");
    else if (!f->is_entry || !c->facts.storage.architected)
        refute(c, HD_NONE, "only an allocated kernel can have them");
    if (!c->good)
        return false;
    c->base = f->annotation_words.items[sets->value];
    c->extended = f->annotation_words.items[sets->value + 1];
    if (!c->base || !c->extended || c->base > HD_GENERAL_REGISTERS || c->extended > HD_GENERAL_REGISTERS)
        refute(c, HD_NONE, "a set is empty, or larger than a register file");
    else if (c->base + c->extended < registers_named(c))
        refute(c, HD_NONE, "they hold fewer registers than the kernel names");
    else if (hd_check_callees(f) > c->base)
        refute(c, HD_NONE,
               "functions that the kernel calls need registers outside of the base set, which is all that it has "
               "during calls");
    return c->good;
}

/* ---- words needed by other lanes --------------------------------------------------------------------------------- */

static void add_live(const mutex_check *c, extended_set *set, uint32_t block)
{
    for (uint32_t w = c->base; block != c->facts.cfg->block_count && w < c->facts.storage.physical_words; w++)
        if (hd_lives_live_into(&c->facts.words, w, block))
            set->bits[(w - c->base) / 64] |= 1ull << ((w - c->base) % 64);
}

typedef struct side_search {  /* over the sides that end at one join */
    extended_set *needed;     /* by block: words needed by waiting lanes while others are there */
    uint32_t *seen, searches; /* by block: the last search that visited it */
    hd_u32_array found, due;
} side_search;

static void come_to(side_search *s, uint32_t block, const extended_set *needed)
{
    bool more = false;
    if (s->seen[block] != s->searches) {
        s->seen[block] = s->searches;
        s->needed[block] = (extended_set){{0}};
        hd_array_push(&s->found, block);
    }
    for (uint32_t k = 0; k < MOST_EXTENDED / 64; k++) {
        more = more || needed->bits[k] & ~s->needed[block].bits[k];
        s->needed[block].bits[k] |= needed->bits[k];
    }
    if (more)
        hd_array_push(&s->due, block);
}

/* Propagates needed words to all blocks that the sides reach before their join, and keeps them there. */
static void end_search(mutex_check *c, side_search *s, uint32_t join)
{
    const hd_cfg *cfg = c->facts.cfg;
    while (s->due.count) {
        uint32_t b = hd_array_pop(&s->due);
        for (uint32_t e = cfg->blocks[b].succ_first; e < cfg->blocks[b].succ_first + cfg->blocks[b].succ_count; e++)
            if (cfg->successors[e] != join && cfg->successors[e] != cfg->block_count)
                come_to(s, cfg->successors[e], &s->needed[b]);
    }
    for (uint32_t i = 0; i < s->found.count; i++)
        for (uint32_t k = 0; k < MOST_EXTENDED / 64; k++)
            c->waiting[s->found.items[i]].bits[k] |= s->needed[s->found.items[i]].bits[k];
    hd_array_clear(&s->found);
    s->searches++;
}

/* Words needed by lanes that wait at an instruction. */
static void find_waiting_within(mutex_check *c)
{
    for (uint32_t b = 0; c->waits.at.count && b < c->facts.cfg->block_count; b++)
        for (uint32_t w = c->base; w < c->facts.storage.physical_words; w++)
            if (hd_waits_need(&c->waits, w, b))
                c->waiting[b].bits[(w - c->base) / 64] |= 1ull << ((w - c->base) % 64);
}

static void search_sides(mutex_check *c, side_search *s, const hd_block *branch)
{
    const uint32_t *sides = c->facts.cfg->successors + branch->succ_first;
    for (uint32_t k = 0; k < branch->succ_count; k++) {
        extended_set needed = {{0}};
        if (sides[k] == branch->post_dominator || sides[k] == c->facts.cfg->block_count)
            continue;
        add_live(c, &needed, branch->post_dominator);
        for (uint32_t other = 0; other < branch->succ_count; other++)
            if (other != k)
                add_live(c, &needed, sides[other]);
        come_to(s, sides[k], &needed);
    }
}

static void find_waiting(mutex_check *c)
{
    const hd_cfg *cfg = c->facts.cfg;
    side_search s = {.needed = HD_ARENA_ARRAY(&c->facts.arena, extended_set, cfg->block_count),
                     .seen = HD_ARENA_ARRAY(&c->facts.arena, uint32_t, cfg->block_count),
                     .searches = 1};
    c->waiting = HD_ARENA_ARRAY(&c->facts.arena, extended_set, cfg->block_count + 1u);
    for (uint32_t i = 0; i < c->facts.split_count; i++) {
        const hd_block *branch = &cfg->blocks[c->facts.by_join[i]];
        search_sides(c, &s, branch);
        if (i + 1 == c->facts.split_count ||
            cfg->blocks[c->facts.by_join[i + 1]].post_dominator != branch->post_dominator)
            end_search(c, &s, branch->post_dominator);
    }
    hd_array_free(&s.found);
    hd_array_free(&s.due);
    find_waiting_within(c);
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static void check_words(mutex_check *c, uint32_t ordinal)
{
    const hd_lives *words = &c->facts.words;
    const extended_set *waiting = &c->waiting[c->facts.cfg->block_of[ordinal]];
    for (uint32_t w = c->base; w < c->facts.storage.physical_words; w++) {
        uint32_t a = hd_lives_access_from(words, w, ordinal);
        bool accessed = a < words->access_first[w + 1] && words->accesses[a].ordinal == ordinal;
        bool named = accessed && words->accesses[a].kinds & ~HD_ACCESS_HELD;
        if (named)
            refute_word(c, ordinal, w, "the instruction names it");
        else if (waiting->bits[(w - c->base) / 64] >> ((w - c->base) % 64) & 1)
            refute_word(c, ordinal, w, "other lanes of the warp need it");
        /* live before it, because it does not write the word */
        else if (accessed || hd_lives_live_after(&c->facts.words, w, ordinal))
            refute_word(c, ordinal, w, "it is live");
    }
}

static const char *waits_for(const mutex_check *c, uint32_t ordinal)
{
    const hd_function *f = c->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    uint32_t behaviour = hd_insn_form(f, insn)->behaviour;
    if (insn->flags & HD_INSN_OPAQUE)
        return "the extended set may be held at an instruction that is not known";
    if (behaviour & HD_BEHAVE_BARRIER)
        return "the extended set may be held at a barrier";
    if (behaviour & HD_BEHAVE_CALL)
        return "the extended set may be held during a call";
    if (behaviour & (HD_BEHAVE_RETURN | HD_BEHAVE_EXIT | HD_BEHAVE_TRAP))
        return "the extended set may be held at an exit";
    if (hd_insn_waits(f, insn))
        return "the extended set may be held where the warp waits";
    bool loops = c->facts.cfg->blocks[c->facts.cfg->block_of[ordinal]].loop != HD_NONE;
    if (loops && (hd_insn_observes_other_warps(f, insn) || hd_polls_has(c->polls, ordinal)))
        return "the extended set may be held in a loop that may wait for another warp";
    return NULL;
}

/* ---- states ------------------------------------------------------------------------------------------------------ */

/* Whether lanes may wait at the instruction while others of their warp run. */
static bool may_meet(const mutex_check *c, uint32_t ordinal)
{
    const hd_function *f = c->function;
    return hd_insn_form(f, &f->instructions.items[ordinal])->behaviour &
               (HD_BEHAVE_BARRIER | HD_BEHAVE_YIELD | HD_BEHAVE_MEET) &&
           (c->anywhere || c->waits.two_sided[c->facts.cfg->block_of[ordinal]]);
}

static void find_meets(mutex_check *c)
{
    const hd_cfg *cfg = c->facts.cfg;
    c->meets = HD_ARENA_ARRAY(&c->facts.arena, bool, c->function->instructions.count + 1u);
    c->joins = HD_ARENA_ARRAY(&c->facts.arena, bool, cfg->block_count + 1u);
    HD_BITSET_EACH (&c->facts.splits, b)
        c->joins[cfg->blocks[b].post_dominator] = true;
    c->joins[cfg->block_count] = true;
    for (uint32_t i = 0; i < c->waits.at.count; i++) /* a guarded wait lets other lanes continue after it */
        c->anywhere = c->anywhere || !c->waits.two_sided[cfg->block_of[c->waits.at.items[i]]] ||
                      (c->function->instructions.items[c->waits.at.items[i]].guard != HD_NONE &&
                       !hd_waits_meet(&c->waits, c->waits.at.items[i]));
    for (uint32_t i = 0; c->waits.at.count && i < c->function->instructions.count; i++)
        c->meets[i] = may_meet(c, i);
}

/* Whether lanes that others wait for may continue elsewhere, or end, after the block. */
static bool ends_side(const mutex_check *c, uint32_t b)
{
    bool ends = false;
    for (uint32_t e = 0; (c->anywhere || c->waits.two_sided[b]) && e < c->facts.cfg->blocks[b].succ_count; e++)
        ends = ends || c->joins[hd_block_successors(c->facts.cfg, b)[e]];
    return ends;
}

/* Other lanes observe the state at a waiting instruction, before or after its mark: a replay counts the mark when the
 * instruction completes. */
static uint8_t state_after(mutex_check *c, uint32_t b, uint8_t state)
{
    if (b > c->facts.cfg->block_count) /* a hub */
        return state;
    for (uint32_t i = c->facts.cfg->blocks[b].first; i < c->facts.cfg->blocks[b].end; i++) {
        uint8_t before = state;
        state = c->marks[i] ? c->marks[i] : state;
        if (c->meets[i])
            state = c->others |= state | (before & HELD);
    }
    c->others |= ends_side(c, b) ? state : 0;
    return state;
}

/* Propagates from the blocks in `work`. */
static void find_states_from(mutex_check *c, hd_u32_array *work)
{
    while (work->count) {
        uint32_t b = hd_array_pop(work);
        uint8_t out = state_after(c, b, c->in[b]);
        HD_ORDER_SUCCESSORS (&c->order, b, to) {
            if (to == c->facts.cfg->block_count || (c->in[to] | out) == c->in[to])
                continue;
            c->in[to] |= out;
            hd_array_push(work, to);
        }
    }
}

/* Adds the states of other lanes where waiting lanes continue: at a target of a branch that may diverge, or a
 * reconvergence point. */
static void come_from_others(mutex_check *c, uint32_t block)
{
    if (block != c->facts.cfg->block_count && c->in[block] &&
        (c->anywhere || c->waits.two_sided[block] || c->joins[block]))
        c->in[block] |= c->others;
}

static void find_states(mutex_check *c)
{
    const hd_cfg *cfg = c->facts.cfg;
    hd_u32_array work = {0};
    uint8_t before = 0;
    c->in = HD_ARENA_ARRAY(&c->facts.arena, uint8_t, c->order.nodes);
    if (cfg->block_count) {
        c->in[0] = RELEASED;
        hd_array_push(&work, 0);
    }
    find_states_from(c, &work);
    while (c->waits.at.count && c->others != before) {
        before = c->others;
        HD_BITSET_EACH (&c->facts.splits, b) {
            bool among = c->anywhere || c->waits.two_sided[b];
            for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++)
                among = among || c->waits.two_sided[hd_block_successors(cfg, b)[e]];
            for (uint32_t e = 0; among && e < cfg->blocks[b].succ_count; e++)
                come_from_others(c, hd_block_successors(cfg, b)[e]);
            if (among)
                come_from_others(c, cfg->blocks[b].post_dominator);
        }
        for (uint32_t b = 0; b < cfg->block_count; b++)
            if (c->in[b])
                hd_array_push(&work, b);
        find_states_from(c, &work);
    }
    hd_array_free(&work);
}

static void check_block(mutex_check *c, uint32_t b)
{
    const hd_block *block = &c->facts.cfg->blocks[b];
    uint8_t state = c->in[b];
    for (uint32_t i = block->first; state && i < block->end; i++) {
        state = c->marks[i] ? c->marks[i] : state;
        const char *why = state & HELD ? waits_for(c, i) : NULL;
        if (why)
            refute(c, i, why);
        if (c->meets[i])
            state |= c->others;
        if (state & RELEASED && !hd_storage_skips(&c->facts.storage, i))
            check_words(c, i);
    }
    bool ends = false;
    for (uint32_t e = block->succ_first; e < block->succ_first + block->succ_count; e++)
        ends = ends || c->facts.cfg->successors[e] == c->facts.cfg->block_count;
    if (ends && state & HELD && block->end > block->first)
        refute(c, block->end - 1, "the extended set may be held at the end of the code");
}

static void check_function(mutex_check *c)
{
    c->order = hd_order_of(&c->facts);
    c->polls = hd_polls_new(&c->facts);
    hd_waits_find(&c->waits, &c->facts);
    find_meets(c);
    find_waiting(c);
    find_states(c);
    for (uint32_t b = 0; b < c->facts.cfg->block_count; b++)
        check_block(c, b);
    hd_waits_free(&c->waits);
    hd_polls_free(c->polls);
}

bool hd_check_regmutex(hd_function *function, hd_diagnostics *diagnostics, uint64_t *count)
{
    mutex_check c = {.function = function, .diagnostics = diagnostics, .good = true};
    bool any = false;
    for (uint32_t a = 0; a < function->annotations.count; a++) {
        uint16_t kind = function->annotations.items[a].kind;
        any = any || kind == HD_ANNOTATION_REGMUTEX || kind == HD_ANNOTATION_REGMUTEX_ACQUIRE ||
              kind == HD_ANNOTATION_REGMUTEX_RELEASE;
    }
    if (!any)
        return true;
    hd_facts_build(&c.facts, function);
    read_marks(&c, count);
    if (read_sets(&c))
        check_function(&c);
    hd_facts_free(&c.facts);
    return c.good;
}
