/* The model of RegMutex: sections as in the paper's example, proof of divided kernels in all orders of their sides,
 * faults that the proof catches, and programs with barriers on a machine with one section, which must not lock.
 * PROGRAM_COUNT=N runs N programs (default 120). */
#include "tests/unit/unit.h"

#include "tests/unit/program.h"
#include "tests/unit/rf_bench.h"
#include "tests/unit/rf_replay.h"

static const hd_rf_model_info *model_of(const char *name)
{
    const hd_rf_model_info *info = hd_rf_model_find(name, strlen(name));
    assert_non_null(info);
    return info;
}

/* ---- sections ---------------------------------------------------------------------------------------------------- */

/* One instruction needs the set, R23. */
static rf_bench_result run_24(const char *model, hd_rf_residency residency)
{
    rf_bench b;
    rf_bench_open_file(&b, "regmutex_model-kernel_of_24");
    residency.active = 8;
    residency.latency = 10;
    residency.bytes = 1 << 20;
    rf_bench_run run = {.model = model_of(model), .warps = 100, .residency = residency};
    rf_bench_result result = rf_bench_replay(&b, &run);
    assert_true(result.proved);
    rf_bench_close(&b);
    return result;
}

/* 24 registers, 48 warps, 32K registers: |Bs| 18 leaves 26 sections of 6; 384 bits. CTAs of one warp here. */
static void sections_are_those_of_the_example(void **state)
{
    (void)state;
    hd_rf_residency residency = {
        .ctas = 42, .most_ctas = 48, .cta_warps = 1, .sm_warps = 48, .file_registers = 1024, .registers = 24};
    rf_bench_result r = run_24("regmutex", residency);
    assert_int_equal(r.counters[HD_COUNTER_SECTIONS], 26);
    assert_int_equal(r.counters[HD_COUNTER_RESIDENT_WARPS], 48);
    assert_int_equal(r.counters[HD_COUNTER_RESIDENT_WITHOUT], 42);
    assert_int_equal(r.counters[HD_COUNTER_ACQUIRES], 100);
    assert_int_equal(r.counters[HD_COUNTER_ACQUIRED_AT_ONCE], 100);
    assert_int_equal(r.counters[HD_COUNTER_EXTRA_INSTRUCTIONS], 200);
    assert_int_equal(r.counters[HD_COUNTER_EXTENDED], 200); /* a write and a read of R23 a warp */
    assert_int_equal(r.storage_bits, 384);
    assert_int_equal(r.allocation.samples, 500);
    assert_true(r.allocation.peak > 48 * 18 && r.allocation.peak <= 1024);
    residency.file_registers = 24; /* one base set and one section */
    r = run_24("regmutex", residency);
    assert_int_equal(r.counters[HD_COUNTER_SECTIONS], 1);
    assert_int_equal(r.counters[HD_COUNTER_RESIDENT_WARPS], 1);
    residency.ctas = residency.most_ctas = residency.sm_warps = 80; /* as many sections as a word of the bit set has */
    residency.file_registers = 80 * 18 + 64 * 6;
    r = run_24("regmutex", residency);
    assert_int_equal(r.counters[HD_COUNTER_SECTIONS], 64);
    assert_int_equal(r.counters[HD_COUNTER_RESIDENT_WARPS], 80);
    assert_int_equal(r.counters[HD_COUNTER_ACQUIRES], 100);
    assert_true(r.allocation.peak <= 80 * 18 + 64 * 6);
    residency.file_registers = 60; /* three base sets and one section, which two of them wait for */
    r = run_24("regmutex", residency);
    assert_int_equal(r.counters[HD_COUNTER_RESIDENT_WARPS], 3);
    assert_int_equal(r.counters[HD_COUNTER_SECTIONS], 1);
    assert_true(r.counters[HD_COUNTER_ACQUIRED_AT_ONCE] < 100 && r.counters[HD_COUNTER_ACQUIRE_WAITS] > 0);
}

/* A GPU that gives registers in units: 18 are 24 of a thread in its file, and fewer base sets leave more room for
 * sections. */
