/* Warp-level liveness (WL): values that must stay in a warp-wide register although the running lanes may not need them.
 *
 * WL(p) = TL(p) union pend(block(p)). For every branch b that may diverge, with reconvergence point r, and each target
 * s (not r, not the virtual exit X), every block of R(b, s) keeps TLin(r) and
 *   ours   TLin(s') of every other target s': lanes that wait for another side still need it. They run after this side,
 *          or have run before; a side's own registers are released after their last read.
 *   paper  TLin of every target, including its own: the rule of RegMutex (section on register liveness) and of RFV.
 *   its    independent thread scheduling: sides run interleaved and do not reconverge. r = X, and instead of TLin(s')
 *          every register that is read anywhere in the blocks that s' reaches.
 * WL is never an input of itself.
 *
 * Lanes may also wait within a side, at a barrier or another instruction of HD_BEHAVE_YIELD, while other sides run.
 * Under each rule, registers that are live after such an instruction, or kept there for a branch that is itself in a
 * side, are kept in all sides of branches with two or more sides (waiting at a join keeps no side from running); after
 * a guarded one, which lets other lanes pass, everywhere. Where lanes of several sides meet (HD_BEHAVE_MEET), the
 * instruction's operands are kept, too, and lanes that the guard disables do not pass.
 *
 * Method. ours, paper: for each register, the sides that keep it are flooded up to their r, farthest r first
 * (hd_join_rank). Later floods skip blocks visited by an earlier one: where the register is kept up to a farther r, it
 * is kept up to the nearer one, because every path to the farther passes the nearer. So the work is that of the result:
 * O(sum of the sets' sizes + branches times live registers), independent of the nesting. its:
 * passes/analysis/warp_liveness_its.c. "Registers" are words of the register file if the thread level's items are.
 */
#include "passes/analysis/warp_liveness_its.h"

/* A target, other than r and X, of a branch that may diverge. */
typedef struct side {
    uint32_t branch, block, join, rank; /* rank: hd_join_rank */
} side;

typedef struct pending {
    const hd_cfg *cfg;
    const hd_liveness *thread;
    bool paper;
    HD_ARRAY(side) sides; /* in order of depth */
    uint32_t registers;
    uint32_t *keep_first; /* by register; then the position of its next entry */
    uint32_t *keepers;    /* sides that keep it, in order; NULL while counting */
    uint32_t *times;      /* by register: number of targets of the current branch in which it is live */
    uint32_t *reached;    /* by block: the last register + 1 that it keeps */
    hd_u32_array found;   /* blocks that keep a register, in register order */
    uint32_t *found_first;
    hd_u32_array in_sides; /* blocks in sides of branches with two or more sides */
    uint8_t *waiting;      /* by register: see who_waits */
    /* by block: IN_SIDES if lanes wait in it; for registers kept there for branches within a side */
    uint8_t *waits_in;
    bool any_waits, *in_side; /* by block: in_sides */
    uint32_t *nested;         /* by block: last register + 1 kept there for a branch within a side */
} pending;

enum { IN_SIDES = 1, EVERYWHERE = 2 }; /* where a register is kept for lanes that wait at an instruction */

/* ---- sides ------------------------------------------------------------------------------------------------------- */

static int compare_sides(const void *left, const void *right)
{
    const side *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->branch != b->branch)
        return a->branch < b->branch ? -1 : 1;
    return (a->block > b->block) - (a->block < b->block);
}

static void find_sides(pending *p, const hd_uniformity *uniformity)
{
    const hd_cfg *cfg = p->cfg;
    HD_BITSET_EACH (&uniformity->divergent_branches, b) {
        uint32_t join = cfg->blocks[b].post_dominator;
        for (uint32_t t = 0; t < cfg->blocks[b].succ_count; t++) {
            uint32_t to = hd_block_successors(cfg, b)[t];
            if (to != join && to != cfg->block_count)
                hd_array_push(&p->sides, (side){b, to, join, hd_join_rank(cfg, join)});
        }
    }
    if (p->sides.count)
        qsort(p->sides.items, p->sides.count, sizeof *p->sides.items, compare_sides);
}

static void add_keeper(pending *p, uint32_t at, uint32_t reg)
{
    if (p->keepers)
        p->keepers[p->keep_first[reg]] = at;
    p->keep_first[reg]++;
}

static void keep_list(pending *p, uint32_t at, hd_register_set list)
{
    for (uint32_t i = 0; i < list.count; i++)
        add_keeper(p, at, list.items[i]);
}

