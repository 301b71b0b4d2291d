/* Thread-level liveness (TL), and the walker that steps through a block.
 *
 * Rules: only an unguarded definition of the whole register, by an instruction with known effects, kills. Guards are
 * uses. DEF | USE is read, then written. Opaque instructions read and write all their registers. The result registers
 * of a device function are live into the virtual exit X. Registers declared at module scope (old PTX) are read by every
 * call, and live into X of a device function. Registers in flight are read where async_spans.h says.
 *
 * Method: upward-exposed registers are processed 64 at a time by a backward search from the blocks that read them,
 * which stops at blocks that kill them. Registers that are local to a block, the majority, cost nothing. Live-out is
 * the union of the successors' live-in sets, and shares memory with one of them if it is equal. The same for words of
 * the register file (ir/storage.h), where an identity is no instruction. Complexity: O(instructions + sum over live-in
 * sets of size times predecessors). Memory: 4 bytes for each element of a set.
 */
#include "passes/analysis/liveness.h"
#include "base/bits.h"
#include "base/compare.h"
#include "base/search.h"

/* ---- sets -------------------------------------------------------------------------------------------------------- */

bool hd_register_set_has(hd_register_set set, uint32_t reg)
{
    uint32_t at = hd_search_u32(set.items, 0, set.count, reg);
    return at < set.count && set.items[at] == reg;
}

void hd_set_union_add(hd_set_union *u, hd_register_set set)
{
    if (!set.count || set.items == u->sole.items)
        return;
    if (!u->items.count && !u->sole.count) { /* the first set: copy only when there is a second one */
        u->sole = set;
        return;
    }
    hd_register_set old = u->items.count ? (hd_register_set){u->items.items, u->items.count} : u->sole;
    hd_array_clear(&u->merged);
    uint32_t *to = hd_array_extend(&u->merged, old.count + set.count), a = 0, b = 0, n = 0;
    while (a < old.count && b < set.count) {
        uint32_t x = old.items[a], y = set.items[b];
        to[n++] = hd_min(x, y);
        a += x <= y;
        b += y <= x;
    }
    while (a < old.count)
        to[n++] = old.items[a++];
    while (b < set.count)
        to[n++] = set.items[b++];
    u->merged.count = n;
    if (n == old.count)
        return;
    if (n == set.count) {
        u->sole = set;
        hd_array_clear(&u->items);
        return;
    }
    hd_u32_array swap = u->items;
    u->items = u->merged;
    u->merged = swap;
}

hd_register_set hd_set_union_take(hd_set_union *u, hd_arena *arena)
{
    hd_register_set result = u->sole;
    if (u->items.count) {
        uint32_t *copy = hd_arena_alloc(arena, u->items.count * sizeof(uint32_t));
        memcpy(copy, u->items.items, u->items.count * sizeof(uint32_t));
        result = (hd_register_set){copy, u->items.count};
    }
    u->sole = (hd_register_set){0};
    hd_array_clear(&u->items);
    return result;
}

void hd_set_union_free(hd_set_union *u)
{
    hd_array_free(&u->items);
    hd_array_free(&u->merged);
}

/* ---- rules for one instruction ----------------------------------------------------------------------------------- */

/* d.b0, d.h1: a selector of a scalar register */
bool hd_operand_is_part(const hd_function *f, const hd_operand *o)
{
    return o->extra && f->registers.items[o->value].vector == 1 && hd_names_text(&f->module->names, o->extra)[0] == '.';
}

static bool reads(const hd_instruction *insn, const hd_operand *o)
{
    return o->flags & HD_OPERAND_USE || insn->flags & HD_INSN_OPAQUE;
}

static bool is_call(const hd_function *f, const hd_instruction *insn)
{
    return hd_insn_form(f, insn)->behaviour & HD_BEHAVE_CALL;
}

static hd_register_set find_module_wide(const hd_function *f, hd_arena *arena)
{
    hd_u32_array found = {0};
    bool any = false; /* rare: check the declarations first */
    for (uint32_t d = 0; d < f->declarations.count; d++)
        any |= f->declarations.items[d].depth == 0;
    for (uint32_t r = 0; any && r < f->registers.count; r++) {
        uint32_t declaration = f->registers.items[r].declaration;
        if (declaration < f->declarations.count && f->declarations.items[declaration].depth == 0)
            hd_array_push(&found, r);
    }
    hd_register_set set = {NULL, found.count};
    if (found.count)
        set.items = hd_arena_copy(arena, found.items, found.count * sizeof(uint32_t));
    hd_array_free(&found);
    return set;
}

