/* Verifies register-intervals: whatever the warp executed before an instruction, its registers are in the register
 * cache.
 *
 * The current interval is propagated forward over the order in which the warp may execute blocks (order.h): from each
 * annotated instruction, a header, up to the next one. Where two paths meet with different intervals, the next
 * instruction must be a header, so every edge stays inside its interval or enters it at its header. The interval is
 * unknown at the function's entry; after a call (the callee uses the cache); after instructions that may wait for
 * another warp (ir/waits.def, polling.h); and after instructions that bypass the cache. All of these require a header.
 * The same holds around barriers and other waits in a side of a branch that may diverge, or under a divergent guard,
 * and at the branch's sides: other code of the warp may execute first.
 *
 * Words of asynchronous instructions (flights.h) are in no interval: these access the main register file, independently
 * of the warp.
 *
 * An interval's words are ascending, at most ltrf_size, and exactly those that its instructions access. Only an
 * instruction that alone accesses more may bypass the cache with some of its words: its interval then has the maximum
 * size and contains only this instruction.
 *
 * Complexity: linear in operands and edges of the warp order, besides that of facts.h and order.h, and, if something
 * waits, the blocks of all sides that end at a join, once per join.
 */
#include "base/search.h"
#include "ir/waits.h"
#include "passes/check/check.h"
#include "passes/check/ltrf_dead.h"
#include "passes/check/order.h"
#include "passes/check/polling.h"
#include <stdio.h>

enum { STATE_NOT_REACHED, STATE_MIXED, STATE_HEADERS /* + ordinal of the header */ };

typedef struct ltrf_check {
    hd_facts facts;
    hd_order order;
    hd_function *function;
    hd_diagnostics *diagnostics;
    uint32_t most;              /* ltrf_size */
    const hd_annotation **list; /* by instruction: its ltrf_prefetch, or NULL */
    hd_bitset lonely;           /* by instruction: must be an interval of its own */
    hd_bitset entered;          /* by block: any code may precede it */
    hd_bitset used;             /* by index in annotation_words */
    uint32_t *in;               /* by block and hub: state at its start */
    hd_u32_array words;
} ltrf_check;

static bool refute(const ltrf_check *c, uint32_t at, const char *why)
{
    const hd_function *f = c->function;
    hd_report(c->diagnostics, HD_DIAG_UNSOUND_ANNOTATION, f->module->source, f->instructions.items[at].span,
              "register-intervals: %s", why);
    return false;
}

static bool refute_word(const ltrf_check *c, uint32_t at, uint32_t word, const char *why)
{
    const hd_function *f = c->function;
    char name[128];
    if (word < c->facts.storage.words)
        hd_storage_spell(&c->facts.storage, word, name, sizeof name);
    else
        snprintf(name, sizeof name, "word %u", word);
    hd_report(c->diagnostics, HD_DIAG_UNSOUND_ANNOTATION, f->module->source, f->instructions.items[at].span,
              "register-intervals: %s %s", name, why);
    return false;
}

/* ---- words accessed by instructions ------------------------------------------------------------------------------ */

static bool is_issued(const ltrf_check *c, uint32_t ordinal) { return !hd_storage_skips(&c->facts.storage, ordinal); }

static uint32_t behaviour_of(const ltrf_check *c, uint32_t ordinal)
{
    return hd_insn_form(c->function, &c->function->instructions.items[ordinal])->behaviour;
}

/* Words of asynchronous instructions bypass the cache. */
static void note_words(ltrf_check *c, uint32_t reg)
{
    HD_STORAGE_WORDS (&c->facts.storage, reg, word) {
        uint32_t i = 0;
        if (hd_flights_named(&c->facts.words.flights, word))
            continue;
        while (i < c->words.count && c->words.items[i] != word)
            i++;
        if (i == c->words.count)
            hd_array_push(&c->words, word);
    }
}

/* Collects distinct words in c->words. */
static void find_words(ltrf_check *c, uint32_t ordinal)
{
    const hd_function *f = c->function;
    hd_array_clear(&c->words);
    HD_INSN_REGISTERS (f, &f->instructions.items[ordinal], o)
        note_words(c, o->value);
    for (uint32_t r = 0; behaviour_of(c, ordinal) & HD_BEHAVE_RETURN && r < f->register_results.count; r++)
        note_words(c, f->register_results.items[r]);
}

/* ---- instructions that must be alone ----------------------------------------------------------------------------- */

static bool waits(const ltrf_check *c, uint32_t ordinal)
{
    return behaviour_of(c, ordinal) & (HD_BEHAVE_BARRIER | HD_BEHAVE_YIELD | HD_BEHAVE_MEET);
}

