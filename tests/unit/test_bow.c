/* BOW from end to end, without the interpreter: pass, check and models on the paper's example and on random kernels. */
#include "tests/unit/unit.h"

#include "hwmodel/count/count.h"
#include "ir/techniques.h"
#include "passes/check/check.h"
#include "passes/analysis/liveness.h"
#include "passes/regalloc/regalloc.h"
#include "passes/manager/manager.h"
#include "tests/unit/rf_bench.h"
#include "hwmodel/count/memo/memo.h"

/* ---- helpers ----------------------------------------------------------------------------------------------------- */

/* Gives the kernel's registers their places, with few of them at times so that some are spilled. */
static void allocate(rf_bench *b, uint32_t most)
{
    hd_pass_context context;
    hd_regalloc_options options = {.max = most};
    hd_regalloc_result result;
    hd_pass_context_init(&context, b->kernel, &b->diagnostics);
    context.verify = true;
    assert_true(hd_regalloc_run(&context, &options, &result));
    hd_pass_context_free(&context);
    assert_int_equal(b->diagnostics.error_count, 0);
    assert_true(hd_function_is_architected(b->kernel));
}

/* Seeds come twice: the even ones in PTX's registers, the odd ones allocated. */
static void open_random(rf_bench *b, uint64_t seed)
{
    hd_writer text;
    hd_writer_to_memory(&text);
    rf_random_kernel(&text, seed / 2);
    rf_bench_open(b, text.buffer.items, text.buffer.count);
    hd_writer_free(&text);
    if (seed % 2)
        allocate(b, seed % 3 ? 0 : 10);
}

/* Runs the pass. `trusting`: with an analysis that calls every branch uniform, so that no edge is cut. */
static void tag(rf_bench *b, const char *iw, bool trusting)
{
    hd_pass_context context;
    hd_option option = {"iw", iw};
    hd_pass_context_init(&context, b->kernel, &b->diagnostics);
    context.options = &option;
    context.option_count = 1;
    hd_uniformity blind;
    if (trusting) {
        blind.divergent_registers = hd_bitset_new(&context.scratch, b->kernel->registers.count);
        blind.divergent_branches = hd_bitset_new(&context.scratch, hd_function_cfg(b->kernel)->block_count);
        context.analyses[HD_ANALYSIS_UNIFORMITY] = &blind;
    }
    assert_true(hd_pass_bow(&context));
    context.analyses[HD_ANALYSIS_UNIFORMITY] = trusting ? NULL : context.analyses[HD_ANALYSIS_UNIFORMITY];
    hd_pass_context_free(&context);
    assert_int_equal(b->diagnostics.error_count, 0);
}

static bool check(rf_bench *b)
{
    hd_diagnostics quiet;
    uint64_t count = 0;
    hd_diagnostics_init(&quiet);
    bool good = hd_check_bow(b->kernel, &quiet, &count);
    assert_int_equal(good, quiet.error_count == 0);
    hd_diagnostics_free(&quiet);
    return good;
}

/* What the pass relies on, the run must confirm. Here: of the right analysis, whatever the tags were made with. */
static void expect_uniform(rf_bench *b, hd_count *count)
{
    hd_pass_context context;
    hd_pass_context_init(&context, b->kernel, &b->diagnostics);
    const hd_uniformity *u = hd_analysis_get(&context, HD_ANALYSIS_UNIFORMITY);
    const hd_cfg *cfg = hd_function_cfg(b->kernel);
    for (uint32_t i = 0; i < cfg->block_count; i++)
        if (cfg->blocks[i].conditional && cfg->blocks[i].reachable && !hd_bitset_has(&u->divergent_branches, i))
            hd_count_expect_uniform(count, 0, cfg->blocks[i].end - 1);
    hd_pass_context_free(&context);
}

typedef struct result {
    bool proved;
    uint64_t counters[HD_COUNTER_COUNT];
} result;

