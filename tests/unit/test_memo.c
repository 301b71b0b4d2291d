/* Models that walk each segment of instructions once in each state: the same counters and the same verdict as where
 * every warp is walked. */
#include "unit.h"

#include "hwmodel/count/count.h"
#include "tests/unit/program.h"
#include "tests/unit/rf_bench.h"
#include "tests/unit/rf_replay.h"
#include "tests/unit/rf_walk.h"
#include "hwmodel/count/memo/memo.h"

enum { SHAPES = 5, CTAS = 12, WARPS = 7 };

typedef HD_ARRAY(hd_event) event_array;
typedef struct bench {
    hd_source source;
    hd_diagnostics diagnostics;
    hd_module *module;
    event_array shapes[SHAPES]; /* what a warp does; several are the same */
} bench;

static bool keep(void *context, const hd_event *event)
{
    if (event->kind == HD_EVENT_ISSUE)
        hd_array_push((event_array *)context, *event);
    return true;
}

static void open_bench(bench *b, uint64_t seed)
{
    hd_writer text;
    *b = (bench){0};
    hd_diagnostics_init(&b->diagnostics);
    hd_writer_to_memory(&text);
    rf_random_kernel(&text, seed);
    b->module = rf_parse(&b->source, text.buffer.items, text.buffer.count, &b->diagnostics);
    hd_writer_free(&text);
    for (uint32_t s = 0; s < SHAPES; s++) {
        hd_sink sink = {keep, &b->shapes[s], 0, NULL};
        rf_walk(hd_module_find_function(b->module, "k"), 1, 20 + 40 * s, &sink);
    }
}

static void close_bench(bench *b)
{
    for (uint32_t s = 0; s < SHAPES; s++)
        hd_array_free(&b->shapes[s]);
    hd_module_free(b->module);
    hd_diagnostics_free(&b->diagnostics);
}

static bool tell(hd_count *count, hd_event_kind kind, uint32_t cta, uint32_t warp)
{
    return hd_count_sink(count).take(count, &(hd_event){.kind = (uint8_t)kind, .cta = cta, .warp = warp});
}

static uint32_t turned(uint32_t lanes, uint32_t by)
{
    return by % 32 ? lanes << by % 32 | lanes >> (32 - by % 32) : lanes;
}

/* Each warp does it in lanes of its own. */
static bool run_warp(const bench *b, hd_count *count, uint32_t cta, uint32_t warp)
{
    const event_array *shape = &b->shapes[(cta * cta + warp) % SHAPES];
    bool good = tell(count, HD_EVENT_WARP_START, cta, warp);
    for (uint32_t e = 0; e < shape->count && good; e++) {
        hd_event event = shape->items[e];
        event.cta = cta;
        event.warp = warp;
        event.active = turned(event.active, warp);
        event.effective = turned(event.effective, warp);
        good = hd_count_sink(count).take(count, &event);
    }
    return good && tell(count, HD_EVENT_WARP_END, cta, warp);
}

/* unfinished: the run ends within a CTA. */
static bool run_grid(const bench *b, hd_count *count, uint32_t ctas, bool unfinished)
{
    bool good = tell(count, HD_EVENT_LAUNCH, 0, 0);
    for (uint32_t cta = 0; cta < ctas && good; cta++) {
        for (uint32_t w = 0; w < WARPS && good; w++)
            good = run_warp(b, count, cta, cta * WARPS + w);
        if (unfinished && cta == ctas / 2)
            return good;
        good = good && tell(count, HD_EVENT_CTA_END, cta, 0);
    }
    return good && tell(count, HD_EVENT_LAUNCH_END, 0, 0);
}

typedef struct result {
    uint64_t counters[3][HD_COUNTER_COUNT];
    uint32_t failed;
    char message[256];
} result;

static const char *const options_of[] = {"policy=through,iw=3,entries=6", "policy=back,iw=3,entries=12",
                                         "policy=back,iw=7,entries=28,unmasked"};

