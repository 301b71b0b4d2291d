/* What passes print for random programs, and each access of the models that replay them, as one number per pass or
 * model, held against tests/numbers/outputs.txt: a change of the choice among equally many registers, entries or words
 * shows here, where the sums of test_numbers stay. Whether the outputs are right is for test_techniques and test_damage
 * to say. BLESS=1 (make bless) writes the file anew. */
#include "golden.h"

#include "base/hash.h"
#include "emitters/ir/ptx.h"
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
    static const char *const before[] = {"", "select,regalloc", "regalloc(max=20)"};
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

/* ---- allocation -------------------------------------------------------------------------------------------------- */

/* Vectors of all widths that live long, in loops and in sides, their registers defined again and again: more is live
 * than some lists allow, and where it fits it does so only with gaps filled. */
enum { WORDS = 14, PAIRS = 7, QUADS = 3, STEPS = 12, DENSE = 24 };

static uint32_t below(uint64_t *state, uint32_t n) { return (uint32_t)(unit_random(state) % n); }

static void write_step(hd_writer *w, uint64_t *state)
{
    uint32_t x = below(state, WORDS), y = below(state, WORDS), d = below(state, PAIRS), e = below(state, PAIRS);
    uint32_t u = 4 * below(state, QUADS), z = below(state, WORDS), at = 16 * below(state, 8);
    if (below(state, 6) == 0)
        hd_write_format(w, "@p%u ", below(state, 2));
    switch (below(state, 9)) {
    case 0: hd_write_format(w, "ld.global.v4.u32 {q%u, q%u, q%u, q%u}, [y0+%u];\n", u, u + 1, u + 2, u + 3, at); return;
    case 1: hd_write_format(w, "st.global.v4.u32 [y0+%u], {q%u, q%u, q%u, q%u};\n", at, u, u + 1, u + 2, u + 3); return;
    case 2: hd_write_format(w, "ld.global.v2.u64 {y%u, y%u}, [y0+%u];\n", 1 + d, 1 + (d + 1) % PAIRS, at); return;
    case 3: hd_write_format(w, "add.s64 y%u, y%u, y%u;\n", 1 + d, 1 + e, 1 + d); return;
    case 4: hd_write_format(w, "mov.b64 y%u, {x%u, q%u};\n", 1 + d, x, u + at / 16 % 4); return;
    case 5: hd_write_format(w, "st.global.v2.u32 [y0+%u], {x%u, x%u};\n", at, x, y); return;
    case 6: hd_write_format(w, "mad.lo.s32 x%u, x%u, q%u, x%u;\n", x, y, u + 1, z); return;
    default: hd_write_format(w, "add.s32 x%u, x%u, x%u;\n", x, y, z);
    }
}

static void open_dense(rf_bench *b, uint64_t seed)
{
    uint64_t state = seed;
    uint32_t blocks = 4 + below(&state, 5);
    hd_writer w;
    hd_writer_to_memory(&w);
    hd_write_format(&w,
                    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
                    ".reg .b32 x<%d>;\n.reg .b64 y<%d>;\n.reg .b32 q<%d>;\n.reg .pred p<3>;\nld.param.u64 y0, "
                    "[out];\nmov.u32 x0, %%tid.x;\nsetp.lt.u32 p0, x0, 9;\nsetp.ne.u32 p1, x0, 5;\n",
                    WORDS, PAIRS + 1, 4 * QUADS);
    for (uint32_t i = 1; i < WORDS; i++)
        hd_write_format(&w, "add.u32 x%u, x0, %u;\n", i, i);
    for (uint32_t i = 1; i <= PAIRS; i++)
        hd_write_format(&w, "cvt.u64.u32 y%u, x%u;\n", i, i);
    for (uint32_t i = 0; i < 4 * QUADS; i++)
        hd_write_format(&w, "add.u32 q%u, x0, %u;\n", i, 40 + i);
    for (uint32_t block = 0; block < blocks; block++) {
        hd_write_format(&w, "L%u:\n", block);
        for (uint32_t i = 3 + below(&state, STEPS); i > 0; i--)
            write_step(&w, &state);
        uint32_t to = below(&state, 2) ? below(&state, block + 1) : block + 1;
        if (below(&state, 3))
            hd_write_format(&w, "setp.lt.s32 p2, x%u, %u;\n@p2 bra L%u;\n", below(&state, WORDS), block, to);
    }
    hd_write_format(&w, "L%u:\n", blocks);
    for (uint32_t i = 0; i < 5; i++)
        write_step(&w, &state);
    hd_write_string(&w, "ret;\n}\n");
    rf_bench_open(b, w.buffer.items, w.buffer.count);
    hd_writer_free(&w);
}

/* All lists for all programs; with RegMutex, programs of several numbers of registers. */
static void list_dense(hd_writer *writer)
{
    static const char *const lists[] = {"regalloc(max=12)",
                                        "regalloc(max=14)",
                                        "regalloc(max=17)",
                                        "regalloc(max=22,banks=4)",
                                        "regalloc(max=28)",
                                        "regalloc,regmutex(es=8)",
                                        "regalloc,regmutex(es=12)",
                                        "regalloc(max=24),regmutex(es=10)",
                                        "regalloc,regmutex(es=16,paired)"};
    golden_sums s = {0};
    for (uint32_t l = 0; l < sizeof lists / sizeof *lists; l++) {
        char head[64];
        for (uint64_t seed = FIRST_SEED; seed < FIRST_SEED + DENSE; seed++) {
            rf_bench b;
            open_dense(&b, seed);
            run_passes(&b, lists[l], &s);
            add_text(&s, &b);
            rf_bench_close(&b);
        }
        snprintf(head, sizeof head, "dense %s", lists[l]);
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
    list_dense(&writer);
    list_accesses(&writer);
    golden_expect("outputs.txt", &writer);
    hd_writer_free(&writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(outputs_of_random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
