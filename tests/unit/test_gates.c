/* driver/report/gates: the language of --require, what kernels it finds fault with, and what is said about bad
 * texts. */
#include "tests/unit/unit.h"

#include "driver/report/diff.h"
#include "driver/report/gates.h"

typedef struct bench {
    hd_diagnostics diagnostics;
    hd_arena arena;
    hd_report_module report;
} bench;

static void add_kernel(hd_report_module *report, const char *name, const char *demangled, bool is_entry,
                       uint32_t registers)
{
    hd_report_kernel k = {.name = name, .demangled = demangled, .is_entry = is_entry, .registers_from = "estimate"};
    k.use.registers = k.estimate = k.estimate_low = k.estimate_high = registers;
    k.max_pressure = registers - 4;
    k.allocated = registers + 1;
    k.instruction_count = 100;
    k.input_instructions = 120;
    k.occupancy = (hd_report_occupancy){.ctas = 2, .warps = 32, .fraction = 2.0 / 3};
    k.static_shared_bytes = 4096;
    k.position.ptx_line = report->kernel_count + 1;
    report->kernels = realloc(report->kernels, (report->kernel_count + 1) * sizeof k);
    report->kernels[report->kernel_count++] = k;
}

static int set_up(void **state)
{
    bench *b = calloc(1, sizeof *b);
    hd_diagnostics_init(&b->diagnostics);
    hd_arena_init(&b->arena);
    b->report = (hd_report_module){.path = "x.ptx", .arch = "sm_80"};
    add_kernel(&b->report, "_Z6reducePf", "reduce(float*)", true, 40);
    add_kernel(&b->report, "_Z4sortPi", "sort(int*)", true, 100);
    add_kernel(&b->report, "helper", "helper", false, 200);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    bench *b = *state;
    free(b->report.kernels);
    hd_arena_free(&b->arena);
    hd_diagnostics_free(&b->diagnostics);
    free(b);
    return 0;
}

/* The failed gates of all kernels as "INDEX: TERM; INDEX: TERM; "; errors in the text fail the test. */
static const char *judge(bench *b, const char *text)
{
    hd_gates *gates = hd_gates_parse("--require", text, HD_GATES_OF_VALUES, &b->diagnostics);
    if (!gates)
        fail_msg("'%s': %s", text, b->diagnostics.last->message);
    uint32_t errors = b->diagnostics.error_count,
             failing = hd_gates_check_report(gates, &b->report, NULL, &b->arena, &b->diagnostics);
    hd_gates_warn_of_unused(gates, &b->diagnostics);
    const char *list = "";
    uint32_t with = 0;
    for (uint32_t k = 0; k < b->report.kernel_count; k++) {
        with += b->report.kernels[k].failed_gate_count > 0;
        for (uint32_t i = 0; i < b->report.kernels[k].failed_gate_count; i++)
            list = hd_arena_printf(&b->arena, "%s%u: %s; ", list, k, b->report.kernels[k].failed_gates[i]);
    }
    assert_int_equal(with, failing);
    assert_int_equal(b->diagnostics.error_count, errors + failing);
    hd_gates_free(gates);
    return list;
}

static void every_operator(void **state)
{
    bench *b = *state;
    assert_string_equal(judge(b, "registers<=100"), "");
    assert_string_equal(judge(b, "registers<=99"), "1: registers<=99 (has 100); ");
    assert_string_equal(judge(b, "registers<100"), "1: registers<100 (has 100); ");
    assert_string_equal(judge(b, "registers<101"), "");
    assert_string_equal(judge(b, "registers>=41"), "0: registers>=41 (has 40); ");
    assert_string_equal(judge(b, "registers>=40"), "");
    assert_string_equal(judge(b, "registers>40"), "0: registers>40 (has 40); ");
    assert_string_equal(judge(b, "registers==40"), "1: registers==40 (has 100); ");
    assert_string_equal(judge(b, "registers!=40"), "0: registers!=40 (has 40); ");
}

