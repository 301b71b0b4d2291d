/* The renamed register file of RFV: where registers are taken, what flag words cost, what faults the proof notices, and
 * random kernels on any order of the sides of branches. */
#include "tests/unit/unit.h"

#include "hwmodel/rf/models/physical.h"
#include "hwmodel/rf/models/release_hints.h"
#include "ir/words/words.h"
#include "tests/unit/golden.h"
#include "tests/unit/program.h"
#include "tests/unit/rf_bench.h"
#include "tests/unit/rf_replay.h"
#include "passes/manager/manager.h"

#define ALL "release(table=1000000)"

static const hd_rf_ops *release_ops(void) { return hd_rf_model_find("release", 7)->ops; }

static hd_rf_model_info model_with(const char *options)
{
    return (hd_rf_model_info){"release", "release", release_ops(), "", options, "", NULL};
}

/* ---- physical registers ------------------------------------------------------------------------------------------ */

/* 4 banks of 4 sub-arrays of 2. */
static void empty_subarrays_lose_power(void **state)
{
    hd_physical_file file = {0};
    (void)state;
    hd_physical_start(&file, 32, 4, 4);
    assert_int_equal(hd_physical_count(&file), 32);
    file.time = 10;
    assert_int_equal(file.powered, 0);
    assert_int_equal(hd_physical_allocate(&file, 1), 0);
    assert_int_equal(hd_physical_allocate(&file, 1), 1);
    assert_true(file.powered == 1 && file.wakeups == 1);
    file.time = 12;
    assert_int_equal(hd_physical_allocate(&file, 1), 2); /* the second sub-array of the bank */
    assert_int_equal(hd_physical_allocate(&file, 2), 0); /* each bank has its own */
    assert_true(file.powered == 3 && file.wakeups == 3 && file.taken == 4 && hd_physical_touched(&file) == 4);
    hd_physical_release(&file, 1, 0);
    hd_physical_release(&file, 1, 1);
    assert_int_equal(file.powered, 2);
    assert_int_equal(hd_physical_allocate(&file, 1), 3); /* what has power, before the lowest */
    assert_int_equal(file.wakeups, 3);
    assert_int_equal(hd_physical_allocate(&file, 1), 0); /* full: the first is woken again */
    assert_true(file.powered == 3 && file.wakeups == 4 && hd_physical_touched(&file) == 5);
    file.time = 20;
    hd_physical_finalize(&file);
    assert_true(file.on == 2 * 1 + 8 * 3 && file.off == 10 * 16 + 2 * 15 + 8 * 13);
    hd_physical_free(&file);
}

static void turns_are_taken(void **state)
{
    hd_physical_file file = {.robin = true};
    (void)state;
    hd_physical_start(&file, 32, 4, 4);
    for (uint32_t place = 0; place < 16; place++) {
        assert_int_equal(hd_physical_allocate(&file, 3), place % 8);
        hd_physical_release(&file, 3, place % 8);
    }
    hd_physical_free(&file);
}

/* Against a plain list, by chance. */
static void takes_and_gives_agree_with_a_list(void **state)
{
    hd_physical_file file = {0};
    bool taken[4096] = {0};
    uint64_t seed = 5;
    uint32_t held = 0;
    (void)state;
    hd_physical_start(&file, 1024, 4, 4);
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t number = (uint32_t)(unit_random(&seed) % hd_physical_count(&file));
        if (taken[number]) {
            hd_physical_release(&file, number % 4, number / 4);
            taken[number] = false;
            held--;
        } else {
            uint32_t bank = (uint32_t)(unit_random(&seed) % 4);
            number = hd_physical_allocate(&file, bank) * 4 + bank;
            assert_true(number < sizeof taken && !taken[number]);
            taken[number] = true;
            held++;
        }
        bool lit[4][64] = {{0}};
        uint32_t power = 0;
        for (uint32_t n = 0; i % 100 == 0 && n < hd_physical_count(&file); n++)
            if (taken[n] && !lit[n % 4][n / 4 / file.rows]) {
                lit[n % 4][n / 4 / file.rows] = true;
                power++;
            }
        assert_true(file.taken == held && (i % 100 || file.powered == power));
    }
    hd_physical_free(&file);
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */

