/* heddle run: a CUDA program in a process of its own, whose runtime library is the one on the model (cudart/). The
 * results are read from what that library left, and printed after the program's end, on standard error or to a file:
 * standard output and the exit status are the program's. Techniques and cycles come from a replay of the record. */
#include "cli/cli.h"

#include "base/temporary.h"
#include "driver/replay/replay.h"
#include "driver/run/run.h"
#include "driver/run/run_files.h"
#include "emitters/replay/replay.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUNTIME_FILE "libheddle-cudart.so"

typedef struct job {
    hd_cli *cli;
    hd_replay_options *options;
    hd_replay *replay;   /* what checked the options, for the record */
    const char *folder;  /* of the trace; temporary */
    const char *record;  /* the folder that keeps the record; NULL: none */
    const char *program; /* its path */
    bool replays;
    int status; /* of the program */
} job;

static bool failed(job *j, const char *what, const char *path, int error)
{
    hd_report(&j->cli->diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "%s '%s': %s", what, path,
              strerror(error));
    return false;
}

/* ---- before ------------------------------------------------------------------------------------------------------ */

/* Beside the program in the build folder, or where `make install` puts it. NULL (reported): nowhere. */
static const char *runtime_folder(job *j)
{
    static const char *const places[] = {"cudart", "../lib/heddle"};
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    hd_arena *arena = &j->cli->arena;
    self[hd_max(length, 0)] = '\0';
    char *slash = strrchr(self, '/');
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        const char *folder = hd_arena_printf(arena, "%.*s/%s", (int)(slash - self), self, places[i]);
        if (access(hd_arena_printf(arena, "%s/" RUNTIME_FILE, folder), R_OK) == 0)
            return folder;
    }
    failed(j, "the runtime library is missing:", RUNTIME_FILE, ENOENT);
    return NULL;
}

/* The program as a shell finds it; NULL (reported): there is none. */
static const char *find_program(job *j, const char *name)
{
    hd_arena *arena = &j->cli->arena;
    const char *path = getenv("PATH");
    if (strchr(name, '/'))
        return access(name, X_OK) == 0 ? name : (failed(j, "cannot run", name, errno), NULL);
    for (path = path ? path : ""; *path; path += strcspn(path, ":"), path += *path == ':') {
        const char *at = hd_arena_printf(arena, "%.*s/%s", (int)strcspn(path, ":"), path, name);
        if (access(at, X_OK) == 0)
            return at;
    }
    failed(j, "cannot run", name, ENOENT);
    return NULL;
}

/* The folder that keeps the record: HD_STATUS_DONE, or why not. Outputs may be in it, too. */
static int make_record_folder(job *j)
{
    bool is_new = mkdir(j->record, 0777) == 0;
    if (!is_new && errno != EEXIST) {
        failed(j, "cannot make the folder", j->record, errno);
        return HD_STATUS_REJECTED;
    }
    if (!is_new || hd_cli_own_files_fit(j->cli))
        return HD_STATUS_DONE;
    rmdir(j->record);
    return HD_STATUS_USAGE;
}

/* A record begins in a folder of its own, on the disk where it will be: until it is whole, what is there stays. The
 * program may change its directory, so that the path is absolute. */
static bool make_folder(job *j)
{
    hd_arena *arena = &j->cli->arena;
    const char *temporary = getenv("TMPDIR");
    const char *place = j->record ? j->record : temporary && *temporary ? temporary : "/tmp";
    char real[PATH_MAX];
    if (!realpath(place, real))
        return failed(j, "cannot find the folder", place, errno);
    char *pattern = hd_arena_printf(arena, "%s/%sheddle-run-XXXXXX", real, j->record ? "." : "");
    if (!hd_temporary_make_folder(pattern))
        return failed(j, "cannot make the folder", pattern, errno);
    j->folder = pattern;
    return true;
}

