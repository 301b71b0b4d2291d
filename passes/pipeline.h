/* The parsed form of a pass list; private to passes/. */
#ifndef HD_PASSES_PIPELINE_H
#define HD_PASSES_PIPELINE_H

#include "passes/pass.h"

typedef struct hd_pipeline_step {
    const hd_pass_info *pass;
    const hd_option *options;
    uint32_t option_count;
    hd_span span; /* of its name in the list, or of the alias that brought it */
} hd_pipeline_step;

struct hd_pipeline {
    hd_arena arena;
    HD_ARRAY(hd_pipeline_step) steps;
};

/* Does a technique's row name the pass? */
bool hd_pass_is_of_technique(const hd_pass_info *pass);
/* May the passes run on a function that brings annotations, as if what made these had stood before them in the list? false: reported. */
bool hd_pipeline_goes_with(const hd_pipeline *pipeline, const hd_function *function, hd_diagnostics *diagnostics);

#endif
