/* What passes print for random programs, and each access of the models that replay them, as one number per pass or
 * model, held against tests/numbers/outputs.txt: a change of the choice among equally many registers, entries or words
 * shows here, where the sums of test_numbers stay. Whether the outputs are right is for test_techniques and test_damage
 * to say. BLESS=1 (make bless) writes the file anew. */
#include "golden.h"

#include "base/hash.h"
#include "emitters/ptx.h"
#include "ir/architected.h"
#include "passes/manager/manager.h"

enum { FIRST_SEED = 1000, MODEL_SEEDS = 40 };

/* ---- passes ------------------------------------------------------------------------------------------------------ */

static void run_passes(rf_bench *b, const char *passes, golden_sums *s)
{
    hd_pipeline *pipeline = hd_pipeline_parse(passes, &b->diagnostics);
    hd_statistic_array statistics = {0};
    assert_non_null(pipeline);
    for (uint32_t i = 0; i < b->module->functions.count; i++)
        if (b->module->functions.items[i]->has_body)
            assert_true(
                hd_pipeline_run_function(pipeline, b->module->functions.items[i], NULL, &statistics, &b->diagnostics));
    for (uint32_t i = 0; i < statistics.count && s; i++)
        golden_add(s, "counted", (uint32_t)statistics.items[i].value);
    hd_array_free(&statistics);
    hd_pipeline_free(pipeline);
}

static void add_text(golden_sums *s, const rf_bench *b)
{
    hd_writer text;
    hd_writer_to_memory(&text);
    assert_true(hd_emit_ptx(&text, b->module, &(hd_emit_options){.spelling = HD_SPELLING_EXTENDED}));
    golden_add(s, "bytes", text.buffer.count);
    golden_add(s, "texts", hd_hash(text.buffer.items, text.buffer.count) >> 40);
    hd_writer_free(&text);
}

/* Each program with every fourth list or so, all lists with programs in all three forms. */
static void list_outputs(hd_writer *writer, const golden_source *source)
{
    static const char *const before[] = {"", "clean,regalloc", "regalloc(max=20)"};
    const char *lists[GOLDEN_MOST_LISTS];
    uint32_t list_count = golden_passes(lists);
    golden_sums s = {0};
    for (uint32_t l = 0; l < list_count; l++) {
        char head[192];
        uint64_t turn = hd_hash(lists[l], strlen(lists[l])) % 12; /* stays where lists are added */
        for (uint64_t seed = FIRST_SEED; seed < FIRST_SEED + 2 * source->count; seed++) {
            rf_bench b;
            const char *first = source->allocated ? "" : before[(seed + turn) % 3];
            if ((seed + turn) / 3 % 4)
                continue;
            source->open(&b, seed);
            if (strncmp(lists[l], "regmutex", 8) || *first || hd_function_is_architected(b.kernel)) {
                if (*first)
                    run_passes(&b, first, NULL);
                run_passes(&b, lists[l], &s);
                add_text(&s, &b);
            }
            rf_bench_close(&b);
        }
        snprintf(head, sizeof head, "%s %s", source->name, lists[l]);
        golden_write(&s, writer, head);
    }
    hd_array_free(&s.items);
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

static uint64_t accesses;

static const hd_rf_ops *real_ops(const hd_rf_model *model)
{
    return hd_rf_model_find(model->info->name, strlen(model->info->name))->ops;
}

static void execute_and_add(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    uint32_t first = sink->accesses.count;
    real_ops(model)->execute(model, step, sink);
    for (uint32_t a = first; a < sink->accesses.count; a++) {
        const hd_rf_access *x = &sink->accesses.items[a];
        uint32_t fields[] = {x->structure, x->kind, x->cause, x->cycles, x->operand, x->after, x->bank, x->lanes};
        accesses += hd_hash(fields, sizeof fields) >> 40;
    }
    for (uint32_t i = 0; i < step->source_count; i++)
        accesses += sink->delivered.items[i] >> 8;
}

static void add_model(golden_sums *s, const hd_rf_model_info *model, uint64_t seed)
{
    hd_rf_ops ops = *model->ops;
    hd_rf_model_info info = *model;
    rf_bench b;
    ops.execute = execute_and_add;
    info.ops = &ops;
    rf_bench_open_random(&b, seed);
    bool mutex = !strncmp(model->pass, "regmutex", 8);
    if (!mutex || hd_function_is_architected(b.kernel)) {
        if (*model->pass)
            run_passes(&b,
                       !mutex                          ? model->pass
                       : strstr(model->pass, "paired") ? "regmutex(es=4,paired)"
                                                       : "regmutex(es=4)",
                       NULL);
        accesses = 0;
        rf_bench_result r = rf_bench_replay(&b, &(rf_bench_run){.model = &info,
                                                                .order = seed,
                                                                .lanes = seed % 4 > 1,
                                                                .forgets = true,
                                                                .warps = 4,
                                                                .cta_warps = 1u << seed % 3,
                                                                .segments = seed % 5 == 0});
        assert_true(r.proved);
        golden_add(s, "accesses", accesses);
        golden_add(s, "counters", hd_hash(r.counters, sizeof r.counters) >> 40);
        golden_add(s, "allocation", hd_hash(&r.allocation, sizeof r.allocation) >> 40);
    }
    rf_bench_close(&b);
}

static void list_accesses(hd_writer *writer)
{
    golden_sums s = {0};
    for (uint32_t m = 0; m < hd_rf_model_count; m++) {
        char head[64];
        for (uint64_t seed = FIRST_SEED; seed < FIRST_SEED + MODEL_SEEDS; seed++)
            add_model(&s, &hd_rf_models[m], seed);
        snprintf(head, sizeof head, "unstructured %s", hd_rf_models[m].name);
        golden_write(&s, writer, head);
    }
    hd_array_free(&s.items);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static void outputs_of_random_programs(void **state)
{
    hd_writer writer;
    (void)state;
    hd_writer_to_memory(&writer);
    for (uint32_t k = 0; k < GOLDEN_SOURCES; k++)
        list_outputs(&writer, &golden_sources[k]);
    list_accesses(&writer);
    golden_expect("outputs.txt", &writer);
    hd_writer_free(&writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(outputs_of_random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
