/* ltrf(n=N, dead): register-intervals, whose registers are prefetched into a register cache when the warp enters them.
 * Sadrosadati et al., "LTRF: Enabling High-Capacity Register Files for GPUs via Hardware/Software Cooperative Register
 * Prefetching", ASPLOS 2018, section 3.3.
 *
 * An interval is a single-entry part of the control flow that accesses at most N words of the register file; its entry
 * is the header. The header is annotated with these words; an instruction without annotation belongs to the interval of
 * the instruction that the warp issued before it.
 *
 * Predecessors and successors are those of the warp-order graph (passes/analysis/warp_order.c), not of the control-flow
 * graph: where a branch may diverge, the end of one side is followed by the other side. An interval along control-flow
 * edges alone could be entered in its middle with another interval's words in the cache.
 *
 *   passes/technique/ltrf_alone.c  instructions that are intervals of their own: calls, instructions that access more
 *                                  than N words (the surplus bypasses the cache, with a warning), waits for other
 *                                  warps, and waits inside of divergent code
 *   passes/technique/ltrf_form.c   algorithm 1: blocks to intervals
 *   passes/technique/ltrf_merge.c  algorithm 2: merges intervals until nothing changes
 *
 * Words that asynchronous instructions read or write (ir/asynchronous.def) are in no interval. The hardware accesses
 * them while the warp continues, so every access of these words bypasses the cache.
 *
 * Irreducible graphs need no special case: a block entered from two intervals is a header, unless everything fits into
 * one. Unreachable code is in no interval.
 *
 * dead (LTRF+): marks source operands none of whose words is live in the warp after the instruction
 * (passes/analysis/warp_words.h) or written by it.
 *
 * Complexity: near-linear in instructions, edges of the warp order, and intervals times N. Deterministic. */
#include "passes/technique/ltrf_work.h"
#include "passes/analysis/warp_words.h"

enum { LTRF_USUAL = 16, LTRF_SLOTS = 32 };

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* Unless the list of the instruction, which begins at `first`, has it. */
static void add_word(hd_u32_array *words, uint32_t first, uint32_t word)
{
    for (uint32_t i = first; i < words->count; i++)
        if (words->items[i] == word)
            return;
    hd_array_push(words, word);
}

/* Registers of asynchronous instructions stay in the main register file. */
static void add_register(const ltrf_plan *p, hd_u32_array *words, uint32_t first, uint32_t reg)
{
    HD_STORAGE_WORDS (p->storage, reg, word)
        if (!p->in_flight || !hd_bitset_has(p->in_flight, word))
            add_word(words, first, word);
}

