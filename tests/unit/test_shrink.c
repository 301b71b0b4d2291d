/* GPU-Shrink: algorithm 1 and the last resort in cycles that are derived by hand, storage and energy of the paper,
 * spilled registers that are lost, and random kernels, calls and barriers on files that are as small as they can be:
 * none may deadlock. The paper is that of hwmodel/rf/models/shrink.c.
 * SHRINK_COUNT=N random modules (default 16), SHRINK_SEED=N the first. `make campaign-shrink` runs 3,000. */
#include "call_module.h"
#include "program.h"
#include "rf_replay.h"
#include "small_machine.h"
#include "timed_kernel.h"

#include "hwmodel/rf/models/release.h"
#include "target/gpu.h"

#include <limits.h>

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *value = getenv(name);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

static hd_rf_model_info model_with(const char *options)
{
    hd_rf_model_info info = *hd_rf_model_find("gpu-shrink", 10);
    info.options = options;
    return info;
}

/* ---- in cycles --------------------------------------------------------------------------------------------------- */

/* Blocks of one warp, on as many registers as are said. Without the pass nothing is renamed: a register is kept until
 * its warp ends. */
static timed time_blocks_of(const char *options, uint32_t registers, const char *body, uint32_t grid, uint32_t block)
{
    hd_rf_model_info info = model_with(options);
    timed t = {.model = &info, .machine = small_machine(), .file_registers = registers};
    t.machine.fetch.buffer = t.machine.fetch.width = 8;
    time_body(&t, body, grid, block);
    t.model = NULL;
    return t;
}

static uint64_t slot_of(const timed *t, hd_stall reason) { return t->counts.sm.slots[hd_sm_stall_slot(reason)]; }

/* With half of 6 registers there are those of one block: the second one must not take any before the first one has
 * ended. The first instruction of the first warp is fetched in cycle 1 and issues in cycle 2; that of the second warp
 * has been fetched long ago, and issues in the cycle in which the first one ends: two cycles of its run are saved, and
 * that one is in both. The port that fetches serves the second warp first, so that the first one is a cycle late. With
 * 12 registers there is room for both, and none waits. */
static void one_block_after_the_other(void **state)
{
    static const char body[] = "add.u32 %r1, %r0, 1;\nadd.u32 %r2, %r1, 1;\n";
    (void)state;
    timed alone = time_blocks_of("less=50", 6, body, 1, 32), two = time_blocks_of("less=50", 6, body, 2, 32),
          roomy = time_blocks_of("less=50", 12, body, 2, 32);
    assert_int_equal(two.counts.cycles, 2 * alone.counts.cycles - 2 - 1 + 1);
    assert_true(slot_of(&two, HD_STALL_THROTTLE) > 0 && two.counters[HD_COUNTER_THROTTLED] > 0);
    assert_int_equal(slot_of(&alone, HD_STALL_THROTTLE) + slot_of(&roomy, HD_STALL_THROTTLE), 0);
    assert_int_equal(two.counters[HD_COUNTER_SPILLED], 0);
}

/* Two warps of a block with 3 registers each, in a file of 5. In cycle 7 the second one waits at the barrier with
 * all of its own; the first one issued in cycle 5, and needs a third. It waits until a period of 16 cycles has passed
 * without an issue, the one from 16 on.
 *
 *    32  the warp issues, and the registers of the other one are read in
 *    33  in three banks, and sent, 136 bytes each on a port of 32 bytes a cycle, in
 *    34, 38 and 43. In 43 the barrier issues, which the warp was held from, in 44 its third register is dispatched,
 *        in 45 that is there for the addition, which is dispatched in 47; its result comes after 4 cycles in
 *    51, in which the warp ends, and the other one issues. Its registers are asked for in
 *    52, 53, 54; the first is in the L2 cache after 8 cycles on the way, 50 in the cache, and 7 + 5 on the way back, in
 *   122; the others 5 cycles after each other: the last one in 132. It is written in 133, read in 134; dispatched in
 *   135, the addition has its result in
 *   139, which is the last of 140 cycles. */
