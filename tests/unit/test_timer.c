/* Every row of models.def in cycles, on random programs and random machines: each run ends, with every operand proved;
 * a model that looks at warps one by one counts what it counts in program order; results do not depend on threads.
 * TIMER_COUNT=N programs, TIMER_SEED=N the first. */
#include "kernel.h"
#include "program.h"
#include "small_machine.h"
#include "tests/unit/ideal_file.h"

#include "hwmodel/count/count.h"
#include "hwmodel/sm/timer.h"

enum { TEXT_BYTES = 1 << 19, SMS = 2, GRID = 3 };

typedef struct both { /* one model, counted and timed in the same run */
    const hd_rf_model_info *model;
    hd_machine machine;
    uint32_t threads;
    /* results */
    bool applies;
    hd_timer_result result;
    uint64_t counted[HD_COUNTER_COUNT];
    bool counted_right;
    /* of the run in progress */
    hd_rf_module *code;
    hd_count *count;
    hd_timer *timer;
    hd_diagnostics quiet;
    hd_sink sinks[2], sink;
} both;

static bool take_both(void *context, const hd_event *e)
{
    both *b = context;
    if (e->kind == HD_EVENT_LAUNCH) {
        hd_rf_residency residency = {.ctas = 2,
                                     .active = 4,
                                     .latency = 10,
                                     .bytes = 1 << 24,
                                     .most_ctas = 3,
                                     .cta_warps = 3,
                                     .sm_warps = 48,
                                     .file_registers = 1024,
                                     .registers = b->code->functions[e->function]->registers};
        hd_count_residency(b->count, &residency);
        hd_timer_begin(b->timer, &residency, e->function, 0);
    }
    for (uint32_t i = 0; i < 2; i++)
        b->sinks[i].take(b->sinks[i].context, e);
    return true;
}

static void open_both(kernel_run *run, hd_module *module)
{
    both *b = run->context;
    const char *refusal = NULL;
    hd_diagnostics_init(&b->quiet);
    b->code = hd_rf_module_new(module);
    b->count = hd_count_new(b->code, &b->quiet);
    b->timer = hd_timer_new(b->code, &b->machine, SMS);
    b->applies = hd_timer_add(b->timer, b->model, &refusal);
    if (!b->applies)
        return;
    hd_count_add(b->count, hd_rf_model_new(b->model, b->code, &refusal));
    hd_timer_open(b->timer, NULL, b->threads, NULL);
    b->sinks[0] = hd_count_sink(b->count);
    b->sinks[1] = hd_timer_sink(b->timer);
    b->sink = (hd_sink){.take = take_both, .context = b, .columns = b->sinks[0].columns | b->sinks[1].columns};
    run->sink = &b->sink;
}

static void close_both(kernel_run *run)
{
    both *b = run->context;
    if (b->applies) {
        hd_timer_end(b->timer);
        hd_timer_finish(b->timer);
        b->result = *hd_timer_result_of(b->timer, 0, 0);
        b->counted_right = hd_count_flush(b->count);
        memcpy(b->counted, hd_count_model(b->count, 0)->counters, sizeof b->counted);
    }
    hd_timer_free(b->timer);
    hd_count_free(b->count);
    hd_rf_module_free(b->code);
    hd_diagnostics_free(&b->quiet);
}

static void run_both(both *b, const program *p, const char *text)
{
    static uint32_t out[96 * RESULT_WORDS];
    char passes[128];
    snprintf(passes, sizeof passes, "select,regalloc%s%s", *b->model->pass ? "," : "", b->model->pass);
    kernel_run run = {.text = text,
                      .in = p->inputs,
                      .in_bytes = sizeof p->inputs,
                      .out = out,
                      .out_bytes = sizeof *out * RESULT_WORDS * p->threads,
                      .grid = GRID,
                      .block = p->threads,
                      .options.instruction_limit = 10000000,
                      .passes = passes,
                      .opened = open_both,
                      .closing = close_both,
                      .context = b};
    run_kernel(&run);
    if (run.status != HD_EXEC_DONE)
        fail_msg("%s: %s", b->model->name, run.message);
}

static void compare_counters(const both *b, uint64_t seed)
{
    for (uint32_t c = 1; c < HD_COUNTER_COUNT; c++)
        if (b->counted[c] != b->result.counters[c])
            fail_msg("seed %u, %s: %s is %llu in program order and %llu in cycles", (unsigned)seed, b->model->name,
                     hd_counters[c].key, (unsigned long long)b->counted[c], (unsigned long long)b->result.counters[c]);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *value = getenv(name);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

static void check_model(const hd_rf_model_info *model, const hd_machine *machine, const program *p, const char *text,
                        uint64_t seed)
{
    both b = {.model = model, .machine = *machine, .threads = 1}, more = b;
    more.threads = 3;
    run_both(&b, p, text);
    if (!b.applies)
        return;
    if (b.result.status != HD_TIMING_DONE || !b.counted_right)
        fail_msg("seed %u: %s: status %d", (unsigned)seed, model->name, b.result.status);
    if (!model->ops->coupled)
        compare_counters(&b, seed);
    run_both(&more, p, text);
    assert_memory_equal(&more.result, &b.result, sizeof b.result);
}

static void check_all(const hd_rf_model_info *models, uint32_t model_count)
{
    static program p;
    char *text = hd_malloc(TEXT_BYTES);
    uint64_t first = number_from("TIMER_SEED", 1), count = number_from("TIMER_COUNT", 4);
    for (uint64_t seed = first; seed < first + count; seed++) {
        uint64_t by_chance = seed * 77;
        program_make(&p, seed);
        program_print(&p, text, TEXT_BYTES);
        hd_machine machine = random_machine(&by_chance);
        for (uint32_t m = 0; m < model_count; m++)
            check_model(&models[m], &machine, &p, text, seed);
    }
    free(text);
}

static void every_model_in_cycles(void **state)
{
    (void)state;
    check_all(hd_rf_models, hd_rf_model_count);
    check_all(&ideal_file, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_model_in_cycles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
