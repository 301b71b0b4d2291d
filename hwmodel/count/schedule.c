/* The order of resident warps: see schedule.h. O(resident warps) a turn at worst, O(1) while active warps go on.
 *
 * A turn goes on at once to the next long-latency load, or to what may need a result that is awaited, which sets of
 * words (code.h) show nearly always; instruction by instruction where the model may refuse one. */
#include "hwmodel/count/schedule.h"
#include "base/minmax.h"
#include "hwmodel/rf/turns.h"

typedef struct resident_cta {
    hd_record *record;
    uint32_t live;
    uint32_t issued[HD_RECORD_WARPS]; /* barrier instructions of each warp; UINT32_MAX: ended */
} resident_cta;

enum { AWAITED = 16 /* words; a warp that would await more leaves until all are there */ };

typedef struct awaited_word { /* a result of a long-latency load */
    uint32_t frame, word;
    uint64_t ready;
} awaited_word;

typedef struct resident_warp { /* what decides whether it can join comes first */
    resident_cta *cta;
    uint32_t index;
    uint64_t ready;          /* when it may join; this and all other times are counts of instructions issued */
    uint64_t all_loads_done; /* when all that it awaits is there */
    uint64_t touches;        /* sets of the words that it awaits (code.h) */
    uint32_t awaits;         /* count of `awaited` */
    uint64_t refused;        /* the round in which a gate refused it last */
    hd_gate gate;            /* what the model answered last */
    hd_warp_event turn;      /* of its segment, what the model has not taken: [from, end); `end` is to be issued next */
    awaited_word awaited[AWAITED];
    hd_record_cursor cursor; /* at the segment of the turn */
} resident_warp;

struct hd_schedule {
    hd_walk *walk;
    const hd_rf_ops *ops; /* of the model; empty if it steers nothing in this launch */
    hd_rf_residency residency;
    uint32_t turn_most;            /* instructions of a turn */
    HD_ARRAY(hd_record *) arrived; /* not resident yet */
    HD_ARRAY(resident_cta *) residents;
    HD_ARRAY(resident_warp *) active;  /* in the order in which they joined */
    HD_ARRAY(resident_warp *) waiting; /* the queue */
    uint64_t now;
    uint64_t none_before; /* no warp of the queue can join before; UINT64_MAX: none ever can */
    uint32_t place;       /* in `active`: whose turn it is */
    uint32_t refused;     /* refusals since an instruction was issued */
    uint64_t round;       /* how often instructions were issued, from 1 on */
    uint64_t most_bytes;
    bool deadlocked;
    hd_gate gate; /* what the model answered last, for any warp */
};

hd_schedule *hd_schedule_new(hd_walk *walk)
{
    hd_schedule *s = hd_calloc(1, sizeof *s);
    s->walk = walk;
    return s;
}

static void drop_all(hd_schedule *s)
{
    for (uint32_t k = 0; k < s->arrived.count; k++)
        hd_record_release(s->arrived.items[k]);
    for (uint32_t k = 0; k < s->residents.count; k++) {
        hd_record_release(s->residents.items[k]->record);
        free(s->residents.items[k]);
    }
    for (uint32_t k = 0; k < s->active.count; k++)
        free(s->active.items[k]);
    for (uint32_t k = 0; k < s->waiting.count; k++)
        free(s->waiting.items[k]);
    hd_array_clear(&s->arrived);
    hd_array_clear(&s->residents);
    hd_array_clear(&s->active);
    hd_array_clear(&s->waiting);
}

void hd_schedule_free(hd_schedule *s)
{
    if (!s)
        return;
    drop_all(s);
    hd_array_free(&s->arrived);
    hd_array_free(&s->residents);
    hd_array_free(&s->active);
    hd_array_free(&s->waiting);
    free(s);
}

void hd_schedule_launch(hd_schedule *s, const hd_rf_residency *residency, uint32_t function)
{
    static const hd_rf_ops none = {0};
    const hd_rf_model *model = s->walk->model;
    drop_all(s);
    s->residency = *residency;
    s->residency.active = hd_turn_active(model, residency->active);
    hd_walk_launch(s->walk, function, &s->residency);
    s->ops = s->walk->ungated ? &none : model->info->ops;
    s->walk->offers = s->ops->idle_slot != NULL;
    s->turn_most = model->turn ? model->turn : s->ops->rank_warp ? 1 : UINT32_MAX;
    s->round = 1;
    s->now = s->none_before = s->place = s->refused = 0;
}

