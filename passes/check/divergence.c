/* Divergent registers and branches: see facts.h.
 *
 * Registers written between a divergent branch and its join are searched only where they can be found: registers live
 * into the join, not yet divergent, and written in a block between the two in a topological order of strongly connected
 * components. All branches of a join known by then are searched together, until each register was found. */
#include "base/compare.h"
#include "base/search.h"
#include "ir/sregs.h"
#include "passes/check/facts_private.h"

typedef struct divergence {
    hd_facts *facts;
    hd_u32_array found; /* divergent registers whose readers are still to be processed */
    hd_u32_array joins; /* with divergent branches not yet processed */
    /* linked lists of these branches: the first by join, the next by branch; HD_NONE: end */
    uint32_t *splits_of, *next_split;
    uint32_t *keys;                    /* by block: see find_keys */
    bool fails;                        /* a block fails (ir/cfg.h), and leads to no join */
    uint32_t *writer_first, *writers;  /* by register */
    uint32_t *live_first, *live;       /* by block */
    uint32_t *seen, *wanted, searches; /* by block, by register: the last search that visited or looks for it */
    hd_u32_array region;               /* blocks of the current search */
    bool calls;
} divergence;

static bool names_parameter(const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(f, insn);
    for (uint32_t i = 0; i < insn->operand_count; i++)
        if (o[i].kind == HD_OPERAND_SYMBOL && f->module->symbols.items[o[i].value].kind == HD_SYMBOL_PARAMETER)
            return true;
    return false;
}

/* All lanes load the same value: from constants and the kernel's own parameters (not from the result blocks of
 * calls). */
static bool loads_the_same(const divergence *d, const hd_instruction *insn)
{
    const hd_function *f = d->facts->function;
    uint8_t space = hd_insn_form(f, insn)->space;
    if (space == HD_SPACE_PARAM)
        return f->is_entry && (!d->calls || names_parameter(f, insn));
    return space == HD_SPACE_CONST || (space == HD_SPACE_PARAM_ENTRY && f->is_entry);
}

static bool reads_lane_variable(const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(f, insn);
    for (uint32_t i = 0; i < insn->operand_count; i++)
        if (o[i].kind == HD_OPERAND_SREG &&
            (hd_sregs[o[i].value].varies == HD_VARIES_LANE || hd_sregs[o[i].value].varies == HD_VARIES_TIME))
            return true;
    return false;
}

static bool is_source(const divergence *d, const hd_instruction *insn)
{
    const uint32_t always =
        HD_BEHAVE_ATOMIC | HD_BEHAVE_CALL | HD_BEHAVE_DIVERGENT | HD_BEHAVE_TEXTURE | HD_BEHAVE_ASYNC;
    const hd_form *form = hd_insn_form(d->facts->function, insn);
    if (insn->flags & HD_INSN_OPAQUE || form->behaviour & always)
        return true;
    if (form->behaviour & HD_BEHAVE_WARP && hd_form_unit(form) == HD_UNIT_TENSOR)
        return true;
    if (form->behaviour & HD_BEHAVE_LOAD && !loads_the_same(d, insn))
        return true;
    return reads_lane_variable(d->facts->function, insn);
}

static void found_register(divergence *d, uint32_t reg)
{
    if (hd_bitset_has(&d->facts->divergent, reg))
        return;
    hd_bitset_add(&d->facts->divergent, reg);
    hd_array_push(&d->found, reg);
}

static void results_diverge(divergence *d, const hd_instruction *insn)
{
    HD_INSN_REGISTERS (d->facts->function, insn, o)
        if (o->flags & HD_OPERAND_DEF || insn->flags & HD_INSN_OPAQUE)
            found_register(d, o->value);
}

/* ---- regions ----------------------------------------------------------------------------------------------------- */

/* One key per strongly connected component, such that no block reaches a lower key. */
static void find_keys(divergence *d, hd_arena *scratch)
{
    const hd_cfg *cfg = d->facts->cfg;
    uint32_t *outermost = HD_ARENA_ARRAY(scratch, uint32_t, cfg->loop_count),
             *first = HD_ARENA_ARRAY(scratch, uint32_t, cfg->loop_count);
    d->keys = HD_ARENA_ARRAY(scratch, uint32_t, cfg->block_count);
    for (uint32_t l = 0; l < cfg->loop_count; l++) {
        outermost[l] = cfg->loops[l].parent == HD_NONE ? l : outermost[cfg->loops[l].parent];
        first[l] = HD_NONE;
    }
    for (uint32_t i = 0; i < cfg->reachable_count; i++) {
        uint32_t b = cfg->reverse_post_order[i], loop = cfg->blocks[b].loop;
        uint32_t *of_loop = loop == HD_NONE ? NULL : &first[outermost[loop]];
        if (of_loop && *of_loop == HD_NONE)
            *of_loop = i;
        d->keys[b] = of_loop ? *of_loop : i;
        d->fails = d->fails || cfg->blocks[b].fails;
    }
}

