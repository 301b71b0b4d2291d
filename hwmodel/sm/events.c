/* Sends what happens in an SM to its counts and to its listeners (listener.h). Counts are always kept, so they are not
 * one of the listeners: an SM that nobody listens to pays for them alone. O(listeners) an event. */
#include "hwmodel/sm/state.h"

/* Calls the function of each listener that has it. */
#define SEND(sm, function, event)                                         \
    do {                                                                  \
        for (uint32_t i_ = 0; i_ < (sm)->setup.listener_count; i_++) {    \
            const hd_sm_listener *listener_ = &(sm)->setup.listeners[i_]; \
            if (listener_->ops->function)                                 \
                listener_->ops->function(listener_->context, (event));    \
        }                                                                 \
    } while (0)

static bool is_heard(const hd_sm *sm) { return sm->setup.listener_count; }

/* ---- what events are about --------------------------------------------------------------------------------------- */

static hd_sm_subject nothing(const hd_sm *sm)
{
    return (hd_sm_subject){
        .cta = HD_NONE, .warp = HD_NONE, .function = HD_NONE, .instruction = HD_NONE, .sm = sm->setup.number};
}

static hd_sm_subject subject_of_warp(const hd_sm *sm, uint32_t slot)
{
    const sm_warp *w = &sm->warps[slot];
    const hd_record *cta = sm->ctas.items[w->cta].record;
    hd_sm_subject subject = nothing(sm);
    subject.cta = cta->cta;
    subject.warp = cta->warps[w->index].warp;
    subject.place = (uint8_t)slot;
    return subject;
}

/* The next instruction of the warp. */
static hd_sm_subject subject_of_next(const hd_sm *sm, uint32_t slot)
{
    const hd_record_step *step = &sm->warps[slot].cursor.step;
    hd_sm_subject subject = subject_of_warp(sm, slot);
    subject.function = step->function;
    subject.instruction = step->instruction;
    subject.active = step->active;
    subject.effective = step->effective;
    return subject;
}

static hd_sm_subject subject_of_stall(const hd_sm *sm, uint32_t slot)
{
    if (slot == HD_NONE)
        return nothing(sm);
    return sm->warps[slot].has_step ? subject_of_next(sm, slot) : sm->warps[slot].last;
}

/* ---- issue slots ------------------------------------------------------------------------------------------------- */

void sm_emit_issue(hd_sm *sm, uint32_t index, uint32_t number)
{
    sm_inflight *inflight = &sm->inflight.items[index];
    sm_warp *w = &sm->warps[inflight->warp];
    sm->counts.slots[HD_SM_SLOT_ISSUED]++;
    sm->counts.warp_instructions++;
    sm->counts.thread_instructions += (uint32_t)__builtin_popcount(w->step.active);
    if (!is_heard(sm))
        return;
    const hd_machine *m = sm->setup.machine;
    inflight->subject = w->last = subject_of_next(sm, inflight->warp);
    w->issued_at = sm->schedulers[inflight->warp % m->core.schedulers].issued_at = sm->now;
    hd_sm_issue_event event = {.subject = inflight->subject,
                               .cycle = sm->now,
                               .number = inflight->number,
                               .slot = (uint8_t)(inflight->warp % m->core.schedulers * m->core.issue_width + number)};
    SEND(sm, issue, &event);
}

void sm_send_stall(hd_sm *sm, uint32_t scheduler, uint32_t number, uint64_t begin, uint64_t end)
{
    const sm_scheduler *s = &sm->schedulers[scheduler];
    uint32_t width = sm->setup.machine->core.issue_width;
    if (number == width)
        return;
    hd_sm_stall_event event = {.subject = subject_of_stall(sm, s->blamed),
                               .begin = begin,
                               .end = end,
                               .slot = (uint8_t)(scheduler * width + number),
                               .slots = (uint8_t)(width - number),
                               .reason = s->reason};
    SEND(sm, stall, &event);
}

/* ---- what warps wait for ----------------------------------------------------------------------------------------- */

/* Of a warp that has not issued. One that may issue waits for its turn, or for what its scheduler has no room. */
static uint8_t state_of(const hd_sm *sm, uint32_t slot, bool issuing)
{
    const sm_warp *w = &sm->warps[slot];
    const sm_scheduler *s = &sm->schedulers[slot % sm->setup.machine->core.schedulers];
    if (w->reason != HD_SM_SLOT_ISSUED)
        return w->reason;
    if (!(s->active >> slot & 1))
        return HD_SM_SLOT_INACTIVE;
    return issuing && s->issued_at == sm->now ? HD_SM_NOT_SELECTED : s->reason;
}

