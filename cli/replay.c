/* heddle replay */
#include "cli/cli.h"

#include "driver/replay/replay.h"
#include "emitters/replay/replay.h"
#include "hwmodel/trace/accel_sim.h"
#include <stdio.h>
#include <stdlib.h>

enum { TEXT, JSON, CSV, HTML };
static void emit(hd_cli *cli, int format, hd_writer *writer, const hd_replay_report *report)
{
    if (format == TEXT)
        hd_emit_replay_text(writer, report, cli->values[HD_OPTION_COUNTERS] != NULL);
    else if (format == JSON)
        hd_emit_replay_json(writer, report);
    else if (format == CSV)
        hd_emit_replay_csv(writer, report);
    else
        hd_emit_replay_html(writer, report);
}

static void print_error(void *progress, const char *text, size_t size) { hd_progress_print(progress, text, size); }

static void step(void *progress, uint32_t done) { hd_progress_step(progress, done); }

static void free_replay(void *replay) { hd_replay_free(replay); }

static bool check_together(const hd_cli *cli, int format)
{
    const char *wrong = NULL;
    if (hd_cli_has(cli, HD_OPTION_VIRTUAL) && hd_cli_has(cli, HD_OPTION_MAX_REGISTERS))
        wrong = "--virtual and --max-registers: where PTX's own registers are kept, none are allocated";
    else if (hd_cli_has(cli, HD_OPTION_COUNTERS) && format != TEXT)
        wrong = "--counters goes with --format=text; the other formats have all counters";
    else if (hd_cli_has(cli, HD_OPTION_SMS) && !hd_cli_has(cli, HD_OPTION_TIME))
        wrong = "--sms goes with --time: without it no SM is simulated";
    else if (hd_cli_has(cli, HD_OPTION_SAMPLE) && !hd_cli_has(cli, HD_OPTION_TIME))
        wrong = "--sample goes with --time: without it no block is timed";
    else if (hd_cli_has(cli, HD_OPTION_SAMPLE) && hd_cli_has(cli, HD_OPTION_TIMELINE))
        wrong = "--sample and --timeline: what is not timed has no timeline";
    else if (hd_cli_has(cli, HD_OPTION_PROFILE) && !hd_cli_has(cli, HD_OPTION_TIME))
        wrong = "--profile goes with --time: without it there are no cycles; add --time";
    else if (hd_cli_has(cli, HD_OPTION_PROFILE) && hd_cli_has(cli, HD_OPTION_SAMPLE))
        wrong = "--sample and --profile: what is not timed has no profile";
    else if (hd_cli_has(cli, HD_OPTION_PROFILE) && format == CSV)
        wrong = "--profile goes with --format=text, json and html: CSV has a row for each model";
    else if (hd_cli_has(cli, HD_OPTION_TIME) && hd_cli_has(cli, HD_OPTION_TECHNIQUE) &&
             strcmp(cli->values[HD_OPTION_TECHNIQUE], "none") == 0)
        wrong = "--time simulates the cycles of techniques: --technique=none has none, --technique=baseline one";
    if (wrong)
        hd_cli_usage_error("%s", wrong);
    return !wrong;
}

/* Its own rules, with those of the other output. */
static bool check_timeline(const hd_cli *cli)
{
    const char *file = cli->values[HD_OPTION_TIMELINE], *output = cli->values[HD_OPTION_OUTPUT], *wrong = NULL;
    if (!file && (hd_cli_has(cli, HD_OPTION_TIMELINE_CYCLES) || hd_cli_has(cli, HD_OPTION_TIMELINE_SM)))
        wrong = "--timeline-cycles and --timeline-sm go with --timeline=FILE";
    else if (file && !hd_cli_has(cli, HD_OPTION_TIME))
        wrong = "--timeline goes with --time: without it no SM is simulated";
    else if (file && strcmp(file, "-") == 0 && (!output || strcmp(output, "-") == 0))
        wrong = "--timeline and --output both write to standard output";
    if (wrong)
        hd_cli_usage_error("%s", wrong);
    return !wrong;
}

static bool read_timeline(hd_cli *cli, hd_replay_options *options)
{
    enum { CYCLES = 10000 };
    if (hd_cli_has(cli, HD_OPTION_TIMELINE))
        options->timeline_end = CYCLES;
    return hd_cli_range(cli, HD_OPTION_TIMELINE_CYCLES, &options->timeline_first, &options->timeline_end);
}

/* The results, and with them the timeline. false: not all is written. */
static bool write_results(hd_cli *cli, int format, hd_output *output, hd_output *timeline,
                          const hd_replay_report *report)
{
    emit(cli, format, &output->writer, report);
    bool good = hd_cli_close(cli, output, true);
    if (!hd_cli_has(cli, HD_OPTION_TIMELINE))
        return good;
    hd_emit_replay_timeline(&timeline->writer, report);
    return hd_cli_close(cli, timeline, true) && good;
}

