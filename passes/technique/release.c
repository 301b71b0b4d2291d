/* release(table=BYTES): release flags for a renamed register file (RFV). Jeon et al., "GPU Register File
 * Virtualization", MICRO 2015: per-instruction release flags (pir), per-branch release flags (pbr), and which registers
 * are renamed (passes/technique/release_choose.c).
 *
 * A flag frees the physical register of a word for other warps. It takes effect when all operands are collected and
 * pending writes are complete, whether or not a guard holds; releasing an unmapped word is a no-op. With WL the
 * warp-level liveness of words (passes/analysis/warp_words.h):
 *
 *   pir  a bit for each of the first three sources: each of its renamed words is not in WL after the instruction, and
 *        is not in a destination of it (which may be written in some lanes only and has its own live range)
 *   pbr  a list of words before an instruction: at the start of block v, those in WL at the end of any block that the
 *        warp may have run before v (warp order, not control flow) and not in WL into v; elsewhere, those whose live
 *        range ends with the instruction before, but that have no bit: later sources, half of a wide source, results
 *        that nothing reads, and registers in flight until that instruction waited
 *
 * So at each point of each execution only words of WL are mapped. Live ranges that end with the last instruction of a
 * block are released at the starts of the blocks that may follow. Identities of architected code are not issued and
 * carry no flags; a block of identities only propagates its releases to its successors.
 *
 * A function that may return while an asynchronous instruction has its registers in flight gets no flags.
 *
 * Words that are not renamed have a physical register of their own and are never released. (In the paper they take the
 * lowest numbers; here a list names the renamed ones, and numbers are unchanged.)
 *
 * Complexity: linear in operands, flags and sizes of live sets, times warp-order edges at the starts of blocks.
 * Deterministic. */
#include "passes/technique/release_work.h"

#include "base/compare.h"

enum { SLOTS = 3 };

typedef struct release_mark {
    uint32_t instruction, word;
} release_mark;

typedef struct release_pass {
    hd_pass_context *context;
    hd_function *function;
    const hd_cfg *cfg;
    const hd_warp_words *words;
    const hd_warp_order *order;
    hd_live_walk walk;
    hd_bitset renamed;
    uint8_t *pir;                 /* by instruction */
    HD_ARRAY(release_mark) marks; /* pbr: in no order */
    /* by block: live ranges that end with it but cannot be released in it; by hub: those that may end before it */
    hd_u32_array *left;
    uint32_t *stamp; /* by word: the last round that listed it */
    uint32_t round;
    uint64_t at_operands, at_starts, after;
} release_pass;

/* ---- one instruction --------------------------------------------------------------------------------------------- */

typedef struct ending {
    release_pass *pass;
    uint32_t host; /* instruction whose list releases words without a bit; HD_NONE: that of the following blocks */
    uint32_t block;
} ending;

static bool is_destination(const release_pass *p, const hd_instruction *insn, uint32_t word)
{
    const hd_storage *storage = &p->words->storage;
    HD_INSN_REGISTERS (p->function, insn, o)
        if (o->flags & HD_OPERAND_DEF || insn->flags & HD_INSN_OPAQUE)
            HD_STORAGE_WORDS (storage, o->value, w)
                if (w == word)
                    return true;
    return false;
}

/* A renamed word that is not live after the instruction and not listed there yet. */
static bool ends(const release_pass *p, uint32_t word)
{
    return hd_bitset_has(&p->renamed, word) && !hd_live_has(&p->walk, word) && p->stamp[word] != p->round;
}

static void release_later(const ending *e, uint32_t word)
{
    release_pass *p = e->pass;
    p->stamp[word] = p->round;
    if (e->host == HD_NONE) {
        hd_array_push(&p->left[e->block], word);
        return;
    }
    hd_array_push(&p->marks, (release_mark){e->host, word});
    p->after++;
}

/* Whether the bit of this source may be set, and whether it would release anything yet. */
static bool may_release(const release_pass *p, const hd_instruction *insn, uint32_t reg)
{
    bool any = false;
    HD_STORAGE_WORDS (&p->words->storage, reg, word) {
        if (!hd_bitset_has(&p->renamed, word))
            continue;
        if (hd_live_has(&p->walk, word) || is_destination(p, insn, word))
            return false;
        any = any || p->stamp[word] != p->round;
    }
    return any;
}

static void set_bits(release_pass *p, uint32_t ordinal, const hd_instruction *insn)
{
    for (uint32_t slot = 0; slot < SLOTS && !(insn->flags & HD_INSN_OPAQUE); slot++) {
        uint32_t operand = hd_insn_source_slot(p->function, insn, slot);
        if (operand == HD_NONE)
            return;
        uint32_t reg = p->function->operands.items[operand].value;
        if (!may_release(p, insn, reg))
            continue;
        p->pir[ordinal] |= (uint8_t)(1u << slot);
        p->at_operands++;
        HD_STORAGE_WORDS (&p->words->storage, reg, word)
            p->stamp[word] = p->round;
    }
}