static result replay(rf_bench *b, const char *options, uint32_t fault)
{
    const char *refusal = NULL;
    hd_diagnostics quiet;
    hd_diagnostics_init(&quiet);
    hd_rf_module *code = hd_rf_module_new(b->module);
    hd_rf_model_info info = *hd_rf_model_find("bow-iw3", 7);
    info.options = options;
    hd_rf_model *model = hd_rf_model_new(&info, code, &refusal);
    assert_non_null(model);
    model->fault = fault;
    hd_count *count = hd_count_new(code, &quiet);
    hd_count_use_memo(count, &hd_memo);
    hd_count_add(count, hd_rf_model_new(hd_rf_model_find("baseline", 8), code, &refusal));
    hd_count_add(count, model);
    expect_uniform(b, count);
    hd_sink sink = hd_count_sink(count);
    result r = {.proved = rf_walk(b->kernel, 2, 300, &sink)};
    assert_int_equal(r.proved, hd_count_failed(count) == HD_NONE);
    assert_int_equal(r.proved, quiet.error_count == 0);
    if (!r.proved)
        assert_int_equal(hd_count_failed(count), 1); /* never the baseline */
    memcpy(r.counters, model->counters, sizeof r.counters);
    hd_count_free(count);
    hd_rf_module_free(code);
    hd_diagnostics_free(&quiet);
    return r;
}

/* ---- the paper's example ----------------------------------------------------------------------------------------- */

/* A snippet with the dependences of figure 3.6; the first line has number 2. */
static void open_snippet(rf_bench *b) { rf_bench_open_file(b, "bow-snippet"); }

static uint32_t tag_at(const rf_bench *b, uint32_t line)
{
    const hd_annotation *a = hd_annotation_at(b->kernel, HD_ANNOTATION_BOW, line - 2, 0);
    assert_non_null(a);
    return a->value;
}

static void table_3_1(void **state)
{
    (void)state;
    enum { BOTH, RF, BOC };
    rf_bench b;
    open_snippet(&b);
    tag(&b, "3", false);
    static const uint8_t expected[] = {RF, BOC, BOC, BOC, BOC, BOC, BOC, BOC, BOTH, BOC};
    for (uint32_t line = 2; line <= 11; line++)
        assert_int_equal(tag_at(&b, line), expected[line - 2]);
    assert_true(check(&b));
    uint64_t warps = 2;
    result through = replay(&b, "policy=through,iw=3", 0), back = replay(&b, "policy=back,iw=3", 0),
           tags = replay(&b, "policy=tags,iw=3", 0);
    assert_true(through.proved && back.proved && tags.proved);
    assert_int_equal(through.counters[HD_COUNTER_FILE_WRITES], 10 * warps);
    assert_int_equal(back.counters[HD_COUNTER_FILE_WRITES], 5 * warps);
    assert_int_equal(tags.counters[HD_COUNTER_FILE_WRITES], 2 * warps);
    /* Sources, each register of an instruction once: line 4 r2, 5 r2 r1, 6 r1, 7 r2 r1, 8 r0, 9 r0, 10 r0, 11 r1, 12
     * r2, 13 r2, 14 r3 r1. Only line 14's two come from the file. */
    assert_int_equal(through.counters[HD_COUNTER_OPERANDS], 14 * warps);
    assert_int_equal(through.counters[HD_COUNTER_FILE_READS], 2 * warps);
    assert_int_equal(tags.counters[HD_COUNTER_FILE_READS], 2 * warps);
    assert_int_equal(tags.counters[HD_COUNTER_TO_FILE], 1 * warps);
    assert_int_equal(tags.counters[HD_COUNTER_TO_BOTH], 1 * warps);
    rf_bench_close(&b);
}

/* The only tag that may not be boc besides line 10's is line 2's; of the table's write-backs, losing a needed one is
 * noticed. */
static void a_wrong_tag_is_refuted_and_disproved(void **state)
{
    (void)state;
    rf_bench b;
    open_snippet(&b);
    tag(&b, "3", false);
    for (uint32_t line = 2; line <= 10; line += 8) {
        hd_annotation *a = (hd_annotation *)(uintptr_t)hd_annotation_at(b.kernel, HD_ANNOTATION_BOW, line - 2, 0);
        uint32_t kept = a->value;
        a->value = 2;
        assert_false(check(&b));
        assert_false(replay(&b, "policy=tags,iw=3", 0).proved);
        a->value = kept;
    }
    assert_true(check(&b));
    rf_bench_close(&b);
}

