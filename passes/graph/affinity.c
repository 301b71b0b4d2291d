/* The register affinity graph: see affinity.h. Linear in operands and words: edges are sorted by counting sort. */
#include "passes/graph/affinity.h"

#include "ir/form.h"
#include "passes/analysis/async_spans.h"
#include "passes/analysis/executions.h"

enum { MERGE_AT = 1 << 20 };

typedef struct gathering {
    hd_function *function;
    hd_storage storage;
    const hd_bitset *in_flight; /* words of asynchronous instructions; NULL: none */
    /* one for each pair of each instruction; the first `merged` are sorted and unique */
    HD_ARRAY(hd_affinity_edge) edges;
    uint32_t merged;
    hd_u32_array sources; /* words that the instruction reads */
    uint32_t *stamp;      /* by word: 1 + the last instruction that read it */
} gathering;

static void add_source(gathering *g, uint32_t ordinal, uint32_t reg)
{
    HD_STORAGE_WORDS (&g->storage, reg, word) {
        if (g->stamp[word] == ordinal + 1 || (g->in_flight && hd_bitset_has(g->in_flight, word)))
            continue;
        g->stamp[word] = ordinal + 1;
        hd_array_push(&g->sources, word);
    }
}

static void gather_sources(gathering *g, uint32_t ordinal)
{
    const hd_function *f = g->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    hd_array_clear(&g->sources);
    HD_INSN_REGISTERS (f, insn, o)
        if (o->flags & HD_OPERAND_USE)
            add_source(g, ordinal, o->value);
    if (hd_insn_form(f, insn)->behaviour & HD_BEHAVE_RETURN)
        for (uint32_t i = 0; i < f->register_results.count; i++)
            add_source(g, ordinal, f->register_results.items[i]);
}

static void join_sources(gathering *g, uint64_t weight)
{
    const uint32_t *s = g->sources.items;
    for (uint32_t i = 0; i < g->sources.count; i++)
        for (uint32_t k = i + 1; k < g->sources.count && k <= i + HD_AFFINITY_REACH; k++)
            hd_array_push(&g->edges, (hd_affinity_edge){hd_min(s[i], s[k]), hd_max(s[i], s[k]), weight});
}

/* Stable counting sort by one end. */
static void sort_by_end(const hd_affinity_edge *from, hd_affinity_edge *to, uint32_t count, uint32_t *first,
                        uint32_t words, bool by_a)
{
    memset(first, 0, ((size_t)words + 1) * sizeof *first);
    for (uint32_t i = 0; i < count; i++)
        first[(by_a ? from[i].a : from[i].b) + 1]++;
    for (uint32_t w = 0; w < words; w++)
        first[w + 1] += first[w];
    for (uint32_t i = 0; i < count; i++)
        to[first[by_a ? from[i].a : from[i].b]++] = from[i];
}

/* Sorts the edges and merges equal ones. */
static void merge_equal(gathering *g)
{
    uint32_t count = g->edges.count, kept = 0, words = g->storage.words;
    hd_affinity_edge *other = hd_malloc(((size_t)count + 1) * sizeof *other), *e = g->edges.items;
    uint32_t *first = hd_malloc(((size_t)words + 2) * sizeof *first);
    sort_by_end(e, other, count, first, words, false);
    sort_by_end(other, e, count, first, words, true);
    for (uint32_t i = 0; i < count; i++) {
        if (!kept || e[kept - 1].a != e[i].a || e[kept - 1].b != e[i].b) {
            e[kept++] = e[i];
            continue;
        }
        e[kept - 1].weight += e[i].weight;
        if (e[kept - 1].weight > HD_EXECUTIONS_MOST)
            e[kept - 1].weight = HD_EXECUTIONS_MOST;
    }
    g->edges.count = g->merged = kept;
    free(first);
    free(other);
}

/* Merges at intervals to bound the array's size by a small multiple of the number of distinct edges. */
static void gather_edges(gathering *g, const hd_executions *executions)
{
    const hd_cfg *cfg = hd_function_cfg(g->function);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        for (uint32_t i = cfg->blocks[b].first; i < cfg->blocks[b].end && cfg->blocks[b].reachable; i++) {
            if (hd_storage_skips(&g->storage, i))
                continue;
            gather_sources(g, i);
            join_sources(g, executions->of_block[b]);
            if (g->edges.count > MERGE_AT && g->edges.count / 4 > g->merged)
                merge_equal(g);
        }
    if (g->edges.count)
        merge_equal(g);
}

void hd_affinity_build(hd_pass_context *context, hd_affinity *affinity)
{
    uint32_t factor = hd_option_number(context, "factor", HD_AFFINITY_FACTOR);
    gathering g = {.function = context->function,
                   .storage = *(const hd_storage *)hd_analysis_get(context, HD_ANALYSIS_STORAGE)};
    hd_executions executions = hd_executions_estimate(context->function, &g.storage, factor, &context->scratch);
    *affinity = (hd_affinity){.words = g.storage.words};
    g.stamp = HD_ARENA_ARRAY(&context->scratch, uint32_t, g.storage.words);
    g.in_flight = hd_async_words(context->function, &g.storage, &context->scratch);
    gather_edges(&g, &executions);
    affinity->edges = hd_arena_copy(&context->scratch, g.edges.items, g.edges.count * sizeof *g.edges.items);
    affinity->count = g.edges.count;
    for (uint32_t i = 0; i < affinity->count; i++)
        affinity->weight += affinity->edges[i].weight;
    hd_array_free(&g.edges);
    hd_array_free(&g.sources);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* Radix sort, least significant digit first; digits above those of the highest weight are skipped. */
uint32_t *hd_affinity_by_weight(const hd_affinity_edge *edges, uint32_t count, hd_arena *arena)
{
    uint32_t *order = HD_ARENA_ARRAY(arena, uint32_t, count), *other = HD_ARENA_ARRAY(arena, uint32_t, count);
    uint64_t highest = 0;
    for (uint32_t i = 0; i < count; i++) {
        order[i] = count - 1 - i;
        highest = hd_max(highest, edges[i].weight);
    }
    for (uint32_t shift = 0; shift < 64 && highest >> shift; shift += DIGIT_BITS) {
        uint32_t first[DIGITS + 1] = {0}, *swap = order;
        for (uint32_t i = 0; i < count; i++)
            first[(edges[i].weight >> shift) % DIGITS + 1]++;
        for (uint32_t d = 0; d < DIGITS; d++)
            first[d + 1] += first[d];
        for (uint32_t i = 0; i < count; i++)
            other[first[(edges[order[i]].weight >> shift) % DIGITS]++] = order[i];
        order = other;
        other = swap;
    }
    return order;
}