/* The walk is at the point after the instruction. */
static void flag_instruction(const ending *e, uint32_t ordinal)
{
    release_pass *p = e->pass;
    const hd_instruction *insn = &p->function->instructions.items[ordinal];
    p->round++;
    set_bits(p, ordinal, insn);
    HD_INSN_REGISTERS (p->function, insn, o)
        HD_STORAGE_WORDS (&p->words->storage, o->value, word)
            if (ends(p, word))
                release_later(e, word);
    HD_ASYNC_USES (p->words->thread->spans, ordinal, reg) /* asynchronous accesses complete here */
        HD_STORAGE_WORDS (&p->words->storage, reg, word)
            if (ends(p, word))
                release_later(e, word);
}

static void flag_block(release_pass *p, uint32_t b)
{
    const hd_block *block = &p->cfg->blocks[b];
    ending e = {p, HD_NONE, b};
    for (hd_live_start(&p->walk, b); p->walk.ordinal > block->first; hd_live_step(&p->walk)) {
        uint32_t ordinal = p->walk.ordinal - 1;
        if (hd_storage_skips(&p->words->storage, ordinal))
            continue;
        flag_instruction(&e, ordinal);
        e.host = ordinal;
    }
}

/* ---- starts of blocks -------------------------------------------------------------------------------------------- */

static uint32_t first_issued(const release_pass *p, uint32_t b)
{
    const hd_block *block = &p->cfg->blocks[b];
    for (uint32_t i = block->first; i < block->end; i++)
        if (!hd_storage_skips(&p->words->storage, i))
            return i;
    return HD_NONE;
}

static void list(release_pass *p, hd_u32_array *found, const uint32_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (p->stamp[words[i]] == p->round || !hd_bitset_has(&p->renamed, words[i]))
            continue;
        p->stamp[words[i]] = p->round;
        hd_array_push(found, words[i]);
    }
}

/* Parameters in registers are live when the function begins. */
static void list_parameters(release_pass *p, hd_u32_array *found)
{
    const hd_function *f = p->function;
    for (uint32_t i = 0; i < f->register_parameters.count; i++)
        HD_STORAGE_WORDS (&p->words->storage, f->register_parameters.items[i], word)
            list(p, found, &word, 1);
}

static bool is_hub(const release_pass *p, uint32_t node) { return node > p->cfg->block_count; }

/* Words released before the block: those that may be mapped at its start and are not live there; nothing is live at a
 * hub. */
static void find_ended(release_pass *p, uint32_t v, hd_u32_array *found)
{
    const hd_warp_words *words = p->words;
    hd_register_set in = is_hub(p, v) ? (hd_register_set){0} : words->in[v];
    const uint32_t *latest = NULL;
    p->round++;
    hd_array_clear(found);
    for (uint32_t i = 0; i < in.count; i++)
        p->stamp[in.items[i]] = p->round;
    for (uint32_t e = p->order->predecessor_first[v]; e < p->order->predecessor_first[v + 1]; e++) {
        uint32_t u = p->order->predecessors[e];
        list(p, found, p->left[u].items, p->left[u].count);
        if (is_hub(p, u))
            continue;
        if (words->out[u].items != latest) /* sets may be shared */
            list(p, found, words->out[u].items, words->out[u].count);
        latest = words->out[u].items;
    }
    if (v == 0)
        list_parameters(p, found);
}

/* A hub, or a block without an issued instruction; true where it propagates more than before. */
static bool propagate(release_pass *p, uint32_t v, hd_u32_array *found)
{
    find_ended(p, v, found);
    bool more = found->count > p->left[v].count;
    if (more) {
        hd_array_clear(&p->left[v]);
        memcpy(hd_array_extend(&p->left[v], found->count), found->items, found->count * sizeof(uint32_t));
    }
    return more;
}

static void flag_starts(release_pass *p)
{
    hd_u32_array found = {0};
    for (bool more = true; more;) { /* once, or twice where there are such blocks */
        more = false;
        for (uint32_t v = p->cfg->block_count + 1; v < p->order->nodes; v++)
            propagate(p, v, &found);
        for (uint32_t v = 0; p->words->storage.architected && v < p->cfg->block_count; v++)
            if (p->cfg->blocks[v].reachable && first_issued(p, v) == HD_NONE)
                more |= propagate(p, v, &found);
    }
    for (uint32_t v = 0; v < p->cfg->block_count; v++) {
        uint32_t host = p->cfg->blocks[v].reachable ? first_issued(p, v) : HD_NONE;
        if (host == HD_NONE)
            continue;
        find_ended(p, v, &found);
        p->at_starts += found.count;
        for (uint32_t i = 0; i < found.count; i++)
            hd_array_push(&p->marks, (release_mark){host, found.items[i]});
    }
    hd_array_free(&found);
}

