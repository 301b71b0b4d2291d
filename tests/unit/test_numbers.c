/* What passes and models count on random programs, in sums over many, held against tests/numbers/random.txt: a change
 * of a heuristic or of a model shows as numbers, and nothing changes them unnoticed. Whether what they make is right is
 * for test_techniques to say. BLESS=1 (make bless) writes the file anew. */
#include "golden.h"

#include "ir/architected.h"
#include "passes/estimate/estimate.h"
#include "passes/manager/manager.h"

/* ---- passes ------------------------------------------------------------------------------------------------------ */

static void add_passes(golden_sums *s, rf_bench *b, const char *passes)
{
    hd_pipeline *pipeline = hd_pipeline_parse(passes, &b->diagnostics);
    hd_statistic_array statistics = {0};
    assert_non_null(pipeline);
    for (uint32_t i = 0; i < b->module->functions.count; i++) {
        hd_function *f = b->module->functions.items[i];
        if (!f->has_body)
            continue;
        assert_true(hd_pipeline_run_function(pipeline, f, NULL, &statistics, &b->diagnostics));
        golden_add_annotations(s, f);
        if (!hd_pipeline_only_annotates(pipeline))
            golden_add_instructions(s, f);
    }
    for (uint32_t i = 0; i < statistics.count; i++)
        golden_add(s, statistics.items[i].name, statistics.items[i].value);
    hd_array_free(&statistics);
    hd_pipeline_free(pipeline);
}

static void count_passes(hd_writer *writer)
{
    static const char *const before[] = {"", "select,regalloc", "regalloc(max=20)"};
    const char *lists[GOLDEN_MOST_LISTS];
    uint32_t list_count = golden_passes(lists);
    golden_sums s = {0};
    for (uint32_t k = 0; k < GOLDEN_SOURCES; k++)
        for (uint32_t i = 0; i < sizeof before / sizeof *before; i++)
            for (uint32_t l = 0; l < list_count; l++) {
                char head[192];
                bool allocates = strstr(before[i], "regalloc");
                if ((!strncmp(lists[l], "regmutex", 8) && !allocates) || (golden_sources[k].allocated && allocates))
                    continue;
                for (uint64_t seed = i + 1; seed <= golden_sources[k].count; seed += 3) {
                    rf_bench b;
                    golden_sources[k].open(&b, seed);
                    if (*before[i])
                        rf_bench_pass(&b, before[i]);
                    add_passes(&s, &b, lists[l]);
                    rf_bench_close(&b);
                }
                snprintf(head, sizeof head, "%s %s%s%s", golden_sources[k].name, before[i], *before[i] ? " then " : "",
                         lists[l]);
                golden_write(&s, writer, head);
            }
    hd_array_free(&s.items);
}

/* ---- the estimate ------------------------------------------------------------------------------------------------ */

static void add_estimate(golden_sums *s, hd_function *f, const hd_gpu *gpu, hd_diagnostics *diagnostics)
{
    hd_estimate_features x;
    hd_pass_context context;
    hd_pass_context_init(&context, f, diagnostics);
    hd_estimate_measure(&context, &x);
    for (uint32_t kind = 0; kind < HD_ESTIMATE_KINDS; kind++) {
        golden_add(s, kind ? "needed without uniform" : "needed", x.needed[kind]);
        golden_add(s, kind ? "wanted without uniform" : "wanted", x.wanted[kind]);
    }
    golden_add(s, "late", x.late);
    golden_add(s, "written", x.written);
    golden_add(s, "unrolled", x.unrolled);
    golden_add(s, "over calls", x.over_calls);
    golden_add(s, "loop words", x.loop.words);
    golden_add(s, "loop constant offsets", x.loop.constant_offsets);
    golden_add(s, "loop rematerialized", x.loop.rematerialized);
    golden_add(s, "loop uniform", x.loop.uniform);
    golden_add(s, "estimate", hd_estimate_registers(&context, &gpu->limits));
    hd_pass_context_free(&context);
}

static void count_estimates(hd_writer *writer)
{
    hd_diagnostics quiet;
    golden_sums s = {0};
    hd_diagnostics_init(&quiet);
    hd_gpu *gpu = hd_gpu_load("sm_90", &quiet);
    for (uint32_t k = 0; k < GOLDEN_SOURCES; k++) {
        for (uint64_t seed = 1; seed <= golden_sources[k].count; seed++) {
            rf_bench b;
            golden_sources[k].open(&b, seed);
            rf_bench_pass(&b, "select");
            for (uint32_t i = 0; i < b.module->functions.count; i++)
                if (b.module->functions.items[i]->has_body)
                    add_estimate(&s, b.module->functions.items[i], gpu, &quiet);
            rf_bench_close(&b);
        }
        char head[64];
        snprintf(head, sizeof head, "%s estimate", golden_sources[k].name);
        golden_write(&s, writer, head);
    }
    hd_array_free(&s.items);
    hd_gpu_free(gpu);
    hd_diagnostics_free(&quiet);
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

static void add_model(golden_sums *s, const hd_rf_model_info *model, uint64_t seed)
{
    rf_bench b;
    rf_bench_open_random(&b, seed);
    bool mutex = !strncmp(model->pass, "regmutex", 8);
    if (!mutex || hd_function_is_architected(b.kernel)) {
        if (*model->pass)
            rf_bench_pass(&b, !mutex                          ? model->pass
                              : strstr(model->pass, "paired") ? "regmutex(es=4,paired)"
                                                              : "regmutex(es=4)");
        rf_bench_result r = rf_bench_replay(&b, &(rf_bench_run){.model = model, .order = seed, .lanes = seed % 4 > 1});
        assert_true(r.proved);
        for (uint32_t c = 0; c < hd_counter_count; c++)
            golden_add(s, hd_counters[c].key, r.counters[c]);
        golden_add(s, "storage_bits", r.storage_bits);
    }
    rf_bench_close(&b);
}

static void count_models(hd_writer *writer)
{
    golden_sums s = {0};
    for (uint32_t m = 0; m < hd_rf_model_count; m++) {
        for (uint64_t seed = 1; seed <= 24; seed++)
            add_model(&s, &hd_rf_models[m], seed);
        char head[64];
        snprintf(head, sizeof head, "unstructured %s", hd_rf_models[m].name);
        golden_write(&s, writer, head);
    }
    hd_array_free(&s.items);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static void numbers_of_random_programs(void **state)
{
    hd_writer writer;
    (void)state;
    hd_writer_to_memory(&writer);
    count_passes(&writer);
    count_estimates(&writer);
    count_models(&writer);
    golden_expect("random.txt", &writer);
    hd_writer_free(&writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_of_random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
