/* The cycle-level SM: cycles of small kernels that are derived by hand, conservation, and results that do not depend on
 * how the clock goes. */
#include "program.h"
#include "small_machine.h"
#include "timed_kernel.h"

/* Cycles that the body takes more than the body without its last part. */
static uint64_t cycles_of(const char *before, const char *part, uint32_t block)
{
    char whole[4096];
    timed with = {0}, without = {0};
    snprintf(whole, sizeof whole, "%s%s", before, part);
    time_body(&with, whole, 1, block);
    time_body(&without, before, 1, block);
    return with.counts.cycles - without.counts.cycles;
}

/* sm.h: a result that is issued in t with one operand is there in t + 2 + latency, and what needs it issues then. */
static void a_dependent_chain(void **state)
{
    (void)state;
    /* 10 dependent additions of latency 4: 6 cycles each */
    assert_int_equal(
        cycles_of("add.u32 %r4, %r0, 1;\n",
                  "add.u32 %r4, %r4, 1;\nadd.u32 %r4, %r4, 1;\nadd.u32 %r4, %r4, 1;\nadd.u32 %r4, %r4, 1;\n"
                  "add.u32 %r4, %r4, 1;\nadd.u32 %r4, %r4, 1;\nadd.u32 %r4, %r4, 1;\nadd.u32 %r4, %r4, 1;\n"
                  "add.u32 %r4, %r4, 1;\nadd.u32 %r4, %r4, 1;\n",
                  32),
        60);
    assert_int_equal(cycles_of("add.u32 %r4, %r0, 1;\n", "mul.lo.u32 %r4, %r4, 3;\nmul.lo.u32 %r4, %r4, 5;\n", 32), 16);
}

/* An operand from a bypass window is there as soon as one from a bank that is free, and what is written to it, too: a
 * window shortens no chain, but it spares the conflict of two operands in the same bank. */
static void bypass_window(void **state)
{
    const hd_rf_model_info *models[] = {NULL, hd_rf_model_find("bow-iw3", 7)};
    uint64_t cycles[2], conflicts[2];
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        timed chain = {.model = models[i]}, same = chain;
        time_body(&chain, "add.u32 %r4, %r0, 1;\nadd.u32 %r4, %r4, 1;\nadd.u32 %r4, %r4, 1;\nadd.u32 %r4, %r4, 1;\n", 1,
                  32);
        time_body(&same,
                  "add.u32 %r4, %r0, 1;\nadd.u32 %r5, %r0, 2;\nadd.u32 %r6, %r0, 3;\nadd.u32 %r7, %r0, 4;\n"
                  "add.u32 %r8, %r0, 5;\nadd.u32 %r4, %r4, 6;\nadd.u32 %r9, %r4, %r8;\n",
                  1, 32);
        cycles[i] = chain.counts.cycles;
        conflicts[i] = same.counts.sm.bank_conflicts;
    }
    assert_int_equal(cycles[0], cycles[1]);
    assert_int_equal(conflicts[0], conflicts[1] + 1);
}

/* A register file of L cycles: an addition has its operand L - 1 cycles later, and so has what needs its result, which
 * is written. The second operand of the same bank waits for an interval. */
static void slow_banks(void **state)
{
    static const char chain[] = "add.u32 %r4, %r0, 1;\nadd.u32 %r4, %r4, 1;\nadd.u32 %r4, %r4, 1;\n",
                      link[] = "add.u32 %r4, %r0, 1;\n";
    (void)state;
    for (uint32_t latency = 1; latency < 8; latency += 3) {
        timed all = {.machine = small_machine()}, one = all;
        all.machine.core.bank_latency = one.machine.core.bank_latency = latency;
        time_body(&all, chain, 1, 32);
        time_body(&one, link, 1, 32);
        assert_int_equal(all.counts.cycles - one.counts.cycles, 2 * (6 + 2 * (latency - 1)));
    }
#define FIVE                                                                                                \
    "add.u32 %r4, %r0, 1;\nadd.u32 %r5, %r0, 2;\nadd.u32 %r6, %r0, 3;\nadd.u32 %r7, %r0, 4;\nadd.u32 %r8, " \
    "%r0, 5;\n"
    for (uint32_t interval = 1; interval < 8; interval += 3) {
        timed same = {.machine = small_machine()}, other = same;
        same.machine.core.bank_interval = other.machine.core.bank_interval = interval;
        time_body(&same, FIVE "add.u32 %r9, %r4, %r8;\n", 1, 32);
        time_body(&other, FIVE "add.u32 %r9, %r5, %r8;\n", 1, 32);
        assert_int_equal(same.counts.cycles - other.counts.cycles, interval);
    }
}

