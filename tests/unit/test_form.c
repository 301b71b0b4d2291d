/* Roles and types of operands: what each category of instruction reads and writes, what is refused and with which
 * words. */
#include "tests/unit/parsed.h"
#include "tests/unit/ptx_file.h"

#include "ir/form.h"

/* ---- roles ------------------------------------------------------------------------------------------------------- */

typedef struct role_case {
    const char *body, *described;
} role_case;

#define VARIABLES                                                                                             \
    ".global .b32 g[64]; .shared .b32 sh[64]; .const .b32 cst[4]; .global .texref tx; .global .surfref sf;\n" \
    ".func (.param .b32 o) callee (.param .b32 i) { ret; }\n.func plain { ret; }\n"                           \
    ".func (.reg .b32 o) old (.reg .b32 i) { mov.b32 o, i; ret; }\n"

static const role_case arithmetic[] = {
    {"add.s32 x0, x1, x2;", "add.s32 x0! x1? x2?"},
    {"mad.wide.u32 y0, x1, 3, y0;", "mad.wide.u32 y0! x1? #3 y0?"},
    {"neg.f32 f0, f0;", "neg.f32 f0! f0?"},
    {"bfi.b32 x0, x1, x2, 8, x4;", "bfi.b32 x0! x1? x2? #8 x4?"},
    {"lop3.b32 x0, x1, x2, x3, 63;", "lop3.b32 x0! x1? x2? x3? #63"},
    {"lop3.or.b32 x0|p1, x1, x2, x3, 63, !p2;", "lop3.or.b32 |x0! p1!| x1? x2? x3? #63 not p2?"},
    {"testp.finite.f32 p0, f1;", "testp.finite.f32 p0! f1?"},
    {"fma.rn.f32 f0, f1, f2, f0;", "fma.rn.f32 f0! f1? f2? f0?"},
    {"add.cc.u32 x0, x1, x2;", "add.cc.u32 x0! x1? x2? ~%CC!"},
    {"addc.u32 x0, x1, x2;", "addc.u32 x0! x1? x2? ~%CC?"},
    {"addc.cc.u32 x0, x1, x2;", "addc.cc.u32 x0! x1? x2? ~%CC!?"},
    {"madc.hi.u32 x0, x1, x2, x3;", "madc.hi.u32 x0! x1? x2? x3? ~%CC?"},
    {"vadd.s32.s32.s32 x0.h1, x1.b0, x2.b1, x3;", "vadd.s32.s32.s32 x0<.h1>! x1<.b0>? x2<.b1>? x3?"},
    {"vmad.s32.s32.s32 x0, -x1.h0, x2.h1, x3;", "vmad.s32.s32.s32 x0! minus x1<.h0>? x2<.h1>? x3?"},
};

static const role_case selection[] = {
    {"setp.lt.s32 p0, x1, 5;", "setp.lt.s32 p0! x1? #5"},
    {"setp.lt.and.s32 p0|p1, x1, x2, !p3;", "setp.lt.and.s32 |p0! p1!| x1? x2? not p3?"},
    {"setp.eq.s32 _|p1, x1, x2;", "setp.eq.s32 |_ p1!| x1? x2?"},
    {"set.lt.and.f32.f32 f0, f1, f2, p0;", "set.lt.and.f32.f32 f0! f1? f2? p0?"},
    {"selp.b32 x0, x1, x2, p0;", "selp.b32 x0! x1? x2? p0?"},
    {"slct.f32.s32 f0, f1, f2, x3;", "slct.f32.s32 f0! f1? f2? x3?"},
    {"and.pred p0, p1, !p2;", "and.pred p0! p1? not p2?"},
};

