/* heddle as a library: rewrite, strip, check, report, diff and replay, as the program `heddle` performs them.
 *
 *     hd_context *context = hd_context_new();
 *     hd_input input = {.name = "kernel.ptx"};                  a file; with .text and .length, a text in memory
 *     hd_rewrite_settings settings = {.size = sizeof settings, .passes = "bow(iw=3)"};
 *     hd_text out;
 *     if (hd_context_rewrite(context, &input, &settings, &out) == HD_STATUS_DONE)
 *         fwrite(out.bytes, 1, out.length, stdout);
 *     for (size_t i = 0; i < hd_context_message_count(context); i++) {
 *         hd_message m = hd_context_message(context, i);
 *         fprintf(stderr, "%s:%u:%u: %s [%s]\n", m.file, m.line, m.column, m.text, m.slug);
 *     }
 *     hd_text_free(&out);
 *     hd_context_free(context);
 *
 * A context holds the settings that apply to all jobs, and the messages of the last job. Each job reads its input
 * again; heddle/ir.h has modules that are read once, with their instructions as data. A context may be used by one
 * thread at a time; different contexts are independent. The library prints nothing, changes no global state, and ends
 * the process only when the system is out of memory.
 *
 * A settings structure begins with its size. Zero-initialize its other members: one that is 0 or NULL has its default
 * value, and another number must be one that the program's option takes. Later versions add members at the end, and
 * take the shorter structure of a program that was compiled for an earlier one; a longer one is taken as far as what
 * this version does not know is zero. Otherwise, and where the size is 0, the job ends with HD_STATUS_USAGE. A pointer
 * to settings may be NULL: all defaults. Strings passed to the library may be freed when the call returns. Link with
 * -lheddle; with the static library, also with -lxxhash -ljansson -lyaml -lzstd -llz4 -llzma -liberty -lm -pthread.
 */
#ifndef HEDDLE_HEDDLE_H
#define HEDDLE_HEDDLE_H

#include "heddle/diff_result.h"
#include "heddle/replay_event.h"
#include "heddle/replay_result.h"
#include "heddle/report_result.h"
#include "heddle/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

typedef struct hd_context hd_context;

/* A new context with the default settings; never NULL. Free it with hd_context_free(). */
hd_context *hd_context_new(void);

/* Frees the context and its messages. NULL is allowed. Texts returned by its jobs stay valid. */
void hd_context_free(hd_context *context);

/* Whether unknown opcodes and modifiers are errors in later jobs. Default: they are warnings, and are kept verbatim. */
void hd_context_set_strict(hd_context *context, bool strict);

/* Whether stale annotations (the function has changed since) are dropped with a warning in later jobs. Default: they
 * are an error. */
void hd_context_set_drop_stale(hd_context *context, bool drop_stale);

/* Sets how later jobs treat a warning. `what` is the argument of the program's -W option: "error", "no-error",
 * "error=SLUG", "no-error=SLUG", "no-SLUG" or "SLUG". Returns false and changes nothing if there is no such slug, or if
 * it is an error by default. */
bool hd_context_set_warning(hd_context *context, const char *what);

/* Gives a file to later jobs, with a copy of `length` bytes: where a job reads a file of that name, it gets these. So
 * launch files, GPU descriptions (a name that ends in .yaml), modules, the data of buffers, and source files may be in
 * memory. Names that a launch file gives without a leading slash begin at the folder of its own name, and are compared
 * as texts: "data/a.bin" of "run/launch.yaml" is "run/data/a.bin". A later file of the same name takes the place of an
 * earlier one. */
void hd_context_add_file(hd_context *context, const char *name, const void *bytes, size_t length);

/* Later jobs find none of these files. */
void hd_context_drop_files(hd_context *context);

/* Whether later jobs read only these files: another one that an input names cannot be read, as its message says.
 * Default: they are searched for on disk. Descriptions of GPUs that are built in can always be used. */
void hd_context_set_only_files(hd_context *context, bool only);

/* ---- messages ---------------------------------------------------------------------------------------------------- */

typedef enum hd_message_severity { HD_MESSAGE_NOTE, HD_MESSAGE_WARNING, HD_MESSAGE_ERROR } hd_message_severity;

/* A diagnostic, or a note that belongs to the diagnostic before it. Strings belong to the context and are valid until
 * its next job. */
typedef struct hd_message {
    hd_message_severity severity;
    const char *slug;              /* stable name, listed in heddle(1); a note has the slug of its diagnostic */
    const char *text;              /* one line of English, without location and slug */
    const char *file;              /* NULL: the message concerns no file */
    uint32_t line, column;         /* 1-based; columns count bytes; 0: the message has no location */
    uint32_t end_line, end_column; /* just after the last byte */
} hd_message;

/* The number of messages of the last job, including notes. */
size_t hd_context_message_count(const hd_context *context);

