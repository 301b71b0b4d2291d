/* HRF, HRF+PG and STT-RAM alone: accesses counted by hand, cycles derived by hand, sizes and power by the paper's
 * tables, the order of warps, and moves of data that are lost. The paper is that of hwmodel/rf/models/hrf.c. */
#include "rf_replay.h"
#include "small_machine.h"
#include "timed_kernel.h"

#include "target/gpu.h"

#include <math.h>

enum { GATED_BITS = 48 * 39 * 32 /* of a buffer: 48 entries of 39 bits in 32 lanes */ };

static const hd_rf_model_info *model(const char *name) { return hd_rf_model_find(name, strlen(name)); }

/* ---- accesses ---------------------------------------------------------------------------------------------------- */

static rf_replay replay(const char *name, const char *body, uint32_t block, uint32_t fault)
{
    static uint32_t out[512];
    static char text[20000];
    rf_replay r = {.models = model(name), .model_count = 1, .fault = fault};
    r.run.text = kernel_text(text, sizeof text, body);
    r.run.block = block;
    r.run.out = out;
    r.run.out_bytes = sizeof out;
    r.residency = (hd_rf_residency){.ctas = 4, .active = 8, .latency = 4, .bytes = 1 << 20};
    rf_replay_run(&r);
    return r;
}

static void check(const rf_replay *r, hd_counter counter, uint64_t expected)
{
    if (r->results[0].counters[counter] != expected)
        fail_msg("%s: %llu, not %llu", hd_counters[counter].key, (unsigned long long)r->results[0].counters[counter],
                 (unsigned long long)expected);
}

/* Each warp writes the pointer (two words), the index of the thread, %r1 to %r3, and leaves for what it loads. These
 * six words drain; the load writes to the file; %r5 is in the buffer when the warp ends, and never drains. All nine
 * words that are read are read from the file, five of them from the buffer too: %r1, %r2, the pointer, later %r5. */
static void accesses_are_those_counted_by_hand(void **state)
{
    static const char body[] = "mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nadd.u32 %r3, %r1, %r2;\nld.global.u32 %r4, [%rd1];\n"
                               "add.u32 %r5, %r4, %r3;\nst.global.u32 [%rd1], %r5;\n";
    static const char *const names[] = {"hrf", "hrf-pg"};
    (void)state;
    for (uint32_t m = 0; m < 2; m++) {
        rf_replay r = replay(names[m], body, 64, 0);
        assert_true(r.proved);
        check(&r, HD_COUNTER_OPERANDS, 2 * 9);
        check(&r, HD_COUNTER_RESULTS, 2 * 8);
        check(&r, HD_COUNTER_FILE_READS, 2 * 9);
        check(&r, HD_COUNTER_BYPASSED, 0);
        check(&r, HD_COUNTER_FILE_WRITES, 2 * (6 + 1));
        check(&r, HD_COUNTER_STT_READS, 2 * 9);
        check(&r, HD_COUNTER_STT_WRITES, 2 * (6 + 1));
        check(&r, HD_COUNTER_BUFFER_READS, 2 * 5);
        check(&r, HD_COUNTER_BUFFER_WRITES, 2 * (6 + 1));
        check(&r, HD_COUNTER_BUFFER_DRAINED, 2 * 6);
        check(&r, HD_COUNTER_BUFFER_LOOKUPS, 2 * (9 + 8));
        check(&r, HD_COUNTER_BUFFER_GATED, m ? 2 * (5 + 7 + 6) : 0);
        check(&r, HD_COUNTER_BUFFER_PERIODS, 4);
        check(&r, HD_COUNTER_BUFFER_ENTRIES, 2 * (6 + 1));
        check(&r, HD_COUNTER_BUFFER_USE_8, 4);
    }
}

/* The first warp leaves at the barrier with two words in the file. Then half of its lanes write %r1 again: its reader
 * has those from the buffer, the others from the file. In the other warp the guard holds in no lane. */
