/* Control fields of listings decoded (ir/machine.h): those of CuAssembler, and the short ones of maxas and TuringAs. */
#include "tests/unit/unit.h"

#include "ir/machine.h"
#include "parser/parse.h"

typedef struct expected {
    const char *line;
    hd_machine_control control;
} expected;

static const expected cases[] = {
    {"[B0-2---:R-:W1:Y:S04]         /*0000*/                   MOV R2, R3 ;",
     {.known = true, .stall_cycles = 4, .yield = true, .write_barrier = 1, .read_barrier = 7, .wait_mask = 5}},
    {"[B------:R3:W-:-:S15]         /*0000*/                   MOV R2, R3 ;",
     {.known = true, .stall_cycles = 15, .write_barrier = 7, .read_barrier = 3}},
    {"--:-:1:-:1      MOV R2, R3;", {.known = true, .stall_cycles = 1, .write_barrier = 0, .read_barrier = 7}},
    {"3f:6:2:Y:f      MOV R2, R3;",
     {.known = true, .stall_cycles = 15, .yield = true, .write_barrier = 1, .read_barrier = 5, .wait_mask = 63}},
    {"02:1:-:-:d      MOV R2, R3;",
     {.known = true, .stall_cycles = 13, .write_barrier = 7, .read_barrier = 0, .wait_mask = 2}},
};

static void test_fields(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hd_source source;
        hd_diagnostics diagnostics;
        hd_parse_options options = {.takes_listings = true};
        char text[200];
        int length = snprintf(text, sizeof text, "\tcode for sm_75\n\t\tFunction : k\n%s\n", cases[i].line);
        hd_source_from_memory(&source, "k.sass", text, (size_t)length);
        hd_diagnostics_init(&diagnostics);
        hd_module *module = hd_parse_ptx(&source, &options, &diagnostics);
        assert_int_equal(diagnostics.error_count, 0);
        assert_int_equal(module->functions.items[0]->instructions.count, 1);
        hd_machine_control c = hd_machine_control_of(module->functions.items[0], 0), e = cases[i].control;
        assert_true(c.known);
        assert_int_equal(c.stall_cycles, e.stall_cycles);
        assert_int_equal(c.yield, e.yield);
        assert_int_equal(c.write_barrier, e.write_barrier);
        assert_int_equal(c.read_barrier, e.read_barrier);
        assert_int_equal(c.wait_mask, e.wait_mask);
        hd_module_free(module);
        hd_diagnostics_free(&diagnostics);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fields)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
