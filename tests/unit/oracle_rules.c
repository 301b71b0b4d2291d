/* The rules of the analyses, written down naively over masks, each with a way to break it (tests/unit/oracle.h). */
#include "tests/unit/oracle.h"

#include <string.h>

typedef struct rules {
    const oracle_program *p;
    oracle_mutation mutation;
    oracle_facts *facts;
} rules;

/* ---- thread level ------------------------------------------------------------------------------------------------ */

static uint16_t defs(const oracle_insn *insn)
{
    uint16_t mask = 0;
    for (uint32_t i = 0; i < insn->def_count; i++)
        mask |= (uint16_t)(1u << insn->def[i]);
    return mask;
}

static uint16_t uses(const rules *s, const oracle_insn *insn)
{
    uint16_t mask = 0;
    for (uint32_t i = 0; i < insn->use_count; i++)
        mask |= (uint16_t)(1u << insn->use[i]);
    if (insn->kind == ORACLE_OPAQUE && s->mutation != ORACLE_OPAQUE_KILLS)
        mask |= defs(insn);
    if (insn->guarded && s->mutation != ORACLE_GUARD_IS_NO_USE)
        mask |= (uint16_t)(1u << insn->guard);
    return mask;
}

static uint16_t kills(const rules *s, const oracle_insn *insn)
{
    if ((insn->guarded && s->mutation != ORACLE_GUARDED_KILLS) ||
        (insn->kind == ORACLE_PART && s->mutation != ORACLE_PART_KILLS) ||
        (insn->kind == ORACLE_OPAQUE && s->mutation != ORACLE_OPAQUE_KILLS))
        return 0;
    return defs(insn);
}

static uint16_t live_at_exit(const rules *s) { return s->p->is_device && s->mutation != ORACLE_RESULT_DIES ? 1 : 0; }

/* Is there a way from before instruction i of block b to a read of the register, without a definition that kills it? */
static bool search_read(const rules *s, uint32_t reg, uint32_t b, uint32_t i, uint64_t *seen)
{
    if (b == s->p->count)
        return live_at_exit(s) >> reg & 1;
    for (; i < s->p->blocks[b].count; i++) {
        if (uses(s, &s->p->blocks[b].insns[i]) >> reg & 1)
            return true;
        if (kills(s, &s->p->blocks[b].insns[i]) >> reg & 1)
            return false;
    }
    uint32_t to[ORACLE_TARGETS + 1], count = oracle_successors(s->p, b, to);
    for (uint32_t e = 0; e < count; e++) {
        if (*seen >> to[e] & 1)
            continue;
        *seen |= 1ull << to[e];
        if (search_read(s, reg, to[e], 0, seen))
            return true;
    }
    return false;
}

static uint16_t live_before(const rules *s, uint32_t b, uint32_t i)
{
    uint16_t live = 0;
    for (uint32_t reg = 0; reg < ORACLE_REGISTERS; reg++) {
        uint64_t seen = 0;
        live |= (uint16_t)(search_read(s, reg, b, i, &seen) << reg);
    }
    return live;
}

static void find_live(rules *s)
{
    for (uint32_t b = 0; b <= s->p->count; b++) {
        s->facts->live_in[b] = live_before(s, b, 0);
        for (uint32_t i = 0; b < s->p->count && i < s->p->blocks[b].count; i++)
            s->facts->live_after[b][i] = live_before(s, b, i + 1);
        if (b < s->p->count)
            s->facts->live_out[b] = live_before(s, b, s->p->blocks[b].count);
    }
}

/* ---- uniformity -------------------------------------------------------------------------------------------------- */

static bool is_source(const rules *s, const oracle_insn *insn)
{
    return insn->kind == ORACLE_LANE || insn->kind == ORACLE_OPAQUE ||
           ((insn->kind == ORACLE_LOAD || insn->kind == ORACLE_LOAD2) && s->mutation != ORACLE_UNIFORM_LOAD);
}

