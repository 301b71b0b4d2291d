/* One SM: its thread blocks, and the stages of a cycle. See sm.h. */
#include "hwmodel/sm/state.h"

const char *const hd_sm_slot_keys[HD_SM_STATES] = {
#define HD_SM_SLOT(id, key, text) key,
#include "hwmodel/sm/stalls.def"
#undef HD_SM_SLOT
#define HD_STALL(id, key, text) key,
#include "hwmodel/rf/stalls.def"
#undef HD_STALL
    [HD_SM_NOT_SELECTED] = "not_selected",
};

const char *const hd_sm_slot_texts[HD_SM_STATES] = {
#define HD_SM_SLOT(id, key, text) text,
#include "hwmodel/sm/stalls.def"
#undef HD_SM_SLOT
#define HD_STALL(id, key, text) text,
#include "hwmodel/rf/stalls.def"
#undef HD_STALL
    [HD_SM_NOT_SELECTED] = "its turn: the scheduler issues another warp",
};

static void open_caches(hd_sm *sm, const hd_machine *m)
{
    hd_cache_open(&sm->caches[SM_L1], m->l1.bytes, m->l1.line_bytes, m->l1.ways);
    hd_cache_open(&sm->caches[SM_CONSTANT], m->constant.bytes, m->constant.line_bytes, m->constant.ways);
    hd_cache_open(&sm->caches[SM_TEXTURE], m->texture.bytes, m->texture.line_bytes, m->texture.ways);
    hd_cache_open(&sm->caches[SM_CODE], m->fetch.bytes, m->fetch.line_bytes, m->fetch.ways);
}

hd_sm *hd_sm_new(const hd_sm_setup *setup)
{
    hd_sm *sm = hd_calloc(1, sizeof *sm);
    sm->setup = *setup;
    sm->model = setup->walk->model;
    sm->unused_inflight = HD_NONE;
    sm->free_collectors = setup->machine->core.collectors;
    sm->subcores = setup->machine->core.kind == HD_CORE_SUBCORE;
    sm->follows_codes = sm->subcores && setup->code->has_codes;
    sm->early.cycle = UINT64_MAX;
    for (uint32_t u = 0; u < HD_MACHINE_UNITS; u++)
        sm->fixed_units |= (uint32_t)hd_machine_unit_is_fixed(setup->machine, u) << u;
    sm->next = UINT64_MAX;
    for (uint32_t s = 0; s < SM_SCHEDULERS; s++) {
        sm->schedulers[s].reason = HD_SM_SLOT_NO_WARP;
        sm->schedulers[s].control = sm->schedulers[s].allocate = sm->schedulers[s].blamed = HD_NONE;
    }
    open_caches(sm, setup->machine);
    return sm;
}

/* Allocates what only an SM with a thread block needs: with a small grid most SMs of a large GPU have none. */
static void make_room(hd_sm *sm)
{
    sm->ring = hd_calloc(SM_RING, sizeof *sm->ring);
    for (uint32_t i = 0; i < SM_WARPS; i++) {
        sm->warps[i].scoreboard = hd_calloc(sm->setup.code->register_count + 1, 1);
        sm->warps[i].reading = sm->subcores ? hd_calloc(sm->setup.code->register_count + 1, 1) : NULL;
        sm->warps[i].codes = sm->follows_codes ? sm_codes_new(sm) : NULL;
    }
}

