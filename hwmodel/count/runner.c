/* The walk of models through warp instructions: see runner.h. */
#include "hwmodel/count/runner.h"
#include <assert.h>

hd_rf_feeder *hd_rf_feeder_new(const hd_rf_module *code)
{
    hd_rf_feeder *c = hd_calloc(1, sizeof *c);
    c->code = code;
    return c;
}

void hd_rf_feeder_add(hd_rf_feeder *c, hd_rf_model *model, uint32_t number)
{
    assert(!c->members.count || c->columns == model->info->ops->columns);
    c->columns = model->info->ops->columns;
    hd_array_push(&c->members, (hd_rf_member){.model = model, .number = number});
}

void hd_rf_feeder_attach(hd_rf_feeder *c) { c->memo = c->memo_ops->attach(c); }

void hd_rf_feeder_free(hd_rf_feeder *c)
{
    if (c->memo)
        c->memo_ops->detach(c->memo);
    for (uint32_t w = 0; w < c->warps.count; w++) {
        hd_identity_free(&c->warps.items[w]->warp.identity);
        free(c->warps.items[w]);
    }
    hd_array_free(&c->warps);
    hd_array_free(&c->members);
    hd_access_sink_free(&c->sink);
    free(c);
}

/* ---- warps ------------------------------------------------------------------------------------------------------- */

hd_rf_living *hd_rf_feeder_warp(hd_rf_feeder *c, uint32_t number)
{
    if (c->latest && c->latest->alive && c->latest->number == number)
        return c->latest;
    for (uint32_t i = 0; i < c->warps.count; i++)
        if (c->warps.items[i]->alive && c->warps.items[i]->number == number)
            return c->latest = c->warps.items[i];
    return NULL;
}

static hd_rf_living *free_slot(hd_rf_feeder *c)
{
    for (uint32_t i = 0; i < c->warps.count; i++)
        if (!c->warps.items[i]->alive)
            return c->warps.items[i];
    hd_rf_living *w = hd_calloc(1, sizeof *w);
    w->warp.slot = c->warps.count;
    hd_array_push(&c->warps, w);
    return w;
}

#define TELL_MODELS(c, hook, ...)                                             \
    do {                                                                      \
        for (uint32_t m_ = 0; m_ < (c)->members.count; m_++) {                \
            const hd_rf_member *member_ = &(c)->members.items[m_];            \
            if (!member_->failure.wrong && member_->model->info->ops->hook)   \
                member_->model->info->ops->hook(member_->model, __VA_ARGS__); \
        }                                                                     \
    } while (0)

/* Parameters in registers were written by the call, for the lanes that it took along. */
static void write_parameters(hd_rf_living *w, const hd_rf_code *code, uint32_t lanes)
{
    hd_identity_warp *identity = &w->warp.identity;
    for (uint32_t i = 0; i < code->function->register_parameters.count && lanes; i++) {
        HD_STORAGE_WORDS (&code->storage, code->function->register_parameters.items[i], word)
            hd_identity_write(identity, identity->base + word, lanes);
    }
}

/* ---- lives ------------------------------------------------------------------------------------------------------- */

static void start_frame(hd_rf_feeder *c, hd_rf_living *w, const hd_event *event)
{
    const hd_rf_code *code = c->code->functions[event->function];
    hd_identity_push(&w->warp.identity, event->frame, code->storage.frame);
    w->warp.function = event->function;
    write_parameters(w, code, event->active);
    TELL_MODELS(c, frame_begin, &w->warp);
}

static void end_frame(hd_rf_feeder *c, hd_rf_living *w)
{
    TELL_MODELS(c, frame_end, &w->warp);
    hd_identity_pop(&w->warp.identity);
}

void hd_rf_feeder_start(hd_rf_feeder *c, hd_rf_living *w, uint32_t cta, uint32_t number)
{
    c->latest = w;
    w->alive = true;
    w->number = number;
    w->warp.cta = cta;
    hd_identity_start(&w->warp.identity, number);
    TELL_MODELS(c, warp_begin, &w->warp);
}

static void end_warp(hd_rf_feeder *c, const hd_event *event)
{
    hd_rf_living *w = hd_rf_feeder_warp(c, event->warp);
    if (!w)
        return;
    while (w->warp.identity.frames.count)
        end_frame(c, w);
    TELL_MODELS(c, warp_end, &w->warp);
    w->alive = false;
}

/* Frames begin with their first instruction, which all lanes of the call reach, and end when one below goes on. */
static __attribute__((noinline)) void change_frame(hd_rf_feeder *c, hd_rf_living *w, const hd_event *event)
{
    hd_identity_warp *identity = &w->warp.identity;
    for (uint32_t i = identity->frames.count; i-- > 0;)
        if (identity->frames.items[i].frame == event->frame) {
            while (identity->frames.count > i + 1)
                end_frame(c, w);
            return;
        }
    start_frame(c, w, event);
}

