/* Operands in memory as one instruction of the extended spelling: what is written, what it reads as, and what is
 * refused. */
#include "tests/unit/annotated.h"

#include "ir/cfg.h"
#include "tests/unit/unit.h"

static const hd_emit_options PORTABLE = {.no_section = true}, EXTENDED = {.spelling = HD_SPELLING_EXTENDED};

#define OPEN                                                                                             \
    ".version 8.0\n.target sm_80\n.address_size 64\n.const .f32 data[64];\n.entry k(.param .u64 n)\n{\n" \
    "\t.reg .b64 %rd<9>;\n\t.reg .f32 %f<9>;\n\t.reg .pred %p<4>;\n\t.reg .b32 %r<9>;\n"
#define CLOSE "\tret;\n}\n"

/* The body in portable spelling is written as `extended`, and that reads back to the same bytes and annotations. */
static void expect_form(const char *portable, const char *extended)
{
    char from[2048], to[2048];
    snprintf(from, sizeof from, "%s%s%s", OPEN, portable, CLOSE);
    snprintf(to, sizeof to, "%s%s%s", OPEN, extended, CLOSE);
    annotated *a = read_text(from), *b = read_text(to);
    assert_string_equal(slugs(a), "");
    assert_string_equal(slugs(b), "");
    assert_true(hd_ir_validate(b->module));
    assert_same_annotations(a->f, b->f);
    assert_int_equal(hd_function_hash(a->f), hd_function_hash(b->f));
    annotated_free(a);
    annotated_free(b);
    char *forth = rewritten(from, EXTENDED), *back = rewritten(to, PORTABLE), *again = rewritten(to, EXTENDED);
    assert_string_equal(forth, to);
    assert_string_equal(back, from);
    assert_string_equal(again, to);
    free(forth);
    free(back);
    free(again);
}

static void the_figure_is_one_instruction(void **state)
{
    (void)state;
    expect_form("\tld.const.f32 %f1, [%rd1];\n\tld.const.f32 %f2, [%rd1+4]; //@demo\n\tmul.ftz.f32 %f3, %f2, %f1; "
                "//@demo_operand set\n"
                "\tfma.rn.ftz.f32 %f3, %f1, %f3, %f3;\n",
                "\tld.const.f32 %f1, [%rd1];\n\tmul.ftz.f32 %f3, [%rd1+4]:ld.const.f32 %f2, %f1;\n\tfma.rn.ftz.f32 "
                "%f3, %f1, %f3, %f3;\n");
}

static void forms_keep_what_the_two_lines_have(void **state)
{
    (void)state;
    static const char *const forms[][2] = {
        /* the last source, a type and modifiers of its own, blanks as they are */
        {"  ld.global.L1::no_allocate.f32 \t%f2, [%rd1]; //@demo\n  fma.rn.f32  %f3, 0f00000000, %f1,  %f2 ; "
         "//@demo_operand none,set\n",
         "  fma.rn.f32  %f3, 0f00000000, %f1,  [%rd1]:ld.global.L1::no_allocate.f32 \t%f2 ;\n"},
        {"\tld.param.u32 %r1, [n]; //@demo\n\tadd.s32 %r1, %r1, 7; //@demo_operand set\n",
         "\tadd.s32 %r1, [n]:ld.param.u32 %r1, 7;\n"},
        {"\t@!%p1 ld.global.u32 %r1, [%rd1+-4]; //@demo\n\t@!%p1 setp.lt.s32 %p2, %r1, 7; //@demo_operand set\n",
         "\t@!%p1 setp.lt.s32 %p2, [%rd1+-4]:ld.global.u32 %r1, 7;\n"},
        {"\tld.shared.u32 %r1, [%r3]; //@demo\n\tadd.s32 %r2, %r1, 7; /*@demo_operand set*/ // why\n",
         "\tadd.s32 %r2, [%r3]:ld.shared.u32 %r1, 7; // why\n"},
        /* with other annotations */
        {"\tld.const.f32 %f2, [data]; //@demo; x_flag\n\tmul.f32 %f3, %f2, %f1; //@demo_operand set\n",
         "\tmul.f32 %f3, [data]:ld.const.f32.x_flag %f2, %f1;\n"},
        {"\tld.const.f32 %f2, [data]; //@bow boc; pbr (4); demo\n\tmul.f32 %f3, %f2, %f1; //@bow both; demo_operand "
         "set\n",
         "\t.heddle pbr (4);\n\tmul.f32.bow::both %f3, [data]:ld.const.f32.bow::boc %f2, %f1;\n"},
        /* several operands, and what a load came after */
        {"\tld.const.f32 %f2, [data]; //@demo\n\tld.global.f32 %f1, [%rd2]; //@demo; demo_after 2\n\tmul.f32 %f3, %f2, "
         "%f1; //@demo_operand set,set\n",
         "\tmul.f32 %f3, [data]:ld.const.f32 %f2, [%rd2]:ld.global.f32.demo_after::2 %f1;\n"},
        {"\tld.global.f32 %f2, [%rd1]; //@demo\n\tld.global.f32 %f4, [%rd2+8]; //@demo\n\tfma.rn.f32 %f3, %f2, %f1, "
         "%f4; //@demo_operand set,none,set\n",
         "\tfma.rn.f32 %f3, [%rd1]:ld.global.f32 %f2, %f1, [%rd2+8]:ld.global.f32 %f4;\n"},
        {"\tld.global.f32 %f2, [%rd1]; //@demo\n\tld.global.f32 %f4, [%rd2]; //@demo\n\tld.shared.f32 %f5, [%r1]; "
         "//@demo\n"
         "\tfma.rn.f32 %f3, %f2, %f4, %f5; //@demo_operand set,set,set\n",
         "\tfma.rn.f32 %f3, [%rd1]:ld.global.f32 %f2, [%rd2]:ld.global.f32 %f4, [%r1]:ld.shared.f32 %f5;\n"},
        {"\tld.const.f32 %f2, [data]; //@demo\n\tmul.f32 %f3, %f2, %f1; //@demo_operand set\n"
         "\tld.const.f32 %f2, [data]; //@demo\n\tmul.f32 %f3, %f3, %f2; //@demo_operand none,set\n",
         "\tmul.f32 %f3, [data]:ld.const.f32 %f2, %f1;\n\tmul.f32 %f3, %f3, [data]:ld.const.f32 %f2;\n"},
    };
    for (uint32_t i = 0; i < sizeof forms / sizeof *forms; i++)
        expect_form(forms[i][0], forms[i][1]);
}

