/* The results of a replay as data: what hd_context_replay() prints, for programs that read it.
 *
 * All arrays and texts belong to whoever made the report; hd_context_replay_results() says for how long they stay.
 * A fraction or ratio that does not exist (nothing to divide by, an energy that is not known) is NAN.
 */
#ifndef HEDDLE_REPLAY_RESULT_H
#define HEDDLE_REPLAY_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is compared, and what is known of it. */
typedef enum hd_replay_outputs { HD_OUTPUTS_UNCHECKED, HD_OUTPUTS_RIGHT, HD_OUTPUTS_WRONG } hd_replay_outputs;

/* How a model was verified on a launch: every operand that it delivers, the outputs that the launch file expects, and
 * the memory that the original kernel leaves. */
typedef enum hd_replay_check {
    HD_CHECK_NOT_RUN,    /* not applied */
    HD_CHECK_PASS,       /* all of that held */
    HD_CHECK_OPERANDS,   /* FAIL: an operand has another value than the baseline reads */
    HD_CHECK_OUTPUTS,    /* FAIL: an output is not the expected one */
    HD_CHECK_IDENTICAL,  /* FAIL: memory differs from what the original kernel leaves */
    HD_CHECK_INCOMPLETE, /* FAIL: the run stopped before its end, which verifies nothing */
    HD_CHECK_COUNT
} hd_replay_check;

typedef enum hd_replay_registers {
    HD_REPLAY_VIRTUAL,     /* PTX's own */
    HD_REPLAY_ALLOCATED,   /* simplified and allocated for this replay */
    HD_REPLAY_ARCHITECTED, /* the module came allocated */
} hd_replay_registers;

/* A quantity that models count; heddle-json(5) lists them. */
typedef struct hd_replay_counter {
    const char *key;   /* in JSON and CSV; stable */
    const char *title; /* what it counts, for people */
} hd_replay_counter;

typedef enum hd_replay_figure {
    HD_FIGURE_NONE,
    HD_FIGURE_SHARE,  /* a fraction, shown in percent */
    HD_FIGURE_CHANGE, /* a change against something, -0.34; shown in percent with its sign */
    HD_FIGURE_NUMBER, /* a number */
} hd_replay_figure;

/* The one figure that the technique's paper leads with. */
typedef struct hd_replay_headline {
    hd_replay_figure kind; /* NONE: the model has none */
    const char *title;     /* "reads bypassed" */
    const char *meaning;   /* what it is a part of, for a legend */
    const char *absent;    /* why the technique had nothing to work on: "no feasible extended-set size"; or NULL */
    double value;
} hd_replay_headline;

/* Warp registers of an SM that are allocated, over the issued instructions. */
typedef struct hd_replay_allocation {
    uint64_t instructions; /* 0: the model does not record it */
    uint64_t peak;
    double mean;
    const double *buckets; /* means of `bucket_instructions` instructions each, in their order */
    uint32_t bucket_count;
    uint64_t bucket_instructions;
} hd_replay_allocation;

typedef struct hd_replay_result { /* one model on one launch */
    const char *model;            /* its name, with the options that were given: "bow-wr(iw=4)" */
    const char *title;            /* what the paper calls the technique, of a standard configuration; else the model */
    const char *technique;        /* its spelling; "" of the baseline */
    const char *options;          /* in effect: "policy=tags,iw=4" */
    const char *summary;          /* a line about the model */
    const char *not_applied;      /* why the model was not applied, or NULL */
    hd_replay_check check;
    const uint64_t *counters;             /* as many as the report has `counters` */
    uint64_t rf_accesses;                 /* reads and writes of the register file */
    double rf_accesses_normalized;        /* reads and writes of the register file, of the baseline's */
    double rf_reads_eliminated_fraction;  /* of the operands that instructions read */
    double rf_writes_eliminated_fraction; /* of the results; NAN where other registers are written back, too */
    double energy_pj;                     /* dynamic, of the register file and what is added to it; NAN: not known */
    double energy_normalized;             /* to the baseline's */
    double physical_access_variation;     /* coefficient of variation of accesses by physical register */
    hd_replay_headline headline;
    hd_replay_allocation allocated;
    uint64_t storage_bits; /* that the technique adds to an SM; 0: none, or not known */
} hd_replay_result;

typedef struct hd_replay_kernel { /* one launch of a launch file, all its runs together */
    const char *name, *file;
    uint32_t launch;            /* its index in the file */
    uint32_t grid[3], block[3]; /* of the first run */
    uint64_t runs;
    uint64_t warp_instructions, thread_instructions, divergent_branches;
    hd_replay_outputs outputs;   /* as the launch file expects them */
    hd_replay_outputs identical; /* memory to what the original kernel leaves, where the code is another */
    bool annotated;              /* the module brought its own annotations */
    hd_replay_registers registers;
    uint32_t general, predicates; /* registers per thread; not of HD_REPLAY_VIRTUAL */
    hd_replay_result *results;    /* the baseline first; none where techniques are "none" */
    uint32_t result_count;
} hd_replay_kernel;

typedef struct hd_replay_report {
    const char *gpu;
    const hd_replay_counter *counters;
    uint32_t counter_count;
    const hd_replay_kernel *kernels;
    uint32_t kernel_count;
} hd_replay_report;

#ifdef __cplusplus
}
#endif

#endif
