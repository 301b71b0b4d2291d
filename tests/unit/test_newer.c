/* PTX that is newer than ptxas 13.0: the instructions of PTX 9.1 to 9.4, and what no version that is known has. */
#include "tests/unit/parsed.h"

#include "ir/form.h"

typedef struct role_case {
    const char *body, *described;
} role_case;

static void check(const role_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect_instruction(".global .b32 g[64]; .shared .b32 sh[64];", cases[i].body, cases[i].described);
}
#define CHECK(cases) check(cases, sizeof(cases) / sizeof *(cases))

static void packed_integers(void **state)
{
    (void)state;
    static const role_case cases[] = {
        {"add.u8x4 x0, x1, x2;", "add.u8x4 x0! x1? x2?"},
        {"add.sat.s8x4 x0, x1, x2;", "add.sat.s8x4 x0! x1? x2?"},
        {"add.sat.u16x2 x0, x1, x2;", "add.sat.u16x2 x0! x1? x2?"},
        {"add.sat.u32 x0, x1, 7;", "add.sat.u32 x0! x1? #7"},
        {"sub.s8x4 x0, x1, x2;", "sub.s8x4 x0! x1? x2?"},
        {"sub.sat.u8x4 x0, x1, x2;", "sub.sat.u8x4 x0! x1? x2?"},
        {"neg.s8x4 x0, x1;", "neg.s8x4 x0! x1?"},
        {"min.relu.s8x4 x0, x1, x2;", "min.relu.s8x4 x0! x1? x2?"},
        {"max.u8x4 x0, x1, x2;", "max.u8x4 x0! x1? x2?"},
        {"set.lt.s8x4 x0, x1, x2;", "set.lt.s8x4 x0! x1? x2?"},
        {"set.lo.u16x2 x0, x1, x2;", "set.lo.u16x2 x0! x1? x2?"},
        {"clmad.lo.u64 y0, y1, y2, y3;", "clmad.lo.u64 y0! y1? y2? y3?"},
    };
    CHECK(cases);
}

static void conversions(void **state)
{
    (void)state;
    static const role_case cases[] = {
        {"cvt.rn.satfinite.e4m3x2.bf16x2 h0, x1;", "cvt.rn.satfinite.e4m3x2.bf16x2 h0! x1?"},
        {"cvt.rn.satfinite.e2m3x2.f16x2 h0, x1;", "cvt.rn.satfinite.e2m3x2.f16x2 h0! x1?"},
        {"cvt.rn.bf16x2.e4m3x2 x0, h1;", "cvt.rn.bf16x2.e4m3x2 x0! h1?"},
        {"cvt.rn.satfinite.s2f6x2.f32 h0, f1, f2;", "cvt.rn.satfinite.s2f6x2.f32 h0! f1? f2?"},
        {"cvt.rn.satfinite.scaled::n2::ue8m0.s2f6x2.f32 h0, f1, f2, h3;",
         "cvt.rn.satfinite.scaled::n2::ue8m0.s2f6x2.f32 h0! f1? f2? h3?"},
        {"cvt.rn.relu.scaled::n2::ue8m0.bf16x2.s2f6x2 x0, h1, h2;",
         "cvt.rn.relu.scaled::n2::ue8m0.bf16x2.s2f6x2 x0! h1? h2?"},
        {"cvt.rz.satfinite.e4m3x2.f32 h0, f1, f2;", "cvt.rz.satfinite.e4m3x2.f32 h0! f1? f2?"},
        {"cvt.rn.pzo.f16x2.f32 x0, f1, f2;", "cvt.rn.pzo.f16x2.f32 x0! f1? f2?"},
        {"cvt.rn.satfinite.scaled::n1::ue8m0.e4m3x2.f32 h0, f1, f2, h3;",
         "cvt.rn.satfinite.scaled::n1::ue8m0.e4m3x2.f32 h0! f1? f2? h3?"},
        {"cvt.rp.satfinite.ue5m3x2.f32 h0, f1, f2;", "cvt.rp.satfinite.ue5m3x2.f32 h0! f1? f2?"},
        {"cvt.rn.f16x2.ue5m3x2 x0, h1;", "cvt.rn.f16x2.ue5m3x2 x0! h1?"},
    };
    CHECK(cases);
}

