/* Uniformity: which registers hold the same value in all lanes of a warp, and which branches may diverge.
 *
 * A register is divergent if one of its definitions has a divergent source (a special register that differs between
 * lanes or in time, a load other than from an entry's parameters or from constants, an atomic, a shuffle, a matrix
 * fragment, a call's result), a divergent operand or a divergent guard; or if a branch b that may diverge has a
 * definition of it in its region R(b) (the blocks reachable from b without passing its reconvergence point r(b)) and
 * the register is live into r(b). The second rule covers x = 0 on one side and 1 on the other, and a uniform counter
 * read after a loop that lanes left in different iterations. A branch may diverge if its guard or index is divergent.
 * Register parameters and module-scope registers are divergent.
 *
 * Not handled: equal values with different operands (the result of a vote, x - x). Undefined values are assumed equal
 * in all lanes.
 *
 * Method: sweeps over the code in text order, each following every register known before it began; they usually reach
 * the fixed point. After SWEEPS of them, a worklist over registers continues, from each to the instructions that read
 * it. Between sweeps, the regions of newly divergent branches are processed. A region is walked only if it may contain
 * a definition of a register that is live into r(b) and not yet divergent, and only until each has been found. To
 * decide this, blocks are ordered topologically (reversed) by strongly connected components (outermost loops, and
 * blocks outside loops): a region lies between r(b) and b in that order, and a few of the writers between them are
 * checked. Near-linear on real code; O(blocks * divergent branches) in the worst case.
 */
#include "base/search.h"
#include "passes/analysis/liveness.h"
#include "ir/machine.h"
#include "ir/machine_image.h"
#include "ir/sregs.h"

enum { SWEEPS = 4 };

typedef struct range { /* indices in `order`: from `first` to before `end` */
    uint32_t first, end;
} range;

typedef struct spread {
    const hd_function *function;
    const hd_cfg *cfg;
    const hd_liveness *liveness;
    hd_uniformity *result;
    hd_arena *scratch;
    bool calls; /* the function contains calls */
    uint32_t sweeps;
    uint32_t *use_first, *uses; /* by register: instructions that read it; NULL until the worklist needs them */
    hd_u32_array registers;     /* divergent registers still to be followed */
    hd_u32_array branches;      /* divergent branches still to be followed */
    hd_u32_array blocks;        /* blocks of a region still to be visited */
    /* by register: ranks of the blocks that write it, ascending; NULL until a region needs them. Without registers
     * already divergent then */
    uint32_t *written_first, *written;
    uint32_t *order, *rank;          /* reachable blocks, successors first except in loops; the index of each block */
    uint32_t *loop_first, *loop_end; /* by outermost loop: its range in `order` */
    uint32_t *outermost;             /* by loop: its outermost enclosing loop */
    uint32_t *seen, *wanted;         /* by block, by register: the round that visited or needs it */
    uint32_t round;                  /* number of the current reach_region call */
} spread;

/* ---- sources ----------------------------------------------------------------------------------------------------- */

static bool has_calls(const hd_function *f)
{
    for (uint32_t i = 0; i < f->instructions.count; i++)
        if (hd_insn_form(f, &f->instructions.items[i])->behaviour & HD_BEHAVE_CALL)
            return true;
    return false;
}

/* A load of an entry's own parameters. With a register address this is certain only if no call has .param blocks of its
 * own.
 */
static bool loads_entry_parameter(const hd_function *f, const hd_instruction *insn, bool calls)
{
    uint8_t space = hd_insn_form(f, insn)->space;
    if (!f->is_entry || (space != HD_SPACE_PARAM && space != HD_SPACE_PARAM_ENTRY))
        return false;
    if (!calls || space == HD_SPACE_PARAM_ENTRY)
        return true;
    const hd_operand *o = hd_insn_operands(f, insn);
    for (uint32_t i = 0; i < insn->operand_count; i++)
        if (o[i].kind == HD_OPERAND_SYMBOL && f->module->symbols.items[o[i].value].kind == HD_SYMBOL_PARAMETER)
            return true;
    return false;
}

static bool reads_lane_register(const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(f, insn);
    for (uint32_t i = 0; i < insn->operand_count; i++)
        if (o[i].kind == HD_OPERAND_SREG && hd_sregs[o[i].value].varies >= HD_VARIES_LANE)
            return true;
    return false;
}

