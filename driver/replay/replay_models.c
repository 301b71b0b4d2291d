/* Runs passes on a module of a replay, and creates its models. */
#include "driver/replay/replay_work.h"
#include "hwmodel/count/memo/memo.h"
#include "passes/analysis/liveness.h"

bool replay_has_annotations(const hd_module *module, const char *technique)
{
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (hd_annotations_count(module->functions.items[i], technique))
            return true;
    return false;
}

bool replay_run_passes(const replay_part *p, replay_file *f, const hd_pipeline *passes, hd_diagnostics *diagnostics)
{
    hd_pipeline_options options = {
        .threads = p->threads, .gpu = p->plan->gpu, .contexts = f->contexts.items ? &f->contexts : NULL};
    return hd_pipeline_run(passes, f->module, &options, diagnostics);
}

uint32_t replay_kernel_registers(const replay_file *f, const char *kernel)
{
    const hd_function *function = hd_module_find_function(f->module, kernel);
    for (uint32_t i = 0; i < f->module->functions.count; i++)
        if (f->module->functions.items[i] == function && f->code->functions[i])
            return f->code->functions[i]->registers;
    return 0;
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

void replay_open_count(replay_part *p, replay_file *f, hd_arena *arena, hd_diagnostics *diagnostics)
{
    f->refusals = HD_ARENA_ARRAY(arena, const char *, p->plan->model_count);
    f->model_index = HD_ARENA_ARRAY(arena, uint32_t, p->plan->model_count);
    for (uint32_t m = 0; m < p->plan->model_count; m++)
        f->model_index[m] = HD_NONE;
    f->code = hd_rf_module_new(f->module);
    f->count = hd_count_new(f->code, diagnostics);
    hd_count_batches(f->count, HD_REPLAY_BATCH, p->threads);
    hd_count_share(f->count, &p->budget);
    if (!p->plan->options->no_memo)
        hd_count_use_memo(f->count, &hd_memo);
    if (p->plan->options->time)
        f->timer = hd_timer_new(f->code, &p->plan->gpu->machine, p->plan->sms);
}

void replay_add_model(const replay_part *p, replay_file *f, uint32_t m)
{
    hd_rf_model *model = hd_rf_model_new(p->plan->models[m].info, f->code, &f->refusals[m]);
    if (!model)
        return;
    if (f->timer && !hd_timer_add(f->timer, p->plan->models[m].info, &f->refusals[m])) {
        hd_rf_model_free(model);
        return;
    }
    f->model_index[m] = hd_count_models(f->count);
    hd_count_add(f->count, model);
}

/* ---- uniform branches -------------------------------------------------------------------------------------------- */

/* The run must confirm that branches assumed uniform by passes are uniform. */
static void expect_uniform_branches(replay_file *f, uint32_t function)
{
    const hd_uniformity *u = hd_analysis_get(&f->contexts.items[function], HD_ANALYSIS_UNIFORMITY);
    const hd_cfg *cfg = hd_function_cfg(f->module->functions.items[function]);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        if (cfg->blocks[b].reachable && cfg->blocks[b].conditional && !hd_bitset_has(&u->divergent_branches, b))
            hd_count_expect_uniform(f->count, function, cfg->blocks[b].end - 1);
}

void replay_expect_uniform_branches(replay_file *f, hd_diagnostics *diagnostics)
{
    if (!f->contexts.items)
        hd_pass_contexts_open(&f->contexts, f->module, diagnostics);
    for (uint32_t i = 0; i < f->module->functions.count; i++)
        if (f->module->functions.items[i]->has_body)
            expect_uniform_branches(f, i);
    hd_pass_contexts_close(&f->contexts);
}