/* Independent additions issue every cycle; the last one ends 2 + 4 cycles after it is issued. */
static void independent_instructions(void **state)
{
    (void)state;
    assert_int_equal(cycles_of("", "add.u32 %r4, %r0, 1;\nadd.u32 %r5, %r0, 2;\nadd.u32 %r6, %r0, 3;\n", 32) -
                         cycles_of("", "add.u32 %r4, %r0, 1;\n", 32),
                     2);
}

/* Two operands in the same bank are read one after the other; in different ones, together. Registers of the frame are
 * numbered in the order of their first mention. */
static void bank_conflicts(void **state)
{
    static const char names[] =
        "add.u32 %r4, %r0, 1;\nadd.u32 %r5, %r0, 2;\nadd.u32 %r6, %r0, 3;\nadd.u32 %r7, %r0, 4;\n"
        "add.u32 %r8, %r0, 5;\n";
    char same[512], other[512];
    timed t = {0}, u = {0};
    (void)state;
    snprintf(same, sizeof same, "%sadd.u32 %%r9, %%r4, %%r8;\n", names);
    snprintf(other, sizeof other, "%sadd.u32 %%r9, %%r5, %%r8;\n", names);
    time_body(&t, same, 1, 32);
    time_body(&u, other, 1, 32);
    assert_int_equal(t.counts.cycles, u.counts.cycles + 1);
    assert_int_equal(t.counts.sm.bank_conflicts, u.counts.sm.bank_conflicts + 1);
}

/* A collector with P ports receives three operands of three banks in ceil(3 / P) cycles. What it has in a window needs
 * no port: the one that the last instruction read. */
static void collector_ports(void **state)
{
    static const uint32_t later[] = {0, 2, 1, 0};
    static const char body[] = "add.u32 %r4, %r0, 1;\nadd.u32 %r5, %r0, 2;\nadd.u32 %r6, %r0, 3;\n"
                               "add.u32 %r7, %r4, 4;\nadd.u32 %r8, %r4, 5;\nadd.u32 %r9, %r4, 6;\n"
                               "mad.lo.u32 %r10, %r4, %r5, %r6;\n";
    uint64_t cycles[2][4];
    (void)state;
    for (uint32_t windows = 0; windows < 2; windows++)
        for (uint32_t ports = 0; ports < 4; ports++) {
            timed t = {.machine = small_machine(), .model = windows ? hd_rf_model_find("bow-iw3", 7) : NULL};
            t.machine.core.collector_ports = ports;
            time_body(&t, body, 1, 32);
            cycles[windows][ports] = t.counts.cycles;
        }
    for (uint32_t ports = 1; ports < 4; ports++)
        assert_int_equal(cycles[0][ports] - cycles[0][0], later[ports]);
    assert_int_equal(cycles[1][1] - cycles[1][0], 1);
    assert_int_equal(cycles[1][2], cycles[1][0]);
}

/* The special-function unit takes one every 8 cycles; two collectors are enough for it. */
static void initiation_interval(void **state)
{
    (void)state;
    assert_int_equal(cycles_of("mov.f32 %f1, 0f40000000;\nsqrt.approx.f32 %f2, %f1;\n",
                               "sqrt.approx.f32 %f3, %f1;\nsqrt.approx.f32 %f4, %f1;\n", 32),
                     16);
}

