/* Register-intervals, first pass: Sadrosadati et al., "LTRF", ASPLOS 2018, section 3.3, algorithm 1.
 *
 * An interval begins at its header and takes the instructions of the block up to the first that would need more than N
 * words; there the block is cut, and the rest begins another interval (TRAVERSE). A whole block is added where all
 * blocks that the warp may run before it end in the interval, and |regs(interval) union regs(block)| <= N. (The
 * pseudo-code tests only the predecessors' lists, which lets the two sides of a branch exceed N together.) Of a block
 * that is cut by a call or the like, the part before it counts. When no block can be added, all blocks that follow the
 * interval and are in none are headers.
 *
 * Among several candidates, the deepest in loops is first, then the first in reverse post-order.
 *
 * Beyond the paper: blocks are added as a group where they precede only each other. In the warp order each side of a
 * branch that may diverge follows the other one, so neither could be added alone; the same holds for a loop with two
 * entries. When no single block can be added, each block that follows the interval is tried together with all that
 * precedes it, up to the interval. Loops that fit are added in this way too.
 *
 * Complexity: single blocks: each instruction and edge is visited a constant number of times. A block is a candidate of
 * one interval only, so it is tried as a group once; such a trial ends after GROUP_WORK instructions and edges.
 * Candidates wait in a heap. The successors of a hub are scanned for one interval only; afterwards all of them are in
 * an interval. */
#include "passes/technique/ltrf_work.h"

enum { GROUP_WORK = 1024 };

typedef struct former {
    ltrf_plan *plan;
    uint32_t *used;  /* by word: 1 + the last interval that it was found in */
    uint32_t *tried; /* by word: the last trial that it was found in */
    uint32_t trials;
    uint32_t *seen, *count; /* by node: 1 + the interval that `count` blocks or hubs before it end in */
    uint32_t *block_at;     /* by rank */
    hd_u32_array heap, others, ended, taken; /* others: heap of those that follow the interval; taken: its words */
    hd_u32_array group, nodes;
    uint32_t *grouped;     /* by block: the last trial in which it was in the group */
    uint32_t *asked, asks; /* by node: the last block that counted it; number of queries */
    uint32_t due;          /* intervals before it are complete */
} former;

/* The first instruction in [from, end) that is issued; `end`: none. */
static uint32_t first_issued(const ltrf_plan *p, uint32_t from, uint32_t end)
{
    while (from < end && hd_storage_skips(p->storage, from))
        from++;
    return from;
}

static void begin_interval(former *s, uint32_t block, uint32_t from, uint32_t before)
{
    ltrf_plan *p = s->plan;
    uint32_t end = p->cfg->blocks[block].end, header = first_issued(p, from, end);
    ltrf_interval i = {.header = header, .block = block, .before = before};
    i.hollow = header == end;
    if (i.hollow)
        i.header = from;
    i.alone = !i.hollow && hd_bitset_has(&p->alone, header);
    i.fixed = i.alone || (before == HD_NONE && hd_bitset_has(&p->fixed, block));
    if (before == HD_NONE)
        p->first[block] = p->intervals.count;
    hd_array_push(&p->intervals, i);
}

static void end_block(former *s, uint32_t block, uint32_t interval)
{
    s->plan->last[block] = interval;
    hd_array_push(&s->ended, block);
}

/* Begins an interval with the rest of the block from `from` on, or ends the block where nothing is left. */
static void leave_rest(former *s, uint32_t block, uint32_t from, uint32_t interval)
{
    uint32_t end = s->plan->cfg->blocks[block].end;
    if (first_issued(s->plan, from, end) == end)
        end_block(s, block, interval);
    else
        begin_interval(s, block, from, interval);
}