/* The message at `index`, which is below hd_context_message_count(). Messages are in the order of discovery. */
hd_message hd_context_message(const hd_context *context, size_t index);

/* The number of errors that the last job reported; 0 if it ended with HD_STATUS_DONE. */
size_t hd_context_error_count(const hd_context *context);

/* Called for each message, in the order of discovery, at the end of the job that reported it and in its thread; the
 * messages can still be read after the job. It calls nothing of the context. NULL: nothing is called. */
void hd_context_set_message_handler(hd_context *context, void (*handler)(void *user, const hd_message *message),
                                    void *user);

/* ---- inputs and outputs ------------------------------------------------------------------------------------------ */

/* A PTX module: a text in memory, or a file. */
typedef struct hd_input {
    const char *name; /* the file's path; "-": standard input. With `text`: the name in messages (NULL: "<memory>") */
    const char *text; /* NULL: read the file `name` */
    size_t length;    /* length of `text` in bytes; less than 4 GiB */
} hd_input;

/* A text produced by a job: `length` bytes, followed by a NUL. Free it with hd_text_free(). */
typedef struct hd_text {
    char *bytes; /* NULL: the job produced none */
    size_t length;
} hd_text;

/* Frees the bytes of *text and sets it to empty. */
void hd_text_free(hd_text *text);

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

typedef struct hd_rewrite_settings {
    size_t size;        /* sizeof(hd_rewrite_settings) */
    const char *passes; /* as the program's -p option: "bow(iw=3)"; NULL: no pass, and the output equals the input */
    const char *kernel; /* glob; only functions whose name matches it (no match: REJECTED); NULL: all functions */
    uint32_t threads;   /* 0: one per processor; the output does not depend on it */
    bool extended;      /* write annotations in the extended spelling */
    bool canonical;     /* print every statement from the IR instead of copying unchanged ones from the input */
    bool no_section;    /* write annotations as comments only */
    /* name ("sm_80") or file of the GPU whose limits passes use; NULL: the GPU of the module's target */
    const char *gpu;
    uint32_t block; /* threads per block for occupancy; 0: the kernel's directive, else 256 */
} hd_rewrite_settings;

/* Runs passes over a module and prints the result; see heddle-rewrite(1). `settings` may be NULL. *out is empty unless
 * the outcome is DONE. */
hd_status hd_context_rewrite(hd_context *context, const hd_input *input, const hd_rewrite_settings *settings,
                             hd_text *out);

/* Removes heddle's annotations from a module; see heddle-strip(1). *out is empty unless the outcome is DONE. */
hd_status hd_context_strip(hd_context *context, const hd_input *input, hd_text *out);

/* Verifies a module's annotations statically; see heddle-check(1). The outcome is WRONG if one is refuted. `kernel` is
 * a glob over function names, or NULL. *annotations, if not NULL, receives the number of annotations checked. */
hd_status hd_context_check(hd_context *context, const hd_input *input, const char *kernel, uint64_t *annotations);

typedef enum hd_report_format { HD_FORMAT_JSON, HD_FORMAT_TEXT, HD_FORMAT_HTML, HD_FORMAT_SARIF } hd_report_format;

typedef struct hd_report_settings {
    size_t size;           /* sizeof(hd_report_settings) */
    const char *gpu;       /* name ("sm_80") or file; NULL: the GPU of the module's target */
    const char *kernel;    /* glob; only functions whose name matches it (no match: REJECTED); NULL: all functions */
    const char *require;   /* gates: "registers<=96,occupancy>=50%"; NULL: none */
    const char *ptxas;     /* path of ptxas; "": search for it; NULL: do not run it */
    uint32_t block;        /* threads per block; 0: the kernel's directive, else 256 */
    uint32_t shared_bytes; /* dynamic shared memory per block */
    /* launches use exactly `shared_bytes`; false: unknown, so occupancy is an upper bound where shared memory
     * matters */
    bool shared_known;
    uint32_t max_registers; /* registers per thread; 0: no limit */
    uint32_t threads;       /* 0: one per processor; the report does not depend on it */
    hd_report_format format;
    bool listing;  /* include each instruction; JSON and text only */
    bool no_clean; /* report on the PTX as written, without simplification passes */
    bool no_demangle;
} hd_report_settings;

/* Reports the resources that each kernel of a module needs (see heddle-report(1)), as data. `settings` may be NULL; its
 * format and listing are ignored. *report is NULL unless the outcome is DONE, or REJECTED only because a gate is not
 * met. The results belong to the context and are valid until its next job. */
hd_status hd_context_report_results(hd_context *context, const hd_input *input, const hd_report_settings *settings,
                                    const hd_report_module **report);

/* The same as a text in the requested format; empty if there are no results. HTML does not include source text. */
hd_status hd_context_report(hd_context *context, const hd_input *input, const hd_report_settings *settings,
                            hd_text *report);

