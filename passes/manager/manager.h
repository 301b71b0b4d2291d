/* The pass manager: the table of all passes, and pipelines of passes.
 *
 * The manager computes the analyses that a pass needs, invalidates those made stale by a change, validates the IR after
 * each pass in debug builds, and checks that passes report changes correctly. */
#ifndef HD_PASSES_MANAGER_MANAGER_H
#define HD_PASSES_MANAGER_MANAGER_H

#include "base/meter.h"
#include "base/rows.h"
#include "passes/analysis/analyses.h"

typedef struct hd_pass_info {
    const char *name, *summary, *options; /* options: "iw=1..16,...", for help and validation */
    hd_pass_run *run;
    uint32_t needs, keeps; /* masks of HD_NEEDS_* */
} hd_pass_info;
extern const hd_pass_info *const hd_passes;
extern uint32_t hd_pass_count;
bool hd_pass_add(const hd_pass_info *row);                         /* of a plug-in; false: there is no room */
const hd_pass_info *hd_pass_find(const char *name, size_t length); /* NULL: none */

/* A named list of passes: passes/aliases.def. */
typedef struct hd_pass_alias {
    const char *name, *passes, *summary;
} hd_pass_alias;
extern const hd_pass_alias hd_pass_aliases[];
extern const uint32_t hd_pass_alias_count;

typedef struct hd_pass_time {
    const char *pass;
    uint64_t nanoseconds;
} hd_pass_time;
HD_ARRAY_TYPE(hd_pass_time_array, hd_pass_time);
void hd_pass_times_write(hd_writer *log, const hd_pass_time *times, uint32_t count); /* as a table */

/* A list of passes with their options, parsed and checked once. Running it changes nothing in it: threads share it. */
typedef struct hd_pipeline hd_pipeline;
/* Parses "regalloc(max=63),corf,bow(iw=3)"; NULL with a diagnostic (column in the option text) if it is invalid. */
hd_pipeline *hd_pipeline_parse(const char *text, hd_diagnostics *diagnostics);
/* A copy in which the option of the pass has the value, which must be valid; equal if the list does not contain the
 * pass. */
hd_pipeline *hd_pipeline_with(const hd_pipeline *pipeline, const char *pass, const char *option, uint32_t number);
void hd_pipeline_free(hd_pipeline *pipeline);
/* What hd_pipeline_parse reads as this list, aliases expanded; equal lists have equal texts. */
const char *hd_pipeline_text(const hd_pipeline *pipeline);
bool hd_pipeline_has(const hd_pipeline *pipeline, const char *pass);
bool hd_pipeline_only_annotates(const hd_pipeline *pipeline); /* no pass of it changes an instruction */

typedef struct hd_pipeline_options {
    uint32_t threads;             /* 0: all CPUs; effective only if every pass of the pipeline only annotates */
    bool validate;                /* hd_ir_validate after each pass */
    bool time_passes, statistics; /* output goes to `log` */
    const char *print_after;      /* name of a pass after which canonical PTX of the function is written to `log` */
    hd_meter *meter;              /* a unit for each pass over a function; NULL: none */
    const char *kernel;           /* glob (fnmatch) over function names; NULL: all */
    /* functions may already have annotations: passes must be compatible with them, and dropped ones are reported */
    bool brings;
    const struct hd_gpu *gpu;   /* see hd_pass_gpu; NULL: not given */
    uint32_t block;             /* see hd_pass_block; 0: not given */
    hd_pass_contexts *contexts; /* for this module; NULL: each function gets a context for this run */
    hd_writer *log;             /* may be NULL */
    /* set by the driver, because passes/ does not include emitters/ */
    void (*print_function)(hd_writer *, const hd_function *);
} hd_pipeline_options;
/* Runs the passes over every function with a body. false if a pass reported an error. */
bool hd_pipeline_run(const hd_pipeline *pipeline, hd_module *module, const hd_pipeline_options *options,
                     hd_diagnostics *diagnostics);
/* Runs the passes over one function, in the caller's thread; appends statistics to `statistics` (may be NULL). Of the
 * options (may be NULL) only the GPU is used. false if a pass reported an error. */
bool hd_pipeline_run_function(const hd_pipeline *pipeline, hd_function *function, const hd_pipeline_options *options,
                              hd_statistic_array *statistics, hd_diagnostics *diagnostics);
/* The same with a context that the caller keeps between pipelines, with its GPU: analyses stay valid until a pass
 * changes the function. After any other change a new context is required. */
bool hd_pipeline_run_in(const hd_pipeline *pipeline, hd_pass_context *context, hd_statistic_array *statistics,
                        hd_diagnostics *diagnostics);

#endif
