/* The jobs of the public C API (include/heddle/heddle.h) over those of driver/. Each has its own diagnostics, with the
 * severities of the context. */
#include "driver/api/context.h"
#include "driver/api/settings.h"
#include "driver/api/watch.h"
#include "driver/check.h"
#include "driver/report/gates.h"
#include "driver/rewrite.h"
#include "emitters/report/diff.h"
#include "emitters/replay/replay.h"
#include "target/gpu.h"

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

/* `passes` as for -p, `gpu` a name or a file; NULL: not given. */
static hd_status run_rewrite(hd_context *context, const hd_input *input, hd_rewrite_options *options,
                             const char *passes, const char *gpu, hd_text *out)
{
    hd_source source;
    hd_module *module = NULL;
    hd_gpu *machine = gpu ? hd_gpu_load_given(gpu, &context->given, &context->diagnostics) : NULL;
    hd_pipeline *pipeline = passes ? hd_pipeline_parse(passes, &context->diagnostics) : NULL;
    options->passes = pipeline;
    options->pipeline.gpu = machine;
    if ((!machine || machine->valid) && (!passes || pipeline) && hd_api_read(context, input, &source)) {
        hd_writer writer;
        hd_writer_to_memory(&writer);
        module = hd_rewrite(&source, options, &writer, &context->diagnostics);
        if (writer.error)
            hd_report(&context->diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "the output is too long: %s",
                      strerror(writer.error));
        hd_api_take(&writer, hd_status_of(&context->diagnostics) == HD_STATUS_DONE, out);
    }
    hd_status status = hd_status_of(&context->diagnostics);
    hd_api_end(context);
    hd_module_free(module);
    hd_pipeline_free(pipeline);
    hd_gpu_free(machine);
    return status;
}

hd_status hd_context_rewrite(hd_context *context, const hd_input *input, const hd_rewrite_settings *settings,
                             hd_text *out)
{
    hd_rewrite_settings s = {0};
    *out = (hd_text){0};
    if (!hd_api_begin(context, settings, &s, sizeof s))
        return HD_STATUS_USAGE;
    hd_rewrite_options options = {.parse = context->parse};
    options.emit.spelling = s.extended ? HD_SPELLING_EXTENDED : HD_SPELLING_PORTABLE;
    if (hd_settings_take(HD_JOB_REWRITE, &s, &options, &context->diagnostics))
        return run_rewrite(context, input, &options, s.passes, s.gpu, out);
    hd_api_end(context);
    return HD_STATUS_USAGE;
}

hd_status hd_context_strip(hd_context *context, const hd_input *input, hd_text *out)
{
    hd_rewrite_options options = {.parse = context->parse, .emit = {.no_annotations = true}};
    options.parse.locate_annotations = true;
    *out = (hd_text){0};
    hd_api_begin(context, NULL, NULL, 0);
    return run_rewrite(context, input, &options, NULL, NULL, out);
}

hd_status hd_context_check(hd_context *context, const hd_input *input, const char *kernel, uint64_t *annotations)
{
    hd_source source;
    hd_check_result result = {0};
    hd_status status = HD_STATUS_REJECTED;
    hd_api_begin(context, NULL, NULL, 0);
    if (hd_api_read(context, input, &source)) {
        hd_module *module = hd_parse_ptx(&source, &context->parse, &context->diagnostics);
        status = hd_status_of(&context->diagnostics);
        if (status == HD_STATUS_DONE)
            status = hd_check_module(module, kernel, NULL, &context->diagnostics, &result);
        hd_api_end(context);
        hd_module_free(module);
    } else {
        hd_api_end(context);
    }
    if (annotations)
        *annotations = result.annotations;
    return status;
}

/* How to report, without the gates; false: a setting is bad, which is reported. */
static bool read_report_settings(hd_context *context, const hd_report_settings *s, hd_report_options *options)
{
    *options = (hd_report_options){.ptxas = s->ptxas,
                                   .ptxas_seconds = HD_REPORT_PTXAS_SECONDS,
                                   .shared_known = s->shared_known,
                                   .techniques = true,
                                   .given = &context->given,
                                   .parse = context->parse};
    return hd_settings_take(HD_JOB_REPORT, s, options, &context->diagnostics);
}

/* NULL where there are none, or they are bad, which is reported. */
static hd_gates *gates_of(hd_context *context, const hd_report_settings *s, hd_gates_mode mode)
{
    return s->require ? hd_gates_parse("--require", s->require, mode, &context->diagnostics) : NULL;
}

