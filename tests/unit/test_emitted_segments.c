/* Segments of instructions that the interpreter reports: the same instructions in the same order as single events, with
 * the same widths, of maximal length by the rules (hwmodel/record/event.h). */
#include "kernel.h"
#include "ptx_file.h"
#include "tests/unit/program.h"

#include "hwmodel/count/count.h"
#include "hwmodel/count/memo/memo.h"

enum { TEXT_BYTES = 1 << 19 };

typedef struct reported {
    uint32_t kind, cta, warp, frame, function, instruction, active, effective;
    uint32_t width_words, widths; /* a hash of them */
    uint32_t begins;              /* a segment */
} reported;

typedef struct listener {
    hd_rf_module *code;
    hd_sink sink;
    uint32_t columns;
    bool segments;
    HD_ARRAY(reported) list;
    uint32_t refuse; /* after so many in the list; 0: none */
    uint32_t refused;
    uint32_t length, parts; /* of the segment, by the rules */
} listener;

static uint32_t hash_of(const hd_width *widths, uint32_t words)
{
    uint32_t hash = 17;
    for (uint32_t i = 0; i < words; i++)
        hash = hash * 0x01000193 + (widths[i].written * 5u + widths[i].held);
    return hash;
}

static bool answer(listener *l)
{
    l->refused += l->refuse && l->list.count >= l->refuse;
    return !l->refused;
}

static void keep(listener *l, const hd_event *e, const hd_width *widths, uint32_t words, bool begins)
{
    hd_array_push(&l->list, (reported){e->kind, e->cta, e->warp, e->frame, e->function, e->instruction, e->active,
                                       e->effective, words, hash_of(widths, words), begins});
}

static bool is_barrier(const listener *l, uint32_t function, uint32_t instruction)
{
    return l->code->functions[function]->traits[instruction] & HD_RF_BARRIER;
}

/* Does the event begin a segment, by the rules? */
static bool begins(const listener *l, const hd_event *e)
{
    if (!l->list.count || l->length == 64)
        return true;
    const reported *last = &hd_array_last(&l->list);
    bool turns = last->active != e->active || last->instruction + 1 != e->instruction;
    return last->kind != HD_EVENT_ISSUE || is_barrier(l, last->function, last->instruction) || last->warp != e->warp ||
           last->frame != e->frame || last->function != e->function ||
           (turns && (l->parts == 8 || (l->length >= 16 && e->instruction <= last->instruction)));
}

static bool take(void *context, const hd_event *e)
{
    listener *l = context;
    bool first = e->kind == HD_EVENT_ISSUE && begins(l, e);
    assert_true(e->kind != HD_EVENT_ISSUE || !l->segments);
    const reported *last = l->list.count ? &hd_array_last(&l->list) : NULL;
    bool turns = last && (last->active != e->active || last->instruction + 1 != e->instruction);
    l->length = first ? 1 : l->length + 1;
    l->parts = first ? 1 : l->parts + turns;
    keep(l, e, e->widths, e->width_words, first);
    return answer(l);
}

static bool take_segment(void *context, const hd_segment_event *s)
{
    listener *l = context;
    const uint32_t *first = l->code->functions[s->function]->destination_first;
    uint32_t at = 0;
    assert_true(s->count && s->count <= HD_SEGMENT_LENGTH && !l->refused);
    assert_true(s->part_count && s->part_count <= HD_SEGMENT_PARTS && !s->parts[0].at);
    for (uint32_t i = 0; i < s->count; i++) {
        const hd_segment_part *part = hd_segment_part_at(s->parts, s->part_count, i);
        hd_event e = {.kind = HD_EVENT_ISSUE,
                      .cta = s->cta,
                      .warp = s->warp,
                      .frame = s->frame,
                      .function = s->function,
                      .instruction = part->first + i - part->at,
                      .active = s->masks[part->active],
                      .effective = s->masks[s->effective[i]]};
        uint32_t words = l->columns && e.effective ? first[e.instruction + 1] - first[e.instruction] : 0;
        assert_int_equal(is_barrier(l, e.function, e.instruction), s->barrier && i + 1 == s->count);
        keep(l, &e, s->widths + at, words, i == 0);
        at += words;
    }
    assert_int_equal(at, s->width_words);
    return answer(l);
}