static inline void enter_frame(hd_rf_feeder *c, hd_rf_living *w, const hd_event *event)
{
    if (!w->warp.identity.frames.count || w->warp.identity.frame != event->frame)
        change_frame(c, w, event);
}

static void return_to_frame(hd_rf_feeder *c, const hd_event *event)
{
    hd_rf_living *w = hd_rf_feeder_warp(c, event->warp);
    for (uint32_t i = 0; w && i < w->warp.identity.frames.count; i++)
        if (w->warp.identity.frames.items[i].frame == event->frame)
            enter_frame(c, w, event);
}

/* ---- one instruction --------------------------------------------------------------------------------------------- */

/* Of the sources, each must have been delivered in all lanes that read it. */
static inline void prove_delivered(hd_access_sink *sink, const hd_rf_step *step)
{
    for (uint32_t s = 0; s < step->source_count; s++) {
        uint32_t missing = step->effective & ~sink->delivered.items[s];
        if (__builtin_expect(missing != 0, 0))
            hd_rf_fail(&sink->failure, step,
                       (hd_rf_failure){.wrong = HD_RF_MISSING, .word = step->sources[s], .lanes = missing});
    }
}

static inline void run_model(hd_rf_feeder *c, hd_rf_member *member, const hd_rf_step *step)
{
    hd_rf_model *model = member->model;
    const hd_rf_ops *ops = model->info->ops;
    bool runs = step->effective != 0;
    hd_access_sink_begin(&c->sink, step->source_count);
    if (ops->before)
        ops->before(model, step, &c->sink);
    ops->execute(model, step, &c->sink);
    prove_delivered(&c->sink, step);
    hd_access_count(&c->sink, runs ? step->source_count : 0, runs ? step->destination_count : 0, model->counters);
    if (__builtin_expect(c->sink.failure.wrong != HD_RF_PROVED, 0)) {
        member->failure = c->sink.failure;
        c->failed++;
    }
}

/* Without columns. */
static inline __attribute__((always_inline)) hd_rf_step
plain_step(const hd_rf_code *code, hd_rf_living *w, uint32_t function, uint32_t i, uint32_t active, uint32_t effective)
{
    return (hd_rf_step){
        .warp = &w->warp,
        .code = code,
        .insn = &code->function->instructions.items[i],
        .function = function,
        .instruction = i,
        .active = active,
        .effective = effective,
        .sources = code->sources + code->source_first[i],
        .source_count = code->source_first[i + 1] - code->source_first[i],
        .destinations = code->destinations + code->destination_first[i],
        .destination_count = code->destination_first[i + 1] - code->destination_first[i],
        .serial = w->warp.identity.serial + 1,
    };
}

static hd_rf_step step_of(const hd_rf_feeder *c, hd_rf_living *w, const hd_event *e)
{
    hd_rf_step step =
        plain_step(c->code->functions[e->function], w, e->function, e->instruction, e->active, e->effective);
    step.addresses = c->columns & HD_COLUMN_ADDRESSES ? e->addresses : NULL;
    step.results = c->columns & HD_COLUMN_RESULTS ? e->results : NULL;
    step.widths = c->columns & HD_COLUMN_WIDTHS ? e->widths : NULL;
    return step;
}

hd_rf_step hd_rf_feeder_peek(hd_rf_feeder *c, const hd_event *event)
{
    hd_rf_living *w = hd_rf_feeder_warp(c, event->warp);
    if (!w)
        return (hd_rf_step){0};
    enter_frame(c, w, event);
    return step_of(c, w, event);
}

static bool overflow(hd_rf_feeder *c, const hd_rf_step *step)
{
    for (uint32_t m = 0; m < c->members.count; m++)
        if (!c->members.items[m].failure.wrong) {
            hd_rf_fail(&c->members.items[m].failure, step, (hd_rf_failure){.wrong = HD_RF_OVERFLOW});
            c->failed++;
        }
    return false;
}

/* An instruction of the warp, whose frame is on top. */
static inline bool take_step(hd_rf_feeder *c, hd_rf_living *w, const hd_rf_step *step)
{
    hd_rf_member *const end = c->members.items + c->members.count;
    for (hd_rf_member *member = c->members.items; member < end; member++)
        if (!member->failure.wrong)
            run_model(c, member, step);
    for (uint32_t d = 0; d < step->destination_count && step->effective; d++)
        hd_identity_write(&w->warp.identity, hd_rf_index(step, step->destinations[d].word), step->effective);
    return (w->warp.identity.serial < UINT32_MAX - 4096 || overflow(c, step)) && c->failed < c->members.count;
}