/* Two lines stay two lines. */
static void other_pairs_stay_apart(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "\tld.const.f32 %f2, [data]; //@demo\n\tmul.f32 %f3, %f2, %f1; //@pbr (4,5); demo_operand set\n",
        "\tld.const.f32 %f2, [data]; //@demo\n\n\tmul.f32 %f3, %f2, %f1; //@demo_operand set\n",
        "\tld.const.f32 %f2, [data]; /*@demo*/ // a word\n\tmul.f32 %f3, %f2, %f1; //@demo_operand set\n",
        "\tld.const.f32 %f2, [data]; //@demo\n\t// a word\n\tmul.f32 %f3, %f2, %f1; //@demo_operand set\n",
        "\tld.const.f32 %f2, [data]; //@demo\nL:\n\tmul.f32 %f3, %f2, %f1; //@demo_operand set\n",
        "\tld.const.f32 %f2, [data]; //@demo\nL: mul.f32 %f3, %f2, %f1; //@demo_operand set\n",
        "\tld.const.f32 %f2, [data]; //@demo\n  mul.f32 %f3, %f2, %f1; //@demo_operand set\n",
        "\tld.const.f32 %f2,[data]; //@demo\n\tmul.f32 %f3, %f2, %f1; //@demo_operand set\n",
        "\tld.const.f32 %f2, [data]; //@demo\n\tmul.f32 %f3,\n\t\t%f2, %f1; //@demo_operand set\n",
        "\tld.const.f32 %f2, [data]; /*@demo*/ mul.f32 %f3, %f2, %f1; //@demo_operand set\n",
        "\t@%p1 ld.const.f32 %f2, [data]; //@demo\n\t@!%p1 mul.f32 %f3, %f2, %f1; //@demo_operand set\n",
        "\tld.const.f32 %f2, [data]; //@demo\n\tmul.f32 %f3, %f2, %f1; //@demo_operand set; x_flag\n",
        /* several: in another order than the operands, not next to each other, one without its mark */
        "\tld.const.f32 %f1, [data]; //@demo\n\tld.const.f32 %f2, [data]; //@demo\n\tmul.f32 %f3, %f2, %f1; "
        "//@demo_operand set,set\n",
        "\tld.const.f32 %f2, [data]; //@demo\n\n\tld.const.f32 %f1, [data]; //@demo\n\tmul.f32 %f3, %f2, %f1; "
        "//@demo_operand set,set\n",
        "\tld.const.f32 %f2, [data]; //@demo\n\tld.const.f32 %f1, [data];\n\tmul.f32 %f3, %f2, %f1; //@demo_operand "
        "set,set\n",
        "\tld.const.f32 %f2, [data]; //@demo\n\tld.const.f32 %f1, [data]; //@demo\n\tmul.f32 %f3, %f2, %f1; "
        "//@demo_operand none,set\n",
        /* unsound, but not ours to mend: another source is annotated, two are, it is named twice */
        "\tld.const.f32 %f2, [data]; //@demo\n\tmul.f32 %f3, %f2, %f1; //@demo_operand none,set\n",
        "\tld.const.f32 %f2, [data]; //@demo\n\tmul.f32 %f3, %f2, %f1; //@demo_operand set,set\n",
        "\tld.const.f32 %f2, [data]; //@demo\n\tmul.f32 %f3, %f2, %f2; //@demo_operand set\n",
        "\tld.const.f32 %f2, [data]; //@demo\n\tmul.f32 %f3, %f2, %f1;\n",
    };
    for (uint32_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char text[2048];
        snprintf(text, sizeof text, "%s%s%s", OPEN, bodies[i], CLOSE);
        char *forth = rewritten(text, EXTENDED), *back = rewritten(forth, PORTABLE);
        if (strstr(forth, "]:") || strcmp(back, text) != 0)
            fail_msg("body %u:\n%s", i, forth);
        free(forth);
        free(back);
    }
}

