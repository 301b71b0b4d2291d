/* Is anything left in an SM, and can its warps go on? O(all that it holds): at the end of a run, for tests, and once
 * in HD_RF_IDLE_CYCLES in which no instruction was issued. */
#include "hwmodel/sm/state.h"

static bool all_places_are_free(const hd_sm *sm)
{
    uint32_t unused = 0;
    for (uint32_t i = sm->unused_inflight; i != HD_NONE && unused <= sm->inflight.count; i = sm->inflight.items[i].next)
        unused++;
    return unused == sm->inflight.count;
}

static bool registers_are_idle(const hd_sm *sm)
{
    bool idle = !sm_has_busy_banks(sm) && !sm->unbanked.count && !sm->awaiting.count &&
                (sm->subcores || sm->free_collectors == sm->setup.machine->core.collectors);
    for (uint32_t b = 0; b < SM_BANKS; b++)
        idle = idle && !sm->banks[b].reads.items.count && !sm->banks[b].writes.items.count;
    return idle;
}

/* No value is awaited, and no operand is yet to be read. */
static bool warps_are_idle(const hd_sm *sm)
{
    for (uint32_t i = 0; i < SM_WARPS; i++) {
        const sm_warp *w = &sm->warps[i];
        if (w->resident || w->scoreboard_entries || w->readings || w->inflight || w->pending_moves || w->accesses)
            return false;
    }
    return !sm->resident && !sm->resident_warps && !(sm->recheck | sm->eligible | sm->gated);
}

static bool schedulers_are_idle(const hd_sm *sm)
{
    bool idle = !sm->latched;
    for (uint32_t i = 0; i < SM_SCHEDULERS; i++) {
        const sm_scheduler *s = &sm->schedulers[i];
        idle = idle && !s->warps && !s->active && !s->waiting.count && !s->queued;
        idle = idle && s->control == HD_NONE && s->allocate == HD_NONE;
    }
    return idle;
}

static bool memory_is_idle(const hd_sm *sm)
{
    bool idle =
        !sm->memory_queue.count && !sm->reserved.count && !sm->fetch_count && !sm->fetches_of_code && !sm->to_fetch;
    for (uint32_t f = 0; f < sm->fetches.count; f++)
        idle = idle && !sm->fetches.items[f].used;
    return idle;
}

/* ---- can its warps go on? ---------------------------------------------------------------------------------------- */

/* Whether an instruction has not ended, or memory or code is on its way. */
static bool is_anything_in_flight(const hd_sm *sm)
{
    bool found = sm->memory_queue.count || sm->fetch_count || sm->fetches_of_code;
    for (uint32_t i = 0; i < SM_WARPS && !found; i++) {
        const sm_warp *w = &sm->warps[i];
        found = w->resident && (w->inflight || w->stores || w->accesses || w->copies.count);
    }
    return found;
}

bool sm_check_alive(hd_sm *sm)
{
    if (!sm->resident_warps || sm->issued_units)
        sm->alive = sm->now;
    if (sm->now - sm->alive < HD_RF_IDLE_CYCLES)
        return true;
    sm->locked = !is_anything_in_flight(sm);
    sm->alive = sm->now;
    return !sm->locked;
}

bool hd_sm_is_locked(const hd_sm *sm) { return sm->locked; }

static hd_sm_slot wait_of(const hd_sm *sm, uint32_t slot)
{
    const sm_warp *w = &sm->warps[slot];
    const sm_scheduler *s = &sm->schedulers[slot % sm->setup.machine->core.schedulers];
    if (w->reason != HD_SM_SLOT_ISSUED)
        return (hd_sm_slot)w->reason;
    return s->active >> slot & 1 ? (hd_sm_slot)s->reason : HD_SM_SLOT_INACTIVE;
}

uint32_t hd_sm_waits(const hd_sm *sm, hd_rf_wait *waits, uint32_t most)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < SM_WARPS; i++) {
        const sm_warp *w = &sm->warps[i];
        if (!w->resident)
            continue;
        if (count < most)
            waits[count] = (hd_rf_wait){.sm = sm->setup.number,
                                        .cta = sm->ctas.items[w->cta].record->cta,
                                        .warp = w->index,
                                        .function = w->cursor.step.function,
                                        .instruction = w->has_step ? w->cursor.step.instruction : (uint32_t)HD_NONE,
                                        .what = hd_sm_slot_texts[wait_of(sm, i)],
                                        .gated = wait_of(sm, i) >= HD_SM_SLOTS};
        count++;
    }
    return count;
}

bool hd_sm_is_idle(const hd_sm *sm)
{
    bool idle = sm_next_event(sm) == UINT64_MAX;
    for (uint32_t u = 0; u < HD_MACHINE_UNITS; u++)
        idle = idle && !sm->ready[u].count;
    return idle && all_places_are_free(sm) && registers_are_idle(sm) && warps_are_idle(sm) && schedulers_are_idle(sm) &&
           memory_is_idle(sm);
}
