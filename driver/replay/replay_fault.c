/* A replay with a fault in a lane: which models may run with it, and what they saw of it. */
#include "driver/replay/replay_work.h"

static bool refuse(hd_replay *r, const char *what, const char *note)
{
    hd_diagnostic *d = hd_report(r->diagnostics, HD_DIAG_BAD_VALUE, NULL, (hd_span){0, 0}, "%s", what);
    if (note)
        hd_note_add(r->diagnostics, d, NULL, (hd_span){0, 0}, "%s", note);
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

static bool fits_together(hd_replay *r, const hd_rf_model_info *first, const hd_rf_model_info *model)
{
    for (uint32_t lane = 0; lane < 32; lane++)
        if (thread_of(first, lane) != thread_of(model, lane))
            return refuse(r,
                          hd_arena_printf(&r->arena,
                                          "%s and %s map threads to lanes in different ways, so that a faulty lane "
                                          "has different threads",
                                          first->name, model->name),
                          "replay them one after the other");
    return true;
}

/* The baseline is the first one. */
static bool choose_thread(hd_replay *r, hd_faulty_lane *lane)
{
    const hd_rf_model_info *first = NULL;
    lane->thread = lane->fault.lane;
    for (uint32_t m = 1; m < r->plan.model_count; m++) {
        const hd_rf_model_info *model = r->plan.models[m].info;
        if (!model->ops->thread_of_lane)
            return refuse(r,
                          hd_arena_printf(&r->arena,
                                          "%s does not compare what lanes compute, so that it cannot be beside "
                                          "--lane-fault",
                                          model->name),
                          hd_arena_printf(&r->arena, "models that do: %s", models_that_compare(&r->arena)));
        if (first && !fits_together(r, first, model))
            return false;
        first = first ? first : model;
    }
    if (first)
        lane->thread = thread_of(first, lane->fault.lane);
    return true;
}

bool replay_choose_fault(hd_replay *r)
{
    hd_faulty_lane lane = {.sms = r->plan.sms};
    char message[HD_LANE_FAULT_MESSAGE];
    if (!hd_lane_fault_read(r->plan.options->lane_fault, &lane.fault, message))
        return refuse(r, hd_arena_printf(&r->arena, "--lane-fault: %s", message), NULL);
    if (lane.fault.sm >= lane.sms)
        return refuse(r,
                      hd_arena_printf(&r->arena, "--lane-fault: there is no SM %u: there are %u, from 0 to %u",
                                      lane.fault.sm, lane.sms, lane.sms - 1),
                      NULL);
    r->plan.faulty = true;
    r->report.lane_fault = r->plan.options->lane_fault;
    return choose_thread(r, &lane) && (r->plan.lane = lane, true);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

const hd_replay_detection *replay_detection_of(replay_part *p, uint32_t m, const replay_tally *t)
{
    const hd_rf_detection *from = t->timed ? &t->timed_detection : &t->detection;
    if (!p->plan->faulty || !p->plan->models[m].info->ops->thread_of_lane || !t->ran)
        return NULL;
    hd_replay_detection to = {.wrong = from->wrong,
                              .caught = from->caught,
                              .differences = from->differences,
                              .in_cycles = t->timed,
                              .at = from->first.at,
                              .block = from->first.cta,
                              .warp = from->first.warp,
                              .thread = from->first.thread};
    if (to.differences)
        to.instruction =
            replay_instruction_of(&p->arena, p->files.items[0]->module, from->first.function, from->first.instruction);
    return hd_arena_copy(&p->arena, &to, sizeof to);
}

bool replay_outputs_are_right(hd_session *session)
{
    hd_diagnostics quiet, *old = session->diagnostics;
    hd_diagnostics_init(&quiet);
    session->diagnostics = &quiet;
    bool right = hd_session_check(session);
    session->diagnostics = old;
    hd_diagnostics_free(&quiet);
    return right;
}

bool replay_memory_is_same(const hd_session *original, const hd_session *other)
{
    hd_diagnostics quiet;
    hd_diagnostics_init(&quiet);
    bool same = hd_session_compare(original, other, &quiet);
    hd_diagnostics_free(&quiet);
    return same;
}
