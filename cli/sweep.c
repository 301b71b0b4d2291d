/* heddle sweep */
#include "cli/cli.h"

#include "base/scan.h"
#include "driver/sweep/sweep.h"

#include <math.h>
#include <unistd.h>

static const char *own_path(hd_cli *cli)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    return length > 0 ? hd_arena_string(&cli->arena, self, (size_t)length) : "heddle";
}

/* By the table of options. */
static hd_sweep_kind kind_of(const char *command, const char *name)
{
    int index = hd_cli_find_command(command);
    for (int o = 0; o < HD_OPTION_COUNT; o++)
        if (hd_cli_options[o].name && strcmp(hd_cli_options[o].name, name) == 0)
            return !(hd_cli_options[o].commands >> index & 1) ? HD_SWEEP_UNKNOWN
                   : hd_cli_options[o].argument               ? HD_SWEEP_VALUE
                                                              : HD_SWEEP_FLAG;
    return HD_SWEEP_UNKNOWN;
}

static bool read_shard(hd_cli *cli, hd_sweep_shard *shard)
{
    const char *text = cli->values[HD_OPTION_SHARD], *at = text;
    uint64_t index, count;
    if (!text)
        return true;
    if (hd_take_number(&at, NULL, 10, HD_SWEEP_MOST_POINTS, &index) && *at++ == '/' &&
        hd_take_number(&at, NULL, 10, HD_SWEEP_MOST_POINTS, &count) && !*at && index < count) {
        *shard = (hd_sweep_shard){(uint32_t)index, (uint32_t)count};
        return true;
    }
    hd_cli_usage_error("--shard takes I/N, part I of N parts, from 0/N on, not '%s'", text);
    return false;
}

static bool check_options(const hd_cli *cli, bool of_file)
{
    const char *wrong = NULL;
    if (!of_file) {
        static const hd_option_id alone[] = {HD_OPTION_OUTPUT, HD_OPTION_DRY_RUN, HD_OPTION_SHARD,   HD_OPTION_RETRY,
                                             HD_OPTION_SUBMIT, HD_OPTION_EXPORT,  HD_OPTION_NO_MERGE};
        for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
            if (hd_cli_has(cli, alone[i])) {
                hd_cli_usage_error("--%s goes with the file of a sweep", hd_cli_options[alone[i]].name);
                return false;
            }
    } else if (!hd_cli_has(cli, HD_OPTION_OUTPUT)) {
        wrong = "sweep needs a folder for its results: -o FOLDER";
    } else if (hd_cli_has(cli, HD_OPTION_FORMAT) || hd_cli_has(cli, HD_OPTION_QUERY)) {
        wrong = "--format and --query go with heddle sweep export FOLDER";
    } else if (hd_cli_has(cli, HD_OPTION_DRY_RUN) + hd_cli_has(cli, HD_OPTION_SUBMIT) +
                   hd_cli_has(cli, HD_OPTION_EXPORT) >
               1) {
        wrong = "--dry-run, --submit and --export are three ways not to run points here; one at a time";
    } else if (hd_cli_has(cli, HD_OPTION_SHARD) &&
               (hd_cli_has(cli, HD_OPTION_SUBMIT) || hd_cli_has(cli, HD_OPTION_EXPORT))) {
        wrong = "--submit and --export make shards of their own";
    }
    if (wrong)
        hd_cli_usage_error("%s", wrong);
    return !wrong;
}

static void write_seconds(hd_writer *w, double seconds)
{
    if (seconds < 120)
        hd_write_format(w, "%.0f s", seconds);
    else if (seconds < 7200)
        hd_write_format(w, "%.0f min", seconds / 60);
    else
        hd_write_format(w, "%.1f h", seconds / 3600);
}

/* Each point as a command, then a line with counts and the estimate. */
static hd_status show_points(hd_cli *cli, const hd_sweep *s, const char *folder, hd_sweep_shard shard)
{
    hd_output output;
    hd_sweep_counts counts;
    if (!hd_sweep_count(s, folder, shard, &counts, &cli->diagnostics) || !hd_cli_open(cli, &output, NULL))
        return (hd_status)hd_cli_status(cli);
    hd_writer *w = &output.writer;
    for (uint32_t p = 0; p < s->points.count; p++)
        if (hd_sweep_has(shard, p)) {
            hd_sweep_write_command(w, s, &s->points.items[p]);
            hd_write_char(w, '\n');
        }
    hd_write_format(w, "# %u points, %u done, %u of these failed", counts.points, counts.done, counts.failed);
    if (counts.done < counts.points && !isnan(counts.seconds_left)) {
        hd_write_string(w, "; the others take about ");
        write_seconds(w, counts.seconds_left);
        hd_write_string(w, " of one processor, by the points that are done");
    } else if (counts.done < counts.points) {
        hd_write_string(w, "; no point is done, so there is no estimate of the time");
    }
    hd_write_char(w, '\n');
    return hd_cli_close(cli, &output, true) ? HD_STATUS_DONE : HD_STATUS_REJECTED;
}

static void step(void *progress, uint32_t done) { hd_progress_step(progress, done); }

