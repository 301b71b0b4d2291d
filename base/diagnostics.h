/* Diagnostics: what is wrong in the user's input, where, and how to go on.
 *
 * Every kind occurs once in base/diagnostics.def with its stable slug and default severity. A diagnostic has a place in
 * a source, a message and any number of notes. They are collected, never printed by the library: the program renders
 * them as text (with source line and caret), JSON or SARIF.
 */
#ifndef HD_BASE_DIAGNOSTICS_H
#define HD_BASE_DIAGNOSTICS_H

#include "base/source.h"
#include <stdarg.h>

typedef enum hd_severity { HD_NOTE, HD_WARNING, HD_ERROR } hd_severity;

typedef enum hd_diagnostic_kind {
#define HD_DIAGNOSTIC(id, slug, severity, summary) HD_DIAG_##id,
#include "base/diagnostics.def"
#undef HD_DIAGNOSTIC
    HD_DIAGNOSTIC_COUNT
} hd_diagnostic_kind;

const char *hd_diagnostic_slug(hd_diagnostic_kind kind);
const char *hd_diagnostic_summary(hd_diagnostic_kind kind);
uint8_t hd_diagnostic_default(hd_diagnostic_kind kind); /* hd_severity or HD_SILENT: what no -W changes */
int hd_diagnostic_from_slug(const char *slug);          /* -1 where unknown */

typedef struct hd_note {
    hd_source *source; /* NULL: no place */
    hd_span span;
    const char *message;
    struct hd_note *next;
} hd_note;

typedef struct hd_diagnostic {
    hd_diagnostic_kind kind;
    hd_severity severity; /* after -W options */
    hd_source *source;    /* NULL: about no file */
    hd_span span;
    bool about_file; /* the whole source, whatever the span: no line is shown */
    const char *message;
    hd_note *notes; /* in order of adding */
    struct hd_diagnostic *next;
} hd_diagnostic;

typedef struct hd_diagnostics {
    hd_arena arena;
    hd_diagnostic *first, *last;
    uint32_t error_count, warning_count; /* all that were reported, kept or not */
    uint32_t error_limit;                /* keep at most this many errors, and as many warnings (default 20; 0 = all) */
    uint8_t severity[HD_DIAGNOSTIC_COUNT]; /* hd_severity, or HD_SILENT */
    bool warnings_are_errors;
    struct hd_owned_source *owned; /* texts of hd_diagnostics_source */
} hd_diagnostics;
enum { HD_SILENT = 0xff, HD_WARNING_ALWAYS = 0xfe /* a warning even where warnings are errors */ };

void hd_diagnostics_init(hd_diagnostics *diagnostics);
/* The same limit and severities as `whole`, for a part of the work that is done in parallel with others. */
void hd_diagnostics_init_part(hd_diagnostics *part, const hd_diagnostics *whole);
void hd_diagnostics_free(hd_diagnostics *diagnostics);

/* "error", "no-error", "error=SLUG", "no-error=SLUG", "no-SLUG", "SLUG" (what follows -W). false: no such slug, or one
 * that is an error by default and so can be neither silenced nor made a warning. */
bool hd_diagnostics_option(hd_diagnostics *diagnostics, const char *option);

/* Adds one; the message is formatted into the arena. Returns it so that notes can follow, or NULL where it is silent or
 * over the limit (hd_note_add takes NULL). */
hd_diagnostic *hd_report(hd_diagnostics *diagnostics, hd_diagnostic_kind kind, hd_source *source, hd_span span,
                         const char *format, ...) __attribute__((format(printf, 5, 6)));
void hd_note_add(hd_diagnostics *diagnostics, hd_diagnostic *diagnostic, hd_source *source, hd_span span,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* A copy of a short text (an option's value) that diagnostics can point into; it lives as long as they do. */
hd_source *hd_diagnostics_source(hd_diagnostics *diagnostics, const char *name, const char *text);

/* Reports again in `into` what `from` holds, in order, under `into`'s limits and severities. */
void hd_diagnostics_merge(hd_diagnostics *into, const hd_diagnostics *from);
/* The same of a part; `whole` is then as if all had been reported there, in the order of joining. Texts that the part
 * owns must live as long as `whole`. */
void hd_diagnostics_join(hd_diagnostics *whole, const hd_diagnostics *part);

/* True once as many errors as are kept have been reported: parsing may stop. */
bool hd_diagnostics_full(const hd_diagnostics *diagnostics);

#endif
