/* The interface of techniques (hwmodel/rf/technique.h) serves the models that are there and those to come (stubs/), in
 * count mode and under a driver with cycles (timed_driver.h): the same accesses in both, every source delivered and
 * proved, gates asked at the right time, and no deadlock. And what each stub does on a small kernel, counted by hand.
 */
#include "unit.h"

#include "tests/unit/call_module.h"
#include "tests/unit/kernel.h"
#include "tests/unit/stubs/stubs.h"
#include "tests/unit/timed_driver.h"

#include "hwmodel/count/count.h"

enum { THREADS = 128, CTAS = 3, CTA_WARPS = THREADS / 32 };

static uint32_t in[THREADS], out[THREADS];

/* ---- one kernel, one model, several runs ------------------------------------------------------------------------- */

typedef struct both {
    const hd_rf_model_info *info;
    hd_rf_residency residency;
    uint32_t block, grid;
    uint32_t fault;
    bool may_fail;
    bool timed; /* runs with cycles, too */
    /* results; counters and what the stub counted, in count mode */
    const char *refusal;
    bool proved;
    uint64_t counters[HD_COUNTER_COUNT];
    stub_larf_counts larf;
    stub_shrink_counts shrink;
    stub_hrf_counts hrf;
    stub_dmr_counts dmr;
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
    b->sink =
        (hd_sink){.take = tee, .context = b, .columns = HD_COLUMN_ADDRESSES | HD_COLUMN_RESULTS | HD_COLUMN_WIDTHS};
    run->sink = &b->sink;
    if (!model)
        return;
    model->fault = b->fault;
    b->count = hd_count_new(b->code, &b->quiet);
    hd_count_add(b->count, model);
    hd_count_residency(b->count, &b->residency);
    b->counted = hd_count_sink(b->count);
}

