/* CTAs on several host threads: memory, statistics, what is printed and the reported fault are those of one thread,
 * whatever their number, for kernels whose CTAs use each other's results over atomics and flags, and for those whose
 * CTAs race. */
#include "kernel.h"
#include <pthread.h>
#include <unistd.h>

enum { CTAS = 200, WORDS = 4096 };
static const uint32_t thread_counts[] = {1, 2, 3, 8};

static uint32_t out[WORDS], first_out[WORDS];
static kernel_run first;

static uint64_t repeated; /* grids that ran again on one thread, since it was set to 0 */

/* Runs the body with each number of threads, many times; all must leave what one thread leaves. */
static void run_rounds(const char *body, uint32_t rounds, uint64_t limit, hd_exec_status wanted)
{
    static char text[16384], whole[16384];
    snprintf(whole, sizeof whole,
             "mov.u32 %%r1, %%ctaid.x;\nmov.u32 %%r2, %%ntid.x;\nmad.lo.u32 %%r3, %%r1, %%r2, %%r0;\n%s", body);
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t i = 0; i < WORDS; i++)
            out[i] = i < WORDS / 2 ? 0 : i;
        kernel_run run = {.text = kernel_text(text, sizeof text, whole),
                          .out = out,
                          .out_bytes = sizeof out,
                          .grid = CTAS,
                          .block = 64,
                          .options = {.threads = thread_counts[round % 4], .instruction_limit = limit}};
        run_kernel(&run);
        if (run.status != wanted)
            fail_msg("status %d with %u threads: %s", run.status, run.options.threads, run.message);
        if (!round) {
            memcpy(first_out, out, sizeof out);
            first = run;
        }
        assert_string_equal(run.message, first.message);
        assert_int_equal(run.detail, first.detail);
        repeated += run.statistics.repeated;
        run.statistics.repeated = 0;
        if (wanted != HD_EXEC_DONE) /* of CTAs that were not to run, only the memory they took shows */
            run.statistics.cta_bytes = first.statistics.cta_bytes;
        else
            assert_memory_equal(out, first_out, sizeof out);
        assert_memory_equal(&run.statistics, &first.statistics, sizeof run.statistics);
    }
}

static void run_all(const char *body, uint64_t limit, hd_exec_status wanted) { run_rounds(body, 40, limit, wanted); }