static void a_lost_move_is_noticed(void **state)
{
    (void)state;
    rf_bench b;
    open_snippet(&b);
    tag(&b, "3", false);
    uint32_t noticed = 0;
    for (uint32_t fault = 1; fault <= 11; fault++) /* moves of the first warp, in order */
        noticed += !replay(&b, "policy=tags,iw=3", fault).proved;
    /* Lost are: r3's write to the file, the nine writes to the window, and r1's way from the window to the file. All
     * are read. */
    assert_int_equal(noticed, 11);
    rf_bench_close(&b);
}

/* A window-only result takes over what its register still owed: the older value never reaches the file. */
static void a_window_only_result_pays_the_debt(void **state)
{
    (void)state;
    rf_bench b;
    rf_bench_open_file(&b, "bow-chain");
    tag(&b, "3", false);
    hd_annotation *first = (hd_annotation *)(uintptr_t)hd_annotation_at(b.kernel, HD_ANNOTATION_BOW, 0, 0);
    first->value = 0; /* both */
    result r = replay(&b, "policy=tags,iw=3", 0);
    assert_true(r.proved);
    assert_int_equal(r.counters[HD_COUNTER_TO_BOTH], 2);
    assert_int_equal(r.counters[HD_COUNTER_FILE_WRITES], 0);
    rf_bench_close(&b);
}

/* R0 is read two instructions after it was written, R1 one after and then three: identities take no time, and R1 is the
 * high word of RD0. */
static void identities_take_no_time(void **state)
{
    (void)state;
    rf_bench b;
    rf_bench_open_file(&b, "bow-identities");
    assert_true(hd_function_is_architected(b.kernel));
    tag(&b, "3", false);
    assert_int_equal(tag_at(&b, 2), 2);
    assert_int_equal(tag_at(&b, 3), 0);
    assert_null(hd_annotation_at(b.kernel, HD_ANNOTATION_BOW, 2, 0));
    assert_int_equal(tag_at(&b, 5), 2);
    assert_null(hd_annotation_at(b.kernel, HD_ANNOTATION_BOW, 4, 0));
    assert_true(check(&b));
    result r = replay(&b, "policy=tags,iw=3", 0);
    assert_true(r.proved);
    assert_int_equal(r.counters[HD_COUNTER_RESULTS], 2 * 4);
    assert_int_equal(r.counters[HD_COUNTER_OPERANDS], 2 * 5);
    assert_int_equal(r.counters[HD_COUNTER_FILE_READS], 2 * 1);
    assert_int_equal(r.counters[HD_COUNTER_FILE_WRITES], 2 * 1);
    hd_annotation *wrong = (hd_annotation *)(uintptr_t)hd_annotation_at(b.kernel, HD_ANNOTATION_BOW, 1, 0);
    wrong->value = 2;
    assert_false(check(&b));
    assert_false(replay(&b, "policy=tags,iw=3", 0).proved);
    rf_bench_close(&b);
}

/* A model that delivers only some lanes, or none, is not proved. */
static uint32_t delivered_lanes(const char *options) { return (uint32_t)strtoul(options, NULL, 16); }
static hd_rf_model *lazy_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    (void)code, (void)options, (void)refusal;
    return hd_calloc(1, sizeof(hd_rf_model));
}
static void lazy_destroy(hd_rf_model *model) { free(model); }
static void lazy_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    hd_claim current = {UINT32_MAX, UINT32_MAX};
    uint32_t lanes = delivered_lanes(model->info->options);
    for (uint32_t s = 0; s < step->source_count && lanes; s++)
        hd_rf_read(sink, step, s, HD_STRUCTURE_WINDOW, lanes, hd_rf_owner(step, step->sources[s]), current);
}

