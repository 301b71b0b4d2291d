/* Accesses of instructions to registers, and the banks that serve them. O(accesses) an instruction; O(1) a bank and
 * cycle. */
#include "hwmodel/sm/state.h"

uint32_t sm_new_inflight(hd_sm *sm, uint32_t slot)
{
    uint32_t index = sm->unused_inflight;
    if (index == HD_NONE) {
        index = sm->inflight.count;
        sm_inflight *fresh = hd_array_extend(&sm->inflight, 1);
        memset(fresh, 0, sizeof *fresh);
    } else {
        sm->unused_inflight = sm->inflight.items[index].next;
    }
    sm_inflight *inflight = &sm->inflight.items[index];
    hd_array_clear(&inflight->accesses);
    inflight->phase = SM_ASIDE;
    inflight->warp = (uint8_t)slot;
    inflight->is_before = inflight->fixed = inflight->collecting = inflight->forwarded = inflight->skips = false;
    inflight->op = NULL;
    inflight->open = inflight->needed = inflight->results = inflight->number = 0;
    inflight->lines = inflight->next_line = inflight->passes = inflight->outstanding = 0;
    inflight->hit_at = 0;
    inflight->received = 0;
    inflight->receives = UINT64_MAX;
    return index;
}

static void free_if_over(hd_sm *sm, uint32_t index)
{
    sm_inflight *inflight = &sm->inflight.items[index];
    if (inflight->open || (inflight->phase != SM_DONE && inflight->phase != SM_ASIDE))
        return;
    inflight->next = sm->unused_inflight;
    sm->unused_inflight = index;
}

/* ---- banks ------------------------------------------------------------------------------------------------------- */

static void push(sm_queue *q, sm_waiting what) { hd_array_push(&q->items, what); }

static bool is_empty(const sm_queue *q) { return q->head == q->items.count; }

static sm_waiting pop(sm_queue *q)
{
    sm_waiting first = q->items.items[q->head++];
    if (is_empty(q))
        q->head = q->items.count = 0;
    return first;
}

uint32_t sm_bank_of(const hd_sm *sm, const sm_inflight *inflight, const hd_rf_access *access)
{
    uint32_t groups = sm->setup.machine->core.bank_groups, each = sm->setup.machine->core.banks / groups;
    uint32_t warp = access->home ? access->home - 1u : inflight->warp;
    return warp % groups * each + access->bank % each;
}

/* The place of that instruction if its results are not available yet; else HD_NONE. */
static uint32_t inflight_numbered(const hd_sm *sm, uint32_t number)
{
    for (uint32_t i = 0; i < sm->inflight.count; i++) {
        const sm_inflight *inflight = &sm->inflight.items[i];
        if (inflight->number == number && !inflight->forwarded && inflight->phase != SM_DONE &&
            inflight->phase != SM_ASIDE)
            return i;
    }
    return HD_NONE;
}

/* Begins an access, which a bank may serve from cycle `since` on. */
static void begin(hd_sm *sm, uint32_t index, uint32_t access, uint64_t since)
{
    sm_inflight *inflight = &sm->inflight.items[index];
    sm_access *a = &inflight->accesses.items[access];
    uint32_t awaited = a->what.awaits ? inflight_numbered(sm, a->what.awaits) : HD_NONE;
    a->started = true;
    if (awaited != HD_NONE) {
        hd_array_push(&sm->awaiting, (sm_awaiting){index, access, awaited});
        return;
    }
    if (a->what.structure == HD_STRUCTURE_MEMORY && a->what.kind != HD_RF_READ) {
        hd_array_push(&sm->reserved, (sm_waiting){index, access, since});
        return;
    }
    if (a->what.structure != HD_STRUCTURE_FILE || a->what.bank == HD_RF_NO_BANK) {
        hd_array_push(&sm->unbanked, (sm_waiting){index, access, since});
        return;
    }
    uint32_t bank = sm_bank_of(sm, inflight, &a->what);
    push(a->what.kind == HD_RF_WRITE ? &sm->banks[bank].writes : &sm->banks[bank].reads,
         (sm_waiting){index, access, since});
    sm->busy_banks[bank / 64] |= (uint64_t)1 << bank % 64;
}

/* The access takes so many cycles, this one included. */
static void go_on_for(hd_sm *sm, sm_waiting what, uint32_t cycles)
{
    bool is_write = sm->inflight.items[what.inflight].accesses.items[what.access].what.kind == HD_RF_WRITE;
    if (cycles == 1)
        sm_access_done(sm, what.inflight, what.access, sm->now + 1);
    else if (is_write) /* what was written is there in the last cycle */
        sm_at(sm, sm->now + cycles - 1, (sm_event){SM_ACCESS_DONE, what.inflight, what.access});
    else /* what was read is dispatched in the cycle after the last one */
        sm_at(sm, sm->now + cycles, (sm_event){SM_ACCESS_ENDED, what.inflight, what.access});
}