bool hd_cli_replay_options(hd_cli *cli, hd_replay_options *options)
{
    *options = (hd_replay_options){.settings = cli->settings.items,
                                   .setting_count = cli->settings.count,
                                   .parse = hd_cli_parse_options(cli),
                                   .saves = hd_cli_has(cli, HD_OPTION_SAVE) ? cli->outputs : NULL};
    int format = hd_cli_choice(cli, HD_OPTION_FORMAT), code = hd_cli_choice(cli, HD_OPTION_CODE);
    return format >= 0 && code >= 0 && check_timeline(cli) && hd_cli_read_settings(cli, HD_JOB_REPLAY, options) &&
           check_together(cli, format) && read_timeline(cli, options);
}

void hd_cli_emit_replay(hd_cli *cli, hd_writer *writer, const hd_replay_report *report)
{
    emit(cli, hd_cli_choice(cli, HD_OPTION_FORMAT), writer, report);
}

hd_replay *hd_cli_replay_new(hd_cli *cli, const hd_replay_options *options)
{
    hd_replay *replay = hd_replay_new(options, &cli->diagnostics);
    hd_cli_keep(cli, replay, free_replay);
    return replay;
}

int hd_cli_replay_files(hd_cli *cli, hd_replay *replay, hd_replay_options *options, const char *const *paths,
                        uint32_t count, hd_output *output)
{
    hd_progress progress;
    hd_output timeline, own;
    options->print = print_error;
    options->progress = step;
    options->print_context = &progress;
    if (!output && !hd_cli_open(cli, &own, cli->values[HD_OPTION_OUTPUT]))
        return HD_STATUS_REJECTED;
    output = output ? output : &own;
    if (hd_cli_has(cli, HD_OPTION_TIMELINE) && !hd_cli_open(cli, &timeline, cli->values[HD_OPTION_TIMELINE])) {
        hd_cli_close(cli, output, false);
        return HD_STATUS_REJECTED;
    }
    hd_progress_start(&progress, cli, count);
    options->meters = progress.meters;
    hd_replay_files(replay, paths, count);
    hd_progress_stop(&progress);
    if (!write_results(cli, hd_cli_choice(cli, HD_OPTION_FORMAT), output, &timeline, hd_replay_report_of(replay)) &&
        hd_replay_status(replay) == HD_STATUS_DONE)
        return HD_STATUS_REJECTED;
    return (int)hd_replay_status(replay);
}

/* The machine code of --sass; NULL: reported. */
static const hd_module *read_listing(hd_cli *cli, const char *path)
{
    hd_parse_options options = hd_cli_parse_options(cli);
    hd_source *source = HD_ARENA_NEW(&cli->arena, hd_source);
    if (!hd_cli_read_code(cli, path, HD_LISTING_PLAIN, source))
        return NULL;
    options.takes_listings = true;
    hd_module *module = hd_parse_ptx(source, &options, &cli->diagnostics);
    hd_cli_keep_module(cli, module);
    if (module && !module->is_machine)
        hd_report(&cli->diagnostics, HD_DIAG_NOT_LISTING, NULL, (hd_span){0, 0},
                  "'%s' is no listing of machine code: --sass takes what nvdisasm or cuobjdump -sass prints", path);
    return module && module->is_machine && !cli->diagnostics.error_count ? module : NULL;
}

static bool has_trace(const char *const *paths, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (hd_traced_is_name(paths[i]))
            return true;
    return false;
}

/* With those that lists of traces name. false, as a usage error, where an output is among them. */
static bool find_files(hd_cli *cli, hd_file_list *files, const char *const *paths, uint32_t count)
{
    hd_cli_list_files(cli, files);
    for (uint32_t i = 0; i < count; i++)
        hd_file_list_add(files, paths[i], false, NULL);
    return hd_cli_files_fit(files);
}

static void free_files(void *files) { hd_array_free((hd_file_list *)files); }

int hd_cli_replay(hd_cli *cli)
{
    /* the job refers to them until the end of the program */
    hd_replay_options *options = HD_ARENA_NEW(&cli->arena, hd_replay_options);
    if (!hd_cli_inputs_fit(cli) || !hd_cli_replay_options(cli, options))
        return HD_STATUS_USAGE;
    const char *sass = cli->values[HD_OPTION_SASS];
    if (sass && !(options->listing = read_listing(cli, sass)))
        return hd_cli_status(cli);
    hd_replay *replay = hd_cli_replay_new(cli, options);
    const char *const *paths = (const char *const *)cli->operands;
    uint32_t count = (uint32_t)cli->operand_count;
    if (hd_replay_status(replay) != HD_STATUS_DONE)
        return (int)hd_replay_status(replay);
    if (!hd_replay_expand(&cli->arena, NULL, &paths, &count, &cli->diagnostics))
        return HD_STATUS_REJECTED;
    bool about_traces = sass || options->partial || options->parse.registers;
    if (about_traces && !has_trace(paths, count)) {
        hd_cli_usage_error(sass               ? "--sass is the machine code of traces, and no input is one"
                           : options->partial ? "--partial is about traces, and no input is one"
                                              : "--registers is about traces, and no input is one: of PTX, "
                                                "--max-registers limits what is allocated");
        return HD_STATUS_USAGE;
    }
    hd_file_list *files = HD_ARENA_NEW(&cli->arena, hd_file_list);
    hd_cli_keep(cli, files, free_files);
    if (!find_files(cli, files, paths, count))
        return HD_STATUS_USAGE;
    options->files = files;
    return hd_cli_replay_files(cli, replay, options, paths, count, NULL);
}
