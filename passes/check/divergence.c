/* Which registers and branches are divergent, and the edges behind which a warp may run other code first: see facts.h. */
#include "ir/sregs.h"
#include "passes/check/facts_private.h"

typedef struct divergence {
    hd_facts *facts;
    hd_u32_array found; /* divergent registers whose readers are still to be looked at */
    uint32_t *mark, marks; /* by block: number of the region search that saw it */
    hd_u32_array region;
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

/* All lanes load the same: constants and the kernel's own parameters (not the blocks that calls leave results in). */
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
        if (o[i].kind == HD_OPERAND_SREG && (hd_sregs[o[i].value].varies == HD_VARIES_LANE || hd_sregs[o[i].value].varies == HD_VARIES_TIME))
            return true;
    return false;
}

static bool is_source(const divergence *d, const hd_instruction *insn)
{
    const uint32_t always = HD_BEHAVE_ATOMIC | HD_BEHAVE_CALL | HD_BEHAVE_DIVERGENT | HD_BEHAVE_TEXTURE | HD_BEHAVE_ASYNC;
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
    HD_INSN_REGISTERS(d->facts->function, insn, o)
        if (o->flags & HD_OPERAND_DEF || insn->flags & HD_INSN_OPAQUE)
            found_register(d, o->value);
}

/* The blocks that the branch reaches before `join`; the edges by which they and the branch enter it are cut. */
static void search_region(divergence *d, uint32_t branch, uint32_t join)
{
    const hd_cfg *cfg = d->facts->cfg;
    uint32_t head = 0;
    hd_array_clear(&d->region);
    d->marks++;
    for (uint32_t at = branch;; at = d->region.items[head++]) {
        const hd_block *block = &cfg->blocks[at];
        for (uint32_t e = block->succ_first; e < block->succ_first + block->succ_count; e++) {
            uint32_t to = cfg->successors[e];
            if (to == join) {
                hd_bitset_add(&d->facts->cut, e);
            } else if (to != cfg->block_count && d->mark[to] != d->marks) {
                d->mark[to] = d->marks;
                hd_array_push(&d->region, to);
            }
        }
        if (head == d->region.count)
            return;
    }
}

static void found_branch(divergence *d, uint32_t branch)
{
    const hd_cfg *cfg = d->facts->cfg;
    const hd_block *block = &cfg->blocks[branch];
    if (!block->reachable || block->succ_count < 2 || hd_bitset_has(&d->facts->splits, branch))
        return;
    hd_bitset_add(&d->facts->splits, branch);
    for (uint32_t e = block->succ_first; e < block->succ_first + block->succ_count; e++)
        hd_bitset_add(&d->facts->cut, e);
    uint32_t join = block->post_dominator;
    if (join == cfg->block_count)
        return;
    search_region(d, branch, join);
    for (uint32_t r = 0; r < d->region.count; r++)
        for (uint32_t i = cfg->blocks[d->region.items[r]].first; i < cfg->blocks[d->region.items[r]].end; i++) {
            const hd_instruction *insn = &d->facts->function->instructions.items[i];
            HD_INSN_REGISTERS(d->facts->function, insn, o)
                if ((o->flags & HD_OPERAND_DEF || insn->flags & HD_INSN_OPAQUE) && hd_lives_live_into(&d->facts->registers, o->value, join))
                    found_register(d, o->value);
        }
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

void hd_facts_find_divergence(hd_facts *facts, hd_arena *scratch)
{
    hd_function *f = facts->function;
    const hd_cfg *cfg = facts->cfg;
    divergence d = {.facts = facts, .mark = HD_ARENA_ARRAY(scratch, uint32_t, cfg->block_count)};
    uint32_t edges = 0;
    for (uint32_t b = 0; b < cfg->block_count; b++)
        edges = cfg->blocks[b].succ_first + cfg->blocks[b].succ_count > edges ? cfg->blocks[b].succ_first + cfg->blocks[b].succ_count : edges;
    facts->divergent = hd_bitset_new(&facts->arena, f->registers.count);
    facts->splits = hd_bitset_new(&facts->arena, cfg->block_count);
    facts->cut = hd_bitset_new(&facts->arena, edges);
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
    while (d.found.count) {
        uint32_t reg = hd_array_pop(&d.found);
        for (uint32_t a = facts->registers.access_first[reg]; a < facts->registers.access_first[reg + 1]; a++)
            if (facts->registers.accesses[a].kinds & HD_ACCESS_READ)
                look_at_reader(&d, reg, facts->registers.accesses[a].ordinal);
    }
    hd_array_free(&d.found);
    hd_array_free(&d.region);
}
