/* What the files of ltrf share: register-intervals while they are made. Private to passes/technique/ltrf*.c. */
#ifndef HD_PASSES_TECHNIQUE_LTRF_WORK_H
#define HD_PASSES_TECHNIQUE_LTRF_WORK_H

#include "passes/analysis/liveness.h"

typedef struct ltrf_interval {
    uint32_t header;       /* its first instruction that is issued; where it is empty, the block's first */
    uint32_t block;        /* the header's */
    uint32_t before;       /* the interval before it in its block; HD_NONE where it begins the block */
    const uint32_t *words; /* its working set, ascending */
    uint32_t word_count;
    /* a single instruction that is never merged: a call, one wider than the cache, one at which the warp may run other
     * code */
    bool alone;
    bool fixed;  /* never merged into another: the function's entry, and sides after which other code may wait */
    bool hollow; /* a block without an issued instruction: it has no header to annotate and is never merged */
} ltrf_interval;

/* The order in which the warp runs blocks: the reachable ones, and hubs (passes/analysis/liveness.h). */
typedef struct ltrf_order {
    uint32_t nodes;
    const uint32_t *first, *successors;          /* rows by node */
    const uint32_t *before_first, *predecessors; /* likewise */
} ltrf_order;

typedef struct ltrf_plan {
    const hd_function *function;
    const hd_cfg *cfg;
    const hd_storage *storage;
    hd_arena *arena;
    uint32_t most;              /* N */
    const hd_bitset *in_flight; /* words of asynchronous instructions; NULL: none */
    uint32_t *word_first;       /* by instruction: where its words begin in `words` */
    hd_u32_array words;
    ltrf_order order;
    hd_bitset alone; /* by instruction */
    hd_bitset fixed; /* by block */
    /* by block: the order in which candidates are tried: deepest in loops, then in reverse post-order */
    uint32_t *rank;
    HD_ARRAY(ltrf_interval) intervals;
    /* by block: the interval at its start and at its end; HD_NONE: not reached. first, by hub: the first predecessor
     * interval that scanned it, after which all its successors are in an interval; HD_NONE: not scanned yet */
    uint32_t *first, *last;
    uint32_t *merged_into; /* by interval: the one that it is finally merged into (hd_ltrf_of) */
} ltrf_plan;

/* Distinct words that an instruction accesses, in operand order, results that a return reads last; none for
 * identities. */
typedef struct ltrf_word_list {
    const uint32_t *items;
    uint32_t count;
} ltrf_word_list;
static inline ltrf_word_list ltrf_words(const ltrf_plan *plan, uint32_t ordinal)
{
    uint32_t first = plan->word_first[ordinal];
    return (ltrf_word_list){hd_array_at(&plan->words, first), plan->word_first[ordinal + 1] - first};
}
static inline bool ltrf_is_hub(const ltrf_plan *plan, uint32_t node) { return node > plan->cfg->block_count; }
bool ltrf_reached(const ltrf_plan *plan, uint32_t block);

/* fills `alone` and `fixed`: passes/technique/ltrf_alone.c */
void ltrf_find_alone(ltrf_plan *plan, const hd_uniformity *uniformity);
void ltrf_form(ltrf_plan *plan);  /* algorithm 1: passes/technique/ltrf_form.c */
void ltrf_merge(ltrf_plan *plan); /* algorithm 2, until nothing merges: passes/technique/ltrf_merge.c */

/* A heap of ranks: the least one first. */
static inline void ltrf_heap_push(hd_u32_array *heap, uint32_t rank)
{
    hd_array_push(heap, rank);
    uint32_t at = heap->count - 1;
    for (; at && heap->items[(at - 1) / 2] > rank; at = (at - 1) / 2)
        heap->items[at] = heap->items[(at - 1) / 2];
    heap->items[at] = rank;
}

static inline uint32_t ltrf_heap_pop(hd_u32_array *heap)
{
    uint32_t least = heap->items[0], last = hd_array_pop(heap), at = 0;
    for (uint32_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && heap->items[child + 1] < heap->items[child])
            child++;
        if (heap->items[child] >= last)
            break;
        heap->items[at] = heap->items[child];
    }
    if (heap->count)
        heap->items[at] = last;
    return least;
}

#endif