static rf_bench_result replay_body(const char *body, const char *pass, const char *options,
                                   const hd_rf_residency *residency, uint32_t warps)
{
    rf_bench b;
    hd_rf_model_info model = model_with(options);
    rf_bench_open_body(&b, body);
    rf_bench_pass(&b, pass);
    rf_bench_result r = rf_bench_replay(&b, &(rf_bench_run){.model = &model, .warps = warps, .residency = *residency});
    rf_bench_close(&b);
    return r;
}

static const hd_rf_residency one_by_one = {
    .ctas = 1, .active = 1, .latency = 1, .bytes = 1 << 20, .file_registers = 1024};

/* r1 lives over two instructions, r2 over one, then r1 again. */
static void registers_are_mapped_and_given_away(void **state)
{
    static const char body[] = "mov.u32 %r1, 1;\nadd.u32 %r2, %r1, 1;\nst.global.u32 [out], %r2;\nmov.u32 %r1, "
                               "2;\nst.global.u32 [out], %r1;\n";
    (void)state;
    rf_bench_result r = replay_body(body, ALL, "cache=10", &one_by_one, 3);
    assert_true(r.proved);
    assert_int_equal(r.counters[HD_COUNTER_FILE_READS], 3 * 3);
    assert_int_equal(r.counters[HD_COUNTER_FILE_WRITES], 3 * 3);
    assert_int_equal(r.counters[HD_COUNTER_MAPPED], 3 * 3);
    assert_int_equal(r.counters[HD_COUNTER_RELEASED], 3 * 3);
    assert_int_equal(r.counters[HD_COUNTER_RENAMING], 3 * (3 + 3 + 3)); /* operands, results, releases */
    assert_int_equal(r.counters[HD_COUNTER_STATIC_REGISTERS], 2);
    assert_int_equal(r.counters[HD_COUNTER_TOUCHED], 2); /* each in its bank, one after another */
    assert_int_equal(r.counters[HD_COUNTER_PHYSICAL_REGISTERS], 1024);
    assert_int_equal(r.allocation.samples, 3 * 6);
    assert_int_equal(r.allocation.peak, 1); /* r1 is released when r2 has been written: before the next instruction */
    assert_true(hd_rf_series_mean(&r.allocation) == 3.0 / 6);
    assert_int_equal(r.counters[HD_COUNTER_SUBARRAY_ON], 3 * 3);
    assert_int_equal(r.counters[HD_COUNTER_SUBARRAY_OFF], 3 * (6 * 16 - 3));
    assert_int_equal(r.counters[HD_COUNTER_WAKE_CYCLES], 10 * r.counters[HD_COUNTER_SUBARRAY_WAKES]);
    /* r1 and r2: 4 and 2 accesses a warp */
    assert_int_equal(r.counters[HD_COUNTER_ACCESS_SQUARES], 4 * 3 * 4 * 3 + 2 * 3 * 2 * 3);
    assert_int_equal(r.storage_bits, 8192 + 1024 + 540);
    r = replay_body(body, ALL, "cache=0,robin,wake=3", &one_by_one, 3);
    assert_true(r.proved);
    assert_int_equal(r.counters[HD_COUNTER_TOUCHED], 9);
    assert_int_equal(r.counters[HD_COUNTER_ACCESS_SQUARES], 9 * 2 * 2);
    assert_int_equal(r.counters[HD_COUNTER_WAKE_CYCLES], 3 * r.counters[HD_COUNTER_SUBARRAY_WAKES]);
    assert_int_equal(r.storage_bits, 8192 + 1024);
    r = replay_body(body, ALL, "static", &one_by_one, 3);
    assert_true(r.proved);
    assert_int_equal(r.counters[HD_COUNTER_MAPPED], 3 * 2);
    assert_int_equal(
        r.counters[HD_COUNTER_RELEASED] + r.counters[HD_COUNTER_RENAMING] + r.counters[HD_COUNTER_FLAG_WORDS], 0);
    assert_true(hd_rf_series_mean(&r.allocation) == 2);
    assert_int_equal(r.storage_bits, 0);
}

