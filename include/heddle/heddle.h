/* heddle as a library: rewrite, strip, check, report and replay, as the program of that name does them.
 *
 *     hd_context *context = hd_context_new();
 *     hd_input input = {.name = "kernel.ptx"};                        a file; with .text and .length a text in memory
 *     hd_rewrite_settings settings = {.passes = "bow(iw=3)"};
 *     hd_text out;
 *     if (hd_context_rewrite(context, &input, &settings, &out) == HD_OUTCOME_DONE)
 *         fwrite(out.bytes, 1, out.length, stdout);
 *     for (size_t i = 0; i < hd_context_message_count(context); i++) {
 *         hd_message m = hd_context_message(context, i);
 *         fprintf(stderr, "%s:%u:%u: %s [%s]\n", m.file, m.line, m.column, m.text, m.slug);
 *     }
 *     hd_text_free(&out);
 *     hd_context_free(context);
 *
 * A context carries the settings that all jobs share and the messages of the last job. Each job reads its input anew. A
 * context is used by one thread at a time; different contexts are independent. The library prints nothing, changes no
 * global state, and ends the process only where the system has no memory left.
 *
 * Structures of settings are zeroed first: a member that is 0 or NULL has its default, so that members can be added.
 * All texts given to the library may go once the call has returned. Link with -lheddle -lxxhash -ljansson -lyaml
 * -liberty -lm -pthread.
 */
#ifndef HEDDLE_HEDDLE_H
#define HEDDLE_HEDDLE_H

#include "heddle/replay_result.h"
#include "heddle/report_result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a job ended: the program's exit statuses. */
typedef enum hd_outcome {
    HD_OUTCOME_DONE = 0,
    HD_OUTCOME_REJECTED = 1,  /* an input is wrong or cannot be read */
    HD_OUTCOME_USAGE = 2,     /* a setting is wrong: no such pass, no such technique */
    HD_OUTCOME_WRONG = 3,     /* verification failed: wrong results, a broken proof, an unsound annotation */
    HD_OUTCOME_INTERNAL = 4,  /* a bug in heddle */
    HD_OUTCOME_FAULT = 5,     /* the kernel itself failed in the model */
    HD_OUTCOME_UNDECIDED = 6, /* an instruction that the model does not run */
} hd_outcome;

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

typedef struct hd_context hd_context;

/* A new context with the default settings; never NULL. Free it with hd_context_free(). */
hd_context *hd_context_new(void);

/* Frees the context and its messages; NULL is taken. Texts made by its jobs stay. */
void hd_context_free(hd_context *context);

/* Unknown opcodes and modifiers are errors in the jobs that follow (default: warnings, and they are kept verbatim). */
void hd_context_set_strict(hd_context *context, bool strict);

/* Annotations of functions that have changed since they were annotated are dropped with a warning in the jobs that
 * follow (default: an error). */
void hd_context_set_drop_stale(hd_context *context, bool drop_stale);

/* Treats warnings so in the jobs that follow; `what` is the argument of the program's -W: "error", "no-error",
 * "error=SLUG", "no-error=SLUG", "no-SLUG", "SLUG". false, with nothing changed, where there is no such slug, or it is
 * an error by default. */
bool hd_context_set_warning(hd_context *context, const char *what);

/* ---- messages ---------------------------------------------------------------------------------------------------- */

typedef enum hd_message_severity { HD_MESSAGE_NOTE, HD_MESSAGE_WARNING, HD_MESSAGE_ERROR } hd_message_severity;

/* A diagnostic, or a note to the message before it. Its texts belong to the context, until its next job. */
typedef struct hd_message {
    hd_message_severity severity;
    const char *slug;      /* its stable name, listed in heddle(1); a note has that of the message it belongs to */
    const char *text;      /* one line of English, without place and slug */
    const char *file;      /* NULL: about no file */
    uint32_t line, column; /* from 1, columns count bytes; 0 where there is no place */
    uint32_t end_line, end_column; /* behind its last byte */
} hd_message;

/* How many messages the last job left, notes included. */
size_t hd_context_message_count(const hd_context *context);

/* The message at that index, below hd_context_message_count(); in the order in which they were found. */
hd_message hd_context_message(const hd_context *context, size_t index);

/* How many errors the last job reported: 0 where it ended with HD_OUTCOME_DONE. */
size_t hd_context_error_count(const hd_context *context);

/* ---- inputs and outputs ------------------------------------------------------------------------------------------ */

/* A PTX module: a text in memory, or a file. */
typedef struct hd_input {
    const char *name; /* the file's path, "-": standard input; with a text: what messages call it (NULL: "<memory>") */
    const char *text; /* NULL: read the file */
    size_t length;    /* of the text, in bytes; less than 4 GiB */
} hd_input;

/* A text that a job made: `length` bytes and a NUL behind them. Free it with hd_text_free(). */
typedef struct hd_text {
    char *bytes; /* NULL where the job made none */
    size_t length;
} hd_text;

