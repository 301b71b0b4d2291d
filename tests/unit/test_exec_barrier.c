/* Barriers: reductions, named barriers with counts, lanes that come one by one, partial warp barriers, the barrier of a
 * cluster, what only orders; and what is wrong with a barrier. */
#include "kernel.h"
#include "ptx_file.h"

static uint32_t in[1024], out[2048];
enum { FIRST_LINE = 18 }; /* of the body in the text */

static kernel_run run_text(const char *text, uint32_t threads, const hd_sink *sink)
{
    memset(out, 0, sizeof out);
    kernel_run run = {.text = text,
                      .in = in,
                      .in_bytes = sizeof in,
                      .out = out,
                      .out_bytes = sizeof out,
                      .block = threads,
                      .sink = sink};
    run_kernel(&run);
    return run;
}

static kernel_run run_with(const char *body, uint32_t threads, const hd_sink *sink)
{
    static char text[8192], whole[8192];
    snprintf(whole, sizeof whole,
             "mad.wide.u32 %%rd2, %%r0, 4, %%rd0;\nmad.wide.u32 %%rd3, %%r0, 4, %%rd1;\nmov.u32 %%r40, 1;\n%s", body);
    return run_text(kernel_text_for(text, sizeof text, "8.5", "sm_90", whole), threads, sink);
}
static kernel_run run_body(const char *body, uint32_t threads) { return run_with(body, threads, NULL); }

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

static void expect_limit(const kernel_run *run, const char *part)
{
    if (run->status != HD_EXEC_UNSUPPORTED || !strstr(run->message, part) ||
        !strstr(run->notes, "a limit of the model"))
        fail_msg("'%s' (%s) does not hold '%s'", run->message, run->notes, part);
}

/* ---- reductions -------------------------------------------------------------------------------------------------- */

/* Threads vote with the predicate "in[t] & bit"; all three answers are compared with a count done here. */
static void reductions(void **state)
{
    static const uint32_t sizes[] = {1, 32, 45, 96, 1024};
    static const char *const words[] = {"bar.red", "barrier.red", "barrier.cta.red"};
    char body[2048];
    (void)state;
    for (uint32_t s = 0; s < 5; s++)
        for (uint32_t mode = 0; mode < 4; mode++) {
            const char *w = words[mode % 3];
            uint32_t ayes = 0;
            for (uint32_t t = 0; t < sizes[s]; t++) {
                in[t] = mode == 0 ? 0 : mode == 1 ? 1 : (t * 2654435761u >> 7) & 1;
                ayes += in[t];
            }
            snprintf(body, sizeof body,
                     "ld.global.u32 %%r1, [%%rd2];\nsetp.ne.u32 %%p1, %%r1, 0;\nmov.u32 %%r5, %%ntid.x;\n"
                     "%s.popc.u32 %%r2, 0, %%p1;\n%s.and.pred %%p2, 1, %%p1;\n%s.or.pred %%p3, %%r40, %%p1;\n"
                     "%s.popc.u32 %%r3, 15, !%%p1;\n%s.and.pred %%p4, 0, !%%p1;\n"
                     "selp.u32 %%r6, 1, 0, %%p2;\nselp.u32 %%r7, 2, 0, %%p3;\nselp.u32 %%r8, 4, 0, %%p4;\n"
                     "or.b32 %%r6, %%r6, %%r7;\nor.b32 %%r6, %%r6, %%r8;\nshl.b32 %%r3, %%r3, 12;\n"
                     "add.u32 %%r2, %%r2, %%r3;\nshl.b32 %%r6, %%r6, 24;\nadd.u32 %%r2, %%r2, %%r6;\n"
                     "st.global.u32 [%%rd3], %%r2;",
                     w, w, w, w, w);
            kernel_run run = run_body(body, sizes[s]);
            expect_done(&run);
            uint32_t flags = (ayes == sizes[s]) | (ayes ? 2u : 0) | (ayes ? 0 : 4u);
            uint32_t wanted = ayes + ((sizes[s] - ayes) << 12) + (flags << 24);
            for (uint32_t t = 0; t < sizes[s]; t++)
                if (out[t] != wanted)
                    fail_msg("%s of %u threads, mode %u, thread %u: %08x, not %08x", w, sizes[s], mode, t, out[t],
                             wanted);
        }
}

