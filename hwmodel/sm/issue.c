/* The issue stage: which warps may issue, which of them each scheduler takes, and what an issue does. O(registers) a
 * warp whose state may have changed; O(1) a scheduler and cycle where nothing changed. */
#include "hwmodel/sm/state.h"

static uint64_t bit_of(uint32_t slot) { return (uint64_t)1 << slot; }

static sm_scheduler *scheduler_of(hd_sm *sm, uint32_t slot)
{
    return &sm->schedulers[slot % sm->setup.machine->core.schedulers];
}

/* ---- the next instruction of a warp ------------------------------------------------------------------------------ */

/* The next instruction waits for these accesses. */
static void begin_moves(hd_sm *sm, uint32_t slot, const hd_access_sink *sink)
{
    if (!sink->accesses.count)
        return;
    uint32_t inflight = sm_new_inflight(sm, slot);
    sm->inflight.items[inflight].is_before = true;
    sm->warps[slot].pending_moves++;
    sm_add_accesses(sm, inflight, sink, true);
}

static void begin_before(hd_sm *sm, uint32_t slot)
{
    sm_warp *w = &sm->warps[slot];
    w->before_due = false;
    begin_moves(sm, slot, hd_walk_before(sm_walk(sm), &w->step));
}

static void enter_unit(hd_sm *sm, uint32_t slot, uint32_t unit)
{
    for (uint32_t u = 0; u < HD_MACHINE_UNITS; u++)
        sm->by_unit[u] &= ~bit_of(slot);
    sm->by_unit[unit] |= bit_of(slot);
}

void sm_reach_next(hd_sm *sm, uint32_t slot)
{
    sm_warp *w = &sm->warps[slot];
    sm->recheck |= bit_of(slot);
    w->has_step = hd_record_next(&w->cursor);
    if (!w->has_step)
        return;
    const hd_record_step *s = &w->cursor.step;
    const hd_sm_function *function = &sm->setup.code->functions[s->function];
    w->step = hd_walk_read(sm_walk(sm), w->walked, &w->cursor);
    w->op = &function->ops[s->instruction];
    w->registers = function->registers + w->op->register_first;
    if (sm->subcores)
        enter_unit(sm, slot, sm_timing(sm, w->op).unit);
    w->before_due = sm->model->info->ops->before;
    sm_buffer_reach(sm, slot);
}

/* ---- may it issue? ----------------------------------------------------------------------------------------------- */

/* Does the next instruction wait for copies of the block's warps? */
static bool waits_for_landings(const hd_sm *sm, const sm_warp *w)
{
    const sm_cta *cta = &sm->ctas.items[w->cta];
    for (uint32_t rest = w->cursor.step.landings; rest; rest &= rest - 1) {
        uint32_t index = (uint32_t)__builtin_ctz(rest), needed = w->cursor.landed[index];
        const sm_warp *other = &sm->warps[cta->slots[index]];
        if (cta->barriers[index] == UINT32_MAX) /* it has ended, with all its copies */
            continue;
        if (other->arrives < needed)
            return true;
        for (uint32_t i = 0; i < other->copies.count; i++)
            if (other->copies.items[i].arrives < needed)
                return true;
    }
    return false;
}

/* The reason to wait for a register that the next instruction needs; ISSUED: there is none. */
static hd_sm_slot awaited(const sm_warp *w)
{
    if ((w->scoreboard_entries || w->readings) && w->frame != w->cursor.step.frame)
        return HD_SM_SLOT_RESULT; /* registers of two call frames are not compared */
    hd_sm_slot found = HD_SM_SLOT_ISSUED;
    for (uint32_t i = 0; i < (uint32_t)w->op->reads + w->op->writes && w->scoreboard_entries; i++) {
        hd_sm_slot reason = (hd_sm_slot)w->scoreboard[w->registers[i]];
        if (reason == HD_SM_SLOT_MEMORY)
            return reason;
        found = reason == HD_SM_SLOT_ISSUED ? found : reason;
    }
    for (uint32_t i = 0; i < w->op->writes && w->readings && found == HD_SM_SLOT_ISSUED; i++)
        if (w->reading[w->registers[w->op->reads + i]])
            found = HD_SM_SLOT_OPERANDS;
    return found;
}

