/* Selects registers to spill: cheap ones that are live where the pressure is too high.
 *
 * The weight of a register is its spill cost (each read and write counts eight to the power of its loop depth) divided
 * by the room that it frees (words times positions). Blocks are processed innermost loops first; wherever more words
 * (or predicates) are live than there are registers, the live registers of least weight that the instruction there does
 * not access are spilled, and the pressure decreases wherever they were live and are not accessed. If the pressure fits
 * and a unit still has no register (alignment, holes), the lightest register that is live at its start is spilled.
 *
 * Complexity: O(positions of blocks over the limit * live registers + positions where spilled registers are live +
 * unassigned units * live registers). */
#include "passes/regalloc/regalloc_work.h"

typedef struct chooser {
    hd_regalloc *ra;
    double *weight; /* by register; negative: already spilled, or must not be spilled */
    hd_u32_array *spilled;
    hd_live_walk walk;        /* over blocks with too high pressure */
    uint32_t *skipped, stamp; /* by register: the last stamp for which spilling it did not help */
} chooser;

/* ---- weights ----------------------------------------------------------------------------------------------------- */

static double frequency(const hd_cfg *cfg, uint32_t block)
{
    uint32_t loop = cfg->blocks[block].loop;
    double f = 1;
    for (uint32_t d = loop == HD_NONE ? 0 : cfg->loops[loop].depth; d > 0 && f < 1e6; d--)
        f *= 8;
    return f;
}

static void add_costs(chooser *c)
{
    const hd_regalloc *ra = c->ra;
    const hd_function *f = ra->function;
    for (uint32_t b = 0; b < ra->cfg->block_count; b++) {
        double times = frequency(ra->cfg, b);
        for (uint32_t i = ra->cfg->blocks[b].first; i < ra->cfg->blocks[b].end; i++) {
            const hd_instruction *insn = &f->instructions.items[i];
            HD_INSN_REGISTERS (f, insn, o)
                c->weight[o->value] += times;
            if (insn->guard != HD_NONE)
                c->weight[insn->guard] += times;
        }
    }
}

static void find_weights(chooser *c)
{
    const hd_regalloc *ra = c->ra;
    uint32_t registers = ra->function->registers.count;
    c->weight = HD_ARENA_ARRAY(ra->arena, double, registers);
    add_costs(c);
    for (uint32_t r = 0; r < registers; r++) {
        double room = 0;
        for (uint32_t p = ra->ranges.first[r]; p != HD_NONE; p = ra->ranges.parts.items[p].next)
            room += ra->ranges.parts.items[p].end - ra->ranges.parts.items[p].begin;
        uint32_t words = hd_regalloc_is_predicate(ra, r) ? 1 : hd_regalloc_words(ra, r);
        bool fixed = ra->flags.items[r] & HD_NO_SPILL || !words || room <= 2;
        c->weight[r] = fixed ? -1 : c->weight[r] / (room * words);
    }
}

/* ---- pressure after spilling ------------------------------------------------------------------------------------- */

static bool covers(const hd_regalloc *ra, uint32_t reg, uint32_t position)
{
    const hd_ra_part *parts = ra->ranges.parts.items;
    for (uint32_t p = ra->ranges.first[reg]; p != HD_NONE && parts[p].begin <= position; p = parts[p].next)
        if (position < parts[p].end)
            return true;
    return false;
}

/* The same, starting at the part found by the previous query: positions mostly ascend. */
static bool covers_from(const hd_regalloc *ra, uint32_t reg, uint32_t position, uint32_t *cursor)
{
    const hd_ra_part *parts = ra->ranges.parts.items;
    uint32_t p = *cursor != HD_NONE && parts[*cursor].begin <= position ? *cursor : ra->ranges.first[reg];
    if (p == HD_NONE || parts[p].begin > position)
        return false;
    while (parts[p].next != HD_NONE && parts[parts[p].next].begin <= position)
        p = parts[p].next;
    *cursor = p;
    return position < parts[p].end;
}

