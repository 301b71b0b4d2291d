/* Faults of lanes: what the interpreter changes, and that Warped-DMR detects as many of them as its coverage says: each
 * operation of a small kernel, and a sample of those of a larger one, in count mode and in cycles. */
#include "rf_replay.h"
#include "small_machine.h"
#include "timed_kernel.h"

#include "hwmodel/rf/models/dmr_lanes.h"

#include <math.h>

static const char *const models[] = {"warped-dmr-inorder", "warped-dmr", "warped-dmr-8", "warped-dmr-enhanced"};
enum { MODELS = 4 };

static const hd_rf_model_info *info_of(const char *name) { return hd_rf_model_find(name, strlen(name)); }

/* ---- the text of faults ------------------------------------------------------------------------------------------ */

static void texts_are_read(void **state)
{
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"", "there is no ''; there are sm, lane, unit, bit, stuck and flip"},
        {"lane=5,unit=sp,bit=3", "a fault has either 'stuck' or 'flip'"},
        {"lane=5,unit=sp,bit=3,stuck=1,flip=1", "a fault has either 'stuck' or 'flip'"},
        {"unit=sp,bit=3,stuck=1", "'lane' is missing"},
        {"lane=5,bit=3,stuck=1", "'unit' is missing"},
        {"lane=5,unit=sp,flip=7", "'bit' is missing"},
        {"lane=32,unit=sp,bit=3,stuck=1", "'lane' takes a number from 0 to 31"},
        {"lane=5,unit=sp,bit=64,stuck=1", "'bit' takes a number from 0 to 63"},
        {"lane=5,unit=alu,bit=3,stuck=1", "'unit' takes sp, sfu or ldst"},
        {"lane=5,unit=sp,bit=3,stuck=2", "'stuck' takes 0 or 1"},
        {"lane=5,unit=sp,bit=3,flip=0", "'flip' takes the number of an operation, from 1"},
        {"lane=5,unit=sp,bit=3,flip=", "'flip' takes the number of an operation, from 1"},
        {"lane=5,lane=6,unit=sp,bit=3,flip=1", "'lane' is given twice"},
        {"lane,unit=sp,bit=3,flip=1", "'lane' takes a number from 0 to 31"},
        {"lanes=5,unit=sp,bit=3,flip=1", "there is no 'lanes'; there are sm, lane, unit, bit, stuck and flip"},
        {"lane=5x,unit=sp,bit=3,flip=1", "'lane' takes a number from 0 to 31"},
    };
    char message[HD_LANE_FAULT_MESSAGE];
    hd_lane_fault f;
    (void)state;
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(hd_lane_fault_read(wrong[i].text, &f, message));
        assert_string_equal(message, wrong[i].message);
    }
    assert_true(hd_lane_fault_read("sm=2,lane=31,unit=ldst,bit=63,stuck=1", &f, message));
    assert_true(f.sm == 2 && f.lane == 31 && f.unit == HD_LANE_LDST && f.bit == 63 && f.stuck && f.value == 1);
    assert_true(hd_lane_fault_read("unit=sfu,flip=12345678901,bit=0,lane=0", &f, message));
    assert_true(!f.sm && !f.lane && f.unit == HD_LANE_SFU && !f.bit && !f.stuck && f.operation == 12345678901);
}

/* ---- what the interpreter changes -------------------------------------------------------------------------------- */

static uint32_t out[4096];

static void run_with(hd_faulty_lane *lane, const char *body, uint32_t grid)
{
    char text[4096];
    memset(out, 0, sizeof out);
    kernel_run run = {.text = kernel_text(text, sizeof text, body),
                      .out = out,
                      .out_bytes = sizeof out,
                      .grid = grid,
                      .options = {.lane_fault = lane}};
    run_kernel(&run);
    assert_int_equal(run.status, HD_EXEC_DONE);
}

static const char stores_tids[] = "mov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r2, %r1, 32, %r0;\nmul.wide.u32 %rd2, %r2, 4;\n"
                                  "add.u64 %rd2, %rd1, %rd2;\nst.global.u32 [%rd2], %r0;";

