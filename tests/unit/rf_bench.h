/* A small kernel with a technique, without the interpreter: parsed, allocated, annotated, checked, and replayed by the
 * machine of rf_walk.h. Warps are CTAs of one warp each, or of some, which wait for each other at barriers. */
#ifndef HD_TESTS_RF_BENCH_H
#define HD_TESTS_RF_BENCH_H

#include "tests/unit/rf_walk.h"

#include "hwmodel/count/count.h"
#include "passes/check/check.h"
#include "passes/pass.h"

typedef struct rf_bench {
    hd_source source;
    hd_diagnostics diagnostics;
    hd_module *module;
    hd_function *kernel; /* "k" */
} rf_bench;

void rf_bench_open(rf_bench *b, const char *text, size_t length);
void rf_bench_open_file(rf_bench *b, const char *name); /* of ptx_file.h */
/* A body in a module of its own: %r<32>, %rd<16>, %h<4>, %f<8>, %p<4>; parameter n, global variable `out`. */
void rf_bench_open_body(rf_bench *b, const char *body);
/* Random kernels in two forms: even seeds with virtual registers, odd ones allocated, some with few registers. */
void rf_bench_open_random(rf_bench *b, uint64_t seed);
void rf_bench_close(rf_bench *b);
void rf_bench_allocate(rf_bench *b, uint32_t most);
/* A list of passes, as -p takes it. */
void rf_bench_pass(rf_bench *b, const char *passes);
bool rf_bench_check(rf_bench *b, hd_check_run *check);

typedef struct rf_bench_result {
    bool proved;
    uint64_t counters[HD_COUNTER_COUNT];
    hd_rf_series allocation;
    uint64_t storage_bits;
} rf_bench_result;

enum { RF_BENCH_CTA_WARPS = 4 /* at most */ };
typedef struct rf_bench_run {
    const hd_rf_model_info *model;
    const hd_rf_model_info *beside; /* runs with it, before it; NULL: none */
    uint32_t fault;
    bool forgets;
    uint32_t warps, limit; /* warps; maximum instructions of a warp; 0: 4 and 300 */
    uint32_t cta_warps;    /* of a CTA, a divisor of warps; 0: 1 */
    uint64_t order;        /* of sides: rf_walk_sides */
    /* all 0: 4 resident, 2 active, long loads take 10 instructions; turns of one instruction, but with `segments` */
    hd_rf_residency residency;
    bool segments;
    uint32_t events, threads; /* of batches; 0: 1 and 1 */
    bool lanes;               /* warps execute the same instructions in different lanes; some in the same, or in none */
} rf_bench_run;
rf_bench_result rf_bench_replay(rf_bench *b, const rf_bench_run *run);

#endif
