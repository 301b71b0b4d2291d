/* The recorder: see record.h. */
#include "hwmodel/record/codes.h"
#include "base/array.h"
#include <assert.h>

typedef struct arrivals {                    /* at a barrier */
    uint32_t warps, counts[HD_RECORD_WARPS]; /* counts: barrier instructions that each has issued, this one included */
} arrivals;

typedef struct gathered { /* at an mbarrier */
    arrivals own, copies; /* copies: counts of cp.async.mbarrier.arrive instructions */
} gathered;

typedef struct recorded_mbarrier {
    uint32_t object;
    gathered phase, ended[2]; /* the current one; the last ones, by parity */
} recorded_mbarrier;

typedef struct recorded_warp { /* what the decoder will know of it */
    uint32_t next, active, frame, function;
    uint64_t last;
    uint32_t barriers; /* that it has issued */
    bool unreported;   /* it waits at a barrier instruction that is reported when it has executed */
    arrivals landings; /* copies for which its next instruction waits */
    arrivals waits;    /* for which its next instruction waits, or the one after an unreported one */
    uint32_t run;      /* index of the RUN that is open in its bytes; HD_NONE: none is */
} recorded_warp;

typedef struct recorded_cta {
    hd_record *cta;
    recorded_warp warps[HD_RECORD_WARPS];
    arrivals gathering[HD_EVENT_BARRIERS], opened[HD_EVENT_BARRIERS]; /* by barrier */
    uint64_t loose_bytes;                                             /* of its copies of segments */
    HD_ARRAY(recorded_mbarrier) mbarriers;
} recorded_cta;

struct hd_recorder {
    hd_recorder_user user;
    HD_ARRAY(recorded_cta *) running; /* one; all of a cooperative grid */
    uint32_t latest;                  /* of them, the one of the last event */
};

bool hd_record_arrives(const hd_form *form)
{
    return form->behaviour & HD_BEHAVE_BARRIER || form->opcode == HD_OP_MBARRIER_ARRIVE ||
           form->opcode == HD_OP_MBARRIER_ARRIVE_DROP || form->opcode == HD_OP_MBARRIER_COMPLETE_TX;
}

hd_recorder *hd_recorder_new(const hd_recorder_user *user)
{
    hd_recorder *r = hd_calloc(1, sizeof *r);
    r->user = *user;
    return r;
}

static void free_recorded(recorded_cta *cta)
{
    hd_array_free(&cta->mbarriers);
    free(cta);
}

void hd_recorder_drop(hd_recorder *r)
{
    for (uint32_t i = 0; i < r->running.count; i++) {
        hd_record_release(r->running.items[i]->cta);
        free_recorded(r->running.items[i]);
    }
    hd_array_clear(&r->running);
}

void hd_recorder_free(hd_recorder *r)
{
    if (!r)
        return;
    hd_recorder_drop(r);
    hd_array_free(&r->running);
    free(r);
}

void hd_record_share(hd_record *cta, uint32_t more) { atomic_fetch_add(&cta->readers, more); }

void hd_record_release(hd_record *cta)
{
    if (!cta || atomic_fetch_sub(&cta->readers, 1) > 1)
        return;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        hd_array_free(&cta->warps[i].bytes);
    hd_loose_segments_clear(&cta->segments);
    hd_array_free(&cta->segments);
    free(cta);
}

/* ---- encoding ---------------------------------------------------------------------------------------------------- */

static void put_byte(hd_record_warp *w, uint8_t byte) { hd_array_push(&w->bytes, byte); }

static void put_varint(hd_record_warp *w, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_byte(w, (uint8_t)(value | 0x80));
    put_byte(w, (uint8_t)value);
}

static void put_signed(hd_record_warp *w, uint64_t difference)
{
    put_varint(w, difference << 1 ^ (0 - (difference >> 63)));
}

static void put_mask(hd_record_warp *w, uint8_t code, uint32_t mask)
{
    put_byte(w, code);
    for (uint32_t i = 0; i < 4; i++)
        put_byte(w, (uint8_t)(mask >> 8 * i));
}

