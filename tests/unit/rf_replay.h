/* Replays a small kernel (kernel.h) for several models in count mode, including values. Checks a model's accesses: each
 * follows those it depends on, and at most every second operand shares an access. */
#ifndef HD_TESTS_RF_REPLAY_H
#define HD_TESTS_RF_REPLAY_H

#include "kernel.h"

#include "hwmodel/count/count.h"

enum { RF_REPLAY_MODELS = 4 };

typedef struct rf_replay_result {
    uint64_t counters[HD_COUNTER_COUNT];
    hd_rf_series allocation;
    uint64_t storage_bits;
    hd_rf_detection detection;
    const char *refusal; /* NULL: the model was applied */
} rf_replay_result;

typedef struct rf_replay_look { /* how a model is observed */
    hd_rf_model_info info;      /* first member */
    hd_rf_ops ops;
    uint64_t reads; /* reads that it was asked for */
} rf_replay_look;

typedef struct rf_replay {
    kernel_run run;                                                /* except opened, closing, context and sink */
    const hd_rf_model_info *models;                                /* named as their rows in the table */
    uint32_t model_count;                                          /* the baseline precedes them */
    void (*annotate)(struct rf_replay *replay, hd_module *module); /* NULL: annotations of the text */
    uint64_t seed;                                                 /* for annotate */
    uint32_t fault;                                                /* of the first model */
    hd_rf_residency residency; /* turns are of one instruction, but with `segments` */
    bool segments;
    uint32_t events; /* of batches; 0: 1 */
    bool forgets;    /* of all models */
    /* results */
    bool proved;
    uint32_t failed; /* 1 + model that was not; 0: the baseline */
    rf_replay_result baseline, results[RF_REPLAY_MODELS];
    rf_replay_look looks[RF_REPLAY_MODELS];
    /* of the run in progress */
    hd_rf_module *code;
    hd_count *count;
    hd_sink sink;
    hd_diagnostics quiet;
    uint32_t index[RF_REPLAY_MODELS]; /* index in the count; HD_NONE: refused */
} rf_replay;

void rf_replay_run(rf_replay *replay);

#endif
