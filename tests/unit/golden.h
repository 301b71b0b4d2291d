/* Golden files of numbers that are summed over many random programs, in tests/numbers. */
#ifndef HD_TESTS_GOLDEN_H
#define HD_TESTS_GOLDEN_H

#include "rf_bench.h"
#include "tests/unit/unit.h"

typedef struct golden_sum {
    const char *name;
    uint64_t value;
} golden_sum;

typedef struct golden_sums {
    HD_ARRAY(golden_sum) items; /* by the first time that they were there */
} golden_sums;

void golden_add(golden_sums *s, const char *name, uint64_t value);
/* By opcode, and what physical registers they name. */
void golden_add_instructions(golden_sums *s, const hd_function *f);
/* By kind, with values and places. */
void golden_add_annotations(golden_sums *s, const hd_function *f);
/* Writes the head and a line for each sum that is not 0; the sums begin anew. */
void golden_write(golden_sums *s, hd_writer *writer, const char *head);
/* The file tests/numbers/NAME has these bytes. With BLESS=1 it is written anew. */
void golden_expect(const char *name, const hd_writer *got);

typedef struct golden_source {
    const char *name;
    void (*open)(rf_bench *b, uint64_t seed);
    uint32_t count;
    bool allocated; /* half of them already */
} golden_source;
enum { GOLDEN_SOURCES = 4 };
extern const golden_source golden_sources[GOLDEN_SOURCES];

enum { GOLDEN_MOST_LISTS = 64 };
/* Lists of passes: those of the models, each once, and others. How many. */
uint32_t golden_passes(const char **lists);

#endif