static void base_sets_take_whole_units(void **state)
{
    (void)state;
    hd_diagnostics quiet;
    hd_diagnostics_init(&quiet);
    hd_gpu *gpu = hd_gpu_load("sm_80", &quiet);
    assert_non_null(gpu);
    hd_gpu_limits limits = gpu->limits;
    limits.registers_per_sm = 1024 * 32;
    hd_rf_residency residency = {
        .ctas = 20, .most_ctas = 32, .cta_warps = 2, .sm_warps = 64, .file_registers = 1024, .registers = 24};
    rf_bench_result r = run_24("regmutex", residency);
    assert_int_equal(r.counters[HD_COUNTER_RESIDENT_WARPS], 56);
    assert_int_equal(r.counters[HD_COUNTER_SECTIONS], 2);
    residency.limits = &limits;
    residency.use = (hd_occupancy_use){.threads = 64};
    r = run_24("regmutex", residency);
    assert_int_equal(r.counters[HD_COUNTER_RESIDENT_WARPS], 40);
    assert_int_equal(r.counters[HD_COUNTER_SECTIONS], 40);
    r = run_24("regmutex-paired", residency); /* (2 * 18 + 6) / 2 = 21: 24 again */
    assert_int_equal(r.counters[HD_COUNTER_RESIDENT_WARPS], 40);
    assert_int_equal(r.counters[HD_COUNTER_SECTIONS], 20);
    hd_gpu_free(gpu);
    hd_diagnostics_free(&quiet);
}

/* Pairs have 2 |Bs| + |Es| registers: 42 here, 24 for a CTA of one warp's pair. */
static void pairs_have_a_section_each(void **state)
{
    (void)state;
    hd_rf_residency residency = {
        .ctas = 21, .most_ctas = 24, .cta_warps = 2, .sm_warps = 48, .file_registers = 1024, .registers = 24};
    rf_bench_result r = run_24("regmutex-paired", residency);
    assert_int_equal(r.counters[HD_COUNTER_SECTIONS], 24);
    assert_int_equal(r.counters[HD_COUNTER_RESIDENT_WARPS], 48);
    assert_int_equal(r.storage_bits, 24);
    residency.file_registers = 100; /* two pairs of 42 */
    r = run_24("regmutex-paired", residency);
    assert_int_equal(r.counters[HD_COUNTER_SECTIONS], 2);
    assert_int_equal(r.counters[HD_COUNTER_RESIDENT_WARPS], 4);
}

/* ---- random kernels ---------------------------------------------------------------------------------------------- */

static bool open_divided(rf_bench *b, uint64_t seed)
{
    rf_bench_open_random(b, 2 * seed + 1);
    for (uint32_t extended = 8; extended; extended -= 2) {
        char pass[64];
        snprintf(pass, sizeof pass, "regmutex(es=%u)", extended);
        rf_bench_pass(b, pass);
        if (hd_annotation_at(b->kernel, HD_ANNOTATION_REGMUTEX, HD_NONE, 0))
            return true;
    }
    rf_bench_close(b);
    return false;
}

static hd_rf_residency crowded(uint32_t file_registers)
{
    return (hd_rf_residency){.ctas = 4,
                             .active = 3,
                             .latency = 7,
                             .bytes = 1 << 20,
                             .most_ctas = 6,
                             .cta_warps = 1,
                             .sm_warps = 8,
                             .file_registers = file_registers};
}

static void divided_kernels_are_proved(void **state)
{
    uint32_t kernels = 0;
    uint64_t waits = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        rf_bench b;
        if (!open_divided(&b, seed))
            continue;
        kernels++;
        for (uint64_t order = 0; order < 4; order++)
            for (uint32_t paired = 0; paired < 2; paired++) {
                rf_bench_run run = {.model = model_of(paired ? "regmutex-paired" : "regmutex"),
                                    .order = order,
                                    .warps = 6,
                                    .residency = crowded(40)};
                rf_bench_result result = rf_bench_replay(&b, &run);
                if (!result.proved)
                    fail_msg("seed %llu, order %llu: not proved", (unsigned long long)seed, (unsigned long long)order);
                waits += result.counters[HD_COUNTER_ACQUIRE_WAITS];
            }
        rf_bench_close(&b);
    }
    print_message("# %u kernels, %llu turns lost in waiting\n", kernels, (unsigned long long)waits);
    assert_true(kernels > 80 && waits > 100);
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

/* The set holds a value while the warp is away for a load; two warps want the section. */
static bool holds(const char *options, uint32_t fault)
{
    rf_bench b;
    hd_rf_model_info info = *model_of("regmutex");
    info.options = options;
    rf_bench_open_file(&b, "regmutex_model-holder");
    rf_bench_run run = {.model = &info, .fault = fault, .warps = 6, .residency = crowded(6 * 6 + 2)};
    bool proved = rf_bench_replay(&b, &run).proved;
    rf_bench_close(&b);
    return proved;
}