static void a_stuck_bit_is_in_every_result(void **state)
{
    hd_faulty_lane lane = {
        .fault = {.lane = 5, .unit = HD_LANE_SP, .bit = 3, .stuck = true, .value = 1}, .sms = 3, .thread = 5};
    (void)state;
    lane.fault.bit = 40; /* of the 64-bit results alone, which are addresses; but that store would fault */
    lane.fault.value = 0;
    run_with(&lane, "add.u32 %r1, %r0, 1;", 6);
    assert_int_equal(lane.operations, 2 * 2); /* mov, add of two blocks: 0 and 3 */
    assert_int_equal(lane.wrong, 0);
    lane = (hd_faulty_lane){
        .fault = {.lane = 5, .unit = HD_LANE_SP, .stuck = true, .value = 1, .bit = 4}, .sms = 3, .thread = 6};
    run_with(&lane,
             "add.u32 %r1, %r0, 1;\nmul.wide.u32 %rd2, %r0, 0;\nadd.u64 %rd2, %rd1, 256;\n"
             "@%p0 st.global.u32 [%rd2], %r1;\nsetp.eq.u32 %p1, %r0, 0;",
             6);
    assert_int_equal(lane.operations, 2 * 5);
    /* tid 6 becomes 22, and 23 has the bit; 0 x 22 has it not, and of the address bit 4 is not set; a predicate has no
     * bit 4 */
    assert_int_equal(lane.wrong, 2 * 3);
}

/* The second operation of lane 7 on SM 1: the mov of %ctaid of block 1. */
static void a_flip_is_in_one_result(void **state)
{
    hd_faulty_lane lane = {
        .fault = {.sm = 1, .lane = 7, .unit = HD_LANE_SP, .bit = 1, .operation = 2}, .sms = 2, .thread = 7};
    (void)state;
    run_with(&lane, stores_tids, 4);
    for (uint32_t i = 0; i < 4 * 32; i++)
        assert_int_equal(out[i], i == 32 + 7 ? 0 : i == 3 * 32 + 7 ? 7 : i % 32); /* block 1 goes to that of block 3 */
    assert_int_equal(lane.operations, 2 * 5);
    assert_int_equal(lane.wrong, 1);
}

/* Bit 2 of an address is the next thread's element. */
static void a_lane_of_the_load_store_unit_has_wrong_addresses(void **state)
{
    hd_faulty_lane lane = {
        .fault = {.lane = 4, .unit = HD_LANE_LDST, .bit = 2, .stuck = true, .value = 1}, .sms = 1, .thread = 4};
    (void)state;
    run_with(&lane, stores_tids, 2);
    for (uint32_t i = 0; i < 2 * 32; i++)
        assert_int_equal(out[i], i % 32 == 4 ? 0 : i % 32);
    assert_int_equal(lane.operations, 2); /* loads of parameters are operands in the constant bank */
    assert_int_equal(lane.wrong, 2);
    lane.fault.unit = HD_LANE_SFU;
    lane.operations = lane.wrong = 0;
    run_with(&lane, "cvt.rn.f32.u32 %f1, %r0;\nsin.approx.f32 %f2, %f1;\nadd.f32 %f3, %f2, %f1;", 1);
    assert_int_equal(lane.operations, 1);
}

/* ---- detection --------------------------------------------------------------------------------------------------- */

/* Threads part in three ways, and again in a loop whose length depends on the thread: from 1 to 32 lanes are active.
 * Nothing but loads of parameters is memory. */
static const char parts[] = "and.b32 %r1, %r0, 3;\nmov.u32 %r2, 0;\nsetp.lt.u32 %p1, %r1, 2;\n@%p1 bra FEW;\n"
                            "add.u32 %r2, %r0, 5;\nsetp.eq.u32 %p2, %r1, 3;\n@%p2 bra JOIN;\nxor.b32 %r2, %r2, %r0;\n"
                            "bra JOIN;\nFEW:\nmul.lo.u32 %r2, %r0, 3;\nJOIN:\nshr.u32 %r3, %r0, 2;\n"
                            "LOOP:\nadd.u32 %r2, %r2, %r3;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p3, %r3, 9;\n"
                            "@%p3 bra LOOP;\nadd.u32 %r4, %r2, 1;";

/* The thread of the lane, as the model maps it; operations and wrong results from 0 on. */
static hd_faulty_lane lane_of(const hd_rf_model_info *model, hd_lane_fault fault)
{
    return (hd_faulty_lane){fault, 1, model->ops->thread_of_lane(model->options, fault.lane), 0, 0};
}