/* Adds words to the interval in progress; false at its limit. */
static bool take_words(former *s, uint32_t interval, ltrf_word_list words)
{
    uint32_t more = 0;
    for (uint32_t w = 0; w < words.count; w++)
        more += s->used[words.items[w]] != interval + 1;
    if (s->taken.count + more > s->plan->most)
        return false;
    for (uint32_t w = 0; w < words.count && more; w++) {
        uint32_t word = words.items[w];
        if (s->used[word] == interval + 1)
            continue;
        s->used[word] = interval + 1;
        hd_array_push(&s->taken, word);
    }
    return true;
}

/* TRAVERSE. */
static void take_block(former *s, uint32_t interval, uint32_t block, uint32_t from)
{
    const ltrf_plan *p = s->plan;
    uint32_t end = p->cfg->blocks[block].end;
    for (uint32_t i = from; i < end; i++) {
        if (hd_storage_skips(p->storage, i))
            continue;
        if (hd_bitset_has(&p->alone, i) || !take_words(s, interval, ltrf_words(p, i))) {
            begin_interval(s, block, i, interval);
            return;
        }
    }
    end_block(s, block, interval);
}

/* One instruction; of a wide one the first words. */
static void take_alone(former *s, uint32_t interval)
{
    const ltrf_interval i = s->plan->intervals.items[interval];
    ltrf_word_list words = ltrf_words(s->plan, i.header);
    if (words.count > s->plan->most)
        words.count = s->plan->most;
    take_words(s, interval, words);
    leave_rest(s, i.block, i.header + 1, interval);
}

/* ---- who joins --------------------------------------------------------------------------------------------------- */

/* A node that follows this interval at `node` and is in none yet. */
static void find_other(former *s, uint32_t interval, uint32_t node)
{
    const ltrf_plan *p = s->plan;
    uint32_t begin = s->nodes.count;
    hd_array_push(&s->nodes, node);
    while (s->nodes.count > begin) {
        uint32_t at = hd_array_pop(&s->nodes);
        if (p->first[at] != HD_NONE || s->seen[at] == interval + 1)
            continue;
        s->seen[at] = interval + 1;
        s->count[at] = 0;
        if (!ltrf_is_hub(p, at))
            ltrf_heap_push(&s->others, p->rank[at]);
        for (uint32_t e = p->order.first[at]; ltrf_is_hub(p, at) && e < p->order.first[at + 1]; e++)
            hd_array_push(&s->nodes, p->order.successors[e]);
    }
}

/* The node, a block or a hub, ends in this interval: counts it as a predecessor of its successors. */
static void count_after(former *s, uint32_t interval, uint32_t node)
{
    const ltrf_plan *p = s->plan;
    hd_array_push(&s->nodes, node);
    while (s->nodes.count) {
        uint32_t from = hd_array_pop(&s->nodes);
        for (uint32_t e = p->order.first[from]; e < p->order.first[from + 1]; e++) {
            uint32_t to = p->order.successors[e];
            if (p->first[to] != HD_NONE)
                continue;
            if (s->seen[to] != interval + 1)
                find_other(s, interval, to);
            if (++s->count[to] < p->order.before_first[to + 1] - p->order.before_first[to])
                continue;
            if (ltrf_is_hub(p, to))
                hd_array_push(&s->nodes, to);
            else if (!hd_bitset_has(&p->fixed, to))
                ltrf_heap_push(&s->heap, p->rank[to]);
        }
    }
}

/* Counts predecessors of the successors; a block all of whose predecessors are in this interval may be added. */
static void count_all_after(former *s, uint32_t interval, uint32_t from)
{
    for (uint32_t b = from; b < s->ended.count; b++)
        count_after(s, interval, s->ended.items[b]);
}

/* Counts words of instruction `i` that neither the interval nor the trial in progress has. */
static uint32_t more_words(former *s, uint32_t interval, uint32_t i)
{
    ltrf_word_list words = ltrf_words(s->plan, i);
    uint32_t more = 0;
    for (uint32_t w = 0; w < words.count; w++) {
        uint32_t word = words.items[w];
        more += s->used[word] != interval + 1 && s->tried[word] != s->trials;
        s->tried[word] = s->trials;
    }
    return more;
}

