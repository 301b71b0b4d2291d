/* One model, walked through what warps execute: see runner.h. */
#include "hwmodel/count/runner.h"

hd_runner *hd_runner_new(const hd_rf_module *code, hd_rf_model *model, const hd_runner_memo *memo)
{
    hd_runner *r = hd_calloc(1, sizeof *r);
    r->code = code;
    r->model = model;
    r->memo_ops = memo;
    if (memo && memo->applies(model))
        r->memo = memo->create(r);
    return r;
}

void hd_runner_free(hd_runner *r)
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
static hd_warp_slot *find_warp(hd_runner *r, uint32_t number)
{
    uint32_t *hint = &r->slots[number & 255];
    if (*hint < r->warps.count && r->warps.items[*hint]->alive && r->warps.items[*hint]->number == number)
        return r->warps.items[*hint];
    for (uint32_t i = 0; i < r->warps.count; i++)
        if (r->warps.items[i]->alive && r->warps.items[i]->number == number)
            return r->warps.items[*hint = i];
    return NULL;
}

static hd_warp_slot *free_slot(hd_runner *r)
{
    for (uint32_t i = 0; i < r->warps.count; i++)
        if (!r->warps.items[i]->alive)
            return r->warps.items[i];
    hd_warp_slot *w = hd_calloc(1, sizeof *w);
    w->warp.slot = r->warps.count;
    hd_array_push(&r->warps, w);
    return w;
}

static void call_hook(const hd_runner *r, void (*hook)(hd_rf_model *model, hd_rf_warp *warp), hd_warp_slot *w)
{
    if (hook)
        hook(r->model, &w->warp);
}

static void begin_warp(hd_runner *r, const hd_warp_event *e)
{
    hd_warp_slot *w = free_slot(r);
    w->alive = true;
    w->number = e->warp;
    w->warp.cta = e->cta;
    hd_array_clear(&w->functions);
    hd_identity_start(&w->warp.identity, e->warp);
    call_hook(r, r->model->info->ops->warp_begin, w);
    if (r->looks_up)
        r->memo_ops->begin(r->memo, w);
}

static void begin_frame(hd_runner *r, hd_warp_slot *w, uint32_t function, uint32_t frame, uint32_t lanes)
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

static void end_frames(hd_runner *r, hd_warp_slot *w, uint32_t down_to)
{
    while (w->warp.identity.frames.count > down_to) {
        call_hook(r, r->model->info->ops->frame_end, w);
        hd_identity_pop(&w->warp.identity);
        w->functions.count--;
    }
}

static bool is_on_top(const hd_warp_slot *w, uint32_t frame)
{
    return w->warp.identity.frames.count && w->warp.identity.frame == frame;
}

/* Frames of the warp down to that one; 0: it is none of them. */
static uint32_t frames_to(const hd_warp_slot *w, uint32_t frame)
{
    uint32_t count = w->warp.identity.frames.count;
    while (count && w->warp.identity.frames.items[count - 1].frame != frame)
        count--;
    return count;
}

/* A frame begins with its first instruction, which all lanes of the call reach, and ends when one below goes on. */
void hd_runner_enter(hd_runner *r, hd_warp_slot *w, const hd_warp_event *e)
{
    if (is_on_top(w, e->frame))
        return;
    const hd_trace_segment *s = e->segment;
    uint32_t down_to = frames_to(w, e->frame);
    if (down_to)
        end_frames(r, w, down_to);
    else
        begin_frame(r, w, s->function, e->frame,
                    s->masks[hd_segment_part_at(s->parts, s->part_count, e->from)->active]);
}