static const role_case movement[] = {
    {"mov.u32 x0, %tid.x;", "mov.u32 x0! %tid.0"},
    {"mov.u64 y0, g+4;", "mov.u64 y0! &g+#4"},
    {"mov.u64 y0, callee;", "mov.u64 y0! &callee"},
    {"mov.b64 y0, {x0, x1};", "mov.b64 y0! {x0? x1?}"},
    {"mov.b64 {x0, _}, y1;", "mov.b64 {x0! _} y1?"},
    {"mov.b32 x0, {h0, h1};", "mov.b32 x0! {h0? h1?}"},
    {"mov.v2.u32 {x0, x1}, {x2, x3};", "mov.v2.u32 {x0! x1!} {x2? x3?}"},
    {"cvta.to.global.u64 y0, y1;", "cvta.to.global.u64 y0! y1?"},
    {"cvta.global.u64 y0, g;", "cvta.global.u64 y0! &g"},
    {"cvt.u8.u32 x0, x1;", "cvt.u8.u32 x0! x1?"},
    {"cvt.rn.f16x2.f32 x0, f1, f2;", "cvt.rn.f16x2.f32 x0! f1? f2?"},
    {"isspacep.global p0, y1;", "isspacep.global p0! y1?"},
    {"{ .reg .v2 .f32 v; mov.f32 v.x, f1; }", "mov.f32 v.x<.x>! f1?"},
    {"{ .reg .v2 .f32 v; ld.global.v2.f32 v, [y0]; }", "ld.global.v2.f32 {*v.x! v.y!} [y0?]"},
};

static const role_case memory[] = {
    {"ld.global.u32 x0, [y1+8];", "ld.global.u32 x0! [y1?+#8]"},
    {"ld.global.v2.u32 {x0, _}, [y1];", "ld.global.v2.u32 {x0! _} [y1?]"},
    {"ld.shared.u8 x0, [sh];", "ld.shared.u8 x0! [&sh]"},
    {"ld.global.u32 x0, g[1];", "ld.global.u32 x0! sub[&g #1]"},
    {"ld.global.L2::cache_hint.u32 x0, [y1], y2;", "ld.global.L2::cache_hint.u32 x0! [y1?] y2?"},
    {"st.global.u32 [y1], x0;", "st.global.u32 [y1?] x0?"},
    {"st.global.v2.f32 [y1], {f0, 0f00000000};", "st.global.v2.f32 [y1?] {f0? #0}"},
    {"atom.global.add.u32 x0, [y1], x2;", "atom.global.add.u32 x0! [y1?] x2?"},
    {"atom.cas.b32 x0, [y1], x2, x3;", "atom.cas.b32 x0! [y1?] x2? x3?"},
    {"atom.global.add.u32 _, [y1], x2;", "atom.global.add.u32 _ [y1?] x2?"},
    {"red.global.add.f32 [y1], f2;", "red.global.add.f32 [y1?] f2?"},
    {"prefetch.global.L2 [y0];", "prefetch.global.L2 [y0?]"},
    {"createpolicy.fractional.L2::evict_last.b64 y0, 0.5;",
     "createpolicy.fractional.L2::evict_last.b64 y0! #4602678819172646912"},
    {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [x0], x1, [x2];",
     "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [x0?] x1? [x2?]"},
    {"cp.async.ca.shared.global [x0], [y0], 8, x1;", "cp.async.ca.shared.global [x0?] [y0?] #8 x1?"},
    {"cp.async.ca.shared.global [x0], [y0], 4, p0;", "cp.async.ca.shared.global [x0?] [y0?] #4 p0?"},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [x0], [y0, {x1, x2}], [x3];",
     "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [x0?] [y0? {x1? x2?}] [x3?]"},
    {"mbarrier.arrive.shared.b64 y0, [x0];", "mbarrier.arrive.shared.b64 y0! [x0?]"},
    {"mbarrier.test_wait.shared.b64 p0, [x0], y0;", "mbarrier.test_wait.shared.b64 p0! [x0?] y0?"},
    {"tex.2d.v4.f32.f32 {f0, f1, f2, f3}, [y0, {f4, f5}];", "tex.2d.v4.f32.f32 {f0! f1! f2! f3!} [y0? {f4? f5?}]"},
    {"tex.1d.v4.f32.s32 {f0, f1, f2, f3}, [tx, {x0}];", "tex.1d.v4.f32.s32 {f0! f1! f2! f3!} [&tx {x0?}]"},
    {"tld4.r.a2d.v4.f32.f32 {f0, f1, f2, f3}, [y0, {x0, f4, f5, f6}];",
     "tld4.r.a2d.v4.f32.f32 {f0! f1! f2! f3!} [y0? {x0? f4? f5? f6?}]"},
    {"tex.1d.v4.f32.s32 {f0, f1, f2, f3}|p0, [tx, {x0}];", "tex.1d.v4.f32.s32 |{f0! f1! f2! f3!} p0!| [&tx {x0?}]"},
    {"ld.global.u32 x0, [y0].unified;", "ld.global.u32 x0! [y0?]"},
    {"sust.b.1d.b32.trap [sf, {x0}], x1;", "sust.b.1d.b32.trap [&sf {x0?}] x1?"},
    {"suq.width.b32 x0, [sf];", "suq.width.b32 x0! [&sf]"},
};

