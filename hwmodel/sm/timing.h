/* A whole GPU in cycles: its SMs in lock step, and the memory system that they share.
 *
 * Thread blocks go to the SMs in the order of their index: first one to each SM, round robin, until none has room; then
 * one to the first SM (in the order of their numbers) in which one has ended. The clock jumps over cycles in which no
 * SM and nothing in the memory system has anything to do; results are the same without.
 *
 * A run is sequential and depends on nothing but its setup and the blocks: several may go on side by side, each on a
 * thread of its own.
 */
#ifndef HD_HWMODEL_SM_TIMING_H
#define HD_HWMODEL_SM_TIMING_H

#include "base/meter.h"
#include "hwmodel/sm/sm.h"

typedef struct hd_timing_setup { /* borrowed while the timing lives, but for itself */
    const hd_machine *machine;
    const hd_sm_code *code;
    const hd_memory *spaces; /* windows of the address space; NULL: generic addresses are global */
    hd_rf_model **models;    /* of the same technique, one for each SM */
    uint32_t sms;
    bool every_cycle; /* the clock does not jump: for tests */
    const hd_sm_listener *listeners;
    uint32_t listener_count;
    const atomic_bool *cancel; /* NULL: none; else the timing ends soon, CANCELLED, after another thread has set it */
    uint32_t sample;           /* waves of a grid that are measured (sample.h); 0: all blocks are timed */
} hd_timing_setup;

typedef struct hd_timing_counts { /* of a launch */
    uint64_t cycles;
    uint64_t blocks, timed_blocks; /* where fewer are timed, all others are extrapolated from these */
    uint64_t error_cycles;         /* at most, of cycles that are extrapolated */
    hd_sm_counts sm;               /* of all SMs together */
    hd_memory_counts memory;
} hd_timing_counts;

void hd_timing_counts_add(hd_timing_counts *to, const hd_timing_counts *more);

typedef struct hd_timing hd_timing;

hd_timing *hd_timing_new(const hd_timing_setup *setup);
void hd_timing_free(hd_timing *timing);
void hd_timing_show(hd_timing *timing, hd_meter *meter); /* a unit for each thread block that has ended */

typedef enum hd_timing_status {
    HD_TIMING_DONE,
    HD_TIMING_WRONG,  /* an operand was not proved: hd_timing_failure */
    HD_TIMING_LOCKED, /* the warps of an SM can never go on, or the next block can never start: hd_timing_waits */
    HD_TIMING_CANCELLED,
} hd_timing_status;

/* A launch: begin, its thread blocks in the order of their index, end. A block becomes the timing's; the clock goes on
 * until an SM has room for it. After a status other than DONE, blocks are only released. launch: a number for the
 * listeners. */
void hd_timing_begin(hd_timing *timing, const hd_rf_residency *residency, uint32_t function, uint32_t launch);
hd_timing_status hd_timing_add(hd_timing *timing, hd_record *cta);
/* Goes on until the last block has ended. Counters of techniques stay in the models. */
hd_timing_status hd_timing_end(hd_timing *timing, hd_timing_counts *counts);
/* After that: counters of the technique that belong to blocks which were not timed are added to those of the models. */
void hd_timing_extrapolate(const hd_timing *timing, uint64_t counters[HD_COUNTER_COUNT]);
/* After the end, for tests: goes on until stores, fetches of code and write-backs are done, too. Is all idle then? */
bool hd_timing_drain(hd_timing *timing);
/* After the end: the first early read of the launch, of all SMs (sm.h). */
hd_sm_early hd_timing_first_early(const hd_timing *timing);
const hd_rf_failure *hd_timing_failure(const hd_timing *timing);
/* What the warps of the SM that cannot go on wait for, in a timing that is LOCKED; those of all SMs where time has
 * ended. At most `most` of them; returns how many there are. */
uint32_t hd_timing_waits(const hd_timing *timing, hd_rf_wait *waits, uint32_t most);

#endif
