/* Lists of passes as values (passes/manager/manager.h): how they are spelled, asked and changed. */
#include "unit.h"

#include "passes/manager/manager.h"

static hd_pipeline *parse(const char *list)
{
    hd_diagnostics quiet;
    hd_diagnostics_init(&quiet);
    hd_pipeline *pipeline = hd_pipeline_parse(list, &quiet);
    assert_non_null(pipeline);
    hd_diagnostics_free(&quiet);
    return pipeline;
}

/* Spellings of one list have one text, which reads back to itself. */
static void equal_lists_have_equal_texts(void **state)
{
    static const struct {
        const char *list, *text;
    } cases[] = {
        {"bow", "bow"},
        {" regalloc ( max = 63 ) ,\n corf", "regalloc(max=63),corf"},
        {"RFV(table=512, liveness=paper)", "release(table=512,liveness=paper)"},
        {"ltrf+", "ltrf(dead)"},
        {"LTRF+,corf", "ltrf(dead),corf"},
        {"clean", "cvta,copyprop,dce,fold,copyprop,dce,fold,copyprop,dce"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hd_pipeline *given = parse(cases[i].list), *again = parse(hd_pipeline_text(given));
        assert_string_equal(hd_pipeline_text(given), cases[i].text);
        assert_string_equal(hd_pipeline_text(again), cases[i].text);
        hd_pipeline_free(given);
        hd_pipeline_free(again);
    }
}

/* The option is set where the pass is, replaced where it was given, and nothing else changes. */
static void an_option_is_set(void **state)
{
    static const struct {
        const char *list, *pass, *name, *text;
    } cases[] = {
        {"bow", "bow", "iw", "bow(iw=7)"},
        {"bow(iw=3)", "bow", "iw", "bow(iw=7)"},
        {"ltrf(dead)", "ltrf", "n", "ltrf(dead,n=7)"},
        {"ltrf(n=16,dead)", "ltrf", "n", "ltrf(n=7,dead)"},
        {"corf,release(table=65536)", "release", "table", "corf,release(table=7)"},
        {"corf++,release", "corf", "factor", "corf++,release"},
        {"select", "regalloc", "max",
         "cvta,copyprop,dce,fold(fuse),copyprop,dce,fold(fuse),copyprop,dce,ifconvert,"
         "copyprop,dce,params,dce"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hd_pipeline *given = parse(cases[i].list);
        char *before = strdup(hd_pipeline_text(given));
        hd_pipeline *set = hd_pipeline_with(given, cases[i].pass, cases[i].name, 7);
        assert_string_equal(hd_pipeline_text(given), before);
        hd_pipeline_free(given);
        assert_string_equal(hd_pipeline_text(set), cases[i].text);
        hd_pipeline_free(set);
        free(before);
    }
}

static void a_list_says_what_it_does(void **state)
{
    (void)state;
    hd_pipeline *annotates = parse("corf++,release(table=65536)"), *changes = parse("demo,release");
    assert_true(hd_pipeline_has(annotates, "corf++"));
    assert_false(hd_pipeline_has(annotates, "corf"));
    assert_false(hd_pipeline_has(annotates, ""));
    assert_true(hd_pipeline_only_annotates(annotates));
    assert_false(hd_pipeline_only_annotates(changes));
    hd_pipeline_free(annotates);
    hd_pipeline_free(changes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equal_lists_have_equal_texts),
                                       cmocka_unit_test(an_option_is_set), cmocka_unit_test(a_list_says_what_it_does)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
