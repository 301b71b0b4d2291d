/* Branches that a pass took for uniform (hwmodel/rf/uniform.h): which the next instruction of a warp shows. */
#include "tests/unit/unit.h"

#include "hwmodel/count/uniform.h"
#include "tests/unit/rf_bench.h"

static const hd_rf_branch branch = {.lanes = 0xff, .instruction = 1};

static const hd_rf_branch *next(hd_rf_uniform *u, uint32_t warp, uint32_t frame, uint32_t active)
{
    return hd_rf_uniform_split(u, &(hd_event){.kind = HD_EVENT_ISSUE, .warp = warp, .frame = frame, .active = active});
}

static void what_follows_a_branch(void **state)
{
    rf_bench b;
    (void)state;
    rf_bench_open_body(&b, "bar.warp.sync -1;\nbar.warp.sync -1;\nbar.warp.sync -1;\n");
    hd_rf_module *code = hd_rf_module_new(b.module);
    hd_rf_uniform *u = hd_rf_uniform_new(code);
    hd_rf_branch at = branch;
    while (b.module->functions.items[at.function] != b.kernel)
        at.function++;
    assert_null(next(u, 0, 0, 0x0f)); /* nothing is expected */
    hd_rf_uniform_expect(u, at.function, 1);
    hd_rf_uniform_record(u, 3, at);
    const hd_rf_branch *split = next(u, 3, 0, 0x0f);
    assert_true(split && split->lanes == 0xff && split->instruction == 1);
    hd_rf_uniform_record(u, 3, at);
    assert_null(next(u, 2, 0, 0x0f)); /* another warp */
    assert_null(next(u, 3, 7, 0x0f)); /* a callee: the branch is still to be looked at */
    assert_non_null(next(u, 3, 0, 0x0f));
    hd_rf_uniform_record(u, 3, at);
    assert_null(next(u, 3, 0, 0xff)); /* all of them: it was looked at */
    assert_null(next(u, 3, 0, 0x0f));
    hd_rf_uniform_record(u, 3, at);
    assert_null(next(u, 3, 0, 0xf00)); /* none of them: they went elsewhere together */
    hd_rf_uniform_record(u, 3, at);
    hd_rf_uniform_start(u, 3); /* a warp of the next launch */
    assert_null(next(u, 3, 0, 0x0f));
    at.instruction = 2; /* not expected of that one */
    hd_rf_uniform_record(u, 3, at);
    assert_null(next(u, 3, 0, 0x0f));
    hd_rf_uniform_free(u);
    hd_rf_module_free(code);
    rf_bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_follows_a_branch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
