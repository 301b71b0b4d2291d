/* What the clean-up passes make of small kernels, and what they must leave: for each rule a case that breaks without
 * it. Expectations are PTX too, compared instruction by instruction, as the parser describes them. */
#include "parsed.h"

#include "passes/manager/pipeline.h"
#include "passes/manager/manager.h"

#define PARAMETERS ".param .u64 a, .param .u64 b, .param .u32 n, .param .align 16 .b8 v[16]"
/* Names that the passes give. */
#define FRESH                                                                                                        \
    ".reg .b64 %param_b64_<9>; .reg .b32 %param_b32_<9>; .reg .f32 %param_f32_<9>; .reg .b32 %scoped_b32_<4>; .reg " \
    ".pred %scoped_pred_<4>;\n"

static void describe_all(const hd_function *f, char *out, size_t size)
{
    out[0] = 0;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        char one[512];
        describe(f, i, one, sizeof one);
        for (uint32_t l = 0; l < f->labels.count; l++)
            if (f->labels.items[l].instruction == i)
                snprintf(out + strlen(out), size - strlen(out), "%s: ", name_text(f, f->labels.items[l].name));
        snprintf(out + strlen(out), size - strlen(out), "%s\n", one);
    }
}

static parsed *parse_body(const char *outside, const char *more, const char *body)
{
    char text[8192];
    snprintf(text, sizeof text,
             HEAD ".global .u32 g[64]; .const .u32 c[64]; .func (.param .u32 r) callee(.param .u32 q);\n%s\n"
                  ".entry k(" PARAMETERS ") {\n.shared .align 16 .b8 s[64];\n.local .align 16 .b8 l[64];\n" REGISTERS
                  "%s%s\n}\n",
             outside, more, body);
    return parse_good(text);
}

static void run_passes(parsed *p, const char *passes)
{
    hd_pipeline *pipeline = hd_pipeline_parse(passes, &p->diagnostics);
    assert_non_null(pipeline);
    if (!hd_pipeline_run(pipeline, p->module, &(hd_pipeline_options){.validate = true}, &p->diagnostics))
        fail_msg("%s: %s", passes, p->diagnostics.first->message);
    hd_pipeline_free(pipeline);
    assert_true(hd_ir_validate(p->module));
}

static void expect(const char *passes, const char *before, const char *after)
{
    char got[8192], want[8192];
    parsed *p = parse_body("", "", before), *q = parse_body("", FRESH, after);
    run_passes(p, passes);
    describe_all(function_of(p, "k"), got, sizeof got);
    describe_all(function_of(q, "k"), want, sizeof want);
    assert_string_equal(got, want);
    parsed_free(p);
    parsed_free(q);
}

static void expect_same(const char *passes, const char *body) { expect(passes, body, body); }

/* ---- copyprop ------------------------------------------------------------------------------------------------------
 */

static void copies(void **state)
{
    (void)state;
    expect("copyprop", "mov.b32 x1, x0; add.u32 x2, x1, x1; st.global.u32 [y0], x1; ret;",
           "mov.b32 x1, x0; add.u32 x2, x0, x0; st.global.u32 [y0], x0; ret;");
    expect("copyprop", "mov.b32 x1, x0; mov.b32 x2, x1; st.global.u32 [y0], x2; ret;",
           "mov.b32 x1, x0; mov.b32 x2, x0; st.global.u32 [y0], x0; ret;");
    expect("copyprop", "mov.b64 y1, y0; ld.global.u32 x1, [y1+8]; st.global.v2.u32 [y1], {x1, x1}; ret;",
           "mov.b64 y1, y0; ld.global.u32 x1, [y0+8]; st.global.v2.u32 [y0], {x1, x1}; ret;");
    expect("copyprop", "mov.pred p1, p0; @p1 add.u32 x1, x0, 1; selp.b32 x2, x0, x1, p1; ret;",
           "mov.pred p1, p0; @p0 add.u32 x1, x0, 1; selp.b32 x2, x0, x1, p0; ret;");
    /* across blocks, where nothing comes between */
    expect("copyprop", "mov.b32 x1, x0; @p0 bra L; add.u32 x2, x1, 1; L: add.u32 x3, x1, 2; ret;",
           "mov.b32 x1, x0; @p0 bra L; add.u32 x2, x0, 1; L: add.u32 x3, x0, 2; ret;");
    expect_same("copyprop", "mov.pred p1, !p0; @p1 add.u32 x1, x0, 1; ret;");
    /* types that do not go together stay: a float sum of an integer register */
    expect_same("copyprop", ".reg .s32 i; add.s32 i, i, 1; mov.b32 f1, i; add.f32 f2, f1, f1; ret;");
}

