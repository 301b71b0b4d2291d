/* What holds for all files of a replay, from its options: the GPU, the models with their passes, and the fault of a
 * lane. */
#include "driver/replay/replay_work.h"

/* Reports what is wrong with an option; note: NULL: none. */
static bool refuse(replay_plan *plan, const char *what, const char *note)
{
    hd_diagnostic *d = hd_report(plan->diagnostics, HD_DIAG_BAD_VALUE, NULL, (hd_span){0, 0}, "%s", what);
    if (note)
        hd_note_add(plan->diagnostics, d, NULL, (hd_span){0, 0}, "%s", note);
    return false;
}

/* Whether the GPU's cycles can be simulated, and those of the SM that a timeline is asked of. false: reported. */
static bool can_be_timed(replay_plan *plan)
{
    const hd_gpu *gpu = plan->gpu;
    uint32_t warps = gpu->limits.warps_per_sm, sm = plan->options->timeline_sm;
    if (!gpu->valid)
        return true;
    if (warps > HD_SM_WARPS)
        refuse(plan,
               hd_arena_printf(&plan->arena,
                               "an SM of %s has %u warps (limits.warps_per_sm); with cycles there are at most %u",
                               gpu->name, warps, HD_SM_WARPS),
               NULL);
    if (!gpu->machine.known)
        return refuse(
            plan,
            hd_arena_printf(&plan->arena,
                            "the description of %s has no section 'timing', so that there are no cycles for it",
                            gpu->name),
            hd_arena_printf(&plan->arena, "%s have one", hd_gpu_names_with_timing(&plan->arena)));
    if (warps <= HD_SM_WARPS && plan->options->timeline_end && sm >= plan->sms)
        return refuse(plan,
                      hd_arena_printf(&plan->arena,
                                      "there is no SM %u for the timeline: %u are simulated, from 0 to %u", sm,
                                      plan->sms, plan->sms - 1),
                      NULL);
    return warps <= HD_SM_WARPS;
}

/* ---- a faulty lane ----------------------------------------------------------------------------------------------- */

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

/* Reads options->lane_fault. false: it, or a model that runs with it, does not fit (reported). */
static bool choose_fault(replay_plan *plan)
{
    hd_faulty_lane *lane = &plan->lane;
    const hd_rf_model_info *first = NULL; /* after the baseline */
    char message[HD_LANE_FAULT_MESSAGE];
    if (!hd_lane_fault_read(plan->options->lane_fault, &lane->fault, message))
        return refuse(plan, hd_arena_printf(&plan->arena, "--lane-fault: %s", message), NULL);
    if (lane->fault.sm >= plan->sms)
        return refuse(plan,
                      hd_arena_printf(&plan->arena, "--lane-fault: there is no SM %u: there are %u, from 0 to %u",
                                      lane->fault.sm, plan->sms, plan->sms - 1),
                      NULL);
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
    lane->sms = plan->sms;
    lane->thread = first ? thread_of(first, lane->fault.lane) : lane->fault.lane;
    plan->faulty = true;
    return true;
}

/* false: it is none (reported). */
static bool choose_order(replay_plan *plan, const char *option, const char *text, hd_ordering *order)
{
    return hd_ordering_read(text, order) ||
           refuse(plan, hd_arena_printf(&plan->arena, "--%s takes " HD_ORDERING_FORM ", not '%s'", option, text), NULL);
}

/* Whether the program listens to a model that is replayed. false: reported. */
static bool has_events(replay_plan *plan)
{
    for (uint32_t m = 0; m < plan->model_count; m++)
        if (replay_events_are_of(plan, m))
            return true;
    return refuse(plan,
                  hd_arena_printf(&plan->arena, "there are no events of '%s': no such model is replayed",
                                  plan->options->event_model ? plan->options->event_model : "baseline"),
                  NULL);
}

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

hd_status replay_plan_open(replay_plan *plan, const hd_replay_options *options, hd_diagnostics *diagnostics)
{
    hd_gpu *gpu = hd_gpu_load_given(options->gpu ? options->gpu : HD_GPU_DEFAULT, options->given, diagnostics);
    hd_status status = gpu->valid ? HD_STATUS_DONE : hd_status_of(diagnostics);
    hd_ordering buffers;
    *plan = (replay_plan){.options = options, .diagnostics = diagnostics, .gpu = gpu};
    if (gpu->valid && !hd_gpu_set(gpu, options->settings, options->setting_count))
        status = HD_STATUS_USAGE;
    if (!hd_launch_code_read(options->code, &plan->code)) {
        refuse(plan, hd_arena_printf(&plan->arena, "the code is ptx, machine or auto, not '%s'", options->code), NULL);
        status = HD_STATUS_USAGE;
    }
    if (!choose_order(plan, "block-order", options->block_order, &plan->block_order) ||
        !choose_order(plan, "buffer-order", options->buffer_order, &buffers))
        status = HD_STATUS_USAGE;
    plan->prefers_machine =
        options->time && gpu->compute_major * 10 + gpu->compute_minor >= HD_ASSEMBLE_OLDEST && gpu->valid;
    plan->sms = options->sms ? options->sms : gpu->limits.sms;
    for (uint32_t i = 0; i < 2; i++) {
        hd_pipeline *any = hd_pipeline_parse(i ? "address32,select,regalloc" : "select,regalloc", diagnostics);
        bool limited = options->max_registers;
        plan->allocations[i] = limited ? hd_pipeline_with(any, "regalloc", "max", options->max_registers) : any;
        if (limited)
            hd_pipeline_free(any);
    }
    if (options->time && !can_be_timed(plan))
        status = HD_STATUS_USAGE;
    if (!replay_choose_models(plan, options->techniques ? options->techniques : "all"))
        status = HD_STATUS_USAGE;
    if (options->event && status == HD_STATUS_DONE && !has_events(plan))
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
    hd_pipeline_free(plan->allocations[0]);
    hd_pipeline_free(plan->allocations[1]);
    hd_gpu_free(plan->gpu);
    hd_arena_free(&plan->arena);
}