/* Warps 0 and 1 reduce among themselves at barrier 3, warps 2 and 3 at barrier 4. */
static void reductions_of_some(void **state)
{
    (void)state;
    kernel_run run =
        run_body("shr.u32 %r1, %r0, 6;\nadd.u32 %r2, %r1, 3;\nand.b32 %r3, %r0, 3;\nsetp.le.u32 %p1, %r3, "
                 "%r1;\nmov.u32 %r5, 64;\nbar.red.popc.u32 %r4, %r2, %r5, %p1;\nst.global.u32 [%rd3], %r4;",
                 128);
    expect_done(&run);
    for (uint32_t t = 0; t < 128; t++)
        assert_int_equal(out[t], t < 64 ? 16 : 32);
    assert_int_equal(run.statistics.barriers, 2);
}

typedef struct log {
    uint32_t of_barrier, results[8], words;
    uint32_t instruction;
} log;
static bool take(void *context, const hd_event *e)
{
    log *l = context;
    if (e->kind != HD_EVENT_ISSUE || e->instruction != l->instruction)
        return true;
    l->of_barrier++;
    l->words += e->result_words;
    if (e->result_words)
        l->results[e->warp] = e->results[0];
    return true;
}

/* A reduction is reported and counted once for each warp, with its result. */
static void told_once(void **state)
{
    (void)state;
    for (uint32_t columns = 0; columns < 2; columns++) {
        log l = {.instruction = 7}; /* after 3 loads and moves of the kernel, 3 of run_with, setp */
        hd_sink sink = {take, &l, columns ? HD_COLUMN_RESULTS : 0, NULL};
        kernel_run run =
            run_with("setp.ge.u32 %p1, %r0, 10;\nbar.red.popc.u32 %r2, 0, %p1;\nst.global.u32 [%rd3], %r2;", 96, &sink);
        expect_done(&run);
        assert_int_equal(l.of_barrier, 3);
        assert_int_equal(l.words, columns ? 3 : 0);
        for (uint32_t w = 0; w < 3 && columns; w++)
            assert_int_equal(l.results[w], 86);
        assert_int_equal(run.statistics.warp_instructions, 3 * 8); /* two of the loads are bank operands */
        assert_int_equal(run.statistics.thread_instructions, 96 * 8);
    }
}

/* Where lanes arrive one by one, each position is reported once, when its lanes arrive. */
static bool take_order(void *context, const hd_event *e)
{
    char *text = context;
    if (e->kind == HD_EVENT_ISSUE)
        snprintf(text + strlen(text), 256 - strlen(text), "%u:%x ", e->instruction, e->effective);
    return true;
}

static void told_apart(void **state)
{
    static const char *const barriers[] = {"bar.warp.sync -1", "barrier.sync 0"};
    char body[256], order[256];
    (void)state;
    for (uint32_t b = 0; b < 2; b++)
        for (uint32_t columns = 0; columns < 2; columns++) {
            hd_sink sink = {take_order, order, columns ? HD_COLUMN_RESULTS : 0, NULL};
            snprintf(body, sizeof body,
                     "setp.eq.u32 %%p1, %%r0, 1;\n@%%p1 bra A;\n%s;\nbra J;\nA: %s;\nJ:", barriers[b], barriers[b]);
            order[0] = 0;
            kernel_run run = run_with(body, 3, &sink);
            expect_done(&run);
            /* the taken side comes first; whoever comes last goes on first */
            if (!strstr(order, "7:") || strcmp(strstr(order, "7:"), "7:2 10:2 8:5 9:5 11:7 "))
                fail_msg("%s", order);
            assert_int_equal(run.statistics.warp_instructions, 10);
        }
}

/* ---- arriving and waiting ---------------------------------------------------------------------------------------- */

/* Warp 0 consumes what warp 1 produces, five times, over a pair of barriers. */
static void producer_and_consumer(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_barrier-producer_and_consumer"), 64, NULL);
    expect_done(&run);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(out[t], 12345);
}