/* An estimate is met where its whole interval meets the term; the same number from ptxas alone. */
static void intervals(void **state)
{
    bench *b = *state;
    b->report.kernel_count = 1;
    hd_report_kernel *k = &b->report.kernels[0];
    k->use.registers = k->estimate = 40, k->estimate_low = 36, k->estimate_high = 48;
    assert_string_equal(judge(b, "estimate<=48,estimate>=36,estimate!=35,estimate!=49,registers<49"), "");
    assert_string_equal(judge(b, "estimate<=47"), "0: estimate<=47 (has 36 to 48, estimated); ");
    assert_string_equal(judge(b, "estimate>=37"), "0: estimate>=37 (has 36 to 48, estimated); ");
    assert_string_equal(judge(b, "estimate==40"), "0: estimate==40 (has 36 to 48, estimated); ");
    assert_string_equal(judge(b, "estimate!=40"), "0: estimate!=40 (has 36 to 48, estimated); ");
    assert_string_equal(judge(b, "registers<=40"), "0: registers<=40 (has 36 to 48, estimated); ");
    k->registers_from = "ptxas";
    k->ptxas = (hd_report_ptxas){.known = true, .registers = 40};
    assert_string_equal(judge(b, "registers==40"), "");
    assert_string_equal(judge(b, "estimate<=47"), "0: estimate<=47 (has 36 to 48, estimated); ");
}

static void every_quantity(void **state)
{
    bench *b = *state;
    b->report.kernel_count = 1;
    hd_report_kernel *k = &b->report.kernels[0];
    k->ptxas =
        (hd_report_ptxas){.known = true, .registers = 42, .spill_stores = 8, .spill_loads = 12, .message_count = 6};
    k->predicted = (hd_report_spills){.stores = 1, .loads = 2};
    k->local_bytes = 5, k->bank_conflicts = 7;
    static const struct {
        const char *name;
        uint32_t value;
    } rows[] = {{"registers", 40},     {"max_pressure", 36},
                {"allocated", 41},     {"estimate", 40},
                {"ptxas", 42},         {"warps", 32},
                {"ctas", 2},           {"spill_bytes", 20},
                {"local_bytes", 5},    {"shared_bytes", 4096},
                {"instructions", 100}, {"input_instructions", 120},
                {"bank_conflicts", 7}, {"ptxas_spill_bytes", 20},
                {"ptxas_warnings", 6}, {"predicted_spill_bytes", 3}};
    assert_int_equal(sizeof rows / sizeof *rows, HD_QUANTITY_COUNT - 3); /* occupancy, added and removed apart */
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *below = hd_arena_printf(&b->arena, "%s<%u", rows[i].name, rows[i].value);
        assert_string_equal(judge(b, hd_arena_printf(&b->arena, "%s==%u", rows[i].name, rows[i].value)), "");
        assert_string_equal(judge(b, below), hd_arena_printf(&b->arena, "0: %s (has %u); ", below, rows[i].value));
    }
    k->ptxas = (hd_report_ptxas){.unknown = "ptxas was not asked"};
    assert_string_equal(judge(b, "ptxas<=255,ptxas_spill_bytes==0"),
                        "0: ptxas<=255 (not known: ptxas was not asked); "
                        "0: ptxas_spill_bytes==0 (not known: ptxas was not asked); ");
    assert_string_equal(judge(b, "spill_bytes==0"), "0: spill_bytes==0 (has 3); "); /* predicted */
    k->predicted.unknown = "heddle cannot allocate its registers";
    assert_string_equal(judge(b, "spill_bytes<=99"),
                        "0: spill_bytes<=99 (not known: heddle cannot allocate its registers); ");
    assert_string_equal(judge(b, "predicted_spill_bytes<=99"),
                        "0: predicted_spill_bytes<=99 (not known: heddle cannot allocate its registers); ");
}

static void occupancy_as_it_is_printed(void **state)
{
    bench *b = *state;
    b->report.kernel_count = 1;
    assert_string_equal(judge(b, "occupancy>=66.7%"), "");
    assert_string_equal(judge(b, "occupancy>=66.6%"), "");
    assert_string_equal(judge(b, "occupancy>=66.8%"), "0: occupancy>=66.8% (has 66.7%); ");
    assert_string_equal(judge(b, "occupancy>=0.5,occupancy==0.667"), "");
    assert_string_equal(judge(b, "occupancy>=1"), "0: occupancy>=1 (has 66.7%); ");
    assert_string_equal(judge(b, "occupancy>=1%"), "");
}

