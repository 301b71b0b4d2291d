/* A CTA: its memory, its start, and the turns of its warps. The order is documented in exec.h. */
#include "hwmodel/exec/control/cta.h"
#include "hwmodel/exec/checks/checks.h"
#include "hwmodel/exec/control/async.h"
#include "hwmodel/exec/control/barrier.h"
#include "hwmodel/exec/control/events.h"
#include "hwmodel/exec/control/livelock.h"
#include "hwmodel/exec/control/stack.h"
#include "hwmodel/exec/control/warp.h"
#include "hwmodel/exec/ops/special.h"
#include "hwmodel/exec/state/fault.h"

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void open_cta(hd_cta *cta)
{
    const hd_program *p = cta->program;
    cta->warp_count = hd_grid_warps_per_cta(cta->grid);
    cta->shared_bytes = (uint32_t)p->static_shared_bytes;
    if (cta->grid->dynamic_shared_bytes)
        cta->shared_bytes = p->dynamic_shared_at + cta->grid->dynamic_shared_bytes;
    cta->reserved_at = cta->shared_bytes;
    if (p->reserves_shared) {
        cta->reserved_at = (cta->shared_bytes + 127) / 128 * 128;
        cta->shared_bytes = cta->reserved_at + HD_RESERVED_SHARED_BYTES;
    }
    cta->shared = hd_calloc((size_t)cta->shared_bytes + 16, 1);
    hd_checks_open(cta);
    cta->recent = hd_calloc((size_t)p->cache_slots + 1, sizeof(const hd_allocation *));
    cta->warps = hd_calloc(cta->warp_count, sizeof *cta->warps);
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        cta->warps[i].cta = cta;
        cta->warps[i].special = hd_calloc((size_t)p->special_bytes + 64, 1);
    }
}

/* The bytes of a warp, with everything it has grown to. */
static uint64_t warp_bytes(const hd_warp *w)
{
    uint64_t bytes = sizeof *w + (uint64_t)w->local_capacity * LANES + w->cta->program->special_bytes +
                     w->stack.capacity * sizeof *w->stack.items + w->frames.capacity * sizeof *w->frames.items +
                     w->async.capacity * sizeof *w->async.items;
    for (uint32_t k = 0; k < w->frames.count; k++)
        bytes += w->frames.items[k].register_capacity;
    return bytes;
}

static void close_cta(hd_cta *cta)
{
    uint64_t bytes = sizeof *cta;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        bytes += warp_bytes(&cta->warps[i]);
    if (bytes > cta->statistics->cta_bytes)
        cta->statistics->cta_bytes = bytes;
    hd_checks_close(cta);
    hd_livelock_free(cta);
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        hd_warp *w = &cta->warps[i];
        for (uint32_t k = 0; k < w->frames.count; k++) {
            free(w->frames.items[k].registers);
            free(w->frames.items[k].tops);
            free(w->frames.items[k].writers);
        }
        hd_array_free(&w->frames);
        hd_array_free(&w->stack);
        hd_array_free(&w->splits);
        free(w->local);
        free(w->special);
        hd_array_free(&w->async);
    }
    free(cta->warps);
    free(cta->shared);
    free(cta->recent);
}

hd_cta *hd_cta_new(const hd_grid_job *job, hd_exec_statistics *statistics)
{
    hd_cta *cta = aligned_alloc(64, (sizeof *cta + 63) / 64 * 64);
    if (!cta)
        hd_out_of_memory(sizeof *cta);
    memset(cta, 0, sizeof *cta);
    cta->program = job->program;
    cta->grid = job->grid;
    cta->options = job->options;
    cta->memory = job->program->image->memory;
    cta->sinks = job->sinks;
    cta->sink_count = job->sink_count;
    cta->segment = job->segment;
    cta->gathering = job->gathering;
    cta->workers = job->workers;
    cta->statistics = statistics;
    cta->issued_before = statistics->warp_instructions;
    cta->diagnostics = job->diagnostics;
    for (uint32_t i = 0; i < job->sink_count; i++)
        cta->columns |= job->sinks[i].columns;
    cta->barrier_events = cta->columns & HD_COLUMN_BARRIERS;
    cta->columns &= ~(uint32_t)HD_COLUMN_BARRIERS;
    open_cta(cta);
    return cta;
}

void hd_cta_delete(hd_cta *cta)
{
    close_cta(cta);
    free(cta);
}

