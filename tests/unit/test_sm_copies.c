/* cp.async in the cycle-level SM: its reads are those of a load, its writes those of a store to shared memory; who
 * waits for it, and how long. */
#include "small_machine.h"
#include "timed_kernel.h"

#define SETUP                                                                                     \
    "mul.lo.u32 %r2, %r0, 16;\nmov.u32 %r1, s;\nadd.u32 %r1, %r1, %r2;\ncvt.u64.u32 %rd2, %r2;\n" \
    "add.u64 %rd1, %rd1, %rd2;\n"
#define ADD "add.u32 %r9, %r9, %r0;\n"
#define CHAIN ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD
#define LONG_CHAIN CHAIN CHAIN CHAIN CHAIN CHAIN CHAIN CHAIN CHAIN CHAIN CHAIN
#define COPY "cp.async.ca.shared.global [%r1], [%rd1], 16;\n"
#define BYPASS "cp.async.cg.shared.global [%r1], [%rd1], 16;\n"
#define FAR "cp.async.cg.shared.global [%r1+1024], [%rd1+8192], 16;\n"
#define COMMIT "cp.async.commit_group;\n"
#define WAIT "cp.async.wait_all;\n"

static timed time_on(hd_machine machine, const char *body)
{
    timed t = {.machine = machine, .declarations = ".shared .align 16 .b8 s[8192];\n"}, each = t;
    char whole[8192];
    snprintf(whole, sizeof whole, "%s%s", SETUP, body);
    time_body(&t, whole, 1, 32);
    each.every_cycle = true;
    time_body(&each, whole, 1, 32);
    assert_true(t.counts.cycles == each.counts.cycles);
    return t;
}

static timed time_copies(const char *body) { return time_on(small_machine(), body); }
static uint64_t cycles_of(const char *body) { return time_copies(body).counts.cycles; }

/* ---- traffic ----------------------------------------------------------------------------------------------------- */

static void expect_same_traffic(const timed *copy, const timed *load)
{
    assert_int_equal(copy->counts.sm.l1_reads, load->counts.sm.l1_reads);
    assert_int_equal(copy->counts.sm.l1_hits, load->counts.sm.l1_hits);
    assert_int_equal(copy->counts.sm.shared_accesses, load->counts.sm.shared_accesses);
    assert_int_equal(copy->counts.sm.shared_passes, load->counts.sm.shared_passes);
    assert_int_equal(copy->counts.memory.l2_reads, load->counts.memory.l2_reads);
    assert_int_equal(copy->counts.memory.l2_read_hits, load->counts.memory.l2_read_hits);
    assert_int_equal(copy->counts.memory.l2_writes, load->counts.memory.l2_writes);
    assert_int_equal(copy->counts.memory.dram_reads, load->counts.memory.dram_reads);
    assert_int_equal(copy->counts.memory.dram_bytes, load->counts.memory.dram_bytes);
    assert_int_equal(copy->counts.memory.interconnect_bytes, load->counts.memory.interconnect_bytes);
}

