/* Warp-level liveness (WL): what must stay in a warp-wide register although the lanes that run now may not need it.
 *
 * WL(p) = TL(p) union pend(block(p)). For every branch b that may diverge, with reconvergence point r, and each target
 * s (not r, not the virtual exit X), every block of R(b, s) keeps TLin(r) and ours   TLin(s') of every other target s':
 * the lanes that wait for the other side need it yet. They run after this side is done, or have run before; a side's
 * own registers are released after their last read. paper  TLin of every target, its own included: the rule of RegMutex
 * (section on register liveness) and of RFV. its    independent thread scheduling: sides run interleaved and join
 * nowhere. r = X, and instead of TLin(s') everything that is read anywhere in what s' reaches. WL is never fed back
 * into itself.
 *
 * Method. ours, paper: facts (r, list) carried through regions (passes/regions.h), where a list is TLin of a block,
 * shared by all branches that wait for it; a branch of more than two targets has a list of its own for each side.
 * Blocks with the same facts share one set. its: a forward closure over sets of blocks that are closed under
 * reachability, interned; few differ. Complexity: ours, paper: O(instructions times nesting depth of divergent
 * branches); its: O(number of different sets times instructions + edges times blocks / 64).
 */
#include "passes/warp_liveness_its.h"
#include "passes/regions.h"

#include "base/hash.h"

typedef struct pending {
    const hd_cfg *cfg;
    const hd_liveness *thread;
    bool paper;
    hd_arena *arena;
    hd_region_seeds seeds;           /* key: a block, for TLin of it; or nodes + an index in `lists` */
    HD_ARRAY(hd_register_set) lists; /* of the sides of branches with more than two targets */
    hd_set_union all;
    uint32_t *times; /* by register: scratch for such a branch */
} pending;

/* ---- seeds ------------------------------------------------------------------------------------------------------- */

static hd_register_set list_of(const pending *p, uint32_t key)
{
    uint32_t nodes = p->cfg->block_count + 1;
    return key < nodes ? p->thread->live_in[key] : p->lists.items[key - nodes];
}

static void seed(pending *p, uint32_t join, uint32_t key, uint32_t side)
{
    if (list_of(p, key).count)
        hd_array_push(&p->seeds, (hd_region_seed){join, key, side});
}

static bool is_side(const pending *p, uint32_t block, uint32_t join)
{
    return block != join && block != p->cfg->block_count;
}

/* A list for a side: the union but what only this side has live, if anything. */
static uint32_t side_list(pending *p, hd_register_set whole, uint32_t whole_key, hd_register_set own)
{
    uint32_t sole = 0, n = 0;
    for (uint32_t i = 0; i < own.count; i++)
        sole += p->times[own.items[i]] == 1;
    if (!sole || p->paper)
        return whole_key;
    uint32_t *items = hd_arena_alloc(p->arena, ((size_t)(whole.count - sole) + 1) * sizeof(uint32_t)), k = 0;
    for (uint32_t i = 0; i < whole.count; i++) {
        while (k < own.count && own.items[k] < whole.items[i])
            k++;
        if (k == own.count || own.items[k] != whole.items[i] || p->times[whole.items[i]] > 1)
            items[n++] = whole.items[i];
    }
    hd_array_push(&p->lists, (hd_register_set){items, n});
    return p->cfg->block_count + p->lists.count;
}

static void seed_many(pending *p, uint32_t branch, uint32_t join)
{
    const uint32_t *targets = hd_block_successors(p->cfg, branch);
    uint32_t count = p->cfg->blocks[branch].succ_count;
    for (uint32_t t = 0; t <= count; t++) { /* the join counts twice: every side keeps it */
        hd_register_set live = p->thread->live_in[t < count ? targets[t] : join];
        hd_set_union_add(&p->all, live);
        for (uint32_t i = 0; i < live.count; i++)
            p->times[live.items[i]] += t < count ? 1 : 2;
    }
    hd_register_set whole = hd_set_union_take(&p->all, p->arena);
    hd_array_push(&p->lists, whole);
    uint32_t whole_key = p->cfg->block_count + p->lists.count;
    for (uint32_t t = 0; t < count; t++)
        if (is_side(p, targets[t], join))
            seed(p, join, side_list(p, whole, whole_key, p->thread->live_in[targets[t]]), targets[t]);
    for (uint32_t i = 0; i < whole.count; i++)
        p->times[whole.items[i]] = 0;
}

