/* Shared declarations of the estimate. Private to passes/estimate/estimate*.c.
 *
 *   estimate.c         features of a function, and the model over them
 *   estimate_values.c  the registers that count, and those that are another one plus a constant
 *   estimate_loops.c   copies of a loop's body after unrolling by ptxas
 *   estimate_calls.c   calls that follow the calling convention
 *   estimate_regions.c blocks that are scheduled together
 *   estimate_graph.c   the dependence graph of a block
 *   estimate_order.c   schedules of its instructions, and their live words
 */
#ifndef HD_PASSES_ESTIMATE_ESTIMATE_WORK_H
#define HD_PASSES_ESTIMATE_ESTIMATE_WORK_H

#include "passes/estimate/estimate.h"
#include "passes/analysis/packed.h"

typedef struct estimate_work {
    hd_function *function;
    const hd_cfg *cfg;
    const hd_liveness *liveness;
    hd_arena *arena;
    uint8_t *words;     /* by register: number of words that count */
    bool *skip;         /* by instruction: absent from machine code */
    bool *uniform;      /* by register: the uniform datapath may hold it */
    bool *address_only; /* by register: only read as the base of addresses */
    uint32_t *base;     /* by register: the register that it differs from by a constant, extends, or is the other half
                         * of, throughout its live range; itself if there is none */
    uint32_t *root;     /* likewise, or the register that it is rematerialized from: holding one holds the other */
    bool all;           /* registers are weighed including those without a vector register of their own */
    const uint32_t *packed;     /* by register: the other half of its register (passes/analysis/packed.h), or HD_NONE */
    uint32_t *definitions;      /* by register: their number */
    uint32_t *first_definition; /* by register: ordinal */
    bool *kept;                 /* by instruction: a loop that begins here must not be unrolled */
    uint32_t *join,
        *guard; /* by block: of a predicated side, where it ends, and the register that guards it; else HD_NONE */
    /* by register: its value in the block being scheduled, and the schedule for which it is valid */
    uint32_t *value_of, *stamp;
    uint32_t order_number;
} estimate_work;

/* estimate_values.c */
void estimate_values_init(estimate_work *work, const hd_uniformity *uniformity);
/* Fills `words` and `root`. `all`: include values that the uniform datapath may hold or that can be rematerialized. */
void estimate_weigh(estimate_work *work, bool all);
/* The register that the result of an instruction is rematerialized from, under the current weights; else HD_NONE. */
uint32_t estimate_source(const estimate_work *work, uint32_t ordinal);
/* d = a + b of addresses: 64 bits, or read only as an address. */
bool estimate_is_address_sum(const estimate_work *work, const hd_instruction *insn);

/* A 64-bit extension of a 32-bit integer. Its low word is the extended register, if that stays live; the high word is
 * zero, or computed where it is needed. */
bool estimate_is_extension(const estimate_work *work, uint32_t ordinal);

/* Blocks [first, last] in text order that ptxas is likely to merge, by predicating short sides. estimate_regions.c */
typedef struct estimate_region {
    uint32_t first, last;
} estimate_region;
/* The region that begins with that block; records its predicated blocks in `join`, `guard`. */
estimate_region estimate_region_at(estimate_work *work, uint32_t block);

/* estimate_loops.c */
void estimate_loops_init(estimate_work *work);
/* The loop with the most words live into its header. Afterwards, registers are weighed without those that need no
 * vector register. */
hd_estimate_loop estimate_loop(estimate_work *work);
uint32_t estimate_copies(const estimate_work *work, estimate_region region); /* 1 if it is no loop */

/* Calls that follow the calling convention. estimate_calls.c */
uint32_t estimate_count_calls(const hd_function *function);

/* ---- the graph --------------------------------------------------------------------------------------------------- */

/* Values that differ only by a constant, such as addresses in one array, are one value in machine code: the first is
 * the root of the others, and a root's words are live while any of them is. */
typedef struct estimate_value {
    uint32_t words, uses; /* uses: remaining readers; live-out counts as one */
    uint32_t root;        /* the root value; itself if it has none */
    uint32_t alive;       /* of a root: number of live values with this root */
    uint32_t producer;    /* node, or HD_NONE */
} estimate_value;

/* The sum of two roots; looked up to find sums that differ by a constant. */
typedef struct estimate_sum {
    uint32_t a, b, root;
} estimate_sum;

typedef struct estimate_node {
    uint32_t ordinal, latency, waits;                    /* waits: number of instructions it still waits for */
    uint32_t ready;                                      /* cycle in which its operands are available */
    uint32_t chain;                                      /* latencies from here to the end of the block */
    uint32_t extra;                                      /* temporary words of its expansion */
    uint32_t use_first, use_count, def_first, def_count; /* in lists */
    uint32_t edge;                                       /* first edge, or HD_NONE */
    bool issued, slow;                                   /* slow: reads its operands after it issues */
} estimate_node;
typedef struct estimate_edge {
    uint32_t to, next;
} estimate_edge;

enum { ESTIMATE_SPACES = 4 };
typedef struct estimate_graph {
    estimate_work *work;
    HD_ARRAY(estimate_node) nodes; /* in PTX order */
    HD_ARRAY(estimate_edge) edges;
    HD_ARRAY(estimate_value) values;
    hd_u32_array lists;                          /* values that nodes read and write */
    uint32_t last_store[ESTIMATE_SPACES], fence; /* during construction: nodes */
    hd_u32_array loads[ESTIMATE_SPACES];         /* during construction: since the last store */
    HD_ARRAY(estimate_sum) sums;                 /* hash table, size a power of two; a is HD_NONE: empty */
    uint32_t sum_count;
    uint32_t live; /* live words at the start of the block */
} estimate_graph;

/* For a region, repeated `copies` times. */
void estimate_graph_build(estimate_graph *graph, estimate_work *work, estimate_region region, uint32_t copies);
void estimate_graph_free(estimate_graph *graph);

static inline void estimate_bear(estimate_graph *g, uint32_t v)
{
    estimate_value *root = &g->values.items[g->values.items[v].root];
    if (root->alive++ == 0)
        g->live += root->words;
}

/* Ends the live range of a value; returns the number of words freed. */
static inline uint32_t estimate_end_live_range(estimate_graph *g, uint32_t v)
{
    estimate_value *root = &g->values.items[g->values.items[v].root];
    return --root->alive == 0 ? root->words : 0;
}

/* ---- orders ------------------------------------------------------------------------------------------------------ */

typedef enum estimate_order {
    ESTIMATE_ORDER_TEXT,    /* PTX order */
    ESTIMATE_ORDER_DEMAND,  /* shortest live ranges */
    ESTIMATE_ORDER_LATENCY, /* for latency, as if registers were free */
    ESTIMATE_ORDER_LATE,    /* likewise, from the end to the start */
} estimate_order;
/* The maximum number of live words in a region in that order. */
uint32_t estimate_peak(estimate_work *work, estimate_region region, estimate_order order, uint32_t copies);

#endif