static bool has_room_for(former *s, uint32_t interval, uint32_t block)
{
    const ltrf_plan *p = s->plan;
    uint32_t end = p->cfg->blocks[block].end, first = first_issued(p, p->cfg->blocks[block].first, end), more = 0;
    if (first < end && hd_bitset_has(&p->alone, first))
        return false;
    s->trials++;
    for (uint32_t i = first; i < end && !hd_bitset_has(&p->alone, i); i++) {
        more += more_words(s, interval, i);
        if (s->taken.count + more > p->most)
            return false;
    }
    return true;
}

static void add_block(former *s, uint32_t interval, uint32_t block)
{
    s->plan->first[block] = interval;
    take_block(s, interval, block, s->plan->cfg->blocks[block].first);
}

/* ---- who joins together ------------------------------------------------------------------------------------------ */

/* A predecessor of a block of the group is in the interval, or is added to the group. */
static bool add_to_group(former *s, uint32_t interval, uint32_t block)
{
    const ltrf_plan *p = s->plan;
    if (p->last[block] == interval || s->grouped[block] == s->trials)
        return true;
    if (p->first[block] != HD_NONE)
        return false;
    s->grouped[block] = s->trials;
    hd_array_push(&s->group, block);
    return true;
}

/* All predecessors of the block; adds their number to `work`. */
static bool add_before(former *s, uint32_t interval, uint32_t block, uint32_t *work)
{
    const ltrf_plan *p = s->plan;
    uint32_t hubs = 0;
    hd_array_clear(&s->nodes);
    hd_array_push(&s->nodes, block);
    s->asks++;
    while (s->nodes.count) {
        uint32_t node = hd_array_pop(&s->nodes);
        for (uint32_t e = p->order.before_first[node]; e < p->order.before_first[node + 1]; e++) {
            uint32_t from = p->order.predecessors[e];
            if (s->asked[from] == s->asks)
                continue;
            s->asked[from] = s->asks;
            if (!ltrf_is_hub(p, from)) {
                if (++*work > GROUP_WORK || !add_to_group(s, interval, from))
                    return false;
            } else if (++hubs > GROUP_WORK) {
                return false;
            } else {
                hd_array_push(&s->nodes, from);
            }
        }
    }
    return true;
}

/* Fills the group; false where it cannot be added as a whole. */
static bool group_fits(former *s, uint32_t interval, uint32_t seed)
{
    const ltrf_plan *p = s->plan;
    uint32_t more = 0, work = 0;
    s->trials++;
    hd_array_clear(&s->group);
    hd_array_push(&s->group, seed);
    s->grouped[seed] = s->trials;
    for (uint32_t g = 0; g < s->group.count; g++) {
        const hd_block *block = &p->cfg->blocks[s->group.items[g]];
        if (hd_bitset_has(&p->fixed, s->group.items[g]) || !add_before(s, interval, s->group.items[g], &work))
            return false;
        for (uint32_t i = block->first; i < block->end; i++) {
            if (hd_bitset_has(&p->alone, i) || ++work > GROUP_WORK)
                return false;
            more += more_words(s, interval, i);
            if (s->taken.count + more > p->most)
                return false;
        }
    }
    return true;
}

/* true where a group was added. */
static bool take_group(former *s, uint32_t interval)
{
    while (s->others.count) {
        uint32_t seed = s->block_at[ltrf_heap_pop(&s->others)];
        if (s->plan->first[seed] != HD_NONE || !group_fits(s, interval, seed))
            continue;
        for (uint32_t g = 0; g < s->group.count; g++)
            add_block(s, interval, s->group.items[g]);
        return true;
    }
    return false;
}