enum { STRIDE_MOST = 1 << 30 }; /* so that a stride has room in its varint */

/* Is address(i) = first + (i - first lane) * stride for all lanes of the mask? */
static bool has_stride(const uint64_t *addresses, uint32_t lanes, uint64_t *stride)
{
    uint32_t first = (uint32_t)__builtin_ctz(lanes), rest = lanes & (lanes - 1);
    *stride = 0;
    if (!rest)
        return true;
    uint32_t second = (uint32_t)__builtin_ctz(rest);
    int64_t difference = (int64_t)(addresses[second] - addresses[first]);
    if (difference % (int64_t)(second - first) || difference < -STRIDE_MOST || difference > STRIDE_MOST)
        return false;
    *stride = (uint64_t)(difference / (int64_t)(second - first));
    HD_EACH_BIT (lane, rest)
        if (addresses[lane] != addresses[first] + *stride * (lane - first))
            return false;
    return true;
}

/* before: the value from which the first lane's differs */
static void put_lanes(hd_record_warp *w, uint64_t before, const uint64_t *addresses, uint32_t lanes)
{
    uint64_t stride, first = addresses[__builtin_ctz(lanes)];
    put_signed(w, first - before);
    if (has_stride(addresses, lanes, &stride)) {
        put_varint(w, (stride << 1 ^ (0 - (stride >> 63))) << 1 | 1);
        return;
    }
    put_varint(w, 0);
    uint64_t last = first;
    HD_EACH_BIT (lane, lanes & (lanes - 1)) {
        uint64_t address = addresses[lane];
        put_signed(w, address - last);
        last = address;
    }
}

static void put_addresses(hd_record_warp *w, recorded_warp *known, const uint64_t *addresses, uint32_t lanes)
{
    put_lanes(w, known->last, addresses, lanes);
    known->last = addresses[__builtin_ctz(lanes)];
}

static void put_copies(hd_record_warp *w, const hd_event *e)
{
    put_byte(w, HD_CODE_COPIES);
    put_lanes(w, 0, e->copied_to, e->effective);
    put_lanes(w, 0, e->copied_bytes, e->effective);
}

static void put_sectors(hd_record_warp *w, const hd_event *e)
{
    uint64_t last = 0;
    put_byte(w, HD_CODE_SECTORS);
    put_varint(w, e->sector_count);
    for (uint32_t i = 0; i < e->sector_count; i++) {
        put_signed(w, e->sectors[i] - last);
        last = e->sectors[i];
    }
}

static void put_widths(hd_record_warp *w, const hd_event *e)
{
    put_byte(w, HD_CODE_WIDTHS);
    put_varint(w, e->width_words);
    for (uint32_t i = 0; i < e->width_words; i++)
        put_byte(w, (uint8_t)(e->widths[i].held << 4 | e->widths[i].written));
}

static void put_results(hd_record_warp *w, const hd_event *e)
{
    put_byte(w, HD_CODE_RESULTS);
    put_varint(w, e->result_words);
    while (w->bytes.count % sizeof(uint32_t))
        put_byte(w, 0);
    uint32_t bytes = e->result_words * 32 * (uint32_t)sizeof(uint32_t);
    memcpy(hd_array_extend(&w->bytes, bytes), e->results, bytes);
}

static void put_effect(hd_record_warp *w, const hd_lane_effect *effect)
{
    put_mask(w, HD_CODE_LANES, effect->wrong);
    for (uint32_t i = 0; i < 4; i++)
        put_byte(w, (uint8_t)(effect->sensitive >> 8 * i));
    for (uint32_t i = 0; i < 4; i++)
        put_byte(w, (uint8_t)(effect->lane >> 8 * i));
}

static void put_frame(hd_record_warp *w, recorded_warp *known, uint32_t frame, uint32_t function)
{
    if (frame == known->frame && function == known->function)
        return;
    put_byte(w, HD_CODE_FRAME);
    put_varint(w, frame);
    put_varint(w, function);
    known->frame = frame;
    known->function = function;
    known->next = 0;
}