/* Reports on the input; the context owns the job until the next one. NULL if there is no report. */
static const hd_report_module *run_report(hd_context *context, const hd_input *input, const hd_report_settings *s,
                                          hd_status *status)
{
    hd_report_options options;
    bool good = read_report_settings(context, s, &options);
    options.gates = gates_of(context, s, HD_GATES_OF_VALUES);
    if (good && (options.gates || !s->require) && hd_api_read(context, input, &context->sources[0]))
        context->report = hd_report_new(&context->sources[0], &options, &context->diagnostics);
    if (options.gates && context->report && hd_report_of(context->report)->arch)
        hd_gates_warn_of_unused(options.gates, &context->diagnostics);
    *status = hd_status_of(&context->diagnostics);
    hd_api_end(context);
    hd_gates_free(options.gates);
    return context->report && hd_report_of(context->report)->arch ? hd_report_of(context->report) : NULL;
}

hd_status hd_context_report_results(hd_context *context, const hd_input *input, const hd_report_settings *settings,
                                    const hd_report_module **report)
{
    hd_report_settings s = {0};
    hd_status status = HD_STATUS_USAGE;
    bool good = hd_api_begin(context, settings, &s, sizeof s);
    *report = good ? run_report(context, input, &s, &status) : NULL;
    return status;
}

hd_status hd_context_report(hd_context *context, const hd_input *input, const hd_report_settings *settings,
                            hd_text *text)
{
    hd_report_settings s = {0};
    hd_status status = HD_STATUS_USAGE;
    hd_writer writer;
    *text = (hd_text){0};
    bool good = hd_api_begin(context, settings, &s, sizeof s);
    const hd_report_module *report = good ? run_report(context, input, &s, &status) : NULL;
    if (!report)
        return status;
    hd_writer_to_memory(&writer);
    const hd_reports reports = {&report, 1};
    const hd_report_style style = {.listing = s.listing};
    const hd_report_texts texts = {.ptx = hd_report_source(context->report)};
    switch (s.format) {
    case HD_FORMAT_JSON: hd_emit_report_json(&writer, &reports, &style); break;
    case HD_FORMAT_TEXT: hd_emit_report_text(&writer, &reports, &style); break;
    case HD_FORMAT_HTML: hd_emit_report_html(&writer, &reports, &texts); break;
    case HD_FORMAT_SARIF: hd_emit_report_sarif(&writer, &reports); break;
    }
    hd_api_take(&writer, !writer.error, text);
    return status;
}

/* false where one cannot be read: then nothing is held. */
static bool read_both(hd_context *context, const hd_input *before, const hd_input *after)
{
    if (!hd_api_read(context, before, &context->sources[0]))
        return false;
    bool good = hd_api_read(context, after, &context->sources[1]);
    if (!good)
        hd_source_free(&context->sources[0]);
    return good;
}

/* Compares two inputs; the job stays the context's until the next one. NULL where nothing is compared. */
static const hd_diff *run_diff(hd_context *context, const hd_input *before, const hd_input *after,
                               const hd_report_settings *s, hd_status *status)
{
    hd_report_options options;
    hd_source *const sources[2] = {&context->sources[0], &context->sources[1]};
    bool good = read_report_settings(context, s, &options);
    options.gates = gates_of(context, s, HD_GATES_OF_CHANGES);
    if (good && (options.gates || !s->require) && read_both(context, before, after))
        context->diff = hd_diff_new(sources, &options, &context->diagnostics);
    const hd_diff *diff = context->diff ? hd_diff_of(context->diff) : NULL;
    if (options.gates && diff)
        hd_gates_warn_of_unused(options.gates, &context->diagnostics);
    *status = hd_status_of(&context->diagnostics);
    hd_api_end(context);
    hd_gates_free(options.gates);
    return diff;
}

hd_status hd_context_diff_results(hd_context *context, const hd_input *before, const hd_input *after,
                                  const hd_report_settings *settings, const hd_diff **diff)
{
    hd_report_settings s = {0};
    hd_status status = HD_STATUS_USAGE;
    bool good = hd_api_begin(context, settings, &s, sizeof s);
    *diff = good ? run_diff(context, before, after, &s, &status) : NULL;
    return status;
}