/* ---- upward-exposed uses and kills of blocks --------------------------------------------------------------------- */

typedef struct occurrence {
    uint32_t reg, block;
} occurrence;
typedef HD_ARRAY(occurrence) occurrence_list;

typedef struct scan {
    const hd_function *function;
    const hd_storage *storage; /* "registers" are its words; NULL: they are registers */
    uint32_t registers;
    /* by register: last block + 1 with an upward-exposed use; last block + 1 that kills it */
    uint32_t *read, *killed;
    occurrence_list reads, kills; /* in block order */
    hd_register_set module_wide;  /* registers declared at module scope */
    const hd_async_spans *spans;  /* NULL: nothing is ever in flight */
} scan;

static inline void note_read(scan *s, uint32_t reg, uint32_t block)
{
    if (s->killed[reg] == block + 1 || s->read[reg] == block + 1)
        return;
    s->read[reg] = block + 1;
    hd_array_push(&s->reads, (occurrence){reg, block});
}

static inline void note_kill(scan *s, uint32_t reg, uint32_t block)
{
    if (s->killed[reg] == block + 1)
        return;
    s->killed[reg] = block + 1;
    hd_array_push(&s->kills, (occurrence){reg, block});
}

/* Always inlined, with `note`: called for each operand. */
static inline __attribute__((always_inline)) void scan_register(scan *s, uint32_t reg, uint32_t block,
                                                                void (*note)(scan *, uint32_t, uint32_t))
{
    if (!s->storage)
        note(s, reg, block);
    else
        HD_STORAGE_WORDS (s->storage, reg, word)
            note(s, word, block);
}

static void scan_instruction(scan *s, const hd_instruction *insn, uint32_t block)
{
    const hd_function *f = s->function;
    if (insn->guard != HD_NONE)
        scan_register(s, insn->guard, block, note_read);
    HD_INSN_REGISTERS (f, insn, o)
        if (reads(insn, o))
            scan_register(s, o->value, block, note_read);
    if (s->module_wide.count && is_call(f, insn))
        for (uint32_t i = 0; i < s->module_wide.count; i++)
            scan_register(s, s->module_wide.items[i], block, note_read);
    HD_INSN_REGISTERS (f, insn, d)
        if (hd_definition_kills(f, insn, d))
            scan_register(s, d->value, block, note_kill);
}

static void scan_blocks(scan *s, const hd_cfg *cfg, hd_arena *scratch)
{
    s->read = HD_ARENA_ARRAY(scratch, uint32_t, s->registers);
    s->killed = HD_ARENA_ARRAY(scratch, uint32_t, s->registers);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        for (uint32_t i = cfg->blocks[b].first; i < cfg->blocks[b].end; i++) {
            HD_ASYNC_USES (s->spans, i, reg)
                scan_register(s, reg, b, note_read);
            if (!s->storage || !hd_storage_skips(s->storage, i))
                scan_instruction(s, &s->function->instructions.items[i], b);
        }
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

enum { GROUP = 64 }; /* registers processed together: bits of a mask */

typedef struct node { /* a block or X, for the registers of the current group */
    /* live-in; those of them still to be propagated to predecessors; killed */
    uint64_t live, due, kills;
} node;

typedef struct finding {
    uint64_t live; /* registers of a group */
    uint32_t block;
} finding;

typedef struct search {
    const hd_cfg *cfg;
    /* upward-exposed registers, ascending; by register: 1 + its index there, or 0 */
    uint32_t *registers, *number;
    uint32_t groups, *found_first;
    occurrence *reads, *kills; /* by group: upward-exposed uses and kills */
    uint32_t *read_first, *kill_first;
    node *nodes;
    hd_u32_array due;        /* blocks */
    HD_ARRAY(finding) found; /* in group order */
} search;

static void number_registers(search *s, const scan *from, hd_arena *scratch)
{
    uint32_t count = 0;
    s->number = HD_ARENA_ARRAY(scratch, uint32_t, from->registers);
    for (uint32_t i = 0; i < from->reads.count; i++)
        s->number[from->reads.items[i].reg] = 1;
    for (uint32_t r = 0; r < from->registers; r++)
        s->number[r] = s->number[r] ? ++count : 0;
    s->registers = hd_arena_alloc(scratch, ((size_t)count + 1) * sizeof(uint32_t));
    for (uint32_t r = 0; r < from->registers; r++)
        if (s->number[r])
            s->registers[s->number[r] - 1] = r;
    s->groups = (count + GROUP - 1) / GROUP;
}

/* Distributes the entries of a list to groups; those of group g are (*first)[g] .. (*first)[g + 1]. */
static occurrence *by_group(const search *s, const occurrence *list, uint32_t count, uint32_t **first,
                            hd_arena *scratch)
{
    uint32_t *start = HD_ARENA_ARRAY(scratch, uint32_t, (size_t)s->groups + 2);
    occurrence *sorted = hd_arena_alloc(scratch, ((size_t)count + 1) * sizeof *sorted);
    for (uint32_t i = 0; i < count; i++)
        if (s->number[list[i].reg])
            start[(s->number[list[i].reg] - 1) / GROUP + 2]++;
    for (uint32_t g = 0; g < s->groups; g++)
        start[g + 2] += start[g + 1];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = s->number[list[i].reg];
        if (number)
            sorted[start[(number - 1) / GROUP + 1]++] = (occurrence){number - 1, list[i].block};
    }
    *first = start;
    return sorted;
}

