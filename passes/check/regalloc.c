/* Verifies an allocation by a forward dataflow analysis (see regalloc.h).
 *
 * Locations are the physical names of the allocated function and the spill slots. Overlapping names (R8, RD8) are
 * different locations: PTX does not alias them, the hardware does, and both must be correct. So a write to one name
 * makes overlapping names unknown, and a read requires the value under the same name.
 *
 * Instructions are matched by id, in order. All original instructions must exist, with the same form and the same
 * operands except for registers. Inserted instructions may only be moves, loads or stores of spill slots, conversions
 * of a predicate to a word or back, and repetitions of an original instruction with the same value everywhere. Only
 * such instructions may be removed.
 *
 * Names of memory operands (ir/operand_loads.h) are locations that overlap nothing.
 *
 * State: for each location the original register whose current value it holds, or unknown. At joins, different values
 * become unknown. A register that no path has written yet may be read from any location; this is checked by a separate
 * dataflow for each register that the first one does not prove. (Matching: regalloc_match.c; registers in flight:
 * regalloc_flight.c.)
 *
 * Complexity: O(rounds * instructions * locations), and O(instructions) for each register that needs its own dataflow.
 * Functions with more than a few thousand spill slots are slow. */
#include "passes/check/regalloc.h"

#include "ir/operand_loads.h"
#include "passes/check/regalloc_proof.h"

#include <stdio.h>

/* ---- locations --------------------------------------------------------------------------------------------------- */

/* Whether a location may hold a value of this class: the same class, or a word for a predicate. */
static bool may_hold(const hd_proof *p, uint32_t location, uint32_t value)
{
    if (location >= p->names || hd_proof_is_bank(p, location, value))
        return true;
    hd_physical_class class = hd_proof_class_at(p, location);
    hd_physical_class wanted = hd_proof_class_of(p, value);
    return class == wanted || (wanted == HD_PHYSICAL_PREDICATE && class == HD_PHYSICAL_WORD);
}

static bool is_named_for(const hd_proof *p, uint32_t name, uint32_t value)
{
    return hd_proof_is_bank(p, name, value) || hd_proof_class_at(p, name) == hd_proof_class_of(p, value);
}

/* Calls `visit` for every name that overlaps a location, itself included. */
static void each_overlap(const hd_proof *p, uint32_t location, void (*visit)(void *, uint32_t), void *to)
{
    visit(to, location);
    if (location >= p->names)
        return;
    hd_physical at = hd_register_physical(p->allocated, location);
    for (uint32_t w = at.number; w < (uint32_t)at.number + at.words; w++) {
        const uint32_t found[] = {p->name_at[HD_PHYSICAL_BYTE][w], p->name_at[HD_PHYSICAL_HALF][w],
                                  p->name_at[HD_PHYSICAL_WORD][w], p->name_at[HD_PHYSICAL_PAIR][w & ~1u],
                                  p->name_at[HD_PHYSICAL_QUAD][w & ~3u]};
        for (uint32_t i = 0; i < sizeof found / sizeof *found; i++)
            if (found[i] != HD_NONE)
                visit(to, found[i]);
    }
}

/* ---- dataflow over all registers --------------------------------------------------------------------------------- */

static void clear_location(void *state, uint32_t location) { ((uint32_t *)state)[location] = HD_NONE; }

static void forget(const hd_proof *p, uint32_t *state, uint32_t value)
{
    for (uint32_t i = 0; i < p->locations; i++)
        if (state[i] == value)
            state[i] = HD_NONE;
}

static uint32_t bits_of(const hd_proof *p, uint32_t value)
{
    return hd_types[p->original->registers.items[value].type].bits;
}

static void apply(const hd_proof *p, const hd_proof_effect *e, uint32_t *state)
{
    uint32_t held = HD_NONE;
    switch ((hd_proof_effect_kind)e->kind) {
    case HD_PROOF_READ:
    case HD_PROOF_SAME: /* what is read from there is doubtful */
    case HD_PROOF_GONE: return;
    case HD_PROOF_WRITE:
    case HD_PROOF_MERGE:
        held = e->kind == HD_PROOF_WRITE || state[e->location] == e->value ? e->value : HD_NONE;
        forget(p, state, e->value);
        break;
    case HD_PROOF_MAKE: held = e->value; break;
    case HD_PROOF_COPY:
        held = state[e->from];
        if (held != HD_NONE && (bits_of(p, held) > e->bits || !may_hold(p, e->location, held)))
            held = HD_NONE;
        break;
    }
    each_overlap(p, e->location, clear_location, state);
    if (held == HD_NONE || may_hold(p, e->location, held))
        state[e->location] = held;
}

