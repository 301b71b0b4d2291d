/* Registers that old PTX declares outside functions: how files name them after a pass changed the code, and how long
 * they live. */
#include "tests/unit/unit.h"

#include "emitters/ir/ptx.h"
#include "tests/unit/rf_bench.h"

#define HEAD                                                                                                         \
    ".version 2.3\n.target sm_20\n.address_size 64\n.global .u32 out;\n.reg .u32 %m<3>;\n.reg .u32 %n;\n.reg .pred " \
    "%q;\n"

static void open_text(rf_bench *b, const char *text) { rf_bench_open(b, text, strlen(text)); }

/* ---- names ------------------------------------------------------------------------------------------------------- */

static uint32_t declaration_of(const hd_function *f, const char *name)
{
    for (uint32_t r = 0; r < f->registers.count; r++) {
        char spelled[64];
        hd_register_spell(f, r, spelled, sizeof spelled);
        if (!strcmp(spelled, name))
            return f->registers.items[r].declaration;
    }
    fail_msg("no register %s", name);
    return HD_NONE;
}

static void expect_ordinals(const hd_function *changed, const hd_function *read)
{
    static const char *const names[] = {"%r1", "%m1", "%s", "%q", "%n"};
    uint32_t *ordinals = hd_declaration_ordinals(changed);
    assert_non_null(ordinals);
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(ordinals[declaration_of(changed, names[i])], i);
        assert_int_equal(declaration_of(read, names[i]), i);
    }
    free(ordinals);
}

/* The first mention of %n goes, so that the last one is the first; a guard is before operands. */
static void the_first_mention_left_counts(void **state)
{
    static const char text[] = HEAD ".func k()\n{\n.reg .u32 %r<4>;\nadd.u32 %r2, %n, 1;\nmov.u32 %m1, %r1;\n"
                                    "{\n.reg .u32 %s;\nadd.u32 %s, %r1, 2;\n@%q mov.u32 %n, %s;\n}\nret;\n}\n";
    static const char *const passes[] = {"dce,release", "dce,corf", "dce,corf++", "dce,bow,ltrf(dead)"};
    for (uint32_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        rf_bench b, again;
        hd_writer written;
        open_text(&b, text);
        rf_bench_pass(&b, passes[i]);
        hd_writer_to_memory(&written);
        assert_true(hd_emit_ptx(&written, b.module, &(hd_emit_options){0}));
        rf_bench_open(&again, written.buffer.items, written.buffer.count);
        expect_ordinals(b.kernel, again.kernel);
        for (uint32_t c = 0; c < hd_checker_count; c++)
            assert_true(rf_bench_check(&again, hd_checkers[c].run));
        rf_bench_close(&again);
        hd_writer_free(&written);
        rf_bench_close(&b);
    }
    (void)state;
}

/* ---- lives ------------------------------------------------------------------------------------------------------- */

/* Is the source of instruction 0 dead after it: by the pass, and as the check sees it. */
static void expect_dead(const char *function, bool dead)
{
    rf_bench b;
    open_text(&b, function);
    rf_bench_pass(&b, "ltrf(dead)");
    assert_true(rf_bench_check(&b, hd_check_ltrf));
    assert_int_equal(hd_annotation_at(b.kernel, HD_ANNOTATION_LTRF_DEAD, 0, 0) != NULL, dead);
    if (!dead) {
        hd_annotate(b.kernel, (hd_annotation){.kind = HD_ANNOTATION_LTRF_DEAD, .instruction = 0, .value = 1});
        hd_annotations_sort(b.kernel);
        assert_false(rf_bench_check(&b, hd_check_ltrf));
    }
    rf_bench_close(&b);
}

static void they_end_with_an_entry(void **state)
{
    (void)state;
    expect_dead(HEAD ".entry k()\n{\nst.global.u32 [out], %n;\nret;\n}\n", true);
    expect_dead(HEAD ".func k()\n{\nst.global.u32 [out], %n;\nret;\n}\n", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_mention_left_counts),
        cmocka_unit_test(they_end_with_an_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
