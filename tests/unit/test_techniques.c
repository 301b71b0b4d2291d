/* Every technique of the tables on random programs, from the pass to the proof: what its pass writes is accepted by all
 * checkers, reads back the same from both spellings and from metadata words, and every operand that its models deliver
 * is proved. Structured programs of all types with calls compute what program_evaluate does; unstructured and
 * irreducible kernels are walked by the machine of rf_walk.h; kernels with asynchronous instructions are run by that of
 * async_kernel.h. TECHNIQUE_COUNT=N programs of each kind (default 60), TECHNIQUE_SEED=N the first. `make
 * campaign-techniques` runs 100,000. */
#include "async_kernel.h"
#include "kernel.h"
#include "program.h"

#include "annotated.h"
#include "hwmodel/count/count.h"
#include "ir/techniques.h"
#include "ir/words/words.h"
#include "passes/check/check.h"
#include "rf_bench.h"
#include "hwmodel/count/memo/memo.h"

enum { TEXT_BYTES = 1 << 19, MOST_LISTS = 32 };

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *value = getenv(name);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

/* Pass lists that models ask for, each once, and with options of their own those that would often find nothing to
 * do. */
static uint32_t list_passes(const char **lists)
{
    uint32_t count = 0;
    for (uint32_t m = 0; m < hd_rf_model_count; m++) {
        bool had = !*hd_rf_models[m].pass;
        for (uint32_t i = 0; i < count; i++)
            had = had || !strcmp(lists[i], hd_rf_models[m].pass);
        if (!had)
            lists[count++] = hd_rf_models[m].pass;
    }
    lists[count++] = "regmutex(es=6)";
    lists[count++] = "regmutex(es=8,paired)";
    assert_true(count <= MOST_LISTS);
    return count;
}

/* The pass that a list starts with. */
static bool same_pass(const char *a, const char *b)
{
    size_t length = strcspn(a, "(,");
    return length == strcspn(b, "(,") && !memcmp(a, b, length);
}

/* ---- what must hold of annotated code ---------------------------------------------------------------------------- */

static void expect_checked(hd_module *module, const char *what)
{
    hd_diagnostics quiet;
    uint64_t looked_at = 0;
    hd_diagnostics_init(&quiet);
    for (uint32_t i = 0; i < module->functions.count; i++)
        for (uint32_t c = 0; c < hd_checker_count && module->functions.items[i]->has_body; c++)
            if (!hd_checkers[c].run(module->functions.items[i], &quiet, &looked_at))
                fail_msg("%s: %s refutes: %s", what, hd_checkers[c].technique, quiet.first ? quiet.first->message : "");
    hd_diagnostics_free(&quiet);
}

static void expect_spelled(hd_module *module, hd_spelling spelling, const char *what)
{
    annotated *again;
    hd_writer writer;
    hd_writer_to_memory(&writer);
    assert_true(hd_emit_ptx(&writer, module, &(hd_emit_options){.spelling = spelling}));
    hd_write_char(&writer, '\0');
    again = read_text(writer.buffer.items);
    if (again->diagnostics.error_count)
        fail_msg("%s: written code does not read back: %s", what, again->diagnostics.first->message);
    for (uint32_t i = 0; i < module->functions.count; i++)
        assert_same_annotations(module->functions.items[i], again->module->functions.items[i]);
    annotated_free(again);
    hd_writer_free(&writer);
}

/* The words of a technique say all that its annotations do, but for what is in the instructions. */
static void expect_words(const hd_function *f, const hd_word_code *code, const char *what)
{
    hd_word_array words = {0};
    hd_annotation_set set = {0};
    const char *refusal = NULL;
    uint32_t found = 0;
    if (!code->encode || !code->encode(f, &words, &refusal))
        return;
    if (!code->decode(f, words.items, words.count, &set))
        fail_msg("%s: words of %s are not read", what, code->technique);
    hd_annotation_set_sort(&set);
    for (uint32_t i = 0; i < set.items.count; i++) {
        const hd_annotation *a = &set.items.items[i], *b = hd_annotation_at(f, a->kind, a->instruction, a->slot);
        bool list = b && hd_annotation_is_list(hd_annotation_find(a->kind));
        bool same = b && (list ? a->count == b->count &&
                                     !memcmp(set.words.items + a->value, f->annotation_words.items + b->value,
                                             a->count * sizeof(uint32_t))
                               : a->value == b->value);
        if (!same)
            fail_msg("%s: words of %s say something else at instruction %u", what, code->technique, a->instruction);
        found++;
    }
    for (uint32_t a = 0; a < f->annotations.count; a++)
        if (!strcmp(hd_annotation_find(f->annotations.items[a].kind)->technique, code->technique) &&
            f->annotations.items[a].kind != HD_ANNOTATION_LTRF_DEAD)
            assert_true(found-- > 0);
    hd_annotation_set_free(&set);
    hd_array_free(&words);
}