void hd_sm_free(hd_sm *sm)
{
    if (!sm)
        return;
    for (uint32_t i = 0; i < SM_WARPS; i++) {
        free(sm->warps[i].scoreboard);
        free(sm->warps[i].reading);
        sm_codes_free(sm->warps[i].codes);
        hd_array_free(&sm->warps[i].copies);
    }
    hd_array_free(&sm->events);
    for (uint32_t i = 0; i < SM_BANKS; i++) {
        hd_array_free(&sm->banks[i].reads.items);
        hd_array_free(&sm->banks[i].writes.items);
    }
    for (uint32_t i = 0; i < sm->inflight.count; i++) {
        hd_array_free(&sm->inflight.items[i].accesses);
        free(sm->inflight.items[i].line);
    }
    for (uint32_t i = 0; i < sm->fetches.count; i++)
        hd_array_free(&sm->fetches.items[i].waiting);
    for (uint32_t i = 0; i < sm->ctas.count; i++)
        if (sm->ctas.items[i].record)
            hd_record_release(sm->ctas.items[i].record);
    for (uint32_t u = 0; u < HD_MACHINE_UNITS; u++)
        hd_array_free(&sm->ready[u]);
    for (uint32_t s = 0; s < SM_SCHEDULERS; s++)
        hd_array_free(&sm->schedulers[s].waiting);
    hd_array_free(&sm->unbanked);
    hd_array_free(&sm->awaiting);
    hd_array_free(&sm->inflight);
    hd_array_free(&sm->ctas);
    hd_array_free(&sm->fetches);
    hd_array_free(&sm->memory_queue);
    hd_array_free(&sm->reserved);
    for (uint32_t c = 0; c < SM_CACHES; c++)
        hd_cache_close(&sm->caches[c]);
    free(sm->ring);
    free(sm);
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

uint64_t hd_sm_next(const hd_sm *sm) { return sm->next; }

uint32_t hd_sm_resident(const hd_sm *sm) { return sm->resident; }

hd_sm_counts hd_sm_count(hd_sm *sm, uint64_t now)
{
    sm_account(sm, now);
    return sm->counts;
}

/* ---- thread blocks ----------------------------------------------------------------------------------------------- */

/* How many warps of each scheduler take turns; 0: all of them. A technique whose warps take turns has them do so under
 * any policy. */
static uint32_t active_warps_of(const hd_sm *sm)
{
    const hd_machine *m = sm->setup.machine;
    bool two_level = m->core.policy == HD_POLICY_TWO_LEVEL;
    if (!two_level && !sm->model->info->ops->warp_switch && !sm->model->active_warps)
        return 0;
    uint32_t active =
        hd_turn_active(sm->model, two_level ? m->core.active_warps * m->core.schedulers : sm->residency.active);
    return active > m->core.schedulers ? active / m->core.schedulers : 1;
}

void hd_sm_launch(hd_sm *sm, const hd_rf_residency *residency, uint32_t function)
{
    const hd_machine *m = sm->setup.machine;
    assert(!sm->resident);
    sm->early.cycle = UINT64_MAX;
    sm->residency = *residency;
    sm->residency.banks = m->core.banks;
    sm->active_warps = active_warps_of(sm);
    sm->residency.active =
        hd_turn_active(sm->model, sm->active_warps ? sm->active_warps * m->core.schedulers : SM_WARPS);
    hd_walk_launch(sm->setup.walk, function, &sm->residency);
}

bool hd_sm_has_room(hd_sm *sm, uint32_t cta)
{
    return sm->resident_warps + sm->residency.cta_warps <= SM_WARPS &&
           hd_turn_admits(sm->model->info->ops, sm->model, &sm->residency, sm->resident, cta);
}

static uint32_t free_place(hd_sm *sm)
{
    for (uint32_t i = 0; i < sm->ctas.count; i++)
        if (!sm->ctas.items[i].record)
            return i;
    (void)hd_array_extend(&sm->ctas, 1);
    return sm->ctas.count - 1;
}

static void start_warp(hd_sm *sm, uint64_t now, uint32_t place, uint32_t index)
{
    sm_cta *cta = &sm->ctas.items[place];
    const hd_record_warp *record = &cta->record->warps[index];
    hd_walk_warp *walked = hd_walk_begin_warp(sm_walk(sm), cta->record->cta, record->warp);
    uint32_t slot = walked->warp.slot;
    assert(slot < SM_WARPS);
    sm_warp *w = &sm->warps[slot];
    uint8_t *scoreboard = w->scoreboard, *reading = w->reading;
    sm_codes *codes = w->codes;
    sm_copies copies = w->copies; /* none is in flight */
    *w = (sm_warp){.resident = true,
                   .cta = place,
                   .index = index,
                   .age = sm->starts,
                   .start = now,
                   .frame = HD_NONE,
                   .last = {.function = HD_NONE, .instruction = HD_NONE},
                   .walked = walked};
    w->scoreboard = scoreboard;
    w->reading = reading;
    w->codes = codes;
    if (codes)
        sm_codes_begin(sm, codes, now);
    w->copies = copies;
    cta->slots[index] = (uint8_t)slot;
    sm->order[slot] = sm->starts * HD_RECORD_WARPS + index;
    sm->schedulers[slot % sm->setup.machine->core.schedulers].warps |= (uint64_t)1 << slot;
    sm->resident_warps++;
    hd_record_open(&w->cursor, record);
    sm_reach_next(sm, slot);
    if (w->has_step) /* one without any, of a record that is not whole, ends at once */
        sm_activate(sm, slot);
}

static void end_cta(hd_sm *sm, uint32_t place)
{
    sm_cta *cta = &sm->ctas.items[place];
    hd_walk_end_cta(sm_walk(sm), cta->record->cta);
    hd_record_release(cta->record);
    cta->record = NULL;
    sm->resident--;
}

/* Ends the warp if its record is over and nothing of it is in flight. */
static void try_end(hd_sm *sm, uint32_t slot)
{
    sm_warp *w = &sm->warps[slot];
    uint64_t bit = (uint64_t)1 << slot;
    if (!w->resident || w->has_step || w->inflight)
        return;
    sm_cta *cta = &sm->ctas.items[w->cta];
    sm_scheduler *s = &sm->schedulers[slot % sm->setup.machine->core.schedulers];
    sm_emit_warp_end(sm, slot);
    w->resident = false;
    sm->resident_warps--;
    sm->eligible &= ~bit;
    sm->gated &= ~bit;
    sm->to_fetch &= ~bit;
    sm->missing_code &= ~bit;
    s->warps &= ~bit;
    sm_end_turn(sm, s, slot);
    cta->barriers[w->index] = UINT32_MAX;
    hd_walk_end_warp(sm_walk(sm), w->walked);
    sm->recheck = (sm->recheck & ~bit) | sm->gated;
    for (uint32_t i = 0; i < cta->record->warp_count; i++)
        if (cta->barriers[i] != UINT32_MAX)
            sm->recheck |= (uint64_t)1 << cta->slots[i];
    if (--cta->live == 0)
        end_cta(sm, w->cta);
}

void hd_sm_start(hd_sm *sm, uint64_t now, hd_record *record)
{
    sm_account(sm, now);
    if (!sm->ring)
        make_room(sm);
    uint32_t place = free_place(sm), warps = record->warp_count;
    sm->ctas.items[place] = (sm_cta){.record = record, .live = warps};
    sm->resident++;
    sm->alive = now;
    sm->starts++;
    for (uint32_t i = 0; i < warps; i++)
        start_warp(sm, now, place, i);
    for (uint32_t i = 0; i < warps; i++) /* the last one releases the record of a block without instructions */
        try_end(sm, sm->ctas.items[place].slots[i]);
    sm->next = now;
}

static void end_warps(hd_sm *sm)
{
    uint64_t rest = sm->may_end;
    sm->may_end = 0;
    for (; rest; rest &= rest - 1)
        try_end(sm, (uint32_t)__builtin_ctzll(rest));
}

/* ---- stages ------------------------------------------------------------------------------------------------------ */

/* A branch, call or return has executed: what comes after it is known. */
static void resolve(hd_sm *sm, uint32_t slot)
{
    sm->warps[slot].control = false;
    sm->recheck |= (uint64_t)1 << slot;
    sm_buffer_reach(sm, slot);
}

static void executed(hd_sm *sm, uint32_t index)
{
    sm_inflight *inflight = &sm->inflight.items[index];
    if (inflight->op->traits & HD_SM_CONTROL && !inflight->forwarded)
        resolve(sm, inflight->warp);
    if (inflight->skips)
        sm_write_results(sm, index);
    else if (inflight->lines || inflight->passes ||
             (inflight->op->class == HD_MACHINE_CLASS_MEMORY && inflight->op->traits & HD_SM_LOAD))
        hd_array_push(&sm->memory_queue, index);
    else
        sm_write_results(sm, index);
}

/* Forwards a result of fixed latency: what needs it may issue, and finds it when it executes. */
static void forward(hd_sm *sm, uint32_t index)
{
    const sm_inflight *inflight = &sm->inflight.items[index];
    if (inflight->op->traits & HD_SM_CONTROL)
        resolve(sm, inflight->warp);
    sm_clear_scoreboard(sm, index);
}

static void complete(hd_sm *sm)
{
    uint32_t place = (uint32_t)(sm->now % SM_RING);
    uint32_t at = sm->ring ? sm->ring[place].first : 0;
    if (at)
        sm->ring[place] = (sm_due){0, 0};
    while (at) {
        const sm_event e = sm->events.items[at - 1].event;
        uint32_t next = sm->events.items[at - 1].next;
        sm->events.items[at - 1].next = sm->free_event;
        sm->free_event = at;
        at = next;
        switch (e.kind) {
        case SM_ACCESS_DONE: sm_access_done(sm, e.index, e.access, sm->now + 1); break;
        case SM_ACCESS_ENDED: sm_access_done(sm, e.index, e.access, sm->now); break;
        case SM_EXECUTED: executed(sm, e.index); break;
        case SM_FORWARD: forward(sm, e.index); break;
        case SM_RECHECK: sm->recheck |= (uint64_t)1 << e.index; break;
        case SM_MEMORY_DONE: sm_memory_done(sm, e.index); break;
        case SM_ASK_AGAIN: sm->recheck |= sm->gated & (uint64_t)1 << e.index; break;
        }
    }
    sm->ring_used[place / 64] &= ~((uint64_t)1 << place % 64);
}

static bool takes(const hd_sm *sm, uint32_t unit)
{
    return unit != HD_MACHINE_UNIT_MEMORY || sm->memory_queue.count < SM_MEMORY_QUEUE;
}

static void dispatch_to(hd_sm *sm, uint32_t index, uint64_t *unit_free)
{
    sm_inflight *inflight = &sm->inflight.items[index];
    hd_machine_class_timing timing = sm_timing(sm, inflight->op);
    inflight->phase = SM_EXECUTE;
    *unit_free = sm->now + timing.interval;
    sm_leave_collector(sm, inflight);
    sm_at(sm, sm->now + timing.latency, (sm_event){SM_EXECUTED, index, 0});
}

/* The oldest go first. */
static void dispatch(hd_sm *sm)
{
    for (uint32_t unit = 0; unit < HD_MACHINE_UNITS; unit++) {
        uint32_t kept = 0, count = sm->ready[unit].count, *ready = sm->ready[unit].items;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t scheduler = sm->inflight.items[ready[i]].warp % sm->setup.machine->core.schedulers;
            uint32_t u = takes(sm, unit) ? sm_free_unit(sm, unit, scheduler) : HD_NONE;
            if (u == HD_NONE)
                ready[kept++] = ready[i];
            else
                dispatch_to(sm, ready[i], &sm->unit_free[unit][u]);
        }
        sm->ready[unit].count = kept;
    }
}

