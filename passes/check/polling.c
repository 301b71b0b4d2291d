/* Loops that poll: see polling.h. */
#include "passes/check/polling.h"
#include "passes/check/counting.h"

#include "ir/waits.h"

struct hd_polls {
    const hd_facts *facts;
    hd_bitset counting; /* by loop: it ends by itself */
    hd_arena arena;     /* per query */
    uint32_t loop, asked;
    uint32_t *written;              /* by instruction: `asked` if its result depends on the load */
    uint32_t *decided;              /* by block: ... if its branch does */
    uint32_t *chosen;               /* by block: ... if its execution is control dependent on such a branch */
    hd_bitset *reached_blocks;      /* by register: blocks that such a value reaches; no bits: none yet */
    hd_u32_array tracked_registers; /* registers with a set in `reached_blocks` */
    hd_u32_array found;             /* instructions in `written` */
    hd_u32_array blocks;
    hd_u32_array local_loads;
    bool leaves; /* the loop's exit depends on it */
};
typedef hd_polls poll_check;

static bool contains(const poll_check *c, uint32_t block)
{
    const hd_cfg *cfg = c->facts->cfg;
    for (uint32_t l = block == cfg->block_count ? HD_NONE : cfg->blocks[block].loop; l != HD_NONE;
         l = cfg->loops[l].parent)
        if (l == c->loop)
            return true;
    return false;
}

static void add_found(poll_check *c, uint32_t ordinal)
{
    if (c->written[ordinal] == c->asked)
        return;
    c->written[ordinal] = c->asked;
    hd_array_push(&c->found, ordinal);
}

static void see_exits(poll_check *c, uint32_t block)
{
    const hd_block *b = &c->facts->cfg->blocks[block];
    for (uint32_t e = b->succ_first; e < b->succ_first + b->succ_count; e++)
        c->leaves = c->leaves || !contains(c, c->facts->cfg->successors[e]);
}

static void choose(poll_check *c, uint32_t block)
{
    if (c->chosen[block] == c->asked)
        return;
    c->chosen[block] = c->asked;
    see_exits(c, block);
    for (uint32_t i = c->facts->cfg->blocks[block].first; i < c->facts->cfg->blocks[block].end; i++)
        add_found(c, i);
}

/* Visits the blocks that the branch reaches in the loop before its sides reconverge. */
static void flood(poll_check *c, uint32_t branch)
{
    const hd_cfg *cfg = c->facts->cfg;
    hd_bitset seen = hd_bitset_new(&c->arena, cfg->block_count + 1);
    uint32_t join = cfg->blocks[branch].post_dominator;
    hd_array_push(&c->blocks, branch);
    while (c->blocks.count) {
        const hd_block *from = &cfg->blocks[hd_array_pop(&c->blocks)];
        for (uint32_t e = from->succ_first; e < from->succ_first + from->succ_count; e++) {
            uint32_t to = cfg->successors[e];
            if (to == branch && to != join)
                c->leaves = c->leaves || cfg->blocks[branch].loop == c->loop; /* it decides how often the loop
                                                                               * repeats */
            if (to == join || hd_bitset_has(&seen, to) || !contains(c, to))
                continue;
            hd_bitset_add(&seen, to);
            choose(c, to);
            hd_array_push(&c->blocks, to);
        }
    }
}

static void decide(poll_check *c, uint32_t branch)
{
    const hd_block *b = &c->facts->cfg->blocks[branch];
    if (b->succ_count < 2 || c->decided[branch] == c->asked)
        return;
    c->decided[branch] = c->asked;
    see_exits(c, branch);
    flood(c, branch);
}

/* An instruction that loads a value itself is queried separately; its register operand gives only the address, unless
 * it decides whether it executes. */
static void read_at(poll_check *c, uint32_t reg, uint32_t ordinal)
{
    const hd_cfg *cfg = c->facts->cfg;
    const hd_instruction *insn = &c->facts->function->instructions.items[ordinal];
    if (insn->guard == reg || !hd_insn_loads_shared_value(c->facts->function, insn))
        add_found(c, ordinal);
    if (ordinal + 1 == cfg->blocks[cfg->block_of[ordinal]].end)
        decide(c, cfg->block_of[ordinal]);
}

/* Visits the reads of the register in its block from an instruction on; true: the value is live-out. */
static bool read_on(poll_check *c, uint32_t reg, uint32_t block, uint32_t from)
{
    const hd_lives *registers = &c->facts->registers;
    uint32_t a = hd_lives_access_from(registers, reg, from);
    for (; a < registers->access_first[reg + 1] && registers->accesses[a].ordinal < c->facts->cfg->blocks[block].end;
         a++) {
        if (registers->accesses[a].kinds & HD_ACCESS_READ)
            read_at(c, reg, registers->accesses[a].ordinal);
        if (registers->accesses[a].kinds & HD_ACCESS_KILL)
            return false;
    }
    return true;
}

