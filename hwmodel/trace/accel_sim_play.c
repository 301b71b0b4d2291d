/* The events of a trace: see accel_sim.h. Warps of a block go on in turns, each up to a barrier or its end. */
#include "hwmodel/trace/accel_sim.h"

#include "base/bits.h"

typedef struct played_warp {
    const hd_traced_warp *lines;
    uint32_t at, lanes; /* lanes: that have not left */
    bool waits, ended;
} played_warp;

typedef struct player {
    const hd_traced *t;
    const hd_sink *sinks;
    uint32_t sink_count;
    hd_traced_statistics *statistics;
    const hd_traced_cta *cta;
    played_warp warps[HD_TRACED_THREADS / 32];
    bool stopped;
} player;

static void emit(player *p, const hd_event *e)
{
    for (uint32_t i = 0; i < p->sink_count && !p->stopped; i++)
        p->stopped = !p->sinks[i].take(p->sinks[i].context, e);
}

static hd_event event_of(const player *p, hd_event_kind kind, uint32_t warp)
{
    return (hd_event){.kind = (uint8_t)kind,
                      .cta = p->cta->index,
                      .warp = p->cta->index * p->t->cta_warps + warp,
                      .active = p->warps[warp].lanes,
                      .effective = p->warps[warp].lanes};
}

static void emit_of_warp(player *p, hd_event_kind kind, uint32_t warp)
{
    hd_event e = event_of(p, kind, warp);
    emit(p, &e);
}

static void emit_barrier(player *p, hd_event_kind kind, uint32_t warp)
{
    hd_event e = event_of(p, kind, warp);
    e.reported = true;
    for (uint32_t i = 0; i < p->sink_count && !p->stopped; i++)
        if (p->sinks[i].columns & HD_COLUMN_BARRIERS)
            p->stopped = !p->sinks[i].take(p->sinks[i].context, &e);
}

static uint64_t place(const hd_traced *t, uint8_t space, uint64_t address)
{
    const uint64_t window_bytes = HD_TRACED_LIMIT - HD_TRACED_LOCAL;
    bool shared = t->shared_window && address - t->shared_window < window_bytes;
    bool local = t->local_window && address - t->local_window < window_bytes;
    if (space == HD_SASS_SPACE_SHARED)
        return shared ? address - t->shared_window : address;
    if (space == HD_SASS_SPACE_LOCAL)
        return local ? address - t->local_window : address;
    if (space == HD_SASS_SPACE_GENERIC && (shared || local))
        return shared ? HD_TRACED_SHARED + (address - t->shared_window) : HD_TRACED_LOCAL + (address - t->local_window);
    return address;
}

/* Addresses of instructions that have one space become offsets in it. */
static void place_addresses(const hd_traced *t, const hd_traced_code *c, hd_traced_line *line)
{
    HD_EACH_BIT (lane, line->mask)
        line->addresses[lane] = place(t, c->space, line->addresses[lane]);
}

static void issue(player *p, uint32_t index, hd_traced_step step)
{
    played_warp *w = &p->warps[index];
    const hd_traced_code *c = &p->t->code.items[step.code];
    hd_traced_line line;
    hd_traced_read_line(p->t, step.begin, false, &line);
    hd_event e = event_of(p, HD_EVENT_ISSUE, index);
    e.instruction = step.code;
    e.effective = line.mask;
    if (c->access && line.access && line.mask) {
        place_addresses(p->t, c, &line);
        e.addresses = line.addresses;
    }
    emit(p, &e);
    p->statistics->warp_instructions++;
    p->statistics->thread_instructions += (uint32_t)__builtin_popcount(line.mask);
    w->waits = c->waits && line.mask;
    w->lanes &= c->leaves ? ~line.mask : UINT32_MAX;
    if (w->waits)
        emit_barrier(p, HD_EVENT_ARRIVE, index);
}

/* Up to a barrier or the end. */
static void run_warp(player *p, uint32_t index)
{
    played_warp *w = &p->warps[index];
    while (w->at < w->lines->count && !w->waits && !p->stopped)
        issue(p, index, w->lines->items[w->at++]);
    if (!w->waits && !p->stopped) {
        w->ended = true;
        emit_of_warp(p, HD_EVENT_WARP_END, index);
    }
}

/* All that have not ended wait. */
static void open_barrier(player *p)
{
    emit_barrier(p, HD_EVENT_OPEN, 0);
    for (uint32_t i = 0; i < p->t->cta_warps; i++)
        if (p->warps[i].waits) {
            p->warps[i].waits = false;
            emit_barrier(p, HD_EVENT_PASS, i);
        }
}

static void start_cta(player *p)
{
    for (uint32_t i = 0; i < p->t->cta_warps; i++) {
        uint32_t threads = p->t->threads - i * 32;
        p->warps[i] =
            (played_warp){.lines = &p->cta->warps[i], .lanes = threads >= 32 ? UINT32_MAX : (1u << threads) - 1};
        if (!i)
            emit_of_warp(p, HD_EVENT_CTA_START, i);
        emit_of_warp(p, HD_EVENT_WARP_START, i);
    }
}

static void play_cta(player *p)
{
    uint32_t ended = 0;
    start_cta(p);
    while (ended < p->t->cta_warps && !p->stopped) {
        for (uint32_t i = 0; i < p->t->cta_warps && !p->stopped; i++)
            if (!p->warps[i].ended) {
                run_warp(p, i);
                ended += p->warps[i].ended;
            }
        if (!p->stopped && ended < p->t->cta_warps)
            open_barrier(p);
    }
    if (!p->stopped)
        emit_of_warp(p, HD_EVENT_CTA_END, p->t->cta_warps - 1);
}

bool hd_traced_play(const hd_traced *t, const hd_sink *sinks, uint32_t count, hd_traced_statistics *statistics,
                    hd_ordering order, hd_meter *meter, const atomic_bool *cancel)
{
    player p = {.t = t, .sinks = sinks, .sink_count = count, .statistics = statistics};
    emit(&p, &(hd_event){.kind = HD_EVENT_LAUNCH});
    for (uint32_t c = 0; c < t->ctas.count && !p.stopped; c++) {
        p.cta = &t->ctas.items[hd_ordering_at(order, t->ctas.count, c)];
        p.stopped = cancel && atomic_load_explicit(cancel, memory_order_relaxed);
        if (!p.stopped)
            play_cta(&p);
        hd_meter_step(meter, 1);
    }
    if (!p.stopped)
        emit(&p, &(hd_event){.kind = HD_EVENT_LAUNCH_END});
    return !p.stopped;
}