/* Issue to issue of what needs the result: a move takes 1 (read) + 1 (dispatch) + 1; a load that hits 1 + 1 + 1, then
 * l1.latency. */
static void a_load_that_hits(void **state)
{
    static const char first[] = "ld.global.u32 %r4, [%rd1];\nadd.u32 %r5, %r4, 1;\n";
    (void)state;
    assert_int_equal(cycles_of(first, "ld.global.u32 %r6, [%rd1+4];\nadd.u32 %r7, %r6, 1;\n", 32) -
                         cycles_of(first, "mov.u32 %r6, %r0;\nadd.u32 %r7, %r6, 1;\n", 32),
                     30);
}

/* ... and one that misses everywhere: on its way to the slice 7 and 1 cycle for 8 bytes at its port; 50 in the slice;
 * activation 13, command 11, 128 bytes in 4 cycles, controller 60; back 7, and 5 cycles for 8 + 128 bytes. */
static void a_load_that_misses(void **state)
{
    static const char before[] = "add.u64 %rd2, %rd1, 4;\n"; /* so that both wait for the parameter */
    timed t = {0};
    (void)state;
    assert_int_equal(cycles_of(before, "ld.global.u32 %r4, [%rd1];\nadd.u32 %r5, %r4, 1;\n", 32) -
                         cycles_of(before, "mov.u32 %r4, %r0;\nadd.u32 %r5, %r4, 1;\n", 32),
                     (7 + 1) + 50 + (13 + 11 + 4 + 60) + (7 + 5));
    time_body(&t, "ld.global.u32 %r4, [%rd1];\nadd.u32 %r5, %r4, 1;\n", 1, 32);
    assert_int_equal(t.counts.memory.dram_reads, 1);
    assert_int_equal(t.counts.memory.dram_bytes, 128);
    assert_int_equal(t.counts.memory.l2_reads, 1);
    assert_int_equal(t.counts.sm.l1_hits, 0);
    assert_int_equal(t.counts.sm.l1_reads, 1);
}

/* A branch to what comes next in the text is as fast as a move of its latency; where it skips something, the target is
 * fetched when the branch has executed, 1 cycle later, or fetch.latency. */
static void fetch_after_a_branch(void **state)
{
    static const char next[] = "bra.uni L;\nL:\nadd.u32 %r5, %r0, 2;\n",
                      over[] = "bra.uni L;\nadd.u32 %r4, %r0, 1;\nL:\nadd.u32 %r5, %r0, 2;\n";
    (void)state;
    for (uint32_t latency = 1; latency < 4; latency++) {
        timed to_next = {.machine = small_machine()}, skips = to_next;
        skips.machine.fetch.latency = to_next.machine.fetch.latency = latency;
        time_body(&to_next, next, 1, 32);
        time_body(&skips, over, 1, 32);
        assert_int_equal(skips.counts.cycles - to_next.counts.cycles, latency);
    }
}

/* Each warp is one of exactly one port, however many there are: all are fetched for. */
static void every_warp_has_a_fetch_port(void **state)
{
    (void)state;
    for (uint32_t ports = 1; ports <= 8; ports++) {
        timed t = {.machine = small_machine()};
        t.machine.fetch.ports = ports;
        time_body(&t, "add.u32 %r4, %r0, 1;\nadd.u32 %r5, %r0, 2;\n", 1, 256);
        assert_true(t.counts.cycles > 0 && t.counts.cycles < 1000);
    }
}

/* The only line of the code comes from device memory, as in a_load_that_misses; a loop has it afterwards. */
static void fetch_that_misses(void **state)
{
    static const char *const bodies[] = {
        "add.u32 %r4, %r0, 1;\n", "mov.u32 %r4, 0;\nL:\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 9;\n@%p1 bra L;\n"};
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        timed hits = {.machine = small_machine()}, misses = hits;
        misses.machine.fetch.bytes = 1024;
        time_body(&hits, bodies[i], 1, 32);
        time_body(&misses, bodies[i], 1, 32);
        assert_int_equal(misses.counts.cycles - hits.counts.cycles, (7 + 1) + 50 + (13 + 11 + 4 + 60) + (7 + 5));
        assert_int_equal(misses.counts.sm.code_misses, 1);
        assert_int_equal(hits.counts.sm.code_misses, 0);
    }
}