static bool is_side(const ltrf_check *c, const hd_block *branch, uint32_t target)
{
    return target != branch->post_dominator && target != c->facts.cfg->block_count;
}

typedef struct side_search {
    const uint32_t *waits;    /* by block: number of instructions that wait in the blocks before it */
    uint32_t *seen, searches; /* by block: the last search that visited it */
    uint32_t *leads;          /* by block: the last search that found a waiting instruction in or after it */
    hd_u32_array blocks, stack;
} side_search;

static void mark_waits(ltrf_check *c, uint32_t block)
{
    for (uint32_t i = c->facts.cfg->blocks[block].first; i < c->facts.cfg->blocks[block].end; i++)
        if (waits(c, i))
            hd_bitset_add(&c->lonely, i);
}

/* Whether the branch has two sides: what waits in one lets the other run. */
static bool has_sides(const ltrf_check *c, uint32_t b)
{
    const hd_block *branch = &c->facts.cfg->blocks[b];
    uint32_t sides = 0;
    for (uint32_t e = branch->succ_first; e < branch->succ_first + branch->succ_count; e++)
        sides += is_side(c, branch, c->facts.cfg->successors[e]);
    return sides > 1;
}

static void come_to(side_search *s, uint32_t block)
{
    if (s->seen[block] == s->searches)
        return;
    s->seen[block] = s->searches;
    hd_array_push(&s->blocks, block);
}

/* Visits the blocks reachable from a block before `join`. */
static void search_on(const ltrf_check *c, side_search *s, uint32_t block, uint32_t join)
{
    const hd_cfg *cfg = c->facts.cfg;
    for (uint32_t e = cfg->blocks[block].succ_first; e < cfg->blocks[block].succ_first + cfg->blocks[block].succ_count;
         e++)
        if (cfg->successors[e] != join && cfg->successors[e] != cfg->block_count)
            come_to(s, cfg->successors[e]);
}

/* Marks the visited blocks from which the block is reachable. */
static void search_back(const ltrf_check *c, side_search *s, uint32_t block)
{
    hd_array_push(&s->stack, block);
    while (s->stack.count) {
        uint32_t at = hd_array_pop(&s->stack);
        if (s->seen[at] != s->searches || s->leads[at] == s->searches)
            continue;
        s->leads[at] = s->searches;
        for (uint32_t e = 0; e < c->facts.cfg->blocks[at].pred_count; e++)
            hd_array_push(&s->stack, hd_block_predecessors(c->facts.cfg, at)[e]);
    }
}

/* If something waits in a side of a branch, any code may precede its sides. */
static void enter_sides(ltrf_check *c, const side_search *s, uint32_t b)
{
    const hd_cfg *cfg = c->facts.cfg;
    const hd_block *branch = &cfg->blocks[b];
    bool found = false;
    for (uint32_t e = branch->succ_first; e < branch->succ_first + branch->succ_count; e++)
        found = found || (is_side(c, branch, cfg->successors[e]) && s->leads[cfg->successors[e]] == s->searches);
    for (uint32_t e = branch->succ_first; found && e < branch->succ_first + branch->succ_count; e++)
        if (is_side(c, branch, cfg->successors[e]))
            hd_bitset_add(&c->entered, cfg->successors[e]);
}

/* Processes the branches [at, end), which have one join. */
static void search_join(ltrf_check *c, side_search *s, const uint32_t *at, const uint32_t *end)
{
    const hd_cfg *cfg = c->facts.cfg;
    uint32_t join = cfg->blocks[*at].post_dominator;
    s->searches++;
    hd_array_clear(&s->blocks);
    for (const uint32_t *b = at; b < end; b++)
        if (has_sides(c, *b))
            search_on(c, s, *b, join);
    for (uint32_t i = 0; i < s->blocks.count; i++)
        search_on(c, s, s->blocks.items[i], join);
    for (uint32_t i = 0; i < s->blocks.count; i++)
        if (s->waits[s->blocks.items[i]]) {
            mark_waits(c, s->blocks.items[i]);
            search_back(c, s, s->blocks.items[i]);
        }
    for (const uint32_t *b = at; b < end; b++)
        if (has_sides(c, *b))
            enter_sides(c, s, *b);
}

