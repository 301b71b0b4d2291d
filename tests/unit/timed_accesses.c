/* Accesses in flight: each structure's banks serve them, once what they come after is complete (timed_state.h). */
#include "tests/unit/timed_state.h"

void timed_fail_if_wrong(const timed_driver *d, const hd_rf_step *step)
{
    if (d->sink.failure.wrong)
        fail_msg("%s: failure %u at instruction %u of warp %u, word %u, lanes %08x", d->model->info->name,
                 d->sink.failure.wrong, step->instruction, step->warp->identity.warp, d->sink.failure.word,
                 d->sink.failure.lanes);
    for (uint32_t s = 0; s < step->source_count; s++)
        if (step->effective & ~d->sink.delivered.items[s])
            fail_msg("%s: source %u of instruction %u of warp %u is not delivered", d->model->info->name, s,
                     step->instruction, step->warp->identity.warp);
}

/* What the sink has, in flight. */
timed_group *timed_add_group(timed_driver *d, timed_warp *warp, bool holds)
{
    if (!d->sink.accesses.count && (holds || !warp))
        return NULL;
    timed_group *g = hd_calloc(1, sizeof *g);
    for (uint32_t a = 0; a < d->sink.accesses.count; a++) {
        hd_array_push(&g->accesses, d->sink.accesses.items[a]);
        hd_array_push(&g->done, 0);
    }
    g->warp = warp;
    g->holds = holds;
    if (warp && holds)
        warp->held++;
    else if (warp)
        warp->in_flight++;
    hd_array_push(&d->groups, g);
    return g;
}

static bool may_start(const timed_driver *d, const timed_group *g, uint32_t a)
{
    const hd_rf_access *access = &g->accesses.items[a];
    if (g->done.items[a] || (access->operand & HD_ACCESS_RESULT && d->now < g->results_at))
        return false;
    return !access->after || (g->done.items[access->after - 1] && g->done.items[access->after - 1] <= d->now);
}

static void serve(timed_driver *d, timed_group *g)
{
    for (uint32_t a = 0; a < g->accesses.count; a++) {
        const hd_rf_access *access = &g->accesses.items[a];
        uint64_t *bank = &d->free_at[access->structure][access->bank % d->run->banks];
        uint32_t cycles = access->cycles ? access->cycles : 1;
        if (!may_start(d, g, a) || (access->bank != HD_RF_NO_BANK && *bank > d->now))
            continue;
        g->done.items[a] = d->now + cycles;
        if (access->bank != HD_RF_NO_BANK)
            *bank = d->now + cycles;
        d->moved = d->now;
    }
}

static bool is_complete(const timed_driver *d, const timed_group *g)
{
    for (uint32_t a = 0; a < g->accesses.count; a++)
        if (!g->done.items[a] || g->done.items[a] > d->now)
            return false;
    return g->results_at <= d->now;
}

static void complete(timed_driver *d, timed_group *g)
{
    uint32_t left = 0;
    d->moved = d->now;
    if (g->warp && g->holds)
        g->warp->held--;
    if (g->warp && !g->holds) {
        g->warp->in_flight--;
        for (uint32_t p = 0; p < g->warp->pending.count; p++)
            if (g->warp->pending.items[p].of != g)
                g->warp->pending.items[left++] = g->warp->pending.items[p];
        g->warp->pending.count = left;
    }
    hd_array_free(&g->accesses);
    hd_array_free(&g->done);
    free(g);
}

void timed_advance_accesses(timed_driver *d)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < d->groups.count; i++)
        serve(d, d->groups.items[i]);
    for (uint32_t i = 0; i < d->groups.count; i++)
        if (is_complete(d, d->groups.items[i]))
            complete(d, d->groups.items[i]);
        else
            d->groups.items[left++] = d->groups.items[i];
    d->groups.count = left;
}

void timed_count_accesses(timed_driver *d, uint32_t operands, uint32_t results)
{
    hd_access_count(&d->sink, operands, results, d->model->counters);
}