static void go_on(poll_check *c, uint32_t reg, uint32_t block)
{
    const hd_cfg *cfg = c->facts->cfg;
    if (!c->reached_blocks[reg].bits) {
        c->reached_blocks[reg] = hd_bitset_new(&c->arena, cfg->block_count + 1);
        hd_array_push(&c->tracked_registers, reg);
    }
    for (uint32_t e = 0; e < cfg->blocks[block].succ_count; e++) {
        uint32_t to = hd_block_successors(cfg, block)[e];
        if (hd_bitset_has(&c->reached_blocks[reg], to) || !contains(c, to))
            continue;
        hd_bitset_add(&c->reached_blocks[reg], to);
        hd_array_push(&c->blocks, to);
    }
}

static void follow(poll_check *c, uint32_t reg, uint32_t ordinal)
{
    hd_u32_array due = {0};
    uint32_t block = c->facts->cfg->block_of[ordinal];
    bool lasts = read_on(c, reg, block, ordinal + 1);
    for (;;) {
        if (lasts)
            go_on(c, reg, block);
        while (c->blocks.count)
            hd_array_push(&due, hd_array_pop(&c->blocks));
        if (!due.count)
            break;
        block = hd_array_pop(&due);
        lasts = read_on(c, reg, block, c->facts->cfg->blocks[block].first);
    }
    hd_array_free(&due);
}

static void follow_results(poll_check *c, uint32_t ordinal)
{
    const hd_instruction *insn = &c->facts->function->instructions.items[ordinal];
    HD_INSN_REGISTERS (c->facts->function, insn, o)
        if (o->flags & HD_OPERAND_DEF || insn->flags & HD_INSN_OPAQUE)
            follow(c, o->value, ordinal);
}

/* What is stored in local memory may be what any load from there in the loop finds. */
static void follow_stored(poll_check *c, uint32_t ordinal)
{
    const hd_facts *facts = c->facts;
    if (!hd_insn_may_store_local(facts->function, &facts->function->instructions.items[ordinal]))
        return;
    for (uint32_t i = 0; i < c->local_loads.count; i++)
        if (contains(c, facts->cfg->block_of[c->local_loads.items[i]]))
            add_found(c, c->local_loads.items[i]);
}

static bool is_polled(poll_check *c, uint32_t ordinal, uint32_t loop)
{
    c->loop = loop;
    c->asked++;
    c->leaves = false;
    add_found(c, ordinal);
    while (c->found.count && !c->leaves) {
        uint32_t next = hd_array_pop(&c->found);
        follow_results(c, next);
        follow_stored(c, next);
    }
    hd_array_clear(&c->found);
    while (c->tracked_registers.count)
        c->reached_blocks[hd_array_pop(&c->tracked_registers)] = (hd_bitset){0};
    hd_arena_free(&c->arena);
    return c->leaves;
}

hd_polls *hd_polls_new(hd_facts *facts)
{
    hd_polls *c = HD_ARENA_NEW(&facts->arena, hd_polls);
    c->facts = facts;
    c->written = HD_ARENA_ARRAY(&facts->arena, uint32_t, facts->function->instructions.count);
    c->decided = HD_ARENA_ARRAY(&facts->arena, uint32_t, facts->cfg->block_count);
    c->chosen = HD_ARENA_ARRAY(&facts->arena, uint32_t, facts->cfg->block_count);
    c->reached_blocks = HD_ARENA_ARRAY(&facts->arena, hd_bitset, facts->function->registers.count);
    c->counting = hd_check_counting_loops(facts);
    for (uint32_t i = 0; i < facts->function->instructions.count; i++)
        if (hd_insn_loads_local(facts->function, &facts->function->instructions.items[i]))
            hd_array_push(&c->local_loads, i);
    return c;
}

bool hd_polls_has(hd_polls *c, uint32_t ordinal)
{
    const hd_cfg *cfg = c->facts->cfg;
    uint32_t loop = cfg->blocks[cfg->block_of[ordinal]].loop;
    bool found = false;
    const hd_instruction *insn = &c->facts->function->instructions.items[ordinal];
    if (loop == HD_NONE || !hd_insn_loads_shared_value(c->facts->function, insn))
        return false;
    bool observes = hd_insn_observes_other_warps(c->facts->function, insn);
    for (; loop != HD_NONE && !found; loop = cfg->loops[loop].parent)
        found = (observes || !hd_bitset_has(&c->counting, loop)) && is_polled(c, ordinal, loop);
    return found;
}

void hd_polls_free(hd_polls *c)
{
    hd_array_free(&c->local_loads);
    hd_array_free(&c->tracked_registers);
    hd_array_free(&c->found);
    hd_array_free(&c->blocks);
}
