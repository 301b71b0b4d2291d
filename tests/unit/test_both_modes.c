/* Each model does the same in count mode and under a driver with cycles (timed_driver.h): the same accesses in both,
 * every source delivered and proved, gates asked at the right time, and no deadlock. */
#include "unit.h"

#include "tests/unit/call_module.h"
#include "tests/unit/kernel.h"
#include "tests/unit/ideal_file.h"
#include "tests/unit/timed_driver.h"

#include "hwmodel/count/count.h"

enum { THREADS = 128, CTAS = 3, CTA_WARPS = THREADS / 32 };

static uint32_t in[THREADS], out[THREADS];

/* ---- one kernel, one model, several runs ------------------------------------------------------------------------- */

typedef struct both {
    const hd_rf_model_info *info;
    hd_rf_residency residency;
    uint32_t block, grid;
    bool timed; /* runs with cycles, too */
    /* results; counters in count mode */
    const char *refusal;
    bool proved;
    uint64_t counters[HD_COUNTER_COUNT];
    uint64_t refusals, cycles;
    uint32_t most_ctas;
    /* in progress */
    hd_rf_module *code;
    hd_count *count;
    hd_diagnostics quiet;
    hd_sink sink, counted;
    timed_logged logged;
    timed_trace trace;
} both;

static bool tee(void *context, const hd_event *event)
{
    both *b = context;
    timed_trace_take(&b->trace, event);
    return !b->count || b->counted.take(b->counted.context, event);
}

static void open_both(kernel_run *run, hd_module *module)
{
    both *b = run->context;
    b->code = hd_rf_module_new(module);
    hd_diagnostics_init(&b->quiet);
    timed_logged_init(&b->logged, b->info);
    hd_rf_model *model = hd_rf_model_new(&b->logged.info, b->code, &b->refusal);
    b->sink = (hd_sink){.take = tee,
                        .context = b,
                        .columns = HD_COLUMN_ADDRESSES | HD_COLUMN_RESULTS | HD_COLUMN_WIDTHS | HD_COLUMN_BARRIERS};
    run->sink = &b->sink;
    if (!model)
        return;
    b->count = hd_count_new(b->code, &b->quiet);
    hd_count_add(b->count, model);
    hd_count_residency(b->count, &b->residency);
    b->counted = hd_count_sink(b->count);
}

/* How long a name is looked up depends on when: a sub-array may still wake up. */
static bool same_access(const hd_rf_access *a, const hd_rf_access *b)
{
    bool is_name = a->structure == HD_STRUCTURE_TABLE && a->kind == HD_RF_LOOKUP;
    return a->structure == b->structure && a->kind == b->kind && a->cause == b->cause &&
           (is_name || a->cycles == b->cycles) && a->operand == b->operand && a->after == b->after &&
           a->lanes == b->lanes;
}

/* The next call of the hooks for instructions and switches of a warp, from `at` on; NULL: none. */
static const timed_call *next_call(const timed_log *log, uint32_t warp, uint32_t *at)
{
    while (*at < log->calls.count) {
        const timed_call *call = &log->calls.items[(*at)++];
        if (call->warp == warp && call->hook >= TIMED_IN)
            return call;
    }
    return NULL;
}

/* Flags of RFV, and of what builds on it, come through a cache that all warps share, so that when they are asked for
 * decides what they cost. */
static bool shares_timing(const both *b, const timed_call *call)
{
    const hd_rf_ops *ops = b->info->ops;
    return call->hook == TIMED_BEFORE &&
           (ops == hd_rf_model_find("release", 7)->ops || ops == hd_rf_model_find("gpu-shrink", 10)->ops ||
            ops == hd_rf_model_find("larf", 4)->ops);
}