/* A store that is issued in cycle t reads in t + 1 and is sent in t + 3. Its 8 + 4 bytes, in a sector of 32, take 7 + 2
 * cycles to the slice, 50 there, and the answer of 8 bytes 7 + 1: a fence issues then, in t + 70, and a move in t + 1.
 * */
static void a_fence_waits(void **state)
{
    static const char fence[] = "st.global.u32 [%rd1], %r0;\nmembar.gl;\n",
                      move[] = "st.global.u32 [%rd1], %r0;\nmov.u32 %r4, 1;\n";
    timed fences = {.machine = small_machine()}, moves = fences, slow = fences;
    (void)state;
    time_body(&fences, fence, 1, 1);
    time_body(&moves, move, 1, 1);
    assert_int_equal(fences.counts.cycles - moves.counts.cycles, 3 + (7 + 2) + 50 + (7 + 1) - 1);
    slow.machine.l2.latency += 100;
    time_body(&slow, fence, 1, 1);
    assert_int_equal(slow.counts.cycles - fences.counts.cycles, 100);
}

static timed time_constants(uint32_t bytes, const char *body)
{
    timed t = {.machine = small_machine()};
    t.machine.constant.bytes = bytes;
    t.declarations = ".const .align 4 .b32 c[64];\n";
    time_body(&t, body, 1, 32);
    return t;
}

/* From device memory: 64 bytes are 2 cycles of its bus, and with 8 more 3 of the port. Instead of constant.latency. The
 * second one of the line hits. Each of 32 addresses is an access of its own. */
static void constants(void **state)
{
#define CONSTANT "mov.u64 %rd2, c;\nld.const.u32 %r4, [%rd2];\nadd.u32 %r5, %r4, 1;\n"
#define SECOND "ld.const.u32 %r6, [%rd2+4];\nadd.u32 %r7, %r6, 1;\n"
#define LANES(bytes)                                                                                               \
    "mov.u64 %rd2, c;\nmul.wide.u32 %rd3, %r0, " bytes ";\nadd.u64 %rd2, %rd2, %rd3;\nld.const.u32 %r4, [%rd2];\n" \
    "add.u32 %r5, %r4, 1;\n"
    (void)state;
    uint64_t miss = time_constants(256, CONSTANT).counts.cycles, hit = time_constants(0, CONSTANT).counts.cycles;
    assert_int_equal(miss - hit, (7 + 1) + 50 + (13 + 11 + 2 + 60) + (7 + 3) - 9);
    assert_int_equal(time_constants(256, CONSTANT SECOND).counts.cycles - miss,
                     time_constants(0, CONSTANT SECOND).counts.cycles - hit);
    assert_int_equal(time_constants(0, LANES("4")).counts.cycles - time_constants(0, LANES("0")).counts.cycles, 31);
}

/* Where loads of global memory do not use the L1 cache, those that never see a store do; or the texture cache. */
static void read_only_loads(void **state)
{
#define TWICE(load) load " %r4, [%rd1];\nadd.u32 %r5, %r4, 1;\n" load " %r6, [%rd1];\nadd.u32 %r7, %r6, 1;\n"
    timed plain = {.machine = small_machine()};
    (void)state;
    plain.machine.l1.global = 0;
    timed l1 = plain, texture = plain;
    texture.machine.texture.bytes = 1024;
    time_body(&plain, TWICE("ld.global.u32"), 1, 32);
    time_body(&l1, TWICE("ld.global.nc.u32"), 1, 32);
    time_body(&texture, TWICE("ld.global.nc.u32"), 1, 32);
    assert_int_equal(plain.counts.sm.l1_reads, 0);
    assert_int_equal(l1.counts.sm.l1_hits, 1);
    assert_int_equal(texture.counts.sm.l1_reads, 0);
    assert_int_equal(l1.counts.cycles - texture.counts.cycles, 30 - 25);
}

