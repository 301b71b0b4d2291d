/* Accesses and liveness, per register or word: see facts.h. Divergence is in divergence.c. */
#include "passes/check/facts_private.h"
#include "base/compare.h"
#include "base/search.h"

static bool is_module_wide(const hd_function *f, uint32_t reg)
{
    uint32_t declaration = f->registers.items[reg].declaration;
    return declaration < f->declarations.count && f->declarations.items[declaration].depth == 0;
}

/* Entries have no caller: their threads end with them. */
static bool register_leaves(const hd_function *f, uint32_t reg)
{
    if (f->is_entry)
        return false;
    for (uint32_t i = 0; i < f->register_results.count; i++)
        if (f->register_results.items[i] == reg)
            return true;
    return is_module_wide(f, reg);
}

static void add_items(const hd_lives *lives, hd_bitset *set, uint32_t reg)
{
    if (!lives->storage)
        hd_bitset_add(set, reg);
    else
        HD_STORAGE_WORDS (lives->storage, reg, word)
            hd_bitset_add(set, word);
}

static void find_leaving(hd_lives *lives, hd_arena *arena)
{
    const hd_function *f = lives->function;
    lives->leaving = hd_bitset_new(arena, lives->count);
    lives->module_wide = hd_bitset_new(arena, lives->count);
    for (uint32_t r = 0; r < f->registers.count; r++) {
        if (register_leaves(f, r))
            add_items(lives, &lives->leaving, r);
        if (is_module_wide(f, r))
            add_items(lives, &lives->module_wide, r);
    }
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

/* Visits every register that an instruction names, its guard included; an item may be visited more than once. */
typedef struct access_walk {
    hd_lives *lives;
    uint32_t *fill; /* by item: position of its next access; NULL: only count */
    uint32_t *count;
    uint32_t *end_first, *ends; /* by instruction: items whose flights end there; NULL: none */
} access_walk;

static void visit_access(access_walk *w, uint32_t item, uint32_t ordinal, uint8_t kinds)
{
    if (!w->fill) {
        w->count[item]++;
        return;
    }
    if (kinds & HD_ACCESS_KILL && hd_flights_has(&w->lives->flights, item, ordinal))
        kinds = (uint8_t)((kinds & ~HD_ACCESS_KILL) | HD_ACCESS_HELD | HD_ACCESS_WEAK);
    hd_access *at = w->lives->accesses + w->fill[item];
    if (w->fill[item] > w->lives->access_first[item] && at[-1].ordinal == ordinal)
        at[-1].kinds |= kinds;
    else
        w->lives->accesses[w->fill[item]++] = (hd_access){ordinal, kinds};
}

static void visit_register(access_walk *w, uint32_t reg, uint32_t ordinal, uint8_t kinds)
{
    const hd_storage *storage = w->lives->storage;
    if (!storage)
        visit_access(w, reg, ordinal, kinds);
    else
        HD_STORAGE_WORDS (storage, reg, word)
            visit_access(w, word, ordinal, kinds);
}

/* A register in flight is live up to the end of the flight, at the latest to the end of the block. */
static void visit_flights(access_walk *w, uint32_t ordinal)
{
    for (uint32_t i = w->end_first[ordinal]; i < w->end_first[ordinal + 1]; i++)
        visit_access(w, w->ends[i], ordinal, HD_ACCESS_HELD);
}

static void visit_all(access_walk *w)
{
    const hd_function *f = w->lives->function;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        if (w->end_first)
            visit_flights(w, i);
        if (w->lives->storage && hd_storage_skips(w->lives->storage, i))
            continue;
        if (insn->guard != HD_NONE)
            visit_register(w, insn->guard, i, HD_ACCESS_READ);
        HD_INSN_REGISTERS (f, insn, o)
            visit_register(w, o->value, i, kinds_of(f, insn, o));
    }
}

static void list_ends(access_walk *w, hd_arena *scratch)
{
    const hd_flights *flights = &w->lives->flights;
    uint32_t instructions = w->lives->function->instructions.count, count = flights->first[w->lives->count];
    uint32_t *first = HD_ARENA_ARRAY(scratch, uint32_t, (size_t)instructions + 2);
    w->ends = HD_ARENA_ARRAY(scratch, uint32_t, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++)
        first[flights->items[i].last + 2]++;
    for (uint32_t i = 0; i < instructions; i++)
        first[i + 2] += first[i + 1];
    for (uint32_t i = 0; i < count; i++)
        w->ends[first[flights->items[i].last + 1]++] = flights->items[i].item;
    w->end_first = first;
}

