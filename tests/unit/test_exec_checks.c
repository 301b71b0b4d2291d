/* The optional checks: uses of what was never written, with all that must not be reported, and races in shared memory
 * between warps and within one. */
#include "kernel.h"

static uint32_t out[1024];

enum { FIRST_LINE = 16 }; /* of the body, after the line that sets %rd3 */

static kernel_run run_with(const char *body, uint32_t threads, bool uninitialized, bool races)
{
    static char text[8192], whole[8192];
    snprintf(whole, sizeof whole, "mad.wide.u32 %%rd3, %%r0, 4, %%rd1;\n%s", body);
    memset(out, 0, sizeof out);
    kernel_run run = {.text = kernel_text(text, sizeof text, whole),
                      .in = out,
                      .in_bytes = 64,
                      .out = out,
                      .out_bytes = sizeof out,
                      .block = threads,
                      .options.check_uninitialized = uninitialized,
                      .options.check_races = races};
    run_kernel(&run);
    return run;
}

/* ---- never written ------------------------------------------------------------------------------------------------
 */

static void expect_use(const char *body, uint32_t line, const char *part)
{
    kernel_run run = run_with(body, 32, false, false);
    if (run.status != HD_EXEC_DONE) /* without the check it runs */
        fail_msg("%s: %s", body, run.message);
    run = run_with(body, 32, true, false);
    if (run.status != HD_EXEC_FAULT || !strstr(run.message, part))
        fail_msg("%s: '%s' does not hold '%s'", body, run.message, part);
    assert_string_equal(run.slug, "kernel-fault");
    assert_int_equal(run.line, FIRST_LINE + line);
}

static void expect_none(const char *body)
{
    kernel_run run = run_with(body, 32, true, false);
    if (run.status != HD_EXEC_DONE)
        fail_msg("%s: %u: %s", body, run.line, run.message);
}

static void uses_are_found(void **state)
{
    (void)state;
    expect_use("@%p1 st.global.u32 [%rd3], %r0;", 0, "%p1 was never written and is used as a guard");
    expect_use("st.global.u32 [%rd3], %r1;", 0, "%r1 was never written and is used as a value in global memory");
    expect_use(
        "add.u64 %rd5, %rd3, 0;\nsub.u64 %rd6, %rd9, %rd9;\nadd.u64 %rd5, %rd5, %rd6;\nld.global.u32 %r1, [%rd5];", 3,
        "%rd5 was never written and is used as an address");
    expect_use("T: .branchtargets A, A;\nbrx.idx %r1, T;\nA: ", 1,
               "%r1 was never written and is used as a branch's index");
    expect_use("bar.sync %r1;", 0, "an operand of a barrier");
    expect_use("atom.global.add.u32 %r2, [%rd3], %r1;", 0,
               "%r1 was never written and is used as an operand of an atomic");
    expect_use("fma.rn.f32 %f1, %f2, %f3, %f4;\nst.global.f32 [%rd3], %f1;", 1, "%f1 was never written");
    expect_use("setp.eq.u32 %p1, %r1, 3;\n@%p1 bra A;\nA: ", 1, "%p1 was never written and is used as a guard");
    expect_use("st.global.v2.u32 [%rd1], {%r0, %r1};", 0, "%r1 was never written");
    expect_use(".shared .align 4 .b32 s[64];\nld.shared.u32 %r1, [s+128];\nst.global.u32 [%rd3], %r1;", 2,
               "%r1 was never written");
    expect_use(".local .align 4 .b32 l[4];\nst.local.u32 [l], %r0;\nld.local.u32 %r1, [l+4];\nadd.u32 %r1, %r1, 1;\n"
               "st.global.u32 [%rd3], %r1;",
               4, "%r1 was never written");
    expect_use(".local .align 4 .b32 l[4];\nmov.u64 %rd5, l;\nld.local.s8 %r1, [%rd5];\nst.global.u32 [%rd3], %r1;", 3,
               "%r1 was never written");
    expect_use("cvt.u32.u16 %r1, %h1;\nand.b32 %r1, %r1, 255;\nsetp.gt.u32 %p1, %r1, 5;\n@%p1 bra A;\nA: ", 3, "%p1");
    expect_use("lop3.b32 %r2, %r0, %r1, 0, 0x3c;\nst.global.u32 [%rd3], %r2;", 1, "%r2 was never written");
    expect_use("selp.u32 %r1, %r0, %r2, %p1;\nst.global.u32 [%rd3], %r1;", 1, "%r1 was never written");
    expect_use("shl.b32 %r1, %r0, %r2;\nst.global.u32 [%rd3], %r1;", 1, "%r1 was never written");
}