/* All lanes add to one word: one after the other. To a word of a bank each: at once. */
static void shared_atomics(void **state)
{
    timed same = {0}, other = {0};
    (void)state;
#define ADD(bytes)                                                                          \
    ".shared .align 4 .b32 s[32];\nmov.u32 %r4, s;\nmad.lo.u32 %r5, %r0, " bytes ", %r4;\n" \
    "atom.shared.add.u32 %r6, [%r5], 1;\n"
    time_body(&same, ADD("0"), 1, 32);
    time_body(&other, ADD("4"), 1, 32);
    assert_int_equal(same.counts.sm.shared_passes, 32);
    assert_int_equal(other.counts.sm.shared_passes, 1);
    assert_int_equal(same.counts.cycles - other.counts.cycles, 31);
}

#define ADD5 \
    "add.u32 %r4, %r4, 1;\nadd.u32 %r4, %r4, 1;\nadd.u32 %r4, %r4, 1;\nadd.u32 %r4, %r4, 1;\nadd.u32 %r4, %r4, 1;\n"
#define ADD20 ADD5 ADD5 ADD5 ADD5

/* Two warps, with a body each. */
static uint64_t cycles_of_two(const char *first, const char *second)
{
    char body[2048];
    timed t = {0};
    snprintf(body, sizeof body,
             "mov.u32 %%r4, 0;\nsetp.ge.u32 %%p1, %%r0, 32;\n@%%p1 bra SECOND;\n%sbra DONE;\nSECOND:\n%sDONE:\n", first,
             second);
    time_body(&t, body, 1, 64);
    return t.counts.cycles;
}

/* An addition takes 6 cycles of a chain. Who waits at bar.sync goes on when the other one has arrived. Who arrives
 * with bar.arrive, or has a barrier of its own, goes on at once: what it does until the other one, which adds for 120
 * cycles, has ended takes no time. */
static void named_barriers(void **state)
{
    (void)state;
    assert_int_equal(cycles_of_two("bar.sync 1, 64;\nmov.u32 %r5, 1;\n", ADD20 "bar.arrive 1, 64;\n"),
                     cycles_of_two("bar.sync 1, 64;\nmov.u32 %r5, 1;\n", ADD5 "bar.arrive 1, 64;\n") + 15 * 6);
    assert_int_equal(cycles_of_two(ADD20 "bar.sync 1, 64;\nmov.u32 %r5, 1;\n", "bar.arrive 1, 64;\n" ADD5),
                     cycles_of_two(ADD20 "bar.sync 1, 64;\nmov.u32 %r5, 1;\n", "bar.arrive 1, 64;\n" ADD5 ADD5));
    assert_int_equal(cycles_of_two(ADD20 "bar.sync 1, 32;\nmov.u32 %r5, 1;\n", "bar.sync 2, 32;\n" ADD5),
                     cycles_of_two(ADD20 "bar.sync 1, 32;\nmov.u32 %r5, 1;\n", "bar.sync 2, 32;\n" ADD5 ADD5));
}

/* ---- sub-cores: cycles of a body less those of another, one warp, on small_subcore_machine ----------------------- */

static uint64_t subcore_cycles(const char *body, hd_sm_counts *counts)
{
    timed t = {.machine = small_subcore_machine()};
    time_body(&t, body, 1, 32);
    *counts = t.counts.sm;
    return t.counts.cycles;
}

static uint64_t subcore_difference(const char *before, const char *part)
{
    char whole[4096];
    hd_sm_counts counts;
    snprintf(whole, sizeof whole, "%s%s", before, part);
    uint64_t with = subcore_cycles(whole, &counts);
    return with - subcore_cycles(before, &counts);
}