static void reach(search *s, uint32_t block, uint64_t live)
{
    node *n = &s->nodes[block];
    live &= ~n->live;
    if (!live)
        return;
    if (!n->live)
        hd_array_push(&s->found, (finding){0, block});
    if (!n->due)
        hd_array_push(&s->due, block);
    n->live |= live;
    n->due |= live;
}

/* Processes the last blocks first: most blocks follow their predecessors in the text, so more bits are propagated at
 * once. */
static void reach_up(search *s)
{
    const hd_cfg *cfg = s->cfg;
    while (s->due.count) {
        uint32_t b = hd_array_pop(&s->due);
        uint64_t live = s->nodes[b].due;
        const uint32_t *preds = b == cfg->block_count ? cfg->exit_predecessors : hd_block_predecessors(cfg, b);
        uint32_t count = b == cfg->block_count ? cfg->exit_predecessor_count : cfg->blocks[b].pred_count;
        s->nodes[b].due = 0;
        for (uint32_t p = 0; p < count; p++)
            reach(s, preds[p], live & ~s->nodes[preds[p]].kills);
    }
}

static void search_group(search *s, uint32_t group)
{
    uint32_t start = s->found.count;
    for (uint32_t i = s->kill_first[group]; i < s->kill_first[group + 1]; i++)
        s->nodes[s->kills[i].block].kills |= 1ull << s->kills[i].reg % GROUP;
    for (uint32_t i = s->read_first[group]; i < s->read_first[group + 1]; i++)
        reach(s, s->reads[i].block, 1ull << s->reads[i].reg % GROUP);
    reach_up(s);
    for (uint32_t i = start; i < s->found.count; i++) {
        node *n = &s->nodes[s->found.items[i].block];
        s->found.items[i].live = n->live;
        n->live = 0;
    }
    for (uint32_t i = s->kill_first[group]; i < s->kill_first[group + 1]; i++)
        s->nodes[s->kills[i].block].kills = 0;
}

static search search_all(const hd_cfg *cfg, scan *from, hd_arena *scratch)
{
    search s = {.cfg = cfg, .nodes = HD_ARENA_ARRAY(scratch, node, (size_t)cfg->block_count + 1)};
    number_registers(&s, from, scratch);
    s.reads = by_group(&s, from->reads.items, from->reads.count, &s.read_first, scratch);
    s.kills = by_group(&s, from->kills.items, from->kills.count, &s.kill_first, scratch);
    hd_array_free(&from->reads);
    hd_array_free(&from->kills);
    s.found_first = HD_ARENA_ARRAY(scratch, uint32_t, (size_t)s.groups + 1);
    for (uint32_t g = 0; g < s.groups; g++) {
        search_group(&s, g);
        s.found_first[g + 1] = s.found.count;
    }
    hd_array_free(&s.due);
    return s;
}

/* ---- the result -------------------------------------------------------------------------------------------------- */

static hd_register_set *make_live_in(const search *s, hd_arena *arena, hd_arena *scratch)
{
    uint32_t nodes = s->cfg->block_count + 1, total = 0;
    hd_register_set *live_in = HD_ARENA_ARRAY(arena, hd_register_set, nodes);
    uint32_t **next = hd_arena_alloc(scratch, nodes * sizeof *next);
    for (uint32_t i = 0; i < s->found.count; i++) {
        uint32_t count = (uint32_t)__builtin_popcountll(s->found.items[i].live);
        live_in[s->found.items[i].block].count += count;
        total += count;
    }
    uint32_t *room = hd_arena_alloc(arena, ((size_t)total + 1) * sizeof(uint32_t));
    for (uint32_t b = 0; b < nodes; b++) {
        live_in[b].items = next[b] = room;
        room += live_in[b].count;
    }
    for (uint32_t g = 0; g < s->groups; g++) /* registers ascend, and so does each list */
        for (uint32_t i = s->found_first[g]; i < s->found_first[g + 1]; i++)
            HD_EACH_BIT64 (bit, s->found.items[i].live)
                *next[s->found.items[i].block]++ = s->registers[g * GROUP + bit];
    return live_in;
}

