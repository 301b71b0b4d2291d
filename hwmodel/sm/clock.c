/* Time in an SM: events that are due in a cycle, and cycles in which nothing happens. O(1) an event; a jump looks
 * through a bit for each cycle of the ring. */
#include "hwmodel/sm/state.h"

void sm_at(hd_sm *sm, uint64_t cycle, sm_event event)
{
    assert(cycle > sm->now && cycle - sm->now < SM_RING);
    uint32_t place = (uint32_t)(cycle % SM_RING);
    uint32_t at = sm->free_event;
    if (at) {
        sm->free_event = sm->events.items[at - 1].next;
    } else {
        (void)hd_array_extend(&sm->events, 1);
        at = sm->events.count;
    }
    sm->events.items[at - 1] = (sm_scheduled){event, 0};
    sm_due *due = &sm->ring[place];
    if (due->last)
        sm->events.items[due->last - 1].next = at;
    else
        due->first = at;
    due->last = at;
    sm->ring_used[place / 64] |= (uint64_t)1 << place % 64;
}

uint64_t sm_next_event(const hd_sm *sm)
{
    uint32_t first = (uint32_t)((sm->now + 1) % SM_RING);
    uint64_t here = sm->ring_used[first / 64] >> first % 64;
    if (here)
        return sm->now + 1 + (uint32_t)__builtin_ctzll(here);
    for (uint32_t i = 1; i <= SM_RING / 64; i++) {
        uint32_t word = (first / 64 + i) % (SM_RING / 64);
        if (sm->ring_used[word])
            return sm->now + 1 + (word * 64 + (uint32_t)__builtin_ctzll(sm->ring_used[word]) - first) % SM_RING;
    }
    return UINT64_MAX;
}

/* Counts the registers that have power at the end of cycle `now`. */
void sm_account_power(hd_sm *sm, uint64_t cycles)
{
    const hd_rf_ops *ops = sm->model->info->ops;
    sm->counts.powered += cycles * (ops->powered ? ops->powered(sm->model) : sm->residency.file_registers);
}

/* Cycles in which nothing happened count as the last one did. */
void sm_account(hd_sm *sm, uint64_t now)
{
    if (now <= sm->accounted)
        return;
    uint64_t cycles = now - sm->accounted;
    for (uint32_t i = 0; i < sm->setup.machine->core.schedulers; i++)
        sm_emit_stall(sm, i, 0, sm->accounted, now);
    sm_emit_waits(sm, sm->accounted, now, false);
    sm->counts.warp_cycles += cycles * sm->resident_warps;
    sm->counts.busy_cycles += sm->resident_warps ? cycles : 0;
    sm_account_power(sm, cycles);
    sm->accounted = now;
    sm->now = now - 1;
}

void sm_recheck_block(hd_sm *sm, const sm_warp *w)
{
    const sm_cta *cta = &sm->ctas.items[w->cta];
    for (uint32_t i = 0; i < cta->record->warp_count; i++)
        if (cta->barriers[i] != UINT32_MAX)
            sm->recheck |= (uint64_t)1 << cta->slots[i];
}