/* Adds `sign` to each register that is live into a target, per target. */
static void count_times(pending *p, uint32_t branch, uint32_t sign)
{
    for (uint32_t t = 0; t < p->cfg->blocks[branch].succ_count; t++) {
        hd_register_set live = p->thread->live_in[hd_block_successors(p->cfg, branch)[t]];
        for (uint32_t i = 0; i < live.count; i++)
            p->times[live.items[i]] += sign;
    }
}

/* Keeps in a side of a branch with many targets the union of their live-in sets, which is the branch's live-out, except
 * registers live into this target only. */
static void keep_union(pending *p, uint32_t at)
{
    const side *s = &p->sides.items[at];
    hd_register_set all = p->thread->live_out[s->branch];
    for (uint32_t i = 0; i < all.count; i++)
        if (p->paper || p->times[all.items[i]] > 1 || !hd_register_set_has(p->thread->live_in[s->block], all.items[i]))
            add_keeper(p, at, all.items[i]);
}

static void keep_side(pending *p, uint32_t at)
{
    const side *s = &p->sides.items[at];
    const uint32_t *targets = hd_block_successors(p->cfg, s->branch);
    keep_list(p, at, p->thread->live_in[s->join]);
    if (p->cfg->blocks[s->branch].succ_count > 2) {
        keep_union(p, at);
        return;
    }
    uint32_t other = targets[targets[0] == s->block];
    if (other != s->join)
        keep_list(p, at, p->thread->live_in[other]);
    if (p->paper)
        keep_list(p, at, p->thread->live_in[s->block]);
}

/* Sides of one branch are consecutive. */
static void keep_all(pending *p)
{
    uint32_t counted = HD_NONE;
    for (uint32_t at = 0; at < p->sides.count; at++) {
        uint32_t branch = p->sides.items[at].branch;
        if (branch != counted && p->cfg->blocks[branch].succ_count > 2) {
            if (counted != HD_NONE)
                count_times(p, counted, UINT32_MAX); /* resets the counts */
            count_times(p, branch, 1);
            counted = branch;
        }
        keep_side(p, at);
    }
}

static void find_keepers(pending *p, hd_arena *scratch)
{
    p->times = HD_ARENA_ARRAY(scratch, uint32_t, p->registers);
    p->keep_first = HD_ARENA_ARRAY(scratch, uint32_t, (size_t)p->registers + 1);
    keep_all(p);
    uint32_t total = 0;
    for (uint32_t r = 0; r <= p->registers; r++) {
        uint32_t count = p->keep_first[r];
        p->keep_first[r] = total;
        total += count;
    }
    p->keepers = hd_arena_alloc(scratch, ((size_t)total + 1) * sizeof(uint32_t));
    memset(p->times, 0, p->registers * sizeof(uint32_t));
    keep_all(p); /* keep_first[r] is now the end of r's entries */
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static void reach(pending *p, uint32_t block, uint32_t reg)
{
    if (p->reached[block] == reg + 1)
        return;
    p->reached[block] = reg + 1;
    hd_array_push(&p->found, block);
}

static void flood(pending *p, const side *s, uint32_t reg)
{
    uint32_t start = p->found.count;
    reach(p, s->block, reg);
    for (uint32_t i = start; i < p->found.count; i++) {
        uint32_t block = p->found.items[i];
        for (uint32_t e = 0; e < p->cfg->blocks[block].succ_count; e++) {
            uint32_t to = hd_block_successors(p->cfg, block)[e];
            if (to != s->join && to != p->cfg->block_count)
                reach(p, to, reg);
        }
    }
}

static uint32_t sides_of(const pending *p, uint32_t branch)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < p->cfg->blocks[branch].succ_count; t++) {
        uint32_t to = hd_block_successors(p->cfg, branch)[t];
        count += to != p->cfg->blocks[branch].post_dominator && to != p->cfg->block_count;
    }
    return count;
}

/* Its operands are read when all lanes have arrived. */
static bool meets(const hd_function *f, const hd_instruction *insn)
{
    return hd_insn_form(f, insn)->behaviour & HD_BEHAVE_MEET;
}

/* Where registers live after an instruction are kept for lanes that wait at it; 0: no lanes wait there. */
static uint8_t waits_where(const hd_function *f, const hd_instruction *insn, bool in_sides)
{
    uint8_t where = insn->guard != HD_NONE ? EVERYWHERE : in_sides ? IN_SIDES : 0;
    if (meets(f, insn))
        return in_sides ? IN_SIDES : 0;
    return where && hd_insn_form(f, insn)->behaviour & (HD_BEHAVE_BARRIER | HD_BEHAVE_YIELD) ? where : 0;
}