/* A copy is in flight of a group that is not among the youngest ones that the instruction lets be. */
static bool waits_for_copies(const sm_warp *w)
{
    for (uint32_t i = 0; i < w->copies.count; i++)
        if (w->op->groups == HD_SM_ALL_COPIES || w->copies.items[i].group + (uint64_t)w->op->groups < w->groups)
            return true;
    return false;
}

/* A fence or a wait that no lane executes does not block. */
static bool waits_for_memory(const sm_warp *w)
{
    if (!w->cursor.step.effective)
        return false;
    return (w->op->traits & HD_SM_FENCE && (w->accesses || w->stores)) ||
           (w->op->traits & HD_SM_WAIT_COPIES && waits_for_copies(w));
}

static hd_sm_slot ask_gate(hd_sm *sm, uint32_t slot)
{
    const hd_rf_ops *ops = sm->model->info->ops;
    if (!ops->may_issue)
        return HD_SM_SLOT_ISSUED;
    hd_gate gate = ops->may_issue(sm->model, &sm->warps[slot].step, sm->now);
    if (gate.ready)
        return HD_SM_SLOT_ISSUED;
    sm->gated |= bit_of(slot);
    sm->warps[slot].wakes = gate.wake > sm->now;
    if (gate.wake > sm->now) {
        uint64_t latest = sm->now + SM_RING - 1; /* later: asked again and refused until then */
        sm_at(sm, gate.wake < latest ? gate.wake : latest, (sm_event){SM_ASK_AGAIN, slot, 0});
    }
    return hd_sm_stall_slot((hd_stall)gate.reason);
}

static hd_sm_slot reason_of(hd_sm *sm, uint32_t slot)
{
    sm_warp *w = &sm->warps[slot];
    if (!w->has_step)
        return HD_SM_SLOT_END;
    if (w->control)
        return HD_SM_SLOT_CONTROL;
    if (!sm_is_fetched(sm, w))
        return HD_SM_SLOT_FETCH;
    /* Where warps take turns, one that waits may leave with all that it has; then it is too early. */
    if (w->before_due && !sm->model->info->ops->warp_switch)
        begin_before(sm, slot);
    if (hd_record_waits(&w->cursor, w->index, sm->ctas.items[w->cta].barriers))
        return HD_SM_SLOT_BARRIER;
    if (waits_for_memory(w) || waits_for_landings(sm, w))
        return HD_SM_SLOT_MEMORY;
    hd_sm_slot reason = sm->follows_codes ? sm_codes_wait(sm, slot) : awaited(w);
    if (reason != HD_SM_SLOT_ISSUED)
        return reason;
    reason = ask_gate(sm, slot);
    if (reason == HD_SM_SLOT_ISSUED && w->before_due && scheduler_of(sm, slot)->active & bit_of(slot))
        begin_before(sm, slot);
    return reason == HD_SM_SLOT_ISSUED && (w->pending_moves || w->before_due) ? HD_SM_SLOT_MOVES : reason;
}

static void check(hd_sm *sm, uint32_t slot)
{
    sm_warp *w = &sm->warps[slot];
    sm->gated &= ~bit_of(slot);
    w->reason = (uint8_t)reason_of(sm, slot);
    if (w->reason == HD_SM_SLOT_ISSUED)
        sm->eligible |= bit_of(slot);
    else
        sm->eligible &= ~bit_of(slot);
}

static void check_changed(hd_sm *sm)
{
    uint64_t changed = sm->recheck;
    sm->recheck = 0;
    for (; changed; changed &= changed - 1)
        check(sm, (uint32_t)__builtin_ctzll(changed));
}

/* ---- the two-level policy ---------------------------------------------------------------------------------------- */

void sm_end_turn(hd_sm *sm, sm_scheduler *s, uint32_t slot)
{
    sm_warp *w = &sm->warps[slot];
    if (sm->active_warps && s->active & bit_of(slot)) {
        sm->counts.active_cycles += sm->now - w->turned;
        w->turned = sm->now;
    }
    s->active &= ~bit_of(slot);
}

static void begin_turn(hd_sm *sm, sm_scheduler *s, uint32_t slot)
{
    sm_warp *w = &sm->warps[slot];
    uint64_t now = sm->now > w->start ? sm->now : w->start;
    s->active |= bit_of(slot);
    if (!sm->active_warps)
        return;
    sm->counts.active_periods++;
    if (w->had_turn) {
        sm->counts.inactive_periods++;
        sm->counts.inactive_cycles += now - w->turned;
    }
    w->had_turn = true;
    w->turned = now;
}