/* What one warp releases is allocated to another: four warps whose long live ranges never overlap. */
static void warps_share_registers(void **state)
{
    static const char body[] = "mov.u32 %r1, 1;\nadd.u32 %r2, %r1, 1;\nadd.u32 %r3, %r2, 1;\nadd.u32 %r4, %r3, "
                               "1;\nst.global.u32 [out], %r4;\n";
    hd_rf_residency together = {.ctas = 4, .active = 4, .latency = 1, .bytes = 1 << 20, .file_registers = 64};
    (void)state;
    rf_bench_result r = replay_body(body, ALL, "cache=10", &together, 8),
                    s = replay_body(body, ALL, "static", &together, 8);
    assert_true(r.proved && s.proved);
    assert_int_equal(s.counters[HD_COUNTER_STATIC_REGISTERS], 16);
    assert_int_equal(s.counters[HD_COUNTER_TOUCHED], 16);
    assert_int_equal(r.allocation.peak, 4);
    assert_true(r.counters[HD_COUNTER_TOUCHED] < 16);
}

/* One pir word a block of up to 18 instructions; three of them here, in 40 instructions and a loop. */
static void flag_words_go_through_the_cache(void **state)
{
    hd_writer body;
    (void)state;
    hd_writer_to_memory(&body);
    for (uint32_t i = 0; i < 36; i++)
        hd_write_string(&body, "bar.warp.sync -1;\n");
    hd_write_string(&body, "mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 10;\n@%p1 bra L;\n");
    hd_write_char(&body, '\0');
    /* blocks: 37 instructions (3 words), 3 in the loop (1, ten times), ret (1, and a list) */
    rf_bench_result r = replay_body(body.buffer.items, ALL, "cache=0", &one_by_one, 4);
    assert_true(r.proved);
    assert_int_equal(r.counters[HD_COUNTER_FLAG_WORDS], 4 * (3 + 10 + 1));
    assert_int_equal(r.counters[HD_COUNTER_FLAG_DECODES], r.counters[HD_COUNTER_FLAG_WORDS]);
    assert_int_equal(r.counters[HD_COUNTER_LIST_WORDS], 4);
    r = replay_body(body.buffer.items, ALL, "cache=64", &one_by_one, 4);
    assert_int_equal(r.counters[HD_COUNTER_FLAG_WORDS], 4 * 14);
    assert_int_equal(r.counters[HD_COUNTER_FLAG_DECODES], 5); /* once each, for all warps */
    r = replay_body(body.buffer.items, ALL, "cache=1", &one_by_one, 4);
    assert_int_equal(r.counters[HD_COUNTER_FLAG_DECODES], 4 * 5); /* only the loop's stays */
    /* at addresses 1, 20, 39, 41 and 46 (with the words before them, and the list): 20 and 40 words apart share entries
     * of 10 and 20 */
    r = replay_body(body.buffer.items, ALL, "cache=10", &one_by_one, 4);
    assert_true(r.counters[HD_COUNTER_FLAG_DECODES] >= 5 && r.counters[HD_COUNTER_FLAG_DECODES] < 20);
    hd_writer_free(&body);
}

/* A file never holds more registers than it has: there is none for what comes after the last one, in this bank or
 * another. */
