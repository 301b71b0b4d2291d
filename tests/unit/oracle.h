/* An independent model of small programs, to test the analyses: random control flow, a machine that executes a warp of
 * four lanes on it, and the analyses' rules in their naive form. It shares no code with ir/ and passes/: it has its own
 * blocks, edges, reachability by search, post-dominance by removing blocks. Only oracle_print connects it to the
 * toolkit, through PTX text.
 *
 * Registers are bits of a mask: 0-4 are %r0-%r4, 5-7 are %p0-%p2.
 */
#ifndef HD_TESTS_ORACLE_H
#define HD_TESTS_ORACLE_H

#include "base/writer.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    ORACLE_LANES = 4,
    ORACLE_BLOCKS = 32,
    ORACLE_INSNS = 8,
    ORACLE_WORDS = 5,
    ORACLE_REGISTERS = 8,
    ORACLE_TARGETS = 5
};

/* ---- programs ---------------------------------------------------------------------------------------------------- */

typedef enum oracle_kind {
    ORACLE_CONST, /* mov of a constant */
    ORACLE_PARAM, /* load of a parameter of the entry: equal in all lanes */
    ORACLE_LANE,  /* mov of %tid.x */
    ORACLE_ADD,
    ORACLE_SETP,
    ORACLE_SELP,
    ORACLE_LOAD,  /* of global memory: any value in each lane */
    ORACLE_LOAD2, /* a vector of two */
    ORACLE_STORE,
    ORACLE_PART,   /* writes one byte of its destination */
    ORACLE_OPAQUE, /* an unknown opcode: reads and writes both registers */
    ORACLE_BRANCH, /* the end of a block: reads guard and index */
} oracle_kind;

typedef struct oracle_insn {
    uint8_t kind;
    uint8_t def[2], use[3]; /* registers */
    uint8_t def_count, use_count;
    bool guarded, negated;
    uint8_t guard;
    uint8_t value; /* CONST */
} oracle_insn;

typedef enum oracle_end { ORACLE_FALL, ORACLE_JUMP, ORACLE_IF, ORACLE_SWITCH, ORACLE_EXIT, ORACLE_EXIT_IF } oracle_end;

typedef struct oracle_block {
    oracle_insn insns[ORACLE_INSNS + 1]; /* a block that does not just fall through has a BRANCH as its last */
    uint32_t count;
    uint8_t end;
    uint8_t target[ORACLE_TARGETS]; /* IF: taken, next; SWITCH: table; JUMP; FALL: next */
    uint32_t target_count;
} oracle_block;

typedef struct oracle_program {
    oracle_block blocks[ORACLE_BLOCKS];
    uint32_t count; /* of blocks; also the number of the virtual exit X */
    bool is_device; /* a device function: parameter %r1, result %r0 in registers */
} oracle_program;

typedef struct oracle_random {
    uint64_t state;
} oracle_random;
uint32_t oracle_next(oracle_random *random, uint32_t below);

void oracle_generate(oracle_program *program, uint64_t seed); /* structured or not, depending on the seed */
void oracle_print(const oracle_program *program, hd_writer *writer);

/* ---- the graph --------------------------------------------------------------------------------------------------- */
/* Unique, the taken ones first; X is p->count. */
uint32_t oracle_successors(const oracle_program *p, uint32_t block, uint32_t *to);
/* Blocks and X reachable from `from`, itself included. */
uint64_t oracle_reach(const oracle_program *p, uint32_t from, uint64_t without);
uint32_t oracle_join(const oracle_program *p, uint32_t block);               /* r(b), pseudo-edges included */
bool oracle_dominates(const oracle_program *p, uint32_t a, uint32_t b);      /* both reachable */
bool oracle_post_dominates(const oracle_program *p, uint32_t a, uint32_t b); /* pseudo-edges included */

/* ---- the rules in their naive form; each can be broken ----------------------------------------------------------- */

typedef enum oracle_mutation {
    ORACLE_SOUND,
    ORACLE_DROP_JOIN,  /* pend without TLin(r) */
    ORACLE_DROP_SIDES, /* pend without the other sides */
    ORACLE_DROP_PEND,  /* thread-level liveness for warp-wide registers */
    ORACLE_GUARDED_KILLS,
    ORACLE_PART_KILLS,
    ORACLE_OPAQUE_KILLS,
    ORACLE_GUARD_IS_NO_USE,
    ORACLE_RESULT_DIES,
    ORACLE_UNIFORM_BY_OPERANDS, /* uniformity from operands only: no regions */
    ORACLE_UNIFORM_GUARD,       /* a divergent guard does not make its result divergent */
    ORACLE_UNIFORM_LOAD,
    ORACLE_ORDER_BY_EDGES, /* warp order = CFG edges */
    ORACLE_ORDER_NO_SIDES,
    ORACLE_ORDER_NO_EXIT,
    ORACLE_ITS_LIVE_IN, /* its: TLin(s') instead of what is read in all that s' reaches */
    ORACLE_ITS_JOINS,   /* its: sides end at r */
    ORACLE_MUTATIONS
} oracle_mutation;

typedef enum oracle_rule { ORACLE_OURS, ORACLE_PAPER, ORACLE_ITS, ORACLE_RULES } oracle_rule;

typedef struct oracle_facts {
    uint16_t live_in[ORACLE_BLOCKS + 1];
    uint16_t live_after[ORACLE_BLOCKS][ORACLE_INSNS + 1];
    uint16_t live_out[ORACLE_BLOCKS];
    uint16_t divergent; /* registers */
    uint64_t branches;  /* blocks that may split the warp */
    uint16_t pend[ORACLE_BLOCKS];
    uint64_t order[ORACLE_BLOCKS + 1]; /* warp-order successors */
} oracle_facts;
void oracle_analyse(const oracle_program *p, oracle_rule rule, oracle_mutation mutation, oracle_facts *facts);

/* ---- the machine ------------------------------------------------------------------------------------------------- */

enum {                           /* kinds of violations */
       ORACLE_READ_RELEASED = 1, /* a lane read a value that was released */
       ORACLE_SPLIT = 2,         /* a branch assumed uniform diverged */
       ORACLE_OUT_OF_ORDER = 4,  /* a block followed one that is not its predecessor in the warp order */
       ORACLE_CLOBBERED = 8,     /* a lane read another register's value under shared names */
};

typedef struct oracle_run {
    /* independent thread scheduling: no stack, sides in any interleaving, random reconvergence */
    bool interleaved;
    bool per_lane;             /* releases in the active lanes only: tests thread-level liveness */
    const oracle_facts *facts; /* releases everything that is not live according to these */
    const uint8_t *color;      /* by register: the name it shares; NULL: its own */
    uint64_t seed;
} oracle_run;
int oracle_execute(const oracle_program *p, const oracle_run *run);

/* Assigns names to registers such that no two that are live together share one. */
void oracle_color(const oracle_program *p, const oracle_facts *facts, uint8_t *color);

#endif