/* By register, the keys of the blocks that write it. */
static void list_writers(divergence *d, hd_arena *scratch)
{
    const hd_lives *registers = &d->facts->registers;
    d->writer_first = HD_ARENA_ARRAY(scratch, uint32_t, (size_t)registers->count + 1);
    d->writers = HD_ARENA_ARRAY(scratch, uint32_t, registers->access_first[registers->count]);
    for (uint32_t r = 0, count = 0; r < registers->count; r++) {
        for (uint32_t a = registers->access_first[r]; a < registers->access_first[r + 1]; a++)
            if (registers->accesses[a].kinds & (HD_ACCESS_KILL | HD_ACCESS_WEAK))
                d->writers[count++] = d->keys[d->facts->cfg->block_of[registers->accesses[a].ordinal]];
        d->writer_first[r + 1] = count;
        if (count > d->writer_first[r])
            qsort(d->writers + d->writer_first[r], count - d->writer_first[r], sizeof *d->writers, hd_compare_u32);
    }
}

/* By block, the registers live into it. */
static void list_live(divergence *d, hd_arena *scratch)
{
    const hd_lives *registers = &d->facts->registers;
    uint32_t *first = HD_ARENA_ARRAY(scratch, uint32_t, (size_t)d->facts->cfg->block_count + 2);
    d->live_first = first;
    d->live = HD_ARENA_ARRAY(scratch, uint32_t, registers->live.count);
    for (uint32_t i = 0; i < registers->live.count; i++)
        first[registers->live.items[i] + 2]++;
    for (uint32_t b = 0; b < d->facts->cfg->block_count; b++)
        first[b + 2] += first[b + 1];
    for (uint32_t r = 0; r < registers->count; r++)
        for (uint32_t i = registers->live_first[r]; i < registers->live_first[r + 1]; i++)
            d->live[first[registers->live.items[i] + 1]++] = r;
}

/* Whether a block with a key in [low, high] may write the register. */
static bool may_write(const divergence *d, uint32_t reg, uint32_t low, uint32_t high)
{
    uint32_t end = d->writer_first[reg + 1], at = hd_search_u32(d->writers, d->writer_first[reg], end, low);
    return at < end && d->writers[at] <= high;
}

/* Marks as wanted the registers that are live into the join, may be written between the branches of its list and the
 * join, and are not yet divergent. Returns their number. */
static uint32_t want_registers(divergence *d, uint32_t join)
{
    uint32_t low = HD_NONE, high = d->fails ? HD_NONE : d->keys[join], count = 0;
    for (uint32_t b = d->splits_of[join]; b != HD_NONE; b = d->next_split[b])
        low = hd_min(low, d->keys[b]);
    for (uint32_t i = d->live_first[join]; i < d->live_first[join + 1]; i++) {
        uint32_t reg = d->live[i];
        if (hd_bitset_has(&d->facts->divergent, reg) || !may_write(d, reg, low, high))
            continue;
        d->wanted[reg] = d->searches;
        count++;
    }
    return count;
}

static void search_on(divergence *d, uint32_t block, uint32_t join)
{
    const hd_cfg *cfg = d->facts->cfg;
    for (uint32_t e = 0; e < cfg->blocks[block].succ_count; e++) {
        uint32_t to = hd_block_successors(cfg, block)[e];
        if (to == join || to == cfg->block_count || d->seen[to] == d->searches)
            continue;
        d->seen[to] = d->searches;
        hd_array_push(&d->region, to);
    }
}

/* Makes the wanted registers that the block writes divergent; returns their number. */
static uint32_t find_results(divergence *d, uint32_t block)
{
    uint32_t count = 0;
    for (uint32_t i = d->facts->cfg->blocks[block].first; i < d->facts->cfg->blocks[block].end; i++) {
        const hd_instruction *insn = &d->facts->function->instructions.items[i];
        HD_INSN_REGISTERS (d->facts->function, insn, o) {
            if (d->wanted[o->value] != d->searches || !(o->flags & HD_OPERAND_DEF || insn->flags & HD_INSN_OPAQUE))
                continue;
            d->wanted[o->value] = 0;
            found_register(d, o->value);
            count++;
        }
    }
    return count;
}