static void copies(void **state)
{
    (void)state;
    static const role_case cases[] = {
        {"multimem.cp.async.bulk.global.shared::cta.bulk_group [y0], [x1], x2;",
         "multimem.cp.async.bulk.global.shared::cta.bulk_group [y0?] [x1?] x2?"},
        {"multimem.cp.async.bulk.relaxed.gpu.global.shared::cta.bulk_group.cp_mask.b128 [y0], [x1], x2, h0;",
         "multimem.cp.async.bulk.relaxed.gpu.global.shared::cta.bulk_group.cp_mask.b128 [y0?] [x1?] x2? h0?"},
        {"multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [y0], [x1], x2;",
         "multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [y0?] [x1?] x2?"},
        {"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [x0], [y1], x2, x3, x4, [x5];",
         "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [x0?] [y1?] x2? x3? x4? [x5?]"},
        {"cp.async.bulk.relaxed.gpu.shared::cta.global.mbarrier::complete_tx::bytes.b128 [x0], [y1], x2, [x5];",
         "cp.async.bulk.relaxed.gpu.shared::cta.global.mbarrier::complete_tx::bytes.b128 [x0?] [y1?] x2? [x5?]"},
        {"multimem.st.async.release.sys.global.f32 [y0], f0;", "multimem.st.async.release.sys.global.f32 [y0?] f0?"},
        {"multimem.red.async.release.sys.global.add.u32 [y0], x0;",
         "multimem.red.async.release.sys.global.add.u32 [y0?] x0?"},
        {"{ .reg .b128 q; st.async.shared::cluster.mbarrier::complete_tx::bytes.b128 [x0], q, [x1]; }",
         "st.async.shared::cluster.mbarrier::complete_tx::bytes.b128 [x0?] q? [x1?]"},
        {"applypriority.async.bulk.global.bulk_group.L2::evict_normal [y0], x1;",
         "applypriority.async.bulk.global.bulk_group.L2::evict_normal [y0?] x1?"},
        {"applypriority.async.bulk.tensor.2d.global.bulk_group.L2::evict_normal [y0, {x1, x2}];",
         "applypriority.async.bulk.tensor.2d.global.bulk_group.L2::evict_normal [y0? {x1? x2?}]"},
        {"prefetch.global.L1::32B.valid_addr [y0];", "prefetch.global.L1::32B.valid_addr [y0?]"},
        {"ldmatrix.sync.aligned.m8n16.x2.shared.s8.s4 {x0, x1}, [x2];",
         "ldmatrix.sync.aligned.m8n16.x2.shared.s8.s4 {x0! x1!} [x2?]"},
        {"spcompress.b8.b4.sp::2:4.x1 {x0}, {x1}, {x2, x3}, x4;",
         "spcompress.b8.b4.sp::2:4.x1 {x0!} {x1!} {x2? x3?} x4?"},
        {"spdecompress.b8.b2.sp::1:4.x4 {x0, x1, x2, x3}, {x4}, {x5};",
         "spdecompress.b8.b2.sp::1:4.x4 {x0! x1! x2! x3!} {x4?} {x5?}"},
    };
    CHECK(cases);
}

static void barriers_and_fabric(void **state)
{
    (void)state;
#define GET "fabric.try_get.async.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.b128"
#define PUT "fabric.try_put.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric"
#define RED "fabric.try_red.async.multimem.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric"
    static const role_case cases[] = {
        {"mbarrier.init.layout::v1.shared::cta.b64 [x0], x1;", "mbarrier.init.layout::v1.shared::cta.b64 [x0?] x1?"},
        {"mbarrier.check_layout.layout::v0.shared::cta.b64 p0, [x0];",
         "mbarrier.check_layout.layout::v0.shared::cta.b64 p0! [x0?]"},
        {"mbarrier.pending_count.layout::v0.b64 x0, y1;", "mbarrier.pending_count.layout::v0.b64 x0! y1?"},
        {"mbarrier.test_wait.phase_type::primary.shared::cta.b64 p0, [x0], y1;",
         "mbarrier.test_wait.phase_type::primary.shared::cta.b64 p0! [x0?] y1?"},
        {"mbarrier.try_wait.parity.phase_type::primary.shared::cta.b64 p0|p1, h0, [x0], x1;",
         "mbarrier.try_wait.parity.phase_type::primary.shared::cta.b64 |p0! p1!| h0! [x0?] x1?"},
        {"fence.proxy.fabric::generic.alias.release.sys;", "fence.proxy.fabric::generic.alias.release.sys"},
        {"fabric.submit;", "fabric.submit"},
        {"fabric.submit.op_restrict::fetching;", "fabric.submit.op_restrict::fetching"},
        {"fabric.wait.sync_restrict::reads;", "fabric.wait.sync_restrict::reads"},
        {GET " [x0], [x1, y2], x3, [x4];", GET " [x0?] [x1? y2?] x3? [x4?]"},
        {PUT ".relaxed.sys.b128 [x0, y1], [x2], x3, [x4];", PUT ".relaxed.sys.b128 [x0? y1?] [x2?] x3? [x4?]"},
        {PUT ".counted::bytes.relaxed.sys.b128 [x0, y1, y2], [x2], 16, [x4];",
         PUT ".counted::bytes.relaxed.sys.b128 [x0? y1? y2?] [x2?] #16 [x4?]"},
        {RED ".relaxed.sys.add.u32 [x0, y1], [x2], x3, [x4];", RED ".relaxed.sys.add.u32 [x0? y1?] [x2?] x3? [x4?]"},
        {"mov.u64 y0, %perctamemoryoffset;", "mov.u64 y0! %perctamemoryoffset.-1"},
        {"mov.u32 x0, %perctamemorysize;", "mov.u32 x0! %perctamemorysize.-1"},
    };
    CHECK(cases);
}

