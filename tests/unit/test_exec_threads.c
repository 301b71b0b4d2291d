/* CTAs on several host threads: memory, statistics and the reported fault are those of one thread, whatever their
 * number, for kernels whose CTAs use each other's results over atomics and flags. */
#include "kernel.h"
#include <pthread.h>
#include <unistd.h>

enum { CTAS = 200, WORDS = 4096 };
static const uint32_t thread_counts[] = {1, 2, 3, 8};

static uint32_t out[WORDS], first_out[WORDS];
static kernel_run first;

/* Runs the body with each number of threads, many times; all must leave what one thread leaves. */
static void run_all(const char *body, uint64_t limit, hd_exec_status wanted)
{
    static char text[8192], whole[8192];
    snprintf(whole, sizeof whole, "mov.u32 %%r1, %%ctaid.x;\nmov.u32 %%r2, %%ntid.x;\nmad.lo.u32 %%r3, %%r1, %%r2, %%r0;\n%s", body);
    for (uint32_t round = 0; round < 40; round++) {
        memset(out, 0, sizeof out);
        kernel_run run = {.text = kernel_text(text, sizeof text, whole), .out = out, .out_bytes = sizeof out,
                          .grid = CTAS, .block = 64,
                          .options = {.threads = thread_counts[round % 4], .instruction_limit = limit}};
        run_kernel(&run);
        if (run.status != wanted)
            fail_msg("status %d with %u threads: %s", run.status, run.options.threads, run.message);
        if (!round) {
            memcpy(first_out, out, sizeof out);
            first = run;
        }
        assert_string_equal(run.message, first.message);
        if (wanted != HD_EXEC_DONE) /* of CTAs that were not to run, only the memory they took shows */
            run.statistics.cta_bytes = first.statistics.cta_bytes;
        else
            assert_memory_equal(out, first_out, sizeof out);
        assert_memory_equal(&run.statistics, &first.statistics, sizeof run.statistics);
    }
}

/* Every warp's first lane draws a ticket and writes its CTA's number there: the order of the CTAs shows. */
static void tickets_are_drawn_in_order(void **state)
{
    (void)state;
    run_all("and.b32 %r4, %r0, 31;\nsetp.ne.u32 %p1, %r4, 0;\n@%p1 bra DONE;\n"
            "atom.global.add.u32 %r5, [%rd1], 1;\nmad.wide.u32 %rd2, %r5, 4, %rd1;\nst.global.u32 [%rd2+4], %r1;\nDONE:",
            0, HD_EXEC_DONE);
    assert_int_equal(out[0], 2 * CTAS);
    for (uint32_t i = 0; i < 2 * CTAS; i++)
        assert_int_equal(out[1 + i], i / 2);
}

/* Sums of floats depend on the order: 1e8 swallows what comes one by one after it. */
static void float_sums_do_not_depend_on_threads(void **state)
{
    (void)state;
    run_all("add.u32 %r4, %r3, 1;\ncvt.rn.f32.u32 %f1, %r4;\nrcp.rn.f32 %f1, %f1;\nred.global.add.f32 [%rd1], %f1;", 0,
            HD_EXEC_DONE);
    float sum = 0, got;
    for (uint32_t i = 1; i <= 64 * CTAS; i++)
        sum += 1.0f / (float)i;
    memcpy(&got, out, 4);
    assert_true(sum == got);
}

/* The last CTA to arrive adds up what all have stored: the result needs the fence and the counter. */
static void last_block_sees_all_stores(void **state)
{
    (void)state;
    run_all("mad.wide.u32 %rd3, %r1, 4, %rd1;\nadd.u32 %r4, %r1, 7;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra DONE;\n"
            "st.global.u32 [%rd3+64], %r4;\nmembar.gl;\natom.global.inc.u32 %r5, [%rd1], 199;\n"
            "setp.ne.u32 %p2, %r5, 199;\n@%p2 bra DONE;\nmov.u32 %r6, 0;\nmov.u32 %r7, 0;\nmov.b64 %rd4, %rd1;\n"
            "LOOP: ld.global.u32 %r8, [%rd4+64];\nadd.u32 %r6, %r6, %r8;\nadd.u64 %rd4, %rd4, 4;\nadd.u32 %r7, %r7, 1;\n"
            "setp.lt.u32 %p3, %r7, 200;\n@%p3 bra LOOP;\nst.global.u32 [%rd1+4], %r6;\nDONE:",
            0, HD_EXEC_DONE);
    assert_int_equal(out[1], CTAS * (CTAS - 1) / 2 + 7 * CTAS);
}

/* Each CTA waits for the flag of the one before it. */
static void chain_of_flags(void **state)
{
    (void)state;
    run_all("setp.ne.u32 %p1, %r0, 0;\n@%p1 bra DONE;\nmad.wide.u32 %rd3, %r1, 4, %rd1;\n"
            "setp.eq.u32 %p2, %r1, 0;\n@%p2 bra MINE;\n"
            "WAIT: ld.volatile.global.u32 %r4, [%rd3+-4];\nsetp.eq.u32 %p3, %r4, 0;\n@%p3 bra WAIT;\n"
            "MINE: @%p2 mov.u32 %r4, 0;\nadd.u32 %r4, %r4, 3;\nst.volatile.global.u32 [%rd3], %r4;\nDONE:",
            0, HD_EXEC_DONE);
    assert_int_equal(out[CTAS - 1], 3 * CTAS);
}

