/* The table of analyses, from which contexts build what is requested. */
#include "passes/analysis/analyses.h"
#include "passes/analysis/liveness.h"
#include "passes/analysis/warp_words.h"

#define HD_ANALYSIS(id, type, name, build) \
    static void *build_##id(hd_pass_context *context, hd_arena *arena) { return build(context, arena); }
#include "passes/analyses.def"
#undef HD_ANALYSIS

static hd_analysis_build *const builders[HD_ANALYSIS_COUNT] = {
#define HD_ANALYSIS(id, type, name, build) build_##id,
#include "passes/analyses.def"
#undef HD_ANALYSIS
};

void hd_pass_context_init(hd_pass_context *context, hd_function *function, hd_diagnostics *diagnostics)
{
    *context =
        (hd_pass_context){.function = function, .diagnostics = diagnostics, .builders = builders, .counts = true};
    hd_arena_init(&context->scratch);
    for (uint32_t a = 0; a < HD_ANALYSIS_COUNT; a++)
        hd_arena_init(&context->analysis_arenas[a]);
}

void hd_pass_contexts_open(hd_pass_contexts *contexts, const hd_module *module, hd_diagnostics *diagnostics)
{
    *contexts =
        (hd_pass_contexts){hd_calloc(module->functions.count + 1u, sizeof *contexts->items), module->functions.count};
    for (uint32_t i = 0; i < contexts->count; i++)
        hd_pass_context_init(&contexts->items[i], module->functions.items[i], diagnostics);
}

void hd_pass_contexts_close(hd_pass_contexts *contexts)
{
    for (uint32_t i = 0; i < contexts->count; i++)
        hd_pass_context_free(&contexts->items[i]);
    free(contexts->items);
    *contexts = (hd_pass_contexts){0};
}
