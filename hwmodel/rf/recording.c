/* Recorded CTAs: see recording.h. O(1) a passage while few CTAs run at a time. */
#include "hwmodel/rf/recording.h"

void hd_rf_recording_free(hd_rf_recording *r)
{
    hd_rf_recording_drop(r);
    hd_array_free(&r->running);
    hd_array_free(&r->ended);
}

void hd_rf_recording_drop(hd_rf_recording *r)
{
    for (uint32_t i = 0; i < r->running.count; i++)
        hd_rf_cta_release(r->running.items[i]);
    hd_array_clear(&r->running);
    hd_rf_recording_drop_ended(r);
}

void hd_rf_recording_drop_ended(hd_rf_recording *r)
{
    for (uint32_t i = 0; i < r->ended.count; i++)
        hd_rf_cta_release(r->ended.items[i]);
    hd_array_clear(&r->ended);
    r->ended_bytes = 0;
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

void hd_rf_recording_end(hd_rf_recording *r, uint32_t cta)
{
    uint32_t at = find(r, cta);
    if (at == HD_NONE)
        return;
    hd_array_push(&r->ended, r->running.items[at]);
    r->ended_bytes += r->running.items[at]->bytes;
    r->running.items[at] = r->running.items[r->running.count - 1];
    r->running.count--;
}
