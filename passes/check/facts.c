/* Accesses and liveness, one register at a time: see facts.h. Divergence is in divergence.c. */
#include "passes/check/facts_private.h"

bool hd_facts_leaves_with(const hd_facts *facts, uint32_t reg)
{
    const hd_function *f = facts->function;
    for (uint32_t i = 0; i < f->register_results.count; i++)
        if (f->register_results.items[i] == reg)
            return true;
    uint32_t declaration = f->registers.items[reg].declaration;
    return declaration < f->declarations.count && f->declarations.items[declaration].depth == 0;
}

static bool writes_part(const hd_function *f, const hd_operand *o)
{
    return hd_operand_selector(f, o) && f->registers.items[o->value].vector == 1;
}

static uint8_t kinds_of(const hd_function *f, const hd_instruction *insn, const hd_operand *o)
{
    if (insn->flags & HD_INSN_OPAQUE)
        return HD_ACCESS_READ | HD_ACCESS_WEAK;
    uint8_t kinds = o->flags & HD_OPERAND_USE ? HD_ACCESS_READ : 0;
    if (o->flags & HD_OPERAND_DEF)
        kinds |= insn->guard != HD_NONE || writes_part(f, o) ? HD_ACCESS_WEAK : HD_ACCESS_KILL;
    return kinds;
}

/* Calls visit(reg, kinds) for every register of an instruction, its guard included; a register may come more than once. */
typedef struct access_walk {
    hd_facts *facts;
    uint32_t *fill; /* by register: where its next access goes; NULL: only count */
    uint32_t *count;
} access_walk;

static void visit_access(access_walk *w, uint32_t reg, uint32_t ordinal, uint8_t kinds)
{
    if (!w->fill) {
        w->count[reg]++;
        return;
    }
    hd_access *at = w->facts->accesses + w->fill[reg];
    if (w->fill[reg] > w->facts->access_first[reg] && at[-1].ordinal == ordinal)
        at[-1].kinds |= kinds;
    else
        w->facts->accesses[w->fill[reg]++] = (hd_access){ordinal, kinds};
}

static void visit_all(access_walk *w)
{
    const hd_function *f = w->facts->function;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        if (insn->guard != HD_NONE)
            visit_access(w, insn->guard, i, HD_ACCESS_READ);
        HD_INSN_REGISTERS(f, insn, o)
            visit_access(w, o->value, i, kinds_of(f, insn, o));
    }
}

static void list_accesses(hd_facts *facts, hd_arena *scratch)
{
    uint32_t registers = facts->function->registers.count;
    access_walk w = {facts, NULL, HD_ARENA_ARRAY(scratch, uint32_t, registers)};
    visit_all(&w);
    uint32_t *room = HD_ARENA_ARRAY(scratch, uint32_t, registers + 1);
    for (uint32_t r = 0; r < registers; r++)
        room[r + 1] = room[r] + w.count[r];
    facts->access_first = room; /* while filling */
    facts->accesses = HD_ARENA_ARRAY(&facts->arena, hd_access, room[registers]);
    w.fill = hd_arena_copy(scratch, room, ((size_t)registers + 1) * sizeof *room);
    visit_all(&w);
    uint32_t *first = HD_ARENA_ARRAY(&facts->arena, uint32_t, registers + 1);
    for (uint32_t r = 0; r < registers; r++) { /* close the gaps of registers that an instruction names twice */
        uint32_t count = w.fill[r] - room[r];
        memmove(facts->accesses + first[r], facts->accesses + room[r], count * sizeof *facts->accesses);
        first[r + 1] = first[r] + count;
    }
    facts->access_first = first;
}

