/* heddle diff: two reports, or PTX files that are reported on the fly. */
#include "cli/cli.h"

#include "driver/diff.h"
#include "driver/report/gates.h"
#include "driver/report/report.h"
#include "driver/report/report_read.h"

static void (*const emitters[])(hd_writer *, const hd_diff *) = {hd_emit_diff_text, hd_emit_diff_json};

static void free_source(void *source) { hd_source_free(source); }

static void free_gates(void *gates) { hd_gates_free(gates); }

static void free_job(void *job) { hd_report_free(job); }

/* Takes the source. NULL with diagnostics where the module is bad. */
static const hd_report_module *report_on(hd_cli *cli, hd_source *source, const hd_report_options *options)
{
    hd_report_job *job = hd_report_new(source, options, &cli->diagnostics);
    hd_cli_keep(cli, job, free_job);
    return hd_report_status(job) == HD_STATUS_DONE ? hd_report_of(job) : NULL;
}

/* NULL with diagnostics where the file is no report. Takes the source. */
static const hd_report_module *read_report(hd_cli *cli, hd_source *source)
{
    hd_cli_keep(cli, source, free_source);
    hd_report_module *report = HD_ARENA_NEW(&cli->arena, hd_report_module);
    return hd_report_read_json(source, &cli->arena, report, &cli->diagnostics) ? report : NULL;
}

/* Reports first: where one has no counts of ptxas, the other side has no use for them. false with diagnostics where a
 * side is neither a report nor PTX. */
static bool read_sides(hd_cli *cli, hd_report_options *options, const hd_report_module *sides[2])
{
    hd_source *sources[2];
    bool good = true, json[2];
    for (int s = 0; s < 2; s++) {
        sources[s] = HD_ARENA_NEW(&cli->arena, hd_source); /* diagnostics point to it */
        if (!hd_cli_read(cli, cli->operands[s], sources[s]))
            return false;
        json[s] = hd_report_is_json(sources[s]);
        sides[s] = json[s] ? read_report(cli, sources[s]) : NULL;
        good &= !json[s] || sides[s];
        if (sides[s] && !sides[s]->ptxas_version && options->ptxas_if_found)
            options->ptxas = NULL;
    }
    for (int s = 0; s < 2; s++) {
        if (!json[s])
            sides[s] = report_on(cli, sources[s], options);
        good &= sides[s] != NULL;
    }
    return good;
}

/* false where the gates are bad. */
static bool read_gates(hd_cli *cli, hd_gates **gates)
{
    const char *text = cli->values[HD_CLI_REQUIRE];
    *gates = text ? hd_gates_parse("--require", text, HD_GATES_OF_CHANGES, &cli->diagnostics) : NULL;
    if (*gates)
        hd_cli_keep(cli, *gates, free_gates);
    return !text || *gates;
}

static int compare_reports(hd_cli *cli, const hd_report_module *before, const hd_report_module *after, hd_gates *gates,
                           int format)
{
    hd_diff diff;
    hd_output output;
    bool good = hd_diff_reports(before, after, cli->values[HD_CLI_KERNEL], &diff, &cli->diagnostics) &&
                hd_output_open(cli, &output, cli->values[HD_CLI_OUTPUT]);
    if (good) {
        if (gates) {
            hd_gates_check_diff(gates, &diff, &cli->arena, &cli->diagnostics);
            hd_gates_warn_of_unused(gates, &cli->diagnostics);
        }
        emitters[format](&output.writer, &diff);
        hd_output_close(cli, &output, true);
    }
    hd_array_free(&diff.kernels);
    return hd_cli_status(cli);
}

int hd_cli_diff(hd_cli *cli)
{
    hd_gates *gates;
    hd_report_options options;
    int format = hd_cli_choice(cli, HD_CLI_FORMAT);
    if (format < 0 || !hd_cli_report_options(cli, &options) || !read_gates(cli, &gates))
        return HD_STATUS_USAGE;
    options.kernel = NULL; /* one side need not have it */
    if (strcmp(cli->operands[0], "-") == 0 && strcmp(cli->operands[1], "-") == 0) {
        hd_cli_usage_error("standard input cannot be both sides");
        return HD_STATUS_USAGE;
    }
    const hd_report_module *sides[2];
    return read_sides(cli, &options, sides) ? compare_reports(cli, sides[0], sides[1], gates, format)
                                            : hd_cli_status(cli);
}
