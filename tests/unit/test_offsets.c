/* Source operands of the form register + constant: what they are lowered to, and what they compute. */
#include "kernel.h"
#include "parsed.h"

#include "passes/clean/offsets.h"

#define KERNEL(body) HEAD ".entry k(.param .u64 pp) {\n" REGISTERS body " ret; }"

static void expect_lowered(const char *body, const char *expected)
{
    char text[2048], got[2048] = "";
    snprintf(text, sizeof text, KERNEL("%s"), body);
    parsed *p = parse_good(text);
    assert_true(p->module->has_offset_operands);
    hd_module_lower_offsets(p->module);
    assert_false(p->module->has_offset_operands);
    assert_true(hd_ir_validate(p->module));
    const hd_function *f = function_of(p, "k");
    for (uint32_t i = 0; i + 1 < f->instructions.count; i++) {
        char one[256];
        describe(f, i, one, sizeof one);
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s\n", one);
    }
    assert_string_equal(got, expected);
    parsed_free(p);
}

static void operands_become_additions(void **state)
{
    (void)state;
    expect_lowered("st.global.b64 [y0+8], y1 + 1;",
                   "add.u64 %offset_b64_0! y1? #1\nst.global.b64 [y0?+#8] %offset_b64_0?\n");
    expect_lowered("mad.lo.u32 x0, x1+2, x2+-3, x3;", "add.u32 %offset_b32_0! x1? #2\n"
                                                      "add.u32 %offset_b32_1! x2? #-3\n"
                                                      "mad.lo.u32 x0! %offset_b32_0? %offset_b32_1? x3?\n");
    expect_lowered("@p0 add.u16 h0, h0+1, h1+2;", "add.u16 %offset_b16_0! h0? #1\n"
                                                  "add.u16 %offset_b16_1! h1? #2\n"
                                                  "@p0 add.u16 h0! %offset_b16_0? %offset_b16_1?\n");
}

/* A jump to the instruction computes the sum, too. */
static void labels_stay_in_front(void **state)
{
    (void)state;
    parsed *p = parse_good(KERNEL("bra L; mov.b32 x0, 1; L: st.global.b32 [y0], x1+1;"));
    hd_module_lower_offsets(p->module);
    const hd_function *f = function_of(p, "k");
    assert_int_equal(f->labels.items[0].instruction, 2);
    assert_int_equal(hd_insn_form(f, &f->instructions.items[2])->opcode, HD_OP_ADD);
    parsed_free(p);
}

static void other_modules_stay(void **state)
{
    (void)state;
    parsed *p = parse_good(KERNEL("st.global.b32 [y0+4], x1;"));
    assert_false(p->module->has_offset_operands);
    hd_module_lower_offsets(p->module);
    assert_int_equal(function_of(p, "k")->instructions.count, 2);
    parsed_free(p);
}

static void sums_are_computed(void **state)
{
    (void)state;
    enum { LANES = 32 };
    char text[4096];
    uint32_t out[2 * LANES] = {0};
    kernel_run run = {.text = kernel_text(text, sizeof text,
                                          "{ .reg .b16 a; .reg .b32 b<4>; .reg .b64 c; .reg .pred q;\n"
                                          "mad.wide.u32 c, %r0 + 1, 4, %rd1 + 124;\n"
                                          "cvt.u16.u32 a, %r0+1;\n"
                                          "cvt.u32.u16 b0, a+65535;\n" /* wraps in 16 bits */
                                          "mad.lo.u32 b1, b0+2, b0+-3, %r0+0x10;\n"
                                          "setp.ne.u32 q, %r0+1, 5;\n"
                                          "@q st.global.b32 [c], b1+1; }"),
                      .passes = "clean",
                      .out = out,
                      .out_bytes = sizeof out};
    run_kernel(&run);
    assert_string_equal(run.message, "");
    for (uint32_t i = 0; i < LANES; i++)
        assert_int_equal(out[LANES + i], i == 4 ? 0 : (i + 2) * (i - 3) + i + 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_become_additions),
        cmocka_unit_test(labels_stay_in_front),
        cmocka_unit_test(other_modules_stay),
        cmocka_unit_test(sums_are_computed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