static void faults_are_caught(void **state)
{
    (void)state;
    assert_true(holds("", 0));
    assert_false(holds("early", 0));  /* given back while it is held */
    assert_false(holds("shared", 0)); /* two warps in one section: the wrong place */
    /* a write-back that is skipped: R0, R7, R1, R2 of a warp are all read */
    for (uint32_t fault = 1; fault <= 4; fault++)
        assert_false(holds("", fault));
}

/* A value that is kept in the set over a release: refuted by the check, and by the proof, though the section may come
 * back untouched. With a model that forgets to clear what it gives back, it is the owner that tells. */
static void a_section_that_changed_hands_is_not_proved(void **state)
{
    (void)state;
    static const char *const options[] = {"", "forgotten"};
    for (uint32_t i = 0; i < 2; i++) {
        rf_bench b;
        hd_rf_model_info info = *model_of("regmutex");
        info.options = options[i];
        rf_bench_open_file(&b, "regmutex_model-reads_late");
        assert_false(rf_bench_check(&b, hd_check_regmutex));
        rf_bench_run run = {.model = &info, .warps = 6, .residency = crowded(6 * 6 + 2)};
        assert_false(rf_bench_replay(&b, &run).proved);
        rf_bench_close(&b);
    }
}

/* ---- no deadlock ------------------------------------------------------------------------------------------------- */

/* Programs with barriers, exchange and calls, with so few registers that one warp may hold a set while the others wait,
 * at barriers and for it. */
static void one_section_is_enough(void **state)
{
    static program p;
    static char text[1 << 19];
    static uint32_t out[96 * RESULT_WORDS];
    const char *count_text = getenv("PROGRAM_COUNT");
    uint64_t count = count_text ? strtoull(count_text, NULL, 10) : 240, waits = 0, acquires = 0, divided = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= count; seed++) {
        program_make(&p, seed);
        program_print(&p, text, sizeof text);
        char passes[64];
        snprintf(passes, sizeof passes, "regalloc(max=%u),regmutex(es=%u)", 24 + 8 * (uint32_t)(seed % 3),
                 2 + 2 * (uint32_t)(seed % 4));
        hd_rf_model_info models[2] = {*model_of("regmutex"), *model_of("regmutex-paired")};
        rf_replay replay = {.run = {.text = text,
                                    .passes = passes,
                                    .in = p.inputs,
                                    .in_bytes = sizeof p.inputs,
                                    .out = out,
                                    .out_bytes = sizeof *out * RESULT_WORDS * p.threads,
                                    .block = p.threads,
                                    .options.instruction_limit = 20000000},
                            .models = models,
                            .model_count = 2,
                            .residency = {.ctas = 1,
                                          .active = 1 + (uint32_t)(seed % 3),
                                          .latency = 20,
                                          .bytes = 1 << 28,
                                          .most_ctas = 1,
                                          .cta_warps = (p.threads + 31) / 32,
                                          .sm_warps = 48,
                                          .file_registers = 32}};
        rf_replay_run(&replay);
        if (!replay.proved || replay.run.status != HD_EXEC_DONE)
            fail_msg("seed %llu: %s", (unsigned long long)seed, replay.run.message);
        waits += replay.results[0].counters[HD_COUNTER_ACQUIRE_WAITS];
        divided += replay.results[0].counters[HD_COUNTER_SECTIONS] != 0;
        acquires += replay.results[0].counters[HD_COUNTER_ACQUIRES];
        assert_true(!acquires || replay.results[0].counters[HD_COUNTER_SECTIONS] <= 1);
    }
    print_message("# %llu programs divided, %llu acquires, %llu turns lost in waiting\n", (unsigned long long)divided,
                  (unsigned long long)acquires, (unsigned long long)waits);
    assert_true(divided > 15 && acquires > 80 && waits > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_are_those_of_the_example),
        cmocka_unit_test(base_sets_take_whole_units),
        cmocka_unit_test(pairs_have_a_section_each),
        cmocka_unit_test(divided_kernels_are_proved),
        cmocka_unit_test(faults_are_caught),
        cmocka_unit_test(a_section_that_changed_hands_is_not_proved),
        cmocka_unit_test(one_section_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
