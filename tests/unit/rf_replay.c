/* See rf_replay.h. */
#include "tests/unit/rf_replay.h"

enum { MOST_SOURCES = 64 };

/* What the test's own hooks stand before. */
static const hd_rf_ops *real_ops(const hd_rf_model *model)
{
    return hd_rf_model_find(model->info->name, strlen(model->info->name))->ops;
}

static void read_and_look(hd_rf_model *model, const hd_rf_step *step, uint32_t source, hd_rf_answer *answer)
{
    real_ops(model)->operand_read(model, step, source, answer);
    ((rf_replay_look *)(uintptr_t)model->info)->reads++;
    uint32_t with = answer->with, uses = 0;
    if (!with || step->source_count > MOST_SOURCES)
        return;
    assert_true(with <= source);
    for (uint32_t s = 0; s < step->source_count; s++) {
        hd_rf_answer other = {0};
        uint64_t kept[HD_COUNTER_COUNT];
        memcpy(kept, model->counters, sizeof kept);
        real_ops(model)->operand_read(model, step, s, &other);
        memcpy(model->counters, kept, sizeof kept);
        uses += other.with == with;
        if (s + 1 == with)
            assert_int_equal(other.with, 0);
    }
    assert_int_equal(uses, 1);
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
    hd_count_add(r->count, hd_rf_model_new(hd_rf_model_find("baseline", 8), r->code, &refusal));
    for (uint32_t m = 0; m < r->model_count; m++) {
        rf_replay_look *look = &r->looks[m];
        *look = (rf_replay_look){.info = r->models[m], .ops = *r->models[m].ops};
        look->ops.operand_read = read_and_look;
        look->ops.walk = NULL;
        look->info.ops = &look->ops;
        r->results[m].refusal = NULL;
        r->place[m] = HD_NONE;
        hd_rf_model *model = hd_rf_model_new(&look->info, r->code, &r->results[m].refusal);
        assert_true(!model == (r->results[m].refusal != NULL));
        if (!model)
            continue;
        model->fault = m ? 0 : r->fault;
        model->forgets = r->forgets;
        r->place[m] = hd_count_models(r->count);
        hd_count_add(r->count, model);
    }
    hd_rf_residency residency = r->residency;
    residency.turn = r->stretches ? 0 : 1;
    hd_count_residency(r->count, &residency);
    if (r->events)
        hd_count_batches(r->count, r->events, 1);
    r->sink = hd_count_sink(r->count);
    run->sink = &r->sink;
}

static void keep_result(const hd_rf_model *model, rf_replay_result *result)
{
    memcpy(result->counters, model->counters, sizeof result->counters);
    result->allocation = model->allocation;
    result->storage_bits = model->storage_bits;
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
        if (r->place[m] != HD_NONE)
            keep_result(hd_count_model(r->count, r->place[m]), &r->results[m]);
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
