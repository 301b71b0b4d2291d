/* One model, walked through what warps execute: see walk.h. */
#include "hwmodel/record/walk.h"

hd_walk *hd_walk_new(const hd_rf_module *code, hd_rf_model *model, const hd_walk_memo *memo)
{
    hd_walk *r = hd_calloc(1, sizeof *r);
    r->code = code;
    r->model = model;
    r->memo_ops = memo;
    if (memo && memo->applies(model))
        r->memo = memo->create(r);
    return r;
}

void hd_walk_free(hd_walk *r)
{
    if (r->memo)
        r->memo_ops->destroy(r->memo);
    for (uint32_t w = 0; w < r->warps.count; w++) {
        hd_identity_free(&r->warps.items[w]->warp.identity);
        hd_array_free(&r->warps.items[w]->functions);
        free(r->warps.items[w]);
    }
    hd_array_free(&r->warps);
    hd_access_sink_free(&r->sink);
    free(r);
}

/* ---- warps and frames -------------------------------------------------------------------------------------------- */

/* NULL: it does not live. */
static hd_walk_warp *find_warp(hd_walk *r, uint32_t number)
{
    uint32_t *hint = &r->slots[number & 255];
    if (*hint < r->warps.count && r->warps.items[*hint]->alive && r->warps.items[*hint]->number == number)
        return r->warps.items[*hint];
    for (uint32_t i = 0; i < r->warps.count; i++)
        if (r->warps.items[i]->alive && r->warps.items[i]->number == number)
            return r->warps.items[*hint = i];
    return NULL;
}

static hd_walk_warp *free_slot(hd_walk *r)
{
    for (uint32_t i = 0; i < r->warps.count; i++)
        if (!r->warps.items[i]->alive)
            return r->warps.items[i];
    hd_walk_warp *w = hd_calloc(1, sizeof *w);
    w->warp.slot = r->warps.count;
    hd_array_push(&r->warps, w);
    return w;
}

static void call_hook(const hd_walk *r, void (*hook)(hd_rf_model *model, hd_rf_warp *warp), hd_walk_warp *w)
{
    if (hook)
        hook(r->model, &w->warp);
}

hd_walk_warp *hd_walk_begin_warp(hd_walk *r, uint32_t cta, uint32_t warp)
{
    hd_walk_warp *w = free_slot(r);
    w->alive = true;
    w->number = warp;
    w->warp.cta = cta;
    hd_array_clear(&w->functions);
    hd_identity_start(&w->warp.identity, warp);
    call_hook(r, r->model->info->ops->warp_begin, w);
    if (r->looks_up)
        r->memo_ops->begin(r->memo, w);
    return w;
}

static void begin_frame(hd_walk *r, hd_walk_warp *w, uint32_t function, uint32_t frame, uint32_t lanes)
{
    const hd_rf_code *code = r->code->functions[function];
    hd_identity_warp *identity = &w->warp.identity;
    hd_identity_push(identity, frame, code->storage.frame);
    hd_array_push(&w->functions, function);
    w->warp.function = function;
    /* parameters in registers were written by the call, for the lanes that it took along */
    for (uint32_t i = 0; i < code->function->register_parameters.count && lanes; i++) {
        HD_STORAGE_WORDS (&code->storage, code->function->register_parameters.items[i], word)
            hd_identity_write(identity, identity->base + word, lanes);
    }
    call_hook(r, r->model->info->ops->frame_begin, w);
}

static void end_frames(hd_walk *r, hd_walk_warp *w, uint32_t down_to)
{
    while (w->warp.identity.frames.count > down_to) {
        call_hook(r, r->model->info->ops->frame_end, w);
        hd_identity_pop(&w->warp.identity);
        w->functions.count--;
    }
}

static bool is_on_top(const hd_walk_warp *w, uint32_t frame)
{
    return w->warp.identity.frames.count && w->warp.identity.frame == frame;
}

