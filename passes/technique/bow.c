/* bow(iw=N): the destination of each result under BOW-WR. Asghari Esfeden et al., "BOW: Breathing Operand Windows to
 * Exploit Bypassing in GPUs", MICRO 2020 (section 3.4.2 of the dissertation).
 *
 * A destination is
 *
 *   boc   the bypass window only: the value is transient. Its definition is unguarded; on every path each access
 *         follows the one before by fewer than iw issued instructions; it is not live across a cut edge, call, barrier,
 *         yield or return, nor into an instruction at which lanes of two sides of a branch may meet; and nothing
 *         redefines it under a guard while it is live.
 *   rf    the register file only: no path reads it within the window.
 *   both  in all other cases.
 *
 * Registers that asynchronous instructions read or write (ir/asynchronous.def) must be in the register file when the
 * hardware accesses them: every definition of one is rf.
 *
 * The window holds the warp's issued stream, not the path of one thread. Cut edges are those after which the stream may
 * continue elsewhere: every out-edge of a branch that may diverge, and every edge into its reconvergence point r(b)
 * from b or from the blocks between. (Classifying along control-flow paths alone is wrong: the instructions of the
 * other side evict the entry.)
 *
 * Values are words of the register file (ir/storage.h), under any name of architected code; identities are no
 * instructions. A destination of several words is boc where each word may be, and rf where none is read within the
 * window.
 *
 * Method: a backward walk over each block keeps for every word the position of its next access on the worst path,
 * whether the chain of accesses from there on holds to the end of the live range, and the position of its nearest read.
 * Between blocks only words accessed within iw - 2 instructions matter; a live word that is not listed has a broken
 * chain. Blocks are visited again while a successor's list changes. A consistent assignment proves the chains, also
 * around loops. After HD_BOW_ROUNDS rounds (not reached on real code) retreating edges count as cut, and one more round
 * completes the solution. Cut edges: one search from the divergent branches of each reconvergence point, with bounded
 * work; beyond the bound all edges into the point are cut, which is sound.
 *
 * Complexity: O(rounds * (operands + edges) * log live). Deterministic. Unknown instructions are tagged both and
 * cut. */
#include "base/search.h"
#include "passes/analysis/sides.h"

enum { HD_BOW_ROUNDS = 16 };
enum { HD_BOW_BOTH, HD_BOW_RF, HD_BOW_BOC }; /* as ir/annotations.def spells the words */

/* NONE: dead, or no fact yet */
typedef enum bow_chain { CHAIN_NONE, CHAIN_GOOD, CHAIN_BROKEN } bow_chain;
enum { NO_READ = 0xffffffffu };

/* A word at a point of the block being walked. Positions count issued instructions of the text (hd_storage.issued) and
 * continue past the block's end. */
typedef struct bow_state {
    uint32_t visit;           /* the visit of a block that this was made in */
    uint32_t at;              /* the point: before the instruction at position `at` */
    uint32_t next, near_read; /* next access on the worst path (chain GOOD), nearest read or NO_READ */
    uint8_t chain;
} bow_state;

/* The same at a block's entry, in distances. */
typedef struct bow_entry {
    uint32_t word;
    uint8_t chain, next, near_read; /* near_read: 255 = none within the window */
} bow_entry;
typedef struct bow_list {
    bow_entry *items;
    uint32_t count, capacity;
    bool known;
} bow_list;

typedef struct bow_pass {
    hd_pass_context *context;
    hd_function *function;
    const hd_cfg *cfg;
    const hd_liveness *liveness;
    const hd_uniformity *uniformity;
    hd_arena *arena;
    uint32_t iw;
    bool last_round;     /* retreating edges are cut */
    hd_bitset cut;       /* by index in cfg->successors */
    hd_bitset two_sided; /* blocks in which lanes may wait for those of another side */
    hd_storage storage;
    const hd_register_set *live_in; /* by block and X: of words */
    const hd_bitset *in_flight;     /* words of asynchronous instructions; NULL: none */
    bow_list *entries;              /* by block */
    bow_state *states;              /* by word */
    uint32_t *post_number;          /* by block */
    uint32_t *tag_first;            /* by instruction */
    uint8_t *tags;
    uint32_t visit, block, cut_at; /* of the walk; cut_at: position of the cutting instruction seen last,
                                    * HD_NONE before the first */
    HD_ARRAY(bow_entry) gathered;
} bow_pass;

/* ---- cut edges --------------------------------------------------------------------------------------------------- */

typedef struct cut_search {
    uint32_t *stamp, *queue; /* by block */
    uint64_t work, budget;
} cut_search;