static rf_replay replay_with(const hd_rf_model_info *model, hd_faulty_lane *lane, const char *body, uint32_t grid,
                             uint32_t block)
{
    static char text[4096];
    rf_replay r = {.models = model, .model_count = 1};
    r.run.text = kernel_text(text, sizeof text, body);
    r.run.grid = grid;
    r.run.block = block;
    r.run.out = out;
    r.run.out_bytes = sizeof out;
    r.run.options.lane_fault = lane;
    r.residency = (hd_rf_residency){.ctas = 4, .active = 8, .latency = 4, .bytes = 1 << 22};
    rf_replay_run(&r);
    assert_true(r.proved);
    return r;
}

/* Operations of the lane in a run in which nothing is wrong. */
static uint64_t operations_of(const hd_rf_model_info *model, uint32_t lane, hd_lane_unit unit, const char *body,
                              uint32_t grid, uint32_t block)
{
    hd_faulty_lane faulty =
        lane_of(model, (hd_lane_fault){.lane = lane, .unit = (uint8_t)unit, .operation = UINT64_MAX});
    replay_with(model, &faulty, body, grid, block);
    assert_int_equal(faulty.wrong, 0);
    return faulty.operations;
}

/* Is the flip of the lowest bit in this operation detected? In count mode and in cycles, at the same instruction. */
static bool is_detected(const hd_rf_model_info *model, hd_lane_fault fault, const char *body, uint32_t grid,
                        uint32_t block, bool timed_too)
{
    hd_faulty_lane lane = lane_of(model, fault), again = lane;
    rf_replay r = replay_with(model, &lane, body, grid, block);
    const hd_rf_detection d = r.results[0].detection;
    assert_int_equal(lane.wrong, 1);
    assert_int_equal(d.wrong, 1);
    assert_int_equal(d.differences, d.caught);
    assert_true(d.caught <= 1 && (!d.caught || d.first.thread == lane.thread));
    if (!timed_too)
        return d.caught;
    timed t = {.model = model, .lane_fault = &again, .sms = 2, .ctas = 2};
    time_body(&t, body, grid, block);
    assert_int_equal(t.detection.wrong, 1);
    assert_int_equal(t.detection.caught, d.caught);
    assert_true(!d.caught || (t.detection.first.instruction == d.first.instruction &&
                              t.detection.first.warp == d.first.warp && t.detection.first.at < t.counts.cycles));
    return d.caught;
}

/* Each operation of each lane once: as many are detected as are counted as verified. */
static void every_verified_operation_is_detected(void **state)
{
    (void)state;
    for (uint32_t m = 0; m < MODELS; m++)
        for (uint32_t block = 27; block <= 32; block += 5) {
            const hd_rf_model_info *model = info_of(models[m]);
            rf_replay whole = replay_with(model, NULL, parts, 1, block);
            uint64_t faults = 0, caught = 0;
            for (uint32_t l = 0; l < 32; l++) {
                uint64_t operations = operations_of(model, l, HD_LANE_SP, parts, 1, block);
                faults += operations;
                for (uint64_t k = 1; k <= operations; k++)
                    caught += is_detected(model, (hd_lane_fault){.lane = l, .unit = HD_LANE_SP, .operation = k}, parts,
                                          1, block, k % 5 == 0);
            }
            const uint64_t *counters = whole.results[0].counters;
            assert_int_equal(faults, counters[HD_COUNTER_DMR_LANES]);
            assert_int_equal(caught, counters[HD_COUNTER_DMR_VERIFIED]);
            assert_true(m < 3 ? caught && caught < faults : caught == faults);
        }
}

/* A sample of the operations of six blocks of three warps, two of which are full: the share that is detected is the
 * counted coverage, within four standard deviations of the sample. LANE_FAULT_COUNT and
 * LANE_FAULT_SEED: for a larger sample. */
