/* What the instructions that count compute: sums of a register and a number, comparisons, and what joins predicates.
 * Analyses find with it which loops end by themselves (passes/analysis/counting.h, passes/check/counting.h).
 */
#ifndef HD_IR_COUNTING_H
#define HD_IR_COUNTING_H

#include "ir/form.h"

typedef enum hd_counting_kind {
    HD_COUNTING_NONE,    /* anything else */
    HD_COUNTING_SUM,     /* result = terms[0] + number, modulo 2^bits; a copy where the number is 0 */
    HD_COUNTING_FIXED,   /* result = the same number whenever the thread executes it: of a parameter, or a constant */
    HD_COUNTING_COMPARE, /* result = terms[0] RELATION terms[1] */
    HD_COUNTING_AND,     /* result = terms[0] and terms[1] ..., of predicates; a copy where there is one */
    HD_COUNTING_OR,
} hd_counting_kind;

typedef enum hd_relation {
    HD_RELATION_EQ,
    HD_RELATION_NE,
    HD_RELATION_LT,
    HD_RELATION_LE,
    HD_RELATION_GT,
    HD_RELATION_GE
} hd_relation;

typedef enum hd_term_kind {
    HD_TERM_REGISTER,
    HD_TERM_NUMBER,
    HD_TERM_FIXED, /* an unknown number that is the same whenever the thread reads it */
    HD_TERM_UNKNOWN,
} hd_term_kind;

typedef struct hd_term {
    uint8_t kind;
    bool negated; /* a predicate */
    uint32_t reg;
    uint64_t number; /* modulo 2^64 */
} hd_term;

typedef struct hd_counting {
    uint8_t kind, relation, bits, term_count;
    bool is_signed; /* the comparison */
    /* of a comparison: HD_COUNTING_AND, _OR: the result is joined with the predicate terms[2]; else NONE */
    uint8_t joined;
    uint32_t result; /* register */
    hd_term terms[3];
} hd_counting;

/* Regardless of the guard. Other results of the instruction are not described. */
hd_counting hd_insn_counting(const hd_function *function, const hd_instruction *insn);

/* The number of consecutive values of a counter, modulo 2^bits, for which `counter RELATION limit` holds, at least;
 * 0: there may be none. limit: HD_TERM_UNKNOWN: may change each time; the result then holds whatever it is. */
uint64_t hd_relation_size(const hd_counting *comparison, hd_relation relation, const hd_term *limit);
hd_relation hd_relation_not(hd_relation relation);
hd_relation hd_relation_swapped(hd_relation relation); /* a R b is b R' a */
/* Whether a counter that advances by a number that is not 0, modulo 2^bits, has one of `size` consecutive values after
 * finitely many steps, from wherever it begins: the step's largest power of two is at most `size`. */
bool hd_steps_meet(uint64_t step, uint32_t bits, uint64_t size);

#endif