static void find_lonely(ltrf_check *c)
{
    const hd_function *f = c->function;
    const hd_cfg *cfg = c->facts.cfg;
    uint32_t *count = HD_ARENA_ARRAY(&c->facts.arena, uint32_t, cfg->block_count);
    bool any = false;
    hd_polls *polls = hd_polls_new(&c->facts);
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        uint32_t guard = f->instructions.items[i].guard;
        if (behaviour_of(c, i) & HD_BEHAVE_CALL || hd_insn_waits_for_others(f, &f->instructions.items[i]) ||
            hd_polls_has(polls, i))
            hd_bitset_add(&c->lonely, i);
        if (!waits(c, i))
            continue;
        any = true;
        count[cfg->block_of[i]]++;
        if (guard != HD_NONE && hd_bitset_has(&c->facts.divergent, guard) && !(behaviour_of(c, i) & HD_BEHAVE_MEET))
            hd_bitset_add(&c->lonely, i);
    }
    hd_polls_free(polls);
    side_search s = {.waits = count,
                     .seen = HD_ARENA_ARRAY(&c->facts.arena, uint32_t, cfg->block_count),
                     .leads = HD_ARENA_ARRAY(&c->facts.arena, uint32_t, cfg->block_count)};
    const uint32_t *at = c->facts.by_join, *all = at + c->facts.split_count;
    for (const uint32_t *end; any && at < all; at = end) {
        for (end = at + 1; end < all && cfg->blocks[*end].post_dominator == cfg->blocks[*at].post_dominator;)
            end++;
        search_join(c, &s, at, end);
    }
    hd_array_free(&s.blocks);
    hd_array_free(&s.stack);
    hd_bitset_add(&c->entered, 0);
}

/* ---- propagation of intervals ------------------------------------------------------------------------------------ */

static uint32_t state_after(ltrf_check *c, uint32_t ordinal, uint32_t state)
{
    if (!is_issued(c, ordinal))
        return state;
    if (hd_bitset_has(&c->lonely, ordinal))
        return STATE_MIXED;
    if (!c->list[ordinal])
        return state;
    find_words(c, ordinal);
    return c->words.count > c->most ? (uint32_t)STATE_MIXED : STATE_HEADERS + ordinal;
}

static uint32_t join_states(uint32_t a, uint32_t b)
{
    return a == STATE_NOT_REACHED || a == b ? b : b == STATE_NOT_REACHED ? a : (uint32_t)STATE_MIXED;
}

static void follow(ltrf_check *c)
{
    const hd_cfg *cfg = c->facts.cfg;
    /* state after the block, if it does not depend on the state before it */
    uint32_t *passes = HD_ARENA_ARRAY(&c->facts.arena, uint32_t, cfg->block_count);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        for (uint32_t i = cfg->blocks[b].first; i < cfg->blocks[b].end; i++)
            passes[b] = state_after(c, i, passes[b]);
    hd_u32_array due = {0};
    c->in[0] = STATE_MIXED;
    hd_array_push(&due, 0);
    while (due.count) {
        uint32_t b = hd_array_pop(&due), out = b < cfg->block_count && passes[b] ? passes[b] : c->in[b];
        HD_ORDER_SUCCESSORS (&c->order, b, to) {
            if (to == cfg->block_count)
                continue;
            bool entered = to < cfg->block_count && hd_bitset_has(&c->entered, to);
            uint32_t in = entered ? (uint32_t)STATE_MIXED : join_states(c->in[to], out);
            if (in == c->in[to])
                continue;
            c->in[to] = in;
            hd_array_push(&due, to);
        }
    }
    hd_array_free(&due);
}

/* ---- requirements of instructions -------------------------------------------------------------------------------- */

/* Index in annotation_words of the word in the list; HD_NONE: not in it. */
static uint32_t find_in_list(const ltrf_check *c, const hd_annotation *list, uint32_t word)
{
    const uint32_t *words = c->function->annotation_words.items;
    uint32_t end = list->value + list->count, at = hd_search_u32(words, list->value, end, word);
    return at < end && words[at] == word ? at : HD_NONE;
}

static bool check_covered(ltrf_check *c, uint32_t ordinal, const hd_annotation *list)
{
    uint32_t covered = 0, missing = HD_NONE;
    find_words(c, ordinal);
    for (uint32_t w = 0; w < c->words.count; w++) {
        uint32_t index = find_in_list(c, list, c->words.items[w]);
        if (index != HD_NONE) {
            hd_bitset_add(&c->used, index);
            covered++;
        } else {
            missing = c->words.items[w];
        }
    }
    if (missing == HD_NONE)
        return true;
    if (c->words.count > c->most && c->list[ordinal])
        return (covered == c->most && list->count == c->most) ||
               refute(c, ordinal, "what accesses more than the cache holds must have as much of it there as fits");
    return refute_word(c, ordinal, missing, "is accessed, and not among the words of the interval");
}