static void a_sample_is_detected_as_the_coverage_says(void **state)
{
    enum { GRID = 6, BLOCK = 85 };
    const char *seeds = getenv("LANE_FAULT_SEED"), *count = getenv("LANE_FAULT_COUNT");
    const uint32_t faults = count ? (uint32_t)atoi(count) : 300;
    (void)state;
    for (uint32_t m = 0; m < MODELS; m++) {
        const hd_rf_model_info *model = info_of(models[m]);
        uint64_t seed = (seeds ? strtoull(seeds, NULL, 10) : 1000) + m, first[33] = {0};
        rf_replay whole = replay_with(model, NULL, parts, GRID, BLOCK);
        const uint64_t *counters = whole.results[0].counters;
        double coverage = (double)counters[HD_COUNTER_DMR_VERIFIED] / (double)counters[HD_COUNTER_DMR_LANES];
        uint32_t caught = 0;
        for (uint32_t l = 0; l < 32; l++)
            first[l + 1] = first[l] + operations_of(model, l, HD_LANE_SP, parts, GRID, BLOCK);
        assert_int_equal(first[32], counters[HD_COUNTER_DMR_LANES]);
        for (uint32_t i = 0; i < faults; i++) {
            uint64_t operation = unit_random(&seed) % first[32], l = 0;
            while (first[l + 1] <= operation)
                l++;
            hd_lane_fault fault = {.lane = (uint32_t)l, .unit = HD_LANE_SP, .operation = 1 + operation - first[l]};
            caught += is_detected(model, fault, parts, GRID, BLOCK, i % 10 == 0);
        }
        double deviation = sqrt(coverage * (1 - coverage) / faults);
        assert_true(fabs((double)caught / faults - coverage) <= 4 * deviation + 1e-9);
    }
}

/* ---- stuck bits -------------------------------------------------------------------------------------------------- */

static rf_replay replay_stuck(const char *options, uint32_t block, hd_faulty_lane *lane)
{
    hd_rf_model_info model = *info_of("warped-dmr");
    model.options = options;
    *lane = lane_of(&model, (hd_lane_fault){.lane = 9, .unit = HD_LANE_SP, .bit = 1, .stuck = true, .value = 1});
    return replay_with(&model, lane, "add.u32 %r1, %r0, 1;\nadd.u32 %r2, %r0, 2;\nmov.u32 %r3, 0;\nmov.u32 %r4, 2;", 1,
                       block);
}

/* Section 4.3.2: a full warp that is repeated on its own lanes hides a stuck bit; shuffled, both the lane's own results
 * and those of the lane before it, which it repeats, differ. Lane 9, in order: thread 9 has 9, which becomes 11, then
 * 12, which becomes 14, 13, 0 and 2: in all but the last bit 1 is not set. The thread before it has 8, 9, 10, 0, 2,
 * where it is not in three. */
static void stuck_bits_are_hidden_without_shuffling(void **state)
{
    hd_faulty_lane lane;
    rf_replay shuffled = replay_stuck("entries=10,cluster=4,inorder", 32, &lane);
    hd_rf_detection d = shuffled.results[0].detection;
    (void)state;
    assert_int_equal(lane.operations, 5);
    assert_int_equal(d.wrong, 4);
    assert_int_equal(d.caught, 4);
    assert_int_equal(d.differences, 4 + 3);
    rf_replay hidden = replay_stuck("entries=10,cluster=4,inorder,unshuffled", 32, &lane);
    d = hidden.results[0].detection;
    assert_int_equal(d.wrong, 4);
    assert_int_equal(d.caught, 0);
    assert_int_equal(d.differences, 0);
}

/* Of eight threads in order, lanes 8 to 11 are idle, and lane 9 has nothing to repeat. Of nine, lane 9 repeats lane 8,
 * whose results it makes wrong: 8, 9, 0 are; 10 and 2 have the bit. The program is right all the same. Of ten, thread 9
 * is repeated by lane 11, and lane 9 repeats nobody; four of its results are wrong. Of twelve,
 * all of the cluster are active. */
static void an_idle_lane_with_a_stuck_bit_is_noticed(void **state)
{
    static const struct {
        uint32_t block, wrong, caught, differences;
    } cases[] = {{8, 0, 0, 0}, {9, 0, 0, 3}, {10, 4, 4, 4}, {12, 4, 0, 0}};
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hd_faulty_lane lane;
        rf_replay r = replay_stuck("entries=10,cluster=4,inorder", cases[i].block, &lane);
        assert_int_equal(r.results[0].detection.wrong, cases[i].wrong);
        assert_int_equal(r.results[0].detection.caught, cases[i].caught);
        assert_int_equal(r.results[0].detection.differences, cases[i].differences);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_read),
        cmocka_unit_test(a_stuck_bit_is_in_every_result),
        cmocka_unit_test(a_flip_is_in_one_result),
        cmocka_unit_test(a_lane_of_the_load_store_unit_has_wrong_addresses),
        cmocka_unit_test(every_verified_operation_is_detected),
        cmocka_unit_test(a_sample_is_detected_as_the_coverage_says),
        cmocka_unit_test(stuck_bits_are_hidden_without_shuffling),
        cmocka_unit_test(an_idle_lane_with_a_stuck_bit_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
