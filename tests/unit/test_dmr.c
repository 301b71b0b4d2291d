/* Warped-DMR: the paper's table 4.1, its examples, algorithm 2 in cycles that are derived by hand, coverage counted by
 * hand, and verifications that are lost. The paper is that of hwmodel/rf/models/dmr.c. */
#include "rf_replay.h"
#include "small_machine.h"
#include "timed_kernel.h"

#include "hwmodel/rf/models/dmr_lanes.h"

static const hd_dmr_lanes in_order = {4, false}, crossed = {4, true}, eight = {8, false}, crossed_eight = {8, true};

/* ---- lanes ------------------------------------------------------------------------------------------------------- */

static void multiplexers_follow_table_4_1(void **state)
{
    static const uint32_t table[4][4] = {{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}}; /* by priority */
    (void)state;
    for (uint32_t active = 1; active < 16; active++)
        for (uint32_t mux = 0; mux < 4; mux++) {
            uint32_t k = 0;
            while (!(active >> table[k][mux] & 1))
                k++;
            assert_int_equal(hd_dmr_partner(&in_order, active << 8, 8 + mux), 8 + table[k][mux]);
        }
}

/* Figure 4.5: of 4'b0011, lanes 2 and 3 repeat 0 and 1. */
static void idle_lanes_repeat_as_in_figure_4_5(void **state)
{
    uint32_t repeats;
    (void)state;
    assert_int_equal(hd_dmr_partner(&in_order, 3, 2), 0);
    assert_int_equal(hd_dmr_partner(&in_order, 3, 3), 1);
    assert_int_equal(hd_dmr_paired(&in_order, 3, &repeats), 3);
    assert_int_equal(repeats, 2);
    assert_int_equal(hd_dmr_paired(&in_order, 1, &repeats), 1); /* one lane: the other three repeat it */
    assert_int_equal(repeats, 3);
}

/* Section 4.4.2: thread 0 in cluster 0, thread 1 in cluster 1, and so on. */
static void threads_are_mapped_to_lanes(void **state)
{
    const hd_dmr_lanes *all[] = {&in_order, &crossed, &eight, &crossed_eight};
    (void)state;
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t lanes = 0, repeated = 0;
        for (uint32_t t = 0; t < 32; t++) {
            uint32_t lane = hd_dmr_lane(all[k], t), other = hd_dmr_unshuffled(all[k], lane);
            assert_int_equal(lane / all[k]->cluster, all[k]->cross ? t % (32 / all[k]->cluster) : t / all[k]->cluster);
            assert_int_equal(hd_dmr_thread(all[k], lane), t);
            assert_int_equal(other / all[k]->cluster, lane / all[k]->cluster);
            assert_int_not_equal(other, lane);
            lanes |= 1u << lane;
            repeated |= 1u << other;
        }
        assert_int_equal(lanes & repeated, UINT32_MAX);
    }
}

/* Section 4.3.3: all are verified where at most half of the threads are active, else as many as are idle; in a cluster
 * of four by the pairing of table 4.1. Section 4.5: so more than two active ones are too many. */
static void pairing_covers_half_a_cluster_of_four(void **state)
{
    (void)state;
    for (uint32_t active = 1; active < 15; active++) {
        uint32_t repeats, paired = hd_dmr_paired(&in_order, active << 12, &repeats),
                          count = (uint32_t)__builtin_popcount(active);
        assert_int_equal(__builtin_popcount(paired), count <= 2 ? count : 4 - count);
        assert_int_equal(paired & ~(active << 12), 0);
        assert_int_equal(repeats, 4 - count);
    }
}

/* In a cluster of eight the same priorities leave lanes 0 and 1 out, though half of the lanes are idle. */
static void pairing_may_leave_lanes_out_of_eight(void **state)
{
    uint32_t repeats;
    (void)state;
    assert_int_equal(hd_dmr_paired(&eight, 0x17, &repeats), 0x14);
}

/* ---- algorithm 2, in cycles -------------------------------------------------------------------------------------- */

/* On which the warp waits for nothing but what the tests are about. */
static hd_machine machine(void)
{
    hd_machine m = small_machine();
    m.fetch.buffer = m.fetch.width = 16;
    m.core.collectors = 16;
    m.classes[HD_MACHINE_CLASS_SFU].interval = 1; /* section 4.3.2: units take a cycle */
    return m;
}

static timed time_model(const char *options, const char *body, const char *declarations, uint32_t block)
{
    hd_rf_model_info info = *hd_rf_model_find("warped-dmr", 10);
    info.options = options;
    timed t = {.model = &info, .machine = machine(), .declarations = declarations};
    time_body(&t, body, 1, block);
    t.model = NULL;
    return t;
}

static timed time_without(const char *body, const char *declarations)
{
    timed t = {.machine = machine(), .declarations = declarations};
    time_body(&t, body, 1, 32);
    return t;
}