/* A barrier without .aligned in both arms of a branch, inside of nested ones, and after a guard; lanes that end. */
static void lanes_apart(void **state)
{
    (void)state;
    static const char fill[] = ".shared .align 4 .b8 s[512];\nshl.b32 %r2, %r0, 2;\nmov.u32 %r3, s;\nadd.u32 %r4, %r3, "
                               "%r2;\nxor.b32 %r5, %r2, 4;\nadd.u32 %r5, %r3, %r5;\nand.b32 %r1, %r0, 1;\n"
                               "setp.eq.u32 %p1, %r1, 0;\nand.b32 %r1, %r0, 2;\nsetp.eq.u32 %p2, %r1, 0;\n";
    static const char *const forms[] = {
        /* even lanes wait in one place, odd ones in another */
        "@%p1 bra A;\nst.shared.u32 [%r4], 100;\nbarrier.sync 0;\nld.shared.u32 %r6, [%r5];\nbra J;\n"
        "A: st.shared.u32 [%r4], 200;\nbarrier.sync 0;\nld.shared.u32 %r6, [%r5];\n",
        /* the arms of the arms */
        "@%p1 bra A;\nst.shared.u32 [%r4], 100;\n@%p2 bra B;\nbarrier.cta.sync 0;\nbra C;\nB: barrier.sync 0;\nC: "
        "ld.shared.u32 %r6, [%r5];\nbra J;\nA: st.shared.u32 [%r4], 200;\n@%p2 bra D;\nmov.u32 %r7, 0;\nbarrier.sync "
        "%r7;\nld.shared.u32 %r6, [%r5];\nbra J;\nD: barrier.sync 0;\nld.shared.u32 %r6, [%r5];\n",
        /* a guard: the others go on to a barrier of their own */
        "selp.u32 %r7, 200, 100, %p1;\nst.shared.u32 [%r4], %r7;\n@%p1 barrier.sync 0;\n@!%p1 barrier.sync 0;\n"
        "ld.shared.u32 %r6, [%r5];\n",
    };
    char body[4096];
    for (uint32_t f = 0; f < 3; f++) {
        snprintf(body, sizeof body, "%s%sJ: st.global.u32 [%%rd3], %%r6;", fill, forms[f]);
        kernel_run run = run_body(body, 96);
        expect_done(&run);
        for (uint32_t t = 0; t < 96; t++)
            if (out[t] != (t % 2 ? 200 : 100))
                fail_msg("form %u, thread %u: %u", f, t, out[t]);
        assert_int_equal(run.statistics.barriers, 1);
    }
}

static void votes_apart(void **state)
{
    (void)state;
    kernel_run run =
        run_body("setp.lt.u32 %p1, %r0, 40;\nsetp.ge.u32 %p2, %r0, 8;\n@%p1 bra A;\nbarrier.red.popc.u32 "
                 "%r1, 2, %p2;\nbra J;\nA: barrier.red.popc.u32 %r1, 2, !%p2;\nJ: st.global.u32 [%rd3], %r1;",
                 64);
    expect_done(&run);
    for (uint32_t t = 0; t < 64; t++)
        assert_int_equal(out[t], 24 + 8);
}

static void ended_lanes(void **state)
{
    (void)state;
    kernel_run run = run_body("setp.lt.u32 %p1, %r0, 5;\n@%p1 bra A;\nsetp.lt.u32 %p2, %r0, 40;\n@%p2 exit;\n"
                              "barrier.sync 0;\nbra J;\nA: barrier.sync 0;\nJ: st.global.u32 [%rd3], 7;",
                              64);
    expect_done(&run);
    for (uint32_t t = 0; t < 64; t++)
        assert_int_equal(out[t], t < 5 || t >= 40 ? 7 : 0);
    /* a whole warp ends; a barrier without a count does not wait for it */
    run = run_body("setp.lt.u32 %p1, %r0, 32;\n@%p1 exit;\nbar.sync 0;\nst.global.u32 [%rd3], 7;", 64);
    expect_done(&run);
    assert_int_equal(out[63], 7);
}

/* Lanes that branched to the return wait there for the others of their warp, but no barrier waits for them. */
static void lanes_that_return_are_not_waited_for(void **state)
{
    (void)state;
    static const char *const barriers[] = {"bar.sync 0;", "barrier.sync 0;", "bar.warp.sync -1;",
                                           "bar.sync 0;\nbar.sync 0;"};
    for (uint32_t k = 0; k < 2 * sizeof barriers / sizeof *barriers; k++) {
        char text[512];
        snprintf(text, sizeof text, "setp.lt.u32 %%p1, %%r0, 5;\n@%%p1 bra E;\n%s\nst.global.u32 [%%rd3], 7;\n%s",
                 barriers[k / 2], k % 2 ? "bra F;\nE: bra F;\nF:" : "E:");
        kernel_run run = run_body(text, 64);
        expect_done(&run);
        for (uint32_t t = 0; t < 64; t++)
            assert_int_equal(out[t], t < 5 ? 0 : 7);
    }
    /* also those that have something to do before */
    kernel_run run =
        run_body("setp.ge.u32 %p1, %r0, 5;\n@%p1 bra B;\nst.global.u32 [%rd3], 7;\nbra F;\nB: bar.sync 0;\nF:", 64);
    expect_done(&run);
    assert_int_equal(out[4], 7);
}