static void list_accesses(hd_lives *lives, hd_arena *arena, hd_arena *scratch)
{
    uint32_t items = lives->count;
    access_walk w = {.lives = lives, .count = HD_ARENA_ARRAY(scratch, uint32_t, items)};
    lives->flights = hd_flights_of((hd_function *)lives->function, lives->storage, items, arena);
    if (lives->flights.first)
        list_ends(&w, scratch);
    visit_all(&w);
    uint32_t *room = HD_ARENA_ARRAY(scratch, uint32_t, (size_t)items + 1);
    for (uint32_t r = 0; r < items; r++)
        room[r + 1] = room[r] + w.count[r];
    lives->access_first = room; /* while filling */
    lives->accesses = HD_ARENA_ARRAY(arena, hd_access, room[items]);
    w.fill = hd_arena_copy(scratch, room, ((size_t)items + 1) * sizeof *room);
    visit_all(&w);
    uint32_t *first = HD_ARENA_ARRAY(arena, uint32_t, (size_t)items + 1);
    for (uint32_t r = 0; r < items; r++) { /* close gaps of items that an instruction names twice */
        uint32_t count = w.fill[r] - room[r];
        memmove(lives->accesses + first[r], lives->accesses + room[r], count * sizeof *lives->accesses);
        first[r + 1] = first[r] + count;
    }
    lives->access_first = first;
}

uint32_t hd_lives_access_from(const hd_lives *lives, uint32_t item, uint32_t ordinal)
{
    uint32_t low = lives->access_first[item], high = lives->access_first[item + 1];
    HD_SEARCH(low, high, at, lives->accesses[at].ordinal < ordinal);
    return low;
}

/* ---- liveness ---------------------------------------------------------------------------------------------------- */

typedef struct live_search {
    hd_lives *items;
    uint32_t *lives, *kills; /* by block: the last item + 1 for which it is marked */
    hd_u32_array stack;
    uint32_t item;
} live_search;

static void live_into(live_search *s, uint32_t block)
{
    if (s->lives[block] == s->item + 1)
        return;
    s->lives[block] = s->item + 1;
    hd_array_push(&s->stack, block);
    hd_array_push(&s->items->live, block);
}

static void live_out_of(live_search *s, uint32_t block)
{
    if (s->kills[block] != s->item + 1)
        live_into(s, block);
}

/* Marks the blocks that overwrite the item, and starts from those with an upward-exposed read. */
static void start_from_reads(live_search *s)
{
    const hd_lives *items = s->items;
    for (uint32_t a = items->access_first[s->item]; a < items->access_first[s->item + 1]; a++) {
        uint32_t block = items->cfg->block_of[items->accesses[a].ordinal];
        uint8_t kinds = items->accesses[a].kinds;
        if (kinds & (HD_ACCESS_READ | HD_ACCESS_HELD) && s->kills[block] != s->item + 1)
            live_into(s, block);
        if (kinds & HD_ACCESS_KILL)
            s->kills[block] = s->item + 1;
    }
}

static void find_live_blocks(live_search *s)
{
    hd_lives *items = s->items;
    uint32_t first = items->live.count;
    start_from_reads(s);
    for (uint32_t i = 0; i < items->cfg->exit_predecessor_count && hd_lives_leaves_with(items, s->item); i++)
        live_out_of(s, items->cfg->exit_predecessors[i]);
    while (s->stack.count) {
        uint32_t block = hd_array_pop(&s->stack);
        for (uint32_t p = 0; p < items->cfg->blocks[block].pred_count; p++)
            live_out_of(s, hd_block_predecessors(items->cfg, block)[p]);
    }
    if (items->live.count > first)
        qsort(items->live.items + first, items->live.count - first, sizeof *items->live.items, hd_compare_u32);
}

static void find_liveness(hd_lives *items, hd_arena *arena, hd_arena *scratch)
{
    live_search s = {.items = items};
    s.lives = HD_ARENA_ARRAY(scratch, uint32_t, items->cfg->block_count);
    s.kills = HD_ARENA_ARRAY(scratch, uint32_t, items->cfg->block_count);
    items->live_first = HD_ARENA_ARRAY(arena, uint32_t, (size_t)items->count + 1);
    for (s.item = 0; s.item < items->count; s.item++) {
        items->live_first[s.item] = items->live.count;
        find_live_blocks(&s);
    }
    items->live_first[items->count] = items->live.count;
    hd_array_free(&s.stack);
}

bool hd_lives_live_into(const hd_lives *lives, uint32_t item, uint32_t block)
{
    uint32_t end = lives->live_first[item + 1];
    uint32_t at = hd_search_u32(lives->live.items, lives->live_first[item], end, block);
    return at < end && lives->live.items[at] == block;
}

