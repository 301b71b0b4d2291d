/* Runs a small kernel in the interpreter and its trace in the cycle-level model. */
#ifndef HD_TESTS_TIMED_KERNEL_H
#define HD_TESTS_TIMED_KERNEL_H

#include "kernel.h"

#include "hwmodel/sm/timing.h"

typedef struct timed { /* a kernel, and what it took */
    hd_machine machine;
    uint32_t sms, ctas; /* resident on an SM */
    bool every_cycle;
    const char *declarations;       /* in front of the kernel; NULL: none */
    const hd_rf_model_info *model;  /* NULL: the baseline */
    uint32_t file_registers;        /* warp registers of an SM's register file; 0: 1024 */
    uint32_t file_percent;          /* not 0: the file has so much of what a warp of the kernel is allocated */
    const char *passes;             /* to run first; NULL: none */
    hd_faulty_lane *lane_fault;     /* NULL: none */
    const hd_sm_listener *listener; /* NULL: nobody listens */
    uint32_t *memory;               /* the kernel's output, with its initial content; NULL: zeros */
    size_t memory_bytes;
    bool may_lock; /* time_body does not demand that the run ends */
    /* results */
    hd_timing_status status;
    hd_rf_wait waits[HD_RF_WAITS]; /* of a timing that is LOCKED */
    uint32_t wait_count;
    uint32_t registers; /* of a warp, as the kernel is allocated */
    bool refused;       /* the model does not apply to the module */
    bool idle;          /* nothing was left when all that was in flight had ended */
    hd_timing_counts counts;
    hd_rf_detection detection;
    uint64_t counters[HD_COUNTER_COUNT], warp_instructions;
    /* of the run in progress */
    HD_ARRAY(hd_record *) blocks;
    const hd_module *module;
    hd_rf_module *code;
    hd_recorder *recorder;
    hd_sink sink;
} timed;

/* Callbacks of a kernel_run whose context is a timed. */
void open_timed(kernel_run *run, hd_module *module);
void close_timed(kernel_run *run);
/* A kernel with this body (kernel_text), on small_machine where none is given; where a size is 0: one SM, 8 blocks.
 * The test fails where the run does, or leaves something in flight. */
void time_body(timed *t, const char *body, uint32_t grid, uint32_t block);

#endif
