/* The pass manager: the table of all passes, and pipelines of them.
 *
 * The manager computes the analyses that a pass needs, drops what a change made stale, validates after each pass in
 * debug builds, and checks that "no change" is true. */
#ifndef HD_PASSES_MANAGER_MANAGER_H
#define HD_PASSES_MANAGER_MANAGER_H

#include "passes/analysis/analyses.h"

typedef struct hd_pass_info {
    const char *name, *summary, *options; /* options: "iw=1..16,..." for help and checking */
    hd_pass_run *run;
    uint32_t needs, keeps; /* masks of HD_NEEDS_* */
} hd_pass_info;
extern const hd_pass_info hd_passes[];
extern const uint32_t hd_pass_count;

/* A name for a list of passes: passes/aliases.def. */
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

typedef struct hd_pipeline hd_pipeline;
/* Parses "regalloc(max=63),corf,bow(iw=3)"; NULL with a diagnostic (column in the option text) where it is bad. */
hd_pipeline *hd_pipeline_parse(const char *text, hd_diagnostics *diagnostics);
void hd_pipeline_free(hd_pipeline *pipeline);
bool hd_pipeline_has(const hd_pipeline *pipeline, const char *pass);
bool hd_pipeline_only_annotates(const hd_pipeline *pipeline); /* no pass of it changes an instruction */

typedef struct hd_pipeline_options {
    uint32_t threads;             /* 0 = all CPUs; used where every pass of the pipeline only annotates */
    bool validate;                /* hd_ir_validate after each pass */
    bool time_passes, statistics; /* text into `log` */
    const char *print_after;      /* name of a pass: canonical PTX of the function into `log` after it */
    const char *kernel;           /* glob (fnmatch) over function names; NULL: all */
    /* functions may bring annotations: passes must go with them, and what is dropped of them is reported */
    bool brings;
    const struct hd_gpu *gpu;   /* see hd_pass_gpu; NULL: not said */
    uint32_t block;             /* see hd_pass_block; 0: not said */
    hd_pass_contexts *contexts; /* of this module; NULL: each function gets one for this run alone */
    hd_writer *log;             /* may be NULL */
    /* given by the driver: passes/ does not include emitters/ */
    void (*print_function)(hd_writer *, const hd_function *);
} hd_pipeline_options;
/* Runs the passes over every function with a body. false where one reported an error. */
bool hd_pipeline_run(hd_pipeline *pipeline, hd_module *module, const hd_pipeline_options *options,
                     hd_diagnostics *diagnostics);
/* Runs the passes over one function alone, in the caller's thread; what they counted is appended to `statistics` (may
 * be NULL). Of the options (may be NULL) only the machine counts. false where one reported an error. */
bool hd_pipeline_run_function(hd_pipeline *pipeline, hd_function *function, const hd_pipeline_options *options,
                              hd_statistic_array *statistics, hd_diagnostics *diagnostics);
/* The same in a context that the caller keeps from one pipeline to the next, with its machine: analyses stay warm until
 * a pass changes the function. Who changes it in between makes a new context. */
bool hd_pipeline_run_in(hd_pipeline *pipeline, hd_pass_context *context, hd_statistic_array *statistics,
                        hd_diagnostics *diagnostics);

#endif
