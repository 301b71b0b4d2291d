/* Traces: what the reader gives is what the interpreter reported, event by event, for random programs with divergence,
 * calls and barriers; the size of typical traces; barriers' waits. */
#include "kernel.h"
#include "program.h"
#include "ptx_file.h"

#include "hwmodel/record/record.h"
#include "ir/form.h"

enum { TEXT_BYTES = 1 << 19, KEPT_WORDS = 4 };

typedef struct seen_event { /* an ISSUE, copied */
    hd_event event;
    uint64_t addresses[32], copied_to[32], copied_bytes[32];
    hd_width widths[HD_MOST_WRITTEN];
    uint32_t results[KEPT_WORDS * 32];
} seen_event;

typedef struct watch {
    const hd_module *module;
    HD_ARRAY(seen_event) events;
    HD_ARRAY(hd_record *) ctas;
    hd_recorder *recorder;
    hd_sink traced, both;
    uint32_t columns;
    uint64_t bytes, instructions;
} watch;

static bool keep_cta(void *context, hd_record *cta)
{
    watch *w = context;
    hd_array_push(&w->ctas, cta);
    w->bytes += cta->bytes;
    w->instructions += cta->instructions;
    return true;
}

static bool is_barrier(void *context, uint32_t function, uint32_t instruction)
{
    const watch *w = context;
    const hd_function *f = w->module->functions.items[function];
    return hd_record_arrives(hd_insn_form(f, &f->instructions.items[instruction]));
}

static bool take_both(void *context, const hd_event *e)
{
    watch *w = context;
    if (e->kind == HD_EVENT_ISSUE) {
        seen_event *seen = hd_array_extend(&w->events, 1);
        seen->event = *e;
        if (e->addresses)
            memcpy(seen->addresses, e->addresses, sizeof seen->addresses);
        if (e->copied_to) {
            memcpy(seen->copied_to, e->copied_to, sizeof seen->copied_to);
            memcpy(seen->copied_bytes, e->copied_bytes, sizeof seen->copied_bytes);
        }
        if (e->widths)
            memcpy(seen->widths, e->widths, e->width_words * sizeof *e->widths);
        if (e->results && e->result_words <= KEPT_WORDS)
            memcpy(seen->results, e->results, e->result_words * 32 * sizeof *seen->results);
    }
    return w->traced.take(w->traced.context, e);
}

static void open_watch(kernel_run *run, hd_module *module)
{
    watch *w = run->context;
    hd_recorder_user user = {.ended = keep_cta, .barrier = is_barrier, .context = w, .columns = w->columns};
    w->module = module;
    w->recorder = hd_recorder_new(&user);
    w->traced = hd_recorder_sink(w->recorder);
    w->both = (hd_sink){.take = take_both, .context = w, .columns = w->traced.columns};
    run->sink = &w->both;
}

static void free_watch(watch *w)
{
    for (uint32_t i = 0; i < w->ctas.count; i++)
        hd_record_release(w->ctas.items[i]);
    hd_recorder_free(w->recorder);
    hd_array_free(&w->ctas);
    hd_array_free(&w->events);
}

static void compare_step(const seen_event *want, const hd_record_cursor *got)
{
    const hd_event *e = &want->event;
    assert_int_equal(got->step.function, e->function);
    assert_int_equal(got->step.instruction, e->instruction);
    assert_int_equal(got->step.frame, e->frame);
    assert_int_equal(got->step.active, e->active);
    assert_int_equal(got->step.effective, e->effective);
    assert_int_equal(got->step.has_addresses, e->addresses && e->effective);
    for (uint32_t lane = 0; lane < 32 && got->step.has_addresses; lane++)
        if (e->effective >> lane & 1)
            assert_true(got->addresses[lane] == want->addresses[lane]);
    assert_int_equal(got->step.has_copies, e->copied_to && e->effective);
    for (uint32_t lane = 0; lane < 32 && got->step.has_copies; lane++)
        if (e->effective >> lane & 1) {
            assert_true(got->copied_to[lane] == want->copied_to[lane]);
            assert_true(got->copied_bytes[lane] == want->copied_bytes[lane]);
        }
    assert_int_equal(got->step.width_count, e->widths ? e->width_words : 0);
    for (uint32_t k = 0; k < got->step.width_count; k++) {
        assert_int_equal(got->widths[k].held, want->widths[k].held);
        assert_int_equal(got->widths[k].written, want->widths[k].written);
    }
    assert_int_equal(got->step.results != NULL, e->results != NULL);
    if (e->results && e->result_words <= KEPT_WORDS)
        assert_memory_equal(got->step.results, want->results, e->result_words * 32 * sizeof *want->results);
}