static void full_files_have_no_register(void **state)
{
    static const uint32_t shapes[][3] = {{32, 4, 4}, {31, 4, 2}, {7, 3, 5}, {16, 16, 1}};
    (void)state;
    for (uint32_t i = 0; i < 2 * sizeof shapes / sizeof *shapes; i++) {
        const uint32_t *shape = shapes[i / 2];
        hd_physical_file file = {.robin = i % 2};
        uint32_t taken = 0;
        hd_physical_start(&file, shape[0], shape[1], shape[2]);
        for (uint32_t round = 0; round < 2; round++)
            for (uint32_t bank = 0; bank < shape[1]; bank++)
                while (hd_physical_allocate(&file, bank) != HD_NONE)
                    taken++;
        assert_int_equal(taken, shape[0]);
        assert_int_equal(file.taken, file.capacity);
        hd_physical_release(&file, 0, 0);
        assert_int_equal(hd_physical_free_count(&file), 1);
        assert_int_equal(hd_physical_allocate(&file, 0), 0);
        assert_int_equal(hd_physical_allocate(&file, 0), HD_NONE);
        hd_physical_free(&file);
    }
}

static void expect_same(const rf_bench_result *a, const rf_bench_result *b, const char *what, uint64_t seed)
{
    assert_true(a->proved == b->proved);
    for (uint32_t c = 0; c < HD_COUNTER_COUNT; c++)
        if (a->counters[c] != b->counters[c])
            fail_msg("seed %llu, %s: %s are %llu, and %llu", (unsigned long long)seed, what, hd_counters[c].title,
                     (unsigned long long)a->counters[c], (unsigned long long)b->counters[c]);
    assert_memory_equal(a->allocation.sums, b->allocation.sums, sizeof a->allocation.sums);
    assert_true(a->allocation.samples == b->allocation.samples && a->allocation.peak == b->allocation.peak);
    assert_int_equal(a->storage_bits, b->storage_bits);
}

/* Thread blocks of a warp with 3 registers each, in a file of 14: if more than 4 are resident, warps wait for free
 * registers. With a memo or without: launches in which they may wait are not looked up. */
static void warps_wait_where_the_file_is_small(void **state)
{
    static const char body[] = "mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nmov.u32 %r3, 3;\nst.global.u32 [out], "
                               "%r1;\nst.global.u32 [out], %r2;\nst.global.u32 [out], %r3;\n";
    (void)state;
    const hd_rf_model_info model = model_with("cache=10");
    for (uint32_t ctas = 4; ctas <= 5; ctas++) {
        hd_rf_residency tiny = {.ctas = ctas, .active = 8, .latency = 1, .bytes = 1 << 20, .file_registers = 14};
        rf_bench b;
        rf_bench_open_body(&b, body);
        rf_bench_pass(&b, ALL);
        rf_bench_run run = {.model = &model, .warps = 8, .residency = tiny, .events = 100};
        rf_bench_result known = rf_bench_replay(&b, &run);
        run.fault = UINT32_MAX; /* walks every instruction */
        rf_bench_result walked = rf_bench_replay(&b, &run);
        rf_bench_close(&b);
        assert_true(known.proved && walked.proved);
        assert_true(known.allocation.peak == (ctas > 4 ? 14 : 12));
        assert_int_equal(known.counters[HD_COUNTER_REGISTER_WAITS] != 0, ctas > 4);
        expect_same(&known, &walked, "cache=10", ctas);
    }
}

static void shapes_that_are_none(void **state)
{
    static const char *const wrong[] = {"banks=0", "subarrays=0", "cache=65"};
    rf_bench b;
    (void)state;
    rf_bench_open_body(&b, "bar.warp.sync -1;\n");
    hd_rf_module *code = hd_rf_module_new(b.module);
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        hd_rf_model_info model = model_with(wrong[i]);
        const char *refusal = NULL;
        assert_null(hd_rf_model_new(&model, code, &refusal));
        assert_non_null(refusal);
    }
    hd_rf_module_free(code);
    rf_bench_close(&b);
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

