/* The models of LTRF, LTRF+ and RFC on kernels worked by hand, faults, and random programs in the interpreter. */
#include "tests/unit/program.h"
#include "tests/unit/rf_replay.h"

/* ---- helpers ----------------------------------------------------------------------------------------------------- */

/* Register n is word n; intervals of at most three. */
#define KERNEL(body)                                                                                              \
    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 in, .param .u64 out)\n{ //@architected " \
    "(8,4,0,0); "                                                                                                 \
    "ltrf_size 3\n.reg .b32 %R<8>;\n.reg .b64 %RD<8>;\n.reg .pred %P<4>;\n" body "ret;\n}\n"

static const hd_rf_residency one_sm = {
    .ctas = 4, .active = 2, .latency = 10, .bytes = 1 << 24, .cta_warps = 1, .sm_warps = 64, .thread_registers = 255};

static hd_rf_model_info model_of(const char *name, const char *options)
{
    hd_rf_model_info info = *hd_rf_model_find(name, strlen(name));
    info.options = options;
    return info;
}

static rf_replay replay_with(const char *text, const char *name, const char *options, uint32_t fault)
{
    static unsigned char buffer[4096];
    static hd_rf_model_info info;
    info = model_of(name, options);
    rf_replay r = {
        .run = {.text = text, .in = buffer, .in_bytes = sizeof buffer, .out = buffer, .out_bytes = sizeof buffer},
        .models = &info,
        .model_count = 1,
        .fault = fault,
        .residency = one_sm};
    rf_replay_run(&r);
    return r;
}

static rf_replay_result proved(const char *text, const char *name, const char *options)
{
    rf_replay r = replay_with(text, name, options, 0);
    assert_null(r.results[0].refusal);
    assert_true(r.proved);
    assert_int_equal(r.results[0].counters[HD_COUNTER_OPERANDS], r.baseline.counters[HD_COUNTER_OPERANDS]);
    assert_int_equal(r.results[0].counters[HD_COUNTER_RESULTS], r.baseline.counters[HD_COUNTER_RESULTS]);
    return r.results[0];
}

/* Bit k: the loss of the k-th move is noticed; `moves` of them. */
static uint32_t noticed(const char *text, const char *name, const char *options, uint32_t moves)
{
    uint32_t mask = 0;
    for (uint32_t fault = 1; fault <= moves; fault++) {
        rf_replay r = replay_with(text, name, options, fault);
        assert_true(r.proved || r.failed == 1);
        mask |= (uint32_t)!r.proved << fault;
    }
    assert_true(replay_with(text, name, options, moves + 1).proved);
    return mask;
}

static void assert_accesses(const rf_replay_result *r, uint64_t file_reads, uint64_t file_writes, uint64_t cache_reads,
                            uint64_t cache_writes)
{
    assert_int_equal(r->counters[HD_COUNTER_FILE_READS], file_reads);
    assert_int_equal(r->counters[HD_COUNTER_FILE_WRITES], file_writes);
    assert_int_equal(r->counters[HD_COUNTER_CACHE_READS], cache_reads);
    assert_int_equal(r->counters[HD_COUNTER_CACHE_WRITES], cache_writes);
}

/* ---- intervals --------------------------------------------------------------------------------------------------- */

/* R1 is back in the third interval, with another value. */
#define THREE                                              \
    KERNEL("mov.u32 %R1, 1; //@ltrf_prefetch (1,2)\n"      \
           "add.u32 %R2, %R1, %R1; //@ltrf_dead 0x3\n"     \
           "add.u32 %R3, %R2, 5; //@ltrf_prefetch (2,3)\n" \
           "add.u32 %R1, %R3, %R2; //@ltrf_prefetch (1,2,3); ltrf_dead 0x3\n")

static void what_an_interval_lacks_is_fetched(void **state)
{
    (void)state;
    rf_replay_result r = proved(THREE, "ltrf", "n=3");
    assert_accesses(&r, 4, 1, 4 + 1, 4 + 4);
    assert_int_equal(r.counters[HD_COUNTER_BYPASSED], 4);
    assert_int_equal(r.counters[HD_COUNTER_PREFETCHED], 4);
    assert_int_equal(r.counters[HD_COUNTER_REFETCHED], 0);
    assert_int_equal(r.counters[HD_COUNTER_WRITTEN_BACK], 1);
    assert_int_equal(r.counters[HD_COUNTER_INTERVALS], 3);
    assert_int_equal(r.counters[HD_COUNTER_INTERVAL_INSTRUCTIONS], 5);
    assert_int_equal(r.counters[HD_COUNTER_INTERVAL_SHORTEST], 1);
    assert_int_equal(r.counters[HD_COUNTER_INTERVAL_LONGEST], 2);
    assert_int_equal(r.counters[HD_COUNTER_OPTIMAL_INTERVALS], 1);
    assert_int_equal(r.counters[HD_COUNTER_OPTIMAL_SHORTEST], 0); /* the last run is cut off by the end */
    assert_int_equal(r.counters[HD_COUNTER_OPTIMAL_LONGEST], 5);
    assert_int_equal(r.allocation.samples, 5);
    assert_int_equal(r.allocation.peak, 8 + 3); /* registers of the kernel, and lines */
    /* nothing is live that would have to be moved */
    r = proved(THREE, "ltrf+", "n=3,dead");
    assert_accesses(&r, 0, 0, 4, 4);
}

static void a_loop_goes_on_in_its_interval(void **state)
{
    (void)state;
    rf_replay_result r =
        proved(KERNEL("mov.u32 %R1, 0; //@ltrf_prefetch (1)\nL: add.u32 %R1, %R1, 1; //@ltrf_prefetch (1)\n"
                      "setp.lt.u32 %P1, %R1, 4;\n@%P1 bra L;\n"),
               "ltrf", "n=3");
    assert_accesses(&r, 1, 0, 8, 1 + 5);
    assert_int_equal(r.counters[HD_COUNTER_INTERVALS], 2);
    assert_int_equal(r.counters[HD_COUNTER_INTERVAL_LONGEST], 13);
}

/* After the load from global memory the warp leaves and comes back. */
#define LOADING                                                  \
    KERNEL("ld.param.u64 %RD2, [in]; //@ltrf_prefetch (2,3,4)\n" \
           "ld.global.u32 %R4, [%RD2]; //@ltrf_dead 0x1\n"       \
           "add.u32 %R4, %R4, 1;\n")

static void a_warp_that_leaves_takes_its_registers_along(void **state)
{
    (void)state;
    rf_replay_result r = proved(LOADING, "ltrf", "n=3");
    assert_accesses(&r, 3 + 3, 3, 3 + 3, 4 + 6);
    assert_int_equal(r.counters[HD_COUNTER_REFETCHED], 3);
    r = proved(LOADING, "ltrf+", "n=3,dead");
    assert_accesses(&r, 1, 1, 3 + 1, 4 + 1);
    assert_int_equal(r.counters[HD_COUNTER_REFETCHED], 1);
    /* what the next interval does not need is not fetched again */
    r = proved(KERNEL("ld.param.u64 %RD2, [in]; //@ltrf_prefetch (2,3,4)\nld.global.u32 %R4, [%RD2];\nmov.u32 %R4, 1; "
                      "//@ltrf_prefetch (4)\n"),
               "ltrf", "n=3");
    assert_int_equal(r.counters[HD_COUNTER_REFETCHED], 0);
    assert_int_equal(r.counters[HD_COUNTER_PREFETCHED], 3 + 1);
}

/* Six words: three of them in the cache, the rest from and to the file; as many as that with a cache that is larger
 * than the intervals. */
static void what_is_too_wide_bypasses_the_cache(void **state)
{
    (void)state;
#define WIDE(words)                                                                             \
    KERNEL("mov.u64 %RD4, 1; //@ltrf_prefetch (4,5)\nmov.u64 %RD6, 1; //@ltrf_prefetch (6,7)\n" \
           "add.u64 %RD2, %RD4, %RD6; //@ltrf_prefetch (" words ")\nmov.b64 %RD6, %RD2; //@ltrf_prefetch (2,3)\n")
    static const char *const sizes[] = {"n=3", "n=5"};
    for (uint32_t k = 0; k < 2; k++) {
        rf_replay r = replay_with(
            KERNEL(
                "mov.u64 %RD4, 1; //@ltrf_prefetch (4,5)\nmov.u64 %RD6, 1; //@ltrf_prefetch (6,7)\n"
                "add.u64 %RD2, %RD4, %RD6; //@ltrf_prefetch (2,3,4)\nadd.u32 %R2, %R2, %R3; //@ltrf_prefetch (2,3)\n"),
            "ltrf", sizes[k], 0);
        assert_true(r.proved);
        assert_int_equal(r.results[0].counters[HD_COUNTER_OPERANDS] - r.results[0].counters[HD_COUNTER_BYPASSED], 3);
    }
    assert_false(replay_with(WIDE("2,3"), "ltrf", "n=3", 0).proved); /* more would have found room */
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

#define MOVING(words)                                                                     \
    KERNEL("mov.u32 %R1, 1; //@ltrf_prefetch (1)\nmov.u32 %R2, 2; //@ltrf_prefetch (2)\n" \
           "add.u32 %R3, %R1, %R2; //@ltrf_prefetch (" words ")\n")

static void lost_moves_are_noticed(void **state)
{
    (void)state;
    /* fetch 1, result 1, back 1, fetch 2, result 2, fetch 1, fetch 3, result 3: of the fetches only that of the value
     * that is read */
    assert_int_equal(noticed(MOVING("1,2,3"), "ltrf", "n=3", 8), 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6);
    /* result 1, back 1, result 2, fetch 1, result 3 */
    assert_int_equal(noticed(MOVING("1,2,3"), "ltrf+", "n=3,dead", 5), 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4);
    /* fetch 2 3 4, results 2 3, result 4, back 2 3 4, fetch 2 3 4 (into the lines that still hold them), result 4 */
    assert_int_equal(noticed(LOADING, "ltrf", "n=3", 13), 1 << 4 | 1 << 5 | 1 << 6 | 1 << 9);
}

static void wrong_annotations_are_noticed(void **state)
{
    (void)state;
    assert_false(replay_with(MOVING("1,3"), "ltrf", "n=3", 0).proved); /* a register too few */
    const char *early = KERNEL("mov.u32 %R1, 1; //@ltrf_prefetch (1,4)\nmov.u32 %R4, %R1; //@ltrf_dead 0x1\nmov.u32 "
                               "%R2, 2; //@ltrf_prefetch (2)\n"
                               "add.u32 %R3, %R1, %R2; //@ltrf_prefetch (1,2,3)\n");
    assert_true(replay_with(early, "ltrf", "n=3", 0).proved); /* which does not look at dead bits */
    assert_false(replay_with(early, "ltrf+", "n=3,dead", 0).proved);
}

/* While S1 waits, the other side runs in an interval of its own; S1 goes on in the middle of the first one. */
static void who_waits_finds_another_interval(void **state)
{
    (void)state;
#define WAIT(inside, after)                                                                                           \
    KERNEL("mov.u32 %R0, %laneid; //@ltrf_prefetch (0,1,3)\nsetp.lt.u32 %P0, %R0, 9;\n@%P0 bra S1;\nmov.u32 %R2, 2; " \
           "//@ltrf_prefetch (2)\n"                                                                                   \
           "bar.warp.sync -1;" inside "\nbra J;" after "\nS1: mov.u32 %R1, 1;\nbar.warp.sync -1;" inside              \
           "\nadd.u32 %R3, %R1, %R1;" after "\nJ: ")
    assert_false(replay_with(WAIT("", ""), "ltrf", "n=3", 0).proved);
    assert_true(replay_with(WAIT("//@ltrf_prefetch ()", "//@ltrf_prefetch (1,3)"), "ltrf", "n=3", 0).proved);
}

/* ---- RFC --------------------------------------------------------------------------------------------------------- */

#define RESULTS \
    KERNEL(     \
        "mov.u32 %R1, 1; //@ltrf_prefetch (1,2,3)\nmov.u32 %R2, 2;\nadd.u32 %R3, %R1, %R2;\nadd.u32 %R2, %R1, %R3;\n")

static void results_stay_until_newer_ones_come(void **state)
{
    (void)state;
    /* two entries: 3 drives out 1, then 2 is there */
    rf_replay_result r = proved(RESULTS, "rfc", "private,entries=2");
    assert_accesses(&r, 1, 1, 3 + 1, 4);
    assert_int_equal(r.counters[HD_COUNTER_EVICTIONS], 1);
    assert_int_equal(r.counters[HD_COUNTER_BYPASSED], 3);
    /* results 1 2, back 1, result 3, result 2 */
    assert_int_equal(noticed(RESULTS, "rfc", "private,entries=2", 5), 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4);
    r = proved(RESULTS, "rfc", "private,entries=3");
    assert_accesses(&r, 0, 0, 4, 4);
    /* the load's result goes to the file; what was in the cache does, when the warp leaves */
    r = proved(LOADING, "rfc", "private,entries=4");
    assert_accesses(&r, 1, 1 + 2, 2 + 2, 3);
}

/* Lanes under a guard are in the cache, the others in the file. */
static void lanes_are_kept_apart(void **state)
{
    (void)state;
    const char *text = KERNEL(
        "mov.u32 %R1, %laneid; //@ltrf_prefetch (1,2,3)\nsetp.lt.u32 %P0, %R1, 7;\nmov.u32 %R2, 1;\nmov.u32 %R3, 1;\n"
        "@%P0 add.u32 %R1, %R1, 5;\nadd.u32 %R2, %R1, %R3;\n");
    rf_replay_result r = proved(text, "rfc", "private,entries=1");
    assert_int_equal(r.counters[HD_COUNTER_BYPASSED], 1);            /* the compare's */
    assert_int_equal(r.counters[HD_COUNTER_CACHE_READS], 1 + 1 + 4); /* and a part of the sum's; four are driven out */
}

/* Two warps; entries for two active ones. */
static rf_replay_result two_warps(const char *text, const char *options)
{
    static unsigned char buffer[4096];
    static hd_rf_model_info info;
    info = model_of("rfc", options);
    rf_replay r = {.run = {.text = text,
                           .in = buffer,
                           .in_bytes = sizeof buffer,
                           .out = buffer,
                           .out_bytes = sizeof buffer,
                           .block = 64},
                   .models = &info,
                   .model_count = 1,
                   .residency = one_sm};
    rf_replay_run(&r);
    assert_null(r.results[0].refusal);
    assert_true(r.proved);
    return r.results[0];
}

static void warps_displace_each_others_results(void **state)
{
    (void)state;
    /* alone, one after another: all results of a warp have room; in turns they have not, as with entries of their
     * own */
    const struct {
        const char *options;
        uint32_t hits, displaced;
    } cases[] = {{"entries=2,turn=64", 8, 0},
                 {"entries=2", 6, 2},
                 {"entries=2,private", 6, 2},
                 {"entries=3", 8, 0},
                 {"entries=1,turn=64", 6, 2}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rf_replay_result r = two_warps(RESULTS, cases[i].options);
        assert_int_equal(r.counters[HD_COUNTER_BYPASSED], cases[i].hits);
        assert_int_equal(r.counters[HD_COUNTER_EVICTIONS], cases[i].displaced);
        assert_int_equal(r.counters[HD_COUNTER_FILE_READS], 8 - cases[i].hits);
    }
}

/* What the experiments change. */
static void options_of_the_cache(void **state)
{
    (void)state;
    const char *text = KERNEL("mov.u32 %R1, 1; //@ltrf_prefetch (1,2,3)\nmov.u32 %R2, 2;\nadd.u32 %R1, %R1, "
                              "1;\nmov.u32 %R3, 3;\nadd.u32 %R3, %R1, %R1;\n");
    assert_int_equal(proved(text, "rfc", "private,entries=2").counters[HD_COUNTER_BYPASSED], 1); /* R1 is the oldest */
    assert_int_equal(proved(text, "rfc", "private,entries=2,lru").counters[HD_COUNTER_BYPASSED], 2);
    const char *twice = KERNEL("ld.param.u64 %RD2, [in]; //@ltrf_prefetch (2,3,4)\nld.global.u32 %R4, [%RD2];\nadd.u32 "
                               "%R5, %R4, 1;\nadd.u32 %R6, %R4, 2;\n");
    rf_replay_result r = proved(twice, "rfc", "entries=8");
    assert_int_equal(r.counters[HD_COUNTER_BYPASSED], 2); /* of the address */
    assert_int_equal(r.counters[HD_COUNTER_WRITTEN_BACK], 2);
    assert_int_equal(proved(twice, "rfc", "entries=8,fill").counters[HD_COUNTER_BYPASSED], 3);
    assert_int_equal(proved(twice, "rfc", "entries=8,stay").counters[HD_COUNTER_WRITTEN_BACK], 0);
    rf_replay narrow = replay_with(twice, "rfc", "entries=8,narrow", 0);
    assert_true(narrow.proved);
    assert_int_equal(narrow.results[0].counters[HD_COUNTER_OPERANDS], 2);
    assert_int_equal(narrow.results[0].counters[HD_COUNTER_BYPASSED], 0);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* Section 4.3: 64 x (256 x 5 + 3 + 256 + 256), beside 16 KB of cache. */
static void the_papers_storage(void **state)
{
    (void)state;
    rf_replay r[3];
    const char *const names[] = {"ltrf", "ltrf+", "rfc"};
    const char *const options[] = {"n=16", "n=16,dead", "private,entries=16"};
    for (uint32_t m = 0; m < 3; m++) {
        static hd_rf_model_info info;
        info = model_of(names[m], options[m]);
        r[m] = (rf_replay){.run = {.text = THREE}, .models = &info, .model_count = 1, .residency = one_sm};
        r[m].residency.active = 8;
        rf_replay_run(&r[m]);
    }
    assert_int_equal(r[1].results[0].storage_bits, 114880 + 16 * 1024 * 8);
    assert_int_equal(r[0].results[0].storage_bits, 114880 - 64 * 256 + 16 * 1024 * 8);
    assert_int_equal(r[2].results[0].storage_bits, 8 * 16 * (1024 + 32 + 8));
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    assert_non_null(strstr(replay_with(THREE, "ltrf", "n=2", 0).results[0].refusal, "larger cache"));
    assert_non_null(replay_with(THREE, "ltrf", "n=257", 0).results[0].refusal);
    assert_non_null(replay_with(THREE, "rfc", "entries=65", 0).results[0].refusal);
}

static void extremes_of_launches_are_no_sums(void **state)
{
    (void)state;
    uint64_t all[HD_COUNTER_COUNT] = {0}, one[HD_COUNTER_COUNT] = {0};
    hd_counters_join(all, one);
    assert_int_equal(all[HD_COUNTER_INTERVAL_SHORTEST], 0);
    const uint64_t numbers[] = {5, 3, 9};
    for (uint32_t i = 0; i < 3; i++) {
        one[HD_COUNTER_INTERVAL_SHORTEST] = one[HD_COUNTER_INTERVAL_LONGEST] = one[HD_COUNTER_INTERVALS] = numbers[i];
        hd_counters_join(all, one);
    }
    assert_int_equal(all[HD_COUNTER_INTERVAL_SHORTEST], 3);
    assert_int_equal(all[HD_COUNTER_INTERVAL_LONGEST], 9);
    assert_int_equal(all[HD_COUNTER_INTERVALS], 17);
}

/* ---- random programs --------------------------------------------------------------------------------------------- */

/* Calls, barriers, waits of a part of the warp, exchange; the odd seeds with allocated registers. */
static void random_programs_are_proved(void **state)
{
    enum { TEXT_BYTES = 1 << 19, PROGRAMS = 250 };
    static program p;
    static uint32_t out[96 * RESULT_WORDS];
    char *text = malloc(TEXT_BYTES), passes[64], plain[16], plus[24];
    static const char *const caches[] = {
        "entries=16",          "private,entries=5", "entries=2,lru,fill",         "entries=3,stay",
        "entries=1,stay,fill", "entries=4,narrow",  "private,entries=3,lru,fill", "entries=2,turn=7"};
    uint64_t fetched[2] = {0}, entered = 0, best = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= UNIT_CASES(PROGRAMS); seed++) {
        uint32_t n = 3 + (uint32_t)(seed / 2 % 20);
        snprintf(passes, sizeof passes, "%sltrf(n=%u,dead)", seed % 2 ? "select,regalloc," : "", n);
        snprintf(plain, sizeof plain, "n=%u", n);
        snprintf(plus, sizeof plus, "n=%u,dead", n);
        hd_rf_model_info infos[3] = {model_of("ltrf", plain), model_of("ltrf+", plus),
                                     model_of("rfc", caches[seed % 8])};
        program_make(&p, seed);
        program_print(&p, text, TEXT_BYTES);
        rf_replay r = {.run = {.text = text,
                               .in = p.inputs,
                               .in_bytes = sizeof p.inputs,
                               .out = out,
                               .out_bytes = sizeof *out * RESULT_WORDS * p.threads,
                               .block = p.threads,
                               .options.instruction_limit = 10000000,
                               .passes = passes},
                       .models = infos,
                       .model_count = 3,
                       .residency = one_sm};
        rf_replay_run(&r);
        if (!r.proved)
            fail_msg("seed %llu: model %u is not proved: %s", (unsigned long long)seed, r.failed, r.run.message);
        for (uint32_t m = 0; m < 2; m++) {
            const uint64_t *c = r.results[m].counters;
            fetched[m] += c[HD_COUNTER_PREFETCHED] + c[HD_COUNTER_REFETCHED];
            assert_true(c[HD_COUNTER_OPTIMAL_INTERVALS] <= c[HD_COUNTER_INTERVALS]);
        }
        entered += r.results[0].counters[HD_COUNTER_INTERVALS];
        best += r.results[0].counters[HD_COUNTER_OPTIMAL_INTERVALS];
    }
    free(text);
    assert_true(entered > 10000 && best > 1000 && fetched[1] > 1000 && fetched[1] < fetched[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_an_interval_lacks_is_fetched),
        cmocka_unit_test(a_loop_goes_on_in_its_interval),
        cmocka_unit_test(a_warp_that_leaves_takes_its_registers_along),
        cmocka_unit_test(what_is_too_wide_bypasses_the_cache),
        cmocka_unit_test(lost_moves_are_noticed),
        cmocka_unit_test(wrong_annotations_are_noticed),
        cmocka_unit_test(who_waits_finds_another_interval),
        cmocka_unit_test(results_stay_until_newer_ones_come),
        cmocka_unit_test(lanes_are_kept_apart),
        cmocka_unit_test(warps_displace_each_others_results),
        cmocka_unit_test(options_of_the_cache),
        cmocka_unit_test(the_papers_storage),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(extremes_of_launches_are_no_sums),
        cmocka_unit_test(random_programs_are_proved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
