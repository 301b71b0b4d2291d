/* The replay's results as a table, JSON and CSV. The emitters know no technique: they walk the tables of models and counters. */
#ifndef HD_EMITTERS_REPLAY_H
#define HD_EMITTERS_REPLAY_H

#include "base/writer.h"
#include "hwmodel/rf/technique.h"

typedef struct hd_replay_result { /* one model on one launch */
    const hd_rf_model_info *model;
    const char *refusal;          /* why it did not run, or NULL */
    uint64_t counters[HD_COUNTER_COUNT];
    bool energy_known;
    double energy_pj;
    hd_rf_series allocation;      /* warp registers of an SM in use; no samples: the model does not tell */
    uint64_t storage_bits;        /* that the technique adds to an SM; 0: none, or not told */
    bool proved;                  /* every operand it delivered */
} hd_replay_result;

typedef enum hd_replay_registers {
    HD_REPLAY_VIRTUAL,     /* PTX's own */
    HD_REPLAY_ALLOCATED,   /* cleaned up and allocated for this replay */
    HD_REPLAY_ARCHITECTED, /* the module came allocated */
} hd_replay_registers;
typedef enum hd_replay_outputs { HD_OUTPUTS_UNCHECKED, HD_OUTPUTS_RIGHT, HD_OUTPUTS_WRONG } hd_replay_outputs;

typedef struct hd_replay_kernel { /* one launch of a launch file, all its runs together */
    const char *name, *file;
    uint32_t launch;              /* its place in the file, from 0 */
    uint32_t grid[3], block[3];   /* of the first run */
    uint64_t runs;
    uint64_t warp_instructions, thread_instructions, divergent_branches;
    uint8_t outputs;              /* hd_replay_outputs: of the whole launch file */
    bool annotated;               /* the module brought its own annotations */
    uint8_t registers;            /* hd_replay_registers */
    uint32_t general, predicates; /* registers of the kernel; not of HD_REPLAY_VIRTUAL */
    uint8_t same_as_original;     /* hd_replay_outputs: all memory, where the code was changed */
    hd_replay_result *results;    /* the baseline first */
    uint32_t result_count;
} hd_replay_kernel;

typedef struct hd_replay_report {
    const char *gpu;
    HD_ARRAY(hd_replay_kernel) kernels;
} hd_replay_report;

void hd_emit_replay_text(hd_writer *writer, const hd_replay_report *report);
void hd_emit_replay_json(hd_writer *writer, const hd_replay_report *report);
void hd_emit_replay_csv(hd_writer *writer, const hd_replay_report *report);

/* Shares of a result against the baseline of its launch, 0 to 1 (energy: may be above); NAN where there is nothing to divide by. */
double hd_replay_bypassed(const hd_replay_result *result);     /* of the operands that instructions read, those not read from the register file */
double hd_replay_writes_saved(const hd_replay_result *result); /* results whose register-file write was saved; NAN where others than results are written */
double hd_replay_energy_share(const hd_replay_result *result, const hd_replay_result *baseline);

#endif
