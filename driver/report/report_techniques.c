/* Statistics of each technique's pass on a kernel. The pass runs on the worker's copy, allocated if possible, and the
 * copy is restored. Annotations of passes that only annotate are removed; for a pass that changes code a copy of the
 * function is kept and restored. The former run first and share analyses. Statistics are the pass's own; techniques are
 * handled generically. Linear in the kernel, besides the passes.
 */
#include "driver/report/report_work.h"

#include "ir/machine.h"
#include "ir/techniques.h"

static void keep_statistics(report_kernel_work *work, const hd_statistic_array *found, hd_report_technique *technique)
{
    hd_report_statistic *kept = HD_ARENA_ARRAY(work->arena, hd_report_statistic, found->count);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < found->count; i++) {
        kept[i] = (hd_report_statistic){found->items[i].name, found->items[i].value};
        sum += kept[i].value;
    }
    technique->statistics = kept;
    technique->statistic_count = found->count;
    if (!sum)
        technique->refusal = "found nothing to do";
}

static void run_pass(report_kernel_work *work, hd_pass_context *context, hd_pipeline *passes,
                     hd_report_technique *technique)
{
    hd_diagnostics own;
    hd_statistic_array found = {0};
    hd_diagnostics_init(&own);
    if (hd_pipeline_run_in(passes, context, &found, &own))
        keep_statistics(work, &found, technique);
    else
        technique->refusal =
            own.first ? hd_arena_string(work->arena, own.first->message, strlen(own.first->message)) : "failed";
    hd_array_free(&found);
    hd_diagnostics_free(&own);
}

static void start_context(report_kernel_work *work, hd_pass_context *context)
{
    hd_pass_context_init(context, work->function, work->diagnostics);
    context->gpu = work->common->machine.gpu;
    context->block = work->common->machine.block;
}

/* Why a technique is not for this machine code, or NULL. */
static const char *refusal_of_machine_code(report_kernel_work *work)
{
    uint32_t ordinal;
    if (!work->function->machine)
        return NULL;
    const char *obstacle = hd_machine_obstacle(work->function, &ordinal);
    return obstacle ? hd_arena_printf(work->arena, "line %u %s", work->kernel->instructions[ordinal].position.ptx_line,
                                      obstacle)
                    : NULL;
}

static void try_technique(report_kernel_work *work, hd_pass_context *context, uint32_t t,
                          hd_report_technique *technique)
{
    const hd_technique_info *info = &hd_techniques[t];
    hd_pipeline *passes = work->common->technique_passes[t];
    *technique = (hd_report_technique){.name = info->spelling, .allocated = !work->kernel->left_virtual};
    if (!passes) {
        technique->refusal = "needs nothing of the compiler";
        return;
    }
    technique->rewrites = !work->function->machine && !hd_pipeline_only_annotates(passes);
    technique->refusal = refusal_of_machine_code(work);
    if (technique->refusal)
        return;
    hd_function *before = technique->rewrites ? hd_function_copy(work->function) : NULL;
    run_pass(work, context, passes, technique);
    if (!before) {
        hd_annotations_remove(work->function, info->spelling);
        return;
    }
    hd_function_restore(work->function, before);
    hd_pass_context_free(context);
    start_context(work, context);
}

static bool changes_code(const report_kernel_work *work, uint32_t t)
{
    hd_pipeline *passes = work->common->technique_passes[t];
    return passes && !work->function->machine && !hd_pipeline_only_annotates(passes);
}

void report_techniques(report_kernel_work *work)
{
    hd_report_kernel *k = work->kernel;
    hd_pass_context context;
    k->technique_count = hd_technique_count;
    k->techniques = HD_ARENA_ARRAY(work->arena, hd_report_technique, hd_technique_count);
    start_context(work, &context);
    for (uint32_t changing = 0; changing < 2; changing++)
        for (uint32_t t = 0; t < hd_technique_count; t++)
            if (changes_code(work, t) == changing)
                try_technique(work, &context, t, &k->techniques[t]);
    hd_pass_context_free(&context);
}
