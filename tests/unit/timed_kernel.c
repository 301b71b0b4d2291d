/* See timed_kernel.h. */
#include "timed_kernel.h"

#include "small_machine.h"

#include "ir/form.h"

static bool keep_block(void *context, hd_record *cta)
{
    timed *t = context;
    hd_array_push(&t->blocks, cta);
    return true;
}

static bool is_barrier(void *context, uint32_t function, uint32_t instruction)
{
    const timed *t = context;
    const hd_function *f = t->module->functions.items[function];
    return hd_record_arrives(hd_insn_form(f, &f->instructions.items[instruction]));
}

void open_timed(kernel_run *run, hd_module *module)
{
    timed *t = run->context;
    hd_recorder_user user = {.ended = keep_block, .barrier = is_barrier, .context = t};
    if (t->model)
        user.columns =
            t->model->ops->columns & (HD_COLUMN_WIDTHS | HD_COLUMN_RESULTS | HD_COLUMN_LOADED | HD_COLUMN_LANES);
    t->module = module;
    t->code = hd_rf_module_new(module);
    t->recorder = hd_recorder_new(&user);
    t->sink = hd_recorder_sink(t->recorder);
    run->sink = &t->sink;
}

/* false: it does not apply. */
static bool make_models(timed *t, hd_rf_model **models)
{
    const hd_rf_model_info *info = t->model ? t->model : hd_rf_model_find("baseline", 8);
    const char *refusal;
    for (uint32_t i = 0; i < t->sms; i++)
        if (!(models[i] = hd_rf_model_new(info, t->code, &refusal)))
            return false; /* the first one already */
    return true;
}

static uint32_t kernel_of(const timed *t)
{
    uint32_t f = 0;
    while (!t->module->functions.items[f]->is_entry)
        f++;
    return f;
}

static hd_rf_residency residency_of(timed *t, const kernel_run *run)
{
    hd_rf_residency r = {.ctas = t->ctas, .cta_warps = (run->block + 31) / 32, .most_ctas = t->ctas};
    if (t->model) {
        r.active = 4;
        r.latency = 10;
        r.bytes = 1 << 24;
        r.sm_warps = 48;
        r.file_registers = t->file_registers ? t->file_registers : 1024;
        t->registers = r.registers = t->code->functions[kernel_of(t)]->registers;
        if (t->file_percent)
            r.file_registers = r.registers * t->file_percent / 100;
    }
    return r;
}

static void time_blocks(timed *t, hd_rf_model **models, const hd_rf_residency *residency)
{
    hd_sm_code *code = hd_sm_code_new(t->code);
    hd_timing_setup setup = {.machine = &t->machine,
                             .code = code,
                             .models = models,
                             .sms = t->sms,
                             .every_cycle = t->every_cycle,
                             .listeners = t->listener,
                             .listener_count = t->listener != NULL};
    hd_timing *timing = hd_timing_new(&setup);
    hd_timing_begin(timing, residency, kernel_of(t), 0);
    for (uint32_t i = 0; i < t->blocks.count; i++)
        hd_timing_add(timing, t->blocks.items[i]);
    t->status = hd_timing_end(timing, &t->counts);
    t->wait_count = hd_timing_waits(timing, t->waits, HD_RF_WAITS);
    t->idle = hd_timing_drain(timing);
    hd_timing_free(timing);
    hd_sm_code_free(code);
}

void close_timed(kernel_run *run)
{
    timed *t = run->context;
    hd_rf_model **models = hd_calloc(t->sms, sizeof(hd_rf_model *));
    hd_rf_residency residency = residency_of(t, run);
    t->refused = !make_models(t, models);
    if (t->refused)
        for (uint32_t i = 0; i < t->blocks.count; i++)
            hd_record_release(t->blocks.items[i]);
    else
        time_blocks(t, models, &residency);
    for (uint32_t i = 0; i < t->sms && models[i]; i++) {
        hd_counters_join(t->counters, models[i]->counters);
        hd_rf_detection_join(&t->detection, &models[i]->detection);
        hd_rf_model_free(models[i]);
    }
    free(models);
    hd_array_free(&t->blocks);
    hd_recorder_free(t->recorder);
    hd_rf_module_free(t->code);
}

void time_body(timed *t, const char *body, uint32_t grid, uint32_t block)
{
    static char kernel[16384], text[20000];
    static uint32_t out[65536];
    const char *entry = strstr(kernel_text(kernel, sizeof kernel, body), ".visible");
    snprintf(text, sizeof text, "%.*s%s%s", (int)(entry - kernel), kernel, t->declarations ? t->declarations : "",
             entry);
    kernel_run run = {.text = text,
                      .out = t->memory ? t->memory : out,
                      .out_bytes = t->memory ? t->memory_bytes : sizeof out,
                      .grid = grid,
                      .block = block,
                      .passes = t->passes,
                      .options = {.lane_fault = t->lane_fault},
                      .opened = open_timed,
                      .closing = close_timed,
                      .context = t};
    t->sms = t->sms ? t->sms : 1;
    t->ctas = t->ctas ? t->ctas : 8;
    if (!t->machine.known)
        t->machine = small_machine();
    run_kernel(&run);
    assert_int_equal(run.status, HD_EXEC_DONE);
    if (t->may_lock && t->status == HD_TIMING_LOCKED)
        return;
    assert_int_equal(t->status, HD_TIMING_DONE);
    assert_true(t->idle);
    t->warp_instructions = run.statistics.warp_instructions;
    assert_int_equal(t->counts.sm.warp_instructions, run.statistics.warp_instructions);
    assert_int_equal(t->counts.sm.thread_instructions, run.statistics.thread_instructions);
}
