/* The context of a pass: see pass.h. */
#include "passes/pass.h"
#include "target/gpu.h"

/* ---- analyses ---------------------------------------------------------------------------------------------------- */

const void *hd_analysis_get(hd_pass_context *context, hd_analysis analysis)
{
    if (!context->analyses[analysis])
        context->analyses[analysis] = context->builders[analysis](context, &context->analysis_arenas[analysis]);
    return context->analyses[analysis];
}

void hd_analyses_drop(hd_pass_context *context, uint32_t kept)
{
    for (uint32_t a = 0; a < HD_ANALYSIS_COUNT; a++) {
        if (kept >> a & 1 || !context->analyses[a])
            continue;
        context->analyses[a] = NULL;
        hd_arena_free(&context->analysis_arenas[a]);
    }
}

void hd_pass_context_free(hd_pass_context *context)
{
    hd_analyses_drop(context, 0);
    hd_arena_free(&context->scratch);
    hd_array_free(&context->statistics);
    hd_gpu_free(context->own_gpu);
}

/* ---- the machine ------------------------------------------------------------------------------------------------- */

const hd_gpu *hd_pass_gpu(hd_pass_context *context)
{
    uint32_t found;
    if (context->gpu)
        return context->gpu;
    const char *name = hd_gpu_name_for(context->function->module->target_number, &found);
    if (name)
        context->gpu = context->own_gpu = hd_gpu_load(name, context->diagnostics);
    return context->gpu;
}

static uint32_t threads_of(const uint32_t size[3])
{
    return size[0] * (size[1] ? size[1] : 1) * (size[2] ? size[2] : 1);
}

uint32_t hd_pass_block(const hd_pass_context *context)
{
    enum { USUAL_BLOCK = 256 };
    uint32_t required = threads_of(context->function->required_threads),
             most = threads_of(context->function->max_threads);
    return context->block ? context->block : required ? required : most ? most : USUAL_BLOCK;
}

/* ---- options and statistics -------------------------------------------------------------------------------------- */

const char *hd_option_text(const hd_pass_context *context, const char *name)
{
    for (uint32_t i = 0; i < context->option_count; i++)
        if (strcmp(context->options[i].name, name) == 0)
            return context->options[i].value;
    return NULL;
}

uint32_t hd_option_number(const hd_pass_context *context, const char *name, uint32_t otherwise)
{
    const char *text = hd_option_text(context, name);
    return text ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

void hd_statistic_add(hd_pass_context *context, const char *name, uint64_t value)
{
    for (uint32_t i = 0; i < context->statistics.count; i++) {
        hd_statistic *s = &context->statistics.items[i];
        if (s->pass == NULL && strcmp(s->name, name) == 0) {
            s->value += value;
            return;
        }
    }
    hd_array_push(&context->statistics, (hd_statistic){NULL, name, value});
}