static void cut_all_into(bow_pass *p, uint32_t v)
{
    const uint32_t *from = hd_block_predecessors(p->cfg, v);
    for (uint32_t i = 0; i < p->cfg->blocks[v].pred_count; i++) {
        const hd_block *q = &p->cfg->blocks[from[i]];
        for (uint32_t e = q->succ_first; e < q->succ_first + q->succ_count; e++)
            if (p->cfg->successors[e] == v)
                hd_bitset_add(&p->cut, e);
    }
}

/* Edges into v from the branches (which reconverge there) and from the blocks that they reach before v. */
static void cut_into(bow_pass *p, cut_search *s, uint32_t v, const uint32_t *branches, uint32_t count)
{
    uint32_t head = 0, tail = 0, mark = v + 1;
    for (uint32_t i = 0; i < count; i++) {
        s->stamp[branches[i]] = mark;
        s->queue[tail++] = branches[i];
    }
    while (head < tail) {
        const hd_block *q = &p->cfg->blocks[s->queue[head++]];
        s->work += q->succ_count;
        for (uint32_t e = q->succ_first; e < q->succ_first + q->succ_count; e++) {
            uint32_t to = p->cfg->successors[e];
            if (to == v) {
                hd_bitset_add(&p->cut, e);
            } else if (to != p->cfg->block_count && s->stamp[to] != mark) {
                s->stamp[to] = mark;
                s->queue[tail++] = to;
            }
        }
    }
}

static void find_cut_edges(bow_pass *p)
{
    const hd_cfg *cfg = p->cfg;
    uint32_t blocks = cfg->block_count, edges = 0;
    uint32_t *first = HD_ARENA_ARRAY(p->arena, uint32_t, blocks + 2),
             *branches = HD_ARENA_ARRAY(p->arena, uint32_t, blocks);
    for (uint32_t b = 0; b < blocks; b++) {
        const hd_block *block = &cfg->blocks[b];
        edges += block->succ_count;
        if (hd_bitset_has(&p->uniformity->divergent_branches, b))
            first[block->post_dominator + 1]++;
    }
    p->cut = hd_bitset_new(p->arena, edges);
    for (uint32_t v = 0; v < blocks + 1; v++)
        first[v + 1] += first[v];
    uint32_t *fill = hd_arena_copy(p->arena, first, (blocks + 2) * sizeof *first);
    for (uint32_t b = 0; b < blocks; b++) {
        const hd_block *block = &cfg->blocks[b];
        if (!hd_bitset_has(&p->uniformity->divergent_branches, b))
            continue;
        branches[fill[block->post_dominator]++] = b;
        for (uint32_t e = block->succ_first; e < block->succ_first + block->succ_count; e++)
            hd_bitset_add(&p->cut, e);
    }
    cut_search s = {HD_ARENA_ARRAY(p->arena, uint32_t, blocks), HD_ARENA_ARRAY(p->arena, uint32_t, blocks), 0,
                    64ull * edges + 4096};
    for (uint32_t v = 0; v < blocks; v++) {
        if (first[v] == first[v + 1])
            continue;
        if (s.work < s.budget)
            cut_into(p, &s, v, branches + first[v], first[v + 1] - first[v]);
        else
            cut_all_into(p, v);
    }
}

/* ---- a word at the end of a block and inside it ------------------------------------------------------------------ */

static const bow_entry *find_entry(const bow_list *list, uint32_t word)
{
    uint32_t low = 0, high = list->count;
    HD_SEARCH(low, high, at, list->items[at].word < word);
    return low < list->count && list->items[low].word == word ? &list->items[low] : NULL;
}

/* Adds the constraints of the edge to `to` on a word that is live there. */
static void join_edge(const bow_pass *p, bow_state *s, uint32_t word, uint32_t to, bool cut)
{
    const bow_list *list = &p->entries[to];
    const bow_entry *e = find_entry(list, word);
    uint32_t end = p->storage.issued[p->cfg->blocks[p->block].end];
    if (e && e->near_read != 255 && end + e->near_read < s->near_read)
        s->near_read = end + e->near_read;
    if (cut || (list->known && (!e || e->chain == CHAIN_BROKEN))) {
        s->chain = CHAIN_BROKEN;
        return;
    }
    if (!list->known || e->chain == CHAIN_NONE || s->chain == CHAIN_BROKEN)
        return;
    if (s->chain == CHAIN_NONE || end + e->next > s->next)
        s->next = end + e->next;
    s->chain = CHAIN_GOOD;
}