/* subcore.c: what needs a result of fixed latency issues `latency` cycles after it. */
static void subcore_forwards(void **state)
{
    (void)state;
    assert_int_equal(subcore_difference("add.u32 %r4, %r0, 1;\n", "add.u32 %r4, %r4, 1;\nadd.u32 %r4, %r4, 1;\n"
                                                                  "add.u32 %r4, %r4, 1;\nadd.u32 %r4, %r4, 1;\n"),
                     4 * 4);
    assert_int_equal(subcore_difference("add.u32 %r4, %r0, 1;\n", "mul.lo.u32 %r4, %r4, 3;\nmul.lo.u32 %r4, %r4, 5;\n"),
                     4 + 6 + 6 - 4);
    assert_int_equal(subcore_difference("add.u32 %r4, %r0, 1;\n", "add.u32 %r5, %r0, 2;\nadd.u32 %r6, %r0, 3;\n"), 2);
}

/* Registers of the frame are numbered in the order of their first mention: every other one is in the same bank. An
 * instruction that reads three of one bank fills the window of its port: one every 3 cycles. Of those that read two of
 * one bank, the first allocates in cycle a and reads in a + 1 and a + 2; the second allocates in a + 1, with two of the
 * cycles to a + 4 free; the third in a + 3, the fourth in a + 5. One of each bank: one every cycle. */
static void subcore_read_ports(void **state)
{
    static const struct {
        const char *operands;
        uint64_t cycles;
    } cases[] = {{"%r4, %r6, %r8", 3 * 3}, {"%r4, %r6, %r7", 5}, {"%r4, %r7, 3", 3}};
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char before[1024], part[1024];
        const char *o = cases[i].operands;
        snprintf(before, sizeof before,
                 "add.u32 %%r4, %%r0, 1;\nadd.u32 %%r5, %%r0, 2;\nadd.u32 %%r6, %%r0, 3;\nadd.u32 %%r7, %%r0, 4;\n"
                 "add.u32 %%r8, %%r0, 5;\nmad.lo.u32 %%r9, %s;\n",
                 o);
        snprintf(part, sizeof part, "mad.lo.u32 %%r10, %s;\nmad.lo.u32 %%r11, %s;\nmad.lo.u32 %%r12, %s;\n", o, o, o);
        assert_int_equal(subcore_difference(before, part), cases[i].cycles);
    }
}

/* A store that is issued in cycle t reads from t + 2 on: its two operands of one bank until t + 3. What overwrites one
 * of them issues then, and else in t + 1. */
static void subcore_keeps_operands(void **state)
{
    hd_sm_counts kept, other;
    (void)state;
#define STORE "add.u32 %r4, %r0, 1;\nadd.u32 %r5, %r0, 1;\nst.global.u32 [%rd1], %r4;\n"
    uint64_t overwrites = subcore_cycles(STORE "add.u32 %r4, %r0, 1;\n", &kept),
             writes = subcore_cycles(STORE "add.u32 %r5, %r0, 1;\n", &other);
    assert_int_equal(overwrites - writes, 2);
    assert_int_equal(kept.slots[HD_SM_SLOT_OPERANDS] - other.slots[HD_SM_SLOT_OPERANDS], 2);
}

/* The special-function unit takes one every 8 cycles, and two wait. The first, issued in cycle t, is dispatched in t +
 * 3 (control, one operand), the next in t + 11 and t + 19. The second issues in t + 1; the third when the first is
 * dispatched, after one slot without a place; the fourth in t + 11, after 7 more; the fifth in t + 19, after 7 more. */
static void subcore_queue(void **state)
{
    hd_sm_counts counts, less;
    (void)state;
#define ROOTS "mov.f32 %f1, 0f40000000;\nsqrt.approx.f32 %f2, %f1;\nsqrt.approx.f32 %f3, %f1;\n"
    subcore_cycles(ROOTS "sqrt.approx.f32 %f4, %f1;\nsqrt.approx.f32 %f5, %f1;\n", &less);
    subcore_cycles(ROOTS "sqrt.approx.f32 %f4, %f1;\nsqrt.approx.f32 %f5, %f1;\nsqrt.approx.f32 %f6, %f1;\n", &counts);
    assert_int_equal(less.slots[HD_SM_SLOT_UNIT], 1 + 7);
    assert_int_equal(counts.slots[HD_SM_SLOT_UNIT], 1 + 7 + 7);
}