static void registers_go_to_memory_and_come_back(void **state)
{
    static const char body[] = "mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nbar.sync 0;\nadd.u32 %r1, %r1, %r2;\n";
    (void)state;
    timed t = time_blocks_of("less=50,period=16", 10, body, 1, 64);
    assert_int_equal(t.counts.cycles, 140);
    assert_int_equal(t.counters[HD_COUNTER_SPILLED], 3);
    assert_int_equal(t.counters[HD_COUNTER_REFILLED], 3);
    assert_int_equal(t.counts.memory.l2_writes, 3);
    assert_int_equal(t.counts.memory.l2_reads, 3);
    assert_int_equal(t.counts.memory.l2_read_hits, 3);
    assert_int_equal(t.counters[HD_COUNTER_FILE_READS], t.counters[HD_COUNTER_OPERANDS] + 3);
    assert_int_equal(t.counters[HD_COUNTER_FILE_WRITES], t.counters[HD_COUNTER_RESULTS] + 3);
    assert_true(slot_of(&t, HD_STALL_REGISTER) >= 32 - 8 && slot_of(&t, HD_STALL_THROTTLE) == 0);
    timed patient = time_blocks_of("less=50,period=64", 10, body, 1, 64); /* it issues in cycle 128 */
    assert_int_equal(patient.counts.cycles, 140 + 128 - 32);
    timed roomy = time_blocks_of("less=50", 12, body, 1, 64);
    assert_int_equal(roomy.counters[HD_COUNTER_SPILLED] + roomy.counters[HD_COUNTER_REGISTER_WAITS], 0);
}

/* Two warps of two blocks, with 4 registers each of 7. The first one to issue has the most, or is the older, at any
 * time: it may take all it needs. The other one may take a register while as many are left as the first one may still
 * need: three of its own, and the fourth when the first one has ended. */
static void others_take_what_is_left(void **state)
{
    static const char body[] = "mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nsin.approx.f32 %f1, 0f3f800000;\n";
    (void)state;
    for (uint32_t registers = 4; registers <= 8; registers++) {
        hd_rf_model_info info = model_with("less=0");
        timed t = {.model = &info, .machine = small_machine(), .file_registers = registers};
        t.machine.fetch.buffer = t.machine.fetch.width = 8;
        time_body(&t, body, 2, 32);
        bool waits = registers < 8;
        assert_int_equal(slot_of(&t, HD_STALL_THROTTLE) != 0, waits);
        assert_int_equal(t.counters[HD_COUNTER_SPILLED], 0);
    }
}

/* ---- structures -------------------------------------------------------------------------------------------------- */

static rf_replay count_models(const char *text, const hd_rf_model_info *models, uint32_t registers, uint32_t block)
{
    static uint32_t out[256];
    rf_replay r = {.models = models, .model_count = 1};
    r.run.text = text;
    r.run.block = block;
    r.run.grid = 2;
    r.run.out = out;
    r.run.out_bytes = sizeof out;
    r.residency = (hd_rf_residency){.ctas = 2,
                                    .active = 8,
                                    .latency = 4,
                                    .bytes = 1 << 20,
                                    .cta_warps = (block + 31) / 32,
                                    .file_registers = registers};
    return r;
}

/* Section 3.3: ten counters of 10 bits, beside the renaming table of 1 KB, the flag cache of ten entries of 54 bits,
 * and a bit for each register that is left. */
static void storage_is_that_of_the_paper(void **state)
{
    static const char *const names[] = {"gpu-shrink", "gpu-shrink-40", "gpu-shrink-30"};
    static const uint32_t registers[] = {512, 1024 - 409, 1024 - 307};
    char text[2048];
    (void)state;
    for (uint32_t m = 0; m < 3; m++) {
        const hd_rf_model_info *info = hd_rf_model_find(names[m], strlen(names[m]));
        rf_replay r = count_models(kernel_text(text, sizeof text, "add.u32 %r1, %r0, 1;"), info, 1024, 32);
        rf_replay_run(&r);
        assert_true(r.proved);
        assert_int_equal(r.results[0].storage_bits, 8192 + 540 + registers[m] + 100);
    }
}

