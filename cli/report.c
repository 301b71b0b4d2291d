/* heddle report */
#include "cli/cli.h"

#include "driver/report/gates.h"
#include "driver/report/report.h"
#include "base/source_files.h"
#include "target/gpu.h"

typedef enum report_format { REPORT_TEXT, REPORT_JSON, REPORT_HTML, REPORT_SARIF } report_format;

static void free_job(void *job) { hd_report_free(job); }

static void free_gates(void *gates) { hd_gates_free(gates); }

static void free_gpu(void *gpu) { hd_gpu_free(gpu); }

/* ---- the output -------------------------------------------------------------------------------------------------- */

HD_ARRAY_TYPE(source_array, hd_source);

static void add_text(source_array *found, const hd_source *source)
{
    for (uint32_t i = 0; i < found->count; i++)
        if (found->items[i].text == source->text)
            return;
    hd_array_push(found, *source);
}

static hd_report_texts find_texts(hd_arena *arena, hd_source_files *files, const hd_report_job *job)
{
    const hd_report_module *report = hd_report_of(job);
    source_array found = {0};
    for (uint32_t k = 0; k < report->kernel_count; k++)
        for (uint32_t l = 0; l < report->kernels[k].line_count; l++) {
            const hd_source *source = hd_source_files_find(files, report->kernels[k].lines[l].file, report->path);
            if (source)
                add_text(&found, source);
        }
    hd_report_texts texts = {.ptx = hd_report_source(job), .count = found.count};
    texts.items = hd_arena_copy(arena, found.items, found.count * sizeof *found.items);
    hd_array_free(&found);
    return texts;
}

static void emit_html(hd_cli *cli, hd_writer *writer, const hd_reports *reports, const hd_report_job *const *jobs)
{
    hd_source_files *files = hd_source_files_new(NULL);
    hd_report_texts *texts = HD_ARENA_ARRAY(&cli->arena, hd_report_texts, reports->count);
    for (uint32_t m = 0; m < reports->count; m++)
        texts[m] = find_texts(&cli->arena, files, jobs[m]);
    hd_emit_report_html(writer, reports, texts);
    hd_source_files_free(files);
}

static void emit(hd_cli *cli, hd_output *output, const hd_reports *reports, const hd_report_job *const *jobs,
                 report_format format)
{
    hd_report_style style = {.colour = hd_cli_has_colour(cli, output->descriptor),
                             .listing = hd_cli_has(cli, HD_OPTION_LISTING)};
    switch (format) {
    case REPORT_TEXT: hd_emit_report_text(&output->writer, reports, &style); break;
    case REPORT_JSON: hd_emit_report_json(&output->writer, reports, &style); break;
    case REPORT_HTML: emit_html(cli, &output->writer, reports, jobs); break;
    case REPORT_SARIF: hd_emit_report_sarif(&output->writer, reports); break;
    }
}

/* Whether machine code beside PTX is a module of its own in this format. */
static bool is_by_module(report_format format) { return format == REPORT_HTML || format == REPORT_SARIF; }

/* Writes the reports that there are, in the order of their inputs; false with a diagnostic where that fails. */
static bool write_reports(hd_cli *cli, const hd_cli_part *parts, report_format format)
{
    uint32_t inputs = (uint32_t)cli->operand_count, count = 0;
    const hd_report_job **jobs = HD_ARENA_ARRAY(&cli->arena, const hd_report_job *, 2 * (size_t)inputs);
    const hd_report_module **modules = HD_ARENA_ARRAY(&cli->arena, const hd_report_module *, 2 * (size_t)inputs);
    hd_output output;
    for (uint32_t i = 0; i < inputs; i++) {
        const hd_report_job *job = parts[i].result;
        for (; job && hd_report_of(job)->arch; job = is_by_module(format) ? hd_report_assembled(job) : NULL) {
            jobs[count] = job;
            modules[count++] = hd_report_of(job);
        }
    }
    if (!count)
        return true;
    if (!hd_cli_open(cli, &output, cli->values[HD_OPTION_OUTPUT]))
        return false;
    const hd_reports reports = {modules, count};
    emit(cli, &output, &reports, jobs, format);
    return hd_cli_close(cli, &output, true);
}

/* ---- the job ----------------------------------------------------------------------------------------------------- */

bool hd_cli_report_options(hd_cli *cli, hd_report_options *options)
{
    const char *arch = cli->values[HD_OPTION_ARCH], *ptxas = cli->values[HD_OPTION_PTXAS], *wrong = NULL;
    *options = (hd_report_options){.ptxas = !ptxas                     ? ""
                                            : strcmp(ptxas, "no") == 0 ? NULL
                                                                       : ptxas,
                                   .ptxas_if_found = !ptxas,
                                   .trials_asked = hd_cli_has(cli, HD_OPTION_TRIALS),
                                   .shared_known = hd_cli_has(cli, HD_OPTION_SHARED),
                                   .parse = hd_cli_parse_options(cli)};
    if (arch && hd_cli_has(cli, HD_OPTION_GPU))
        wrong = "--arch and --gpu name the same thing: give one";
    else if (hd_cli_has(cli, HD_OPTION_PTXAS_TIMEOUT) && !options->ptxas)
        wrong = "--ptxas-timeout goes with ptxas, not with --ptxas=no";
    else if (hd_cli_has(cli, HD_OPTION_TRIALS) && !options->ptxas)
        wrong = "--trials goes with ptxas, not with --ptxas=no";
    if (wrong)
        hd_cli_usage_error("%s", wrong);
    if (wrong || !hd_cli_read_settings(cli, HD_JOB_REPORT, options))
        return false;
    options->gpu = arch ? arch : options->gpu;
    return true;
}