bool hd_schedule_locked(const hd_schedule *s) { return s->deadlocked; }

hd_stall hd_schedule_stall(const hd_schedule *s) { return (hd_stall)s->gate.reason; }

static bool held_at_barrier(resident_warp *w) { return hd_record_waits(&w->cursor, w->index, w->cta->issued); }

static hd_rf_wait wait_of(resident_warp *w)
{
    const char *awaited = hd_stall_texts[w->gate.ready ? HD_STALL_NONE : w->gate.reason];
    bool held = !awaited && held_at_barrier(w);
    return (hd_rf_wait){.sm = HD_NONE,
                        .cta = w->cta->record->cta,
                        .warp = w->index,
                        .function = w->turn.segment->function,
                        .instruction = hd_segment_instruction(w->turn.segment, w->turn.end),
                        .what = awaited ? awaited
                                : held  ? "other warps of its thread block"
                                        : "its turn",
                        .gated = awaited != NULL};
}

uint32_t hd_schedule_waits(const hd_schedule *s, hd_rf_wait *waits, uint32_t most)
{
    uint32_t active = s->active.count, count = active + s->waiting.count;
    for (uint32_t k = 0; k < count && k < most; k++)
        waits[k] = wait_of(k < active ? s->active.items[k] : s->waiting.items[k - active]);
    return count;
}

uint64_t hd_schedule_most_bytes(const hd_schedule *s) { return s->most_bytes; }

/* ---- warps and blocks come and go -------------------------------------------------------------------------------- */

static bool run_event(hd_schedule *s, hd_warp_event e)
{
    uint32_t at;
    s->walk->now = s->now;
    return hd_walk_take(s->walk, &e, &at);
}

static void run_warp_event(hd_schedule *s, hd_warp_event_kind kind, const hd_record *record, uint32_t index)
{
    run_event(s, (hd_warp_event){.kind = (uint8_t)kind, .cta = record->cta, .warp = record->warps[index].warp});
}

static void end_warp(hd_schedule *s, resident_warp *w)
{
    resident_cta *cta = w->cta;
    cta->issued[w->index] = UINT32_MAX;
    s->none_before = 0; /* others may wait for it */
    run_warp_event(s, HD_WARP_ENDS, cta->record, w->index);
    free(w);
    if (--cta->live)
        return;
    run_warp_event(s, HD_CTA_ENDS, cta->record, 0);
    uint32_t at = 0;
    while (s->residents.items[at] != cta)
        at++;
    hd_array_remove(&s->residents, at);
    hd_record_release(cta->record);
    free(cta);
}

/* Makes the warp's next segment ready; the model takes returns on the way. */
static bool load_next(hd_schedule *s, resident_warp *w)
{
    const hd_record *record = w->cta->record;
    const hd_record_step *next = &w->cursor.step;
    hd_warp_event e = {.cta = record->cta, .warp = record->warps[w->index].warp};
    if (!hd_record_next(&w->cursor))
        return false;
    __builtin_prefetch(w->cursor.at); /* other warps have their turns before it is needed */
    if (next->returned != HD_NONE) {
        e.kind = HD_WARP_RETURNS;
        e.frame = next->returned;
        run_event(s, e);
    }
    e.kind = HD_WARP_ISSUES;
    e.frame = next->frame;
    e.segment = next->segment;
    w->turn = e;
    return true;
}

static void start_cta(hd_schedule *s)
{
    resident_cta *cta = hd_calloc(1, sizeof *cta);
    cta->record = s->arrived.items[0];
    cta->live = cta->record->warp_count;
    hd_array_remove(&s->arrived, 0);
    hd_array_push(&s->residents, cta);
    s->none_before = 0;
    for (uint32_t k = 0, count = cta->record->warp_count; k < count; k++) {
        __builtin_prefetch(cta->record->warps[k].bytes.items);
        run_warp_event(s, HD_WARP_BEGINS, cta->record, k);
    }
    for (uint32_t k = 0, count = cta->record->warp_count; k < count; k++) {
        resident_warp *w = hd_calloc(1, sizeof *w);
        w->cta = cta;
        w->index = k;
        hd_record_open(&w->cursor, &cta->record->warps[k]);
        if (load_next(s, w))
            hd_array_push(&s->waiting, w);
        else
            end_warp(s, w);
    }
}