static void list_words(ltrf_plan *p)
{
    const hd_function *f = p->function;
    hd_array_reserve(&p->words, 2 * f->instructions.count);
    p->word_first = hd_arena_alloc(p->arena, ((size_t)f->instructions.count + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        uint32_t first = p->word_first[i] = p->words.count;
        if (hd_storage_skips(p->storage, i))
            continue;
        HD_INSN_REGISTERS (f, insn, o)
            add_register(p, &p->words, first, o->value);
        if (!f->register_results.count || !(hd_insn_form(f, insn)->behaviour & HD_BEHAVE_RETURN))
            continue;
        for (uint32_t r = 0; r < f->register_results.count; r++)
            add_register(p, &p->words, first, f->register_results.items[r]);
    }
    p->word_first[f->instructions.count] = p->words.count;
}

/* ---- the order --------------------------------------------------------------------------------------------------- */

static bool is_in_order(const hd_cfg *cfg, uint32_t node)
{
    return node > cfg->block_count || (node < cfg->block_count && cfg->blocks[node].reachable);
}

/* Over edges between reachable blocks and hubs. `all`: NULL uses the edges of the control flow. */
static ltrf_order order_of(const hd_cfg *cfg, const hd_warp_order *all, hd_arena *arena)
{
    uint32_t nodes = all ? all->nodes : cfg->block_count + 1,
             *first = HD_ARENA_ARRAY(arena, uint32_t, (size_t)nodes + 1);
    uint32_t *before_first = HD_ARENA_ARRAY(arena, uint32_t, (size_t)nodes + 2);
    hd_u32_array successors = {0};
    for (uint32_t v = 0; v < nodes; v++) {
        first[v + 1] = first[v];
        if (!is_in_order(cfg, v))
            continue;
        uint32_t count = all ? all->successor_first[v + 1] - all->successor_first[v] : cfg->blocks[v].succ_count;
        const uint32_t *to = all ? all->successors + all->successor_first[v] : hd_block_successors(cfg, v);
        for (uint32_t e = 0; e < count; e++) {
            if (!is_in_order(cfg, to[e]))
                continue;
            before_first[to[e] + 2]++;
            hd_array_push(&successors, to[e]);
        }
        first[v + 1] = successors.count;
    }
    uint32_t *before = HD_ARENA_ARRAY(arena, uint32_t, (size_t)successors.count + 1);
    for (uint32_t v = 0; v < nodes; v++)
        before_first[v + 2] += before_first[v + 1];
    for (uint32_t v = 0; v < nodes; v++)
        for (uint32_t e = first[v]; e < first[v + 1]; e++)
            before[before_first[successors.items[e] + 1]++] = v;
    const uint32_t *copy = hd_arena_copy(arena, successors.items, successors.count * sizeof(uint32_t));
    hd_array_free(&successors);
    return (ltrf_order){nodes, first, copy, before_first, before};
}

typedef struct sort_key {
    uint32_t depth, number, block; /* in loops; in reverse post-order */
} sort_key;

static int compare_keys(const void *left, const void *right)
{
    const sort_key *a = left, *b = right;
    if (a->depth != b->depth)
        return a->depth > b->depth ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static uint32_t *rank_blocks(const hd_cfg *cfg, hd_arena *arena)
{
    uint32_t count = cfg->reachable_count, *rank = HD_ARENA_ARRAY(arena, uint32_t, cfg->block_count);
    sort_key *keys = HD_ARENA_ARRAY(arena, sort_key, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t b = cfg->reverse_post_order[i], loop = cfg->blocks[b].loop;
        keys[i] = (sort_key){loop == HD_NONE ? 0 : cfg->loops[loop].depth, i, b};
    }
    qsort(keys, count, sizeof *keys, compare_keys);
    for (uint32_t i = 0; i < count; i++)
        rank[keys[i].block] = i;
    return rank;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static bool is_header(ltrf_plan *p, uint32_t interval)
{
    return p->merged_into[interval] == interval && !p->intervals.items[interval].hollow;
}

static uint32_t count_headers(ltrf_plan *p)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->intervals.count; i++)
        count += is_header(p, i);
    return count;
}

/* The number of intervals along control-flow edges alone. */
static uint32_t count_by_control_flow(const ltrf_plan *p, hd_arena *arena)
{
    ltrf_plan other = *p;
    memset(&other.intervals, 0, sizeof other.intervals);
    other.arena = arena;
    other.order = order_of(p->cfg, NULL, arena);
    ltrf_form(&other);
    ltrf_merge(&other);
    uint32_t count = count_headers(&other);
    hd_array_free(&other.intervals);
    return count;
}

static void annotate_intervals(ltrf_plan *p, hd_pass_context *context)
{
    hd_function *f = context->function;
    uint64_t words = 0;
    hd_annotate(f, (hd_annotation){.kind = HD_ANNOTATION_LTRF_SIZE, .instruction = HD_NONE, .value = p->most});
    for (uint32_t i = 0; i < p->intervals.count; i++) {
        const ltrf_interval *interval = &p->intervals.items[i];
        if (!is_header(p, i))
            continue;
        hd_annotate_list(f, (hd_annotation){.kind = HD_ANNOTATION_LTRF_PREFETCH, .instruction = interval->header},
                         interval->words, interval->word_count);
        words += interval->word_count;
    }
    hd_statistic_add(context, "register-intervals", count_headers(p));
    if (context->counts)
        hd_statistic_add(context, "register-intervals along control-flow edges only",
                         count_by_control_flow(p, p->arena));
    hd_statistic_add(context, "registers in working sets", words);
}

static void warn_of_wide_ones(const ltrf_plan *p, hd_pass_context *context)
{
    const hd_function *f = p->function;
    uint32_t count = 0, first = HD_NONE;
    HD_BITSET_EACH (&p->alone, i) {
        if (ltrf_words(p, i).count <= p->most)
            continue;
        count++;
        first = first == HD_NONE ? i : first;
    }
    if (count)
        hd_report(context->diagnostics, HD_DIAG_WIDE_INSTRUCTION, f->module->source, f->instructions.items[first].span,
                  "%u words are more than an interval of %u has: what is too much bypasses the register cache (%u "
                  "instructions)",
                  ltrf_words(p, first).count, p->most, count);
    hd_statistic_add(context, "instructions wider than the cache", count);
}

/* ---- dead operands ----------------------------------------------------------------------------------------------- */

static bool writes(const ltrf_plan *p, const hd_instruction *insn, uint32_t word)
{
    HD_INSN_REGISTERS (p->function, insn, o)
        if (o->flags & HD_OPERAND_DEF)
            HD_STORAGE_WORDS (p->storage, o->value, other)
                if (other == word)
                    return true;
    return false;
}

/* The walk is at the point after the instruction. */
static bool is_dead(const ltrf_plan *p, const hd_live_walk *walk, const hd_instruction *insn, const hd_operand *o)
{
    HD_STORAGE_WORDS (p->storage, o->value, word)
        if (hd_live_has(walk, word) || writes(p, insn, word))
            return false;
    return hd_storage_count(p->storage, o->value) != 0;
}

static uint32_t dead_slots(const ltrf_plan *p, const hd_live_walk *walk, const hd_instruction *insn)
{
    uint32_t bits = 0, slots = insn->flags & HD_INSN_OPAQUE ? 0 : hd_insn_source_count(p->function, insn);
    for (uint32_t slot = 0; slot < slots && slot < LTRF_SLOTS; slot++) {
        uint32_t operand = hd_insn_source_slot(p->function, insn, slot);
        if (operand != HD_NONE && is_dead(p, walk, insn, &p->function->operands.items[operand]))
            bits |= 1u << slot;
    }
    return bits;
}

static void annotate_dead(ltrf_plan *p, hd_pass_context *context)
{
    hd_function *f = context->function;
    const hd_warp_words *words = hd_analysis_get(context, HD_ANALYSIS_WARP_WORDS);
    uint64_t count = 0;
    hd_live_walk walk;
    hd_warp_words_walk(&walk, p->arena, words);
    for (uint32_t b = 0; b < p->cfg->block_count; b++) {
        if (!p->cfg->blocks[b].reachable)
            continue;
        hd_live_start(&walk, b);
        for (uint32_t i = p->cfg->blocks[b].end; i-- > p->cfg->blocks[b].first; hd_live_step(&walk)) {
            uint32_t bits = hd_storage_skips(p->storage, i) ? 0 : dead_slots(p, &walk, &f->instructions.items[i]);
            count += (uint32_t)__builtin_popcount(bits);
            if (bits)
                hd_annotate(f, (hd_annotation){.kind = HD_ANNOTATION_LTRF_DEAD, .instruction = i, .value = bits});
        }
    }
    hd_statistic_add(context, "dead-operand bits", count);
}

bool hd_pass_ltrf(hd_pass_context *context)
{
    hd_function *f = context->function;
    ltrf_plan p = {.function = f, .arena = &context->scratch, .most = hd_option_number(context, "n", LTRF_USUAL)};
    hd_annotations_remove(f, "ltrf");
    if (!f->instructions.count)
        return true;
    p.cfg = hd_function_cfg(f);
    p.storage = hd_analysis_get(context, HD_ANALYSIS_STORAGE);
    p.order = order_of(p.cfg, hd_analysis_get(context, HD_ANALYSIS_WARP_ORDER), p.arena);
    p.rank = rank_blocks(p.cfg, p.arena);
    p.in_flight = hd_async_words(f, p.storage, p.arena);
    list_words(&p);
    ltrf_find_alone(&p, hd_analysis_get(context, HD_ANALYSIS_UNIFORMITY));
    ltrf_form(&p);
    ltrf_merge(&p);
    if (hd_option_text(context, "dead"))
        annotate_dead(&p, context);
    annotate_intervals(&p, context);
    warn_of_wide_ones(&p, context);
    hd_annotations_sort(f);
    hd_array_free(&p.intervals);
    hd_array_free(&p.words);
    return true;
}