static const role_case control[] = {
    {"bra.uni done; done: bar.sync 0;", "bra.uni :done@0"},
    {"ts: .branchtargets a, b; brx.idx x0, ts; a: b: bar.sync 0;", "brx.idx x0? =ts"},
    {"bar.sync 0, x1;", "bar.sync #0 x1?"},
    {"bar.red.popc.u32 x0, 1, !p0;", "bar.red.popc.u32 x0! #1 not p0?"},
    {"bar.red.or.pred p0, x1, x2, p1;", "bar.red.or.pred p0! x1? x2? p1?"},
    {"call plain;", "call &plain"},
    {"call.uni (x0), old, (x1);", "call.uni (x0!) &old (x1?)"},
    {"{ .param .b32 a; call (a), callee, (7); }", "call (&a) &callee (#7)"},
    {"pr: .callprototype (.param .b32 _) _ (.param .b32 _); call (x0), y0, (x1), pr;", "call (x0!) y0? (x1?) =pr"},
    {"@!p0 trap;", "@!p0 trap"},
    {"nanosleep.u32 x0;", "nanosleep.u32 x0?"},
};

static const role_case warp[] = {
    {"shfl.sync.up.b32 x0|p0, x1, x2, 31, -1;", "shfl.sync.up.b32 |x0! p0!| x1? x2? #31 #-1"},
    {"vote.sync.ballot.b32 x0, !p1, x2;", "vote.sync.ballot.b32 x0! not p1? x2?"},
    {"match.all.sync.b32 x0|p0, x1, x2;", "match.all.sync.b32 |x0! p0!| x1? x2?"},
    {"activemask.b32 x0;", "activemask.b32 x0!"},
    {"redux.sync.xor.b32 x0, x1, x2;", "redux.sync.xor.b32 x0! x1? x2?"},
    {"elect.sync _|p0, -1;", "elect.sync |_ p0!| #-1"},
};

static const role_case matrices[] = {
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {f0,f1,f2,f3},{x0,x1},{x2},{f0,f1,f2,f3};",
     "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {f0! f1! f2! f3!} {x0? x1?} {x2?} {f0? f1? f2? f3?}"},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f0,f1,f2,f3}, y0, y1, p0, 1, -1, 0, 1;",
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f0!? f1!? f2!? f3!?} y0? y1? p0? #1 #-1 #0 #1"},
    {"wmma.store.d.sync.aligned.row.m8n8k4.f64 [y0], {d0, d1}, x1;",
     "wmma.store.d.sync.aligned.row.m8n8k4.f64 [y0?] {d0? d1?} x1?"},
    {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {x0, x1}, [x2];",
     "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {x0! x1!} [x2?]"},
    {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [x0], {x1};", "stmatrix.sync.aligned.m8n8.x1.shared.b16 [x0?] {x1?}"},
    {"tcgen05.ld.sync.aligned.32x32b.x2.b32 {x0, x1}, [x2];", "tcgen05.ld.sync.aligned.32x32b.x2.b32 {x0! x1!} [x2?]"},
    {"tcgen05.mma.cta_group::1.kind::f16 [x0], y0, y1, x1, p0;",
     "tcgen05.mma.cta_group::1.kind::f16 [x0?] y0? y1? x1? p0?"},
};

static void run_roles(const role_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect_instruction(VARIABLES, cases[i].body, cases[i].described);
}

#define ROLES(name)                                  \
    static void roles_of_##name(void **state)        \
    {                                                \
        (void)state;                                 \
        run_roles(name, sizeof name / sizeof *name); \
    }
ROLES(arithmetic)
ROLES(selection)
ROLES(movement)
ROLES(memory)
ROLES(control)
ROLES(warp)
ROLES(matrices)