static void start_ctas(hd_schedule *s)
{
    while (s->arrived.count &&
           hd_turn_admits(s->ops, s->walk->model, &s->residency, s->residents.count, s->arrived.items[0]->cta))
        start_cta(s);
}

/* ---- who is active ----------------------------------------------------------------------------------------------- */

/* The rank that the model gives the warp for its next instruction. */
static uint32_t rank_of(hd_schedule *s, const resident_warp *w)
{
    if (!s->ops->rank_warp)
        return 0;
    hd_rf_step step = hd_walk_peek(s->walk, &w->turn, w->turn.end);
    return s->ops->rank_warp(s->walk->model, &step, s->now);
}

/* The place in the queue of the warp that joins first; HD_NONE where none is ready, and then none_before is the
 * earliest time at which one is. */
static uint32_t first_waiting(hd_schedule *s)
{
    hd_turn turn = HD_TURN_UNCLAIMED;
    uint64_t soonest = UINT64_MAX;
    if (s->now < s->none_before)
        return HD_NONE;
    for (uint32_t k = 0; k < s->waiting.count && (s->ops->rank_warp || turn.warp == HD_NONE); k++) {
        resident_warp *w = s->waiting.items[k];
        if (held_at_barrier(w))
            continue;
        if (w->ready <= s->now)
            hd_turn_claim(&turn, k, rank_of(s, w), k);
        else
            soonest = hd_min(soonest, w->ready);
    }
    if (turn.warp == HD_NONE)
        s->none_before = soonest;
    return turn.warp;
}

/* The place in the queue of the warp that can go on first, now or later; HD_NONE: none can. */
static uint32_t earliest_waiting(const hd_schedule *s)
{
    hd_turn turn = HD_TURN_UNCLAIMED;
    for (uint32_t k = 0; k < s->waiting.count; k++)
        if (!held_at_barrier(s->waiting.items[k]))
            hd_turn_claim(&turn, k, 0, s->waiting.items[k]->ready);
    return turn.warp;
}

static void switch_warp(hd_schedule *s, const resident_warp *w, hd_warp_event_kind kind)
{
    if (s->walk->model->info->ops->warp_switch)
        run_warp_event(s, kind, w->cta->record, w->index);
}

/* Time passes until `then`, and nothing issues. */
static void pass_time(hd_schedule *s, uint64_t then)
{
    for (; s->now < then && s->ops->idle_slot; s->now++)
        if (!hd_walk_idle(s->walk, UINT32_MAX, s->now))
            break; /* nor in what follows */
    s->now = hd_max(s->now, then);
}

static void activate(hd_schedule *s, uint32_t at)
{
    resident_warp *w = s->waiting.items[at];
    hd_array_remove(&s->waiting, at);
    hd_array_push(&s->active, w);
    switch_warp(s, w, HD_WARP_ACTIVE);
}

static void fill_active(hd_schedule *s)
{
    while (s->waiting.count && s->active.count < s->residency.active) {
        uint32_t at = first_waiting(s);
        if (at != HD_NONE)
            activate(s, at);
        else if (s->active.count || s->none_before == UINT64_MAX)
            return;
        else
            pass_time(s, s->none_before);
    }
}

/* The warp whose turn it is leaves, and may come back at that time. The next one is in its place then. */
static void deactivate(hd_schedule *s, uint64_t ready)
{
    resident_warp *w = s->active.items[s->place];
    hd_array_remove(&s->active, s->place);
    w->ready = ready;
    s->none_before = hd_min(s->none_before, ready);
    switch_warp(s, w, HD_WARP_INACTIVE);
    hd_array_push(&s->waiting, w);
}

/* ---- what a warp waits for --------------------------------------------------------------------------------------- */

static const hd_rf_code *code_of(const hd_schedule *s, const resident_warp *w)
{
    return s->walk->code->functions[w->turn.segment->function];
}

/* The warp awaits the results of the long-latency load that it issued last. false: there is no room for them. */
static bool await_results(hd_schedule *s, resident_warp *w)
{
    const hd_rf_code *code = code_of(s, w);
    uint32_t load = hd_segment_instruction(w->turn.segment, w->turn.end - 1u);
    uint32_t first = code->destination_first[load], end = code->destination_first[load + 1];
    if (w->all_loads_done <= s->now)
        w->awaits = w->touches = 0;
    w->all_loads_done = s->now + s->residency.latency;
    if (w->awaits + (end - first) > AWAITED)
        return false;
    for (uint32_t d = first; d < end; d++) {
        w->awaited[w->awaits++] = (awaited_word){w->turn.frame, code->destinations[d].word, w->all_loads_done};
        w->touches |= hd_rf_touch(code->destinations[d].word);
    }
    return true;
}