void hd_runner_restart(hd_runner *r, hd_warp_slot *w)
{
    HD_ARRAY(hd_identity_frame) frames = {0};
    hd_u32_array functions = {0};
    for (uint32_t f = 0; f < w->functions.count; f++) {
        hd_array_push(&frames, w->warp.identity.frames.items[f]);
        hd_array_push(&functions, w->functions.items[f]);
    }
    end_frames(r, w, 0);
    call_hook(r, r->model->info->ops->warp_end, w);
    hd_identity_start(&w->warp.identity, w->number);
    call_hook(r, r->model->info->ops->warp_begin, w);
    for (uint32_t f = 0; f < frames.count; f++)
        begin_frame(r, w, functions.items[f], frames.items[f].frame, 0);
    hd_array_free(&frames);
    hd_array_free(&functions);
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

/* Where it is in the code; what widths and columns there are is the caller's. */
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

static inline bool run_step(hd_runner *r, const hd_rf_step *step)
{
    const hd_rf_ops *ops = r->model->info->ops;
    hd_identity_warp *identity = &step->warp->identity;
    bool runs = step->effective != 0;
    hd_access_sink_begin(&r->sink, step->source_count);
    if (ops->before)
        ops->before(r->model, step, &r->sink);
    ops->execute(r->model, step, &r->sink);
    hd_rf_prove_delivered(&r->sink, step);
    hd_access_count(&r->sink, runs ? step->source_count : 0, runs ? step->destination_count : 0, r->model->counters);
    for (uint32_t d = 0; d < step->destination_count && runs; d++)
        hd_identity_write(identity, identity->base + step->destinations[d].word, step->effective);
    if (__builtin_expect(identity->serial >= UINT32_MAX - 4096, 0))
        hd_rf_fail(&r->sink.failure, step, (hd_rf_failure){.wrong = HD_RF_OVERFLOW});
    return r->sink.failure.wrong == HD_RF_PROVED;
}

/* Of the segment's results, those from instruction i on. */
static const hd_width *widths_from(const hd_trace_segment *s, const hd_rf_code *code, uint32_t i)
{
    const hd_width *widths = s->widths;
    for (uint32_t k = 0; widths && k < i; k++) {
        uint32_t instruction = hd_segment_instruction(s, k);
        widths += s->effective[k] ? code->destination_first[instruction + 1] - code->destination_first[instruction] : 0;
    }
    return widths;
}

static hd_rf_step step_in(const hd_runner *r, hd_warp_slot *w, const hd_trace_segment *s)
{
    uint32_t columns = r->model->info->ops->columns;
    return (hd_rf_step){
        .warp = &w->warp,
        .code = r->code->functions[s->function],
        .function = s->function,
        .addresses = columns & HD_COLUMN_ADDRESSES ? s->addresses : NULL,
        .results = columns & HD_COLUMN_RESULTS || (columns & HD_COLUMN_LOADED && s->addresses) ? s->results : NULL,
        .effect = s->effect};
}

uint32_t hd_runner_idle(hd_runner *r, uint32_t units, uint64_t now)
{
    hd_access_sink_begin(&r->sink, 0);
    r->sink.now = now;
    uint32_t used = r->model->info->ops->idle_slot(r->model, units, now, &r->sink);
    hd_access_count(&r->sink, 0, 0, r->model->counters);
    return used;
}

static void offer_others(hd_runner *r, const hd_rf_step *step)
{
    hd_runner_idle(r, ~(1u << hd_form_unit(hd_insn_form(step->code->function, step->insn))), r->sink.now);
}

static bool walk_segment(hd_runner *r, hd_warp_slot *w, const hd_warp_event *e, uint32_t *at)
{
    const hd_trace_segment *s = e->segment;
    const hd_segment_part *part = hd_segment_part_at(s->parts, s->part_count, e->from),
                          *last = s->parts + s->part_count - 1;
    hd_rf_step step = step_in(r, w, s);
    const hd_width *widths =
        r->model->info->ops->columns & HD_COLUMN_WIDTHS ? widths_from(s, step.code, e->from) : NULL;
    hd_runner_enter(r, w, e);
    for (uint32_t i = e->from; i < e->end; i++) {
        r->sink.now = r->now ? r->now - (e->end - i) : 0;
        part += part < last && part[1].at <= i;
        step.active = s->masks[part->active];
        step.effective = s->masks[s->effective[i]];
        place_step(&step, part->first + (i - part->at));
        step.widths = step.effective ? widths : NULL;
        if (step.widths)
            widths += step.destination_count;
        if (__builtin_expect(!run_step(r, &step), 0)) {
            r->failure = r->sink.failure;
            *at = i;
            return false;
        }
        if (r->offers)
            offer_others(r, &step);
    }
    return true;
}

hd_rf_step hd_runner_peek(hd_runner *r, const hd_warp_event *e, uint32_t i)
{
    const hd_trace_segment *s = e->segment;
    hd_warp_event next = *e;
    hd_warp_slot *w = find_warp(r, e->warp);
    if (!w)
        return (hd_rf_step){0};
    next.from = (uint8_t)i;
    hd_runner_enter(r, w, &next);
    hd_rf_step step = step_in(r, w, s);
    step.active = s->masks[hd_segment_part_at(s->parts, s->part_count, i)->active];
    step.effective = s->masks[s->effective[i]];
    place_step(&step, hd_segment_instruction(s, i));
    return step;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static void switch_warp(hd_runner *r, hd_warp_slot *w, bool leaves)
{
    hd_rf_model *model = r->model;
    if (!model->info->ops->warp_switch)
        return;
    hd_access_sink_begin(&r->sink, 0);
    r->sink.now = r->now;
    model->info->ops->warp_switch(model, leaves ? &w->warp : NULL, leaves ? NULL : &w->warp, &r->sink);
    hd_access_count(&r->sink, 0, 0, model->counters);
}

bool hd_runner_walk(hd_runner *r, hd_warp_slot *w, const hd_warp_event *e, uint32_t *at)
{
    switch ((hd_warp_event_kind)e->kind) {
    case HD_WARP_ISSUES: return walk_segment(r, w, e, at);
    case HD_WARP_RETURNS: end_frames(r, w, frames_to(w, e->frame)); break;
    case HD_WARP_ENDS:
        end_frames(r, w, 0);
        call_hook(r, r->model->info->ops->warp_end, w);
        break;
    case HD_WARP_ACTIVE:
    case HD_WARP_INACTIVE: switch_warp(r, w, e->kind == HD_WARP_INACTIVE); break;
    case HD_WARP_BEGINS:
    case HD_CTA_ENDS: break;
    }
    return true;
}

void hd_runner_launch(hd_runner *r, uint32_t function, const hd_rf_residency *residency)
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

/* Before the caller goes on, the same call may start another function. A return from what has not begun is none. */
static bool leaves_frame(const hd_warp_slot *w, uint32_t frame) { return frames_to(w, frame) && !is_on_top(w, frame); }

bool hd_runner_take(hd_runner *r, const hd_warp_event *e, uint32_t *at)
{
    *at = 0;
    if (r->failure.wrong)
        return false;
    if (e->kind == HD_WARP_BEGINS) {
        begin_warp(r, e);
        return true;
    }
    if (e->kind == HD_CTA_ENDS) {
        if (r->model->info->ops->cta_end)
            r->model->info->ops->cta_end(r->model, e->cta);
        return true;
    }
    hd_warp_slot *w = find_warp(r, e->warp);
    if (!w || (e->kind == HD_WARP_RETURNS && !leaves_frame(w, e->frame)))
        return true; /* w: begun before this was attached */
    bool good = r->looks_up ? r->memo_ops->take(r->memo, w, e, at) : hd_runner_walk(r, w, e, at);
    w->alive = e->kind != HD_WARP_ENDS;
    return good;
}