static void what_is_not_delivered_is_not_proved(void **state)
{
    (void)state;
    static const hd_rf_ops lazy = {.create = lazy_create, .destroy = lazy_destroy, .execute = lazy_execute};
    static const char *const lanes[] = {"ffffffff", "7fffffff", "0"};
    for (uint32_t i = 0; i < 3; i++) {
        rf_bench b;
        const char *refusal = NULL;
        hd_rf_model_info info = {.name = "lazy", .technique = "", .ops = &lazy, .pass = "", .options = lanes[i]};
        rf_bench_open_file(&b, "bow-chain");
        hd_rf_module *code = hd_rf_module_new(b.module);
        hd_count *count = hd_count_new(code, &b.diagnostics);
        hd_count_use_memo(count, &hd_memo);
        hd_count_add(count, hd_rf_model_new(&info, code, &refusal));
        hd_sink sink = hd_count_sink(count);
        assert_int_equal(rf_walk(b.kernel, 1, 300, &sink), i == 0);
        if (i)
            assert_int_equal(b.diagnostics.first->kind, HD_DIAG_PROOF_FAILED);
        hd_count_free(count);
        hd_rf_module_free(code);
        rf_bench_close(&b);
    }
}

/* ---- random kernels ---------------------------------------------------------------------------------------------- */

enum { KERNELS = UNIT_CASES(1500) };
static const char *const windows[] = {"2", "3", "7"};

static void random_kernels_are_proved(void **state)
{
    (void)state;
    char options[64];
    uint64_t transient = 0, all = 0;
    for (uint64_t seed = 0; seed < KERNELS; seed++) {
        rf_bench b;
        open_random(&b, seed);
        const char *iw = windows[seed % 3];
        uint32_t n = (uint32_t)atoi(iw);
        tag(&b, iw, false);
        if (!check(&b))
            fail_msg("seed %llu: the check refutes the pass", (unsigned long long)seed);
        static const char *const policies[] = {"through", "back", "tags"};
        for (uint32_t p = 0; p < 3; p++)
            for (uint32_t size = 1; size <= 3; size++) { /* full, half, one entry */
                snprintf(options, sizeof options, "policy=%s,iw=%u,entries=%u", policies[p], n,
                         size == 3 ? 1 : 4 * n / size);
                result r = replay(&b, options, 0);
                if (!r.proved)
                    fail_msg("seed %llu: not proved with %s", (unsigned long long)seed, options);
                transient += p == 2 ? r.counters[HD_COUNTER_TO_WINDOW] : 0;
                all += p == 2 ? r.counters[HD_COUNTER_RESULTS] : 0;
            }
        rf_bench_close(&b);
    }
    assert_in_range(transient * 100 / all, 5, 95); /* the test is not empty */
}

/* Each broken rule must be noticed somewhere, in both forms: the fewer of the two counts. */
static uint32_t count_failures(const char *options, bool trusting, uint32_t kernels)
{
    uint32_t failed[2] = {0, 0};
    for (uint64_t seed = 0; seed < kernels; seed++) {
        rf_bench b;
        open_random(&b, seed);
        tag(&b, "3", trusting);
        failed[seed % 2] += !replay(&b, options, 0).proved;
        if (trusting)
            assert_true(replay(&b, "policy=back,iw=3", 0).proved);
        rf_bench_close(&b);
    }
    return failed[0] < failed[1] ? failed[0] : failed[1];
}

static void broken_rules_are_noticed(void **state)
{
    (void)state;
    /* distance along paths only */
    assert_int_not_equal(count_failures("policy=tags,iw=3", true, KERNELS), 0);
    assert_int_not_equal(count_failures("policy=back,iw=3,unmasked", false, KERNELS), 0); /* no lane masks */
    /* an evicted transient is lost */
    assert_int_not_equal(count_failures("policy=tags,iw=3,entries=2,unsaved", false, KERNELS), 0);
}