/* The last load of the word is the latest. */
static uint64_t word_ready_at(const resident_warp *w, uint32_t frame, uint32_t word)
{
    for (uint32_t a = w->awaits; a--;)
        if (w->awaited[a].word == word && w->awaited[a].frame == frame)
            return w->awaited[a].ready;
    return 0;
}

/* When everything that the warp's next instruction reads or overwrites is there. */
static uint64_t next_issue_at(const hd_schedule *s, const resident_warp *w)
{
    uint64_t ready = 0;
    if (w->all_loads_done <= s->now)
        return 0;
    const hd_rf_code *code = code_of(s, w);
    uint32_t next = hd_segment_instruction(w->turn.segment, w->turn.end);
    if (!(code->touches[next] & w->touches))
        return 0;
    for (uint32_t k = code->source_first[next]; k < code->source_first[next + 1]; k++)
        ready = hd_max(ready, word_ready_at(w, w->turn.frame, code->sources[k]));
    for (uint32_t d = code->destination_first[next]; d < code->destination_first[next + 1]; d++)
        ready = hd_max(ready, word_ready_at(w, w->turn.frame, code->destinations[d].word));
    return ready;
}

/* ---- issuing ----------------------------------------------------------------------------------------------------- */

static bool may_issue(hd_schedule *s, resident_warp *w)
{
    s->gate = w->gate;
    if (w->gate.wake > s->now)
        return false;
    s->gate = w->gate = (hd_gate){.ready = true};
    if (!s->ops->may_issue)
        return true;
    hd_rf_step step = hd_walk_peek(s->walk, &w->turn, w->turn.end);
    s->gate = w->gate = s->ops->may_issue(s->walk->model, &step, s->now);
    return s->gate.ready;
}

/* When an active warp may be asked again, if one says so. */
static uint64_t first_wake(const hd_schedule *s)
{
    uint64_t first = 0;
    for (uint32_t k = 0; k < s->active.count; k++) {
        uint64_t wake = s->active.items[k]->gate.wake;
        first = wake > s->now && (!first || wake < first) ? wake : first;
    }
    return first;
}

/* The warp whose turn it is loses it and, when all active ones were refused in a row, its place to the
 * one that can go on first.
 * false: they were refused so often that none can go on any more. */
static bool note_refusal(hd_schedule *s)
{
    /* A round of refusals takes a cycle: `latency` rounds bring all loads, and each further one gives a place away. */
    uint64_t all = s->active.count + s->waiting.count;
    s->refused++;
    s->active.items[s->place]->refused = s->round;
    bool all_refused = s->refused % s->active.count == 0;
    uint64_t wake = all_refused ? first_wake(s) : 0;
    s->deadlocked = s->refused > all * (all + 1 + s->residency.latency) || wake > s->now + HD_RF_IDLE_CYCLES;
    if (s->deadlocked)
        return false;
    uint32_t at = HD_NONE;
    if (wake) {
        pass_time(s, wake);
    } else if (all_refused && s->waiting.count) {
        pass_time(s, s->now + 1);
        at = earliest_waiting(s);
    }
    if (at == HD_NONE) {
        s->place++;
    } else {
        deactivate(s, s->now);
        activate(s, at); /* those that wait are before the one that left */
    }
    return true;
}

/* The end of the instructions, from the warp's next one on, between which nothing has to be checked: after a
 * long-latency load, before an instruction that may need a word that the warp awaits, or `end`. */
static uint8_t end_of_run(const hd_schedule *s, const resident_warp *w, uint8_t end)
{
    const hd_segment *t = w->turn.segment;
    uint64_t loads = t->loads >> w->turn.end;
    uint8_t stop = loads ? (uint8_t)(w->turn.end + __builtin_ctzll(loads) + 1) : end;
    stop = stop < end ? stop : end;
    if (w->all_loads_done <= s->now + 1 || !(t->touches & w->touches))
        return stop;
    const uint64_t *touches = code_of(s, w)->touches;
    for (uint8_t at = (uint8_t)(w->turn.end + 1); at < stop; at++)
        if (touches[hd_segment_instruction(t, at)] & w->touches)
            return at;
    return stop;
}

