/* Events of a warp other than its instructions, and whole trace segments; whether every instruction is observed. */
#include "hwmodel/exec/control/events.h"
#include "hwmodel/exec/control/columns.h"

bool hd_emit_event(const hd_warp *w, hd_event_kind kind)
{
    const hd_cta *cta = w->cta;
    const hd_frame *f = w->frame_count ? hd_top_frame(w) : NULL;
    hd_event e = {.kind = (uint8_t)kind,
                  .cta = cta->index,
                  .warp = w->id,
                  .frame = f ? f->serial : 0,
                  .function = f ? f->code->index : 0,
                  .active = w->stack.count ? hd_top(w)->mask : 0};
    e.effective = e.active;
    if (!hd_emit_segment(w->cta))
        return false;
    for (uint32_t i = 0; i < cta->sink_count; i++)
        if (!cta->sinks[i].take(cta->sinks[i].context, &e))
            return false;
    return true;
}

/* A pending segment that ends at a barrier comes before the barrier's events. */
static void emit_barrier(hd_cta *cta, const hd_event *e)
{
    if (!cta->barrier_events || (cta->segment && cta->segment->barrier && !hd_emit_segment(cta)))
        return;
    for (uint32_t i = 0; i < cta->sink_count; i++)
        if (cta->sinks[i].columns & HD_COLUMN_BARRIERS)
            cta->sinks[i].take(cta->sinks[i].context, e);
}

void hd_emit_arrive(const hd_warp *w, uint32_t barrier, bool reported)
{
    hd_event e = {.kind = HD_EVENT_ARRIVE, .barrier = (uint8_t)barrier, .reported = reported};
    e.cta = w->cta->index;
    e.warp = w->id;
    emit_barrier(w->cta, &e);
}

void hd_emit_open(hd_cta *cta, uint32_t barrier)
{
    emit_barrier(cta, &(hd_event){.kind = HD_EVENT_OPEN, .barrier = (uint8_t)barrier, .cta = cta->index});
}

void hd_emit_pass(const hd_warp *w, uint32_t barrier)
{
    hd_event e = {.kind = HD_EVENT_PASS, .barrier = (uint8_t)barrier, .cta = w->cta->index, .warp = w->id};
    emit_barrier(w->cta, &e);
}

void hd_emit_mbarrier_arrive(const hd_warp *w, uint32_t object, uint32_t after_copies)
{
    hd_event e = {.kind = HD_EVENT_ARRIVE, .barrier = HD_EVENT_MBARRIER, .cta = w->cta->index, .warp = w->id};
    e.object = object;
    e.after_copies = after_copies;
    emit_barrier(w->cta, &e);
}

void hd_emit_mbarrier_open(hd_cta *cta, uint32_t object, uint32_t phase)
{
    hd_event e = {.kind = HD_EVENT_OPEN, .barrier = HD_EVENT_MBARRIER, .cta = cta->index, .object = object};
    e.parity = phase & 1;
    emit_barrier(cta, &e);
}

void hd_emit_mbarrier_pass(const hd_warp *w, uint32_t object, uint32_t phase)
{
    hd_event e = {.kind = HD_EVENT_PASS, .barrier = HD_EVENT_MBARRIER, .cta = w->cta->index, .warp = w->id};
    e.object = object;
    e.parity = phase & 1;
    emit_barrier(w->cta, &e);
}

bool hd_emit_segment(hd_cta *cta)
{
    hd_segment_event *s = cta->segment;
    if (!s || !s->part_count)
        return true;
    bool good = true;
    hd_gather_before(cta->gathering, s, ~(uint64_t)0);
    s->count = hd_segment_length(s);
    for (uint32_t i = 0; i < cta->sink_count && good; i++)
        good = cta->sinks[i].take_segment(cta->sinks[i].context, s);
    s->part_count = 0;
    s->open_warp = HD_NONE;
    return good;
}

void hd_watch(hd_cta *cta)
{
    cta->watched = cta->checks || cta->trace || cta->faulty ? HD_WATCHED
                   : !cta->sink_count                       ? HD_UNWATCHED
                   : cta->segment                           ? HD_WATCHED_IN_SEGMENTS
                                                            : HD_WATCHED;
}

/* A fault's status takes precedence. */
hd_step hd_stop(hd_warp *w)
{
    if (w->cta->status == HD_EXEC_DONE)
        w->cta->status = HD_EXEC_STOPPED;
    return HD_STEP_STOP;
}