/* Frames of the warp down to that one; 0: it is none of them. */
static uint32_t frames_to(const hd_walk_warp *w, uint32_t frame)
{
    uint32_t count = w->warp.identity.frames.count;
    while (count && w->warp.identity.frames.items[count - 1].frame != frame)
        count--;
    return count;
}

/* A frame begins with its first instruction, which all lanes of the call reach, and ends when one below goes on. */
static inline void enter_frame(hd_walk *r, hd_walk_warp *w, uint32_t function, uint32_t frame, uint32_t active)
{
    if (is_on_top(w, frame))
        return;
    uint32_t down_to = frames_to(w, frame);
    if (down_to)
        end_frames(r, w, down_to);
    else
        begin_frame(r, w, function, frame, active);
}

void hd_walk_enter(hd_walk *r, hd_walk_warp *w, const hd_warp_event *e)
{
    const hd_segment *s = e->segment;
    enter_frame(r, w, s->function, e->frame, s->masks[hd_segment_part_at(s->parts, s->part_count, e->from)->active]);
}

/* Before the caller goes on, the same call may start another function. A return from a function whose first instruction
 * was not reached is ignored. */
static bool leaves_frame(const hd_walk_warp *w, uint32_t frame) { return frames_to(w, frame) && !is_on_top(w, frame); }

static void end_warp(hd_walk *r, hd_walk_warp *w)
{
    end_frames(r, w, 0);
    call_hook(r, r->model->info->ops->warp_end, w);
}

void hd_walk_end_warp(hd_walk *r, hd_walk_warp *w)
{
    end_warp(r, w);
    w->alive = false;
}

void hd_walk_end_cta(hd_walk *r, uint32_t cta)
{
    if (r->model->info->ops->cta_end)
        r->model->info->ops->cta_end(r->model, cta);
}