static void deactivate(hd_sm *sm, sm_scheduler *s, uint32_t slot)
{
    const hd_access_sink *sink = hd_walk_switch(sm_walk(sm), sm->warps[slot].walked, true);
    sm_end_turn(sm, s, slot);
    sm->recheck |= bit_of(slot); /* its place may be for a warp of a scheduler that had its turn in this cycle */
    hd_array_push(&s->waiting, (uint8_t)slot);
    if (sink->accesses.count)
        sm_add_accesses(sm, sm_new_inflight(sm, slot), sink, true);
}

static void activate(hd_sm *sm, sm_scheduler *s, uint32_t slot)
{
    begin_turn(sm, s, slot);
    sm->recheck |= bit_of(slot);
    begin_moves(sm, slot, hd_walk_switch(sm_walk(sm), sm->warps[slot].walked, false));
}

/* May one more warp take turns? The policy limits those of a scheduler, the technique those of the SM. */
static bool has_room(const hd_sm *sm, const sm_scheduler *s)
{
    uint32_t active = 0;
    if (sm->active_warps && (uint32_t)__builtin_popcountll(s->active) >= sm->active_warps)
        return false;
    for (uint32_t i = 0; i < sm->setup.machine->core.schedulers && sm->model->active_warps; i++)
        active += (uint32_t)__builtin_popcountll(sm->schedulers[i].active);
    return !sm->model->active_warps || active < sm->model->active_warps;
}

void sm_activate(hd_sm *sm, uint32_t slot)
{
    sm_scheduler *s = scheduler_of(sm, slot);
    if (has_room(sm, s))
        activate(sm, s, slot);
    else
        hd_array_push(&s->waiting, (uint8_t)slot);
}

/* A gate that says when it opens is short. */
static bool is_long(const sm_warp *w)
{
    return w->reason == HD_SM_SLOT_MEMORY || w->reason == HD_SM_SLOT_BARRIER || (w->reason >= HD_SM_SLOTS && !w->wakes);
}

static uint32_t rank_of(const hd_sm *sm, const sm_warp *w)
{
    const hd_rf_ops *ops = sm->model->info->ops;
    return ops->rank_warp && w->has_step ? ops->rank_warp(sm->model, &w->step, sm->now) : 0;
}

/* The place in the queue of the warp that joins first; HD_NONE: all of them wait long. */
static uint32_t first_waiting(const hd_sm *sm, const sm_scheduler *s)
{
    hd_turn turn = HD_TURN_UNCLAIMED;
    for (uint32_t i = 0; i < s->waiting.count; i++) {
        const sm_warp *w = &sm->warps[s->waiting.items[i]];
        if (!is_long(w))
            hd_turn_claim(&turn, i, rank_of(sm, w), i);
    }
    return turn.warp;
}

/* Warps that wait long leave; the first of those that can go on comes in their place. */
static void change_active(hd_sm *sm, sm_scheduler *s)
{
    for (uint64_t rest = s->active & ~sm->eligible; rest; rest &= rest - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(rest);
        if (!is_long(&sm->warps[slot]))
            continue;
        deactivate(sm, s, slot);
    }
    while (has_room(sm, s)) {
        uint32_t i = first_waiting(sm, s);
        if (i == HD_NONE)
            return;
        uint32_t slot = s->waiting.items[i];
        hd_array_remove(&s->waiting, i);
        activate(sm, s, slot);
    }
}

/* ---- choosing ---------------------------------------------------------------------------------------------------- */

/* Where the slot is in the order of the scheduler's policy. */
static uint64_t order_of(const hd_sm *sm, const sm_scheduler *s, uint32_t slot)
{
    switch (sm->setup.machine->core.policy) {
    case HD_POLICY_GTO: return slot == s->last ? 0 : 1 + sm->order[slot];
    case HD_POLICY_GTY: return slot == s->last ? 0 : UINT64_MAX - sm->order[slot];
    case HD_POLICY_LRR:
    case HD_POLICY_TWO_LEVEL: break;
    }
    return (slot - s->last - 1) % SM_WARPS;
}