/* Also after a run that was stopped: nobody has registers when the next launch begins. */
static void a_launch_begins_with_a_free_file(void **state)
{
    (void)state;
    hd_rf_model model = {0};
    hd_release_shared s = {.model = &model, .banks = 4, .subarrays = 2};
    hd_release_shared_start(&s, 32);
    for (uint32_t slot = 0; slot < 4; slot++) {
        hd_release_shared_join(&s, slot, slot / 2);
        for (uint32_t word = 0; word < 3 + slot; word++) {
            hd_effect map = {.what = HD_RELEASE_MAP, .index = word};
            assert_int_equal(hd_release_shared_do(&s, slot, &map), HD_RF_PROVED);
        }
    }
    assert_int_equal(s.ctas.items[0], 3 + 4);
    assert_int_equal(s.ctas.items[1], 5 + 6);
    assert_int_equal(s.file.taken, 18);
    hd_release_shared_start(&s, 32);
    for (uint32_t slot = 0; slot < 4; slot++)
        assert_int_equal(s.warps.items[slot].count + s.warps.items[slot].taken + s.warps.items[slot].cta, 0);
    assert_int_equal(s.ctas.items[0] + s.ctas.items[1] + s.file.taken, 0);
    hd_release_shared_free(&s);
}

/* Section 3.1: an access of half the file takes 20 % less. */
static void half_a_file_takes_less_energy(void **state)
{
    uint64_t counters[HD_COUNTER_COUNT] = {[HD_COUNTER_FILE_READS] = 1000};
    hd_diagnostics diagnostics;
    (void)state;
    hd_diagnostics_init(&diagnostics);
    hd_gpu *gpu = hd_gpu_load("fermi-rfv", &diagnostics);
    hd_rf_energy whole = hd_rf_dynamic_energy(counters, (hd_rf_sizes){0}, gpu),
                 half = hd_rf_dynamic_energy(counters, (hd_rf_sizes){.file_reduction_percent = 50}, gpu),
                 less = hd_rf_dynamic_energy(counters, (hd_rf_sizes){.file_reduction_percent = 30}, gpu);
    assert_true(whole.known && !whole.derived && half.known && half.derived);
    assert_true(half.dynamic_pj > 0.7999 * whole.dynamic_pj && half.dynamic_pj < 0.8001 * whole.dynamic_pj);
    assert_true(less.dynamic_pj > half.dynamic_pj && less.dynamic_pj < whole.dynamic_pj);
    hd_gpu_free(gpu);
    hd_diagnostics_free(&diagnostics);
}

/* ---- what is lost is noticed ------------------------------------------------------------------------------------- */

/* Two warps of 5 registers each, with the address, in a file of 5. The second one takes its last three when the three
 * of the first are in memory, and its five go there for the first one, and come back when that has ended. All are read
 * after the barrier: each result, each spill and each refill that is lost is noticed. */
static void lost_registers_are_noticed(void **state)
{
    static const char body[] = "mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nbar.sync 0;\nst.global.u32 [%rd1], %r1;\n"
                               "st.global.u32 [%rd1], %r2;\nst.global.u32 [%rd1], %r0;";
    char text[2048];
    hd_rf_model_info info = model_with("less=50");
    uint32_t moves = 0;
    (void)state;
    kernel_text(text, sizeof text, body);
    for (uint32_t fault = 0; fault <= moves + 1; fault++) {
        rf_replay r = count_models(text, &info, 10, 64);
        r.run.grid = 1;
        r.fault = fault;
        rf_replay_run(&r);
        const uint64_t *counters = r.results[0].counters;
        if (!fault) {
            assert_int_equal(counters[HD_COUNTER_SPILLED], 3 + 5);
            assert_int_equal(counters[HD_COUNTER_REFILLED], 3 + 5);
            moves = (uint32_t)counters[HD_COUNTER_RESULTS] + 8 + 8;
        }
        if (r.proved != (fault == 0 || fault > moves))
            fail_msg("move %u of %u", fault, moves);
    }
}