/* What the table does not know is read and written as a whole. */
static void unknown_takes_everything(void **state)
{
    (void)state;
    parsed *p =
        parse_text(HEAD ".entry k {\n" REGISTERS "frob.u32 x0, [y1], {x2};\nadd.frob.u32 x0, x1, x2;\nret;\n}\n");
    hd_function *f = function_of(p, "k");
    char out[256];
    describe(f, 0, out, sizeof out);
    assert_string_equal(out, "frob.u32 x0!? [y1!?] {x2!?}");
    assert_true(f->instructions.items[0].flags & HD_INSN_OPAQUE);
    assert_true(f->instructions.items[1].flags & HD_INSN_OPAQUE);
    assert_int_equal(p->diagnostics.error_count, 0);
    assert_int_equal(p->diagnostics.warning_count, 2);
    assert_int_equal(p->diagnostics.first->kind, HD_DIAG_UNKNOWN_OPCODE);
    assert_int_equal(p->diagnostics.last->kind, HD_DIAG_UNKNOWN_MODIFIER);
    parsed_free(p);
}

/* ---- which types match ------------------------------------------------------------------------------------------- */

static void expect_error(const char *body, int expected)
{
    int error = body_error(VARIABLES, body);
    if (error != expected)
        print_message("# %s: %d, expected %d\n", body, error, expected);
    assert_int_equal(error, expected);
}

static void types_match_as_measured(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int error; /* -1: accepted */
    } cases[] = {
        {"{ .reg .u32 u; .reg .s32 s; add.s32 s, u, x1; }", -1},
        {"add.s32 x0, x1, f2;", HD_DIAG_OPERAND_TYPE},
        {"and.b32 x0, f1, x2;", -1},
        {"add.f32 x0, x1, f2;", -1},
        {"{ .reg .u32 u; add.f32 f0, u, f2; }", HD_DIAG_OPERAND_TYPE},
        {"add.s32 x0, x1, y2;", HD_DIAG_OPERAND_TYPE},
        {"ld.global.u8 x0, [y0];", -1},
        {"ld.global.u32 h0, [y0];", HD_DIAG_OPERAND_TYPE},
        {"ld.global.b8 f0, [y0];", -1},
        {"ld.global.b16 y0, [y0];", -1},
        {"{ .reg .f16x2 a; add.s32 x0, a, x1; }", -1},
        {"{ .reg .f16x2 a; popc.b32 a, x1; }", HD_DIAG_OPERAND_TYPE},
        {"ld.const.u32 x0, [cst];", -1},
        {"ld.u32 x0, [cst];", HD_DIAG_BAD_ADDRESS},
        {"ld.global.f32 d0, [y0];", HD_DIAG_OPERAND_TYPE},
        {"st.global.u16 [y0], y1;", -1},
        {"{ .reg .b8 c; add.u16 h0, h1, c; }", HD_DIAG_OPERAND_TYPE},
        {"{ .reg .f16 a; .reg .f16x2 b; fma.rn.f16 a, a, a, a; fma.rn.f16x2 b, b, b, b; }", -1},
        {"{ .reg .f16 a; add.bf16 a, h0, h1; }", HD_DIAG_OPERAND_TYPE},
        {"mul.wide.s32 x0, x1, x2;", HD_DIAG_OPERAND_TYPE},
        {"shl.b64 y0, y1, x2;", -1},
        {"shl.b64 y0, y1, y2;", HD_DIAG_OPERAND_TYPE},
        {"popc.b64 x0, y1;", -1},
        {"popc.b64 y0, y1;", HD_DIAG_OPERAND_TYPE},
        {"ld.shared.u32 x0, [x1];", -1},
        {"ld.global.u32 x0, [f1];", HD_DIAG_BAD_ADDRESS},
        {"ld.global.u32 x0, [x1];", HD_DIAG_BAD_ADDRESS},
        {"add.f32 f0, f1, 1;", HD_DIAG_OPERAND_KIND},
        {"add.f32 f0, f1, 1.5;", -1},
        {"add.s32 x0, x1, 1.5;", HD_DIAG_OPERAND_KIND},
        {"mov.b32 x0, 0f3f800000;", -1},
        {"mov.b32 x0, 1.5;", HD_DIAG_OPERAND_KIND},
        {"add.u32 x0, x1, %tid.x;", HD_DIAG_OPERAND_KIND},
        {"mov.u64 y0, %tid.x;", HD_DIAG_OPERAND_TYPE},
        {"mov.u16 h0, %tid.x;", -1},
        {"mov.v4.u32 {x0,x1,x2,x3}, %tid;", -1},
        {"cvt.u64.u32 y0, %tid.x;", -1},
        {"add.u32 x0, x1, g;", HD_DIAG_OPERAND_KIND},
        {"ld.shared.u32 x0, [g];", HD_DIAG_BAD_ADDRESS},
        {"ld.global.u32 x0, [4096];", HD_DIAG_BAD_ADDRESS},
        {"add.s32 x0, !x1, x2;", HD_DIAG_OPERAND_KIND},
        {"add.s32 x0, x1.b0, x2;", HD_DIAG_OPERAND_KIND},
        {"add.s32 _, x1, x2;", HD_DIAG_BAD_SINK},
        {"setp.eq.s32 _|_, x1, x2;", HD_DIAG_BAD_SINK},
        {"ld.global.v2.u32 {x0,x1,x2}, [y0];", HD_DIAG_BAD_VECTOR},
        {"ld.global.v2.u32 x0, [y0];", HD_DIAG_BAD_VECTOR},
        {"ld.global.v2.u32 {x0,y1}, [y0];", HD_DIAG_BAD_VECTOR},
        {"ld.global.v3.u32 {x0,x1,x2}, [y0];", HD_DIAG_BAD_VECTOR},
        {"mov.b64 y0, {x0,x1,x2};", HD_DIAG_BAD_VECTOR},
        {"{ .reg .s32 s; mov.b64 y0, {s,f1}; }", HD_DIAG_BAD_VECTOR},
        {"add.s32 x0, x1;", HD_DIAG_OPERAND_COUNT},
        {"add.s32 x0, x1, x2, x3;", HD_DIAG_OPERAND_COUNT},
        {"exit x0;", HD_DIAG_OPERAND_COUNT},
        {"ld.global.L2::cache_hint.u32 x0, [y0];", HD_DIAG_OPERAND_COUNT},
        {"bra x0;", HD_DIAG_OPERAND_KIND},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_error(cases[i].body, cases[i].error);
}