/* The warp that goes first of a set, which is not empty. */
static uint32_t first_of(const hd_sm *sm, const sm_scheduler *s, uint64_t slots)
{
    hd_turn turn = HD_TURN_UNCLAIMED;
    if (!(slots & (slots - 1)))
        return (uint32_t)__builtin_ctzll(slots);
    for (; slots; slots &= slots - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(slots);
        hd_turn_claim(&turn, slot, rank_of(sm, &sm->warps[slot]), order_of(sm, s, slot));
    }
    return turn.warp;
}

/* ---- issue ------------------------------------------------------------------------------------------------------- */

/* The reason for which warps wait that need a result of the instruction. */
static hd_sm_slot reason_to_wait(const sm_inflight *inflight)
{
    if (inflight->op->class != HD_MACHINE_CLASS_MEMORY || inflight->op->space == HD_SPACE_PARAM ||
        inflight->op->space == HD_SPACE_PARAM_ENTRY)
        return HD_SM_SLOT_RESULT;
    return inflight->passes || inflight->op->space == HD_SPACE_CONST ? HD_SM_SLOT_SHARED : HD_SM_SLOT_MEMORY;
}

static void enter_results(sm_warp *w, hd_sm_slot reason)
{
    for (uint32_t i = 0; i < w->op->writes; i++) {
        uint8_t *entry = &w->scoreboard[w->registers[w->op->reads + i]];
        w->scoreboard_entries += *entry == HD_SM_SLOT_ISSUED;
        *entry = (uint8_t)reason;
    }
    w->frame = w->cursor.step.frame;
}

/* The instruction arrives at a barrier; at an mbarrier, when its copies have landed. */
static void arrive(hd_sm *sm, sm_warp *w)
{
    if (w->op->traits & HD_SM_BARRIER)
        sm->ctas.items[w->cta].barriers[w->index]++;
    w->arrives += w->op->traits & HD_SM_ARRIVE_COPIES && w->cursor.step.effective;
    sm_recheck_block(sm, w);
}

static void begin_copy(sm_warp *w, sm_inflight *inflight)
{
    inflight->copy = (sm_copy){w->groups, w->arrives};
    hd_array_push(&w->copies, inflight->copy);
}

/* Instructions that the technique adds take the slots after that in which the instruction issues. Returns how many of
 * this cycle. */
static uint32_t take_slots(hd_sm *sm, sm_scheduler *s, const hd_access_sink *sink, uint32_t turn)
{
    uint32_t width = sm->setup.machine->core.issue_width, left = width - turn - 1;
    if (!sink->slots)
        return 0;
    s->taken_reason = (uint8_t)hd_sm_stall_slot((hd_stall)sink->slots_reason);
    if (sink->slots > left)
        s->taken = sm->now + 1 + (sink->slots - left + width - 1) / width;
    return hd_min(sink->slots, left);
}

/* Issues the warp's next instruction in issue slot `turn` of its scheduler. Returns how many slots others take with it.
 */
static uint32_t issue_from(hd_sm *sm, uint32_t slot, uint32_t turn)
{
    sm_warp *w = &sm->warps[slot];
    sm->setup.walk->sink.number = ++sm->issued;
    const hd_access_sink *sink = hd_walk_execute(sm_walk(sm), &w->step);
    uint32_t index = sm_new_inflight(sm, slot);
    sm_inflight *inflight = &sm->inflight.items[index];
    inflight->phase = SM_COLLECT;
    inflight->op = w->op;
    inflight->registers = w->registers;
    w->inflight++;
    w->accesses += (w->op->traits & HD_SM_ACCESS) != 0;
    uint32_t taken = take_slots(sm, scheduler_of(sm, slot), sink, turn);
    inflight->skips = sink->skips_unit;
    inflight->number = sink->number;
    sm->failed = sm->failed || sink->failure.wrong;
    sm->issued_units |= 1u << w->op->unit;
    sm_emit_issue(sm, index, turn);
    if ((w->cursor.step.has_addresses || w->cursor.step.sectors.left) && !inflight->skips)
        sm_prepare_memory(sm, index, w);
    hd_sm_slot reason = reason_to_wait(&sm->inflight.items[index]);
    if (sm->follows_codes)
        sm_codes_issue(sm, index, reason);
    else
        enter_results(w, reason);
    if (w->op->traits & HD_SM_COPY)
        begin_copy(w, &sm->inflight.items[index]);
    w->groups += w->op->traits & HD_SM_COMMIT && w->cursor.step.effective;
    if (w->op->traits & (HD_SM_BARRIER | HD_SM_ARRIVE_COPIES))
        arrive(sm, w);
    w->control = w->op->traits & HD_SM_CONTROL;
    sm_set_accesses(sm, index, sink, sink->holds_warp);
    if (sm->follows_codes)
        sm_codes_reuse(sm, index);
    if (sink->holds_warp) {
        sm->inflight.items[index].is_before = true;
        w->pending_moves++;
    }
    if (sm->subcores) {
        sm_subcore_issue(sm, index);
    } else {
        sm->free_collectors--;
        sm_begin_accesses(sm, index);
    }
    if (sm->model->info->ops->may_issue) /* what the model did may open gates, and close others */
        sm->recheck |= sm->gated | sm->eligible;
    sm_buffer_pop(sm, slot);
    sm_reach_next(sm, slot);
    return taken;
}