static hd_register_set *make_live_out(const hd_cfg *cfg, const hd_register_set *live_in, hd_arena *arena)
{
    hd_register_set *live_out = HD_ARENA_ARRAY(arena, hd_register_set, (size_t)cfg->block_count + 1);
    hd_set_union all = {0};
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++)
            hd_set_union_add(&all, live_in[hd_block_successors(cfg, b)[e]]);
        live_out[b] = hd_set_union_take(&all, arena);
    }
    hd_set_union_free(&all);
    return live_out;
}

/* The result registers of a device function are read at X. */
static void scan_exit(scan *s, const hd_cfg *cfg)
{
    const hd_function *f = s->function;
    if (f->is_entry)
        return;
    for (uint32_t i = 0; i < f->register_results.count; i++)
        scan_register(s, f->register_results.items[i], cfg->block_count, note_read);
    for (uint32_t i = 0; i < s->module_wide.count; i++)
        scan_register(s, s->module_wide.items[i], cfg->block_count, note_read);
}

static hd_register_set *find_live_in(scan *from, const hd_cfg *cfg, hd_arena *arena)
{
    hd_arena scratch = {0};
    from->module_wide = find_module_wide(from->function, arena);
    scan_blocks(from, cfg, &scratch);
    scan_exit(from, cfg);
    search up = search_all(cfg, from, &scratch);
    hd_register_set *live_in = make_live_in(&up, arena, &scratch);
    hd_array_free(&up.found);
    hd_arena_free(&scratch);
    return live_in;
}

static hd_register_set words_of_set(const hd_storage *storage, hd_register_set registers, hd_arena *arena)
{
    hd_u32_array words = {0};
    for (uint32_t i = 0; i < registers.count; i++)
        HD_STORAGE_WORDS (storage, registers.items[i], word)
            hd_array_push(&words, word);
    uint32_t count = 0;
    if (words.count)
        qsort(words.items, words.count, sizeof *words.items, hd_compare_u32);
    for (uint32_t i = 0; i < words.count; i++) /* names may overlap */
        if (!count || words.items[i] != words.items[count - 1])
            words.items[count++] = words.items[i];
    hd_register_set set = {count ? hd_arena_copy(arena, words.items, count * sizeof(uint32_t)) : NULL, count};
    hd_array_free(&words);
    return set;
}

static hd_liveness *make_liveness(hd_function *f, const hd_storage *storage, hd_arena *arena)
{
    const hd_cfg *cfg = hd_function_cfg(f);
    scan read = {.function = f, .storage = storage, .registers = storage ? storage->words : f->registers.count};
    hd_liveness *result = HD_ARENA_NEW(arena, hd_liveness);
    result->spans = read.spans = hd_async_spans_of(f, arena);
    result->live_in = find_live_in(&read, cfg, arena);
    result->module_wide = storage ? words_of_set(storage, read.module_wide, arena) : read.module_wide;
    result->module_wide_registers = read.module_wide;
    result->live_out = make_live_out(cfg, result->live_in, arena);
    result->storage = storage;
    result->items = read.registers;
    return result;
}

hd_liveness *hd_liveness_build(hd_pass_context *context, hd_arena *arena)
{
    return make_liveness(context->function, NULL, arena);
}

hd_liveness *hd_liveness_of_words(hd_function *f, const hd_storage *storage, hd_arena *arena)
{
    return make_liveness(f, storage, arena);
}

hd_storage *hd_storage_build(hd_pass_context *context, hd_arena *arena)
{
    hd_storage *storage = HD_ARENA_NEW(arena, hd_storage);
    *storage = hd_storage_of(context->function, arena);
    return storage;
}

hd_liveness *hd_live_words_build(hd_pass_context *context, hd_arena *arena)
{
    return make_liveness(context->function, hd_analysis_get(context, HD_ANALYSIS_STORAGE), arena);
}

/* ---- the walker -------------------------------------------------------------------------------------------------- */

void hd_live_walk_init(hd_live_walk *walk, hd_arena *arena, hd_function *function, const hd_liveness *liveness)
{
    *walk = (hd_live_walk){.function = function,
                           .cfg = hd_function_cfg(function),
                           .liveness = liveness,
                           .members = HD_ARENA_ARRAY(arena, uint32_t, liveness->items),
                           .position = HD_ARENA_ARRAY(arena, uint32_t, liveness->items)};
}