/* Every warp's trace gives its events, in order, and nothing more. */
static void compare_all(const watch *w)
{
    uint64_t compared = 0;
    for (uint32_t c = 0; c < w->ctas.count; c++)
        for (uint32_t i = 0; i < w->ctas.items[c]->warp_count; i++) {
            const hd_record_warp *warp = &w->ctas.items[c]->warps[i];
            hd_record_cursor cursor;
            hd_record_open(&cursor, warp);
            for (uint32_t e = 0; e < w->events.count; e++)
                if (w->events.items[e].event.warp == warp->warp) {
                    assert_true(hd_record_next(&cursor));
                    compare_step(&w->events.items[e], &cursor);
                    compared++;
                }
            assert_false(hd_record_next(&cursor));
        }
    assert_int_equal(compared, w->events.count);
    assert_int_equal(compared, w->instructions);
}

static void random_programs_come_back(void **state)
{
    static program p;
    static uint32_t out[96 * RESULT_WORDS];
    char *text = hd_malloc(TEXT_BYTES);
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        static const uint32_t columns[] = {0, HD_COLUMN_WIDTHS, HD_COLUMN_LOADED, HD_COLUMN_RESULTS};
        watch w = {.columns = columns[seed % 4]};
        uint32_t loaded = 0, others = 0;
        program_make(&p, seed);
        program_print(&p, text, TEXT_BYTES);
        kernel_run run = {.text = text,
                          .in = p.inputs,
                          .in_bytes = sizeof p.inputs,
                          .out = out,
                          .out_bytes = sizeof *out * RESULT_WORDS * p.threads,
                          .grid = 2,
                          .block = p.threads,
                          .options.instruction_limit = 10000000,
                          .opened = open_watch,
                          .context = &w};
        run_kernel(&run);
        assert_int_equal(run.status, HD_EXEC_DONE);
        assert_int_equal(w.ctas.count, 2);
        compare_all(&w);
        for (uint32_t e = 0; e < w.events.count; e++) {
            const hd_event *event = &w.events.items[e].event;
            loaded += event->results && event->addresses;
            others += event->results && !event->addresses;
        }
        assert_int_equal(loaded != 0, columns[seed % 4] >= HD_COLUMN_LOADED || columns[seed % 4] == HD_COLUMN_RESULTS);
        assert_int_equal(others != 0, columns[seed % 4] == HD_COLUMN_RESULTS);
        free_watch(&w);
    }
    free(text);
}

static void trace_text(const char *text, uint32_t grid, uint32_t block, watch *w)
{
    static uint32_t out[65536];
    kernel_run run = {.text = text,
                      .out = out,
                      .out_bytes = sizeof out,
                      .grid = grid,
                      .block = block,
                      .opened = open_watch,
                      .context = w};
    run_kernel(&run);
    assert_int_equal(run.status, HD_EXEC_DONE);
}

static void trace_body(const char *body, uint32_t grid, uint32_t block, watch *w)
{
    static char text[16384];
    trace_text(kernel_text(text, sizeof text, body), grid, block, w);
}

/* A loop of arithmetic takes less than 2 bytes an instruction, a load and a store with a stride less than 12. */
static void traces_are_small(void **state)
{
    watch w = {0};
    (void)state;
    trace_body("mov.u32 %r4, 0;\nLOOP: add.u32 %r5, %r5, %r4;\nadd.u32 %r6, %r5, %r4;\nadd.u32 %r7, %r5, %r6;\n"
               "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 1000;\n@%p1 bra LOOP;",
               1, 64, &w);
    assert_in_range(w.instructions, 12000, 13000);
    assert_true(w.bytes < 2 * w.instructions);
    free_watch(&w);
    w = (watch){0};
    trace_body("mad.wide.u32 %rd3, %r0, 4, %rd1;\nmov.u32 %r4, 0;\nLOOP: ld.global.u32 %r5, [%rd3];\n"
               "st.global.u32 [%rd3+4096], %r5;\nadd.u64 %rd3, %rd3, 128;\nadd.u32 %r4, %r4, 1;\n"
               "setp.lt.u32 %p1, %r4, 100;\n@%p1 bra LOOP;",
               1, 32, &w);
    compare_all(&w);
    assert_true(w.bytes < 12 * 200 + 2 * 400);
    free_watch(&w);
}

