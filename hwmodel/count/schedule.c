/* The order of resident warps: see schedule.h. O(resident warps) a turn at worst, O(1) while active warps go on.
 *
 * A turn goes on at once to the next long-latency load, to an instruction that a model may refuse (all, where it does
 * not say which), or to what may need a result that is awaited, which sets of words (code.h) tell nearly always. */
#include "hwmodel/count/schedule.h"

typedef struct resident_cta {
    hd_rf_cta *cta;
    uint32_t live;
    uint32_t issued[HD_RF_CTA_WARPS]; /* barrier instructions of each warp; UINT32_MAX: ended */
} resident_cta;

enum { AWAITED = 16 }; /* words that a warp may wait for before it leaves in any case */

typedef struct awaited_word { /* of a long-latency load */
    uint32_t frame, word;
    uint64_t ready;
} awaited_word;

typedef struct resident_warp { /* first what is looked at while it waits */
    resident_cta *of;
    uint32_t index;
    uint32_t behind;  /* warps that it waits for at a barrier before what is to be issued next */
    uint64_t ready;   /* instructions issued before it may come back */
    uint64_t last;    /* ... before all that it waits for is there */
    uint64_t touches; /* of the words that it waits for */
    uint32_t awaits;
    uint32_t record;       /* that comes next of its stream */
    hd_rf_passage passage; /* of its stretch, what the turn has issued: `end` is to be issued next */
    hd_rf_living *living;  /* in the feeder; NULL where it has a memo */
    awaited_word awaited[AWAITED];
} resident_warp;

struct hd_rf_interleave {
    hd_rf_feeder *feeder;
    const hd_rf_ops *ops; /* of the only model, where one steers; else such as steer nothing */
    hd_rf_residency residency;
    uint32_t most_ctas; /* that the SM can hold at all */
    bool asks;          /* the model may refuse instructions */
    /* hd_memo_ops.next_gate; NULL: each is asked for */
    uint32_t (*hints)(const hd_rf_model *model, uint32_t function, uint32_t from);
    bool tells_switches;           /* a model wants to know of them */
    HD_ARRAY(hd_rf_cta *) arrived; /* not resident yet */
    HD_ARRAY(resident_cta *) residents;
    HD_ARRAY(resident_warp *) active;
    HD_ARRAY(resident_warp *) waiting; /* in order of arrival */
    uint64_t now;
    uint64_t none_before;   /* of those that wait no warp can go on */
    uint32_t turn, refused; /* place in `active`; refusals since an instruction was issued */
    hd_rf_order order;
    hd_gate gate; /* what the model said last */
};

hd_rf_interleave *hd_rf_interleave_new(hd_rf_feeder *feeder)
{
    hd_rf_interleave *i = hd_calloc(1, sizeof *i);
    i->feeder = feeder;
    return i;
}

static void drop_all(hd_rf_interleave *i)
{
    for (uint32_t k = 0; k < i->arrived.count; k++)
        hd_rf_cta_release(i->arrived.items[k]);
    for (uint32_t k = 0; k < i->residents.count; k++) {
        hd_rf_cta_release(i->residents.items[k]->cta);
        free(i->residents.items[k]);
    }
    for (uint32_t k = 0; k < i->active.count; k++)
        free(i->active.items[k]);
    for (uint32_t k = 0; k < i->waiting.count; k++)
        free(i->waiting.items[k]);
    hd_array_clear(&i->arrived);
    hd_array_clear(&i->residents);
    hd_array_clear(&i->active);
    hd_array_clear(&i->waiting);
}

void hd_rf_interleave_free(hd_rf_interleave *i)
{
    if (!i)
        return;
    drop_all(i);
    hd_array_free(&i->arrived);
    hd_array_free(&i->residents);
    hd_array_free(&i->active);
    hd_array_free(&i->waiting);
    free(i);
}

/* Where one steers: it is the only one. */
static hd_rf_model *steering(const hd_rf_interleave *i) { return i->feeder->members.items[0].model; }

