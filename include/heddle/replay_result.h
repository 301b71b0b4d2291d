/* The results of a replay as data: the content of hd_context_replay()'s report, for programs.
 *
 * All arrays and strings belong to the producer of the report; hd_context_replay_results() documents their lifetime. A
 * fraction or ratio that is undefined (division by zero, unknown energy) is NAN.
 */
#ifndef HEDDLE_REPLAY_RESULT_H
#define HEDDLE_REPLAY_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Result of comparing memory contents. */
typedef enum hd_replay_outputs {
    HD_OUTPUTS_UNCHECKED,
    HD_OUTPUTS_RIGHT,
    HD_OUTPUTS_WRONG,
    HD_OUTPUTS_CLOCK /* they differ, and what a kernel of the launch file leaves depends on a clock: no FAIL */
} hd_replay_outputs;

/* How a model was verified on a launch. Three checks: each operand that the model delivers, the outputs that the launch
 * file expects, and memory identical to that of the original kernel. */
typedef enum hd_replay_check {
    HD_CHECK_NOT_RUN,    /* the model was not applied */
    HD_CHECK_PASS,       /* all three checks passed, or the last two differ by a clock */
    HD_CHECK_OPERANDS,   /* FAIL: an operand has a different value than the baseline reads */
    HD_CHECK_OUTPUTS,    /* FAIL: an output differs from the expected one */
    HD_CHECK_IDENTICAL,  /* FAIL: memory differs from that of the original kernel */
    HD_CHECK_INCOMPLETE, /* FAIL: the run did not finish, so nothing is verified */
    HD_CHECK_COUNT
} hd_replay_check;

typedef enum hd_replay_registers {
    HD_REPLAY_VIRTUAL,     /* PTX's virtual registers */
    HD_REPLAY_ALLOCATED,   /* simplified and allocated by this replay */
    HD_REPLAY_ARCHITECTED, /* the input module was already allocated */
} hd_replay_registers;

/* A quantity that models count; listed in heddle-json(5). */
typedef struct hd_replay_counter {
    const char *key;   /* stable; used in JSON and CSV */
    const char *title; /* human-readable title */
} hd_replay_counter;

typedef enum hd_replay_figure {
    HD_FIGURE_NONE,
    HD_FIGURE_SHARE,  /* a fraction, shown as a percentage */
    HD_FIGURE_CHANGE, /* a relative change, such as -0.34; shown as a percentage with its sign */
    HD_FIGURE_NUMBER, /* a number */
} hd_replay_figure;

/* The headline figure of the technique's paper. */
typedef struct hd_replay_headline {
    hd_replay_figure kind; /* NONE: the model has none */
    const char *title;     /* "reads bypassed" */
    const char *meaning;   /* what the figure is a fraction of, for a legend */
    const char *absent;    /* why the technique had nothing to do: "no feasible extended-set size"; or NULL */
    double value;
} hd_replay_headline;

/* Allocated warp registers of an SM, over issued instructions. */
typedef struct hd_replay_allocation {
    uint64_t instructions; /* 0: the model does not record allocation */
    uint64_t peak;
    double mean;
    const double *buckets; /* means over `bucket_instructions` consecutive instructions each */
    uint32_t bucket_count;
    uint64_t bucket_instructions;
} hd_replay_allocation;

/* Where the issue slots of the schedulers went; the report lists them. */
typedef struct hd_replay_slot {
    const char *key;  /* in JSON and CSV; stable */
    const char *text; /* what a warp waited for */
} hd_replay_slot;

/* An instruction of machine code. */
typedef struct hd_replay_early {
    const char *function, *text;
    uint32_t address; /* bytes from the start of the function */
} hd_replay_early;

/* One model in cycles, all runs of the launch together. */
typedef struct hd_replay_timing {
    uint64_t cycles;              /* of the SMs' clock */
    double sampled_fraction;      /* of the blocks that were timed; 1: all of them, and nothing is extrapolated */
    double error_fraction;        /* of `cycles`, at most, by the waves of blocks that were measured */
    double speedup;               /* the baseline's cycles / these */
    double warp_ipc;              /* warp instructions per cycle, all SMs together */
    double thread_ipc;            /* thread instructions per cycle */
    double occupancy;             /* resident warps, of those that SMs can hold, over all cycles */
    double dynamic_pj, static_pj; /* energy of the register file and of what the technique adds; NAN: unknown */
    double energy_normalized;     /* their sum, divided by the baseline's */
    const uint64_t
        *slots; /* issue slots by the report's `slots`; their sum is cycles * schedulers * issue width * SMs */
    uint64_t bank_conflict_cycles; /* that accesses to the register file waited at their banks */
    uint64_t l1_reads, l1_hits;    /* lines */
    uint64_t l2_reads, l2_hits;    /* requests */
    uint64_t dram_bytes;
    uint64_t shared_accesses, shared_passes;
    /* Where warps take turns: periods in which one does, and their cycles; periods between two of the same warp. */
    uint64_t active_periods, active_cycles, inactive_periods, inactive_cycles;
    /* Of machine code whose control codes are followed: operands from the reuse cache; operands that are read before
     * their results are there by the latencies of the GPU, and the first of these, NULL: there is none. */
    uint64_t reused_operands, early_reads;
    const hd_replay_early *first_early;
} hd_replay_timing;

