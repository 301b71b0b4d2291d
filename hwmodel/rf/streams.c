/* Streams of warps: see streams.h. Linear in the events. */
#include "hwmodel/rf/streams.h"

enum { /* first byte of a record */
    HAS_RETURN = 1,    /* a RETURN, else an ISSUE */
    HAS_PLACE = 2,     /* instruction, as its difference to the one expected */
    HAS_ACTIVE = 4,
    HAS_EFFECTIVE = 8, /* else all that are active */
    HAS_FRAME = 16,    /* frame and function */
    HAS_BARRIER = 32,  /* behind a barrier: the next number of `behind` */
};

/* ---- writing ------------------------------------------------------------------------------------------------------- */

hd_rf_cta *hd_rf_cta_new(const hd_rf_module *code, uint32_t number)
{
    hd_rf_cta *cta = hd_calloc(1, sizeof *cta);
    cta->code = code;
    cta->cta = number;
    cta->readers = 1;
    return cta;
}

void hd_rf_cta_release(hd_rf_cta *cta)
{
    if (!cta || __atomic_sub_fetch(&cta->readers, 1, __ATOMIC_ACQ_REL))
        return;
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        hd_array_free(&cta->warps[w].bytes);
        hd_array_free(&cta->warps[w].behind);
    }
    free(cta);
}

static void put_number(hd_rf_stream *s, uint32_t value)
{
    for (; value >= 128; value >>= 7)
        hd_array_push(&s->bytes, (uint8_t)(value | 128));
    hd_array_push(&s->bytes, (uint8_t)value);
}

static void put_word(hd_rf_stream *s, uint32_t value)
{
    memcpy(hd_array_extend(&s->bytes, sizeof value), &value, sizeof value);
}

static uint32_t others_at(const hd_rf_cta *cta, const hd_rf_stream *s)
{
    uint32_t mask = 0;
    for (uint32_t w = 0; w < cta->warp_count; w++)
        if (&cta->warps[w] != s && cta->warps[w].barriers >= s->barriers)
            mask |= 1u << w;
    return mask;
}

static void put_record(hd_rf_cta *cta, hd_rf_stream *s, const hd_event *e)
{
    hd_rf_position *at = &s->at;
    bool frame = e->frame != at->frame || e->function != at->function;
    uint8_t tag = (uint8_t)((e->kind == HD_EVENT_RETURN ? HAS_RETURN : 0) | (e->instruction != at->next ? HAS_PLACE : 0) |
                            (e->active != at->active ? HAS_ACTIVE : 0) | (e->effective != e->active ? HAS_EFFECTIVE : 0) |
                            (frame ? HAS_FRAME : 0) | (s->behind_barrier ? HAS_BARRIER : 0));
    hd_array_push(&s->bytes, tag);
    if (tag & HAS_PLACE) {
        uint32_t d = e->instruction - at->next;
        put_number(s, d << 1 ^ (d >> 31 ? UINT32_MAX : 0));
    }
    if (tag & HAS_ACTIVE)
        put_word(s, e->active);
    if (tag & HAS_EFFECTIVE)
        put_word(s, e->effective);
    if (tag & HAS_FRAME) {
        put_number(s, e->frame);
        put_number(s, e->function);
    }
    if (tag & HAS_BARRIER)
        hd_array_push(&s->behind, others_at(cta, s));
    *at = (hd_rf_position){e->instruction + (e->kind == HD_EVENT_ISSUE), e->active, e->frame, e->function};
    s->behind_barrier = e->kind == HD_EVENT_ISSUE && cta->code->functions[e->function]->traits[e->instruction] & HD_RF_BARRIER;
    s->barriers += s->behind_barrier;
}

void hd_rf_cta_record(hd_rf_cta *cta, const hd_event *event)
{
    if (event->kind == HD_EVENT_WARP_START && cta->warp_count < HD_RF_CTA_WARPS) {
        cta->warps[cta->warp_count++].warp = event->warp;
        return;
    }
    uint32_t index = cta->warp_count ? event->warp - cta->warps[0].warp : HD_NONE;
    if (index >= cta->warp_count)
        return;
    hd_rf_stream *s = &cta->warps[index];
    uint32_t before = s->bytes.count, held = s->behind.count;
    if (event->kind == HD_EVENT_WARP_END)
        s->ended = true;
    if (event->kind == HD_EVENT_ISSUE || event->kind == HD_EVENT_RETURN)
        put_record(cta, s, event);
    cta->bytes += s->bytes.count - before + (s->behind.count - held) * sizeof *s->behind.items;
}

/* ---- reading ------------------------------------------------------------------------------------------------------- */

hd_rf_cursor hd_rf_cursor_of(const hd_rf_cta *cta, uint32_t warp)
{
    return (hd_rf_cursor){.cta = cta, .stream = &cta->warps[warp]};
}

static uint32_t get_number(hd_rf_cursor *c)
{
    uint32_t value = 0, shift = 0;
    for (; c->stream->bytes.items[c->byte] & 128; shift += 7)
        value |= (c->stream->bytes.items[c->byte++] & 127u) << shift;
    return value | (uint32_t)c->stream->bytes.items[c->byte++] << shift;
}

static uint32_t get_word(hd_rf_cursor *c)
{
    uint32_t value;
    memcpy(&value, c->stream->bytes.items + c->byte, sizeof value);
    c->byte += sizeof value;
    return value;
}

bool hd_rf_cursor_next(hd_rf_cursor *c, hd_rf_record *record)
{
    if (c->byte >= c->stream->bytes.count)
        return false;
    hd_rf_position *at = &c->at;
    uint8_t tag = c->stream->bytes.items[c->byte++];
    if (tag & HAS_PLACE) {
        uint32_t d = get_number(c);
        at->next += d >> 1 ^ (d & 1 ? UINT32_MAX : 0);
    }
    if (tag & HAS_ACTIVE)
        at->active = get_word(c);
    uint32_t effective = tag & HAS_EFFECTIVE ? get_word(c) : at->active;
    if (tag & HAS_FRAME) {
        at->frame = get_number(c);
        at->function = get_number(c);
    }
    record->behind = tag & HAS_BARRIER ? c->stream->behind.items[c->barrier++] : 0;
    record->event = (hd_event){.kind = tag & HAS_RETURN ? HD_EVENT_RETURN : HD_EVENT_ISSUE, .cta = c->cta->cta, .warp = c->stream->warp,
                               .frame = at->frame, .function = at->function, .instruction = at->next,
                               .active = at->active, .effective = effective};
    at->next += !(tag & HAS_RETURN);
    return true;
}