static bool is_busy(const hd_sm *sm)
{
    bool busy = sm_has_busy_banks(sm) || sm->unbanked.count || sm->memory_queue.count || sm->reserved.count ||
                sm->recheck || sm->latched || (sm->to_fetch & ~sm->missing_code) ||
                (sm->eligible && (sm->subcores || sm->free_collectors));
    for (uint32_t unit = 0; unit < HD_MACHINE_UNITS; unit++)
        busy = busy || sm->ready[unit].count;
    return busy;
}

static uint32_t machine_unit(const hd_sm *sm, hd_unit unit)
{
    switch (unit) {
    case HD_UNIT_INT: return sm->setup.machine->classes[HD_MACHINE_CLASS_INT_ADD].unit;
    case HD_UNIT_DP: return sm->setup.machine->classes[HD_MACHINE_CLASS_DP_ADD].unit;
    case HD_UNIT_SFU: return sm->setup.machine->classes[HD_MACHINE_CLASS_SFU].unit;
    case HD_UNIT_TENSOR: return sm->setup.machine->classes[HD_MACHINE_CLASS_TENSOR].unit;
    case HD_UNIT_LDST:
    case HD_UNIT_TEX: return HD_MACHINE_UNIT_MEMORY;
    case HD_UNIT_NONE:
    case HD_UNIT_SP:
    case HD_UNIT_CTRL: break;
    }
    return sm->setup.machine->classes[HD_MACHINE_CLASS_FP_ADD].unit;
}