static bool prepare(job *j)
{
    const hd_replay_options *o = j->options;
    const char *code = o->code ? o->code : "ptx";
    bool prefers = hd_replay_prefers_machine_code(j->replay);
    hd_run_request q = {.gpu = o->gpu,
                        .threads = o->threads,
                        .instruction_limit = o->instruction_limit,
                        .check_races = o->check_races,
                        .check_uninitialized = o->check_uninitialized,
                        .record = j->record || j->replays,
                        .code = strcmp(code, "auto") == 0 && !prefers ? "ptx" : code,
                        .no_cache = o->no_cache,
                        .block_order = o->block_order,
                        .kept_in = j->record};
    return hd_run_prepare(j->folder, &q) || failed(j, "cannot write to", j->folder, errno);
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

static bool run_program(job *j, const char *runtime)
{
    const char *before = getenv("LD_LIBRARY_PATH");
    const char *libraries = before && *before ? hd_arena_printf(&j->cli->arena, "%s:%s", runtime, before) : runtime;
    const char *const environment[] = {"LD_LIBRARY_PATH", libraries, HD_RUN_VARIABLE, j->folder, NULL};
    bool asked_to_end;
    j->status = hd_cli_run_program(&(hd_cli_program){j->program, j->cli->operands, environment}, &asked_to_end);
    if (j->status < 0)
        return failed(j, "cannot run", j->program, errno);
    if (asked_to_end && j->replays) {
        fprintf(stderr, "heddle: asked to end: no technique is replayed\n");
        j->replays = false;
    }
    return true;
}

/* ---- after ------------------------------------------------------------------------------------------------------- */

static bool open_output(job *j, hd_output *output)
{
    if (hd_cli_has(j->cli, HD_OPTION_OUTPUT))
        return hd_cli_open(j->cli, output, j->cli->values[HD_OPTION_OUTPUT]);
    *output = (hd_output){.descriptor = STDERR_FILENO};
    hd_writer_to_descriptor(&output->writer, STDERR_FILENO);
    return true;
}

static void write_total(const job *j, hd_writer *writer, const hd_run *run)
{
    const hd_replay_report *report = hd_run_report(run);
    uint64_t warp = 0, thread = 0;
    if (hd_cli_has(j->cli, HD_OPTION_FORMAT) && strcmp(j->cli->values[HD_OPTION_FORMAT], "text") != 0)
        return;
    for (uint32_t i = 0; i < report->kernel_count; i++) {
        warp += report->kernels[i].warp_instructions;
        thread += report->kernels[i].thread_instructions;
    }
    hd_write_format(writer,
                    "total: %" PRIu64 " launches, %" PRIu64 " warp instructions, %" PRIu64 " thread instructions\n",
                    hd_run_launches(run), warp, thread);
}

/* What was asked for of the record; false (reported): it is not there. */
static bool write_record(const job *j, const hd_run *run)
{
    hd_diagnostics *diagnostics = &j->cli->diagnostics;
    if (!j->record && !j->replays)
        return true;
    bool written = !hd_run_launches(run) || hd_run_write_launch(run, HD_RUN_LAUNCH_FILE, diagnostics);
    if (j->record && hd_run_launches(run) && !hd_run_has_ended(run))
        fprintf(stderr, "heddle: the program was killed or called _exit: its record has no expected contents\n");
    return written && (!j->record || hd_run_keep(run, HD_RUN_LAUNCH_FILE, j->record, diagnostics));
}

/* A file of the folder that goes has the name of what the user has. */
static void name_source(const job *j, hd_source *source)
{
    size_t length = strlen(j->folder);
    if (!source || strncmp(source->name, j->folder, length) != 0 || source->name[length] != '/')
        return;
    bool is_launch = strcmp(source->name + length + 1, HD_RUN_LAUNCH_FILE) == 0;
    const char *what = is_launch ? "the record" : "PTX";
    hd_source_rename(source, hd_arena_printf(&j->cli->arena, "%s of %s", what, j->cli->operands[0]));
}

static void name_sources(const job *j)
{
    for (const hd_diagnostic *d = j->cli->diagnostics.first; d; d = d->next) {
        name_source(j, d->source);
        for (const hd_note *note = d->notes; note; note = note->next)
            name_source(j, note->source);
    }
}

static int replay(job *j, hd_output *output)
{
    const char *folder = j->record ? j->record : j->folder;
    const char *path = hd_arena_printf(&j->cli->arena, "%s/" HD_RUN_LAUNCH_FILE, folder);
    j->options->title = j->record ? NULL : j->cli->operands[0];
    int status = hd_cli_replay_files(j->cli, j->replay, j->options, &path, 1, output);
    name_sources(j);
    return status;
}

/* The status of the replay, or of writing. */
static int show(job *j, const hd_run *run)
{
    hd_output output;
    bool written = write_record(j, run);
    if (!open_output(j, &output))
        return HD_STATUS_REJECTED;
    if (j->replays && written && hd_run_launches(run))
        return replay(j, &output);
    hd_cli_emit_replay(j->cli, &output.writer, hd_run_report(run));
    write_total(j, &output.writer, run);
    return hd_cli_close(j->cli, &output, true) && written ? HD_STATUS_DONE : HD_STATUS_REJECTED;
}

/* The program, and what follows it; the folder is there. */
static int run_in_folder(job *j, const char *runtime)
{
    if (!prepare(j) || !run_program(j, runtime))
        return HD_STATUS_REJECTED;
    hd_run *run =
        hd_run_read(j->folder, j->cli->operands[0], !hd_cli_has(j->cli, HD_OPTION_NO_DEMANGLE), &j->cli->diagnostics);
    if (hd_run_is_whole(run) && !hd_run_launches(run) && !hd_run_limits(run))
        fprintf(stderr, "heddle: the program launched no kernel through the CUDA runtime\n");
    int shown = hd_run_is_whole(run) ? show(j, run) : HD_STATUS_REJECTED;
    bool refused = hd_run_is_static(run) && !hd_run_launches(run);
    bool limited = hd_run_limits(run) > 0 || hd_run_is_static(run);
    hd_run_free(run);
    if (refused || (limited && !j->status && shown != HD_STATUS_WRONG))
        return HD_STATUS_UNDECIDED;
    return j->status ? j->status : shown;
}

/* Options that say how techniques are replayed mean nothing where none is. */
static bool fit_together(const job *j)
{
    hd_option_id option = j->replays ? HD_OPTION_COUNT : hd_cli_marked(j->cli, HD_CLI_OF_MODELS, 0);
    if (option < HD_OPTION_COUNT)
        hd_cli_usage_error("--%s goes with --technique or --time: without them no technique is replayed",
                           hd_cli_options[option].name);
    return option == HD_OPTION_COUNT;
}

int hd_cli_run(hd_cli *cli)
{
    job j = {
        .cli = cli, .options = HD_ARENA_NEW(&cli->arena, hd_replay_options), .record = cli->values[HD_OPTION_RECORD]};
    const char *technique = cli->values[HD_OPTION_TECHNIQUE];
    if (!hd_cli_replay_options(cli, j.options))
        return HD_STATUS_USAGE;
    j.replays = (technique && strcmp(technique, "none") != 0) || j.options->time;
    if (!fit_together(&j))
        return HD_STATUS_USAGE;
    if (j.options->time && !technique)
        j.options->techniques = "all";
    j.replay = hd_cli_replay_new(cli, j.options);
    if (hd_replay_status(j.replay) != HD_STATUS_DONE)
        return (int)hd_replay_status(j.replay);
    const char *runtime = runtime_folder(&j);
    if (!runtime || !(j.program = find_program(&j, cli->operands[0])))
        return HD_STATUS_UNDECIDED;
    int made = j.record ? make_record_folder(&j) : HD_STATUS_DONE;
    if (made != HD_STATUS_DONE)
        return made;
    if (!make_folder(&j))
        return HD_STATUS_REJECTED;
    int status = run_in_folder(&j, runtime);
    hd_temporary_remove_folder(j.folder);
    return status;
}