static void patterns(void **state)
{
    bench *b = *state;
    assert_string_equal(judge(b, "*sort*:registers<=96"), "1: registers<=96 (has 100); ");
    assert_string_equal(judge(b, "sort(int?):registers<=96"), "1: registers<=96 (has 100); ");
    assert_string_equal(judge(b, "_Z6reduce*:registers<=96"), "");
    assert_string_equal(judge(b, "!*sort*:registers<=39"), "0: registers<=39 (has 40); ");
    /* no kernel: only by its name */
    assert_string_equal(judge(b, "helper:registers<=96"), "2: registers<=96 (has 200); ");
    assert_string_equal(judge(b, " * : registers <= 39 ,max_pressure<= 95 "),
                        "0: registers<=39 (has 40); 1: registers<=39 (has 100); 1: max_pressure<=95 (has 96); 2: "
                        "registers<=39 (has 200); ");
    assert_int_equal(b->diagnostics.warning_count, 0);
    assert_string_equal(judge(b, "registers<=100,nothing*:registers<=1"), "");
    assert_int_equal(b->diagnostics.warning_count, 1);
    assert_int_equal(b->diagnostics.last->kind, HD_DIAG_UNUSED_GATE);
    assert_int_equal(b->diagnostics.last->span.begin, 15);
    assert_int_equal(b->diagnostics.last->span.end, 36);
}

static void messages(void **state)
{
    bench *b = *state;
    hd_source source;
    hd_source_from_memory(&source, "x.ptx", "first\nsecond\nthird\n", 19);
    hd_gates *gates =
        hd_gates_parse("--require", "registers<=96,max_pressure<=80", HD_GATES_OF_VALUES, &b->diagnostics);
    assert_int_equal(hd_gates_check_report(gates, &b->report, &source, &b->arena, &b->diagnostics), 1);
    hd_gates_free(gates);
    const hd_diagnostic *d = b->diagnostics.last;
    assert_int_equal(d->kind, HD_DIAG_UNMET_GATE);
    assert_string_equal(d->message, "'sort(int*)' does not meet registers<=96 (has 100), max_pressure<=80 (has 96)");
    assert_ptr_equal(d->source, &source);
    assert_int_equal(d->span.begin, 6);
    assert_int_equal(d->span.end, 12);
    hd_diagnostics_free(&b->diagnostics);
    hd_diagnostics_init(&b->diagnostics);
    hd_source_free(&source);
}

typedef struct bad_text {
    const char *text;
    uint32_t begin, end;
    const char *message;
} bad_text;

static void expect_bad(hd_gates_mode mode, const bad_text *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        hd_diagnostics diagnostics;
        hd_diagnostics_init(&diagnostics);
        hd_gates *gates = hd_gates_parse("--require", rows[i].text, mode, &diagnostics);
        if (gates || !diagnostics.first)
            fail_msg("'%s' is taken", rows[i].text);
        const hd_diagnostic *d = diagnostics.first;
        if (d->kind != HD_DIAG_BAD_GATE || d->span.begin != rows[i].begin || d->span.end != rows[i].end ||
            !strstr(d->message, rows[i].message))
            fail_msg("'%s': %s at %u to %u", rows[i].text, d->message, d->span.begin, d->span.end);
        hd_diagnostics_free(&diagnostics);
    }
}