/* What is no instruction. */
static bool tell(hd_rf_interleave *i, hd_rf_passage p)
{
    uint32_t at;
    return hd_rf_feeder_passage(i->feeder, &p, &at);
}

static bool tell_of(hd_rf_interleave *i, hd_event_kind kind, const hd_rf_cta *cta, uint32_t index)
{
    return tell(i, (hd_rf_passage){.kind = (uint8_t)kind, .cta = cta->cta, .warp = cta->warps[index].warp});
}

bool hd_rf_interleave_launch(hd_rf_interleave *i, const hd_rf_residency *residency, uint32_t function)
{
    static const hd_rf_ops none = {0};
    drop_all(i);
    i->ops = hd_rf_interleave_steers(steering(i)) && !steering(i)->follows ? steering(i)->info->ops : &none;
    i->residency = *residency;
    if (steering(i)->turn)
        i->residency.turn = steering(i)->turn;
    i->feeder->residency = i->residency;
    i->most_ctas = i->ops->may_launch_cta && residency->most_ctas ? residency->most_ctas : residency->ctas;
    i->asks = i->ops->may_issue;
    i->hints = i->feeder->memo_ops && i->ops->memo ? i->ops->memo->next_gate : NULL;
    i->tells_switches = false;
    for (uint32_t m = 0; m < i->feeder->members.count; m++)
        i->tells_switches = i->tells_switches || i->feeder->members.items[m].model->info->ops->warp_switch;
    i->now = i->none_before = i->turn = i->refused = 0;
    return tell(i, (hd_rf_passage){.kind = HD_EVENT_LAUNCH, .function = function});
}

hd_rf_order hd_rf_interleave_order(const hd_rf_interleave *i) { return i->order; }

hd_stall hd_rf_interleave_stall(const hd_rf_interleave *i) { return (hd_stall)i->gate.reason; }

uint64_t hd_rf_interleave_bytes(const hd_rf_interleave *i)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < i->arrived.count; k++)
        bytes += i->arrived.items[k]->bytes;
    for (uint32_t k = 0; k < i->residents.count; k++)
        bytes += i->residents.items[k]->cta->bytes;
    return bytes;
}

/* ---- warps and CTAs come and go ---------------------------------------------------------------------------------- */

bool hd_rf_interleave_steers(const hd_rf_model *model)
{
    const hd_rf_ops *ops = model->info->ops;
    return model->turn || (!model->follows && (ops->may_issue || ops->may_launch_cta));
}

static void end_warp(hd_rf_interleave *i, resident_warp *w)
{
    resident_cta *of = w->of;
    of->issued[w->index] = UINT32_MAX;
    tell_of(i, HD_EVENT_WARP_END, of->cta, w->index);
    free(w);
    if (--of->live)
        return;
    tell_of(i, HD_EVENT_CTA_END, of->cta, 0);
    uint32_t at = 0;
    while (i->residents.items[at] != of)
        at++;
    for (i->residents.count--; at < i->residents.count; at++)
        i->residents.items[at] = i->residents.items[at + 1];
    hd_rf_cta_release(of->cta);
    free(of);
}

/* Makes the warp's next stretch ready; what is no instruction is told on the way. */
static bool load_next(hd_rf_interleave *i, resident_warp *w)
{
    const hd_rf_cta *cta = w->of->cta;
    const hd_rf_stream *stream = &cta->warps[w->index];
    while (w->record < stream->records.count) {
        const hd_rf_record *next = &stream->records.items[w->record++];
        __builtin_prefetch(next + 1); /* other warps have their turns before it is needed */
        if (next->stretch) {
            w->passage = (hd_rf_passage){
                HD_EVENT_ISSUE, 0, 0, false, cta->cta, stream->warp, next->frame, next->stretch->function,
                next->stretch};
            w->behind = next->behind;
            return true;
        }
        tell(i, (hd_rf_passage){.kind = HD_EVENT_RETURN, .cta = cta->cta, .warp = stream->warp, .frame = next->frame});
    }
    return false;
}

