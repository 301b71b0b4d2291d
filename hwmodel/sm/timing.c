/* All SMs in lock step: see timing.h. */
#include "hwmodel/sm/sample.h"

enum { COUNT_CYCLES = 4096 }; /* after which the meter sees what has ended */

struct hd_timing {
    hd_timing_setup setup;
    hd_memory_system *memory;
    hd_walk **walks; /* by SM */
    hd_sm **sms;
    hd_sm_listener **heard; /* by SM: those that listen to it */
    uint64_t now;
    hd_meter *meter;
    uint64_t added, ended; /* thread blocks; of those that have ended, the ones that the meter has */
    uint32_t turn;         /* SM that is asked first for room */
    hd_timing_status status;
    hd_timing_counts before; /* what earlier launches have counted */
    hd_sample sample;
    const hd_rf_failure *failure;
};

static void answer(void *context, const hd_memory_answer *answered)
{
    hd_timing *t = context;
    hd_sm_answer(t->sms[answered->sm], answered);
}

/* Returns how many listeners the SM has. */
static uint32_t listeners_of(const hd_timing_setup *setup, uint32_t sm, hd_sm_listener *to)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < setup->listener_count; k++)
        if (setup->listeners[k].sm == sm || setup->listeners[k].sm == HD_NONE)
            to[count++] = setup->listeners[k];
    return count;
}

hd_timing *hd_timing_new(const hd_timing_setup *setup)
{
    hd_timing *t = hd_calloc(1, sizeof *t);
    t->setup = *setup;
    t->sample.waves = setup->sample;
    t->memory = hd_memory_system_new(setup->machine, setup->sms, answer, t);
    t->walks = hd_calloc(setup->sms, sizeof(hd_walk *));
    t->sms = hd_calloc(setup->sms, sizeof(hd_sm *));
    t->heard = hd_calloc(setup->sms, sizeof(hd_sm_listener *));
    for (uint32_t i = 0; i < setup->sms; i++) {
        t->walks[i] = hd_walk_new(setup->code->code, setup->models[i], NULL);
        t->heard[i] = hd_calloc(setup->listener_count + 1, sizeof *t->heard[i]);
        hd_sm_setup of = {.machine = setup->machine,
                          .code = setup->code,
                          .spaces = setup->spaces,
                          .memory = t->memory,
                          .walk = t->walks[i],
                          .listeners = t->heard[i],
                          .listener_count = listeners_of(setup, i, t->heard[i]),
                          .number = (uint16_t)i};
        t->sms[i] = hd_sm_new(&of);
    }
    return t;
}

void hd_timing_free(hd_timing *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; i < t->setup.sms; i++) {
        hd_sm_free(t->sms[i]);
        hd_walk_free(t->walks[i]);
        free(t->heard[i]);
    }
    hd_memory_system_free(t->memory);
    hd_sample_free(&t->sample);
    free(t->walks);
    free(t->heard);
    free(t->sms);
    free(t);
}

void hd_timing_show(hd_timing *t, hd_meter *meter) { t->meter = meter; }

const hd_rf_failure *hd_timing_failure(const hd_timing *t) { return t->failure; }

/* ---- the clock --------------------------------------------------------------------------------------------------- */

static uint64_t next_cycle(const hd_timing *t)
{
    uint64_t next = hd_memory_next(t->memory);
    for (uint32_t i = 0; i < t->setup.sms; i++)
        next = hd_sm_next(t->sms[i]) < next ? hd_sm_next(t->sms[i]) : next;
    return next == UINT64_MAX || !t->setup.every_cycle ? next : t->now + 1;
}

