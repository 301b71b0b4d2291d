/* Collects diagnostics in the order of reporting. Errors and warnings beyond the limit are counted and dropped. The
 * emitters render them. */
#include "base/diagnostics.h"

#include <stdio.h>

typedef struct row {
    const char *slug, *summary;
    uint8_t severity; /* hd_severity or HD_SILENT */
} row;

static const row rows[HD_DIAGNOSTIC_COUNT] = {
#define HD_DIAGNOSTIC(id, slug, severity, summary) [HD_DIAG_##id] = {slug, summary, (uint8_t)HD_##severity},
#include "base/diagnostics.def"
#undef HD_DIAGNOSTIC
};

const char *hd_diagnostic_slug(hd_diagnostic_kind kind) { return rows[kind].slug; }
uint8_t hd_diagnostic_default(hd_diagnostic_kind kind) { return rows[kind].severity; }
const char *hd_diagnostic_summary(hd_diagnostic_kind kind) { return rows[kind].summary; }

bool hd_diagnostic_is_about_code(hd_diagnostic_kind kind)
{
    static const bool about_code[HD_DIAGNOSTIC_COUNT] = {
#define HD_DIAGNOSTIC(id, slug, severity, summary)
#define HD_ABOUT_CODE(id) [HD_DIAG_##id] = true,
#include "base/diagnostics.def"
#undef HD_DIAGNOSTIC
#undef HD_ABOUT_CODE
    };
    return about_code[kind];
}

int hd_diagnostic_from_slug(const char *slug)
{
    for (int kind = 0; kind < HD_DIAGNOSTIC_COUNT; kind++)
        if (strcmp(rows[kind].slug, slug) == 0)
            return kind;
#define HD_DIAGNOSTIC(id, slug, severity, summary)
#define HD_FORMER_SLUG(id, former) \
    if (strcmp(former, slug) == 0) \
        return HD_DIAG_##id;
#include "base/diagnostics.def"
#undef HD_DIAGNOSTIC
#undef HD_FORMER_SLUG
    return -1;
}

void hd_diagnostics_init(hd_diagnostics *diagnostics)
{
    *diagnostics = (hd_diagnostics){.error_limit = 20};
    hd_arena_init(&diagnostics->arena);
    for (int kind = 0; kind < HD_DIAGNOSTIC_COUNT; kind++)
        diagnostics->severity[kind] = rows[kind].severity;
}

void hd_diagnostics_init_part(hd_diagnostics *part, const hd_diagnostics *whole)
{
    hd_diagnostics_init(part);
    part->error_limit = whole->error_limit;
    part->warnings_are_errors = whole->warnings_are_errors;
    memcpy(part->severity, whole->severity, sizeof part->severity);
}

typedef struct hd_owned_source {
    hd_source source;
    struct hd_owned_source *next;
} hd_owned_source;

hd_source *hd_diagnostics_source(hd_diagnostics *diagnostics, const char *name, const char *text)
{
    hd_owned_source *owned = HD_ARENA_NEW(&diagnostics->arena, hd_owned_source);
    hd_source_from_memory(&owned->source, name, text, strlen(text));
    owned->next = diagnostics->owned;
    diagnostics->owned = owned;
    return &owned->source;
}

static void copy_details(hd_diagnostics *into, hd_diagnostic *copy, const hd_diagnostic *d)
{
    if (copy) {
        copy->about_file = d->about_file;
        copy->detail = d->detail;
    }
    for (const hd_note *n = d->notes; n; n = n->next)
        hd_note_add(into, copy, n->source, n->span, "%s", n->message);
}

void hd_diagnostics_merge(hd_diagnostics *into, const hd_diagnostics *from)
{
    for (const hd_diagnostic *d = from->first; d; d = d->next)
        copy_details(into, hd_report(into, d->kind, d->source, d->span, "%s", d->message), d);
}

static uint32_t sum_of(uint32_t count, uint32_t more) { return more > UINT32_MAX - count ? UINT32_MAX : count + more; }

static void add_dropped(hd_diagnostics *whole, const hd_diagnostics *part)
{
    whole->errors_dropped = sum_of(whole->errors_dropped, part->errors_dropped);
    whole->warnings_dropped = sum_of(whole->warnings_dropped, part->warnings_dropped);
}

/* Diagnostics that a part dropped exceed the limit of the whole, too: at least as many of that severity precede
 * them. */
void hd_diagnostics_join(hd_diagnostics *whole, const hd_diagnostics *part)
{
    uint32_t errors = sum_of(whole->error_count, part->error_count);
    uint32_t warnings = sum_of(whole->warning_count, part->warning_count);
    hd_diagnostics_merge(whole, part);
    whole->error_count = errors;
    whole->warning_count = warnings;
    add_dropped(whole, part);
}