static bool may_split(const rules *s, uint32_t b)
{
    uint32_t to[ORACLE_TARGETS + 1];
    const oracle_block *block = &s->p->blocks[b];
    if (oracle_successors(s->p, b, to) < 2 || !(oracle_reach(s->p, 0, 0) >> b & 1))
        return false;
    return (uses(s, &block->insns[block->count - 1]) & s->facts->divergent) != 0;
}

static uint64_t region(const rules *s, uint32_t side, uint32_t join) /* without X */
{
    return side == join || side == s->p->count ? 0 : oracle_reach(s->p, side, 1ull << join | 1ull << s->p->count);
}

static uint16_t block_defs(const rules *s, uint32_t b)
{
    uint16_t mask = 0;
    for (uint32_t i = 0; i < s->p->blocks[b].count; i++)
        mask |= defs(&s->p->blocks[b].insns[i]);
    return mask;
}

/* Registers written in the region of b and live into its reconvergence point. */
static uint16_t temporal(const rules *s, uint32_t b)
{
    uint32_t to[ORACLE_TARGETS + 1], count = oracle_successors(s->p, b, to), join = oracle_join(s->p, b);
    uint16_t mask = 0;
    for (uint32_t e = 0; e < count; e++)
        for (uint32_t q = 0; q < s->p->count; q++)
            if (region(s, to[e], join) >> q & 1)
                mask |= block_defs(s, q);
    return mask & s->facts->live_in[join];
}

static void find_divergent(rules *s)
{
    uint16_t *divergent = &s->facts->divergent, before;
    *divergent = s->p->is_device ? 2 : 0;
    do {
        before = *divergent;
        for (uint32_t b = 0; b < s->p->count; b++) {
            for (uint32_t i = 0; i < s->p->blocks[b].count; i++) {
                const oracle_insn *insn = &s->p->blocks[b].insns[i];
                uint16_t read = uses(s, insn);
                if (s->mutation == ORACLE_UNIFORM_GUARD && insn->guarded)
                    read &= (uint16_t) ~(1u << insn->guard);
                if (is_source(s, insn) || read & *divergent)
                    *divergent |= defs(insn);
            }
            if (s->mutation != ORACLE_UNIFORM_BY_OPERANDS && may_split(s, b))
                *divergent |= temporal(s, b);
        }
    } while (*divergent != before);
    for (uint32_t b = 0; b < s->p->count; b++)
        s->facts->branches |= (uint64_t)may_split(s, b) << b;
}

/* ---- warp level -------------------------------------------------------------------------------------------------- */

static uint16_t reads_of(const rules *s, uint64_t blocks)
{
    uint16_t mask = blocks >> s->p->count & 1 ? live_at_exit(s) : 0;
    for (uint32_t b = 0; b < s->p->count; b++)
        for (uint32_t i = 0; blocks >> b & 1 && i < s->p->blocks[b].count; i++)
            mask |= uses(s, &s->p->blocks[b].insns[i]);
    return mask;
}

static uint16_t kept_for(const rules *s, oracle_rule rule, uint32_t other)
{
    if (rule == ORACLE_ITS && s->mutation != ORACLE_ITS_LIVE_IN)
        return reads_of(s, oracle_reach(s->p, other, 0));
    return s->facts->live_in[other];
}

static void find_pend(rules *s, oracle_rule rule)
{
    for (uint32_t b = 0; b < s->p->count; b++) {
        uint32_t to[ORACLE_TARGETS + 1], count = oracle_successors(s->p, b, to), join = oracle_join(s->p, b);
        if (rule == ORACLE_ITS && s->mutation != ORACLE_ITS_JOINS)
            join = s->p->count;
        for (uint32_t e = 0; s->facts->branches >> b & 1 && e < count; e++) {
            uint16_t kept = s->mutation == ORACLE_DROP_JOIN ? 0 : s->facts->live_in[join];
            for (uint32_t o = 0; o < count && s->mutation != ORACLE_DROP_SIDES; o++)
                if (o != e || rule == ORACLE_PAPER)
                    kept |= kept_for(s, rule, to[o]);
            for (uint32_t q = 0; q < s->p->count && s->mutation != ORACLE_DROP_PEND; q++)
                if (region(s, to[e], join) >> q & 1)
                    s->facts->pend[q] |= kept;
        }
    }
}