static bool is_pinned(const hd_regalloc *ra, uint32_t reg, uint32_t ordinal)
{
    uint32_t s = hd_regalloc_pin_from(ra, reg, ordinal);
    return s < ra->pins.count && ra->pins.items[s].reg == reg && ra->pins.items[s].begin <= ordinal;
}

static void give_up(chooser *c, uint32_t reg)
{
    hd_regalloc *ra = c->ra;
    bool predicate = hd_regalloc_is_predicate(ra, reg);
    uint32_t *pressure = predicate ? ra->ranges.predicates : ra->ranges.general;
    uint32_t words = predicate ? 1 : hd_regalloc_words(ra, reg);
    const hd_ra_part *parts = ra->ranges.parts.items;
    for (uint32_t p = ra->ranges.first[reg]; p != HD_NONE; p = parts[p].next)
        for (uint32_t at = parts[p].begin; at < parts[p].end; at++)
            pressure[at] -= words;
    uint32_t cursor = HD_NONE;
    for (uint32_t k = ra->use_first[reg]; k < ra->use_first[reg + 1]; k++) { /* there it still needs a register */
        uint32_t i = ra->uses[k], b = ra->cfg->block_of[i];
        uint32_t read = 2 * (ra->ranges.begin[b] + i - ra->cfg->blocks[b].first);
        if (is_pinned(ra, reg, i))
            continue;
        pressure[read] += covers_from(ra, reg, read, &cursor) ? words : 0;
        pressure[read + 1] += covers_from(ra, reg, read + 1, &cursor) ? words : 0;
    }
    for (uint32_t s = hd_regalloc_pin_from(ra, reg, 0); s < ra->pins.count && ra->pins.items[s].reg == reg; s++) {
        uint32_t b = ra->cfg->block_of[ra->pins.items[s].first], base = ra->ranges.begin[b] - ra->cfg->blocks[b].first;
        for (uint32_t at = 2 * (base + ra->pins.items[s].begin); at <= 2 * (base + ra->pins.items[s].last) + 1; at++)
            pressure[at] += words;
    }
    c->weight[reg] = -1;
    hd_array_push(c->spilled, reg);
}

static bool touches(const hd_regalloc *ra, const hd_instruction *insn, uint32_t reg)
{
    const hd_function *f = ra->function;
    if (is_pinned(ra, reg, (uint32_t)(insn - f->instructions.items)))
        return true;
    HD_INSN_REGISTERS (f, insn, o)
        if (o->value == reg)
            return true;
    return insn->guard == reg;
}

/* The lightest of some registers that is live at `position`. */
static uint32_t lightest_of(chooser *c, const uint32_t *members, uint32_t count, uint32_t position, bool predicate,
                            const hd_instruction *insn)
{
    c->stamp++;
    for (;;) {
        uint32_t best = HD_NONE;
        for (uint32_t m = 0; m < count; m++) {
            uint32_t reg = members[m];
            if (c->weight[reg] < 0 || c->skipped[reg] == c->stamp || hd_regalloc_is_predicate(c->ra, reg) != predicate)
                continue;
            if (best == HD_NONE || c->weight[reg] < c->weight[best] ||
                (c->weight[reg] <= c->weight[best] && reg < best))
                best = reg;
        }
        if (best == HD_NONE || (covers(c->ra, best, position) && !(insn && touches(c->ra, insn, best))))
            return best;
        c->skipped[best] = c->stamp;
    }
}

/* The lightest of those live at the walker's position. */
static uint32_t lightest(chooser *c, uint32_t position, bool predicate, const hd_instruction *insn)
{
    return lightest_of(c, c->walk.members, c->walk.count, position, predicate, insn);
}

/* ---- positions over the limit ------------------------------------------------------------------------------------ */

