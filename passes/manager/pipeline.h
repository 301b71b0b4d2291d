/* The parsed form of a pass list; private to passes/manager/. */
#ifndef HD_PASSES_MANAGER_PIPELINE_H
#define HD_PASSES_MANAGER_PIPELINE_H

#include "ir/techniques.h"
#include "passes/manager/manager.h"

typedef struct hd_pipeline_step {
    const hd_pass_info *pass;
    const hd_option *options;
    uint32_t option_count;
    hd_span span; /* of its name in the list, or of the alias that expanded to it */
} hd_pipeline_step;

struct hd_pipeline {
    hd_arena arena;
    HD_ARRAY(hd_pipeline_step) steps;
    const char *text; /* hd_pipeline_text */
};

/* Whether a technique's row names the pass. */
bool hd_pass_is_of_technique(const hd_pass_info *pass);
/* Whether the pass may run on a function that already has annotations of the technique, as if the pass that made these
 * preceded it in the list. false: reported. */
bool hd_pass_goes_with(const hd_pass_info *pass, const hd_function *function, hd_technique technique,
                       hd_diagnostics *diagnostics);

#endif