static hd_diagnostic *append(hd_diagnostics *diagnostics, hd_diagnostic_kind kind, uint8_t severity, hd_source *source,
                             hd_span span)
{
    hd_diagnostic *diagnostic = HD_ARENA_NEW(&diagnostics->arena, hd_diagnostic);
    *diagnostic = (hd_diagnostic){.kind = kind, .severity = (hd_severity)severity, .source = source, .span = span};
    *(diagnostics->last ? &diagnostics->last->next : &diagnostics->first) = diagnostic;
    return diagnostics->last = diagnostic;
}

void hd_diagnostics_join_input(hd_diagnostics *whole, const hd_diagnostics *part)
{
    for (const hd_diagnostic *d = part->first; d; d = d->next) {
        hd_diagnostic *copy = append(whole, d->kind, (uint8_t)d->severity, d->source, d->span);
        copy->message = hd_arena_string(&whole->arena, d->message, strlen(d->message));
        copy_details(whole, copy, d);
    }
    whole->error_count = sum_of(whole->error_count, part->error_count);
    whole->warning_count = sum_of(whole->warning_count, part->warning_count);
    add_dropped(whole, part);
}

void hd_diagnostics_free(hd_diagnostics *diagnostics)
{
    for (hd_owned_source *owned = diagnostics->owned; owned; owned = owned->next)
        hd_source_free(&owned->source);
    hd_arena_free(&diagnostics->arena);
    hd_diagnostics_init(diagnostics);
}

/* The rest of `text` after `prefix`, or NULL. */
static const char *after(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

bool hd_diagnostics_option(hd_diagnostics *diagnostics, const char *option)
{
    if (strcmp(option, "error") == 0 || strcmp(option, "no-error") == 0) {
        diagnostics->warnings_are_errors = option[0] == 'e';
        return true;
    }
    static const struct {
        const char *prefix;
        uint8_t severity;
    } forms[] = {{"error=", HD_ERROR}, {"no-error=", HD_WARNING_ALWAYS}, {"no-", HD_SILENT}, {"", HD_WARNING}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const char *slug = after(option, forms[i].prefix);
        int kind = slug ? hd_diagnostic_from_slug(slug) : -1;
        if (kind < 0)
            continue;
        if (rows[kind].severity == HD_ERROR)
            return forms[i].severity == HD_ERROR || forms[i].severity == HD_WARNING;
        diagnostics->severity[kind] = forms[i].severity;
        return true;
    }
    return false;
}

static char *format_message(hd_arena *arena, const char *format, va_list list) __attribute__((format(printf, 2, 0)));
static char *format_message(hd_arena *arena, const char *format, va_list list)
{
    va_list again;
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = hd_arena_calloc(arena, (size_t)hd_max(length, 0) + 1);
    if (length > 0)
        vsnprintf(text, (size_t)length + 1, format, list);
    return text;
}

/* The severity of a kind under the current options, or HD_SILENT. */
static uint8_t severity_now(const hd_diagnostics *diagnostics, hd_diagnostic_kind kind)
{
    uint8_t severity = diagnostics->severity[kind];
    if (severity == HD_WARNING_ALWAYS)
        return HD_WARNING;
    return severity == HD_WARNING && diagnostics->warnings_are_errors ? HD_ERROR : severity;
}

hd_diagnostic *hd_report(hd_diagnostics *diagnostics, hd_diagnostic_kind kind, hd_source *source, hd_span span,
                         const char *format, ...)
{
    uint8_t severity = severity_now(diagnostics, kind);
    if (severity == HD_SILENT)
        return NULL;
    uint32_t *count = severity == HD_ERROR ? &diagnostics->error_count : &diagnostics->warning_count;
    if (severity != HD_NOTE && *count < UINT32_MAX)
        ++*count;
    if (severity != HD_NOTE && diagnostics->error_limit && *count > diagnostics->error_limit) {
        uint32_t *lost = severity == HD_ERROR ? &diagnostics->errors_dropped : &diagnostics->warnings_dropped;
        *lost = sum_of(*lost, 1);
        return NULL;
    }
    hd_diagnostic *diagnostic = append(diagnostics, kind, severity, source, span);
    va_list list;
    va_start(list, format);
    diagnostic->message = format_message(&diagnostics->arena, format, list);
    va_end(list);
    return diagnostic;
}

void hd_note_add(hd_diagnostics *diagnostics, hd_diagnostic *diagnostic, hd_source *source, hd_span span,
                 const char *format, ...)
{
    if (!diagnostic)
        return;
    hd_note *note = HD_ARENA_NEW(&diagnostics->arena, hd_note);
    *note = (hd_note){.source = source, .span = span};
    va_list list;
    va_start(list, format);
    note->message = format_message(&diagnostics->arena, format, list);
    va_end(list);
    hd_note **link = &diagnostic->notes;
    while (*link)
        link = &(*link)->next;
    *link = note;
}

bool hd_diagnostics_full(const hd_diagnostics *diagnostics)
{
    return diagnostics->error_limit && diagnostics->error_count >= diagnostics->error_limit;
}
