/* Global value numbering along the dominator tree (passes/analysis/values.h).
 *
 * Joins of values (phi functions) are placed at the iterated dominance frontier of a register's definitions (Cytron et
 * al., TOPLAS 1991). No instruction defines the values at the function's entry, so nothing is known of them if a jump
 * leads back to the entry. Dominance frontiers are computed by walking up from the predecessors of joins (Cooper,
 * Harvey, Kennedy). They are not pruned by liveness: a pass may query a register that is dead, before it makes it live
 * again.
 *
 * Complexity: linear in instructions plus joins. Joins are bounded: a register that exceeds its share gets value 0, and
 * all registers do if loops are nested too deeply (HD_MEETS_FACTOR; not seen in real code).
 */
#include "passes/analysis/values.h"

#include "ir/asynchronous.h"

enum { HD_MEETS_FACTOR = 64 };

typedef struct occurrence {
    uint32_t reg, block;
} occurrence;

typedef struct placing {
    hd_value_walk *walk;
    hd_arena *arena;
    uint32_t *frontier_first, *frontier; /* by block */
    HD_ARRAY(occurrence) definitions;    /* in block order, at most once per block and register */
    HD_ARRAY(occurrence) meets;
    uint32_t *stamp, *queue; /* by block */
    uint64_t work, budget;
} placing;

/* ---- dominance frontiers ----------------------------------------------------------------------------------------- */

/* Enumerates each (runner, join) once: frontier(runner) contains join. Counts if `fill` is NULL; false: over the
 * budget. */
static bool each_frontier(placing *p, uint32_t *fill)
{
    const hd_cfg *cfg = p->walk->cfg;
    memset(p->stamp, 0, cfg->block_count * sizeof *p->stamp);
    for (uint32_t i = 0; i < cfg->reachable_count; i++) {
        uint32_t join = cfg->reverse_post_order[i];
        const hd_block *block = &cfg->blocks[join];
        if (block->pred_count < 2)
            continue;
        for (uint32_t e = 0; e < block->pred_count; e++) {
            uint32_t runner = hd_block_predecessors(cfg, join)[e];
            if (!cfg->blocks[runner].reachable)
                continue;
            for (; runner != HD_NONE && runner != block->dominator && p->stamp[runner] != join + 1;
                 runner = cfg->blocks[runner].dominator) {
                p->stamp[runner] = join + 1;
                if (fill)
                    p->frontier[fill[runner]++] = join;
                else if (p->frontier_first[runner + 1]++, ++p->work > p->budget)
                    return false;
            }
        }
    }
    return true;
}

static bool find_frontiers(placing *p)
{
    uint32_t blocks = p->walk->cfg->block_count;
    p->frontier_first = HD_ARENA_ARRAY(p->arena, uint32_t, blocks + 1);
    p->budget = (uint64_t)HD_MEETS_FACTOR * blocks + 4096;
    if (!each_frontier(p, NULL))
        return false;
    for (uint32_t b = 0; b < blocks; b++)
        p->frontier_first[b + 1] += p->frontier_first[b];
    p->frontier = HD_ARENA_ARRAY(p->arena, uint32_t, p->frontier_first[blocks]);
    return each_frontier(p, hd_arena_copy(p->arena, p->frontier_first, (blocks + 1) * sizeof(uint32_t)));
}

/* ---- joins of a register's values -------------------------------------------------------------------------------- */

static void collect_definitions(placing *p)
{
    const hd_function *f = p->walk->function;
    const hd_cfg *cfg = p->walk->cfg;
    uint32_t *last = HD_ARENA_ARRAY(p->arena, uint32_t, f->registers.count);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        for (uint32_t i = cfg->blocks[b].first; cfg->blocks[b].reachable && i < cfg->blocks[b].end; i++)
            HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
                if (o->flags & HD_OPERAND_DEF && last[o->value] != b + 1) {
                    last[o->value] = b + 1;
                    hd_array_push(&p->definitions, (occurrence){o->value, b});
                }
}