static void copies_that_are_over(void **state)
{
    (void)state;
    expect_same("copyprop(all)", "mov.b32 x1, x0; add.u32 x0, x0, 1; st.global.u32 [y0], x1; ret;");
    expect_same("copyprop(all)", "mov.b32 x1, x0; @p0 add.u32 x0, x0, 1; st.global.u32 [y0], x1; ret;");
    expect_same("copyprop(all)", "mov.b32 x1, x0; @p0 bra L; add.u32 x0, x2, 1; L: st.global.u32 [y0], x1; ret;");
    expect_same("copyprop(all)", "mov.b32 x1, x0; @p0 mov.b32 x1, x2; st.global.u32 [y0], x1; ret;");
    expect_same("copyprop(all)", "@p0 mov.b32 x1, x0; st.global.u32 [y0], x1; ret;");
    expect_same("copyprop(all)", "@p0 bra L; mov.b32 x1, x0; L: st.global.u32 [y0], x1; ret;");
    expect_same("copyprop(all)", "mov.b32 x1, x0; L: st.global.u32 [y0], x1; add.u32 x0, x0, 1; @p0 bra L; ret;");
    /* the second way into the side goes over a change of x0 */
    expect_same(
        "copyprop(all)",
        "mov.b32 x1, x0; H: @p0 bra B; st.global.u32 [y0], x1; bra N; B: add.u32 x0, x0, 1; N: @p1 bra H; ret;");
    expect_same("copyprop(all)", "mov.b32 x1, 5; vadd.u32.u32.u32 x1.b0, x2, x3, x4; st.global.u32 [y0], x1; ret;");
    /* ptxas cuts a constant amount to 16 bits where 16 bits are shifted */
    expect("copyprop", ".reg .b16 h; mov.u32 x1, 0xffff; shl.b16 h, h, x1; st.global.u16 [y0], h; ret;",
           ".reg .b16 h; mov.u32 x1, 0xffff; shl.b16 h, h, 0xffff; st.global.u16 [y0], h; ret;");
    expect("copyprop", "mov.u32 x1, 0x10000; shl.b32 x2, x0, x1; st.global.u32 [y0], x2; ret;",
           "mov.u32 x1, 0x10000; shl.b32 x2, x0, 0x10000; st.global.u32 [y0], x2; ret;");
    expect_same("copyprop", ".reg .b16 h; mov.u32 x1, 0x10000; shl.b16 h, h, x1; st.global.u16 [y0], h; ret;");
    expect_same("copyprop", ".reg .b16 h; mov.u32 x1, 0x10000; shr.s16 h, h, x1; st.global.u16 [y0], h; ret;");
    /* a number that only one side gives */
    expect_same("copyprop(all)", "mov.u32 x1, 3; @p0 bra L; mov.u32 x1, 4; L: add.u32 x2, x1, x1; ret;");
    /* a phi: readings after the copy would keep both registers */
    expect_same("copyprop",
                "mov.b32 x1, x0; L: add.u32 x2, x1, 1; st.global.u32 [y0], x2; mov.b32 x1, x2; @p0 bra L; ret;");
    expect_same("copyprop",
                "mov.b32 x1, x0; @p0 bra M; add.u32 x2, x1, 1; M: add.u32 x1, x1, 1; st.global.u32 [y0], x1; ret;");
    expect("copyprop(all)", "mov.b32 x1, x0; mov.b32 x2, x1; add.u32 x3, x2, 1; L: add.u32 x1, x1, x3; @p0 bra L; ret;",
           "mov.b32 x1, x0; mov.b32 x2, x0; add.u32 x3, x0, 1; L: add.u32 x1, x1, x3; @p0 bra L; ret;");
}

/* Registers that an instruction reads and writes. */
static void merged_operands(void **state)
{
    (void)state;
    expect_same("copyprop", "mov.b32 f4, f0; mov.b32 f5, f1; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f4, "
                            "f5, f2, f3}, y0, y1, 1, 1, 1, 0, 0; ret;");
}

static void numbers(void **state)
{
    (void)state;
    expect("copyprop", "mov.u32 x1, 7; add.u32 x2, x0, x1; st.global.u32 [y0], x1; ret;",
           "mov.u32 x1, 7; add.u32 x2, x0, 7; st.global.u32 [y0], x1; ret;");
    expect(
        "copyprop",
        "mov.f32 f1, 0f3FC00000; fma.rn.f32 f2, f0, f1, f1; mov.f64 d1, 0d4000000000000000; add.f64 d2, d0, d1; ret;",
        "mov.f32 f1, 0f3FC00000; fma.rn.f32 f2, f0, 0f3FC00000, 0f3FC00000; mov.f64 d1, 0d4000000000000000; add.f64 "
        "d2, d0, 0d4000000000000000; ret;");
    expect("copyprop", "mov.b32 x1, 0xffffffff; setp.eq.u32 p1, x0, x1; mov.b64 y1, 1; shl.b64 y2, y1, x1; ret;",
           "mov.b32 x1, 0xffffffff; setp.eq.u32 p1, x0, -1; mov.b64 y1, 1; shl.b64 y2, 1, -1; ret;");
    expect("copyprop", "mov.u32 x1, 0; st.global.u32 [y0], x1; mov.f32 f1, 0f00000000; st.global.f32 [y0], f1; ret;",
           "mov.u32 x1, 0; st.global.u32 [y0], 0; mov.f32 f1, 0f00000000; st.global.f32 [y0], 0f00000000; ret;");
    expect_same("copyprop", "mov.u32 x1, 0; st.global.v2.u32 [y0], {x1, x1}; ret;");
    expect_same("copyprop", "mov.u32 x1, 7; st.global.v2.u32 [y0], {x1, x1}; atom.global.add.u32 x2, [y0], x1; ret;");
    expect_same("copyprop", "mov.b32 x1, 0x300; cvt.u32.u8 x2, x1; vadd.u32.u32.u32 x3, x0, x1; ret;");
}