static void open_code(kernel_run *run, hd_module *module)
{
    listener *l = run->context;
    l->code = hd_rf_module_new(module);
    l->sink = (hd_sink){take, l, l->columns, l->segments ? take_segment : NULL};
    run->sink = &l->sink;
}

static void close_code(kernel_run *run) { hd_rf_module_free(((listener *)run->context)->code); }

static hd_exec_status listen(listener *l, kernel_run run)
{
    run.opened = open_code;
    run.closing = close_code;
    run.context = l;
    run_kernel(&run);
    return run.status;
}

static void expect_equal(const listener *a, const listener *b)
{
    assert_int_equal(a->list.count, b->list.count);
    for (uint32_t i = 0; i < a->list.count; i++)
        if (memcmp(&a->list.items[i], &b->list.items[i], sizeof(reported)))
            fail_msg("event %u of %u: instruction %u of warp %u%s", i, a->list.count, a->list.items[i].instruction,
                     a->list.items[i].warp,
                     a->list.items[i].begins == b->list.items[i].begins ? "" : ", where a segment begins");
}

/* With widths and without. The number of segments that are full. */
static uint32_t compare(kernel_run run, hd_exec_status status)
{
    uint32_t full = 0;
    for (uint32_t columns = 0; columns <= HD_COLUMN_WIDTHS; columns += HD_COLUMN_WIDTHS) {
        listener single = {.columns = columns}, together = {.columns = columns, .segments = true};
        assert_int_equal(listen(&single, run), status);
        assert_int_equal(listen(&together, run), status);
        expect_equal(&single, &together);
        for (uint32_t i = 63; i < together.list.count; i++)
            full += together.list.items[i - 63].begins && !together.list.items[i].begins &&
                    together.list.items[i].kind == HD_EVENT_ISSUE;
        hd_array_free(&single.list);
        hd_array_free(&together.list);
    }
    return full;
}

static void random_programs(void **state)
{
    static program p;
    static uint32_t out[96 * RESULT_WORDS];
    char *text = malloc(TEXT_BYTES);
    uint32_t full = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        program_make(&p, seed);
        program_print(&p, text, TEXT_BYTES);
        full += compare((kernel_run){.text = text,
                                     .in = p.inputs,
                                     .in_bytes = sizeof p.inputs,
                                     .out = out,
                                     .block = p.threads,
                                     .out_bytes = sizeof *out * RESULT_WORDS * p.threads,
                                     .options.instruction_limit = 10000000,
                                     .passes = seed % 2 ? "select,regalloc" : NULL},
                        HD_EXEC_DONE);
    }
    free(text);
    assert_true(full > 100);
}

/* What the interpreter has to look at one by one: a warp that waits for another one to store, blocks that take turns,
 * races. */
static void warps_that_wait(void **state)
{
    char text[8192];
    (void)state;
    kernel_text(text, sizeof text,
                "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, 0;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra WAIT;\n"
                "LOOP:\nadd.u32 %r2, %r2, 1;\nadd.u32 %r3, %r2, 5;\nadd.u32 %r4, %r2, 5;\nsetp.lt.u32 %p2, %r2, "
                "700;\n@%p2 bra LOOP;\nbar.sync 0;\nadd.u32 %r3, %r2, 5;\n"
                "st.volatile.global.u32 [%rd0], 1;\nbra OUT;\nWAIT:\nnanosleep.u32 10;\nld.volatile.global.u32 %r5, "
                "[%rd0];\nsetp.eq.u32 %p3, %r5, 0;\n"
                "@%p3 bra WAIT;\nOUT:\nmov.u32 %r6, 1;\n");
    uint32_t in[1] = {0};
    for (uint32_t block = 20; block <= 64; block += 44)
        for (uint32_t races = 0; races < 2; races++)
            compare((kernel_run){.text = text,
                                 .in = in,
                                 .in_bytes = sizeof in,
                                 .grid = 3,
                                 .block = block,
                                 .cooperative = !races,
                                 .options.check_races = races,
                                 .options.check_uninitialized = !races},
                    HD_EXEC_DONE);
}

/* Instructions that are retried and reported once; names of values that stay where they are, which are not reported; a
 * check that still looks. */
