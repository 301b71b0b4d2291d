/* Diagnostics as JSON and as SARIF 2.1.0 (OASIS standard), with jansson. In strings that are not UTF-8 (file names may
 * contain any byte), every byte above 0x7f becomes U+FFFD. Keys keep their order, so that equal input gives equal
 * bytes. */
#include "emitters/diagnostics_json.h"

#include "base/origins.h"
#include "base/version.h"
#include "emitters/json.h"

json_t *hd_json_count(uint64_t count)
{
    char digits[24];
    if (count == UINT64_MAX)
        return json_null();
    if (count <= HD_JSON_EXACT)
        return json_integer((json_int_t)count);
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    return hd_json_string(digits);
}

json_t *hd_json_string(const char *bytes)
{
    if (hd_json_is_utf8(bytes))
        return hd_json_made((json_string)(bytes));
    size_t length = strlen(bytes), out = 0;
    char *copy = hd_malloc(length * 3 + 1);
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)bytes[i] < 0x80) {
            copy[out++] = bytes[i];
        } else {
            memcpy(copy + out, "\xef\xbf\xbd", 3);
            out += 3;
        }
    }
    copy[out] = 0;
    json_t *text = hd_json_made((json_string)(copy));
    free(copy);
    return text;
}

static void write_json(hd_writer *writer, json_t *root)
{
    hd_json_dump(writer, root, JSON_INDENT(2));
    json_decref(root);
}

static const char *severity_name(hd_severity severity)
{
    switch (severity) {
    case HD_NOTE: return "note";
    case HD_WARNING: return "warning";
    case HD_ERROR: break;
    }
    return "error";
}

typedef struct range {
    hd_position begin, end;
} range;

static range range_of(hd_source *source, hd_span span)
{
    return (range){hd_source_position(source, span.begin), hd_source_position(source, span.end)};
}

/* Where code that the diagnostic is about comes from, innermost first. */
static uint32_t origins_of(hd_diagnostic_kind kind, const hd_source *source, hd_span span,
                           hd_origin origins[HD_MOST_INLINED])
{
    return source && hd_diagnostic_is_about_code(kind) ? hd_source_origins(source, span.begin, origins) : 0;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static json_t *json_range(hd_source *source, hd_span span)
{
    if (!source)
        return json_null();
    range p = range_of(source, span);
    return json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I}", "file", hd_json_string(source->name), "line",
                     (json_int_t)p.begin.line, "column", (json_int_t)p.begin.column, "end_line", (json_int_t)p.end.line,
                     "end_column", (json_int_t)p.end.column, "begin", (json_int_t)span.begin, "end",
                     (json_int_t)span.end);
}

static json_t *json_origins(hd_diagnostic_kind kind, const hd_source *source, hd_span span)
{
    hd_origin origins[HD_MOST_INLINED];
    uint32_t count = origins_of(kind, source, span, origins);
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        json_t *origin =
            json_pack("{s:o, s:I}", "file", hd_json_string(origins[i].file), "line", (json_int_t)origins[i].line);
        json_object_set_new(origin, "column", origins[i].column ? json_integer(origins[i].column) : json_null());
        json_array_append_new(list, origin);
    }
    return list;
}

static json_t *json_diagnostic(const hd_diagnostic *d)
{
    json_t *notes = json_array();
    for (const hd_note *note = d->notes; note; note = note->next)
        json_array_append_new(notes, json_pack("{s:o, s:o, s:o}", "message", hd_json_string(note->message), "place",
                                               json_range(note->source, note->span), "source",
                                               json_origins(d->kind, note->source, note->span)));
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "severity", severity_name(d->severity), "slug",
                     hd_diagnostic_slug(d->kind), "message", hd_json_string(d->message), "place",
                     json_range(d->source, d->span), "source", json_origins(d->kind, d->source, d->span), "notes",
                     notes);
}

void hd_emit_diagnostics_json(hd_writer *writer, const hd_diagnostics *diagnostics)
{
    json_t *list = json_array();
    for (const hd_diagnostic *d = diagnostics->first; d; d = d->next)
        json_array_append_new(list, json_diagnostic(d));
    write_json(writer,
               json_pack("{s:s, s:i, s:o, s:I, s:I}", "heddle", HD_VERSION, "schema", 1, "diagnostics", list, "errors",
                         (json_int_t)diagnostics->error_count, "warnings", (json_int_t)diagnostics->warning_count));
}

/* ---- SARIF ------------------------------------------------------------------------------------------------------- */

json_t *hd_sarif_uri(const char *name)
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
    json_t *text = json_stringn(uri.buffer.items, uri.buffer.count);
    hd_writer_free(&uri);
    return text;
}

