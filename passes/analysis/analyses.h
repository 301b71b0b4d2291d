/* Pass contexts with all analyses of passes/analyses.def. */
#ifndef HD_PASSES_ANALYSIS_ANALYSES_H
#define HD_PASSES_ANALYSIS_ANALYSES_H

#include "passes/pass.h"

void hd_pass_context_init(hd_pass_context *context, hd_function *function, hd_diagnostics *diagnostics);

/* One context per function of a module, kept by the caller from one pipeline to the next
 * (hd_pipeline_options.contexts), so that analyses stay valid until a pass changes the function. Nothing else may
 * change the functions meanwhile. Zeroed: none. */
typedef struct hd_pass_contexts {
    hd_pass_context *items; /* by function; their diagnostics are those of the last pipeline */
    uint32_t count;
} hd_pass_contexts;
void hd_pass_contexts_open(hd_pass_contexts *contexts, const hd_module *module, hd_diagnostics *diagnostics);
void hd_pass_contexts_close(hd_pass_contexts *contexts); /* keeps CFGs */

#endif
