/* The phases of a replay (driver/replay/replay_work.h): which runs they prepare, and what becomes of a timing that does
 * not end. */
#include "unit.h"

#include "driver/replay/replay_work.h"

typedef struct phases {
    hd_diagnostics diagnostics;
    hd_replay_options options;
    replay_plan plan;
    replay_turns turns;
    replay_part part;
    char path[4096];
} phases;

static void open_phases(phases *s, const char *example, const char *techniques, bool time)
{
    const char *top = getenv("TOP");
    snprintf(s->path, sizeof s->path, "%s/examples/%s/%s.yaml", top ? top : ".", example, example);
    hd_diagnostics_init(&s->diagnostics);
    s->options = (hd_replay_options){.techniques = techniques, .time = time, .sms = 1};
    assert_int_equal(replay_plan_open(&s->plan, &s->options, &s->diagnostics), HD_STATUS_DONE);
    pthread_mutex_init(&s->turns.lock, NULL);
    pthread_cond_init(&s->turns.moved, NULL);
    s->part = (replay_part){.plan = &s->plan, .turns = &s->turns, .path = s->path, .threads = 1};
    hd_diagnostics_init_part(&s->part.diagnostics, &s->diagnostics);
    hd_outputs_init(&s->part.out.saves);
    assert_int_equal(replay_read(&s->part), HD_STATUS_DONE);
}

static void close_phases(phases *s)
{
    replay_close(&s->part);
    replay_drop_texts(&s->part);
    hd_outputs_free(&s->part.out.saves);
    hd_array_free(&s->part.out.listed);
    hd_array_free(&s->part.out.rows);
    hd_arena_free(&s->part.arena);
    replay_plan_close(&s->plan);
    pthread_cond_destroy(&s->turns.moved);
    pthread_mutex_destroy(&s->turns.lock);
    hd_diagnostics_free(&s->diagnostics);
}

/* The index in the count of the run, of the model of that name. */
static uint32_t index_in(const phases *s, uint32_t run, const char *model)
{
    for (uint32_t m = 0; m < s->plan.model_count; m++)
        if (!strcmp(s->plan.models[m].info->name, model))
            return s->part.runs[run].code.model_index[m];
    fail_msg("no model '%s'", model);
    return HD_NONE;
}

/* Passes that change instructions get a copy, all others the first run; and equal lists are one. */
static void each_code_has_a_run(void **state)
{
    (void)state;
    phases s = {0};
    open_phases(&s, "scalarProd", "bow-wr-iw3,bow-wr-iw3-half,bow-wr(iw=3),demo,corf", false);
    assert_int_equal(s.plan.model_count, 6);
    assert_int_equal(s.plan.pipelines.count, 3);
    assert_null(s.plan.models[0].passes);
    assert_int_equal(replay_prepare(&s.part), HD_STATUS_DONE);
    assert_int_equal(s.part.run_count, 3);
    assert_int_equal(s.part.runs[0].kind, REPLAY_FIRST);
    assert_int_equal(s.part.runs[1].kind, REPLAY_ORIGINAL);
    assert_int_equal(s.part.runs[2].kind, REPLAY_COPY);
    assert_null(s.part.runs[1].code.count);
    assert_int_equal(index_in(&s, 0, "baseline"), 0);
    assert_int_not_equal(index_in(&s, 0, "bow-wr(iw=3)"), HD_NONE);
    assert_int_equal(index_in(&s, 0, "demo"), HD_NONE);
    assert_int_equal(index_in(&s, 2, "demo"), 0);
    assert_int_equal(index_in(&s, 2, "corf"), HD_NONE);
    assert_int_equal(replay_run_all(&s.part), HD_STATUS_DONE);
    replay_fill_results(&s.part);
    assert_int_not_equal(s.part.out.rows.count, 0);
    for (uint32_t m = 0; m < s.plan.model_count; m++)
        assert_int_equal(s.part.out.rows.items[0].results[m].check, HD_CHECK_PASS);
    close_phases(&s);
}

/* DeMO moves no load of vectorAdd: its model sees the first run. */
static void an_unchanged_copy_has_no_run(void **state)
{
    (void)state;
    phases s = {0};
    open_phases(&s, "vectorAdd", "demo", false);
    assert_int_equal(replay_prepare(&s.part), HD_STATUS_DONE);
    assert_int_equal(s.part.run_count, 2);
    assert_int_equal(index_in(&s, 0, "demo"), 1);
    close_phases(&s);
}

static hd_gate never(hd_rf_model *model, const hd_rf_step *step, uint64_t now)
{
    (void)model, (void)step, (void)now;
    return (hd_gate){.reason = HD_STALL_ACQUIRE};
}

/* Right outputs do not hide it. */
static void a_timing_without_end_is_no_success(void **state)
{
    (void)state;
    phases s = {0};
    open_phases(&s, "vectorAdd", "bow-iw3", true);
    hd_rf_model_info info = *s.plan.models[1].info;
    hd_rf_ops ops = *info.ops;
    ops.may_issue = never;
    info.ops = &ops;
    s.plan.models[1].info = &info;
    assert_int_equal(replay_prepare(&s.part), HD_STATUS_DONE);
    assert_int_equal(replay_run_all(&s.part), HD_STATUS_UNDECIDED);
    replay_fill_results(&s.part);
    assert_int_equal(s.part.out.rows.count, 1);
    assert_int_equal(s.part.out.rows.items[0].outputs, HD_OUTPUTS_RIGHT);
    assert_int_equal(s.part.out.rows.items[0].results[1].check, HD_CHECK_INCOMPLETE);
    assert_null(s.part.out.rows.items[0].results[1].timing);
    close_phases(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_code_has_a_run),
                                       cmocka_unit_test(an_unchanged_copy_has_no_run),
                                       cmocka_unit_test(a_timing_without_end_is_no_success)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