/* Is the next thing that it does a stretch? */
static bool stretch_follows(const resident_warp *w)
{
    const hd_rf_stream *stream = &w->of->cta->warps[w->index];
    return w->record < stream->records.count && stream->records.items[w->record].stretch;
}

static void start_cta(hd_rf_interleave *i)
{
    resident_cta *of = hd_calloc(1, sizeof *of);
    of->cta = i->arrived.items[0];
    of->live = of->cta->warp_count;
    i->arrived.count--;
    memmove(i->arrived.items, i->arrived.items + 1, i->arrived.count * sizeof *i->arrived.items);
    hd_array_push(&i->residents, of);
    i->none_before = 0;
    tell_of(i, HD_EVENT_CTA_START, of->cta, 0);
    for (uint32_t k = 0, count = of->cta->warp_count; k < count; k++) {
        __builtin_prefetch(of->cta->warps[k].records.items);
        tell_of(i, HD_EVENT_WARP_START, of->cta, k);
    }
    for (uint32_t k = 0, count = of->cta->warp_count; k < count; k++) {
        resident_warp *w = hd_calloc(1, sizeof *w);
        *w = (resident_warp){.of = of,
                             .index = k,
                             .living = i->feeder->memo ? NULL : hd_rf_feeder_warp(i->feeder, of->cta->warps[k].warp)};
        if (load_next(i, w))
            hd_array_push(&i->waiting, w);
        else
            end_warp(i, w);
    }
}

static void start_ctas(hd_rf_interleave *i)
{
    while (i->arrived.count && i->residents.count < i->most_ctas &&
           (!i->ops->may_launch_cta || i->ops->may_launch_cta(steering(i), i->arrived.items[0]->cta)))
        start_cta(i);
}

/* ---- who is active ----------------------------------------------------------------------------------------------- */

/* Whom it has not to wait for is not asked again. */
static bool held_at_barrier(resident_warp *w)
{
    for (; w->behind; w->behind &= w->behind - 1)
        if (w->of->issued[__builtin_ctz(w->behind)] < w->of->issued[w->index])
            return true;
    return false;
}

static resident_warp *take_waiting(hd_rf_interleave *i, uint32_t at)
{
    resident_warp *w = i->waiting.items[at];
    i->waiting.count--;
    memmove(i->waiting.items + at, i->waiting.items + at + 1, (i->waiting.count - at) * sizeof *i->waiting.items);
    return w;
}

/* The place in the queue of the warp that can go on first, now or later; HD_NONE: none can. */
static uint32_t first_to_come(const hd_rf_interleave *i)
{
    uint32_t first = HD_NONE;
    for (uint32_t k = 0; k < i->waiting.count; k++) {
        resident_warp *w = i->waiting.items[k];
        if (!held_at_barrier(w) && (first == HD_NONE || w->ready < i->waiting.items[first]->ready))
            first = k;
    }
    return first;
}

/* ... that comes now. Where none does, it is told from when on one may. */
static uint32_t choose_waiting(hd_rf_interleave *i)
{
    uint64_t soonest = UINT64_MAX;
    if (i->now < i->none_before)
        return HD_NONE;
    for (uint32_t k = 0; k < i->waiting.count; k++) {
        resident_warp *w = i->waiting.items[k];
        if (held_at_barrier(w))
            continue;
        if (w->ready <= i->now)
            return k;
        soonest = w->ready < soonest ? w->ready : soonest;
    }
    i->none_before = soonest;
    return HD_NONE;
}

static void tell_switch(hd_rf_interleave *i, const resident_warp *w, bool leaves)
{
    uint32_t warp = w->of->cta->warps[w->index].warp;
    if (!i->tells_switches)
        return;
    if (w->living)
        i->feeder->latest = w->living; /* found without a search */
    i->feeder->now = i->now;
    hd_rf_feeder_switch(i->feeder, warp, leaves);
}

