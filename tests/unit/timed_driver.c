/* See timed_driver.h. */
#include "tests/unit/timed_state.h"

enum { LONGEST_WAIT = 20000 };

/* ---- free runs --------------------------------------------------------------------------------------------------- */

static uint32_t rank_of(const timed_driver *d, timed_warp *w)
{
    hd_rf_step step = timed_step_of(d, w);
    return d->ops->rank_warp ? d->ops->rank_warp(d->model, &step, d->now) : 0;
}

/* Of the warps that wait and could go on, the highest rank; of these, the first that came. */
static timed_warp *choose_waiting(timed_driver *d)
{
    timed_warp *best = NULL;
    for (uint32_t s = 0; s < d->slots; s++) {
        timed_warp *w = d->warps[s];
        if (!w->resident || w->active || !timed_reach_instruction(d, w) || timed_waits_long(d, w))
            continue;
        uint32_t rank = rank_of(d, w), most = best ? rank_of(d, best) : 0;
        if (!best || rank > most || (rank == most && w->queued < best->queued))
            best = w;
    }
    return best;
}

static void let_warps_leave(timed_driver *d, bool issued)
{
    bool crowded = !issued && d->active == d->active_most;
    for (uint32_t s = 0; s < d->slots; s++) {
        timed_warp *w = d->warps[s];
        if (!w->resident || !w->active || w->held || !timed_reach_instruction(d, w))
            continue;
        bool by_chance = d->run->seed && unit_random(&d->run->seed) % 16 == 0;
        bool gives_way = crowded && w->refused && choose_waiting(d);
        if (timed_waits_long(d, w) || by_chance || gives_way)
            timed_switch_warp(d, w, false);
        crowded = crowded && !gives_way;
    }
}

static void fill_active(timed_driver *d)
{
    timed_warp *w;
    while (d->active < d->active_most && (w = choose_waiting(d)))
        timed_switch_warp(d, w, true);
}

/* Round robin from the warp after the last one that issued, highest rank first. */
static timed_warp *choose_issuer(timed_driver *d)
{
    timed_warp *best = NULL;
    for (uint32_t k = 1; k <= d->slots; k++) {
        timed_warp *w = d->warps[(d->turn + k) % d->slots];
        if (!w->resident || !w->active || !timed_reach_instruction(d, w))
            continue;
        if (!w->prepared && !timed_waits_long(d, w))
            timed_prepare(d, w);
        if (!timed_can_issue(d, w) || (best && rank_of(d, w) <= rank_of(d, best)) || !timed_gate_is_open(d, w))
            continue;
        best = w;
    }
    return best;
}

static bool end_warps(timed_driver *d)
{
    bool left = d->next_cta < d->run->trace->ctas;
    for (uint32_t s = 0; s < d->slots; s++) {
        timed_warp *w = d->warps[s];
        if (w->resident && !timed_reach_instruction(d, w) && !w->in_flight)
            timed_end_warp(d, w);
        left = left || w->resident;
    }
    return left;
}

static bool free_cycle(timed_driver *d)
{
    timed_start_ctas(d);
    fill_active(d);
    timed_warp *w = choose_issuer(d);
    d->issued_units = 0;
    if (w) {
        timed_issue(d, w);
        d->turn = w->warp.slot;
    }
    let_warps_leave(d, w != NULL);
    return end_warps(d);
}

/* ---- runs that follow a log -------------------------------------------------------------------------------------- */

static timed_warp *warp_numbered(const timed_driver *d, uint32_t number)
{
    for (uint32_t s = 0; s < d->slots; s++)
        if (d->warps[s]->resident && d->warps[s]->warp.identity.warp == number)
            return d->warps[s];
    fail_msg("warp %u is not resident", number);
    return NULL;
}

/* The next thing that the log says of the warp is that it issues. */
static bool issues_next(const timed_driver *d, uint32_t number)
{
    const timed_log *log = d->run->order;
    for (uint32_t c = d->at; c < log->calls.count; c++) {
        const timed_call *call = &log->calls.items[c];
        if (call->warp == number && call->hook != TIMED_BEFORE && call->hook != TIMED_CTA_END)
            return call->hook == TIMED_EXECUTE;
    }
    return false;
}