static void what_is_not_told(void **state)
{
    const char *identities = ptx_file("emitted_segments-what_is_not_told");
    char text[8192];
    (void)state;
    compare((kernel_run){.text = identities}, HD_EXEC_DONE);
    kernel_text(
        text, sizeof text,
        "setp.lt.u32 %p1, %r0, 9;\n@%p1 bra A;\nadd.u32 %r1, %r0, 1;\nbar.warp.sync -1;\nadd.u32 %r1, %r0, 2;\n"
        "bra B;\nA:\nadd.u32 %r1, %r0, 3;\nbar.warp.sync -1;\nadd.u32 %r1, %r0, 4;\nB:\nadd.u32 %r1, %r0, 5;\n");
    compare((kernel_run){.text = text}, HD_EXEC_DONE);
    kernel_text(text, sizeof text,
                "mov.u32 %r1, 0;\nLOOP:\nsetp.gt.u32 %p2, %r0, 99;\n@%p2 exit;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, "
                "%r1, %r0;\n"
                /* one by one to an aligned barrier */
                "@%p1 bra LOOP;\nadd.u32 %r2, %r1, 1;\nbar.sync 0;\nadd.u32 %r3, %r2, 1;\n");
    compare((kernel_run){.text = text, .block = 64}, HD_EXEC_DONE);
    kernel_text(text, sizeof text, "add.u32 %r1, %r0, 1;\nsetp.eq.u32 %p1, %r9, 1;\n@%p1 bra A;\nA:\n");
    compare((kernel_run){.text = text}, HD_EXEC_DONE);
    compare((kernel_run){.text = text, .options.check_uninitialized = true}, HD_EXEC_FAULT);
}

/* The last segment is reported, too: up to the fault, which comes with its segment if nobody asks for columns; and up
 * to the limit. */
static void runs_that_end_early(void **state)
{
    char text[8192];
    uint32_t out[1] = {0};
    (void)state;
    kernel_text(text, sizeof text,
                "add.u32 %r1, %r0, 1;\nbar.sync 0;\nadd.u32 %r1, %r1, 1;\n@%p1 add.u32 %r1, %r1, 2;\nld.global.u32 "
                "%r2, [%rd0];\n");
    assert_int_equal(compare((kernel_run){.text = text, .block = 64}, HD_EXEC_FAULT), 0);
    kernel_text(text, sizeof text, "LOOP:\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%rd1], %r1;\nbra LOOP;\n");
    for (uint32_t together = 0; together < 2; together++)
        compare((kernel_run){.text = text,
                             .out = out,
                             .out_bytes = sizeof out,
                             .options.instruction_limit = 10000,
                             .cooperative = together},
                HD_EXEC_LIMIT);
}

/* Calls that return that many registers, with what comes before them in the segment. */
static void calls_with_many_results(void **state)
{
    enum { MOST = HD_MOST_RETURNED };
    char *text = malloc(TEXT_BYTES);
    (void)state;
    for (uint32_t results = MOST - 216; results <= MOST + 1; results += results == MOST ? 1 : 216) {
        uint32_t at = (uint32_t)snprintf(text, TEXT_BYTES, ".version 8.0\n.target sm_80\n.address_size 64\n.func (");
        for (uint32_t i = 0; i < results; i++)
            at += (uint32_t)snprintf(text + at, TEXT_BYTES - at, "%s.reg .b32 o%u", i ? ", " : "", i);
        at +=
            (uint32_t)snprintf(text + at, TEXT_BYTES - at,
                               ") f()\n{\nmov.u32 o1, 7;\nret;\n}\n"
                               ".entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %%r<%u>;\n.reg .b64 %%d<8>;\n",
                               results);
        for (uint32_t i = 0; i < 31; i++)
            at += (uint32_t)snprintf(text + at, TEXT_BYTES - at, "mov.u64 %%d%u, 1;\n", i % 8);
        at += (uint32_t)snprintf(text + at, TEXT_BYTES - at, "call (");
        for (uint32_t i = 0; i < results; i++)
            at += (uint32_t)snprintf(text + at, TEXT_BYTES - at, "%s%%r%u", i ? ", " : "", i);
        snprintf(text + at, TEXT_BYTES - at, "), f, ();\nret;\n}\n");
        compare((kernel_run){.text = text}, results <= MOST ? HD_EXEC_DONE : HD_EXEC_UNSUPPORTED);
    }
    free(text);
}

