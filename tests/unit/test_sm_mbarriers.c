/* Barriers in memory in the cycle-level SM: who waits there waits for the warps that arrive, and for copies that arrive
 * by cp.async.mbarrier.arrive, and for nothing else. */
#include "small_machine.h"
#include "timed_kernel.h"

#define DECLARATIONS ".shared .align 8 .b64 bar[4];\n.shared .align 16 .b8 s[8192];\n"
/* The first thread makes the objects; each expects as many arrivals as are named. */
#define INIT(first, second)                                                                   \
    "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra MADE;\nmbarrier.init.shared.b64 [bar], " #first ";\n" \
    "mbarrier.init.shared.b64 [bar+8], " #second ";\nMADE: bar.sync 0;\n"                     \
    "and.b32 %r2, %r0, 31;\nshl.b32 %r2, %r2, 4;\nmov.u32 %r1, s;\nadd.u32 %r1, %r1, %r2;\n"  \
    "cvt.u64.u32 %rd2, %r2;\nadd.u64 %rd1, %rd1, %rd2;\nsetp.ge.u32 %p1, %r0, 32;\n@%p1 bra SECOND;\n"
#define ADD "add.u32 %r9, %r9, %r0;\n"
#define CHAIN ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD
#define LONG_CHAIN CHAIN CHAIN CHAIN CHAIN CHAIN CHAIN CHAIN CHAIN CHAIN CHAIN
#define ARRIVE(at) "mbarrier.arrive.shared.b64 %rd9, [bar+" #at "];\n"
#define ARRIVE_COPIES(at) "cp.async.mbarrier.arrive.noinc.shared.b64 [bar+" #at "];\n"
#define WAIT(label, at, parity) \
#label ": mbarrier.test_wait.parity.shared.b64 %p2, [bar+" #at "], " #parity ";\n@!%p2 bra " #label ";\n"
#define COPY "cp.async.cg.shared.global [%r1], [%rd1], 16;\n"
#define FAR "cp.async.cg.shared.global [%r1+1024], [%rd1+8192], 16;\n"
#define SECOND "bra DONE;\nSECOND:\n"
#define DONE "DONE:\n"

static timed time_on(hd_machine machine, const char *body)
{
    timed t = {.machine = machine, .declarations = DECLARATIONS}, each = t;
    time_body(&t, body, 1, 64);
    each.every_cycle = true;
    time_body(&each, body, 1, 64);
    assert_true(t.counts.cycles == each.counts.cycles);
    return t;
}

static uint64_t cycles_of(const char *body) { return time_on(small_machine(), body).counts.cycles; }

/* The second warp's additions begin after those of the first; without the wait both go on side by side. */
static void waits_for_the_warps_that_arrive(void **state)
{
    (void)state;
    uint64_t side = cycles_of(INIT(32, 1) LONG_CHAIN ARRIVE(0) SECOND LONG_CHAIN DONE),
             none = cycles_of(INIT(32, 1) ARRIVE(0) SECOND WAIT(L, 0, 0) DONE),
             turn = cycles_of(INIT(32, 1) LONG_CHAIN ARRIVE(0) SECOND WAIT(L, 0, 0) LONG_CHAIN DONE),
             other = cycles_of(INIT(32, 32) ARRIVE(8) LONG_CHAIN ARRIVE(0) SECOND WAIT(L, 8, 0) LONG_CHAIN DONE);
    timed t = time_on(small_machine(), INIT(32, 1) LONG_CHAIN ARRIVE(0) SECOND WAIT(L, 0, 0) LONG_CHAIN DONE);
    uint64_t chain = side - none;
    assert_true(turn + 60 >= side + chain && turn <= side + chain + 60);
    assert_true(other <= side + 60); /* not for what comes after the arrival at the other object */
    assert_true(t.counts.sm.slots[HD_SM_SLOT_BARRIER] + 100 >= chain / 2);
}

/* Each phase has its own arrivals: the second warp's first wait is over before the first warp arrives again. */
static void phases_are_apart(void **state)
{
    (void)state;
#define AGAIN INIT(32, 32) ARRIVE(0) LONG_CHAIN WAIT(K, 8, 0) ARRIVE(0) SECOND WAIT(L, 0, 0) ARRIVE(8)
    uint64_t first = cycles_of(AGAIN LONG_CHAIN DONE), both = cycles_of(AGAIN WAIT(M, 0, 1) LONG_CHAIN DONE),
             side = cycles_of(INIT(32, 1) LONG_CHAIN ARRIVE(0) SECOND LONG_CHAIN DONE);
    assert_true(first <= side + 60);
    assert_true(both >= first + 200);
}

