/* A part of a grid in time: see sample.h. */
#include "hwmodel/sm/sample.h"

#include <math.h>

void hd_sample_begin(hd_sample *s)
{
    hd_array_clear(&s->marks);
    s->wave = s->started = s->instructions = s->skipped = s->rest = 0;
}

void hd_sample_free(hd_sample *s) { hd_array_free(&s->marks); }

void hd_sample_full(hd_sample *s)
{
    if (!s->wave)
        s->wave = s->started;
}

bool hd_sample_takes(const hd_sample *s) { return !s->waves || !s->wave || s->started < (s->waves + 2) * s->wave; }

void hd_sample_skip(hd_sample *s, const hd_record *cta)
{
    s->skipped++;
    s->rest += cta->instructions;
}

hd_sample_at hd_sample_start(hd_sample *s, uint64_t now, const hd_record *cta)
{
    uint64_t end = (s->waves + 1) * s->wave;
    bool measured = s->waves && s->wave && s->started <= end;
    hd_sample_at at = !measured               ? HD_SAMPLE_OTHER
                      : s->started == s->wave ? HD_SAMPLE_FIRST
                      : s->started == end     ? HD_SAMPLE_LAST
                                              : HD_SAMPLE_OTHER;
    if (measured)
        hd_array_push(&s->marks, (hd_sample_mark){now, s->instructions});
    s->started++;
    s->instructions += cta->instructions;
    return at;
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

/* How many times what was measured the rest is. */
static double times_measured(const hd_sample *s)
{
    uint64_t measured = hd_array_last(&s->marks).instructions - s->marks.items[0].instructions;
    return measured ? (double)s->rest / (double)measured : 0;
}

static uint64_t scaled(uint64_t first, uint64_t last, double times)
{
    return (uint64_t)llround((double)(last - first) * times);
}

/* Cycles of the rest, less or more, if it were like the blocks in a row that differ most from the mean. */
static double error_of(const hd_sample *s)
{
    const hd_sample_mark *marks = s->marks.items, *last = &hd_array_last(&s->marks);
    double mean = (double)(last->now - marks->now) / (double)(last->instructions - marks->instructions), most = 0;
    for (uint64_t i = 0; i + s->wave < s->marks.count; i++) {
        uint64_t instructions = marks[i + s->wave].instructions - marks[i].instructions;
        if (instructions)
            most = fmax(most, fabs((double)(marks[i + s->wave].now - marks[i].now) / (double)instructions - mean));
    }
    return most * (double)s->rest;
}

/* Slots are rounded one by one: the largest part of those without an instruction takes what is left over. */
static void balance_slots(uint64_t *slots, uint64_t all)
{
    uint32_t largest = HD_SM_SLOT_ISSUED + 1;
    uint64_t sum = slots[HD_SM_SLOT_ISSUED];
    for (uint32_t i = HD_SM_SLOT_ISSUED + 1; i < HD_SM_SLOTS_ALL; i++) {
        sum += slots[i];
        largest = slots[i] > slots[largest] ? i : largest;
    }
    slots[largest] += all - sum;
}

void hd_sample_extrapolate(const hd_sample *s, uint64_t slots_per_cycle, hd_timing_counts *counts)
{
    const uint64_t *first = (const uint64_t *)&s->first, *last = (const uint64_t *)&s->last;
    uint64_t *to = (uint64_t *)counts, timed = counts->sm.warp_instructions;
    counts->timed_blocks = s->started;
    counts->blocks = s->started + s->skipped;
    if (!s->skipped)
        return;
    double times = times_measured(s);
    for (size_t i = 0; i < sizeof *counts / sizeof *to; i++)
        to[i] += scaled(first[i], last[i], times);
    counts->error_cycles = (uint64_t)ceil(error_of(s));
    counts->sm.warp_instructions = timed + s->rest; /* which is known */
    counts->sm.slots[HD_SM_SLOT_ISSUED] = timed + s->rest;
    balance_slots(counts->sm.slots, counts->cycles * slots_per_cycle);
}

void hd_sample_extrapolate_counters(const hd_sample *s, uint64_t counters[HD_COUNTER_COUNT])
{
    double times = s->skipped ? times_measured(s) : 0;
    for (uint32_t c = 0; c < HD_COUNTER_COUNT && s->skipped; c++)
        if (hd_counters[c].group != HD_COUNTS_LEAST && hd_counters[c].group != HD_COUNTS_MOST)
            counters[c] += scaled(s->first_counters[c], s->last_counters[c], times);
}