typedef struct hd_replay_instruction {
    const char *text; /* opcode and modifiers */
    uint32_t line;    /* in the PTX; 0: a pass inserted it */
} hd_replay_instruction;

typedef enum hd_replay_span_kind {
    HD_SPAN_ISSUE,       /* an issue slot issues an instruction */
    HD_SPAN_STALL,       /* an issue slot issues nothing */
    HD_SPAN_INSTRUCTION, /* an instruction, from its issue until its results are written */
    HD_SPAN_WARP,        /* a resident warp */
} hd_replay_span_kind;

typedef struct hd_replay_span {
    hd_replay_span_kind kind;
    uint64_t begin, end;  /* cycles since the launch began; end: the first one after it */
    uint32_t track;       /* ISSUE, STALL: scheduler * issue width + number; else the warp's place in the SM */
    uint32_t reason;      /* STALL: index in the report's `slots` */
    uint32_t block, warp; /* of the launch; not of a STALL */
    uint32_t threads;     /* ISSUE, INSTRUCTION: those that execute it */
    const hd_replay_instruction *instruction; /* ISSUE, INSTRUCTION; else NULL */
} hd_replay_span;

/* What one SM did in a range of cycles, in the first run of the launch. Issue slots have spans without gaps; those of
 * instructions may end after the range, those of warps are cut to it. */
typedef struct hd_replay_timeline {
    uint32_t sm, schedulers, issue_width;
    uint64_t first, end;
    const hd_replay_span *spans;
    uint32_t span_count;
} hd_replay_timeline;

/* What a model that compares the results of lanes saw of an injected fault of a lane, in all runs of the launch. */
typedef struct hd_replay_detection {
    uint64_t wrong;       /* results of the program that the fault changed */
    uint64_t caught;      /* of these, those that differ from what another lane computed; the others slipped through */
    uint64_t differences; /* comparisons that differ: also where the faulty lane repeated what another one did right */
    bool in_cycles;
    /* With differences, the first one: in which cycle of the launch, or before which of the instructions that are
     * issued, counted from 0; and the instruction whose result differs. */
    uint64_t at;
    uint32_t block, warp, thread; /* warp: of the launch; thread: of the warp */
    hd_replay_instruction instruction;
} hd_replay_detection;

/* ---- the profile ------------------------------------------------------------------------------------------------- */

/* What belongs to an instruction, or to all instructions of a source line. */
typedef struct hd_replay_counts {
    /* of resident warps, by the report's `states`: in which they issue it, or wait to issue it; and their sum */
    const uint64_t *cycles;
    uint64_t all_cycles;
    const uint64_t *slots;                                 /* issue slots, by the report's `slots` */
    uint64_t executions, active_lanes, executing_lanes;    /* by warps; lanes of these, and those whose guard holds */
    uint64_t requests, sectors, least_sectors;             /* least: that hold as many bytes as the lanes access */
    uint64_t l1_reads, l1_hits;                            /* lines */
    uint64_t l2_sectors, l2_sector_hits;                   /* of reads */
    uint64_t shared_accesses, shared_passes, least_passes; /* least: without bank conflicts */
    uint32_t live_registers;                               /* the most that are needed at it: 32-bit registers */
} hd_replay_counts;

typedef struct hd_replay_profile_instruction {
    const char *function, *text;
    uint32_t number;          /* in its function */
    uint32_t code_line;       /* in the PTX, or in the listing of machine code; 0: a pass inserted it */
    uint32_t line;            /* of the profile's `lines` */
    const char *inlined_file; /* the call at which its line was inlined; NULL: it was not */
    uint32_t inlined_line;
    hd_replay_counts counts;
} hd_replay_profile_instruction;

typedef struct hd_replay_profile_line {
    const char
        *file; /* NULL: code without a source line, an instruction each: `line` is of the PTX or of the listing */
    uint32_t line;
    const char *text; /* of the line, or of the instruction; NULL: the file is not at hand */
    uint32_t instructions;
    hd_replay_counts counts;
} hd_replay_profile_line;

typedef struct hd_replay_profile_source {
    const char *file;
    const char *const *lines; /* texts of its lines; NULL: it is not at hand */
    uint32_t line_count;
} hd_replay_profile_source;

/* Where the cycles of the baseline are, all runs of the launch together. Sums over instructions, and over lines, with
 * `rest` are those of the launch's timing. */
typedef struct hd_replay_profile {
    hd_replay_counts total, rest; /* rest: what belongs to no instruction */
    bool has_lines;               /* some code has source lines */
    bool is_machine;              /* the code is a listing */
    const hd_replay_profile_instruction
        *instructions; /* of the functions that were executed, in the order of the text */
    uint32_t instruction_count;
    const hd_replay_profile_line *lines; /* that were executed, the one with most cycles first; then the others */
    uint32_t line_count;
    const hd_replay_profile_source *sources;
    uint32_t source_count;
} hd_replay_profile;