static void modifiers_are_checked(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "cos.f32 f0, f1;",
        "div.f64 d0, d1, d2;",
        "mad.f32 f0, f1, f2, f3;",
        "cvt.f32.s32 f0, x0;",
        "cvt.rn.u32.u64 x0, y0;",
        "add.rn.s32 x0, x1, x2;",
        "ld.f16 h0, [y0];",
        "sub.s16x2 x0, x1, x2;",
        "mul.s32 x0, x1, x2;",
        "mul.s32.wide y0, x1, x2;",
        "setp.lo.s32 p0, x1, x2;",
        "setp.nan.s32 p0, x1, x2;",
        "lop3.xor.b32 x0|p0, x1, x2, x3, 1, p1;",
        "ld.relaxed.u32 x0, [y0];",
        "add x0, x1, x2;",
        "mma.sync.aligned.m16n8k8.col.row.f32.f16.f16.f32 {f0,f1,f2,f3},{x0,x1},{x2},{f0,f1,f2,f3};",
    };
    static const char *const good[] = {
        "add.f32.rn f0, f1, f2;",         "ld.u32.global x0, [y0];", "setp.s32.lt p0, x1, x2;",
        "add.sat.sat.s32 x0, x1, x2;",    "cvt.sat.u8.s32 x0, x1;",  "cvt.rzi.ftz.s32.f32 x0, f0;",
        "match.sync.any.b32 x0, x1, x2;",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        expect_error(bad[i], -1); /* a warning: a newer version may have it */
        assert_int_equal(body_error_as(VARIABLES, bad[i], true), HD_DIAG_UNKNOWN_COMBINATION);
    }
    expect_error("add.rn.rn.f32 f0, f1, f2;", HD_DIAG_BAD_MODIFIER);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        expect_error(good[i], -1);
}

