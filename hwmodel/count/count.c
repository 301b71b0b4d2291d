/* Count mode: see count.h. */
#include "hwmodel/count/count.h"
#include "base/broadcast.h"
#include "hwmodel/count/batch.h"
#include "hwmodel/count/groups.h"
#include "hwmodel/count/recording.h"
#include "hwmodel/count/report.h"

enum {
    HD_COUNT_BEHIND = 7,             /* batches that groups of models may be behind the run */
    HD_COUNT_ENDED_BYTES = 16 << 20, /* of streams that one batch may hand on; with more, nothing stays behind */
};

struct hd_count {
    const hd_rf_module *code;
    hd_diagnostics *diagnostics;
    HD_ARRAY(hd_rf_model *) models;
    hd_rf_groups groups; /* of models; known from the first event on */
    bool open;           /* they are */
    hd_rf_residency residency;
    uint64_t *turn_bytes;      /* by group: most that streams of resident CTAs took */
    hd_rf_recording recording; /* for turns */
    hd_arena arena;
    hd_rf_uniform *uniform;
    uint32_t failed;
    bool stopped; /* something was not proved */
    const hd_runner_memo *memo;
    uint32_t batch_most, threads;
    hd_thread_budget *budget;                 /* NULL: all `threads` are for this count */
    uint64_t events;                          /* so far */
    hd_rf_batch batches[HD_COUNT_BEHIND + 1]; /* by slot of the queue, whose readers are the groups */
    hd_rf_batch *batch;                       /* the one that is made */
    hd_broadcast *broadcast;
    uint64_t passed, told; /* batches published; of them, those whose launches were told to be over */
    /* NULL: counters of all launches are together */
    void (*over)(void *context, bool proved, const hd_count_result *results);
    void *over_context;
    hd_count_result *results;   /* by slot and model: of the launch that ends in it */
    hd_rf_stretches *stretches; /* NULL where all see events */
    uint64_t open_event;        /* of the stretch that is open: see hd_rf_dated */
    /* by model: event that was not proved, or UINT64_MAX; of one that sees turns, the end of the batch that brought
     * them */
    uint64_t *wrong_at;
};

hd_count *hd_count_new(const hd_rf_module *code, hd_diagnostics *diagnostics)
{
    hd_count *c = hd_calloc(1, sizeof *c);
    c->code = code;
    c->diagnostics = diagnostics;
    c->failed = HD_NONE;
    c->batch_most = c->threads = 1;
    c->residency = (hd_rf_residency){
        .ctas = 1, .active = HD_COUNT_ACTIVE_WARPS, .latency = HD_COUNT_LATENCY, .bytes = HD_COUNT_STREAM_BYTES};
    c->uniform = hd_rf_uniform_new(code);
    return c;
}

void hd_count_free(hd_count *c)
{
    if (!c)
        return;
    if (c->open)
        hd_broadcast_finish(c->broadcast);
    hd_broadcast_free(c->broadcast);
    free(c->results);
    for (uint32_t i = 0; i <= HD_COUNT_BEHIND; i++)
        hd_rf_batch_free(&c->batches[i]);
    hd_rf_groups_free(&c->groups);
    for (uint32_t m = 0; m < c->models.count; m++)
        hd_rf_model_free(c->models.items[m]);
    hd_rf_recording_free(&c->recording);
    hd_array_free(&c->models);
    hd_rf_uniform_free(c->uniform);
    hd_rf_stretches_free(c->stretches);
    hd_arena_free(&c->arena);
    free(c);
}

void hd_count_add(hd_count *c, hd_rf_model *model) { hd_array_push(&c->models, model); }

uint32_t hd_count_models(const hd_count *c) { return c->models.count; }

hd_rf_model *hd_count_model(const hd_count *c, uint32_t i) { return c->models.items[i]; }

void hd_count_batches(hd_count *c, uint32_t events, uint32_t threads)
{
    c->batch_most = events;
    c->threads = threads;
}

void hd_count_use_memo(hd_count *c, const hd_runner_memo *memo) { c->memo = memo; }

void hd_count_share(hd_count *c, hd_thread_budget *budget) { c->budget = budget; }

void hd_count_residency(hd_count *c, const hd_rf_residency *residency) { c->residency = *residency; }

void hd_count_launches(hd_count *c, void (*over)(void *context, bool proved, const hd_count_result *results),
                       void *context)
{
    c->over = over;
    c->over_context = context;
}

