/* The technique's model as an SM drives it: warps and blocks that come and go, and at an instruction the hooks, the
 * proof and the counters. */
#include "hwmodel/sm/state.h"

/* ---- warps ------------------------------------------------------------------------------------------------------- */

static void take(hd_sm *sm, hd_warp_event_kind kind, uint32_t cta, uint32_t warp, uint32_t frame)
{
    uint32_t at;
    hd_runner_take(sm->setup.runner, &(hd_warp_event){.kind = (uint8_t)kind, .cta = cta, .warp = warp, .frame = frame},
                   &at);
}

hd_rf_warp *sm_walk_begin(hd_sm *sm, uint32_t cta, uint32_t warp)
{
    hd_runner *runner = sm->setup.runner;
    take(sm, HD_WARP_BEGINS, cta, warp, 0);
    for (uint32_t i = 0; i < runner->warps.count; i++)
        if (runner->warps.items[i]->alive && runner->warps.items[i]->number == warp)
            return &runner->warps.items[i]->warp;
    return NULL;
}

void sm_walk_end(hd_sm *sm, uint32_t cta, uint32_t warp) { take(sm, HD_WARP_ENDS, cta, warp, 0); }

void sm_walk_end_cta(hd_sm *sm, uint32_t cta) { take(sm, HD_CTA_ENDS, cta, 0, 0); }

/* ---- instructions ------------------------------------------------------------------------------------------------ */

hd_rf_step sm_walk_reach(hd_sm *sm, uint32_t cta, uint32_t warp, const hd_trace_cursor *cursor)
{
    const hd_trace_step *s = &cursor->step;
    const hd_segment_part part = {0, s->instruction, 0};
    const uint32_t masks[] = {s->active, s->effective};
    const uint8_t effective = 1;
    const hd_trace_segment segment = {.shape = HD_NONE,
                                      .wide_shape = HD_NONE,
                                      .function = s->function,
                                      .count = 1,
                                      .part_count = 1,
                                      .parts = &part,
                                      .masks = masks,
                                      .effective = &effective,
                                      .addresses = s->has_addresses ? cursor->addresses : NULL,
                                      .results = s->results,
                                      .effect = s->has_effect ? &cursor->effect : NULL};
    if (s->returned != HD_NONE)
        take(sm, HD_WARP_RETURNS, cta, warp, s->returned);
    hd_rf_step step = hd_runner_peek(
        sm->setup.runner,
        &(hd_warp_event){
            .kind = HD_WARP_ISSUES, .end = 1, .cta = cta, .warp = warp, .frame = s->frame, .segment = &segment},
        0);
    step.widths = s->width_count ? cursor->widths : NULL;
    return step;
}

static hd_access_sink *begin(hd_sm *sm, uint32_t sources)
{
    hd_access_sink *sink = &sm->setup.runner->sink;
    hd_access_sink_begin(sink, sources);
    sink->now = sm->now;
    sink->number = 0;
    return sink;
}

const hd_access_sink *sm_walk_before(hd_sm *sm, const hd_rf_step *step)
{
    hd_access_sink *sink = begin(sm, 0);
    sm->model->info->ops->before(sm->model, step, sink);
    hd_access_count(sink, 0, 0, sm->model->counters);
    return sink;
}

const hd_access_sink *sm_walk_switch(hd_sm *sm, hd_rf_warp *warp, bool leaves)
{
    hd_access_sink *sink = begin(sm, 0);
    if (sm->model->info->ops->warp_switch)
        sm->model->info->ops->warp_switch(sm->model, leaves ? warp : NULL, leaves ? NULL : warp, sink);
    hd_access_count(sink, 0, 0, sm->model->counters);
    return sink;
}

const hd_access_sink *sm_walk_execute(hd_sm *sm, const hd_rf_step *step)
{
    hd_access_sink *sink = begin(sm, step->source_count);
    sink->number = ++sm->issued;
    bool runs = step->effective != 0;
    sm->model->info->ops->execute(sm->model, step, sink);
    hd_rf_prove_delivered(sink, step);
    hd_access_count(sink, runs ? step->source_count : 0, runs ? step->destination_count : 0, sm->model->counters);
    if (sink->failure.wrong) {
        sm->failed = true;
        sm->setup.runner->failure = sink->failure;
    }
    for (uint32_t d = 0; d < step->destination_count && runs; d++)
        hd_identity_write(&step->warp->identity, hd_rf_index(step, step->destinations[d].word), step->effective);
    return sink;
}