static void mark_members(pending *p, const hd_live_walk *walk, uint8_t where)
{
    for (uint32_t i = 0; where && i < walk->count; i++)
        p->waiting[walk->members[i]] |= where;
}

/* Marks registers that are live after the waiting instructions of a block. */
static void mark_waiting(pending *p, hd_live_walk *walk, uint32_t block, bool in_sides)
{
    const hd_function *f = walk->function;
    const hd_instruction *instructions = f->instructions.items;
    uint32_t first = p->cfg->blocks[block].first, end = p->cfg->blocks[block].end;
    while (first < end && !waits_where(f, &instructions[first], in_sides))
        first++;
    if (first == end) /* the common case */
        return;
    hd_live_start(walk, block);
    while (walk->ordinal > first) {
        const hd_instruction *insn = &instructions[walk->ordinal - 1];
        uint8_t where = waits_where(f, insn, in_sides);
        p->waits_in[block] |= where ? IN_SIDES : 0;
        p->any_waits = p->any_waits || where;
        mark_members(p, walk, where);
        hd_live_step(walk);
        mark_members(p, walk, meets(f, insn) ? where : 0);
    }
}

static void who_waits(pending *p, hd_function *function, hd_arena *scratch)
{
    hd_live_walk walk;
    hd_live_walk_init(&walk, scratch, function, p->thread);
    p->waiting = HD_ARENA_ARRAY(scratch, uint8_t, (size_t)p->registers + 1);
    p->waits_in = HD_ARENA_ARRAY(scratch, uint8_t, p->cfg->block_count);
    p->in_side = HD_ARENA_ARRAY(scratch, bool, p->cfg->block_count);
    p->nested = HD_ARENA_ARRAY(scratch, uint32_t, p->cfg->block_count);
    for (uint32_t at = 0; at < p->sides.count; at++)
        if (sides_of(p, p->sides.items[at].branch) > 1)
            flood(p, &p->sides.items[at], p->registers);
    for (uint32_t i = 0; i < p->found.count; i++) {
        hd_array_push(&p->in_sides, p->found.items[i]);
        p->in_side[p->found.items[i]] = true;
    }
    hd_array_clear(&p->found);
    for (uint32_t b = 0; b < p->cfg->block_count; b++)
        mark_waiting(p, &walk, b, p->reached[b] == p->registers + 1);
}

/* A side of a branch within a side: lanes that wait at the branch, or at its join, wait longer if those of the side
 * wait within it. */
static void wait_for_side(pending *p, const side *s, uint32_t reg)
{
    uint32_t start = p->found.count;
    hd_array_push(&p->found, s->block);
    while (p->found.count > start) {
        uint32_t b = hd_array_pop(&p->found);
        if (b == s->join || b == p->cfg->block_count || p->nested[b] == reg + 1)
            continue;
        p->nested[b] = reg + 1;
        p->waiting[reg] |= p->waits_in[b];
        for (uint32_t e = 0; e < p->cfg->blocks[b].succ_count; e++)
            hd_array_push(&p->found, hd_block_successors(p->cfg, b)[e]);
    }
}

static void wait_for_sides(pending *p, uint32_t from, uint32_t end, uint32_t reg)
{
    for (uint32_t k = from; k < end && p->any_waits; k++)
        if (p->in_side[p->sides.items[p->keepers[k]].branch])
            wait_for_side(p, &p->sides.items[p->keepers[k]], reg);
}

static void keep_waiting(pending *p, uint32_t reg)
{
    for (uint32_t i = 0; p->waiting[reg] & IN_SIDES && i < p->in_sides.count; i++)
        reach(p, p->in_sides.items[i], reg);
    for (uint32_t b = 0; p->waiting[reg] & EVERYWHERE && b < p->cfg->block_count; b++)
        reach(p, b, reg);
}

static void flood_all(pending *p, hd_function *function, hd_arena *scratch)
{
    p->reached = HD_ARENA_ARRAY(scratch, uint32_t, p->cfg->block_count);
    who_waits(p, function, scratch);
    p->found_first = hd_arena_alloc(scratch, ((size_t)p->registers + 1) * sizeof(uint32_t));
    for (uint32_t r = 0, k = 0; r < p->registers; r++) {
        p->found_first[r] = p->found.count;
        wait_for_sides(p, k, p->keep_first[r], r);
        for (; k < p->keep_first[r]; k++)
            flood(p, &p->sides.items[p->keepers[k]], r);
        keep_waiting(p, r);
    }
    p->found_first[p->registers] = p->found.count;
}

