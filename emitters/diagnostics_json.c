/* Diagnostics as JSON and as SARIF 2.1.0 (OASIS standard). */
#include "emitters/diagnostics_json.h"

#include "base/origins.h"
#include "base/version.h"

static const char *severity_name(hd_severity severity)
{
    switch (severity) {
    case HD_NOTE: return "note";
    case HD_WARNING: return "warning";
    case HD_ERROR: break;
    }
    return "error";
}

/* A place, and where code that the diagnostic is about comes from, innermost first. */
typedef struct place {
    hd_source *source; /* NULL: none */
    hd_span span;
    hd_position begin, end;
    uint32_t origin_count;
    hd_origin origins[HD_MOST_INLINED];
} place;

static void find_place(place *p, hd_diagnostic_kind kind, hd_source *source, hd_span span)
{
    p->source = source;
    p->origin_count = 0;
    if (!source)
        return;
    p->span = span;
    p->begin = hd_source_position(source, span.begin);
    p->end = hd_source_position(source, span.end);
    if (hd_diagnostic_is_about_code(kind))
        p->origin_count = hd_source_origins(source, span.begin, p->origins);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* Message, place and source, of a diagnostic or a note. */
static void write_message(hd_json *j, const char *message, const place *p)
{
    hd_json_text(j, "message", message);
    if (p->source) {
        hd_json_object(j, "place");
        hd_json_text(j, "file", p->source->name);
        hd_json_number(j, "line", p->begin.line);
        hd_json_number(j, "column", p->begin.column);
        hd_json_number(j, "end_line", p->end.line);
        hd_json_number(j, "end_column", p->end.column);
        hd_json_number(j, "begin", p->span.begin);
        hd_json_number(j, "end", p->span.end);
        hd_json_end(j);
    } else {
        hd_json_null(j, "place");
    }
    hd_json_array(j, "source");
    for (uint32_t i = 0; i < p->origin_count; i++) {
        const hd_origin *origin = &p->origins[i];
        hd_json_object(j, NULL);
        hd_json_text(j, "file", origin->file);
        hd_json_number(j, "line", origin->line);
        if (origin->column)
            hd_json_number(j, "column", origin->column);
        else
            hd_json_null(j, "column");
        hd_json_end(j);
    }
    hd_json_end(j);
}

static void write_diagnostic(hd_json *j, const hd_diagnostic *d)
{
    place p;
    hd_json_object(j, NULL);
    hd_json_text(j, "severity", severity_name(d->severity));
    hd_json_text(j, "slug", hd_diagnostic_slug(d->kind));
    find_place(&p, d->kind, d->source, d->span);
    write_message(j, d->message, &p);
    hd_json_array(j, "notes");
    for (const hd_note *note = d->notes; note; note = note->next) {
        hd_json_object(j, NULL);
        find_place(&p, d->kind, note->source, note->span);
        write_message(j, note->message, &p);
        hd_json_end(j);
    }
    hd_json_end(j);
    hd_json_end(j);
}

void hd_emit_diagnostics_json(hd_writer *writer, const hd_diagnostics *diagnostics)
{
    hd_json json = {.out = writer};
    hd_json_object(&json, NULL);
    hd_json_text(&json, "heddle", HD_VERSION);
    hd_json_number(&json, "schema", 1);
    hd_json_array(&json, "diagnostics");
    for (const hd_diagnostic *d = diagnostics->first; d; d = d->next)
        write_diagnostic(&json, d);
    hd_json_end(&json);
    hd_json_number(&json, "errors", diagnostics->error_count);
    hd_json_number(&json, "warnings", diagnostics->warning_count);
    hd_json_end(&json);
}

/* ---- SARIF ------------------------------------------------------------------------------------------------------- */

void hd_sarif_note(hd_sarif *log, hd_diagnostic_kind kind)
{
    if (log->position[kind])
        return;
    log->rules[log->rule_count++] = kind;
    log->position[kind] = log->rule_count;
}

static void write_text_object(hd_json *j, const char *key, const char *text)
{
    hd_json_object(j, key);
    hd_json_text(j, "text", text);
    hd_json_end(j);
}

void hd_sarif_begin(hd_sarif *log, hd_writer *writer)
{
    hd_json *j = &log->json;
    *j = (hd_json){.out = writer};
    hd_json_object(j, NULL);
    hd_json_text(j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    hd_json_text(j, "version", "2.1.0");
    hd_json_array(j, "runs");
    hd_json_object(j, NULL);
    hd_json_object(j, "tool");
    hd_json_object(j, "driver");
    hd_json_text(j, "name", "heddle");
    hd_json_text(j, "version", HD_VERSION);
    hd_json_array(j, "rules");
    for (uint32_t i = 0; i < log->rule_count; i++) {
        hd_json_object(j, NULL);
        hd_json_text(j, "id", hd_diagnostic_slug(log->rules[i]));
        write_text_object(j, "shortDescription", hd_diagnostic_summary(log->rules[i]));
        hd_json_end(j);
    }
    hd_json_end(j);
    hd_json_end(j);
    hd_json_end(j);
    hd_json_text(j, "columnKind", "utf16CodeUnits");
    hd_json_array(j, "results");
}

void hd_sarif_end(hd_sarif *log)
{
    while (log->json.depth)
        hd_json_end(&log->json);
}

void hd_sarif_begin_result(hd_sarif *log, hd_diagnostic_kind kind, const char *level, const char *message)
{
    hd_json *j = &log->json;
    hd_json_object(j, NULL);
    hd_json_text(j, "ruleId", hd_diagnostic_slug(kind));
    hd_json_number(j, "ruleIndex", log->position[kind] - 1);
    hd_json_text(j, "level", level);
    write_text_object(j, "message", message);
    hd_json_array(j, "locations");
}

void hd_sarif_file(hd_json *j, const char *key, const char *name)
{
    hd_writer uri;
    hd_writer_to_memory(&uri);
    for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
        bool letter = (*c | 32) >= 'a' && (*c | 32) <= 'z';
        if (letter || (*c >= '0' && *c <= '9') || strchr("-._~/", *c))
            hd_write_char(&uri, (char)*c);
        else
            hd_write_format(&uri, "%%%02X", *c);
    }
    hd_json_object(j, key);
    hd_json_characters(j, "uri", uri.buffer.items, uri.buffer.count);
    hd_json_end(j);
    hd_writer_free(&uri);
}

void hd_sarif_begin_line(hd_json *j, const char *file, uint32_t line, uint32_t column)
{
    hd_json_object(j, NULL);
    hd_json_object(j, "physicalLocation");
    hd_sarif_file(j, "artifactLocation", file);
    hd_json_object(j, "region");
    hd_json_number(j, "startLine", line);
    if (column)
        hd_json_number(j, "startColumn", column);
    hd_json_end(j);
    hd_json_end(j);
}

void hd_sarif_line(hd_json *j, const char *file, uint32_t line, uint32_t column, const char *message)
{
    hd_sarif_begin_line(j, file, line, column);
    write_text_object(j, "message", message);
    hd_json_end(j);
}

/* `message`: NULL for the diagnostic itself. */
static void write_ptx_location(hd_json *j, const place *p, const char *message)
{
    hd_json_object(j, NULL);
    if (p->source) {
        hd_json_object(j, "physicalLocation");
        hd_sarif_file(j, "artifactLocation", p->source->name);
        hd_json_object(j, "region");
        hd_json_number(j, "startLine", p->begin.line);
        hd_json_number(j, "startColumn", p->begin.column);
        hd_json_number(j, "endLine", p->end.line);
        hd_json_number(j, "endColumn", p->end.column);
        hd_json_number(j, "byteOffset", p->span.begin);
        hd_json_number(j, "byteLength", p->span.end - p->span.begin);
        hd_json_end(j);
        hd_json_end(j);
    }
    if (message)
        write_text_object(j, "message", message);
    hd_json_end(j);
}

/* At its source line where that is known; then the PTX is related. */
static void write_location(hd_json *j, const place *p, const char *message)
{
    const hd_origin *origin = &p->origins[0];
    if (!p->origin_count) {
        write_ptx_location(j, p, message);
    } else if (message) {
        hd_sarif_line(j, origin->file, origin->line, origin->column, message);
    } else {
        hd_sarif_begin_line(j, origin->file, origin->line, origin->column);
        hd_json_end(j);
    }
}

static void write_related(hd_json *j, const place *p)
{
    for (uint32_t i = 1; i < p->origin_count; i++)
        hd_sarif_line(j, p->origins[i].file, p->origins[i].line, p->origins[i].column, "inlined here");
    if (p->origin_count)
        write_ptx_location(j, p, p->source->origins->in_listing ? "in the listing" : "in the PTX");
}

static void write_result(hd_sarif *log, const hd_diagnostic *d)
{
    hd_json *j = &log->json;
    place p;
    find_place(&p, d->kind, d->source, d->span);
    hd_sarif_begin_result(log, d->kind, severity_name(d->severity), d->message);
    if (p.source)
        write_location(j, &p, NULL);
    hd_json_end(j);
    if (p.origin_count || d->notes) {
        hd_json_array(j, "relatedLocations");
        write_related(j, &p);
        for (const hd_note *note = d->notes; note; note = note->next) {
            find_place(&p, d->kind, note->source, note->span);
            write_location(j, &p, note->message);
            write_related(j, &p);
        }
        hd_json_end(j);
    }
    hd_json_end(j);
}

void hd_emit_diagnostics_sarif(hd_writer *writer, const hd_diagnostics *diagnostics)
{
    hd_sarif log = {.rule_count = 0};
    for (const hd_diagnostic *d = diagnostics->first; d; d = d->next)
        hd_sarif_note(&log, d->kind);
    hd_sarif_begin(&log, writer);
    for (const hd_diagnostic *d = diagnostics->first; d; d = d->next)
        write_result(&log, d);
    hd_sarif_end(&log);
}