/* A changed tag that the check accepts must be one that the proof accepts. */
static void what_the_check_accepts_is_proved(void **state)
{
    (void)state;
    uint32_t refuted = 0, disproved = 0, tried = 0;
    for (uint64_t seed = 0; seed < KERNELS; seed++) {
        rf_bench b;
        open_random(&b, seed);
        char options[32];
        tag(&b, windows[seed % 3], false);
        snprintf(options, sizeof options, "policy=tags,iw=%s", windows[seed % 3]);
        uint64_t random = seed;
        for (uint32_t a = 0; a < b.kernel->annotations.count; a++) {
            hd_annotation *note = &b.kernel->annotations.items[a];
            if (note->kind != HD_ANNOTATION_BOW || note->value == 2 || unit_random(&random) % 4)
                continue;
            const hd_cfg *cfg = hd_function_cfg(b.kernel);
            if (!cfg->blocks[cfg->block_of[note->instruction]].reachable)
                continue;
            uint32_t kept = note->value;
            note->value = 2;
            bool accepted = check(&b), proved = replay(&b, options, 0).proved;
            note->value = kept;
            tried++;
            refuted += !accepted;
            disproved += !proved;
            if (accepted && !proved)
                fail_msg("seed %llu: the check accepts what the proof refutes", (unsigned long long)seed);
            if (accepted)
                fail_msg("seed %llu: the check accepts a boc that the pass does not give", (unsigned long long)seed);
        }
        rf_bench_close(&b);
    }
    assert_true(tried > 500 && refuted == tried && disproved > tried / 10);
}

typedef struct split { /* where a run stopped that calls every branch uniform */
    bool noticed;
    hd_span span;
    char message[256];
} split;

static split run_all_uniform(uint64_t seed, const char *model, uint32_t events)
{
    rf_bench b;
    const char *refusal = NULL;
    hd_diagnostics quiet;
    split r = {0};
    open_random(&b, seed);
    hd_diagnostics_init(&quiet);
    hd_rf_module *code = hd_rf_module_new(b.module);
    hd_count *count = hd_count_new(code, &quiet);
    hd_count_use_memo(count, &hd_memo);
    hd_count_add(count, hd_rf_model_new(hd_rf_model_find(model, strlen(model)), code, &refusal));
    hd_count_batches(count, events, 1);
    const hd_cfg *cfg = hd_function_cfg(b.kernel);
    for (uint32_t i = 0; i < cfg->block_count; i++)
        if (cfg->blocks[i].conditional)
            hd_count_expect_uniform(count, 0, cfg->blocks[i].end - 1);
    hd_sink sink = hd_count_sink(count);
    r.noticed = !rf_walk(b.kernel, 2, 300, &sink);
    assert_int_equal(r.noticed, quiet.error_count != 0);
    if (r.noticed) {
        assert_int_equal(quiet.first->kind, HD_DIAG_NOT_UNIFORM);
        assert_int_equal(hd_count_failed(count), 1);
        r.span = quiet.first->span;
        snprintf(r.message, sizeof r.message, "%s", quiet.first->message);
    }
    hd_count_free(count);
    hd_rf_module_free(code);
    hd_diagnostics_free(&quiet);
    rf_bench_close(&b);
    return r;
}

/* Every branch is called uniform: the run must stop at the first that splits, and only there, whether events or
 * segments are collected. */
static void a_split_of_a_uniform_branch_is_noticed(void **state)
{
    (void)state;
    uint32_t stopped = 0, whole = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        split each = run_all_uniform(seed, "baseline", 1), segments = run_all_uniform(seed, "baseline", 1000);
        split turns = run_all_uniform(seed, "rfc", 1);
        stopped += each.noticed;
        whole += !each.noticed;
        assert_memory_equal(&each, &segments, sizeof each);
        assert_memory_equal(&each, &turns, sizeof each);
    }
    assert_true(stopped > 30 && whole > 30);
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

enum { BATCH_MODELS = 4 };
typedef struct batched {
    uint32_t failed, errors;
    char message[256];
    uint64_t counters[BATCH_MODELS][HD_COUNTER_COUNT];
} batched;