static void lanes_come_from_where_they_are(void **state)
{
    rf_replay r = replay("hrf",
                         "setp.lt.u32 %p1, %r0, 16;\nmov.u32 %r1, 1;\nbar.sync 0;\n@%p1 mov.u32 %r1, 2;\n"
                         "add.u32 %r2, %r1, %r1;\n",
                         64, 0);
    (void)state;
    assert_true(r.proved);
    check(&r, HD_COUNTER_RESULTS, 2 * 3 + 1);
    check(&r, HD_COUNTER_FILE_READS, 2 * 2);
    check(&r, HD_COUNTER_BUFFER_READS, 2 * 2);
    check(&r, HD_COUNTER_BUFFER_WRITES, 2 * 3 + 1);
    check(&r, HD_COUNTER_BUFFER_DRAINED, 2);
}

/* A load takes its lanes from the buffer: what it brings is newer. */
static void loads_supersede_the_buffer(void **state)
{
    rf_replay r = replay("hrf",
                         "setp.lt.u32 %p1, %r0, 16;\nmov.u32 %r1, 1;\n@%p1 ld.global.u32 %r1, [%rd1];\n"
                         "add.u32 %r2, %r1, %r1;\nst.global.u32 [%rd1], %r2;\n",
                         32, 0);
    (void)state;
    assert_true(r.proved);
    check(&r, HD_COUNTER_BUFFER_DRAINED, 2 + 1 + 1); /* the pointer, the index, half of %r1 */
    check(&r, HD_COUNTER_FILE_WRITES, 4 + 1);
}

/* The index of the thread and 69 constants: what finds no entry goes to the file. */
static void results_without_an_entry_go_to_the_file(void **state)
{
    char body[4096];
    size_t used = 0;
    (void)state;
    for (uint32_t i = 1; i < 64; i++)
        used += (size_t)snprintf(body + used, sizeof body - used, "mov.u32 %%r%u, %u;\n", i, i);
    for (uint32_t i = 0; i < 6; i++)
        used += (size_t)snprintf(body + used, sizeof body - used, "mov.f32 %%f%u, 0f3f800000;\n", i);
    rf_replay r = replay("hrf", body, 32, 0);
    assert_true(r.proved);
    check(&r, HD_COUNTER_RESULTS, 70);
    check(&r, HD_COUNTER_BUFFER_WRITES, 64);
    check(&r, HD_COUNTER_FILE_WRITES, 70 - 64);
    check(&r, HD_COUNTER_BUFFER_USE_64, 1);
}

/* Five words enter the buffer and drain, the load writes one, and %r4 enters the buffer three times. All are read
 * again, so each of these moves that is lost is noticed. */
static void lost_moves_are_noticed(void **state)
{
    static const char body[] = "mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nld.global.u32 %r3, [%rd1];\nadd.u32 %r4, %r3, %r1;\n"
                               "add.u32 %r4, %r4, %r2;\nadd.u32 %r4, %r4, %r0;\nst.global.u32 [%rd1], %r4;\n";
    enum { MOVES = 5 + 1 + 5 + 3 };
    (void)state;
    for (uint32_t fault = 1; fault <= MOVES; fault++)
        assert_false(replay("hrf", body, 32, fault).proved);
    assert_true(replay("hrf", body, 32, MOVES + 1).proved);
}

/* ---- cycles ------------------------------------------------------------------------------------------------------ */

/* On which a warp waits for nothing but what the tests are about. */
static hd_machine machine(void)
{
    hd_machine m = small_machine();
    m.fetch.buffer = m.fetch.width = 8;
    m.core.collectors = m.core.banks = 16;
    return m;
}

static timed time_with(const char *name, const char *options, const char *body, uint32_t block)
{
    hd_rf_model_info info = *model(name);
    info.options = options ? options : info.options;
    timed t = {.model = &info, .machine = machine()};
    time_body(&t, body, 1, block);
    t.model = NULL;
    return t;
}