static bool is_divergent_source(const hd_function *f, const hd_instruction *insn, bool calls)
{
    const hd_form *form = hd_insn_form(f, insn);
    uint32_t behaviour = form->behaviour;
    if (insn->flags & HD_INSN_OPAQUE)
        return true;
    if (behaviour & (HD_BEHAVE_ATOMIC | HD_BEHAVE_CALL | HD_BEHAVE_DIVERGENT | HD_BEHAVE_TEXTURE | HD_BEHAVE_ASYNC))
        return true;
    if (behaviour & HD_BEHAVE_WARP && hd_form_unit(form) == HD_UNIT_TENSOR)
        return true;
    if (behaviour & HD_BEHAVE_LOAD)
        return form->space != HD_SPACE_CONST && !loads_entry_parameter(f, insn, calls);
    return reads_lane_register(f, insn);
}

/* ---- uses -------------------------------------------------------------------------------------------------------- */

static bool is_read(const hd_instruction *insn, const hd_operand *o)
{
    return o->flags & HD_OPERAND_USE || insn->flags & HD_INSN_OPAQUE;
}

static bool is_written(const hd_instruction *insn, const hd_operand *o)
{
    return o->flags & HD_OPERAND_DEF || insn->flags & HD_INSN_OPAQUE;
}

static void collect_uses(spread *s)
{
    const hd_function *f = s->function;
    uint32_t *first = HD_ARENA_ARRAY(s->scratch, uint32_t, (size_t)f->registers.count + 2);
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        if (insn->guard != HD_NONE)
            first[insn->guard + 2]++;
        HD_INSN_REGISTERS (f, insn, o)
            first[o->value + 2] += is_read(insn, o);
    }
    for (uint32_t r = 0; r < f->registers.count; r++)
        first[r + 2] += first[r + 1];
    s->uses = hd_arena_alloc(s->scratch, ((size_t)first[f->registers.count + 1] + 1) * sizeof(uint32_t));
    s->use_first = first;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        if (insn->guard != HD_NONE)
            s->uses[first[insn->guard + 1]++] = i;
        HD_INSN_REGISTERS (f, insn, o)
            if (is_read(insn, o))
                s->uses[first[o->value + 1]++] = i;
    }
}

/* ---- propagation ------------------------------------------------------------------------------------------------- */

static void add_register(spread *s, uint32_t reg)
{
    if (hd_bitset_has(&s->result->divergent_registers, reg))
        return;
    hd_bitset_add(&s->result->divergent_registers, reg);
    hd_array_push(&s->registers, reg);
}

static void add_definitions(spread *s, const hd_instruction *insn)
{
    HD_INSN_REGISTERS (s->function, insn, o)
        if (is_written(insn, o))
            add_register(s, o->value);
}

static void add_branch(spread *s, uint32_t block)
{
    if (!s->cfg->blocks[block].conditional || !s->cfg->blocks[block].reachable ||
        hd_bitset_has(&s->result->divergent_branches, block))
        return;
    hd_bitset_add(&s->result->divergent_branches, block);
    hd_array_push(&s->branches, block);
}

/* ---- sweeps ------------------------------------------------------------------------------------------------------ */

static bool is_divergent(const spread *s, uint32_t reg) { return hd_bitset_has(&s->result->divergent_registers, reg); }

static bool reads_divergent(const spread *s, const hd_instruction *insn)
{
    HD_INSN_REGISTERS (s->function, insn, o)
        if (is_read(insn, o) && is_divergent(s, o->value))
            return true;
    return false;
}

/* Whether it writes a register that is not known to be divergent. */
static bool may_add(const spread *s, const hd_instruction *insn)
{
    HD_INSN_REGISTERS (s->function, insn, o)
        if (is_written(insn, o) && !is_divergent(s, o->value))
            return true;
    return false;
}

static bool has_divergent_guard(const spread *s, const hd_instruction *insn)
{
    return insn->guard != HD_NONE && is_divergent(s, insn->guard);
}

static void sweep_instruction(spread *s, const hd_instruction *insn)
{
    if (may_add(s, insn) &&
        (has_divergent_guard(s, insn) || is_divergent_source(s->function, insn, s->calls) || reads_divergent(s, insn)))
        add_definitions(s, insn);
}

