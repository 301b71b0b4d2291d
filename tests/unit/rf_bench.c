/* See rf_bench.h. */
#include "tests/unit/rf_bench.h"
#include "tests/unit/ptx_file.h"
#include "tests/unit/unit.h"

#include "passes/regalloc/regalloc.h"
#include "passes/manager/manager.h"
#include "hwmodel/count/memo/memo.h"

void rf_bench_open(rf_bench *b, const char *text, size_t length)
{
    hd_diagnostics_init(&b->diagnostics);
    b->module = rf_parse(&b->source, text, length, &b->diagnostics);
    b->kernel = hd_module_find_function(b->module, "k");
    assert_non_null(b->kernel);
}

void rf_bench_open_file(rf_bench *b, const char *name)
{
    const char *text = ptx_file(name);
    rf_bench_open(b, text, strlen(text));
}

void rf_bench_open_body(rf_bench *b, const char *body)
{
    hd_writer text;
    hd_writer_to_memory(&text);
    hd_write_format(&text,
                    ".version 8.0\n.target sm_80\n.address_size 32\n.global .u32 out;\n.entry k(.param .u32 "
                    "n)\n{\n.reg .b32 %%r<32>;\n"
                    ".reg .b64 %%rd<16>;\n.reg .b16 %%h<4>;\n.reg .f32 %%f<8>;\n.reg .pred %%p<4>;\n%sret;\n}\n",
                    body);
    rf_bench_open(b, text.buffer.items, text.buffer.count);
    hd_writer_free(&text);
}

void rf_bench_open_random(rf_bench *b, uint64_t seed)
{
    hd_writer text;
    hd_writer_to_memory(&text);
    rf_random_kernel(&text, seed / 2);
    rf_bench_open(b, text.buffer.items, text.buffer.count);
    hd_writer_free(&text);
    if (seed % 2)
        rf_bench_allocate(b, seed % 3 ? 0 : 10);
}

void rf_bench_close(rf_bench *b)
{
    hd_module_free(b->module);
    hd_diagnostics_free(&b->diagnostics);
}

void rf_bench_allocate(rf_bench *b, uint32_t most)
{
    hd_pass_context context;
    hd_regalloc_options options = {.max = most};
    hd_regalloc_result result;
    hd_pass_context_init(&context, b->kernel, &b->diagnostics);
    assert_true(hd_regalloc_run(&context, &options, &result));
    hd_pass_context_free(&context);
}

void rf_bench_pass(rf_bench *b, const char *passes)
{
    hd_pipeline *pipeline = hd_pipeline_parse(passes, &b->diagnostics);
    assert_non_null(pipeline);
    hd_pipeline_options options = {.validate = true, .threads = 1};
    if (!hd_pipeline_run(pipeline, b->module, &options, &b->diagnostics) || b->diagnostics.error_count)
        fail_msg("%s: %s", passes, b->diagnostics.last ? b->diagnostics.last->message : "fails");
    hd_pipeline_free(pipeline);
}

bool rf_bench_check(rf_bench *b, hd_check_run *check)
{
    hd_diagnostics quiet;
    uint64_t count = 0;
    hd_diagnostics_init(&quiet);
    bool good = check(b->kernel, &quiet, &count);
    assert_int_equal(good, quiet.error_count == 0);
    hd_diagnostics_free(&quiet);
    return good;
}

/* ---- replays ----------------------------------------------------------------------------------------------------- */

typedef HD_ARRAY(hd_event) warp_events;
typedef struct relay {
    hd_sink count;
    const hd_rf_code *code;
    uint32_t function, cta_warps;
    bool lanes;
    warp_events kept[RF_BENCH_CTA_WARPS]; /* of the CTA in progress */
} relay;

static bool tell(relay *r, hd_event_kind kind, uint32_t cta)
{
    hd_event event = {.kind = (uint8_t)kind, .cta = cta, .warp = cta * r->cta_warps, .function = r->function};
    return r->count.take(r->count.context, &event);
}

/* What a lane of the warp does is what another one did: one of 32, 8 or 2 of them. */
static uint32_t told_lanes(uint32_t warp, uint32_t mask)
{
    uint32_t told = 0, kinds = 32 >> warp % 3 * 2;
    for (uint32_t l = 0; l < 32; l++) {
        uint32_t from = (l * (2 * warp + 1) + 5 * warp) % 32, kind = from < kinds ? from : from * (warp + 3) % kinds;
        told |= (mask >> kind * (32 / kinds) & 1) << l;
    }
    return told;
}

static bool is_barrier(const relay *r, const hd_event *event)
{
    return event->kind == HD_EVENT_ISSUE && r->code->traits[event->instruction] & HD_RF_BARRIER;
}

/* What a warp does up to its next barrier, from *at on; *arrived: it is at one. */
static bool go_to_barrier(relay *r, const warp_events *events, uint32_t *at, bool *arrived)
{
    *arrived = false;
    while (*at < events->count && !*arrived) {
        const hd_event *event = &events->items[(*at)++];
        if (!r->count.take(r->count.context, event))
            return false;
        *arrived = is_barrier(r, event) && event->effective;
    }
    return true;
}

