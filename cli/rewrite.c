/* heddle rewrite */
#include "cli/cli.h"

#include "driver/build/cached_rewrite.h"
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

static bool wants_rule(const hd_cli *cli)
{
    return hd_cli_has(cli, HD_OPTION_DEPFILE) || hd_cli_has(cli, HD_OPTION_DEPFILE_PATH);
}

static void write_rule(hd_cli *cli, hd_writer *rules, const char *input)
{
    const char *target = cli->values[HD_OPTION_DEPFILE_TARGET];
    write_make_name(rules, target ? target : hd_cli_output_of(cli, input));
    hd_write_string(rules, ":");
    if (strcmp(input, "-") != 0) {
        hd_write_string(rules, " ");
        write_make_name(rules, input);
    }
    hd_write_string(rules, "\n");
    if (hd_cli_has(cli, HD_OPTION_DEPFILE_PHONY) && strcmp(input, "-") != 0) {
        write_make_name(rules, input);
        hd_write_string(rules, ":\n");
    }
}

/* Each input's own, beside its output, unless -MF names one for all. */
static void write_depfile(hd_cli *cli, const char *input)
{
    hd_output file;
    if (!wants_rule(cli) || hd_cli_has(cli, HD_OPTION_DEPFILE_PATH) ||
        !hd_cli_open(cli, &file, hd_arena_printf(&cli->arena, "%s.d", hd_cli_output_of(cli, input))))
        return;
    write_rule(cli, &file.writer, input);
    hd_cli_close(cli, &file, true);
}

/* -MF: the rules of all inputs, where all outputs were made. */
static void write_common_depfile(hd_cli *cli)
{
    hd_output file;
    if (!hd_cli_has(cli, HD_OPTION_DEPFILE_PATH) || !hd_cli_open(cli, &file, cli->values[HD_OPTION_DEPFILE_PATH]))
        return;
    for (int i = 0; i < cli->operand_count; i++)
        write_rule(cli, &file.writer, cli->operands[i]);
    hd_cli_close(cli, &file, true);
}

/* The depfile needs a name to stand under, and what the rule makes. */
static bool check_depfile(hd_cli *cli)
{
    bool path = hd_cli_has(cli, HD_OPTION_DEPFILE_PATH), target = hd_cli_has(cli, HD_OPTION_DEPFILE_TARGET),
         named = hd_cli_output_of(cli, cli->operands[0]) != NULL;
    bool phony = hd_cli_has(cli, HD_OPTION_DEPFILE_PHONY);
    if ((target || phony) && !wants_rule(cli)) {
        hd_cli_usage_error("-%s goes with -MD or -MF", target ? "MT" : "MP");
        return false;
    }
    if (!wants_rule(cli) || named || (path && target))
        return true;
    hd_cli_usage_error("-MD and -MF need -o FILE, or both -MF and -MT");
    return false;
}

static bool compares_techniques(const hd_cli *cli)
{
    return cli->values[HD_OPTION_PASSES] && strcmp(cli->values[HD_OPTION_PASSES], "all") == 0;
}

static bool check_print_after(const hd_cli *cli)
{
    const char *name = cli->values[HD_OPTION_PRINT_AFTER];
    bool known = !name || hd_pass_find(name, strlen(name));
    if (!known)
        hd_cli_usage_error("--print-after: no pass is named '%s'", name);
    else if (name && !cli->values[HD_OPTION_PASSES])
        hd_cli_usage_error("--print-after: there is no list of passes (-p)");
    return known && (!name || cli->values[HD_OPTION_PASSES]);
}

static void free_passes(void *passes) { hd_pipeline_free(passes); }

static bool read_passes(hd_cli *cli, hd_rewrite_options *options)
{
    const char *list = cli->values[HD_OPTION_PASSES], *after = cli->values[HD_OPTION_PRINT_AFTER];
    if (!list || compares_techniques(cli))
        return true;
    hd_pipeline *passes = hd_pipeline_parse(list, &cli->diagnostics);
    options->passes = passes;
    if (passes)
        hd_cli_keep(cli, passes, free_passes);
    bool good = passes && (!after || hd_pipeline_has(passes, after));
    if (passes && !good)
        hd_cli_usage_error("--print-after: '%s' is not in the list of passes", after);
    return good;
}