static bool issue(hd_rf_feeder *c, const hd_event *event)
{
    hd_rf_living *w = hd_rf_feeder_warp(c, event->warp);
    if (!w)
        return true; /* begun before this count was attached */
    enter_frame(c, w, event);
    const hd_rf_step step = step_of(c, w, event);
    return take_step(c, w, &step);
}

bool hd_rf_feeder_take(hd_rf_feeder *c, const hd_event *event)
{
    if (c->failed == c->members.count)
        return false;
    switch ((hd_event_kind)event->kind) {
    case HD_EVENT_LAUNCH: {
        hd_rf_launch launch = {event->function, c->residency};
        TELL_MODELS(c, launch, &launch);
        return true;
    }
    case HD_EVENT_WARP_START: hd_rf_feeder_start(c, free_slot(c), event->cta, event->warp); return true;
    case HD_EVENT_ISSUE: return issue(c, event);
    case HD_EVENT_WARP_END: end_warp(c, event); return true;
    case HD_EVENT_CTA_END: TELL_MODELS(c, cta_end, event->cta); return true;
    case HD_EVENT_RETURN: /* before the caller goes on, the same call may start another function */
        return_to_frame(c, event);
        return true;
    case HD_EVENT_CALL: /* the frame begins with its first instruction */
    case HD_EVENT_CTA_START:
    case HD_EVENT_LAUNCH_END: return true;
    }
    return true;
}

bool hd_rf_feeder_pass(hd_rf_feeder *c, const hd_rf_passage *p, uint32_t *at)
{
    const hd_rf_stretch *s = p->stretch;
    const hd_rf_code *code = c->code->functions[s->function];
    const hd_stretch_part *part = s->parts, *last = s->parts + s->part_count - 1;
    const hd_width *widths = c->columns & HD_COLUMN_WIDTHS ? hd_rf_stretch_widths(s, c->code, p->from) : NULL;
    uint32_t failed = c->failed;
    hd_rf_living *w = hd_rf_feeder_warp(c, p->warp);
    if (!w || p->from == p->end)
        return true;
    hd_event first = hd_rf_passage_event(p, p->from);
    enter_frame(c, w, &first);
    for (uint32_t i = p->from; i < p->end; i++) {
        c->sink.now = c->now ? c->now - (p->end - i) : 0;
        while (part < last && part[1].at <= i)
            part++;
        uint32_t active = hd_rf_stretch_mask(s, part->active), effective = hd_rf_stretch_mask(s, s->effective[i]);
        hd_rf_step step = plain_step(code, w, s->function, part->first + (i - part->at), active, effective);
        if (effective && widths) {
            step.widths = widths;
            widths += step.destination_count;
        }
        take_step(c, w, &step);
        if (c->failed != failed) {
            *at = i;
            return false;
        }
    }
    return true;
}

void hd_rf_feeder_walk_switch(hd_rf_feeder *c, uint32_t warp, bool leaves)
{
    hd_rf_living *w = hd_rf_feeder_warp(c, warp);
    if (!w)
        return;
    for (uint32_t m = 0; m < c->members.count; m++) {
        hd_rf_model *model = c->members.items[m].model;
        if (c->members.items[m].failure.wrong || !model->info->ops->warp_switch)
            continue;
        hd_access_sink_begin(&c->sink, 0);
        c->sink.now = c->now;
        model->info->ops->warp_switch(model, leaves ? &w->warp : NULL, leaves ? NULL : &w->warp, &c->sink);
        hd_access_count(&c->sink, 0, 0, model->counters);
    }
}

/* ---- with or without a memo -------------------------------------------------------------------------------------- */

bool hd_rf_feeder_passage(hd_rf_feeder *c, const hd_rf_passage *p, uint32_t *at)
{
    *at = 0;
    if (c->memo)
        return c->memo_ops->take(c->memo, p, at);
    if (p->kind == HD_EVENT_ISSUE)
        return hd_rf_feeder_pass(c, p, at);
    return hd_rf_feeder_take(
        c, &(hd_event){.kind = p->kind, .cta = p->cta, .warp = p->warp, .frame = p->frame, .function = p->function});
}

void hd_rf_feeder_switch(hd_rf_feeder *c, uint32_t warp, bool leaves)
{
    if (c->memo)
        c->memo_ops->warp_switch(c->memo, warp, leaves);
    else
        hd_rf_feeder_walk_switch(c, warp, leaves);
}

void hd_rf_feeder_finalize(hd_rf_feeder *c)
{
    if (c->memo)
        c->memo_ops->finalize(c->memo);
}
