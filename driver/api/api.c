/* The public C API (include/heddle/heddle.h) over the jobs of driver/.
 *
 * Each job has its own diagnostics, with the severities of the context. After the job they are copied as messages, with
 * locations as lines and columns, before the texts that they refer to are freed. */
#include "heddle/heddle.h"

#include "base/origins.h"
#include "base/version.h"
#include "driver/check.h"
#include "driver/replay/replay.h"
#include "driver/report/diff.h"
#include "driver/report/gates.h"
#include "driver/report/report.h"
#include "driver/rewrite.h"
#include "driver/api/settings.h"
#include "emitters/report/diff.h"
#include "emitters/replay/replay.h"
#include "target/gpu.h"

#include <errno.h>

struct hd_context {
    hd_diagnostics template; /* severities only; nothing is reported in it */
    hd_parse_options parse;
    hd_diagnostics diagnostics; /* of the running job */
    hd_arena arena;             /* texts of the messages */
    HD_ARRAY(hd_message) messages;
    size_t errors;
    /* The last job, whose results are still accessible; or NULL. */
    hd_replay *replay;
    hd_report_job *report;
    hd_diff_job *diff;
    hd_source sources[2]; /* their texts */
};

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

hd_context *hd_context_new(void)
{
    hd_context *context = hd_calloc(1, sizeof *context);
    hd_diagnostics_init(&context->template);
    hd_arena_init(&context->arena);
    return context;
}

static void drop_results(hd_context *context)
{
    hd_replay_free(context->replay);
    hd_report_free(context->report);
    hd_diff_free(context->diff);
    context->replay = NULL;
    context->report = NULL;
    context->diff = NULL;
}

void hd_context_free(hd_context *context)
{
    if (!context)
        return;
    drop_results(context);
    hd_diagnostics_free(&context->template);
    hd_arena_free(&context->arena);
    hd_array_free(&context->messages);
    free(context);
}

void hd_context_set_strict(hd_context *context, bool strict) { context->parse.strict = strict; }

void hd_context_set_drop_stale(hd_context *context, bool drop_stale) { context->parse.drop_stale = drop_stale; }

bool hd_context_set_warning(hd_context *context, const char *what)
{
    return hd_diagnostics_option(&context->template, what);
}

const char *hd_version(void) { return HD_VERSION; }

/* ---- messages ---------------------------------------------------------------------------------------------------- */

size_t hd_context_message_count(const hd_context *context) { return context->messages.count; }

hd_message hd_context_message(const hd_context *context, size_t index) { return context->messages.items[index]; }

size_t hd_context_error_count(const hd_context *context) { return context->errors; }

static const char *keep_text(hd_context *context, const char *text)
{
    return hd_arena_string(&context->arena, text, strlen(text));
}

static void add_message(hd_context *context, hd_message_severity severity, const char *slug, const char *text,
                        hd_source *source, hd_span span)
{
    hd_message message = {.severity = severity, .slug = slug, .text = keep_text(context, text)};
    if (source) {
        hd_position begin = hd_source_position(source, span.begin), end = hd_source_position(source, span.end);
        message.file = keep_text(context, source->name);
        message.line = begin.line;
        message.column = begin.column;
        message.end_line = end.line;
        message.end_column = end.column;
    }
    hd_array_push(&context->messages, message);
}

/* The calls at which code was inlined that the diagnostic is about. */
static void add_inlined(hd_context *context, const hd_diagnostic *d)
{
    hd_origin origins[HD_MOST_INLINED];
    bool known = d->source && hd_diagnostic_is_about_code(d->kind);
    uint32_t count = known ? hd_source_origins(d->source, d->span.begin, origins) : 0;
    for (uint32_t i = 1; i < count; i++)
        add_message(context, HD_MESSAGE_NOTE, hd_diagnostic_slug(d->kind),
                    hd_arena_printf(&context->arena, "inlined at %s:%u", origins[i].file, origins[i].line), NULL,
                    (hd_span){0, 0});
}

static void end_job(hd_context *context)
{
    for (const hd_diagnostic *d = context->diagnostics.first; d; d = d->next) {
        const char *slug = hd_diagnostic_slug(d->kind);
        add_message(context, d->severity == HD_ERROR ? HD_MESSAGE_ERROR : HD_MESSAGE_WARNING, slug, d->message,
                    d->source, d->span);
        add_inlined(context, d);
        for (const hd_note *note = d->notes; note; note = note->next)
            add_message(context, HD_MESSAGE_NOTE, slug, note->message, note->source, note->span);
    }
    context->errors = context->diagnostics.error_count;
    hd_diagnostics_free(&context->diagnostics);
}

