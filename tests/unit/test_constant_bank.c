/* Which constants machine code takes as operands: a row for each kind of instruction, and what the storage, the
 * allocator and the models' code make of it. */
#include "parsed.h"

#include "base/arena.h"
#include "hwmodel/rf/code.h"
#include "ir/constant_bank.h"
#include "ir/storage.h"
#include "passes/manager/manager.h"

static parsed *parse_kernel(const char *body)
{
    char text[4096];
    snprintf(text, sizeof text,
             HEAD ".const .align 4 .b8 k[64];\n.func (.param .u32 r) callee(.param .u32 q);\n"
                  ".entry e(.param .u64 a, .param .u32 n, .param .f32 s, .param .u32 m, .param .f64 d, .param .u16 h) "
                  "{\n" REGISTERS "%s\n}\n",
             body);
    return parse_good(text);
}

/* Of the loads in front, a letter each: '-' needs no register, 'R' is loaded into one. */
static void expect(const char *want, const char *body)
{
    parsed *p = parse_kernel(body);
    hd_function *f = function_of(p, "e");
    hd_arena arena = {0};
    hd_storage s = hd_storage_of(f, &arena);
    char got[16] = "";
    for (uint32_t i = 0; want[i]; i++) {
        uint32_t reg = hd_insn_operands(f, &f->instructions.items[i])->value;
        got[i] = hd_storage_skips(&s, i) ? '-' : 'R';
        assert_int_equal(hd_storage_count(&s, reg), got[i] == '-' ? 0 : hd_register_words(f, reg));
    }
    if (strcmp(got, want) != 0)
        fail_msg("%s: %s, not %s", body, got, want);
    hd_arena_free(&arena);
    parsed_free(p);
}

static void alu(void **state)
{
    (void)state;
    expect("-", "ld.param.u32 x1, [n]; add.u32 x2, x0, x1; ret;");
    expect("-", "ld.param.u32 x1, [n]; add.u32 x2, x1, x0; ret;");
    expect("-", "ld.param.u32 x1, [n]; sub.u32 x2, x1, x0; ret;");
    expect("-", "ld.param.f32 f1, [s]; fma.rn.f32 f2, f3, f4, f1; ret;");
    expect("-", "ld.param.f64 d1, [d]; fma.rn.f64 d2, d1, d3, d0; ret;");
    expect("-", "ld.param.u64 y1, [a]; add.u64 y2, y1, y0; ret;");
    expect("-", "ld.param.u64 y1, [a]; mad.wide.u32 y2, x0, x1, y1; ret;");
    expect("-", "ld.param.u32 x1, [n]; setp.ge.s32 p1, x0, x1; ret;");
    expect("-", "ld.param.u32 x1, [n]; setp.ge.and.s32 p1|p2, x1, x0, p0; ret;");
    expect("-", "ld.param.u32 x1, [n]; selp.b32 x2, x0, x1, p0; ret;");
    expect("-", "ld.param.u32 x1, [n]; shr.u32 x2, x0, x1; ret;");
    expect("R", "ld.param.u32 x1, [n]; shr.u32 x2, x1, x0; ret;"); /* source A */
    expect("-", "ld.param.u32 x1, [n]; prmt.b32 x2, x0, x1, x3; ret;");
    expect("R", "ld.param.u32 x1, [n]; prmt.b32 x2, x1, x0, x3; ret;");
    expect("-", "ld.param.u32 x1, [n]; lop3.b32 x2, x0, x3, x1, 0x96; ret;"); /* the table is no operand */
    expect("R", "ld.param.u32 x1, [n]; bfe.u32 x2, x1, x0, x3; ret;");
    expect("-", "ld.param.f32 f1, [s]; rcp.approx.f32 f2, f1; ret;");
    expect("-", "ld.param.u32 x1, [n]; cvt.rn.f32.u32 f2, x1; ret;");
    expect("-", "ld.param.u32 x1, [n]; mov.b32 x2, x1; ret;");
    expect("-", "ld.param.u32 x1, [n]; @p0 add.u32 x2, x0, x1; ret;");
    expect("-", "mov.u32 x1, %ntid.x; mad.lo.u32 x2, x3, x1, x4; ret;");
    expect("R", "mov.u32 x1, %ctaid.x; mad.lo.u32 x2, x3, x1, x4; ret;"); /* S2R */
    expect("-", "ld.const.u32 x1, [k+4]; add.u32 x2, x0, x1; ret;");
    expect("-", "ld.param.u32 x1, [n]; add.u32 x2, x0, x1; xor.b32 x3, x1, x2; ret;"); /* each takes it */
}