static bow_state state_at_end(const bow_pass *p, uint32_t word)
{
    const hd_block *block = &p->cfg->blocks[p->block];
    bow_state s = {p->visit, p->storage.issued[block->end], NO_READ, NO_READ, CHAIN_NONE};
    for (uint32_t e = block->succ_first; e < block->succ_first + block->succ_count; e++) {
        uint32_t to = p->cfg->successors[e];
        if (to == p->cfg->block_count) {
            if (hd_register_set_has(p->live_in[to], word))
                s.chain = CHAIN_BROKEN; /* the caller reads it */
            continue;
        }
        bool retreats = p->last_round && p->post_number[to] >= p->post_number[p->block];
        if (hd_register_set_has(p->live_in[to], word))
            join_edge(p, &s, word, to, retreats || hd_bitset_has(&p->cut, e));
    }
    return s;
}

/* The state after the point that the walk has reached. */
static inline bow_state *state_of(bow_pass *p, uint32_t word)
{
    bow_state *s = &p->states[word];
    if (s->visit != p->visit)
        *s = state_at_end(p, word);
    if (p->cut_at < s->at && s->chain == CHAIN_GOOD)
        s->chain = CHAIN_BROKEN; /* live across a cutting instruction */
    return s;
}

/* ---- one instruction --------------------------------------------------------------------------------------------- */

static bool is_tracked(const bow_pass *p, const hd_operand *o)
{
    return p->storage.first[o->value] < p->storage.end[o->value];
}

static bool is_module_wide(const bow_pass *p, uint32_t reg)
{
    return p->liveness->module_wide.count && hd_register_set_has(p->liveness->module_wide, reg);
}

static uint8_t classify(bow_pass *p, const hd_instruction *insn, const hd_operand *o, uint32_t at, bool call)
{
    bool held = true, near = false;
    HD_STORAGE_WORDS (&p->storage, o->value, word) {
        if (p->in_flight && hd_bitset_has(p->in_flight, word))
            return HD_BOW_RF;
        const bow_state *after = state_of(p, word);
        held = held && (after->chain == CHAIN_NONE || (after->chain == CHAIN_GOOD && after->next - at < p->iw));
        near = near || (after->near_read != NO_READ && after->near_read - at < p->iw);
    }
    if (insn->flags & HD_INSN_OPAQUE)
        return HD_BOW_BOTH;
    if (held && !call && hd_definition_kills(p->function, insn, o) && !is_module_wide(p, o->value))
        return HD_BOW_BOC;
    return near ? HD_BOW_BOTH : HD_BOW_RF;
}

static void define(bow_pass *p, const hd_instruction *insn, const hd_operand *o, uint32_t at)
{
    HD_STORAGE_WORDS (&p->storage, o->value, word) {
        bow_state *s = state_of(p, word);
        if (hd_definition_kills(p->function, insn, o)) {
            s->chain = CHAIN_NONE;
            s->near_read = NO_READ;
        } else if (s->chain != CHAIN_NONE) {
            s->chain = CHAIN_BROKEN;
        }
        s->at = at;
    }
}

/* meets: it is read only after lanes of other sides have arrived. */
static void use(bow_pass *p, const hd_operand *o, uint32_t at, bool cuts, bool meets)
{
    HD_STORAGE_WORDS (&p->storage, o->value, word) {
        bow_state *s = state_of(p, word);
        if (s->chain == CHAIN_GOOD && s->next != at && (cuts || s->next - at >= p->iw))
            s->chain = CHAIN_BROKEN;
        if (s->chain == CHAIN_NONE || meets)
            s->chain = meets ? CHAIN_BROKEN : CHAIN_GOOD;
        s->next = s->near_read = s->at = at;
    }
}

static void step(bow_pass *p, uint32_t ordinal)
{
    const hd_function *f = p->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    uint32_t behaviour = hd_insn_form(f, insn)->behaviour, at = p->storage.issued[ordinal];
    bool call = behaviour & HD_BEHAVE_CALL;
    bool meets = behaviour & HD_BEHAVE_MEET && hd_bitset_has(&p->two_sided, p->block);
    bool cuts = behaviour & (HD_BEHAVE_CALL | HD_BEHAVE_BARRIER | HD_BEHAVE_YIELD | HD_BEHAVE_RETURN) || meets ||
                insn->flags & HD_INSN_OPAQUE;
    uint8_t *tag = p->tags + p->tag_first[ordinal];
    HD_INSN_REGISTERS (f, insn, o)
        if (o->flags & HD_OPERAND_DEF && is_tracked(p, o))
            *tag++ = classify(p, insn, o, at, call);
    HD_INSN_REGISTERS (f, insn, o)
        if (o->flags & HD_OPERAND_DEF)
            define(p, insn, o, at);
    HD_INSN_REGISTERS (f, insn, o)
        if (o->flags & HD_OPERAND_USE || insn->flags & HD_INSN_OPAQUE)
            use(p, o, at, cuts, meets);
    if (cuts)
        p->cut_at = at;
}