/* Every warp's first lane draws a ticket and writes its CTA's number there: the order of the CTAs shows. */
static void tickets_are_drawn_in_order(void **state)
{
    (void)state;
    run_all(
        "and.b32 %r4, %r0, 31;\nsetp.ne.u32 %p1, %r4, 0;\n@%p1 bra DONE;\n"
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
    repeated = 0;
    run_all(
        "mad.wide.u32 %rd3, %r1, 4, %rd1;\nadd.u32 %r4, %r1, 7;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra DONE;\n"
        "st.global.u32 [%rd3+64], %r4;\nmembar.gl;\natom.global.inc.u32 %r5, [%rd1], 199;\n"
        "setp.ne.u32 %p2, %r5, 199;\n@%p2 bra DONE;\nmov.u32 %r6, 0;\nmov.u32 %r7, 0;\nmov.b64 %rd4, %rd1;\n"
        "LOOP: ld.global.u32 %r8, [%rd4+64];\nadd.u32 %r6, %r6, %r8;\nadd.u64 %rd4, %rd4, 4;\nadd.u32 %r7, %r7, 1;\n"
        "setp.lt.u32 %p3, %r7, 200;\n@%p3 bra LOOP;\nst.global.u32 [%rd1+4], %r6;\nDONE:",
        0, HD_EXEC_DONE);
    assert_int_equal(out[1], CTAS * (CTAS - 1) / 2 + 7 * CTAS);
    assert_int_equal(repeated, 0);
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

/* Whatever the number of threads, and whichever CTA fails, the class of the fault is known. */
static void faults_keep_their_class(void **state)
{
    static const struct {
        const char *body;
        hd_fault_class class;
    } rows[] = {
        {"st.global.u32 [%rd1+65536], 1;", HD_FAULT_ADDRESS},
        {"st.global.u32 [%rd1+2], 1;", HD_FAULT_MISALIGNED},
        {"trap;", HD_FAULT_OTHER},
        {"L: bra L;", HD_FAULT_HANG},
    };
    char body[256];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (uint32_t cta = 0; cta < CTAS; cta += CTAS - 1) {
            snprintf(body, sizeof body, "setp.ne.u32 %%p1, %%r1, %u;\n@%%p1 bra DONE;\n%s\nDONE:", cta, rows[i].body);
            run_rounds(body, 4, 0, HD_EXEC_FAULT);
            assert_int_equal(first.detail, rows[i].class);
        }
}

static void waiting_for_a_later_block_is_found(void **state)
{
    (void)state;
    run_all("WAIT: ld.volatile.global.u32 %r4, [%rd1];\nsetp.eq.u32 %p3, %r4, 0;\n@%p3 bra WAIT;", 0,
            HD_EXEC_UNSUPPORTED);
    assert_non_null(strstr(first.message, "livelock: block (0,0,0)"));
    assert_non_null(strstr(first.notes, "may wait for what a later block writes"));
    /* no later block writes the shared memory of this one, and after the last one there is none */
    run_all(
        ".shared .align 4 .b32 s;\nWAIT: ld.volatile.shared.u32 %r4, [s];\nsetp.eq.u32 %p3, %r4, 0;\n@%p3 bra WAIT;", 0,
        HD_EXEC_FAULT);
    run_all("setp.ne.u32 %p1, %r1, 199;\n@%p1 bra DONE;\n"
            "WAIT: ld.volatile.global.u32 %r4, [%rd1];\nsetp.eq.u32 %p3, %r4, 0;\n@%p3 bra WAIT;\nDONE:",
            0, HD_EXEC_FAULT);
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

/* A block that waits for its turn may be the one that reports that the limit was reached before it. */
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

/* A grid takes what the budget has: none, some, more than it can use. */
static void spare_threads_are_given_back(void **state)
{
    static char text[8192];
    const char *body = "atom.global.add.u32 %r4, [%rd1], %r0;\nmov.u32 %r1, %ctaid.x;\nmad.wide.u32 %rd2, %r1, 4, "
                       "%rd1;\nst.global.u32 [%rd2+4], %r1;";
    (void)state;
    for (uint32_t count = 0; count < 12; count++) {
        hd_thread_budget budget = {count};
        memset(out, 0, sizeof out);
        kernel_run run = {.text = kernel_text(text, sizeof text, body),
                          .out = out,
                          .out_bytes = sizeof out,
                          .grid = CTAS,
                          .block = 64,
                          .options = {.threads = 8, .budget = &budget}};
        run_kernel(&run);
        assert_int_equal(run.status, HD_EXEC_DONE);
        assert_int_equal(out[0], CTAS * 63 * 32);
        assert_int_equal(run.statistics.ctas, CTAS);
        assert_int_equal(budget.count, count);
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
        "mov.u32 %r1, %ctaid.x;\nmad.wide.u32 %rd2, %r1, 4, %rd1;\nLOOP: add.u32 %r4, %r4, 1;\nst.global.u32 [%rd2], "
        "%r4;\nbra LOOP;",
        "LOOP: atom.global.add.u32 %r4, [%rd1], 1;\nbra LOOP;",
    };
    static char text[8192];
    (void)state;
    for (uint32_t round = 0; round < 8; round++) {
        atomic_bool stop = false;
        pthread_t other;
        kernel_run run = {
            .text = kernel_text(text, sizeof text, bodies[round / 4]),
            .out = out,
            .out_bytes = sizeof out,
            .grid = 3000,
            .block = 64,
            .options = {.threads = thread_counts[round % 4], .stop = &stop, .instruction_limit = 200000000}};
        assert_int_equal(pthread_create(&other, NULL, stop_soon, &stop), 0);
        run_kernel(&run);
        pthread_join(other, NULL);
        assert_int_equal(run.status, HD_EXEC_STOPPED);
        assert_string_equal(run.message, "");
    }
}

/* ---- CTAs that race ---------------------------------------------------------------------------------------------- */

/* So that each number of threads has CTAs that run beside others. */
#define DELAY "mov.u32 %r4, 0;\nDELAY: add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 60;\n@%p1 bra DELAY;\n"

/* Whether CTAs of these runs really ran beside each other is up to the machine: `runs` go on until one has. */
static void until_repeated(void (*runs)(void))
{
    repeated = 0;
    for (uint32_t turn = 0; !repeated && turn < 500; turn++)
        runs();
    assert_true(repeated > 0);
}

/* Each adds to what the one before it leaves, whatever the cache operator. */
static void run_counts(void)
{
    static const char *const ways[][2] = {
        {"ld.global.u32", "st.global.u32"},
        {"ld.global.cv.u32", "st.global.wt.u32"},
        {"ld.global.cg.u32", "st.global.cg.u32"},
        {"ld.volatile.global.u32", "st.global.u32"},
        {"ld.global.u32", "st.volatile.global.u32"},
        {"ld.u32", "st.u32"},
        {"ld.global.u32", "st.relaxed.gpu.global.u32"},
    };
    char body[512];
    for (uint32_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        snprintf(body, sizeof body, "%s %%r5, [%%rd1];\n%sadd.u32 %%r5, %%r5, 1;\n%s [%%rd1], %%r5;", ways[i][0], DELAY,
                 ways[i][1]);
        run_rounds(body, 12, 0, HD_EXEC_DONE);
        assert_int_equal(out[0], 2 * CTAS); /* of two warps */
    }
}

static void counts_without_atomics(void **state)
{
    (void)state;
    until_repeated(run_counts);
}

/* Each thread adds to a word of its own, 13 of them a page: what the run that does not count added goes, on all
 * pages. */
static void run_many_pages(void)
{
    enum { STRIDE = 80, BIG = CTAS * 64 * STRIDE };
    static uint32_t big[BIG];
    static char text[16384];
    for (uint32_t round = 0; round < 12; round++) {
        for (uint32_t i = 0; i < BIG; i++)
            big[i] = i % 5000 < 4000 ? i : 0;
        kernel_run run = {
            .text = kernel_text(text, sizeof text,
                                "mov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r3, %r1, 64, %r0;\nmad.wide.u32 %rd3, %r3, 320, "
                                "%rd1;\nld.global.u32 %r5, [%rd3];\nadd.u32 %r5, %r5, 1;\nst.global.u32 [%rd3], %r5;\n"
                                "ld.global.u32 %r5, [%rd1+4];\n" DELAY
                                "add.u32 %r5, %r5, 1;\nst.global.u32 [%rd1+4], %r5;"),
            .out = big,
            .out_bytes = sizeof big,
            .grid = CTAS,
            .block = 64,
            .options.threads = thread_counts[round % 4]};
        run_kernel(&run);
        assert_int_equal(run.status, HD_EXEC_DONE);
        repeated += run.statistics.repeated;
        for (uint32_t i = 0; i < BIG; i++)
            if (big[i] != (i % 5000 < 4000 ? i : 0) + (i == 1 ? 2 * CTAS : i % STRIDE == 0))
                fail_msg("with %u threads word %u is %u", run.options.threads, i, big[i]);
    }
}

static void many_pages_become_what_they_were(void **state)
{
    (void)state;
    until_repeated(run_many_pages);
}

/* Reads what later CTAs write; writes what earlier ones read; writes what all write: three bytes, of vectors, by
 * atomics. */
static void other_orders_of_accesses(void **state)
{
    static const char *const bodies[] = {
        DELAY "mad.wide.u32 %rd3, %r1, 4, %rd1;\nld.global.u32 %r5, [%rd3+8];\nadd.u32 %r5, %r5, 7;\nst.global.u32 "
              "[%rd3], %r5;",
        DELAY "mad.wide.u32 %rd3, %r1, 4, %rd1;\nld.global.u32 %r5, [%rd3];\nadd.u32 %r5, %r5, %r1;\nst.global.u32 "
              "[%rd3+4], %r5;",
        DELAY "st.global.u32 [%rd1+4], %r1;",
        DELAY "mad.wide.u32 %rd3, %r1, 3, %rd1;\nst.global.u8 [%rd3], %r1;\nst.global.u8 [%rd3+3], %r1;",
        DELAY "mov.b64 %rd4, %rd1;\nst.global.v4.u32 [%rd4+16], {%r1, %r1, %r4, %r3};\nld.global.v2.u32 {%r5, %r6}, "
              "[%rd4+24];\n"
              "mad.wide.u32 %rd3, %r1, 4, %rd1;\nst.global.u32 [%rd3+1024], %r6;",
        "ld.global.u32 %r5, [%rd1];\n" DELAY
        "mad.wide.u32 %rd3, %r1, 4, %rd1;\nst.global.u32 [%rd3+64], %r5;\natom.global.add.u32 %r6, [%rd1], 1;",
        "atom.global.add.u32 %r6, [%rd1], 1;\nld.global.u32 %r5, [%rd1];\nmad.wide.u32 %rd3, %r1, 4, "
        "%rd1;\nst.global.u32 [%rd3+64], %r5;",
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        run_rounds(bodies[i], 12, 0, HD_EXEC_DONE);
}

/* What is read too early may make a CTA run on for ever, spin, or fault: none of that is reported. */
static void races_that_lead_astray(void **state)
{
    (void)state;
    /* the first CTA sets a bound that is 0xffffffff before */
    run_rounds("setp.ne.u32 %p1, %r1, 0;\n@%p1 bra REST;\n" DELAY
               "mov.u32 %r5, 5;\nst.global.u32 [%rd1+12288], %r5;\nREST:\n"
               "ld.global.u32 %r6, [%rd1+12288];\nsetp.gt.u32 %p2, %r6, 5;\nselp.u32 %r6, 0xffffffff, %r6, "
               "%p2;\nmov.u32 %r7, 0;\n"
               "mad.wide.u32 %rd3, %r1, 4, %rd1;\nLOOP: add.u32 %r7, %r7, 1;\nst.global.u32 [%rd3], %r7;\n"
               "setp.lt.u32 %p3, %r7, %r6;\n@%p3 bra LOOP;",
               8, 0, HD_EXEC_DONE);
    /* waits, without volatile, for what the CTA before it stores */
    run_rounds("mad.wide.u32 %rd3, %r1, 4, %rd1;\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra MINE;\n"
               "WAIT: ld.global.u32 %r4, [%rd3+-4];\nsetp.eq.u32 %p3, %r4, 0;\n@%p3 bra WAIT;\n"
               "MINE: st.global.u32 [%rd3], 3;",
               8, 0, HD_EXEC_DONE);
    /* a pointer that is wild at first */
    run_rounds("setp.ne.u32 %p1, %r1, 0;\n@%p1 bra REST;\n" DELAY
               "mov.u32 %r5, 4;\nst.global.u32 [%rd1+12288], %r5;\nREST:\n"
               "ld.global.u32 %r6, [%rd1+12288];\nmad.wide.u32 %rd3, %r6, 1024, %rd1;\nst.global.u32 [%rd3], %r6;",
               8, 0, HD_EXEC_DONE);
    /* one that waits for a later CTA never ends */
    run_rounds("mad.wide.u32 %rd3, %r1, 4, %rd1;\nst.global.u32 [%rd3], 3;\nsetp.ne.u32 %p2, %r1, 0;\n@%p2 bra DONE;\n"
               "WAIT: ld.global.u32 %r4, [%rd1+64];\nsetp.eq.u32 %p3, %r4, 0;\n@%p3 bra WAIT;\nDONE:",
               8, 0, HD_EXEC_UNSUPPORTED);
    assert_non_null(strstr(first.message, "livelock: block (0,0,0)"));
}

static char body_text[12288];
static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    size_t used = strlen(body_text);
    vsnprintf(body_text + used, sizeof body_text - used, format, list);
    va_end(list);
}

/* One access of a few bytes that CTAs share or have beside each other. */
static void add_access(uint64_t *seed)
{
    static const char *const loads[] = {"ld.global.u32", "ld.global.cv.u32", "ld.u32", "ld.volatile.global.u32",
                                        "ld.global.ca.u32"};
    static const char *const stores[] = {"st.global.u32", "st.global.wt.u32", "st.u32", "st.volatile.global.u32",
                                         "st.global.cg.u32"};
    uint32_t way = (uint32_t)(unit_random(seed) % 12), at = (uint32_t)(unit_random(seed) % 16) * 4,
             op = (uint32_t)(unit_random(seed) % 5);
    add("and.b32 %%r9, %%r1, %u;\nmad.wide.u32 %%rd3, %%r9, 4, %%rd1;\n", (unsigned)(unit_random(seed) % 2 * 15));
    if (way < 4)
        add("%s %%r8, [%%rd3+%u];\nmad.lo.u32 %%r6, %%r6, 31, %%r8;\n", loads[op], at);
    else if (way < 7)
        add("%s [%%rd3+%u], %%r6;\n", stores[op], at);
    else if (way == 7)
        add("st.global.u8 [%%rd3+%u], %%r6;\n", at + op % 4);
    else if (way == 8)
        add("atom.global.add.u32 %%r8, [%%rd3+%u], %%r6;\nxor.b32 %%r6, %%r6, %%r8;\n", at);
    else if (way == 9)
        add("red.global.max.u32 [%%rd3+%u], %%r6;\n", at);
    else if (way == 10)
        add("membar.gl;\n");
    else
        add("mov.u32 %%r10, 0;\nL%u: add.u32 %%r10, %%r10, 1;\nsetp.lt.u32 %%p1, %%r10, %u;\n@%%p1 bra L%u;\n",
            (unsigned)strlen(body_text), (unsigned)(unit_random(seed) % 200), (unsigned)strlen(body_text));
}

static void run_random_races(void)
{
    const char *count = getenv("COUNT");
    uint64_t seed = 7, kernels = count ? strtoull(count, NULL, 10) : 40;
    for (uint64_t k = 0; k < kernels; k++) {
        body_text[0] = 0;
        add("add.u32 %%r6, %%r1, 1;\n");
        for (uint64_t i = 0, n = 1 + unit_random(&seed) % 12; i < n; i++)
            add_access(&seed);
        add("mad.wide.u32 %%rd3, %%r1, 4, %%rd1;\nst.global.u32 [%%rd3+4096], %%r6;");
        run_rounds(body_text, 8, 0, HD_EXEC_DONE);
    }
}

static void random_races(void **state)
{
    (void)state;
    until_repeated(run_random_races);
}

/* What ended before all that run began is no longer compared, and its room serves again: each CTA writes its byte of
 * 2,048 pages. */
static void large_grids_have_room(void **state)
{
    (void)state;
    enum { PAGES = 2048, GRID = 4096, PAGE_BYTES = 4096 };
    static unsigned char pages[PAGES * PAGE_BYTES];
    char text[2048];
    kernel_run run = {.text = kernel_text(text, sizeof text,
                                          "mov.u32 %r1, %ctaid.x;\ncvt.u64.u32 %rd3, %r1;\n"
                                          "mad.wide.u32 %rd4, %r0, 4096, %rd3;\nadd.u64 %rd4, %rd4, %rd1;\n"
                                          "st.global.u8 [%rd4], %r1;\nst.global.u8 [%rd4+4194304], %r1;"),
                      .out = pages,
                      .out_bytes = sizeof pages,
                      .grid = GRID,
                      .block = PAGES / 2,
                      .options.threads = 4};
    run_kernel(&run);
    assert_int_equal(run.status, HD_EXEC_DONE);
    assert_int_equal(run.statistics.repeated, 0);
    for (uint32_t i = 0; i < sizeof pages; i++)
        assert_true(pages[i] == i % 256);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tickets_are_drawn_in_order),
        cmocka_unit_test(float_sums_do_not_depend_on_threads),
        cmocka_unit_test(last_block_sees_all_stores),
        cmocka_unit_test(chain_of_flags),
        cmocka_unit_test(first_fault_is_reported),
        cmocka_unit_test(faults_keep_their_class),
        cmocka_unit_test(waiting_for_a_later_block_is_found),
        cmocka_unit_test(limit_counts_blocks_in_order),
        cmocka_unit_test(limit_before_a_turn),
        cmocka_unit_test(spare_threads_are_given_back),
        cmocka_unit_test(a_run_that_is_not_wanted_stops),
        cmocka_unit_test(counts_without_atomics),
        cmocka_unit_test(other_orders_of_accesses),
        cmocka_unit_test(many_pages_become_what_they_were),
        cmocka_unit_test(races_that_lead_astray),
        cmocka_unit_test(random_races),
        cmocka_unit_test(large_grids_have_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