void hd_walk_restart(hd_walk *r, hd_walk_warp *w)
{
    HD_ARRAY(hd_identity_frame) frames = {0};
    hd_u32_array functions = {0};
    for (uint32_t f = 0; f < w->functions.count; f++) {
        hd_array_push(&frames, w->warp.identity.frames.items[f]);
        hd_array_push(&functions, w->functions.items[f]);
    }
    end_warp(r, w);
    hd_identity_start(&w->warp.identity, w->number);
    call_hook(r, r->model->info->ops->warp_begin, w);
    for (uint32_t f = 0; f < frames.count; f++)
        begin_frame(r, w, functions.items[f], frames.items[f].frame, 0);
    hd_array_free(&frames);
    hd_array_free(&functions);
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

/* Sets only the position; the caller sets lanes and columns. */
static inline __attribute__((always_inline)) void place_step(hd_rf_step *step, uint32_t i)
{
    const hd_rf_code *code = step->code;
    step->instruction = i;
    step->insn = &code->function->instructions.items[i];
    step->sources = code->sources + code->source_first[i];
    step->source_count = code->source_first[i + 1] - code->source_first[i];
    step->destinations = code->destinations + code->destination_first[i];
    step->destination_count = code->destination_first[i + 1] - code->destination_first[i];
    step->serial = step->warp->identity.serial + 1;
}

/* A step without a position, with the columns that the model requests. */
static inline hd_rf_step step_of(const hd_walk *r, hd_walk_warp *w, uint32_t function, const uint64_t *addresses,
                                 const uint32_t *results, const hd_lane_effect *effect)
{
    uint32_t columns = r->model->info->ops->columns;
    return (hd_rf_step){.warp = &w->warp,
                        .code = r->code->functions[function],
                        .function = function,
                        .addresses = columns & HD_COLUMN_ADDRESSES ? addresses : NULL,
                        .results =
                            columns & HD_COLUMN_RESULTS || (columns & HD_COLUMN_LOADED && addresses) ? results : NULL,
                        .effect = effect};
}

static inline hd_access_sink *begin_sink(hd_walk *r, uint32_t sources)
{
    hd_access_sink_begin(&r->sink, sources);
    r->sink.now = r->now;
    return &r->sink;
}

const hd_access_sink *hd_walk_before(hd_walk *r, const hd_rf_step *step)
{
    hd_access_sink *sink = begin_sink(r, 0);
    r->model->info->ops->before(r->model, step, sink);
    hd_access_count(sink, 0, 0, r->model->counters);
    return sink;
}

const hd_access_sink *hd_walk_execute(hd_walk *r, const hd_rf_step *step)
{
    hd_access_sink *sink = begin_sink(r, step->source_count);
    hd_identity_warp *identity = &step->warp->identity;
    bool runs = step->effective != 0;
    r->model->info->ops->execute(r->model, step, sink);
    hd_rf_prove_delivered(sink, step);
    hd_access_count(sink, runs ? step->source_count : 0, runs ? step->destination_count : 0, r->model->counters);
    for (uint32_t d = 0; d < step->destination_count && runs; d++)
        hd_identity_write(identity, identity->base + step->destinations[d].word, step->effective);
    if (__builtin_expect(identity->serial >= UINT32_MAX - 4096, 0))
        hd_rf_fail(&sink->failure, step, (hd_rf_failure){.wrong = HD_RF_OVERFLOW});
    if (__builtin_expect(sink->failure.wrong && !r->failure.wrong, 0))
        r->failure = sink->failure;
    return sink;
}

const hd_access_sink *hd_walk_switch(hd_walk *r, hd_walk_warp *w, bool leaves)
{
    hd_rf_model *model = r->model;
    hd_access_sink *sink = begin_sink(r, 0);
    if (model->info->ops->warp_switch)
        model->info->ops->warp_switch(model, leaves ? &w->warp : NULL, leaves ? NULL : &w->warp, sink);
    hd_access_count(sink, 0, 0, model->counters);
    return sink;
}

hd_rf_step hd_walk_read(hd_walk *r, hd_walk_warp *w, const hd_record_cursor *cursor)
{
    const hd_record_step *s = &cursor->step;
    if (s->returned != HD_NONE && leaves_frame(w, s->returned))
        end_frames(r, w, frames_to(w, s->returned));
    enter_frame(r, w, s->function, s->frame, s->active);
    hd_rf_step step = step_of(r, w, s->function, s->has_addresses ? cursor->addresses : NULL, s->results,
                              s->has_effect ? &cursor->effect : NULL);
    step.active = s->active;
    step.effective = s->effective;
    step.widths = s->width_count ? cursor->widths : NULL;
    place_step(&step, s->instruction);
    return step;
}

/* ---- segments ---------------------------------------------------------------------------------------------------- */

/* The widths of the segment's results from instruction i on. */
static const hd_width *widths_from(const hd_segment *s, const hd_rf_code *code, uint32_t i)
{
    const hd_width *widths = s->widths;
    for (uint32_t k = 0; widths && k < i; k++) {
        uint32_t instruction = hd_segment_instruction(s, k);
        widths += s->effective[k] ? code->destination_first[instruction + 1] - code->destination_first[instruction] : 0;
    }
    return widths;
}

static hd_rf_step step_in(const hd_walk *r, hd_walk_warp *w, const hd_segment *s)
{
    return step_of(r, w, s->function, s->addresses, s->results, s->effect);
}

uint32_t hd_walk_idle(hd_walk *r, uint32_t units, uint64_t now)
{
    hd_access_sink_begin(&r->sink, 0);
    r->sink.now = now;
    uint32_t used = r->model->info->ops->idle_slot(r->model, units, now, &r->sink);
    hd_access_count(&r->sink, 0, 0, r->model->counters);
    return used;
}

static void offer_others(hd_walk *r, const hd_rf_step *step)
{
    hd_walk_idle(r, ~(1u << hd_form_unit(hd_insn_form(step->code->function, step->insn))), r->sink.now);
}

static bool walk_segment(hd_walk *r, hd_walk_warp *w, const hd_warp_event *e, uint32_t *at)
{
    const hd_segment *s = e->segment;
    const hd_segment_part *part = hd_segment_part_at(s->parts, s->part_count, e->from),
                          *last = s->parts + s->part_count - 1;
    const bool prepares = r->model->info->ops->before;
    const uint64_t then = r->now;
    hd_rf_step step = step_in(r, w, s);
    const hd_width *widths =
        r->model->info->ops->columns & HD_COLUMN_WIDTHS ? widths_from(s, step.code, e->from) : NULL;
    hd_walk_enter(r, w, e);
    for (uint32_t i = e->from; i < e->end; i++) {
        r->now = then ? then - (e->end - i) : 0;
        part += part < last && part[1].at <= i;
        step.active = s->masks[part->active];
        step.effective = s->masks[s->effective[i]];
        place_step(&step, part->first + (i - part->at));
        step.widths = step.effective ? widths : NULL;
        if (step.widths)
            widths += step.destination_count;
        if (prepares)
            hd_walk_before(r, &step);
        if (__builtin_expect(hd_walk_execute(r, &step)->failure.wrong != HD_RF_PROVED, 0)) {
            *at = i;
            return false;
        }
        if (r->offers)
            offer_others(r, &step);
    }
    r->now = then;
    return true;
}

hd_rf_step hd_walk_peek(hd_walk *r, const hd_warp_event *e, uint32_t i)
{
    const hd_segment *s = e->segment;
    hd_warp_event next = *e;
    hd_walk_warp *w = find_warp(r, e->warp);
    if (!w)
        return (hd_rf_step){0};
    next.from = (uint8_t)i;
    hd_walk_enter(r, w, &next);
    hd_rf_step step = step_in(r, w, s);
    step.active = s->masks[hd_segment_part_at(s->parts, s->part_count, i)->active];
    step.effective = s->masks[s->effective[i]];
    place_step(&step, hd_segment_instruction(s, i));
    return step;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

bool hd_walk_through(hd_walk *r, hd_walk_warp *w, const hd_warp_event *e, uint32_t *at)
{
    switch ((hd_warp_event_kind)e->kind) {
    case HD_WARP_ISSUES: return walk_segment(r, w, e, at);
    case HD_WARP_RETURNS: end_frames(r, w, frames_to(w, e->frame)); break;
    case HD_WARP_ENDS: end_warp(r, w); break;
    case HD_WARP_ACTIVE:
    case HD_WARP_INACTIVE: hd_walk_switch(r, w, e->kind == HD_WARP_INACTIVE); break;
    case HD_WARP_BEGINS:
    case HD_CTA_ENDS: break;
    }
    return true;
}

void hd_walk_launch(hd_walk *r, uint32_t function, const hd_rf_residency *residency)
{
    const hd_rf_launch launch = {function, *residency};
    const hd_rf_ops *ops = r->model->info->ops;
    for (uint32_t i = 0; i < r->warps.count; i++) /* of a run that stopped */
        r->warps.items[i]->alive = false;
    if (ops->launch)
        ops->launch(r->model, &launch);
    r->ungated = r->memo && ops->memo->never_refuses && ops->memo->never_refuses(r->model);
    r->looks_up = r->memo && (!ops->may_issue || r->ungated);
}

bool hd_walk_take(hd_walk *r, const hd_warp_event *e, uint32_t *at)
{
    *at = 0;
    if (r->failure.wrong)
        return false;
    if (e->kind == HD_WARP_BEGINS) {
        hd_walk_begin_warp(r, e->cta, e->warp);
        return true;
    }
    if (e->kind == HD_CTA_ENDS) {
        hd_walk_end_cta(r, e->cta);
        return true;
    }
    hd_walk_warp *w = find_warp(r, e->warp);
    if (!w || (e->kind == HD_WARP_RETURNS && !leaves_frame(w, e->frame)))
        return true; /* w: begun before this was attached */
    bool good = r->looks_up ? r->memo_ops->take(r->memo, w, e, at) : hd_walk_through(r, w, e, at);
    w->alive = e->kind != HD_WARP_ENDS;
    return good;
}
