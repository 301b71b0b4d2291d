/* Models that keep warps waiting for ever end the run of an SM, each in its own way: a gate without a time to ask
 * again, one that is asked again in each cycle or much later, and one beside idle slots that are taken in each cycle.
 * The waits name each warp and its reason. */
#include "small_machine.h"
#include "timed_kernel.h"

static const char body[] = "add.u32 %r4, %r0, 1;\nmul.lo.u32 %r4, %r4, 3;\nadd.u32 %r5, %r4, 1;\n";

static uint64_t delay; /* until a gate is asked again; 0: it does not say */
static uint32_t kept;  /* warps from this number on are kept */
static uint64_t opens; /* cycle in which gates open; 0: never */

static hd_gate keep(hd_rf_model *model, const hd_rf_step *step, uint64_t now)
{
    (void)model;
    if (step->warp->identity.warp < kept || (opens && now >= opens))
        return (hd_gate){.ready = true};
    return (hd_gate){.reason = HD_STALL_ACQUIRE, .wake = delay ? now + delay : 0};
}

static uint32_t take_all(hd_rf_model *model, uint32_t units, uint64_t now, hd_access_sink *sink)
{
    (void)model, (void)now, (void)sink;
    return units;
}

static timed time_kept(uint64_t wake_delay, uint32_t first_kept, bool idle_slots)
{
    hd_rf_model_info info = *hd_rf_model_find("baseline", 8);
    hd_rf_ops ops = *info.ops;
    ops.may_issue = keep;
    ops.idle_slot = idle_slots ? take_all : NULL;
    info.ops = &ops;
    delay = wake_delay;
    kept = first_kept;
    timed t = {.model = &info, .machine = small_machine(), .may_lock = true};
    time_body(&t, body, 2, 64);
    t.model = NULL;
    return t;
}

static void expect_lock(uint64_t wake_delay, uint32_t first_kept, bool idle_slots)
{
    timed t = time_kept(wake_delay, first_kept, idle_slots);
    assert_int_equal(t.status, HD_TIMING_LOCKED);
    assert_int_equal(t.wait_count, 4 - first_kept);
    for (uint32_t i = 0; i < t.wait_count; i++) {
        assert_true(t.waits[i].gated && t.waits[i].sm == 0);
        assert_true(t.waits[i].cta * 2 + t.waits[i].warp >= first_kept);
        assert_string_equal(t.waits[i].what, hd_stall_texts[HD_STALL_ACQUIRE]);
    }
}

static void gates_that_never_open_end_the_run(void **state)
{
    (void)state;
    opens = 0;
    for (uint32_t first = 0; first < 4; first++) {
        expect_lock(0, first, false);
        expect_lock(1, first, false);
        expect_lock(1 << 20, first, false);
        expect_lock(UINT64_MAX / 2, first, false);
    }
    expect_lock(0, 0, true);
    expect_lock(1, 3, true);
}

/* Late, but within HD_RF_IDLE_CYCLES. */
static void gates_that_open_late_do_not(void **state)
{
    (void)state;
    opens = HD_RF_IDLE_CYCLES / 2;
    assert_int_equal(time_kept(1, 1, false).status, HD_TIMING_DONE);
    timed t = time_kept(opens, 1, true);
    assert_int_equal(t.status, HD_TIMING_DONE);
    assert_true(t.counts.cycles >= opens);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gates_that_never_open_end_the_run),
                                       cmocka_unit_test(gates_that_open_late_do_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
