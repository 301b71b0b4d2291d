/* Accesses of instructions to registers, and the banks that serve them. O(accesses) an instruction; O(1) a bank and
 * cycle. */
#include "hwmodel/sm/state.h"

uint32_t sm_new_job(hd_sm *sm, uint32_t slot)
{
    uint32_t index = sm->unused_job;
    if (index == HD_NONE) {
        index = sm->jobs.count;
        sm_inflight *fresh = hd_array_extend(&sm->jobs, 1);
        memset(fresh, 0, sizeof *fresh);
    } else {
        sm->unused_job = sm->jobs.items[index].next;
    }
    sm_inflight *job = &sm->jobs.items[index];
    hd_array_clear(&job->accesses);
    job->phase = SM_ASIDE;
    job->warp = (uint8_t)slot;
    job->is_before = job->fixed = job->collecting = job->forwarded = job->skips = false;
    job->op = NULL;
    job->open = job->needed = job->results = job->number = 0;
    job->lines = job->next_line = job->passes = job->outstanding = 0;
    job->hit_at = 0;
    job->received = 0;
    job->receives = UINT64_MAX;
    return index;
}

static void free_if_over(hd_sm *sm, uint32_t index)
{
    sm_inflight *job = &sm->jobs.items[index];
    if (job->open || (job->phase != SM_DONE && job->phase != SM_ASIDE))
        return;
    job->next = sm->unused_job;
    sm->unused_job = index;
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

uint32_t sm_bank_of(const hd_sm *sm, const sm_inflight *job, const hd_rf_access *access)
{
    uint32_t groups = sm->setup.machine->core.bank_groups, each = sm->setup.machine->core.banks / groups;
    uint32_t warp = access->home ? access->home - 1u : job->warp;
    return warp % groups * each + access->bank % each;
}

/* The job of that instruction if its results are not there yet; else HD_NONE. */
static uint32_t job_numbered(const hd_sm *sm, uint32_t number)
{
    for (uint32_t i = 0; i < sm->jobs.count; i++) {
        const sm_inflight *job = &sm->jobs.items[i];
        if (job->number == number && !job->forwarded && job->phase != SM_DONE && job->phase != SM_ASIDE)
            return i;
    }
    return HD_NONE;
}

/* since: the first cycle in which a bank may serve it. */
static void begin(hd_sm *sm, uint32_t index, uint32_t access, uint64_t since)
{
    sm_inflight *job = &sm->jobs.items[index];
    sm_access *a = &job->accesses.items[access];
    uint32_t awaited = a->what.awaits ? job_numbered(sm, a->what.awaits) : HD_NONE;
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
    uint32_t bank = sm_bank_of(sm, job, &a->what);
    push(a->what.kind == HD_RF_WRITE ? &sm->banks[bank].writes : &sm->banks[bank].reads,
         (sm_waiting){index, access, since});
    sm->busy_banks |= (uint64_t)1 << bank;
}

/* The access takes so many cycles, this one included. */
static void go_on_for(hd_sm *sm, sm_waiting what, uint32_t cycles)
{
    bool is_write = sm->jobs.items[what.job].accesses.items[what.access].what.kind == HD_RF_WRITE;
    if (cycles > 1) /* what was read is dispatched in the cycle after the last one; what was written is there in it */
        sm_at(sm, sm->now + cycles - 1 + !is_write, (sm_event){SM_ACCESS_DONE, what.job, what.access});
    else
        sm_access_done(sm, what.job, what.access);
}

/* ---- ports of collectors ----------------------------------------------------------------------------------------- */

/* An operand that a collector receives through its ports: not one of its window, or of the load unit. */
static bool uses_port(const hd_sm *sm, const sm_inflight *job, const sm_access *a)
{
    bool brought = a->what.structure == HD_STRUCTURE_FILE || a->what.structure == HD_STRUCTURE_CACHE;
    return sm->setup.machine->core.collector_ports && job->phase == SM_COLLECT && a->role == SM_NEEDED &&
           a->what.operand && a->what.kind == HD_RF_READ && brought;
}

static bool has_port(const hd_sm *sm, sm_waiting what)
{
    const sm_inflight *job = &sm->jobs.items[what.job];
    return !uses_port(sm, job, &job->accesses.items[what.access]) || job->receives != sm->now ||
           job->received < sm->setup.machine->core.collector_ports;
}

static void take_port(hd_sm *sm, sm_waiting what)
{
    sm_inflight *job = &sm->jobs.items[what.job];
    if (!uses_port(sm, job, &job->accesses.items[what.access]))
        return;
    job->received = job->receives == sm->now ? job->received + 1 : 1;
    job->receives = sm->now;
}

/* The first that may be served comes to the head of its queue. false: there is none. */
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
    uint32_t cycles = sm->jobs.items[what.job].accesses.items[what.access].what.cycles;
    sm->counts.bank_conflicts += sm->now - what.since;
    const hd_machine *m = sm->setup.machine;
    *port_free = sm->now + (cycles ? cycles : m->core.bank_interval);
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
        const hd_rf_access *access = &sm->jobs.items[what.job].accesses.items[what.access].what;
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
    for (uint64_t rest = sm->busy_banks; rest; rest &= rest - 1) {
        uint32_t b = (uint32_t)__builtin_ctzll(rest);
        serve_bank(sm, &sm->banks[b]);
        if (is_empty(&sm->banks[b].reads) && is_empty(&sm->banks[b].writes))
            sm->busy_banks &= ~((uint64_t)1 << b);
    }
}

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

