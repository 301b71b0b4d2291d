/* Timings of several techniques, of one functional run: see timer.h. */
#include "hwmodel/sm/timer.h"

#include "base/broadcast.h"

typedef enum item_kind { BEGIN, BLOCK, END } item_kind;

typedef struct item { /* what all timings read, in order */
    uint8_t kind;
    uint32_t function, launch;
    hd_rf_residency residency;
    hd_record *block;
} item;

typedef HD_ARRAY(hd_timer_result) results;

typedef struct timed {
    hd_rf_model **models; /* by SM */
    hd_timing *timing;
    HD_ARRAY(hd_sm_listener) listeners;
    results results; /* by launch */
} timed;

struct hd_timer {
    hd_sm_code *code;
    const hd_machine *machine;
    uint32_t sms, sample;
    const atomic_bool *cancel; /* NULL: none */
    hd_meter *meter;
    HD_ARRAY(timed) techniques;
    hd_recorder *recorder;
    hd_broadcast *queue;
    item items[HD_TIMER_LAG + 1]; /* by slot of the queue */
};

hd_timer *hd_timer_new(const hd_rf_module *code, const hd_machine *machine, uint32_t sms)
{
    hd_timer *t = hd_calloc(1, sizeof *t);
    t->code = hd_sm_code_new(code);
    t->machine = machine;
    t->sms = sms;
    return t;
}

static void free_models(hd_rf_model **models, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        hd_rf_model_free(models[i]);
    free(models);
}

void hd_timer_free(hd_timer *t)
{
    if (!t)
        return;
    for (uint32_t k = 0; k < t->techniques.count; k++) {
        hd_timing_free(t->techniques.items[k].timing);
        free_models(t->techniques.items[k].models, t->sms);
        hd_array_free(&t->techniques.items[k].listeners);
        hd_array_free(&t->techniques.items[k].results);
    }
    hd_array_free(&t->techniques);
    hd_recorder_free(t->recorder);
    if (t->queue)
        hd_broadcast_free(t->queue);
    hd_sm_code_free(t->code);
    free(t);
}

bool hd_timer_add(hd_timer *t, const hd_rf_model_info *info, const char **refusal)
{
    hd_rf_model **models = hd_calloc(t->sms, sizeof(hd_rf_model *));
    for (uint32_t i = 0; i < t->sms; i++) {
        models[i] = hd_rf_model_new(info, t->code->code, refusal);
        if (!models[i]) {
            free_models(models, i);
            return false;
        }
    }
    hd_array_push(&t->techniques, (timed){.models = models});
    return true;
}

uint32_t hd_timer_techniques(const hd_timer *t) { return t->techniques.count; }

/* ---- the readers ------------------------------------------------------------------------------------------------- */

static void end_launch(const hd_timer *t, timed *of)
{
    hd_timer_result *result = hd_array_extend(&of->results, 1);
    memset(result, 0, sizeof *result);
    uint64_t begin = 0; /* on the clock of the SMs, which goes on from launch to launch */
    for (uint32_t i = 0; i + 1 < of->results.count; i++)
        begin += of->results.items[i].counts.cycles;
    result->status = hd_timing_end(of->timing, &result->counts);
    result->early = hd_timing_first_early(of->timing);
    for (uint32_t i = 0; i < t->sms; i++) {
        hd_rf_model *model = of->models[i];
        if (model->info->ops->finalize)
            model->info->ops->finalize(model);
        hd_counters_join(result->counters, model->counters);
        hd_rf_detection_join(&result->detection, &model->detection);
        memset(model->counters, 0, sizeof model->counters);
        memset(&model->detection, 0, sizeof model->detection);
        result->storage_bits = model->storage_bits;
        result->sizes = (hd_rf_sizes){model->table_bytes, model->file_reduction_percent};
    }
    hd_timing_extrapolate(of->timing, result->counters);
    result->detection.first.at -= result->detection.differences ? begin : 0;
}

