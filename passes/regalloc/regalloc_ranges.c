/* Live ranges: parts of the linear order of instructions; and the pressure at each position.
 *
 * The order is the reverse post-order of the CFG, in which a block follows its dominators. A register's live range is
 * its thread-level liveness, minus the points that no definition of it reaches: there its value is undefined and any
 * register will do (otherwise a guarded definition alone would make it live from the entry). Registers that only name
 * memory operands (ir/operand_loads.h) have no live range.
 *
 * Complexity: O(instructions + sum of the live-out sets), plus, for registers live into the entry, a search from their
 * definitions. */
#include "passes/regalloc/regalloc_work.h"
#include "base/search.h"

#include "ir/operand_loads.h"

/* ---- the linear order -------------------------------------------------------------------------------------------- */

static void order_blocks(hd_regalloc *ra)
{
    const hd_cfg *cfg = ra->cfg;
    hd_ra_ranges *r = &ra->ranges;
    uint32_t count = 0, at = 0;
    r->order = HD_ARENA_ARRAY(ra->arena, uint32_t, cfg->block_count);
    r->begin = HD_ARENA_ARRAY(ra->arena, uint32_t, cfg->block_count);
    for (uint32_t i = 0; i < cfg->reachable_count; i++)
        r->order[count++] = cfg->reverse_post_order[i];
    for (uint32_t b = 0; b < cfg->block_count; b++)
        if (!cfg->blocks[b].reachable)
            r->order[count++] = b;
    for (uint32_t i = 0; i < count; i++) {
        r->begin[r->order[i]] = at;
        at += cfg->blocks[r->order[i]].end - cfg->blocks[r->order[i]].first;
    }
    r->positions = 2 * at + 2;
}

/* ---- registers live but not defined on all paths ----------------------------------------------------------------- */

typedef struct defined {
    const hd_regalloc *ra;
    uint32_t *base;    /* by block: start of its live-in registers in `bits` */
    hd_bitset bits;    /* by live-in register of a block: whether a definition reaches it */
    hd_bitset exposed; /* by register: live into the entry */
    bool any;
} defined;

static uint32_t index_in(hd_register_set set, uint32_t reg)
{
    uint32_t at = hd_search_u32(set.items, 0, set.count, reg);
    return at < set.count && set.items[at] == reg ? at : HD_NONE;
}

static void reach_from(defined *d, uint32_t reg, uint32_t block, hd_u32_array *work)
{
    const hd_cfg *cfg = d->ra->cfg;
    hd_array_push(work, block);
    while (work->count) {
        uint32_t b = hd_array_pop(work);
        for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++) {
            uint32_t to = hd_block_successors(cfg, b)[e];
            uint32_t at = to == cfg->block_count ? HD_NONE : index_in(d->ra->liveness->live_in[to], reg);
            if (at == HD_NONE || hd_bitset_has(&d->bits, d->base[to] + at))
                continue;
            hd_bitset_add(&d->bits, d->base[to] + at);
            hd_array_push(work, to);
        }
    }
}

static void find_defined(defined *d)
{
    const hd_regalloc *ra = d->ra;
    const hd_function *f = ra->function;
    hd_register_set entry = ra->liveness->live_in[0];
    uint32_t total = 0;
    d->any = ra->cfg->block_count && entry.count;
    if (!d->any)
        return;
    d->exposed = hd_bitset_new(ra->arena, f->registers.count);
    for (uint32_t i = 0; i < entry.count; i++)
        hd_bitset_add(&d->exposed, entry.items[i]);
    d->base = HD_ARENA_ARRAY(ra->arena, uint32_t, ra->cfg->block_count);
    for (uint32_t b = 0; b < ra->cfg->block_count; b++) {
        d->base[b] = total;
        total += ra->liveness->live_in[b].count;
    }
    d->bits = hd_bitset_new(ra->arena, total);
    hd_u32_array work = {0};
    uint32_t *last = HD_ARENA_ARRAY(ra->arena, uint32_t, f->registers.count); /* the last block that defines it, + 1 */
    for (uint32_t b = 0; b < ra->cfg->block_count; b++)
        for (uint32_t i = ra->cfg->blocks[b].first; i < ra->cfg->blocks[b].end; i++)
            HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
                if (o->flags & HD_OPERAND_DEF && last[o->value] != b + 1 && hd_bitset_has(&d->exposed, o->value)) {
                    last[o->value] = b + 1;
                    reach_from(d, o->value, b, &work);
                }
    hd_array_free(&work);
}

