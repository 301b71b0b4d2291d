/* See rf_replay.h. */
#include "tests/unit/rf_replay.h"
#include "hwmodel/count/memo/memo.h"

/* What the test's own hooks stand before. */
static const hd_rf_ops *real_ops(const hd_rf_model *model)
{
    return hd_rf_model_find(model->info->name, strlen(model->info->name))->ops;
}

/* An operand that is delivered without an access of its own comes with another one's, each with a different one. */
static void look_at_operands(const hd_rf_step *step, const hd_access_sink *sink)
{
    uint32_t alone = 0;
    for (uint32_t s = 0; s < step->source_count; s++) {
        bool own = !sink->delivered.items[s];
        for (uint32_t a = 0; a < sink->accesses.count; a++)
            own = own || (sink->accesses.items[a].kind == HD_RF_READ &&
                          sink->accesses.items[a].operand == hd_access_source(s));
        alone += !own;
    }
    assert_true(!step->effective || 2 * alone <= step->source_count + 2 * sink->left_out_operands);
}

static void execute_and_look(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    uint32_t first = sink->accesses.count;
    real_ops(model)->execute(model, step, sink);
    ((rf_replay_look *)(uintptr_t)model->info)->reads += step->effective ? step->source_count : 0;
    for (uint32_t a = first; a < sink->accesses.count; a++)
        assert_true(sink->accesses.items[a].after <= a);
    if (!sink->failure.wrong)
        look_at_operands(step, sink);
}

static void open_models(kernel_run *run, hd_module *module)
{
    rf_replay *r = run->context;
    const char *refusal = NULL;
    if (r->annotate)
        r->annotate(r, module);
    r->code = hd_rf_module_new(module);
    hd_diagnostics_init(&r->quiet);
    r->count = hd_count_new(r->code, &r->quiet);
    hd_count_use_memo(r->count, &hd_memo);
    hd_count_add(r->count, hd_rf_model_new(hd_rf_model_find("baseline", 8), r->code, &refusal));
    for (uint32_t m = 0; m < r->model_count; m++) {
        rf_replay_look *look = &r->looks[m];
        *look = (rf_replay_look){.info = r->models[m], .ops = *r->models[m].ops};
        look->ops.execute = execute_and_look;
        look->info.ops = &look->ops;
        r->results[m].refusal = NULL;
        r->index[m] = HD_NONE;
        hd_rf_model *model = hd_rf_model_new(&look->info, r->code, &r->results[m].refusal);
        assert_true(!model == (r->results[m].refusal != NULL));
        if (!model)
            continue;
        model->fault = m ? 0 : r->fault;
        if (!r->segments && !model->turn)
            model->turn = 1;
        model->memo.forgets = r->forgets;
        r->index[m] = hd_count_models(r->count);
        hd_count_add(r->count, model);
    }
    hd_count_residency(r->count, &r->residency);
    if (r->events)
        hd_count_batches(r->count, r->events, 1);
    if (run->options.lane_fault)
        hd_count_faulty_lane(r->count);
    r->sink = hd_count_sink(r->count);
    run->sink = &r->sink;
}

static void keep_result(const hd_rf_model *model, rf_replay_result *result)
{
    memcpy(result->counters, model->counters, sizeof result->counters);
    result->allocation = model->allocation;
    result->storage_bits = model->storage_bits;
    result->detection = model->detection;
}

static void close_models(kernel_run *run)
{
    rf_replay *r = run->context;
    hd_count_flush(r->count);
    r->failed = hd_count_failed(r->count);
    r->proved = r->failed == HD_NONE;
    if (r->proved && run->status != HD_EXEC_DONE)
        fail_msg("the kernel did not run");
    keep_result(hd_count_model(r->count, 0), &r->baseline);
    for (uint32_t m = 0; m < r->model_count; m++)
        if (r->index[m] != HD_NONE)
            keep_result(hd_count_model(r->count, r->index[m]), &r->results[m]);
    hd_count_free(r->count);
    hd_rf_module_free(r->code);
    hd_diagnostics_free(&r->quiet);
}

void rf_replay_run(rf_replay *r)
{
    assert_true(r->model_count <= RF_REPLAY_MODELS);
    r->run.opened = open_models;
    r->run.closing = close_models;
    r->run.context = r;
    run_kernel(&r->run);
    if (r->run.status == HD_EXEC_UNSUPPORTED)
        fail_msg("%s", r->run.message);
}