uint32_t hd_facts_access_from(const hd_facts *facts, uint32_t reg, uint32_t ordinal)
{
    uint32_t low = facts->access_first[reg], high = facts->access_first[reg + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (facts->accesses[middle].ordinal < ordinal)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- liveness ------------------------------------------------------------------------------------------------------ */

typedef struct live_search {
    hd_facts *facts;
    uint32_t *lives, *kills; /* by block: register + 1 for which it is marked */
    hd_u32_array stack;
    uint32_t reg;
} live_search;

static void live_into(live_search *s, uint32_t block)
{
    if (s->lives[block] == s->reg + 1)
        return;
    s->lives[block] = s->reg + 1;
    hd_array_push(&s->stack, block);
    hd_array_push(&s->facts->live, block);
}

static void live_out_of(live_search *s, uint32_t block)
{
    if (s->kills[block] != s->reg + 1)
        live_into(s, block);
}

/* Marks the blocks that overwrite the register, and starts from those that read it first. */
static void start_from_reads(live_search *s)
{
    const hd_facts *facts = s->facts;
    for (uint32_t a = facts->access_first[s->reg]; a < facts->access_first[s->reg + 1]; a++) {
        uint32_t block = facts->cfg->block_of[facts->accesses[a].ordinal];
        uint8_t kinds = facts->accesses[a].kinds;
        if (kinds & HD_ACCESS_READ && s->kills[block] != s->reg + 1)
            live_into(s, block);
        if (kinds & HD_ACCESS_KILL)
            s->kills[block] = s->reg + 1;
    }
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void find_live_blocks(live_search *s)
{
    hd_facts *facts = s->facts;
    uint32_t first = facts->live.count;
    start_from_reads(s);
    for (uint32_t i = 0; i < facts->cfg->exit_predecessor_count && hd_facts_leaves_with(facts, s->reg); i++)
        live_out_of(s, facts->cfg->exit_predecessors[i]);
    while (s->stack.count) {
        uint32_t block = hd_array_pop(&s->stack);
        for (uint32_t p = 0; p < facts->cfg->blocks[block].pred_count; p++)
            live_out_of(s, hd_block_predecessors(facts->cfg, block)[p]);
    }
    if (facts->live.count > first)
        qsort(facts->live.items + first, facts->live.count - first, sizeof *facts->live.items, ascending);
}

static void find_liveness(hd_facts *facts, hd_arena *scratch)
{
    uint32_t registers = facts->function->registers.count;
    live_search s = {.facts = facts};
    s.lives = HD_ARENA_ARRAY(scratch, uint32_t, facts->cfg->block_count);
    s.kills = HD_ARENA_ARRAY(scratch, uint32_t, facts->cfg->block_count);
    facts->live_first = HD_ARENA_ARRAY(&facts->arena, uint32_t, registers + 1);
    for (s.reg = 0; s.reg < registers; s.reg++) {
        facts->live_first[s.reg] = facts->live.count;
        find_live_blocks(&s);
    }
    facts->live_first[registers] = facts->live.count;
    hd_array_free(&s.stack);
}

bool hd_facts_live_into(const hd_facts *facts, uint32_t reg, uint32_t block)
{
    uint32_t low = facts->live_first[reg], high = facts->live_first[reg + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (facts->live.items[middle] < block)
            low = middle + 1;
        else
            high = middle;
    }
    return low < facts->live_first[reg + 1] && facts->live.items[low] == block;
}

bool hd_facts_live_behind(const hd_facts *facts, uint32_t reg, uint32_t ordinal)
{
    const hd_block *block = &facts->cfg->blocks[facts->cfg->block_of[ordinal]];
    uint32_t a = hd_facts_access_from(facts, reg, ordinal + 1);
    for (; a < facts->access_first[reg + 1] && facts->accesses[a].ordinal < block->end; a++) {
        if (facts->accesses[a].kinds & HD_ACCESS_READ)
            return true;
        if (facts->accesses[a].kinds & HD_ACCESS_KILL)
            return false;
    }
    for (uint32_t e = block->succ_first; e < block->succ_first + block->succ_count; e++) {
        uint32_t to = facts->cfg->successors[e];
        if (to == facts->cfg->block_count ? hd_facts_leaves_with(facts, reg) : hd_facts_live_into(facts, reg, to))
            return true;
    }
    return false;
}

void hd_facts_build(hd_facts *facts, hd_function *function)
{
    hd_arena scratch = {0};
    *facts = (hd_facts){.function = function, .cfg = hd_function_cfg(function)};
    list_accesses(facts, &scratch);
    find_liveness(facts, &scratch);
    hd_facts_find_divergence(facts, &scratch);
    hd_arena_free(&scratch);
}

void hd_facts_free(hd_facts *facts)
{
    hd_array_free(&facts->live);
    hd_arena_free(&facts->arena);
}