static batched replay_batched(rf_bench *b, uint64_t seed, uint32_t events, uint32_t threads)
{
    static const char *const names[BATCH_MODELS] = {"baseline", "bow-iw3", "bow-iw2-half", "bow-wb-iw3"};
    const char *refusal = NULL;
    hd_diagnostics quiet;
    batched r = {0};
    hd_diagnostics_init(&quiet);
    hd_rf_module *code = hd_rf_module_new(b->module);
    hd_count *count = hd_count_new(code, &quiet);
    hd_count_use_memo(count, &hd_memo);
    for (uint32_t m = 0; m < BATCH_MODELS; m++)
        hd_count_add(count, hd_rf_model_new(hd_rf_model_find(names[m], strlen(names[m])), code, &refusal));
    if (seed % 3) /* both lose something, one of them first */
        hd_count_model(count, 2)->fault = hd_count_model(count, 3)->fault = 1 + (uint32_t)seed % 20;
    expect_uniform(b, count);
    hd_count_batches(count, events, threads);
    hd_sink sink = hd_count_sink(count);
    bool good = rf_walk(b->kernel, 2, 300, &sink) && hd_count_flush(count);
    assert_int_equal(good, hd_count_failed(count) == HD_NONE);
    r.failed = hd_count_failed(count);
    r.errors = quiet.error_count;
    if (quiet.first)
        snprintf(r.message, sizeof r.message, "%s", quiet.first->message);
    for (uint32_t m = 0; m < BATCH_MODELS && good; m++) /* of a run that stopped they say nothing */
        memcpy(r.counters[m], hd_count_model(count, m)->counters, sizeof r.counters[m]);
    hd_count_free(count);
    hd_rf_module_free(code);
    hd_diagnostics_free(&quiet);
    return r;
}

static void batches_and_threads_change_nothing(void **state)
{
    (void)state;
    uint32_t failed[BATCH_MODELS] = {0}, whole = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        rf_bench b;
        open_random(&b, seed);
        batched one = replay_batched(&b, seed, 1, 1), some = replay_batched(&b, seed, 7, 1),
                many = replay_batched(&b, seed, 64, 3);
        assert_memory_equal(&one, &some, sizeof one);
        assert_memory_equal(&one, &many, sizeof one);
        if (one.failed == HD_NONE)
            whole++;
        else
            failed[one.failed]++;
        rf_bench_close(&b);
    }
    assert_true(whole > 60 && !failed[0] && !failed[1] && failed[2] > 3 && failed[3] > 3);
}

/* ---- the tables -------------------------------------------------------------------------------------------------- */

static void tables_agree(void **state)
{
    (void)state;
    hd_diagnostics diagnostics;
    hd_diagnostics_init(&diagnostics);
    assert_string_equal(hd_rf_models[0].name, "baseline");
    for (uint32_t m = 0; m < hd_rf_model_count; m++) {
        const hd_rf_model_info *info = &hd_rf_models[m];
        assert_ptr_equal(hd_rf_model_find(info->name, strlen(info->name)), info); /* names are unique */
        assert_true(m == 0 || hd_technique_find(info->technique, strlen(info->technique)) >= 0);
        hd_pipeline *pipeline = *info->pass ? hd_pipeline_parse(info->pass, &diagnostics) : NULL;
        assert_int_equal(pipeline != NULL, *info->pass != 0);
        if (pipeline)
            hd_pipeline_free(pipeline);
    }
    for (uint32_t t = 0; t < HD_TECHNIQUE_COUNT; t++) {
        uint32_t models = 0;
        for (uint32_t m = 0; m < hd_rf_model_count; m++)
            models += !strcmp(hd_rf_models[m].technique, hd_techniques[t].spelling);
        assert_int_not_equal(models, 0); /* every technique can be replayed */
    }
    for (uint32_t c = 0; c < hd_checker_count; c++)
        assert_true(!*hd_checkers[c].technique ||
                    hd_technique_find(hd_checkers[c].technique, strlen(hd_checkers[c].technique)) >= 0);
    hd_diagnostics_free(&diagnostics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_3_1),
        cmocka_unit_test(a_wrong_tag_is_refuted_and_disproved),
        cmocka_unit_test(a_lost_move_is_noticed),
        cmocka_unit_test(a_window_only_result_pays_the_debt),
        cmocka_unit_test(identities_take_no_time),
        cmocka_unit_test(what_is_not_delivered_is_not_proved),
        cmocka_unit_test(random_kernels_are_proved),
        cmocka_unit_test(broken_rules_are_noticed),
        cmocka_unit_test(what_the_check_accepts_is_proved),
        cmocka_unit_test(a_split_of_a_uniform_branch_is_noticed),
        cmocka_unit_test(batches_and_threads_change_nothing),
        cmocka_unit_test(tables_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
