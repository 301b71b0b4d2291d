/* The replay's HTML page of results that no example gives: hostile names, unknown energies, failed and refused models,
 * many models, no kernels. Every page must be balanced markup that contains no text of the user as markup.
 */
#include "unit.h"

#include "emitters/replay/replay.h"
#include <math.h>

static const uint64_t none[4] = {0};
static const uint64_t slots[2] = {75, 25};
static const hd_replay_slot slot_infos[] = {{"issued", "an instruction <b>"}, {"memory", "a \"value\" & more"}};
static const hd_replay_counter counters[] = {{"rf_reads", "reads"}, {"zeros", "never counted"}};
static const char hostile[] = "a<b>&\"c'</svg></td>";

static hd_replay_result model(const char *title, double ratio)
{
    return (hd_replay_result){
        .model = title,
        .title = title,
        .technique = title,
        .options = "x<1",
        .summary = "a & b",
        .check = HD_CHECK_PASS,
        .counters = none,
        .rf_accesses_normalized = ratio,
        .rf_reads_eliminated_fraction = NAN,
        .rf_writes_eliminated_fraction = NAN,
        .energy_pj = NAN,
        .energy_normalized = NAN,
        .physical_access_variation = NAN,
        .headline = {.kind = HD_FIGURE_SHARE, .title = "share", .meaning = "of <all>", .value = NAN}};
}

static char *page_of(hd_replay_result *results, uint32_t count, uint32_t kernel_count, bool timed)
{
    hd_replay_kernel kernels[2] = {{.name = hostile,
                                    .demangled = hostile,
                                    .file = "<f>.yaml",
                                    .runs = 1,
                                    .results = results,
                                    .result_count = count}};
    hd_replay_report report = {.gpu = "<gpu>",
                               .counters = counters,
                               .counter_count = 2,
                               .slots = slot_infos,
                               .slot_count = timed ? 2 : 0,
                               .kernels = kernels,
                               .kernel_count = kernel_count};
    hd_writer w;
    kernels[1] = kernels[0];
    kernels[1].launch = 1;
    hd_writer_to_memory(&w);
    hd_emit_replay_html(&w, &report);
    hd_write_char(&w, '\0');
    char *text = strdup(w.buffer.items);
    hd_writer_free(&w);
    return text;
}

static bool is_void(const char *tag)
{
    static const char *const names[] = {"meta", "link", "br", "!DOCTYPE"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(tag, names[i]))
            return true;
    return false;
}

/* Every end tag closes the last open element, and nothing stays open. */
static void assert_balanced(const char *page)
{
    char open[64][16], tag[16];
    uint32_t depth = 0;
    const char *style = strstr(page, "<style>"), *after = strstr(page, "</style>");
    for (const char *at = page; (at = strchr(at, '<')); at++) {
        if (at > style && at < after)
            continue;
        bool end = at[1] == '/';
        const char *close = strchr(at, '>');
        assert_int_equal(sscanf(at + 1 + end, "%15[!A-Za-z0-9]", tag), 1);
        assert_non_null(close);
        if (end) {
            assert_true(depth > 0);
            assert_string_equal(tag, open[--depth]);
        } else if (close[-1] != '/' && !is_void(tag)) {
            assert_true(depth < 64);
            memcpy(open[depth++], tag, sizeof tag);
        }
    }
    assert_int_equal(depth, 0);
}

static void assert_has(const char *page, const char *text)
{
    if (!strstr(page, text))
        fail_msg("the page has no '%s'", text);
}

static void assert_clean(const char *page)
{
    assert_balanced(page);
    assert_null(strstr(page, "<b>&"));
    assert_null(strstr(page, "<f>"));
    assert_null(strstr(page, "<gpu>"));
    assert_null(strstr(page, "nan"));
}

static void test_no_kernels(void **state)
{
    (void)state;
    char *page = page_of(NULL, 0, 0, true);
    assert_clean(page);
    assert_has(page, "No kernel ran.");
    free(page);
}

static void test_no_techniques(void **state)
{
    (void)state;
    char *page = page_of(NULL, 0, 2, true);
    assert_clean(page);
    assert_has(page, "a&lt;b&gt;&amp;&quot;c&#39;");
    assert_null(strstr(page, "id=\"slots\""));
    free(page);
}

static void test_unknown_failed_and_refused(void **state)
{
    (void)state;
    hd_replay_result results[] = {model("baseline", 1), model("<wrong>", 1.5), model("refused", NAN)};
    results[1].check = HD_CHECK_OPERANDS;
    results[2].not_applied = "options do not <fit>";
    char *page = page_of(results, 3, 2, false);
    assert_clean(page);
    assert_has(page, "<strong class=\"fail\">FAIL (operands)</strong>");
    assert_has(page, "FAIL on 2 of 2");
    assert_has(page, ">FAIL 1.500</text>");
    assert_has(page, ">FAIL unknown</text>");
    assert_has(page, "not applied: options do not &lt;fit&gt;");
    assert_has(page, "not applied to any launch");
    assert_has(page, "2 of 4 results are not verified");
    assert_has(page, "launch 1 of &lt;f&gt;.yaml");
    assert_null(strstr(page, "never counted"));
    free(page);
}

static void test_timed_and_derived(void **state)
{
    (void)state;
    hd_replay_timing base = {
        .cycles = 100, .speedup = 1, .dynamic_pj = 30, .static_pj = 10, .energy_normalized = 1, .slots = slots};
    hd_replay_timing slow = {
        .cycles = 200, .speedup = 0.5, .dynamic_pj = 15, .static_pj = 20, .energy_normalized = 0.875, .slots = slots};
    hd_replay_timing unknown = {
        .cycles = 100, .speedup = 1, .dynamic_pj = NAN, .static_pj = NAN, .energy_normalized = NAN, .slots = slots};
    hd_replay_result results[] = {model("baseline", 1), model("slow", 1), model("unknown", 1), model("no cycles", 1)};
    results[0].timing = &base;
    results[1].timing = &slow;
    results[1].energy_derived = true;
    results[2].timing = &unknown;
    char *page = page_of(results, 4, 1, true);
    assert_clean(page);
    assert_has(page, "slow: 0.500</title>");                    /* speed-up, drawn though it is none */
    assert_has(page, "0.875*<br><small>0.375 + 0.500</small>"); /* 15 / 40 and 20 / 40 */
    assert_has(page, "unknown: unknown</title>");
    assert_has(page, "no cycles: no cycles</title>");
    assert_has(page, "issued 75.0 %: an instruction &lt;b&gt;");
    free(page);
}

static void test_many_models(void **state)
{
    (void)state;
    hd_replay_result results[40];
    for (uint32_t i = 0; i < 40; i++)
        results[i] = model("many", i + 0.25);
    char *page = page_of(results, 40, 1, false);
    assert_clean(page);
    assert_has(page, ">39</text>");
    assert_has(page, ">39.250</text>");
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_kernels),
        cmocka_unit_test(test_no_techniques),
        cmocka_unit_test(test_unknown_failed_and_refused),
        cmocka_unit_test(test_timed_and_derived),
        cmocka_unit_test(test_many_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