/* The warps of the set for whose instruction there is room. */
static uint64_t have_room(const hd_sm *sm, const sm_scheduler *s, uint64_t able)
{
    if (sm->subcores)
        return able ? sm_subcore_able(sm, s, able) : 0;
    return sm->free_collectors ? able : 0;
}

static uint8_t no_room_reason(const hd_sm *sm, const sm_scheduler *s)
{
    if (!sm->subcores)
        return HD_SM_SLOT_COLLECTOR;
    return s->control != HD_NONE ? HD_SM_SLOT_PORT : HD_SM_SLOT_UNIT;
}

static void blame(sm_scheduler *s, uint32_t slot, uint8_t reason)
{
    s->blamed = slot;
    s->reason = reason;
}

/* No active warp may issue. If one that is not active might, that is the reason; else what the first one waits for. */
static void blame_waiting(hd_sm *sm, sm_scheduler *s)
{
    for (uint32_t i = 0; i < s->waiting.count; i++) {
        uint32_t slot = s->waiting.items[i];
        if (sm->warps[slot].reason == HD_SM_SLOT_ISSUED || sm->warps[slot].reason == HD_SM_SLOT_MOVES) {
            blame(s, slot, HD_SM_SLOT_INACTIVE);
            return;
        }
    }
    uint32_t slot = s->active ? first_of(sm, s, s->active) : s->waiting.items[0];
    blame(s, slot, sm->warps[slot].reason);
}

/* Fills the issue slots of one scheduler in this cycle. */
static void issue_slots(hd_sm *sm, sm_scheduler *s)
{
    uint32_t width = sm->setup.machine->core.issue_width, issued = 0, taken = 0;
    uint64_t able = s->active & sm->eligible, with_room = have_room(sm, s, able);
    bool is_taken = with_room && s->taken > sm->now;
    blame(s, HD_NONE, HD_SM_SLOT_NO_WARP);
    if (with_room && !is_taken) {
        s->last = first_of(sm, s, with_room);
        do {
            taken += issue_from(sm, s->last, issued + taken);
            check_changed(sm);
        } while (++issued + taken < width && !sm->failed && have_room(sm, s, sm->eligible & bit_of(s->last)));
    }
    if (is_taken || taken)
        blame(s, issued ? s->last : first_of(sm, s, with_room), s->taken_reason);
    else if (able && !have_room(sm, s, able))
        blame(s, issued ? s->last : first_of(sm, s, able), no_room_reason(sm, s));
    else if (issued)
        blame(s, s->last, sm->warps[s->last].reason);
    else if (s->warps)
        blame_waiting(sm, s);
    if (s->reason == HD_SM_SLOT_ISSUED) /* it might have, and only one slot was left */
        s->reason = HD_SM_SLOT_RESULT;
    sm_emit_stall(sm, (uint32_t)(s - sm->schedulers), issued, sm->now, sm->now + 1);
}

void sm_issue(hd_sm *sm)
{
    check_changed(sm);
    for (uint32_t i = 0; i < sm->setup.machine->core.schedulers && !sm->failed; i++) {
        sm_scheduler *s = &sm->schedulers[i];
        if (sm->active_warps && s->warps)
            change_active(sm, s);
        check_changed(sm);
        issue_slots(sm, s);
    }
}