/* ---- one block --------------------------------------------------------------------------------------------------- */

static void gather(bow_pass *p, uint32_t word)
{
    /* distances below it count */
    uint32_t first = p->storage.issued[p->cfg->blocks[p->block].first], reach = p->iw - 1;
    const bow_state *s = state_of(p, word);
    bow_entry e = {word, s->chain, 0, 255};
    if (s->chain == CHAIN_GOOD) {
        if (s->next - first < reach)
            e.next = (uint8_t)(s->next - first);
        else
            e.chain = CHAIN_BROKEN;
    }
    if (s->near_read != NO_READ && s->near_read - first < reach)
        e.near_read = (uint8_t)(s->near_read - first);
    bool known = e.chain != CHAIN_BROKEN || e.near_read != 255;
    if (known && hd_register_set_has(p->live_in[p->block], word))
        hd_array_push(&p->gathered, e);
}

static int compare_entries(const void *a, const void *b)
{
    uint32_t x = ((const bow_entry *)a)->word, y = ((const bow_entry *)b)->word;
    return (x > y) - (x < y);
}

/* For a short block: its successor's list or, while that is unknown, all words live there. */
static void gather_after(bow_pass *p, uint32_t to)
{
    if (to == p->cfg->block_count)
        return;
    const bow_list *list = &p->entries[to];
    hd_register_set live = p->live_in[to];
    for (uint32_t i = 0; i < (list->known ? list->count : live.count); i++)
        gather(p, list->known ? list->items[i].word : live.items[i]);
}

/* The entry list for the predecessors: words accessed early in this block, or early after it where it is short. */
static void gather_entries(bow_pass *p)
{
    const hd_block *block = &p->cfg->blocks[p->block];
    const uint32_t *issued = p->storage.issued;
    uint32_t first = issued[block->first];
    hd_array_clear(&p->gathered);
    for (uint32_t i = block->first; i < block->end && issued[i] - first < p->iw - 1; i++) {
        if (hd_storage_skips(&p->storage, i))
            continue;
        HD_INSN_REGISTERS (p->function, &p->function->instructions.items[i], o)
            HD_STORAGE_WORDS (&p->storage, o->value, word)
                gather(p, word);
    }
    for (uint32_t s = 0; s < block->succ_count && issued[block->end] - first + 1 < p->iw; s++)
        gather_after(p, hd_block_successors(p->cfg, p->block)[s]);
    if (!p->gathered.count)
        return;
    qsort(p->gathered.items, p->gathered.count, sizeof *p->gathered.items, compare_entries);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < p->gathered.count; i++)
        if (p->gathered.items[i].word != p->gathered.items[kept - 1].word)
            p->gathered.items[kept++] = p->gathered.items[i];
    p->gathered.count = kept;
}

static bool same_entry(bow_entry a, bow_entry b)
{
    return a.word == b.word && a.chain == b.chain && a.near_read == b.near_read &&
           (a.chain != CHAIN_GOOD || a.next == b.next);
}

static bool keep_entries(bow_pass *p)
{
    bow_list *list = &p->entries[p->block];
    bool same = list->known && list->count == p->gathered.count;
    for (uint32_t i = 0; same && i < list->count; i++)
        same = same_entry(list->items[i], p->gathered.items[i]);
    if (same)
        return false;
    if (list->capacity < p->gathered.count) {
        list->capacity = p->gathered.count;
        list->items = HD_ARENA_ARRAY(p->arena, bow_entry, list->capacity);
    }
    list->known = true;
    list->count = p->gathered.count;
    if (list->count)
        memcpy(list->items, p->gathered.items, list->count * sizeof *list->items);
    return true;
}

/* true where the block's entry list changed. */
static bool visit(bow_pass *p, uint32_t b)
{
    const hd_block *block = &p->cfg->blocks[b];
    p->block = b;
    p->cut_at = HD_NONE;
    p->visit++;
    for (uint32_t i = block->end; i-- > block->first;) {
        hd_insn_prefetch(p->function, i - HD_PREFETCH_AHEAD);
        if (!hd_storage_skips(&p->storage, i))
            step(p, i);
    }
    gather_entries(p);
    return keep_entries(p);
}

