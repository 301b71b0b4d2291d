/* What an SM shows on its timeline. O(1) each. */
#include "hwmodel/sm/state.h"

void sm_show_stall(hd_sm *sm, uint32_t scheduler, uint32_t slot, uint64_t begin, uint64_t end)
{
    uint32_t width = sm->setup.machine->core.issue_width;
    for (; slot < width; slot++)
        hd_timeline_stall(sm->setup.timeline, scheduler * width + slot, sm->schedulers[scheduler].reason, begin, end);
}

static hd_timeline_what what_of(const hd_sm *sm, const sm_warp *w)
{
    const hd_record *cta = sm->ctas.items[w->cta].trace;
    const hd_record_step *step = &w->cursor.step;
    return (hd_timeline_what){cta->cta, cta->warps[w->index].warp, step->function, step->instruction,
                              (uint32_t)__builtin_popcount(step->effective)};
}

void sm_show_issue(hd_sm *sm, uint32_t job, uint32_t slot)
{
    const hd_machine *m = sm->setup.machine;
    uint32_t place = sm->jobs.items[job].warp;
    hd_timeline_what what = what_of(sm, &sm->warps[place]);
    sm->jobs.items[job].shown = hd_timeline_issue(
        sm->setup.timeline, place % m->core.schedulers * m->core.issue_width + slot, place, &what, sm->now);
}

void sm_show_completion(hd_sm *sm, const sm_inflight *job)
{
    hd_timeline_complete(sm->setup.timeline, job->shown, sm->now);
}

void sm_show_warp(hd_sm *sm, uint32_t slot)
{
    const sm_warp *w = &sm->warps[slot];
    hd_timeline_what what = what_of(sm, w);
    hd_timeline_warp(sm->setup.timeline, slot, &what, w->start, sm->now + 1);
}