static void expect_sound(hd_module *module, const char *what, bool spelled)
{
    expect_checked(module, what);
    for (uint32_t s = HD_SPELLING_PORTABLE; s <= HD_SPELLING_EXTENDED && spelled; s++)
        expect_spelled(module, (hd_spelling)s, what);
    for (uint32_t i = 0; i < module->functions.count && spelled; i++)
        for (uint32_t c = 0; c < hd_word_code_count && module->functions.items[i]->has_body; c++)
            expect_words(module->functions.items[i], &hd_word_codes[c], what);
}

/* ---- structured programs, in the interpreter --------------------------------------------------------------------- */

typedef struct replay {
    const char *list, *what;
    bool spelled;
    hd_rf_module *code;
    hd_count *count;
    hd_sink sink;
    hd_diagnostics quiet;
} replay;

static void open_replay(kernel_run *run, hd_module *module)
{
    replay *r = run->context;
    const char *refusal = NULL;
    expect_sound(module, r->what, r->spelled);
    hd_diagnostics_init(&r->quiet);
    r->code = hd_rf_module_new(module);
    r->count = hd_count_new(r->code, &r->quiet);
    hd_count_use_memo(r->count, &hd_memo);
    for (uint32_t m = 0; m < hd_rf_model_count; m++) {
        const hd_rf_model_info *info = &hd_rf_models[m];
        hd_rf_model *model = m && !same_pass(info->pass, r->list) ? NULL : hd_rf_model_new(info, r->code, &refusal);
        if (model)
            hd_count_add(r->count, model);
    }
    hd_count_batches(r->count, 1000, 1);
    hd_count_residency(r->count, &(hd_rf_residency){.ctas = 2,
                                                    .active = 2,
                                                    .latency = 10,
                                                    .bytes = HD_COUNT_RECORD_BYTES,
                                                    .most_ctas = 3,
                                                    .cta_warps = 3,
                                                    .sm_warps = 16,
                                                    .file_registers = 2048,
                                                    .registers = 64,
                                                    .thread_registers = 255});
    r->sink = hd_count_sink(r->count);
    run->sink = &r->sink;
}

static void close_replay(kernel_run *run)
{
    replay *r = run->context;
    bool proved = hd_count_flush(r->count);
    if (!proved || hd_count_failed(r->count) != HD_NONE || r->quiet.error_count)
        fail_msg("%s: %s", r->what, r->quiet.first ? r->quiet.first->message : "not proved");
    hd_count_free(r->count);
    hd_rf_module_free(r->code);
    hd_diagnostics_free(&r->quiet);
}

/* want: what the program computes. */
static void expect_program(const program *p, uint64_t seed, const hd_module *module, const char *before,
                           const char *list, const uint32_t *want)
{
    static uint32_t got[96 * RESULT_WORDS];
    char what[192];
    snprintf(what, sizeof what, "seed %llu, %s,%s", (unsigned long long)seed, before, list);
    replay r = {.list = list, .what = what, .spelled = seed % 8 == 0};
    memset(got, 0, sizeof got);
    kernel_run run = {.module = module,
                      .passes = list,
                      .in = p->inputs,
                      .in_bytes = sizeof p->inputs,
                      .out = got,
                      .out_bytes = sizeof *got * RESULT_WORDS * p->threads,
                      .block = p->threads,
                      .grid = 1,
                      .options.instruction_limit = 20000000,
                      .opened = open_replay,
                      .closing = close_replay,
                      .context = &r};
    run_kernel(&run);
    if (run.status != HD_EXEC_DONE)
        fail_msg("%s: line %u: %s", what, run.line, run.message);
    program_plain(p, got);
    for (uint32_t i = 0; i < p->threads * RESULT_WORDS; i++)
        if (got[i] != want[i])
            fail_msg("%s: thread %u, word %u: 0x%08x, expected 0x%08x", what, i / RESULT_WORDS, i % RESULT_WORDS,
                     got[i], want[i]);
}

