/* Count mode: see count.h. */
#include "hwmodel/rf/count.h"
#include "hwmodel/rf/batch.h"
#include "hwmodel/rf/groups.h"
#include "hwmodel/rf/recording.h"
#include "hwmodel/rf/report.h"

enum { HD_COUNT_ENDED = 64, HD_COUNT_ENDED_BYTES = 1 << 20 }; /* most CTAs that wait to be looked at, so that threads start seldom */

typedef struct hd_count_passage {
    hd_rf_passage what;
    uint64_t event; /* its first one, counted from the first of all */
} hd_count_passage;

struct hd_count {
    const hd_rf_module *code;
    hd_diagnostics *diagnostics;
    HD_ARRAY(hd_rf_model *) models;
    hd_rf_groups groups;             /* of models; known from the first event on */
    bool open;                       /* they are */
    hd_rf_residency residency;
    uint64_t *turn_bytes; /* by group: most that streams of resident CTAs took */
    hd_rf_recording recording; /* for turns */
    hd_arena arena;
    hd_rf_uniform *uniform;
    uint32_t failed;
    bool stopped; /* something was not proved */
    uint32_t batch_most, threads;
    hd_spare *spare;        /* of the threads; NULL: all are for this count */
    uint64_t events;        /* so far */
    uint32_t kept;          /* of them, since the batches were worked through */
    hd_rf_batch batch;
    hd_rf_stretches *stretches; /* NULL where all see events */
    HD_ARRAY(hd_count_passage) passages;
    uint64_t open_event;    /* of the stretch that is open: see hd_count_passage */
    uint64_t *wrong_at;     /* by model: event that was not proved, or UINT64_MAX */
};

hd_count *hd_count_new(const hd_rf_module *code, hd_diagnostics *diagnostics)
{
    hd_count *c = hd_calloc(1, sizeof *c);
    c->code = code;
    c->diagnostics = diagnostics;
    c->failed = HD_NONE;
    c->batch_most = c->threads = 1;
    c->residency = (hd_rf_residency){.ctas = 1, .active = HD_COUNT_ACTIVE_WARPS, .latency = HD_COUNT_LATENCY, .bytes = HD_COUNT_STREAM_BYTES};
    c->uniform = hd_rf_uniform_new(code);
    return c;
}

void hd_count_free(hd_count *c)
{
    if (!c)
        return;
    hd_rf_groups_free(&c->groups);
    for (uint32_t m = 0; m < c->models.count; m++)
        hd_rf_model_free(c->models.items[m]);
    hd_rf_recording_free(&c->recording);
    hd_array_free(&c->models);
    hd_rf_uniform_free(c->uniform);
    hd_rf_batch_free(&c->batch);
    hd_array_free(&c->passages);
    hd_rf_stretches_free(c->stretches);
    hd_arena_free(&c->arena);
    free(c);
}

void hd_count_add(hd_count *c, hd_rf_model *model)
{
    hd_array_push(&c->models, model);
}

uint32_t hd_count_models(const hd_count *c)
{
    return c->models.count;
}

hd_rf_model *hd_count_model(const hd_count *c, uint32_t i)
{
    return c->models.items[i];
}

void hd_count_reset(hd_count *c)
{
    for (uint32_t m = 0; m < c->models.count; m++) {
        hd_rf_model *model = hd_count_model(c, m);
        memset(model->counters, 0, sizeof model->counters);
        memset(&model->allocation, 0, sizeof model->allocation);
        model->told_times = 0;
    }
}

void hd_count_batches(hd_count *c, uint32_t events, uint32_t threads)
{
    c->batch_most = events;
    c->threads = threads;
}

void hd_count_share(hd_count *c, hd_spare *spare) { c->spare = spare; }