static bool reads_right(const hd_proof *p, const hd_proof_effect *e, const uint32_t *state)
{
    return state[e->location] == e->value && e->location < p->names && is_named_for(p, e->location, e->value);
}

/* Merges `state` into the input of a block; true if the input changed. */
static bool meet(hd_proof *p, uint32_t block, const uint32_t *state)
{
    bool changed = false;
    if (!p->in[block]) {
        p->in[block] = hd_arena_copy(&p->arena, state, p->locations * sizeof(uint32_t));
        return true;
    }
    for (uint32_t i = 0; i < p->locations; i++)
        if (p->in[block][i] != state[i] && p->in[block][i] != HD_NONE) {
            p->in[block][i] = HD_NONE;
            changed = true;
        }
    return changed;
}

static void run_block(hd_proof *p, uint32_t block, uint32_t *state, bool check)
{
    memcpy(state, p->in[block], p->locations * sizeof(uint32_t));
    uint32_t from = p->effect_first[p->cfg->blocks[block].first], to = p->effect_first[p->cfg->blocks[block].end];
    for (uint32_t k = from; k < to; k++) {
        const hd_proof_effect *e = &p->effects.items[k];
        if (check && e->kind == HD_PROOF_READ && !reads_right(p, e, state))
            hd_bitset_add(&p->doubtful, e->value);
        apply(p, e, state);
    }
}

/* Processes blocks whose input changed, in reverse post-order, up to the fixed point. */
static void flow(hd_proof *p)
{
    const hd_cfg *cfg = p->cfg;
    uint32_t *state = HD_ARENA_ARRAY(&p->arena, uint32_t, p->locations);
    hd_bitset due = hd_bitset_new(&p->arena, cfg->block_count);
    p->in = HD_ARENA_ARRAY(&p->arena, uint32_t *, cfg->block_count);
    memset(state, 0xff, p->locations * sizeof(uint32_t));
    meet(p, 0, state);
    hd_bitset_add(&due, 0);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < cfg->reachable_count; i++) {
            uint32_t b = cfg->reverse_post_order[i];
            if (!hd_bitset_has(&due, b))
                continue;
            hd_bitset_remove(&due, b);
            run_block(p, b, state, false);
            for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++) {
                uint32_t to = hd_block_successors(cfg, b)[e];
                if (to != cfg->block_count && meet(p, to, state)) {
                    hd_bitset_add(&due, to);
                    changed = true;
                }
            }
        }
    }
    for (uint32_t i = 0; i < cfg->reachable_count; i++)
        run_block(p, cfg->reverse_post_order[i], state, true);
}

/* ---- dataflow for one register ----------------------------------------------------------------------------------- */

typedef struct single {
    hd_proof *p;
    uint32_t value;
    hd_bitset *in; /* by block: locations that hold the value */
    /* by block: on some path; written: the value, on some path (before that any location is valid) */
    bool *reached, *written;
    hd_bitset now;
    bool now_written;
} single;

static void remove_location(void *set, uint32_t location) { hd_bitset_remove(set, location); }

static void apply_single(single *s, const hd_proof_effect *e)
{
    const hd_proof *p = s->p;
    bool ours = e->value == s->value, was_written = s->now_written, holds = false;
    if (e->kind == HD_PROOF_READ)
        return;
    if (e->kind == HD_PROOF_SAME) {
        if (ours && may_hold(p, e->location, s->value))
            hd_bitset_add(&s->now, e->location);
        return;
    }
    s->now_written |= ours; /* locations of constants keep them */
    if (e->kind == HD_PROOF_GONE)
        return;
    if (e->kind == HD_PROOF_COPY)
        holds = hd_bitset_has(&s->now, e->from) && bits_of(p, s->value) <= e->bits;
    else if (ours)
        holds = e->kind != HD_PROOF_MERGE || !was_written || hd_bitset_has(&s->now, e->location);
    if (ours && (e->kind == HD_PROOF_WRITE || e->kind == HD_PROOF_MERGE))
        hd_bitset_clear(&s->now);
    each_overlap(p, e->location, remove_location, &s->now);
    if (holds && may_hold(p, e->location, s->value))
        hd_bitset_add(&s->now, e->location);
}

