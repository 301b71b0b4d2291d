/* Sub-cores (Volta and later): a scheduler with banks and units of its own, without operand collectors.
 *
 * R. Huerta et al., "Dissecting and Modeling the Architecture of Modern GPU Cores", MICRO 2025 (preprint: arXiv
 * 2503.20481), sections 5.1.1 (stages), 5.3 (reads, forwarding) and 5.4 (queue). An instruction that is issued in
 * cycle t is in the control latch in t + 1. Then
 *
 *   fixed latency     it is in the allocate latch from t + 2 on, where it waits until the read port of each of its
 *                     banks has as many free cycles in the next `core.read_cycles` as it reads registers there; those
 *                     that are issued after it wait for it. What needs its result may issue `latency` cycles after
 *                     it, less what it waited: the result is forwarded. It is written at the end of the pipeline.
 *   variable latency  it goes to the queue of its sub-core, which has `core.queue` places; reads its operands in cycles
 *                     in which ports are not reserved; and is dispatched to its unit. Until it has read them, no later
 *                     instruction of its warp that writes one of them is issued; its results are available when they
 *                     are written.
 *
 * Machine code has control codes: codes.c. PTX has none: the scoreboard keeps dependences of fixed latency as they
 * would. So do registers that a queued instruction has yet to read. Nor has PTX reuse flags: the baseline has no
 * register reuse cache; rf/models/reuse.c adds it. Accesses of a technique that wait for others (a renaming table
 * before the register) do not fit into a window: their instruction keeps the allocate latch until its operands are
 * there.
 *
 * A unit of which an SM has a multiple of its schedulers is divided among the sub-cores; all others are shared, and
 * then their latency is variable.
 *
 * O(operands) an instruction, and for each cycle that it waits.
 */
#include "hwmodel/sm/state.h"

static uint32_t scheduler_of(const hd_sm *sm, const sm_inflight *inflight)
{
    return inflight->warp % sm->setup.machine->core.schedulers;
}

uint32_t sm_free_unit(const hd_sm *sm, uint32_t unit, uint32_t scheduler)
{
    const hd_machine *m = sm->setup.machine;
    bool divided = sm->subcores && m->units[unit] % m->core.schedulers == 0;
    for (uint32_t u = divided ? scheduler : 0; u < m->units[unit]; u += divided ? m->core.schedulers : 1)
        if (sm->unit_free[unit][u] <= sm->now)
            return u;
    return HD_NONE;
}

/* ---- issue ------------------------------------------------------------------------------------------------------- */

uint64_t sm_subcore_able(const hd_sm *sm, const sm_scheduler *s, uint64_t able)
{
    uint32_t number = (uint32_t)(s - sm->schedulers);
    if (s->control != HD_NONE)
        return 0;
    for (uint32_t unit = 0; unit < HD_MACHINE_UNITS; unit++) {
        bool fixed = sm->fixed_units >> unit & 1;
        if (!(able & sm->by_unit[unit]))
            continue;
        if (fixed ? sm_free_unit(sm, unit, number) == HD_NONE : s->queued >= sm->setup.machine->core.queue)
            able &= ~sm->by_unit[unit];
    }
    return able;
}

void sm_subcore_issue(hd_sm *sm, uint32_t index)
{
    sm_inflight *inflight = &sm->inflight.items[index];
    sm_scheduler *s = &sm->schedulers[scheduler_of(sm, inflight)];
    hd_machine_class_timing timing = sm_timing(sm, inflight->op);
    inflight->fixed = sm->fixed_units >> timing.unit & 1;
    s->control = index;
    sm->latched++;
    if (inflight->fixed) {
        sm->unit_free[timing.unit][sm_free_unit(sm, timing.unit, scheduler_of(sm, inflight))] =
            sm->now + timing.interval;
    } else {
        s->queued++;
        sm_hold_operands(sm, index, true);
    }
}

/* ---- windows ----------------------------------------------------------------------------------------------------- */

static uint32_t advance_window(hd_sm *sm, sm_bank *bank, uint32_t cycles)
{
    uint64_t passed = sm->now - bank->base;
    bank->reserved = passed < 64 ? bank->reserved >> passed : 0;
    bank->base = sm->now;
    return (uint32_t) ~(bank->reserved >> 1) & ((1u << cycles) - 1);
}

static bool reads_bank(const sm_access *a)
{
    return a->role == SM_NEEDED && !a->done && a->what.structure == HD_STRUCTURE_FILE && a->what.bank != HD_RF_NO_BANK;
}

typedef struct wanted { /* reads, by bank */
    uint64_t banks;
    uint8_t reads[64]; /* target/machine.c has no sub-cores with more banks */
} wanted;

