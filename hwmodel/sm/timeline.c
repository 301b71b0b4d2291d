/* See timeline.h. */
#include "hwmodel/sm/timeline.h"

#include <assert.h>
#include <stdbool.h>

void hd_timeline_begin(hd_timeline *t, uint64_t now)
{
    t->base = now;
    memset(t->stalls, 0, sizeof t->stalls);
}

/* Cuts a span of the SM's clock to the range of the launch; false: nothing is left. */
static bool cut(const hd_timeline *t, uint64_t *begin, uint64_t *end)
{
    uint64_t first = *begin - t->base, last = *end - t->base;
    *begin = first > t->range.first ? first : t->range.first;
    *end = last < t->range.end ? last : t->range.end;
    return *begin < *end;
}

void hd_timeline_stall(hd_timeline *t, uint32_t slot, uint8_t reason, uint64_t begin, uint64_t end)
{
    assert(slot < HD_TIMELINE_SLOTS);
    if (!cut(t, &begin, &end))
        return;
    hd_timeline_span *last = t->stalls[slot] ? &t->spans.items[t->stalls[slot] - 1] : NULL;
    if (last && last->end == begin && last->reason == reason) {
        last->end = end;
        return;
    }
    hd_array_push(&t->spans,
                  (hd_timeline_span){
                      .begin = begin, .end = end, .kind = HD_TIMELINE_SLOT, .track = (uint8_t)slot, .reason = reason});
    t->stalls[slot] = t->spans.count;
}

uint32_t hd_timeline_issue(hd_timeline *t, uint32_t slot, uint32_t place, const hd_timeline_what *what, uint64_t now)
{
    uint64_t begin = now, end = now + 1;
    if (!cut(t, &begin, &end))
        return 0;
    hd_array_push(&t->spans, (hd_timeline_span){begin, end, *what, HD_TIMELINE_SLOT, (uint8_t)slot, 0});
    hd_array_push(&t->spans, (hd_timeline_span){begin, 0, *what, HD_TIMELINE_INSTRUCTION, (uint8_t)place, 0});
    return t->spans.count;
}

void hd_timeline_complete(hd_timeline *t, uint32_t instruction, uint64_t now)
{
    t->spans.items[instruction - 1].end = now - t->base;
}

void hd_timeline_warp(hd_timeline *t, uint32_t place, const hd_timeline_what *what, uint64_t begin, uint64_t end)
{
    if (cut(t, &begin, &end))
        hd_array_push(&t->spans, (hd_timeline_span){begin, end, *what, HD_TIMELINE_WARP, (uint8_t)place, 0});
}

void hd_timeline_end(hd_timeline *t, uint64_t now)
{
    for (uint32_t i = 0; i < t->spans.count; i++)
        if (!t->spans.items[i].end)
            t->spans.items[i].end = now - t->base;
}

hd_timeline *hd_timeline_take(hd_timeline *t)
{
    hd_timeline *taken = hd_malloc(sizeof *taken);
    *taken = *t;
    memset(&t->spans, 0, sizeof t->spans);
    return taken;
}

void hd_timeline_free(const hd_timeline *t)
{
    if (!t)
        return;
    free(t->spans.items);
    free((void *)(uintptr_t)t);
}
