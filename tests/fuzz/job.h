/* A whole replay of files that a fuzz target writes, without output files: any input is replayed or reported. In a
 * module without annotations every operand is proved, and no replay ends in an internal error. */
#ifndef HD_TESTS_FUZZ_JOB_H
#define HD_TESTS_FUZZ_JOB_H

#include "driver/replay/replay.h"
#include "emitters/replay/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void demand(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static char job_folder[64];

static inline void job_leave(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", job_folder);
    if (system(command) != 0)
        perror(command);
}

/* Makes a folder for the files, in memory where that is possible, the working folder. */
static inline void job_enter(void)
{
    if (*job_folder)
        return;
    snprintf(job_folder, sizeof job_folder, "/dev/shm/heddle-fuzz-XXXXXX");
    if (!mkdtemp(job_folder)) {
        snprintf(job_folder, sizeof job_folder, "/tmp/heddle-fuzz-XXXXXX");
        demand(mkdtemp(job_folder) != NULL);
    }
    demand(chdir(job_folder) == 0);
    atexit(job_leave);
}

static inline void job_write(const char *name, const char *text, size_t size)
{
    FILE *file = fopen(name, "wb");
    demand(file && fwrite(text, 1, size, file) == size && fclose(file) == 0);
}

/* Whether an operand was not proved. LARF shares loaded values in the order in which its SM issues: where thread blocks
 * race, another order ran, and its proof may fail. */
static inline bool job_fails_proof(const hd_diagnostics *diagnostics)
{
    for (const hd_diagnostic *d = diagnostics->first; d; d = d->next)
        if (d->kind == HD_DIAG_PROOF_FAILED && strncmp(d->message, "larf", 4) != 0)
            return true;
    return false;
}

static inline void job_emit(void (*emit)(hd_writer *, const hd_replay_report *), const hd_replay_report *report)
{
    hd_writer writer;
    hd_writer_to_memory(&writer);
    emit(&writer, report);
    hd_writer_free(&writer);
}

/* proves: nothing in the files may be wrong about registers. */
static inline void job_replay(hd_replay_options *options, const char *path, bool proves)
{
    hd_diagnostics diagnostics;
    hd_diagnostics_init(&diagnostics);
    options->threads = 1;
    options->sms = options->time ? 2 : 0;
    options->instruction_limit = 2000;
    hd_replay *replay = hd_replay_new(options, &diagnostics);
    if (hd_replay_status(replay) == HD_STATUS_DONE) {
        hd_status status = hd_replay_files(replay, &path, 1);
        demand(status != HD_STATUS_INTERNAL && status != HD_STATUS_USAGE);
        demand(!proves || !job_fails_proof(&diagnostics));
        job_emit(hd_emit_replay_json, hd_replay_report_of(replay));
        job_emit(hd_emit_replay_csv, hd_replay_report_of(replay));
        job_emit(hd_emit_replay_html, hd_replay_report_of(replay));
    } else {
        demand(diagnostics.error_count != 0);
    }
    hd_replay_free(replay);
    hd_diagnostics_free(&diagnostics);
}

#endif