/* ---- annotations ------------------------------------------------------------------------------------------------- */

/* By instruction: where its words begin in *sorted. */
static uint32_t *sort_marks(release_pass *p, uint32_t **sorted)
{
    uint32_t count = p->function->instructions.count;
    uint32_t *first = HD_ARENA_ARRAY(&p->context->scratch, uint32_t, (size_t)count + 2);
    *sorted = HD_ARENA_ARRAY(&p->context->scratch, uint32_t, (size_t)p->marks.count + 1);
    for (uint32_t m = 0; m < p->marks.count; m++)
        first[p->marks.items[m].instruction + 2]++;
    for (uint32_t i = 0; i < count; i++)
        first[i + 2] += first[i + 1];
    for (uint32_t m = 0; m < p->marks.count; m++)
        (*sorted)[first[p->marks.items[m].instruction + 1]++] = p->marks.items[m].word;
    return first;
}

static void annotate(release_pass *p, hd_register_set renamed)
{
    hd_function *f = p->function;
    uint32_t *sorted, *first = sort_marks(p, &sorted);
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        uint32_t count = first[i + 1] - first[i];
        if (p->pir[i])
            hd_annotate(f, (hd_annotation){.kind = HD_ANNOTATION_PIR, .instruction = i, .value = p->pir[i]});
        if (!count)
            continue;
        qsort(sorted + first[i], count, sizeof *sorted, hd_compare_u32);
        hd_annotate_list(f, (hd_annotation){.kind = HD_ANNOTATION_PBR, .instruction = i}, sorted + first[i], count);
    }
    hd_annotate_list(f, (hd_annotation){.kind = HD_ANNOTATION_RELEASE_RENAMED, .instruction = HD_NONE}, renamed.items,
                     renamed.count);
    hd_annotations_sort(f);
}

static void count(const release_pass *p, const release_life *lives, uint32_t renamed)
{
    uint32_t named = 0;
    for (uint32_t w = 0; w < p->words->storage.words; w++)
        named += lives[w].named;
    hd_statistic_add(p->context, "renamed registers", renamed);
    hd_statistic_add(p->context, "registers never released", named - renamed);
    hd_statistic_add(p->context, "last-use release bits (pir)", p->at_operands);
    hd_statistic_add(p->context, "registers in release lists at block starts (pbr)", p->at_starts);
    hd_statistic_add(p->context, "registers in release lists after instructions (pbr)", p->after);
}

static void flag_function(release_pass *p, const release_life *lives, hd_register_set renamed)
{
    hd_arena *scratch = &p->context->scratch;
    p->renamed = hd_bitset_new(scratch, p->words->storage.words + 1);
    for (uint32_t i = 0; i < renamed.count; i++)
        hd_bitset_add(&p->renamed, renamed.items[i]);
    p->pir = HD_ARENA_ARRAY(scratch, uint8_t, p->function->instructions.count + 1);
    p->left = HD_ARENA_ARRAY(scratch, hd_u32_array, p->order->nodes);
    p->stamp = HD_ARENA_ARRAY(scratch, uint32_t, p->words->storage.words + 1);
    hd_warp_words_walk(&p->walk, scratch, p->words);
    for (uint32_t b = 0; b < p->cfg->block_count; b++)
        if (p->cfg->blocks[b].reachable)
            flag_block(p, b);
    flag_starts(p);
    annotate(p, renamed);
    count(p, lives, renamed.count);
    for (uint32_t v = 0; v < p->order->nodes; v++)
        hd_array_free(&p->left[v]);
    hd_array_free(&p->marks);
}

bool hd_pass_release(hd_pass_context *context)
{
    hd_function *f = context->function;
    release_pass p = {.context = context, .function = f, .cfg = hd_function_cfg(f)};
    uint32_t most = release_capacity(context), before = f->annotations.count;
    hd_annotations_remove(f, "release");
    p.words = hd_analysis_get(context, HD_ANALYSIS_WARP_WORDS);
    p.order = hd_analysis_get(context, HD_ANALYSIS_WARP_ORDER);
    if (p.words->thread->spans && p.words->thread->spans->leaves)
        return f->annotations.count != before;
    release_life *lives = release_lives(f, p.words, &context->scratch);
    hd_register_set renamed = release_choose(lives, p.words->storage.words, most, &context->scratch);
    if (!renamed.count)
        return f->annotations.count != before;
    flag_function(&p, lives, renamed);
    return true;
}