static void variables(void **state)
{
    (void)state;
    expect("copyprop",
           "mov.u32 x1, s; ld.shared.u32 x2, [x1+4]; mov.u64 y1, g; st.global.u32 [y1], x2; mov.u64 y2, l; "
           "st.local.u32 [y2+8], x2; ret;",
           "mov.u32 x1, s; ld.shared.u32 x2, [s+4]; mov.u64 y1, g; st.global.u32 [g], x2; mov.u64 y2, l; st.local.u32 "
           "[l+8], x2; ret;");
    /* a copy of the address first, then the variable */
    expect("copyprop", "mov.u64 y1, g; mov.u64 y2, y1; ld.global.u32 x1, [y2+4]; ret;",
           "mov.u64 y1, g; mov.u64 y2, y1; ld.global.u32 x1, [g+4]; ret;");
    expect("copyprop", "mov.u32 x1, s+16; ld.shared.u32 x2, [x1+4]; ret;",
           "mov.u32 x1, s+16; ld.shared.u32 x2, [s+20]; ret;");
    expect_same("copyprop",
                "mov.u64 y1, g; ld.u32 x2, [y1]; mov.u64 y2, l; ld.global.u32 x2, [y2]; ret;"); /* another space */
}

/* Names of inner scopes end with them, and may hide others. */
static void scopes(void **state)
{
    (void)state;
    expect("copyprop", "{ .reg .b32 t; add.u32 t, x0, 1; mov.b32 x1, t; } st.global.u32 [y0], x1; ret;",
           "{ add.u32 %scoped_b32_0, x0, 1; mov.b32 x1, %scoped_b32_0; } st.global.u32 [y0], %scoped_b32_0; ret;");
    expect("copyprop", "mov.b32 x1, x0; { .reg .pred x0; setp.eq.u32 x0, x1, 1; @x0 add.u32 x2, x1, 1; } ret;",
           "mov.b32 x1, x0; { setp.eq.u32 %scoped_pred_0, x0, 1; @%scoped_pred_0 add.u32 x2, x0, 1; } ret;");
    expect_same("copyprop", "{ .shared .u32 t[4]; mov.u32 x1, t; } ld.shared.u32 x2, [x1]; ret;");
    expect_same("copyprop", "mov.u64 y1, g; { .global .u32 g; ld.global.u32 x2, [y1]; } ret;");
}

/* ---- cvta, dce -----------------------------------------------------------------------------------------------------
 */

static void addresses(void **state)
{
    (void)state;
    expect("cvta", "cvta.to.global.u64 y1, y0; cvta.global.u64 y2, y1; @p0 cvta.to.global.u64 y3, y0; ret;",
           "mov.u64 y1, y0; mov.u64 y2, y1; @p0 mov.u64 y3, y0; ret;");
    expect("cvta", "cvta.global.u64 y1, g; ret;", "mov.u64 y1, g; ret;");
    expect_same("cvta",
                "cvta.to.shared.u64 y1, y0; cvta.shared.u64 y2, y1; cvta.local.u64 y3, l; cvta.const.u64 y4, c; ret;");
}

static void dead_code(void **state)
{
    (void)state;
    expect("dce", "add.u32 x1, x0, 1; mul.lo.u32 x2, x1, x1; ld.global.u32 x3, [y0]; st.global.u32 [y0], x0; ret;",
           "st.global.u32 [y0], x0; ret;");
    /* round a loop: only the sum needs itself */
    expect("dce", "L: add.u32 x1, x1, x0; add.u32 x2, x2, 1; setp.lt.u32 p0, x2, 9; @p0 bra L; ret;",
           "L: add.u32 x2, x2, 1; setp.lt.u32 p0, x2, 9; @p0 bra L; ret;");
    /* overwritten, and not read between */
    expect("dce", "mov.u32 x1, 1; mov.u32 x1, 2; st.global.u32 [y0], x1; mov.u32 x1, 3; ret;",
           "mov.u32 x1, 2; st.global.u32 [y0], x1; ret;");
    expect("dce", "mov.u32 x1, x1; setp.eq.u32 p1|p2, x0, 1; mad.lo.cc.u32 x2, x0, x0, x0; ret;", "ret;");
    /* a guarded or partial definition does not kill */
    expect_same("dce", "mov.b64 {_, _}, y0; ret;"); /* it has no destination */
    expect_same("dce", "mov.u32 x1, 1; @p0 mov.u32 x1, 2; st.global.u32 [y0], x1; ret;");
    expect_same("dce", "mov.u32 x1, 1; vadd.u32.u32.u32 x1.b0, x2, x3, x4; st.global.u32 [y0], x1; ret;");
    expect_same("dce", "add.cc.u32 x1, x0, 1; addc.u32 x2, x0, 0; st.global.u32 [y0], x2; ret;");
    expect_same("dce", "setp.eq.u32 p1|p2, x0, 1; @p2 st.global.u32 [y0], x0; ret;");
    /* effects */
    expect_same("dce", "ld.volatile.global.u32 x1, [y0]; ld.relaxed.gpu.global.u32 x2, [y0]; ld.acquire.gpu.global.u32 "
                       "x3, [y0]; ret;");
    expect_same("dce", "atom.global.add.u32 x1, [y0], 1; shfl.sync.idx.b32 x2, x0, 1, 31, -1; activemask.b32 x3; ret;");
    expect_same("dce", "{ .param .u32 i; .param .u32 o; st.param.u32 [i], x0; call (o), callee, (i); } ret;");
}