static bool meet_single(single *s, uint32_t block)
{
    hd_bitset *in = &s->in[block];
    bool changed = !s->reached[block];
    s->reached[block] = true;
    if (!s->now_written)
        return changed;
    if (!s->written[block]) {
        s->written[block] = true;
        memcpy(in->words, s->now.words, hd_bitset_words(in->bits) * sizeof(uint64_t));
        return true;
    }
    for (uint32_t w = 0; w < hd_bitset_words(in->bits); w++) {
        changed |= (in->words[w] & ~s->now.words[w]) != 0;
        in->words[w] &= s->now.words[w];
    }
    return changed;
}

static void check_single(single *s, const hd_proof_effect *e, const hd_instruction *insn)
{
    hd_proof *p = s->p;
    if (e->kind != HD_PROOF_READ || e->value != s->value)
        return;
    bool right = e->location < p->names && is_named_for(p, e->location, s->value);
    char was[64], is[64];
    if (right && (!s->now_written || hd_bitset_has(&s->now, e->location)))
        return;
    hd_register_spell(p->original, s->value, was, sizeof was);
    hd_register_spell(p->allocated, e->location, is, sizeof is);
    hd_proof_fail(p, insn, "%s may not hold the value of %s", is, was);
}

static void run_single(single *s, uint32_t block, bool check)
{
    const hd_proof *p = s->p;
    s->now_written = s->written[block];
    if (s->now_written)
        memcpy(s->now.words, s->in[block].words, hd_bitset_words(s->now.bits) * sizeof(uint64_t));
    else
        hd_bitset_clear(&s->now);
    for (uint32_t i = p->cfg->blocks[block].first; i < p->cfg->blocks[block].end; i++)
        for (uint32_t k = p->effect_first[i]; k < p->effect_first[i + 1]; k++) {
            if (check)
                check_single(s, &p->effects.items[k], &p->allocated->instructions.items[i]);
            apply_single(s, &p->effects.items[k]);
        }
}

static void prove_single(hd_proof *p, uint32_t value)
{
    const hd_cfg *cfg = p->cfg;
    hd_arena arena = {0};
    single s = {.p = p, .value = value};
    s.in = HD_ARENA_ARRAY(&arena, hd_bitset, cfg->block_count);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        s.in[b] = hd_bitset_new(&arena, p->locations);
    s.reached = HD_ARENA_ARRAY(&arena, bool, cfg->block_count);
    s.written = HD_ARENA_ARRAY(&arena, bool, cfg->block_count);
    s.now = hd_bitset_new(&arena, p->locations);
    s.reached[0] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < cfg->reachable_count; i++) {
            uint32_t b = cfg->reverse_post_order[i];
            if (!s.reached[b])
                continue;
            run_single(&s, b, false);
            for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++)
                if (hd_block_successors(cfg, b)[e] != cfg->block_count)
                    changed |= meet_single(&s, hd_block_successors(cfg, b)[e]);
        }
    }
    for (uint32_t i = 0; i < cfg->reachable_count && !p->failed; i++)
        run_single(&s, cfg->reverse_post_order[i], true);
    hd_arena_free(&arena);
}

bool hd_check_allocation(hd_function *original, hd_function *allocated, hd_diagnostics *diagnostics)
{
    hd_proof p = {.original = original, .allocated = allocated, .diagnostics = diagnostics, .slot_symbol = HD_NONE};
    hd_arena_init(&p.arena);
    p.collected = hd_operand_registers(allocated, &p.arena);
    hd_proof_match(&p);
    p.cfg = hd_function_cfg(allocated);
    p.locations = p.names + p.slots.count;
    p.bank = hd_bank_operands(allocated, &p.arena);
    p.doubtful = hd_bitset_new(&p.arena, original->registers.count);
    if (!p.failed && p.cfg->block_count && allocated->instructions.count)
        flow(&p);
    HD_BITSET_EACH (&p.doubtful, value)
        if (!p.failed)
            prove_single(&p, value);
    if (!p.failed)
        hd_proof_flights(&p);
    hd_array_free(&p.effects);
    hd_array_free(&p.slots);
    hd_arena_free(&p.arena);
    return !p.failed;
}
