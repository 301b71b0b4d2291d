/* The interface of a pass: the function, analyses on demand, options, statistics, and the target GPU.
 *
 * A pass is a row of passes/passes.def and one file. It works on one function and declares the analyses it needs and
 * preserves; the manager (passes/manager/manager.h) computes missing ones and invalidates those made stale by a change.
 * Functions are independent: several may be processed in parallel.
 */
#ifndef HD_PASSES_PASS_H
#define HD_PASSES_PASS_H

#include "ir/annotations.h"
#include "ir/cfg.h"
#include "base/writer.h"

/* Analyses: HD_ANALYSIS_<ID>, bits of masks. passes/analyses.def: HD_ANALYSIS(id, result type, name, build
 * function). */
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
    HD_KEEPS_ALL = (1 << HD_ANALYSIS_COUNT) - 1,  /* the pass only annotates and changes no instruction */
    HD_KEEPS_ANNOTATIONS = 1 << HD_ANALYSIS_COUNT /* the pass itself removes the annotations that it invalidates */
};

typedef enum hd_liveness_rule { HD_LIVENESS_OURS, HD_LIVENESS_PAPER, HD_LIVENESS_ITS } hd_liveness_rule;

typedef struct hd_statistic {
    const char *pass, *name;
    uint64_t value;
} hd_statistic;
HD_ARRAY_TYPE(hd_statistic_array, hd_statistic);

typedef struct hd_option {
    const char *name, *value; /* value "" for a flag */
} hd_option;

struct hd_pass_context;
typedef void *hd_analysis_build(struct hd_pass_context *context, hd_arena *arena); /* the result is in the arena */

typedef struct hd_pass_context {
    hd_function *function;
    hd_diagnostics *diagnostics;
    hd_arena scratch;                   /* freed after each pass */
    hd_analysis_build *const *builders; /* by analysis */
    void *analyses[HD_ANALYSIS_COUNT];  /* results, each in its own arena; NULL: not computed */
    hd_arena analysis_arenas[HD_ANALYSIS_COUNT];
    hd_liveness_rule liveness; /* option liveness=ours|paper|its */
    const hd_option *options;  /* of the running pass */
    uint32_t option_count;
    bool verify; /* passes that rewrite verify their result where they can */
    /* statistics are requested, so work done only for them is worthwhile */
    bool counts;
    hd_statistic_array statistics;
    /* processor time of passes so far, including the analyses that they requested */
    uint64_t nanoseconds;
    const struct hd_gpu *gpu; /* see hd_pass_gpu */
    struct hd_gpu *own_gpu;
    uint32_t block; /* threads per block, given by the user; 0: not given */
} hd_pass_context;

/* A pass's entry; returns true if it changed the function (annotations count). */
typedef bool hd_pass_run(hd_pass_context *context);

/* Declares every pass: bool hd_pass_bow(hd_pass_context *), ... */
#define HD_PASS(name, run, needs, keeps, options, summary) hd_pass_run run;
#include "passes/passes.def"
#undef HD_PASS

/* The result of an analysis, computed on demand. */
const void *hd_analysis_get(hd_pass_context *context, hd_analysis analysis);
void hd_analyses_drop(hd_pass_context *context, uint32_t kept); /* kept: a mask of HD_NEEDS_* */
void hd_pass_context_free(hd_pass_context *context);
const char *hd_option_text(const hd_pass_context *context, const char *name); /* NULL: not given */
/* in the range given in its row */
uint32_t hd_option_number(const hd_pass_context *context, const char *name, uint32_t otherwise);
#define HD_STATISTIC_WORDS \
    "metadata words of 64 bits" /* reported by the manager for every technique's pass: see ir/words/words.h */
#define HD_STATISTIC_BITS "bits in instructions"
void hd_statistic_add(hd_pass_context *context, const char *name, uint64_t value); /* summed over functions */
/* The GPU that a pass decides for: the one named by the user, else that of the module's target, else the next higher
 * one. NULL: no description. */
const struct hd_gpu *hd_pass_gpu(hd_pass_context *context);
/* Threads per block: given by the user, else .reqntid, else .maxntid, else 256. */
uint32_t hd_pass_block(const hd_pass_context *context);

#endif