/* Destinations and sizes with a stride and without one, of some lanes and of none, between loads. */
static void copies_come_back(void **state)
{
    watch w = {0};
    (void)state;
    trace_text(ptx_file("trace-copies_come_back"), 2, 40, &w);
    uint32_t copies = 0;
    for (uint32_t e = 0; e < w.events.count; e++)
        copies += w.events.items[e].event.copied_to != NULL;
    assert_int_equal(copies, 2 * (3 + 3)); /* by block: those of each warp in which a lane copies */
    compare_all(&w);
    free_watch(&w);
}

/* The waits of a warp: for each, the warps, and how many barrier instructions of them less its own. */
static void expect_waits(const watch *w, uint32_t cta, uint32_t warp, const char *expected)
{
    char text[256] = "";
    hd_record_cursor cursor;
    hd_record_open(&cursor, &w->ctas.items[cta]->warps[warp]);
    while (hd_record_next(&cursor)) {
        for (uint32_t rest = cursor.step.waits; rest; rest &= rest - 1)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%d%+d ", __builtin_ctz(rest),
                     cursor.arrivals[__builtin_ctz(rest)]);
        if (cursor.step.waits)
            snprintf(text + strlen(text), sizeof text - strlen(text), "| ");
    }
    assert_string_equal(text, expected);
}

static void barriers_name_the_warps_that_came(void **state)
{
    watch w = {0};
    (void)state;
    trace_body("bar.sync 0;\nadd.u32 %r4, %r4, 1;\nbar.sync 0;\nadd.u32 %r4, %r4, 1;", 2, 128, &w);
    for (uint32_t cta = 0; cta < 2; cta++)
        for (uint32_t warp = 0; warp < 4; warp++)
            expect_waits(&w, cta, warp, "0+0 1+0 2+0 3+0 | 0+0 1+0 2+0 3+0 | ");
    free_watch(&w);
    /* Warps 0 and 1 meet at a barrier of their own; 2 and 3 go through. */
    w = (watch){0};
    trace_body("setp.ge.u32 %p1, %r0, 64;\n@%p1 bra DONE;\nbar.sync 1, 64;\nadd.u32 %r4, %r4, 1;\nDONE:", 1, 128, &w);
    for (uint32_t warp = 0; warp < 2; warp++)
        expect_waits(&w, 0, warp, "0+0 1+0 | ");
    expect_waits(&w, 0, 2, "");
    free_watch(&w);
}

/* Two pairs of warps, each with its own barrier, by a number in a register: nobody waits for the other pair. */
static void named_barriers_are_apart(void **state)
{
    watch w = {0};
    (void)state;
    trace_body("shr.u32 %r4, %r0, 6;\nadd.u32 %r4, %r4, 1;\nbar.sync %r4, 64;\nadd.u32 %r5, %r4, 1;", 1, 128, &w);
    for (uint32_t warp = 0; warp < 4; warp++)
        expect_waits(&w, 0, warp, warp < 2 ? "0+0 1+0 | " : "2+0 3+0 | ");
    free_watch(&w);
}

#define ROLES "setp.ge.u32 %p1, %r0, 32;\n@%p1 bra CONSUMER;\n"
/* Warp 0 produces twice and waits for nobody at bar.arrive; warp 1 waits for it, once after each of its arrivals. */
static void arrive_waits_for_nobody(void **state)
{
    watch w = {0};
    (void)state;
    trace_text(ptx_file("trace-arrive_waits_for_nobody"), 1, 64, &w);
    expect_waits(&w, 0, 0, "");
    expect_waits(&w, 0, 1, "0+0 1+0 | 0+0 1+0 | ");
    free_watch(&w);
    /* With a barrier before that, of the consumer alone, its second is the producer's first. */
    w = (watch){0};
    trace_text(ptx_file("trace-arrive_waits_for_nobody_2"), 1, 64, &w);
    expect_waits(&w, 0, 0, "");
    expect_waits(&w, 0, 1, "1+0 | 0-1 1+0 | ");
    free_watch(&w);
}