static void fill_active(hd_rf_interleave *i)
{
    while (i->waiting.count && i->active.count < i->residency.active) {
        uint32_t at = choose_waiting(i);
        if (at == HD_NONE && !i->active.count)
            at = first_to_come(i);
        if (at == HD_NONE)
            return;
        resident_warp *w = take_waiting(i, at);
        i->now = w->ready > i->now ? w->ready : i->now; /* where nobody could go on, time has passed */
        hd_array_push(&i->active, w);
        tell_switch(i, w, false);
    }
}

static resident_warp *take_active(hd_rf_interleave *i, uint32_t at)
{
    resident_warp *w = i->active.items[at];
    i->active.count--;
    memmove(i->active.items + at, i->active.items + at + 1, (i->active.count - at) * sizeof *i->active.items);
    return w;
}

static void leave(hd_rf_interleave *i, uint32_t at, uint64_t ready, bool told)
{
    resident_warp *w = take_active(i, at);
    w->ready = ready;
    i->none_before = ready < i->none_before ? ready : i->none_before;
    if (!told)
        tell_switch(i, w, true);
    hd_array_push(&i->waiting, w);
}

/* ---- what a warp waits for --------------------------------------------------------------------------------------- */

static const hd_rf_code *code_of(const hd_rf_interleave *i, const resident_warp *w)
{
    return i->feeder->code->functions[w->passage.function];
}

/* The results of the long-latency load that was issued last. false: there is no room for them. */
static bool await_results(hd_rf_interleave *i, resident_warp *w)
{
    const hd_rf_code *code = code_of(i, w);
    uint32_t load = hd_rf_stretch_instruction(w->passage.stretch, w->passage.end - 1u);
    uint32_t first = code->destination_first[load], end = code->destination_first[load + 1];
    if (w->last <= i->now)
        w->awaits = w->touches = 0;
    w->last = i->now + i->residency.latency;
    if (w->awaits + (end - first) > AWAITED)
        return false;
    for (uint32_t d = first; d < end; d++) {
        w->awaited[w->awaits++] = (awaited_word){w->passage.frame, code->destinations[d].word, w->last};
        w->touches |= hd_rf_touch(code->destinations[d].word);
    }
    return true;
}

static uint64_t when_there(const resident_warp *w, uint32_t frame, uint32_t word)
{
    uint64_t ready = 0;
    for (uint32_t a = 0; a < w->awaits; a++)
        if (w->awaited[a].word == word && w->awaited[a].frame == frame && w->awaited[a].ready > ready)
            ready = w->awaited[a].ready;
    return ready;
}

/* When everything that the warp's next instruction reads or overwrites is there. */
static uint64_t when_it_can(const hd_rf_interleave *i, const resident_warp *w)
{
    uint64_t ready = 0;
    if (w->last <= i->now)
        return 0;
    const hd_rf_code *code = code_of(i, w);
    uint32_t next = hd_rf_stretch_instruction(w->passage.stretch, w->passage.end);
    if (!(code->touches[next] & w->touches))
        return 0;
    for (uint32_t s = code->source_first[next]; s < code->source_first[next + 1]; s++) {
        uint64_t then = when_there(w, w->passage.frame, code->sources[s]);
        ready = then > ready ? then : ready;
    }
    for (uint32_t d = code->destination_first[next]; d < code->destination_first[next + 1]; d++) {
        uint64_t then = when_there(w, w->passage.frame, code->destinations[d].word);
        ready = then > ready ? then : ready;
    }
    return ready;
}

/* ---- issuing ----------------------------------------------------------------------------------------------------- */

/* Place in the warp's stretch of the next instruction, from `from` on, that the model has to be asked for, if that is
 * before `end`. */
