/* Warp-level liveness under independent thread scheduling (liveness=its; the rule is in
 * passes/analysis/warp_liveness.c).
 *
 * For each block q the set U(q) of blocks where lanes may be that diverged from q's lanes at some branch: for every
 * branch b that may diverge and target s that reaches q, the blocks that every other target reaches. U(q) grows along
 * edges only, and every U is closed under reachability, so most blocks share one set: after the first join of a kernel
 * everything reachable is in it. The sets are interned bitsets over blocks and X. pend(q) = all registers read in
 * blocks of U(q), and the result registers if X is in it.
 */
#include "passes/analysis/warp_liveness_its.h"

#include "base/hash.h"

typedef struct closure {
    const hd_cfg *cfg;
    const hd_uniformity *uniformity;
    uint32_t words;
    HD_ARRAY(uint64_t) sets; /* set i: words [i * words, (i + 1) * words); set 0 is empty */
    uint32_t set_count;
    hd_u32_array table; /* open hash table: set + 1 */
    uint32_t *of_block; /* U(q) */
    hd_bitset current;  /* being built */
    hd_u32_array stack;
} closure;

static const uint64_t *set_words(const closure *c, uint32_t set) { return c->sets.items + (size_t)set * c->words; }

static uint32_t find_slot(const closure *c, const uint64_t *words)
{
    uint32_t mask = c->table.count - 1, slot = (uint32_t)hd_hash(words, c->words * sizeof(uint64_t)) & mask;
    while (c->table.items[slot] &&
           memcmp(set_words(c, c->table.items[slot] - 1), words, c->words * sizeof(uint64_t)) != 0)
        slot = (slot + 1) & mask;
    return slot;
}

static void grow_table(closure *c)
{
    uint32_t room = c->table.count ? c->table.count * 2 : 64;
    hd_array_clear(&c->table);
    memset(hd_array_extend(&c->table, room), 0, room * sizeof(uint32_t));
    for (uint32_t s = 0; s < c->set_count; s++)
        c->table.items[find_slot(c, set_words(c, s))] = s + 1;
}

/* The interned set equal to `current`. */
static uint32_t intern(closure *c)
{
    if (2 * c->set_count >= c->table.count)
        grow_table(c);
    uint32_t slot = find_slot(c, c->current.words);
    if (!c->table.items[slot]) {
        memcpy(hd_array_extend(&c->sets, c->words), c->current.words, c->words * sizeof(uint64_t));
        c->table.items[slot] = ++c->set_count;
    }
    return c->table.items[slot] - 1;
}

static void add_set(closure *c, uint32_t set)
{
    for (uint32_t w = 0; w < c->words; w++)
        c->current.words[w] |= set_words(c, set)[w];
}

/* Adds the blocks reachable from `from` to the current set, which stays closed. */
static void add_reachable(closure *c, uint32_t from)
{
    if (hd_bitset_has(&c->current, from))
        return;
    hd_bitset_add(&c->current, from);
    hd_array_push(&c->stack, from);
    while (c->stack.count) {
        uint32_t b = hd_array_pop(&c->stack);
        for (uint32_t e = 0; b < c->cfg->block_count && e < c->cfg->blocks[b].succ_count; e++) {
            uint32_t to = hd_block_successors(c->cfg, b)[e];
            if (hd_bitset_has(&c->current, to))
                continue;
            hd_bitset_add(&c->current, to);
            hd_array_push(&c->stack, to);
        }
    }
}

static bool follow_edges(closure *c, uint32_t b)
{
    const uint32_t *targets = hd_block_successors(c->cfg, b);
    bool splits = hd_bitset_has(&c->uniformity->divergent_branches, b), changed = false;
    for (uint32_t t = 0; t < c->cfg->blocks[b].succ_count; t++) {
        if (targets[t] == c->cfg->block_count || (!splits && c->of_block[b] == c->of_block[targets[t]]))
            continue;
        hd_bitset_clear(&c->current);
        add_set(c, c->of_block[targets[t]]);
        add_set(c, c->of_block[b]);
        for (uint32_t u = 0; splits && u < c->cfg->blocks[b].succ_count; u++)
            add_reachable(c, u != t ? targets[u] : c->cfg->block_count); /* r = X */
        uint32_t set = intern(c);
        changed |= set != c->of_block[targets[t]];
        c->of_block[targets[t]] = set;
    }
    return changed;
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

static void add_items(const hd_liveness *thread, uint32_t reg, hd_bitset *read)
{
    if (!thread->storage)
        hd_bitset_add(read, reg);
    else
        HD_STORAGE_WORDS (thread->storage, reg, word)
            hd_bitset_add(read, word);
}

static void add_reads(const hd_function *f, const hd_liveness *thread, const hd_block *block, hd_bitset *read)
{
    for (uint32_t i = block->first; i < block->end; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        if (thread->storage && hd_storage_skips(thread->storage, i))
            continue;
        if (insn->guard != HD_NONE)
            add_items(thread, insn->guard, read);
        HD_INSN_REGISTERS (f, insn, o)
            if (o->flags & HD_OPERAND_USE || insn->flags & HD_INSN_OPAQUE)
                add_items(thread, o->value, read);
    }
}

static hd_register_set items_of(const closure *c, const hd_function *f, const hd_liveness *thread, uint32_t set,
                                hd_arena *arena)
{
    hd_arena scratch = {0};
    hd_bitset blocks = {c->sets.items + (size_t)set * c->words, c->cfg->block_count + 1};
    hd_bitset read = hd_bitset_new(&scratch, thread->items);
    HD_BITSET_EACH (&blocks, b) {
        hd_register_set live =
            thread->live_in[b]; /* of X: results; of a block: module-scope registers that calls read */
        for (uint32_t i = 0; i < live.count; i++)
            hd_bitset_add(&read, live.items[i]);
        if (b < c->cfg->block_count)
            add_reads(f, thread, &c->cfg->blocks[b], &read);
    }
    uint32_t count = hd_bitset_count(&read), n = 0,
             *items = hd_arena_alloc(arena, ((size_t)count + 1) * sizeof(uint32_t));
    HD_BITSET_EACH (&read, r)
        items[n++] = r;
    hd_arena_free(&scratch);
    return (hd_register_set){items, count};
}

void hd_its_pend(hd_pass_context *context, const hd_liveness *thread, hd_arena *arena, hd_register_set *pend)
{
    const hd_cfg *cfg = hd_function_cfg(context->function);
    hd_arena scratch = {0};
    closure c = {.cfg = cfg, .uniformity = hd_analysis_get(context, HD_ANALYSIS_UNIFORMITY)};
    c.words = hd_bitset_words(cfg->block_count + 1);
    c.current = hd_bitset_new(&scratch, cfg->block_count + 1);
    c.of_block = HD_ARENA_ARRAY(&scratch, uint32_t, cfg->block_count);
    intern(&c); /* set 0 */
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < cfg->reachable_count; i++)
            changed |= follow_edges(&c, cfg->reverse_post_order[i]);
    }
    hd_register_set *lists = HD_ARENA_ARRAY(&scratch, hd_register_set, c.set_count);
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        hd_register_set *list = &lists[c.of_block[b]];
        if (c.of_block[b] && !list->items)
            *list = items_of(&c, context->function, thread, c.of_block[b], arena);
        pend[b] = *list;
    }
    hd_array_free(&c.sets);
    hd_array_free(&c.table);
    hd_array_free(&c.stack);
    hd_arena_free(&scratch);
}