/* Frees what a job made, and empties it. */
void hd_text_free(hd_text *text);

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

typedef struct hd_rewrite_settings {
    const char *passes; /* as the program's -p takes them: "bow(iw=3)"; NULL: none, and the output is the input */
    const char *kernel; /* only functions whose name matches this glob (none: REJECTED); NULL: all */
    uint32_t threads;   /* 0: one for each processor; the output does not depend on it */
    bool extended;      /* annotations in the extended spelling */
    bool canonical;     /* everything anew instead of copied from the input's text */
    bool no_section;    /* comments only */
    /* whose limits passes count with: a name ("sm_80") or a file; NULL: that of the module's target */
    const char *gpu;
    uint32_t block; /* threads of a CTA, for the same; 0: what the kernel asks for, else 256 */
} hd_rewrite_settings;

/* Runs passes over a module and writes it again, as heddle-rewrite(1) says. `settings` may be NULL. Where the outcome
 * is not DONE, *out is empty. */
hd_outcome hd_context_rewrite(hd_context *context, const hd_input *input, const hd_rewrite_settings *settings,
                              hd_text *out);

/* Takes heddle's annotations out of a module, as heddle-strip(1) says. Where the outcome is not DONE, *out is empty. */
hd_outcome hd_context_strip(hd_context *context, const hd_input *input, hd_text *out);

/* Verifies a module's annotations statically, as heddle-check(1) says: WRONG where one is refuted. `kernel` is a glob
 * over function names, or NULL; `annotations`, where not NULL, gets the number of those that were looked at. */
hd_outcome hd_context_check(hd_context *context, const hd_input *input, const char *kernel, uint64_t *annotations);

typedef enum hd_report_format { HD_FORMAT_JSON, HD_FORMAT_TEXT, HD_FORMAT_HTML, HD_FORMAT_SARIF } hd_report_format;

typedef struct hd_report_settings {
    const char *gpu;       /* a name ("sm_80") or a file; NULL: that of the module's target */
    const char *kernel;    /* only functions whose name matches this glob (none: REJECTED); NULL: all */
    const char *require;   /* gates: "registers<=96,occupancy>=50%"; NULL: none */
    const char *ptxas;     /* path of ptxas, "": look for it; NULL: it is not asked */
    uint32_t block;        /* threads of a CTA; 0: what the kernel asks for, else 256 */
    uint32_t shared_bytes; /* dynamic shared memory of a CTA */
    /* launches give so much; else it is not known: occupancy is an upper bound where it counts */
    bool shared_known;
    uint32_t max_registers; /* of a thread; 0: no limit */
    uint32_t threads;       /* 0: one for each processor; the report does not depend on it */
    hd_report_format format;
    bool listing;  /* each instruction as well; JSON and text */
    bool no_clean; /* the PTX as it is written */
    bool no_demangle;
} hd_report_settings;

/* Finds what each kernel of a module needs, as heddle-report(1) says, and gives the results as data. `settings` may be
 * NULL; their format and listing count for nothing. Where the outcome is not DONE, *report is NULL; but where only
 * gates are not met (REJECTED), it is there. The results belong to the context, until its next job. */
hd_outcome hd_context_report_results(hd_context *context, const hd_input *input, const hd_report_settings *settings,
                                     const hd_report_module **report);

/* The same as a text, in the format asked for; empty where there are no results. HTML comes without source texts. */
hd_outcome hd_context_report(hd_context *context, const hd_input *input, const hd_report_settings *settings,
                             hd_text *report);

typedef struct hd_replay_settings {
    const char *gpu;        /* a name or a file; NULL: the default */
    const char *techniques; /* separated by commas; NULL: all */
    bool all_models;        /* of a technique, not its standard configurations alone */
    uint32_t threads;       /* 0: one for each processor; the report does not depend on it */
    bool text;              /* the report as a table instead of JSON */
    bool counters;          /* the table with what each model counted */
    bool keep_virtual;      /* replay PTX's own registers, instead of cleaning up and allocating first */
    uint32_t max_registers; /* allocate at most so many; 0: no limit but .maxnreg */
} hd_replay_settings;

/* Runs launch files in the hardware model, as heddle-replay(1) says, and gives the results as data, in *report,
 * whatever the outcome; NULL where a setting is wrong. They belong to the context, until its next job. */
hd_outcome hd_context_replay_results(hd_context *context, const char *const *launch_files, size_t count,
                                     const hd_replay_settings *settings, const hd_replay_report **report);

/* The same as a text: JSON, or a table. `settings` may be NULL. The report is there whatever the outcome, except where
 * a setting is wrong; it holds what ran. The outcome is that of the first file that was not DONE. */
hd_outcome hd_context_replay(hd_context *context, const char *const *launch_files, size_t count,
                             const hd_replay_settings *settings, hd_text *report);

/* The library's version: "0.1.0". */
const char *hd_version(void);

#ifdef __cplusplus
}
#endif

#endif
