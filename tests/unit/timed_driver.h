/* A small driver with cycles for register-file models: what a cycle-level SM will do with the hooks of technique.h,
 * reduced to what their contract says. It shares no code with count mode.
 *
 * It takes what a kernel did from a trace, and issues at most one instruction a cycle. Each structure has a few banks
 * with a queue each; an access occupies its bank for its cycles, once the access in its `after` is complete. The words
 * that an instruction writes are pending until its accesses are complete, and long-latency loads have returned. Warps
 * take turns: one leaves when it would wait for a long-latency load or at a barrier.
 *
 * In a free run the driver orders the warps itself, round robin and by rank_warp. In a run that follows a log, they
 * issue, come and go in the order of the log, as soon as they can.
 *
 * It fails the test where a source is not delivered or not proved, an access comes before the one in its `after`, a
 * gate is not asked in time, or nothing moves for a long time.
 */
#ifndef HD_TESTS_TIMED_DRIVER_H
#define HD_TESTS_TIMED_DRIVER_H

#include "tests/unit/timed_log.h"

typedef struct timed_run {
    const timed_trace *trace;
    const hd_rf_module *code;
    hd_rf_model *model;
    hd_rf_residency residency; /* active and ctas of it */
    uint32_t load_cycles, banks;
    const timed_log *order; /* NULL: a free run */
    uint64_t seed;          /* of a free run; not 0: warps also leave by chance */
    /* results */
    uint64_t cycles, issued, idle_units;
    uint32_t most_ctas; /* resident at a time */
} timed_run;
void timed_run_all(timed_run *run); /* the model has counted what it did */

#endif