static void structured_programs(void **state)
{
    static const char *const before[] = {"select,regalloc",          "regalloc(max=32)",     "select,regalloc(max=20)",
                                         "regalloc(max=16,banks=2)", "select,demo,regalloc", "demo,regalloc(max=20)"};
    static uint32_t want[96 * RESULT_WORDS];
    static program p;
    const char *lists[MOST_LISTS];
    uint64_t count = number_from("TECHNIQUE_COUNT", UNIT_CASES(60)), first = number_from("TECHNIQUE_SEED", 1);
    uint32_t list_count = list_passes(lists);
    char *text = malloc(TEXT_BYTES);
    (void)state;
    assert_non_null(text);
    for (uint64_t seed = first; seed < first + count; seed++) {
        program_make(&p, seed);
        program_print(&p, text, TEXT_BYTES);
        program_evaluate(&p, want);
        rf_bench b;
        rf_bench_open(&b, text, strlen(text));
        rf_bench_pass(&b, before[seed % 6]);
        for (uint32_t l = 0; l < list_count; l++)
            expect_program(&p, seed, b.module, before[seed % 6], lists[l], want);
        rf_bench_close(&b);
    }
    free(text);
}

/* ---- unstructured kernels, walked -------------------------------------------------------------------------------- */

static void expect_kernel(uint64_t seed, const char *list)
{
    char what[128];
    rf_bench b;
    snprintf(what, sizeof what, "kernel %llu, %s", (unsigned long long)seed, list);
    rf_bench_open_random(&b, seed);
    if (same_pass(list, "regmutex") && !hd_function_is_architected(b.kernel)) {
        rf_bench_close(&b);
        return;
    }
    rf_bench_pass(&b, list);
    expect_sound(b.module, what, seed % 8 < 2);
    for (uint32_t m = 0; m < hd_rf_model_count; m++) {
        const hd_rf_model_info *info = &hd_rf_models[m];
        const char *refusal = NULL;
        hd_rf_module *code = hd_rf_module_new(b.module);
        hd_rf_model *model = *info->pass && same_pass(info->pass, list) ? hd_rf_model_new(info, code, &refusal) : NULL;
        hd_rf_model_free(model);
        hd_rf_module_free(code);
        if (model && !info->ops->columns && !rf_bench_replay(&b, &(rf_bench_run){.model = info, .order = seed}).proved)
            fail_msg("%s: %s is not proved", what, info->name);
    }
    rf_bench_close(&b);
}

static void unstructured_kernels(void **state)
{
    const char *lists[MOST_LISTS];
    uint64_t count = number_from("TECHNIQUE_COUNT", UNIT_CASES(60)), first = number_from("TECHNIQUE_SEED", 1);
    uint32_t list_count = list_passes(lists);
    (void)state;
    for (uint64_t seed = first; seed < first + count; seed++)
        for (uint32_t l = 0; l < list_count; l++)
            expect_kernel(seed, lists[l]);
}

/* ---- asynchronous kernels, run by a machine of their own --------------------------------------------------------- */

static void expect_asynchronous(uint64_t seed, const char *list, bool late, const async_run *want, const char *text,
                                uint32_t length)
{
    static const char *const before[] = {"", "clean,", "regalloc,", "select,regalloc(max=30),", "regalloc(max=24),"};
    char passes[128];
    async_run got = {.late = late};
    rf_bench b;
    const char *first = before[seed / 2 % 5];
    snprintf(passes, sizeof passes, "%s%s", first,
             same_pass(list, "regmutex") && !strstr(first, "regalloc") ? "regalloc," : "");
    strcat(passes, list);
    rf_bench_open(&b, text, length);
    rf_bench_pass(&b, passes);
    expect_sound(b.module, passes, seed % 8 < 2);
    async_kernel_run(b.kernel, &got);
    if (got.fault)
        fail_msg("asynchronous kernel %llu, %s: %s", (unsigned long long)seed, passes, got.fault);
    for (uint32_t i = 0; i < want->count && (i < got.count || got.done); i++)
        if (i >= got.count || got.stores[i] != want->stores[i])
            fail_msg("asynchronous kernel %llu, %s: store %u differs", (unsigned long long)seed, passes, i);
    rf_bench_close(&b);
}

