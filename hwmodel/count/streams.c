/* Streams of warps: see streams.h. */
#include "hwmodel/count/streams.h"

hd_rf_cta *hd_rf_cta_new(uint32_t number)
{
    hd_rf_cta *cta = hd_calloc(1, sizeof *cta);
    cta->cta = number;
    cta->readers = 1;
    return cta;
}

void hd_rf_cta_release(hd_rf_cta *cta)
{
    if (!cta || __atomic_sub_fetch(&cta->readers, 1, __ATOMIC_ACQ_REL))
        return;
    for (uint32_t w = 0; w < cta->warp_count; w++)
        hd_array_free(&cta->warps[w].records);
    for (uint32_t i = 0; i < cta->own.count; i++)
        free(cta->own.items[i]);
    hd_array_free(&cta->own);
    free(cta);
}

static uint32_t others_at(const hd_rf_cta *cta, const hd_rf_stream *s)
{
    uint32_t mask = 0;
    for (uint32_t w = 0; w < cta->warp_count; w++)
        if (&cta->warps[w] != s && cta->warps[w].barriers >= s->barriers)
            mask |= 1u << w;
    return mask;
}

/* As long as the CTA is there. */
static const hd_rf_stretch *keep(hd_rf_cta *cta, const hd_rf_stretch *stretch)
{
    if (!stretch || stretch->number != HD_NONE)
        return stretch;
    size_t bytes = 0;
    hd_array_push(&cta->own, hd_rf_stretch_copy(stretch, &bytes));
    cta->bytes += bytes;
    return hd_array_last(&cta->own);
}

void hd_rf_cta_record(hd_rf_cta *cta, const hd_rf_passage *p)
{
    if (p->kind == HD_EVENT_WARP_START && cta->warp_count < HD_RF_CTA_WARPS) {
        cta->warps[cta->warp_count++].warp = p->warp;
        return;
    }
    uint32_t index = cta->warp_count ? p->warp - cta->warps[0].warp : HD_NONE;
    if (index >= cta->warp_count || (p->kind != HD_EVENT_ISSUE && p->kind != HD_EVENT_RETURN))
        return;
    hd_rf_stream *s = &cta->warps[index];
    hd_array_push(&s->records,
                  (hd_rf_record){keep(cta, p->stretch), p->frame, s->behind_barrier ? others_at(cta, s) : 0});
    cta->bytes += sizeof *s->records.items;
    s->behind_barrier = p->stretch && p->stretch->barrier;
    s->barriers += s->behind_barrier;
}
