/* The width rules of the table of machine instructions: each row's are rules for slots of the row, and what is none is
 * found. */
#include "tests/unit/unit.h"

#include "ir/sass/width.h"

static void test_all_rows_have_rules(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < hd_sass_row_count; i++) {
        const hd_sass_row *row = &hd_sass_rows[i];
        if (!hd_sass_widths_are_rules(row->operands, row->widths))
            fail_msg("%s %s: '%s' for operands '%s'", row->opcode, row->modifiers, row->widths, row->operands);
    }
}

static void test_what_is_no_rule(void **state)
{
    (void)state;
    static const char *const good[] = {
        "",
        "mma",
        "Rd=1",
        "Rb=1; 2 if .64|.F32x2 // Rd=0; 1 if n=3|n=4",
        "Rb=1 +1 if .X -1 if no.Y",
        "Rd=[.A|.B.C: 2; 4 if .D] / [.E: [.F: 1] / [else: 2]] / [else: 1]",
        "URx=2",
    };
    static const char *const bad[] = {
        "Rb",
        "Rb=",
        "Rc=1", /* no such slot */
        "Rb=2 (.64)",
        "Rb=1; 2 if .64 ; 2/4 for vector types",
        "Rb=1; 2 if 64",
        "Rb=1; 2 if .64|",
        "Rb=1; 1 if n=1 else 2",
        "Rb=[.A: 2] / [.B: 1]", /* neither */
        "Rb=[else: 2] / [.A: 1]",
        "Rb=[.A: 2 / [else: 1]",
        "Rb=1 // ",
        "Rb=1; Rd=1",
        "Rb=1, 2 if .64",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(hd_sass_widths_are_rules("Pu?, Rd, mem(Ra+URx), Rb", good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(hd_sass_widths_are_rules("Pu?, Rd, mem(Ra+URx), Rb", bad[i]));
}

/* A vector of elements that no width of the row mentions: the row does not fit. */
static void test_unknown_vectors(void **state)
{
    (void)state;
    hd_arena arena;
    hd_arena_init(&arena);
    static const struct {
        const char *spelling;
        bool known;
    } cases[] = {{"REDG.E.ADD.F32x4.FTZ.RN.STRONG.GPU", true},
                 {"REDG.E.ADD.F16x2.RN.STRONG.GPU", true},
                 {"REDG.E.ADD.F64x2.RN.STRONG.GPU", false},
                 {"REDG.E.ADD.S8x16.STRONG.GPU", false},
                 {"F2FP.SATFINITE.E4M3.F32x2", true}}; /* of no access */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const hd_sass_form *form = hd_sass_form_of(cases[i].spelling, strlen(cases[i].spelling), 90, &arena);
        assert_int_equal(hd_sass_form_row(form) != NULL, cases[i].known);
    }
    hd_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_rows_have_rules),
        cmocka_unit_test(test_what_is_no_rule),
        cmocka_unit_test(test_unknown_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