/* A return within one side keeps the sides from meeting before the barrier: they come to it one after the other. */
static void sides_of_a_return_meet_at_the_barrier(void **state)
{
    (void)state;
    static const char *const barriers[] = {"bar.sync 0;", "barrier.sync.aligned 0, 64;",
                                           "bar.red.popc.u32 %r5, 0, %p1;"};
    for (uint32_t k = 0; k < sizeof barriers / sizeof *barriers; k++) {
        char text[512];
        snprintf(
            text, sizeof text,
            "mov.u32 %%r5, 32;\nand.b32 %%r1, %%r0, 1;\nsetp.eq.u32 %%p1, %%r1, 0;\n@%%p1 bra B;\n" /* odd ones go on */
            "setp.gt.u32 %%p2, %%r0, 50;\n@%%p2 bra F;\nadd.u32 %%r1, %%r1, 10;\n"
            "B: %s\nadd.u32 %%r1, %%r1, %%r5;\nst.global.u32 [%%rd3], %%r1;\nF:",
            barriers[k]);
        kernel_run run = run_body(text, 64);
        expect_done(&run);
        for (uint32_t t = 0; t < 64; t++)
            assert_int_equal(out[t], t % 2 == 0 ? 32 : t > 50 ? 0 : 43);
    }
    /* but two instructions are two barriers, and lanes that have passed it do not come */
    kernel_run run = run_body(
        "setp.lt.u32 %p1, %r0, 5;\n@%p1 bra B;\nbar.sync 0;\nbra F;\nB: bar.sync 0;\nF: st.global.u32 [%rd3], 7;", 64);
    expect_fault(&run, "divergent barrier: only");
    run = run_body("setp.lt.u32 %p1, %r0, 5;\n@%p1 bra F;\nbar.sync 0;\nF: st.global.u32 [%rd3], 7;", 64);
    expect_fault(&run, "divergent barrier: only 27 of 32 lanes reach it");
}

static void warp_barriers(void **state)
{
    (void)state;
    /* the two arms meet at bar.warp.sync of one mask, then read what the other wrote before it */
    kernel_run run = run_text(ptx_file("exec_barrier-warp_barriers"), 32, NULL);
    expect_done(&run);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(out[t], t < 16 ? 100 : 200);
    /* masks of part of the warp, and of lanes that have ended */
    run = run_text(ptx_file("exec_barrier-warp_barriers_2"), 32, NULL);
    expect_done(&run);
    run = run_body(
        "setp.lt.u32 %p2, %r0, 8;\n@%p2 bra A;\nbra J;\nA: bar.warp.sync 0x1ff;\nJ: st.global.u32 [%rd3], 1;", 32);
    expect_limit(&run, "bar.warp.sync waits for lanes 0x00000100, which are elsewhere");
    run = run_body("bar.warp.sync 0xfffffffe;", 32);
    expect_fault(&run, "bar.warp.sync with a member mask 0xfffffffe that does not name the lane itself");
}

/* Lanes of the caller cannot come: no mistake of the kernel, and no fault. */
static void a_wait_for_the_callers_lanes_is_not_modelled(void **state)
{
    (void)state;
    const char *text = ptx_file("exec_barrier-a_wait_for_the_callers_lanes_is_not_modelled");
    kernel_run run = {.text = text};
    run_kernel(&run);
    assert_int_equal(run.status, HD_EXEC_UNSUPPORTED);
    assert_string_equal(run.slug, "unsupported");
    assert_non_null(strstr(run.notes, "a limit of the model"));
}

static void clusters(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_barrier-clusters"), 128, NULL);
    expect_done(&run);
    for (uint32_t t = 0; t < 128; t++) {
        assert_int_equal(out[t], (t ^ 32) + 3 + 1000);
        assert_int_equal(out[128 + t], t + 3);
    }
    /* lanes that end do not arrive, also when they end while the others wait */
    run = run_body("setp.lt.u32 %p1, %r0, 16;\n@%p1 bra A;\nexit;\nA: barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
                   "st.global.u32 [%rd3], 4;",
                   64);
    expect_done(&run);
    assert_int_equal(out[15], 4);
    run = run_body("barrier.cluster.wait;", 32);
    expect_fault(&run, "barrier.cluster.wait without barrier.cluster.arrive before");
    run = run_body("barrier.cluster.arrive;\nbarrier.cluster.arrive;", 32);
    expect_fault(&run, "a second time before barrier.cluster.wait");
    run = run_body("mapa.shared::cluster.u32 %r11, %r4, 1;", 32);
    expect_fault(&run, "mapa with CTA rank 1 in a cluster of one");
    run = run_body(".shared .align 4 .b8 s[4];\nmapa.u64 %rd10, s, 0;", 32);
    assert_int_equal(run.status, HD_EXEC_UNSUPPORTED);
    assert_non_null(strstr(run.message, "a variable as a generic address"));
}

