/* A warp of four lanes on a SIMT stack, or with its sides interleaved, that releases what is not live
 * (tests/unit/oracle.h).
 *
 * Values are always the right ones; beside them stands, for each register and lane, whether a release took the value
 * away. A lane that reads a value it wrote and that was taken away is a failure. */
#include "tests/unit/oracle.h"

#include <string.h>

enum { MOST_STEPS = 400, MOST_GROUPS = 64, ALL_LANES = (1 << ORACLE_LANES) - 1 };

typedef struct group {
    uint32_t block, insn;
    uint32_t join; /* STACK: popped where it gets there */
    uint32_t mask;
} group;

typedef struct machine {
    const oracle_program *p;
    const oracle_run *run;
    oracle_random random;
    uint32_t value[ORACLE_REGISTERS][ORACLE_LANES];
    uint8_t written[ORACLE_REGISTERS], released[ORACLE_REGISTERS]; /* lanes */
    uint8_t owner[ORACLE_REGISTERS][ORACLE_LANES]; /* by shared name: the register whose value it holds, + 1 */
    group groups[MOST_GROUPS];
    uint32_t group_count;
    uint32_t last_block;          /* the warp was in; X + 1 = none yet */
    uint8_t joins[ORACLE_BLOCKS]; /* r(b) + 1, found at the first split */
    int failure;
} machine;

static uint32_t mix(uint32_t a, uint32_t b)
{
    uint32_t z = (a * 0x85ebca6bu) ^ (b + 0x9e3779b9u) * 0xc2b2ae35u;
    z ^= z >> 15;
    return (z * 0x27d4eb2fu) >> 9 & 7;
}

/* ---- registers --------------------------------------------------------------------------------------------------- */

static void read_register(machine *m, uint32_t reg, uint32_t mask)
{
    mask &= m->written[reg];
    if (mask & m->released[reg])
        m->failure |= ORACLE_READ_RELEASED;
    for (uint32_t lane = 0; m->run->color && lane < ORACLE_LANES; lane++)
        if (mask >> lane & 1 && m->owner[m->run->color[reg]][lane] != reg + 1)
            m->failure |= ORACLE_CLOBBERED;
}

static void write_register(machine *m, uint32_t reg, uint32_t mask, const uint32_t *values, bool part)
{
    for (uint32_t lane = 0; lane < ORACLE_LANES; lane++)
        if (mask >> lane & 1) {
            m->value[reg][lane] = values[lane];
            if (m->run->color && !(part && m->written[reg] >> lane & 1)) /* a part leaves the rest to whom it belongs */
                m->owner[m->run->color[reg]][lane] = (uint8_t)(reg + 1);
        }
    if (!part) /* a part that left does not come back */
        m->released[reg] &= (uint8_t)~mask;
    else
        m->released[reg] &= (uint8_t)(~mask | m->written[reg]);
    m->written[reg] |= (uint8_t)mask;
}

static void release_dead(machine *m, uint32_t live, uint32_t active)
{
    for (uint32_t reg = 0; reg < ORACLE_REGISTERS; reg++)
        if (!(live >> reg & 1))
            m->released[reg] |= (uint8_t)(m->run->per_lane ? active : ALL_LANES);
}