/* ---- what no version has ----------------------------------------------------------------------------------------- */

static void expect_warning(const char *head, const char *body, hd_diagnostic_kind kind)
{
    char text[2048];
    snprintf(text, sizeof text, "%s.entry k(.param .u64 pp) {\n" REGISTERS "%s\nret;\n}\n", head, body);
    parsed *p = parse_text(text);
    assert_non_null(p->diagnostics.first);
    assert_int_equal(p->diagnostics.first->kind, kind);
    assert_int_equal(p->diagnostics.error_count, 0);
    assert_int_equal(p->diagnostics.warning_count, 1);
    assert_true(hd_ir_validate(p->module));
    parsed_free(p);
    assert_int_equal(first_error_as(text, true), kind);
}

/* Whether the first instruction of a kernel is opaque: all its registers are written and read. */
static bool is_opaque(const char *body)
{
    char text[2048];
    snprintf(text, sizeof text, HEAD ".entry k(.param .u64 pp) {\n" REGISTERS "%s\nret;\n}\n", body);
    parsed *p = parse_text(text);
    const hd_function *f = function_of(p, "k");
    const hd_instruction *insn = &f->instructions.items[0];
    bool opaque = insn->flags & HD_INSN_OPAQUE;
    HD_INSN_REGISTERS (f, insn, o)
        opaque &= (o->flags & HD_OPERAND_DEF) && (o->flags & HD_OPERAND_USE);
    parsed_free(p);
    return opaque;
}

/* Known words in a combination that no row has: a warning, and the instruction is opaque. */
static void unknown_combinations(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "mul.lo.u8x4 x0, x1, x2;",
        "min.sat.s32 x0, x1, x2;",
        "ld.shared.nc.u32 x0, [x1];",
        "ld.global.relaxed.u32 x0, [y1];",
        "ld.global.v4.b128 {x0, x1, x2, x3}, [y1];",
        "cvt.rn.satfinite.ue8m0x2.f32 h0, f1, f2;",
        "div.f32 f0, f1, f2;",
        "add x0, x1, x2;",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        expect_warning(HEAD, bodies[i], HD_DIAG_UNKNOWN_COMBINATION);
        assert_true(is_opaque(bodies[i]));
    }
    expect_warning(HEAD, "add.foo.u32 x0, x1, x2;", HD_DIAG_UNKNOWN_MODIFIER);
}