static bool may_begin(const sm_inflight *job, const sm_access *a)
{
    return !a->started && (!a->what.after || job->accesses.items[a->what.after - 1].done) &&
           (a->role != SM_RESULT || job->phase == SM_WRITE);
}

static void begin_all(hd_sm *sm, uint32_t index, uint64_t since)
{
    for (uint32_t i = 0; i < sm->jobs.items[index].accesses.count; i++)
        if (may_begin(&sm->jobs.items[index], &sm->jobs.items[index].accesses.items[i]))
            begin(sm, index, i, since);
}

/* What others wait for that are needed, or that are results, is needed itself: `after` names what comes before. */
static void find_roles(sm_inflight *job, bool all_needed)
{
    for (uint32_t i = job->accesses.count; i-- > 0;) {
        sm_access *a = &job->accesses.items[i];
        if (a->what.operand & HD_ACCESS_RESULT)
            a->role = SM_RESULT;
        else if (a->what.operand || all_needed)
            a->role = SM_NEEDED;
        if (a->role != SM_FREE && a->what.after) {
            sm_access *before = &job->accesses.items[a->what.after - 1];
            before->role = before->what.operand & HD_ACCESS_RESULT ? SM_RESULT : SM_NEEDED;
        }
        job->open++;
        job->needed += a->role == SM_NEEDED;
        job->results += a->role == SM_RESULT;
    }
}

void sm_hold_operands(hd_sm *sm, uint32_t index, bool hold)
{
    const sm_inflight *job = &sm->jobs.items[index];
    sm_warp *w = &sm->warps[job->warp];
    for (uint32_t i = 0; i < job->op->reads; i++)
        w->reading[job->names[i]] = (uint8_t)(w->reading[job->names[i]] + (hold ? 1 : -1));
    w->readings += hold ? job->op->reads : 0u - job->op->reads;
    sm->recheck |= (uint64_t)1 << job->warp;
}

void sm_leave_collector(hd_sm *sm, const sm_inflight *job)
{
    if (sm->subcores)
        sm->schedulers[job->warp % sm->setup.machine->core.schedulers].queued--;
    else
        sm->free_collectors++;
}

/* What the unit would bring is there: the results are written from the next cycle on. */
static void skip_unit(hd_sm *sm, uint32_t index)
{
    sm->jobs.items[index].phase = SM_EXECUTE;
    sm_leave_collector(sm, &sm->jobs.items[index]);
    sm_at(sm, sm->now + 1, (sm_event){SM_EXECUTED, index, 0});
}