/* ---- turns ------------------------------------------------------------------------------------------------------- */

void hd_cta_name(hd_cta *cta, uint32_t place)
{
    const uint32_t *grid = cta->grid->grid;
    uint32_t index = hd_ordering_at(cta->options->block_order, (uint32_t)hd_grid_ctas(cta->grid), place);
    cta->place = place;
    cta->index = index;
    cta->id[0] = index % grid[0];
    cta->id[1] = index / grid[0] % grid[1];
    cta->id[2] = index / grid[0] / grid[1];
}

bool hd_cta_start(hd_cta *cta, uint32_t place)
{
    const hd_grid *g = cta->grid;
    uint32_t threads = hd_grid_threads_per_cta(g);
    hd_cta_name(cta, place);
    cta->live_warps = cta->warp_count;
    cta->faulty = cta->options->lane_fault;
    if (cta->faulty && place % cta->faulty->sms != cta->faulty->fault.sm)
        cta->faulty = NULL;
    cta->addresses_to_change = false;
    memset(cta->barriers, 0, sizeof cta->barriers);
    cta->async_arrivals = 0;
    if (cta->checks)
        hd_checks_start(cta);
    hd_livelock_free(cta);
    hd_watch(cta);
    cta->livelock = (hd_livelock){.writes = cta->writes};
    if (cta->shared_bytes)
        memset(cta->shared, 0, cta->shared_bytes);
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        hd_warp *w = &cta->warps[i];
        uint32_t lanes = threads - i * LANES;
        w->index = i;
        w->id = cta->index * cta->warp_count + i;
        hd_special_fill(cta->program, w);
        hd_warp_start(w, cta->program->codes.items[0], lanes >= LANES ? HD_ALL_LANES : (1u << lanes) - 1);
        if (cta->sink_count &&
            ((!i && !hd_emit_event(w, HD_EVENT_CTA_START)) || !hd_emit_event(w, HD_EVENT_WARP_START)))
            return hd_stop(w), false;
    }
    cta->statistics->ctas++;
    cta->statistics->warps += cta->warp_count;
    return true;
}

static bool end_warp(hd_warp *w)
{
    hd_cta *cta = w->cta;
    cta->live_warps--;
    hd_async_finish(w);
    if (cta->sink_count &&
        (!hd_emit_event(w, HD_EVENT_WARP_END) || (!cta->live_warps && !hd_emit_event(w, HD_EVENT_CTA_END))))
        return hd_stop(w), false;
    hd_barriers_check(cta);
    return true;
}

/* Whether a CTA exceeds the limit by itself. The limit for all CTAs together is checked when one ends, so that what ran
 * when a run was stopped does not depend on the number of threads. */
static bool over_limit(const hd_cta *cta)
{
    uint64_t limit = cta->options->instruction_limit;
    return limit && cta->statistics->warp_instructions - cta->issued_before > limit;
}

/* A CTA that has read what another one should write first may run for long: conflicts are checked now and then. */
static bool goes_on_in_pool(hd_cta *cta)
{
    if (cta->statistics->warp_instructions > cta->compare_at) {
        cta->compare_at = cta->statistics->warp_instructions + HD_WORKERS_EPOCH;
        hd_workers_compare(cta->workers, cta->place, cta->footprint);
    }
    return !atomic_load(&cta->workers->stopped);
}

bool hd_cta_round(hd_cta *cta, bool *all_spun)
{
    bool any = false, spun;
    *all_spun = true;
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        hd_warp *w = &cta->warps[i];
        if (w->state != HD_WARP_READY)
            continue;
        any = true;
        if (!hd_run_warp(w, &spun) || (w->state == HD_WARP_DONE && !end_warp(w)))
            return false;
        if (over_limit(cta) && hd_await_turn(cta))
            hd_stop_at_limit(cta, w);
        if (hd_asked_to_stop(cta->options))
            hd_stop(w);
        if (cta->status != HD_EXEC_DONE || (cta->workers && !goes_on_in_pool(cta)))
            return false;
        *all_spun = *all_spun && spun;
    }
    if (!any)
        hd_fault_deadlock(cta);
    return any;
}

bool hd_cta_run(hd_cta *cta)
{
    bool all_spun;
    while (cta->live_warps) {
        if (!hd_cta_round(cta, &all_spun))
            return false;
        if (hd_livelock_check(cta, all_spun)) {
            hd_fault_livelock(cta);
            return false;
        }
    }
    return true;
}