/* ---- no deadlock ------------------------------------------------------------------------------------------------- */

static const hd_rf_ops *observed; /* by `watched`, whose hooks call its own */
static struct {
    uint64_t executed, spilled, throttled, in_memory, ranked, victims, fills_after_spills;
    uint32_t needs;
} seen;
static struct { /* of an SM */
    const hd_rf_model *model;
    uint64_t issued[SHRT_MAX]; /* by slot: when its warp issued last */
} orders[2];
static uint64_t *order_of(const hd_rf_model *model) { return orders[orders[0].model != model].issued; }

/* What the warps have is what is taken, by block and as a whole, and no register has two owners. Algorithm 1: what is
 * free and what the block with the most has is enough for one block, if the file is. */
static void check_state(const hd_release *r)
{
    static uint64_t taken[SHRT_MAX]; /* by register: when it was last seen as a warp's */
    const hd_release_shared *s = &r->shared;
    uint32_t sum = 0, most = 0, by_cta[64] = {0};
    for (uint32_t slot = 0; slot < s->warps.count; slot++) {
        const hd_release_helds *w = &s->warps.items[slot];
        uint32_t rows = 0, without = 0;
        for (uint32_t i = 0; i < w->count; i++) {
            without += w->items[i].frames && !w->items[i].row;
            if (!w->items[i].row)
                continue;
            uint32_t place = (w->items[i].row - 1) * s->banks + w->items[i].bank;
            assert_true(place < SHRT_MAX && taken[place] != seen.executed);
            taken[place] = seen.executed;
            rows++;
        }
        assert_int_equal(rows, w->taken);
        assert_int_equal(without, w->spilled);
        seen.in_memory += without;
        by_cta[w->cta] += rows;
        sum += rows;
    }
    for (uint32_t c = 0; c < s->ctas.count; c++) {
        assert_int_equal(by_cta[c], s->ctas.items[c]);
        most = by_cta[c] > most ? by_cta[c] : most;
    }
    assert_int_equal(sum, s->file.taken);
    assert_true(s->file.taken <= s->file.capacity);
    assert_true(s->file.capacity < seen.needs || hd_physical_free_count(&s->file) + most >= seen.needs);
}

static void watched_launch(hd_rf_model *model, const hd_rf_launch *launch)
{
    observed->launch(model, launch);
    bool second = orders[0].model && orders[0].model != model;
    orders[second].model = model;
    memset(orders[second].issued, 0, sizeof orders[second].issued);
    seen.needs = ((const hd_release *)model)->kernel_registers * launch->residency.cta_warps;
}

/* Whose registers went to memory: of another block than the warp's own first, and of those the ones that issued longest
 * ago. `taken` is what the warps had before. */
static void check_victims(const hd_release_shared *s, uint32_t own, const uint32_t *taken, const uint64_t *issued)
{
    for (uint32_t v = 0; v < s->warps.count; v++) {
        bool is_victim = v != own && taken[v] && !s->warps.items[v].taken;
        seen.victims += is_victim;
        for (uint32_t n = 0; is_victim && n < s->warps.count; n++) {
            if (n == own || !s->warps.items[n].taken)
                continue;
            bool near = s->warps.items[v].cta == s->warps.items[own].cta,
                 other_near = s->warps.items[n].cta == s->warps.items[own].cta;
            assert_true(near == other_near ? issued[v] <= issued[n] : other_near);
        }
    }
}