static void collected(hd_sm *sm, uint32_t index)
{
    sm_inflight *job = &sm->jobs.items[index];
    if (job->is_before) {
        job->is_before = false;
        sm->warps[job->warp].pending_moves--;
        sm->recheck |= (uint64_t)1 << job->warp;
    }
    if (job->phase == SM_COLLECT) {
        job->phase = SM_READY;
        if (job->fixed)
            return;
        if (sm->subcores)
            sm_hold_operands(sm, index, false);
        if (job->skips)
            skip_unit(sm, index);
        else
            hd_array_push(&sm->ready[sm_timing(sm, job->op).unit], index);
    }
}

void sm_set_accesses(hd_sm *sm, uint32_t index, const hd_access_sink *sink, bool all_needed)
{
    sm_inflight *job = &sm->jobs.items[index];
    for (uint32_t i = 0; i < sink->accesses.count; i++)
        hd_array_push(&job->accesses, (sm_access){.what = sink->accesses.items[i]});
    find_roles(job, all_needed);
}

void sm_begin_accesses(hd_sm *sm, uint32_t index)
{
    begin_all(sm, index, sm->now + 1);
    if (!sm->jobs.items[index].needed)
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
    sm_inflight *job = &sm->jobs.items[index];
    for (uint32_t i = 0; i < job->accesses.count; i++)
        if (job->accesses.items[i].role == SM_NEEDED)
            job->accesses.items[i].started = job->accesses.items[i].done = true;
    job->open -= job->needed;
    job->needed = 0;
    begin_all(sm, index, since);
}

/* The results of the job are there: what waited for them begins in the next cycle. */
static void begin_awaiting(hd_sm *sm, uint32_t awaited)
{
    uint32_t kept = 0, count = sm->awaiting.count;
    for (uint32_t i = 0; i < count; i++) {
        sm_awaiting what = sm->awaiting.items[i];
        if (what.awaited == awaited)
            begin(sm, what.job, what.access, sm->now + 1);
        else
            sm->awaiting.items[kept++] = what;
    }
    sm->awaiting.count = kept;
}

void sm_release_names(hd_sm *sm, uint32_t index)
{
    sm_inflight *job = &sm->jobs.items[index];
    sm_warp *w = &sm->warps[job->warp];
    job->forwarded = true;
    for (uint32_t i = 0; i < job->op->writes; i++) {
        uint8_t *pending = &w->pending[job->names[job->op->reads + i]];
        w->pending_names -= *pending != HD_SM_SLOT_ISSUED;
        *pending = HD_SM_SLOT_ISSUED;
    }
    sm->recheck |= (uint64_t)1 << job->warp;
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
    sm_inflight *job = &sm->jobs.items[index];
    if (!job->forwarded)
        sm_release_names(sm, index);
    if (job->op->traits & HD_SM_COPY)
        end_copy(sm, &sm->warps[job->warp], job->copy);
    sm->warps[job->warp].accesses -= (job->op->traits & HD_SM_ACCESS) != 0;
    job->phase = SM_DONE;
    sm_emit_retire(sm, job);
    uint32_t slot = job->warp;
    free_if_over(sm, index);
    if (--sm->warps[slot].jobs == 0)
        sm->may_end |= (uint64_t)1 << slot;
}

void sm_write_results(hd_sm *sm, uint32_t index)
{
    sm_inflight *job = &sm->jobs.items[index];
    job->phase = SM_WRITE;
    if (job->results)
        begin_all(sm, index, sm->now);
    else
        finish(sm, index);
}

void sm_access_done(hd_sm *sm, uint32_t index, uint32_t access)
{
    sm_inflight *job = &sm->jobs.items[index];
    sm_access *a = &job->accesses.items[access];
    uint8_t role = a->role;
    a->done = true;
    job->open--;
    for (uint32_t i = access + 1; i < job->accesses.count; i++)
        if (job->accesses.items[i].what.after == access + 1 && may_begin(job, &job->accesses.items[i]))
            begin(sm, index, i, sm->now + 1);
    if (role == SM_RESULT && --job->results == 0) {
        finish(sm, index);
        return;
    }
    if (role == SM_NEEDED && --job->needed == 0)
        collected(sm, index);
    free_if_over(sm, index);
}
