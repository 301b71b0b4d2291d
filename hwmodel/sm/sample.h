/* A part of a large grid in time, and what the whole would take.
 *
 * A wave is as many thread blocks as start before the first one has to wait. Timed are the first wave, in which caches
 * are cold and all blocks start at once; the waves that are measured, from the start of their first block to that of
 * the next wave's; and one wave more, which ends like the last one of the grid. Blocks after that are not timed, but
 * their instructions are known from their records: they are taken to go on as the measured ones did, in cycles and in
 * every count, for each instruction.
 *
 * Error: what the blocks that are not timed would take if all of them were like the slowest, or like the fastest, as
 * many blocks in a row as a wave has, of those that are measured. It does not cover blocks that differ from all of
 * these, and caches that the blocks which were not timed would have left to the next launch. O(1) a block.
 */
#ifndef HD_HWMODEL_SM_SAMPLE_H
#define HD_HWMODEL_SM_SAMPLE_H

#include "hwmodel/sm/timing.h"

typedef struct hd_sample_mark { /* a block starts */
    uint64_t now, instructions; /* instructions: of the blocks before it */
} hd_sample_mark;

typedef struct hd_sample {
    uint32_t waves;                 /* that are measured; 0: every block is timed */
    uint64_t wave;                  /* its blocks; 0: not known yet */
    uint64_t started;               /* blocks that are timed, */
    uint64_t instructions;          /* and their instructions; */
    uint64_t skipped, rest;         /* of those that are not */
    HD_ARRAY(hd_sample_mark) marks; /* blocks of the waves that are measured, and the next one */
    hd_timing_counts first, last;   /* what was counted at the first mark and at the last one */
    uint64_t first_counters[HD_COUNTER_COUNT], last_counters[HD_COUNTER_COUNT];
} hd_sample;

void hd_sample_begin(hd_sample *sample); /* a launch */
void hd_sample_free(hd_sample *sample);
/* A block has to wait for room. */
void hd_sample_full(hd_sample *sample);
/* Is the next block timed? */
bool hd_sample_takes(const hd_sample *sample);
void hd_sample_skip(hd_sample *sample, const hd_record *cta);

typedef enum hd_sample_at { HD_SAMPLE_OTHER, HD_SAMPLE_FIRST, HD_SAMPLE_LAST } hd_sample_at;
/* A block starts; what the caller has to fill in: `first`, `last` and their counters at FIRST and LAST. */
hd_sample_at hd_sample_start(hd_sample *sample, uint64_t now, const hd_record *cta);

/* Adds what was not timed. slots_per_cycle: of all schedulers together. */
void hd_sample_extrapolate(const hd_sample *sample, uint64_t slots_per_cycle, hd_timing_counts *counts);
void hd_sample_extrapolate_counters(const hd_sample *sample, uint64_t counters[HD_COUNTER_COUNT]);

#endif
