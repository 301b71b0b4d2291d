/* Cooperative grids: CTAs that wait for each other, and those that wait for nobody. */
#include "kernel.h"

enum { THREADS = 40, MOST_CTAS = 48 };

/* Thread 0 of every CTA counts itself in and waits until all have come; then every thread reads its neighbour's word of
 * the next CTA. %r9: CTAs that are waited for. */
static const char meeting[] =
    "mov.u32 %%r1, %%ctaid.x;\nmov.u32 %%r2, %%nctaid.x;\nmov.u32 %%r3, %%tid.x;\nadd.u32 %%r9, %%r2, %d;\n"
    "mad.lo.u32 %%r4, %%r1, 40, %%r3;\nmul.wide.u32 %%rd2, %%r4, 4;\nadd.u64 %%rd3, %%rd0, %%rd2;\n"
    "mul.lo.u32 %%r5, %%r4, 3;\nst.global.u32 [%%rd3], %%r5;\nbar.sync 0;\n"
    "mov.b32 %%r6, %%envreg1;\nmov.b32 %%r7, %%envreg2;\nmov.b64 %%rd4, {%%r7, %%r6};\n%s\n"
    "setp.ne.u32 %%p1, %%r3, 0;\n@%%p1 bra inside;\n"
    "atom.global.release.gpu.add.u32 %%r8, [%%rd4+4], 1;\n"
    "wait: ld.acquire.gpu.global.u32 %%r8, [%%rd4+4];\nsetp.lt.u32 %%p2, %%r8, %%r9;\n@%%p2 bra wait;\n"
    "inside: bar.sync 0;\nadd.u32 %%r1, %%r1, 1;\nrem.u32 %%r1, %%r1, %%r2;\nmad.lo.u32 %%r5, %%r1, 40, %%r3;\n"
    "mul.wide.u32 %%rd5, %%r5, 4;\nadd.u64 %%rd5, %%rd5, %%rd0;\nld.global.u32 %%r6, [%%rd5];\n"
    "add.u64 %%rd6, %%rd1, %%rd2;\nst.global.u32 [%%rd6], %%r6;";

static uint32_t words[MOST_CTAS * THREADS], zeros[MOST_CTAS * THREADS];

static kernel_run meet(uint32_t ctas, int more, const char *first, kernel_run run)
{
    static char text[8192], body[4096];
    snprintf(body, sizeof body, meeting, more, first);
    memset(words, 0, sizeof words);
    run.text = kernel_text_for(text, sizeof text, "8.0", "sm_80", body);
    run.in = zeros;
    run.out = words;
    run.in_bytes = run.out_bytes = sizeof words;
    run.grid = ctas;
    run.block = THREADS;
    run_kernel(&run);
    return run;
}

static void all_meet(void **state)
{
    (void)state;
    for (uint32_t ctas = 1; ctas <= MOST_CTAS; ctas += 1 + ctas / 3)
        for (uint32_t threads = 0; threads < 4; threads += 3) {
            kernel_run run = meet(ctas, 0, "", (kernel_run){.cooperative = true, .options = {.threads = threads}});
            if (run.status != HD_EXEC_DONE)
                fail_msg("%u CTAs: %s", ctas, run.message);
            assert_int_equal(run.statistics.ctas, ctas);
            for (uint32_t i = 0; i < ctas * THREADS; i++)
                assert_int_equal(words[i], (i + THREADS) % (ctas * THREADS) * 3);
        }
}

/* One CTA more than there are: nobody goes on. The same with a counter of tries. */
static void waiting_for_nobody_is_found(void **state)
{
    (void)state;
    kernel_run run = meet(5, 1, "", (kernel_run){.cooperative = true});
    /* other lanes of the warp that waits would go on with independent thread scheduling */
    assert_int_equal(run.status, HD_EXEC_UNSUPPORTED);
    assert_non_null(strstr(run.message, "livelock: block (4,0,0)")); /* the last one that goes in circles */
    assert_true(run.statistics.warp_instructions < 10000000);
}

static void a_deadlock_in_a_cta_is_found(void **state)
{
    (void)state;
    kernel_run run = meet(5, 0, "setp.eq.u32 %p3, %r1, 3;\n@%p3 bar.sync 1, 96;", (kernel_run){.cooperative = true});
    assert_int_equal(run.status, HD_EXEC_FAULT);
    assert_non_null(strstr(run.message, "block (3,0,0)"));
}

/* In an ordinary launch the first CTA waits for later ones; the runtime's barrier traps before. */
static void other_grids_have_no_workspace(void **state)
{
    (void)state;
    kernel_run run = meet(5, 0, "setp.ne.b64 %p3, %rd4, 0;\n@%p3 bra on;\ntrap;\non:", (kernel_run){0});
    assert_int_equal(run.status, HD_EXEC_FAULT);
    assert_non_null(strstr(run.message, "the kernel executes trap"));
    assert_non_null(strstr(run.notes, "the launch is not cooperative"));
    run = meet(5, 0, "trap;", (kernel_run){.cooperative = true});
    assert_int_equal(run.status, HD_EXEC_FAULT);
    assert_null(strstr(run.notes, "the launch is not cooperative"));
}

static void the_limit_holds_for_all_together(void **state)
{
    (void)state;
    kernel_run run = meet(20, 0, "", (kernel_run){.cooperative = true, .options = {.instruction_limit = 500}});
    assert_int_equal(run.status, HD_EXEC_LIMIT);
    assert_true(run.statistics.warp_instructions < 2000);
}

/* Events: each warp's in its order, CTAs' starts before all else, and their ends once. */
typedef struct order {
    uint32_t started, ended, changes, last;
} order;

static bool take(void *context, const hd_event *e)
{
    order *o = context;
    o->started += e->kind == HD_EVENT_CTA_START;
    o->ended += e->kind == HD_EVENT_CTA_END;
    if (e->kind == HD_EVENT_ISSUE) {
        o->changes += e->cta != o->last;
        o->last = e->cta;
    }
    return true;
}

static void ctas_take_turns(void **state)
{
    (void)state;
    order o = {0};
    hd_sink sink = {take, &o, 0, NULL};
    kernel_run run = meet(7, 0, "", (kernel_run){.cooperative = true, .sink = &sink});
    assert_int_equal(run.status, HD_EXEC_DONE);
    assert_int_equal(o.started, 7);
    assert_int_equal(o.ended, 7);
    assert_true(o.changes > 12); /* every CTA had more than one turn */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_meet),
        cmocka_unit_test(waiting_for_nobody_is_found),
        cmocka_unit_test(a_deadlock_in_a_cta_is_found),
        cmocka_unit_test(other_grids_have_no_workspace),
        cmocka_unit_test(the_limit_holds_for_all_together),
        cmocka_unit_test(ctas_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
