/* Recorded CTAs: see recording.h. O(1) a passage while few CTAs run at a time. */
#include "hwmodel/count/recording.h"

void hd_rf_recording_free(hd_rf_recording *r)
{
    hd_rf_recording_drop(r);
    hd_array_free(&r->running);
}

void hd_rf_recording_drop(hd_rf_recording *r)
{
    for (uint32_t i = 0; i < r->running.count; i++)
        hd_rf_cta_release(r->running.items[i]);
    hd_array_clear(&r->running);
}

/* HD_NONE: it is not recorded. */
static uint32_t find(hd_rf_recording *r, uint32_t cta)
{
    if (r->latest < r->running.count && r->running.items[r->latest]->cta == cta)
        return r->latest;
    for (uint32_t i = 0; i < r->running.count; i++)
        if (r->running.items[i]->cta == cta)
            return r->latest = i;
    return HD_NONE;
}

uint64_t hd_rf_recording_add(hd_rf_recording *r, const hd_rf_passage *passage)
{
    uint32_t at = find(r, passage->cta);
    if (at == HD_NONE) {
        at = r->latest = r->running.count;
        hd_array_push(&r->running, hd_rf_cta_new(passage->cta));
    }
    hd_rf_cta_record(r->running.items[at], passage);
    return r->running.items[at]->bytes;
}

hd_rf_cta *hd_rf_recording_end(hd_rf_recording *r, uint32_t cta)
{
    uint32_t at = find(r, cta);
    if (at == HD_NONE)
        return NULL;
    hd_rf_cta *ended = r->running.items[at];
    r->running.items[at] = hd_array_pop(&r->running);
    return ended;
}