static void faults_are_noticed(void **state)
{
    static const char body[] = "mov.u32 %r1, 1;\nadd.u32 %r2, %r1, 1;\nmov.u32 %r5, 3;\nst.global.u32 [out], "
                               "%r2;\nmov.u32 %r1, 2;\nst.global.u32 [out], %r1;\nst.global.u32 [out], %r5;\n";
    (void)state;
    hd_rf_model_info early = model_with("cache=10,early"), unmarked = model_with("cache=10,unmarked"),
                     sound = model_with("cache=10");
    rf_bench b;
    rf_bench_open_body(&b, body);
    rf_bench_pass(&b, ALL);
    assert_true(rf_bench_replay(&b, &(rf_bench_run){.model = &sound}).proved);
    assert_false(rf_bench_replay(&b, &(rf_bench_run){.model = &early}).proved);    /* before the operands are read */
    assert_false(rf_bench_replay(&b, &(rf_bench_run){.model = &unmarked}).proved); /* one register for two words */
    /* ... where what warps share waits for the end of a turn */
    rf_bench_run looked_up = {.model = &sound, .warps = 8, .events = 100};
    assert_true(rf_bench_replay(&b, &looked_up).proved);
    looked_up.model = &early;
    assert_false(rf_bench_replay(&b, &looked_up).proved);
    looked_up.model = &unmarked;
    assert_false(rf_bench_replay(&b, &looked_up).proved);
    for (uint32_t fault = 1; fault <= 4 * 4; fault++) /* write-backs, all of them read */
        assert_false(rf_bench_replay(&b, &(rf_bench_run){.model = &sound, .fault = fault}).proved);
    assert_true(rf_bench_replay(&b, &(rf_bench_run){.model = &sound, .fault = 17}).proved);
    rf_bench_close(&b);
}

/* Found also where both warps do what is known: the first one waits for its load with three registers, and has their
 * banks; the second one takes registers of the same banks. Alone, no warp takes one twice. */
static void shared_registers_are_noticed_in_lookups(void **state)
{
    static const char body[] = "ld.global.u32 %r1, [out];\nmov.u32 %r2, 1;\nmov.u32 %r3, 2;\nst.global.u32 [out], "
                               "%r1;\nst.global.u32 [out], %r2;\nst.global.u32 [out], %r3;\n";
    hd_rf_model_info unmarked = model_with("cache=10,unmarked"), sound = model_with("cache=10");
    rf_bench_run run = {.warps = 8,
                        .events = 100,
                        .segments = true,
                        .residency = {.ctas = 4, .active = 1, .latency = 100, .bytes = 1 << 20}};
    rf_bench b;
    (void)state;
    rf_bench_open_body(&b, body);
    rf_bench_pass(&b, ALL);
    run.model = &sound;
    assert_true(rf_bench_replay(&b, &run).proved);
    run.model = &unmarked;
    assert_false(rf_bench_replay(&b, &run).proved);
    run.warps = 1;
    assert_true(rf_bench_replay(&b, &run).proved);
    rf_bench_close(&b);
}

/* ---- random kernels ---------------------------------------------------------------------------------------------- */

/* A released register is never read before it is written again: on any order of the sides, of warps, in PTX's registers
 * and in allocated ones, under each rule. */
/* Addresses in the code as it lies in memory: each function's words for the whole of it, then its instructions, each
 * after its own words. What issues nothing has no address. */