static hd_timing_status handle_cycle(hd_timing *t)
{
    hd_memory_advance(t->memory, t->now);
    for (uint32_t i = 0; i < t->setup.sms; i++) {
        if (hd_sm_next(t->sms[i]) > t->now && !t->setup.every_cycle)
            continue;
        if (hd_sm_cycle(t->sms[i], t->now))
            continue;
        if (hd_sm_is_locked(t->sms[i]))
            return HD_TIMING_LOCKED;
        t->failure = &t->walks[i]->failure;
        return HD_TIMING_WRONG;
    }
    return HD_TIMING_DONE;
}

/* The next cycle in which something happens. */
static hd_timing_status go_on(hd_timing *t)
{
    uint64_t next = next_cycle(t);
    if (next == UINT64_MAX)
        return HD_TIMING_LOCKED;
    if (t->setup.cancel && atomic_load_explicit(t->setup.cancel, memory_order_relaxed))
        return HD_TIMING_CANCELLED;
    t->now = next;
    return handle_cycle(t);
}

uint32_t hd_timing_waits(const hd_timing *t, hd_rf_wait *waits, uint32_t most)
{
    uint32_t count = 0;
    bool one = false;
    for (uint32_t i = 0; i < t->setup.sms; i++)
        one = one || hd_sm_is_locked(t->sms[i]);
    for (uint32_t i = 0; i < t->setup.sms; i++)
        if (!one || hd_sm_is_locked(t->sms[i])) {
            uint32_t listed = count < most ? count : most;
            count += hd_sm_waits(t->sms[i], waits + listed, most - listed);
        }
    return count;
}

/* ---- thread blocks ----------------------------------------------------------------------------------------------- */

static void count_ended(hd_timing *t)
{
    uint64_t ended = t->added;
    for (uint32_t i = 0; i < t->setup.sms; i++)
        ended -= hd_sm_resident(t->sms[i]);
    hd_meter_step(t->meter, ended - t->ended);
    t->ended = ended;
}

static bool is_empty(const hd_timing *t)
{
    for (uint32_t i = 0; i < t->setup.sms; i++)
        if (hd_sm_resident(t->sms[i]))
            return false;
    return true;
}

/* The first SM with room, from `turn` on; the number of SMs: none has. */
static uint32_t find_room(const hd_timing *t, uint32_t cta)
{
    for (uint32_t i = 0; i < t->setup.sms; i++) {
        uint32_t sm = (t->turn + i) % t->setup.sms;
        if (hd_sm_has_room(t->sms[sm], cta))
            return sm;
    }
    return t->setup.sms;
}