void hd_count_residency(hd_count *c, const hd_rf_residency *residency)
{
    c->residency = *residency;
    for (uint32_t g = 0; g < c->groups.items.count; g++)
        c->groups.items.items[g].feeder->residency = *residency;
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

uint32_t hd_count_failed(const hd_count *c)
{
    return c->failed;
}

hd_sink hd_count_sink(hd_count *c)
{
    hd_sink sink = {.take = hd_count_take, .context = c, .take_stretch = c->batch_most > 1 ? hd_count_take_stretch : NULL};
    for (uint32_t m = 0; m < c->models.count; m++)
        sink.columns |= c->models.items[m]->info->ops->coupled ? 0 : c->models.items[m]->info->ops->columns;
    return sink;
}

/* ---- what goes wrong ----------------------------------------------------------------------------------------------- */

static void report_failure(hd_count *c, uint32_t model)
{
    if (hd_rf_report_failure(c->code, hd_rf_groups_failure(&c->groups, model), hd_count_model(c, model)->info->name, c->diagnostics))
        c->failed = model;
}

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
    hd_rf_uniform_note(c->uniform, event->warp, (hd_rf_branch){event->active, event->instruction, event->function, event->frame});
    return true;
}

/* ---- batches ------------------------------------------------------------------------------------------------------- */

static void note_wrong(hd_count *c, const hd_rf_feeder *feeder, uint64_t event)
{
    for (uint32_t k = 0; k < feeder->members.count; k++) {
        const hd_rf_member *member = &feeder->members.items[k];
        if (member->failure.wrong && c->wrong_at[member->number] == UINT64_MAX)
            c->wrong_at[member->number] = event;
    }
}

static void feed_events(hd_count *c, const hd_rf_group *group)
{
    bool good = true;
    for (uint32_t e = 0, failed = 0; e < c->batch.events.count && good; e++) {
        good = hd_rf_feeder_take(group->feeder, &c->batch.events.items[e]);
        if (group->feeder->failed != failed)
            note_wrong(c, group->feeder, c->events - c->batch.events.count + e);
        failed = group->feeder->failed;
    }
}

static void feed_stretches(hd_count *c, const hd_rf_group *group)
{
    uint32_t at = 0;
    for (uint32_t p = 0; p < c->passages.count; p++) {
        hd_rf_passage rest = c->passages.items[p].what;
        while (!hd_rf_automaton_take(group->automaton, &rest, &at) && group->feeder->failed < group->feeder->members.count) {
            note_wrong(c, group->feeder, c->passages.items[p].event + at);
            rest.from = (uint8_t)(at + 1);
        }
        if (group->feeder->failed == group->feeder->members.count) {
            note_wrong(c, group->feeder, c->passages.items[p].event + at);
            return;
        }
    }
}

static void feed(void *context, uint32_t group, uint32_t worker)
{
    hd_count *c = context;
    const hd_rf_group *g = &c->groups.items.items[group];
    (void)worker;
    if (g->way == HD_RF_BY_EVENT)
        feed_events(c, g);
    if (g->way == HD_RF_BY_STRETCH)
        feed_stretches(c, g);
}

/* Through the models that see warps as they run. Of what went wrong, the first event counts, and the first model at it. */
static uint32_t feed_all(hd_count *c)
{
    uint32_t first = HD_NONE;
    hd_parallel_spare(c->spare, c->threads, c->groups.items.count, feed, c);
    for (uint32_t m = 0; m < c->models.count; m++)
        if (c->wrong_at[m] != UINT64_MAX && (first == HD_NONE || c->wrong_at[m] < c->wrong_at[first]))
            first = m;
    hd_rf_batch_clear(&c->batch);
    hd_array_clear(&c->passages);
    c->kept = 0;
    if (c->stretches)
        hd_rf_stretches_forget(c->stretches);
    return first;
}

static bool end_stretch(hd_count *c);