/* Whatever was asked in between of other warps, each warp's hooks emit the same accesses. */
static void compare_logs(const both *b, const timed_log *one, const timed_log *other)
{
    for (uint32_t w = 0; w < b->trace.warps.count; w++) {
        const timed_call *x, *y;
        uint32_t i = 0, k = 0;
        do {
            x = next_call(one, w, &i);
            y = next_call(other, w, &k);
            if (!x != !y || (x && (x->hook != y->hook || x->instruction != y->instruction)))
                fail_msg("%s: warp %u goes another way", b->info->name, w);
            if (x && shares_timing(b, x))
                continue;
            if (x && x->count != y->count)
                fail_msg("%s: hook %u emits %u accesses in count mode and %u with cycles, at instruction %u of warp %u",
                         b->info->name, x->hook, x->count, y->count, x->instruction, w);
            for (uint32_t a = 0; x && a < x->count; a++)
                if (!same_access(&one->accesses.items[x->first + a], &other->accesses.items[y->first + a]))
                    fail_msg("%s: access %u differs at instruction %u of warp %u", b->info->name, a, x->instruction, w);
        } while (x);
    }
}

static timed_run run_timed(const both *b, timed_logged *logged, const timed_log *order, uint64_t seed)
{
    const char *refusal = NULL;
    timed_logged_init(logged, b->info);
    timed_run run = {.trace = &b->trace,
                     .code = b->code,
                     .model = hd_rf_model_new(&logged->info, b->code, &refusal),
                     .residency = b->residency,
                     .load_cycles = 40,
                     .banks = 4,
                     .order = order,
                     .seed = seed};
    timed_run_all(&run);
    return run;
}

static void run_with_cycles(both *b)
{
    for (uint32_t k = 0; k < 3; k++) { /* after the log; free; free, with switches by chance */
        timed_logged logged;
        timed_run run = run_timed(b, &logged, k ? NULL : &b->logged.log, k == 2 ? 7 : 0);
        if (!k)
            compare_logs(b, &b->logged.log, &logged.log);
        assert_int_equal(run.model->counters[HD_COUNTER_OPERANDS], b->counters[HD_COUNTER_OPERANDS]);
        assert_int_equal(run.model->counters[HD_COUNTER_RESULTS], b->counters[HD_COUNTER_RESULTS]);
        b->cycles = k == 1 ? run.cycles : b->cycles;
        b->most_ctas = k == 1 ? run.most_ctas : b->most_ctas;
        hd_rf_model_free(run.model);
        timed_logged_free(&logged);
    }
}

static void close_both(kernel_run *run)
{
    both *b = run->context;
    if (b->count) {
        b->proved = hd_count_flush(b->count) && run->status == HD_EXEC_DONE;
        b->refusals = b->logged.refusals;
        memcpy(b->counters, hd_count_model(b->count, 0)->counters, sizeof b->counters);
        if (b->proved && b->timed)
            run_with_cycles(b);
        if (!b->proved && b->quiet.first)
            snprintf(run->message, sizeof run->message, "%s", b->quiet.first->message);
    }
    hd_count_free(b->count);
    hd_rf_module_free(b->code);
    hd_diagnostics_free(&b->quiet);
    timed_logged_free(&b->logged);
    timed_trace_free(&b->trace);
}