/* Random programs on random machines: the slots of all schedulers add up, nothing is lost, all ends, and the clock may
 * go through every cycle or jump. */
static void the_clock_may_jump(void **state)
{
    enum { TEXT_BYTES = 1 << 19 };
    static program p;
    static uint32_t out[96 * RESULT_WORDS];
    char *text = hd_malloc(TEXT_BYTES);
    (void)state;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        uint64_t by_chance = seed;
        timed t[2];
        program_make(&p, seed);
        program_print(&p, text, TEXT_BYTES);
        hd_machine machine = random_machine(&by_chance);
        for (uint32_t i = 0; i < 2; i++) {
            t[i] = (timed){.machine = machine, .sms = 1 + (uint32_t)seed % 3, .ctas = 1 + (uint32_t)seed % 2};
            t[i].every_cycle = i;
            kernel_run run = {.text = text,
                              .in = p.inputs,
                              .in_bytes = sizeof p.inputs,
                              .out = out,
                              .out_bytes = sizeof *out * RESULT_WORDS * p.threads,
                              .grid = 5,
                              .block = p.threads,
                              .options.instruction_limit = 10000000,
                              .passes = seed % 2 ? "select,regalloc" : NULL,
                              .opened = open_timed,
                              .closing = close_timed,
                              .context = &t[i]};
            run_kernel(&run);
            if (run.status != HD_EXEC_DONE || t[i].status != HD_TIMING_DONE)
                fail_msg("seed %u: %s, status %d", (unsigned)seed, run.message, t[i].status);
            assert_true(t[i].idle);
            assert_int_equal(t[i].counts.sm.warp_instructions, run.statistics.warp_instructions);
            uint64_t slots = 0;
            for (uint32_t s = 0; s < HD_SM_SLOTS_ALL; s++)
                slots += t[i].counts.sm.slots[s];
            assert_int_equal(slots, t[i].counts.cycles * t[i].sms * machine.core.schedulers * machine.core.issue_width);
            assert_int_equal(t[i].counts.sm.slots[HD_SM_SLOT_ISSUED], run.statistics.warp_instructions);
        }
        if (memcmp(&t[0].counts, &t[1].counts, sizeof t[0].counts))
            fail_msg("seed %u: %llu cycles, and %llu when each is handled", (unsigned)seed,
                     (unsigned long long)t[0].counts.cycles, (unsigned long long)t[1].counts.cycles);
        assert_memory_equal(t[0].counters, t[1].counters, sizeof t[0].counters);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_dependent_chain),
                                       cmocka_unit_test(independent_instructions),
                                       cmocka_unit_test(slow_banks),

                                       cmocka_unit_test(bypass_window),
                                       cmocka_unit_test(bank_conflicts),
                                       cmocka_unit_test(collector_ports),
                                       cmocka_unit_test(initiation_interval),
                                       cmocka_unit_test(a_load_that_hits),
                                       cmocka_unit_test(a_load_that_misses),
                                       cmocka_unit_test(a_fence_waits),
                                       cmocka_unit_test(constants),
                                       cmocka_unit_test(read_only_loads),
                                       cmocka_unit_test(shared_atomics),
                                       cmocka_unit_test(named_barriers),
                                       cmocka_unit_test(fetch_after_a_branch),
                                       cmocka_unit_test(fetch_that_misses),
                                       cmocka_unit_test(every_warp_has_a_fetch_port),
                                       cmocka_unit_test(subcore_forwards),
                                       cmocka_unit_test(subcore_read_ports),
                                       cmocka_unit_test(subcore_keeps_operands),
                                       cmocka_unit_test(subcore_queue),
                                       cmocka_unit_test(the_clock_may_jump)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
