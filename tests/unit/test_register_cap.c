/* target/register_cap: the counts of ptxas 13.0 for a kernel that needs 280 registers and does not fit under its
 * bounds. */
#include "tests/unit/unit.h"

#include "target/register_cap.h"

static const char *const targets[] = {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"};
enum { TARGETS = sizeof targets / sizeof *targets };

typedef struct row {
    hd_launch_bounds bounds;
    uint32_t option, caps[TARGETS];
} row;

static const row rows[] = {
    {{0, 0, 0}, 0, {255, 255, 255, 255, 255}},
    {{1024, 0, 0}, 0, {64, 64, 64, 64, 64}},
    {{900, 0, 0}, 0, {64, 64, 64, 64, 64}},
    {{700, 0, 0}, 0, {80, 80, 80, 80, 80}},
    {{640, 0, 0}, 0, {96, 96, 96, 96, 96}},
    {{2048, 0, 0}, 0, {255, 255, 255, 255, 255}}, /* more threads than a block may have: ignored */
    {{1024, 1, 0}, 0, {64, 64, 64, 64, 64}},
    {{1024, 2, 0}, 0, {64, 32, 32, 32, 64}}, /* sm_75 and sm_120 never hold two */
    {{1024, 3, 0}, 0, {64, 64, 64, 64, 64}},
    {{512, 1, 0}, 0, {128, 128, 128, 128, 128}},
    {{512, 2, 0}, 0, {64, 64, 64, 64, 64}},
    {{384, 1, 0}, 0, {168, 168, 168, 168, 168}},
    {{256, 1, 0}, 0, {255, 255, 255, 255, 255}},
    {{256, 3, 0}, 0, {80, 80, 80, 80, 80}},
    {{256, 5, 0}, 0, {255, 48, 48, 48, 48}},
    {{256, 8, 0}, 0, {255, 32, 32, 32, 255}},
    {{256, 9, 0}, 0, {255, 255, 255, 255, 255}},
    {{96, 7, 0}, 0, {80, 80, 80, 80, 80}}, /* 21 warps: six in the fullest sub-partition */
    {{96, 5, 0}, 0, {128, 128, 128, 128, 128}},
    {{160, 3, 0}, 0, {128, 128, 128, 128, 128}},
    {{160, 5, 0}, 0, {72, 72, 72, 72, 72}},
    {{100, 5, 0}, 0, {96, 96, 96, 96, 96}},
    {{100, 12, 0}, 0, {255, 40, 40, 40, 40}},
    {{100, 20, 0}, 0, {255, 255, 255, 255, 255}},
    {{33, 16, 0}, 0, {64, 64, 64, 64, 64}},
    {{32, 32, 0}, 0, {255, 64, 64, 64, 255}},
    {{64, 17, 0}, 0, {255, 56, 56, 56, 56}},
    {{0, 4, 0}, 0, {255, 255, 255, 255, 255}},
    {{0, 0, 41}, 0, {41, 41, 41, 41, 41}},
    {{0, 0, 10}, 0, {24, 24, 24, 24, 24}},
    {{0, 0, 300}, 0, {255, 255, 255, 255, 255}},
    {{1024, 0, 200}, 0, {200, 200, 200, 200, 200}},
    {{1024, 1, 200}, 0, {64, 64, 64, 64, 64}},
    {{256, 2, 50}, 0, {50, 50, 50, 50, 50}},
    {{256, 2, 200}, 0, {128, 128, 128, 128, 128}},
    {{0, 0, 0}, 40, {40, 40, 40, 40, 40}},
    {{1024, 0, 0}, 40, {64, 64, 64, 64, 64}}, /* -maxrregcount counts for nothing beside launch bounds */
    {{256, 2, 0}, 40, {128, 128, 128, 128, 128}},
    {{0, 0, 50}, 40, {50, 50, 50, 50, 50}},
};

static void as_ptxas_caps(void **state)
{
    (void)state;
    hd_diagnostics diagnostics;
    hd_diagnostics_init(&diagnostics);
    for (uint32_t t = 0; t < TARGETS; t++) {
        hd_gpu *gpu = hd_gpu_load(targets[t], &diagnostics);
        assert_true(gpu->valid);
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
            hd_register_cap cap = hd_register_cap_of(&gpu->limits, &rows[r].bounds, rows[r].option);
            if (cap.registers != rows[r].caps[t])
                fail_msg("%s, %u threads, %u blocks, maxnreg %u: %u, not %u", targets[t], rows[r].bounds.threads,
                         rows[r].bounds.min_ctas, rows[r].bounds.max_registers, cap.registers, rows[r].caps[t]);
        }
        hd_gpu_free(gpu);
    }
    hd_diagnostics_free(&diagnostics);
}

static void says_what_caps(void **state)
{
    (void)state;
    static const struct {
        hd_launch_bounds bounds;
        uint32_t option;
        hd_cap_source source;
        bool ctas_ignored, option_ignored;
    } cases[] = {
        {{0, 0, 0}, 0, HD_CAP_GPU, false, false},      {{0, 0, 0}, 40, HD_CAP_OPTION, false, false},
        {{0, 0, 48}, 40, HD_CAP_MAXNREG, false, true}, {{1024, 0, 0}, 40, HD_CAP_THREADS, false, true},
        {{1024, 2, 0}, 0, HD_CAP_CTAS, false, false},  {{1024, 3, 0}, 0, HD_CAP_THREADS, true, false},
        {{0, 3, 0}, 40, HD_CAP_OPTION, true, false},   {{256, 1, 0}, 0, HD_CAP_GPU, false, false},
    };
    hd_diagnostics diagnostics;
    hd_diagnostics_init(&diagnostics);
    hd_gpu *gpu = hd_gpu_load("sm_80", &diagnostics);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hd_register_cap cap = hd_register_cap_of(&gpu->limits, &cases[i].bounds, cases[i].option);
        assert_int_equal(cap.source, cases[i].source);
        assert_int_equal(cap.ctas_ignored, cases[i].ctas_ignored);
        assert_int_equal(cap.option_ignored, cases[i].option_ignored);
    }
    hd_gpu_free(gpu);
    hd_diagnostics_free(&diagnostics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_ptxas_caps), cmocka_unit_test(says_what_caps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
