/* What holds for all files of a replay, from its options: the GPU, the models with their passes, and the fault of a
 * lane. */
#include "driver/replay/replay_work.h"

/* ---- cycles ------------------------------------------------------------------------------------------------------ */

/* Cycles need the GPU's timing, and an SM whose warps fit in the simulated one. */
static bool has_timing(replay_plan *plan)
{
    const hd_gpu *gpu = plan->gpu;
    if (gpu->valid && gpu->limits.warps_per_sm > HD_SM_WARPS)
        hd_report(plan->diagnostics, HD_DIAG_BAD_VALUE, NULL, (hd_span){0, 0},
                  "an SM of %s has %u warps (limits.warps_per_sm); with cycles there are at most %u", gpu->name,
                  gpu->limits.warps_per_sm, HD_SM_WARPS);
    if (!gpu->valid || gpu->machine.known)
        return !gpu->valid || gpu->limits.warps_per_sm <= HD_SM_WARPS;
    hd_diagnostic *d =
        hd_report(plan->diagnostics, HD_DIAG_BAD_VALUE, NULL, (hd_span){0, 0},
                  "the description of %s has no section 'timing', so that there are no cycles for it", gpu->name);
    hd_note_add(plan->diagnostics, d, NULL, (hd_span){0, 0}, "%s have one", hd_gpu_names_with_timing(&plan->arena));
    return false;
}

static bool has_shown_sm(const replay_plan *plan)
{
    uint32_t sm = plan->options->timeline_sm;
    if (!plan->gpu->valid || !plan->options->timeline_end || sm < plan->sms)
        return true;
    hd_report(plan->diagnostics, HD_DIAG_BAD_VALUE, NULL, (hd_span){0, 0},
              "there is no SM %u for the timeline: %u are simulated, from 0 to %u", sm, plan->sms, plan->sms - 1);
    return false;
}

/* ---- a faulty lane ----------------------------------------------------------------------------------------------- */

static bool refuse(replay_plan *plan, const char *what, const char *note)
{
    hd_diagnostic *d = hd_report(plan->diagnostics, HD_DIAG_BAD_VALUE, NULL, (hd_span){0, 0}, "%s", what);
    if (note)
        hd_note_add(plan->diagnostics, d, NULL, (hd_span){0, 0}, "%s", note);
    return false;
}

/* "a, b": the models of the table that look for faults. */
static const char *models_that_compare(hd_arena *arena)
{
    const char *names = NULL;
    for (uint32_t m = 0; m < hd_rf_model_count; m++)
        if (hd_rf_models[m].ops->thread_of_lane)
            names = names ? hd_arena_printf(arena, "%s, %s", names, hd_rf_models[m].name) : hd_rf_models[m].name;
    return names ? names : "none";
}

static uint32_t thread_of(const hd_rf_model_info *model, uint32_t lane)
{
    return model->ops->thread_of_lane(model->options, lane);
}

static bool fits_together(replay_plan *plan, const hd_rf_model_info *first, const hd_rf_model_info *model)
{
    for (uint32_t lane = 0; lane < 32; lane++)
        if (thread_of(first, lane) != thread_of(model, lane))
            return refuse(plan,
                          hd_arena_printf(&plan->arena,
                                          "%s and %s map threads to lanes in different ways, so that a faulty lane "
                                          "has different threads",
                                          first->name, model->name),
                          "replay them one after the other");
    return true;
}

/* The baseline is the first one. */
static bool choose_thread(replay_plan *plan, hd_faulty_lane *lane)
{
    const hd_rf_model_info *first = NULL;
    lane->thread = lane->fault.lane;
    for (uint32_t m = 1; m < plan->model_count; m++) {
        const hd_rf_model_info *model = plan->models[m].info;
        if (!model->ops->thread_of_lane)
            return refuse(plan,
                          hd_arena_printf(&plan->arena,
                                          "%s does not compare what lanes compute, so that it cannot be beside "
                                          "--lane-fault",
                                          model->name),
                          hd_arena_printf(&plan->arena, "models that do: %s", models_that_compare(&plan->arena)));
        if (first && !fits_together(plan, first, model))
            return false;
        first = first ? first : model;
    }
    if (first)
        lane->thread = thread_of(first, lane->fault.lane);
    return true;
}

/* Reads options->lane_fault. false: it, or a model that runs with it, does not fit (reported). */
static bool choose_fault(replay_plan *plan)
{
    hd_faulty_lane lane = {.sms = plan->sms};
    char message[HD_LANE_FAULT_MESSAGE];
    if (!hd_lane_fault_read(plan->options->lane_fault, &lane.fault, message))
        return refuse(plan, hd_arena_printf(&plan->arena, "--lane-fault: %s", message), NULL);
    if (lane.fault.sm >= lane.sms)
        return refuse(plan,
                      hd_arena_printf(&plan->arena, "--lane-fault: there is no SM %u: there are %u, from 0 to %u",
                                      lane.fault.sm, lane.sms, lane.sms - 1),
                      NULL);
    plan->faulty = true;
    return choose_thread(plan, &lane) && (plan->lane = lane, true);
}

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

/* What precedes all models in a module without annotations. */
static void read_allocation(replay_plan *plan)
{
    uint32_t most = plan->options->max_registers;
    hd_pipeline *any = hd_pipeline_parse("select,regalloc", plan->diagnostics);
    hd_pipeline *any32 = hd_pipeline_parse("address32,select,regalloc", plan->diagnostics);
    plan->allocation = most ? hd_pipeline_with(any, "regalloc", "max", most) : any;
    plan->allocation32 = most ? hd_pipeline_with(any32, "regalloc", "max", most) : any32;
    if (most) {
        hd_pipeline_free(any);
        hd_pipeline_free(any32);
    }
}

hd_status replay_plan_open(replay_plan *plan, const hd_replay_options *options, hd_diagnostics *diagnostics)
{
    hd_gpu *gpu = hd_gpu_load(options->gpu ? options->gpu : HD_GPU_DEFAULT, diagnostics);
    hd_status status = gpu->valid ? HD_STATUS_DONE : hd_status_of(diagnostics);
    *plan = (replay_plan){.options = options, .diagnostics = diagnostics, .gpu = gpu};
    if (gpu->valid && !hd_gpu_set(gpu, options->settings, options->setting_count))
        status = HD_STATUS_USAGE;
    plan->sms = options->sms ? options->sms : gpu->limits.sms;
    read_allocation(plan);
    if (options->time && (!has_timing(plan) || !has_shown_sm(plan)))
        status = HD_STATUS_USAGE;
    if (!replay_choose_models(plan, options->techniques ? options->techniques : "all"))
        status = HD_STATUS_USAGE;
    if (options->lane_fault && status == HD_STATUS_DONE && !choose_fault(plan))
        status = HD_STATUS_USAGE;
    return status;
}

void replay_plan_close(replay_plan *plan)
{
    for (uint32_t i = 0; i < plan->pipelines.count; i++)
        hd_pipeline_free(plan->pipelines.items[i]);
    hd_array_free(&plan->pipelines);
    hd_pipeline_free(plan->allocation);
    hd_pipeline_free(plan->allocation32);
    hd_gpu_free(plan->gpu);
    hd_arena_free(&plan->arena);
}
