/* Sweeps on a cluster: job arrays of Slurm, and files for make and ninja. See sweep.h. */
#include "driver/sweep/sweep_store.h"

#include "base/output.h"
#include "driver/build/process.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_TASKS = 1000 }; /* MaxArraySize of Slurm is 1001 where nobody changed it */

/* A file in the folder, as a line of #SBATCH has it: in quotes, with a backslash before what would end them. sbatch
 * replaces what follows a percent sign. */
static void write_log(hd_writer *w, const char *folder, const char *name)
{
    hd_write_string(w, "#SBATCH --output=\"");
    for (; *folder; folder++) {
        if (*folder == '%')
            hd_write_char(w, '%');
        else if (*folder == '"' || *folder == '\\')
            hd_write_char(w, '\\');
        hd_write_char(w, *folder);
    }
    hd_write_format(w, "/%s\"\n", name);
}

static uint32_t tasks_of(const hd_sweep *s) { return s->points.count < MOST_TASKS ? s->points.count : MOST_TASKS; }

/* In files of make and ninja, where a dollar sign is two. */
static void write_doubled(hd_writer *w, const hd_writer *text)
{
    for (uint32_t i = 0; i < text->buffer.count; i++) {
        hd_write_char(w, text->buffer.items[i]);
        if (text->buffer.items[i] == '$')
            hd_write_char(w, '$');
    }
}

static void write_sweep(hd_writer *w, const hd_sweep *s, const char *folder)
{
    hd_write_shell_word(w, s->options.heddle);
    hd_write_string(w, " sweep ");
    hd_write_shell_word(w, s->path);
    hd_write_string(w, " -o ");
    hd_write_shell_word(w, folder);
}

static void write_merge(hd_writer *w, const hd_sweep *s, const char *folder)
{
    hd_write_shell_word(w, s->options.heddle);
    hd_write_string(w, " sweep merge ");
    hd_write_shell_word(w, folder);
    hd_write_char(w, '\n');
}

/* `slurm:` of the file, as sbatch's long options. */
static void write_resources(hd_writer *w, const hd_yaml_node *slurm)
{
    for (uint32_t i = 0; slurm && i < slurm->count; i++)
        hd_write_format(w, "#SBATCH --%s=%s\n", slurm->items[2 * i]->text, slurm->items[2 * i + 1]->text);
}

/* A limit that three times what the estimate says does not reach, at least ten minutes; none where nothing is known. */
static void write_limit(hd_writer *w, const hd_sweep *s, const hd_sweep_counts *counts, uint32_t tasks)
{
    enum { FACTOR = 3, LEAST_MINUTES = 10 };
    double minutes = FACTOR * counts->seconds_left / tasks / 60;
    if (!isnan(minutes) && !hd_yaml_get(s->slurm, "time"))
        hd_write_format(w, "#SBATCH --time=%.0f\n", fmax(LEAST_MINUTES, ceil(minutes)));
}

void hd_sweep_write_slurm(hd_writer *w, const hd_sweep *s, const char *folder, const hd_sweep_counts *counts)
{
    uint32_t tasks = tasks_of(s);
    hd_write_string(w, "#!/bin/sh\n# One task of a sweep. A task that is requeued goes on where it was.\n#SBATCH "
                       "--job-name=heddle-sweep\n");
    hd_write_format(w, "#SBATCH --array=0-%u\n#SBATCH --requeue\n#SBATCH --open-mode=append\n", tasks - 1);
    write_log(w, folder, "slurm-%a.log");
    write_limit(w, s, counts, tasks);
    write_resources(w, s->slurm);
    write_sweep(w, s, folder);
    hd_write_format(w, " -j \"${SLURM_CPUS_PER_TASK:-1}\" --shard=\"$SLURM_ARRAY_TASK_ID/%u\"\n", tasks);
    /* a point that failed is a result; only what has none makes the task fail */
    hd_write_string(w, "case $? in 0|1|3|5|6) ;; *) exit 1 ;; esac\n");
}

