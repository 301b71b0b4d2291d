/* Where the extended set is held, and the acquires and releases for it: RegMutex, section 4.3.1 of the dissertation,
 * over states of the warp order.
 *
 * The set is needed at an instruction that names an extended word, or before which one is live at warp level. The
 * warp's state follows the warp order. Both states may reach a block; an acquire or release precedes the first issued
 * instruction that finds, or may find, the wrong one. Both are no-ops where the state is already right. (Placement
 * along control-flow edges is wrong: a side that holds the set may be followed by one that was entered from a block
 * without it.)
 *
 * Lanes may wait at an instruction while others of their warp run (waiting ones: a barrier, HD_BEHAVE_YIELD or _MEET,
 * in a side of a branch that may diverge and has two, or under a guard). The warp order has no edges for these
 * switches, so one state stands for all of them (`others`): that of each waiting instruction and of each end of a side.
 * It may reach the sides, the joins, and the instructions after a waiting one. A waiting instruction may need the set
 * only where `others` is "held": then all blocks of such sides hold it.
 *
 * A warp never waits for another one while it holds a set (hd_regmutex_waits). So warps that hold one continue until
 * they release it, and those that wait for a section get one.
 *
 * Complexity: O(instructions * live words), and the size of the warp order, at most three times. */
#include "passes/technique/regmutex_work.h"

#include "ir/waits.h"
#include "passes/analysis/polling.h"
#include "passes/analysis/sides.h"
#include "passes/analysis/analyses.h"

enum { RELEASED = 1, HELD = 2 }; /* a mask: states that may reach a point */

/* ---- where the warp may wait ------------------------------------------------------------------------------------- */

bool *hd_regmutex_waits(hd_function *f, hd_arena *arena)
{
    const uint32_t always = HD_BEHAVE_CALL | HD_BEHAVE_RETURN | HD_BEHAVE_EXIT | HD_BEHAVE_TRAP;
    const hd_cfg *cfg = hd_function_cfg(f);
    bool *waits = HD_ARENA_ARRAY(arena, bool, f->instructions.count + 1u);
    hd_bitset polls = hd_find_polls(f, arena);
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        uint32_t behaviour = hd_insn_form(f, insn)->behaviour;
        bool loops = cfg->blocks[cfg->block_of[i]].loop != HD_NONE;
        waits[i] = insn->flags & HD_INSN_OPAQUE || behaviour & always || hd_insn_waits(f, insn) ||
                   hd_bitset_has(&polls, i) || (loops && hd_insn_observes_other_warps(f, insn));
    }
    return waits;
}

/* ---- where it is needed ------------------------------------------------------------------------------------------ */

typedef struct marker {
    hd_pass_context inner; /* analyses of the code before insertion */
    hd_function *f;
    const hd_cfg *cfg;
    hd_arena arena;
    const hd_warp_words *words;
    const hd_warp_order *order;
    bool *waits, *needs; /* by instruction */
    uint32_t base;
    uint8_t *out, *in;    /* by block and hub: mask */
    bool *meets;          /* by instruction: lanes may wait there while others of their warp run */
    bool *ends, *follows; /* by block: a side may end with it; the warp may enter it in the meantime */
    hd_bitset sides;      /* blocks in which lanes may run in the meantime */
    bool any_meets;
    uint8_t others; /* mask: what lanes find that continue */
} marker;

/* ---- where lanes wait for each other ----------------------------------------------------------------------------- */

static uint32_t behaviour_at(const marker *m, uint32_t ordinal)
{
    return hd_insn_form(m->f, &m->f->instructions.items[ordinal])->behaviour;
}

/* Under a guard the other lanes may run on anywhere. */
static void find_meets(marker *m)
{
    const uint32_t yields = HD_BEHAVE_BARRIER | HD_BEHAVE_YIELD;
    uint32_t count = m->f->instructions.count;
    bool everywhere = false;
    m->meets = HD_ARENA_ARRAY(&m->arena, bool, count + 1u);
    for (uint32_t i = 0; i < count; i++)
        everywhere = everywhere || (m->f->instructions.items[i].guard != HD_NONE && behaviour_at(m, i) & yields);
    for (uint32_t b = 0; b < m->cfg->block_count && everywhere; b++)
        hd_bitset_add(&m->sides, b);
    for (uint32_t i = 0; i < count; i++) {
        m->meets[i] = behaviour_at(m, i) & (yields | HD_BEHAVE_MEET) && hd_bitset_has(&m->sides, m->cfg->block_of[i]);
        m->any_meets = m->any_meets || m->meets[i];
    }
}

