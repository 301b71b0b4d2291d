/* Where the extended set is held, and the acquires and releases that make it so: RegMutex, section 4.3.1, on warp-order states.
 *
 * The set is needed at an instruction that names an extended word, or before which one is live at warp level. The state of the warp follows the warp
 * order: at each block both states may come in, and an acquire or release stands before the first issued instruction that finds the wrong one, or
 * may. Both do nothing where they change nothing. (Placement along control-flow edges is wrong: a side that holds the set may be followed by one
 * that was entered from a block without it.)
 *
 * A warp never waits for another one while it holds a set: see hd_regmutex_waits. So those that hold one go on until they release it, and those that
 * wait for a section get one.
 *
 * Complexity: O(instructions * live words), and the size of the warp order.
 */
#include "passes/regmutex_work.h"

#include "ir/waits.h"
#include "passes/polling.h"

enum { RELEASED = 1, HELD = 2 }; /* a mask: states that may come to a place */

/* ---- where the warp may wait -------------------------------------------------------------------------------------------- */

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
        waits[i] = insn->flags & HD_INSN_OPAQUE || behaviour & always || hd_insn_waits(f, insn) || hd_bitset_has(&polls, i) ||
                   (loops && hd_insn_looks_for_others(f, insn));
    }
    return waits;
}

/* ---- where it is needed ------------------------------------------------------------------------------------------------- */

typedef struct marker {
    hd_pass_context inner; /* analyses of the code as it is */
    hd_function *f;
    const hd_cfg *cfg;
    hd_arena arena;
    const hd_warp_words *words;
    const hd_warp_order *order;
    bool *waits, *needs; /* by instruction */
    uint32_t base;
    uint8_t *out, *in;   /* by block and hub: mask */
} marker;

static bool names_extended(const marker *m, const hd_instruction *insn)
{
    HD_INSN_REGISTERS (m->f, insn, o)
        HD_STORAGE_WORDS (&m->words->storage, o->value, word)
            if (word >= m->base && word < m->words->storage.places)
                return true;
    return false;
}

static bool any_extended(const marker *m, const hd_live_walk *walk)
{
    for (uint32_t i = 0; i < walk->count; i++)
        if (walk->members[i] >= m->base && walk->members[i] < m->words->storage.places)
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

static bool is_issued(const marker *m, uint32_t ordinal) { return !hd_storage_skips(&m->words->storage, ordinal); }

/* The state behind a block or hub into which `in` comes. */
static uint8_t state_behind(const marker *m, uint32_t node, uint8_t in)
{
    if (node > m->cfg->block_count)
        return in;
    for (uint32_t i = m->cfg->blocks[node].end; i-- > m->cfg->blocks[node].first;)
        if (is_issued(m, i))
            return m->needs[i] ? HELD : RELEASED;
    return in;
}

static void flow(marker *m)
{
    uint32_t blocks = m->cfg->block_count;
    hd_u32_array work = {0};
    m->in = HD_ARENA_ARRAY(&m->arena, uint8_t, m->order->nodes);
    m->out = HD_ARENA_ARRAY(&m->arena, uint8_t, m->order->nodes);
    if (blocks) {
        m->in[0] = RELEASED;
        hd_array_push(&work, 0);
    }
    while (work.count) {
        uint32_t b = hd_array_pop(&work);
        m->out[b] |= state_behind(m, b, m->in[b]);
        for (uint32_t e = m->order->successor_first[b]; e < m->order->successor_first[b + 1]; e++) {
            uint32_t to = m->order->successors[e];
            if (to == blocks || (m->out[b] & ~m->in[to]) == 0)
                continue;
            m->in[to] |= m->out[b];
            hd_array_push(&work, to);
        }
    }
    hd_array_free(&work);
}

/* No set where the warp may wait, and none at an end that no instruction makes. */
static bool is_sound(const marker *m)
{
    for (uint32_t i = 0; i < m->f->instructions.count; i++)
        if (m->waits[i] && m->needs[i])
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
        state = wanted;
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
    find_needs(&m);
    flow(&m);
    bool sound = is_sound(&m);
    if (sound)
        mark_all(&m, extended, marks);
    hd_pass_context_free(&m.inner);
    hd_arena_free(&m.arena);
    return sound;
}