static void relieve(chooser *c, uint32_t position, const hd_instruction *insn)
{
    hd_regalloc *ra = c->ra;
    uint32_t reg;
    while (ra->ranges.general[position] > ra->max_registers - ra->slack &&
           (reg = lightest(c, position, false, insn)) != HD_NONE)
        give_up(c, reg);
    while (ra->ranges.predicates[position] > ra->max_predicates && (reg = lightest(c, position, true, insn)) != HD_NONE)
        give_up(c, reg);
}

static bool is_crowded(const hd_regalloc *ra, uint32_t block)
{
    uint32_t first = 2 * ra->ranges.begin[block];
    uint32_t end = first + 2 * (ra->cfg->blocks[block].end - ra->cfg->blocks[block].first);
    for (uint32_t p = first; p < end; p++)
        if (ra->ranges.general[p] > ra->max_registers - ra->slack || ra->ranges.predicates[p] > ra->max_predicates)
            return true;
    return false;
}

static void relieve_block(chooser *c, uint32_t block)
{
    hd_regalloc *ra = c->ra;
    uint32_t base = ra->ranges.begin[block], first = ra->cfg->blocks[block].first;
    hd_live_start(&c->walk, block);
    for (uint32_t i = ra->cfg->blocks[block].end; i-- > first;) {
        const hd_instruction *insn = &ra->function->instructions.items[i];
        relieve(c, 2 * (base + i - first) + 1, insn);
        hd_live_step(&c->walk);
        relieve(c, 2 * (base + i - first), insn);
    }
}

static void relieve_all(chooser *c)
{
    hd_regalloc *ra = c->ra;
    uint32_t deepest = 0;
    for (uint32_t l = 0; l < ra->cfg->loop_count; l++)
        deepest = hd_max(deepest, ra->cfg->loops[l].depth);
    for (uint32_t depth = deepest + 1; depth-- > 0;)
        for (uint32_t b = 0; b < ra->cfg->block_count; b++) {
            uint32_t loop = ra->cfg->blocks[b].loop;
            if ((loop == HD_NONE ? 0 : ra->cfg->loops[loop].depth) == depth && is_crowded(ra, b))
                relieve_block(c, b);
        }
}

/* ---- units without a register ------------------------------------------------------------------------------------ */

/* A sweep over ascending positions, with the registers that are live there. */
typedef struct sweep {
    uint32_t *first, *regs; /* by position: registers with a part that begins there, in regs */
    uint32_t at;            /* positions before it are done */
    uint32_t *members, *ends, count;
} sweep;

static sweep sweep_start(const hd_regalloc *ra)
{
    const hd_ra_ranges *r = &ra->ranges;
    const hd_ra_part *parts = r->parts.items;
    uint32_t registers = ra->function->registers.count, count = r->parts.count;
    sweep s = {.first = HD_ARENA_ARRAY(ra->arena, uint32_t, r->positions + 3u),
               .regs = HD_ARENA_ARRAY(ra->arena, uint32_t, count + 1u),
               .members = HD_ARENA_ARRAY(ra->arena, uint32_t, registers + 1u),
               .ends = HD_ARENA_ARRAY(ra->arena, uint32_t, registers + 1u)};
    for (uint32_t reg = 0; reg < registers; reg++)
        for (uint32_t p = r->first[reg]; p != HD_NONE; p = parts[p].next)
            s.first[parts[p].begin + 2]++;
    for (uint32_t p = 0; p <= r->positions; p++)
        s.first[p + 2] += s.first[p + 1];
    for (uint32_t reg = 0; reg < registers; reg++)
        for (uint32_t p = r->first[reg]; p != HD_NONE; p = parts[p].next)
            s.regs[s.first[parts[p].begin + 1]++] = reg;
    return s;
}