/* Only the lanes that use it count, and only those that did not write it. */
static void lanes_are_told_apart(void **state)
{
    (void)state;
    kernel_run run =
        run_with("setp.ne.u32 %p1, %r0, 9;\n@%p1 mov.u32 %r1, 1;\nst.global.u32 [%rd3], %r1;", 32, true, false);
    assert_int_equal(run.status, HD_EXEC_FAULT);
    assert_non_null(strstr(run.message, "thread (9,0,0)"));
    expect_none("setp.ne.u32 %p1, %r0, 9;\n@%p1 mov.u32 %r1, 1;\n@%p1 st.global.u32 [%rd3], %r1;");
    run = run_with("setp.lt.u32 %p1, %r0, 31;\n@%p1 mov.u32 %r1, 5;\nshfl.sync.down.b32 %r2, %r1, 1, 31, -1;\n"
                   "st.global.u32 [%rd3], %r2;",
                   32, true, false);
    assert_int_equal(run.status, HD_EXEC_FAULT); /* lane 30 has lane 31's, and lane 31 its own */
    assert_non_null(strstr(run.message, "thread (30,0,0)"));
}

static void correct_programs_are_not_reported(void **state)
{
    (void)state;
    expect_none("mov.u32 %r2, %r1;\nadd.u32 %r3, %r2, 1;\nmov.b64 %rd5, {%r1, %r3};"); /* computed and dropped */
    expect_none("setp.eq.u32 %p1, %r0, 0;\nbar.red.popc.u32 %r1, 0, %p1;\nst.global.u32 [%rd3], %r1;");
    expect_none("selp.u32 %r2, %r0, %r1, 1;\nst.global.u32 [%rd3], %r2;");
    expect_none("mov.b64 %rd5, {%r0, %r1};\nmov.b64 {%r2, %r3}, %rd5;\nst.global.u32 [%rd3], %r2;\n"
                "st.global.u64 [%rd1], %rd5;"); /* a half of it is padding */
    expect_none("and.b32 %r2, %r1, 0;\nor.b32 %r3, %r1, -1;\nadd.u32 %r2, %r2, %r3;\nst.global.u32 [%rd3], %r2;");
    expect_none("lop3.b32 %r2, %r1, 255, 3840, 0x80;\nlop3.b32 %r3, %r0, %r1, 0, 0xf0;\nadd.u32 %r2, %r2, %r3;\n"
                "st.global.u32 [%rd3], %r2;"); /* a & 255 & 3840; a */
    expect_none("cvt.u64.u32 %rd5, %r0;\nbfi.b64 %rd6, %rd5, %rd9, 8, 8;\nbfe.u64 %rd7, %rd6, 8, 8;\n"
                "cvt.u32.u64 %r2, %rd7;\nst.global.u32 [%rd3], %r2;");
    expect_none("shl.b32 %r2, %r1, 24;\nand.b32 %r2, %r2, 65535;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 st.global.u32 [%rd3], "
                "%r2;");
    expect_none(
        ".local .align 8 .b8 l[16];\nst.local.u32 [l], %r0;\nld.local.u64 %rd5, [l];\nst.local.u64 [l+8], %rd5;\n"
        "ld.local.u32 %r2, [l+8];\nst.global.u32 [%rd3], %r2;\nst.global.u64 [%rd1], %rd5;");
    expect_none(".shared .align 4 .b8 s[128];\nmov.u32 %r1, s;\nadd.u32 %r1, %r1, %r0;\nst.shared.u8 [%r1], %r0;\n"
                "ld.shared.u8 %r2, [%r1];\nst.global.u32 [%rd3], %r2;");
    expect_none(".shared .align 4 .b32 s[2];\nst.shared.u32 [s], 0;\natom.shared.add.u32 %r1, [s], 1;\n"
                "st.global.u32 [%rd3], %r1;");
    expect_none(".shared .align 4 .b32 s[2];\natom.shared.exch.b32 %r1, [s], %r0;\nld.shared.u32 %r2, [s];\n"
                "st.global.u32 [%rd3], %r2;\n.local .align 4 .b32 l[4];\nmov.u64 %rd5, l;\nld.local.u8 %r3, [%rd5];\n"
                "st.global.u32 [%rd3], %r3;"); /* a part of it is written */
    expect_none("xor.b32 %r1, %r0, 5;\nprmt.b32 %r2, %r1, %r9, 0x3210;\nst.global.u32 [%rd3], %r2;");
    expect_none("shfl.sync.bfly.b32 %r1|%p1, %r0, 1, 31, -1;\n@%p1 st.global.u32 [%rd3], %r1;");
    expect_none("vote.sync.ballot.b32 %r1, 1, -1;\nst.global.u32 [%rd3], %r1;\nld.param.u64 %rd5, [in];\n"
                "ld.global.u32 %r2, [%rd5];\nst.global.u32 [%rd3], %r2;");
}