static void find_followers(marker *m, const hd_uniformity *uniformity)
{
    uint32_t blocks = m->cfg->block_count;
    bool *joins = HD_ARENA_ARRAY(&m->arena, bool, blocks + 1u);
    m->ends = HD_ARENA_ARRAY(&m->arena, bool, blocks + 1u);
    m->follows = HD_ARENA_ARRAY(&m->arena, bool, blocks + 1u);
    HD_BITSET_EACH (&uniformity->divergent_branches, b) {
        uint32_t join = m->cfg->blocks[b].post_dominator;
        joins[join] = true;
        m->follows[join] = m->follows[join] || hd_bitset_has(&m->sides, b);
        for (uint32_t e = 0; e < m->cfg->blocks[b].succ_count; e++) {
            uint32_t to = hd_block_successors(m->cfg, b)[e];
            if (to != join && to != blocks && hd_bitset_has(&m->sides, to))
                m->follows[to] = m->follows[join] = true;
        }
    }
    joins[blocks] = true;
    HD_BITSET_EACH (&m->sides, b)
        for (uint32_t e = 0; e < m->cfg->blocks[b].succ_count; e++)
            m->ends[b] = m->ends[b] || joins[hd_block_successors(m->cfg, b)[e]];
}

static bool names_extended(const marker *m, const hd_instruction *insn)
{
    HD_INSN_REGISTERS (m->f, insn, o)
        HD_STORAGE_WORDS (&m->words->storage, o->value, word)
            if (word >= m->base && word < m->words->storage.physical_words)
                return true;
    return false;
}

static bool any_extended(const marker *m, const hd_live_walk *walk)
{
    for (uint32_t i = 0; i < walk->count; i++)
        if (walk->members[i] >= m->base && walk->members[i] < m->words->storage.physical_words)
            return true;
    return false;
}

static void find_needs(marker *m)
{
    hd_live_walk walk;
    m->needs = HD_ARENA_ARRAY(&m->arena, bool, m->f->instructions.count + 1u);
    hd_warp_words_walk(&walk, &m->arena, m->words);
    for (uint32_t b = 0; b < m->cfg->block_count; b++) {
        hd_live_start(&walk, b);
        for (uint32_t i = m->cfg->blocks[b].end; i-- > m->cfg->blocks[b].first;) {
            hd_live_step(&walk);
            m->needs[i] = any_extended(m, &walk) || names_extended(m, &m->f->instructions.items[i]);
        }
    }
}

/* A set that is held while lanes wait is held in all blocks that may run in the meantime. */
static void widen_needs(marker *m)
{
    bool held = false;
    for (uint32_t i = 0; i < m->f->instructions.count; i++)
        held = held || (m->meets[i] && m->needs[i]);
    HD_BITSET_EACH (&m->sides, b)
        for (uint32_t i = m->cfg->blocks[b].first; i < m->cfg->blocks[b].end && held; i++)
            m->needs[i] = true;
}

static bool is_issued(const marker *m, uint32_t ordinal) { return !hd_storage_skips(&m->words->storage, ordinal); }

static uint8_t state_of(const marker *m, uint32_t ordinal) { return m->needs[ordinal] ? HELD : RELEASED; }

/* The state after a block or hub that `in` reaches. */
static uint8_t state_after(const marker *m, uint32_t node, uint8_t in)
{
    if (node > m->cfg->block_count)
        return in;
    for (uint32_t i = m->cfg->blocks[node].end; i-- > m->cfg->blocks[node].first;)
        if (is_issued(m, i))
            return state_of(m, i) | (m->meets[i] ? m->others : 0);
    return in;
}

/* The states that a waiting instruction or the end of a side may leave to lanes that continue. A replay counts the mark
 * of a waiting instruction when it completes. */
static uint8_t left_to_others(const marker *m, uint32_t b)
{
    uint8_t state = m->in[b], left = 0;
    for (uint32_t i = m->cfg->blocks[b].first; state && i < m->cfg->blocks[b].end; i++) {
        if (!is_issued(m, i))
            continue;
        left |= m->meets[i] ? (state & HELD) | state_of(m, i) : 0;
        state = state_of(m, i) | (m->meets[i] ? m->others : 0);
    }
    return left | (m->ends[b] ? state : 0);
}