static uint8_t next_asked(const hd_rf_interleave *i, const resident_warp *w, uint8_t from, uint8_t end)
{
    const hd_rf_stretch *s = w->passage.stretch;
    if (!i->asks || !i->hints)
        return i->asks && from < end ? from : end;
    while (from < end) {
        const hd_stretch_part *part = hd_stretch_part_at(s->parts, s->part_count, from);
        bool is_last = part + 1 == s->parts + s->part_count;
        uint32_t part_end = is_last || part[1].at > end ? end : part[1].at,
                 instruction = part->first + (from - part->at);
        uint32_t next = i->hints(steering(i), w->passage.function, instruction) - instruction;
        if (next < part_end - from)
            return (uint8_t)(from + next);
        from = (uint8_t)part_end;
    }
    return end;
}

static bool may_issue(hd_rf_interleave *i, const resident_warp *w)
{
    i->gate = (hd_gate){.ready = true};
    if (next_asked(i, w, w->passage.end, (uint8_t)(w->passage.end + 1)) > w->passage.end)
        return true;
    i->feeder->latest = w->living; /* found without a search */
    hd_event next = hd_rf_passage_event(&w->passage, w->passage.end);
    hd_rf_step step = hd_rf_feeder_peek(i->feeder, &next);
    i->gate = i->ops->may_issue(steering(i), &step, i->now);
    return i->gate.ready;
}

/* All active warps were refused one after another: the one whose turn it is gives its place to one that waits. */
static bool refuse(hd_rf_interleave *i)
{
    /* what is latent comes back after `latency` exchanges, and has its turn then */
    uint64_t all = i->active.count + i->waiting.count;
    i->refused++;
    if (i->refused > all * (all + 1 + i->residency.latency)) {
        i->order = HD_RF_LOCKED;
        return false;
    }
    if (i->gate.wake > i->now) {
        leave(i, i->turn, i->gate.wake, false);
        return true;
    }
    if (i->refused % i->active.count || !i->waiting.count) {
        i->turn++;
        return true;
    }
    i->now++; /* time goes on */
    uint32_t at = first_to_come(i);
    if (at == HD_NONE) {
        i->turn++;
        return true;
    }
    resident_warp *in = take_waiting(i, at);
    leave(i, i->turn, i->now, false);
    hd_array_push(&i->active, in);
    tell_switch(i, in, false);
    return true;
}

/* What was issued, and that the warp leaves where it does, and an automaton takes both at once. */
static bool pass_on(hd_rf_interleave *i, resident_warp *w, hd_rf_passage p)
{
    uint32_t at;
    if (w->living)
        i->feeder->latest = w->living; /* found without a search */
    i->feeder->now = i->now;
    while (!hd_rf_feeder_passage(i->feeder, &p, &at) && i->feeder->failed < i->feeder->members.count && at < p.end)
        p.from = (uint8_t)(at + 1);
    return i->feeder->failed < i->feeder->members.count;
}

/* Where the instructions end that can be issued after the warp's next one without a look at anything: behind a
 * long-latency load, before one that may need a word that the warp waits for, or at `end`. */
static uint8_t end_of_run(const hd_rf_interleave *i, const resident_warp *w, uint8_t end)
{
    const hd_rf_stretch *s = w->passage.stretch;
    uint64_t loads = s->loads >> w->passage.end;
    uint8_t stop = loads ? (uint8_t)(w->passage.end + __builtin_ctzll(loads) + 1) : end;
    stop = stop < end ? stop : end;
    if (w->last <= i->now + 1 || !(s->touches & w->touches))
        return stop;
    const uint64_t *touches = code_of(i, w)->touches;
    for (uint8_t at = (uint8_t)(w->passage.end + 1); at < stop; at++)
        if (touches[hd_rf_stretch_instruction(s, at)] & w->touches)
            return at;
    return stop;
}

