/* The replay as a library call: runs launch files in the hardware model, feeds all asked-for techniques from one
 * functional run, proves every operand, compares outputs.
 *
 *   hd_replay *replay = hd_replay_new(&options, diagnostics);
 *   for each path: hd_replay_file(replay, path);
 *   hd_emit_replay_text(writer, hd_replay_report_of(replay));    print the diagnostics too
 *   status = hd_replay_status(replay);
 *   hd_replay_free(replay);                                      only after the diagnostics were printed
 *
 * A module that brings annotations of a technique is replayed exactly as written. For one without, the technique's pass
 * runs on it in memory first, with the options that each model asks for.
 */
#ifndef HD_DRIVER_REPLAY_H
#define HD_DRIVER_REPLAY_H

#include "driver/status.h"
#include "emitters/replay.h"
#include "parser/parse.h"

typedef struct hd_replay_options {
    const char *gpu;        /* name or file; NULL: the default */
    const char *techniques; /* "all", or a comma-separated list of techniques and models; NULL: all; "none": only runs */
    hd_parse_options parse;
    uint32_t threads;           /* for passes, and for CTAs where no technique looks on; 0 = all CPUs */
    uint64_t instruction_limit; /* warp instructions that one run of a kernel may take; 0: HD_INSTRUCTION_LIMIT */
    bool check_uninitialized, check_races; /* as hd_exec_options has them */
    /* Takes what kernels print; NULL: it is dropped. */
    void (*print)(void *context, const char *text, size_t size);
    void *print_context;
} hd_replay_options;

typedef struct hd_replay hd_replay;

/* Never NULL; where the options are wrong it is reported and hd_replay_status tells USAGE or REJECTED. */
hd_replay *hd_replay_new(const hd_replay_options *options, hd_diagnostics *diagnostics);
hd_status hd_replay_file(hd_replay *replay, const char *path);
const hd_replay_report *hd_replay_report_of(const hd_replay *replay);
hd_status hd_replay_status(const hd_replay *replay); /* of the first file that was not DONE */
void hd_replay_free(hd_replay *replay);

#endif