/* Batches, but not the stretch that is open: where it ends must not depend on batches. */
static bool flush_batch(hd_count *c)
{
    if (c->stopped || !c->open)
        return !c->stopped;
    uint32_t first = feed_all(c);
    if (first == HD_NONE)
        return true;
    c->stopped = true;
    if (end_stretch(c)) /* something may be wrong there that comes before */
        first = feed_all(c);
    report_failure(c, first);
    return false;
}

static bool flush_all(hd_count *c)
{
    return end_stretch(c) && flush_batch(c);
}

static bool keep_event(hd_count *c, const hd_event *event)
{
    if (!hd_rf_batch_has_room(&c->batch, event) && !flush_batch(c))
        return false;
    hd_rf_batch_add(&c->batch, event);
    return true;
}

static bool take_recorded(hd_count *c, const hd_rf_passage *passage);

static bool keep_passage(hd_count *c, const hd_count_passage *passage)
{
    if (c->groups.ways[HD_RF_BY_STRETCH])
        hd_array_push(&c->passages, *passage);
    return c->stopped || !c->groups.ways[HD_RF_BY_TURN] || take_recorded(c, &passage->what);
}

/* false: something was not proved. */
static bool end_stretch(hd_count *c)
{
    hd_count_passage passage = {.event = c->open_event};
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
        hd_rf_passage what = {.kind = event->kind, .cta = event->cta, .warp = event->warp, .frame = event->frame, .function = event->function};
        return keep_passage(c, &(hd_count_passage){what, c->events});
    }
    c->open_event = c->events;
    hd_rf_stretches_add(c->stretches, event);
    return true;
}

/* ---- recorded CTAs ---------------------------------------------------------------------------------------------- */

static bool refuse(hd_count *c, const char *format, const char *what)
{
    if (!flush_all(c))
        return false; /* something before it is wrong */
    c->stopped = true;
    hd_report(c->diagnostics, HD_DIAG_UNSUPPORTED, c->code->module->source, (hd_span){0, 0}, format, what);
    return false;
}

static bool report_wrong(hd_count *c, uint32_t model)
{
    if (!flush_all(c))
        return false; /* something before it is wrong */
    c->stopped = true;
    report_failure(c, model);
    return false;
}

/* The first model of those that see turns that went wrong, if any. */
static bool report_turns(hd_count *c)
{
    for (uint32_t m = 0; m < c->models.count; m++) {
        const hd_rf_group *group = hd_rf_groups_find(&c->groups, m);
        if (!group->order)
            continue;
        if (hd_rf_groups_failure(&c->groups, m)->wrong)
            return report_wrong(c, m);
        if (hd_rf_interleave_order(group->order) == HD_RF_LOCKED)
            return refuse(c, "%s lets none of the resident warps go on", hd_count_model(c, m)->info->name);
    }
    return true;
}

/* The CTAs that have ended, through coupled models of one order; it lets each go when its warps have ended. */
static void take_turns(void *context, uint32_t index, uint32_t worker)
{
    hd_count *c = context;
    hd_rf_interleave *order = c->groups.items.items[index].order;
    bool good = true;
    (void)worker;
    for (uint32_t i = 0; i < c->recording.ended.count && good && order; i++) {
        good = hd_rf_interleave_add(order, c->recording.ended.items[i]);
        while (good && hd_rf_interleave_bytes(order) > c->residency.bytes)
            good = hd_rf_interleave_drain(order, false);
        uint64_t bytes = hd_rf_interleave_bytes(order);
        c->turn_bytes[index] = bytes > c->turn_bytes[index] ? bytes : c->turn_bytes[index];
    }
}

/* CTAs that have ended and were not looked at yet. */
static bool flush_ended(hd_count *c)
{
    hd_parallel_spare(c->spare, c->threads, c->groups.items.count, take_turns, c);
    hd_rf_recording_drop_ended(&c->recording);
    return report_turns(c);
}