void sm_emit_waits(hd_sm *sm, uint64_t begin, uint64_t end, bool issuing)
{
    bool heard = false;
    for (uint32_t i = 0; i < sm->setup.listener_count; i++)
        heard = heard || sm->setup.listeners[i].ops->wait;
    for (uint32_t slot = 0; slot < SM_WARPS && heard; slot++) {
        const sm_warp *w = &sm->warps[slot];
        if (!w->resident)
            continue;
        bool issued = issuing && w->last.instruction != HD_NONE && w->issued_at == begin;
        hd_sm_wait_event event = {.subject = issued ? w->last : subject_of_stall(sm, slot),
                                  .begin = begin,
                                  .end = end,
                                  .state = issued ? HD_SM_SLOT_ISSUED : state_of(sm, slot, issuing)};
        SEND(sm, wait, &event);
    }
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void emit_access(hd_sm *sm, const sm_inflight *inflight, hd_sm_access_event event)
{
    event.subject = inflight->subject;
    event.cycle = sm->now;
    SEND(sm, access, &event);
}

/* Lanes that access the same bytes need fewer sectors than all of their bytes fill. Texels have no size here. */
static uint32_t least_sectors(const hd_sm *sm, const sm_inflight *inflight, uint32_t sectors)
{
    uint32_t bytes = (uint32_t)__builtin_popcount(inflight->subject.effective) * inflight->op->bytes;
    uint32_t sector = sm->setup.machine->l2.sector_bytes, least = (bytes + sector - 1) / sector;
    return bytes && least < sectors ? least : sectors;
}

void sm_emit_request(hd_sm *sm, const sm_inflight *inflight, uint32_t sectors)
{
    if (is_heard(sm))
        emit_access(sm, inflight,
                    (hd_sm_access_event){.level = HD_SM_LEVEL_REQUEST,
                                         .lines = inflight->lines,
                                         .sectors = sectors,
                                         .least_sectors = least_sectors(sm, inflight, sectors)});
}

void sm_emit_passes(hd_sm *sm, const sm_inflight *inflight, uint32_t least)
{
    sm->counts.shared_accesses++;
    sm->counts.shared_passes += inflight->passes;
    if (is_heard(sm))
        emit_access(
            sm, inflight,
            (hd_sm_access_event){.level = HD_SM_LEVEL_SHARED, .passes = inflight->passes, .least_passes = least});
}

void sm_emit_lookup(hd_sm *sm, const sm_inflight *inflight, uint32_t sectors, uint32_t missing)
{
    static const uint8_t levels[SM_CACHES] = {
        [SM_L1] = HD_SM_LEVEL_L1, [SM_CONSTANT] = HD_SM_LEVEL_CONSTANT, [SM_TEXTURE] = HD_SM_LEVEL_TEXTURE};
    sm->counts.l1_reads += inflight->cache == SM_L1;
    sm->counts.l1_hits += inflight->cache == SM_L1 && !missing;
    if (is_heard(sm))
        emit_access(sm, inflight,
                    (hd_sm_access_event){.level = levels[inflight->cache],
                                         .lines = 1,
                                         .sectors = (uint32_t)__builtin_popcount(sectors),
                                         .hits = (uint32_t)__builtin_popcount(sectors & ~missing)});
}

void sm_emit_answer(hd_sm *sm, const sm_inflight *inflight, const hd_memory_answer *answer)
{
    if (!is_heard(sm))
        return;
    hd_sm_access_event event = {.subject = inflight->subject,
                                .cycle = answer->now,
                                .level = HD_SM_LEVEL_L2,
                                .lines = 1,
                                .sectors = (uint32_t)__builtin_popcount(answer->sectors),
                                .hits = (uint32_t)__builtin_popcount(answer->hits)};
    SEND(sm, access, &event);
}

/* ---- ends -------------------------------------------------------------------------------------------------------- */

void sm_emit_retire(hd_sm *sm, const sm_inflight *inflight)
{
    if (!is_heard(sm))
        return;
    hd_sm_retire_event event = {.subject = inflight->subject, .cycle = sm->now, .number = inflight->number};
    SEND(sm, retire, &event);
}

void sm_emit_warp_end(hd_sm *sm, uint32_t slot)
{
    if (!is_heard(sm))
        return;
    hd_sm_warp_event event = {.subject = subject_of_warp(sm, slot), .begin = sm->warps[slot].start, .end = sm->now + 1};
    SEND(sm, warp_end, &event);
}