/* Seven instructions of one type that need nothing (the index of the thread is the first), and the end of the kernel.
 * Each but the last one meets one of its own type in the next cycle: `entries` of them are queued, and each other one
 * takes an inserted cycle. The last one is repeated while nothing of its type issues. The warp ends when nothing is
 * left to repeat: whatever the queue, seven repetitions take seven cycles of the one unit that does them. */
static void a_run_of_one_type_fills_the_queue(void **state)
{
    static const char body[] = "mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nmov.u32 %r3, 3;\nmov.u32 %r4, 4;\nmov.u32 %r5, 5;\n"
                               "mov.u32 %r6, 6;\n";
    timed none = time_without(body, NULL);
    (void)state;
    for (uint32_t entries = 0; entries <= 10; entries++) {
        char options[32];
        snprintf(options, sizeof options, "entries=%u", entries);
        timed t = time_model(options, body, NULL, 32);
        uint32_t queued = entries < 6 ? entries : 6;
        assert_int_equal(t.counters[HD_COUNTER_DMR_REPEATED], 7);
        assert_int_equal(t.counters[HD_COUNTER_DMR_VERIFIED], 7 * 32);
        assert_int_equal(t.counters[HD_COUNTER_DMR_QUEUED], queued);
        assert_int_equal(t.counters[HD_COUNTER_DMR_STALLS], 6 - queued);
        const uint64_t *slots = t.counts.sm.slots;
        uint32_t waits =
            6 - queued ? 5 - queued : 0; /* the last inserted cycle delays the end, which waits in any case */
        assert_int_equal(slots[hd_sm_stall_slot(HD_STALL_REPLAY)], waits);
        assert_int_equal(slots[hd_sm_stall_slot(HD_STALL_VERIFICATION)], 7 - waits);
        assert_int_equal(t.counts.cycles, none.counts.cycles + 7);
    }
}

/* Figure 4.3: arithmetic, loads and a special function in turn. Each is repeated while the next one issues: nothing is
 * queued. The one cycle more at the end, in which the last one is repeated, is hidden behind the latency of the
 * load. */
static void types_in_turn_need_no_queue(void **state)
{
    static const char shared[] = ".shared .f32 s[4];\n";
    static const char body[] = "ld.shared.f32 %f2, [s];\nadd.f32 %f1, 0f3f800000, 0f40000000;\n"
                               "ld.shared.f32 %f4, [s+4];\nadd.f32 %f3, 0f3f800000, 0f40000000;\n"
                               "sin.approx.f32 %f5, 0f3f800000;\nld.shared.f32 %f6, [s+8];\n";
    timed none = time_without(body, shared), t = time_model("entries=0", body, shared, 32);
    (void)state;
    assert_int_equal(t.counters[HD_COUNTER_DMR_REPEATED], 7);
    assert_int_equal(t.counters[HD_COUNTER_DMR_QUEUED], 0);
    assert_int_equal(t.counters[HD_COUNTER_DMR_STALLS], 0);
    assert_int_equal(t.counts.cycles, none.counts.cycles);
}

/* Algorithm 2: arithmetic that is followed by arithmetic is queued, and comes out of the queue when two loads meet. */
static void another_type_comes_out_of_the_queue(void **state)
{
    static const char shared[] = ".shared .f32 s[4];\n";
    static const char body[] = "mov.u32 %r1, 1;\nld.shared.f32 %f1, [s];\nld.shared.f32 %f2, [s+4];\n"
                               "mov.u32 %r2, 2;\n";
    timed t = time_model("entries=1", body, shared, 32);
    (void)state;
    assert_int_equal(t.counters[HD_COUNTER_DMR_REPEATED], 5);
    assert_int_equal(t.counters[HD_COUNTER_DMR_QUEUED], 2); /* the index of the thread; the first load */
    assert_int_equal(t.counters[HD_COUNTER_DMR_STALLS], 0);
    assert_int_equal(t.counters[HD_COUNTER_QUEUE_WRITES], 1 + 2); /* a result; an address, as operand and result */
    assert_int_equal(t.counters[HD_COUNTER_QUEUE_READS], 1 + 2);
}

/* ---- coverage ---------------------------------------------------------------------------------------------------- */

static rf_replay count_models(const char *text, const hd_rf_model_info *models, uint32_t count, uint32_t block)
{
    static uint32_t out[256];
    rf_replay r = {.models = models, .model_count = count};
    r.run.text = text;
    r.run.block = block;
    r.run.out = out;
    r.run.out_bytes = sizeof out;
    r.residency = (hd_rf_residency){.ctas = 4, .active = 8, .latency = 4, .bytes = 1 << 20};
    return r;
}

/* A warp with 20 active threads. In order: five full clusters, of which nothing is verified. Crossed: the clusters 0 to
 * 3 have three of their threads, 4 to 7 two: 4 x 1 + 4 x 2 of 20. Of 8 lanes in order: two full clusters, and one with
 * four of eight: 4. Enhanced: all. */
