/* Diagnostics: errors and warnings about the user's input.
 *
 * base/diagnostics.def lists every kind with its stable slug and default severity. A diagnostic has a source location,
 * a message and any number of notes. The library collects diagnostics and prints none; the program renders them as text
 * (with source line and caret), JSON or SARIF.
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
uint8_t hd_diagnostic_default(hd_diagnostic_kind kind); /* hd_severity or HD_SILENT: the default without -W options */
bool hd_diagnostic_is_about_code(hd_diagnostic_kind kind); /* shown at its source line first, where that is known */
int hd_diagnostic_from_slug(const char *slug);             /* -1 if unknown */

typedef struct hd_note {
    hd_source *source; /* NULL: no location */
    hd_span span;
    const char *message;
    struct hd_note *next;
} hd_note;

typedef struct hd_diagnostic {
    hd_diagnostic_kind kind;
    uint32_t detail;      /* finer than the kind, in terms of the reporting component; 0: none */
    hd_severity severity; /* after -W options */
    hd_source *source;    /* NULL: concerns no file */
    hd_span span;
    bool about_file; /* concerns the whole source whatever the span; no line is shown */
    const char *message;
    hd_note *notes; /* in the order they were added */
    struct hd_diagnostic *next;
} hd_diagnostic;

typedef struct hd_diagnostics {
    hd_arena arena;
    hd_diagnostic *first, *last;
    uint32_t error_count, warning_count;       /* all that were reported, including dropped ones */
    uint32_t errors_dropped, warnings_dropped; /* of these, over the limit */
    uint32_t error_limit; /* keep at most this many errors, and as many warnings (default 20; 0 = all) */
    uint8_t severity[HD_DIAGNOSTIC_COUNT]; /* hd_severity, or HD_SILENT */
    bool warnings_are_errors;
    struct hd_owned_source *owned; /* texts created by hd_diagnostics_source */
} hd_diagnostics;
enum { HD_SILENT = 0xff, HD_WARNING_ALWAYS = 0xfe /* a warning even with -Werror */ };

void hd_diagnostics_init(hd_diagnostics *diagnostics);
/* Initializes `part` with the limit and severities of `whole`, for work done in parallel; see hd_diagnostics_join(). */
void hd_diagnostics_init_part(hd_diagnostics *part, const hd_diagnostics *whole);
void hd_diagnostics_free(hd_diagnostics *diagnostics);

/* Applies a -W option: "error", "no-error", "error=SLUG", "no-error=SLUG", "no-SLUG" or "SLUG". Returns false if there
 * is no such slug, or if it is an error by default, which can be neither silenced nor made a warning. */
bool hd_diagnostics_option(hd_diagnostics *diagnostics, const char *option);

/* Adds a diagnostic; the message is formatted into the arena. Returns it so that notes can be added, or NULL if it is
 * silenced or over the limit (hd_note_add() accepts NULL). */
hd_diagnostic *hd_report(hd_diagnostics *diagnostics, hd_diagnostic_kind kind, hd_source *source, hd_span span,
                         const char *format, ...) __attribute__((format(printf, 5, 6)));
void hd_note_add(hd_diagnostics *diagnostics, hd_diagnostic *diagnostic, hd_source *source, hd_span span,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* A copy of a short text (such as the value of an option) that diagnostics can refer to; it lives as long as they
 * do. */
hd_source *hd_diagnostics_source(hd_diagnostics *diagnostics, const char *name, const char *text);

/* Reports the diagnostics of `from` in `into`, in order, under the limits and severities of `into`. */
void hd_diagnostics_merge(hd_diagnostics *into, const hd_diagnostics *from);
/* Appends those of a part (hd_diagnostics_init_part). `whole` is then as if everything had been reported there in the
 * order of joining. Sources that the part owns must live as long as `whole`. */
void hd_diagnostics_join(hd_diagnostics *whole, const hd_diagnostics *part);
/* Appends those of another input, whose limit is its own: everything that it kept. */
void hd_diagnostics_join_input(hd_diagnostics *whole, const hd_diagnostics *part);

/* True when the limit of kept errors is reached: parsing may stop. */
bool hd_diagnostics_full(const hd_diagnostics *diagnostics);

#endif