static uint64_t cycles(const char *name, const char *options, const char *body)
{
    return time_with(name, options, body, 32).counts.cycles;
}

/* The n constants and the index of the thread; the end of the kernel issues after them. The pipeline waits 3 cycles
 * for each of these writes. Where it does not, only the last one is seen: it takes 3 cycles longer, and without that
 * ended a cycle before the last instruction did. Write buffers take results as SRAM does. */
static void independent_writes(void **state)
{
    char body[512] = "";
    (void)state;
    for (uint32_t n = 0; n < 6; n++) {
        uint64_t sram = cycles("baseline", NULL, body);
        assert_int_equal(cycles("stt-ram", NULL, body), sram + 3 * (n + 1));
        assert_int_equal(cycles("stt-ram", "pipelined", body), sram + 3 - 1);
        assert_int_equal(cycles("stt-ram", "write=1", body), sram);
        assert_int_equal(cycles("hrf", NULL, body), sram);
        snprintf(body + strlen(body), 32, "mov.u32 %%r%u, %u;\n", n + 1, n);
    }
}

/* Each of n moves reads the result before it, which is there 3 cycles later; the pipeline has waited meanwhile. */
static void dependent_writes(void **state)
{
    char body[512] = "";
    (void)state;
    for (uint32_t n = 1; n < 6; n++) {
        snprintf(body + strlen(body), 32, "mov.u32 %%r%u, %%r%u;\n", n, n - 1);
        uint64_t sram = cycles("baseline", NULL, body);
        assert_int_equal(cycles("stt-ram", NULL, body), sram + 3 * n + 2);
        assert_int_equal(cycles("stt-ram", "pipelined", body), sram + 3 * n + 2);
        assert_int_equal(cycles("hrf", NULL, body), sram);
    }
}

/* Both operands of an addition are in the bank of the warp, in SRAM in two: a cycle more for each. */
static void operands_share_the_bank_of_the_warp(void **state)
{
    char body[512] = "mov.u32 %r1, 1;\n";
    (void)state;
    for (uint32_t n = 0; n < 6; n++) {
        uint64_t sram = cycles("baseline", NULL, body);
        assert_int_equal(cycles("hrf", NULL, body), sram + n);
        assert_int_equal(cycles("hrf", "banks=4", body), sram);
        snprintf(body + strlen(body), 32, "add.u32 %%r0, %%r0, %%r1;\n");
    }
}

/* Figure 4 with three warps and r registers each, the index of the thread and r - 1 constants. Warp 0 issues r
 * instructions and the barrier, and leaves in cycle L. Warp 1 does the same from L on, and leaves in L + r + 1. From
 * L + 2 on the buffer of warp 0 is written back, 4 cycles a register; the last one is there in L + 1 + 4 r, and warp
 * 2, which takes this buffer, waits 3 r cycles for that. With writes of a cycle it does not wait.
 *
 * A register more is one more instruction of warp 0, one drained before warp 2 begins, and one instruction of warp
 * 2, which holds the others at the barrier: 6 cycles. Warp 1 is away for 4 of them, and warp 0 for 5. Its own
 * registers are in the file when warp 1 comes back. Warp 1 comes back before warp 0, though it left later: warp 2 is
 * of bank 0. */