static bool read_options(hd_cli *cli, hd_rewrite_options *options)
{
    int spelling = hd_cli_choice(cli, HD_OPTION_EMIT);
    options->parse = hd_cli_parse_options(cli);
    options->parse.takes_listings = true;
    if (spelling < 0 || !check_print_after(cli) || !hd_cli_read_settings(cli, HD_JOB_REWRITE, options))
        return false;
    options->emit.spelling = spelling == 1 ? HD_SPELLING_EXTENDED : HD_SPELLING_PORTABLE;
    if (spelling == 1 && options->emit.no_section) {
        hd_cli_usage_error("--no-section goes with --emit=portable, not with --emit=extended");
        return false;
    }
    return check_depfile(cli);
}

bool hd_cli_rewrite_options(hd_cli *cli, hd_rewrite_options *options)
{
    return read_options(cli, options) && read_passes(cli, options);
}

static void free_gpu(void *gpu) { hd_gpu_free(gpu); }

bool hd_cli_rewrite_machine(hd_cli *cli, hd_rewrite_options *options)
{
    const char *name = cli->values[HD_OPTION_GPU];
    hd_gpu *gpu = name ? hd_gpu_load(name, &cli->diagnostics) : NULL;
    options->pipeline.gpu = gpu;
    if (gpu)
        hd_cli_keep(cli, gpu, free_gpu);
    return !gpu || gpu->valid;
}

/* A table is no PTX: what is about the output's text, or about one list of passes, does not go with it. */
static bool check_all(const hd_cli *cli)
{
    bool refused = compares_techniques(cli) && hd_cli_marked(cli, HD_CLI_OF_PTX, 0) < HD_OPTION_COUNT;
    if (refused)
        hd_cli_usage_error("-p all writes a table: of the options, --kernel, --gpu, --block, --drop-stale, "
                           "--time-passes and -o go with it");
    return !refused;
}

typedef struct rewrite_job { /* of all inputs */
    hd_rewrite_options options;
    hd_store cache; /* off without --cache */
    hd_wide_hash settings;
} rewrite_job;

typedef struct rewrite_part {
    hd_rewrite_options options;
    hd_writer log;
} rewrite_part;

/* -p all: a table instead of PTX. */
static hd_status compare_one(hd_cli_part *part, hd_source *source, const hd_rewrite_options *options)
{
    hd_status status;
    hd_cli *cli = &part->cli;
    if (hd_cli_part_is_one_of_several(part))
        hd_write_format(&part->text, "%s%s:\n", part->index ? "\n" : "", cli->operands[0]);
    hd_module *module = hd_techniques_compare(source, options, &part->text, &cli->diagnostics, &status);
    hd_cli_keep_module(cli, module);
    part->selected = hd_module_count_selected(module, options->pipeline.kernel);
    if (cli->diagnostics.error_count)
        hd_array_clear(&part->text.buffer);
    return status == HD_STATUS_WRONG ? HD_STATUS_WRONG : (hd_status)hd_cli_status(cli);
}

/* Through the cache, from memory. */
static hd_module *rewrite_by_cache(hd_cli *cli, const rewrite_job *job, hd_source *source,
                                   const hd_rewrite_options *options, hd_writer *to)
{
    hd_writer text;
    hd_writer_to_memory(&text);
    hd_module *module = hd_cached_rewrite(&job->cache, job->settings, source, options, &text, &cli->diagnostics);
    hd_write(to, text.buffer.items, text.buffer.count);
    hd_writer_free(&text);
    return module;
}

static hd_status write_one(hd_cli_part *part, hd_source *source, const hd_rewrite_options *options)
{
    hd_cli *cli = &part->cli;
    const rewrite_job *job = part->job;
    hd_output output;
    if (!hd_cli_open(cli, &output, hd_cli_output_of(cli, cli->operands[0]))) {
        hd_source_free(source);
        return HD_STATUS_REJECTED;
    }
    hd_module *module = job->cache.folder ? rewrite_by_cache(cli, job, source, options, &output.writer)
                                          : hd_rewrite(source, options, &output.writer, &cli->diagnostics);
    if (module)
        hd_cli_keep_module(cli, module);
    part->selected = module ? hd_module_count_selected(module, options->pipeline.kernel) : 1;
    bool good = cli->diagnostics.error_count == 0;
    if (hd_cli_close(cli, &output, good) && good)
        write_depfile(cli, cli->operands[0]);
    return (hd_status)hd_cli_status(cli);
}