uint64_t hd_count_stream_bytes(const hd_count *c)
{
    uint64_t most = 0;
    for (uint32_t g = 0; g < c->groups.items.count; g++)
        most = c->turn_bytes[g] > most ? c->turn_bytes[g] : most;
    return most;
}

void hd_count_expect_uniform(hd_count *c, uint32_t function, uint32_t instruction)
{
    hd_rf_uniform_expect(c->uniform, function, instruction);
}

uint32_t hd_count_failed(const hd_count *c) { return c->failed; }

hd_sink hd_count_sink(hd_count *c)
{
    hd_sink sink = {
        .take = hd_count_take, .context = c, .take_stretch = c->batch_most > 1 ? hd_count_take_stretch : NULL};
    for (uint32_t m = 0; m < c->models.count; m++)
        sink.columns |= c->models.items[m]->info->ops->coupled ? 0 : c->models.items[m]->info->ops->columns;
    return sink;
}

/* ---- what goes wrong --------------------------------------------------------------------------------------------- */

static bool flush_all(hd_count *c);

/* A branch that is called uniform has split its warp, which goes on with the event. */
static bool stop_at_split(hd_count *c, const hd_rf_branch *branch, const hd_event *event)
{
    const hd_rf_branch b = *branch;
    if (!flush_all(c))
        return false; /* something before it is wrong */
    c->stopped = true;
    c->failed = c->models.count;
    hd_rf_report_split(c->code, &b, event, c->diagnostics);
    return false;
}

static bool look_at_branches(hd_count *c, const hd_event *event)
{
    if (event->kind == HD_EVENT_WARP_START)
        hd_rf_uniform_start(c->uniform, event->warp);
    if (event->kind != HD_EVENT_ISSUE)
        return true;
    const hd_rf_branch *b = hd_rf_uniform_split(c->uniform, event);
    if (b)
        return stop_at_split(c, b, event);
    hd_rf_uniform_note(c->uniform, event->warp,
                       (hd_rf_branch){event->active, event->instruction, event->function, event->frame});
    return true;
}

/* ---- groups look at a batch -------------------------------------------------------------------------------------- */

static bool is_locked(const hd_rf_group *group)
{
    return group->order && hd_rf_interleave_order(group->order) == HD_RF_LOCKED;
}

static void note_wrong(hd_count *c, const hd_rf_group *group, uint64_t event)
{
    for (uint32_t k = 0; k < group->feeder->members.count; k++) {
        const hd_rf_member *member = &group->feeder->members.items[k];
        if ((member->failure.wrong || is_locked(group)) && c->wrong_at[member->number] == UINT64_MAX)
            c->wrong_at[member->number] = event;
    }
}

static void feed_events(hd_count *c, const hd_rf_group *group, const hd_rf_batch *b)
{
    bool good = true;
    for (uint32_t e = 0, failed = 0; e < b->events.count && good; e++) {
        good = hd_rf_feeder_take(group->feeder, &b->events.items[e]);
        if (group->feeder->failed != failed)
            note_wrong(c, group, b->first_event + e);
        failed = group->feeder->failed;
    }
}

static void feed_stretches(hd_count *c, const hd_rf_group *group, const hd_rf_batch *b)
{
    uint32_t at = 0;
    for (uint32_t p = 0; p < b->passages.count; p++) {
        hd_rf_passage rest = b->passages.items[p].what;
        while (!hd_rf_feeder_passage(group->feeder, &rest, &at) &&
               group->feeder->failed < group->feeder->members.count) {
            note_wrong(c, group, b->passages.items[p].event + at);
            rest.from = (uint8_t)(at + 1);
        }
        if (group->feeder->failed == group->feeder->members.count) {
            note_wrong(c, group, b->passages.items[p].event + at);
            return;
        }
    }
}