static void line_ends_are_kept(void **state)
{
    (void)state;
    static const char text[] =
        ".version 8.0\r\n.target sm_80\r\n.entry k()\r\n{\r\n.reg .f32 %f<4>;\r\n.const .f32 data;\r\n"
        "ld.const.f32 %f2, [data]; //@demo\r\nmul.f32 %f3, %f2, %f1; //@demo_operand set\r\nret;\r\n}\r\n";
    char *forth = rewritten(text, EXTENDED), *back = rewritten(forth, PORTABLE);
    assert_non_null(strstr(forth, ";\r\nmul.f32 %f3, [data]:ld.const.f32 %f2, %f1;\r\nret;\r\n"));
    assert_string_equal(back, text);
    free(forth);
    free(back);
}

static void canonical_text_has_the_form(void **state)
{
    (void)state;
    static const char form[] = OPEN "  mul.f32   %f3,   [data]:ld.const.f32  %f2,  %f1;\n" CLOSE;
    hd_emit_options canonical = {.spelling = HD_SPELLING_EXTENDED, .canonical = true};
    char *once = rewritten(form, canonical), *twice = rewritten(once, canonical);
    assert_non_null(strstr(once, "\n\tmul.f32 %f3, [data]:ld.const.f32 %f2, %f1;\n"));
    assert_string_equal(once, twice);
    free(once);
    free(twice);
}

/* ---- what is wrong ----------------------------------------------------------------------------------------------- */

static void malformed_forms_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *line, *slug, *says;
    } bad[] = {
        {"\tmul.f32 %f3, [data]:%f2, %f1;\n", "bad-annotation", "is followed by its load"},
        {"\tmul.f32 %f3, [data]:add.f32 %f2, %f1;\n", "bad-annotation", "is followed by its load"},
        {"\tmul.f32 %f3, [data]: ld.const.f32 %f2, %f1;\n", "bad-annotation", "is followed by its load"},
        {"\tmul.f32 %f3, [data]:ld.const.f32, %f1;\n", "bad-annotation", "the register that it names"},
        {"\tmul.f32 %f3, [data]:ld.const.f32 {%f2,%f4}, %f1;\n", "bad-annotation", "the register that it names"},
        {"\tmul.f32 %f3, [data]:ld.const.f32 %f2 %f1;\n", "bad-annotation", "a comma or semicolon follows"},
        {"\tmul.f32 %f3, [data]:ld.const.f32 %f2\n, %f1;\n", "bad-annotation", "a comma or semicolon follows"},
        {"\tmul.f32 %f3, [data]:ld.const.f32 %f2, [data]:ld.const.f32 %f2;\n", "bad-annotation", "elsewhere, too"},
        {"\tmul.f32 %f3, [data]:ld.const.f32 %f2, [data]:ld.const.f32;\n", "bad-annotation",
         "the register that it names"},
        {"\tfma %f3, [a]:ld.x %f2, [a]:ld.x %f2, [a]:ld.x %f2, [a]:ld.x %f2, [a]:ld.x %f2, [a]:ld.x %f2, [a]:ld.x %f2, "
         "[a]:ld.x %f2, [a]:ld.x %f2;\n",
         "bad-annotation", "at most 8"},
        {"\tmul.f32 [data]:ld.const.f32 %f3, %f2, %f1;\n", "bad-annotation", "after a comma"},
        {"\tmul.f32 %f3, data]:ld.const.f32 %f2, %f1;\n", "bad-annotation", "after a comma"},
        {"L: mul.f32 %f3, [data]:ld.const.f32 %f2, %f1;\n", "bad-annotation", "begins its line"},
        {"\tret; mul.f32 %f3, [data]:ld.const.f32 %f2, %f1;\n", "bad-annotation", "begins its line"},
        {"\tmul.f32 %f3,\n\t[data]:ld.const.f32 %f2, %f1;\n", "bad-annotation", "begins its line"},
        {"\tmul.f32 %f3, [data]:ld.const.f32 %f2, %f2;\n", "bad-annotation", "elsewhere, too"},
        {"\tmov.b32 %r1, [data]:ld.const.f32 data, 1;\n", NULL, NULL},
        {"\tmul.f32.demo_operand::set %f3, [data]:ld.const.f32 %f2, %f1;\n", "bad-annotation", "twice"},
        {"\tmul.f32 %f3, [data]:ld.const.f32.demo %f2, %f1;\n", "bad-annotation", "twice"},
        {"\tmul.f32 %f3, [none]:ld.const.f32 %f2, %f1;\n", "undeclared-name", "none"},
        {"\tmul.f32 %f3, [data]:ld.const.f32 %f20, %f1;\n", "undeclared-register", "%f20"},
    };
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[2048];
        snprintf(text, sizeof text, "%s%s%s", OPEN, bad[i].line, CLOSE);
        annotated *a = read_text(text);
        const hd_diagnostic *d = a->diagnostics.first;
        bool told =
            d && d->severity == HD_ERROR &&
            (!bad[i].slug || (!strcmp(hd_diagnostic_slug(d->kind), bad[i].slug) && strstr(d->message, bad[i].says)));
        uint32_t line = d ? hd_source_position(d->source, d->span.begin).line : 0;
        if (!told || line < 11 || line > 12)
            fail_msg("%s: line %u: %s", bad[i].line, line, d ? d->message : "accepted");
        annotated_free(a);
    }
}

