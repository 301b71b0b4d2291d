/* cp.async and its groups, mbarriers, and what is refused before the run. */
#include "kernel.h"
#include "ptx_file.h"

static uint32_t in[1024], out[2048];

static kernel_run run_text(const char *text, uint32_t threads)
{
    for (uint32_t i = 0; i < 1024; i++)
        in[i] = i * 2654435761u + 12345;
    memset(out, 0, sizeof out);
    kernel_run run = {
        .text = text, .in = in, .in_bytes = sizeof in, .out = out, .out_bytes = sizeof out, .block = threads};
    run_kernel(&run);
    return run;
}

static kernel_run run_for(const char *target, const char *body, uint32_t threads)
{
    static char text[16384], whole[16384];
    snprintf(whole, sizeof whole,
             ".shared .align 128 .b8 s[4096];\n.shared .align 8 .b64 bar, bar2;\n"
             "mad.wide.u32 %%rd2, %%r0, 4, %%rd0;\nmad.wide.u32 %%rd3, %%r0, 4, %%rd1;\n"
             "mov.u32 %%r40, s;\nshl.b32 %%r41, %%r0, 4;\nadd.u32 %%r41, %%r40, %%r41;\n"
             "mad.wide.u32 %%rd4, %%r0, 16, %%rd0;\nsetp.eq.u32 %%p0, %%r0, 0;\n%s",
             body);
    return run_text(kernel_text_for(text, sizeof text, "8.7", target, whole), threads);
}
static kernel_run run_body(const char *body, uint32_t threads) { return run_for("sm_90", body, threads); }

static void expect_done(const kernel_run *run)
{
    if (run->status != HD_EXEC_DONE)
        fail_msg("%s", run->message);
}

static void expect_fault(const kernel_run *run, const char *part)
{
    if (run->status != HD_EXEC_FAULT || !strstr(run->message, part))
        fail_msg("'%s' does not hold '%s'", run->message, part);
}

/* ---- cp.async ---------------------------------------------------------------------------------------------------- */

/* Shared memory holds 0x77777777 before; after the wait, the copy. Reading early gives what was there. */
#define OLD_CONTENT "mov.u32 %r9, 0x77777777;\nst.shared.v4.b32 [%r41], {%r9,%r9,%r9,%r9};\n"

static void sizes_and_waits(void **state)
{
    static const char *const copies[] = {
        "cp.async.ca.shared.global [%r41], [%rd4], 4;",
        "cp.async.ca.shared::cta.global.L2::128B [%r41], [%rd4], 8;",
        "cp.async.ca.shared.global.L2::64B [%r41], [%rd4], 16;",
        "cp.async.cg.shared.global.L2::256B [%r41], [%rd4], 16;",
        ("createpolicy.fractional.L2::evict_first.b64 %rd9, 1.0;\n"
         "cp.async.cg.shared.global.L2::cache_hint [%r41], [%rd4], 16, %rd9;"),
    };
    static const uint32_t words[] = {1, 2, 4, 4, 4};
    static const char *const waits[] = {"cp.async.wait_all;", "cp.async.commit_group;\ncp.async.wait_group 0;"};
    char body[2048];
    (void)state;
    for (uint32_t c = 0; c < 5; c++)
        for (uint32_t w = 0; w < 2; w++) {
            snprintf(body, sizeof body,
                     "%s%s\nld.shared.u32 %%r1, [%%r41];\nst.global.u32 [%%rd3], %%r1;\n%s\n"
                     "ld.shared.v4.u32 {%%r1,%%r2,%%r3,%%r4}, [%%r41];\nmad.wide.u32 %%rd5, %%r0, 16, "
                     "%%rd1;\nst.global.v4.u32 [%%rd5+256], {%%r1,%%r2,%%r3,%%r4};",
                     OLD_CONTENT, copies[c], waits[w]);
            kernel_run run = run_body(body, 40);
            expect_done(&run);
            for (uint32_t t = 0; t < 40; t++) {
                assert_int_equal(out[t], 0x77777777);
                for (uint32_t k = 0; k < 4; k++)
                    assert_int_equal(out[64 + 4 * t + k], k < words[c] ? in[4 * t + k] : 0x77777777);
            }
        }
}