/* As the interpreter reports barriers, to a count that asks for it. */
static void tell_barrier(relay *r, hd_event_kind kind, uint32_t cta, uint32_t warp)
{
    hd_event event = {.kind = (uint8_t)kind, .reported = true, .cta = cta, .warp = cta * r->cta_warps + warp};
    if (r->count.columns & HD_COLUMN_BARRIERS)
        r->count.take(r->count.context, &event);
}

/* The warps of a CTA, each of which goes on when all others that have not ended are at its barrier. */
static bool run_cta(relay *r, uint32_t cta)
{
    uint32_t at[RF_BENCH_CTA_WARPS] = {0};
    bool arrived[RF_BENCH_CTA_WARPS], good = tell(r, HD_EVENT_CTA_START, cta), more = true;
    while (more && good) {
        more = false;
        for (uint32_t w = 0; w < r->cta_warps && good; w++) {
            good = go_to_barrier(r, &r->kept[w], &at[w], &arrived[w]);
            if (arrived[w])
                tell_barrier(r, HD_EVENT_ARRIVE, cta, w);
            more = more || at[w] < r->kept[w].count;
        }
        if (more && good)
            tell_barrier(r, HD_EVENT_OPEN, cta, 0);
        for (uint32_t w = 0; w < r->cta_warps && more && good; w++)
            if (arrived[w])
                tell_barrier(r, HD_EVENT_PASS, cta, w);
    }
    for (uint32_t w = 0; w < r->cta_warps; w++)
        hd_array_clear(&r->kept[w]);
    return good && tell(r, HD_EVENT_CTA_END, cta);
}

/* Registers need 4 bytes. */
static bool relay_take(void *context, const hd_event *event)
{
    static const hd_width widths[4] = {{4, 4}, {4, 4}, {4, 4}, {4, 4}};
    relay *r = context;
    uint32_t in_cta = event->warp % r->cta_warps;
    hd_event told = *event;
    told.cta = event->warp / r->cta_warps;
    if (r->lanes) {
        told.active = told_lanes(event->warp, event->active);
        told.effective = told_lanes(event->warp, event->effective);
    }
    if (event->kind == HD_EVENT_ISSUE && told.effective && r->count.columns & HD_COLUMN_WIDTHS) {
        told.width_words =
            r->code->destination_first[event->instruction + 1] - r->code->destination_first[event->instruction];
        assert_true(told.width_words <= sizeof widths / sizeof *widths);
        told.widths = told.width_words ? widths : NULL;
    }
    if (event->kind != HD_EVENT_ISSUE || told.active)
        hd_array_push(&r->kept[in_cta], told);
    return event->kind != HD_EVENT_WARP_END || in_cta + 1 < r->cta_warps || run_cta(r, told.cta);
}

rf_bench_result rf_bench_replay(rf_bench *b, const rf_bench_run *run)
{
    const char *refusal = NULL;
    hd_diagnostics quiet;
    hd_rf_residency residency = run->residency;
    hd_diagnostics_init(&quiet);
    hd_rf_module *code = hd_rf_module_new(b->module);
    hd_rf_model *model = hd_rf_model_new(run->model, code, &refusal);
    if (!model)
        fail_msg("%s", refusal);
    model->fault = run->fault;
    if (!run->segments && !model->turn)
        model->turn = 1;
    model->memo.forgets = run->forgets;
    hd_count *count = hd_count_new(code, &quiet);
    hd_count_use_memo(count, &hd_memo);
    if (run->beside)
        hd_count_add(count, hd_rf_model_new(run->beside, code, &refusal));
    hd_count_add(count, model);
    if (!residency.ctas)
        residency = (hd_rf_residency){.ctas = 4, .active = 2, .latency = 10, .bytes = 1 << 20};
    if (run->events)
        hd_count_batches(count, run->events, run->threads);
    hd_count_residency(count, &residency);
    relay r = {.count = hd_count_sink(count), .lanes = run->lanes, .cta_warps = run->cta_warps ? run->cta_warps : 1};
    while (b->module->functions.items[r.function] != b->kernel)
        r.function++;
    r.code = code->functions[r.function];
    hd_sink sink = {relay_take, &r, 0, NULL};
    rf_bench_result result = {0};
    uint32_t warps = run->warps ? run->warps : 4;
    assert_true(r.cta_warps <= RF_BENCH_CTA_WARPS && warps % r.cta_warps == 0);
    result.proved = tell(&r, HD_EVENT_LAUNCH, 0) &&
                    rf_walk_sides(b->kernel, warps, run->limit ? run->limit : 300, run->order, &sink) &&
                    tell(&r, HD_EVENT_LAUNCH_END, 0);
    assert_int_equal(result.proved, hd_count_failed(count) == HD_NONE && !quiet.error_count);
    memcpy(result.counters, model->counters, sizeof result.counters);
    result.allocation = model->allocation;
    result.storage_bits = model->storage_bits;
    for (uint32_t w = 0; w < RF_BENCH_CTA_WARPS; w++)
        hd_array_free(&r.kept[w]);
    hd_count_free(count);
    hd_rf_module_free(code);
    hd_diagnostics_free(&quiet);
    return result;
}