bool hd_cli_report_prepare(hd_cli *cli, hd_report_options *options)
{
    const char *text = cli->values[HD_OPTION_REQUIRE];
    options->gates = text ? hd_gates_parse("--require", text, HD_GATES_OF_VALUES, &cli->diagnostics) : NULL;
    if (options->gates)
        hd_cli_keep(cli, options->gates, free_gates);
    hd_gpu *gpu = options->gpu ? hd_gpu_load(options->gpu, &cli->diagnostics) : NULL;
    if (gpu)
        hd_cli_keep(cli, gpu, free_gpu);
    return (!text || options->gates) && (!gpu || gpu->valid);
}

static hd_report_job *report_on(hd_cli_part *part, const char *path, const hd_report_options *given)
{
    hd_cli *cli = &part->cli;
    hd_report_options own = *given, *options = &own;
    hd_source *source = HD_ARENA_NEW(&cli->arena, hd_source); /* diagnostics point to it */
    if (!hd_cli_read_or_compile(cli, path, options, source))
        return NULL;
    hd_report_job *job = hd_report_new(source, options, &cli->diagnostics);
    hd_cli_keep(cli, job, free_job);
    return job;
}

/* The report on the machine code of the PTX; NULL with a diagnostic. */
static hd_report_job *report_on_sass(hd_cli_part *part, const hd_report_options *options, const char *path)
{
    hd_report_options own = *options;
    own.parse.takes_listings = true;
    own.gates = NULL;
    own.kernel = NULL;
    own.max_registers = 0;
    own.meter = NULL;
    hd_report_job *job = report_on(part, path, &own);
    if (!job || !hd_report_of(job)->arch)
        return NULL;
    if (hd_report_of(job)->is_machine)
        return job;
    hd_report(&part->cli.diagnostics, HD_DIAG_NOT_LISTING, NULL, (hd_span){0, 0},
              "'%s' is no listing of machine code: --sass takes what nvdisasm or cuobjdump -sass prints", path);
    return NULL;
}

/* PTX with its machine code, on the GPU of the latter. */
static hd_status report_both(hd_cli_part *part, hd_report_options *options, const char *path)
{
    hd_report_job *machine = report_on_sass(part, options, path);
    if (!machine)
        return (hd_status)hd_cli_status(&part->cli);
    if (!options->gpu)
        options->gpu = hd_report_of(machine)->arch;
    options->parse.registers = 0;
    hd_report_job *job = report_on(part, part->cli.operands[0], options);
    if (!job)
        return HD_STATUS_REJECTED;
    part->result = job;
    part->selected = hd_report_of(job)->kernel_count;
    if (hd_report_of(job)->arch)
        hd_report_join_jobs(job, machine);
    return hd_report_status(job);
}

static hd_status report_one(hd_cli_part *part)
{
    hd_cli *cli = &part->cli;
    hd_report_options options = *(const hd_report_options *)part->job;
    options.threads = part->threads;
    options.meter = part->meter;
    if (hd_cli_has(cli, HD_OPTION_SASS))
        return report_both(part, &options, cli->values[HD_OPTION_SASS]);
    options.parse.takes_listings = true;
    hd_report_job *job = report_on(part, cli->operands[0], &options);
    if (!job)
        return (hd_status)hd_cli_status(cli);
    part->result = job;
    part->selected = hd_report_of(job)->kernel_count;
    return hd_report_status(job);
}

int hd_cli_report(hd_cli *cli)
{
    hd_report_options options;
    hd_cli_part *parts;
    hd_each each = {.run = report_one, .job = &options, .keeps_results = true};
    int format = hd_cli_choice(cli, HD_OPTION_FORMAT);
    if (hd_cli_has(cli, HD_OPTION_LISTING) && (format == REPORT_HTML || format == REPORT_SARIF)) {
        hd_cli_usage_error("--listing goes with --format=text and --format=json");
        return HD_STATUS_USAGE;
    }
    if (format < 0 || !hd_cli_report_options(cli, &options) || !hd_cli_inputs_fit(cli))
        return HD_STATUS_USAGE;
    if (!hd_cli_report_prepare(cli, &options))
        return hd_cli_status(cli);
    each.threads = options.threads;
    hd_status status = hd_cli_each_input(cli, &each, &parts);
    if (options.gates)
        hd_gates_warn_of_unused(options.gates, &cli->diagnostics);
    if (!write_reports(cli, parts, (report_format)format))
        status = hd_status_worse(status, HD_STATUS_REJECTED);
    return (int)hd_status_worse(status, (hd_status)hd_cli_status(cli));
}