/* A reduction is reported when it has its result: the instruction after it waits, not itself. In a cluster, arriving
 * and waiting are two instructions. */
static void reductions_and_clusters(void **state)
{
    watch w = {0};
    (void)state;
    trace_body("bar.red.popc.u32 %r4, 0, %p1;\nadd.u32 %r4, %r4, 1;\nbar.red.popc.u32 %r4, 0, %p1;\nbar.sync 0;\n"
               "add.u32 %r5, %r4, 1;",
               1, 64, &w);
    for (uint32_t warp = 0; warp < 2; warp++)
        expect_waits(&w, 0, warp, "0+0 1+0 | 0+0 1+0 | 0+0 1+0 | ");
    free_watch(&w);
    w = (watch){0};
    trace_body("barrier.cluster.arrive;\nadd.u32 %r4, %r4, 1;\nbarrier.cluster.wait;\nadd.u32 %r5, %r4, 1;", 1, 64, &w);
    for (uint32_t warp = 0; warp < 2; warp++)
        expect_waits(&w, 0, warp, "0-1 1-1 | ");
    free_watch(&w);
}

/* The landings of a warp: for each, the warps, and how many arrivals after copies. */
static void expect_landings(const watch *w, uint32_t warp, const char *expected)
{
    char text[256] = "";
    hd_record_cursor cursor;
    hd_record_open(&cursor, &w->ctas.items[0]->warps[warp]);
    while (hd_record_next(&cursor)) {
        for (uint32_t rest = cursor.step.landings; rest; rest &= rest - 1)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%d:%u ", __builtin_ctz(rest),
                     cursor.landed[__builtin_ctz(rest)]);
        if (cursor.step.landings)
            snprintf(text + strlen(text), sizeof text - strlen(text), "| ");
    }
    assert_string_equal(text, expected);
}

/* Two objects, each with its phases, and arrivals that follow copies. */
static void barriers_in_memory(void **state)
{
#define OBJECTS                                                                 \
    ".shared .align 8 .b64 bar[2];\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra MADE;\n" \
    "mbarrier.init.shared.b64 [bar], 32;\nmbarrier.init.shared.b64 [bar+8], 64;\nMADE: bar.sync 0;\n" ROLES
#define POLL(label, at, parity) \
#label ": mbarrier.test_wait.parity.shared.b64 %p2, [bar+" #at "], " #parity ";\n@!%p2 bra " #label ";\n"
    watch w = {0};
    (void)state;
    trace_body(
        OBJECTS "mbarrier.arrive.shared.b64 %rd9, [bar];\nmbarrier.arrive.shared.b64 %rd9, [bar+8];\n" POLL(
            A, 8, 0) "mbarrier.arrive.shared.b64 %rd9, [bar];\nbra DONE;\n"
                     "CONSUMER:\n" POLL(B, 0, 0) "mbarrier.arrive.shared.b64 %rd9, [bar+8];\n" POLL(C, 0, 1) "DONE:",
        1, 64, &w);
    expect_waits(&w, 0, 0, "0+0 1+0 | 0+0 1-1 | ");
    expect_waits(&w, 0, 1, "0+0 1+0 | 0+1 | 0+2 | ");
    expect_landings(&w, 1, "");
    free_watch(&w);
    w = (watch){0};
    trace_body(OBJECTS "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n"
                       "cp.async.mbarrier.arrive.noinc.shared.b64 [bar+8];\n"
                       "mbarrier.arrive.shared.b64 %rd9, [bar+8];\nbra DONE;\n"
                       "CONSUMER:\n" POLL(A, 8, 0) POLL(B, 0, 0) "DONE:",
               1, 64, &w);
    expect_waits(&w, 0, 1, "0+0 1+0 | 0+1 | ");
    expect_landings(&w, 1, "0:2 | 0:1 | ");
    free_watch(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_come_back), cmocka_unit_test(traces_are_small),
        cmocka_unit_test(copies_come_back),          cmocka_unit_test(barriers_name_the_warps_that_came),
        cmocka_unit_test(named_barriers_are_apart),  cmocka_unit_test(arrive_waits_for_nobody),
        cmocka_unit_test(reductions_and_clusters),   cmocka_unit_test(barriers_in_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