/* Rejects nothing: a timing that is WRONG or LOCKED releases the blocks that it is given. */
static bool read_item(void *timer, uint32_t reader, uint32_t slot)
{
    hd_timer *t = timer;
    const item *i = &t->items[slot];
    timed *of = &t->techniques.items[reader];
    switch ((item_kind)i->kind) {
    case BEGIN: hd_timing_begin(of->timing, &i->residency, i->function, i->launch); break;
    case BLOCK: hd_timing_add(of->timing, i->block); break;
    case END: end_launch(t, of); break;
    }
    return true;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static bool publish(hd_timer *t, const item *what)
{
    t->items[hd_broadcast_slot(t->queue)] = *what;
    return hd_broadcast_publish(t->queue, HD_TIMER_LAG);
}

static bool take_block(void *timer, hd_record *block)
{
    hd_timer *t = timer;
    hd_record_share(block, t->techniques.count - 1);
    return publish(t, &(item){.kind = BLOCK, .block = block});
}

static bool is_barrier(void *timer, uint32_t function, uint32_t instruction)
{
    const hd_timer *t = timer;
    return t->code->functions[function].ops[instruction].traits & HD_SM_BARRIER;
}

void hd_timer_listen(hd_timer *t, uint32_t technique, const hd_sm_listener *listener)
{
    hd_array_push(&t->techniques.items[technique].listeners, *listener);
}

void hd_timer_sample(hd_timer *t, uint32_t waves) { t->sample = waves; }

void hd_timer_cancel(hd_timer *t, const atomic_bool *cancel) { t->cancel = cancel; }

void hd_timer_show(hd_timer *t, hd_meter *meter) { t->meter = meter; }

void hd_timer_open(hd_timer *t, const hd_memory *spaces, uint32_t threads, hd_thread_budget *budget)
{
    uint32_t columns = 0;
    assert(t->techniques.count);
    for (uint32_t k = 0; k < t->techniques.count; k++) {
        timed *of = &t->techniques.items[k];
        hd_timing_setup setup = {.machine = t->machine,
                                 .code = t->code,
                                 .spaces = spaces,
                                 .models = of->models,
                                 .sms = t->sms,
                                 .sample = t->sample,
                                 .cancel = t->cancel,
                                 .listeners = of->listeners.items,
                                 .listener_count = of->listeners.count};
        of->timing = hd_timing_new(&setup);
        hd_timing_show(of->timing, t->meter);
        columns |= of->models[0]->info->ops->columns &
                   (HD_COLUMN_WIDTHS | HD_COLUMN_RESULTS | HD_COLUMN_LOADED | HD_COLUMN_LANES);
    }
    hd_recorder_user user = {.ended = take_block, .barrier = is_barrier, .context = t, .columns = columns};
    t->recorder = hd_recorder_new(&user);
    t->queue = hd_broadcast_new(t->techniques.count, HD_TIMER_LAG, read_item, t);
    hd_broadcast_threads(t->queue, threads, budget);
}

hd_sink hd_timer_sink(hd_timer *t) { return hd_recorder_sink(t->recorder); }

void hd_timer_begin(hd_timer *t, const hd_rf_residency *residency, uint32_t function, uint32_t launch)
{
    publish(t, &(item){.kind = BEGIN, .residency = *residency, .function = function, .launch = launch});
}

void hd_timer_end(hd_timer *t) { publish(t, &(item){.kind = END}); }

void hd_timer_finish(hd_timer *t) { hd_broadcast_finish(t->queue); }

uint32_t hd_timer_launches(const hd_timer *t) { return t->techniques.items[0].results.count; }

const hd_timer_result *hd_timer_result_of(const hd_timer *t, uint32_t launch, uint32_t technique)
{
    return &t->techniques.items[technique].results.items[launch];
}

const hd_rf_failure *hd_timer_failure(const hd_timer *t, uint32_t technique)
{
    return hd_timing_failure(t->techniques.items[technique].timing);
}

uint32_t hd_timer_waits(const hd_timer *t, uint32_t technique, hd_rf_wait *waits, uint32_t most)
{
    return hd_timing_waits(t->techniques.items[technique].timing, waits, most);
}