static result replay(const bench *b, uint32_t models, uint32_t events, uint32_t threads, uint64_t bytes,
                     bool unfinished)
{
    result r = {0};
    hd_diagnostics quiet;
    hd_diagnostics_init(&quiet);
    hd_rf_model_info infos[3];
    const char *refusal = NULL;
    hd_rf_module *code = hd_rf_module_new(b->module);
    hd_count *count = hd_count_new(code, &quiet);
    hd_count_use_memo(count, &hd_memo);
    for (uint32_t m = 0; m < models; m++) {
        infos[m] = *hd_rf_model_find("bow-iw3", 7);
        infos[m].options = options_of[m];
        hd_count_add(count, hd_rf_model_new(&infos[m], code, &refusal));
    }
    hd_count_batches(count, events, threads);
    hd_count_residency(count, &(hd_rf_residency){.ctas = 1, .active = 1, .bytes = bytes});
    bool good = run_grid(b, count, CTAS, unfinished);
    good = hd_count_flush(count) && good; /* of a run that stopped, too */
    r.failed = hd_count_failed(count);
    assert_int_equal(good, r.failed == HD_NONE);
    if (!good)
        assert_false(tell(count, HD_EVENT_LAUNCH, 0, 0)); /* it takes nothing more */
    if (quiet.first)
        snprintf(r.message, sizeof r.message, "%s", quiet.first->message);
    for (uint32_t m = 0; m < models; m++)
        memcpy(r.counters[m], hd_count_model(count, m)->counters, sizeof r.counters[m]);
    hd_count_free(count);
    hd_rf_module_free(code);
    hd_diagnostics_free(&quiet);
    return r;
}

static void same_counters_as_every_warp(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < UNIT_CASES(60); seed++) {
        bench b;
        open_bench(&b, seed);
        bool unfinished = seed % 4 == 3;
        result each = replay(&b, 2, 1, 1, 1 << 20, unfinished);
        result once = replay(&b, 2, 1000, 1, 1 << 20, unfinished),
               threads = replay(&b, 2, 1000, 3, 1 << 20, unfinished);
        result narrow = replay(&b, 2, 1000, 1, 100, unfinished); /* CTAs that are too long to be kept */
        assert_int_equal(each.failed, HD_NONE);
        assert_true(each.counters[0][HD_COUNTER_OPERANDS] > 0);
        assert_memory_equal(&each, &once, sizeof each);
        assert_memory_equal(&each, &threads, sizeof each);
        assert_memory_equal(&each, &narrow, sizeof each);
        close_bench(&b);
    }
}

/* A model that loses values: found where every warp is walked, in the same warp. What the others count does not depend
 * on their company. */