/* Whoever waits for a copy has each latency on its way, the warp that copies none. */
static void waits_for_copies(void **state)
{
    static const char *const body = INIT(32, 1) COPY ARRIVE_COPIES(0) SECOND WAIT(L, 0, 0) LONG_CHAIN DONE;
    hd_machine m = small_machine(), slow = m;
    (void)state;
    uint64_t before = time_on(m, body).counts.cycles;
    slow.dram.latency += 300;
    assert_int_equal(time_on(slow, body).counts.cycles, before + 300);
    slow.shared.latency += 100; /* of the objects' own instructions, too: init, the wait; and of the copy */
    assert_true(time_on(slow, body).counts.cycles >= before + 400);
    slow = m;
    slow.dram.latency += 300;
    static const char *const itself = INIT(32, 1) COPY ARRIVE_COPIES(0) WAIT(L, 0, 0) LONG_CHAIN SECOND DONE;
    assert_int_equal(time_on(slow, itself).counts.cycles, time_on(m, itself).counts.cycles + 300);
}

/* A copy after the arrival is not waited for, nor one before an arrival at another object. */
static void waits_for_no_other_copies(void **state)
{
#define NEAR "ld.global.u32 %r4, [%rd1];\nadd.u32 %r5, %r4, 1;\ncp.async.ca.shared.global [%r1], [%rd1], 16;\n"
#define STAGES(n) \
    INIT(32, 32) NEAR ARRIVE_COPIES(0) FAR ARRIVE_COPIES(8) SECOND WAIT(L, n, 0) LONG_CHAIN LONG_CHAIN DONE
    hd_machine slow = small_machine();
    (void)state;
    slow.l1.global = 1;
    uint64_t first = time_on(slow, STAGES(0)).counts.cycles, second = time_on(slow, STAGES(8)).counts.cycles;
    assert_true(first + 50 <= second);
}

/* A copy that is not over when its warp ends holds back who waits for it all the same. */
static void waits_for_copies_of_warps_that_end(void **state)
{
    (void)state;
    uint64_t ends = cycles_of(INIT(32, 1) COPY ARRIVE_COPIES(0) SECOND WAIT(L, 0, 0) LONG_CHAIN DONE),
             stays = cycles_of(INIT(32, 1) COPY ARRIVE_COPIES(0) LONG_CHAIN LONG_CHAIN SECOND WAIT(L, 0, 0)
                                   LONG_CHAIN DONE),
             alone = cycles_of(INIT(32, 1) SECOND LONG_CHAIN DONE);
    assert_true(ends >= alone + 150 && stays >= ends);
}

/* What no lane executes neither arrives nor is waited for; of the guard's lanes, one is enough. */
static void arrivals_of_no_lane(void **state)
{
    static const char *const none = "setp.gt.u32 %p3, %r0, 99;\nsetp.eq.u32 %p4, %r0, 3;\n";
    char body[8192];
    (void)state;
    snprintf(body, sizeof body, "%s%s%s", none,
             INIT(1, 1) "@%p3 " ARRIVE_COPIES(0) COPY "@%p4 " ARRIVE_COPIES(0) SECOND WAIT(L, 0, 0) LONG_CHAIN, DONE);
    uint64_t one = cycles_of(body);
    snprintf(body, sizeof body, "%s%s%s", none,
             INIT(1, 1) "@%p4 " ARRIVE_COPIES(0) COPY SECOND WAIT(L, 0, 0) LONG_CHAIN, DONE);
    assert_true(one >= cycles_of(body) + 100);
}

/* Objects are in shared memory, also by generic addresses. */
static void objects_are_shared_memory(void **state)
{
    (void)state;
    timed generic = time_on(small_machine(), INIT(32, 1) "mov.u64 %rd4, bar;\ncvta.shared.u64 %rd4, %rd4;\n"
                                                         "mbarrier.arrive.b64 %rd9, [%rd4];\n" SECOND DONE);
    assert_int_equal(generic.counts.sm.shared_accesses, 3);
    assert_int_equal(generic.counts.memory.l2_reads + generic.counts.memory.l2_atomics, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(waits_for_the_warps_that_arrive),
                                       cmocka_unit_test(phases_are_apart),
                                       cmocka_unit_test(waits_for_copies),
                                       cmocka_unit_test(waits_for_no_other_copies),
                                       cmocka_unit_test(waits_for_copies_of_warps_that_end),
                                       cmocka_unit_test(arrivals_of_no_lane),
                                       cmocka_unit_test(objects_are_shared_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