static void coverage_is_that_counted_by_hand(void **state)
{
    static const char *const names[] = {"warped-dmr-inorder", "warped-dmr", "warped-dmr-8", "warped-dmr-enhanced"};
    static const uint32_t verified[] = {0, 12, 4, 20};
    char text[2048];
    (void)state;
    for (uint32_t m = 0; m < 4; m++) {
        const hd_rf_model_info *info = hd_rf_model_find(names[m], strlen(names[m]));
        rf_replay r = count_models(kernel_text(text, sizeof text, "add.u32 %r1, %r0, 1;\nst.global.u32 [%rd1], %r1;"),
                                   info, 1, 20);
        rf_replay_run(&r);
        assert_true(r.proved);
        const uint64_t *counters = r.results[0].counters;
        assert_int_equal(counters[HD_COUNTER_DMR_LANES], 4 * 20); /* with the load of the pointer */
        assert_int_equal(counters[HD_COUNTER_DMR_VERIFIED], 4 * verified[m]);
        assert_int_equal(counters[HD_COUNTER_DMR_REPEATED], m == 3 ? 4 : 0);
        assert_int_equal(counters[HD_COUNTER_DMR_INSTRUCTIONS], 4);
        assert_int_equal(counters[HD_COUNTER_DMR_WHOLE], m == 3 ? 4 : 0); /* no pairing has all 20 */
        timed t = time_model(info->options, "add.u32 %r1, %r0, 1;\nadd.u32 %r2, %r0, 1;\n", NULL, 20);
        assert_int_equal(t.counters[HD_COUNTER_DMR_VERIFIED], 3 * verified[m]);
    }
}

/* Four active threads, 0 to 3. In order: one full cluster, of which nothing is verified. Crossed: one thread of each
 * of four clusters, all verified. */
static void instructions_verified_whole_are_counted(void **state)
{
    static const char *const names[] = {"warped-dmr-inorder", "warped-dmr"};
    char text[2048];
    (void)state;
    for (uint32_t m = 0; m < 2; m++) {
        rf_replay r = count_models(kernel_text(text, sizeof text, "add.u32 %r1, %r0, 1;\nst.global.u32 [%rd1], %r1;"),
                                   hd_rf_model_find(names[m], strlen(names[m])), 1, 4);
        rf_replay_run(&r);
        const uint64_t *counters = r.results[0].counters;
        assert_int_equal(counters[HD_COUNTER_DMR_INSTRUCTIONS], 4);
        assert_int_equal(counters[HD_COUNTER_DMR_WHOLE], m ? 4 : 0);
        assert_int_equal(counters[HD_COUNTER_DMR_VERIFIED], m ? 16 : 0);
    }
}

/* Section 4.4.4: an entry has 3 operands and a result of 32 lanes, and at most 4 bytes of opcode; ten are 5 KB. */
static void the_queue_has_the_size_of_the_paper(void **state)
{
    char text[2048];
    rf_replay r =
        count_models(kernel_text(text, sizeof text, "add.u32 %r1, %r0, 1;"), hd_rf_model_find("warped-dmr", 10), 1, 32);
    (void)state;
    rf_replay_run(&r);
    assert_int_equal(r.results[0].storage_bits, 10 * 516 * 8);
}

/* ---- what is lost is noticed ------------------------------------------------------------------------------------- */

static rf_replay lose(uint32_t fault)
{
    static const char body[] = "mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nadd.u32 %r3, %r1, %r2;\n"
                               "st.global.u32 [%rd1], %r3;\nst.global.u32 [%rd1], %r0;";
    static char text[2048];
    rf_replay r = count_models(kernel_text(text, sizeof text, body), hd_rf_model_find("warped-dmr", 10), 1, 32);
    r.fault = fault;
    rf_replay_run(&r);
    return r;
}

/* Six words of results are written to the register file, and are read again; what is not repeated at once is queued.
 * Each of these moves that is lost is noticed: by a reader, or where the warp ends. */
static void lost_verifications_are_noticed(void **state)
{
    rf_replay whole = lose(0);
    uint32_t moves = 6 + (uint32_t)whole.results[0].counters[HD_COUNTER_DMR_QUEUED];
    (void)state;
    assert_true(whole.proved && whole.results[0].counters[HD_COUNTER_DMR_QUEUED] >= 2);
    for (uint32_t fault = 1; fault <= moves; fault++)
        assert_false(lose(fault).proved);
    assert_true(lose(moves + 1).proved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multiplexers_follow_table_4_1),
        cmocka_unit_test(idle_lanes_repeat_as_in_figure_4_5),
        cmocka_unit_test(threads_are_mapped_to_lanes),
        cmocka_unit_test(pairing_covers_half_a_cluster_of_four),
        cmocka_unit_test(pairing_may_leave_lanes_out_of_eight),
        cmocka_unit_test(a_run_of_one_type_fills_the_queue),
        cmocka_unit_test(types_in_turn_need_no_queue),
        cmocka_unit_test(another_type_comes_out_of_the_queue),
        cmocka_unit_test(coverage_is_that_counted_by_hand),
        cmocka_unit_test(the_queue_has_the_size_of_the_paper),
        cmocka_unit_test(lost_verifications_are_noticed),
        cmocka_unit_test(instructions_verified_whole_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