/* What follows keeps its number. */
static void lines_keep_their_numbers(void **state)
{
    (void)state;
    static const char form[] = "\tmul.f32 %f3, [data]:ld.const.f32 %f2, %f1;\n";
    char text[2048];
    snprintf(text, sizeof text, "%s%s%s%s\tmov.f32 %%f1, %%nothing;\n%s", OPEN, form, form, form, CLOSE);
    annotated *a = read_text(text);
    assert_non_null(a->diagnostics.first);
    hd_source *source = a->diagnostics.first->source;
    assert_int_equal(hd_source_position(source, a->diagnostics.first->span.begin).line, 14);
    hd_span line = hd_source_line(source, 14);
    assert_memory_equal(source->text + line.begin, "\tmov.f32 %f1, %nothing;", line.end - line.begin);
    assert_int_equal(hd_source_position(source, source->length).line, 17);
    annotated_free(a);
}

static void comments_and_strings_are_left_alone(void **state)
{
    (void)state;
    static const char text[] =
        OPEN "\t// mul.f32 %f3, [data]:ld.const.f32 %f2, %f1;\n\t/* mul.f32 %f3, [data]:ld.\n mul %f1, [data]:x */\n"
             "\t.pragma \"mul.f32 %f3, [data]:ld.const\";\n\tmov.f32 %f1, %f2; // [a]:\n" CLOSE;
    char *same = rewritten(text, PORTABLE);
    assert_string_equal(same, text);
    free(same);
    /* also where the comment begins after an operand in memory */
    static const char form[] =
        OPEN "\tmul.f32 %f3, [data]:ld.const.f32 %f2, %f1; /* [data]:\n\tmul.f32 %f3, [data]:ld.const\n */\n" CLOSE;
    annotated *a = read_text(form);
    assert_string_equal(slugs(a), "");
    assert_int_equal(a->f->instructions.count, 3);
    annotated_free(a);
}

/* Many in one line that are not meant cost one look at the line. */
static void long_lines_are_read_once(void **state)
{
    (void)state;
    enum { BYTES = 1 << 21 };
    char *text = malloc(BYTES + 1);
    for (uint32_t i = 0; i < BYTES; i += 2)
        memcpy(text + i, "]:", 2);
    memcpy(text, "..?", 3);
    text[BYTES] = '\0';
    annotated *a = read_text(text);
    assert_true(a->diagnostics.error_count > 0);
    annotated_free(a);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_figure_is_one_instruction), cmocka_unit_test(forms_keep_what_the_two_lines_have),
        cmocka_unit_test(other_pairs_stay_apart),        cmocka_unit_test(line_ends_are_kept),
        cmocka_unit_test(canonical_text_has_the_form),   cmocka_unit_test(malformed_forms_are_told),
        cmocka_unit_test(lines_keep_their_numbers),      cmocka_unit_test(comments_and_strings_are_left_alone),
        cmocka_unit_test(long_lines_are_read_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