/* Later CTAs fail sooner; the first one's fault is reported. */
static void first_fault_is_reported(void **state)
{
    (void)state;
    run_all("setp.lt.u32 %p1, %r1, 17;\n@%p1 bra DONE;\nmov.u32 %r4, 0;\n"
            "LOOP: add.u32 %r4, %r4, 1;\nsub.u32 %r5, 200, %r1;\nmul.lo.u32 %r5, %r5, 40;\nsetp.lt.u32 %p2, %r4, %r5;\n"
            "@%p2 bra LOOP;\nmad.wide.u32 %rd3, %r1, 65536, %rd1;\nst.global.u32 [%rd3], %r4;\nDONE:",
            0, HD_EXEC_FAULT);
    assert_non_null(strstr(first.message, "block (17,0,0)"));
}

static void waiting_for_a_later_block_is_found(void **state)
{
    (void)state;
    run_all("WAIT: ld.volatile.global.u32 %r4, [%rd1];\nsetp.eq.u32 %p3, %r4, 0;\n@%p3 bra WAIT;", 0, HD_EXEC_FAULT);
    assert_non_null(strstr(first.message, "livelock: block (0,0,0)"));
}

static void limit_counts_blocks_in_order(void **state)
{
    (void)state;
    const char *body = "mov.u32 %r4, 0;\nLOOP: add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 100;\n@%p2 bra LOOP;";
    run_all(body, 0, HD_EXEC_DONE);
    uint64_t all = first.statistics.warp_instructions;
    run_all(body, all, HD_EXEC_DONE);
    run_all(body, all - 1, HD_EXEC_LIMIT);
    assert_non_null(strstr(first.message, "block (199,0,0)"));
    run_all(body, all / 2, HD_EXEC_LIMIT);
    assert_int_equal(first.statistics.warp_instructions, all / 2 + all / CTAS);
}

/* A block that waits for its turn may be the one to tell that those before it were too many. */
static void limit_before_a_turn(void **state)
{
    (void)state;
    const char *body = "mov.u32 %r4, 0;\nLOOP: add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 100;\n@%p2 bra LOOP;\n"
                       "and.b32 %r5, %r1, 3;\nsetp.ne.u32 %p1, %r5, 3;\n@%p1 bra DONE;\n"
                       "atom.global.exch.b32 %r6, [%rd1], %r1;\nDONE:";
    run_all(body, 0, HD_EXEC_DONE);
    uint64_t block = first.statistics.warp_instructions / CTAS;
    for (uint64_t i = 1; i < 12; i++)
        run_all(body, i * 17 * block, HD_EXEC_LIMIT);
    /* one that is beyond the limit by itself */
    run_all("LOOP: add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 3000;\n@%p2 bra LOOP;", 9000, HD_EXEC_LIMIT);
    assert_non_null(strstr(first.message, "block (0,0,0)"));
}

/* As many as are spare: none, some, more than there is use for. */
static void spare_threads_are_given_back(void **state)
{
    static char text[8192];
    const char *body = "atom.global.add.u32 %r4, [%rd1], %r0;\nmov.u32 %r1, %ctaid.x;\nmad.wide.u32 %rd2, %r1, 4, %rd1;\nst.global.u32 [%rd2+4], %r1;";
    (void)state;
    for (uint32_t count = 0; count < 12; count++) {
        hd_spare spare = {count};
        memset(out, 0, sizeof out);
        kernel_run run = {.text = kernel_text(text, sizeof text, body), .out = out, .out_bytes = sizeof out, .grid = CTAS, .block = 64,
                          .options = {.threads = 8, .spare = &spare}};
        run_kernel(&run);
        assert_int_equal(run.status, HD_EXEC_DONE);
        assert_int_equal(out[0], CTAS * 63 * 32);
        assert_int_equal(run.statistics.ctas, CTAS);
        assert_int_equal(spare.count, count);
    }
}

static void *stop_soon(void *stop)
{
    usleep(20000);
    atomic_store((atomic_bool *)stop, true);
    return NULL;
}

/* A kernel that never ends: its CTAs all go on, or all but the oldest wait for their turn. */
static void a_run_that_is_not_wanted_stops(void **state)
{
    static const char *const bodies[] = {
        "mov.u32 %r1, %ctaid.x;\nmad.wide.u32 %rd2, %r1, 4, %rd1;\nLOOP: add.u32 %r4, %r4, 1;\nst.global.u32 [%rd2], %r4;\nbra LOOP;",
        "LOOP: atom.global.add.u32 %r4, [%rd1], 1;\nbra LOOP;",
    };
    static char text[8192];
    (void)state;
    for (uint32_t round = 0; round < 8; round++) {
        atomic_bool stop = false;
        pthread_t other;
        kernel_run run = {.text = kernel_text(text, sizeof text, bodies[round / 4]), .out = out, .out_bytes = sizeof out, .grid = 3000,
                          .block = 64, .options = {.threads = thread_counts[round % 4], .stop = &stop, .instruction_limit = 200000000}};
        assert_int_equal(pthread_create(&other, NULL, stop_soon, &stop), 0);
        run_kernel(&run);
        pthread_join(other, NULL);
        assert_int_equal(run.status, HD_EXEC_STOPPED);
        assert_string_equal(run.message, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tickets_are_drawn_in_order),
        cmocka_unit_test(float_sums_do_not_depend_on_threads),
        cmocka_unit_test(last_block_sees_all_stores),
        cmocka_unit_test(chain_of_flags),
        cmocka_unit_test(first_fault_is_reported),
        cmocka_unit_test(waiting_for_a_later_block_is_found),
        cmocka_unit_test(limit_counts_blocks_in_order),
        cmocka_unit_test(limit_before_a_turn),
        cmocka_unit_test(spare_threads_are_given_back),
        cmocka_unit_test(a_run_that_is_not_wanted_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
