/* What options set (driver/api/settings.h), and what the library takes of its settings. */
#include "unit.h"

#include "driver/replay/replay.h"
#include "driver/report/report.h"
#include "driver/rewrite.h"
#include "driver/api/settings.h"
#include "heddle/heddle.h"

typedef union any_settings {
    hd_rewrite_settings rewrite;
    hd_report_settings report;
    hd_replay_settings replay;
} any_settings;
typedef union any_options {
    hd_rewrite_options rewrite;
    hd_report_options report;
    hd_replay_options replay;
} any_options;

static bool take(hd_job job, const any_settings *settings, any_options *options)
{
    hd_diagnostics diagnostics;
    hd_diagnostics_init(&diagnostics);
    memset(options, 0, sizeof *options);
    bool good = hd_settings_take(job, settings, options, &diagnostics);
    assert_int_equal(good, diagnostics.error_count == 0);
    hd_diagnostics_free(&diagnostics);
    return good;
}

/* Each of the named members goes where the job expects it. */
static void settings_are_copied(void **state)
{
    (void)state;
    any_options to;
    any_settings from = {
        .rewrite = {
            .kernel = "k", .threads = 1024, .extended = true, .canonical = true, .no_section = true, .block = 96}};
    assert_true(take(HD_JOB_REWRITE, &from, &to));
    assert_string_equal(to.rewrite.pipeline.kernel, "k");
    assert_int_equal(to.rewrite.pipeline.threads, 1024);
    assert_int_equal(to.rewrite.pipeline.block, 96);
    assert_true(to.rewrite.emit.canonical && to.rewrite.emit.no_section);
    assert_null(to.rewrite.passes);

    from = (any_settings){.report = {.gpu = "sm_80",
                                     .kernel = "k*",
                                     .block = 64,
                                     .shared_bytes = 1 << 30,
                                     .max_registers = 255,
                                     .threads = 3,
                                     .no_clean = true,
                                     .no_demangle = true}};
    assert_true(take(HD_JOB_REPORT, &from, &to));
    assert_string_equal(to.report.gpu, "sm_80");
    assert_string_equal(to.report.kernel, "k*");
    assert_int_equal(to.report.block, 64);
    assert_int_equal(to.report.shared_bytes, 1 << 30);
    assert_int_equal(to.report.max_registers, 255);
    assert_int_equal(to.report.threads, 3);
    assert_true(to.report.no_clean && to.report.no_demangle);

    from = (any_settings){.replay = {.code = "auto",
                                     .no_cache = true,
                                     .gpu = "g",
                                     .techniques = "bow",
                                     .all_models = true,
                                     .threads = 5,
                                     .keep_virtual = true,
                                     .max_registers = 7,
                                     .time = true,
                                     .sms = 1024,
                                     .sample = 4,
                                     .seed = UINT32_MAX,
                                     .block_order = "reverse",
                                     .buffer_order = "random:3",
                                     .timeline_sm = 1023,
                                     .profile = true}};
    assert_true(take(HD_JOB_REPLAY, &from, &to));
    assert_string_equal(to.replay.gpu, "g");
    assert_string_equal(to.replay.techniques, "bow");
    assert_string_equal(to.replay.code, "auto");
    assert_true(to.replay.all_models && to.replay.keep_virtual && to.replay.time && to.replay.profile &&
                !to.replay.no_memo);
    assert_true(to.replay.no_cache);
    assert_int_equal(to.replay.threads, 5);
    assert_int_equal(to.replay.max_registers, 7);
    assert_int_equal(to.replay.sms, 1024);
    assert_int_equal(to.replay.sample, 4);
    assert_int_equal(to.replay.timeline_sm, 1023);
    assert_int_equal(to.replay.seed, UINT32_MAX);
    assert_string_equal(to.replay.block_order, "reverse");
    assert_string_equal(to.replay.buffer_order, "random:3");
    assert_int_equal(to.replay.latency, 0);
}

/* What the command line refuses, the library refuses; 0 has the default. */
static void numbers_are_checked(void **state)
{
    (void)state;
    any_options to;
    static const struct {
        hd_job job;
        any_settings settings;
    } wrong[] = {
        {HD_JOB_REWRITE, {.rewrite = {.threads = 1025}}},
        {HD_JOB_REWRITE, {.rewrite = {.block = 1048577}}},
        {HD_JOB_REPORT, {.report = {.threads = 1025}}},
        {HD_JOB_REPORT, {.report = {.block = 1048577}}},
        {HD_JOB_REPORT, {.report = {.max_registers = 256}}},
        {HD_JOB_REPORT, {.report = {.shared_bytes = 1u << 31}}},
        {HD_JOB_REPLAY, {.replay = {.threads = 1025}}},
        {HD_JOB_REPLAY, {.replay = {.sms = 1025}}},
        {HD_JOB_REPLAY, {.replay = {.sample = 3}}},
        {HD_JOB_REPLAY, {.replay = {.sample = 1000001}}},
        {HD_JOB_REPLAY, {.replay = {.max_registers = 256}}},
        {HD_JOB_REPLAY, {.replay = {.timeline_sm = 1024}}},
        {HD_JOB_REPLAY, {.replay = {.max_registers = UINT32_MAX}}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(take(wrong[i].job, &wrong[i].settings, &to));
    const any_settings none = {.replay = {0}};
    for (int job = 0; job < HD_JOB_COUNT; job++)
        assert_true(take((hd_job)job, &none, &to));
}

/* A default is one that could be given, or 0, which leaves the choice to the job. */
static void defaults_fit(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < HD_OPTION_COUNT; i++) {
        const hd_option_value *value = &hd_option_settings[i].value;
        assert_true(!value->otherwise || (value->otherwise >= value->least && value->otherwise <= value->most));
        assert_true(value->least <= value->most);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_copied),
        cmocka_unit_test(numbers_are_checked),
        cmocka_unit_test(defaults_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