static void numbers(void **state)
{
    (void)state;
    expect("R", "ld.param.u32 x1, [n]; add.u32 x2, x1, 1; ret;");
    expect("R", "ld.param.u32 x1, [n]; setp.lt.s32 p1, x1, 1; ret;");
    expect("-", "ld.param.u32 x1, [n]; setp.lt.s32 p1, x1, 0; ret;"); /* RZ */
    expect("R", "ld.param.f32 f1, [s]; mul.f32 f2, f1, 0f40000000; ret;");
    expect("-", "ld.param.f32 f1, [s]; max.f32 f2, f1, 0f00000000; ret;");
    expect("-", "ld.param.u64 y1, [a]; mad.wide.u32 y2, x0, 8, y1; ret;"); /* LEA */
    expect("R", "ld.param.u64 y1, [a]; mad.wide.u32 y2, x0, 12, y1; ret;");
    expect("R", "ld.param.u32 x1, [n]; mad.lo.u32 x2, x1, 8, x0; ret;");
    expect("R", "ld.param.f32 f1, [s]; fma.rn.f32 f2, f3, 0f40000000, f1; ret;");
    expect("-R", "ld.param.u32 x1, [n]; ld.param.u32 x2, [m]; add.u32 x3, x1, x2; ret;"); /* one each */
    expect("R", "ld.param.u32 x1, [n]; mul.lo.u32 x3, x1, x1; ret;");
}

static void in_registers(void **state)
{
    (void)state;
    expect("R", "ld.param.u64 y1, [a]; ld.global.u32 x1, [y1]; ret;");
    expect("R", "ld.param.u32 x1, [n]; st.global.u32 [y0], x1; ret;");
    expect("R", "ld.param.u64 y1, [a]; st.global.u32 [y1], x1; ret;");
    expect("R", "ld.param.u32 x1, [n]; atom.global.add.u32 x2, [y0], x1; ret;");
    expect("R", "ld.param.u32 x1, [n]; shfl.sync.idx.b32 x2, x1, 0, 31, -1; ret;");
    expect("R", "ld.param.u32 x1, [n]; mov.b64 y1, {x1, x0}; ret;");
    /* not every reader takes it */
    expect("R", "ld.param.u32 x1, [n]; add.u32 x2, x0, x1; st.global.u32 [y0], x1; ret;");
    expect("R", "@p0 ld.param.u32 x1, [n]; add.u32 x2, x0, x1; ret;");
    expect("RR", "ld.param.u32 x1, [n]; ld.param.u32 x1, [m]; add.u32 x2, x0, x1; ret;");
    expect("R", "ld.param.u32 x1, [n]; L: add.u32 x1, x1, x0; @p0 bra L; ret;"); /* written twice */
    expect("R", "ld.param.u32 y1, [n]; add.u64 y2, y1, y0; ret;");               /* extended */
    expect("R", "ld.param.u16 h1, [h]; add.u16 h2, h1, h0; ret;");
    expect("R", "ld.param.u16 x1, [h]; add.u32 x2, x1, x0; ret;");
    expect("R", "ld.const.u32 x1, [y0]; add.u32 x2, x0, x1; ret;");
    expect("R", "ld.global.u32 x1, [y0]; add.u32 x2, x0, x1; ret;");
}

/* Allocated code: the constant has a name that is no place, the proof of the allocation takes it, and the text reads
 * back the same. */
static void allocated(void **state)
{
    (void)state;
    parsed *p = parse_kernel("ld.param.u64 y1, [a]; ld.param.f64 d1, [d]; cvt.f64.f32 d0, f0; add.f64 d2, d0, d1; "
                             "add.u64 y2, y1, y0; st.global.f64 [y2], d2;"
                             "ld.param.u32 x1, [n]; st.global.u32 [y2], x1; ret;");
    hd_function *f = function_of(p, "e");
    hd_pipeline *pipeline = hd_pipeline_parse("regalloc", &p->diagnostics);
    hd_arena arena = {0};
    assert_true(hd_pipeline_run(pipeline, p->module, &(hd_pipeline_options){.validate = true}, &p->diagnostics));
    hd_storage s = hd_storage_of(f, &arena);
    hd_rf_module *code = hd_rf_module_new(p->module);
    hd_rf_code *first = NULL;
    for (uint32_t i = 0; i < p->module->functions.count && !first; i++)
        first = p->module->functions.items[i] == f ? code->functions[i] : NULL;
    assert_true(hd_storage_skips(&s, 0) && hd_storage_skips(&s, 1) && !hd_storage_skips(&s, 6));
    assert_int_equal(hd_function_issued(f), 7);
    assert_int_equal(first->source_first[4] - first->source_first[3], 2);           /* d0 alone */
    assert_int_equal(first->source_first[5] - first->source_first[4], 2);           /* y0 alone */
    assert_int_equal(first->destination_first[2] - first->destination_first[0], 0); /* the loads */
    assert_int_equal(first->destination_first[7] - first->destination_first[6], 1); /* MOV */
    hd_rf_module_free(code);
    hd_arena_free(&arena);
    hd_pipeline_free(pipeline);
    parsed_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alu),
        cmocka_unit_test(numbers),
        cmocka_unit_test(in_registers),
        cmocka_unit_test(allocated),
    };
    return cmocka_run_group_tests_name("constant_bank", tests, NULL, NULL);
}