/* ---- warp order -------------------------------------------------------------------------------------------------- */

static uint64_t successor_mask(const rules *s, uint32_t b)
{
    uint32_t to[ORACLE_TARGETS + 1], count = oracle_successors(s->p, b, to);
    uint64_t mask = 0;
    for (uint32_t e = 0; e < count; e++)
        mask |= 1ull << to[e];
    return mask;
}

static void order_branch(rules *s, uint32_t b)
{
    uint32_t to[ORACLE_TARGETS + 1], count = oracle_successors(s->p, b, to), join = oracle_join(s->p, b);
    uint64_t exit = 1ull << s->p->count,
             last = s->mutation == ORACLE_ORDER_NO_EXIT ? 1ull << join & ~exit : 1ull << join | exit;
    uint64_t join_mask = 1ull << join & ~exit;
    s->facts->order[b] |= join_mask;
    for (uint32_t e = 0; e < count; e++) {
        uint64_t next = join_mask;
        for (uint32_t o = 0; o < count && s->mutation != ORACLE_ORDER_NO_SIDES; o++)
            if (o != e && to[o] != join)
                next |= 1ull << to[o] & ~exit;
        for (uint32_t q = 0; q < s->p->count; q++)
            if (region(s, to[e], join) >> q & 1 && successor_mask(s, q) & last)
                s->facts->order[q] |= next;
    }
}

void oracle_analyse(const oracle_program *p, oracle_rule rule, oracle_mutation mutation, oracle_facts *facts)
{
    rules s = {p, mutation, facts};
    memset(facts, 0, sizeof *facts);
    find_live(&s);
    find_divergent(&s);
    find_pend(&s, rule);
    for (uint32_t b = 0; b < p->count; b++)
        facts->order[b] |= successor_mask(&s, b);
    for (uint32_t b = 0; b < p->count; b++)
        if (facts->branches >> b & 1 && mutation != ORACLE_ORDER_BY_EDGES)
            order_branch(&s, b);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

void oracle_color(const oracle_program *p, const oracle_facts *facts, uint8_t *color)
{
    uint16_t clash[ORACLE_REGISTERS] = {0};
    for (uint32_t b = 0; b < p->count; b++)
        for (uint32_t i = 0; i < p->blocks[b].count; i++) {
            uint16_t written = defs(&p->blocks[b].insns[i]), live = facts->live_after[b][i] | written;
            for (uint32_t r = 0; r < ORACLE_REGISTERS; r++)
                for (uint32_t o = 0; o < ORACLE_REGISTERS; o++)
                    if (o != r && written >> r & 1 && live >> o & 1) {
                        clash[r] |= (uint16_t)(1u << o);
                        clash[o] |= (uint16_t)(1u << r);
                    }
        }
    if (p->is_device) /* the parameter is written before the first instruction */
        for (uint32_t o = 0; o < ORACLE_REGISTERS; o++)
            if (o != 1 && facts->live_in[0] >> o & 1) {
                clash[1] |= (uint16_t)(1u << o);
                clash[o] |= 2;
            }
    for (uint32_t r = 0; r < ORACLE_REGISTERS; r++) {
        uint16_t taken = 0;
        for (uint32_t o = 0; o < r; o++)
            if (clash[r] >> o & 1)
                taken |= (uint16_t)(1u << color[o]);
        for (color[r] = 0; taken >> color[r] & 1;)
            color[r]++;
    }
}
