/* Count mode: see count.h. */
#include "hwmodel/count/count.h"
#include "base/broadcast.h"
#include "hwmodel/count/batch.h"
#include "hwmodel/count/report.h"
#include "hwmodel/count/schedule.h"
#include "hwmodel/count/uniform.h"

enum {
    HD_COUNT_LAG = 7,                /* batches that walks may be after the run */
    HD_COUNT_ENDED_BYTES = 16 << 20, /* of records that one batch may hold; with more, walks catch up */
};

typedef struct reader { /* of batches */
    hd_walk *walk;
    hd_schedule *schedule; /* NULL: in program order */
    uint64_t wrong_at;     /* number of the event that was not proved; in scheduled order, the end of its batch */
} reader;

struct hd_count {
    const hd_rf_module *code;
    hd_diagnostics *diagnostics;
    HD_ARRAY(hd_rf_model *) models;
    HD_ARRAY(reader) readers; /* by model; from the first event on */
    bool open;                /* there are */
    bool ordered, scheduled;  /* some reader goes in program order; in scheduled order */
    bool singles;             /* the former get each event in a segment of its own */
    bool scheduled_columns;   /* the latter do, too, with its addresses and results */
    hd_rf_residency residency;
    hd_recorder *recorder; /* for scheduled order */
    hd_rf_uniform *uniform;
    uint32_t failed;
    bool stopped; /* something was not proved */
    bool faulty;  /* hd_count_faulty_lane */
    const hd_walk_memo *memo;
    uint32_t batch_most, threads;
    hd_thread_budget *budget;           /* NULL: all `threads` are for this count */
    uint64_t events;                    /* so far */
    hd_batch batches[HD_COUNT_LAG + 1]; /* by slot of the queue */
    hd_batch *batch;                    /* the one that is made */
    hd_broadcast *queue;
    uint64_t published, reported; /* batches; of them, those whose launches were reported to be over */
    /* NULL: counters of all launches are together */
    void (*over)(void *context, bool proved, const hd_count_result *results);
    void *over_context;
    hd_count_result *results; /* by slot and model: of the launch that ends in it */
    hd_segments *segments;
    uint64_t open_event; /* number of the open segment's first event */
};

hd_count *hd_count_new(const hd_rf_module *code, hd_diagnostics *diagnostics)
{
    hd_count *c = hd_calloc(1, sizeof *c);
    c->code = code;
    c->diagnostics = diagnostics;
    c->failed = HD_NONE;
    c->batch_most = c->threads = 1;
    c->residency = (hd_rf_residency){
        .ctas = 1, .active = HD_COUNT_ACTIVE_WARPS, .latency = HD_COUNT_LATENCY, .bytes = HD_COUNT_RECORD_BYTES};
    c->uniform = hd_rf_uniform_new(code);
    c->segments = hd_segments_new(code);
    return c;
}