/* A unit that can take an operation in the next cycle. An instruction that issues is dispatched later, and keeps its
 * unit from others when it issues; so one whose interval is a cycle does not keep it again. HD_NONE: there is none. */
static uint32_t spare_unit(const hd_sm *sm, uint32_t unit)
{
    for (uint32_t u = 0; u < sm->setup.machine->units[unit]; u++)
        if (sm->unit_free[unit][u] <= sm->now + 1)
            return u;
    return HD_NONE;
}

static uint32_t busy_units(const hd_sm *sm)
{
    uint32_t busy = 0;
    for (uint32_t unit = 0; unit <= HD_UNIT_CTRL; unit++)
        busy |= spare_unit(sm, machine_unit(sm, (hd_unit)unit)) == HD_NONE ? 1u << unit : 0;
    return busy;
}

static void occupy(hd_sm *sm, uint32_t unit, uint32_t cycles)
{
    uint32_t u = spare_unit(sm, unit);
    if (u != HD_NONE)
        sm->unit_free[unit][u] = sm->now + cycles;
}

/* Units that are free and on which nothing is issued in this cycle are the model's, if it wants them. An instruction
 * that it repeats occupies its unit as the original did; every other unit that it takes starts one operation of a
 * cycle. */
static void offer_units(hd_sm *sm)
{
    enum { ALL_UNITS = (1 << (HD_UNIT_CTRL + 1)) - 1 };
    uint32_t used = hd_walk_idle(sm->setup.walk, ALL_UNITS & ~sm->issued_units & ~busy_units(sm), sm->now);
    const hd_access_sink *sink = &sm->setup.walk->sink;
    for (uint32_t r = 0; r < sink->repeats.count; r++) {
        const hd_rf_repeat *repeat = &sink->repeats.items[r];
        const hd_sm_op *op = &sm->setup.code->functions[repeat->function].ops[repeat->instruction];
        hd_machine_class_timing timing = sm_timing(sm, op);
        occupy(sm, timing.unit, timing.interval);
        used &= ~(1u << op->unit);
    }
    for (; used; used &= used - 1)
        occupy(sm, machine_unit(sm, (hd_unit)__builtin_ctz(used)), 1);
    if (sink->accesses.count)
        sm_add_accesses(sm, sm_new_inflight(sm, 0), sink, true);
    if (sm->model->info->ops->may_issue) /* what the model did may open gates, and close others */
        sm->recheck |= sm->gated | sm->eligible;
}

bool hd_sm_cycle(hd_sm *sm, uint64_t now)
{
    sm_account(sm, now);
    sm->now = now;
    complete(sm);
    dispatch(sm);
    if (sm->latched)
        sm_advance_latches(sm);
    sm_access_memory(sm);
    sm_serve_banks(sm);
    end_warps(sm);
    sm->issued_units = 0;
    sm_issue(sm);
    bool offers = sm->model->info->ops->idle_slot && sm->resident_warps;
    if (offers)
        offer_units(sm);
    sm_fetch_code(sm);
    sm_emit_waits(sm, now, now + 1, true);
    sm->counts.warp_cycles += sm->resident_warps;
    sm->counts.busy_cycles += sm->resident_warps != 0;
    sm_account_power(sm, 1);
    sm->accounted = now + 1;
    sm->next = offers || is_busy(sm) ? now + 1 : sm_next_event(sm);
    return !sm->failed && sm_check_alive(sm);
}