/* What comes from memory waits for what goes there in the same step. */
static void check_fills(const hd_access_sink *sink)
{
    bool spills = false;
    for (uint32_t i = 0; i < sink->accesses.count; i++) {
        const hd_rf_access *a = &sink->accesses.items[i];
        spills |= a->kind == HD_RF_SPILL;
        assert_true(a->kind != HD_RF_FILL || !spills || a->after);
        seen.fills_after_spills += a->kind == HD_RF_FILL && spills;
    }
}

/* The block with the most registers goes first while it could run out of them. Of several that have as many, either. */
static uint32_t watched_rank_warp(hd_rf_model *model, const hd_rf_step *next, uint64_t now)
{
    const hd_release *r = (const hd_release *)model;
    const hd_release_shared *s = &r->shared;
    uint32_t rank = observed->rank_warp(model, next, now), cta = s->warps.items[next->warp->slot].cta, most = 0,
             same = 0;
    for (uint32_t c = 0; c < s->ctas.count; c++) {
        same = s->ctas.items[c] == most ? same + 1 : s->ctas.items[c] > most ? 1 : same;
        most = s->ctas.items[c] > most ? s->ctas.items[c] : most;
    }
    uint32_t has = cta < s->ctas.count ? s->ctas.items[cta] : 0, rest = seen.needs > most ? seen.needs - most : 0;
    bool could = !r->fits && has == most && hd_physical_free_count(&s->file) < 1 + rest;
    assert_true(rank ? could : !could || same > 1);
    seen.ranked += rank;
    return rank;
}

static void watched_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    static uint32_t taken[SHRT_MAX];
    const hd_release_shared *s = &((const hd_release *)model)->shared;
    uint32_t own = step->warp->slot;
    assert_true(s->warps.count < SHRT_MAX);
    for (uint32_t slot = 0; slot < s->warps.count; slot++)
        taken[slot] = s->warps.items[slot].taken;
    observed->execute(model, step, sink);
    check_victims(s, own, taken, order_of(model));
    check_fills(sink);
    order_of(model)[own] = seen.executed + 1;
    if (++seen.executed % 8 == 0 || sink->holds_warp)
        check_state((const hd_release *)model);
}

typedef struct stress { /* a random module, and how it is run */
    uint64_t seed;
    hd_rf_model_info info;
    const char *passes, *text;
    const void *in;
    size_t in_bytes;
    uint32_t block, percent; /* percent: the file's, of a warp's registers */
} stress;

static uint32_t out[RESULT_WORDS * 1024];

static kernel_run run_of(const stress *s)
{
    return (kernel_run){.text = s->text,
                        .in = s->in,
                        .in_bytes = s->in_bytes,
                        .out = out,
                        .out_bytes = sizeof out,
                        .block = s->block,
                        .grid = 2 + (uint32_t)s->seed % 3,
                        .options.instruction_limit = 10000000,
                        .passes = s->passes};
}

/* Returns the registers of a warp. */
static uint32_t stress_in_time(const stress *s)
{
    uint64_t random = s->seed;
    timed t = {.model = &s->info,
               .machine = random_machine(&random),
               .sms = 1 + (uint32_t)(s->seed / 2 % 2),
               .ctas = 1 + (uint32_t)(s->seed / 4 % 3),
               .file_percent = s->percent};
    kernel_run run = run_of(s);
    run.opened = open_timed;
    run.closing = close_timed;
    run.context = &t;
    run_kernel(&run);
    if (run.status != HD_EXEC_DONE || t.refused)
        fail_msg("seed %llu: %s", (unsigned long long)s->seed, run.message);
    if (t.status != HD_TIMING_DONE || !t.idle)
        fail_msg("seed %llu, %s, %u %%: %s", (unsigned long long)s->seed, s->info.options, s->percent,
                 t.status == HD_TIMING_LOCKED ? "deadlock" : "wrong");
    seen.spilled += t.counters[HD_COUNTER_SPILLED];
    seen.throttled += t.counters[HD_COUNTER_THROTTLED];
    return t.registers;
}