/* Twice each, so that the second one may hit. */
static void traffic_is_that_of_a_load_and_a_store(void **state)
{
#define LOAD_4(cache) "ld.global." cache ".u32 %r4, [%rd1];\nst.shared.u32 [%r1], %r4;\n"
#define LOAD_8(cache) "ld.global." cache ".v2.u32 {%r4,%r5}, [%rd1];\nst.shared.v2.u32 [%r1], {%r4,%r5};\n"
#define LOAD_16(cache)                                        \
    "ld.global." cache ".v4.u32 {%r4,%r5,%r6,%r7}, [%rd1];\n" \
    "st.shared.v4.u32 [%r1], {%r4,%r5,%r6,%r7};\n"
    static const struct {
        const char *copy, *load;
    } pairs[] = {
        {"cp.async.ca.shared.global [%r1], [%rd1], 4;\n", LOAD_4("ca")},
        {"cp.async.ca.shared.global [%r1], [%rd1], 8;\n", LOAD_8("ca")},
        {COPY, LOAD_16("ca")},
        {BYPASS, LOAD_16("cg")},
        {"@%p0 " BYPASS, "@%p0 ld.global.cg.v4.u32 {%r4,%r5,%r6,%r7}, [%rd1];\n"
                         "@%p0 st.shared.v4.u32 [%r1], {%r4,%r5,%r6,%r7};\n"},
        {"@%p1 " BYPASS, ""},
    };
    (void)state;
    for (uint32_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
        for (uint32_t m = 0; m < 3; m++) {
            hd_machine machine = m == 2 ? small_subcore_machine() : small_machine();
            machine.l1.sector_bytes = m ? 32 : 128;
            char copy[2048], load[2048];
            const char *guards = "setp.lt.u32 %p0, %r0, 9;\nsetp.lt.u32 %p1, %r0, 0;\n";
            snprintf(copy, sizeof copy, "%s%s" WAIT "%s" WAIT, guards, pairs[k].copy, pairs[k].copy);
            snprintf(load, sizeof load, "%s%s%s", guards, pairs[k].load, pairs[k].load);
            timed a = time_on(machine, copy), b = time_on(machine, load);
            expect_same_traffic(&a, &b);
        }
}

/* 32 lanes of 16 bytes: 512 bytes, 4 lines; each 8 lanes are a pass. */
static void counts_by_hand(void **state)
{
    (void)state;
    timed t = time_copies(BYPASS WAIT);
    assert_int_equal(t.counts.sm.l1_reads, 0);
    assert_int_equal(t.counts.sm.shared_passes, 4);
    assert_int_equal(t.counts.memory.l2_reads, 4);
    assert_int_equal(t.counts.memory.dram_reads, 4);
    assert_int_equal(t.counts.memory.dram_bytes, 512);
    t = time_copies(COPY WAIT COPY WAIT BYPASS WAIT);
    assert_int_equal(t.counts.sm.l1_reads, 8);
    assert_int_equal(t.counts.sm.l1_hits, 4);
    assert_int_equal(t.counts.memory.l2_reads, 8);
    assert_int_equal(t.counts.memory.l2_read_hits, 4);
    assert_int_equal(t.counts.memory.dram_bytes, 512);
}

/* What is filled with zeros is not read; all of it is written. */
static void zeros_are_not_read(void **state)
{
    static const struct {
        const char *size;
        uint32_t lines, bytes;
    } parts[] = {
        {"mov.u32 %r3, 0;\n", 0, 0},
        {"mov.u32 %r3, 1;\n", 4, 512},                                     /* of each sector of two lanes */
        {"setp.lt.u32 %p1, %r0, 8;\nselp.u32 %r3, 16, 0, %p1;\n", 1, 128}, /* the first line */
        {"setp.eq.u32 %p1, %r0, 31;\nselp.u32 %r3, 7, 0, %p1;\n", 1, 32},
    };
    (void)state;
    for (uint32_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        char body[1024];
        snprintf(body, sizeof body, "%scp.async.cg.shared.global [%%r1], [%%rd1], 16, %%r3;\n" WAIT, parts[k].size);
        timed t = time_copies(body);
        assert_int_equal(t.counts.memory.l2_reads, parts[k].lines);
        assert_int_equal(t.counts.memory.dram_bytes, parts[k].bytes);
        assert_int_equal(t.counts.sm.shared_passes, 4);
    }
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

/* Whoever waits has each latency on the way once, those of the interconnect twice; whoever does not, none before the
 * warp ends. */
static void a_wait_takes_every_latency(void **state)
{
    hd_machine m = small_machine(), slow = m;
    (void)state;
    uint64_t before = time_on(m, BYPASS WAIT LONG_CHAIN).counts.cycles;
    assert_true(before >= cycles_of(BYPASS) + cycles_of(LONG_CHAIN) - cycles_of(""));
    slow.dram.latency += 100;
    assert_int_equal(time_on(slow, BYPASS WAIT LONG_CHAIN).counts.cycles, before + 100);
    slow.l2.latency += 100;
    assert_int_equal(time_on(slow, BYPASS WAIT LONG_CHAIN).counts.cycles, before + 200);
    slow.shared.latency += 100;
    assert_int_equal(time_on(slow, BYPASS WAIT LONG_CHAIN).counts.cycles, before + 300);
    slow.interconnect.latency += 100;
    assert_int_equal(time_on(slow, BYPASS WAIT LONG_CHAIN).counts.cycles, before + 500);
    slow = m;
    slow.l1.latency += 100; /* the second copy hits */
    assert_int_equal(time_on(slow, COPY WAIT COPY WAIT).counts.cycles,
                     time_on(m, COPY WAIT COPY WAIT).counts.cycles + 100);
    slow = m;
    slow.dram.latency += 100; /* the chain is longer */
    assert_int_equal(time_on(slow, BYPASS LONG_CHAIN).counts.cycles, time_on(m, BYPASS LONG_CHAIN).counts.cycles);
}

/* Instructions between a copy and its wait take no time of their own where it takes longer; and others the copy. */
static void a_copy_lets_the_warp_go_on(void **state)
{
    (void)state;
    uint64_t copy = cycles_of(BYPASS WAIT), both = cycles_of(BYPASS CHAIN WAIT), after = cycles_of(BYPASS WAIT CHAIN);
    assert_true(both < after && both <= copy + 10 && after >= copy + 10 * 4);
    timed t = time_copies(BYPASS WAIT);
    assert_true(t.counts.sm.slots[HD_SM_SLOT_MEMORY] >= 60 + 50 + 2 * 7);
}

/* FAR is the slow copy: what the other one needs is in the L1 cache. */
static void groups_are_waited_for_in_order(void **state)
{
#define NEAR "ld.global.u32 %r4, [%rd1];\nadd.u32 %r5, %r4, 1;\n" COPY COMMIT
    (void)state;
    uint64_t one = cycles_of(NEAR FAR COMMIT "cp.async.wait_group 1;\n" CHAIN "cp.async.wait_group 0;\n" ADD),
             both = cycles_of(NEAR FAR COMMIT "cp.async.wait_group 0;\n" CHAIN "cp.async.wait_group 0;\n" ADD),
             open = cycles_of(NEAR FAR "cp.async.wait_group 0;\n" CHAIN WAIT ADD),
             all = cycles_of(NEAR FAR WAIT CHAIN WAIT ADD), many = cycles_of(NEAR FAR COMMIT LONG_CHAIN),
             waits = cycles_of(NEAR FAR COMMIT "cp.async.wait_group 2;\n" LONG_CHAIN);
    assert_true(one + 30 <= both);
    assert_true(open + 30 <= all); /* what is in no group is waited for by wait_all only */
    assert_true(waits <= many + 4);
}

/* Lanes that commit one group in turn leave the warp two, so that it waits for more than its lanes need, never for
 * less; what no lane executes commits nothing and waits for nothing. */
static void lanes_commit_and_wait(void **state)
{
#define LOW "setp.lt.u32 %p0, %r0, 9;\nsetp.gt.u32 %p1, %r0, 99;\n"
#define GROUPS(n) "cp.async.wait_group " #n ";\n" LONG_CHAIN
    static const struct {
        const char *body;
        bool waits;
    } all[] = {
        {LOW FAR COMMIT COMMIT GROUPS(1), true},
        {LOW FAR COMMIT COMMIT GROUPS(2), false},
        {LOW FAR "@%p0 " COMMIT "@!%p0 " COMMIT COMMIT GROUPS(1), true},
        {LOW FAR "@%p0 " COMMIT "@!%p0 " COMMIT COMMIT GROUPS(2), true},
        {LOW FAR "@%p0 " COMMIT "@!%p0 " COMMIT COMMIT GROUPS(3), false},
        {LOW FAR COMMIT "@%p0 " COMMIT GROUPS(1), true}, /* for lanes below 9 */
        {LOW FAR COMMIT "@%p1 " COMMIT GROUPS(1), false},
        {LOW FAR COMMIT "@%p1 cp.async.wait_group 0;\n" LONG_CHAIN, false},
        {LOW FAR COMMIT "@%p1 " WAIT LONG_CHAIN, false},
        {LOW FAR COMMIT "@%p0 " WAIT LONG_CHAIN, true},
        {LOW "ld.global.u32 %r4, [%rd1+8192];\n@%p1 membar.gl;\n" LONG_CHAIN, false},
        {LOW "ld.global.u32 %r4, [%rd1+8192];\n@%p0 membar.gl;\n" LONG_CHAIN, true},
        {LOW "setp.eq.u32 %p2, %r0, 99;\n@%p2 " FAR WAIT LONG_CHAIN, false}, /* nobody copies */
    };
    uint64_t copy = cycles_of(LOW FAR WAIT) - cycles_of(LOW), chain = cycles_of(LOW LONG_CHAIN);
    (void)state;
    for (uint32_t k = 0; k < sizeof all / sizeof *all; k++)
        if ((cycles_of(all[k].body) >= chain + copy - 30) != all[k].waits)
            fail_msg("%u: %s: %u cycles, chain %u, copy %u", k, all[k].body, (uint32_t)cycles_of(all[k].body),
                     (uint32_t)chain, (uint32_t)copy);
}

/* A fence is for other accesses; a warp that ends, and one that starts in its place, have what they need. */
static void blocks_follow_each_other(void **state)
{
    timed t = {.machine = small_machine(), .ctas = 1, .declarations = ".shared .align 16 .b8 s[8192];\n"};
    (void)state;
    time_body(&t, SETUP BYPASS COMMIT FAR COMMIT BYPASS, 5, 96);
    assert_int_equal(t.counts.memory.l2_reads, 5 * 3 * 3 * 4);
    assert_true(cycles_of(BYPASS "membar.gl;\n" LONG_CHAIN) < cycles_of(BYPASS WAIT LONG_CHAIN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(traffic_is_that_of_a_load_and_a_store),
                                       cmocka_unit_test(counts_by_hand),
                                       cmocka_unit_test(zeros_are_not_read),
                                       cmocka_unit_test(a_wait_takes_every_latency),
                                       cmocka_unit_test(a_copy_lets_the_warp_go_on),
                                       cmocka_unit_test(groups_are_waited_for_in_order),
                                       cmocka_unit_test(lanes_commit_and_wait),
                                       cmocka_unit_test(blocks_follow_each_other)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