/* Does the original end within the machine's limits? */
static bool expect_asynchronous_kernel(uint64_t seed)
{
    static char text[1 << 15];
    const char *lists[MOST_LISTS];
    uint32_t list_count = list_passes(lists), length = async_kernel_print(seed, text, sizeof text);
    async_run want = {.late = seed / 16 % 2};
    rf_bench b;
    rf_bench_open(&b, text, length);
    async_kernel_run(b.kernel, &want);
    rf_bench_close(&b);
    assert_null(want.fault);
    for (uint32_t l = 0; l < list_count; l++)
        expect_asynchronous(seed, lists[l], !want.late, &want, text, length);
    return want.done;
}

static void asynchronous_kernels(void **state)
{
    uint64_t count = number_from("TECHNIQUE_COUNT", UNIT_CASES(60)), first = number_from("TECHNIQUE_SEED", 1);
    uint32_t done = 0;
    (void)state;
    for (uint64_t seed = first; seed < first + count; seed++)
        done += expect_asynchronous_kernel(seed);
    assert_true(done > count / 2);
}

/* A value at home that a constant wrote last, of a register with another definition; a kernel parameter that two
 * registers hold, repeated for one of them; a guarded load and its consumer in a loop. */
static void kernels_that_are_rare(void **state)
{
    (void)state;
    expect_asynchronous_kernel(24968);
    expect_asynchronous_kernel(911516);
    expect_kernel(26782, "demo");
}

/* An instruction whose guard does not hold keeps the entries that it names: in the model, and in the machine that runs
 * asynchronous kernels. */
static void an_instruction_that_is_skipped_keeps_its_entries(void **state)
{
    async_run run = {0};
    rf_bench b;
    (void)state;
    rf_bench_open_body(
        &b, "mov.u32 %r0, 0;\nsetp.ne.u32 %p0, %r0, 0;\nmov.u32 %r1, 7;\nmov.u32 %r2, 8;\n@%p0 add.u32 %r3, %r1, 3;\n"
            "mov.u32 %r4, 9;\nst.global.u32 [out], %r1;\n");
    rf_bench_pass(&b, "bow(iw=3)");
    expect_sound(b.module, "bow(iw=3)", true);
    async_kernel_run(b.kernel, &run);
    assert_null(run.fault);
    assert_int_equal(run.count, 1);
    uint32_t kept = run.stores[0];
    rf_bench_close(&b);

    rf_bench_open_body(&b, "mov.u32 %r1, 7;\nst.global.u32 [out], %r1;\n");
    async_kernel_run(b.kernel, &run);
    assert_int_equal(run.stores[0], kept);
    rf_bench_close(&b);
}

/* ---- a register that nothing declares ---------------------------------------------------------------------------- */

static void expect_carries(const char *body, const char *before, const char *list)
{
    char passes[128];
    rf_bench b;
    snprintf(passes, sizeof passes, "%s%s", before, list);
    rf_bench_open_body(&b, body);
    rf_bench_pass(&b, passes);
    expect_sound(b.module, passes, true);
    rf_bench_close(&b);
}

static void the_carry_flag_has_no_declaration(void **state)
{
    const char *lists[MOST_LISTS];
    uint32_t list_count = list_passes(lists);
    char body[2048] = "mov.u32 %r0, %tid.x;\n";
    (void)state;
    for (uint32_t r = 1; r < 16; r++)
        snprintf(body + strlen(body), sizeof body - strlen(body), "ld.global.u32 %%r%u, [out+%u];\n", r, r * 4);
    for (uint32_t r = 1; r < 15; r++)
        snprintf(body + strlen(body), sizeof body - strlen(body),
                 "add.cc.u32 %%r%u, %%r%u, %%r%u;\naddc.u32 %%r16, %%r16, %%r%u;\n", r + 1, r, r + 1, r);
    snprintf(body + strlen(body), sizeof body - strlen(body),
             "mov.u32 %%r17, %%r16;\nst.global.u32 [out], %%r17;\nexit;\n");
    for (uint32_t l = 0; l < list_count; l++) {
        expect_carries(body, "select,regalloc,", lists[l]);
        if (!same_pass(lists[l], "regmutex"))
            expect_carries(body, "select,demo,", lists[l]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(structured_programs),
                                       cmocka_unit_test(unstructured_kernels),
                                       cmocka_unit_test(asynchronous_kernels),
                                       cmocka_unit_test(kernels_that_are_rare),
                                       cmocka_unit_test(an_instruction_that_is_skipped_keeps_its_entries),
                                       cmocka_unit_test(the_carry_flag_has_no_declaration)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