/* ---- results ----------------------------------------------------------------------------------------------------- */

typedef struct hd_replay_result { /* one model on one launch */
    const char *model;            /* name with the options that were given: "bow-wr(iw=4)" */
    const char *title;            /* the technique's name in its paper, for a standard configuration; else the model's
                                   * name */
    const char *technique;        /* spelling of the technique; "": the baseline */
    const char *options;          /* in effect: "policy=tags,iw=4" */
    const char *summary;          /* one-line description of the model */
    const char *not_applied;      /* why the model was not applied, or NULL */
    hd_replay_check check;
    const uint64_t *counters;             /* one for each of the report's `counters`; UINT64_MAX: too many to count */
    uint64_t rf_accesses;                 /* register-file reads and writes */
    double rf_accesses_normalized;        /* rf_accesses divided by the baseline's */
    double rf_reads_eliminated_fraction;  /* fraction of operands read */
    double rf_writes_eliminated_fraction; /* fraction of results written; NAN if other registers are written back as
                                           * well */
    double energy_pj;                     /* dynamic energy of the register file and added structures; NAN: unknown */
    double energy_normalized;             /* energy_pj divided by the baseline's */
    bool energy_derived;              /* from an energy that is not published for the GPU, but derived from others */
    double physical_access_variation; /* coefficient of variation of the accesses per physical register */
    hd_replay_headline headline;
    hd_replay_allocation allocated;
    uint64_t storage_bits;                /* storage that the technique adds per SM; 0: none or unknown */
    const hd_replay_timing *timing;       /* NULL: cycles were not asked for, or there are none */
    const hd_replay_timeline *timeline;   /* NULL: it was not asked for, or there is none */
    const hd_replay_detection *detection; /* NULL: there is no fault, or the model does not look for one */
} hd_replay_result;

typedef struct hd_replay_kernel { /* one launch of a launch file, all its runs combined */
    const char *name, *file;
    uint32_t launch;            /* index in the launch file */
    uint32_t grid[3], block[3]; /* those of the first run */
    uint64_t runs;
    uint64_t warp_instructions, thread_instructions, divergent_branches;
    /* with cycles: what of its results may depend on the order of warps, which is the interpreter's; NULL: nothing */
    const char *order_dependent;
    hd_replay_outputs outputs;   /* compared with what the launch file expects */
    hd_replay_outputs identical; /* memory compared with that of the original kernel, if the code was rewritten */
    bool annotated;              /* the input module was already annotated */
    hd_replay_registers registers;
    uint32_t general, predicates; /* registers per thread; not set for HD_REPLAY_VIRTUAL */
    hd_replay_result *results;    /* baseline first; none if techniques are "none" */
    uint32_t result_count;
    /* with an injected fault: operations of the lane in its unit, and those whose result it changed */
    uint64_t lane_operations, lane_wrong;
    uint64_t memory_base;  /* address of the first buffer, for modules with 64-bit addresses; 0: a trace has its own */
    const char *demangled; /* equal to name if it is not mangled, or mangled names were asked for */
    bool clock_dependent;  /* a clock that it reads may decide what it leaves in memory */
    const hd_replay_profile *profile; /* of the baseline; NULL: it was not asked for, or there is none */
    uint32_t machine_sm;              /* machine code ran, of sm_N; 0: PTX, or a trace */
    const char *assembled_by;         /* what made that code: "ptxas 13.0.88"; NULL: unknown, or PTX */
} hd_replay_kernel;

typedef struct hd_replay_report {
    const char *gpu;
    const char *const *settings; /* changes to its description, "timing.core.banks=8" */
    uint32_t setting_count;
    uint32_t sample_waves;  /* of each launch, that were measured; 0: every block was timed */
    uint32_t sms;           /* simulated ones; 0: cycles were not asked for */
    const char *lane_fault; /* the injected fault, as it was given; NULL: none */
    const char *left_out;   /* techniques that `all` does not mean without time: "hrf, larf"; NULL: none */
    const hd_replay_counter *counters;
    uint32_t counter_count;
    const hd_replay_slot *slots; /* of timings; none where cycles were not asked for */
    uint32_t slot_count;
    const hd_replay_slot *states; /* of warps, in profiles: the slots, and waiting for others; none without profiles */
    uint32_t state_count;
    const hd_replay_kernel *kernels;
    uint32_t kernel_count;
    uint32_t
        latency; /* of long-latency loads, in issued instructions, where warps take turns without cycles; 0: none */
    uint32_t active_warps;  /* of an SM, that take turns there */
    uint32_t max_registers; /* of the allocation; 0: no limit was given */
    /* By options, or as all launch files say it: */
    uint32_t seed; /* that changed those of random fills; 0: none */
    /* in which thread blocks started and buffers lie, as it was asked for: "reverse", "random:3"; NULL: it was not */
    const char *block_order, *buffer_order;
    const char
        *plugins; /* that are loaded, "recent-1-0123456789abcdef latch-...": name, version, content; NULL: none */
} hd_replay_report;

#ifdef __cplusplus
}
#endif

#endif