static bool is_defined_into(const defined *d, uint32_t reg, uint32_t block)
{
    if (!d->any || !hd_bitset_has(&d->exposed, reg))
        return true;
    uint32_t at = index_in(d->ra->liveness->live_in[block], reg);
    return at == HD_NONE || hd_bitset_has(&d->bits, d->base[block] + at);
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

typedef struct walk {
    hd_regalloc *ra;
    uint32_t *open;                      /* by register: end of the open part; 0: not live here */
    uint32_t *members, *index_of, count; /* live registers, and their index in `members` */
    uint32_t *defined_at;                /* by register: its earliest definition so far in this block; else HD_NONE */
    hd_u32_array touched;                /* registers with an entry in defined_at */
    defined defined;
} walk;

static void open_part(walk *w, uint32_t reg, uint32_t end)
{
    if (w->open[reg] || hd_regalloc_needs_no_register(w->ra, reg))
        return;
    w->open[reg] = end;
    w->index_of[reg] = w->count;
    w->members[w->count++] = reg;
}

static void add_part(hd_ra_ranges *r, uint32_t reg, uint32_t begin, uint32_t end)
{
    uint32_t first = r->first[reg];
    if (begin >= end)
        return;
    if (first != HD_NONE && r->parts.items[first].begin <= end) {
        r->parts.items[first].begin = begin;
        return;
    }
    hd_array_push(&r->parts, (hd_ra_part){begin, end, first});
    r->first[reg] = r->parts.count - 1;
}

static void close_part(walk *w, uint32_t reg, uint32_t begin)
{
    add_part(&w->ra->ranges, reg, begin, w->open[reg]);
    w->open[reg] = 0;
    uint32_t last = w->members[--w->count];
    w->members[w->index_of[reg]] = last;
    w->index_of[last] = w->index_of[reg];
}

static void walk_definitions(walk *w, const hd_instruction *insn, uint32_t write)
{
    const hd_function *f = w->ra->function;
    HD_INSN_REGISTERS (f, insn, d) {
        if (!(d->flags & HD_OPERAND_DEF) || hd_regalloc_needs_no_register(w->ra, d->value))
            continue;
        if (w->defined_at[d->value] == HD_NONE)
            hd_array_push(&w->touched, d->value);
        w->defined_at[d->value] = write;
        if (!w->open[d->value])
            add_part(&w->ra->ranges, d->value, write, write + 1);
        else if (hd_definition_kills(f, insn, d))
            close_part(w, d->value, write);
    }
}

static void walk_instruction(walk *w, uint32_t ordinal, uint32_t read)
{
    const hd_function *f = w->ra->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    walk_definitions(w, insn, read + 1);
    HD_INSN_REGISTERS (f, insn, o)
        if (o->flags & HD_OPERAND_USE || insn->flags & HD_INSN_OPAQUE)
            open_part(w, o->value, read + 1);
    if (insn->guard != HD_NONE)
        open_part(w, insn->guard, read + 1);
    HD_ASYNC_USES (w->ra->liveness->spans, ordinal, reg)
        open_part(w, reg, read + 1);
}

static void walk_block(walk *w, uint32_t b)
{
    const hd_block *block = &w->ra->cfg->blocks[b];
    uint32_t begin = w->ra->ranges.begin[b];
    hd_register_set out = w->ra->liveness->live_out[b];
    for (uint32_t i = 0; i < out.count; i++)
        open_part(w, out.items[i], 2 * (begin + block->end - block->first));
    for (uint32_t i = block->end; i-- > block->first;)
        walk_instruction(w, i, 2 * (begin + i - block->first));
    while (w->count) {
        uint32_t reg = w->members[w->count - 1], from = 2 * begin;
        if (!is_defined_into(&w->defined, reg, b))
            from = w->defined_at[reg];
        close_part(w, reg, from);
    }
    while (w->touched.count)
        w->defined_at[hd_array_pop(&w->touched)] = HD_NONE;
}

/* ---- pressure ---------------------------------------------------------------------------------------------------- */

static uint32_t sum_up(uint32_t *changes, uint32_t count)
{
    uint32_t peak = 0, now = 0;
    for (uint32_t p = 0; p < count; p++) {
        now += changes[p];
        changes[p] = now;
        peak = hd_max(peak, now);
    }
    return peak;
}

static void find_pressure(hd_regalloc *ra)
{
    hd_ra_ranges *r = &ra->ranges;
    r->general = HD_ARENA_ARRAY(ra->arena, uint32_t, r->positions + 1u);
    r->predicates = HD_ARENA_ARRAY(ra->arena, uint32_t, r->positions + 1u);
    for (uint32_t reg = 0; reg < ra->function->registers.count; reg++) {
        uint32_t *changes = hd_regalloc_is_predicate(ra, reg) ? r->predicates : r->general;
        uint32_t words = hd_regalloc_is_predicate(ra, reg) ? 1 : hd_regalloc_words(ra, reg);
        for (uint32_t p = r->first[reg]; p != HD_NONE; p = r->parts.items[p].next) {
            changes[r->parts.items[p].begin] += words;
            changes[r->parts.items[p].end] -= words; /* wraps around, and back */
        }
    }
    r->general_peak = sum_up(r->general, r->positions);
    r->predicate_peak = sum_up(r->predicates, r->positions);
}

void hd_regalloc_ranges(hd_regalloc *ra)
{
    uint32_t registers = ra->function->registers.count;
    hd_arena *arena = ra->arena;
    hd_ra_ranges *r = &ra->ranges;
    hd_array_clear(&r->parts);
    ra->collected = hd_operand_registers(ra->function, arena);
    ra->collected_count = registers;
    ra->bank = hd_bank_operands(ra->function, arena);
    ra->bank_count = registers;
    order_blocks(ra);
    r->first = hd_arena_alloc(arena, ((size_t)registers + 1) * sizeof(uint32_t));
    memset(r->first, 0xff, registers * sizeof(uint32_t));
    walk w = {.ra = ra,
              .open = HD_ARENA_ARRAY(arena, uint32_t, registers),
              .members = HD_ARENA_ARRAY(arena, uint32_t, registers),
              .index_of = HD_ARENA_ARRAY(arena, uint32_t, registers),
              .defined_at = hd_arena_alloc(arena, ((size_t)registers + 1) * sizeof(uint32_t)),
              .defined.ra = ra};
    memset(w.defined_at, 0xff, registers * sizeof(uint32_t));
    find_defined(&w.defined);
    for (uint32_t i = ra->cfg->block_count; i-- > 0;)
        walk_block(&w, r->order[i]);
    hd_array_free(&w.touched);
    find_pressure(ra);
}
