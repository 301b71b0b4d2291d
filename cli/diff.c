/* heddle diff: two reports, or PTX files that are reported on the fly. */
#include "cli/cli.h"

#include "driver/report/diff.h"
#include "driver/report/gates.h"
#include "emitters/report/diff.h"

static void (*const emitters[])(hd_writer *, const hd_diff *) = {hd_emit_diff_text, hd_emit_diff_json};

static void free_gates(void *gates) { hd_gates_free(gates); }

static void free_job(void *job) { hd_diff_free(job); }

/* false with a diagnostic where one cannot be read. */
static bool read_sources(hd_cli *cli, hd_report_options *options, hd_source *sources[2])
{
    for (int s = 0; s < 2; s++)
        sources[s] = HD_ARENA_NEW(&cli->arena, hd_source); /* diagnostics point to it */
    if (!hd_cli_read_or_compile(cli, cli->operands[0], options, sources[0]))
        return false;
    bool good = hd_cli_read_or_compile(cli, cli->operands[1], options, sources[1]);
    options->compiled = NULL; /* of each side its own */
    if (!good)
        hd_source_free(sources[0]);
    return good;
}

/* false where the gates are bad. */
static bool read_gates(hd_cli *cli, hd_gates **gates)
{
    const char *text = cli->values[HD_OPTION_REQUIRE];
    *gates = text ? hd_gates_parse("--require", text, HD_GATES_OF_CHANGES, &cli->diagnostics) : NULL;
    if (*gates)
        hd_cli_keep(cli, *gates, free_gates);
    return !text || *gates;
}

static void emit(hd_cli *cli, const hd_diff *diff, int format)
{
    hd_output output;
    if (!hd_cli_open(cli, &output, cli->values[HD_OPTION_OUTPUT]))
        return;
    emitters[format](&output.writer, diff);
    hd_cli_close(cli, &output, true);
}

int hd_cli_diff(hd_cli *cli)
{
    hd_source *sources[2];
    hd_report_options options;
    int format = hd_cli_choice(cli, HD_OPTION_FORMAT);
    if (format < 0 || !hd_cli_report_options(cli, &options) || !read_gates(cli, &options.gates))
        return HD_STATUS_USAGE;
    if (strcmp(cli->operands[0], "-") == 0 && strcmp(cli->operands[1], "-") == 0) {
        hd_cli_usage_error("standard input cannot be both sides");
        return HD_STATUS_USAGE;
    }
    if (!read_sources(cli, &options, sources))
        return hd_cli_status(cli);
    hd_diff_job *job = hd_diff_new(sources, &options, &cli->diagnostics);
    hd_cli_keep(cli, job, free_job);
    if (hd_diff_of(job))
        emit(cli, hd_diff_of(job), format);
    if (hd_diff_of(job) && options.gates)
        hd_gates_warn_of_unused(options.gates, &cli->diagnostics);
    return hd_cli_status(cli);
}