void hd_sweep_write_make(hd_writer *w, const hd_sweep *s, const char *folder, bool ninja)
{
    uint32_t tasks = tasks_of(s);
    hd_writer run, merge;
    hd_writer_to_memory(&run);
    hd_writer_to_memory(&merge);
    write_sweep(&run, s, folder);
    write_merge(&merge, s, folder);
    hd_write_string(w, ninja ? "rule run\n  command = $command\n" : ".PHONY: all\nall:");
    for (uint32_t t = 0; t < tasks && !ninja; t++)
        hd_write_format(w, " shard-%u", t);
    if (!ninja) {
        hd_write_string(w, "\n\t");
        write_doubled(w, &merge);
    }
    for (uint32_t t = 0; t < tasks; t++) {
        if (ninja)
            hd_write_format(w, "build shard-%u: run\n  command = ", t);
        else
            hd_write_format(w, ".PHONY: shard-%u\nshard-%u:\n\t", t, t);
        write_doubled(w, &run);
        hd_write_format(w, " -j 1 --shard=%u/%u --no-merge\n", t, tasks);
    }
    if (ninja) {
        hd_write_string(w, "build all: run");
        for (uint32_t t = 0; t < tasks; t++)
            hd_write_format(w, " shard-%u", t);
        hd_write_string(w, "\n  command = ");
        write_doubled(w, &merge);
        hd_write_string(w, "default all\n");
    }
    hd_writer_free(&run);
    hd_writer_free(&merge);
}

/* ---- sbatch ------------------------------------------------------------------------------------------------------ */

static bool write_script(const char *path, const hd_writer *text, hd_diagnostics *diagnostics)
{
    hd_output output;
    if (hd_output_open(&output, path)) {
        hd_write(&output.writer, text->buffer.items, text->buffer.count);
        bool good = hd_output_finish(&output) && hd_output_publish(&output);
        int error = errno;
        hd_output_drop(&output);
        if (good)
            return true;
        errno = error;
    }
    hd_report(diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "cannot write '%s': %s", path, strerror(errno));
    return false;
}

/* What sbatch prints with --parsable: the job's number. 0: reported. */
static long submit(const char *const *arguments, hd_diagnostics *diagnostics)
{
    char said[4096] = "";
    int ends[2];
    if (pipe(ends) != 0) {
        hd_report(diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "cannot call sbatch: %s", strerror(errno));
        return 0;
    }
    int status = hd_process_run(&(hd_process){.arguments = arguments, .output = ends[1]});
    int error = errno;
    close(ends[1]);
    ssize_t length = read(ends[0], said, sizeof said - 1);
    close(ends[0]);
    said[length > 0 ? length : 0] = '\0';
    said[strcspn(said, "\n")] = '\0';
    long job = status == 0 ? strtol(said, NULL, 10) : 0;
    if (status < 0)
        hd_report(diagnostics, HD_DIAG_MISSING_TOOL, NULL, (hd_span){0, 0},
                  "sbatch does not run: %s; on another cluster, --shard=I/N runs one of N parts, and --export=make "
                  "writes a makefile",
                  strerror(error));
    else if (!job)
        hd_report(diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "sbatch refuses the job: %s", said);
    return job;
}

hd_status hd_sweep_submit(const hd_sweep *s, const char *folder, hd_writer *w, hd_diagnostics *diagnostics)
{
    hd_arena arena = {0};
    hd_sweep_counts counts;
    hd_writer array, merge;
    hd_writer_to_memory(&array);
    hd_writer_to_memory(&merge);
    long job = 0, second = 0;
    const char *array_path = hd_arena_printf(&arena, "%s/slurm.sh", folder),
               *merge_path = hd_arena_printf(&arena, "%s/merge.sh", folder);
    bool good = hd_sweep_count(s, folder, (hd_sweep_shard){0}, &counts, diagnostics);
    hd_sweep_write_slurm(&array, s, folder, &counts);
    hd_write_string(&merge, "#!/bin/sh\n#SBATCH --job-name=heddle-merge\n#SBATCH --open-mode=append\n");
    write_log(&merge, folder, "merge.log");
    write_resources(&merge, s->slurm);
    write_merge(&merge, s, folder);
    good = good && write_script(array_path, &array, diagnostics) && write_script(merge_path, &merge, diagnostics);
    if (good)
        job = submit((const char *const[]){"sbatch", "--parsable", array_path, NULL}, diagnostics);
    if (job)
        second =
            submit((const char *const[]){"sbatch", "--parsable",
                                         hd_arena_printf(&arena, "--dependency=afterany:%ld", job), merge_path, NULL},
                   diagnostics);
    if (job && second)
        hd_write_format(w, "job %ld: %u tasks for %u points; job %ld merges\n", job, tasks_of(s), counts.points,
                        second);
    hd_writer_free(&array);
    hd_writer_free(&merge);
    hd_arena_free(&arena);
    return hd_status_of(diagnostics);
}
