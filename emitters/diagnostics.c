/* Diagnostics as text; other formats are in diagnostics_json.c. Linear in the text shown, whatever the length of a
 * source line: only a window of it is processed. */
#include "emitters/diagnostics.h"

#include "base/origins.h"
#include "base/shown.h"
#include "emitters/diagnostics_json.h"

enum {
    TAB_COLUMNS = 8,
    WINDOW_BEFORE_BYTES = 60, /* bytes shown before the caret if the line is longer than the window */
    WINDOW_BYTES = 110
};

typedef struct style {
    const char *strong, *severity[3], *caret, *off;
} style;

static const style plain = {"", {"", "", ""}, "", ""};
static const style coloured = {"\33[1m", {"\33[1;36m", "\33[1;35m", "\33[1;31m"}, "\33[1;32m", "\33[0m"};
static const char *const severity_names[] = {[HD_NOTE] = "note", [HD_WARNING] = "warning", [HD_ERROR] = "error"};

/* Width of a byte when shown at the given column (0 = first). */
static uint32_t columns_of(unsigned char byte, uint32_t column)
{
    if (byte == '\t')
        return TAB_COLUMNS - column % TAB_COLUMNS;
    return byte >= ' ' && byte < 0x7f ? 1 : 4;
}

static uint32_t write_byte(hd_writer *writer, unsigned char byte, uint32_t column)
{
    uint32_t columns = columns_of(byte, column);
    if (byte == '\t')
        hd_write(writer, "        ", columns);
    else if (columns == 1)
        hd_write_char(writer, (char)byte);
    else
        hd_write_format(writer, "<%02X>", byte);
    return column + columns;
}

/* The part of the line that is shown: all of a short one, else a window around the location. */
static hd_span window_of(hd_span line, uint32_t at)
{
    if (line.end - line.begin <= WINDOW_BYTES)
        return line;
    uint32_t begin = at - line.begin > WINDOW_BEFORE_BYTES ? at - WINDOW_BEFORE_BYTES : line.begin;
    if (line.end - begin < WINDOW_BYTES)
        begin = line.end - WINDOW_BYTES;
    return (hd_span){begin, begin + WINDOW_BYTES};
}

/* The source line, with the span marked below it. */
static void write_excerpt(hd_writer *writer, hd_source *source, hd_span span, const style *s)
{
    hd_position position = hd_source_position(source, span.begin);
    hd_span line = hd_source_line(source, position.line);
    uint32_t at = hd_min(span.begin, line.end);
    uint32_t end = hd_min(span.end, line.end);
    hd_span shown = window_of(line, at);
    const char *before = shown.begin > line.begin ? "..." : "";
    uint32_t column = (uint32_t)strlen(before), caret = column, marked = 1;

    hd_write_format(writer, "%5u | %s", position.line, before);
    for (uint32_t i = shown.begin; i < shown.end; i++) {
        if (i == at)
            caret = column;
        column = write_byte(writer, (unsigned char)source->text[i], column);
        if (i >= at && i < end)
            marked = column - caret;
    }
    if (at >= shown.end)
        caret = column;
    hd_write_format(writer, "%s\n      | %*s%s^", shown.end < line.end ? "..." : "", (int)caret, "", s->caret);
    for (uint32_t i = 1; i < marked; i++)
        hd_write_char(writer, '~');
    hd_write_format(writer, "%s\n", s->off);
}

/* The source line without the span marked. */
static void write_line(hd_writer *writer, hd_source *source, uint32_t number)
{
    hd_span line = hd_source_line(source, number), shown = window_of(line, line.begin);
    uint32_t column = 0;
    hd_write_format(writer, "%5u | ", number);
    for (uint32_t i = shown.begin; i < shown.end; i++)
        column = write_byte(writer, (unsigned char)source->text[i], column);
    hd_write_string(writer, shown.end < line.end ? "...\n" : "\n");
}

/* The severity and the message, after the location; `slug`: NULL for a note. */
static void write_message(hd_writer *writer, hd_severity severity, const char *message, const char *slug,
                          const style *s)
{
    hd_write_format(writer, "%s%s%s:%s %s", s->off, s->severity[severity], severity_names[severity], s->off, s->strong);
    hd_write_shown_in_line(writer, message);
    hd_write_string(writer, s->off);
    if (slug)
        hd_write_format(writer, " [%s]", slug);
    hd_write_char(writer, '\n');
}

typedef struct printer {
    hd_writer *writer;
    const style *s;
    hd_source_files *files; /* or NULL */
} printer;