/* A stable sort by register: the definitions of register r are [first[r], first[r + 1]) of the result. */
static occurrence *by_register(placing *p, uint32_t *first)
{
    uint32_t registers = p->walk->function->registers.count;
    occurrence *sorted = HD_ARENA_ARRAY(p->arena, occurrence, p->definitions.count);
    for (uint32_t i = 0; i < p->definitions.count; i++)
        first[p->definitions.items[i].reg + 1]++;
    for (uint32_t r = 0; r < registers; r++)
        first[r + 1] += first[r];
    uint32_t *fill = hd_arena_copy(p->arena, first, (registers + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < p->definitions.count; i++)
        sorted[fill[p->definitions.items[i].reg]++] = p->definitions.items[i];
    return sorted;
}

/* false if it exceeds the budget: the register's joins are then incomplete. */
static bool find_meets(placing *p, uint32_t reg, const occurrence *definitions, uint32_t count)
{
    uint32_t tail = 0, mark = reg + 1;
    for (uint32_t i = 0; i < count; i++)
        p->queue[tail++] = definitions[i].block;
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t b = p->queue[head];
        p->work += p->frontier_first[b + 1] - p->frontier_first[b];
        if (p->work > p->budget)
            return false;
        for (uint32_t i = p->frontier_first[b]; i < p->frontier_first[b + 1]; i++) {
            uint32_t join = p->frontier[i];
            if (p->stamp[join] == mark)
                continue;
            p->stamp[join] = mark;
            hd_array_push(&p->meets, (occurrence){reg, join});
            p->queue[tail++] = join; /* each block at most twice: as a definition, and as a join */
        }
    }
    return true;
}