/* After allocation and the model's pass. false: the model refuses the code. */
static bool run_both(both *b, const char *text, const char *what)
{
    char passes[128];
    snprintf(passes, sizeof passes, "select,regalloc%s%s", *b->info->pass ? "," : "", b->info->pass);
    kernel_run run = {.text = text,
                      .in = in,
                      .in_bytes = sizeof in,
                      .out = out,
                      .out_bytes = sizeof out,
                      .block = b->block ? b->block : THREADS,
                      .grid = b->grid ? b->grid : CTAS,
                      .options.instruction_limit = 10000000,
                      .passes = passes,
                      .opened = open_both,
                      .closing = close_both,
                      .context = b};
    if (!b->residency.ctas)
        b->residency = (hd_rf_residency){
            .ctas = 2, .active = 3, .latency = 20, .bytes = 1 << 24, .most_ctas = 3, .cta_warps = CTA_WARPS};
    run_kernel(&run);
    if (run.status == HD_EXEC_UNSUPPORTED)
        fail_msg("%s: %s", what, run.message);
    if (!b->refusal && !b->proved)
        fail_msg("%s: %s: %s", what, b->info->name, run.message);
    return !b->refusal;
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define BODY                                                                                                    \
    ".entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n.reg .pred %p<4>;\n"   \
    ".shared .align 4 .b8 s[512];\nld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmov.u32 %r0, %tid.x;\n" \
    "mul.wide.u32 %rd3, %r0, 4;\nadd.u64 %rd4, %rd1, %rd3;\nadd.u64 %rd5, %rd2, %rd3;\nld.global.u32 %r1, [%rd4];\n"
#define END "st.global.u32 [%rd5], %r1;\nret;\n}\n"

static const struct kernel {
    const char *what, *text;
} kernels[] = {
    {"divergence, guards and a loop", HEAD BODY
     "mov.u32 %r5, 0;\nL:\nand.b32 %r2, %r1, 3;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra M;\nadd.u32 %r1, %r1, %r0;\n"
     "@%p1 mul.lo.u32 %r1, %r1, 3;\nxor.b32 %r3, %r1, 5;\nadd.u32 %r1, %r1, %r3;\nbra N;\nM:\nshr.u32 %r1, "
     "%r1, 1;\nadd.u32 %r1, %r1, 7;\nN:\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 6;\n@%p2 bra L;\n" END},
    {"a barrier between warps",
     HEAD BODY "mov.u32 %r2, s;\nshl.b32 %r3, %r0, 2;\nadd.u32 %r2, %r2, %r3;\nst.shared.u32 [%r2], %r1;\nbar.sync 0;\n"
               "xor.b32 %r4, %r3, 128;\nmov.u32 %r2, s;\nadd.u32 %r2, %r2, %r4;\nld.shared.u32 %r6, [%r2];\nadd.u32 "
               "%r1, %r1, %r6;\nbar.sync 0;\nst.shared.u32 [%r2], %r1;\nadd.u32 %r1, %r1, %r0;\n" END},
    {"calls in some lanes",
     HEAD ".func (.reg .b32 z) f(.reg .b32 x)\n{\n.reg .b32 %r<4>;\nmul.lo.u32 %r1, x, 3;\nadd.u32 z, %r1, "
          "1;\nret;\n}\n" BODY
          "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\ncall (%r3), f, (%r1);\n@%p1 call (%r3), f, (%r3);\nadd.u32 "
          "%r1, %r3, %r1;\ncall (%r1), f, (%r1);\n" END},
    {"many registers",
     HEAD BODY "add.u32 %r2, %r1, 6;\nadd.u32 %r3, %r1, 9;\nadd.u32 %r4, %r1, 12;\nadd.u32 %r5, %r1, 15;\nadd.u32 %r6, "
               "%r1, 18;\nadd.u32 %r7, %r1, 21;\nadd.u32 %r8, %r1, 24;\nadd.u32 %r9, %r1, 27;\nbar.sync 0;\nadd.u32 "
               "%r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\nadd.u32 %r1, %r1, %r4;\nadd.u32 %r1, %r1, %r5;\nadd.u32 %r1, "
               "%r1, %r6;\nadd.u32 %r1, %r1, %r7;\nadd.u32 %r1, %r1, %r8;\nadd.u32 %r1, %r1, %r9;\n" END},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static void fill_input(void)
{
    for (uint32_t i = 0; i < THREADS; i++)
        in[i] = i * 7919 % 256;
}

/* ---- all models -------------------------------------------------------------------------------------------------- */

static void check_in_both_modes(const hd_rf_model_info *info)
{
    uint32_t took_part = 0;
    fill_input();
    for (uint32_t k = 0; k < KERNELS; k++)
        took_part += run_both(&(both){.info = info, .timed = true}, kernels[k].text, kernels[k].what);
    for (uint64_t seed = 1; seed < 5; seed++) {
        char *text = call_module_make(seed, 2);
        took_part += run_both(&(both){.info = info, .timed = true}, text, "a random module");
        free(text);
    }
    assert_true(took_part);
}

static void models_do_the_same_in_both_modes(void **state)
{
    (void)state;
    for (uint32_t m = 0; m < hd_rf_model_count; m++)
        check_in_both_modes(&hd_rf_models[m]);
    check_in_both_modes(&ideal_file);
}

/* Room for more blocks than the file has registers for, and no conflicts of banks. */
static void the_ideal_file_holds_everything(void **state)
{
    (void)state;
    both ideal = {.info = &ideal_file, .timed = true}, file = {.info = &hd_rf_models[0], .timed = true};
    fill_input();
    run_both(&ideal, kernels[3].text, kernels[3].what);
    run_both(&file, kernels[3].text, kernels[3].what);
    assert_int_equal(ideal.counters[HD_COUNTER_FILE_READS], file.counters[HD_COUNTER_FILE_READS]);
    assert_int_equal(ideal.most_ctas, 3);
    assert_int_equal(file.most_ctas, 2);
    assert_true(ideal.cycles < file.cycles);
}

/* Odd warps may issue in the second half of every 16 cycles. */
static hd_gate opens_by_the_clock(hd_rf_model *model, const hd_rf_step *step, uint64_t now)
{
    (void)model;
    if (step->warp->identity.warp % 2 == 0 || now % 16 >= 8)
        return (hd_gate){.ready = true};
    return (hd_gate){.reason = HD_STALL_REGISTER, .wake = now / 16 * 16 + 8};
}

/* The logs look at that (timed_driver.h). */
static void gates_are_not_asked_before_their_time(void **state)
{
    hd_rf_ops gated = ideal_file_ops;
    gated.may_issue = opens_by_the_clock;
    hd_rf_model_info info = {.name = "clock", .ops = &gated, .pass = "", .options = ""};
    both b = {.info = &info, .timed = true};
    (void)state;
    fill_input();
    run_both(&b, kernels[0].text, info.name);
    assert_true(b.refusals > 0);
}

static uint32_t with_addresses, with_results;

static void look_at_columns(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    bool memory = hd_insn_form(step->code->function, step->insn)->behaviour & (HD_BEHAVE_LOAD | HD_BEHAVE_STORE);
    assert_int_equal(step->results != NULL, step->destination_count && step->effective);
    assert_true(step->addresses || !memory || !step->effective);
    with_addresses += step->addresses != NULL;
    with_results += step->results && step->results[__builtin_ctz(step->active)] != 0;
    hd_rf_models[0].ops->execute(model, step, sink);
}

/* Whether models share a schedule or take events in their order. */
static void columns_come_with_each_instruction(void **state)
{
    hd_rf_ops looking = *hd_rf_models[0].ops;
    looking.execute = look_at_columns;
    looking.columns = HD_COLUMN_ADDRESSES | HD_COLUMN_RESULTS;
    hd_rf_model_info info = {.name = "columns", .ops = &looking, .pass = "", .options = ""};
    (void)state;
    fill_input();
    for (uint32_t coupled = 0; coupled < 2; coupled++) {
        with_addresses = with_results = 0;
        looking.coupled = coupled;
        run_both(&(both){.info = &info}, kernels[0].text, info.name);
        assert_true(with_addresses && with_results);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_do_the_same_in_both_modes),
        cmocka_unit_test(the_ideal_file_holds_everything),
        cmocka_unit_test(gates_are_not_asked_before_their_time),
        cmocka_unit_test(columns_come_with_each_instruction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
