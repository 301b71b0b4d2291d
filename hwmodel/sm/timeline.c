/* See timeline.h. */
#include "hwmodel/sm/timeline.h"

#include <assert.h>
#include <stdbool.h>

enum { SLOTS = 64 /* of all schedulers of an SM */ };

typedef struct recorded { /* a launch */
    bool begun;
    hd_timeline_spans spans;
} recorded;

struct hd_timeline {
    hd_timeline_range range;
    HD_ARRAY(recorded) launches; /* by their number */
    hd_timeline_spans *spans;    /* of the launch in progress; NULL: it is not recorded */
    uint64_t base;               /* the clock in the first cycle of the launch */
    uint32_t stalls[SLOTS];      /* by slot: 1 + its last stall among the spans; 0: there is none */
    uint32_t first;              /* number of the first instruction that is recorded */
    hd_u32_array instructions;   /* by number of the instruction, from `first` on: its span */
};

hd_timeline *hd_timeline_new(const hd_timeline_range *range)
{
    hd_timeline *t = hd_calloc(1, sizeof *t);
    t->range = *range;
    return t;
}

void hd_timeline_free(hd_timeline *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; i < t->launches.count; i++)
        hd_array_free(&t->launches.items[i].spans);
    hd_array_free(&t->launches);
    hd_array_free(&t->instructions);
    free(t);
}

const hd_timeline_spans *hd_timeline_of(const hd_timeline *t, uint32_t launch)
{
    bool begun = launch < t->launches.count && t->launches.items[launch].begun;
    return begun ? &t->launches.items[launch].spans : NULL;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static void begin_launch(void *context, uint32_t launch, uint32_t function, uint64_t cycle)
{
    hd_timeline *t = context;
    (void)function;
    while (t->launches.count <= launch)
        hd_array_push(&t->launches, (recorded){.begun = false});
    recorded *r = &t->launches.items[launch];
    t->spans = r->begun ? NULL : &r->spans;
    r->begun = true;
    t->base = cycle;
    memset(t->stalls, 0, sizeof t->stalls);
    hd_array_clear(&t->instructions);
}

/* Cuts a span of the SM's clock to the range of the launch; false: nothing is left. */
static bool cut(const hd_timeline *t, uint64_t *begin, uint64_t *end)
{
    uint64_t first = *begin - t->base, last = *end - t->base;
    *begin = first > t->range.first ? first : t->range.first;
    *end = last < t->range.end ? last : t->range.end;
    return t->spans && *begin < *end;
}

static void add_stall(void *context, const hd_sm_stall_event *e)
{
    hd_timeline *t = context;
    uint64_t begin = e->begin, end = e->end;
    assert(e->slot + e->slots <= SLOTS);
    if (!cut(t, &begin, &end))
        return;
    for (uint32_t slot = e->slot; slot < (uint32_t)e->slot + e->slots; slot++) {
        hd_timeline_span *last = t->stalls[slot] ? &t->spans->items[t->stalls[slot] - 1] : NULL;
        if (last && last->end == begin && last->reason == e->reason) {
            last->end = end;
            continue;
        }
        hd_array_push(
            t->spans,
            (hd_timeline_span){
                .begin = begin, .end = end, .kind = HD_TIMELINE_SLOT, .track = (uint8_t)slot, .reason = e->reason});
        t->stalls[slot] = t->spans->count;
    }
}

static void add_issue(void *context, const hd_sm_issue_event *e)
{
    hd_timeline *t = context;
    uint64_t begin = e->cycle, end = e->cycle + 1;
    if (!cut(t, &begin, &end))
        return;
    if (!t->instructions.count)
        t->first = e->number;
    hd_array_push(t->spans, (hd_timeline_span){begin, end, e->subject, HD_TIMELINE_SLOT, e->slot, 0});
    hd_array_push(&t->instructions, t->spans->count);
    hd_array_push(t->spans, (hd_timeline_span){begin, 0, e->subject, HD_TIMELINE_INSTRUCTION, e->subject.place, 0});
}

static void complete(void *context, const hd_sm_retire_event *e)
{
    hd_timeline *t = context;
    uint32_t at = e->number - t->first;
    if (at < t->instructions.count)
        t->spans->items[t->instructions.items[at]].end = e->cycle - t->base;
}

static void add_warp(void *context, const hd_sm_warp_event *e)
{
    hd_timeline *t = context;
    uint64_t begin = e->begin, end = e->end;
    if (cut(t, &begin, &end))
        hd_array_push(t->spans, (hd_timeline_span){begin, end, e->subject, HD_TIMELINE_WARP, e->subject.place, 0});
}

/* Instructions that are not complete, where a technique ends the run, end now. */
static void end_launch(void *context, uint64_t cycle)
{
    hd_timeline *t = context;
    for (uint32_t i = 0; t->spans && i < t->spans->count; i++)
        if (!t->spans->items[i].end)
            t->spans->items[i].end = cycle - t->base;
    t->spans = NULL;
    hd_array_clear(&t->instructions);
}

hd_sm_listener hd_timeline_listener(hd_timeline *t)
{
    static const hd_sm_listener_ops ops = {.launch_begin = begin_launch,
                                           .issue = add_issue,
                                           .stall = add_stall,
                                           .retire = complete,
                                           .warp_end = add_warp,
                                           .launch_end = end_launch};
    return (hd_sm_listener){&ops, t, t->range.sm};
}