/* The last instruction of a block. */
static bool may_split(const spread *s, const hd_instruction *insn)
{
    return has_divergent_guard(s, insn) || insn->flags & HD_INSN_OPAQUE ||
           (hd_insn_flow(s->function, insn) == HD_FLOW_BRANCH && reads_divergent(s, insn));
}

/* New divergent registers are queued. */
static void sweep(spread *s)
{
    const hd_instruction *instructions = s->function->instructions.items;
    s->sweeps++;
    hd_array_clear(&s->registers);
    for (uint32_t b = 0; b < s->cfg->block_count; b++) {
        const hd_block *block = &s->cfg->blocks[b];
        for (uint32_t i = block->first; i < block->end; i++)
            sweep_instruction(s, &instructions[i]);
        if (block->conditional && may_split(s, &instructions[block->end - 1]))
            add_branch(s, b);
    }
}

/* ---- the worklist ------------------------------------------------------------------------------------------------ */

/* For the instructions that read one register: prefetches the operands of a later one, and the operand range of the
 * next. */
static inline __attribute__((always_inline)) void prefetch_uses(const spread *s, uint32_t u, uint32_t end)
{
    if (u + 2 * HD_PREFETCH_AHEAD < end)
        __builtin_prefetch(&s->function->instructions.items[s->uses[u + 2 * HD_PREFETCH_AHEAD]]);
    if (u + HD_PREFETCH_AHEAD < end)
        hd_insn_prefetch(s->function, s->uses[u + HD_PREFETCH_AHEAD]);
}

static void follow_register(spread *s, uint32_t reg)
{
    const hd_function *f = s->function;
    if (!s->uses)
        collect_uses(s);
    for (uint32_t u = s->use_first[reg]; u < s->use_first[reg + 1]; u++) {
        prefetch_uses(s, u, s->use_first[reg + 1]);
        uint32_t i = s->uses[u], block = s->cfg->block_of[i];
        add_definitions(s, &f->instructions.items[i]);
        if (i + 1 == s->cfg->blocks[block].end && may_split(s, &f->instructions.items[i]))
            add_branch(s, block);
    }
}

/* ---- regions ----------------------------------------------------------------------------------------------------- */

typedef struct writer { /* a register and the rank of a block that writes it */
    uint32_t reg, rank;
} writer;
typedef HD_ARRAY(writer) writers;

static void note_writers(const spread *s, writers *all)
{
    const hd_function *f = s->function;
    uint32_t *last = HD_ARENA_ARRAY(s->scratch, uint32_t, f->registers.count);
    for (uint32_t at = 0; at < s->cfg->reachable_count; at++) {
        const hd_block *block = &s->cfg->blocks[s->order[at]];
        for (uint32_t i = block->first; i < block->end; i++) {
            hd_insn_prefetch(f, i - 2 * HD_PREFETCH_AHEAD); /* most blocks precede their successors in the text */
            HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
                if (is_written(&f->instructions.items[i], o) && !is_divergent(s, o->value) &&
                    last[o->value] != at + 1) {
                    last[o->value] = at + 1;
                    hd_array_push(all, (writer){o->value, at});
                }
        }
    }
}

static void collect_definitions(spread *s)
{
    writers all = {0};
    uint32_t registers = s->function->registers.count,
             *first = HD_ARENA_ARRAY(s->scratch, uint32_t, (size_t)registers + 2);
    note_writers(s, &all);
    for (uint32_t w = 0; w < all.count; w++)
        first[all.items[w].reg + 2]++;
    for (uint32_t r = 0; r < registers; r++)
        first[r + 2] += first[r + 1];
    s->written_first = first;
    s->written = hd_arena_alloc(s->scratch, ((size_t)all.count + 1) * sizeof(uint32_t));
    for (uint32_t w = 0; w < all.count; w++)
        s->written[first[all.items[w].reg + 1]++] = all.items[w].rank;
    hd_array_free(&all);
}

static uint32_t outermost_loop(const spread *s, uint32_t block)
{
    uint32_t loop = s->cfg->blocks[block].loop;
    return loop == HD_NONE ? HD_NONE : s->outermost[loop];
}

