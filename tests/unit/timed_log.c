/* See timed_log.h. */
#include "tests/unit/timed_log.h"
#include "tests/unit/unit.h"

/* ---- traces ------------------------------------------------------------------------------------------------------ */

bool timed_trace_take(void *context, const hd_event *e)
{
    timed_trace *t = context;
    if (e->kind == HD_EVENT_LAUNCH)
        t->kernel = e->function;
    if (e->kind == HD_EVENT_WARP_START) {
        while (t->warps.count <= e->warp)
            hd_array_push(&t->warps, (timed_warp_trace){0});
        t->warps.items[e->warp].warp = e->warp;
        t->warps.items[e->warp].cta = e->cta;
        t->ctas = e->cta + 1 > t->ctas ? e->cta + 1 : t->ctas;
    }
    if (e->kind != HD_EVENT_ISSUE && e->kind != HD_EVENT_RETURN)
        return true;
    timed_event kept = {.is_return = e->kind == HD_EVENT_RETURN,
                        .frame = e->frame,
                        .function = e->function,
                        .instruction = e->instruction,
                        .active = e->active,
                        .effective = e->effective};
    if (e->kind == HD_EVENT_ISSUE && e->addresses) {
        kept.addresses = t->addresses.count + 1;
        memcpy(hd_array_extend(&t->addresses, 32), e->addresses, 32 * sizeof *e->addresses);
    }
    if (e->kind == HD_EVENT_ISSUE && e->results && e->result_words) {
        kept.results = t->results.count + 1;
        memcpy(hd_array_extend(&t->results, 32 * e->result_words), e->results, 128 * (size_t)e->result_words);
    }
    if (e->kind == HD_EVENT_ISSUE && e->widths && e->width_words) {
        kept.widths = t->widths.count + 1;
        memcpy(hd_array_extend(&t->widths, e->width_words), e->widths, e->width_words * sizeof *e->widths);
    }
    hd_array_push(&t->warps.items[e->warp].events, kept);
    return true;
}

void timed_trace_free(timed_trace *t)
{
    for (uint32_t w = 0; w < t->warps.count; w++)
        hd_array_free(&t->warps.items[w].events);
    hd_array_free(&t->warps);
    hd_array_free(&t->addresses);
    hd_array_free(&t->results);
    hd_array_free(&t->widths);
}

/* ---- logs -------------------------------------------------------------------------------------------------------- */

static timed_logged *logged_of(hd_rf_model *model) { return (timed_logged *)(uintptr_t)model->info; }

/* The accesses of the sink from `first` on; in the log, `after` counts from there, too. */
static void log_call(hd_rf_model *model, timed_call call, const hd_access_sink *sink, uint32_t first)
{
    timed_log *log = &logged_of(model)->log;
    call.first = log->accesses.count;
    for (uint32_t a = first; sink && a < sink->accesses.count; a++) {
        hd_rf_access access = sink->accesses.items[a];
        assert_true(access.after <= a);
        access.after = access.after > first ? (uint16_t)(access.after - first) : 0;
        hd_array_push(&log->accesses, access);
    }
    call.count = log->accesses.count - call.first;
    hd_array_push(&log->calls, call);
}

static void logged_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    log_call(model, (timed_call){.hook = TIMED_BEGIN, .warp = warp->identity.warp}, NULL, 0);
    if (logged_of(model)->real->ops->warp_begin)
        logged_of(model)->real->ops->warp_begin(model, warp);
}

static void logged_end(hd_rf_model *model, hd_rf_warp *warp)
{
    log_call(model, (timed_call){.hook = TIMED_END, .warp = warp->identity.warp}, NULL, 0);
    if (logged_of(model)->real->ops->warp_end)
        logged_of(model)->real->ops->warp_end(model, warp);
}

static void logged_cta_end(hd_rf_model *model, uint32_t cta)
{
    log_call(model, (timed_call){.hook = TIMED_CTA_END, .warp = cta}, NULL, 0);
    if (logged_of(model)->real->ops->cta_end)
        logged_of(model)->real->ops->cta_end(model, cta);
}

static void logged_switch(hd_rf_model *model, hd_rf_warp *out, hd_rf_warp *in, hd_access_sink *sink)
{
    uint32_t first = sink->accesses.count;
    assert_true(!out != !in);
    if (logged_of(model)->real->ops->warp_switch)
        logged_of(model)->real->ops->warp_switch(model, out, in, sink);
    timed_call call = {.hook = out ? TIMED_OUT : TIMED_IN, .warp = (out ? out : in)->identity.warp};
    log_call(model, call, sink, first);
}

static timed_call call_of(timed_hook hook, const hd_rf_step *step)
{
    return (timed_call){.hook = hook,
                        .warp = step->warp->identity.warp,
                        .instruction = step->instruction,
                        .effective = step->effective};
}

static hd_gate logged_may_issue(hd_rf_model *model, const hd_rf_step *step, uint64_t now)
{
    timed_logged *logged = logged_of(model);
    uint32_t warp = step->warp->identity.warp;
    while (logged->gates.count <= warp)
        hd_array_push(&logged->gates, (timed_gate){0});
    timed_gate *last = &logged->gates.items[warp];
    assert_true(now >= last->gate.wake || now == last->asked); /* not before its time */
    *last = (timed_gate){logged->real->ops->may_issue(model, step, now), now};
    logged->refusals += !last->gate.ready;
    return last->gate;
}

static void logged_before(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    uint32_t first = sink->accesses.count;
    logged_of(model)->real->ops->before(model, step, sink);
    log_call(model, call_of(TIMED_BEFORE, step), sink, first);
}

static void logged_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    uint32_t first = sink->accesses.count;
    logged_of(model)->real->ops->execute(model, step, sink);
    log_call(model, call_of(TIMED_EXECUTE, step), sink, first);
}

void timed_logged_init(timed_logged *logged, const hd_rf_model_info *real)
{
    *logged = (timed_logged){.info = *real, .ops = *real->ops, .real = real};
    logged->ops.warp_begin = logged_begin;
    logged->ops.warp_end = logged_end;
    logged->ops.cta_end = logged_cta_end;
    logged->ops.warp_switch = real->ops->coupled ? logged_switch : NULL;
    logged->ops.may_issue = real->ops->may_issue ? logged_may_issue : NULL;
    logged->ops.before = real->ops->before ? logged_before : NULL;
    logged->ops.execute = logged_execute;
    logged->info.ops = &logged->ops;
}

void timed_logged_free(timed_logged *logged)
{
    hd_array_free(&logged->log.calls);
    hd_array_free(&logged->log.accesses);
    hd_array_free(&logged->gates);
}
