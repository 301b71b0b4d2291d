/* Contexts of the public C API: settings that apply to all jobs, and the messages of the last one. */
#include "driver/api/context.h"

#include "base/origins.h"
#include "base/version.h"

#include <errno.h>

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
    hd_given_free(&context->given);
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

void hd_context_add_file(hd_context *context, const char *name, const void *bytes, size_t length)
{
    hd_given_add(&context->given, name, bytes, length);
}

void hd_context_drop_files(hd_context *context) { hd_given_free(&context->given); }

void hd_context_set_only_files(hd_context *context, bool only) { context->given.only = only; }

const char *hd_version(void) { return HD_VERSION; }

/* ---- messages ---------------------------------------------------------------------------------------------------- */

size_t hd_context_message_count(const hd_context *context) { return context->messages.count; }

hd_message hd_context_message(const hd_context *context, size_t index) { return context->messages.items[index]; }

size_t hd_context_error_count(const hd_context *context) { return context->errors; }

void hd_context_set_message_handler(hd_context *context, void (*handler)(void *user, const hd_message *message),
                                    void *user)
{
    context->handler = handler;
    context->handler_user = user;
}

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

void hd_api_end(hd_context *context)
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
    for (uint32_t i = 0; context->handler && i < context->messages.count; i++)
        context->handler(context->handler_user, &context->messages.items[i]);
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

bool hd_api_begin(hd_context *context, const void *settings, void *own, size_t size)
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
    hd_api_end(context);
    return false;
}

/* ---- inputs and outputs ------------------------------------------------------------------------------------------ */

static bool report_unreadable(hd_context *context, const char *name, int error)
{
    hd_report(&context->diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "cannot read '%s': %s", name,
              hd_source_why(error));
    return false;
}

bool hd_api_read(hd_context *context, const hd_input *input, hd_source *source)
{
    const char *name = input->name ? input->name : input->text ? "<memory>" : "";
    if (!input->text)
        return hd_given_read(&context->given, name, source) || report_unreadable(context, name, errno);
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

void hd_api_take(hd_writer *writer, bool good, hd_text *out)
{
    hd_write_char(writer, '\0');
    if (good) {
        *out = (hd_text){writer->buffer.items, writer->buffer.count - 1};
        writer->buffer.items = NULL;
    }
    hd_writer_free(writer);
}