/* ---- fold ----------------------------------------------------------------------------------------------------------
 */

static void identities(void **state)
{
    (void)state;
    expect("fold",
           "add.u32 x1, x0, 0; mul.lo.u32 x2, x0, 1; and.b32 x3, x0, -1; shl.b32 x4, x0, 0; sub.s32 x5, x0, 0; "
           "cvt.u32.s32 x6, x0; or.b32 x7, 0, x0; ret;",
           "mov.b32 x1, x0; mov.b32 x2, x0; mov.b32 x3, x0; mov.b32 x4, x0; mov.b32 x5, x0; mov.b32 x6, x0; mov.b32 "
           "x7, x0; ret;");
    expect("fold", "mul.lo.u32 x1, x0, 0; and.b32 x2, x0, 0; @p0 xor.b32 x3, x0, 0; ret;",
           "mov.b32 x1, 0; mov.b32 x2, 0; @p0 mov.b32 x3, x0; ret;");
    expect("fold", "div.u32 x1, x0, 8; rem.u32 x2, x0, 8; div.s32 x3, x0, 8; ret;",
           "shr.u32 x1, x0, 3; and.b32 x2, x0, 7; div.s32 x3, x0, 8; ret;");
    expect_same("fold", "add.f32 f1, f0, 0f00000000; mul.f32 f2, f0, 0f3F800000; sub.s32 x1, 0, x0; shl.b32 x2, 0, x0; "
                        "mul.hi.u32 x3, x0, 1; sub.u64 y1, y0, 0x100000000; ret;");
    expect_same("fold",
                "add.cc.u32 x1, x0, 0; addc.u32 x2, x0, 0; add.sat.s32 x3, x0, 0; cvt.sat.u32.s32 x4, x0; ret;");
}

/* Only a mov of a number to a register of its own makes the register that number. */
static void results_of_others_are_not_their_sources(void **state)
{
    (void)state;
    static const char *const others[] = {"cnot.b32 x1, 6;",
                                         "bfind.u32 x1, 6;",
                                         "prmt.b32 x1, 6, 7, 8;",
                                         "bfe.u32 x1, 6, 1, 1;",
                                         "mul24.lo.u32 x1, 6, 7;",
                                         "sad.u32 x1, 6, 7, 8;",
                                         "add.sat.s32 x1, 6, 7;",
                                         "cvt.rzi.s32.f32 x1, 0f40C00000;",
                                         "shf.l.wrap.b32 x1, 6, 7, 8;",
                                         "@p0 mov.u32 x1, 6;",
                                         "ld.local.u32 x1, [6];"};
    for (uint32_t i = 0; i < sizeof others / sizeof *others; i++) {
        char body[256];
        snprintf(body, sizeof body, "%s add.u32 x2, x0, x1; st.global.u32 [y0], x2; ret;", others[i]);
        expect_same("fold", body);
    }
    /* the parts of a pack are known only by registers, of half its width, that are not overwritten */
    expect_same("fold", "mov.b64 y1, {x0, x1}; mov.u32 x0, 3; mov.b64 {x2, x3}, y1; ret;");
    expect_same("fold", "mov.b64 y1, {x0, 5}; mov.b64 {x2, x3}, y1; ret;");
    expect_same("fold", "@p0 mov.b64 y1, {x0, x1}; mov.b64 {x2, x3}, y1; ret;");
}

static void constants_fold(void **state)
{
    (void)state;
    expect("fold", "mov.u32 x1, 6; mul.lo.u32 x2, x1, 7; add.u32 x3, x2, x1; ret;",
           "mov.u32 x1, 6; mov.b32 x2, 42; mov.b32 x3, 48; ret;");
    expect("fold", "mov.f32 f1, 0f40000000; mul.rn.f32 f2, f1, f1; ret;",
           "mov.f32 f1, 0f40000000; mov.b32 f2, 0x40800000; ret;");
    expect("fold", "mov.u32 x1, -2; cvt.s64.s32 y1, x1; cvt.u64.u32 y2, x1; ret;",
           "mov.u32 x1, -2; mov.b64 y1, -2; mov.b64 y2, 4294967294; ret;");
    expect_same("fold",
                "mov.f32 f1, 0f40000000; mul.ftz.f32 f2, f1, f1; mul.rz.f32 f3, f1, f1; rcp.rn.f32 f4, f1; ret;");
    expect_same("fold", "mov.f32 f1, 0f7F800000; sub.f32 f2, f1, f1; mov.f64 d1, 0d7FF0000000000000; sub.f64 d2, d1, "
                        "d1; mov.f64 d3, 0d7FF8000000000001; add.f64 d2, d3, d3; ret;");
    expect_same("fold",
                "mov.u32 x1, 6; @p0 mov.u32 x1, 7; add.u32 x2, x1, 1; @p0 mov.u32 x3, 8; add.u32 x4, x3, 1; ret;");
    expect_same("fold", "mov.u32 x1, 6; L: add.u32 x2, x1, 1; add.u32 x1, x1, x0; @p0 bra L; ret;");
    expect_same("fold", "mov.u32 x1, 0; div.u32 x2, 7, x1; ret;");
    expect("fold", "mov.u32 x1, -7; div.s32 x2, x1, -2; rem.s32 x3, x1, -2; ret;",
           "mov.u32 x1, -7; mov.b32 x2, 3; mov.b32 x3, -1; ret;");
    /* of the least number there is no such quotient */
    expect_same("fold", "mov.u64 y1, 0x8000000000000000; div.s64 y2, y1, -1; rem.s64 y3, y1, -1; ret;");
}