static void group_meets(placing *p)
{
    uint32_t blocks = p->walk->cfg->block_count;
    uint32_t *first = HD_ARENA_ARRAY(p->arena, uint32_t, blocks + 1),
             *list = HD_ARENA_ARRAY(p->arena, uint32_t, p->meets.count);
    for (uint32_t i = 0; i < p->meets.count; i++)
        first[p->meets.items[i].block + 1]++;
    for (uint32_t b = 0; b < blocks; b++)
        first[b + 1] += first[b];
    uint32_t *fill = hd_arena_copy(p->arena, first, (blocks + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < p->meets.count; i++)
        list[fill[p->meets.items[i].block]++] = p->meets.items[i].reg;
    p->walk->meet_first = first;
    p->walk->meets = list;
}

static void place_meets(placing *p, hd_bitset *wild)
{
    const hd_function *f = p->walk->function;
    uint32_t blocks = p->walk->cfg->block_count;
    uint32_t *first = HD_ARENA_ARRAY(p->arena, uint32_t, f->registers.count + 1);
    collect_definitions(p);
    const occurrence *definitions = by_register(p, first);
    memset(p->stamp, 0, blocks * sizeof *p->stamp);
    p->work = 0;
    p->budget = (uint64_t)HD_MEETS_FACTOR * (p->definitions.count + blocks) + 4096;
    for (uint32_t r = 0; r < f->registers.count; r++)
        if (!hd_bitset_has(wild, r) && !find_meets(p, r, definitions + first[r], first[r + 1] - first[r]))
            hd_bitset_add(wild, r);
    group_meets(p);
}

static void find_module_wide(const hd_function *f, hd_bitset *wild)
{
    for (uint32_t r = 0; r < f->registers.count; r++) {
        uint32_t declaration = f->registers.items[r].declaration;
        if (declaration < f->declarations.count && f->declarations.items[declaration].depth == 0)
            hd_bitset_add(wild, r);
    }
}

/* Registers that are written, or must not be touched, while other instructions execute. */
static void find_asynchronous(const hd_function *f, hd_bitset *wild)
{
    if (!hd_function_has_async(f))
        return;
    for (uint32_t i = 0; i < f->instructions.count; i++)
        if (hd_insn_async(f, &f->instructions.items[i]).part == HD_ASYNC_BEGIN)
            HD_ASYNC_DATA (f, &f->instructions.items[i], o)
                hd_bitset_add(wild, o->value);
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

static const uint32_t *dominators_first(const hd_cfg *cfg, hd_arena *arena)
{
    uint32_t *at = HD_ARENA_ARRAY(arena, uint32_t, cfg->block_count + 1),
             *order = HD_ARENA_ARRAY(arena, uint32_t, cfg->block_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i <= cfg->block_count; i++)
        at[i] = HD_NONE;
    for (uint32_t i = 0; i < cfg->reachable_count; i++)
        at[cfg->dominator_enter[cfg->reverse_post_order[i]]] = cfg->reverse_post_order[i];
    for (uint32_t i = 0; i <= cfg->block_count; i++)
        if (at[i] != HD_NONE)
            order[count++] = at[i];
    return order;
}

void hd_value_walk_start(hd_value_walk *walk, hd_function *function, hd_arena *arena)
{
    *walk = (hd_value_walk){.function = function, .cfg = hd_function_cfg(function)};
    uint32_t blocks = walk->cfg->block_count, registers = function->registers.count;
    hd_bitset *wild = HD_ARENA_NEW(arena, hd_bitset);
    *wild = hd_bitset_new(arena, registers);
    walk->wild = wild;
    walk->current = HD_ARENA_ARRAY(arena, uint32_t, registers);
    walk->order = dominators_first(walk->cfg, arena);
    placing p = {.walk = walk, .arena = arena};
    p.stamp = HD_ARENA_ARRAY(arena, uint32_t, blocks);
    p.queue = HD_ARENA_ARRAY(arena, uint32_t, 2 * (size_t)blocks + 1);
    find_module_wide(function, wild);
    find_asynchronous(function, wild);
    if (find_frontiers(&p)) {
        place_meets(&p, wild);
    } else {
        for (uint32_t r = 0; r < registers; r++)
            hd_bitset_add(wild, r);
        group_meets(&p);
    }
    hd_array_free(&p.definitions);
    hd_array_free(&p.meets);
    for (uint32_t r = 0; r < registers; r++)
        walk->current[r] = hd_bitset_has(wild, r) ? 0 : r + 1;
    walk->count = registers + 1;
}

void hd_value_walk_end(hd_value_walk *walk)
{
    hd_array_free(&walk->changes);
    hd_array_free(&walk->path);
}

void hd_value_define_register(hd_value_walk *w, uint32_t reg)
{
    if (hd_bitset_has(w->wild, reg))
        return;
    hd_array_push(&w->changes, (hd_value_change){reg, w->current[reg]});
    w->current[reg] = w->count++;
}

/* Restores the state at the end of the block that dominates the next one. */
static void leave_blocks(hd_value_walk *w, uint32_t next)
{
    while (w->path.count && !hd_block_dominates(w->cfg, hd_array_last(&w->path).reg, next)) {
        uint32_t before = hd_array_pop(&w->path).before;
        while (w->changes.count > before) {
            hd_value_change c = hd_array_pop(&w->changes);
            w->current[c.reg] = c.before;
        }
    }
}

uint32_t hd_value_walk_block(hd_value_walk *w)
{
    if (w->next == w->cfg->reachable_count)
        return HD_NONE;
    uint32_t b = w->order[w->next++];
    leave_blocks(w, b);
    hd_array_push(&w->path, (hd_value_change){b, w->changes.count});
    for (uint32_t i = w->meet_first[b]; i < w->meet_first[b + 1]; i++)
        hd_value_define_register(w, w->meets[i]);
    w->block = b;
    w->end = w->cfg->blocks[b].end;
    return w->cfg->blocks[b].first;
}

void hd_value_define(hd_value_walk *w, uint32_t ordinal)
{
    const hd_function *f = w->function;
    HD_INSN_REGISTERS (f, &f->instructions.items[ordinal], o)
        if (o->flags & HD_OPERAND_DEF)
            hd_value_define_register(w, o->value);
}