static uint32_t live_at(const machine *m, uint32_t block, uint32_t live)
{
    return live | (m->run->per_lane ? 0u : m->run->facts->pend[block]);
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static uint32_t guard_mask(machine *m, const oracle_insn *insn, uint32_t active)
{
    if (!insn->guarded)
        return active;
    uint32_t mask = 0;
    read_register(m, insn->guard, active);
    for (uint32_t lane = 0; lane < ORACLE_LANES; lane++)
        mask |= ((m->value[insn->guard][lane] & 1) ^ insn->negated) << lane;
    return mask & active;
}

static uint32_t result(machine *m, const oracle_insn *insn, uint32_t lane, uint32_t slot)
{
    uint32_t a = insn->use_count > 0 ? m->value[insn->use[0]][lane] : 0,
             b = insn->use_count > 1 ? m->value[insn->use[1]][lane] : 0;
    switch ((oracle_kind)insn->kind) {
    case ORACLE_CONST: return insn->value;
    case ORACLE_PARAM: return 5;
    case ORACLE_LANE: return lane;
    case ORACLE_ADD: return mix(a, b);
    case ORACLE_SETP: return mix(a, b) & 1;
    case ORACLE_SELP: return m->value[insn->use[2]][lane] & 1 ? a : b;
    case ORACLE_LOAD:
    case ORACLE_LOAD2:
    case ORACLE_OPAQUE: return oracle_next(&m->random, 8);
    case ORACLE_PART: return mix(mix(a, b), m->value[insn->def[slot]][lane]);
    case ORACLE_STORE:
    case ORACLE_BRANCH: return 0;
    }
    return 0;
}

static void execute(machine *m, const oracle_insn *insn, uint32_t active)
{
    uint32_t mask = guard_mask(m, insn, active), values[2][ORACLE_LANES];
    for (uint32_t i = 0; i < insn->use_count; i++)
        read_register(m, insn->use[i], mask);
    for (uint32_t d = 0; d < insn->def_count && insn->kind == ORACLE_OPAQUE; d++)
        read_register(m, insn->def[d], mask);
    for (uint32_t d = 0; d < insn->def_count; d++)
        for (uint32_t lane = 0; lane < ORACLE_LANES; lane++)
            values[d][lane] = result(m, insn, lane, d);
    for (uint32_t d = 0; d < insn->def_count; d++)
        write_register(m, insn->def[d], mask, values[d], insn->kind == ORACLE_PART);
}

/* Where each active lane goes. */
static void choose_targets(machine *m, const oracle_block *block, uint32_t active, uint32_t *to)
{
    const oracle_insn *insn = &block->insns[block->count - 1];
    uint32_t exit = m->p->count, taken = block->end == ORACLE_FALL ? active : guard_mask(m, insn, active);
    for (uint32_t i = 0; block->end == ORACLE_SWITCH && i < insn->use_count; i++)
        read_register(m, insn->use[i], taken);
    for (uint32_t lane = 0; lane < ORACLE_LANES; lane++) {
        bool take = taken >> lane & 1;
        switch ((oracle_end)block->end) {
        case ORACLE_FALL:
        case ORACLE_JUMP: to[lane] = block->target[0]; break;
        case ORACLE_IF: to[lane] = block->target[take ? 0 : 1]; break;
        case ORACLE_EXIT: to[lane] = exit; break;
        case ORACLE_EXIT_IF: to[lane] = take ? exit : block->target[0]; break;
        case ORACLE_SWITCH:
            to[lane] = take ? block->target[m->value[insn->use[0]][lane] % (block->target_count - insn->guarded)]
                            : block->target[block->target_count - 1];
        }
    }
}

/* ---- control ----------------------------------------------------------------------------------------------------- */

static void push(machine *m, group g)
{
    if (m->group_count < MOST_GROUPS)
        m->groups[m->group_count++] = g;
}

static void leave_lanes(machine *m, uint32_t mask)
{
    for (uint32_t g = 0; g < m->group_count; g++)
        m->groups[g].mask &= ~mask;
}

/* Splits group `at` by its lanes' targets; the sides are above the entry that waits for them, in any order. */
static void split(machine *m, uint32_t at, const uint32_t *to)
{
    group from = m->groups[at];
    uint32_t targets[ORACLE_LANES], masks[ORACLE_LANES], count = 0, exit = m->p->count;
    for (uint32_t lane = 0; lane < ORACLE_LANES; lane++) {
        uint32_t k = 0;
        if (!(from.mask >> lane & 1))
            continue;
        while (k < count && targets[k] != to[lane])
            k++;
        if (k == count) {
            targets[count] = to[lane];
            masks[count++] = 0;
        }
        masks[k] |= 1u << lane;
    }
    if (count > 1 && !(m->run->facts->branches >> from.block & 1))
        m->failure |= ORACLE_SPLIT;
    if (count == 1 && targets[0] != exit) {
        m->groups[at].block = targets[0];
        m->groups[at].insn = 0;
        return;
    }
    if (!m->joins[from.block])
        m->joins[from.block] = (uint8_t)(oracle_join(m->p, from.block) + 1);
    uint32_t join = m->joins[from.block] - 1u;
    m->groups[at].block = m->run->interleaved ? exit : join;
    m->groups[at].insn = 0;
    for (uint32_t k = 0; k < count; k++) { /* shuffle */
        uint32_t o = k + oracle_next(&m->random, count - k), target = targets[o], mask = masks[o];
        targets[o] = targets[k];
        masks[o] = masks[k];
        if (target == exit)
            leave_lanes(m, mask);
        else if (m->run->interleaved || target != join)
            push(m, (group){target, 0, join, mask});
    }
}

static void drop_group(machine *m, uint32_t at) { m->groups[at] = m->groups[--m->group_count]; }

/* Interleaved: groups at one place may or may not become one. */
static void merge_by_chance(machine *m, uint32_t at)
{
    for (uint32_t o = 0; o < m->group_count; o++)
        if (o != at && m->groups[o].block == m->groups[at].block && m->groups[o].insn == m->groups[at].insn &&
            oracle_next(&m->random, 2)) {
            m->groups[at].mask |= m->groups[o].mask;
            m->groups[o].mask = 0;
        }
}

/* The group that runs next; false where none is left. */
static bool pick(machine *m, uint32_t *at)
{
    uint32_t exit = m->p->count;
    if (!m->run->interleaved) {
        while (m->group_count) {
            const group *top = &m->groups[m->group_count - 1];
            if (top->mask && top->block != exit && top->block != top->join)
                break;
            m->group_count--;
        }
        *at = m->group_count - 1;
        return m->group_count;
    }
    for (uint32_t g = m->group_count; g-- > 0;)
        if (!m->groups[g].mask || m->groups[g].block == exit)
            drop_group(m, g);
    if (!m->group_count)
        return false;
    *at = oracle_next(&m->random, m->group_count);
    merge_by_chance(m, *at);
    return true;
}

static void enter_block(machine *m, uint32_t block, uint32_t mask)
{
    if (!m->run->interleaved && m->last_block <= m->p->count && !(m->run->facts->order[m->last_block] >> block & 1))
        m->failure |= ORACLE_OUT_OF_ORDER;
    m->last_block = block;
    release_dead(m, live_at(m, block, m->run->facts->live_in[block]), mask);
}

static void step(machine *m, uint32_t at)
{
    group *g = &m->groups[at];
    const oracle_block *block = &m->p->blocks[g->block];
    if (g->insn == 0)
        enter_block(m, g->block, g->mask);
    bool last = g->insn + 1 >= block->count, ends = last && block->end != ORACLE_FALL;
    uint32_t to[ORACLE_LANES], i = g->insn;
    if (!ends && block->count) {
        execute(m, &block->insns[i], g->mask);
        release_dead(m, live_at(m, g->block, m->run->facts->live_after[g->block][i]), g->mask);
        g->insn++;
    }
    if (!last)
        return;
    choose_targets(m, block, g->mask, to);
    release_dead(m, live_at(m, g->block, m->run->facts->live_out[g->block]), g->mask);
    split(m, at, to);
}

int oracle_execute(const oracle_program *p, const oracle_run *run)
{
    machine m = {.p = p, .run = run, .random = {run->seed}, .last_block = p->count + 1};
    uint32_t lanes[ORACLE_LANES] = {3, 1, 4, 1}, at;
    if (p->is_device)
        write_register(&m, 1, ALL_LANES, lanes, false);
    push(&m, (group){0, 0, p->count, ALL_LANES});
    for (uint32_t n = 0; n < MOST_STEPS && !m.failure; n++) {
        if (!pick(&m, &at)) {
            if (p->is_device) /* the caller reads the result */
                read_register(&m, 0, ALL_LANES);
            break;
        }
        step(&m, at);
    }
    return m.failure;
}