static void sums(void **state)
{
    (void)state;
    expect("fold(fuse)",
           "mul.wide.s32 y1, x0, 4; add.s64 y2, y0, y1; mul.lo.s32 x1, x2, x3; add.s32 x4, x1, x5; shl.b32 x6, x0, 3; "
           "add.u32 x7, x6, x2; ret;",
           "mul.wide.s32 y1, x0, 4; mad.wide.s32 y2, x0, 4, y0; mul.lo.s32 x1, x2, x3; mad.lo.s32 x4, x2, x3, x5; "
           "shl.b32 x6, x0, 3; mad.lo.s32 x7, x0, 8, x2; ret;");
    expect("fold(fuse)", "cvt.s64.s32 y1, x0; shl.b64 y2, y1, 3; cvt.u64.u32 y3, x1; mul.lo.u64 y4, y3, 12; ret;",
           "cvt.s64.s32 y1, x0; mul.wide.s32 y2, x0, 8; cvt.u64.u32 y3, x1; mul.wide.u32 y4, x1, 12; ret;");
    /* without the option, an assembler still sees the terms */
    expect_same("fold", "mul.wide.s32 y1, x0, 4; add.s64 y2, y0, y1; shl.b32 x6, x0, 3; add.u32 x7, x6, x2; ret;");
    expect_same("fold", "cvt.s64.s32 y1, x0; shl.b64 y2, y1, 3; mul.lo.s64 y3, y1, 12; ret;");
    /* the product is read again; another block; a factor has changed */
    expect_same("fold(fuse)", "mul.wide.s32 y1, x0, 4; add.s64 y2, y0, y1; st.global.u64 [y0], y1; ret;");
    expect_same("fold(fuse)", "mul.wide.s32 y1, x0, 4; L: add.s64 y2, y0, y1; @p0 bra L; ret;");
    expect_same("fold(fuse)", "mul.wide.s32 y1, x0, 4; add.u32 x0, x0, 1; add.s64 y2, y0, y1; ret;");
    expect_same("fold(fuse)", "@p0 mul.wide.s32 y1, x0, 4; add.s64 y2, y0, y1; ret;");
    expect_same("fold(fuse)",
                "cvt.s64.s32 y1, x0; add.u32 x0, x0, 1; shl.b64 y2, y1, 3; cvt.s64.s32 y3, x1; mul.lo.s64 y4, "
                "y3, 0x80000000; ret;");
    expect_same("fold(fuse)", "mul.f32 f1, f0, f0; add.f32 f2, f1, f3; ret;");
    /* the bits of a product as a float */
    expect_same("fold(fuse)", "mul.lo.s32 x1, x2, x3; add.f32 x4, x1, x5; ret;");
}

static void offsets(void **state)
{
    (void)state;
    expect("fold", "add.s64 y1, y0, 16; ld.global.u32 x1, [y1+4]; st.global.u32 [y1+-16], x1; ret;",
           "add.s64 y1, y0, 16; ld.global.u32 x1, [y0+20]; st.global.u32 [y0], x1; ret;");
    expect(
        "fold", "sub.s32 x1, x0, 4; ld.shared.u32 x2, [x1]; add.s32 x3, x0, 0xfffffff0; ld.shared.u32 x4, [x3+4]; ret;",
        "sub.s32 x1, x0, 4; ld.shared.u32 x2, [x0+-4]; add.s32 x3, x0, 0xfffffff0; ld.shared.u32 x4, [x0+-12]; ret;");
    expect_same("fold", "add.s64 y1, y0, 0x1000000; ld.global.u32 x1, [y1]; ret;");
    /* the first and the last that an instruction holds; neither addend may be larger itself, nor their sum overflow */
    expect("fold",
           "add.s64 y1, y0, 8388607; ld.global.u8 x1, [y1]; add.s64 y2, y0, -8388608; ld.global.u8 x2, [y2]; ret;",
           "add.s64 y1, y0, 8388607; ld.global.u8 x1, [y0+8388607]; add.s64 y2, y0, -8388608; ld.global.u8 x2, "
           "[y0+-8388608]; ret;");
    expect_same("fold", "add.s64 y1, y0, 8388608; ld.global.u8 x1, [y1]; ret;");
    expect_same("fold", "add.s64 y1, y0, -8388609; ld.global.u8 x1, [y1]; ret;");
    expect_same("fold", "add.s64 y1, y0, 8388608; ld.global.u8 x1, [y1+-8]; ret;");
    expect_same("fold", "add.s64 y1, y0, -8388609; ld.global.u8 x1, [y1+8]; ret;");
    expect_same("fold", "add.s64 y1, y0, -8388600; ld.global.u8 x1, [y1+-16]; ret;");
    expect_same("fold", "add.s64 y1, y0, 0x7fffffffffffffff; ld.global.u8 x1, [y1+1]; ret;");
    expect_same("fold", "add.s64 y1, y0, 0x7ffff0; ld.global.u32 x1, [y1+16]; ret;");
    expect_same("fold", "add.s64 y1, y0, 16; ld.global.u32 x1, [y1]; st.global.u64 [y2], y1; ret;"); /* y1 lives on */
    expect_same("fold", "add.s64 y1, y0, 16; add.s64 y0, y0, 8; ld.global.u32 x1, [y1]; ret;");
    expect_same("fold", "add.s64 y1, y0, 16; @p0 add.s64 y1, y0, 32; ld.global.u32 x1, [y1]; ret;");
    expect_same("fold", "@p0 add.s64 y1, y0, 16; ld.global.u32 x1, [y1]; ret;");
}

