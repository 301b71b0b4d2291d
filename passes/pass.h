/* Passes and their manager.
 *
 * A pass is a row of passes/passes.def and one file. It works on one function, says what analyses it needs and which it
 * keeps; the manager computes what is missing, drops what a change made stale, validates after each pass in debug builds,
 * and checks that "no change" is true. Functions are independent: several may run in parallel.
 */
#ifndef HD_PASSES_PASS_H
#define HD_PASSES_PASS_H

#include "ir/annotations.h"
#include "ir/cfg.h"
#include "base/writer.h"

/* Analyses: HD_ANALYSIS_<ID>, bits of masks. passes/analyses.def: HD_ANALYSIS(id, result type, name, build function). */
typedef enum hd_analysis {
#define HD_ANALYSIS(id, type, name, build) HD_ANALYSIS_##id,
#include "passes/analyses.def"
#undef HD_ANALYSIS
    HD_ANALYSIS_COUNT
} hd_analysis;
enum {
#define HD_ANALYSIS(id, type, name, build) HD_NEEDS_##id = 1 << HD_ANALYSIS_##id,
#include "passes/analyses.def"
#undef HD_ANALYSIS
    HD_KEEPS_ALL = (1 << HD_ANALYSIS_COUNT) - 1, /* the pass only annotates: no instruction changes */
    HD_KEEPS_ANNOTATIONS = 1 << HD_ANALYSIS_COUNT /* it drops those that it makes untrue itself */
};

typedef enum hd_liveness_rule { HD_LIVENESS_OURS, HD_LIVENESS_PAPER, HD_LIVENESS_ITS } hd_liveness_rule;

typedef struct hd_statistic { const char *pass, *name; uint64_t value; } hd_statistic;
HD_ARRAY_TYPE(hd_statistic_array, hd_statistic);

typedef struct hd_pass_time { const char *pass; uint64_t nanoseconds; } hd_pass_time;
HD_ARRAY_TYPE(hd_pass_time_array, hd_pass_time);
void hd_pass_times_write(hd_writer *log, const hd_pass_time *times, uint32_t count); /* as a table */

typedef struct hd_option { const char *name, *value; /* value "" for a flag */ } hd_option;

typedef struct hd_pass_context {
    hd_function *function;
    hd_diagnostics *diagnostics;
    hd_arena scratch;                     /* freed after each pass */
    void *analyses[HD_ANALYSIS_COUNT];    /* results, each in an arena of its own; NULL = not computed */
    hd_arena analysis_arenas[HD_ANALYSIS_COUNT];
    hd_liveness_rule liveness;            /* option liveness=ours|paper|its */
    const hd_option *options;             /* of the running pass */
    uint32_t option_count;
    bool verify;                          /* passes that rewrite prove their work, where they can */
    bool counts;                          /* somebody asks for statistics: what is made for them alone is worth its time */
    hd_statistic_array statistics;
    uint64_t nanoseconds;                 /* of processor time that passes have taken so far, with the analyses that they asked for */
    const struct hd_gpu *gpu;             /* see hd_pass_gpu */
    struct hd_gpu *own_gpu;
    uint32_t block;                       /* threads of a CTA as the user says; 0: not said */
} hd_pass_context;

/* A pass's entry: true where it changed the function (annotations count). */
typedef bool hd_pass_run(hd_pass_context *context);

typedef struct hd_pass_info {
    const char *name, *summary, *options; /* options: "iw=1..16,..." for help and checking */
    hd_pass_run *run;
    uint32_t needs, keeps;                /* masks of HD_NEEDS_* */
} hd_pass_info;
extern const hd_pass_info hd_passes[];
extern const uint32_t hd_pass_count;

/* Every pass as a function: bool hd_pass_bow(hd_pass_context *), ... */
#define HD_PASS(name, run, needs, keeps, options, summary) hd_pass_run run;
#include "passes/passes.def"
#undef HD_PASS