static void a_drain_takes_four_cycles_a_register(void **state)
{
    char constants[512] = "", body[600];
    timed first = time_with("hrf", NULL, "bar.sync 0;\n", 96);
    (void)state;
    for (uint32_t r = 1; r < 9; r++) {
        snprintf(body, sizeof body, "%sbar.sync 0;\n", constants);
        timed t = time_with("hrf", NULL, body, 96), fast = time_with("hrf", "write=1", body, 96);
        assert_int_equal(t.counts.sm.slots[hd_sm_stall_slot(HD_STALL_DRAIN)], 3 * r);
        assert_int_equal(fast.counts.sm.slots[hd_sm_stall_slot(HD_STALL_DRAIN)], 0);
        assert_int_equal(t.counts.cycles, fast.counts.cycles + 3 * r);
        assert_int_equal(t.counts.cycles, first.counts.cycles + 6 * (r - 1));
        assert_int_equal(t.counters[HD_COUNTER_BUFFER_DRAINED], 2 * r);
        assert_int_equal(t.counters[HD_COUNTER_BUFFER_PERIODS], 5);
        assert_int_equal(t.counters[HD_COUNTER_BUFFER_SAME_BANK], 0);
        assert_int_equal(t.counts.sm.active_periods, 5);
        assert_int_equal(t.counts.sm.inactive_periods, 2);
        assert_int_equal(t.counts.sm.active_cycles, first.counts.sm.active_cycles + 6 * (r - 1));
        assert_int_equal(t.counts.sm.inactive_cycles, first.counts.sm.inactive_cycles + (4 + 5) * (r - 1));
        snprintf(constants + strlen(constants), 32, "mov.u32 %%r%u, 1;\n", r);
    }
}

/* Where no warp of the other bank can go on, one of the same bank does; it waits for its own registers. */
static void a_warp_alone_comes_back(void **state)
{
    rf_replay r =
        replay("hrf", "ld.global.u32 %r1, [%rd1];\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%rd1], %r1;\n", 32, 0);
    (void)state;
    assert_true(r.proved);
    check(&r, HD_COUNTER_BUFFER_PERIODS, 2);
    check(&r, HD_COUNTER_BUFFER_SAME_BANK, 1);
}

/* n constants and the index of the thread. The first one that finds 16 entries in use asks for power in the cycle in
 * which the instruction before it issues; so it issues 9 cycles later than it would. From that cycle on the gated
 * entries have power for 10 cycles, and for each instruction from this one to the end. */
static void gated_entries_wake_up_once(void **state)
{
    char body[1024] = "";
    (void)state;
    for (uint32_t n = 1; n <= 20; n++) {
        snprintf(body + strlen(body), 32, "mov.u32 %%r%u, %u;\n", n, n);
        timed hrf = time_with("hrf", NULL, body, 32), pg = time_with("hrf-pg", NULL, body, 32);
        bool wakes = n + 1 > 16;
        assert_int_equal(pg.counts.cycles, hrf.counts.cycles + (wakes ? 9 : 0));
        assert_int_equal(pg.counters[HD_COUNTER_BUFFER_WAKES], wakes);
        assert_int_equal(pg.counters[HD_COUNTER_BUFFER_POWERED], wakes ? (10 + (n - 15) + 1) * GATED_BITS : 0);
        assert_int_equal(hrf.counters[HD_COUNTER_BUFFER_POWERED], 0);
        assert_int_equal(pg.counts.sm.slots[hd_sm_stall_slot(HD_STALL_POWER)], wakes ? 9 : 0);
        assert_int_equal(cycles("hrf-pg", "pg,wake=0", body), hrf.counts.cycles);
    }
}

/* ---- sizes and power --------------------------------------------------------------------------------------------- */

/* Section 4.4: 32 blocks of two buffers of 64 entries of 38 bits, and an index of 64 entries of 7 bits in each SM; and
 * a valid bit for each lane of an entry. */
static void buffers_have_the_size_of_the_paper(void **state)
{
    rf_replay r = replay("hrf", "add.u32 %r1, %r0, 1;", 32, 0);
    (void)state;
    assert_int_equal(r.results[0].storage_bits, 32 * 2 * 64 * 38 + 64 * 7 + 32 * 2 * 64);
    assert_int_equal(replay("stt-ram", "add.u32 %r1, %r0, 1;", 32, 0).results[0].storage_bits, 0);
    assert_int_equal(model("hrf-pg")->ops->gated_bits(model("hrf-pg")), 2 * GATED_BITS);
    assert_int_equal(model("hrf")->ops->gated_bits(model("hrf")), 0);
}

static bool near(double a, double b) { return fabs(a / b - 1) < 0.005; }