static bool follow_issue(timed_driver *d, timed_warp *w, const timed_call *call)
{
    assert_true(timed_reach_instruction(d, w));
    if (!timed_can_issue(d, w) || !timed_gate_is_open(d, w))
        return false;
    hd_rf_step step = timed_step_of(d, w);
    assert_int_equal(step.instruction, call->instruction);
    assert_int_equal(step.effective, call->effective);
    timed_issue(d, w);
    return true;
}

/* false: what the log says next cannot be done yet. */
static bool follow(timed_driver *d, const timed_call *call)
{
    if (call->hook == TIMED_CTA_END || call->hook == TIMED_BEFORE)
        return true;
    if (call->hook == TIMED_BEGIN) {
        timed_begin_warp(d, call->warp);
        d->resident_ctas += timed_live_warps(d, d->run->trace->warps.items[call->warp].cta) == 1;
        return true;
    }
    timed_warp *w = warp_numbered(d, call->warp);
    if (call->hook == TIMED_EXECUTE)
        return follow_issue(d, w, call);
    if (call->hook == TIMED_END) {
        assert_false(timed_reach_instruction(d, w));
        if (w->in_flight)
            return false;
        timed_end_warp(d, w);
    } else {
        if (w->held)
            return false;
        timed_switch_warp(d, w, call->hook == TIMED_IN);
    }
    return true;
}

static bool followed_cycle(timed_driver *d)
{
    const timed_log *log = d->run->order;
    d->issued_units = 0;
    for (uint32_t s = 0; s < d->slots; s++) {
        timed_warp *w = d->warps[s];
        if (w->resident && !w->prepared && timed_reach_instruction(d, w) && issues_next(d, w->warp.identity.warp) &&
            !timed_waits_long(d, w))
            timed_prepare(d, w);
    }
    while (d->at < log->calls.count && !d->issued_units && follow(d, &log->calls.items[d->at]))
        d->at++;
    return d->at < log->calls.count;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static void open_driver(timed_driver *d, timed_run *run)
{
    uint32_t most = run->residency.active ? run->residency.active : 1;
    *d =
        (timed_driver){.run = run, .model = run->model, .ops = run->model->info->ops, .slots = run->trace->warps.count};
    d->active_most = run->model->active_warps && run->model->active_warps < most ? run->model->active_warps : most;
    d->warps = hd_calloc(d->slots, sizeof(timed_warp *));
    for (uint32_t s = 0; s < d->slots; s++) {
        d->warps[s] = hd_calloc(1, sizeof(timed_warp));
        d->warps[s]->warp.slot = s;
    }
    assert_true(run->banks <= TIMED_MOST_BANKS);
    hd_rf_launch launch = {run->trace->kernel, run->residency};
    launch.residency.active = d->active_most;
    if (d->ops->launch)
        d->ops->launch(d->model, &launch);
}

static void close_driver(timed_driver *d)
{
    for (uint32_t s = 0; s < d->slots; s++) {
        hd_identity_free(&d->warps[s]->warp.identity);
        hd_array_free(&d->warps[s]->pending);
        free(d->warps[s]);
    }
    free(d->warps);
    hd_array_free(&d->groups);
    hd_access_sink_free(&d->sink);
}

void timed_run_all(timed_run *run)
{
    timed_driver d;
    open_driver(&d, run);
    for (bool left = true; left || d.groups.count; d.now++) {
        timed_advance_accesses(&d);
        left = left && (run->order ? followed_cycle(&d) : free_cycle(&d));
        timed_offer_idle_units(&d);
        if (d.now - d.moved > LONGEST_WAIT)
            fail_msg("%s: nothing moves after cycle %llu", d.model->info->name, (unsigned long long)d.moved);
    }
    run->cycles = d.now;
    if (d.ops->finalize)
        d.ops->finalize(d.model);
    close_driver(&d);
}