/* The result of an analysis, computed on demand (by the manager before the pass, or here). */
const void *hd_analysis_get(hd_pass_context *context, hd_analysis analysis);
/* Standalone use, without the manager. */
void hd_pass_context_init(hd_pass_context *context, hd_function *function, hd_diagnostics *diagnostics);
void hd_pass_context_free(hd_pass_context *context);
const char *hd_option_text(const hd_pass_context *context, const char *name); /* NULL where not given */
uint32_t hd_option_number(const hd_pass_context *context, const char *name, uint32_t otherwise); /* in its row's range */
#define HD_STATISTIC_WORDS "metadata words of 64 bits" /* told by the manager, of every technique's pass: see ir/words.h */
#define HD_STATISTIC_BITS "bits in instructions"
void hd_statistic_add(hd_pass_context *context, const char *name, uint64_t value); /* summed over functions */
/* The machine that a pass decides for: the one the user named, else that of the module's target, else the lowest above it. NULL: none is
 * described. */
const struct hd_gpu *hd_pass_gpu(hd_pass_context *context);
/* Threads of a CTA: what the user said, else .reqntid, else .maxntid, else 256. */
uint32_t hd_pass_block(const hd_pass_context *context);

/* A context for each function of a module, which the caller keeps from one pipeline to the next (hd_pipeline_options.contexts), so that
 * analyses stay warm until a pass changes the function. Nobody else may change it meanwhile. Zeroed: none. */
typedef struct hd_pass_contexts {
    hd_pass_context *items; /* by function of the module; their diagnostics are those of the last pipeline */
    uint32_t count;
} hd_pass_contexts;
void hd_pass_contexts_open(hd_pass_contexts *contexts, const hd_module *module, hd_diagnostics *diagnostics);
void hd_pass_contexts_close(hd_pass_contexts *contexts); /* CFGs stay */

typedef struct hd_pipeline hd_pipeline;
/* Parses "regalloc(max=63),corf,bow(iw=3)"; NULL with a diagnostic (column in the option text) where it is bad. */
hd_pipeline *hd_pipeline_parse(const char *text, hd_diagnostics *diagnostics);
void hd_pipeline_free(hd_pipeline *pipeline);
bool hd_pipeline_has(const hd_pipeline *pipeline, const char *pass);
bool hd_pipeline_only_annotates(const hd_pipeline *pipeline); /* no pass of it changes an instruction */

typedef struct hd_pipeline_options {
    uint32_t threads;                 /* 0 = all CPUs; used where every pass of the pipeline only annotates */
    bool validate;                    /* hd_ir_validate after each pass */
    bool time_passes, statistics;     /* text into `log` */
    const char *print_after;          /* name of a pass: canonical PTX of the function into `log` after it */
    const char *kernel;               /* glob (fnmatch) over function names; NULL: all */
    bool brings;                      /* functions may bring annotations: passes must go with them, and what is dropped of them is told */
    const struct hd_gpu *gpu;         /* see hd_pass_gpu; NULL: not said */
    uint32_t block;                   /* see hd_pass_block; 0: not said */
    hd_pass_contexts *contexts;       /* of this module; NULL: each function gets one for this run alone */
    hd_writer *log;                   /* may be NULL */
    void (*print_function)(hd_writer *, const hd_function *); /* given by the driver: passes/ does not include emitters/ */
} hd_pipeline_options;
/* Runs the passes over every function with a body. false where one reported an error. */
bool hd_pipeline_run(hd_pipeline *pipeline, hd_module *module, const hd_pipeline_options *options, hd_diagnostics *diagnostics);
/* Runs the passes over one function alone, in the caller's thread; what they counted is appended to `statistics` (may be
 * NULL). Of the options (may be NULL) only the machine counts. false where one reported an error. */
bool hd_pipeline_run_function(hd_pipeline *pipeline, hd_function *function, const hd_pipeline_options *options,
                              hd_statistic_array *statistics, hd_diagnostics *diagnostics);
/* The same in a context that the caller keeps from one pipeline to the next, with its machine: analyses stay warm until a
 * pass changes the function. Who changes it in between makes a new context. */
bool hd_pipeline_run_in(hd_pipeline *pipeline, hd_pass_context *context, hd_statistic_array *statistics, hd_diagnostics *diagnostics);

#endif