static void flag_words_have_addresses(void **state)
{
    (void)state;
    uint32_t covered = 0, lists = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        rf_bench b;
        const char *refusal = NULL;
        hd_release_hints hints = {0};
        hd_word_array words = {0};
        uint32_t address = 0;
        golden_sources[3].open(&b, seed); /* with calls */
        rf_bench_pass(&b, "release");
        hd_rf_module *code = hd_rf_module_new(b.module);
        refusal = hd_release_hints_read(&hints, code, false);
        for (uint32_t f = 0; f < b.module->functions.count && !refusal; f++) {
            const hd_function *function = b.module->functions.items[f];
            if (!function->has_body)
                continue;
            uint32_t last = 0, used = 0;
            hd_array_clear(&words);
            if (!hd_words_of_release(function, &words, &refusal))
                words.count = 0;
            for (uint32_t w = 0; w < words.count; w++)
                used += words.items[w].instruction == HD_NONE;
            address += used;
            for (uint32_t i = 0; i < function->instructions.count; i++) {
                uint32_t before = 0;
                for (uint32_t w = 0; w < words.count; w++) {
                    if (words.items[w].instruction != i)
                        continue;
                    bool flags = hd_word_opcode_of(words.items[w].bits) == HD_WORD_PIR;
                    last = flags ? 1 + address : last;
                    before += !flags;
                    address++;
                    used++;
                }
                assert_int_equal(hints.functions[f].flags[i], last);
                assert_int_equal(hints.functions[f].lists[i], before);
                address += !hd_storage_skips(&code->functions[f]->storage, i);
                covered += last != 0;
                lists += before;
            }
            assert_int_equal(used, words.count);
        }
        hd_array_free(&words);
        hd_release_hints_free(&hints);
        hd_rf_module_free(code);
        rf_bench_close(&b);
    }
    assert_true(covered > 100 && lists > 10);
}

static void random_kernels_are_proved(void **state)
{
    static const char *const passes[] = {ALL, "release(table=1000000,liveness=paper)",
                                         "release(table=1000000,liveness=its)", "release(table=40)"};
    hd_rf_model_info models[] = {model_with("cache=10"), model_with("cache=2,robin"), model_with("static")};
    uint64_t released = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 1200; seed++) {
        rf_bench b;
        rf_bench_open_random(&b, seed);
        rf_bench_pass(&b, passes[seed / 2 % 4]);
        if (!rf_bench_check(&b, hd_check_release))
            fail_msg("seed %llu: the check refutes the pass", (unsigned long long)seed);
        for (uint64_t order = 0; order < 3; order++) {
            rf_bench_result r = rf_bench_replay(
                &b, &(rf_bench_run){.model = &models[seed % 3], .order = order * 77 + seed * (order != 0)});
            if (!r.proved)
                fail_msg("seed %llu, order %llu: not proved", (unsigned long long)seed, (unsigned long long)order);
            assert_true(r.counters[HD_COUNTER_RELEASED] <= r.counters[HD_COUNTER_MAPPED]);
            assert_int_equal(r.counters[HD_COUNTER_OPERANDS], r.counters[HD_COUNTER_FILE_READS]);
            released += r.counters[HD_COUNTER_RELEASED];
        }
        rf_bench_close(&b);
    }
    assert_true(released > 10000);
}

/* Warps that are looked up, and those that are walked, as they are where a fault might come: in files that are large
 * enough, and in such whose banks are full at times. */
static void deeds_are_the_same_again(void **state)
{
    static const char *const options[] = {"cache=10", "cache=2,banks=3,subarrays=2", "banks=1,subarrays=64", "robin"};
    static const uint32_t registers[] = {100, 130, 1024};
    (void)state;
    for (uint64_t seed = 0; seed < 240; seed++) {
        hd_rf_model_info model = model_with(options[seed / 2 % 4]);
        rf_bench_run run = {
            .model = &model,
            .warps = 12,
            .events = 100,
            .segments = true,
            .order = seed % 5 * 31,
            .residency = {
                .ctas = 6, .active = 3, .latency = 10, .bytes = 1 << 20, .file_registers = registers[seed / 8 % 3]}};
        rf_bench b;
        rf_bench_open_random(&b, seed);
        rf_bench_pass(&b, ALL);
        rf_bench_result known = rf_bench_replay(&b, &run);
        run.fault = UINT32_MAX;
        rf_bench_result walked = rf_bench_replay(&b, &run);
        assert_true(known.proved && walked.proved);
        expect_same(&known, &walked, options[seed / 2 % 4], seed);
        rf_bench_close(&b);
    }
}