/* The warp's next instructions, before `stop`, are issued. Says when the one behind them in the stretch can be. */
static uint64_t advance(hd_rf_interleave *i, resident_warp *w, uint8_t stop)
{
    const hd_rf_stretch *s = w->passage.stretch;
    i->now += (uint32_t)(stop - w->passage.end);
    i->refused = 0;
    w->behind = 0;
    w->passage.end = stop;
    if (s->barrier && stop == s->count) {
        w->of->issued[w->index]++;
        i->none_before = 0; /* others may wait for it */
    }
    if (s->loads >> (stop - 1) & 1 && !await_results(i, w))
        return w->last;
    return stop < s->count ? when_it_can(i, w) : 0;
}

/* Up to `end` of the stretch, where nothing is in the way. Says when the warp can go on. */
static uint64_t go_on(hd_rf_interleave *i, resident_warp *w, uint8_t end)
{
    uint64_t ready;
    do
        ready = advance(i, w, end_of_run(i, w, end));
    while (ready <= i->now && w->passage.end < end);
    return ready;
}

/* ... and the model has nothing against it. false: it is not left. */
static bool go_on_asking(hd_rf_interleave *i, resident_warp *w, uint8_t end, uint64_t *ready)
{
    do {
        *ready = go_on(i, w, next_asked(i, w, (uint8_t)(w->passage.end + 1), end));
        if (!pass_on(i, w, w->passage))
            return false;
        w->passage.from = w->passage.end;
    } while (*ready <= i->now && w->passage.end < end && may_issue(i, w));
    return true;
}

/* A turn: false where no model is left. */
static bool issue(hd_rf_interleave *i, resident_warp *w)
{
    uint32_t count = w->passage.stretch->count, rest = count - w->passage.end,
             most = i->residency.turn ? i->residency.turn : rest;
    uint8_t end = (uint8_t)(w->passage.end + (rest < most ? rest : most));
    uint64_t ready;
    if (i->asks && !go_on_asking(i, w, end, &ready))
        return false;
    if (!i->asks)
        ready = go_on(i, w, end);
    hd_rf_passage issued = w->passage;
    /* models see it when it is known whether the warp leaves */
    bool whole = issued.end == count, later = !i->asks && (!whole || stretch_follows(w));
    w->passage.from = w->passage.end;
    if (!i->asks && !later && !pass_on(i, w, issued))
        return false;
    if (whole) {
        if (!load_next(i, w)) {
            end_warp(i, take_active(i, i->turn)); /* the next one stands in its place now */
            return true;
        }
        uint64_t then = when_it_can(i, w);
        ready = then > ready ? then : ready;
    }
    bool leaves = ready > i->now || (w->behind && held_at_barrier(w));
    issued.leaves = leaves && later && i->feeder->memo && i->tells_switches;
    if (later && !pass_on(i, w, issued))
        return false;
    if (leaves)
        leave(i, i->turn, ready > i->now ? ready : i->now, issued.leaves);
    else
        i->turn++;
    return true;
}

static bool one_turn(hd_rf_interleave *i)
{
    if (i->arrived.count)
        start_ctas(i);
    if (i->waiting.count && i->active.count < i->residency.active && (i->now >= i->none_before || !i->active.count))
        fill_active(i);
    if (!i->active.count) {
        i->order = HD_RF_LOCKED;
        return false;
    }
    if (i->turn >= i->active.count)
        i->turn = 0;
    resident_warp *w = i->active.items[i->turn];
    return may_issue(i, w) ? issue(i, w) : refuse(i);
}

bool hd_rf_interleave_drain(hd_rf_interleave *i, bool all)
{
    uint32_t before = i->residents.count + i->arrived.count;
    while (before && (all ? i->residents.count + i->arrived.count : i->residents.count + i->arrived.count == before))
        if (!one_turn(i))
            return false;
    return true;
}

/* Goes on until it needs another CTA. */
bool hd_rf_interleave_add(hd_rf_interleave *i, hd_rf_cta *cta)
{
    __atomic_add_fetch(&cta->readers, 1, __ATOMIC_RELAXED);
    hd_array_push(&i->arrived, cta);
    start_ctas(i);
    while (i->arrived.count || i->residents.count >= i->most_ctas)
        if (!one_turn(i))
            return false;
    return true;
}