void hd_count_free(hd_count *c)
{
    if (!c)
        return;
    if (c->open)
        hd_broadcast_finish(c->queue);
    hd_broadcast_free(c->queue);
    free(c->results);
    for (uint32_t i = 0; i <= HD_COUNT_LAG; i++)
        hd_batch_free(&c->batches[i]);
    for (uint32_t r = 0; r < c->readers.count; r++) {
        hd_schedule_free(c->readers.items[r].schedule);
        hd_walk_free(c->readers.items[r].walk);
    }
    hd_array_free(&c->readers);
    for (uint32_t m = 0; m < c->models.count; m++)
        hd_rf_model_free(c->models.items[m]);
    hd_array_free(&c->models);
    hd_recorder_free(c->recorder);
    hd_rf_uniform_free(c->uniform);
    hd_segments_free(c->segments);
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

void hd_count_use_memo(hd_count *c, const hd_walk_memo *memo) { c->memo = memo; }

void hd_count_faulty_lane(hd_count *c) { c->faulty = true; }

void hd_count_share(hd_count *c, hd_thread_budget *budget) { c->budget = budget; }

void hd_count_residency(hd_count *c, const hd_rf_residency *residency) { c->residency = *residency; }

void hd_count_launches(hd_count *c, void (*over)(void *context, bool proved, const hd_count_result *results),
                       void *context)
{
    c->over = over;
    c->over_context = context;
}

uint64_t hd_count_record_bytes(const hd_count *c)
{
    uint64_t most = 0;
    for (const reader *r = c->readers.items, *end = hd_array_at(&c->readers, c->readers.count); r < end; r++)
        if (r->schedule && hd_schedule_most_bytes(r->schedule) > most)
            most = hd_schedule_most_bytes(r->schedule);
    return most;
}

void hd_count_expect_uniform(hd_count *c, uint32_t function, uint32_t instruction)
{
    hd_rf_uniform_expect(c->uniform, function, instruction);
}

uint32_t hd_count_failed(const hd_count *c) { return c->failed; }

/* Without a faulty lane there is no column of it, which would make segments of single instructions. */
static uint32_t columns_for(const hd_count *c, const hd_rf_model *model)
{
    return model->info->ops->columns & ~(c->faulty ? 0u : HD_COLUMN_LANES);
}

static uint32_t columns_of(const hd_count *c)
{
    uint32_t columns = 0;
    for (uint32_t m = 0; m < c->models.count; m++)
        columns |= columns_for(c, c->models.items[m]);
    return columns;
}

static bool couples(const hd_count *c)
{
    bool any = false;
    for (uint32_t m = 0; m < c->models.count; m++)
        any = any || c->models.items[m]->info->ops->coupled;
    return any;
}

/* ---- readers take a batch ---------------------------------------------------------------------------------------- */

static bool is_stuck(const reader *r)
{
    return r->walk->failure.wrong || (r->schedule && hd_schedule_locked(r->schedule));
}

static void take_in_order(reader *r, const hd_batch *b)
{
    uint32_t at;
    if (b->launch != HD_NONE)
        hd_walk_launch(r->walk, b->launch, &b->residency);
    for (uint32_t e = 0; e < b->events.count; e++)
        if (!hd_walk_take(r->walk, &b->events.items[e].what, &at)) {
            r->wrong_at = b->events.items[e].number + at;
            return;
        }
}

/* The blocks that have ended; the schedule lets each go when its warps have ended. */
static void take_scheduled(reader *r, const hd_batch *b)
{
    bool good = true;
    if (b->launch != HD_NONE)
        hd_schedule_launch(r->schedule, &b->residency, b->launch);
    for (uint32_t i = 0; i < b->ended.count && good; i++)
        good = hd_schedule_add(r->schedule, b->ended.items[i]);
    if (good && b->drains)
        hd_schedule_drain(r->schedule, true);
    if (is_stuck(r))
        r->wrong_at = b->end;
}

static void take_result(hd_rf_model *model, hd_count_result *result)
{
    memcpy(result->counters, model->counters, sizeof result->counters);
    result->allocation = model->allocation;
    result->storage_bits = model->storage_bits;
    result->sizes = (hd_rf_sizes){model->table_bytes, model->file_reduction_percent};
    result->detection = model->detection;
    memset(&model->detection, 0, sizeof model->detection);
    memset(model->counters, 0, sizeof model->counters);
    memset(&model->allocation, 0, sizeof model->allocation);
}

static void end_counting(const hd_count *c, hd_rf_model *model, hd_count_result *result)
{
    hd_rf_record_rest(model);
    if (model->info->ops->finalize)
        model->info->ops->finalize(model);
    if (c->over)
        take_result(model, result);
}

static bool take_batch(void *context, uint32_t index, uint32_t slot)
{
    hd_count *c = context;
    reader *r = &c->readers.items[index];
    const hd_batch *b = &c->batches[slot];
    if (is_stuck(r))
        return false;
    if (r->schedule)
        take_scheduled(r, b);
    else
        take_in_order(r, b);
    if (b->ends)
        end_counting(c, r->walk->model, &c->results[(size_t)slot * c->models.count + index]);
    return !is_stuck(r);
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

static void begin_batch(hd_count *c)
{
    c->batch = &c->batches[hd_broadcast_slot(c->queue)];
    hd_batch_clear(c->batch);
}

/* Reports the launches that end in batches which all readers have taken. */
static void report_launches(hd_count *c, uint64_t batches)
{
    uint64_t wrong = hd_broadcast_rejected(c->queue);
    for (; c->reported < batches; c->reported++) {
        size_t slot = c->reported % (HD_COUNT_LAG + 1);
        if (c->over && c->batches[slot].ends)
            c->over(c->over_context, !c->stopped && c->reported < wrong, c->results + slot * c->models.count);
    }
}

/* false: something is wrong in what all readers have taken. */
static bool publish(hd_count *c, uint32_t lag)
{
    hd_segments_hand_over(c->segments, &c->batch->loose);
    c->batch->end = c->events;
    bool good = hd_broadcast_publish(c->queue, lag);
    c->published++;
    if (c->published > lag)
        report_launches(c, c->published - lag);
    begin_batch(c);
    return good;
}

/* The one that went wrong at the first event, and of these the one of the first model. */
static const reader *first_wrong(const hd_count *c)
{
    const reader *first = &c->readers.items[0];
    for (const reader *r = first, *end = first + c->readers.count; r < end; r++)
        first = r->wrong_at < first->wrong_at ? r : first;
    return first;
}

static void report_refusal(hd_count *c, const char *format, const char *what)
{
    hd_report(c->diagnostics, HD_DIAG_UNSUPPORTED, c->code->module->source, (hd_span){0, 0}, format, what);
}

/* No resident warp can go on. */
static void report_lock(hd_count *c, const reader *r, const char *name)
{
    hd_rf_wait waits[HD_RF_WAITS];
    uint32_t count = r->schedule ? hd_schedule_waits(r->schedule, waits, HD_RF_WAITS) : 0;
    const char *awaited = r->schedule ? hd_stall_texts[hd_schedule_stall(r->schedule)] : NULL;
    hd_diagnostic *d = awaited
                           ? hd_report(c->diagnostics, HD_DIAG_UNSUPPORTED, c->code->module->source, (hd_span){0, 0},
                                       "%s: none of the resident warps can go on: they wait for %s", name, awaited)
                           : hd_report(c->diagnostics, HD_DIAG_UNSUPPORTED, c->code->module->source, (hd_span){0, 0},
                                       "%s lets none of the resident warps go on", name);
    hd_rf_report_waits(c->code, waits, count, d, c->diagnostics);
}

static bool end_segment(hd_count *c);

/* On an error: flushes, in order, whatever precedes the open segment. */
static void stop_wrong(hd_count *c)
{
    c->stopped = true;
    end_segment(c);
    publish(c, 0);
    const reader *r = first_wrong(c);
    const char *name = r->walk->model->info->name;
    if (!r->walk->failure.wrong)
        report_lock(c, r, name);
    else if (hd_rf_report_failure(c->code, &r->walk->failure, name, c->diagnostics))
        c->failed = (uint32_t)(r - c->readers.items);
}

/* The batch, but not the open segment: where it ends must not depend on batches. */
static bool publish_batch(hd_count *c, uint32_t lag)
{
    if (c->open && !c->stopped && !publish(c, c->batch_most > 1 ? lag : 0))
        stop_wrong(c);
    return !c->stopped;
}

static bool flush_all(hd_count *c) { return end_segment(c) && publish_batch(c, 0); }

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* `what`, with so many instructions, cannot be recorded. */
static bool refuse_recording(hd_count *c, const char *what)
{
    if (!flush_all(c))
        return false; /* something before it is wrong */
    c->stopped = true;
    report_refusal(c, "%s with so many instructions cannot be replayed for techniques whose warps share storage", what);
    return false;
}

static bool record_segment(hd_count *c, const hd_warp_event *e)
{
    return hd_recorder_take_segment(c->recorder, e) <= c->residency.bytes || refuse_recording(c, "a block");
}

static bool take_record(void *count, hd_record *record)
{
    hd_count *c = count;
    hd_batch_add_record(c->batch, record);
    return c->batch->ended_bytes < HD_COUNT_ENDED_BYTES || publish_batch(c, 0);
}

static bool keep_event(hd_count *c, const hd_warp_event *e, uint64_t number)
{
    bool issues = e->kind == HD_WARP_ISSUES;
    if (c->ordered && !(c->singles && issues))
        hd_array_push(&c->batch->events, ((hd_numbered_event){*e, number}));
    return c->stopped || !c->scheduled || !issues || record_segment(c, e);
}

/* false: something was not proved. */
static bool end_segment(hd_count *c)
{
    hd_warp_event e;
    return !hd_segments_end(c->segments, &e) || keep_event(c, &e, c->open_event);
}

static bool keep_single(hd_count *c, const hd_event *event)
{
    if (!hd_batch_has_room(c->batch, event) && !publish_batch(c, HD_COUNT_LAG))
        return false;
    const hd_event kept = hd_batch_keep_columns(c->batch, event);
    hd_array_push(&c->batch->events, ((hd_numbered_event){hd_segments_single(c->segments, &kept), c->events}));
    return true;
}

static bool keep_issue(hd_count *c, const hd_event *event, bool continues)
{
    if (c->singles && c->ordered && !keep_single(c, event))
        return false;
    if (c->singles && !c->scheduled)
        return true;
    if (c->scheduled_columns) {
        const hd_warp_event single = hd_segments_single(c->segments, event);
        return record_segment(c, &single);
    }
    if (!continues)
        c->open_event = c->events;
    hd_segments_add(c->segments, event);
    return true;
}

/* What is no instruction, and ends the open segment. */
static bool keep_other(hd_count *c, const hd_event *event)
{
    hd_warp_event e = {.cta = event->cta, .warp = event->warp, .frame = event->frame};
    switch ((hd_event_kind)event->kind) {
    case HD_EVENT_WARP_START: e.kind = HD_WARP_BEGINS; break;
    case HD_EVENT_RETURN: e.kind = HD_WARP_RETURNS; break;
    case HD_EVENT_WARP_END: e.kind = HD_WARP_ENDS; break;
    case HD_EVENT_CTA_END: e.kind = HD_CTA_ENDS; break;
    case HD_EVENT_LAUNCH:
    case HD_EVENT_CTA_START:
    case HD_EVENT_ISSUE:
    case HD_EVENT_CALL: /* the frame begins with its first instruction */
    case HD_EVENT_LAUNCH_END:
    case HD_EVENT_ARRIVE:
    case HD_EVENT_OPEN:
    case HD_EVENT_PASS: return true;
    }
    return keep_event(c, &e, c->events) && (!c->scheduled || hd_recorder_take(c->recorder, event));
}

/* Records a barrier's event after the segment that ends at the barrier. Arrivals at mbarriers end no segment, and are
 * left out. */
static bool keep_barrier(hd_count *c, const hd_event *event)
{
    if (!c->scheduled || event->barrier == HD_EVENT_MBARRIER)
        return true;
    return (!hd_segments_at_barrier(c->segments) || end_segment(c)) && hd_recorder_take(c->recorder, event);
}

/* ---- the run begins and ends ------------------------------------------------------------------------------------- */

static void add_reader(hd_count *c, hd_rf_model *model)
{
    hd_walk *walk = hd_walk_new(c->code, model, c->batch_most > 1 ? c->memo : NULL);
    bool coupled = model->info->ops->coupled;
    c->ordered = c->ordered || !coupled;
    c->scheduled = c->scheduled || coupled;
    c->scheduled_columns = c->scheduled_columns || (coupled && columns_for(c, model) & ~(uint32_t)HD_COLUMN_WIDTHS);
    hd_array_push(&c->readers,
                  ((reader){.walk = walk, .schedule = coupled ? hd_schedule_new(walk) : NULL, .wrong_at = UINT64_MAX}));
}

static void open_readers(hd_count *c)
{
    c->open = true;
    for (uint32_t m = 0; m < c->models.count; m++)
        add_reader(c, hd_count_model(c, m));
    c->recorder = hd_recorder_new(&(hd_recorder_user){.ended = take_record, .context = c});
    c->singles = c->batch_most == 1 || columns_of(c) & ~(uint32_t)HD_COLUMN_WIDTHS;
    c->queue = hd_broadcast_new(c->readers.count, HD_COUNT_LAG, take_batch, c);
    hd_broadcast_threads(c->queue, c->threads, c->budget);
    c->results = hd_calloc((HD_COUNT_LAG + 1) * c->models.count + 1, sizeof *c->results);
    begin_batch(c);
}

/* What has run is whole. Of a run that stopped, blocks have begun and not ended: they are left out. */
static void end_run(hd_count *c, bool ends, uint32_t lag)
{
    end_segment(c);
    hd_recorder_drop(c->recorder);
    c->batch->ends = ends;
    c->batch->drains = ends && !c->stopped;
    if (c->stopped)
        publish(c, 0);
    else
        publish_batch(c, lag);
}

void hd_count_end(hd_count *c)
{
    if (!c->open)
        open_readers(c);
    end_run(c, true, HD_COUNT_LAG);
}

bool hd_count_flush(hd_count *c)
{
    if (!c->open)
        return !c->stopped;
    end_run(c, !c->over, 0);
    hd_broadcast_finish(c->queue);
    return !c->stopped;
}

/* Announces the CTA to the sinks before its first event. */
static bool begin_launch(hd_count *c, uint32_t function)
{
    if (c->batch->taken && !publish_batch(c, HD_COUNT_LAG))
        return false;
    hd_recorder_drop(c->recorder);
    c->batch->launch = function;
    c->batch->residency = c->residency;
    return true;
}

/* ---- the sink ---------------------------------------------------------------------------------------------------- */

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
    hd_rf_uniform_record(c->uniform, event->warp,
                         (hd_rf_branch){event->active, event->instruction, event->function, event->frame});
    return true;
}

static bool take_event(void *count, const hd_event *event)
{
    hd_count *c = count;
    if (c->stopped)
        return false;
    if (!c->open)
        open_readers(c);
    if (event->kind >= HD_EVENT_ARRIVE)
        return keep_barrier(c, event);
    bool issues = event->kind == HD_EVENT_ISSUE, continues = issues && hd_segments_continue(c->segments, event);
    if (!look_at_branches(c, event) || (!continues && event->kind != HD_EVENT_CALL && !end_segment(c)))
        return false;
    if (event->kind == HD_EVENT_LAUNCH && !begin_launch(c, event->function))
        return false;
    if (issues ? !keep_issue(c, event, continues) : !keep_other(c, event))
        return false;
    c->events++;
    if (event->kind == HD_EVENT_LAUNCH_END && !c->over)
        return hd_count_flush(c);
    return ++c->batch->taken < c->batch_most || publish_batch(c, HD_COUNT_LAG);
}

static bool take_segment(void *count, const hd_segment_event *s)
{
    hd_count *c = count;
    uint32_t part;
    if (c->stopped)
        return false;
    if (!c->open)
        open_readers(c);
    const hd_rf_branch *b = hd_rf_uniform_split_in(c->uniform, s, &part);
    if (b)
        return stop_at_split(c, b,
                             &(hd_event){.cta = s->cta, .warp = s->warp, .active = s->masks[s->parts[part].active]});
    const hd_warp_event e = hd_segments_find(c->segments, s);
    uint64_t number = c->events;
    c->events += s->count;
    if (!keep_event(c, &e, number))
        return false;
    c->batch->taken += s->count;
    return c->batch->taken < c->batch_most || publish_batch(c, HD_COUNT_LAG);
}

hd_sink hd_count_sink(hd_count *c)
{
    return (hd_sink){.take = take_event,
                     .context = c,
                     .columns = columns_of(c) | (couples(c) ? HD_COLUMN_BARRIERS : 0),
                     .take_segment = c->batch_most > 1 ? take_segment : NULL};
}