/* false: no window would do. */
static bool fits_window(const hd_sm *sm, const sm_inflight *inflight, wanted *want)
{
    want->banks = 0;
    for (uint32_t i = 0; i < inflight->accesses.count; i++) {
        const sm_access *a = &inflight->accesses.items[i];
        if (a->role == SM_NEEDED && (a->what.after || a->what.cycles > 1))
            return false;
        if (!reads_bank(a))
            continue;
        uint32_t bank = sm_bank_of(sm, inflight, &a->what);
        if (!(want->banks >> bank & 1))
            want->reads[bank] = 0;
        want->banks |= (uint64_t)1 << bank;
        if (++want->reads[bank] > sm->setup.machine->core.read_cycles)
            return false;
    }
    return true;
}

/* In each bank the first cycles that are free; false: in one of them there are too few. */
static bool reserve(hd_sm *sm, const wanted *want)
{
    uint32_t cycles = sm->setup.machine->core.read_cycles;
    for (uint64_t rest = want->banks; rest; rest &= rest - 1) {
        uint32_t b = (uint32_t)__builtin_ctzll(rest);
        if ((uint32_t)__builtin_popcount(advance_window(sm, &sm->banks[b], cycles)) < want->reads[b])
            return false;
    }
    for (uint64_t rest = want->banks; rest; rest &= rest - 1) {
        uint32_t b = (uint32_t)__builtin_ctzll(rest);
        for (uint32_t i = 0; i < want->reads[b]; i++) {
            uint64_t open = advance_window(sm, &sm->banks[b], cycles);
            sm->banks[b].reserved |= (open & (0 - open)) << 1;
        }
    }
    return true;
}

/* ---- latches ----------------------------------------------------------------------------------------------------- */

/* `window`: the cycle before the first one in which it reads; may lie in the past. */
static void execute(hd_sm *sm, uint32_t index, int64_t window)
{
    const hd_machine *m = sm->setup.machine;
    sm_inflight *inflight = &sm->inflight.items[index];
    int64_t latency = sm_timing(sm, inflight->op).latency, next = (int64_t)sm->now + 1;
    enum { ISSUE_TO_ALLOCATE = 2 };
    int64_t forwarded = window - ISSUE_TO_ALLOCATE + latency, done = window + m->core.read_cycles + latency;
    inflight->phase = SM_EXECUTE;
    if (sm->follows_codes)
        sm_codes_forward(
            sm, inflight,
            (uint64_t)(forwarded > inflight->op->control.early ? forwarded - inflight->op->control.early : 0));
    sm_at(sm, (uint64_t)(forwarded > next ? forwarded : next), (sm_event){SM_FORWARD, index, 0});
    sm_at(sm, (uint64_t)(done > next ? done : next), (sm_event){SM_EXECUTED, index, 0});
}

/* Does it leave the latch? */
static bool allocate(hd_sm *sm, uint32_t index)
{
    sm_inflight *inflight = &sm->inflight.items[index];
    uint32_t cycles = sm->setup.machine->core.read_cycles;
    wanted want;
    if (inflight->collecting) {
        if (inflight->phase == SM_READY)
            execute(sm, index, (int64_t)sm->now - 1 - cycles);
        return inflight->phase == SM_EXECUTE;
    }
    if (!fits_window(sm, inflight, &want)) {
        inflight->collecting = true;
        sm_begin_accesses(sm, index);
        return false;
    }
    if (!reserve(sm, &want)) {
        sm->counts.bank_conflicts++;
        return false;
    }
    sm_take_operands(sm, index, sm->now + 1 + cycles);
    execute(sm, index, (int64_t)sm->now);
    return true;
}

/* The counts of warps with an instruction in a latch that does not advance stand still. */
static void hold_counts(hd_sm *sm, const sm_scheduler *s)
{
    sm_codes_hold(sm, s->allocate);
    if (s->control != HD_NONE && sm->inflight.items[s->control].fixed &&
        sm->inflight.items[s->control].warp != sm->inflight.items[s->allocate].warp)
        sm_codes_hold(sm, s->control);
}

static void advance(hd_sm *sm, sm_scheduler *s)
{
    if (s->allocate != HD_NONE && allocate(sm, s->allocate)) {
        s->allocate = HD_NONE;
        sm->latched--;
    }
    if (s->allocate != HD_NONE && sm->follows_codes)
        hold_counts(sm, s);
    if (s->control == HD_NONE)
        return;
    if (!sm->inflight.items[s->control].fixed) {
        uint32_t index = s->control;
        s->control = HD_NONE;
        sm->latched--;
        sm_begin_accesses(sm, index);
    } else if (s->allocate == HD_NONE) {
        s->allocate = s->control;
        s->control = HD_NONE;
    }
}

void sm_advance_latches(hd_sm *sm)
{
    for (uint32_t i = 0; i < sm->setup.machine->core.schedulers; i++)
        advance(sm, &sm->schedulers[i]);
}