static void seed_branch(pending *p, uint32_t branch)
{
    const uint32_t *targets = hd_block_successors(p->cfg, branch);
    uint32_t join = p->cfg->blocks[branch].post_dominator, count = p->cfg->blocks[branch].succ_count;
    if (count > 2) {
        seed_many(p, branch, join);
        return;
    }
    for (uint32_t t = 0; t < count; t++) {
        if (!is_side(p, targets[t], join))
            continue;
        seed(p, join, join, targets[t]);
        if (targets[1 - t] != join)
            seed(p, join, targets[1 - t], targets[t]);
        if (p->paper)
            seed(p, join, targets[t], targets[t]);
    }
}

/* ---- sets of blocks ---------------------------------------------------------------------------------------------- */

/* The facts of each block, ascending: keys[first[b]] .. keys[first[b + 1] - 1]. */
static uint32_t *facts_by_block(const hd_region_facts *facts, uint32_t blocks, hd_arena *scratch, uint32_t **keys)
{
    uint32_t *first = HD_ARENA_ARRAY(scratch, uint32_t, (size_t)blocks + 2);
    *keys = hd_arena_alloc(scratch, ((size_t)facts->blocks.count + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < facts->blocks.count; i++)
        first[facts->blocks.items[i] + 2]++;
    for (uint32_t b = 0; b < blocks; b++)
        first[b + 2] += first[b + 1];
    for (uint32_t i = 0; i < facts->items.count; i++) {
        hd_region_fact fact = facts->items.items[i];
        for (uint32_t k = fact.first; k < fact.first + fact.count; k++)
            (*keys)[first[facts->blocks.items[k] + 1]++] = fact.key;
    }
    return first;
}

static hd_register_set unite(pending *p, const uint32_t *keys, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        hd_set_union_add(&p->all, list_of(p, keys[i]));
    return hd_set_union_take(&p->all, p->arena);
}

/* Blocks with the same list of facts share a set: an open hash table over the blocks that were first with theirs. */
static void make_pend(pending *p, const hd_region_facts *facts, hd_register_set *pend)
{
    uint32_t blocks = p->cfg->block_count, room = 64, *keys;
    hd_arena scratch = {0};
    uint32_t *first = facts_by_block(facts, blocks, &scratch, &keys);
    while (room < 2 * (uint64_t)blocks)
        room *= 2;
    uint32_t *table = HD_ARENA_ARRAY(&scratch, uint32_t, room); /* block + 1 */
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t count = first[b + 1] - first[b];
        if (!count)
            continue;
        uint32_t slot = (uint32_t)hd_hash(keys + first[b], count * sizeof(uint32_t)) & (room - 1);
        for (; table[slot]; slot = (slot + 1) & (room - 1)) {
            uint32_t other = table[slot] - 1;
            if (first[other + 1] - first[other] == count &&
                !memcmp(keys + first[other], keys + first[b], count * sizeof(uint32_t)))
                break;
        }
        if (table[slot]) {
            pend[b] = pend[table[slot] - 1];
            continue;
        }
        table[slot] = b + 1;
        pend[b] = unite(p, keys + first[b], count);
    }
    hd_arena_free(&scratch);
}

static void make_stack_pend(hd_pass_context *context, pending *p, hd_register_set *pend)
{
    const hd_uniformity *uniformity = hd_analysis_get(context, HD_ANALYSIS_UNIFORMITY);
    hd_region_facts facts;
    p->times = hd_calloc((size_t)context->function->registers.count + 1, sizeof(uint32_t));
    HD_BITSET_EACH (&uniformity->divergent_branches, b)
        seed_branch(p, b);
    hd_region_facts_make(&facts, p->cfg, &p->seeds);
    make_pend(p, &facts, pend);
    hd_region_facts_free(&facts);
    hd_array_free(&p->seeds);
    hd_array_free(&p->lists);
    hd_set_union_free(&p->all);
    free(p->times);
}

hd_warp_liveness *hd_warp_liveness_build(hd_pass_context *context, hd_arena *arena)
{
    const hd_cfg *cfg = hd_function_cfg(context->function);
    pending p = {.cfg = cfg, .thread = hd_analysis_get(context, HD_ANALYSIS_LIVENESS), .arena = arena};
    hd_register_set *pend = HD_ARENA_ARRAY(arena, hd_register_set, (size_t)cfg->block_count + 1);
    p.paper = context->liveness == HD_LIVENESS_PAPER;
    if (context->liveness == HD_LIVENESS_ITS)
        hd_its_pend(context, arena, pend);
    else
        make_stack_pend(context, &p, pend);
    hd_warp_liveness *result = HD_ARENA_NEW(arena, hd_warp_liveness);
    *result = (hd_warp_liveness){.thread = p.thread, .pend = pend, .rule = context->liveness};
    return result;
}

bool hd_warp_live_has(const hd_warp_liveness *warp, const hd_live_walk *walk, uint32_t reg)
{
    return hd_live_has(walk, reg) || hd_register_set_has(warp->pend[walk->block], reg);
}