/* Issues the warp's next instructions, before `stop`. Returns when the one after them in the segment can issue. */
static uint64_t advance(hd_schedule *s, resident_warp *w, uint8_t stop)
{
    const hd_segment *t = w->turn.segment;
    s->now += (uint32_t)(stop - w->turn.end);
    s->refused = 0;
    s->round++;
    w->cursor.step.waits = 0;
    w->turn.end = stop;
    if (t->barrier && stop == t->count) {
        w->cta->issued[w->index]++;
        s->none_before = 0; /* others may wait for it */
    }
    if (t->loads >> (stop - 1) & 1 && !await_results(s, w))
        return w->all_loads_done;
    return stop < t->count ? next_issue_at(s, w) : 0;
}

/* Issues up to `end` of the segment, unless something is in the way; *ready: when the warp can go on. false: the model
 * failed. */
static bool issue_until(hd_schedule *s, resident_warp *w, uint8_t end, uint64_t *ready)
{
    bool asks = s->ops->may_issue;
    do {
        *ready = advance(s, w, asks ? (uint8_t)(w->turn.end + 1) : end_of_run(s, w, end));
        if (asks || *ready > s->now || w->turn.end == end) {
            if (!run_event(s, w->turn))
                return false;
            w->turn.from = w->turn.end;
        }
    } while (*ready <= s->now && w->turn.end < end && may_issue(s, w));
    return true;
}

/* The warp takes its turn. false: the model failed. */
static bool take_turn(hd_schedule *s, resident_warp *w)
{
    uint32_t count = w->turn.segment->count, most = hd_min(s->turn_most, count - w->turn.end);
    uint64_t ready;
    if (!issue_until(s, w, (uint8_t)(w->turn.end + most), &ready))
        return false;
    if (w->turn.end == count) {
        if (!load_next(s, w)) {
            hd_array_remove(&s->active, s->place);
            end_warp(s, w);
            return true;
        }
        ready = hd_max(ready, next_issue_at(s, w));
    }
    if (ready > s->now || held_at_barrier(w))
        deactivate(s, hd_max(ready, s->now));
    else
        s->place++;
    return true;
}

/* The active warp of highest rank that was not refused in this round; the next one in turn where several have it. */
static uint32_t highest_rank(hd_schedule *s)
{
    hd_turn turn = HD_TURN_UNCLAIMED;
    for (uint32_t k = 0; k < s->active.count; k++) {
        uint32_t at = (s->place + k) % s->active.count;
        const resident_warp *w = s->active.items[at];
        if (w->refused != s->round)
            hd_turn_claim(&turn, at, rank_of(s, w), k);
    }
    return turn.warp == HD_NONE ? s->place : turn.warp;
}

static bool one_turn(hd_schedule *s)
{
    start_ctas(s);
    fill_active(s);
    if (!s->active.count) {
        s->deadlocked = true;
        return false;
    }
    if (s->place >= s->active.count)
        s->place = 0;
    if (s->ops->rank_warp)
        s->place = highest_rank(s);
    resident_warp *w = s->active.items[s->place];
    return may_issue(s, w) ? take_turn(s, w) : note_refusal(s);
}

bool hd_schedule_drain(hd_schedule *s, bool all)
{
    uint32_t before = s->residents.count + s->arrived.count;
    while (before && (all ? s->residents.count + s->arrived.count : s->residents.count + s->arrived.count == before))
        if (!one_turn(s))
            return false;
    return true;
}

/* Bytes of the records that it still needs. */
static uint64_t bytes_of(const hd_schedule *s)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < s->arrived.count; k++)
        bytes += s->arrived.items[k]->bytes;
    for (uint32_t k = 0; k < s->residents.count; k++)
        bytes += s->residents.items[k]->record->bytes;
    return bytes;
}

bool hd_schedule_add(hd_schedule *s, hd_record *record)
{
    hd_record_share(record, 1);
    hd_array_push(&s->arrived, record);
    start_ctas(s);
    while (s->arrived.count || s->residents.count >= hd_turn_ctas(s->ops, &s->residency))
        if (!one_turn(s))
            return false;
    while (bytes_of(s) > s->residency.bytes)
        if (!hd_schedule_drain(s, false))
            return false;
    s->most_bytes = hd_max(s->most_bytes, bytes_of(s));
    return true;
}