/* ---- the function ------------------------------------------------------------------------------------------------ */

static bool sweep(bow_pass *p, hd_bitset *due)
{
    bool changed = false;
    for (uint32_t i = 0; i < p->cfg->reachable_count; i++) {
        uint32_t b = p->cfg->post_order[i];
        if (!hd_bitset_has(due, b))
            continue;
        hd_bitset_remove(due, b);
        if (!visit(p, b))
            continue;
        const uint32_t *from = hd_block_predecessors(p->cfg, b);
        for (uint32_t e = 0; e < p->cfg->blocks[b].pred_count; e++)
            hd_bitset_add(due, from[e]);
        changed = true;
    }
    return changed;
}

static void solve(bow_pass *p)
{
    hd_bitset due = hd_bitset_new(p->arena, p->cfg->block_count);
    for (uint32_t i = 0; i < p->cfg->reachable_count; i++)
        hd_bitset_add(&due, p->cfg->post_order[i]);
    for (uint32_t round = 0; round < HD_BOW_ROUNDS; round++)
        if (!sweep(p, &due))
            return;
    p->last_round = true;
    for (uint32_t i = 0; i < p->cfg->reachable_count; i++)
        hd_bitset_add(&due, p->cfg->post_order[i]);
    sweep(p, &due);
}

static void number_tags(bow_pass *p)
{
    const hd_function *f = p->function;
    p->tag_first = HD_ARENA_ARRAY(p->arena, uint32_t, f->instructions.count + 1);
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        uint32_t count = 0;
        HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
            count += !hd_storage_skips(&p->storage, i) && o->flags & HD_OPERAND_DEF && is_tracked(p, o);
        p->tag_first[i + 1] = p->tag_first[i] + count;
    }
    p->tags = HD_ARENA_ARRAY(p->arena, uint8_t, p->tag_first[f->instructions.count]); /* unreachable code: both */
}

static void annotate(bow_pass *p)
{
    static const char *const names[] = {"destinations to both", "destinations to the register file only",
                                        "destinations to the window only"};
    hd_function *f = p->function;
    uint64_t counts[3] = {0};
    hd_annotations_remove(f, "bow");
    hd_array_reserve(&f->annotations, (uint64_t)f->annotations.count + p->tag_first[f->instructions.count] + 1);
    for (uint32_t i = 0; i < f->instructions.count; i++)
        for (uint32_t t = p->tag_first[i]; t < p->tag_first[i + 1]; t++) {
            counts[p->tags[t]]++;
            hd_annotate(f, (hd_annotation){.kind = HD_ANNOTATION_BOW,
                                           .slot = (uint16_t)(t - p->tag_first[i]),
                                           .instruction = i,
                                           .value = p->tags[t]});
        }
    hd_annotate(f, (hd_annotation){.kind = HD_ANNOTATION_BOW_WINDOW, .instruction = HD_NONE, .value = p->iw});
    hd_annotations_sort(f);
    for (uint32_t c = 0; c < 3; c++)
        hd_statistic_add(p->context, names[c], counts[c]);
}

bool hd_pass_bow(hd_pass_context *context)
{
    hd_function *f = context->function;
    bow_pass p = {
        .context = context, .function = f, .arena = &context->scratch, .iw = hd_option_number(context, "iw", 3)};
    p.cfg = hd_function_cfg(f);
    p.liveness = hd_analysis_get(context, HD_ANALYSIS_LIVENESS);
    p.uniformity = hd_analysis_get(context, HD_ANALYSIS_UNIFORMITY);
    p.entries = HD_ARENA_ARRAY(p.arena, bow_list, p.cfg->block_count);
    p.storage = *(const hd_storage *)hd_analysis_get(context, HD_ANALYSIS_STORAGE);
    p.in_flight = hd_async_words(f, &p.storage, p.arena);
    p.states = HD_ARENA_ARRAY(p.arena, bow_state, p.storage.words);
    p.live_in = ((const hd_liveness *)hd_analysis_get(context, HD_ANALYSIS_LIVE_WORDS))->live_in;
    p.post_number = HD_ARENA_ARRAY(p.arena, uint32_t, p.cfg->block_count);
    for (uint32_t i = 0; i < p.cfg->reachable_count; i++)
        p.post_number[p.cfg->post_order[i]] = i;
    number_tags(&p);
    find_cut_edges(&p);
    p.two_sided = hd_two_sided_blocks(p.cfg, p.uniformity, p.arena);
    solve(&p);
    annotate(&p);
    hd_array_free(&p.gathered);
    return true;
}