static void packs(void **state)
{
    (void)state;
    expect("fold", "mov.b64 y1, {x0, x1}; mov.b64 {x2, x3}, y1; mov.b64 {_, x4}, y1; ret;",
           "mov.b64 y1, {x0, x1}; mov.b32 x2, x0; mov.b32 x3, x1; mov.b32 x4, x1; ret;");
    expect("fold,copyprop", "mov.b64 y1, {x0, x1}; @p0 mov.b64 {x2, x3}, y1; add.u32 x4, x3, 1; ret;",
           "mov.b64 y1, {x0, x1}; @p0 mov.b32 x2, x0; @p0 mov.b32 x3, x1; add.u32 x4, x3, 1; ret;");
    expect_same("fold", "mov.b64 y1, {x0, x1}; mov.b64 {x1, x0}, y1; ret;"); /* an exchange */
    /* two words from where the pack points, not its halves */
    expect_same("fold", "mov.b64 y1, {x0, x1}; ld.global.v2.b32 {x2, x3}, [y1]; ld.shared.v2.b32 {_, x4}, [y1]; ret;");
    expect_same("fold", "mov.b64 y1, {x0, x1}; mov.b64 y2, y1; st.global.v2.b32 [y2], {x0, x1}; ret;");
    char text[4096] = "mov.b64 y1, {x0, x1}; mov.b64 y2, {x0, x1}; ";
    for (uint32_t i = 0; i < 90; i++) /* numbers, whatever registers there are */
        snprintf(text + strlen(text), sizeof text - strlen(text), "mov.b64 {x2, x3}, 0x1%02u00000000; ", i);
    expect_same("fold", strcat(text, "ret;"));
    expect_same("fold", "mov.b64 y1, {x0, x1}; add.u32 x1, x1, 1; mov.b64 {x2, x3}, y1; ret;");
    /* what is inserted defines x3 too */
    expect("fold", "mov.u32 x3, 5; mov.b64 y1, {x0, x1}; mov.b64 {x2, x3}, y1; add.u32 x4, x3, 1; ret;",
           "mov.u32 x3, 5; mov.b64 y1, {x0, x1}; mov.b32 x2, x0; mov.b32 x3, x1; add.u32 x4, x3, 1; ret;");
}

/* ---- params --------------------------------------------------------------------------------------------------------
 */

static void parameters(void **state)
{
    (void)state;
    expect("params",
           "ld.param.u64 y1, [a]; ld.param.u32 x1, [n]; add.u32 x2, x0, 1; add.u32 x3, x2, x1; st.global.u32 [y1], x1; "
           "ret;",
           "ld.param.u64 y1, [a]; ld.param.u32 x1, [n]; add.u32 x2, x0, 1; ld.param.u32 %param_b32_0, [n]; add.u32 x3, "
           "x2, %param_b32_0; st.global.u32 [y1], x1; ret;");
    expect("params",
           "ld.param.v4.f32 {f1, f2, f3, f4}, [v]; mul.f32 f5, f0, f0; add.f32 f5, f1, f5; add.f32 f6, f3, f3; ret;",
           "ld.param.v4.f32 {f1, f2, f3, f4}, [v]; mul.f32 f5, f0, f0; ld.param.f32 %param_f32_0, [v]; add.f32 f5, "
           "%param_f32_0, f5;"
           "ld.param.f32 %param_f32_1, [v+8]; add.f32 f6, %param_f32_1, f3; ret;");
    expect("params", "mov.u32 x1, %ntid.x; mov.u32 x2, %ctaid.x; mul.lo.u32 x3, x2, x1; ret;",
           "mov.u32 x1, %ntid.x; mov.u32 x2, %ctaid.x; mov.u32 %param_b32_0, %ntid.x; mul.lo.u32 x3, x2, %param_b32_0; "
           "ret;");
    /* near enough; guarded; not always the parameter; exchanged by a call */
    expect_same("params", "ld.param.u64 y1, [a]; ld.param.u32 x1, [n]; st.global.u32 [y1], x1; ret;");
    expect_same("params", "@p0 ld.param.u32 x1, [n]; add.u32 x2, x0, 1; add.u32 x3, x1, x2; ret;");
    expect_same("params", "ld.param.u32 x1, [n]; add.u32 x2, x0, 1; @p0 mov.u32 x1, 4; add.u32 x3, x1, x2; ret;");
    expect_same("params", "ld.param.u32 x1, [n]; L: add.u32 x2, x1, 1; add.u32 x1, x2, 1; @p0 bra L; ret;");
    expect_same("params", "mov.u32 x1, %tid.x; mov.u32 x2, %ctaid.x; mov.u32 x4, %clock; mul.lo.u32 x3, x2, x1; ret;");
}

