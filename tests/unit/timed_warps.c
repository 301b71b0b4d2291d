/* Warps: their frames, the next instruction of each, what it waits for, and how they come and go (timed_state.h). */
#include "tests/unit/timed_state.h"

uint32_t timed_live_warps(const timed_driver *d, uint32_t cta)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < d->slots; s++)
        count += d->warps[s]->resident && d->warps[s]->warp.cta == cta;
    return count;
}

/* ---- frames and steps -------------------------------------------------------------------------------------------- */

static void pop_frame(timed_driver *d, timed_warp *w)
{
    if (d->ops->frame_end)
        d->ops->frame_end(d->model, &w->warp);
    hd_identity_pop(&w->warp.identity);
}

static bool has_frame(const timed_warp *w, uint32_t frame)
{
    for (uint32_t f = 0; f < w->warp.identity.frames.count; f++)
        if (w->warp.identity.frames.items[f].frame == frame)
            return true;
    return false;
}

static void push_frame(timed_driver *d, timed_warp *w, const timed_event *e)
{
    const hd_rf_code *code = d->run->code->functions[e->function];
    hd_identity_warp *identity = &w->warp.identity;
    hd_identity_push(identity, e->frame, code->storage.frame);
    w->warp.function = e->function;
    for (uint32_t i = 0; i < code->function->register_parameters.count && e->active; i++)
        HD_STORAGE_WORDS (&code->storage, code->function->register_parameters.items[i], word)
            hd_identity_write(identity, identity->base + word, e->active);
    if (d->ops->frame_begin)
        d->ops->frame_begin(d->model, &w->warp);
}

bool timed_reach_instruction(timed_driver *d, timed_warp *w)
{
    for (; w->next < w->trace->events.count; w->next++) {
        const timed_event *e = &w->trace->events.items[w->next];
        if (has_frame(w, e->frame))
            while (w->warp.identity.frame != e->frame)
                pop_frame(d, w);
        if (e->is_return)
            continue;
        if (!w->warp.identity.frames.count || w->warp.identity.frame != e->frame)
            push_frame(d, w, e);
        return true;
    }
    return false;
}

hd_rf_step timed_step_of(const timed_driver *d, timed_warp *w)
{
    const timed_event *e = &w->trace->events.items[w->next];
    const timed_trace *t = d->run->trace;
    const hd_rf_code *code = d->run->code->functions[e->function];
    uint32_t i = e->instruction, columns = d->ops->columns;
    return (hd_rf_step){
        .warp = &w->warp,
        .code = code,
        .insn = &code->function->instructions.items[i],
        .function = e->function,
        .instruction = i,
        .active = e->active,
        .effective = e->effective,
        .sources = code->sources + code->source_first[i],
        .source_count = code->source_first[i + 1] - code->source_first[i],
        .destinations = code->destinations + code->destination_first[i],
        .destination_count = code->destination_first[i + 1] - code->destination_first[i],
        .serial = w->warp.identity.serial + 1,
        .addresses = e->addresses && columns & HD_COLUMN_ADDRESSES ? t->addresses.items + e->addresses - 1 : NULL,
        .results = e->results && columns & (HD_COLUMN_RESULTS | (e->addresses ? HD_COLUMN_LOADED : 0))
                       ? t->results.items + e->results - 1
                       : NULL,
        .widths = e->widths && columns & HD_COLUMN_WIDTHS ? t->widths.items + e->widths - 1 : NULL,
    };
}

/* ---- what a warp waits for --------------------------------------------------------------------------------------- */

static bool is_pending(const timed_warp *w, uint32_t word, bool loads)
{
    for (uint32_t p = 0; p < w->pending.count; p++) {
        const timed_pending_word *pending = &w->pending.items[p];
        if (pending->frame == w->warp.identity.frame && pending->word == word && (!loads || pending->of->is_load))
            return true;
    }
    return false;
}

/* A word that the instruction reads or writes is not there yet; loads: because of a long-latency load. */
bool timed_waits_for_words(const timed_warp *w, const hd_rf_step *step, bool loads)
{
    for (uint32_t s = 0; s < step->source_count; s++)
        if (is_pending(w, step->sources[s], loads))
            return true;
    for (uint32_t k = 0; k < step->destination_count; k++)
        if (is_pending(w, step->destinations[k].word, loads))
            return true;
    return false;
}

/* Others of its CTA have not come to the barrier that it issued last. */
bool timed_waits_at_barrier(const timed_driver *d, const timed_warp *w)
{
    for (uint32_t s = 0; s < d->slots; s++) {
        const timed_warp *other = d->warps[s];
        if (other->resident && other->warp.cta == w->warp.cta && other->barriers < w->barriers)
            return true;
    }
    return false;
}

bool timed_waits_long(const timed_driver *d, timed_warp *w)
{
    hd_rf_step step = timed_step_of(d, w);
    return timed_waits_at_barrier(d, w) || timed_waits_for_words(w, &step, true);
}

/* ---- warps come and go ------------------------------------------------------------------------------------------- */

void timed_switch_warp(timed_driver *d, timed_warp *w, bool in)
{
    hd_access_sink_begin(&d->sink, 0);
    d->sink.now = d->now;
    w->active = in;
    w->prepared = w->refused = false;
    w->queued = ++d->queue;
    d->active += in ? 1 : UINT32_MAX;
    d->moved = d->now;
    if (!d->ops->warp_switch)
        return;
    d->ops->warp_switch(d->model, in ? NULL : &w->warp, in ? &w->warp : NULL, &d->sink);
    timed_count_accesses(d, 0, 0);
    timed_add_group(d, in ? w : NULL, in);
}

void timed_begin_warp(timed_driver *d, uint32_t number)
{
    uint32_t slot = 0;
    while (d->warps[slot]->resident)
        slot++;
    timed_warp *w = d->warps[slot];
    w->trace = &d->run->trace->warps.items[number];
    w->resident = true;
    w->active = w->prepared = w->refused = false;
    w->next = w->barriers = 0;
    w->wake = 0;
    w->queued = ++d->queue;
    w->warp.cta = w->trace->cta;
    hd_identity_start(&w->warp.identity, number);
    d->ops->warp_begin(d->model, &w->warp);
}

void timed_end_warp(timed_driver *d, timed_warp *w)
{
    uint32_t cta = w->warp.cta;
    while (w->warp.identity.frames.count)
        pop_frame(d, w);
    d->ops->warp_end(d->model, &w->warp);
    w->resident = false;
    d->active -= w->active;
    d->moved = d->now;
    if (timed_live_warps(d, cta))
        return;
    d->ops->cta_end(d->model, cta);
    d->resident_ctas--;
}

void timed_start_ctas(timed_driver *d)
{
    const hd_rf_residency *r = &d->run->residency;
    uint32_t most = d->ops->may_launch_cta && r->most_ctas ? r->most_ctas : r->ctas;
    while (d->next_cta < d->run->trace->ctas && d->resident_ctas < most &&
           (!d->ops->may_launch_cta || d->ops->may_launch_cta(d->model, d->next_cta))) {
        for (uint32_t w = 0; w < d->run->trace->warps.count; w++)
            if (d->run->trace->warps.items[w].cta == d->next_cta)
                timed_begin_warp(d, w);
        d->next_cta++;
        d->resident_ctas++;
        if (d->resident_ctas > d->run->most_ctas)
            d->run->most_ctas = d->resident_ctas;
    }
}