static void newer_heads(void **state)
{
    (void)state;
    expect_warning(".version 9.5\n.target sm_90\n", "", HD_DIAG_NEWER_VERSION);
    expect_warning(".version 10.0\n.target sm_90\n", "", HD_DIAG_NEWER_VERSION);
    expect_warning(".version 9.0\n.target sm_130\n", "", HD_DIAG_NEWER_VERSION);
    expect_warning(".version 9.0\n.target compute_100x\n", "", HD_DIAG_NEWER_VERSION);
    static const char *const known[] = {".version 9.1\n.target sm_90\n.entry k { ret; }\n",
                                        ".version 9.4\n.target sm_107a\n.entry k { ret; }\n",
                                        ".version 9.3\n.target sm_121f, debug\n.section .debug_x { .b8 1 }\n"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        parsed_free(parse_good(known[i]));
    assert_int_equal(first_error(".version 8.9\n.target sm_90\n"), HD_DIAG_BAD_VERSION);
    assert_int_equal(first_error(".version 3.3\n.target sm_90\n"), HD_DIAG_BAD_VERSION);
    assert_int_equal(first_error(".version 9.0\n.target sm_90aa\n"), HD_DIAG_BAD_TARGET);
    parsed_free(parse_good(".version 9.4\n.target sm_107\n.entry k() .minperctamemory 2048 { ret; }\n"));
}

/* ---- addresses of elements, masked stores, sizes ---------------------------------------------------------------- */

static void elements(void **state)
{
    (void)state;
    static const role_case cases[] = {
        {"mov.u64 y0, sh[3];", "mov.u64 y0! sub[&sh #3]"},
        {"mov.u64 y0, g[-1];", "mov.u64 y0! sub[&g #-1]"},
        {"mov.u64 y0, g[x1];", "mov.u64 y0! sub[&g x1?]"}, /* the register is read */
        {"cvta.global.u64 y0, g[1];", "cvta.global.u64 y0! sub[&g #1]"},
        {"st.global.v8.b32 [y0], {x1, _, x2, _, _, _, _, 7};", "st.global.v8.b32 [y0?] {x1? _ x2? _ _ _ _ #7}"},
        {"st.global.v4.b64 [y0], {y1, _, _, y2};", "st.global.v4.b64 [y0?] {y1? _ _ y2?}"},
    };
    CHECK(cases);
    assert_int_equal(body_error("", "st.global.v4.b32 [y0], {x1, _, x2, _};"), HD_DIAG_BAD_SINK);
    assert_int_equal(body_error("", "st.global.v8.b32 [y0], {_, _, _, _, _, _, _, _};"), HD_DIAG_BAD_SINK);
    assert_int_equal(body_error(".shared .b32 sh[64];", "add.u64 y0, y1, sh[3];"), HD_DIAG_OPERAND_KIND);
}

static void large_arrays(void **state)
{
    (void)state;
    parsed *p = parse_good(HEAD ".global .b8 big[4294967296];\n.global .u32 wide[65536][65536];\n.global .u64 "
                                "whole[18446744073709551615];\n");
    assert_int_equal(p->module->symbols.items[0].size_bytes, 1ull << 32);
    assert_int_equal(p->module->symbols.items[1].size_bytes, 1ull << 34);
    assert_int_equal(p->module->symbols.items[2].size_bytes, HD_SIZE_LIMIT);
    parsed_free(p);
}

static int parameter_error(const char *version, const char *target, uint32_t bytes)
{
    char text[256];
    snprintf(text, sizeof text, ".version %s\n.target %s\n.entry k(.param .b8 a[%u], .param .u64 b) { ret; }\n",
             version, target, bytes);
    return first_error(text);
}

static void parameter_space(void **state)
{
    (void)state;
    assert_int_equal(parameter_error("8.0", "sm_80", 4344), -1);
    assert_int_equal(parameter_error("8.0", "sm_80", 4345), HD_DIAG_BAD_DECLARATION);
    assert_int_equal(parameter_error("8.1", "sm_60", 4345), HD_DIAG_BAD_DECLARATION);
    assert_int_equal(parameter_error("8.1", "sm_70", 32752), -1);
    assert_int_equal(parameter_error("8.1", "sm_70", 32757), HD_DIAG_BAD_DECLARATION);
    assert_int_equal(parameter_error("9.9", "sm_90", 32757), -1); /* a newer version may have more */
    assert_int_equal(first_error(".version 8.0\n.target sm_80\n.func f(.param .b8 a[9999]) { ret; }\n"), -1);
}

static void sections(void **state)
{
    (void)state;
    static const char difference[] =
        ".version %s\n.target sm_80\n.entry k { ret; }\n.section .s { a: .b32 1\nb: .b32 b-a }\n";
    static const char negative[] = ".version %s\n.target sm_80\n.entry k { ret; }\n.section .s { .b32 -1 }\n";
    static const char label[] = ".version %s\n.target sm_80\n.entry k { ret; }\n.section .s { a: .b32 a+4 }\n";
    static const struct {
        const char *text, *before, *since;
    } cases[] = {{difference, "7.4", "7.5"}, {negative, "7.4", "7.5"}, {label, "6.5", "7.0"}};
    char text[256];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, cases[i].text, cases[i].before);
        assert_int_equal(first_error(text), HD_DIAG_BAD_DIRECTIVE);
        snprintf(text, sizeof text, cases[i].text, cases[i].since);
        assert_int_equal(first_error(text), -1);
    }
}

static void pointers_to_objects(void **state)
{
    (void)state;
    parsed_free(parse_good(HEAD ".entry k(.param .u64 .ptr .texref t, .param .u64 .ptr .surfref .align 8 s, "
                                ".param .u64 .ptr .samplerref q) { ret; }\n"));
    static const char *const wrong[] = {".ptr .texref .texref", ".ptr .global .texref", ".ptr .global .shared",
                                        ".texref"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[256];
        snprintf(text, sizeof text, HEAD ".entry k(.param .u64 %s t) { ret; }\n", wrong[i]);
        assert_int_equal(first_error(text), HD_DIAG_BAD_DECLARATION);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_integers),
        cmocka_unit_test(conversions),
        cmocka_unit_test(copies),
        cmocka_unit_test(barriers_and_fabric),
        cmocka_unit_test(unknown_combinations),
        cmocka_unit_test(newer_heads),
        cmocka_unit_test(elements),
        cmocka_unit_test(large_arrays),
        cmocka_unit_test(parameter_space),
        cmocka_unit_test(sections),
        cmocka_unit_test(pointers_to_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
