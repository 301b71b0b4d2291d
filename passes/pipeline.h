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

#endif