/* What no flag cache counts beside a model that does the same otherwise, or something else, is what it counts alone. */
static void no_flag_cache_is_like_any(void **state)
{
    static const char *const options[][2] = {
        {"cache=0", "cache=10"},       {"cache=0", "cache=10,early"}, {"cache=0,robin", "robin"},
        {"cache=0,robin", "cache=10"}, {"cache=0,static", "static"},  {"cache=0", "wake=3"},
        {"cache=0", "table=64"},       {"cache=0", "banks=2"},        {"cache=0,early", "cache=0,early"},
        {"cache=2", "cache=10"}};
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        const char *const *pair = options[seed % 10];
        hd_rf_model_info model = model_with(pair[0]), beside = model_with(pair[1]);
        rf_bench_run run = {
            .model = &model,
            .warps = 12,
            .events = 100,
            .segments = true,
            .residency = {
                .ctas = 6, .active = 3, .latency = 10, .bytes = 1 << 20, .file_registers = seed % 2 ? 256 : 1024}};
        rf_bench b;
        rf_bench_open_random(&b, seed / 3);
        rf_bench_pass(&b, ALL);
        rf_bench_result alone = rf_bench_replay(&b, &run);
        run.beside = &beside;
        rf_bench_result together = rf_bench_replay(&b, &run);
        if (alone.proved && together.proved) /* else what came after the fault may have been seen, or not */
            expect_same(&alone, &together, pair[1], seed);
        assert_true(together.proved ? alone.proved : strstr(pair[1], "early") != NULL);
        rf_bench_close(&b);
    }
}

/* Releases that do not wait for the operands. */
static void early_flags_are_noticed_on_random_kernels(void **state)
{
    hd_rf_model_info early = model_with("cache=10,early");
    uint32_t failed = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        rf_bench b;
        rf_bench_open_random(&b, seed);
        rf_bench_pass(&b, ALL);
        failed += !rf_bench_replay(&b, &(rf_bench_run){.model = &early}).proved;
        rf_bench_close(&b);
    }
    assert_true(failed > 50);
}

/* ---- programs, in the interpreter -------------------------------------------------------------------------------- */

static void annotate_program(rf_replay *replay, hd_module *module)
{
    hd_diagnostics diagnostics;
    hd_diagnostics_init(&diagnostics);
    hd_pipeline *pipeline = hd_pipeline_parse(replay->seed % 2 ? "select,regalloc," ALL : ALL, &diagnostics);
    assert_non_null(pipeline);
    assert_true(hd_pipeline_run(pipeline, module, &(hd_pipeline_options){.validate = true}, &diagnostics));
    hd_pipeline_free(pipeline);
    for (uint32_t f = 0; f < module->functions.count; f++) {
        uint64_t count = 0;
        if (module->functions.items[f]->has_body)
            assert_true(hd_check_release(module->functions.items[f], &diagnostics, &count));
    }
    hd_diagnostics_free(&diagnostics);
}

/* With calls, loops, switches, shuffles and barriers; several warps a block. */
static void random_programs_are_proved(void **state)
{
    hd_rf_model_info models[] = {*hd_rf_model_find("release", 7), *hd_rf_model_find("release-wear", 12)};
    static char text[1 << 18];
    static uint32_t out[RESULT_WORDS * 1024];
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        program p;
        program_make(&p, seed);
        program_print(&p, text, sizeof text);
        rf_replay r = {.run = {.text = text,
                               .in = p.inputs,
                               .in_bytes = sizeof p.inputs,
                               .out = out,
                               .out_bytes = sizeof out,
                               .block = p.threads,
                               .grid = 1},
                       .models = models,
                       .model_count = 2,
                       .annotate = annotate_program,
                       .seed = seed,
                       .residency = {.ctas = 1, .active = 4, .latency = 20, .bytes = 1 << 26, .file_registers = 2048}};
        rf_replay_run(&r);
        if (!r.proved)
            fail_msg("seed %llu: not proved", (unsigned long long)seed);
        assert_null(r.results[0].refusal);
        assert_true(r.results[0].counters[HD_COUNTER_RELEASED] > 0);
    }
}

