/* Streams of warps: see streams.h. */
#include "hwmodel/count/streams.h"

void hd_cta_streams_release(hd_cta_streams *cta)
{
    if (__atomic_sub_fetch(&cta->readers, 1, __ATOMIC_ACQ_REL))
        return;
    for (uint32_t w = 0; w < cta->warp_count; w++)
        hd_array_free(&cta->warps[w].records);
    hd_loose_segments_clear(&cta->own);
    hd_array_free(&cta->own);
    free(cta);
}

void hd_stream_recorder_free(hd_stream_recorder *r)
{
    hd_stream_recorder_drop(r);
    hd_array_free(&r->running);
}

void hd_stream_recorder_drop(hd_stream_recorder *r)
{
    for (uint32_t i = 0; i < r->running.count; i++)
        hd_cta_streams_release(r->running.items[i]);
    hd_array_clear(&r->running);
}

/* HD_NONE: nothing is recorded of it. */
static uint32_t find_running(hd_stream_recorder *r, uint32_t cta)
{
    if (r->latest < r->running.count && r->running.items[r->latest]->cta == cta)
        return r->latest;
    for (uint32_t i = 0; i < r->running.count; i++)
        if (r->running.items[i]->cta == cta)
            return r->latest = i;
    return HD_NONE;
}

static hd_cta_streams *find_or_add(hd_stream_recorder *r, uint32_t number)
{
    uint32_t at = find_running(r, number);
    if (at != HD_NONE)
        return r->running.items[at];
    hd_cta_streams *cta = hd_calloc(1, sizeof *cta);
    cta->cta = number;
    cta->readers = 1;
    r->latest = r->running.count;
    hd_array_push(&r->running, cta);
    return cta;
}

static uint32_t others_at(const hd_cta_streams *cta, const hd_warp_stream *s)
{
    uint32_t mask = 0;
    for (uint32_t w = 0; w < cta->warp_count; w++)
        if (&cta->warps[w] != s && cta->warps[w].barriers >= s->barriers)
            mask |= 1u << w;
    return mask;
}

/* As long as the block is there. */
static const hd_segment *keep_segment(hd_cta_streams *cta, const hd_segment *segment)
{
    if (!segment || !segment->loose)
        return segment;
    size_t bytes = 0;
    hd_array_push(&cta->own, hd_segment_copy(segment, &bytes));
    cta->bytes += bytes;
    return hd_array_last(&cta->own);
}

static void append_record(hd_cta_streams *cta, const hd_warp_event *e)
{
    if (e->kind == HD_WARP_BEGINS && cta->warp_count < HD_STREAM_WARPS) {
        cta->warps[cta->warp_count++].warp = e->warp;
        return;
    }
    uint32_t index = cta->warp_count ? e->warp - cta->warps[0].warp : HD_NONE;
    if (index >= cta->warp_count || (e->kind != HD_WARP_ISSUES && e->kind != HD_WARP_RETURNS))
        return;
    hd_warp_stream *s = &cta->warps[index];
    hd_array_push(&s->records, (hd_stream_record){keep_segment(cta, e->segment), e->frame,
                                                  s->after_barrier ? others_at(cta, s) : 0});
    cta->bytes += sizeof *s->records.items;
    s->after_barrier = e->segment && e->segment->barrier;
    s->barriers += s->after_barrier;
}

uint64_t hd_stream_record_event(hd_stream_recorder *r, const hd_warp_event *e)
{
    hd_cta_streams *cta = find_or_add(r, e->cta);
    append_record(cta, e);
    return cta->bytes;
}

hd_cta_streams *hd_stream_record_end(hd_stream_recorder *r, uint32_t cta)
{
    uint32_t at = find_running(r, cta);
    if (at == HD_NONE)
        return NULL;
    hd_cta_streams *ended = r->running.items[at];
    r->running.items[at] = hd_array_pop(&r->running);
    return ended;
}