bool hd_lives_live_after(const hd_lives *lives, uint32_t item, uint32_t ordinal)
{
    const hd_block *block = &lives->cfg->blocks[lives->cfg->block_of[ordinal]];
    uint32_t a = hd_lives_access_from(lives, item, ordinal + 1);
    for (; a < lives->access_first[item + 1] && lives->accesses[a].ordinal < block->end; a++) {
        if (lives->accesses[a].kinds & (HD_ACCESS_READ | HD_ACCESS_HELD))
            return true;
        if (lives->accesses[a].kinds & HD_ACCESS_KILL)
            return false;
    }
    for (uint32_t e = block->succ_first; e < block->succ_first + block->succ_count; e++) {
        uint32_t to = lives->cfg->successors[e];
        if (to == lives->cfg->block_count ? hd_lives_leaves_with(lives, item) : hd_lives_live_into(lives, item, to))
            return true;
    }
    return false;
}

static void find_lives(hd_lives *lives, hd_arena *arena, hd_arena *scratch)
{
    find_leaving(lives, arena);
    list_accesses(lives, arena, scratch);
    find_liveness(lives, arena, scratch);
}

/* The out-edges of divergent branches, and the edges into their join from them and from the blocks that they reach
 * before it. */
static void find_cut(hd_facts *facts, hd_arena *scratch)
{
    const hd_cfg *cfg = facts->cfg;
    const hd_block *last = &cfg->blocks[cfg->block_count - 1];
    bool *seen = HD_ARENA_ARRAY(scratch, bool, cfg->block_count);
    hd_u32_array due = {0};
    facts->cut = hd_bitset_new(&facts->arena, last->succ_first + last->succ_count);
    HD_BITSET_EACH (&facts->splits, b) {
        for (uint32_t e = cfg->blocks[b].succ_first; e < cfg->blocks[b].succ_first + cfg->blocks[b].succ_count; e++)
            hd_bitset_add(&facts->cut, e);
        if (cfg->blocks[b].post_dominator == cfg->block_count)
            continue;
        seen[b] = true;
        hd_array_push(&due, b);
    }
    while (due.count) {
        const hd_block *block = &cfg->blocks[hd_array_pop(&due)];
        uint32_t join = block->post_dominator;
        for (uint32_t e = block->succ_first; e < block->succ_first + block->succ_count; e++) {
            uint32_t to = cfg->successors[e];
            if (to == join)
                hd_bitset_add(&facts->cut, e);
            if (to == join || to == cfg->block_count || !hd_block_post_dominates(cfg, join, to))
                continue;
            to = hd_sides_child(&facts->sides, join, to);
            if (!seen[to])
                hd_array_push(&due, to);
            seen[to] = true;
        }
    }
    hd_array_free(&due);
}

/* Sorts the divergent branches by join, X included. */
static void sort_splits(hd_facts *facts, hd_arena *scratch)
{
    const hd_cfg *cfg = facts->cfg;
    uint32_t *first = HD_ARENA_ARRAY(scratch, uint32_t, (size_t)cfg->block_count + 2);
    facts->by_join = HD_ARENA_ARRAY(&facts->arena, uint32_t, cfg->block_count);
    HD_BITSET_EACH (&facts->splits, b)
        first[cfg->blocks[b].post_dominator + 1]++;
    for (uint32_t v = 0; v <= cfg->block_count; v++)
        first[v + 1] += first[v];
    facts->split_count = first[cfg->block_count + 1];
    HD_BITSET_EACH (&facts->splits, b)
        facts->by_join[first[cfg->blocks[b].post_dominator]++] = b;
}

void hd_facts_build(hd_facts *facts, hd_function *function)
{
    hd_arena scratch = {0};
    *facts = (hd_facts){.function = function, .cfg = hd_function_cfg(function)};
    facts->storage = hd_storage_of(function, &facts->arena);
    facts->registers = (hd_lives){.function = function, .cfg = facts->cfg, .count = function->registers.count};
    facts->words =
        (hd_lives){.function = function, .cfg = facts->cfg, .storage = &facts->storage, .count = facts->storage.words};
    find_lives(&facts->registers, &facts->arena, &scratch);
    find_lives(&facts->words, &facts->arena, &scratch);
    hd_facts_find_divergence(facts, &scratch);
    hd_sides_init(&facts->sides, facts->cfg, &facts->arena);
    find_cut(facts, &scratch);
    sort_splits(facts, &scratch);
    hd_arena_free(&scratch);
}

void hd_facts_free(hd_facts *facts)
{
    hd_array_free(&facts->registers.live);
    hd_array_free(&facts->words.live);
    hd_arena_free(&facts->arena);
}