/* ---- ports of collectors ----------------------------------------------------------------------------------------- */

/* An operand that a collector receives through its ports: not one of its window, or of the load unit. */
static bool uses_port(const hd_sm *sm, const sm_inflight *inflight, const sm_access *a)
{
    bool brought = a->what.structure == HD_STRUCTURE_FILE || a->what.structure == HD_STRUCTURE_CACHE;
    return sm->setup.machine->core.collector_ports && inflight->phase == SM_COLLECT && a->role == SM_NEEDED &&
           a->what.operand && a->what.kind == HD_RF_READ && brought;
}

static bool has_port(const hd_sm *sm, sm_waiting what)
{
    const sm_inflight *inflight = &sm->inflight.items[what.inflight];
    return !uses_port(sm, inflight, &inflight->accesses.items[what.access]) || inflight->receives != sm->now ||
           inflight->received < sm->setup.machine->core.collector_ports;
}

static void take_port(hd_sm *sm, sm_waiting what)
{
    sm_inflight *inflight = &sm->inflight.items[what.inflight];
    if (!uses_port(sm, inflight, &inflight->accesses.items[what.access]))
        return;
    inflight->received = inflight->receives == sm->now ? inflight->received + 1 : 1;
    inflight->receives = sm->now;
}

/* Moves the first access that may be served to the head of its queue. false: there is none. */
static bool find_served(const hd_sm *sm, sm_queue *q)
{
    uint32_t i = q->head;
    while (i < q->items.count && q->items.items[i].since <= sm->now && !has_port(sm, q->items.items[i]))
        i++;
    if (i == q->items.count || q->items.items[i].since > sm->now)
        return false;
    sm_waiting what = q->items.items[i];
    memmove(q->items.items + q->head + 1, q->items.items + q->head, (i - q->head) * sizeof what);
    q->items.items[q->head] = what;
    return true;
}

/* ---- serving ----------------------------------------------------------------------------------------------------- */

static void serve(hd_sm *sm, sm_queue *q, uint64_t *port_free)
{
    if (*port_free > sm->now || is_empty(q) || !find_served(sm, q))
        return;
    sm_waiting what = pop(q);
    take_port(sm, what);
    uint32_t cycles = sm->inflight.items[what.inflight].accesses.items[what.access].what.cycles;
    sm->counts.bank_conflicts += sm->now - what.since;
    const hd_machine *m = sm->setup.machine;
    *port_free = sm->now + hd_max(cycles, m->core.bank_interval);
    go_on_for(sm, what, (cycles ? cycles : 1) + m->core.bank_latency - 1);
}

/* Accesses of other structures than the register file begin as those of a bank that is free. They may add others. The
 * merging slot takes one a cycle. */
static void serve_unbanked(hd_sm *sm)
{
    uint32_t kept = 0, count = sm->unbanked.count;
    bool merges = false;
    for (uint32_t i = 0; i < count; i++) {
        sm_waiting what = sm->unbanked.items[i];
        const hd_rf_access *access = &sm->inflight.items[what.inflight].accesses.items[what.access].what;
        uint32_t cycles = access->cycles;
        bool to_merge = access->structure == HD_STRUCTURE_MERGE;
        if (what.since > sm->now || !has_port(sm, what) || (to_merge && merges)) {
            sm->unbanked.items[kept++] = what;
        } else {
            merges = merges || to_merge;
            take_port(sm, what);
            go_on_for(sm, what, cycles ? cycles : 1);
        }
    }
    if (kept == count)
        return;
    memmove(sm->unbanked.items + kept, sm->unbanked.items + count,
            (sm->unbanked.count - count) * sizeof *sm->unbanked.items);
    sm->unbanked.count -= count - kept;
}

static bool is_reserved(const hd_sm *sm, const sm_bank *bank)
{
    return sm->now - bank->base < 64 && bank->reserved >> (sm->now - bank->base) & 1;
}

/* Collectors share one port of a bank; a bank of a sub-core has one for reads and one for writes. */
static void serve_bank(hd_sm *sm, sm_bank *bank)
{
    if (!sm->subcores) {
        serve(sm, is_empty(&bank->writes) ? &bank->reads : &bank->writes, &bank->free);
        return;
    }
    serve(sm, &bank->writes, &bank->write_free);
    if (!is_reserved(sm, bank))
        serve(sm, &bank->reads, &bank->free);
}

