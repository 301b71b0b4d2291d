/* The replay as a library call: runs launch files, several in parallel, in the hardware model, feeds all selected
 * techniques from one functional run, verifies every operand, compares outputs. Traces (hwmodel/trace/accel_sim.h) are
 * played instead: they are replayed as they are, and have no outputs.
 *
 *   hd_replay *replay = hd_replay_new(&options, diagnostics);
 *   hd_replay_files(replay, paths, count);                       once
 *   hd_emit_replay_text(writer, hd_replay_report_of(replay), false);    print the diagnostics too
 *   status = hd_replay_status(replay);
 *   hd_replay_free(replay);                                      only after the diagnostics were printed
 *
 * An annotated module is replayed exactly as written. A module without annotations is simplified and allocated in
 * memory, so that the baseline and all models see the order and the registers of machine code; then the original runs
 * too, without models, and must leave identical memory. The same holds for the original of an annotated module: the
 * code without annotations, with moved loads back at their original positions; it runs if that is different code. For a
 * technique without annotations in the module, the technique's pass runs on it, with the options that each model
 * requires. If that pass changes the code, its models get a separate run of the changed code, which must leave
 * identical memory.
 */
#ifndef HD_DRIVER_REPLAY_REPLAY_H
#define HD_DRIVER_REPLAY_REPLAY_H

#include "base/file_list.h"
#include "base/given_files.h"
#include "base/meter.h"
#include "base/output.h"
#include "driver/status.h"
#include "heddle/replay_event.h"
#include "heddle/replay_result.h"
#include "parser/parse.h"
#include <pthread.h>

typedef struct hd_replay_options {
    /* What runs of a module in PTX: "ptx", "machine", the machine code that ptxas makes of it, or "auto", machine code
     * where hd_replay_prefers_machine_code and all kernels are executed, with a warning where they are not; NULL: as
     * the launch file says, else the PTX. Of other modules, their machine code. */
    const char *code;
    bool no_cache;               /* run ptxas, and keep nothing of what it makes */
    const char *gpu;             /* name or file; NULL: the default */
    const char *const *settings; /* changes to the GPU's description, as hd_gpu_set takes them */
    uint32_t setting_count;
    /* "all", or a comma-separated list of techniques, models and models with options, "corf(shared)"; NULL: all;
     * "none": only run the kernels */
    const char *techniques;
    hd_parse_options parse;
    bool all_models; /* all models of each technique, not only its standard configurations */
    /* The files that launch files name to save buffers in: finished, but not published. NULL: none is written. */
    hd_outputs *saves;
    const hd_file_list *files; /* that the caller reads and writes, with the launch files; NULL: none; stays */
    bool no_compare;           /* do not run the original, and compare no memory with it */
    bool time;                 /* simulate cycles, too: the GPU's description has a section `timing` */
    uint32_t sms;              /* number of simulated SMs; 0: as many as the GPU has */
    uint32_t sample;           /* with `time`: of each launch, measure so many waves of blocks, 4 or more; 0: all */
    bool profile;              /* with `time`: a profile of the baseline, by instruction and source line */
    /* with `time`: a timeline of that SM, of these cycles of each launch; end 0: none */
    uint32_t timeline_sm;
    uint64_t timeline_first, timeline_end;
    bool no_memo;           /* no memoization (hwmodel/rf/memo.h): the same numbers, more slowly */
    bool no_demangle;       /* kernels have the names that the modules give them */
    bool keep_virtual;      /* replay PTX's virtual registers and unsimplified instructions */
    uint32_t max_registers; /* register limit of the allocation; 0: the maximum, or .maxnreg */
    /* files in parallel; with fewer files, per file: for passes, parallel runs, models, and CTAs of runs without
     * models; 0: all CPUs */
    uint32_t threads;
    uint32_t latency;           /* latency of long-latency loads, in issued instructions, for models whose warps share
                                 * storage (hwmodel/count/schedule.h); 0: HD_COUNT_LATENCY; UINT32_MAX: none */
    uint32_t active_warps;      /* active warps for these models; 0: HD_COUNT_ACTIVE_WARPS */
    uint64_t instruction_limit; /* maximum warp instructions of one run of a kernel; 0: HD_INSTRUCTION_LIMIT */
    /* address of the first buffer, for modules with 64-bit addresses (hwmodel/memory/memory.h); 0: HD_MEMORY_BASE */
    uint64_t memory_base;
    uint32_t seed; /* changes the seeds of random fills, so that expectations are left out (hd_launch_read); 0: none */
    const char *block_order, *buffer_order; /* as hd_ordering_read takes them (hd_exec_options, hd_launch_file) */
    const hd_module *listing;               /* machine code of traces (hwmodel/trace/accel_sim.h); stays; NULL: none */
    bool partial;                           /* traces may lack parts of their grid: a warning says how much is there */
    const char *lane_fault;                 /* as hd_lane_fault_read takes it; NULL: none */
    bool check_uninitialized, check_races;  /* as in hd_exec_options; uninitialized: of the original */
    /* Receives printed output; NULL: dropped. Called by one thread at a time, in the order of the files. */
    void (*print)(void *context, const char *text, size_t size);
    /* How many files are done; called by one thread at a time. NULL: nobody wants to know. */
    void (*progress)(void *context, uint32_t done);
    void *print_context;         /* of both */
    const char *title;           /* what results have in place of the only file's path; NULL: the path */
    const hd_given_files *given; /* searched first for all files that are read; NULL: none; stays */
    /* For a program that listens to what happens: to all events of a model, or to those of the mask `events`, a bit for
     * each hd_replay_event_kind; model NULL: the baseline. Called under the lock; what returns other than 0 sets
     * *cancel, which is then given. NULL: nobody listens. */
    int (*event)(void *user, const hd_replay_event *event);
    uint32_t events;
    const char *event_model;
    void *event_user;
    pthread_mutex_t *event_lock;
    atomic_bool *cancel; /* the replay ends soon after another thread has set it, unfinished; NULL: nobody does */
    hd_meter *meters;    /* by file: how much of it is done, with launches as items; NULL: nobody wants to know */
} hd_replay_options;

/* Replaces lists of traces (kernelslist.g) among the paths by what they name. The result is in the arena. false: a list
 * cannot be read, or names none (reported). */
bool hd_replay_expand(hd_arena *arena, const hd_given_files *given, const char *const **paths, uint32_t *count,
                      hd_diagnostics *diagnostics);

typedef struct hd_replay hd_replay;

/* Never NULL; invalid options are reported, and hd_replay_status returns USAGE or REJECTED. */
hd_replay *hd_replay_new(const hd_replay_options *options, hd_diagnostics *diagnostics);
/* In parallel; results, diagnostics and output do not depend on options->threads. Returns hd_replay_status. */
hd_status hd_replay_files(hd_replay *replay, const char *const *paths, uint32_t count);
const hd_replay_report *hd_replay_report_of(const hd_replay *replay);
hd_status hd_replay_status(const hd_replay *replay); /* the worst of all files (hd_status_worse) */
/* Whether "auto" is machine code: cycles are simulated, of a GPU whose machine code ptxas makes. */
bool hd_replay_prefers_machine_code(const hd_replay *replay);
void hd_replay_free(hd_replay *replay);

#endif