static bool check_block(ltrf_check *c, uint32_t b)
{
    const hd_cfg *cfg = c->facts.cfg;
    uint32_t state = c->in[b];
    bool good = true;
    for (uint32_t i = cfg->blocks[b].first; i < cfg->blocks[b].end; i++) {
        if (!is_issued(c, i))
            continue;
        if (c->list[i])
            state = STATE_HEADERS + i;
        if (hd_bitset_has(&c->lonely, i) && !c->list[i])
            good = refute(
                c, i, "a call, a wait for other warps, and a wait in divergent code, begins an interval of its own");
        else if (state < STATE_HEADERS)
            good = refute(c, i, "none begins here, but the warp may come from elsewhere than from one and the same");
        else
            good = check_covered(c, i, c->list[state - STATE_HEADERS]) && good;
        state = state_after(c, i, state);
    }
    return good;
}

static bool check_list(ltrf_check *c, const hd_annotation *list)
{
    const uint32_t *words = hd_array_at(&c->function->annotation_words, list->value);
    if (!is_issued(c, list->instruction))
        return refute(c, list->instruction, "one begins at what is no instruction");
    if (list->count > c->most)
        return refute(c, list->instruction, "one has more words than there may be");
    for (uint32_t w = 1; w < list->count; w++)
        if (words[w - 1] >= words[w])
            return refute(c, list->instruction, "the words of one do not ascend");
    for (uint32_t w = 0; w < list->count; w++)
        if (words[w] < c->facts.storage.words && hd_flights_named(&c->facts.words.flights, words[w]))
            return refute_word(c, list->instruction, words[w],
                               "belongs to an asynchronous instruction, and must stay in the main register file");
    return true;
}

static bool check_used(const ltrf_check *c, const hd_annotation *list)
{
    if (!c->facts.cfg->blocks[c->facts.cfg->block_of[list->instruction]].reachable)
        return true;
    for (uint32_t w = list->value; w < list->value + list->count; w++)
        if (!hd_bitset_has(&c->used, w))
            return refute_word(c, list->instruction, c->function->annotation_words.items[w],
                               "is fetched, and nothing in the interval accesses it");
    return true;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static bool check_intervals(ltrf_check *c, uint64_t *count)
{
    hd_function *f = c->function;
    const hd_cfg *cfg = c->facts.cfg;
    bool good = true;
    for (uint32_t a = 0; a < f->annotations.count; a++) {
        const hd_annotation *note = &f->annotations.items[a];
        if (note->kind != HD_ANNOTATION_LTRF_PREFETCH)
            continue;
        ++*count;
        c->list[note->instruction] = note;
        good = check_list(c, note) && good;
    }
    if (!good)
        return false;
    find_lonely(c);
    follow(c);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        if (cfg->blocks[b].reachable)
            good = check_block(c, b) && good;
    for (uint32_t i = 0; good && i < f->instructions.count; i++)
        if (c->list[i])
            good = check_used(c, c->list[i]);
    return good;
}

/* ltrf_size; 0: none. *any: whether there are annotations of the technique. */
static uint32_t size_of(const hd_function *f, bool *any)
{
    uint32_t size = 0;
    for (uint32_t a = 0; a < f->annotations.count; a++) {
        uint16_t kind = f->annotations.items[a].kind;
        *any = *any || kind == HD_ANNOTATION_LTRF_PREFETCH || kind == HD_ANNOTATION_LTRF_DEAD ||
               kind == HD_ANNOTATION_LTRF_SIZE;
        if (kind == HD_ANNOTATION_LTRF_SIZE)
            size = f->annotations.items[a].value;
    }
    return size;
}

bool hd_check_ltrf(hd_function *function, hd_diagnostics *diagnostics, uint64_t *count)
{
    bool any = false;
    ltrf_check c = {.function = function, .diagnostics = diagnostics, .most = size_of(function, &any)};
    if (!any || (c.most && !function->instructions.count))
        return true;
    if (!c.most) {
        hd_report(diagnostics, HD_DIAG_UNSOUND_ANNOTATION, function->module->source, function->header_span,
                  "register-intervals need an ltrf_size on their function");
        return false;
    }
    hd_facts_build(&c.facts, function);
    c.order = hd_order_of(&c.facts);
    c.list = HD_ARENA_ARRAY(&c.facts.arena, const hd_annotation *, function->instructions.count);
    c.lonely = hd_bitset_new(&c.facts.arena, function->instructions.count);
    c.entered = hd_bitset_new(&c.facts.arena, c.facts.cfg->block_count);
    c.used = hd_bitset_new(&c.facts.arena, function->annotation_words.count);
    c.in = HD_ARENA_ARRAY(&c.facts.arena, uint32_t, c.order.nodes);
    bool good = check_intervals(&c, count);
    good = hd_check_ltrf_dead(&c.facts, diagnostics, count) && good;
    hd_array_free(&c.words);
    hd_facts_free(&c.facts);
    return good;
}