static void bad_texts(void **state)
{
    (void)state;
    static const bad_text rows[] = {
        {"", 0, 1, "expected the name of a quantity"},
        {"registers<=96,", 14, 15, "expected the name of a quantity"},
        {",registers<=96", 0, 1, "expected the name of a quantity"},
        {"registers<=96;max_pressure<=3", 13, 29, "expected ',' or the end"},
        {"register<=96", 0, 8, "no quantity is called 'register'; there are: registers, max_pressure,"},
        {"registers<=96,Live_peak<=80", 14, 23, "no quantity is called 'Live_peak'"},
        {"registers=96", 9, 10, "expected one of <= < >= > == !="},
        {"registers", 9, 10, "expected one of"},
        {"registers<=", 11, 12, "expected a number"},
        {"registers<=x", 11, 12, "expected a number"},
        {"registers<=.", 11, 12, "expected a number"},
        {"registers<=96x", 13, 14, "expected ',' or the end"},
        {"registers<=1234567890123456", 11, 27, "at most 15 digits"},
        {"registers<=9.5", 11, 14, "whole number"},
        {"occupancy<=0.2.3", 14, 16, "expected ','"},
        {"registers<=-1", 11, 13, "never negative"},
        {"registers<=+1", 11, 13, "never negative"},
        {"registers<=50%", 11, 14, "'registers' is no percentage"},
        {"occupancy>=50", 11, 13, "as in 50%"},
        {"occupancy>=101%", 11, 15, "as in 50%"},
        {":registers<=9", 0, 1, "expected a pattern"},
        {"! :registers<=9", 2, 3, "expected a pattern"},
        {"added==0", 0, 5, "no quantity is called 'added'"},
    };
    expect_bad(HD_GATES_OF_VALUES, rows, sizeof rows / sizeof *rows);
    static const bad_text changes[] = {
        {"added<=5%", 7, 9, "'added' is no percentage"},
        {"occupancy>=-5", 11, 13, "as in 50%"},
        {"registers<=--5", 11, 12, "expected a number"},
        {"nothing<=5", 0, 7, "removed"},
    };
    expect_bad(HD_GATES_OF_CHANGES, changes, sizeof changes / sizeof *changes);
}

static void all_mistakes_are_told(void **state)
{
    bench *b = *state;
    assert_null(hd_gates_parse("--require", "a<=1,b<=2,registers<=3,c", HD_GATES_OF_VALUES, &b->diagnostics));
    assert_int_equal(b->diagnostics.error_count, 3);
}

/* ---- of changes -------------------------------------------------------------------------------------------------- */

static const char *judge_changes(bench *b, const hd_report_module *after, const char *text)
{
    hd_diff diff;
    hd_gates *gates = hd_gates_parse("--require", text, HD_GATES_OF_CHANGES, &b->diagnostics);
    if (!gates)
        fail_msg("'%s': %s", text, b->diagnostics.last->message);
    assert_true(hd_diff_reports(&b->report, after, NULL, &b->arena, &diff, &b->diagnostics));
    hd_gates_check_diff(gates, &diff, &b->arena, &b->diagnostics);
    const char *list = "";
    for (uint32_t k = 0; k < diff.kernel_count; k++)
        for (uint32_t i = 0; i < diff.kernels[k].failed_gate_count; i++)
            list =
                hd_arena_printf(&b->arena, "%s%s: %s; ", list, diff.kernels[k].name, diff.kernels[k].failed_gates[i]);
    hd_gates_free(gates);
    return list;
}