static hd_status run_points(hd_cli *cli, const hd_sweep *s, hd_sweep_where *where)
{
    hd_progress progress;
    hd_sweep_counts counts;
    if (!hd_sweep_count(s, where->folder, where->shard, &counts, &cli->diagnostics))
        return (hd_status)hd_cli_status(cli);
    hd_progress_start(&progress, cli, counts.points - counts.done + (where->retry ? counts.failed : 0));
    where->progress = step;
    where->context = &progress;
    hd_status status = hd_sweep_run(s, where, &cli->diagnostics);
    hd_progress_stop(&progress);
    if (!hd_cli_has(cli, HD_OPTION_NO_MERGE) && !where->shard.count &&
        !hd_sweep_merge(where->folder, &cli->diagnostics))
        status = hd_status_worse(status, HD_STATUS_REJECTED);
    return status;
}

static hd_status write_export(hd_cli *cli, const hd_sweep *s, const char *folder)
{
    hd_output output;
    int tool = hd_cli_choice(cli, HD_OPTION_EXPORT);
    if (tool < 0 || !hd_cli_open(cli, &output, NULL))
        return HD_STATUS_USAGE;
    hd_sweep_write_make(&output.writer, s, folder, tool == 1);
    return hd_cli_close(cli, &output, true) ? HD_STATUS_DONE : HD_STATUS_REJECTED;
}

static hd_status submit(hd_cli *cli, const hd_sweep *s, const char *folder)
{
    hd_output output;
    if (hd_cli_choice(cli, HD_OPTION_SUBMIT) < 0)
        return HD_STATUS_USAGE;
    if (!hd_cli_open(cli, &output, NULL))
        return HD_STATUS_REJECTED;
    hd_status status = hd_sweep_submit(s, folder, &output.writer, &cli->diagnostics);
    return hd_cli_close(cli, &output, true) ? status : HD_STATUS_REJECTED;
}

static void free_sweep(void *sweep) { hd_sweep_free(sweep); }

static int sweep_file(hd_cli *cli, const char *path)
{
    hd_sweep_options options = {.heddle = own_path(cli), .option = kind_of};
    hd_sweep_where where = {.folder = cli->values[HD_OPTION_OUTPUT], .retry = hd_cli_has(cli, HD_OPTION_RETRY)};
    if (!check_options(cli, true) || !read_shard(cli, &where.shard) ||
        !hd_cli_number(cli, HD_OPTION_THREADS, &where.threads))
        return HD_STATUS_USAGE;
    hd_sweep *s = hd_sweep_read(path, &options, &cli->diagnostics);
    hd_cli_keep(cli, s, free_sweep);
    if (!s->valid)
        return hd_cli_status(cli);
    if (hd_cli_has(cli, HD_OPTION_DRY_RUN))
        return (int)show_points(cli, s, where.folder, where.shard);
    if (hd_cli_has(cli, HD_OPTION_EXPORT))
        return (int)write_export(cli, s, where.folder);
    if (!hd_sweep_keep_plan(s, where.folder, &cli->diagnostics))
        return hd_cli_status(cli);
    return (int)(hd_cli_has(cli, HD_OPTION_SUBMIT) ? submit(cli, s, where.folder) : run_points(cli, s, &where));
}

/* ---- what a folder has ------------------------------------------------------------------------------------------- */

static int export_rows(hd_cli *cli, const char *folder, const char *query, int format)
{
    hd_output output;
    if (!hd_cli_open(cli, &output, NULL))
        return HD_STATUS_REJECTED;
    bool good = hd_sweep_export(folder, query, (hd_sweep_format)format, &output.writer, &cli->diagnostics);
    return hd_cli_close(cli, &output, good) && good ? HD_STATUS_DONE : HD_STATUS_REJECTED;
}

int hd_cli_sweep(hd_cli *cli)
{
    static const char failed[] =
        "SELECT CASE WHEN status IS NULL THEN 'not done' WHEN status = 0 THEN 'done' ELSE 'failed' END AS state, "
        "COUNT(*) AS points, status, MIN(command) AS first FROM points GROUP BY status ORDER BY status";
    static const char all[] = "SELECT * FROM everything ORDER BY point, line";
    const char *verb = cli->operands[0], *folder = cli->operand_count == 2 ? cli->operands[1] : NULL;
    const char *query = cli->values[HD_OPTION_QUERY];
    int format = hd_cli_choice(cli, HD_OPTION_FORMAT);
    if (format < 0)
        return HD_STATUS_USAGE;
    if (!folder)
        return sweep_file(cli, verb);
    bool is_export = strcmp(verb, "export") == 0, is_status = strcmp(verb, "status") == 0;
    if (!is_export && !is_status && strcmp(verb, "merge") != 0) {
        hd_cli_usage_error("of a folder, sweep takes status, merge or export, not '%s'", verb);
        return HD_STATUS_USAGE;
    }
    if (query && !is_export) {
        hd_cli_usage_error("--query goes with heddle sweep export FOLDER");
        return HD_STATUS_USAGE;
    }
    if (!check_options(cli, false))
        return HD_STATUS_USAGE;
    if (!is_export && !hd_sweep_merge(folder, &cli->diagnostics))
        return hd_cli_status(cli);
    return is_export   ? export_rows(cli, folder, query ? query : all, format)
           : is_status ? export_rows(cli, folder, failed, format)
                       : HD_STATUS_DONE;
}