/* Blocks of an outermost loop are consecutive, at the position of its last block in the search. */
static void order_blocks(spread *s)
{
    const hd_cfg *cfg = s->cfg;
    /* blocks of the loop not yet placed */
    uint32_t *left = HD_ARENA_ARRAY(s->scratch, uint32_t, cfg->loop_count);
    uint32_t at = 0;
    for (uint32_t i = 0; i < cfg->reachable_count; i++) {
        uint32_t loop = outermost_loop(s, cfg->post_order[i]);
        if (loop != HD_NONE)
            left[loop]++;
    }
    memcpy(s->loop_end, left, cfg->loop_count * sizeof *left); /* for now: their number */
    for (uint32_t i = 0; i < cfg->reachable_count; i++) {
        uint32_t loop = outermost_loop(s, cfg->post_order[i]);
        if (loop == HD_NONE) {
            s->order[at++] = cfg->post_order[i];
        } else if (--left[loop] == 0) {
            s->loop_first[loop] = at;
            at += s->loop_end[loop];
            s->loop_end[loop] = s->loop_first[loop];
        }
    }
    for (uint32_t i = 0; i < cfg->reachable_count; i++) {
        uint32_t loop = outermost_loop(s, cfg->post_order[i]);
        if (loop != HD_NONE)
            s->order[s->loop_end[loop]++] = cfg->post_order[i];
    }
    for (uint32_t i = 0; i < cfg->reachable_count; i++)
        s->rank[s->order[i]] = i;
}

static void collect_order(spread *s)
{
    const hd_cfg *cfg = s->cfg;
    s->order = HD_ARENA_ARRAY(s->scratch, uint32_t, cfg->block_count);
    s->rank = HD_ARENA_ARRAY(s->scratch, uint32_t, cfg->block_count);
    s->loop_first = HD_ARENA_ARRAY(s->scratch, uint32_t, cfg->loop_count);
    s->loop_end = HD_ARENA_ARRAY(s->scratch, uint32_t, cfg->loop_count);
    s->outermost = HD_ARENA_ARRAY(s->scratch, uint32_t, cfg->loop_count);
    s->seen = HD_ARENA_ARRAY(s->scratch, uint32_t, cfg->block_count);
    s->wanted = HD_ARENA_ARRAY(s->scratch, uint32_t, s->function->registers.count);
    for (uint32_t l = 0; l < cfg->loop_count; l++)
        s->outermost[l] = cfg->loops[l].parent == HD_NONE ? l : s->outermost[cfg->loops[l].parent];
    order_blocks(s);
}

/* The range of the order that contains the branch's region: from its join, which all its blocks reach, to the branch
 * itself. */
static range region_range(const spread *s, uint32_t branch, uint32_t join)
{
    uint32_t loop = outermost_loop(s, branch);
    range all = {0, loop == HD_NONE ? s->rank[branch] : s->loop_end[loop]};
    if (join == s->cfg->block_count || !s->cfg->blocks[join].reachable)
        return all;
    loop = outermost_loop(s, join);
    all.first = loop == HD_NONE ? s->rank[join] : s->loop_first[loop];
    return all;
}

/* The first of the register's entries that is at least `least`. */
static uint32_t find_written(const spread *s, uint32_t reg, uint32_t least)
{
    return hd_search_u32(s->written, s->written_first[reg], s->written_first[reg + 1], least);
}

/* Whether the branch's region may write the register: a cheap test that avoids most walks. */
static bool may_write(const spread *s, uint32_t join, range within, uint32_t reg)
{
    enum { TRIES = 32 };
    uint32_t start = find_written(s, reg, within.first);
    for (uint32_t i = start; i < s->written_first[reg + 1] && s->written[i] < within.end; i++) {
        if (i - start == TRIES || hd_block_post_dominates(s->cfg, join, s->order[s->written[i]]))
            return true;
    }
    return false;
}

static void visit_successors(spread *s, uint32_t block, uint32_t join)
{
    for (uint32_t e = 0; e < s->cfg->blocks[block].succ_count; e++) {
        uint32_t to = hd_block_successors(s->cfg, block)[e];
        if (to == join || to == s->cfg->block_count || s->seen[to] == s->round)
            continue;
        s->seen[to] = s->round;
        hd_array_push(&s->blocks, to);
    }
}