/* `cursors`: by register, the part added last, or HD_NONE. */
static void sweep_to(const hd_regalloc *ra, sweep *s, uint32_t position, uint32_t *cursors)
{
    const hd_ra_part *parts = ra->ranges.parts.items;
    uint32_t kept = 0;
    for (uint32_t m = 0; m < s->count; m++)
        if (s->ends[m] > position) {
            s->members[kept] = s->members[m];
            s->ends[kept++] = s->ends[m];
        }
    s->count = kept;
    for (; s->at <= position; s->at++)
        for (uint32_t k = s->first[s->at]; k < s->first[s->at + 1]; k++) {
            uint32_t reg = s->regs[k];
            cursors[reg] = cursors[reg] == HD_NONE ? ra->ranges.first[reg] : parts[cursors[reg]].next;
            if (parts[cursors[reg]].end <= position)
                continue;
            s->members[s->count] = reg;
            s->ends[s->count++] = parts[cursors[reg]].end;
        }
}

/* Units failed in the order of the starts of their live ranges. */
static void relieve_failed(chooser *c)
{
    hd_regalloc *ra = c->ra;
    uint32_t registers = ra->function->registers.count, *cursors = HD_ARENA_ARRAY(ra->arena, uint32_t, registers + 1u);
    sweep s = sweep_start(ra);
    memset(cursors, 0xff, registers * sizeof *cursors);
    for (uint32_t i = 0; i < ra->failed.count; i++) {
        const hd_ra_unit *u = &ra->units.units[ra->units.of[ra->failed.items[i]]];
        sweep_to(ra, &s, u->begin, cursors);
        for (uint32_t count = 1 + ra->round / 4; count > 0; count--) {
            uint32_t reg = lightest_of(c, s.members, s.count, u->begin, u->predicate, NULL);
            if (reg != HD_NONE)
                give_up(c, reg);
        }
    }
}

static void index_uses(hd_regalloc *ra)
{
    const hd_function *f = ra->function;
    uint32_t registers = f->registers.count, total = 0;
    ra->use_first = HD_ARENA_ARRAY(ra->arena, uint32_t, registers + 2u);
    uint32_t *last = HD_ARENA_ARRAY(ra->arena, uint32_t, registers); /* the last instruction counted, + 1 */
    for (uint32_t pass = 0; pass < 2; pass++) {
        memset(last, 0, registers * sizeof(uint32_t));
        for (uint32_t i = 0; i < f->instructions.count; i++) {
            const hd_instruction *insn = &f->instructions.items[i];
            const hd_operand guard = {.kind = HD_OPERAND_REGISTER, .value = insn->guard};
            for (uint32_t k = 0; k <= insn->operand_count; k++) {
                const hd_operand *o = k < insn->operand_count ? &hd_insn_operands(f, insn)[k] : &guard;
                if (o->kind != HD_OPERAND_REGISTER || o->value == HD_NONE || last[o->value] == i + 1)
                    continue;
                last[o->value] = i + 1;
                if (pass)
                    ra->uses[ra->use_first[o->value + 1]++] = i;
                else
                    ra->use_first[o->value + 2]++, total++;
            }
        }
        for (uint32_t r = 0; !pass && r < registers; r++)
            ra->use_first[r + 2] += ra->use_first[r + 1];
        if (!pass)
            ra->uses = HD_ARENA_ARRAY(ra->arena, uint32_t, total + 1u);
    }
}

void hd_regalloc_index_uses(hd_regalloc *ra)
{
    if (!ra->use_first)
        index_uses(ra);
}

bool hd_regalloc_choose(hd_regalloc *ra, hd_u32_array *spilled)
{
    chooser c = {.ra = ra, .spilled = spilled};
    hd_regalloc_index_uses(ra);
    find_weights(&c);
    c.skipped = HD_ARENA_ARRAY(ra->arena, uint32_t, ra->function->registers.count);
    hd_live_walk_init(&c.walk, ra->arena, ra->function, ra->liveness);
    if (ra->failed.count)
        relieve_failed(&c);
    if (!spilled->count || ra->many_failed) /* leave the requested slack as well, which saves a round */
        relieve_all(&c);
    return spilled->count != 0;
}