static bool same_access(const hd_rf_access *a, const hd_rf_access *b)
{
    return a->structure == b->structure && a->kind == b->kind && a->cause == b->cause && a->cycles == b->cycles &&
           a->operand == b->operand && a->after == b->after && a->lanes == b->lanes;
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

static void take_counts(both *b, const hd_rf_model *model)
{
    memcpy(b->counters, model->counters, sizeof b->counters);
    if (b->info->ops == &stub_larf_ops)
        b->larf = stub_larf_counts_of(model);
    if (b->info->ops == &stub_shrink_ops)
        b->shrink = stub_shrink_counts_of(model);
    if (b->info->ops == &stub_hrf_ops)
        b->hrf = stub_hrf_counts_of(model);
    if (b->info->ops == &stub_dmr_ops)
        b->dmr = stub_dmr_counts_of(model);
}

static void close_both(kernel_run *run)
{
    both *b = run->context;
    if (b->count) {
        b->proved = hd_count_flush(b->count) && run->status == HD_EXEC_DONE;
        b->refusals = b->logged.refusals;
        take_counts(b, hd_count_model(b->count, 0));
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
    snprintf(passes, sizeof passes, "clean,regalloc%s%s", *b->info->pass ? "," : "", b->info->pass);
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
    if (!b->refusal && !b->proved && !b->may_fail)
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

static void stubs_do_the_same_in_both_modes(void **state)
{
    (void)state;
    for (uint32_t m = 0; m < stub_count; m++)
        check_in_both_modes(&stubs[m]);
}

static void models_do_the_same_in_both_modes(void **state)
{
    (void)state;
    for (uint32_t m = 0; m < hd_rf_model_count; m++)
        check_in_both_modes(&hd_rf_models[m]);
}

/* Some lost move of data is noticed in each. */
static void stubs_fail_where_they_lose_data(void **state)
{
    (void)state;
    fill_input();
    for (uint32_t m = 0; m < stub_count; m++) {
        bool noticed = false;
        for (uint32_t fault = 1; fault < 64 && !noticed; fault++) {
            both b = {.info = &stubs[m], .fault = fault, .may_fail = true};
            run_both(&b, kernels[3].text, kernels[3].what);
            noticed = !b.proved;
        }
        if (!noticed)
            fail_msg("%s: no lost move of data is noticed", stubs[m].name);
    }
}

/* ---- what each of them does, counted by hand --------------------------------------------------------------------- */

static both count(const char *name, const char *options, const char *text, both b)
{
    hd_rf_model_info info = {0};
    for (uint32_t m = 0; m < stub_count; m++)
        if (!strcmp(stubs[m].name, name))
            info = stubs[m];
    info.options = options ? options : info.options;
    b.info = &info;
    b.timed = true;
    fill_input();
    run_both(&b, text, name);
    b.info = NULL;
    return b;
}

/* All warps load the same 32 words. */
#define BY_LANE                                                                                               \
    ".entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n.reg .pred %p<4>;\n" \
    "ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %rd3, %r0, 4;\n" \
    "add.u64 %rd5, %rd2, %rd3;\nand.b32 %r2, %r0, 31;\nmul.wide.u32 %rd3, %r2, 4;\nadd.u64 %rd4, %rd1, %rd3;\n"

static void larf_shares_loads(void **state)
{
    (void)state;
    const char *text = HEAD BY_LANE "ld.global.u32 %r1, [%rd4];\n" END;
    both b = count("larf", NULL, text, (both){.grid = 1});
    assert_int_equal(b.larf.loads, 4);
    assert_int_equal(b.larf.hits, 3);
    assert_int_equal(b.counters[HD_COUNTER_RENAMING], 5); /* four lookups, and one entry */
    assert_int_equal(b.counters[HD_COUNTER_FILE_WRITES], b.counters[HD_COUNTER_RESULTS] - 3);
}

/* The first warp adds one to each word, between the loads. */
static void larf_evicts_what_is_stored(void **state)
{
    const char *text = HEAD BY_LANE "ld.global.u32 %r1, [%rd4];\nbar.sync 0;\nsetp.lt.u32 %p1, %r0, 32;\n"
                                    "add.u32 %r3, %r1, 1;\n@%p1 st.global.u32 [%rd4], %r3;\nbar.sync 0;\n"
                                    "ld.global.u32 %r4, [%rd4];\nadd.u32 %r1, %r1, %r4;\n" END;
    (void)state;
    both b = count("larf", NULL, text, (both){.grid = 1});
    assert_int_equal(b.larf.loads, 8);
    assert_int_equal(b.larf.hits, 6);
    assert_int_equal(b.larf.evicted, 1);
    b = count("larf", "entries=16,deaf", text, (both){.grid = 1, .may_fail = true});
    assert_false(b.proved);
}

/* One entry, and warps that load the one or the other 32 words by turns: round robin shares nothing, and LAS lets those
 * go first that load what the table has. */
#define PAIRS "and.b32 %r3, %r0, 32;\nmul.wide.u32 %rd3, %r3, 4;\nadd.u64 %rd4, %rd4, %rd3;\n"
#define LOAD "ld.global.u32 %r1, [%rd4];\n"
static void las_lets_sharers_go_first(void **state)
{
    const char *text = HEAD BY_LANE PAIRS LOAD END;
    (void)state;
    hd_rf_ops without = stub_larf_ops;
    without.rank_warp = NULL;
    hd_rf_model_info info = {.name = "larf without las", .ops = &without, .pass = "", .options = "entries=1"};
    hd_rf_residency all = {.ctas = 1, .active = 4, .latency = 20, .bytes = 1 << 24, .cta_warps = CTA_WARPS};
    both b = count("larf", "entries=1", text, (both){.grid = 1, .residency = all});
    assert_int_equal(b.larf.hits, 2);
    all.active = 1; /* so of those that wait */
    b = count("larf", "entries=1", HEAD BY_LANE PAIRS "bar.sync 0;\n" LOAD END, (both){.grid = 1, .residency = all});
    assert_int_equal(b.larf.hits, 2);
    all.active = 4;
    b = (both){.info = &info, .grid = 1, .residency = all};
    run_both(&b, text, info.name);
    assert_int_equal(b.counters[HD_COUNTER_FILE_WRITES], b.counters[HD_COUNTER_RESULTS]);
}

/* One warp is active. Each has registers 0 to 3 when it waits for its load, and 0 to 6 at the barrier, of 10 in all:
 * the first one takes one register of the second there. The second one gets it back, and takes four of the first. They
 * go back after its end. */
static void shrink_spills_and_refills(void **state)
{
    const char *text = HEAD BODY "add.u32 %r2, %r1, 6;\nadd.u32 %r3, %r1, 9;\nadd.u32 %r4, %r1, 12;\nadd.u32 %r5, %r1, "
                                 "15;\nbar.sync 0;\nadd.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\nadd.u32 %r1, %r1, "
                                 "%r4;\nadd.u32 %r1, %r1, %r5;\n" END;
    hd_rf_residency one = {.ctas = 1, .active = 1, .latency = 20, .bytes = 1 << 24, .cta_warps = 2};
    (void)state;
    both b = count("gpu-shrink", "file=10", text, (both){.grid = 1, .block = 64, .residency = one});
    assert_int_equal(b.shrink.spilled, 5);
    assert_int_equal(b.shrink.refilled, 5);
    assert_int_equal(b.shrink.most_mapped, 10);
    assert_int_equal(b.refusals, 0); /* there is no other block */
}

/* Whatever the size of the file: no deadlock, and never more registers than there are. */
static void shrink_always_goes_on(void **state)
{
    uint32_t throttled = 0;
    (void)state;
    for (uint32_t file = 13; file < 60; file++) {
        char options[16];
        snprintf(options, sizeof options, "file=%u", file);
        for (uint32_t k = 0; k < KERNELS; k++) {
            both b = count("gpu-shrink", options, kernels[k].text, (both){0});
            assert_true(b.shrink.most_mapped <= file);
            assert_int_equal(b.shrink.spilled, b.shrink.refilled);
            throttled += b.refusals != 0;
        }
    }
    assert_true(throttled > 0);
}

#define ADD_ONE HEAD BY_LANE "ld.global.u32 %r1, [%rd4];\nadd.u32 %r1, %r1, 1;\n" END

/* Both warps stop once, at the use of the load: each has written six registers, 11 times, and the last result after
 * that; it reads three from the file afterwards. */
static void hrf_drains_what_a_warp_wrote(void **state)
{
    (void)state;
    both b = count("hrf", NULL, ADD_ONE, (both){.grid = 1, .block = 64});
    assert_int_equal(b.hrf.drains, 2);
    assert_int_equal(b.hrf.drained, 12);
    assert_int_equal(b.counters[HD_COUNTER_RESULTS], 24);
    assert_int_equal(b.counters[HD_COUNTER_CACHE_WRITES], 24);
    assert_int_equal(b.counters[HD_COUNTER_FILE_WRITES], 12);
    assert_int_equal(b.counters[HD_COUNTER_FILE_READS], 6);
    assert_int_equal(b.refusals, 2); /* the loads are back before the 24 cycles of each drain are over */
}

/* Eight results of two registers each in a row, and the registers before them: more than the 16 that always have power.
 */
static void hrf_wakes_gated_entries(void **state)
{
    const char *text = HEAD BODY ".reg .b64 %w<8>;\nmul.wide.u32 %w0, %r0, 3;\nmul.wide.u32 %w1, %r0, 5;\nmul.wide.u32 "
                                 "%w2, %r0, 7;\nmul.wide.u32 %w3, %r0, 9;\nmul.wide.u32 %w4, %r0, 11;\nmul.wide.u32 "
                                 "%w5, %r0, 13;\nmul.wide.u32 %w6, %r0, 15;\nmul.wide.u32 %w7, %r0, 17;\nbar.sync 0;\n"
                                 "xor.b64 %w0, %w0, %w1;\nxor.b64 %w0, %w0, %w2;\nxor.b64 %w0, %w0, %w3;\nxor.b64 %w0, "
                                 "%w0, %w4;\nxor.b64 %w0, %w0, %w5;\nxor.b64 %w0, %w0, %w6;\nxor.b64 %w0, %w0, %w7;\n"
                                 "cvt.u32.u64 %r2, %w0;\nadd.u32 %r1, %r1, %r2;\n" END;
    (void)state;
    both gated = count("hrf+pg", NULL, text, (both){.grid = 1, .block = 64}),
         other = count("hrf", NULL, text, (both){.grid = 1, .block = 64});
    assert_int_equal(gated.hrf.wakes, 2);
    assert_int_equal(other.hrf.wakes, 0);
    assert_true(gated.refusals > other.refusals);
    assert_true(gated.cycles > other.cycles);
}

/* Eight instructions of a warp have results: in all lanes they are replayed; 24 threads leave clusters full or empty;
 * 30 leave two idle lanes beside two active ones. */
static void dmr_covers_lanes(void **state)
{
    (void)state;
    both b = count("warped-dmr", NULL, ADD_ONE, (both){.grid = 1, .block = 64});
    assert_int_equal(b.dmr.replayed, 16);
    assert_int_equal(b.dmr.lanes, 16 * 32);
    assert_int_equal(b.dmr.covered, 16 * 32);
    b = count("warped-dmr", NULL, ADD_ONE, (both){.grid = 1, .block = 24});
    assert_int_equal(b.dmr.lanes, 8 * 24);
    assert_int_equal(b.dmr.covered, 0);
    b = count("warped-dmr", NULL, ADD_ONE, (both){.grid = 1, .block = 30});
    assert_int_equal(b.dmr.lanes, 8 * 30);
    assert_int_equal(b.dmr.covered, 8 * 2);
    assert_int_equal(b.dmr.detected, 0);
}

/* A chain of dependent instructions: each waits for the replay of the one before, for which nothing else issues. Beside
 * it, an instruction for another unit is no reason to wait. */
static void dmr_waits_for_results(void **state)
{
    (void)state;
    both b = count("warped-dmr", NULL, ADD_ONE, (both){.grid = 1, .block = 32});
    assert_int_equal(b.refusals, 7);
    assert_int_equal(b.dmr.unverified, 0);
    b = count("warped-dmr", NULL,
              HEAD BY_LANE "xor.b32 %r3, %r0, 5;\nld.global.u32 %r1, [%rd4];\nand.b32 %r3, %r3, 12;\n"
                           "xor.b32 %r1, %r1, %r3;\n" END,
              (both){.grid = 1, .block = 32});
    assert_int_equal(b.refusals, 7);
    b = count("warped-dmr", NULL,
              HEAD BY_LANE "ld.global.u32 %r1, [%rd4];\nxor.b32 %r3, %r0, 5;\nand.b32 %r3, %r3, 12;\n"
                           "xor.b32 %r1, %r1, %r3;\n" END,
              (both){.grid = 1, .block = 32});
    assert_int_equal(b.refusals, 8);
}

/* By replay in another lane; by an idle lane that is broken itself; not where nothing repeats what the lane does. */
static void dmr_detects_a_stuck_lane(void **state)
{
    (void)state;
    assert_true(count("warped-dmr", "stuck=5", ADD_ONE, (both){.grid = 1, .block = 64}).dmr.detected > 0);
    assert_true(count("warped-dmr", "stuck=31", ADD_ONE, (both){.grid = 1, .block = 30}).dmr.detected > 0);
    assert_true(count("warped-dmr", "stuck=5", ADD_ONE, (both){.grid = 1, .block = 30}).dmr.detected == 0);
}

/* Room for more blocks than the file has registers for, and no conflicts of banks. */
static void the_ideal_file_holds_everything(void **state)
{
    (void)state;
    both ideal = count("ideal", NULL, kernels[3].text, (both){0});
    both file = {.info = &hd_rf_models[0], .timed = true};
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
    hd_rf_ops gated = stub_ideal_ops;
    gated.may_issue = opens_by_the_clock;
    hd_rf_model_info info = {.name = "clock", .ops = &gated, .pass = "", .options = ""};
    both b = {.info = &info, .timed = true};
    (void)state;
    fill_input();
    run_both(&b, kernels[0].text, info.name);
    assert_true(b.refusals > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stubs_do_the_same_in_both_modes),
        cmocka_unit_test(models_do_the_same_in_both_modes),
        cmocka_unit_test(stubs_fail_where_they_lose_data),
        cmocka_unit_test(larf_shares_loads),
        cmocka_unit_test(larf_evicts_what_is_stored),
        cmocka_unit_test(las_lets_sharers_go_first),
        cmocka_unit_test(shrink_spills_and_refills),
        cmocka_unit_test(shrink_always_goes_on),
        cmocka_unit_test(hrf_drains_what_a_warp_wrote),
        cmocka_unit_test(hrf_wakes_gated_entries),
        cmocka_unit_test(dmr_covers_lanes),
        cmocka_unit_test(dmr_waits_for_results),
        cmocka_unit_test(dmr_detects_a_stuck_lane),
        cmocka_unit_test(the_ideal_file_holds_everything),
        cmocka_unit_test(gates_are_not_asked_before_their_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