void sm_serve_banks(hd_sm *sm)
{
    serve_unbanked(sm);
    for (uint32_t word = 0; word < SM_BANKS / 64; word++)
        for (uint64_t rest = sm->busy_banks[word]; rest; rest &= rest - 1) {
            uint32_t bit = (uint32_t)__builtin_ctzll(rest);
            sm_bank *bank = &sm->banks[word * 64 + bit];
            serve_bank(sm, bank);
            if (is_empty(&bank->reads) && is_empty(&bank->writes))
                sm->busy_banks[word] &= ~((uint64_t)1 << bit);
        }
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

/* Where a result goes is looked up while the operands are collected and the unit computes; all else that is done for a
 * result waits for it. */
static bool may_begin(const sm_inflight *inflight, const sm_access *a)
{
    return !a->started && (!a->what.after || inflight->accesses.items[a->what.after - 1].done) &&
           (a->role != SM_RESULT || a->what.kind == HD_RF_LOOKUP || inflight->phase == SM_WRITE);
}

static void begin_all(hd_sm *sm, uint32_t index, uint64_t since)
{
    for (uint32_t i = 0; i < sm->inflight.items[index].accesses.count; i++)
        if (may_begin(&sm->inflight.items[index], &sm->inflight.items[index].accesses.items[i]))
            begin(sm, index, i, since);
}

/* What others wait for that are needed, or that are results, is needed itself: `after` names what comes before. */
static void find_roles(sm_inflight *inflight, bool all_needed)
{
    for (uint32_t i = inflight->accesses.count; i-- > 0;) {
        sm_access *a = &inflight->accesses.items[i];
        if (a->what.operand & HD_ACCESS_RESULT)
            a->role = SM_RESULT;
        else if (a->what.operand || all_needed)
            a->role = SM_NEEDED;
        if (a->role != SM_FREE && a->what.after) {
            sm_access *before = &inflight->accesses.items[a->what.after - 1];
            before->role = before->what.operand & HD_ACCESS_RESULT ? SM_RESULT : SM_NEEDED;
        }
        inflight->open++;
        inflight->needed += a->role == SM_NEEDED;
        inflight->results += a->role == SM_RESULT;
    }
}

void sm_hold_operands(hd_sm *sm, uint32_t index, bool hold)
{
    const sm_inflight *inflight = &sm->inflight.items[index];
    sm_warp *w = &sm->warps[inflight->warp];
    if (sm->follows_codes) {
        if (!hold)
            sm_codes_read(sm, inflight);
        return;
    }
    for (uint32_t i = 0; i < inflight->op->reads; i++)
        w->reading[inflight->registers[i]] = (uint8_t)(w->reading[inflight->registers[i]] + (hold ? 1 : -1));
    w->readings += hold ? inflight->op->reads : 0u - inflight->op->reads;
    sm->recheck |= (uint64_t)1 << inflight->warp;
}

void sm_leave_collector(hd_sm *sm, const sm_inflight *inflight)
{
    if (sm->subcores)
        sm->schedulers[inflight->warp % sm->setup.machine->core.schedulers].queued--;
    else
        sm->free_collectors++;
}

/* The technique has the results already: they are written from the next cycle on. */
static void skip_unit(hd_sm *sm, uint32_t index)
{
    sm->inflight.items[index].phase = SM_EXECUTE;
    sm_leave_collector(sm, &sm->inflight.items[index]);
    sm_at(sm, sm->now + 1, (sm_event){SM_EXECUTED, index, 0});
}

static void collected(hd_sm *sm, uint32_t index)
{
    sm_inflight *inflight = &sm->inflight.items[index];
    if (inflight->is_before) {
        inflight->is_before = false;
        sm->warps[inflight->warp].pending_moves--;
        sm->recheck |= (uint64_t)1 << inflight->warp;
    }
    if (inflight->phase == SM_COLLECT) {
        inflight->phase = SM_READY;
        if (inflight->fixed) {
            if (sm->follows_codes)
                sm_codes_read(sm, inflight);
            return;
        }
        if (sm->subcores)
            sm_hold_operands(sm, index, false);
        if (inflight->skips)
            skip_unit(sm, index);
        else
            hd_array_push(&sm->ready[sm_timing(sm, inflight->op).unit], index);
    }
}

void sm_set_accesses(hd_sm *sm, uint32_t index, const hd_access_sink *sink, bool all_needed)
{
    sm_inflight *inflight = &sm->inflight.items[index];
    for (uint32_t i = 0; i < sink->accesses.count; i++)
        hd_array_push(&inflight->accesses, (sm_access){.what = sink->accesses.items[i]});
    find_roles(inflight, all_needed);
}

void sm_begin_accesses(hd_sm *sm, uint32_t index)
{
    begin_all(sm, index, sm->now + 1);
    if (!sm->inflight.items[index].needed)
        collected(sm, index);
    free_if_over(sm, index);
}

void sm_add_accesses(hd_sm *sm, uint32_t index, const hd_access_sink *sink, bool all_needed)
{
    sm_set_accesses(sm, index, sink, all_needed);
    sm_begin_accesses(sm, index);
}

void sm_take_operands(hd_sm *sm, uint32_t index, uint64_t since)
{
    sm_inflight *inflight = &sm->inflight.items[index];
    for (uint32_t i = 0; i < inflight->accesses.count; i++)
        if (inflight->accesses.items[i].role == SM_NEEDED)
            inflight->accesses.items[i].started = inflight->accesses.items[i].done = true;
    inflight->open -= inflight->needed;
    inflight->needed = 0;
    if (sm->follows_codes)
        sm_codes_read(sm, inflight);
    begin_all(sm, index, since);
}

/* The results are available: what waited for them begins in the next cycle. */
static void begin_awaiting(hd_sm *sm, uint32_t awaited)
{
    uint32_t kept = 0, count = sm->awaiting.count;
    for (uint32_t i = 0; i < count; i++) {
        sm_awaiting what = sm->awaiting.items[i];
        if (what.awaited == awaited)
            begin(sm, what.inflight, what.access, sm->now + 1);
        else
            sm->awaiting.items[kept++] = what;
    }
    sm->awaiting.count = kept;
}

void sm_clear_scoreboard(hd_sm *sm, uint32_t index)
{
    sm_inflight *inflight = &sm->inflight.items[index];
    sm_warp *w = &sm->warps[inflight->warp];
    inflight->forwarded = true;
    if (sm->follows_codes)
        sm_codes_written(sm, inflight);
    for (uint32_t i = 0; i < inflight->op->writes && w->scoreboard_entries; i++) {
        uint8_t *entry = &w->scoreboard[inflight->registers[inflight->op->reads + i]];
        w->scoreboard_entries -= *entry != HD_SM_SLOT_ISSUED;
        *entry = HD_SM_SLOT_ISSUED;
    }
    sm->recheck |= (uint64_t)1 << inflight->warp;
    if (sm->awaiting.count)
        begin_awaiting(sm, index);
}

static void end_copy(hd_sm *sm, sm_warp *w, sm_copy copy)
{
    uint32_t i = 0;
    while (w->copies.items[i].group != copy.group || w->copies.items[i].arrives != copy.arrives)
        i++;
    w->copies.items[i] = hd_array_last(&w->copies);
    w->copies.count--;
    if (w->arrives > copy.arrives)
        sm_recheck_block(sm, w);
}

static void finish(hd_sm *sm, uint32_t index)
{
    sm_inflight *inflight = &sm->inflight.items[index];
    if (!inflight->forwarded)
        sm_clear_scoreboard(sm, index);
    if (inflight->op->traits & HD_SM_COPY)
        end_copy(sm, &sm->warps[inflight->warp], inflight->copy);
    sm->warps[inflight->warp].accesses -= (inflight->op->traits & HD_SM_ACCESS) != 0;
    inflight->phase = SM_DONE;
    sm_emit_retire(sm, inflight);
    uint32_t slot = inflight->warp;
    free_if_over(sm, index);
    if (--sm->warps[slot].inflight == 0)
        sm->may_end |= (uint64_t)1 << slot;
}

void sm_write_results(hd_sm *sm, uint32_t index)
{
    sm_inflight *inflight = &sm->inflight.items[index];
    inflight->phase = SM_WRITE;
    if (inflight->results)
        begin_all(sm, index, sm->now);
    else
        finish(sm, index);
}

void sm_access_done(hd_sm *sm, uint32_t index, uint32_t access, uint64_t since)
{
    sm_inflight *inflight = &sm->inflight.items[index];
    sm_access *a = &inflight->accesses.items[access];
    uint8_t role = a->role;
    a->done = true;
    inflight->open--;
    for (uint32_t i = access + 1; i < inflight->accesses.count; i++)
        if (inflight->accesses.items[i].what.after == access + 1 && may_begin(inflight, &inflight->accesses.items[i]))
            begin(sm, index, i, since);
    if (role == SM_RESULT && --inflight->results == 0 && inflight->phase == SM_WRITE) {
        finish(sm, index);
        return;
    }
    if (role == SM_NEEDED && --inflight->needed == 0)
        collected(sm, index);
    free_if_over(sm, index);
}