static bool end_cta(hd_count *c, uint32_t number)
{
    hd_rf_recording_end(&c->recording, number);
    bool waits = c->batch_most > 1 && c->recording.ended.count < HD_COUNT_ENDED && c->recording.ended_bytes < HD_COUNT_ENDED_BYTES;
    return waits || flush_ended(c);
}

static bool start_launch(hd_count *c, uint32_t function)
{
    bool good = true;
    hd_rf_recording_drop(&c->recording);
    for (uint32_t g = 0; g < c->groups.items.count && good; g++)
        good = !c->groups.items.items[g].order || hd_rf_interleave_launch(c->groups.items.items[g].order, &c->residency, function) || report_turns(c);
    return good;
}

static void drain_turns(void *context, uint32_t group, uint32_t worker)
{
    hd_count *c = context;
    (void)worker;
    if (c->groups.items.items[group].order)
        hd_rf_interleave_drain(c->groups.items.items[group].order, true);
}

/* Of a run that stopped, blocks have begun and not ended: they are left out. */
static bool finish_recorded(hd_count *c)
{
    if (!c->groups.ways[HD_RF_BY_TURN])
        return true;
    bool good = flush_ended(c);
    if (good) {
        hd_parallel_spare(c->spare, c->threads, c->groups.items.count, drain_turns, c);
        good = report_turns(c);
    }
    hd_rf_recording_drop(&c->recording);
    return good;
}

static bool take_recorded(hd_count *c, const hd_rf_passage *passage)
{
    if (passage->kind == HD_EVENT_LAUNCH)
        return start_launch(c, passage->function);
    if (passage->kind == HD_EVENT_CTA_END)
        return end_cta(c, passage->cta);
    if (passage->kind == HD_EVENT_LAUNCH_END || hd_rf_recording_add(&c->recording, passage) <= c->residency.bytes)
        return true;
    return refuse(c, "a block with so many instructions cannot be replayed for techniques whose warps share storage%s", "");
}

/* ---- events --------------------------------------------------------------------------------------------------------- */

static void open_ways(hd_count *c)
{
    c->open = true;
    c->wrong_at = HD_ARENA_ARRAY(&c->arena, uint64_t, c->models.count + 1);
    memset(c->wrong_at, 0xff, (c->models.count + 1) * sizeof *c->wrong_at);
    c->turn_bytes = HD_ARENA_ARRAY(&c->arena, uint64_t, c->models.count + 1);
    hd_rf_groups_make(&c->groups, c->code, c->models.items, c->models.count, c->threads, c->batch_most > 1);
    for (uint32_t g = 0; g < c->groups.items.count; g++)
        c->groups.items.items[g].feeder->residency = c->residency;
    if (c->groups.ways[HD_RF_BY_STRETCH] + c->groups.ways[HD_RF_BY_TURN])
        c->stretches = hd_rf_stretches_new(c->code);
}

bool hd_count_flush(hd_count *c)
{
    bool good = flush_all(c) && finish_recorded(c);
    hd_rf_groups_settle(&c->groups);
    return good;
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
    if (c->groups.ways[HD_RF_BY_EVENT] && !keep_event(c, event))
        return false;
    if (goes_on)
        hd_rf_stretches_add(c->stretches, event);
    else if (c->stretches && !collect(c, event))
        return false;
    c->events++;
    if (event->kind == HD_EVENT_LAUNCH_END)
        return hd_count_flush(c);
    return ++c->kept < c->batch_most || flush_batch(c);
}

static bool keep_stretch(hd_count *c, const hd_stretch *s)
{
    c->open_event = c->events;
    if (!c->groups.ways[HD_RF_BY_EVENT])
        c->events += s->count;
    else if (!keep_events(c, s))
        return false;
    return !c->stretches || keep_passage(c, &(hd_count_passage){hd_rf_stretches_find(c->stretches, s), c->open_event});
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
    c->kept += s->count;
    return c->kept < c->batch_most || flush_batch(c);
}