/* Propagates from the blocks in `work`. */
static void flow_on(marker *m, hd_u32_array *work)
{
    while (work->count) {
        uint32_t b = hd_array_pop(work);
        m->out[b] |= state_after(m, b, m->in[b]);
        for (uint32_t e = m->order->successor_first[b]; e < m->order->successor_first[b + 1]; e++) {
            uint32_t to = m->order->successors[e];
            if (to == m->cfg->block_count || (m->out[b] & ~m->in[to]) == 0)
                continue;
            m->in[to] |= m->out[b];
            hd_array_push(work, to);
        }
    }
}

/* Propagates `others` to the points where lanes continue; false: no change. */
static bool meet_others(marker *m, hd_u32_array *work)
{
    uint8_t before = m->others;
    for (uint32_t b = 0; b < m->cfg->block_count && m->any_meets; b++)
        m->others |= left_to_others(m, b);
    for (uint32_t b = 0; b < m->cfg->block_count && m->others != before; b++)
        if (m->in[b]) {
            m->in[b] |= m->follows[b] ? m->others : 0;
            hd_array_push(work, b);
        }
    return m->others != before;
}

static void flow(marker *m)
{
    hd_u32_array work = {0};
    m->in = HD_ARENA_ARRAY(&m->arena, uint8_t, m->order->nodes);
    m->out = HD_ARENA_ARRAY(&m->arena, uint8_t, m->order->nodes);
    if (m->cfg->block_count) {
        m->in[0] = RELEASED;
        hd_array_push(&work, 0);
    }
    do
        flow_on(m, &work);
    while (meet_others(m, &work));
    hd_array_free(&work);
}

/* No set where the warp may wait, and none at an end that no instruction makes. */
static bool is_sound(const marker *m)
{
    for (uint32_t i = 0; i < m->f->instructions.count; i++)
        if (m->needs[i] && (m->waits[i] || (m->meets[i] && m->others & RELEASED)))
            return false;
    for (uint32_t i = 0; i < m->cfg->exit_predecessor_count; i++) {
        const hd_block *end = &m->cfg->blocks[m->cfg->exit_predecessors[i]];
        if (end->end > end->first && !m->waits[end->end - 1] && m->out[m->cfg->exit_predecessors[i]] & HELD)
            return false;
    }
    return true;
}

static void mark_block(marker *m, uint32_t b, hd_regmutex_marks *marks)
{
    uint8_t state = m->in[b];
    for (uint32_t i = m->cfg->blocks[b].first; state && i < m->cfg->blocks[b].end; i++) {
        if (!is_issued(m, i))
            continue;
        uint8_t wanted = m->needs[i] ? HELD : RELEASED;
        if (state != wanted) {
            uint16_t kind = wanted == HELD ? HD_ANNOTATION_REGMUTEX_ACQUIRE : HD_ANNOTATION_REGMUTEX_RELEASE;
            hd_annotate(m->f, (hd_annotation){.kind = kind, .instruction = i});
            *(wanted == HELD ? &marks->acquires : &marks->releases) += 1;
        }
        state = wanted | (m->meets[i] ? m->others : 0);
    }
}

static void mark_all(marker *m, uint32_t extended, hd_regmutex_marks *marks)
{
    uint32_t sets[2] = {m->base, extended};
    *marks = (hd_regmutex_marks){0};
    for (uint32_t b = 0; b < m->cfg->block_count; b++)
        mark_block(m, b, marks);
    hd_annotate_list(m->f, (hd_annotation){.kind = HD_ANNOTATION_REGMUTEX, .instruction = HD_NONE}, sets, 2);
    hd_annotations_sort(m->f);
}

bool hd_regmutex_annotate(hd_pass_context *context, uint32_t base, uint32_t extended, hd_regmutex_marks *marks)
{
    marker m = {.f = context->function, .cfg = hd_function_cfg(context->function), .base = base};
    hd_pass_context_init(&m.inner, m.f, context->diagnostics);
    m.inner.liveness = context->liveness;
    m.words = hd_warp_words_build(&m.inner, &m.arena);
    m.order = hd_analysis_get(&m.inner, HD_ANALYSIS_WARP_ORDER);
    m.waits = hd_regmutex_waits(m.f, &m.arena);
    const hd_uniformity *uniformity = hd_analysis_get(&m.inner, HD_ANALYSIS_UNIFORMITY);
    m.sides = hd_two_sided_blocks(m.cfg, uniformity, &m.arena);
    find_meets(&m);
    find_followers(&m, uniformity);
    find_needs(&m);
    widen_needs(&m);
    flow(&m);
    bool sound = is_sound(&m);
    if (sound)
        mark_all(&m, extended, marks);
    hd_pass_context_free(&m.inner);
    hd_arena_free(&m.arena);
    return sound;
}