/* A lane leaves the loop after as many turns as its number says, and waits at the barrier with its R5, which others in
 * the loop still write and read: they come one by one, as an exit keeps them from meeting after the loop. */
#define WAITING(out)                                                                                                 \
    "mov.u32 %r1, 0;\nmov.u32 %r6, 0;\nLOOP:\nsetp.gt.u32 %p1, %r0, 99;\n@%p1 exit;\nadd.u32 %r5, %r1, 1;\nadd.u32 " \
    "%r6, %r6, %r5;\n"                                                                                               \
    "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p3, %r1, %r0;\n@%p3 bra LOOP;\nadd.u32 %r5, %r6, 1;\nbar.sync "              \
    "0;\nst.global.u32 [" out "], %r5;\n"

static void lanes_that_wait_keep_theirs(void **state)
{
    hd_rf_model_info models[] = {*hd_rf_model_find("release", 7)};
    static const char pass[] = "mov.u32 %r0, %tid.x;\n" WAITING("out");
    char text[4096];
    uint32_t out[1];
    rf_bench b;
    (void)state;
    kernel_text(text, sizeof text, "mov.u32 %r2, %tid.x;\nadd.u32 %r3, %r2, %r2;\n" WAITING("%rd1"));
    rf_replay r = {.run = {.text = text, .out = out, .out_bytes = sizeof out, .block = 32, .grid = 1},
                   .models = models,
                   .model_count = 1,
                   .annotate = annotate_program,
                   .residency = {.ctas = 1, .active = 4, .latency = 20, .bytes = 1 << 26, .file_registers = 2048}};
    rf_replay_run(&r);
    assert_true(r.proved);
    assert_true(r.results[0].counters[HD_COUNTER_RELEASED] > 0);
    rf_bench_open_body(&b, pass);
    rf_bench_pass(&b, ALL);
    assert_true(rf_bench_check(&b, hd_check_release));
    /* R5, dead for who is in the loop */
    hd_annotate(b.kernel, (hd_annotation){.kind = HD_ANNOTATION_PIR, .instruction = 6, .value = 2});
    hd_annotations_sort(b.kernel);
    assert_false(rf_bench_check(&b, hd_check_release));
    rf_bench_close(&b);
    rf_bench_open_body(&b, pass);
    rf_bench_pass(&b, "ltrf(dead)");
    assert_true(rf_bench_check(&b, hd_check_ltrf));
    /* likewise */
    hd_annotate(b.kernel, (hd_annotation){.kind = HD_ANNOTATION_LTRF_DEAD, .instruction = 6, .value = 2});
    hd_annotations_sort(b.kernel);
    assert_false(rf_bench_check(&b, hd_check_ltrf));
    rf_bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_subarrays_lose_power),
        cmocka_unit_test(turns_are_taken),
        cmocka_unit_test(takes_and_gives_agree_with_a_list),
        cmocka_unit_test(registers_are_mapped_and_given_away),
        cmocka_unit_test(warps_share_registers),
        cmocka_unit_test(flag_words_go_through_the_cache),
        cmocka_unit_test(full_files_have_no_register),
        cmocka_unit_test(warps_wait_where_the_file_is_small),
        cmocka_unit_test(shapes_that_are_none),
        cmocka_unit_test(faults_are_noticed),
        cmocka_unit_test(shared_registers_are_noticed_in_lookups),
        cmocka_unit_test(flag_words_have_addresses),
        cmocka_unit_test(random_kernels_are_proved),
        cmocka_unit_test(deeds_are_the_same_again),
        cmocka_unit_test(no_flag_cache_is_like_any),
        cmocka_unit_test(early_flags_are_noticed_on_random_kernels),
        cmocka_unit_test(random_programs_are_proved),
        cmocka_unit_test(lanes_that_wait_keep_theirs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