/* `message`: NULL for the main location. */
static json_t *sarif_location(hd_source *source, hd_span span, const char *message)
{
    json_t *location = json_object();
    if (source) {
        range p = range_of(source, span);
        json_t *region = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "startLine", (json_int_t)p.begin.line,
                                   "startColumn", (json_int_t)p.begin.column, "endLine", (json_int_t)p.end.line,
                                   "endColumn", (json_int_t)p.end.column, "byteOffset", (json_int_t)span.begin,
                                   "byteLength", (json_int_t)(span.end - span.begin));
        json_object_set_new(
            location, "physicalLocation",
            json_pack("{s:{s:o}, s:o}", "artifactLocation", "uri", hd_sarif_uri(source->name), "region", region));
    }
    if (message)
        json_object_set_new(location, "message", json_pack("{s:o}", "text", hd_json_string(message)));
    return location;
}

static json_t *sarif_origin(const hd_origin *origin, const char *message)
{
    json_t *region = json_pack("{s:I}", "startLine", (json_int_t)origin->line);
    if (origin->column)
        json_object_set_new(region, "startColumn", json_integer(origin->column));
    json_t *location = json_pack("{s:{s:{s:o}, s:o}}", "physicalLocation", "artifactLocation", "uri",
                                 hd_sarif_uri(origin->file), "region", region);
    if (message)
        json_object_set_new(location, "message", json_pack("{s:o}", "text", hd_json_string(message)));
    return location;
}

/* At its source line where that is known; then the PTX is related. `message`: NULL for the diagnostic itself. */
static void sarif_add(json_t *to, json_t *related, hd_diagnostic_kind kind, hd_source *source, hd_span span,
                      const char *message)
{
    hd_origin origins[HD_MOST_INLINED];
    uint32_t count = origins_of(kind, source, span, origins);
    json_array_append_new(to, count ? sarif_origin(&origins[0], message) : sarif_location(source, span, message));
    for (uint32_t i = 1; i < count; i++)
        json_array_append_new(related, sarif_origin(&origins[i], "inlined here"));
    if (count)
        json_array_append_new(related, sarif_location(source, span, "in the PTX"));
}

static json_t *sarif_result(const hd_diagnostic *d, int rule)
{
    json_t *result = json_pack("{s:s, s:i, s:s, s:{s:o}}", "ruleId", hd_diagnostic_slug(d->kind), "ruleIndex", rule,
                               "level", severity_name(d->severity), "message", "text", hd_json_string(d->message));
    json_t *locations = json_array(), *related = json_array();
    if (d->source)
        sarif_add(locations, related, d->kind, d->source, d->span, NULL);
    for (const hd_note *note = d->notes; note; note = note->next)
        sarif_add(related, related, d->kind, note->source, note->span, note->message);
    json_object_set_new(result, "locations", locations);
    if (json_array_size(related))
        json_object_set(result, "relatedLocations", related);
    json_decref(related);
    return result;
}

int hd_sarif_rule(json_t *rules, int *index_of_kind, hd_diagnostic_kind kind)
{
    if (index_of_kind[kind] == 0) {
        json_array_append_new(rules, json_pack("{s:s, s:{s:s}}", "id", hd_diagnostic_slug(kind), "shortDescription",
                                               "text", hd_diagnostic_summary(kind)));
        index_of_kind[kind] = (int)json_array_size(rules);
    }
    return index_of_kind[kind] - 1;
}

void hd_sarif_write(hd_writer *writer, json_t *rules, json_t *results, json_t *artifacts)
{
    json_t *tool = json_pack("{s:{s:s, s:s, s:o}}", "driver", "name", "heddle", "version", HD_VERSION, "rules", rules);
    json_t *run = json_pack("{s:o, s:s, s:o}", "tool", tool, "columnKind", "utf16CodeUnits", "results", results);
    if (artifacts)
        json_object_set_new(run, "artifacts", artifacts);
    write_json(writer, json_pack("{s:s, s:s, s:[o]}", "$schema", "https://json.schemastore.org/sarif-2.1.0.json",
                                 "version", "2.1.0", "runs", run));
}

void hd_emit_diagnostics_sarif(hd_writer *writer, const hd_diagnostics *diagnostics)
{
    int index_of_kind[HD_DIAGNOSTIC_COUNT] = {0};
    json_t *rules = json_array(), *results = json_array();
    for (const hd_diagnostic *d = diagnostics->first; d; d = d->next) {
        int rule = hd_sarif_rule(rules, index_of_kind, d->kind);
        json_array_append_new(results, sarif_result(d, rule));
    }
    hd_sarif_write(writer, rules, results, NULL);
}