static void write_place(const printer *p, hd_source *source, hd_span span, hd_severity severity, const char *message,
                        const char *slug)
{
    hd_write_string(p->writer, p->s->strong);
    if (source) {
        hd_position position = hd_source_position(source, span.begin);
        hd_write_shown_in_line(p->writer, source->name);
        hd_write_format(p->writer, ":%u:%u: ", position.line, position.column);
    } else {
        hd_write_string(p->writer, "heddle: ");
    }
    write_message(p->writer, severity, message, slug, p->s);
    if (source && source->length)
        write_excerpt(p->writer, source, span, p->s);
}

/* The line of the source file; not marked if the column is unknown. */
static void write_origin_line(const printer *p, const hd_origin *origin, const hd_source *ptx)
{
    hd_source *source = p->files ? hd_source_files_find(p->files, origin->file, ptx->name) : NULL;
    hd_span line = source ? hd_source_line(source, origin->line) : (hd_span){0, 0};
    if (line.begin == line.end)
        return;
    uint32_t at = line.begin + (origin->column ? origin->column - 1 : 0);
    at = hd_min(at, line.end);
    if (origin->column)
        write_excerpt(p->writer, source, (hd_span){at, at + 1}, p->s);
    else
        write_line(p->writer, source, origin->line);
}

static void write_origin(const printer *p, const hd_origin *origin, const hd_source *ptx, hd_severity severity,
                         const char *message, const char *slug)
{
    hd_write_string(p->writer, p->s->strong);
    hd_write_shown_in_line(p->writer, origin->file);
    hd_write_format(p->writer, ":%u:", origin->line);
    if (origin->column)
        hd_write_format(p->writer, "%u:", origin->column);
    hd_write_char(p->writer, ' ');
    write_message(p->writer, severity, message, slug, p->s);
    write_origin_line(p, origin, ptx);
}

/* `about_code`: starts with the source line, then the calls at which it was inlined, then the PTX. */
static void write_one(const printer *p, hd_source *source, hd_span span, bool about_code, hd_severity severity,
                      const char *message, const char *slug)
{
    hd_origin origins[HD_MOST_INLINED];
    uint32_t count = about_code && source ? hd_source_origins(source, span.begin, origins) : 0;
    if (!count) {
        write_place(p, source, span, severity, message, slug);
        return;
    }
    write_origin(p, &origins[0], source, severity, message, slug);
    for (uint32_t i = 1; i < count; i++)
        write_origin(p, &origins[i], source, HD_NOTE, "inlined here", NULL);
    write_place(p, source, span, HD_NOTE, source->origins->in_listing ? "in the listing" : "in the PTX", NULL);
}

static void write_diagnostic(const printer *p, const hd_diagnostic *d)
{
    const char *slug = hd_diagnostic_slug(d->kind);
    bool about_code = hd_diagnostic_is_about_code(d->kind);
    if (d->about_file) {
        hd_write_string(p->writer, p->s->strong);
        hd_write_shown_in_line(p->writer, d->source->name);
        hd_write_string(p->writer, ": ");
        write_message(p->writer, d->severity, d->message, slug, p->s);
    } else {
        write_one(p, d->source, d->span, about_code, d->severity, d->message, slug);
    }
    for (const hd_note *note = d->notes; note; note = note->next)
        write_one(p, note->source, note->span, about_code, HD_NOTE, note->message, NULL);
}

static void write_dropped(hd_writer *writer, const hd_diagnostics *diagnostics)
{
    uint32_t errors = diagnostics->errors_dropped, warnings = diagnostics->warnings_dropped;
    if (errors)
        hd_write_format(writer, "heddle: %u more error%s not shown\n", errors, errors == 1 ? "" : "s");
    if (warnings)
        hd_write_format(writer, "heddle: %u more warning%s not shown\n", warnings, warnings == 1 ? "" : "s");
}

static void emit_text(const printer *p, const hd_diagnostics *diagnostics)
{
    for (const hd_diagnostic *d = diagnostics->first; d; d = d->next)
        write_diagnostic(p, d);
    write_dropped(p->writer, diagnostics);
}

void hd_emit_diagnostics(hd_writer *writer, const hd_diagnostics *diagnostics, hd_diagnostics_format format,
                         bool colour, hd_source_files *files)
{
    const printer p = {writer, colour ? &coloured : &plain, files};
    switch (format) {
    case HD_DIAGNOSTICS_TEXT: emit_text(&p, diagnostics); break;
    case HD_DIAGNOSTICS_JSON: hd_emit_diagnostics_json(writer, diagnostics); break;
    case HD_DIAGNOSTICS_SARIF: hd_emit_diagnostics_sarif(writer, diagnostics); break;
    }
}