static void wrong_segments_are_found(void **state)
{
    (void)state;
    uint32_t wrong = 0;
    for (uint64_t seed = 0; seed < UNIT_CASES(600); seed++) {
        bench b;
        open_bench(&b, seed);
        result each = replay(&b, 3, 1, 1, 1 << 20, false), once = replay(&b, 3, 1000, 1, 1 << 20, false),
               threads = replay(&b, 3, 1000, 3, 1 << 20, false);
        assert_int_equal(each.failed, once.failed);
        assert_string_equal(each.message, once.message);
        /* those that go on, together or not */
        assert_memory_equal(once.counters[0], threads.counters[0], sizeof once.counters[0]);
        assert_memory_equal(once.counters[1], threads.counters[1], sizeof once.counters[1]);
        wrong += each.failed == 2;
        close_bench(&b);
    }
    assert_true(wrong > 3);
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

enum { LAUNCHES = 9 };
static const uint32_t ctas_of[LAUNCHES] = {1, 12, 3, 1, 1, 7, 2, 12, 5};

typedef struct account {       /* of launches, one after another */
    uint32_t models, fault;    /* of the last one: see hd_rf_loses */
    uint32_t launches, proved; /* those that are over; the first of them that were proved */
    hd_count_result results[LAUNCHES][3];
    uint32_t failed;
    char message[256];
} account;

static void one_is_over(void *context, bool proved, const hd_count_result *results)
{
    account *a = context;
    memcpy(a->results[a->launches], results, a->models * sizeof *results);
    assert_true(!proved || a->proved == a->launches);
    a->proved += proved;
    a->launches++;
}

static void replay_launches(const bench *b, account *a, uint32_t first, uint32_t launches, uint32_t events,
                            uint32_t threads)
{
    static const char *const names[] = {"bow-iw3", "release", "bow-iw7"};
    static const char *const options[] = {"policy=through,iw=3,entries=6", "static", "policy=back,iw=7,entries=28"};
    hd_diagnostics quiet;
    hd_rf_model_info infos[3];
    const char *refusal = NULL;
    hd_diagnostics_init(&quiet);
    hd_rf_module *code = hd_rf_module_new(b->module);
    hd_count *count = hd_count_new(code, &quiet);
    hd_count_use_memo(count, &hd_memo);
    for (uint32_t m = 0; m < a->models; m++) {
        infos[m] = *hd_rf_model_find(names[m], strlen(names[m]));
        infos[m].options = options[m];
        hd_count_add(count, hd_rf_model_new(&infos[m], code, &refusal));
        hd_count_model(count, m)->fault = m == 2 ? a->fault : 0;
    }
    hd_count_batches(count, events, threads);
    hd_count_launches(count, one_is_over, a);
    bool good = true;
    for (uint32_t l = first; l < first + launches && good; l++) {
        hd_count_residency(count,
                           &(hd_rf_residency){.ctas = 1 + l % 3, .active = 2 + l, .latency = 10 * l, .bytes = 1 << 20});
        good = run_grid(b, count, ctas_of[l], l == LAUNCHES - 1);
        hd_count_end(count);
    }
    good = hd_count_flush(count) && good;
    a->failed = hd_count_failed(count);
    assert_int_equal(good, a->failed == HD_NONE);
    if (quiet.first)
        snprintf(a->message, sizeof a->message, "%s", quiet.first->message);
    hd_count_free(count);
    hd_rf_module_free(code);
    hd_diagnostics_free(&quiet);
}

/* However far models lag, and the last one stops in its midst: what each counted in a launch is what it counts
 * where there is no other. */
static void launches_are_counted_apart(void **state)
{
    static account alone, together;
    (void)state;
    for (uint64_t seed = 0; seed < UNIT_CASES(20); seed++) {
        bench b;
        open_bench(&b, seed);
        together = (account){.models = 2};
        replay_launches(&b, &together, 0, LAUNCHES, seed % 3 ? 40 : 100000, 1 + seed % 4);
        assert_int_equal(together.launches, LAUNCHES);
        assert_int_equal(together.proved, LAUNCHES);
        for (uint32_t l = 0; l < LAUNCHES; l++) {
            alone = (account){.models = 2};
            replay_launches(&b, &alone, l, 1, 1, 1);
            assert_true(alone.results[0][0].counters[HD_COUNTER_OPERANDS] > 0 &&
                        alone.results[0][1].allocation.samples > 0);
            assert_memory_equal(alone.results[0], together.results[l], sizeof alone.results[0]);
        }
        close_bench(&b);
    }
}

/* Which launches were proved does not depend on when it was found. */
static void launches_before_a_wrong_one_are_proved(void **state)
{
    static account each, lagging;
    uint32_t wrong = 0, later = 0;
    (void)state;
    for (uint64_t seed = 0; seed < UNIT_CASES(40); seed++) {
        bench b;
        open_bench(&b, seed);
        each = (account){.models = 3, .fault = 1u << seed % 20};
        replay_launches(&b, &each, 0, LAUNCHES, 1, 1);
        for (uint32_t k = 0; k < 4; k++) {
            lagging = (account){.models = 3, .fault = each.fault};
            replay_launches(&b, &lagging, 0, LAUNCHES, k % 2 ? 40 : 100000, k < 2 ? 1 : 3);
            assert_int_equal(lagging.failed, each.failed);
            assert_int_equal(lagging.proved, each.proved);
            assert_string_equal(lagging.message, each.message);
            assert_memory_equal(lagging.results, each.results, each.proved * sizeof *each.results);
            later += lagging.launches > each.launches;
        }
        wrong += each.failed == 2 && each.proved;
        close_bench(&b);
    }
    assert_true(wrong > 2 && later > 2);
}

/* ---- every model ------------------------------------------------------------------------------------------------- */

static rf_bench_result run_model(uint64_t seed, const hd_rf_model_info *model, rf_bench_run run)
{
    rf_bench b;
    rf_bench_open_random(&b, seed);
    if (*model->pass)
        rf_bench_pass(&b, model->pass);
    run.model = model;
    run.warps = 12;
    run.limit = 150;
    run.order = seed % 3;
    run.cta_warps = (uint32_t[]){1, 2, 3, 4}[seed / 2 % 4];
    rf_bench_result r = rf_bench_replay(&b, &run);
    rf_bench_close(&b);
    assert_true(r.proved);
    return r;
}

/* Whether warps are walked or looked up, whatever the batches and their lanes are, and with turns of any length:
 * counters, and what was held over time. */
static void every_model_counts_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < UNIT_CASES(40); seed++)
        for (uint32_t m = 0; m < hd_rf_model_count; m++)
            for (uint32_t segments = 0; segments < 2; segments++) {
                rf_bench_run run = {.segments = segments, .lanes = seed % 4 > 1};
                rf_bench_result each = run_model(seed, &hd_rf_models[m], run);
                run.events = seed % 2 ? 10 : 1000;
                run.threads = 1 + seed % 3;
                rf_bench_result known = run_model(seed, &hd_rf_models[m], run);
                if (memcmp(&each, &known, sizeof each))
                    fail_msg("%s, seed %u", hd_rf_models[m].name, (unsigned)seed);
                run.forgets = true;
                known = run_model(seed, &hd_rf_models[m], run);
                if (memcmp(&each, &known, sizeof each))
                    fail_msg("%s, seed %u: something of a warp is not carried", hd_rf_models[m].name, (unsigned)seed);
            }
}