static hd_status rewrite_one(hd_cli_part *part)
{
    hd_cli *cli = &part->cli;
    rewrite_part *own = HD_ARENA_NEW(&cli->arena, rewrite_part);
    hd_source *source = HD_ARENA_NEW(&cli->arena, hd_source); /* diagnostics point to it */
    own->options = ((const rewrite_job *)part->job)->options;
    own->options.pipeline.threads = part->threads;
    own->options.pipeline.log = &own->log;
    own->options.pipeline.meter = part->meter;
    part->result = own;
    hd_writer_to_memory(&own->log);
    if (!hd_cli_read_code(cli, cli->operands[0], HD_LISTING_HEX, source))
        return HD_STATUS_REJECTED;
    return compares_techniques(cli) ? compare_one(part, source, &own->options) : write_one(part, source, &own->options);
}

static void join_one(hd_cli_part *part, hd_writer *output)
{
    rewrite_part *own = part->result;
    if (own->log.buffer.count) { /* nothing is allocated any more where the outputs are written and nothing follows */
        hd_writer log;
        hd_writer_to_descriptor(&log, STDERR_FILENO);
        if (hd_cli_part_is_one_of_several(part))
            hd_write_format(&log, "%s:\n", part->cli.operands[0]);
        hd_write(&log, own->log.buffer.items, own->log.buffer.count);
        hd_writer_flush(&log);
        hd_writer_free(&log);
    }
    hd_writer_free(&own->log);
    hd_cli_part_write_text(part, output);
}

static hd_status compare_all(hd_cli *cli, hd_each *each)
{
    hd_output output;
    if (!hd_cli_open(cli, &output, cli->values[HD_OPTION_OUTPUT]))
        return HD_STATUS_REJECTED;
    each->output = &output.writer;
    hd_status status = hd_cli_each_input(cli, each, NULL);
    bool written = hd_cli_close(cli, &output, output.writer.written_bytes > 0);
    return written ? status : hd_status_worse(status, HD_STATUS_REJECTED);
}

static hd_status write_all(hd_cli *cli, hd_each *each)
{
    hd_writer nothing;
    hd_writer_to_memory(&nothing);
    each->output = &nothing;
    hd_status status = hd_cli_each_input(cli, each, NULL);
    hd_writer_free(&nothing);
    if (status == HD_STATUS_DONE)
        write_common_depfile(cli);
    return hd_status_worse(status, (hd_status)hd_cli_status(cli));
}

static bool open_cache(hd_cli *cli, rewrite_job *job)
{
    if (!hd_cli_has(cli, HD_OPTION_CACHE))
        return true;
    if (!hd_store_open(&job->cache, &cli->arena, &cli->diagnostics))
        return false;
    if (job->cache.folder)
        job->settings = hd_rewrite_settings_hash(&job->options, &cli->diagnostics, cli->values[HD_OPTION_GPU]);
    return true;
}

int hd_cli_rewrite(hd_cli *cli)
{
    rewrite_job job = {.options = {0}};
    hd_rewrite_options *options = &job.options;
    hd_each each = {.run = rewrite_one, .join = join_one, .job = &job};
    if (!read_options(cli, options) || !check_all(cli) || !read_passes(cli, options) || !hd_cli_inputs_fit(cli))
        return HD_STATUS_USAGE;
    bool compares = compares_techniques(cli);
    hd_status status = compares ? HD_STATUS_DONE : hd_cli_prepare_outputs(cli);
    if (status != HD_STATUS_DONE)
        return (int)status;
    each.threads = options->pipeline.threads;
    if (!hd_cli_rewrite_machine(cli, options) || !open_cache(cli, &job))
        return hd_cli_status(cli);
    return (int)(compares ? compare_all(cli, &each) : write_all(cli, &each));
}