static void changes(void **state)
{
    bench *b = *state;
    hd_report_module after = {.path = "y.ptx", .arch = "sm_80"};
    add_kernel(&after, "_Z4sortPi", "sort(int*)", true, 105);
    add_kernel(&after, "helper", "helper", false, 100);
    add_kernel(&after, "fresh", "fresh", true, 250);
    after.kernels[0].occupancy.fraction = 0.625;
    after.kernels[0].predicted.stores = 4;
    assert_string_equal(judge_changes(b, &after, "registers<=5"), "");
    assert_string_equal(judge_changes(b, &after, "registers<=+4"), "_Z4sortPi: registers<=+4 (100 to 105: +5); ");
    assert_string_equal(judge_changes(b, &after, "registers<=5%"), "");
    assert_string_equal(judge_changes(b, &after, "registers<=4.9%"), "_Z4sortPi: registers<=4.9% (100 to 105: +5); ");
    assert_string_equal(judge_changes(b, &after, "*:registers<=-100"), "_Z4sortPi: registers<=-100 (100 to 105: +5); ");
    assert_string_equal(judge_changes(b, &after, "*:registers<=-50%"), "_Z4sortPi: registers<=-50% (100 to 105: +5); ");
    assert_string_equal(judge_changes(b, &after, "helper:registers<=-50%"), "");
    assert_string_equal(judge_changes(b, &after, "spill_bytes<=1000%"), "_Z4sortPi: spill_bytes<=1000% (0 to 4: +4); ");
    assert_string_equal(judge_changes(b, &after, "local_bytes<=0%,local_bytes==0"), "");
    assert_string_equal(judge_changes(b, &after, "occupancy>=-4.2%"), "");
    assert_string_equal(judge_changes(b, &after, "occupancy>=-0.042"), "");
    assert_string_equal(judge_changes(b, &after, "occupancy>=-4%"),
                        "_Z4sortPi: occupancy>=-4% (66.7% to 62.5%: -4.2%); ");
    assert_string_equal(judge_changes(b, &after, "added==0"), "fresh: added==0 (0 to 1: +1); ");
    assert_string_equal(judge_changes(b, &after, "removed==0"), "_Z6reducePf: removed==0 (0 to 1: +1); ");
    assert_string_equal(judge_changes(b, &after, "ptxas<=0"), "_Z4sortPi: ptxas<=0 (not known on both sides); ");
    after.kernels[0].registers_from = "ptxas";
    assert_string_equal(judge_changes(b, &after, "registers<=100"),
                        "_Z4sortPi: registers<=100 (not known on both sides); ");
    assert_string_equal(judge_changes(b, &after, "occupancy<=1"),
                        "_Z4sortPi: occupancy<=1 (not known on both sides); ");
    assert_string_equal(judge_changes(b, &after, "max_pressure<=100"), "");
    free(after.kernels);
}

static void matching(void **state)
{
    bench *b = *state;
    hd_report_module after = {.path = "y.ptx", .arch = "sm_80"};
    add_kernel(&after, "fresh", "fresh", true, 250);
    add_kernel(&after, "helper", "helper", false, 200);
    add_kernel(&after, "_Z6reducePf", "reduce(float*)", true, 41);
    hd_diff diff;
    assert_true(hd_diff_reports(&b->report, &after, NULL, &b->arena, &diff, &b->diagnostics));
    static const struct {
        const char *name;
        hd_diff_status status;
    } rows[] = {{"fresh", HD_DIFF_ADDED},
                {"helper", HD_DIFF_SAME},
                {"_Z6reducePf", HD_DIFF_CHANGED},
                {"_Z4sortPi", HD_DIFF_REMOVED}};
    assert_int_equal(diff.kernel_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_string_equal(diff.kernels[i].name, rows[i].name);
        assert_int_equal(diff.kernels[i].status, rows[i].status);
        assert_int_equal(diff.counts[rows[i].status], 1);
    }
    assert_true(hd_diff_reports(&b->report, &after, "_Z*", &b->arena, &diff, &b->diagnostics));
    assert_int_equal(diff.kernel_count, 2);
    after.kernels[1].ptxas = (hd_report_ptxas){.known = true};
    b->report.kernels[2].ptxas = (hd_report_ptxas){.known = false};
    assert_true(hd_diff_reports(&b->report, &after, "helper", &b->arena, &diff, &b->diagnostics));
    assert_int_equal(diff.kernels[0].status, HD_DIFF_CHANGED); /* known on one side only */
    assert_false(hd_diff_reports(&b->report, &after, "none", &b->arena, &diff, &b->diagnostics));
    assert_int_equal(b->diagnostics.last->kind, HD_DIAG_UNKNOWN_KERNEL);
    add_kernel(&after, "fresh", "fresh", true, 250);
    assert_false(hd_diff_reports(&b->report, &after, NULL, &b->arena, &diff, &b->diagnostics));
    assert_int_equal(b->diagnostics.last->kind, HD_DIAG_BAD_REPORT);
    free(after.kernels);
}

#define unit(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit(every_operator),
        unit(intervals),
        unit(occupancy_as_it_is_printed),
        unit(patterns),
        unit(every_operator),
        unit(every_quantity),
        unit(occupancy_as_it_is_printed),
        unit(patterns),
        unit(messages),
        cmocka_unit_test(bad_texts),
        unit(all_mistakes_are_told),
        unit(changes),
        unit(matching),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