/* Compares two sides, kernel by kernel, as heddle-diff(1) says, and gives the results as data. Each side is PTX, which
 * is reported on as `settings` (may be NULL) say, or a report as JSON. `settings->kernel` is a glob over names of
 * either side, `settings->require` has gates on changes. Where the outcome is not DONE, *diff is NULL; but where only
 * gates are not met (REJECTED), it is there. The results belong to the context, until its next job. */
hd_status hd_context_diff_results(hd_context *context, const hd_input *before, const hd_input *after,
                                  const hd_report_settings *settings, const hd_diff **diff);

/* The same as a text: a table where settings->format is HD_FORMAT_TEXT, else JSON. Empty where there are no results. */
hd_status hd_context_diff(hd_context *context, const hd_input *before, const hd_input *after,
                          const hd_report_settings *settings, hd_text *text);

typedef enum hd_replay_format {
    HD_REPLAY_JSON,
    HD_REPLAY_TEXT, /* a table */
    HD_REPLAY_CSV,
    HD_REPLAY_HTML,     /* a self-contained page */
    HD_REPLAY_TIMELINE, /* what an SM did in each cycle, as Chrome trace events in JSON; with `timeline_end` */
} hd_replay_format;

typedef struct hd_replay_settings {
    size_t size;                   /* sizeof(hd_replay_settings) */
    const char *gpu;               /* name or file; NULL: the default GPU */
    const char *const *gpu_values; /* changes to its description: "timing.core.collectors=8" */
    size_t gpu_value_count;
    const char *techniques; /* comma-separated; NULL: all */
    bool all_models;        /* all models of each technique, not only its standard configurations */
    uint32_t threads;       /* 0: one per processor; the report does not depend on it */
    hd_replay_format format;
    bool counters;          /* add each model's counters to the table */
    bool keep_virtual;      /* replay PTX's virtual registers instead of simplifying and allocating first */
    uint32_t max_registers; /* register limit of the allocation, per thread; 0: no limit except .maxnreg */
    bool time;              /* simulate cycles, too; the GPU's description needs a section `timing` */
    uint32_t sms;           /* with `time`: number of simulated SMs; 0: as many as the GPU has */
    /* with `time`: of each launch, measure so many waves of thread blocks, 4 or more, and extrapolate; 0: time all */
    uint32_t sample;
    /* with `time`: the timeline of that SM, of cycles `timeline_first` to `timeline_end` - 1 of each launch; end 0:
     * none */
    uint32_t timeline_sm;
    uint64_t timeline_first, timeline_end;
    /* what runs of a module in PTX: "ptx", "machine", the machine code that ptxas makes of it, or "auto", machine code
     * with `time` on a GPU of sm_75 and later; NULL: as the launch file says, else the PTX */
    const char *code;
    bool no_cache; /* do not keep what ptxas makes in the cache (heddle-cache(1)), nor take it from there */
    bool profile;  /* with `time`: a profile of the baseline, by instruction and source line (JSON, text and HTML) */
    /* in which thread blocks start, and buffers lie in memory: "linear" (NULL), "reverse", "random", "random:SEED" */
    const char *block_order, *buffer_order;
    uint32_t seed; /* changes the seeds of random fills; what the files expect is then not compared; 0: as written */
    /* Called for what happens while it runs (replay_event.h): for events of the mask, 1 << HD_REPLAY_ISSUE and so on,
     * 0: all, of a model, NULL: the baseline. Calls come from threads of the library, of this and `progress` never two
     * at a time; those of one launch file in its order. A call that returns other than 0 cancels the replay. */
    int (*event)(void *user, const hd_replay_event *event);
    uint32_t events;
    const char *event_model;
    /* Called at the begin, at the end and several times a second in between, with the share that is done, 0 to 1. A
     * call that returns other than 0 cancels the replay. */
    int (*progress)(void *user, double done);
    void *user; /* of both */
} hd_replay_settings;

/* Runs launch files, or plays traces, in the hardware model (see heddle-replay(1), heddle-trace(5)) and returns the
 * results as data. *report is set whatever the outcome, but NULL if a setting is invalid, or where the program has
 * cancelled the replay (HD_STATUS_CANCELLED). It belongs to the context and is valid until its next job. */
hd_status hd_context_replay_results(hd_context *context, const char *const *launch_files, size_t count,
                                    const hd_replay_settings *settings, const hd_replay_report **report);

/* The same, as a text in the requested format. `settings` may be NULL. *report is set whatever the outcome, unless a
 * setting is invalid or the replay cancelled, and covers everything that ran. The outcome is the worst of all files. */
hd_status hd_context_replay(hd_context *context, const char *const *launch_files, size_t count,
                            const hd_replay_settings *settings, hd_text *report);

/* The library's version: "0.1.0". */
const char *hd_version(void);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
