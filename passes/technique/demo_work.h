/* What the files of demo share: the state of one walk over a function. Private to passes/technique/demo*.c. */
#ifndef HD_PASSES_TECHNIQUE_DEMO_WORK_H
#define HD_PASSES_TECHNIQUE_DEMO_WORK_H

#include "passes/analysis/liveness.h"
#include "passes/pass.h"

typedef enum demo_kind {
    ARITHMETIC_INTEGER,
    ARITHMETIC_FLOAT,
    COPY,
    ADDRESS,
    OTHER,
    UNSAFE,
    OCCUPIED,
    APART,
    KINDS
} demo_kind;

/* How many instructions of the block so far may not be passed: by any load, and by loads that may alias a store. */
typedef struct demo_past {
    uint32_t ordering, any_store, global, shared, local, param, generic;
} demo_past;

typedef struct demo_variable { /* local */
    uint32_t symbol, stores;   /* by its name, in this block */
    bool named;                /* used otherwise than as the base of an access: its address may escape */
} demo_variable;
typedef HD_ARRAY(demo_variable) demo_variables;

typedef struct demo_load { /* R_active of algorithm 1 */
    uint32_t loader, consumer, operand, uses, words_left;
    uint32_t after; /* instructions before it that it may not pass */
    bool spoiled, safe;
    uint8_t kind;
} demo_load;

typedef struct demo_pair {
    uint32_t loader, consumer, operand, after; /* after: the same, of the loader */
} demo_pair;

typedef struct demo_pass {
    hd_pass_context *context;
    hd_function *function;
    const hd_cfg *cfg;
    const hd_liveness *liveness;
    hd_storage storage;
    const hd_register_set *live_in;
    HD_ARRAY(demo_load) loads; /* of the block */
    HD_ARRAY(demo_pair) pairs;
    uint32_t *load_of;                         /* by word: 1 + index in loads */
    uint32_t *word_written, *register_written; /* 1 + ordinal of the last write, of any kind */
    uint32_t *scope_of;                        /* by instruction */
    demo_variables variables;                  /* ascending by symbol */
    demo_past past;
    uint32_t registers; /* before any was made */
    uint64_t counts[KINDS], moved;
} demo_pass;

/* The local variables of the function, and which of them are used only as bases of accesses. */
void demo_list_variables(demo_pass *p);
/* Records an instruction that loads may not pass, by memory and by effects on the warp. */
void demo_remember(demo_pass *p, uint32_t ordinal);
/* The number of instructions of the block so far that the load may not pass. */
uint32_t demo_hazards_of(demo_pass *p, const hd_instruction *load);
/* May the load move directly before instruction `to`, whose own writes are not recorded yet? */
bool demo_is_safe(demo_pass *p, const demo_load *load, uint32_t to);

#endif