/* In registers, once a block, but not in loops after the first reading. */
static void parameters_in_registers(void **state)
{
    (void)state;
    expect("params",
           "ld.param.u64 y1, [a]; add.u32 x2, x0, 1; st.global.u32 [y1], x2; st.global.u32 [y1+4], x2; add.u64 y2, y1, "
           "y0; st.global.u32 [y2], x2;"
           "@p0 bra L; st.global.u32 [y1+8], x2; st.global.u32 [y1+12], x2; L: ret;",
           "ld.param.u64 y1, [a]; add.u32 x2, x0, 1; st.global.u32 [y1], x2; st.global.u32 [y1+4], x2;"
           "ld.param.u64 %param_b64_0, [a]; add.u64 y2, %param_b64_0, y0; st.global.u32 [y2], x2; @p0 bra L;"
           "ld.param.u64 %param_b64_1, [a]; st.global.u32 [%param_b64_1+8], x2; st.global.u32 [%param_b64_1+12], x2; "
           "L: ret;");
    expect("params",
           "ld.param.u64 y1, [a]; L: add.u32 x2, x0, 1; st.global.u32 [y1], x2; add.u64 y2, y1, y0; @p0 bra L; ret;",
           "ld.param.u64 y1, [a]; L: add.u32 x2, x0, 1; st.global.u32 [y1], x2; ld.param.u64 %param_b64_0, [a];"
           "add.u64 y2, %param_b64_0, y0; @p0 bra L; ret;");
}

/* ---- ifconvert -----------------------------------------------------------------------------------------------------
 */

static void branches(void **state)
{
    (void)state;
    expect("ifconvert", "@p0 bra L; add.u32 x1, x1, 1; st.global.u32 [y0], x0; L: st.global.u32 [y0], x1; ret;",
           "@!p0 add.u32 x1, x1, 1; @!p0 st.global.u32 [y0], x0; L: st.global.u32 [y0], x1; ret;");
    /* x2 is the side's own: it needs no guard, and with one it would seem alive before */
    expect("ifconvert", "@!p0 bra L; add.u32 x2, x0, 1; mul.lo.u32 x1, x2, x2; L: st.global.u32 [y0], x1; ret;",
           "add.u32 x2, x0, 1; @p0 mul.lo.u32 x1, x2, x2; L: st.global.u32 [y0], x1; ret;");
    expect("ifconvert", "@p0 bra E; mov.u32 x1, 1; bra J; E: mov.u32 x1, 2; J: st.global.u32 [y0], x1; ret;",
           "mov.u32 x1, 1; E: @p0 mov.u32 x1, 2; J: st.global.u32 [y0], x1; ret;");
    expect("ifconvert", "@p0 bra E; mov.u32 x1, 1; bra J; E: add.u32 x1, x1, 2; J: st.global.u32 [y0], x1; ret;",
           "@!p0 mov.u32 x1, 1; E: @p0 add.u32 x1, x1, 2; J: st.global.u32 [y0], x1; ret;");
    expect("ifconvert", "@p0 bra L; @p1 bra M; add.u32 x1, x1, 1; M: L: st.global.u32 [y0], x1; ret;",
           "@p0 bra L; @!p1 add.u32 x1, x1, 1; M: L: st.global.u32 [y0], x1; ret;");
}

static void branches_that_stay(void **state)
{
    (void)state;
    expect_same(
        "ifconvert",
        "@p0 bra L; ld.global.u32 x2, [y0]; add.u32 x1, x2, 1; L: st.global.u32 [y0], x1; ret;"); /* might fault */
    expect_same("ifconvert",
                "@p0 bra L; setp.eq.u32 p0, x0, 1; add.u32 x1, x0, 1; L: @p0 st.global.u32 [y0], x1; ret;");
    expect_same("ifconvert", "@p0 bra L; bar.sync 0; L: ret;");
    expect_same("ifconvert", "@p0 bra L; shfl.sync.idx.b32 x1, x0, 1, 31, -1; L: st.global.u32 [y0], x1; ret;");
    expect_same("ifconvert", "@p0 bra L; atom.global.add.u32 x1, [y0], 1; L: ret;");
    expect_same("ifconvert", "@p0 bra L; @p1 add.u32 x1, x0, 1; L: st.global.u32 [y0], x1; ret;");
    expect_same("ifconvert",
                "@p0 bra L; M: add.u32 x1, x1, 1; L: @p1 bra M; st.global.u32 [y0], x1; ret;"); /* entered twice */
    expect_same(
        "ifconvert",
        "@p0 bra L; add.u32 x1, x1, 1; add.u32 x2, x2, 1; add.u32 x3, x3, 1; add.u32 x4, x4, 1; add.u32 x5, x5, 1; L:"
        "st.global.v4.u32 [y0], {x1, x2, x3, x4}; st.global.u32 [y0], x5; ret;");
    expect_same("ifconvert", "@p0 bra L; st.volatile.global.u32 [y0], x0; L: ret;");
    expect_same("ifconvert(limit=0)", "@p0 bra L; add.u32 x1, x1, 1; L: st.global.u32 [y0], x1; ret;");
    expect_same("ifconvert", "L: @p0 bra M; add.u32 x1, x1, 1; bra L; M: st.global.u32 [y0], x1; ret;"); /* a loop */
    /* the side jumps over what others run: without its jump it would run into it */
    expect_same("ifconvert", "@p1 bra M; @p0 bra J; add.u32 x1, x1, 1; bra J; M: add.u32 x1, x1, 2; J: "
                             "st.global.u32 [y0], x1; ret;");
}

