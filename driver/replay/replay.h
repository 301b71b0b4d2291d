/* The replay as a library call: runs launch files, several side by side, in the hardware model, feeds all asked-for
 * techniques from one functional run, proves every operand, compares outputs.
 *
 *   hd_replay *replay = hd_replay_new(&options, diagnostics);
 *   hd_replay_files(replay, paths, count);                       once
 *   hd_emit_replay_text(writer, hd_replay_report_of(replay), false);    print the diagnostics too
 *   status = hd_replay_status(replay);
 *   hd_replay_free(replay);                                      only after the diagnostics were printed
 *
 * A module that brings annotations is replayed exactly as written. One without any is cleaned up and its registers are
 * allocated, in memory, so that the baseline and all models see the order and the registers of machine code; then the
 * original runs too, without models, and must leave the same memory, byte for byte. So must the original of a module
 * that brings annotations: the code without them, with loads that were moved where their annotations say that they
 * stood; it runs where that is other code. Where a module has no annotations of a technique, the technique's pass runs
 * on it, with the options that each model asks for. Where that pass changes the code, its models get a run of their
 * own, of the changed code, which must leave the same memory.
 */
#ifndef HD_DRIVER_REPLAY_REPLAY_H
#define HD_DRIVER_REPLAY_REPLAY_H

#include "driver/status.h"
#include "heddle/replay_result.h"
#include "parser/parse.h"

typedef struct hd_replay_options {
    const char *gpu; /* name or file; NULL: the default */
    /* "all", or a comma-separated list of techniques, models and models with options, "corf(shared)"; NULL: all;
     * "none": only runs */
    const char *techniques;
    hd_parse_options parse;
    bool all_models;        /* a technique means all of its models, not its standard configurations alone */
    bool no_compare;        /* run no original, and compare no memory with it */
    bool no_memo;           /* walk each model through every instruction (hwmodel/rf/memo.h): the same numbers, later */
    bool keep_virtual;      /* replay PTX's own registers and instructions */
    uint32_t max_registers; /* allocate at most so many; 0: as many as there are, or what .maxnreg says */
    /* files side by side; with fewer files, of each: for passes, for its runs side by side, for models, and for CTAs
     * where no technique looks on; 0 = all CPUs */
    uint32_t threads;
    uint32_t latency;           /* of long-latency loads, in issued instructions, for models whose warps share storage
                                 * (hwmodel/rf/interleave.h); 0: HD_COUNT_LATENCY; UINT32_MAX: none */
    uint32_t active_warps;      /* that take turns there; 0: HD_COUNT_ACTIVE_WARPS */
    uint64_t instruction_limit; /* warp instructions that one run of a kernel may take; 0: HD_INSTRUCTION_LIMIT */
    /* address where buffers and variables begin, in modules of 64-bit addresses (hwmodel/memory/memory.h); 0:
     * HD_MEMORY_BASE */
    uint64_t memory_base;
    bool check_uninitialized, check_races; /* as hd_exec_options has them; uninitialized: of the original */
    /* Takes what kernels print; NULL: it is dropped. Called by one thread at a time, in the order of the files. */
    void (*print)(void *context, const char *text, size_t size);
    void *print_context;
} hd_replay_options;

typedef struct hd_replay hd_replay;

/* Never NULL; where the options are wrong it is reported and hd_replay_status tells USAGE or REJECTED. */
hd_replay *hd_replay_new(const hd_replay_options *options, hd_diagnostics *diagnostics);
/* Side by side; what is reported, told and printed does not depend on options->threads. Returns hd_replay_status. */
hd_status hd_replay_files(hd_replay *replay, const char *const *paths, uint32_t count);
const hd_replay_report *hd_replay_report_of(const hd_replay *replay);
hd_status hd_replay_status(const hd_replay *replay); /* the worst of all files (hd_status_worse) */
void hd_replay_free(hd_replay *replay);

#endif