/* The CTAs that have ended, through coupled models of one order; it lets each go when its warps have ended. */
static void take_turns(hd_count *c, uint32_t index, const hd_rf_batch *b)
{
    const hd_rf_group *group = &c->groups.items.items[index];
    if (is_locked(group) || group->feeder->failed == group->feeder->members.count)
        return;
    bool good = b->launch == HD_NONE || hd_rf_interleave_launch(group->order, &b->residency, b->launch);
    for (uint32_t i = 0; i < b->ended.count && good; i++) {
        good = hd_rf_interleave_add(group->order, b->ended.items[i]);
        while (good && hd_rf_interleave_bytes(group->order) > group->feeder->residency.bytes)
            good = hd_rf_interleave_drain(group->order, false);
        uint64_t bytes = hd_rf_interleave_bytes(group->order);
        c->turn_bytes[index] = bytes > c->turn_bytes[index] ? bytes : c->turn_bytes[index];
    }
    if (good && b->drains)
        hd_rf_interleave_drain(group->order, true);
    note_wrong(c, group, b->end);
}

static void take_result(hd_rf_model *model, hd_count_result *result)
{
    memcpy(result->counters, model->counters, sizeof result->counters);
    result->allocation = model->allocation;
    result->storage_bits = model->storage_bits;
    memset(model->counters, 0, sizeof model->counters);
    memset(&model->allocation, 0, sizeof model->allocation);
}

/* Of a launch, for the models of a group and those that they stand for. */
static void end_counting(hd_count *c, const hd_rf_group *group, hd_count_result *results)
{
    hd_rf_groups_settle(&c->groups, group);
    for (uint32_t m = 0; m < c->models.count && c->over; m++)
        if (hd_rf_groups_find(&c->groups, m) == group)
            take_result(hd_count_model(c, m), &results[m]);
}

