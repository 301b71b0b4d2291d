/* Batches of events: see batch.h. O(1) an event and byte. */
#include "hwmodel/count/batch.h"

void hd_rf_batch_free(hd_rf_batch *b)
{
    hd_rf_batch_clear(b);
    hd_array_free(&b->events);
    free(b->columns);
    hd_array_free(&b->passages);
    hd_array_free(&b->loose);
    hd_array_free(&b->ended);
}

void hd_rf_batch_clear(hd_rf_batch *b)
{
    b->kept = b->used = 0;
    hd_array_clear(&b->events);
    hd_array_clear(&b->passages);
    hd_rf_loose_forget(&b->loose);
    b->launch = HD_NONE;
    b->ends = b->drains = false;
    for (uint32_t i = 0; i < b->ended.count; i++)
        hd_rf_cta_release(b->ended.items[i]);
    hd_array_clear(&b->ended);
    b->ended_bytes = 0;
}

typedef struct sizes {
    uint32_t addresses, results, widths;
} sizes;

static sizes sizes_of(const hd_event *e)
{
    return (sizes){.addresses = e->addresses ? 32 * sizeof *e->addresses : 0,
                   .results = e->results ? e->result_words * 32 * (uint32_t)sizeof *e->results : 0,
                   .widths = e->widths ? e->width_words * (uint32_t)sizeof *e->widths : 0};
}

bool hd_rf_batch_has_room(const hd_rf_batch *b, const hd_event *event)
{
    sizes s = sizes_of(event);
    return b->used + s.addresses + s.results + s.widths + 8 <= HD_RF_BATCH_BYTES;
}

static const void *keep_column(hd_rf_batch *b, const void *column, uint32_t bytes)
{
    if (!column)
        return NULL;
    if (!b->columns)
        b->columns = hd_calloc(HD_RF_BATCH_BYTES, 1);
    void *to = (char *)b->columns + b->used;
    b->used += (bytes + 7) / 8 * 8;
    return memcpy(to, column, bytes);
}

void hd_rf_batch_add(hd_rf_batch *b, const hd_event *event, uint64_t number)
{
    sizes s = sizes_of(event);
    hd_event kept = *event;
    b->first_event = b->events.count ? b->first_event : number;
    kept.addresses = keep_column(b, event->addresses, s.addresses);
    kept.results = keep_column(b, event->results, s.results);
    kept.widths = keep_column(b, event->widths, s.widths);
    hd_array_push(&b->events, kept);
}

void hd_rf_batch_add_cta(hd_rf_batch *b, hd_rf_cta *cta)
{
    hd_array_push(&b->ended, cta);
    b->ended_bytes += cta->bytes;
}

hd_event hd_stretch_event(const hd_stretch *s, const hd_rf_code *code, uint32_t i, const hd_width **widths)
{
    const hd_stretch_part *part = hd_stretch_part_at(s->parts, s->part_count, i);
    uint32_t instruction = part->first + (i - part->at),
             written = code->destination_first[instruction + 1] - code->destination_first[instruction];
    hd_event e = {.kind = HD_EVENT_ISSUE,
                  .cta = s->cta,
                  .warp = s->warp,
                  .frame = s->frame,
                  .function = s->function,
                  .instruction = instruction,
                  .active = s->masks[part->active],
                  .effective = s->masks[s->effective[i]]};
    if (s->width_words && e.effective && written) {
        e.widths = *widths;
        e.width_words = written;
        *widths += written;
    }
    return e;
}

hd_stretch *hd_stretch_before(const hd_stretch *s, const hd_rf_code *code, uint32_t part)
{
    hd_stretch *before = hd_malloc(sizeof *before);
    const hd_width *widths = s->widths;
    *before = *s;
    before->count = s->parts[part].at;
    before->part_count = part;
    before->barrier = false;
    before->mask_count = 1;
    for (uint32_t i = 0; i < before->count; i++) {
        const hd_event e = hd_stretch_event(s, code, i, &widths);
        hd_stretch_place(before, e.active);
        hd_stretch_place(before, e.effective);
    }
    before->width_words = (uint32_t)(widths - s->widths);
    return before;
}
