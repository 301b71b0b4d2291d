/* See watch.h. The operations of a model have no context of their own, so the watch in use is the file's: a process
 * watches one model at a time. */
#include "driver/plugin/watch.h"

#include <pthread.h>
#include <stdio.h>

struct hd_model_watch {
    const hd_rf_ops *inner;
    hd_rf_ops outer;
    char name[80];
    uint32_t fault;
    HD_ARRAY(hd_model_watch_run) runs;
};

/* That of the latest call of hd_model_watch_clear. */
static hd_model_watch *used;
/* SMs may be simulated by other threads. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static hd_model_watch_run *run_of(const hd_rf_model *model)
{
    for (uint32_t r = used->runs.count; r-- > 0;)
        if (used->runs.items[r].model == model)
            return &used->runs.items[r];
    return NULL;
}

/* ---- what was moved where ---------------------------------------------------------------------------------------- */

static uint32_t *moved_at(hd_model_watch_run *run, const hd_rf_warp *warp, uint32_t index, uint32_t structure)
{
    while (run->moved.count <= warp->slot)
        hd_array_push(&run->moved, (hd_u32_array){0});
    hd_u32_array *words = &run->moved.items[warp->slot];
    while (words->count < (index + 1) * HD_STRUCTURE_COUNT)
        hd_array_push(words, 0);
    return &words->items[index * HD_STRUCTURE_COUNT + structure];
}

/* The registers from the index on are no more. */
static void forget_from(hd_model_watch_run *run, const hd_rf_warp *warp, uint32_t index)
{
    if (warp->slot >= run->moved.count)
        return;
    hd_u32_array *words = &run->moved.items[warp->slot];
    for (uint32_t i = index * HD_STRUCTURE_COUNT; i < words->count; i++)
        words->items[i] = 0;
}

/* The source that the access is about: its own operand, or that of the read that it follows. HD_NONE: nobody says. */
static uint32_t source_of(const hd_access_sink *sink, const hd_rf_access *a)
{
    if (!a->operand && a->after && a->after <= sink->accesses.count)
        a = &sink->accesses.items[a->after - 1];
    return a->operand && !(a->operand & HD_ACCESS_RESULT) ? a->operand - 1u : HD_NONE;
}

static void look_at_read(hd_model_watch_run *run, const hd_rf_step *step, const hd_rf_access *a)
{
    uint32_t word = step->sources[a->operand - 1];
    uint32_t wrong = a->lanes & ~step->effective, idle = wrong;
    if (!wrong && a->structure != HD_STRUCTURE_FILE && a->structure != HD_STRUCTURE_MEMORY &&
        !run->untold[a->structure])
        wrong = a->lanes & ~*moved_at(run, step->warp, hd_rf_index(step, word), a->structure);
    if (wrong && !run->unmoved.lanes)
        run->unmoved = (hd_model_watch_unmoved){.lanes = wrong,
                                                .warp = step->warp->identity.warp,
                                                .function = step->function,
                                                .instruction = step->instruction,
                                                .word = word,
                                                .structure = a->structure,
                                                .idle = idle != 0};
}

static void look_at_fill(hd_model_watch_run *run, const hd_rf_step *step, const hd_access_sink *sink,
                         const hd_rf_access *a)
{
    uint32_t source = source_of(sink, a), lanes = a->lanes;
    if (a->after && a->after <= sink->accesses.count && sink->accesses.items[a->after - 1].kind == HD_RF_READ)
        lanes &= sink->accesses.items[a->after - 1].lanes;
    if (source < step->source_count)
        *moved_at(run, step->warp, hd_rf_index(step, step->sources[source]), a->structure) |= lanes;
    else
        run->untold[a->structure] = true;
}

/* Reads come before the writes of the results, which make what was moved before old. */
static void look_at_lanes(hd_model_watch_run *run, const hd_rf_step *step, const hd_access_sink *sink)
{
    for (uint32_t i = 0; i < sink->accesses.count; i++) {
        const hd_rf_access *a = &sink->accesses.items[i];
        if (a->kind == HD_RF_READ && a->operand && a->operand <= step->source_count)
            look_at_read(run, step, a);
        else if (a->kind == HD_RF_FILL)
            look_at_fill(run, step, sink, a);
    }
    for (uint32_t d = 0; d < step->destination_count; d++)
        for (uint32_t s = 0; s < HD_STRUCTURE_COUNT; s++)
            *moved_at(run, step->warp, hd_rf_index(step, step->destinations[d].word), s) &= ~step->effective;
    for (uint32_t i = 0; i < sink->accesses.count; i++) {
        const hd_rf_access *a = &sink->accesses.items[i];
        uint32_t result = (a->operand & ~HD_ACCESS_RESULT) - 1u;
        if (a->kind == HD_RF_WRITE && a->operand & HD_ACCESS_RESULT && result < step->destination_count)
            *moved_at(run, step->warp, hd_rf_index(step, step->destinations[result].word), a->structure) |=
                a->lanes & step->effective;
    }
}