static void through_calls(void **state)
{
    (void)state;
    static const char text[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n.func (.param .align 8 .b8 r[16]) f(.param .b32 n)\n{\n.reg "
        ".b32 "
        "%%r<4>;\nld.param.u32 %%r1, [n];\nst.param.u32 [r], %%r1;\nst.param.u32 [r+8], %%r1;\nret;\n}\n"
        ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b64 %%rd<4>;\n.reg .b32 %%r<4>;\n"
        "ld.param.u64 %%rd1, [out];\n{\n.param .b32 n;\n.param .align 8 .b8 r[16];\nst.param.b32 [n], 5;\ncall (r), f, "
        "(n);\nld.param.u32 %%r1, [r+%u];\n}\nst.global.u32 [%%rd1], %%r1;\nret;\n}\n";
    for (uint32_t at = 0; at < 16; at += 4) {
        char whole[1024];
        snprintf(whole, sizeof whole, text, at);
        kernel_run run = {.text = whole, .out = out, .out_bytes = 64, .options.check_uninitialized = true};
        run_kernel(&run);
        assert_int_equal(run.status, at % 8 ? HD_EXEC_FAULT : HD_EXEC_DONE);
    }
}

/* What the device runtime returns is defined, in a register and in a parameter. */
static void through_the_device_runtime(void **state)
{
    (void)state;
    static const char head[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func (.param .b64 r) malloc(.param .b64 n);\n"
        ".extern .func free(.param .b64 p);\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
        ".reg .b64 %rd<4>;\n.reg .b32 %r<4>;\nld.param.u64 %rd1, [out];\n";
    static const char *const bodies[] = {"call (%rd2), malloc, (16);\n",
                                         "{\n.param .b64 n;\n.param .b64 p;\nst.param.b64 [n], 16;\ncall (p), malloc, "
                                         "(n);\nld.param.b64 %rd2, [p];\n}\n"};
    for (uint32_t i = 0; i < 2; i++) {
        char whole[1024];
        snprintf(whole, sizeof whole,
                 "%s%sst.u32 [%%rd2], 5;\nst.global.u64 [%%rd1], %%rd2;\ncall free, (%%rd2);\nret;\n}\n", head,
                 bodies[i]);
        kernel_run run = {.text = whole, .out = out, .out_bytes = 64, .options.check_uninitialized = true};
        run_kernel(&run);
        if (run.status != HD_EXEC_DONE)
            fail_msg("%s: %s", whole, run.message);
    }
}

/* ---- matrices ---------------------------------------------------------------------------------------------------- */

#define DATA "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nmov.u32 %r5, 0;\nmov.f32 %f4, 0f00000000;\n"
#define MMA(a0, a1, b, c0)                                                                                   \
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {" a0 ", " a1 "}, {" b "}, {" c0 \
    ", %f4, %f4, %f4};\n"
#define USED "is used as a value in global memory"

/* Elements of a product are undefined that come from what is undefined. */
static void products_of_undefined_matrices(void **state)
{
    (void)state;
    expect_none(DATA MMA("%r1", "%r2", "%r5", "%f4") "st.global.f32 [%rd3], %f0;\nst.global.f32 [%rd3], %f3;");
    /* rows 8 to 15 of A are those of the second halves */
    expect_none(DATA MMA("%r1", "%r9", "%r5", "%f4") "st.global.f32 [%rd3], %f0;\nst.global.f32 [%rd3], %f1;");
    /* beside numbers all of the result */
    expect_use(DATA "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r9}, {%r5}, "
                    "{0f00000000, 0f00000000, 0f00000000, 0f00000000};\nst.global.f32 [%rd3], %f0;",
               5, USED);
    /* numbers of the next instruction are none of the product */
    expect_none(DATA MMA("%r1", "%r9", "%r5", "%f4") "st.global.v2.u32 [%rd1+64], {1, 2};\nst.global.f32 [%rd3], %f0;");
    expect_use(DATA MMA("%r1", "%r9", "%r5", "%f4") "st.global.f32 [%rd3], %f2;", 5, "%f2 was never written and " USED);
    expect_use(DATA MMA("%r1", "%r2", "%r5", "%f9") "st.global.f32 [%rd3], %f0;", 5, "%f0 was never written and " USED);
    expect_none(DATA MMA("%r1", "%r2", "%r5", "%f9") "st.global.f32 [%rd3], %f1;");
    /* columns 0 to 3 of B are those of lanes 0 to 15; lane l has columns 2 (l % 4) and the next of the result */
#define HALF DATA "setp.lt.u32 %p1, %r0, 16;\n@%p1 mov.u32 %r9, 0;\nand.b32 %r3, %r0, 2;\nsetp.eq.u32 %p2, %r3, 0;\n"
    expect_none(
        HALF MMA("%r1", "%r2", "%r9", "%f4") "@%p2 st.global.f32 [%rd3], %f0;\n@%p2 st.global.f32 [%rd3], %f3;");
    expect_use(HALF MMA("%r1", "%r2", "%r9", "%f4") "@!%p2 st.global.f32 [%rd3], %f0;", 9, USED);
    /* shared registers of A and B: all of the result */
    expect_use(DATA MMA("%r9", "%r1", "%r1", "%f4") "st.global.f32 [%rd3], %f2;", 5, USED);
#define BITS(op)                                                                                          \
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32." op ".popc {%r4, %r5}, {%r1}, {%r2}, {%r3, %r3};\n" \
    "st.global.u32 [%rd3], %r5;"
    expect_none("mov.u32 %r1, 1;\nmov.u32 %r2, -1;\nmov.u32 %r3, 0;\n" BITS("xor"));
    expect_use("mov.u32 %r1, 1;\nmov.u32 %r3, 0;\n" BITS("xor"), 3, USED);
    expect_use("mov.u32 %r2, 1;\nmov.u32 %r3, 0;\n" BITS("and"), 3, USED);
}

static void matrices_in_memory(void **state)
{
    (void)state;
    /* rows 0 to 6 of a matrix of 8 are written, by 28 lanes; row 7 is what lanes 28 to 31 get */
#define ROWS                                                                                                \
    ".shared .align 16 .b8 s[128];\nmov.u32 %r1, s;\nshl.b32 %r2, %r0, 2;\nadd.u32 %r2, %r1, %r2;\n"        \
    "setp.lt.u32 %p1, %r0, 28;\n@%p1 st.shared.u32 [%r2], 0;\nand.b32 %r3, %r0, 7;\nshl.b32 %r3, %r3, 4;\n" \
    "add.u32 %r1, %r1, %r3;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r1];\n"
    expect_none(ROWS "@%p1 st.global.u32 [%rd3], %r4;");
    expect_use(ROWS "st.global.u32 [%rd3], %r4;", 10, "%r4 was never written and " USED);
    expect_none(ROWS "movmatrix.sync.aligned.m8n8.trans.b16 %r5, %r4;");
    /* the seventh column of the transposed one is undefined: of pairs of columns the last one's half, no whole word */
    expect_none(ROWS "movmatrix.sync.aligned.m8n8.trans.b16 %r5, %r4;\nst.global.u32 [%rd3], %r5;");
    expect_use(ROWS "movmatrix.sync.aligned.m8n8.trans.b16 %r5, %r4;\nshr.u32 %r5, %r5, 16;\n"
                    "add.u32 %r5, %r5, %r5;\nst.global.u32 [%rd3], %r5;",
               13, "%r5 was never written and " USED);
    /* what is undefined stays so in shared memory */
#define TILE ".shared .align 32 .b8 s[1024];\nmov.u32 %r1, s;\nshl.b32 %r2, %r0, 2;\nadd.u32 %r2, %r1, %r2;\n"
#define STORE "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r1], {%f0, %f0, %f0, %f0, %f0, %f0, %f0, %f0};\n"
    expect_none(TILE "mov.f32 %f0, 0f00000000;\n" STORE "ld.shared.u32 %r4, [%r2];\nst.global.u32 [%rd3], %r4;");
    expect_use(TILE STORE "ld.shared.u32 %r4, [%r2];\nst.global.u32 [%rd3], %r4;", 6,
               "%r4 was never written and " USED);
    expect_use("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], {%f0, %f0, %f0, %f0, %f0, %f0, %f0, %f0};",
               0, "%f0 was never written and " USED);
    /* loaded, multiplied, stored */
    expect_none("wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%rd1];\n"
                "st.global.f32 [%rd3], %f7;");
    expect_use(TILE
               "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%r1];\n"
               "st.global.f32 [%rd3], %f7;",
               5, "%f7 was never written and " USED);
}

/* ---- races ---------------------------------------------------------------------------------------------------------
 */

#define SHARED ".shared .align 4 .b32 s[1024];\nmov.u32 %r9, s;\nmad.lo.u32 %r1, %r0, 4, %r9;\n"
#define NEIGHBOUR \
    "add.u32 %r2, %r0, 32;\nand.b32 %r2, %r2, 63;\nmad.lo.u32 %r2, %r2, 4, %r9;\n" /* in the other warp \
                                                                                    */
#define FIRST "setp.lt.u32 %p1, %r0, 32;\n@%p1 " /* the first warp does what follows */
#define NEXT_LANE "xor.b32 %r2, %r0, 1;\nmad.lo.u32 %r2, %r2, 4, %r9;\n"

/* Without the check every one of these runs to its end, and so it does with it. */
static kernel_run races_in(const char *body, uint32_t threads)
{
    kernel_run run = run_with(body, threads, false, false);
    if (run.status != HD_EXEC_DONE)
        fail_msg("%s", run.message);
    uint64_t instructions = run.statistics.warp_instructions;
    run = run_with(body, threads, false, true);
    assert_int_equal(run.status, HD_EXEC_DONE);
    assert_int_equal(run.statistics.warp_instructions, instructions);
    return run;
}

static void expect_race(const char *body, uint32_t line, const char *kind)
{
    kernel_run run = races_in(body, 64);
    if (!run.statistics.races || !strstr(run.message, kind))
        fail_msg("%s: '%s' does not hold '%s'", body, run.message, kind);
    assert_string_equal(run.slug, "kernel-fault");
    assert_int_equal(run.line, FIRST_LINE + line);
}

static void expect_order(const char *body)
{
    kernel_run run = races_in(body, 64);
    if (run.statistics.races || run.message[0])
        fail_msg("%s: %u: %s", body, run.line, run.message);
}

static void races_between_warps(void **state)
{
    (void)state;
    expect_race(SHARED NEIGHBOUR FIRST "st.shared.u32 [%r1], %r0;\n@!%p1 ld.shared.u32 %r3, [%r2];", 8,
                "race, read after write: thread (32,0,0) reads byte 0 of shared memory, which thread (0,0,0) writes");
    expect_race(SHARED NEIGHBOUR FIRST "ld.shared.u32 %r3, [%r1];\n@!%p1 st.shared.u32 [%r2], %r0;", 8,
                "race, write after read: ");
    expect_race(SHARED NEIGHBOUR FIRST "st.shared.u32 [%r1], %r0;\n@!%p1 st.shared.u32 [%r2], %r0;", 8,
                "race, write after write: ");
    expect_race(SHARED NEIGHBOUR FIRST "atom.shared.add.u32 %r3, [%r1], 1;\n@!%p1 st.shared.u32 [%r2], %r0;", 8,
                "race, ");
    expect_race(SHARED NEIGHBOUR "st.shared.u32 [%r1], %r0;\nbar.sync 0;\nld.shared.u32 %r3, [%r2];\n"
                                 "st.shared.u32 [%r1], 7;",
                8, "race, read after write: "); /* the warp that arrives last goes on first */
    expect_order(SHARED NEIGHBOUR "st.shared.u32 [%r1], %r0;\nbar.sync 0;\nld.shared.u32 %r3, [%r2];\nbar.sync 0;\n"
                                  "st.shared.u32 [%r1], 7;");
    expect_order(SHARED NEIGHBOUR "atom.shared.add.u32 %r3, [%r1], 1;\nred.shared.add.u32 [%r2], 1;");
    expect_order(SHARED NEIGHBOUR "ld.shared.u32 %r3, [%r1];\nld.shared.u32 %r3, [%r2];");
    expect_order(SHARED NEIGHBOUR "atom.shared.add.u32 %r3, [%r1], 1;\nld.relaxed.cta.shared.u32 %r3, [%r2];\n"
                                  "st.volatile.shared.u32 [%r1], %r3;");
    expect_race(SHARED NEIGHBOUR FIRST "st.volatile.shared.u32 [%r1], %r0;\n@!%p1 ld.shared.u32 %r3, [%r2];", 8,
                "race, read after write: ");
    /* what was released is seen after an acquire, and not after a relaxed load */
#define RELEASED                                                                                                \
    SHARED NEIGHBOUR FIRST "bra A;\nbra B;\nA: st.shared.u32 [%r1], %r0;\nst.release.cta.shared.u32 [s+1024], " \
                           "1;\nret;\nB: "
    expect_order(RELEASED "ld.acquire.cta.shared.u32 %r3, [s+1024];\nld.shared.u32 %r3, [%r2];");
    expect_race(RELEASED "ld.relaxed.cta.shared.u32 %r3, [s+1024];\nld.shared.u32 %r3, [%r2];", 13,
                "race, read after write: ");
    expect_order(RELEASED "ld.volatile.shared.u32 %r3, [s+1024];\nmembar.cta;\nld.shared.u32 %r3, [%r2];");
    expect_order(RELEASED "atom.shared.or.b32 %r3, [s+1024], 0;\nfence.acq_rel.cta;\nld.shared.u32 %r3, [%r2];");
    expect_race(RELEASED "membar.cta;\nld.volatile.shared.u32 %r3, [s+1024];\nld.shared.u32 %r3, [%r2];", 14,
                "race, read after write: ");
    expect_race(RELEASED "ld.shared.u32 %r3, [s+1028];\nmembar.cta;\nld.shared.u32 %r3, [%r2];", 14,
                "race, read after write: ");
    expect_order(SHARED "st.shared.u32 [s], 1;\nst.shared.u32 [s], 1;"); /* all set one flag */
    expect_order(SHARED "st.shared.u32 [%r1], %r0;\nld.shared.u32 %r3, [%r1];\nst.shared.u32 [%r1], %r3;");
    /* bytes side by side in one word */
    expect_order(".shared .align 4 .b8 s[64];\nmov.u32 %r9, s;\nadd.u32 %r1, %r9, %r0;\nst.shared.u8 [%r1], %r0;");
}

/* One warp produces, arrives, and goes on; the other waits. */
static void named_barriers_order(void **state)
{
    (void)state;
#define PRODUCE                                                                                                      \
    SHARED "and.b32 %r3, %r0, 31;\nmad.lo.u32 %r2, %r3, 4, %r9;\nsetp.lt.u32 %p1, %r0, 32;\n@%p1 bra.uni CONSUME;\n" \
           "st.shared.u32 [%r2], %r0;\nbar.arrive 3, 64;\n"
#define CONSUME "ret;\nCONSUME: bar.sync 3, 64;\nld.shared.u32 %r4, [%r2];"
    expect_order(PRODUCE CONSUME);
    kernel_run run = races_in(PRODUCE "st.shared.u32 [%r2], 5;\n" CONSUME, 64);
    assert_int_equal(run.statistics.races, 1);
}

/* Copies of 4 bytes a thread from global memory, and what is done before, during and after them. */
/* Each pair of instructions is reported once: whichever came first, in every CTA, and beside other pairs of one of
 * them. */
static void expect_pairs(const char *function, const char *body, uint32_t pairs, const char *const *lines)
{
    char whole[4096], text[8192];
    snprintf(whole, sizeof whole, "mad.wide.u32 %%rd3, %%r0, 4, %%rd1;\n%s", body);
    const char *inner = kernel_text(text, sizeof text, whole), *entry = strstr(inner, ".visible .entry");
    char joined[16384];
    assert_non_null(entry);
    snprintf(joined, sizeof joined, "%.*s%s%s", (int)(entry - inner), inner, function, entry);
    for (uint32_t grid = 1; grid <= 2; grid++) {
        kernel_run run = {.text = joined,
                          .in = out,
                          .in_bytes = 64,
                          .out = out,
                          .out_bytes = sizeof out,
                          .grid = grid,
                          .block = 64,
                          .options.check_races = true};
        run_kernel(&run);
        assert_int_equal(run.status, HD_EXEC_DONE);
        assert_int_equal(run.statistics.races, pairs);
        assert_int_equal(run.diagnostics, pairs);
        for (uint32_t i = 0; lines[i]; i++)
            if (!strstr(run.notes, lines[i]))
                fail_msg("'%s' does not hold '%s'", run.notes, lines[i]);
    }
}

static void pairs_are_reported_once(void **state)
{
    (void)state;
    static const char *const none[] = {NULL};
    /* two writers and a reader, a writer and two readers */
    expect_pairs("",
                 ".shared .align 8 .b32 s[128];\nmov.u32 %r9, s;\nmad.lo.u32 %r1, %r0, 8, %r9;\n"
                 "xor.b32 %r2, %r0, 32;\nmad.lo.u32 %r2, %r2, 8, %r9;\n" FIRST "st.shared.u32 [%r1], %r0;\n"
                 "@%p1 st.shared.u32 [%r1+4], %r0;\n@!%p1 ld.shared.v2.u32 {%r3, %r4}, [%r2];",
                 2, none);
    expect_pairs("",
                 SHARED NEIGHBOUR FIRST "st.shared.u32 [%r1], %r0;\n@!%p1 ld.shared.u32 %r3, [%r2];\n"
                                        "@!%p1 ld.shared.u32 %r4, [%r2];",
                 2, none);
    /* in a function and its caller, in both orders */
    expect_pairs(".func store(.param .b32 at, .param .b32 value)\n{\n.reg .b32 %a<2>;\nld.param.u32 %a0, [at];\n"
                 "ld.param.u32 %a1, [value];\nst.shared.u32 [%a0], %a1;\nret;\n}\n",
                 SHARED NEIGHBOUR "st.shared.u32 [%r1], %r0;\n{\n.param .b32 a;\n.param .b32 v;\nst.param.b32 [a], "
                                  "%r2;\nst.param.b32 [v], %r0;\ncall store, (a, v);\n}\n",
                 1, none);
}

static void races_with_copies(void **state)
{
    (void)state;
#define COPY(to) "cp.async.ca.shared.global [" to "], [%rd0], 4;\n"
    enum { COPY_AT = 6 }; /* line of the first copy */
#define WAIT "cp.async.wait_all;\n"
    /* its own thread needs the wait, the others a barrier after it, too */
    expect_order(SHARED NEIGHBOUR COPY("%r1") WAIT "ld.shared.u32 %r3, [%r1];\nbar.sync 0;\nld.shared.u32 %r3, [%r2];");
    expect_race(SHARED NEIGHBOUR COPY("%r1") "ld.shared.u32 %r3, [%r1];\n" WAIT, COPY_AT + 1, "read after write");
    expect_race(SHARED NEIGHBOUR COPY("%r1") "bar.sync 0;\nld.shared.u32 %r3, [%r2];\n" WAIT, COPY_AT + 2,
                "read after write");
    expect_race(SHARED NEIGHBOUR COPY("%r1") WAIT "ld.shared.u32 %r3, [%r2];", COPY_AT, "write after read");
    expect_race(SHARED NEIGHBOUR COPY("%r1") "st.shared.u32 [%r1], 77;\n" WAIT, COPY_AT + 1, "write after write");
    /* the barrier before the wait orders nothing */
    expect_race(SHARED NEIGHBOUR COPY("%r1") "bar.sync 0;\n" WAIT "ld.shared.u32 %r3, [%r2];", COPY_AT + 3,
                "read after write");
    /* what was done before the copy */
    expect_race(SHARED NEIGHBOUR "ld.shared.u32 %r3, [%r2];\n" COPY("%r1") WAIT, COPY_AT, "read after write");
    expect_order(SHARED NEIGHBOUR "ld.shared.u32 %r3, [%r2];\nbar.sync 0;\n" COPY("%r1") WAIT);
    /* groups: the older one is there, the younger one is not */
#define TWO COPY("%r1") "cp.async.commit_group;\n" COPY("%r1+2048") "cp.async.commit_group;\ncp.async.wait_group 1;\n"
    expect_order(SHARED NEIGHBOUR TWO "ld.shared.u32 %r3, [%r1];\nbar.sync 0;\nld.shared.u32 %r3, [%r2];");
    expect_race(SHARED NEIGHBOUR TWO "ld.shared.u32 %r3, [%r1+2048];", COPY_AT + 5, "read after write");
}

static void races_within_a_warp(void **state)
{
    (void)state;
    expect_race(SHARED NEXT_LANE "st.shared.u32 [%r1], %r0;\nld.shared.u32 %r3, [%r2];", 6, "race, read after write: ");
    expect_race(SHARED "st.shared.u32 [s], %r0;", 3, "race, write after write: ");
    expect_order(SHARED NEXT_LANE "st.shared.u32 [%r1], %r0;\nbar.warp.sync -1;\nld.shared.u32 %r3, [%r2];");
    expect_race(SHARED NEXT_LANE "setp.lt.u32 %p1, %r0, 32;\nst.shared.u32 [%r1], %r0;\n@%p1 bar.warp.sync -1;\n"
                                 "ld.shared.u32 %r3, [%r2];",
                8, "thread (32,0,0)");
}

/* Lanes that name other members do not meet, though one instruction serves them all. */
static void groups_within_a_warp(void **state)
{
    (void)state;
#define GROUPS "and.b32 %r5, %r0, 24;\nshl.b32 %r5, 255, %r5;\n" /* of eight lanes */
#define OTHER(LANE) "xor.b32 %r2, %r0, " LANE ";\nmad.lo.u32 %r2, %r2, 4, %r9;\nst.shared.u32 [%r1], %r0;\n"
    static const char *const waits[] = {"bar.warp.sync %r5;\n", "shfl.sync.idx.b32 %r6, %r0, 0, 31, %r5;\n",
                                        "vote.sync.ballot.b32 %r6, %p1, %r5;\n", "match.any.sync.b32 %r6, %r0, %r5;\n",
                                        "redux.sync.add.u32 %r6, %r0, %r5;\n"};
    char body[1024];
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        snprintf(body, sizeof body, "%s%sld.shared.u32 %%r3, [%%r2];",
                 SHARED GROUPS "setp.eq.u32 %p1, %r0, 3;\n" OTHER("7"), waits[i]);
        expect_order(body);
        snprintf(body, sizeof body, "%s%sld.shared.u32 %%r3, [%%r2];",
                 SHARED GROUPS "setp.eq.u32 %p1, %r0, 3;\n" OTHER("8"), waits[i]);
        expect_race(body, 10, "race, read after write: ");
    }
}

static void older_machines_go_in_lockstep(void **state)
{
    (void)state;
    static const char head[] =
        ".version 8.0\n.target sm_60\n.address_size 64\n.visible .entry k(.param .u64 in, .param "
        ".u64 out)\n{\n.reg .b32 %r<16>;\nmov.u32 %r0, %tid.x;\n";
    char text[2048];
    snprintf(text, sizeof text, "%s%s", head,
             SHARED NEXT_LANE "st.shared.u32 [%r1], %r0;\nld.shared.u32 %r3, [%r2];\nret;\n}\n");
    kernel_run run = {.text = text, .out = out, .out_bytes = 64, .options.check_races = true};
    run_kernel(&run);
    assert_int_equal(run.statistics.races, 0);
    snprintf(text, sizeof text, "%s%s", head, SHARED "st.shared.u32 [s], %r0;\nret;\n}\n");
    run_kernel(&run);
    assert_int_equal(run.statistics.races, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uses_are_found),
        cmocka_unit_test(products_of_undefined_matrices),
        cmocka_unit_test(matrices_in_memory),
        cmocka_unit_test(lanes_are_told_apart),
        cmocka_unit_test(correct_programs_are_not_reported),
        cmocka_unit_test(through_calls),
        cmocka_unit_test(through_the_device_runtime),
        cmocka_unit_test(races_between_warps),
        cmocka_unit_test(named_barriers_order),
        cmocka_unit_test(pairs_are_reported_once),
        cmocka_unit_test(races_with_copies),
        cmocka_unit_test(races_within_a_warp),
        cmocka_unit_test(groups_within_a_warp),
        cmocka_unit_test(older_machines_go_in_lockstep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