/* Whatever of the instruction was not predicted; false: nothing. */
static bool put_differences(hd_record_warp *w, recorded_warp *known, const hd_event *e, uint32_t columns)
{
    size_t before = w->bytes.count;
    put_frame(w, known, e->frame, e->function);
    if (e->instruction != known->next) {
        put_byte(w, HD_CODE_JUMP);
        put_signed(w, (uint64_t)e->instruction - known->next);
    }
    if (e->active != known->active)
        put_mask(w, HD_CODE_ACTIVE, known->active = e->active);
    if (e->effective != e->active)
        put_mask(w, HD_CODE_EFFECTIVE, e->effective);
    if (e->widths)
        put_widths(w, e);
    if (e->results && columns & (HD_COLUMN_RESULTS | (e->addresses ? HD_COLUMN_LOADED : 0)))
        put_results(w, e);
    if (e->copied_to && e->effective)
        put_copies(w, e);
    if (e->sectors)
        put_sectors(w, e);
    if (e->effect && columns & HD_COLUMN_LANES)
        put_effect(w, e->effect);
    return w->bytes.count != before;
}

static void put_waits(hd_record_warp *w, recorded_warp *known)
{
    bool differ = false;
    HD_EACH_BIT (warp, known->waits.warps)
        differ = differ || known->waits.counts[warp] != known->barriers;
    put_byte(w, differ ? HD_CODE_ARRIVALS : HD_CODE_WAIT);
    put_varint(w, known->waits.warps);
    HD_EACH_BIT (warp, differ ? known->waits.warps : 0)
        put_signed(w, (uint64_t)known->waits.counts[warp] - known->barriers);
}

static void put_landings(hd_record_warp *w, const arrivals *landings)
{
    put_byte(w, HD_CODE_LANDINGS);
    put_varint(w, landings->warps);
    HD_EACH_BIT (warp, landings->warps)
        put_varint(w, landings->counts[warp]);
}

/* What the warp's next instruction waits for; false: nothing. */
static bool put_awaited(hd_record_warp *w, recorded_warp *known)
{
    size_t before = w->bytes.count;
    if (known->waits.warps && !known->unreported) {
        put_waits(w, known);
        known->waits.warps = 0;
    }
    if (known->landings.warps) {
        put_landings(w, &known->landings);
        known->landings.warps = 0;
    }
    return w->bytes.count != before;
}

static void issue_barrier(recorded_warp *known)
{
    known->barriers++;
    known->unreported = false;
}

static void record_issue(const hd_recorder *r, recorded_cta *cta, uint32_t index, const hd_event *e)
{
    hd_record_warp *w = &cta->cta->warps[index];
    recorded_warp *known = &cta->warps[index];
    bool waits = put_awaited(w, known), memory = e->addresses && e->effective;
    if (put_differences(w, known, e, r->user.columns) || waits)
        known->run = HD_NONE;
    if (memory) {
        put_byte(w, HD_CODE_MEMORY);
        put_addresses(w, known, e->addresses, e->effective);
        known->run = HD_NONE;
    } else if (known->run != HD_NONE && w->bytes.items[known->run] < HD_CODE_RUN_MOST) {
        w->bytes.items[known->run]++;
    } else {
        known->run = w->bytes.count;
        put_byte(w, 0);
    }
    known->next = e->instruction + 1;
    if (r->user.barrier(r->user.context, e->function, e->instruction))
        issue_barrier(known);
    cta->cta->instructions++;
}

/* The segment, or a copy of the block if the segment is loose. */
static const hd_segment *keep_segment(recorded_cta *cta, const hd_segment *segment)
{
    if (!segment->loose)
        return segment;
    size_t bytes = 0;
    hd_array_push(&cta->cta->segments, hd_segment_copy(segment, &bytes));
    cta->loose_bytes += bytes;
    cta->cta->bytes += bytes;
    return hd_array_last(&cta->cta->segments);
}