/* Four groups of one copy each; wait_group n leaves the n youngest pending. */
static void groups(void **state)
{
    char body[2048];
    (void)state;
    for (uint32_t n = 0; n < 6; n++) {
        snprintf(body, sizeof body,
                 "%scp.async.ca.shared.global [%%r41], [%%rd4], 4;\ncp.async.commit_group;\n"
                 "cp.async.ca.shared.global [%%r41+4], [%%rd4+4], 4;\ncp.async.commit_group;\n"
                 "cp.async.ca.shared.global [%%r41+8], [%%rd4+8], 4;\ncp.async.commit_group;\n"
                 "cp.async.ca.shared.global [%%r41+12], [%%rd4+12], 4;\ncp.async.wait_group %u;\n"
                 "ld.shared.v4.u32 {%%r1,%%r2,%%r3,%%r4}, [%%r41];\nmad.wide.u32 %%rd5, %%r0, 16, %%rd1;\n"
                 "st.global.v4.u32 [%%rd5], {%%r1,%%r2,%%r3,%%r4};\ncp.async.wait_all;\nld.shared.u32 %%r4, "
                 "[%%r41+12];\nst.global.u32 [%%rd3+4096], %%r4;",
                 OLD_CONTENT, n);
        kernel_run run = run_body(body, 33);
        expect_done(&run);
        for (uint32_t t = 0; t < 33; t++) {
            uint32_t done = n >= 3 ? 0 : 3 - n; /* what is in no group yet is not waited for */
            for (uint32_t k = 0; k < 4; k++)
                assert_int_equal(out[4 * t + k], k < done ? in[4 * t + k] : 0x77777777);
            assert_int_equal(out[1024 + t], in[4 * t + 3]);
        }
    }
}

/* Groups are each lane's own. */
static void groups_of_lanes(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_async-groups_of_lanes"), 32);
    expect_done(&run);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(out[t], t % 2 ? in[4 * t] : 0x77777777);
}

/* Bytes that the source does not have are zeros. Lane t copies t % 17 of 16 bytes. */
static void partial_sources(void **state)
{
    (void)state;
    kernel_run run =
        run_body(OLD_CONTENT "rem.u32 %r5, %r0, 17;\ncp.async.cg.shared.global [%r41], [%rd4], 16, %r5;\n"
                             "cp.async.wait_all;\nld.shared.v4.u32 {%r1,%r2,%r3,%r4}, [%r41];\nmad.wide.u32 "
                             "%rd5, %r0, 16, %rd1;\nst.global.v4.u32 [%rd5], {%r1,%r2,%r3,%r4};",
                 64);
    expect_done(&run);
    for (uint32_t t = 0; t < 64; t++) {
        unsigned char wanted[16] = {0};
        memcpy(wanted, in + 4 * t, t % 17);
        assert_memory_equal(out + 4 * t, wanted, 16);
    }
    /* ignore-src: the address is not touched */
    run = run_text(ptx_file("exec_async-partial_sources"), 32);
    expect_done(&run);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(out[t], t < 16 ? 0 : in[4 * t + 3]);
}

/* What is never waited for happens when the warp has ended. */
static void without_a_wait(void **state)
{
    (void)state;
    kernel_run run = run_body(OLD_CONTENT "setp.ge.u32 %p1, %r0, 32;\n@%p1 bra B;\ncp.async.ca.shared.global [%r41], "
                                          "[%rd4], 4;\nexit;\nB: bar.sync 0;\nld.shared.u32 %r1, [%r41+-512];\n"
                                          "st.global.u32 [%rd3], %r1;",
                              64);
    expect_done(&run);
    for (uint32_t t = 32; t < 64; t++)
        assert_int_equal(out[t], in[4 * (t - 32)]);
}

static void copy_faults(void **state)
{
    static const struct {
        const char *body, *message;
    } cases[] = {
        {"cp.async.ca.shared.global [%r41+2], [%rd4], 4;", "misaligned access of 4 bytes at shared"},
        {"cp.async.cg.shared.global [%r41], [%rd4+8], 16;", "misaligned copy of 16 bytes from global"},
        {"cp.async.ca.shared.global [%r41+8192], [%rd4], 4;", "out-of-bounds access of 4 bytes at shared"},
        {"cp.async.ca.shared.global [%r41], [%rd4+4096], 4;", "out-of-bounds copy of 4 bytes from global"},
        {"mov.u32 %r5, 5;\ncp.async.ca.shared.global [%r41], [%rd4], 4, %r5;", "a copy of 4 bytes whose source has 5"},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kernel_run run = run_body(cases[i].body, 32);
        expect_fault(&run, cases[i].message);
    }
}