/* A sink that says stop at a segment, or at another event after one, gets nothing more. */
static void sinks_that_stop(void **state)
{
    char text[8192];
    (void)state;
    kernel_text(text, sizeof text,
                "add.u32 %r1, %r0, 1;\nbar.sync 0;\nadd.u32 %r1, %r1, 1;\nbar.sync 0;\nadd.u32 %r1, %r1, 3;\n");
    for (uint32_t refuse = 1; refuse < 40; refuse++) {
        listener l = {.segments = true, .refuse = refuse};
        hd_exec_status status = listen(&l, (kernel_run){.text = text, .block = 64});
        assert_int_equal(status, l.refused ? HD_EXEC_STOPPED : HD_EXEC_DONE);
        assert_true(l.refused <= 1 && l.refused == (l.list.count >= refuse));
        hd_array_free(&l.list);
    }
}

/* ---- in count mode ----------------------------------------------------------------------------------------------- */

typedef struct split { /* where a run stopped that calls every branch uniform */
    hd_rf_module *code;
    hd_count *count;
    hd_sink sink;
    hd_diagnostics quiet;
    uint32_t events;
    hd_span span;
    char message[256];
} split;

static void expect_uniform(kernel_run *run, hd_module *module)
{
    split *s = run->context;
    const char *refusal = NULL;
    s->code = hd_rf_module_new(module);
    hd_diagnostics_init(&s->quiet);
    s->count = hd_count_new(s->code, &s->quiet);
    hd_count_use_memo(s->count, &hd_memo);
    hd_count_add(s->count, hd_rf_model_new(hd_rf_model_find("baseline", 8), s->code, &refusal));
    hd_count_batches(s->count, s->events, 1);
    for (uint32_t f = 0; f < module->functions.count; f++) {
        const hd_cfg *cfg = module->functions.items[f]->has_body ? hd_function_cfg(module->functions.items[f]) : NULL;
        for (uint32_t b = 0; cfg && b < cfg->block_count; b++)
            if (cfg->blocks[b].conditional)
                hd_count_expect_uniform(s->count, f, cfg->blocks[b].end - 1);
    }
    s->sink = hd_count_sink(s->count);
    run->sink = &s->sink;
}

static void keep_split(kernel_run *run)
{
    split *s = run->context;
    hd_count_flush(s->count);
    assert_int_equal(hd_count_failed(s->count), s->quiet.error_count ? 1 : HD_NONE);
    assert_int_equal(run->status, s->quiet.error_count ? HD_EXEC_STOPPED : HD_EXEC_DONE);
    if (s->quiet.error_count) {
        assert_int_equal(s->quiet.first->kind, HD_DIAG_NOT_UNIFORM);
        s->span = s->quiet.first->span;
        snprintf(s->message, sizeof s->message, "%s", s->quiet.first->message);
    }
    hd_count_free(s->count);
    hd_rf_module_free(s->code);
    hd_diagnostics_free(&s->quiet);
}

/* The same one is found from single events and from segments. */
static void splits_of_uniform_branches_are_noticed(void **state)
{
    static program p;
    static uint32_t out[96 * RESULT_WORDS];
    char *text = malloc(TEXT_BYTES);
    uint32_t noticed = 0, whole = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 80; seed++) {
        split of[2] = {{.events = 1}, {.events = 1000}};
        program_make(&p, seed);
        program_print(&p, text, TEXT_BYTES);
        for (uint32_t k = 0; k < 2; k++) {
            kernel_run run = {.text = text,
                              .in = p.inputs,
                              .in_bytes = sizeof p.inputs,
                              .out = out,
                              .block = seed % 4 ? p.threads : 1,
                              .out_bytes = sizeof *out * RESULT_WORDS * p.threads,
                              .options.instruction_limit = 10000000,
                              .opened = expect_uniform,
                              .closing = keep_split,
                              .context = &of[k]};
            run_kernel(&run);
        }
        assert_string_equal(of[0].message, of[1].message);
        assert_int_equal(of[0].span.begin, of[1].span.begin);
        noticed += *of[0].message != 0;
        whole += !*of[0].message;
    }
    free(text);
    assert_true(noticed > 20 && whole > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs),
        cmocka_unit_test(warps_that_wait),
        cmocka_unit_test(calls_with_many_results),
        cmocka_unit_test(what_is_not_told),
        cmocka_unit_test(runs_that_end_early),
        cmocka_unit_test(sinks_that_stop),
        cmocka_unit_test(splits_of_uniform_branches_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