static void record_segment(recorded_cta *cta, uint32_t index, const hd_warp_event *e)
{
    hd_record_warp *w = &cta->cta->warps[index];
    recorded_warp *known = &cta->warps[index];
    const hd_segment *segment = keep_segment(cta, e->segment);
    size_t before = w->bytes.count;
    put_awaited(w, known);
    put_frame(w, known, e->frame, segment->function);
    put_byte(w, HD_CODE_SEGMENT);
    memcpy(hd_array_extend(&w->bytes, sizeof segment), &segment, sizeof segment);
    known->run = HD_NONE;
    if (segment->barrier)
        issue_barrier(known);
    cta->cta->instructions += segment->count;
    cta->cta->bytes += w->bytes.count - before;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static recorded_cta *find_cta(hd_recorder *r, uint32_t cta)
{
    if (r->latest < r->running.count && r->running.items[r->latest]->cta->cta == cta)
        return r->running.items[r->latest];
    for (r->latest = 0; r->latest < r->running.count; r->latest++)
        if (r->running.items[r->latest]->cta->cta == cta)
            return r->running.items[r->latest];
    return NULL;
}

static recorded_cta *find_or_start_cta(hd_recorder *r, uint32_t cta)
{
    recorded_cta *found = find_cta(r, cta);
    if (found)
        return found;
    found = hd_calloc(1, sizeof *found);
    found->cta = hd_calloc(1, sizeof *found->cta);
    found->cta->cta = cta;
    atomic_init(&found->cta->readers, 1);
    hd_array_push(&r->running, found);
    return found;
}

static void start_warp(hd_recorder *r, const hd_event *e)
{
    recorded_cta *cta = find_or_start_cta(r, e->cta);
    uint32_t index = cta->cta->warp_count++;
    assert(index < HD_RECORD_WARPS);
    cta->cta->warps[index].warp = e->warp;
    cta->warps[index] = (recorded_warp){.frame = HD_NONE, .function = HD_NONE, .run = HD_NONE};
}

/* Warps of a block have consecutive numbers. HD_NONE: the warp began before the recorder was attached. */
static uint32_t index_of(const recorded_cta *cta, uint32_t warp)
{
    uint32_t index = cta && cta->cta->warp_count ? warp - cta->cta->warps[0].warp : HD_NONE;
    return cta && index < cta->cta->warp_count ? index : HD_NONE;
}

static void record_return(recorded_cta *cta, uint32_t index, const hd_event *e)
{
    put_byte(&cta->cta->warps[index], HD_CODE_RETURN);
    put_varint(&cta->cta->warps[index], e->frame);
    cta->warps[index].run = HD_NONE;
}

static bool end_cta(hd_recorder *r, uint32_t number)
{
    recorded_cta *ended = find_cta(r, number);
    if (!ended)
        return true;
    hd_record *cta = ended->cta;
    cta->bytes = ended->loose_bytes;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        cta->bytes += cta->warps[i].bytes.capacity;
    free_recorded(ended);
    r->running.items[r->latest] = hd_array_last(&r->running);
    r->running.count--;
    return r->user.ended(r->user.context, cta);
}

static void record_arrival(recorded_cta *cta, uint32_t index, const hd_event *e)
{
    recorded_warp *known = &cta->warps[index];
    known->unreported = !e->reported;
    cta->gathering[e->barrier].warps |= 1u << index;
    cta->gathering[e->barrier].counts[index] = known->barriers + known->unreported;
}

static void add_arrival(arrivals *to, uint32_t warp, uint32_t count)
{
    to->counts[warp] = to->warps >> warp & 1 && to->counts[warp] > count ? to->counts[warp] : count;
    to->warps |= 1u << warp;
}

static void add_arrivals(arrivals *to, const arrivals *more)
{
    HD_EACH_BIT (warp, more->warps)
        add_arrival(to, warp, more->counts[warp]);
}

static recorded_mbarrier *mbarrier_of(recorded_cta *cta, uint32_t object)
{
    for (uint32_t i = 0; i < cta->mbarriers.count; i++)
        if (cta->mbarriers.items[i].object == object)
            return &cta->mbarriers.items[i];
    recorded_mbarrier *fresh = hd_array_extend(&cta->mbarriers, 1);
    *fresh = (recorded_mbarrier){.object = object};
    return fresh;
}

/* Arrivals come before the ISSUE of their instruction. */
static void record_mbarrier(recorded_cta *cta, uint32_t index, const hd_event *e)
{
    recorded_mbarrier *m = mbarrier_of(cta, e->object);
    gathered *ended = &m->ended[e->parity];
    if (e->kind == HD_EVENT_OPEN) {
        *ended = m->phase;
        m->phase = (gathered){0};
        return;
    }
    if (index == HD_NONE)
        return;
    recorded_warp *known = &cta->warps[index];
    if (e->kind == HD_EVENT_PASS) {
        add_arrivals(&known->waits, &ended->own);
        add_arrivals(&known->landings, &ended->copies);
    } else if (e->after_copies) {
        add_arrival(&m->phase.copies, index, e->after_copies);
    } else {
        add_arrival(&m->phase.own, index, known->barriers + 1);
    }
}

static void record_barrier(recorded_cta *cta, uint32_t index, const hd_event *e)
{
    if (e->barrier == HD_EVENT_MBARRIER)
        record_mbarrier(cta, index, e);
    else if (e->kind == HD_EVENT_OPEN) {
        cta->opened[e->barrier] = cta->gathering[e->barrier];
        cta->gathering[e->barrier].warps = 0;
    } else if (index != HD_NONE && e->kind == HD_EVENT_ARRIVE) {
        record_arrival(cta, index, e);
    } else if (index != HD_NONE) {
        add_arrivals(&cta->warps[index].waits, &cta->opened[e->barrier]);
    }
}

static void record_of_block(hd_recorder *r, const hd_event *e)
{
    recorded_cta *cta = find_cta(r, e->cta);
    uint32_t index = index_of(cta, e->warp);
    if (cta && e->kind >= HD_EVENT_ARRIVE)
        record_barrier(cta, index, e);
    else if (index != HD_NONE && e->kind == HD_EVENT_ISSUE)
        record_issue(r, cta, index, e);
    else if (index != HD_NONE && e->kind == HD_EVENT_RETURN)
        record_return(cta, index, e);
    else if (index != HD_NONE && e->kind == HD_EVENT_WARP_END)
        hd_array_fit(&cta->cta->warps[index].bytes);
}

bool hd_recorder_take(hd_recorder *r, const hd_event *e)
{
    switch ((hd_event_kind)e->kind) {
    case HD_EVENT_LAUNCH: hd_recorder_drop(r); return true;
    case HD_EVENT_WARP_START: start_warp(r, e); return true;
    case HD_EVENT_ISSUE:
    case HD_EVENT_RETURN:
    case HD_EVENT_ARRIVE:
    case HD_EVENT_OPEN:
    case HD_EVENT_PASS:
    case HD_EVENT_WARP_END: record_of_block(r, e); return true;
    case HD_EVENT_CTA_END: return end_cta(r, e->cta);
    case HD_EVENT_CTA_START:
    case HD_EVENT_CALL: /* frames show where their instructions begin */
    case HD_EVENT_LAUNCH_END: return true;
    }
    return true;
}

uint64_t hd_recorder_take_segment(hd_recorder *r, const hd_warp_event *e)
{
    recorded_cta *cta = find_cta(r, e->cta);
    uint32_t index = index_of(cta, e->warp);
    if (index == HD_NONE)
        return 0;
    record_segment(cta, index, e);
    return cta->cta->bytes;
}

static bool take(void *recorder, const hd_event *e) { return hd_recorder_take(recorder, e); }

hd_sink hd_recorder_sink(hd_recorder *r)
{
    return (hd_sink){.take = take, .context = r, .columns = HD_COLUMN_ADDRESSES | HD_COLUMN_BARRIERS | r->user.columns};
}