/* Processes the registers written between the branches of the join's list and the join, and live into it. The list is
 * empty afterwards. */
static void search_join(divergence *d, uint32_t join)
{
    d->searches++;
    uint32_t wanted = want_registers(d, join);
    hd_array_clear(&d->region);
    for (uint32_t b = d->splits_of[join]; b != HD_NONE; b = d->next_split[b])
        if (wanted)
            search_on(d, b, join);
    d->splits_of[join] = HD_NONE;
    for (uint32_t i = 0; i < d->region.count && wanted; i++) {
        wanted -= find_results(d, d->region.items[i]);
        search_on(d, d->region.items[i], join);
    }
}

/* ---- branches ---------------------------------------------------------------------------------------------------- */

static void found_branch(divergence *d, uint32_t branch)
{
    const hd_cfg *cfg = d->facts->cfg;
    const hd_block *block = &cfg->blocks[branch];
    if (!block->reachable || block->succ_count < 2 || hd_bitset_has(&d->facts->splits, branch))
        return;
    hd_bitset_add(&d->facts->splits, branch);
    uint32_t join = block->post_dominator;
    if (join == cfg->block_count)
        return;
    if (d->splits_of[join] == HD_NONE)
        hd_array_push(&d->joins, join);
    d->next_split[branch] = d->splits_of[join];
    d->splits_of[join] = branch;
}

static void look_at_reader(divergence *d, uint32_t reg, uint32_t ordinal)
{
    const hd_function *f = d->facts->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    uint32_t block = d->facts->cfg->block_of[ordinal];
    results_diverge(d, insn);
    bool ends = d->facts->cfg->blocks[block].end == ordinal + 1;
    if (ends && (insn->guard == reg || hd_insn_flow(f, insn) == HD_FLOW_BRANCH))
        found_branch(d, block);
}

static void look_at_readers(divergence *d, uint32_t reg)
{
    const hd_lives *registers = &d->facts->registers;
    for (uint32_t a = registers->access_first[reg]; a < registers->access_first[reg + 1]; a++)
        if (registers->accesses[a].kinds & HD_ACCESS_READ)
            look_at_reader(d, reg, registers->accesses[a].ordinal);
}

void hd_facts_find_divergence(hd_facts *facts, hd_arena *scratch)
{
    hd_function *f = facts->function;
    const hd_cfg *cfg = facts->cfg;
    divergence d = {.facts = facts,
                    .splits_of = HD_ARENA_ARRAY(scratch, uint32_t, cfg->block_count),
                    .next_split = HD_ARENA_ARRAY(scratch, uint32_t, cfg->block_count),
                    .seen = HD_ARENA_ARRAY(scratch, uint32_t, cfg->block_count),
                    .wanted = HD_ARENA_ARRAY(scratch, uint32_t, f->registers.count)};
    memset(d.splits_of, 0xff, cfg->block_count * sizeof *d.splits_of);
    facts->divergent = hd_bitset_new(&facts->arena, f->registers.count);
    facts->splits = hd_bitset_new(&facts->arena, cfg->block_count);
    find_keys(&d, scratch);
    list_writers(&d, scratch);
    list_live(&d, scratch);
    for (uint32_t i = 0; i < f->instructions.count; i++)
        d.calls = d.calls || hd_insn_form(f, &f->instructions.items[i])->behaviour & HD_BEHAVE_CALL;
    for (uint32_t i = 0; i < f->register_parameters.count; i++)
        found_register(&d, f->register_parameters.items[i]);
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        if (is_source(&d, insn))
            results_diverge(&d, insn);
        if (insn->flags & HD_INSN_OPAQUE && i + 1 == cfg->blocks[cfg->block_of[i]].end)
            found_branch(&d, cfg->block_of[i]);
    }
    while (d.found.count || d.joins.count)
        if (d.found.count)
            look_at_readers(&d, hd_array_pop(&d.found));
        else
            search_join(&d, hd_array_pop(&d.joins));
    hd_array_free(&d.found);
    hd_array_free(&d.joins);
    hd_array_free(&d.region);
}
