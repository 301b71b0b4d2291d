/* Random structured programs: created, printed as PTX, and evaluated one thread at a time. Operations of several lanes
 * (exchange, votes, barriers) are at points that all threads reach together, or in the sides of a branch whose lanes
 * are known, and involve the threads that have not ended; between such points every thread is evaluated
 * independently. */
#ifndef HD_TESTS_PROGRAM_H
#define HD_TESTS_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KIND_X, KIND_H, KIND_R, KIND_D, KIND_F, KIND_G, KIND_P, KINDS };

typedef enum program_op {
#define OP(id, opcode, suffix, D, A, B, C, expression) PROGRAM_##id,
#include "program_ops.def"
#undef OP
    PROGRAM_OPS
} program_op;

typedef struct program_op_info {
    const char *opcode, *suffix;
    uint8_t d, kinds[3];
} program_op_info;
extern const program_op_info program_ops[PROGRAM_OPS];

extern const uint64_t program_masks[KINDS]; /* the bits of each kind */
/* Evaluates an instruction on raw bits. */
uint64_t program_compute(uint32_t op, const uint64_t sources[3]);

/* Registers of each kind that programs use. */
enum {
    HALVES = 6,
    WORDS = 10,
    DOUBLES = 6,
    FLOATS = 8,
    WIDES = 6,
    PREDICATES = 5,
    LOCALS = 8,
    CELLS = 16,
    INPUTS = 256
};
extern const uint32_t program_registers[KINDS];

typedef enum program_kind {
    DO_OP,
    DO_IF, /* lists[0] else lists[1] */
    /* lists[0], as often as the low bits of a register say; head-tested, or tail-tested where `a` is odd */
    DO_LOOP,
    DO_BREAK, /* of the innermost loop, if the guard holds */
    DO_CONTINUE,
    DO_SWITCH, /* one of the lists, selected by two bits and program_case(); lists[0] if the guard is false */
    DO_EXIT,   /* if the guard holds; only in the program's tail and after it */
    DO_LOAD,   /* global: one of the inputs */
    /* global: one of the inputs and a register; a clock is read between load and sum, and may not go backwards */
    DO_TIME,
    DO_LOCAL_STORE,
    DO_LOCAL_LOAD,
    DO_CALL,     /* a device function */
    DO_ADD_CELL, /* shared: an atomic addition to one of the cells */
    DO_REPEAT,   /* lists[0], `immediate[0]` times, all threads together */
    DO_SHUFFLE,  /* op: up down bfly idx */
    DO_VOTE,     /* op: all any uni ballot */
    DO_MATCH,
    DO_REDUX,
    DO_SWAP,    /* through shared memory, with barriers */
    DO_PARTIAL, /* lists[0] else lists[1] with the mask of each side; then each side exchanges */
    PROGRAM_KINDS
} program_kind;

enum { MOST_NODES = 400, MOST_ITEMS = 8, NO_GUARD = -1 };

typedef struct program_list {
    uint16_t count, items[MOST_ITEMS];
} program_list;

typedef struct program_node {
    uint8_t kind;
    uint8_t op;           /* program_op, or a choice specific to the kind */
    uint8_t d, s[3];      /* register numbers */
    uint8_t is_immediate; /* bit k: source k is immediate[k] */
    int8_t guard;         /* predicate number or NO_GUARD */
    bool guard_not;
    uint64_t immediate[3];
    program_list lists[4];
} program_node;

/* For a DO_SWITCH: the list at an index of its table; 4: none. */
static inline uint32_t program_case(const program_node *n, uint32_t place)
{
    return n->immediate[place / 2] >> 8 * (place % 2) & 7;
}

typedef struct program {
    program_node nodes[MOST_NODES];
    uint32_t count, threads;
    program_list top;  /* with operations of all threads together */
    program_list tail; /* without: threads may exit */
    program_list late; /* with them again, for the remaining threads; others exit meanwhile */
    uint32_t inputs[INPUTS];
} program;

enum { RESULT_WORDS = HALVES + WORDS + 2 * DOUBLES + FLOATS + 2 * WIDES + 1 };

void program_make(program *p, uint64_t seed);
/* The same without what the machine code of ptxas is not decoded or executed for; OLD: without what sm_75 has not. */
typedef enum program_target { PROGRAM_ANY, PROGRAM_MACHINE, PROGRAM_OLD_MACHINE } program_target;
void program_make_for(program *p, uint64_t seed, program_target target);
/* One that executes an instruction a few times, on various registers and immediates. */
void program_make_op(program *p, uint64_t seed, program_op op);
/* A module with the kernel k(in, out); the results of thread t at out + 4 * RESULT_WORDS * t. A thread that exits early
 * writes none. */
void program_print(const program *p, char *text, size_t size);
/* Results in the same layout, NaNs as one pattern (program_plain does the same for the interpreter's output). */
void program_evaluate(const program *p, uint32_t *results);
void program_plain(const program *p, uint32_t *results);

#endif