/* Tables 1 and 2 on the machine of the paper, over 1 us: 16.2 mW of 128 KB STT-RAM; buffers of SRAM leak as 128 KB of
 * it, 248.7 mW, by capacity; without power in three quarters of its entries a buffer leaks 0.3 of that. */
static void leakage_is_that_of_the_tables(void **state)
{
    hd_diagnostics diagnostics;
    hd_diagnostics_init(&diagnostics);
    hd_gpu *gpu = hd_gpu_load("fermi-hrf", &diagnostics);
    const hd_rf_ops *ops = model("hrf")->ops;
    const uint64_t bits = 32 * 2 * 64 * 39;
    hd_rf_leakage leakage = {.powered = 1024 * 700, .cycles = 700, .storage = ops->storage, .file = ops->file};
    (void)state;
    assert_true(gpu->valid && near(hd_rf_static_energy(&leakage, gpu), 16.2e3));
    leakage.storage_bits = bits;
    double sram = 248.7e3 * (double)bits / 8 / 131072;
    assert_true(near(hd_rf_static_energy(&leakage, gpu) - 16.2e3, sram));
    leakage.gates = ops->gates;
    leakage.gated_bits = 2 * GATED_BITS;
    assert_true(near(hd_rf_static_energy(&leakage, gpu) - 16.2e3, 0.3 * sram));
    leakage.gated_on = leakage.gated_bits * leakage.cycles;
    assert_true(near(hd_rf_static_energy(&leakage, gpu) - 16.2e3, sram));
    hd_gpu_free(gpu);
    hd_diagnostics_free(&diagnostics);
}

/* Table 1: what is read from and written to STT-RAM has its own energies, and not that of SRAM. With gates an access
 * of a buffer takes 1.04 times as much. */
static void energies_are_those_of_the_tables(void **state)
{
    hd_diagnostics diagnostics;
    hd_diagnostics_init(&diagnostics);
    hd_gpu *gpu = hd_gpu_load("fermi-hrf", &diagnostics);
    uint64_t counters[HD_COUNTER_COUNT] = {[HD_COUNTER_FILE_READS] = 5, [HD_COUNTER_FILE_WRITES] = 3};
    (void)state;
    assert_true(near(hd_rf_dynamic_energy(counters, (hd_rf_sizes){0}, gpu).dynamic_pj, 1024 * 8 * (0.203 + 0.191) / 2));
    counters[HD_COUNTER_STT_READS] = 5;
    counters[HD_COUNTER_STT_WRITES] = 3;
    assert_true(near(hd_rf_dynamic_energy(counters, (hd_rf_sizes){0}, gpu).dynamic_pj, 1024 * (5 * 0.239 + 3 * 0.300)));
    assert_false(hd_rf_dynamic_energy(counters, (hd_rf_sizes){0}, gpu).derived);
    double buffer = gpu->energies[HD_ENERGY_WRITE_BUFFER].dynamic_pj;
    assert_true(near(gpu->energies[HD_ENERGY_BUFFER_GATES].dynamic_pj + buffer, 1.04 * buffer));
    hd_gpu_free(gpu);
    hd_diagnostics_free(&diagnostics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_are_those_counted_by_hand),
        cmocka_unit_test(lanes_come_from_where_they_are),
        cmocka_unit_test(loads_supersede_the_buffer),
        cmocka_unit_test(results_without_an_entry_go_to_the_file),
        cmocka_unit_test(lost_moves_are_noticed),
        cmocka_unit_test(independent_writes),
        cmocka_unit_test(dependent_writes),
        cmocka_unit_test(operands_share_the_bank_of_the_warp),
        cmocka_unit_test(a_drain_takes_four_cycles_a_register),
        cmocka_unit_test(a_warp_alone_comes_back),
        cmocka_unit_test(gated_entries_wake_up_once),
        cmocka_unit_test(buffers_have_the_size_of_the_paper),
        cmocka_unit_test(leakage_is_that_of_the_tables),
        cmocka_unit_test(energies_are_those_of_the_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
