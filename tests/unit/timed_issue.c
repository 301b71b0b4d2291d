/* One instruction: prepared, let through by the gate, and issued; and units that it leaves idle (timed_state.h). */
#include "tests/unit/timed_state.h"

enum { RESULT_CYCLES = 3, ALL_UNITS = (1 << (HD_UNIT_CTRL + 1)) - 1 };

void timed_prepare(timed_driver *d, timed_warp *w)
{
    hd_rf_step step = timed_step_of(d, w);
    w->prepared = true;
    if (!d->ops->before)
        return;
    hd_access_sink_begin(&d->sink, step.source_count);
    d->sink.now = d->now;
    d->ops->before(d->model, &step, &d->sink);
    if (d->sink.failure.wrong)
        timed_fail_if_wrong(d, &step);
    timed_count_accesses(d, 0, 0);
    timed_add_group(d, w, true);
}

/* The gate answers the same when it is asked again, and not before its time. */
bool timed_gate_is_open(timed_driver *d, timed_warp *w)
{
    hd_rf_step step = timed_step_of(d, w);
    w->refused = false;
    if (!d->ops->may_issue)
        return true;
    if (w->wake > d->now)
        return false;
    hd_gate gate = d->ops->may_issue(d->model, &step, d->now), again = d->ops->may_issue(d->model, &step, d->now);
    assert_true(gate.ready == again.ready && gate.wake == again.wake && gate.reason == again.reason);
    assert_true(gate.ready || (gate.reason != HD_STALL_NONE && (!gate.wake || gate.wake > d->now)));
    w->wake = gate.ready ? 0 : gate.wake;
    w->refused = !gate.ready && !gate.wake;
    return gate.ready;
}

bool timed_can_issue(const timed_driver *d, timed_warp *w)
{
    hd_rf_step step = timed_step_of(d, w);
    return w->prepared && !w->held && !timed_waits_at_barrier(d, w) && !timed_waits_for_words(w, &step, false);
}

void timed_issue(timed_driver *d, timed_warp *w)
{
    hd_rf_step step = timed_step_of(d, w);
    bool runs = step.effective != 0, is_load = runs && step.code->traits[step.instruction] & HD_RF_LONG;
    hd_access_sink_begin(&d->sink, step.source_count);
    d->sink.now = d->now;
    d->ops->execute(d->model, &step, &d->sink);
    timed_fail_if_wrong(d, &step);
    timed_count_accesses(d, runs ? step.source_count : 0, runs ? step.destination_count : 0);
    timed_group *g = timed_add_group(d, w, false);
    g->is_load = is_load && !d->sink.skips_unit;
    g->results_at = d->now + (g->is_load ? d->run->load_cycles : RESULT_CYCLES);
    for (uint32_t k = 0; k < step.destination_count && runs; k++) {
        uint32_t word = step.destinations[k].word;
        hd_identity_write(&w->warp.identity, hd_rf_index(&step, word), step.effective);
        hd_array_push(&w->pending, (timed_pending_word){w->warp.identity.frame, word, g});
    }
    w->barriers += runs && step.code->traits[step.instruction] & HD_RF_BARRIER;
    w->next++;
    w->prepared = false;
    d->issued_units = 1u << hd_form_unit(hd_insn_form(step.code->function, step.insn));
    d->moved = d->now;
    d->run->issued++;
}

void timed_offer_idle_units(timed_driver *d)
{
    uint32_t units = ALL_UNITS & ~d->issued_units;
    if (!d->ops->idle_slot)
        return;
    hd_access_sink_begin(&d->sink, 0);
    d->sink.now = d->now;
    uint32_t used = d->ops->idle_slot(d->model, units, d->now, &d->sink);
    assert_int_equal(used & (~units | 1u << HD_UNIT_NONE), 0);
    d->run->idle_units += (uint32_t)__builtin_popcount(used);
    timed_count_accesses(d, 0, 0);
    timed_add_group(d, NULL, false);
}