hd_status hd_context_diff(hd_context *context, const hd_input *before, const hd_input *after,
                          const hd_report_settings *settings, hd_text *text)
{
    hd_report_settings s = {0};
    hd_status status = HD_STATUS_USAGE;
    hd_writer writer;
    *text = (hd_text){0};
    bool good = hd_api_begin(context, settings, &s, sizeof s);
    const hd_diff *diff = good ? run_diff(context, before, after, &s, &status) : NULL;
    if (!diff)
        return status;
    hd_writer_to_memory(&writer);
    if (s.format == HD_FORMAT_TEXT)
        hd_emit_diff_text(&writer, diff);
    else
        hd_emit_diff_json(&writer, diff);
    hd_api_take(&writer, !writer.error, text);
    return status;
}

/* What only cycles can give. */
static bool check_together(hd_context *context, const hd_replay_settings *s)
{
    const char *wrong = NULL;
    if (!s->time && (s->sms || s->timeline_end || s->sample || s->profile))
        wrong = "SMs, timelines, samples and profiles go with cycles: without `time` no SM is simulated";
    else if (s->sample && s->timeline_end)
        wrong = "a timeline and a sample: what is not timed has no timeline";
    else if (s->sample && s->profile)
        wrong = "a profile and a sample: what is not timed has no profile";
    else if (s->format == HD_REPLAY_TIMELINE && !s->timeline_end)
        wrong = "a timeline needs its range of cycles";
    else if (s->timeline_end && s->timeline_first >= s->timeline_end)
        wrong = "a range of cycles without cycles";
    if (wrong)
        hd_report(&context->diagnostics, HD_DIAG_BAD_VALUE, NULL, (hd_span){0, 0}, "%s", wrong);
    return !wrong;
}

/* Opens and runs a replay; the context owns it until the next job. NULL if a setting is invalid. */
static const hd_replay_report *run_replay(hd_context *context, const char *const *launch_files, size_t count,
                                          const hd_replay_settings *s, hd_status *status)
{
    hd_replay_options options = {.settings = s->gpu_values,
                                 .setting_count = (uint32_t)s->gpu_value_count,
                                 .parse = context->parse,
                                 .given = &context->given,
                                 .timeline_first = s->timeline_first,
                                 .timeline_end = s->timeline_end};
    hd_api_watch watch;
    bool good = hd_settings_take(HD_JOB_REPLAY, s, &options, &context->diagnostics) && check_together(context, s);
    *status = HD_STATUS_USAGE;
    hd_api_watch_open(&watch, s, &options);
    if (good) {
        context->replay = hd_replay_new(&options, &context->diagnostics);
        good = hd_replay_status(context->replay) == HD_STATUS_DONE;
        hd_arena names = {0};
        uint32_t files = (uint32_t)count;
        bool listed = good && hd_replay_expand(&names, &context->given, &launch_files, &files, &context->diagnostics);
        if (listed) {
            hd_api_watch_start(&watch, files, &options);
            hd_replay_files(context->replay, launch_files, files);
        }
        *status = good && !listed ? HD_STATUS_REJECTED : hd_replay_status(context->replay);
        hd_arena_free(&names);
    }
    if (hd_api_watch_close(&watch)) {
        good = false;
        *status = HD_STATUS_CANCELLED;
    }
    hd_api_end(context);
    return good ? hd_replay_report_of(context->replay) : NULL;
}

hd_status hd_context_replay_results(hd_context *context, const char *const *launch_files, size_t count,
                                    const hd_replay_settings *settings, const hd_replay_report **report)
{
    hd_replay_settings s = {0};
    hd_status status = HD_STATUS_USAGE;
    bool good = hd_api_begin(context, settings, &s, sizeof s);
    *report = good ? run_replay(context, launch_files, count, &s, &status) : NULL;
    return status;
}

hd_status hd_context_replay(hd_context *context, const char *const *launch_files, size_t count,
                            const hd_replay_settings *settings, hd_text *report)
{
    hd_replay_settings s = {0};
    hd_status status = HD_STATUS_USAGE;
    hd_writer writer;
    *report = (hd_text){0};
    bool good = hd_api_begin(context, settings, &s, sizeof s);
    const hd_replay_report *results = good ? run_replay(context, launch_files, count, &s, &status) : NULL;
    if (!results)
        return status;
    hd_writer_to_memory(&writer);
    switch (s.format) {
    case HD_REPLAY_JSON: hd_emit_replay_json(&writer, results); break;
    case HD_REPLAY_TEXT: hd_emit_replay_text(&writer, results, s.counters); break;
    case HD_REPLAY_CSV: hd_emit_replay_csv(&writer, results); break;
    case HD_REPLAY_HTML: hd_emit_replay_html(&writer, results); break;
    case HD_REPLAY_TIMELINE: hd_emit_replay_timeline(&writer, results); break;
    }
    hd_api_take(&writer, !writer.error, report);
    return status;
}
