/* heddle rewrite */
#include "cli/cli.h"

#include "driver/rewrite.h"
#include "driver/techniques.h"
#include "target/gpu.h"

#include <unistd.h>

/* Blanks, # and $ of a file name, as makefiles want them. */
static void write_make_name(hd_writer *writer, const char *name)
{
    for (; *name; name++) {
        if (*name == ' ' || *name == '#')
            hd_write_char(writer, '\\');
        if (*name == '$')
            hd_write_char(writer, '$');
        hd_write_char(writer, *name);
    }
}

/* NULL: standard output. */
static const char *output_name(const hd_cli *cli)
{
    const char *out = cli->values[HD_CLI_OUTPUT];
    return out && strcmp(out, "-") != 0 ? out : NULL;
}

static bool write_depfile(hd_cli *cli)
{
    if (!hd_cli_has(cli, HD_CLI_DEPFILE) && !hd_cli_has(cli, HD_CLI_DEPFILE_PATH))
        return true;
    const char *target = cli->values[HD_CLI_DEPFILE_TARGET], *out = output_name(cli);
    target = target ? target : out;
    const char *path = cli->values[HD_CLI_DEPFILE_PATH];
    hd_output file;
    if (!hd_output_open(cli, &file, path ? path : hd_arena_printf(&cli->arena, "%s.d", out)))
        return false;
    write_make_name(&file.writer, target);
    hd_write_string(&file.writer, ":");
    if (strcmp(cli->operands[0], "-") != 0) {
        hd_write_string(&file.writer, " ");
        write_make_name(&file.writer, cli->operands[0]);
    }
    hd_write_string(&file.writer, "\n");
    return hd_output_close(cli, &file, true);
}

/* The depfile needs a name to stand under, and what the rule makes. */
static bool check_depfile(const hd_cli *cli)
{
    bool wanted = hd_cli_has(cli, HD_CLI_DEPFILE) || hd_cli_has(cli, HD_CLI_DEPFILE_PATH), named = output_name(cli);
    if (!wanted ||
        ((named || hd_cli_has(cli, HD_CLI_DEPFILE_PATH)) && (named || hd_cli_has(cli, HD_CLI_DEPFILE_TARGET))))
        return true;
    hd_cli_usage_error("-MD and -MF need -o FILE, or both -MF and -MT");
    return false;
}

static bool check_print_after(const hd_cli *cli)
{
    const char *name = cli->values[HD_CLI_PRINT_AFTER];
    bool known = !name || hd_pass_find(name, strlen(name));
    if (!known)
        hd_cli_usage_error("--print-after: no pass is named '%s'", name);
    else if (name && !cli->values[HD_CLI_PASSES])
        hd_cli_usage_error("--print-after: there is no list of passes (-p)");
    return known && (!name || cli->values[HD_CLI_PASSES]);
}

static bool read_options(hd_cli *cli, hd_rewrite_options *options)
{
    int spelling = hd_cli_choice(cli, HD_CLI_EMIT);
    options->passes = cli->values[HD_CLI_PASSES];
    options->parse = hd_cli_parse_options(cli);
    options->emit = (hd_emit_options){.spelling = spelling == 1 ? HD_SPELLING_EXTENDED : HD_SPELLING_PORTABLE,
                                      .canonical = hd_cli_has(cli, HD_CLI_CANONICAL),
                                      .no_section = hd_cli_has(cli, HD_CLI_NO_SECTION)};
    options->pipeline = (hd_pipeline_options){.validate = hd_cli_has(cli, HD_CLI_VERIFY_EACH),
                                              .time_passes = hd_cli_has(cli, HD_CLI_TIME_PASSES),
                                              .statistics = hd_cli_has(cli, HD_CLI_STATS),
                                              .print_after = cli->values[HD_CLI_PRINT_AFTER],
                                              .kernel = cli->values[HD_CLI_KERNEL]};
    return spelling >= 0 && check_print_after(cli) &&
           hd_cli_number(cli, HD_CLI_THREADS, 0, 1024, &options->pipeline.threads) &&
           hd_cli_block(cli, HD_CLI_BLOCK, &options->pipeline.block) && check_depfile(cli);
}

static void free_gpu(void *gpu) { hd_gpu_free(gpu); }

static bool read_machine(hd_cli *cli, hd_pipeline_options *options)
{
    const char *name = cli->values[HD_CLI_GPU];
    hd_gpu *gpu = name ? hd_gpu_load(name, &cli->diagnostics) : NULL;
    options->gpu = gpu;
    if (gpu)
        hd_cli_keep(cli, gpu, free_gpu);
    return !gpu || gpu->valid;
}

/* A table is no PTX: what is about the output's text, or about one list of passes, does not go with it. */
static bool check_all(const hd_cli *cli)
{
    static const hd_cli_option others[] = {HD_CLI_EMIT,    HD_CLI_CANONICAL,    HD_CLI_NO_SECTION,
                                           HD_CLI_STATS,   HD_CLI_PRINT_AFTER,  HD_CLI_VERIFY_EACH,
                                           HD_CLI_DEPFILE, HD_CLI_DEPFILE_PATH, HD_CLI_DEPFILE_TARGET};
    bool all = cli->values[HD_CLI_PASSES] && strcmp(cli->values[HD_CLI_PASSES], "all") == 0;
    for (uint32_t i = 0; all && i < sizeof others / sizeof *others; i++)
        if (hd_cli_has(cli, others[i])) {
            hd_cli_usage_error("-p all writes a table: of the options, --kernel, --gpu, --block, --drop-stale, "
                               "--time-passes and -o go with it");
            return false;
        }
    return true;
}

/* -p all: a table instead of PTX. */
static int compare_techniques(hd_cli *cli, hd_source *source, const hd_rewrite_options *options, hd_output *output)
{
    hd_status status;
    hd_cli_keep_module(cli, hd_techniques_compare(source, options, &output->writer, &cli->diagnostics, &status));
    bool good = hd_output_close(cli, output, cli->diagnostics.error_count == 0);
    return good && status == HD_STATUS_WRONG ? HD_STATUS_WRONG : hd_cli_status(cli);
}

static int write_rewritten(hd_cli *cli, hd_source *source, const hd_rewrite_options *options, hd_output *output)
{
    hd_cli_keep_module(cli, hd_rewrite(source, options, &output->writer, &cli->diagnostics));
    bool good = cli->diagnostics.error_count == 0;
    if (hd_output_close(cli, output, good) && good)
        write_depfile(cli);
    return hd_cli_status(cli);
}

int hd_cli_rewrite(hd_cli *cli)
{
    hd_rewrite_options options = {0};
    hd_source *source = HD_ARENA_NEW(&cli->arena, hd_source); /* diagnostics point to it */
    hd_output output;
    if (!read_options(cli, &options) || !check_all(cli))
        return HD_STATUS_USAGE;
    if (!read_machine(cli, &options.pipeline) || !hd_cli_read(cli, cli->operands[0], source))
        return hd_cli_status(cli);
    if (!hd_output_open(cli, &output, cli->values[HD_CLI_OUTPUT])) {
        hd_source_free(source);
        return HD_STATUS_REJECTED;
    }
    hd_writer log;
    hd_writer_to_descriptor(&log, STDERR_FILENO);
    options.pipeline.log = &log;
    bool all = options.passes && strcmp(options.passes, "all") == 0;
    int status =
        all ? compare_techniques(cli, source, &options, &output) : write_rewritten(cli, source, &options, &output);
    hd_writer_flush(&log);
    hd_writer_free(&log);
    return status;
}