void hd_timing_begin(hd_timing *t, const hd_rf_residency *residency, uint32_t function, uint32_t launch)
{
    for (uint32_t k = 0; k < t->setup.listener_count; k++) {
        const hd_sm_listener *l = &t->setup.listeners[k];
        if (l->ops->launch_begin)
            l->ops->launch_begin(l->context, launch, function, t->before.cycles);
    }
    t->turn = 0;
    hd_sample_begin(&t->sample);
    if (t->status != HD_TIMING_DONE)
        return;
    for (uint32_t i = 0; i < t->setup.sms; i++)
        hd_sm_launch(t->sms[i], residency, function);
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */

/* Structures of 64-bit counts, element by element. */
static void add_counts(void *to, const void *more, size_t bytes, bool subtract)
{
    for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
        ((uint64_t *)to)[i] += subtract ? 0 - ((const uint64_t *)more)[i] : ((const uint64_t *)more)[i];
}

void hd_timing_counts_add(hd_timing_counts *to, const hd_timing_counts *more)
{
    add_counts(to, more, sizeof *to, false);
}

static hd_timing_counts count_all(hd_timing *t, uint64_t now)
{
    hd_timing_counts all = {.cycles = now, .memory = hd_memory_count(t->memory)};
    for (uint32_t i = 0; i < t->setup.sms; i++) {
        hd_sm_counts counts = hd_sm_count(t->sms[i], now);
        add_counts(&all.sm, &counts, sizeof counts, false);
    }
    return all;
}

/* ---- a part of the grid ------------------------------------------------------------------------------------------ */

static void join_counters(const hd_timing *t, uint64_t counters[HD_COUNTER_COUNT])
{
    memset(counters, 0, HD_COUNTER_COUNT * sizeof *counters);
    for (uint32_t i = 0; i < t->setup.sms; i++)
        hd_counters_join(counters, t->setup.models[i]->counters);
}

static void sample_block(hd_timing *t, const hd_record *cta)
{
    hd_sample_at at = hd_sample_start(&t->sample, t->now + 1, cta);
    if (at == HD_SAMPLE_FIRST || at == HD_SAMPLE_LAST) {
        bool first = at == HD_SAMPLE_FIRST;
        *(first ? &t->sample.first : &t->sample.last) = count_all(t, t->now + 1);
        join_counters(t, first ? t->sample.first_counters : t->sample.last_counters);
    }
}

void hd_timing_extrapolate(const hd_timing *t, uint64_t counters[HD_COUNTER_COUNT])
{
    hd_sample_extrapolate_counters(&t->sample, counters);
}

/* ---- adding blocks ----------------------------------------------------------------------------------------------- */

static hd_timing_status skip_block(hd_timing *t, hd_record *cta)
{
    hd_sample_skip(&t->sample, cta);
    hd_record_release(cta);
    t->added++;
    count_ended(t);
    return t->status;
}

hd_timing_status hd_timing_add(hd_timing *t, hd_record *cta)
{
    uint32_t sm = t->setup.sms;
    if (t->status == HD_TIMING_DONE && !hd_sample_takes(&t->sample))
        return skip_block(t, cta);
    while (t->status == HD_TIMING_DONE && (sm = find_room(t, cta->cta)) == t->setup.sms) {
        hd_sample_full(&t->sample);
        t->status = is_empty(t) ? HD_TIMING_LOCKED : go_on(t);
    }
    if (t->status != HD_TIMING_DONE) {
        hd_record_release(cta);
        return t->status;
    }
    sample_block(t, cta);
    hd_sm_start(t->sms[sm], t->now + 1, cta);
    t->added++;
    count_ended(t);
    t->turn = (sm + 1) % t->setup.sms;
    return t->status;
}

hd_timing_status hd_timing_end(hd_timing *t, hd_timing_counts *counts)
{
    for (uint32_t cycles = 0; t->status == HD_TIMING_DONE && !is_empty(t); cycles++) {
        t->status = go_on(t);
        if (cycles % COUNT_CYCLES == 0)
            count_ended(t);
    }
    count_ended(t);
    hd_timing_counts all = count_all(t, t->now + 1);
    for (uint32_t k = 0; k < t->setup.listener_count; k++)
        if (t->setup.listeners[k].ops->launch_end)
            t->setup.listeners[k].ops->launch_end(t->setup.listeners[k].context, t->now + 1);
    *counts = all;
    add_counts(counts, &t->before, sizeof *counts, true);
    t->before = all;
    const hd_machine *m = t->setup.machine;
    hd_sample_extrapolate(&t->sample, (uint64_t)t->setup.sms * m->core.schedulers * m->core.issue_width, counts);
    return t->status;
}

hd_sm_early hd_timing_first_early(const hd_timing *t)
{
    hd_sm_early first = {.cycle = UINT64_MAX};
    for (uint32_t i = 0; i < t->setup.sms; i++) {
        hd_sm_early early = hd_sm_first_early(t->sms[i]);
        first = early.cycle < first.cycle ? early : first;
    }
    return first;
}

bool hd_timing_drain(hd_timing *t)
{
    while (t->status == HD_TIMING_DONE && next_cycle(t) != UINT64_MAX)
        t->status = go_on(t);
    bool idle = t->status == HD_TIMING_DONE && hd_memory_is_idle(t->memory);
    for (uint32_t i = 0; i < t->setup.sms; i++)
        idle = idle && hd_sm_is_idle(t->sms[i]);
    return idle;
}
