/* Diagnostics as text; the other formats are in diagnostics_json.c. Linear in what is shown, whatever the length of
 * the line: only a window of it is looked at. */
#include "emitters/diagnostics.h"

#include "emitters/diagnostics_json.h"

enum {
    TAB_COLUMNS = 8,
    WINDOW_BEFORE_BYTES = 60, /* shown before the caret where the line is longer than the window */
    WINDOW_BYTES = 110
};

typedef struct style {
    const char *strong, *severity[3], *caret, *off;
} style;

static const style plain = {"", {"", "", ""}, "", ""};
static const style coloured = {"\33[1m", {"\33[1;36m", "\33[1;35m", "\33[1;31m"}, "\33[1;32m", "\33[0m"};
static const char *const severity_names[] = {[HD_NOTE] = "note", [HD_WARNING] = "warning", [HD_ERROR] = "error"};

/* How many columns the byte takes when it is shown from the given column (0 = first) on. */
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

/* The part of the line that is shown: all of a short one, else a window around the place. */
static hd_span window_of(hd_span line, uint32_t place)
{
    if (line.end - line.begin <= WINDOW_BYTES)
        return line;
    uint32_t begin = place - line.begin > WINDOW_BEFORE_BYTES ? place - WINDOW_BEFORE_BYTES : line.begin;
    if (line.end - begin < WINDOW_BYTES)
        begin = line.end - WINDOW_BYTES;
    return (hd_span){begin, begin + WINDOW_BYTES};
}

/* The source line with the span marked under it. */
static void write_excerpt(hd_writer *writer, hd_source *source, hd_span span, const style *s)
{
    hd_position position = hd_source_position(source, span.begin);
    hd_span line = hd_source_line(source, position.line);
    uint32_t place = span.begin < line.end ? span.begin : line.end;
    uint32_t end = span.end < line.end ? span.end : line.end;
    hd_span shown = window_of(line, place);
    const char *before = shown.begin > line.begin ? "..." : "";
    uint32_t column = (uint32_t)strlen(before), caret = column, marked = 1;

    hd_write_format(writer, "%5u | %s", position.line, before);
    for (uint32_t i = shown.begin; i < shown.end; i++) {
        if (i == place)
            caret = column;
        column = write_byte(writer, (unsigned char)source->text[i], column);
        if (i >= place && i < end)
            marked = column - caret;
    }
    if (place >= shown.end)
        caret = column;
    hd_write_format(writer, "%s\n      | %*s%s^", shown.end < line.end ? "..." : "", (int)caret, "", s->caret);
    for (uint32_t i = 1; i < marked; i++)
        hd_write_char(writer, '~');
    hd_write_format(writer, "%s\n", s->off);
}

/* The severity and the message, behind the place; `slug`: NULL for a note. */
static void write_message(hd_writer *writer, hd_severity severity, const char *message, const char *slug,
                          const style *s)
{
    hd_write_format(writer, "%s%s%s:%s %s", s->off, s->severity[severity], severity_names[severity], s->off, s->strong);
    hd_write_string(writer, message);
    hd_write_string(writer, s->off);
    if (slug)
        hd_write_format(writer, " [%s]", slug);
    hd_write_char(writer, '\n');
}

static void write_one(hd_writer *writer, hd_source *source, hd_span span, hd_severity severity, const char *message,
                      const char *slug, const style *s)
{
    hd_write_string(writer, s->strong);
    if (source) {
        hd_position position = hd_source_position(source, span.begin);
        hd_write_format(writer, "%s:%u:%u: ", source->name, position.line, position.column);
    } else {
        hd_write_string(writer, "heddle: ");
    }
    write_message(writer, severity, message, slug, s);
    if (source && source->length)
        write_excerpt(writer, source, span, s);
}

static void write_diagnostic(hd_writer *writer, const hd_diagnostic *d, const style *s)
{
    const char *slug = hd_diagnostic_slug(d->kind);
    if (d->about_file) {
        hd_write_format(writer, "%s%s: ", s->strong, d->source->name);
        write_message(writer, d->severity, d->message, slug, s);
    } else {
        write_one(writer, d->source, d->span, d->severity, d->message, slug, s);
    }
}

static void write_dropped(hd_writer *writer, const hd_diagnostics *diagnostics)
{
    uint32_t errors = diagnostics->errors_dropped, warnings = diagnostics->warnings_dropped;
    if (errors)
        hd_write_format(writer, "heddle: %u more error%s not shown\n", errors, errors == 1 ? "" : "s");
    if (warnings)
        hd_write_format(writer, "heddle: %u more warning%s not shown\n", warnings, warnings == 1 ? "" : "s");
}

static void emit_text(hd_writer *writer, const hd_diagnostics *diagnostics, const style *s)
{
    for (const hd_diagnostic *d = diagnostics->first; d; d = d->next) {
        write_diagnostic(writer, d, s);
        for (const hd_note *note = d->notes; note; note = note->next)
            write_one(writer, note->source, note->span, HD_NOTE, note->message, NULL, s);
    }
    write_dropped(writer, diagnostics);
}

void hd_emit_diagnostics(hd_writer *writer, const hd_diagnostics *diagnostics, hd_diagnostics_format format,
                         bool colour)
{
    switch (format) {
    case HD_DIAGNOSTICS_TEXT: emit_text(writer, diagnostics, colour ? &coloured : &plain); break;
    case HD_DIAGNOSTICS_JSON: hd_emit_diagnostics_json(writer, diagnostics); break;
    case HD_DIAGNOSTICS_SARIF: hd_emit_diagnostics_sarif(writer, diagnostics); break;
    }
}