void hd_live_walk_warp(hd_live_walk *walk, hd_arena *arena, hd_function *function, const hd_warp_liveness *warp)
{
    hd_live_walk_init(walk, arena, function, warp->thread);
    walk->pend = warp->pend;
    walk->pinned = HD_ARENA_ARRAY(arena, uint32_t, warp->thread->items);
}

static inline void walk_add(hd_live_walk *w, uint32_t item)
{
    if (hd_live_has(w, item))
        return;
    w->position[item] = w->count;
    w->members[w->count++] = item;
}

static inline void walk_remove(hd_live_walk *w, uint32_t item)
{
    if (!hd_live_has(w, item) || (w->pinned && w->pinned[item] == w->block + 1))
        return;
    uint32_t last = w->members[--w->count];
    w->members[w->position[item]] = last;
    w->position[last] = w->position[item];
}

static inline void walk_read(hd_live_walk *w, uint32_t reg)
{
    if (!w->liveness->storage)
        walk_add(w, reg);
    else
        HD_STORAGE_WORDS (w->liveness->storage, reg, word)
            walk_add(w, word);
}

static inline void walk_kill(hd_live_walk *w, uint32_t reg)
{
    if (!w->liveness->storage)
        walk_remove(w, reg);
    else
        HD_STORAGE_WORDS (w->liveness->storage, reg, word)
            walk_remove(w, word);
}

void hd_live_start(hd_live_walk *w, uint32_t block)
{
    hd_register_set out = w->liveness->live_out[block];
    w->block = block;
    w->ordinal = w->cfg->blocks[block].end;
    w->count = 0;
    for (uint32_t i = 0; i < out.count; i++)
        walk_add(w, out.items[i]);
    for (uint32_t i = 0; w->pend && i < w->pend[block].count; i++) {
        w->pinned[w->pend[block].items[i]] = block + 1;
        walk_add(w, w->pend[block].items[i]);
    }
}

static inline void walk_instruction(hd_live_walk *w, const hd_instruction *insn)
{
    const hd_function *f = w->function;
    HD_INSN_REGISTERS (f, insn, d)
        if (hd_definition_kills(f, insn, d))
            walk_kill(w, d->value);
    HD_INSN_REGISTERS (f, insn, o)
        if (reads(insn, o))
            walk_read(w, o->value);
    if (insn->guard != HD_NONE)
        walk_read(w, insn->guard);
    hd_register_set module_wide = w->liveness->module_wide;
    if (module_wide.count && is_call(f, insn))
        for (uint32_t i = 0; i < module_wide.count; i++)
            walk_add(w, module_wide.items[i]);
}

void hd_live_step(hd_live_walk *w)
{
    const hd_function *f = w->function;
    const hd_instruction *insn = &f->instructions.items[--w->ordinal];
    hd_insn_prefetch(f, w->ordinal + HD_PREFETCH_AHEAD); /* blocks are mostly visited in text order */
    if (!w->liveness->storage || !hd_storage_skips(w->liveness->storage, w->ordinal))
        walk_instruction(w, insn);
    HD_ASYNC_USES (w->liveness->spans, w->ordinal, reg)
        walk_read(w, reg);
}

void hd_live_lists_fill(hd_live_lists *lists, hd_live_walk *walk, uint32_t b)
{
    const hd_block *block = &walk->cfg->blocks[b];
    hd_array_clear(&lists->members);
    hd_array_clear(&lists->ends);
    lists->end = block->end;
    hd_live_start(walk, b);
    for (uint32_t i = block->end; i > block->first; i--) {
        hd_live_step(walk);
        if (walk->count) {
            uint32_t *list = hd_array_extend(&lists->members, walk->count);
            memcpy(list, walk->members, walk->count * sizeof *list);
            qsort(list, walk->count, sizeof *list, hd_compare_u32);
        }
        hd_array_push(&lists->ends, lists->members.count);
    }
}

hd_register_set hd_live_lists_before(const hd_live_lists *lists, uint32_t ordinal)
{
    uint32_t step = lists->end - 1 - ordinal, first = step ? lists->ends.items[step - 1] : 0;
    return (hd_register_set){hd_array_at(&lists->members, first), lists->ends.items[step] - first};
}

void hd_live_lists_free(hd_live_lists *lists)
{
    hd_array_free(&lists->members);
    hd_array_free(&lists->ends);
}