/* Transposes blocks by register to registers by block. */
static void make_sets(const pending *p, hd_register_set *pend, hd_arena *arena, hd_arena *scratch)
{
    uint32_t *room = hd_arena_alloc(arena, ((size_t)p->found.count + 1) * sizeof(uint32_t));
    uint32_t *next = HD_ARENA_ARRAY(scratch, uint32_t, (size_t)p->cfg->block_count + 1);
    for (uint32_t i = 0; i < p->found.count; i++)
        pend[p->found.items[i]].count++;
    for (uint32_t b = 0; b < p->cfg->block_count; b++) {
        pend[b].items = room + next[b];
        next[b + 1] = next[b] + pend[b].count;
    }
    for (uint32_t r = 0; r < p->registers; r++)
        for (uint32_t i = p->found_first[r]; i < p->found_first[r + 1]; i++)
            room[next[p->found.items[i]]++] = r;
}

static void make_stack_pend(hd_pass_context *context, pending *p, hd_register_set *pend, hd_arena *arena)
{
    hd_arena scratch = {0};
    p->registers = p->thread->items;
    find_sides(p, hd_analysis_get(context, HD_ANALYSIS_UNIFORMITY));
    find_keepers(p, &scratch);
    flood_all(p, context->function, &scratch);
    make_sets(p, pend, arena, &scratch);
    hd_array_free(&p->sides);
    hd_array_free(&p->found);
    hd_array_free(&p->in_sides);
    hd_arena_free(&scratch);
}

static hd_register_set list_waiting(const pending *p, uint8_t where, hd_arena *arena)
{
    uint32_t *items = hd_arena_alloc(arena, ((size_t)p->registers + 1) * sizeof *items), count = 0;
    for (uint32_t r = 0; r < p->registers; r++)
        if (p->waiting[r] & where)
            items[count++] = r;
    return (hd_register_set){items, count};
}

/* its: adds the registers of lanes that wait at an instruction to existing sets. */
static void add_waiting(hd_pass_context *context, pending *p, hd_register_set *pend, hd_arena *arena)
{
    hd_arena scratch = {0};
    hd_set_union all = {0};
    p->registers = p->thread->items;
    p->reached = HD_ARENA_ARRAY(&scratch, uint32_t, p->cfg->block_count);
    find_sides(p, hd_analysis_get(context, HD_ANALYSIS_UNIFORMITY));
    find_keepers(p, &scratch);
    who_waits(p, context->function, &scratch);
    for (uint32_t r = 0; r < p->registers; r++)
        wait_for_sides(p, r ? p->keep_first[r - 1] : 0, p->keep_first[r], r);
    hd_register_set everywhere = list_waiting(p, EVERYWHERE, arena),
                    in_sides = list_waiting(p, IN_SIDES | EVERYWHERE, arena);
    for (uint32_t b = 0; b < p->cfg->block_count && in_sides.count; b++) {
        hd_set_union_add(&all, pend[b]);
        hd_set_union_add(&all, p->reached[b] == p->registers + 1 ? in_sides : everywhere);
        pend[b] = hd_set_union_take(&all, arena);
    }
    hd_set_union_free(&all);
    hd_array_free(&p->sides);
    hd_array_free(&p->found);
    hd_array_free(&p->in_sides);
    hd_arena_free(&scratch);
}

hd_warp_liveness *hd_warp_liveness_over(hd_pass_context *context, const hd_liveness *thread, hd_arena *arena)
{
    const hd_cfg *cfg = hd_function_cfg(context->function);
    pending p = {.cfg = cfg, .thread = thread};
    hd_register_set *pend = HD_ARENA_ARRAY(arena, hd_register_set, (size_t)cfg->block_count + 1);
    p.paper = context->liveness == HD_LIVENESS_PAPER;
    if (context->liveness == HD_LIVENESS_ITS) {
        hd_its_pend(context, thread, arena, pend);
        add_waiting(context, &p, pend, arena);
    } else {
        make_stack_pend(context, &p, pend, arena);
    }
    hd_warp_liveness *result = HD_ARENA_NEW(arena, hd_warp_liveness);
    *result = (hd_warp_liveness){.thread = thread, .pend = pend, .rule = context->liveness};
    return result;
}

hd_warp_liveness *hd_warp_liveness_build(hd_pass_context *context, hd_arena *arena)
{
    return hd_warp_liveness_over(context, hd_analysis_get(context, HD_ANALYSIS_LIVENESS), arena);
}