/* With the check for what was never written, a read before the wait is a fault, and one after it is none. */
static void checked(void **state)
{
    static const char *const wait[] = {"", "cp.async.wait_all;\n"};
    static char text[4096], body[1024];
    (void)state;
    for (uint32_t w = 0; w < 2; w++) {
        snprintf(
            body, sizeof body,
            ".shared .align 16 .b8 s[64];\n.shared .align 8 .b64 bar;\nmov.u32 %%r1, s;\nst.shared.u32 [%%r1], 1;\n"
            "setp.ne.u32 %%p1, %%r0, 0;\n@%%p1 exit;\n"
            "mbarrier.init.shared.b64 [bar], 1;\nmbarrier.arrive.shared.b64 %%rd9, [bar];\n"
            "mbarrier.test_wait.shared.b64 %%p2, [bar], %%rd9;\n@!%%p2 trap;\n"
            "cp.async.ca.shared.global [%%r1], [%%rd0], 4;\n%sld.shared.u32 %%r2, [%%r1];\n"
            "st.global.u32 [%%rd1], %%r2;",
            wait[w]);
        kernel_run run = {.text = kernel_text(text, sizeof text, body),
                          .in = in,
                          .in_bytes = sizeof in,
                          .out = out,
                          .out_bytes = sizeof out,
                          .options.check_uninitialized = true};
        run_kernel(&run);
        if (w)
            expect_done(&run);
        else
            expect_fault(&run, "never written");
    }
}

/* ---- mbarrier ---------------------------------------------------------------------------------------------------- */

/* One thread does it all, and keeps what the object answers. */
static void phases(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_async-phases"), 32);
    const uint32_t wanted[] = {3, 2, 3, 1, 4 | 8 | 16 | 64 | 128 | 1024};
    expect_done(&run);
    assert_memory_equal(out, wanted, sizeof wanted);
}

/* The largest count that an object holds. */
static void the_most_arrivals(void **state)
{
    (void)state;
    kernel_run run = run_body("@!%p0 exit;\nmov.u32 %r1, 1048575;\nmbarrier.init.shared.b64 [bar], %r1;\n"
                              "mbarrier.arrive.shared.b64 %rd10, [bar];\nmbarrier.pending_count.b64 %r2, %rd10;\n"
                              "st.global.u32 [%rd1], %r2;",
                              32);
    expect_done(&run);
    assert_int_equal(out[0], 1048575);
}

static void generic_and_sinks(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_async-generic_and_sinks"), 64);
    expect_done(&run);
    for (uint32_t t = 0; t < 64; t++)
        assert_int_equal(out[t], 5);
}

/* Warp 1 produces into two slots, warp 0 consumes; full and empty barriers, 16 items. The producer's last work before
 * each arrival is long, so that the consumer waits for many turns. */
static void ring(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_async-ring"), 64);
    expect_done(&run);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(out[t], 16 * 6000 + 1240); /* 0 + 1 + 4 + .. + 225 */
}

/* Lanes of one warp wait for a lane of their own, in the other arm of the branch. */
static void lanes_of_one_warp(void **state)
{
    (void)state;
    kernel_run run = run_body("@%p0 mbarrier.init.shared.b64 [bar], 1;\nbar.warp.sync -1;\n@!%p0 bra W;\n"
                              "mbarrier.arrive.shared.b64 %rd9, [bar];\nbra J;\n"
                              "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra W;\n"
                              "J: st.global.u32 [%rd3], 3;",
                              32);
    expect_done(&run);
    assert_int_equal(out[31], 3);
}

static void waiting_for_ever(void **state)
{
    (void)state;
    /* a spin lock: its owner waits after the loop for the others, which sleep and try again */
    kernel_run lock = run_body("L: atom.shared.cas.b32 %r1, [s], 0, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra D;\n"
                               "nanosleep.u32 100;\nbra L;\nD: st.shared.u32 [s], 0;",
                               32);
    assert_int_equal(lock.status, HD_EXEC_UNSUPPORTED);
    assert_non_null(strstr(lock.message, "livelock"));
    assert_true(lock.statistics.warp_instructions < 200000);
    static const char *const waits[] = {"try_wait.parity.shared.b64 %p1, [bar], 0",
                                        "test_wait.shared.b64 %p1, [bar], %rd9"};
    char body[1024];
    for (uint32_t i = 0; i < 2; i++) {
        snprintf(body, sizeof body,
                 "@%%p0 mbarrier.init.shared.b64 [bar], 65;\nbar.sync 0;\nmbarrier.arrive.shared.b64 %%rd9, [bar];\nW: "
                 "mbarrier.%s;\n@!%%p1 bra W;",
                 waits[i]);
        kernel_run run = run_body(body, 64);
        expect_fault(&run, "livelock");
        assert_true(run.statistics.warp_instructions < 100000);
    }
}