static void stress_in_turns(const stress *s, uint32_t registers)
{
    rf_replay r = {.run = run_of(s), .models = &s->info, .model_count = 1};
    r.residency = (hd_rf_residency){.ctas = 1 + (uint32_t)(s->seed % 3),
                                    .active = 1 + (uint32_t)(s->seed / 3 % 5),
                                    .latency = 20,
                                    .bytes = 1 << 26,
                                    .cta_warps = (s->block + 31) / 32,
                                    .file_registers = registers * s->percent / 100};
    rf_replay_run(&r);
    if (!r.proved)
        fail_msg("seed %llu, %s, %u %%: not proved in turns", (unsigned long long)s->seed, s->info.options, s->percent);
    seen.spilled += r.results[0].counters[HD_COUNTER_SPILLED];
}

/* A file that holds one warp, or a little more, or some warps. */
static uint32_t percent_of(uint64_t *random)
{
    static const uint32_t most[] = {1, 50, 200, 500};
    return 100 + (uint32_t)(unit_random(random) % most[unit_random(random) % 4]);
}

static void stress_one(uint64_t seed, const hd_rf_ops *watched)
{
    static const char *const options[] = {"less=0,period=1", "less=0,period=16", "less=0,period=100,ordered",
                                          "less=0,subarrays=2,banks=3"},
                             *const passes[] = {"select,regalloc,release", "select,regalloc,release(table=40)",
                                                "select,regalloc(max=16),release", "release"};
    static program p;
    static char text[1 << 19];
    static uint32_t in[128];
    uint64_t random = seed;
    stress s = {
        .seed = seed,
        .info = model_with(options[seed / 5 % 4]),
        .passes = passes[unit_random(&random) % (seed % 2 ? 4 : 3)], /* with hundreds of PTX registers it takes long */
        .text = text,
        .in = p.inputs,
        .in_bytes = sizeof p.inputs,
        .percent = percent_of(&random)};
    s.info.ops = watched;
    char *calls = seed % 2 ? call_module_make(seed, 2 + (uint32_t)seed % 2) : NULL;
    if (calls) {
        for (uint32_t i = 0; i < 128; i++)
            in[i] = i * 7919 % 256;
        s.text = calls;
        s.in = in;
        s.in_bytes = sizeof in;
        s.block = 128;
    } else {
        program_make(&p, seed);
        program_print(&p, text, sizeof text);
        s.block = p.threads;
    }
    memset(orders, 0, sizeof orders);
    uint32_t registers = stress_in_time(&s);
    memset(orders, 0, sizeof orders);
    stress_in_turns(&s, registers);
    free(calls);
}

static void random_kernels_never_deadlock(void **state)
{
    uint64_t first = number_from("SHRINK_SEED", 1), count = number_from("SHRINK_COUNT", 16);
    observed = model_with("").ops;
    hd_rf_ops watched = *observed;
    (void)state;
    watched.launch = watched_launch;
    watched.execute = watched_execute;
    watched.rank_warp = watched_rank_warp;
    for (uint64_t seed = first; seed < first + count; seed++)
        stress_one(seed, &watched);
    if (count >= 16)
        assert_true(seen.spilled > 1000 && seen.throttled > 1000 && seen.in_memory > 1000 && seen.ranked > 1000 &&
                    seen.victims > 1000 && seen.fills_after_spills > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_block_after_the_other),        cmocka_unit_test(registers_go_to_memory_and_come_back),
        cmocka_unit_test(others_take_what_is_left),         cmocka_unit_test(storage_is_that_of_the_paper),
        cmocka_unit_test(a_launch_begins_with_a_free_file), cmocka_unit_test(half_a_file_takes_less_energy),
        cmocka_unit_test(lost_registers_are_noticed),       cmocka_unit_test(random_kernels_never_deadlock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