/* Before PTX 1.4 and sm_20 roundings and .approx could be left out. */
static void old_forms_are_old(void **state)
{
    (void)state;
    const char *old = ptx_file("form-old_forms_are_old");
    static const char newer[] = ".version 1.4\n.target sm_13\n.entry k {\n.reg .f32 f<4>;\nsin.f32 f0, f1;\n}\n";
    assert_int_equal(first_error(old), -1);
    const char *const banked = ".version %s\n.target sm_10\n.entry k {\n.reg .u32 r;\nld.const[1].u32 r, [r];\n}\n";
    char text[256];
    snprintf(text, sizeof text, banked, "2.1");
    assert_int_equal(first_error(text), -1);
    snprintf(text, sizeof text, banked, "2.2");
    assert_int_equal(first_error(text), HD_DIAG_BAD_MODIFIER);
    assert_int_equal(first_error_as(newer, true), HD_DIAG_UNKNOWN_COMBINATION);
    assert_int_equal(body_error_as("", "mad.f32 f0, f1, f2, f3;", true), HD_DIAG_UNKNOWN_COMBINATION);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static void calls_fit_their_callees(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        bool accepted;
    } cases[] = {
        {"call (x0), old, (x1);", true},
        {"call (f0), old, (f1);", true},
        {"call (_), old, (5);", true},
        {"call (x0), old, (1.5);", true},
        {"call (x0), old;", false},
        {"call old, (x1);", false},
        {"call (x0), old, (x1, x2);", false},
        {"call (x0), old, (y1);", false},
        {"call (h0), old, (x1);", false},
        {"call (x0), old, (p1);", false},
        {"call (x0), callee, (x1);", true},
        {"call (x0), k, ();", false},
        {"call (x0), old, (old);", false},
        {"call (x0), old, (pp);", false},
        {"call (x0), y0, (x1);", false},
        {"call g;", false},
        {"call plain, ();", true},
        {"call f0, (x1);", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int error = body_error(VARIABLES, cases[i].body);
        if ((error == -1) != cases[i].accepted)
            print_message("# %s: %d\n", cases[i].body, error);
        assert_int_equal(error == -1, cases[i].accepted);
    }
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static void expect_message(const char *body, const char *message)
{
    char text[1024];
    snprintf(text, sizeof text, HEAD VARIABLES ".entry k {\n" REGISTERS "%s\nret;\n}\n", body);
    parsed *p = parse_text(text);
    assert_non_null(p->diagnostics.first);
    assert_string_equal(p->diagnostics.first->message, message);
    parsed_free(p);
}

static void messages_say_what_is_expected(void **state)
{
    (void)state;
    expect_message("add.s32 x0, x1, f2;",
                   "operand 3 of 'add.s32' must be a .s32 register or an integer constant, 'f2' is .f32");
    expect_message("add.f32 f0, 1, f2;",
                   "operand 2 of 'add.f32' must be a .f32 register or a floating-point literal, this is an integer");
    expect_message("add.s32 x0, x1;", "'add.s32' takes 3 operands, 2 given");
    expect_message("ld.global.v2.u32 {x0}, [y0];",
                   "operand 1 of 'ld.global.v2.u32' must be a vector of 2 elements, this has 1");
    expect_message("cos.f32 f0, f1;", "'cos.f32' needs '.approx'; kept as it is");
    expect_message("fma.f32 f0, f1, f2, f3;", "'fma.f32' needs '.rn', '.rz', '.rm' or '.rp'; kept as it is");
    expect_message("add.rn.s32 x0, x1, x2;", "'.rn' does not fit 'add.rn.s32'; kept as it is");
    expect_message("add.u32.u32 x0, x1, x2;", "the types of 'add.u32.u32' do not fit 'add'; kept as it is");
    expect_message("st.global.u32 x0, x1;",
                   "operand 1 of 'st.global.u32' must be an address in brackets, 'x0' is .b32");
}

/* An operand's error points at the operand. */
static void errors_have_places(void **state)
{
    (void)state;
    parsed *p = parse_text(HEAD ".entry k {\n" REGISTERS "add.s32 x0, f1, x2;\nret;\n}\n");
    const hd_diagnostic *d = p->diagnostics.first;
    assert_memory_equal(p->source.text + d->span.begin, "f1", 2);
    assert_int_equal(d->span.end - d->span.begin, 2);
    parsed_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roles_of_arithmetic),
        cmocka_unit_test(roles_of_selection),
        cmocka_unit_test(roles_of_movement),
        cmocka_unit_test(roles_of_memory),
        cmocka_unit_test(roles_of_control),
        cmocka_unit_test(roles_of_warp),
        cmocka_unit_test(roles_of_matrices),
        cmocka_unit_test(unknown_takes_everything),
        cmocka_unit_test(types_match_as_measured),
        cmocka_unit_test(modifiers_are_checked),
        cmocka_unit_test(old_forms_are_old),
        cmocka_unit_test(calls_fit_their_callees),
        cmocka_unit_test(messages_say_what_is_expected),
        cmocka_unit_test(errors_have_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
