/* What the files of the estimate share. Private to passes/estimate/estimate*.c.
 *
 *   estimate.c         features of a function, and the model over them
 *   estimate_values.c  which registers count, and what is another one plus a constant
 *   estimate_loops.c   how often ptxas has the body of a loop after it has unrolled it
 *   estimate_calls.c   which calls keep to the calling convention
 *   estimate_regions.c which blocks are ordered together
 *   estimate_graph.c   the dependences in a block
 *   estimate_order.c   orders of its instructions, and the words live in them
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
    uint8_t *words;     /* by register: what it counts */
    bool *skip;         /* by instruction: not there in machine code */
    bool *uniform;      /* by register: the uniform datapath may hold it */
    bool *address_only; /* by register: read as the base of addresses only */
    uint32_t *base;     /* by register: the one that it is a constant away from, extends, or is the other half of, all
                              its life; itself where there is none */
    uint32_t *root;     /* likewise, or the one that it is rematerialized from: holding one holds the other */
    bool all;           /* registers are weighed with what has no vector register of its own */
    const uint32_t *packed;     /* by register: the other half of its register (passes/analysis/packed.h), or HD_NONE */
    uint32_t *definitions;      /* by register: how many */
    uint32_t *first_definition; /* by register: ordinal */
    bool *kept;                 /* by instruction: a loop that begins here must not be unrolled */
    uint32_t *join,
        *guard; /* by block: of a guarded side, where it ends, and the register that guards it; else HD_NONE */
    uint32_t *value_of, *stamp; /* by register: value in the block being ordered, and the order that it is of */
    uint32_t order_number;
} estimate_work;

/* estimate_values.c */
void estimate_values_init(estimate_work *work, const hd_uniformity *uniformity);
/* Fills `words` and `root`. `all`: also what the uniform datapath may hold, and what can be rematerialized. */
void estimate_weigh(estimate_work *work, bool all);
/* The register that the result of an instruction is rematerialized from, as registers are weighed; else HD_NONE. */
uint32_t estimate_source(const estimate_work *work, uint32_t ordinal);
/* d = a + b of addresses: of 64 bits, or read as an address only. */
bool estimate_is_address_sum(const estimate_work *work, const hd_instruction *insn);

/* A 32-bit integer as one of 64 bits. Its low word is the register that is extended, if that lasts; the high word is
 * zero, or computed where it is needed. */
bool estimate_is_extension(const estimate_work *work, uint32_t ordinal);

/* Blocks [first, last] in text order that ptxas is likely to make one of, by guarding short sides. estimate_regions.c
 */
typedef struct estimate_region {
    uint32_t first, last;
} estimate_region;
/* The one that begins with that block; reports of its guarded blocks in `join`, `guard`. */
estimate_region estimate_region_at(estimate_work *work, uint32_t block);

/* estimate_loops.c */
void estimate_loops_init(estimate_work *work);
/* The loop with most words live into its header. Leaves registers weighed without what has no register of its own. */
hd_estimate_loop estimate_loop(estimate_work *work);
uint32_t estimate_copies(const estimate_work *work, estimate_region region); /* 1 for what is no loop */

/* Calls that keep to the calling convention. estimate_calls.c */
uint32_t estimate_count_calls(const hd_function *function);

/* ---- the graph --------------------------------------------------------------------------------------------------- */

/* Values that differ by a constant only, as addresses of one array do, are one in machine code: the first is the root
 * of the others, and a root's words are held while one of them lives. */
typedef struct estimate_value {
    uint32_t words, uses; /* uses: instructions that still read it; live out of the block: one more */
    uint32_t root;        /* value, itself where it has none */
    uint32_t alive;       /* of a root: values alive that have it */
    uint32_t producer;    /* node, or HD_NONE */
} estimate_value;

/* The sum of two roots, looked for to find sums that differ by a constant. */
typedef struct estimate_sum {
    uint32_t a, b, root;
} estimate_sum;

typedef struct estimate_node {
    uint32_t ordinal, latency, waits;                    /* waits: for so many instructions */
    uint32_t ready;                                      /* cycle in which its operands are there */
    uint32_t chain;                                      /* latencies from here to the end of the block */
    uint32_t extra;                                      /* words for what it is expanded to */
    uint32_t use_first, use_count, def_first, def_count; /* in lists */
    uint32_t edge;                                       /* first edge, or HD_NONE */
    bool issued, slow;                                   /* slow: reads its operands later than it issues */
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
    uint32_t last_store[ESTIMATE_SPACES], fence; /* while it is built: nodes */
    hd_u32_array loads[ESTIMATE_SPACES];         /* likewise: since the last store */
    HD_ARRAY(estimate_sum) sums;                 /* hash table, a power of two; a HD_NONE: empty */
    uint32_t sum_count;
    uint32_t live; /* words, at the start of the block */
} estimate_graph;

/* Of a region, `copies` times one after the other. */
void estimate_graph_build(estimate_graph *graph, estimate_work *work, estimate_region region, uint32_t copies);
void estimate_graph_free(estimate_graph *graph);

static inline void estimate_bear(estimate_graph *g, uint32_t v)
{
    estimate_value *root = &g->values.items[g->values.items[v].root];
    if (root->alive++ == 0)
        g->live += root->words;
}

/* The words that are free when it dies. */
static inline uint32_t estimate_end_live_range(estimate_graph *g, uint32_t v)
{
    estimate_value *root = &g->values.items[g->values.items[v].root];
    return --root->alive == 0 ? root->words : 0;
}

/* ---- orders ------------------------------------------------------------------------------------------------------ */

typedef enum estimate_order {
    ESTIMATE_ORDER_TEXT,    /* as in the PTX */
    ESTIMATE_ORDER_DEMAND,  /* for short lives */
    ESTIMATE_ORDER_LATENCY, /* for speed, as if registers cost nothing */
    ESTIMATE_ORDER_LATE,    /* likewise, from the end to the start */
} estimate_order;
/* The most words live in a region so ordered. */
uint32_t estimate_peak(estimate_work *work, estimate_region region, estimate_order order, uint32_t copies);

#endif