/* The results of a replay that walked everything, where warps are looked up, and where they are taken up anew for each
 * segment. */
static void expect_same_where_known(rf_replay known)
{
    rf_replay_result walked[RF_REPLAY_MODELS];
    memcpy(walked, known.results, sizeof walked);
    known.events = 100;
    for (uint32_t forgets = 0; forgets < 2; forgets++) {
        known.forgets = forgets;
        rf_replay_run(&known);
        assert_memory_equal(walked, known.results, sizeof walked);
    }
}

/* The same with values and loads, for structures that are too small: what a warp leaves there, and comes back to. */
static void small_structures_count_the_same(void **state)
{
    enum { TEXT_BYTES = 1 << 19 };
    static const char *const variants[][2] = {{"bow-wr-iw3", "policy=tags,iw=3,entries=3"},
                                              {"ltrf", "n=4"},
                                              {"ltrf+", "n=4,dead"},
                                              {"rfc", "private,entries=3"},
                                              {"bow-iw3", "policy=back,iw=3,entries=2"},
                                              {"corf", "policy=pairs,release"},
                                              {"demo", ""},
                                              {"release", "cache=2"}};
    static program p;
    static uint32_t out[96 * RESULT_WORDS];
    char *text = malloc(TEXT_BYTES);
    uint64_t refetched = 0, evicted = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= UNIT_CASES(40); seed++) {
        hd_rf_model_info infos[4];
        for (uint32_t m = 0; m < 4; m++) {
            infos[m] = *hd_rf_model_find(variants[4 * (seed % 2) + m][0], strlen(variants[4 * (seed % 2) + m][0]));
            infos[m].options = variants[4 * (seed % 2) + m][1];
        }
        program_make(&p, seed);
        program_print(&p, text, TEXT_BYTES);
        rf_replay each = {.run = {.text = text,
                                  .in = p.inputs,
                                  .in_bytes = sizeof p.inputs,
                                  .out = out,
                                  .out_bytes = sizeof *out * RESULT_WORDS * p.threads,
                                  .block = p.threads,
                                  .options.instruction_limit = 10000000,
                                  .passes = "select,regalloc,bow,corf,release,ltrf(n=4,dead)"},
                          .models = infos,
                          .model_count = 4,
                          .residency = {.ctas = 1, .active = 2, .latency = 20, .bytes = 1 << 24}};
        rf_replay_run(&each);
        assert_true(each.proved);
        expect_same_where_known(each);
        for (uint32_t m = 0; m < 4; m++) {
            refetched += each.results[m].counters[HD_COUNTER_REFETCHED];
            evicted += each.results[m].counters[HD_COUNTER_EVICTIONS];
        }
    }
    free(text);
    assert_true(refetched > UNIT_CASES(1000) && evicted > UNIT_CASES(1000));
}

/* The largest window, which loads of four words fill to its last entry. */
static void a_full_window_is_carried(void **state)
{
    static const char *const options[2] = {"policy=through,iw=31,entries=64", "policy=back,iw=31,entries=64"};
    char body[8192] = "", text[16384];
    hd_rf_model_info infos[2];
    uint32_t in[64] = {0};
    (void)state;
    for (uint32_t i = 0, used = 0; i < 80; i++)
        used += (uint32_t)snprintf(body + used, sizeof body - used, "ld.global.v2.f64 {%%fd%u, %%fd%u}, [%%rd0];\n%s",
                                   i * 2 % 32, i * 2 % 32 + 1, i % 20 < 16 ? "" : "bar.sync 0;\n");
    for (uint32_t m = 0; m < 2; m++) {
        infos[m] = *hd_rf_model_find("bow-iw3", 7);
        infos[m].options = options[m];
    }
    rf_replay each = {
        .run = {.text = kernel_text(text, sizeof text, body), .in = in, .in_bytes = sizeof in, .block = 64, .grid = 6},
        .models = infos,
        .model_count = 2,
        .residency = {.ctas = 1, .active = 2, .latency = 20, .bytes = 1 << 24}};
    rf_replay_run(&each);
    assert_true(each.proved && each.results[1].counters[HD_COUNTER_EVICTIONS] > 0);
    expect_same_where_known(each);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_window_is_carried),
        cmocka_unit_test(same_counters_as_every_warp),
        cmocka_unit_test(wrong_segments_are_found),
        cmocka_unit_test(launches_are_counted_apart),
        cmocka_unit_test(launches_before_a_wrong_one_are_proved),
        cmocka_unit_test(every_model_counts_the_same),
        cmocka_unit_test(small_structures_count_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