/* ---- the operations ---------------------------------------------------------------------------------------------- */

static hd_rf_model *watch_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    hd_rf_model *model = used->inner->create(code, options, refusal);
    pthread_mutex_lock(&lock);
    if (model) {
        model->fault = used->fault;
        for (uint32_t r = 0; r < used->runs.count; r++) /* memory of one that is no more */
            if (used->runs.items[r].model == model)
                used->runs.items[r].model = NULL;
        hd_array_push(&used->runs, ((hd_model_watch_run){.model = model}));
    }
    pthread_mutex_unlock(&lock);
    return model;
}

static void watch_launch(hd_rf_model *model, const hd_rf_launch *launch)
{
    if (used->inner->launch)
        used->inner->launch(model, launch);
    pthread_mutex_lock(&lock);
    run_of(model)->storage_bits = model->storage_bits;
    pthread_mutex_unlock(&lock);
}

static void watch_warp_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    pthread_mutex_lock(&lock);
    forget_from(run_of(model), warp, 0);
    pthread_mutex_unlock(&lock);
    if (used->inner->warp_begin)
        used->inner->warp_begin(model, warp);
}

static void watch_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    pthread_mutex_lock(&lock);
    forget_from(run_of(model), warp, warp->identity.base);
    pthread_mutex_unlock(&lock);
    if (used->inner->frame_begin)
        used->inner->frame_begin(model, warp);
}

static void watch_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    used->inner->execute(model, step, sink);
    pthread_mutex_lock(&lock);
    hd_model_watch_run *run = run_of(model);
    hd_array_push(&run->steps, ((hd_model_watch_step){.warp = step->warp->identity.warp,
                                                      .function = step->function,
                                                      .instruction = step->instruction,
                                                      .first = run->accesses.count,
                                                      .count = sink->accesses.count}));
    for (uint32_t a = 0; a < sink->accesses.count; a++)
        hd_array_push(&run->accesses, sink->accesses.items[a]);
    look_at_lanes(run, step, sink);
    pthread_mutex_unlock(&lock);
}

/* ---- the watch --------------------------------------------------------------------------------------------------- */

hd_model_watch *hd_model_watch_new(const hd_rf_model_info *row)
{
    hd_model_watch *w = hd_calloc(1, sizeof *w);
    hd_rf_model_info own = *row;
    w->inner = row->ops;
    w->outer = *row->ops;
    w->outer.create = watch_create;
    w->outer.launch = watch_launch;
    w->outer.warp_begin = watch_warp_begin;
    w->outer.frame_begin = watch_frame_begin;
    w->outer.execute = watch_execute;
    w->outer.memo = NULL; /* each instruction is executed */
    snprintf(w->name, sizeof w->name, "watched-%s", row->name);
    own.name = w->name;
    own.ops = &w->outer;
    if (hd_rf_model_add(&own, NULL))
        return w;
    free(w);
    return NULL;
}

const char *hd_model_watch_name(const hd_model_watch *w) { return w->name; }

void hd_model_watch_clear(hd_model_watch *w)
{
    for (uint32_t r = 0; r < w->runs.count; r++) {
        hd_model_watch_run *run = &w->runs.items[r];
        hd_array_free(&run->steps);
        hd_array_free(&run->accesses);
        for (uint32_t s = 0; s < run->moved.count; s++)
            hd_array_free(&run->moved.items[s]);
        hd_array_free(&run->moved);
    }
    hd_array_clear(&w->runs);
    used = w;
}

void hd_model_watch_fault(hd_model_watch *w, uint32_t fault) { w->fault = fault; }
uint32_t hd_model_watch_runs(const hd_model_watch *w) { return w->runs.count; }
const hd_model_watch_run *hd_model_watch_run_at(const hd_model_watch *w, uint32_t run) { return &w->runs.items[run]; }