/* Copies the caller's settings to *own, of `size` bytes, which are zero. A shorter structure is of an earlier version,
 * a longer one of a later. So a new member lies after the padding of the structure so far, where a program may have
 * left anything. */
static bool take_settings(hd_context *context, const void *settings, void *own, size_t size)
{
    size_t given;
    const char *wrong = NULL;
    memcpy(&given, settings, sizeof given);
    if (given < sizeof given)
        wrong = "the settings begin with their size: .size = sizeof settings";
    for (size_t i = size; !wrong && i < given; i++)
        if (((const char *)settings)[i])
            wrong = "the settings are of a later version, and set what this one does not know";
    if (wrong)
        hd_report(&context->diagnostics, HD_DIAG_BAD_VALUE, NULL, (hd_span){0, 0}, "%s", wrong);
    else
        memcpy(own, settings, hd_min(given, size));
    return !wrong;
}

/* Begins a job with the caller's settings (NULL: the defaults), which are copied to *own. false: they are invalid, and
 * the job has ended with HD_STATUS_USAGE. */
static bool begin_job(hd_context *context, const void *settings, void *own, size_t size)
{
    drop_results(context);
    hd_arena_free(&context->arena);
    hd_array_clear(&context->messages);
    hd_diagnostics *d = &context->diagnostics;
    hd_diagnostics_init(d);
    d->error_limit = 0;
    memcpy(d->severity, context->template.severity, sizeof d->severity);
    d->warnings_are_errors = context->template.warnings_are_errors;
    if (!settings || take_settings(context, settings, own, size))
        return true;
    end_job(context);
    return false;
}

/* ---- inputs and outputs ------------------------------------------------------------------------------------------ */

static bool report_unreadable(hd_context *context, const char *name, int error)
{
    hd_report(&context->diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "cannot read '%s': %s", name,
              hd_source_why(error));
    return false;
}

static bool read_input(hd_context *context, const hd_input *input, hd_source *source)
{
    const char *name = input->name ? input->name : input->text ? "<memory>" : "";
    if (!input->text)
        return hd_source_read(source, name) || report_unreadable(context, name, errno);
    if (input->length > UINT32_MAX - 16)
        return report_unreadable(context, name, EFBIG);
    hd_source_from_memory(source, name, input->text, input->length);
    return true;
}

void hd_text_free(hd_text *text)
{
    free(text->bytes);
    *text = (hd_text){0};
}

/* Transfers the written text to *out, or discards it. */
static void take_text(hd_writer *writer, bool good, hd_text *out)
{
    hd_write_char(writer, '\0');
    if (good) {
        *out = (hd_text){writer->buffer.items, writer->buffer.count - 1};
        writer->buffer.items = NULL;
    }
    hd_writer_free(writer);
}

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

/* `passes` as for -p, `gpu` a name or a file; NULL: not given. */
static hd_status run_rewrite(hd_context *context, const hd_input *input, hd_rewrite_options *options,
                             const char *passes, const char *gpu, hd_text *out)
{
    hd_source source;
    hd_module *module = NULL;
    hd_gpu *machine = gpu ? hd_gpu_load(gpu, &context->diagnostics) : NULL;
    hd_pipeline *pipeline = passes ? hd_pipeline_parse(passes, &context->diagnostics) : NULL;
    options->passes = pipeline;
    options->pipeline.gpu = machine;
    if ((!machine || machine->valid) && (!passes || pipeline) && read_input(context, input, &source)) {
        hd_writer writer;
        hd_writer_to_memory(&writer);
        module = hd_rewrite(&source, options, &writer, &context->diagnostics);
        if (writer.error)
            hd_report(&context->diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "the output is too long: %s",
                      strerror(writer.error));
        take_text(&writer, hd_status_of(&context->diagnostics) == HD_STATUS_DONE, out);
    }
    hd_status status = hd_status_of(&context->diagnostics);
    end_job(context);
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
    if (!begin_job(context, settings, &s, sizeof s))
        return HD_STATUS_USAGE;
    hd_rewrite_options options = {.parse = context->parse};
    options.emit.spelling = s.extended ? HD_SPELLING_EXTENDED : HD_SPELLING_PORTABLE;
    if (hd_settings_take(HD_JOB_REWRITE, &s, &options, &context->diagnostics))
        return run_rewrite(context, input, &options, s.passes, s.gpu, out);
    end_job(context);
    return HD_STATUS_USAGE;
}