static void take_followers(former *s, uint32_t interval)
{
    uint32_t ended = 0;
    do {
        count_all_after(s, interval, ended);
        ended = s->ended.count;
        while (s->heap.count) {
            uint32_t block = s->block_at[ltrf_heap_pop(&s->heap)];
            if (s->plan->first[block] != HD_NONE || !has_room_for(s, interval, block))
                continue;
            add_block(s, interval, block);
            count_all_after(s, interval, ended);
            ended = s->ended.count;
        }
    } while (take_group(s, interval));
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static void keep_words(former *s, uint32_t interval)
{
    ltrf_plan *p = s->plan;
    uint32_t count = s->taken.count, *words = hd_arena_alloc(p->arena, count * sizeof *words);
    for (uint32_t i = 0; i < count; i++) { /* there are few */
        uint32_t word = s->taken.items[i], at = i;
        for (; at && words[at - 1] > word; at--)
            words[at] = words[at - 1];
        words[at] = word;
    }
    p->intervals.items[interval].words = words;
    p->intervals.items[interval].word_count = count;
}

/* The successors of the interval's block that are in no interval yet. */
static void begin_followers(former *s, uint32_t interval, uint32_t block)
{
    ltrf_plan *p = s->plan;
    hd_array_clear(&s->nodes);
    hd_array_push(&s->nodes, block);
    while (s->nodes.count) {
        uint32_t node = hd_array_pop(&s->nodes);
        for (uint32_t e = p->order.first[node]; e < p->order.first[node + 1]; e++) {
            uint32_t to = p->order.successors[e];
            if (p->first[to] != HD_NONE)
                continue;
            if (!ltrf_is_hub(p, to)) {
                begin_interval(s, to, p->cfg->blocks[to].first, HD_NONE);
                continue;
            }
            p->first[to] = interval;
            hd_array_push(&s->nodes, to);
        }
    }
}

static void grow_interval(former *s, uint32_t interval)
{
    ltrf_plan *p = s->plan;
    const ltrf_interval i = p->intervals.items[interval];
    hd_array_clear(&s->ended);
    hd_array_clear(&s->taken);
    hd_array_clear(&s->others);
    if (i.hollow) {
        end_block(s, i.block, interval);
    } else if (i.alone) {
        take_alone(s, interval);
    } else {
        take_block(s, interval, i.block, i.header);
        take_followers(s, interval);
    }
    keep_words(s, interval);
    for (uint32_t b = 0; b < s->ended.count; b++)
        begin_followers(s, interval, s->ended.items[b]);
}

void ltrf_form(ltrf_plan *p)
{
    hd_arena scratch = {0};
    uint32_t blocks = p->cfg->block_count, nodes = p->order.nodes;
    former s = {.plan = p,
                .used = HD_ARENA_ARRAY(&scratch, uint32_t, p->storage->words),
                .tried = HD_ARENA_ARRAY(&scratch, uint32_t, p->storage->words),
                .seen = HD_ARENA_ARRAY(&scratch, uint32_t, nodes),
                .count = HD_ARENA_ARRAY(&scratch, uint32_t, nodes),
                .asked = HD_ARENA_ARRAY(&scratch, uint32_t, nodes),
                .grouped = HD_ARENA_ARRAY(&scratch, uint32_t, blocks),
                .block_at = HD_ARENA_ARRAY(&scratch, uint32_t, blocks)};
    p->first = hd_arena_alloc(p->arena, nodes * sizeof(uint32_t));
    p->last = hd_arena_alloc(p->arena, blocks * sizeof(uint32_t));
    memset(p->first, 0xff, nodes * sizeof(uint32_t));
    memset(p->last, 0xff, blocks * sizeof(uint32_t));
    for (uint32_t b = 0; b < blocks; b++)
        if (p->cfg->blocks[b].reachable)
            s.block_at[p->rank[b]] = b;
    begin_interval(&s, 0, 0, HD_NONE);
    while (s.due < p->intervals.count)
        grow_interval(&s, s.due++);
    hd_array_free(&s.heap);
    hd_array_free(&s.others);
    hd_array_free(&s.group);
    hd_array_free(&s.nodes);
    hd_array_free(&s.ended);
    hd_array_free(&s.taken);
    hd_arena_free(&scratch);
}