/* The number of wanted registers that the block writes and that were not known to be divergent. */
static uint32_t visit_block(spread *s, uint32_t block)
{
    uint32_t found = 0;
    for (uint32_t i = s->cfg->blocks[block].first; i < s->cfg->blocks[block].end; i++) {
        const hd_instruction *insn = &s->function->instructions.items[i];
        HD_INSN_REGISTERS (s->function, insn, o)
            if (s->wanted[o->value] == s->round && is_written(insn, o)) {
                s->wanted[o->value] = 0;
                add_register(s, o->value);
                found++;
            }
    }
    return found;
}

/* Marks registers that are live into the join, not yet divergent, and possibly written in the region; returns their
 * number. */
static uint32_t want_registers(spread *s, uint32_t branch, uint32_t join)
{
    hd_register_set live = s->liveness->live_in[join];
    uint32_t count = 0, i = 0;
    while (i < live.count && is_divergent(s, live.items[i]))
        i++;
    if (i == live.count)
        return 0;
    if (!s->written) {
        collect_order(s);
        collect_definitions(s);
    }
    range within = region_range(s, branch, join);
    s->round++;
    for (; i < live.count; i++)
        if (!is_divergent(s, live.items[i]) && may_write(s, join, within, live.items[i])) {
            s->wanted[live.items[i]] = s->round;
            count++;
        }
    return count;
}

/* A register that is live into the reconvergence point and written in the region depends on a lane's path. */
static void reach_region(spread *s, uint32_t branch)
{
    uint32_t join = s->cfg->blocks[branch].post_dominator, wanted = want_registers(s, branch, join);
    hd_array_clear(&s->blocks);
    if (wanted)
        visit_successors(s, branch, join);
    for (uint32_t i = 0; i < s->blocks.count && wanted; i++) {
        wanted -= visit_block(s, s->blocks.items[i]);
        visit_successors(s, s->blocks.items[i], join);
    }
}

/* ---- driver ------------------------------------------------------------------------------------------------------ */

/* Machine code that other functions call, or that calls others: these pass values in any register. */
static bool shares_registers(const hd_function *f)
{
    const hd_machine_layout *layout = f->machine ? hd_machine_layout_of(f) : NULL;
    if (!layout)
        return false;
    for (uint32_t i = 0; i < f->instructions.count && layout->is_entry; i++) {
        const hd_machine_form *form = hd_insn_machine(f, &f->instructions.items[i]);
        if (form->row && form->row->control == HD_SASS_CONTROL_CALL && form->variant != HD_MACHINE_LOCAL)
            return true;
    }
    return !layout->is_entry;
}

static void spread_all(spread *s)
{
    const hd_function *f = s->function;
    s->calls = has_calls(f);
    const uint32_t shared = shares_registers(f) ? f->registers.count : 0;
    for (uint32_t i = 0; i < shared; i++)
        add_register(s, i);
    for (uint32_t i = 0; i < f->register_parameters.count; i++)
        add_register(s, f->register_parameters.items[i]);
    for (uint32_t i = 0; i < s->liveness->module_wide.count; i++) /* callers and callees write them */
        add_register(s, s->liveness->module_wide.items[i]);
    sweep(s);
    do {
        while (s->registers.count && s->sweeps < SWEEPS)
            sweep(s);
        while (s->registers.count)
            follow_register(s, hd_array_pop(&s->registers));
        while (s->branches.count)
            reach_region(s, hd_array_pop(&s->branches));
    } while (s->registers.count);
}

hd_uniformity *hd_uniformity_build(hd_pass_context *context, hd_arena *arena)
{
    hd_function *f = context->function;
    hd_arena scratch = {0};
    hd_uniformity *result = HD_ARENA_NEW(arena, hd_uniformity);
    spread s = {.function = f, .cfg = hd_function_cfg(f), .result = result, .scratch = &scratch};
    s.liveness = hd_analysis_get(context, HD_ANALYSIS_LIVENESS);
    result->divergent_registers = hd_bitset_new(arena, f->registers.count);
    result->divergent_branches = hd_bitset_new(arena, s.cfg->block_count);
    spread_all(&s);
    hd_array_free(&s.registers);
    hd_array_free(&s.branches);
    hd_array_free(&s.blocks);
    hd_arena_free(&scratch);
    return result;
}