hd_status hd_context_strip(hd_context *context, const hd_input *input, hd_text *out)
{
    hd_rewrite_options options = {.parse = context->parse, .emit = {.no_annotations = true}};
    options.parse.locate_annotations = true;
    *out = (hd_text){0};
    begin_job(context, NULL, NULL, 0);
    return run_rewrite(context, input, &options, NULL, NULL, out);
}

hd_status hd_context_check(hd_context *context, const hd_input *input, const char *kernel, uint64_t *annotations)
{
    hd_source source;
    hd_check_result result = {0};
    hd_status status = HD_STATUS_REJECTED;
    begin_job(context, NULL, NULL, 0);
    if (read_input(context, input, &source)) {
        hd_module *module = hd_parse_ptx(&source, &context->parse, &context->diagnostics);
        status = hd_status_of(&context->diagnostics);
        if (status == HD_STATUS_DONE)
            status = hd_check_module(module, kernel, NULL, &context->diagnostics, &result);
        end_job(context);
        hd_module_free(module);
    } else {
        end_job(context);
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
    if (good && (options.gates || !s->require) && read_input(context, input, &context->sources[0]))
        context->report = hd_report_new(&context->sources[0], &options, &context->diagnostics);
    if (options.gates && context->report && hd_report_of(context->report)->arch)
        hd_gates_warn_of_unused(options.gates, &context->diagnostics);
    *status = hd_status_of(&context->diagnostics);
    end_job(context);
    hd_gates_free(options.gates);
    return context->report && hd_report_of(context->report)->arch ? hd_report_of(context->report) : NULL;
}

hd_status hd_context_report_results(hd_context *context, const hd_input *input, const hd_report_settings *settings,
                                    const hd_report_module **report)
{
    hd_report_settings s = {0};
    hd_status status = HD_STATUS_USAGE;
    bool good = begin_job(context, settings, &s, sizeof s);
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
    bool good = begin_job(context, settings, &s, sizeof s);
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
    take_text(&writer, !writer.error, text);
    return status;
}

/* false where one cannot be read: then nothing is held. */
static bool read_both(hd_context *context, const hd_input *before, const hd_input *after)
{
    if (!read_input(context, before, &context->sources[0]))
        return false;
    bool good = read_input(context, after, &context->sources[1]);
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
    end_job(context);
    hd_gates_free(options.gates);
    return diff;
}

hd_status hd_context_diff_results(hd_context *context, const hd_input *before, const hd_input *after,
                                  const hd_report_settings *settings, const hd_diff **diff)
{
    hd_report_settings s = {0};
    hd_status status = HD_STATUS_USAGE;
    bool good = begin_job(context, settings, &s, sizeof s);
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
    bool good = begin_job(context, settings, &s, sizeof s);
    const hd_diff *diff = good ? run_diff(context, before, after, &s, &status) : NULL;
    if (!diff)
        return status;
    hd_writer_to_memory(&writer);
    if (s.format == HD_FORMAT_TEXT)
        hd_emit_diff_text(&writer, diff);
    else
        hd_emit_diff_json(&writer, diff);
    take_text(&writer, !writer.error, text);
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
                                 .timeline_first = s->timeline_first,
                                 .timeline_end = s->timeline_end};
    bool good = hd_settings_take(HD_JOB_REPLAY, s, &options, &context->diagnostics) && check_together(context, s);
    *status = HD_STATUS_USAGE;
    if (good) {
        context->replay = hd_replay_new(&options, &context->diagnostics);
        good = hd_replay_status(context->replay) == HD_STATUS_DONE;
        hd_arena names = {0};
        uint32_t files = (uint32_t)count;
        bool listed = good && hd_replay_expand(&names, &launch_files, &files, &context->diagnostics);
        if (listed)
            hd_replay_files(context->replay, launch_files, files);
        *status = good && !listed ? HD_STATUS_REJECTED : hd_replay_status(context->replay);
        hd_arena_free(&names);
    }
    end_job(context);
    return good ? hd_replay_report_of(context->replay) : NULL;
}

hd_status hd_context_replay_results(hd_context *context, const char *const *launch_files, size_t count,
                                    const hd_replay_settings *settings, const hd_replay_report **report)
{
    hd_replay_settings s = {0};
    hd_status status = HD_STATUS_USAGE;
    bool good = begin_job(context, settings, &s, sizeof s);
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
    bool good = begin_job(context, settings, &s, sizeof s);
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
    take_text(&writer, !writer.error, report);
    return status;
}
