/* A run of a CUDA program on the model: what the runtime in its process left (cudart/recording.h), as results, and as a
 * launch file that does the same without the program.
 *
 *   hd_run *run = hd_run_read(folder, program, true, diagnostics);
 *   hd_emit_replay_text(writer, hd_run_report(run), false);
 *   hd_run_write_launch(run, "launch.yaml", diagnostics);     beside contents and module, if they were recorded
 *   hd_run_keep(run, "launch.yaml", "record", diagnostics);   before the folder of the run goes
 *   hd_run_free(run);
 */
#ifndef HD_DRIVER_RUN_RUN_H
#define HD_DRIVER_RUN_RUN_H

#include "base/diagnostics.h"
#include "heddle/replay_result.h"

typedef struct hd_run hd_run;

/* What the runtime is asked for; `folder` exists. false: the file could not be written. */
typedef struct hd_run_request {
    const char *gpu;
    uint32_t threads;
    uint64_t instruction_limit;
    bool check_races, check_uninitialized, record;
    const char *code;        /* "ptx", "machine", or "auto", machine code where it is executed; NULL: PTX */
    bool no_cache;           /* of what ptxas makes */
    const char *block_order; /* as hd_ordering_read takes it; NULL: linear */
    const char *kept_in;     /* the folder of hd_run_keep, for diagnostics that name PTX; NULL: none */
} hd_run_request;
bool hd_run_prepare(const char *folder, const hd_run_request *request);

/* Never NULL: without a trace there are no launches. `program`: for the results' file. `demangles`: results have the
 * kernels' names in C++, too. */
hd_run *hd_run_read(const char *folder, const char *program, bool demangles, hd_diagnostics *diagnostics);
/* false (reported by hd_run_read): the runtime could not write all that happened. */
bool hd_run_is_whole(const hd_run *run);
/* Launches of the same kernel and shape are one row. */
const hd_replay_report *hd_run_report(const hd_run *run);
uint64_t hd_run_launches(const hd_run *run);
uint64_t hd_run_limits(const hd_run *run); /* launches that ended, or did not begin, at a limit of the model */
/* false: what launched kernels was killed, or ended by _exit: a record expects no contents after the launches. */
bool hd_run_has_ended(const hd_run *run);
bool hd_run_is_static(const hd_run *run); /* the program has the static runtime, which finds no driver */
/* false (reported): it cannot be written, or there is nothing to write, or several processes launched kernels. */
bool hd_run_write_launch(const hd_run *run, const char *name, hd_diagnostics *diagnostics);
/* Moves the record to another folder of the same disk, with the PTX also where nothing was launched. The launch file
 * comes last, and the one of an earlier record goes first, so that there is none beside files that are not its own.
 * false (reported): not all is there. */
bool hd_run_keep(const hd_run *run, const char *name, const char *folder, hd_diagnostics *diagnostics);
void hd_run_free(hd_run *run);

#endif
