/* Batches of events: see batch.h. O(1) an event and byte. */
#include "hwmodel/count/batch.h"

void hd_batch_free(hd_batch *b)
{
    hd_batch_clear(b);
    hd_array_free(&b->events);
    free(b->columns);
    hd_array_free(&b->loose);
    hd_array_free(&b->ended);
}

void hd_batch_clear(hd_batch *b)
{
    b->taken = b->column_bytes = 0;
    hd_array_clear(&b->events);
    hd_loose_segments_clear(&b->loose);
    b->launch = HD_NONE;
    b->ends = b->drains = false;
    for (uint32_t i = 0; i < b->ended.count; i++)
        hd_record_release(b->ended.items[i]);
    hd_array_clear(&b->ended);
    b->ended_bytes = 0;
}

static uint32_t address_bytes(const hd_event *e) { return e->addresses ? 32 * sizeof *e->addresses : 0; }
static uint32_t result_bytes(const hd_event *e)
{
    return e->results ? e->result_words * 32 * (uint32_t)sizeof *e->results : 0;
}

static uint32_t effect_bytes(const hd_event *e) { return e->effect ? sizeof *e->effect : 0; }

bool hd_batch_has_room(const hd_batch *b, const hd_event *e)
{
    return b->column_bytes + address_bytes(e) + result_bytes(e) + effect_bytes(e) <= HD_BATCH_COLUMN_BYTES;
}

static const void *keep_column(hd_batch *b, const void *column, uint32_t bytes)
{
    if (!column)
        return NULL;
    if (!b->columns)
        b->columns = hd_calloc(HD_BATCH_COLUMN_BYTES, 1);
    void *to = (char *)b->columns + b->column_bytes;
    b->column_bytes += bytes; /* of each, multiples of 8 */
    return memcpy(to, column, bytes);
}

hd_event hd_batch_keep_columns(hd_batch *b, const hd_event *event)
{
    hd_event kept = *event;
    kept.addresses = keep_column(b, event->addresses, address_bytes(event));
    kept.copied_to = kept.copied_bytes = kept.sectors = NULL; /* of no use to a model that is not timed */
    kept.results = keep_column(b, event->results, result_bytes(event));
    kept.effect = keep_column(b, event->effect, effect_bytes(event));
    return kept;
}

void hd_batch_add_record(hd_batch *b, hd_record *record)
{
    hd_array_push(&b->ended, record);
    b->ended_bytes += record->bytes;
}
