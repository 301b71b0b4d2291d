/* Which passes go together (passes/composition.def): in a list, and with annotations that a function has already. */
#include "rf_bench.h"
#include "unit.h"

#include "ir/techniques.h"
#include "passes/manager/manager.h"
#include "passes/manager/pipeline.h"

static bool parses(const char *passes)
{
    hd_diagnostics quiet;
    hd_diagnostics_init(&quiet);
    hd_pipeline *pipeline = hd_pipeline_parse(passes, &quiet);
    assert_int_equal(pipeline != NULL, quiet.error_count == 0);
    bool good = pipeline != NULL;
    hd_pipeline_free(pipeline);
    hd_diagnostics_free(&quiet);
    return good;
}

static void lists_have_an_order(void **state)
{
    static const struct {
        const char *one, *other;
        bool as_given, turned;
    } pairs[] = {
        {"regalloc", "regmutex", true, false}, {"dce", "regalloc", true, false},
        {"fold", "demo", true, false},         {"demo", "regmutex", true, false},
        {"regmutex", "bow", true, false},      {"regalloc", "ltrf", true, false},
        {"bow", "corf", true, true},           {"demo", "release", true, false},
        {"ltrf", "corf++", true, true},        {"fold", "dce", true, true},
        {"corf", "corf++", false, false},      {"regmutex", "corf", false, false},
        {"regmutex", "ltrf", false, false},    {"regmutex", "release", false, false},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (uint32_t turned = 0; turned < 2; turned++) {
            char list[64];
            snprintf(list, sizeof list, "%s,%s", turned ? pairs[i].other : pairs[i].one,
                     turned ? pairs[i].one : pairs[i].other);
            if (parses(list) != (turned ? pairs[i].turned : pairs[i].as_given))
                fail_msg("%s", list);
        }
}

/* A pass that changes instructions drops annotations that it invalidates, but not those of what changes them, too. */
static void annotations_that_are_there_count(void **state)
{
    static const struct {
        const char *pass;
        hd_technique brought;
        bool good;
    } cases[] = {
        {"corf", HD_TECHNIQUE_CORF, true},        {"corf", HD_TECHNIQUE_CORFPP, false},
        {"corf++", HD_TECHNIQUE_CORF, false},     {"corf", HD_TECHNIQUE_REGMUTEX, false},
        {"regmutex", HD_TECHNIQUE_CORFPP, true},  {"release", HD_TECHNIQUE_REGMUTEX, false},
        {"regmutex", HD_TECHNIQUE_RELEASE, true}, {"ltrf", HD_TECHNIQUE_REGMUTEX, false},
        {"demo", HD_TECHNIQUE_REGMUTEX, false},   {"regmutex", HD_TECHNIQUE_REGMUTEX, true},
        {"regmutex", HD_TECHNIQUE_DEMO, true},    {"bow", HD_TECHNIQUE_REGMUTEX, true},
        {"regmutex", HD_TECHNIQUE_BOW, true},     {"demo", HD_TECHNIQUE_BOW, true},
        {"dce", HD_TECHNIQUE_REGMUTEX, true},     {"regalloc", HD_TECHNIQUE_REGMUTEX, true},
        {"fold", HD_TECHNIQUE_DEMO, true},        {"bow", HD_TECHNIQUE_LARF, true},
    };
    rf_bench b;
    (void)state;
    rf_bench_open_body(&b, "ret;\n");
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hd_diagnostics quiet;
        hd_diagnostics_init(&quiet);
        const hd_pass_info *pass = hd_pass_find(cases[i].pass, strlen(cases[i].pass));
        assert_non_null(pass);
        bool good = hd_pass_goes_with(pass, b.kernel, cases[i].brought, &quiet);
        assert_int_equal(good, quiet.error_count == 0);
        if (good != cases[i].good)
            fail_msg("%s with annotations of %s", pass->name, hd_techniques[cases[i].brought].spelling);
        hd_diagnostics_free(&quiet);
    }
    rf_bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_have_an_order),
                                       cmocka_unit_test(annotations_that_are_there_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
