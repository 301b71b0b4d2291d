/* BOW's tags of registers that return a result or belong to the module, by pass and check: brute force over short
 * straight lines. */
#include "tests/unit/unit.h"

#include "passes/check/check.h"
#include "passes/analysis/analyses.h"
#include "tests/unit/rf_bench.h"

static void tag(rf_bench *b, const char *iw)
{
    hd_pass_context context;
    hd_option option = {"iw", iw};
    hd_pass_context_init(&context, b->kernel, &b->diagnostics);
    context.options = &option;
    context.option_count = 1;
    assert_true(hd_pass_bow(&context));
    hd_pass_context_free(&context);
    assert_int_equal(b->diagnostics.error_count, 0);
}

/* Straight lines of these: what they write, what they read, and whether a guard lets lanes pass. r is a result, a
 * register of the module or a plain one. */
static const struct {
    const char *text, *reads;
    char writes;
    bool guarded;
} lines[] = {{"add.u32 t, a, 1;", "", 't', false},   {"mov.b32 r, t;", "t", 'r', false},
             {"or.b32 r, r, 4;", "r", 'r', false},   {"@p mov.b32 r, t;", "t", 'r', true},
             {"add.u32 t, r, t;", "rt", 't', false}, {"mov.u32 r, 7;", "", 'r', false}};
enum { LINES = sizeof lines / sizeof *lines, LENGTH = 4 };
enum { RESULT, MODULE_WIDE, PLAIN };
static const char *const headers[] = {".func (.reg .u32 r) k (.reg .u32 a)\n{\n",
                                      ".reg .u32 r;\n.func k (.reg .u32 a)\n{\n",
                                      ".func k (.reg .u32 a)\n{\n.reg .u32 r;\n"};

/* May what line `at` writes go to the window only? Said of one definition after the other, and knowing nothing of the
 * pass. */
static bool is_transient(const uint32_t *body, uint32_t at, uint32_t scope, uint32_t iw)
{
    char reg = lines[body[at]].writes;
    uint32_t last = at, partly = 0;
    if (lines[body[at]].guarded || (reg == 'r' && scope == MODULE_WIDE))
        return false;
    for (uint32_t i = at + 1; i < LENGTH; i++) {
        bool reads = strchr(lines[body[i]].reads, reg) != NULL, writes = lines[body[i]].writes == reg;
        if (reads && (i - last >= iw || partly)) /* it has left the window, or a guarded write found it live */
            return false;
        last = reads ? i : last;
        if (writes && !lines[body[i]].guarded)
            return true;
        partly += writes;
    }
    return !(reg == 'r' && scope == RESULT); /* it is returned */
}

static uint32_t compare_tags(rf_bench *b, const uint32_t *body, uint32_t scope, uint32_t iw)
{
    uint32_t transients = 0;
    for (uint32_t i = 0; i < LENGTH; i++) {
        hd_annotation *tag = (hd_annotation *)(uintptr_t)hd_annotation_at(b->kernel, HD_ANNOTATION_BOW, i, 0);
        bool want = is_transient(body, i, scope, iw);
        assert_non_null(tag);
        uint32_t kept = tag->value;
        tag->value = 2;
        bool accepted = rf_bench_check(b, hd_check_bow);
        tag->value = kept;
        if ((kept == 2) != want || accepted != want)
            fail_msg("%s, window %u, line %u of %s %s %s %s: pass %u, check %u, wanted %u", headers[scope], iw, i,
                     lines[body[0]].text, lines[body[1]].text, lines[body[2]].text, lines[body[3]].text, kept == 2,
                     accepted, want);
        transients += want;
    }
    return transients;
}

/* Pass and check agree with the rule, each tag by itself: of all lines of four. */
static void results_are_live_as_their_last_value(void **state)
{
    (void)state;
    uint32_t transients[3] = {0};
    for (uint32_t number = 0; number < LINES * LINES * LINES * LINES * 6; number++) {
        uint32_t scope = number % 3, iw = 2 + number / 3 % 2, rest = number / 6, body[LENGTH];
        char text[512];
        int length =
            snprintf(text, sizeof text,
                     ".version 2.3\n.target sm_20\n.address_size 64\n%s.reg .u32 t;\n.reg .pred p;\n", headers[scope]);
        for (uint32_t i = 0; i < LENGTH; i++, rest /= LINES) {
            body[i] = rest % LINES;
            length += snprintf(text + length, sizeof text - (size_t)length, "%s\n", lines[body[i]].text);
        }
        length += snprintf(text + length, sizeof text - (size_t)length, "ret;\n}\n");
        rf_bench b;
        rf_bench_open(&b, text, (size_t)length);
        tag(&b, iw == 2 ? "2" : "3");
        transients[scope] += compare_tags(&b, body, scope, iw);
        rf_bench_close(&b);
    }
    assert_true(transients[MODULE_WIDE] > 1000 && transients[MODULE_WIDE] < transients[RESULT] &&
                transients[RESULT] < transients[PLAIN]);
}

/* A value that is overwritten before the return. */
static void an_overwritten_result_is_transient(void **state)
{
    (void)state;
    static const uint32_t want[] = {2, 2, 1};
    rf_bench b;
    rf_bench_open_file(&b, "bow_results-an_overwritten_result_is_transient");
    tag(&b, "3");
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(hd_annotation_at(b.kernel, HD_ANNOTATION_BOW, i, 0)->value, want[i]);
    assert_true(rf_bench_check(&b, hd_check_bow));
    rf_bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_overwritten_result_is_transient),
                                       cmocka_unit_test(results_are_live_as_their_last_value)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