/* ---- all -----------------------------------------------------------------------------------------------------------
 */

static void whole_clean_up(void **state)
{
    (void)state;
    expect("select",
           "ld.param.u64 y1, [a]; ld.param.u64 y2, [b]; ld.param.u32 x1, [n]; cvta.to.global.u64 y3, y1; "
           "cvta.to.global.u64 y4, y2; mov.u32 x2, %tid.x;"
           "setp.ge.u32 p1, x2, x1; @p1 bra L; mul.wide.u32 y5, x2, 4; add.s64 y6, y3, y5; add.s64 y7, y6, 8; "
           "ld.global.u32 x3, [y7]; add.s64 y8, y4, y5;"
           "st.global.u32 [y8], x3; L: ret;",
           "mov.u32 x2, %tid.x; ld.param.u32 %param_b32_0, [n]; setp.ge.u32 p1, x2, %param_b32_0; @p1 bra L; "
           "mul.wide.u32 y5, x2, 4;"
           "ld.param.u64 %param_b64_0, [a]; add.s64 y6, %param_b64_0, y5; ld.global.u32 x3, [y6+8]; ld.param.u64 "
           "%param_b64_1, [b]; add.s64 y8, %param_b64_1, y5;"
           "st.global.u32 [y8], x3; L: ret;");
    expect_same("select", "ret;");
    /* for an assembler: branches, products and loads of parameters stay as they are */
    expect("clean",
           "ld.param.u64 y1, [a]; ld.param.u32 x1, [n]; cvta.to.global.u64 y3, y1; mov.u32 x2, %tid.x;"
           "setp.ge.u32 p1, x2, x1; @p1 bra L; mul.wide.u32 y5, x2, 4; add.s64 y6, y3, y5; add.s64 y7, y6, 8; "
           "st.global.u32 [y7], x1; L: ret;",
           "ld.param.u64 y1, [a]; ld.param.u32 x1, [n]; mov.u32 x2, %tid.x; setp.ge.u32 p1, x2, x1; @p1 bra L; "
           "mul.wide.u32 y5, x2, 4; add.s64 y6, y1, y5; st.global.u32 [y6+8], x1; L: ret;");
    expect_same("clean", "ret;");
}

static void alias_errors(void **state)
{
    (void)state;
    hd_diagnostics diagnostics;
    hd_diagnostics_init(&diagnostics);
    hd_pipeline *good = hd_pipeline_parse("cvta,clean,select,bow(iw=3)", &diagnostics);
    assert_non_null(good);
    hd_pipeline_free(good);
    assert_int_equal(diagnostics.error_count, 0);
    assert_null(hd_pipeline_parse("clean(iw=3)", &diagnostics));
    assert_null(hd_pipeline_parse("cleaner", &diagnostics));
    assert_int_equal(diagnostics.error_count, 2);
    hd_diagnostics_free(&diagnostics);
}

/* What every pass says of what it changed is verified, on a kernel in which each finds something; address32 is for
 * other machines. */
static void every_pass_says_what_it_changed(void **state)
{
    static const char body[] =
        "ld.param.u64 y1, [a]; cvta.to.global.u64 y2, y1; mov.u32 x1, %tid.x; mul.wide.u32 y3, x1, 4; add.s64 y4, y2, "
        "y3; "
        "ld.global.u32 x2, [y4]; mov.b32 x3, x2; add.u32 x4, x3, 0; setp.eq.u32 p1, x4, 5; @p1 bra L; "
        "add.u32 x4, x4, x1; L: add.u32 x5, x4, x1; st.global.u32 [y4], x5; ret;";
    (void)state;
    for (uint32_t i = 0; i < hd_pass_count; i++) {
        if (strcmp(hd_passes[i].name, "address32") == 0)
            continue;
        parsed *p = parse_body("", "", body);
        if (hd_pass_is_of_technique(&hd_passes[i]))
            run_passes(p, "regalloc");
        run_passes(p, hd_passes[i].name);
        parsed_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies),
        cmocka_unit_test(copies_that_are_over),
        cmocka_unit_test(numbers),
        cmocka_unit_test(variables),
        cmocka_unit_test(scopes),
        cmocka_unit_test(addresses),
        cmocka_unit_test(dead_code),
        cmocka_unit_test(identities),
        cmocka_unit_test(results_of_others_are_not_their_sources),
        cmocka_unit_test(constants_fold),
        cmocka_unit_test(sums),
        cmocka_unit_test(offsets),
        cmocka_unit_test(packs),
        cmocka_unit_test(parameters),
        cmocka_unit_test(parameters_in_registers),
        cmocka_unit_test(branches),
        cmocka_unit_test(branches_that_stay),
        cmocka_unit_test(whole_clean_up),
        cmocka_unit_test(alias_errors),
        cmocka_unit_test(merged_operands),
        cmocka_unit_test(every_pass_says_what_it_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