static void mbarrier_faults(void **state)
{
    static const struct {
        const char *body, *message;
    } cases[] = {
        {"mbarrier.arrive.shared.b64 %rd9, [bar];", "is not initialized"},
        {"mbarrier.init.shared.b64 [bar], 1;\nmbarrier.inval.shared.b64 [bar];\nmbarrier.test_wait.parity.shared.b64 "
         "%p1, [bar], 0;",
         "is not initialized"},
        {"mbarrier.init.shared.b64 [bar], 0;", "an expected count outside of 1 .. 2^20-1"},
        {"mov.u32 %r1, 1048576;\nmbarrier.init.shared.b64 [bar], %r1;", "an expected count outside of 1 .. 2^20-1"},
        {"mbarrier.init.shared.b64 [bar], 3;\nmbarrier.arrive.shared.b64 %rd9, [bar], 4;",
         "more arrivals than the phase waits for (3 arrivals"},
        {"mbarrier.init.shared.b64 [bar], 3;\nmbarrier.arrive.noComplete.shared.b64 %rd9, [bar], 3;",
         ".noComplete completes the phase"},
        {"mbarrier.init.shared.b64 [bar], 3;\nmov.u32 %r1, 1048575;\nmbarrier.expect_tx.relaxed.cta.shared.b64 [bar], "
         "%r1;\nmbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 1;",
         "a number of transactions beyond 2^20-1"},
        {"mov.u64 %rd9, %rd1;\nmbarrier.init.b64 [%rd9], 1;", "which is not in shared memory"},
        {"mov.u32 %r1, bar;\nmbarrier.init.shared.b64 [%r1+4], 1;", "misaligned access of 8 bytes"},
        {"mbarrier.init.shared.b64 [bar], 1;\nmbarrier.arrive_drop.shared.b64 %rd9, [bar];\nmbarrier.arrive.shared.b64 "
         "%rd9, [bar];",
         "more arrivals than the phase waits for (0 arrivals"},
        {"cp.async.mbarrier.arrive.shared.b64 [bar];", "is not initialized"},
        {"mbarrier.init.shared.b64 [bar], 1;\ncp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n"
         "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\nmbarrier.init.shared.b64 [bar], 1;\n"
         "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\nmbarrier.arrive.shared.b64 %rd9, [bar];\n"
         "mbarrier.arrive_drop.shared.b64 %rd9, [bar];\nmbarrier.test_wait.shared.b64 %p1, [bar], %rd9;",
         "more arrivals than the phase waits for"},
    };
    char body[1024];
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(body, sizeof body, "@!%%p0 exit;\n%s", cases[i].body);
        kernel_run run = run_body(body, 32);
        expect_fault(&run, cases[i].message);
    }
}

/* Every thread copies, arrives when the copy is there (with and without .noinc), and reads its neighbour's part. */
static void copies_that_arrive(void **state)
{
    char body[2048];
    (void)state;
    for (uint32_t noinc = 0; noinc < 2; noinc++) {
        snprintf(
            body, sizeof body,
            "%s@%%p0 mbarrier.init.shared.b64 [bar], 64;\nbar.sync 0;\nxor.b32 %%r5, %%r41, 512;\n"
            "cp.async.cg.shared.global [%%r41], [%%rd4], 16;\ncp.async.mbarrier.arrive%s.shared.b64 [bar];\n%s"
            "ld.shared.u32 %%r2, [%%r41];\nst.global.u32 [%%rd3], %%r2;\n"
            "W: mbarrier.test_wait.parity.shared.b64 %%p1, [bar], 0;\n@!%%p1 bra W;\nld.shared.u32 %%r1, [%%r5+8];\n"
            "st.global.u32 [%%rd3+1024], %%r1;",
            OLD_CONTENT, noinc ? ".noinc" : "", noinc ? "" : "mbarrier.arrive.shared.b64 %rd9, [bar];\n");
        kernel_run run = run_body(body, 64);
        expect_done(&run);
        for (uint32_t t = 0; t < 64; t++) {
            if (t < 32) /* the first warp reads before anything asked the barrier */
                assert_int_equal(out[t], 0x77777777);
            assert_int_equal(out[256 + t], in[4 * (t ^ 32) + 2]);
        }
    }
}

static void store_bulk(void **state)
{
    (void)state;
    kernel_run run = run_for("sm_100",
                             OLD_CONTENT "mov.u64 %rd9, 24;\nbar.sync 0;\n@%p0 st.bulk.weak.shared::cta "
                                         "[%r41+8], %rd9, 0;\nbar.sync 0;\nld.shared.u32 %r1, [%r41];\n"
                                         "ld.shared.u32 %r2, [%r41+12];\nst.global.v2.u32 [%rd4], {%r1,%r2};\n"
                                         "mad.wide.u32 %rd5, %r0, 8, %rd1;\nst.global.v2.u32 [%rd5], {%r1,%r2};",
                             32);
    expect_done(&run);
    assert_int_equal(out[0], 0x77777777);
    assert_int_equal(out[1], 0);
    assert_int_equal(out[2], 0);
    assert_int_equal(out[3], 0);
    assert_int_equal(out[4], 0x77777777);
}