/* What orders and hints is taken in every form. */
static void fences(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_barrier-fences"), 32, NULL);
    expect_done(&run);
    assert_int_equal(out[31], 9);
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

/* With independent thread scheduling the lanes that wait at the join would go on. */
static void what_waits_at_a_join_is_not_modelled(void **state)
{
    (void)state;
    kernel_run run = run_body(
        "setp.lt.u32 %p1, %r0, 16;\n@!%p1 bra J;\nbarrier.sync 0;\nadd.u32 %r1, %r1, 1;\nJ: barrier.sync 0;", 32);
    expect_limit(&run, "divergent barrier: it waits for lanes 0xffff0000, which are elsewhere");
}

static void faults(void **state)
{
    static const struct {
        const char *body;
        uint32_t threads;
        const char *message;
    } cases[] = {
        {"setp.lt.u32 %p1, %r0, 16;\n@%p1 bar.sync 0;", 32, "divergent barrier: only 16 of 32 lanes reach it"},
        {"setp.lt.u32 %p1, %r0, 16;\n@%p1 barrier.sync.aligned 0;", 32, "divergent barrier: only 16 of 32 lanes"},
        {"setp.lt.u32 %p1, %r0, 16;\n@%p1 bar.red.popc.u32 %r1, 0, %p1;", 32, "divergent barrier: only 16 of 32 lanes"},
        {"setp.lt.u32 %p1, %r0, 16;\n@%p1 bra A;\nbarrier.sync 0;\nbra J;\nA: barrier.sync 1;\nJ:", 32,
         "which are elsewhere"},
        {"mov.u32 %r1, 16;\nbar.sync %r1;", 32, "barrier 16 with 0 threads"},
        {"mov.u32 %r1, 33;\nbar.sync 0, %r1;", 32, "for multiples of 32 threads"},
        {"bar.sync %r0;", 32, "its operands differ between lanes"},
        {"setp.lt.u32 %p1, %r0, 32;\n@%p1 bra A;\nbar.sync 0, 64;\nbra J;\nA: bar.sync 0;\nJ:", 64, "expects"},
        {"setp.lt.u32 %p1, %r0, 32;\n@%p1 bra A;\nbar.red.popc.u32 %r1, 0, %p1;\nbra J;\nA: bar.sync 0;\nJ:", 64,
         "red with another operation than elsewhere (sync)"},
        {"setp.lt.u32 %p1, %r0, 32;\n@%p1 bra A;\nbar.red.popc.u32 %r1, 0, %p1;\nbra J;\nA: bar.red.or.pred %p2, 0, "
         "%p1;\nJ:",
         64, "red with another operation than elsewhere (red)"},
        {"setp.lt.u32 %p1, %r0, 32;\n@%p1 bra A;\nbar.sync 1;\nbra J;\nA: bar.sync 0;\nJ:", 64, "deadlock"},
        {"setp.lt.u32 %p1, %r0, 32;\nbarrier.cluster.arrive;\n@%p1 bra A;\nbar.sync 1;\nA: barrier.cluster.wait;\n"
         "@%p1 bar.sync 0, 96;",
         64, "deadlock"},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kernel_run run = run_body(cases[i].body, cases[i].threads);
        expect_fault(&run, cases[i].message);
        assert_true(run.line >= FIRST_LINE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions),
        cmocka_unit_test(reductions_of_some),
        cmocka_unit_test(told_once),
        cmocka_unit_test(told_apart),
        cmocka_unit_test(lanes_apart),
        cmocka_unit_test(producer_and_consumer),
        cmocka_unit_test(votes_apart),
        cmocka_unit_test(ended_lanes),
        cmocka_unit_test(lanes_that_return_are_not_waited_for),
        cmocka_unit_test(sides_of_a_return_meet_at_the_barrier),
        cmocka_unit_test(warp_barriers),
        cmocka_unit_test(a_wait_for_the_callers_lanes_is_not_modelled),
        cmocka_unit_test(clusters),
        cmocka_unit_test(fences),
        cmocka_unit_test(faults),
        cmocka_unit_test(what_waits_at_a_join_is_not_modelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