static bool look(void *context, uint32_t index, uint32_t slot)
{
    hd_count *c = context;
    const hd_rf_group *group = &c->groups.items.items[index];
    const hd_rf_batch *b = &c->batches[slot];
    if (b->launch != HD_NONE)
        group->feeder->residency = b->residency;
    if (group->way == HD_RF_BY_EVENT)
        feed_events(c, group, b);
    else if (group->way == HD_RF_BY_STRETCH)
        feed_stretches(c, group, b);
    else
        take_turns(c, index, b);
    if (b->ends)
        end_counting(c, group, c->results + (size_t)slot * c->models.count);
    return !group->feeder->failed && !is_locked(group);
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

static void begin_batch(hd_count *c)
{
    c->batch = &c->batches[hd_broadcast_slot(c->broadcast)];
    hd_rf_batch_clear(c->batch);
}

/* Of the launches that end in batches which all groups have seen. */
static void tell_launches(hd_count *c, uint64_t batches)
{
    uint64_t wrong = hd_broadcast_rejected(c->broadcast);
    for (; c->told < batches; c->told++) {
        size_t slot = c->told % (HD_COUNT_BEHIND + 1);
        if (c->over && c->batches[slot].ends)
            c->over(c->over_context, !c->stopped && c->told < wrong, c->results + slot * c->models.count);
    }
}

/* false: something is wrong in what all groups have seen. */
static bool pass_batch(hd_count *c, uint32_t behind)
{
    if (c->stretches)
        hd_rf_stretches_hand_over(c->stretches, &c->batch->loose);
    c->batch->end = c->events;
    bool good = hd_broadcast_publish(c->broadcast, behind);
    c->passed++;
    if (c->passed > behind)
        tell_launches(c, c->passed - behind);
    begin_batch(c);
    return good;
}

/* The model that went wrong at the first event, and of these the first. */
static uint32_t first_wrong(const hd_count *c)
{
    uint32_t first = 0;
    for (uint32_t m = 1; m < c->models.count; m++)
        if (c->wrong_at[m] < c->wrong_at[first])
            first = m;
    return first;
}

static void report_refusal(hd_count *c, const char *format, const char *what)
{
    hd_report(c->diagnostics, HD_DIAG_UNSUPPORTED, c->code->module->source, (hd_span){0, 0}, format, what);
}

static bool end_stretch(hd_count *c);

/* Something is wrong. What is kept besides, with the stretch that is open, may tell of something before it. */
static void stop_wrong(hd_count *c)
{
    c->stopped = true;
    end_stretch(c);
    pass_batch(c, 0);
    uint32_t model = first_wrong(c);
    const hd_rf_failure *failure = hd_rf_groups_failure(&c->groups, model);
    const char *name = hd_count_model(c, model)->info->name;
    const hd_rf_group *group = hd_rf_groups_find(&c->groups, model);
    const char *awaited = group->order ? hd_stall_texts[hd_rf_interleave_stall(group->order)] : NULL;
    if (!failure->wrong && awaited)
        hd_report(c->diagnostics, HD_DIAG_UNSUPPORTED, c->code->module->source, (hd_span){0, 0},
                  "%s: none of the resident warps can go on: they wait for %s", name, awaited);
    else if (!failure->wrong)
        report_refusal(c, "%s lets none of the resident warps go on", name);
    else if (hd_rf_report_failure(c->code, failure, name, c->diagnostics))
        c->failed = model;
}

/* The batch, but not the stretch that is open: where it ends must not depend on batches. */
static bool hand_on(hd_count *c, uint32_t behind)
{
    if (c->open && !c->stopped && !pass_batch(c, c->batch_most > 1 ? behind : 0))
        stop_wrong(c);
    return !c->stopped;
}

static bool flush_all(hd_count *c) { return end_stretch(c) && hand_on(c, 0); }

static bool keep_event(hd_count *c, const hd_event *event)
{
    if (!hd_rf_batch_has_room(c->batch, event) && !hand_on(c, HD_COUNT_BEHIND))
        return false;
    hd_rf_batch_add(c->batch, event, c->events);
    return true;
}

static bool take_recorded(hd_count *c, const hd_rf_passage *passage);

static bool keep_passage(hd_count *c, const hd_rf_dated *passage)
{
    if (c->groups.ways[HD_RF_BY_STRETCH])
        hd_array_push(&c->batch->passages, *passage);
    return c->stopped || !c->groups.ways[HD_RF_BY_TURN] || take_recorded(c, &passage->what);
}

/* false: something was not proved. */
static bool end_stretch(hd_count *c)
{
    hd_rf_dated passage = {.event = c->open_event};
    if (!c->stretches || !hd_rf_stretches_end(c->stretches, &passage.what))
        return true;
    return keep_passage(c, &passage);
}

/* The events of a stretch, for models that walk each. */
static bool keep_events(hd_count *c, const hd_stretch *s)
{
    const hd_width *widths = s->widths;
    bool good = true;
    for (uint32_t i = 0; i < s->count && good; i++, c->events++) {
        const hd_event e = hd_stretch_event(s, c->code->functions[s->function], i, &widths);
        good = keep_event(c, &e);
    }
    return good;
}

/* What does not go on with the stretch that was open, which has ended. */
static bool collect(hd_count *c, const hd_event *event)
{
    if (event->kind == HD_EVENT_CALL) /* the frame begins with its first instruction */
        return true;
    if (event->kind != HD_EVENT_ISSUE) {
        hd_rf_passage what = {.kind = event->kind,
                              .cta = event->cta,
                              .warp = event->warp,
                              .frame = event->frame,
                              .function = event->function};
        return keep_passage(c, &(hd_rf_dated){what, c->events});
    }
    c->open_event = c->events;
    hd_rf_stretches_add(c->stretches, event);
    return true;
}

/* ---- recorded CTAs ----------------------------------------------------------------------------------------------- */

static bool refuse(hd_count *c, const char *what)
{
    if (!flush_all(c))
        return false; /* something before it is wrong */
    c->stopped = true;
    report_refusal(c, "%s with so many instructions cannot be replayed for techniques whose warps share storage", what);
    return false;
}

static bool end_cta(hd_count *c, uint32_t number)
{
    hd_rf_cta *cta = hd_rf_recording_end(&c->recording, number);
    if (cta)
        hd_rf_batch_add_cta(c->batch, cta);
    return c->batch->ended_bytes < HD_COUNT_ENDED_BYTES || hand_on(c, 0);
}

static bool take_recorded(hd_count *c, const hd_rf_passage *passage)
{
    switch ((hd_event_kind)passage->kind) {
    case HD_EVENT_LAUNCH:
    case HD_EVENT_LAUNCH_END: return true;
    case HD_EVENT_CTA_END: return end_cta(c, passage->cta);
    default: return hd_rf_recording_add(&c->recording, passage) <= c->residency.bytes || refuse(c, "a block");
    }
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static void open_ways(hd_count *c)
{
    c->open = true;
    c->wrong_at = HD_ARENA_ARRAY(&c->arena, uint64_t, c->models.count + 1);
    memset(c->wrong_at, 0xff, (c->models.count + 1) * sizeof *c->wrong_at);
    c->turn_bytes = HD_ARENA_ARRAY(&c->arena, uint64_t, c->models.count + 1);
    hd_rf_groups_make(&c->groups, c->code, c->models.items, c->models.count, c->threads,
                      c->batch_most > 1 ? c->memo : NULL);
    for (uint32_t g = 0; g < c->groups.items.count; g++)
        c->groups.items.items[g].feeder->residency = c->residency;
    if (c->groups.ways[HD_RF_BY_STRETCH] + c->groups.ways[HD_RF_BY_TURN])
        c->stretches = hd_rf_stretches_new(c->code);
    c->broadcast = hd_broadcast_new(c->groups.items.count, HD_COUNT_BEHIND, look, c);
    hd_broadcast_threads(c->broadcast, c->threads, c->budget);
    c->results = hd_calloc((HD_COUNT_BEHIND + 1) * c->models.count + 1, sizeof *c->results);
    begin_batch(c);
}

/* What has run is whole. Of a run that stopped, blocks have begun and not ended: they are left out. */
static void end_run(hd_count *c, bool ends, uint32_t behind)
{
    end_stretch(c);
    hd_rf_recording_drop(&c->recording);
    c->batch->ends = ends;
    c->batch->drains = ends && !c->stopped;
    if (c->stopped)
        pass_batch(c, 0);
    else
        hand_on(c, behind);
}

void hd_count_end(hd_count *c)
{
    if (!c->open)
        open_ways(c);
    end_run(c, true, HD_COUNT_BEHIND);
}

bool hd_count_flush(hd_count *c)
{
    if (!c->open)
        return !c->stopped;
    end_run(c, !c->over, 0);
    hd_broadcast_finish(c->broadcast);
    return !c->stopped;
}

/* The groups learn of it before anything in it. */
static bool begin_launch(hd_count *c, uint32_t function)
{
    if (c->batch->kept && !hand_on(c, HD_COUNT_BEHIND))
        return false;
    hd_rf_recording_drop(&c->recording);
    c->batch->launch = function;
    c->batch->residency = c->residency;
    return true;
}

bool hd_count_take(void *count, const hd_event *event)
{
    hd_count *c = count;
    if (c->stopped)
        return false;
    if (!c->open)
        open_ways(c);
    bool goes_on = event->kind == HD_EVENT_ISSUE && c->stretches && hd_rf_stretches_goes_on(c->stretches, event);
    if (!look_at_branches(c, event) || (!goes_on && event->kind != HD_EVENT_CALL && !end_stretch(c)))
        return false;
    if (event->kind == HD_EVENT_LAUNCH && !begin_launch(c, event->function))
        return false;
    if (c->groups.ways[HD_RF_BY_EVENT] && !keep_event(c, event))
        return false;
    if (goes_on)
        hd_rf_stretches_add(c->stretches, event);
    else if (c->stretches && !collect(c, event))
        return false;
    c->events++;
    if (event->kind == HD_EVENT_LAUNCH_END && !c->over)
        return hd_count_flush(c);
    return ++c->batch->kept < c->batch_most || hand_on(c, HD_COUNT_BEHIND);
}

static bool keep_stretch(hd_count *c, const hd_stretch *s)
{
    c->open_event = c->events;
    if (!c->groups.ways[HD_RF_BY_EVENT])
        c->events += s->count;
    else if (!keep_events(c, s))
        return false;
    return !c->stretches || keep_passage(c, &(hd_rf_dated){hd_rf_stretches_find(c->stretches, s), c->open_event});
}

static bool look_into(hd_count *c, const hd_stretch *s)
{
    uint32_t part;
    const hd_rf_branch *b = hd_rf_uniform_split_in(c->uniform, s, &part);
    if (!b)
        return true;
    const hd_event next = {.cta = s->cta, .warp = s->warp, .active = s->masks[s->parts[part].active]};
    hd_stretch *before = part ? hd_stretch_before(s, c->code->functions[s->function], part) : NULL;
    bool good = (!before || keep_stretch(c, before)) && stop_at_split(c, b, &next);
    free(before);
    return good;
}

bool hd_count_take_stretch(void *count, const hd_stretch *s)
{
    hd_count *c = count;
    if (c->stopped)
        return false;
    if (!c->open)
        open_ways(c);
    if (!look_into(c, s) || !keep_stretch(c, s))
        return false;
    c->batch->kept += s->count;
    return c->batch->kept < c->batch_most || hand_on(c, HD_COUNT_BEHIND);
}