/* ---- refused ----------------------------------------------------------------------------------------------------- */

static void refused(void **state)
{
    static const struct {
        const char *target, *insn;
    } cases[] = {
        {"sm_90", "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r40], [%rd0], 16, [bar]"},
        {"sm_90", "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r40], 16"},
        {"sm_90", "cp.async.bulk.commit_group"},
        {"sm_90", "cp.async.bulk.wait_group 0"},
        {"sm_90", "cp.async.bulk.prefetch.L2.global [%rd0], 16"},
        {"sm_90", "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r40], [%rd0, "
                  "{%r1}], [bar]"},
        {"sm_90", "cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%rd0, {%r1}]"},
        {"sm_90", "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r40], 16"},
        {"sm_90", "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%rd0, {%r1}], [%r40]"},
        {"sm_90", "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r40], %r1, [%r2]"},
        {"sm_90", "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r40], %r1, [%r2]"},
        {"sm_90", "multimem.ld_reduce.global.add.u32 %r1, [%rd0]"},
        {"sm_90", "multimem.st.global.u32 [%rd0], %r1"},
        {"sm_90", "multimem.red.global.add.u32 [%rd0], %r1"},
        {"sm_90a", "wgmma.fence.sync.aligned"},
        {"sm_90a", "wgmma.commit_group.sync.aligned"},
        {"sm_90a", "wgmma.wait_group.sync.aligned 0"},
        {"sm_100a", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r40], 32"},
        {"sm_100a", "tcgen05.wait::ld.sync.aligned"},
        {"sm_100", "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r40], [bar]"},
    };
    char body[512], name[128], quoted[160];
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(body, sizeof body, "st.global.u32 [%%rd3], 1;\n%s;", cases[i].insn);
        kernel_run run = run_for(cases[i].target, body, 32);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(cases[i].insn, " "), cases[i].insn);
        snprintf(quoted, sizeof quoted, "does not run '%s'", name);
        assert_int_equal(run.status, HD_EXEC_UNSUPPORTED);
        assert_string_equal(run.slug, "unsupported");
        if (!strstr(run.message, quoted))
            fail_msg("'%s' does not hold '%s'", run.message, quoted);
        assert_int_equal(run.line, 25);
        assert_int_equal(out[0], 0);
    }
}

/* A cluster of one CTA runs; one of several is refused, at the kernel's header. */
static void cluster_sizes(void **state)
{
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param "
        ".u64 out)\n.reqnctapercluster %s\n{\n.reg .b64 %%rd1;\nld.param.u64 %%rd1, "
        "[out];\nst.global.u32 [%%rd1], 5;\nret;\n}\n";
    char whole[512];
    (void)state;
    for (uint32_t big = 0; big < 2; big++) {
        snprintf(whole, sizeof whole, text, big ? "1, 2, 1" : "1, 1, 1");
        kernel_run run = {.text = whole, .in = in, .in_bytes = 4, .out = out, .out_bytes = 64};
        memset(out, 0, sizeof out);
        run_kernel(&run);
        assert_int_equal(run.status, big ? HD_EXEC_UNSUPPORTED : HD_EXEC_DONE);
        assert_int_equal(out[0], big ? 0 : 5);
        if (big && (run.line != 4 || !strstr(run.message, "does not run '.reqnctapercluster 1, 2, 1'")))
            fail_msg("%u: %s", run.line, run.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_waits),
        cmocka_unit_test(groups),
        cmocka_unit_test(groups_of_lanes),
        cmocka_unit_test(partial_sources),
        cmocka_unit_test(without_a_wait),
        cmocka_unit_test(copy_faults),
        cmocka_unit_test(checked),
        cmocka_unit_test(phases),
        cmocka_unit_test(the_most_arrivals),
        cmocka_unit_test(generic_and_sinks),
        cmocka_unit_test(ring),
        cmocka_unit_test(lanes_of_one_warp),
        cmocka_unit_test(waiting_for_ever),
        cmocka_unit_test(mbarrier_faults),
        cmocka_unit_test(copies_that_arrive),
        cmocka_unit_test(store_bulk),
        cmocka_unit_test(refused),
        cmocka_unit_test(cluster_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
