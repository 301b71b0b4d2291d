/* Control codes of machine code since Volta, on sub-cores: the compiler, not a scoreboard, keeps instructions apart.
 *
 * R. Huerta et al., "Dissecting and Modeling the Architecture of Modern GPU Cores", MICRO 2025 (preprint: arXiv
 * 2503.20481), section 4. A warp's next instruction issues when
 *
 *   its count is over     an instruction that issues in cycle t and counts n cycles lets the next one issue in t + n;
 *                         the yield hint makes that t + 2 at least
 *   counters are zero     of the six that a warp has, those in its wait mask. An instruction adds one to the counter of
 *                         its write barrier and to that of its read barrier, which is seen from t + 2 on. The first
 *                         goes down when the results are there, the second when the operands are read
 *   DEPBAR.LE SBn, k      and the counter n is at most k
 *
 * Nothing else protects results: of fixed latency by counts, of variable latency by counters. Where only the last of
 * several instructions of variable latency has a counter, as ptxas often does, it does not go down before the results
 * of the earlier ones are there: they come in order. While an instruction stays in a latch of its sub-core for want
 * of read ports, the counts of its warp stand still, since all its results come later; no source says so, but code
 * that counts exactly would read too early without.
 *
 * Each read is checked against the model's latencies: one that comes before the result is an early read, counted and
 * named. Instructions that go through the queue of their sub-core read their operands later than others: ptxas 13.0 has
 * DADD, of 8 cycles on sm_90, followed by a MUFU that reads it after 6 (tools/latencies).
 *
 * Not modelled: counts above 11 without the yield bit, and 0 with it, which mean something else; ptxas never makes the
 * first. A count of 0 is 1.
 *
 * The reuse cache keeps the operands that flags name (ir/machine_slots.h has the rules, which were measured); no bank
 * reads them. It is the warp's own, as if no other warp issued in between: measured with one, two and four warps of a
 * sub-core, which take turns seldom.
 *
 * O(registers) an instruction.
 */
#include "hwmodel/sm/state.h"

enum { SEEN_AFTER = 2 /* cycles from an issue until its counters are seen */, QUEUED_LATE = 2 };

sm_codes *sm_codes_new(const hd_sm *sm)
{
    sm_codes *codes = hd_calloc(1, sizeof *codes);
    codes->results = hd_calloc(sm->setup.code->register_count + 1, sizeof *codes->results);
    return codes;
}

void sm_codes_free(sm_codes *codes)
{
    if (codes)
        free(codes->results);
    free(codes);
}

void sm_codes_begin(const hd_sm *sm, sm_codes *codes, uint64_t start)
{
    sm_result *results = codes->results;
    memset(results, 0, (sm->setup.code->register_count + 1) * sizeof *results);
    *codes = (sm_codes){.ready = start, .results = results};
}

/* ---- may it issue? ----------------------------------------------------------------------------------------------- */

static uint32_t seen(const hd_sm *sm, const sm_codes *codes, uint32_t counter)
{
    return codes->counters[counter] - (sm->now < codes->issued + SEEN_AFTER ? codes->fresh[counter] : 0u);
}

static void recheck_at(hd_sm *sm, uint32_t slot, uint64_t cycle)
{
    sm_codes *codes = sm->warps[slot].codes;
    if (codes->wakes >= cycle)
        return;
    codes->wakes = cycle;
    sm_at(sm, cycle, (sm_event){SM_RECHECK, slot, 0});
}

hd_sm_slot sm_codes_wait(hd_sm *sm, uint32_t slot)
{
    sm_codes *codes = sm->warps[slot].codes;
    const hd_sm_control *control = &sm->warps[slot].op->control;
    if (codes->ready > sm->now) {
        recheck_at(sm, slot, codes->ready);
        return HD_SM_SLOT_COUNT;
    }
    for (uint32_t c = 0; c < HD_SM_COUNTERS; c++) {
        bool waits = control->wait_mask >> c & 1, is_limited = control->counter == c;
        if (!waits && !is_limited)
            continue;
        if (codes->fresh[c] && sm->now < codes->issued + SEEN_AFTER)
            recheck_at(sm, slot, codes->issued + SEEN_AFTER);
        if (seen(sm, codes, c) > (waits ? 0u : control->most))
            return (hd_sm_slot)codes->reasons[c];
    }
    return HD_SM_SLOT_ISSUED;
}

/* ---- early reads ------------------------------------------------------------------------------------------------- */

/* It reads when what issued `late` cycles later would. */
static uint32_t late_cycles(const hd_sm *sm, const hd_sm_op *op)
{
    bool is_fixed = sm->fixed_units >> sm_timing(sm, op).unit & 1;
    bool is_queued = !is_fixed || op->class == HD_MACHINE_CLASS_SHUFFLE ||
                     op->control.write_counter != HD_SM_NO_COUNTER || op->control.read_counter != HD_SM_NO_COUNTER;
    return op->control.late + (is_queued ? QUEUED_LATE : 0u);
}

static void check_reads(hd_sm *sm, const sm_warp *w)
{
    uint64_t reads_at = sm->now + late_cycles(sm, w->op);
    const hd_record_step *step = &w->cursor.step;
    if (!step->effective || w->frame != step->frame) /* registers of two call frames are not compared */
        return;
    for (uint32_t i = 0; i < w->op->reads; i++) {
        const sm_result *result = &w->codes->results[w->registers[i]];
        if (result->available <= reads_at || !(result->lanes & step->effective))
            continue;
        sm->counts.early_reads++;
        if (sm->early.cycle == UINT64_MAX)
            sm->early = (hd_sm_early){sm->now, step->function, step->instruction};
    }
}

hd_sm_early hd_sm_first_early(const hd_sm *sm) { return sm->early; }

/* ---- what an instruction does ------------------------------------------------------------------------------------ */

static void count_up(sm_codes *codes, uint32_t counter, hd_sm_slot reason)
{
    if (counter == HD_SM_NO_COUNTER)
        return;
    codes->counters[counter]++;
    codes->fresh[counter]++;
    codes->reasons[counter] = (uint8_t)reason;
}

static void count_down(hd_sm *sm, uint32_t slot, uint32_t counter, uint32_t by)
{
    sm_codes *codes = sm->warps[slot].codes;
    if (counter == HD_SM_NO_COUNTER)
        return;
    codes->counters[counter] = (uint8_t)(codes->counters[counter] - by);
    if (codes->fresh[counter] > codes->counters[counter])
        codes->fresh[counter] = codes->counters[counter];
    sm->recheck |= (uint64_t)1 << slot;
}

/* Its results have no counter, and those of a later instruction protect them. */
static bool is_uncounted(const hd_sm *sm, const hd_sm_op *op)
{
    return op->writes && op->control.write_counter == HD_SM_NO_COUNTER &&
           !(sm->fixed_units >> sm_timing(sm, op).unit & 1);
}

/* Number of the warp's first instruction in flight whose results are uncounted; UINT32_MAX: there is none. */
static uint32_t first_uncounted(const hd_sm *sm, uint32_t slot)
{
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < sm->inflight.count && sm->warps[slot].codes->uncounted; i++) {
        const sm_inflight *inflight = &sm->inflight.items[i];
        if (inflight->warp == slot && inflight->number && inflight->phase != SM_DONE && inflight->phase != SM_ASIDE &&
            !inflight->forwarded && is_uncounted(sm, inflight->op) && inflight->number < first)
            first = inflight->number;
    }
    return first;
}

/* Counters go down that waited for the results of earlier instructions. */
static void release_held(hd_sm *sm, uint32_t slot)
{
    sm_codes *codes = sm->warps[slot].codes;
    uint32_t first = first_uncounted(sm, slot);
    for (uint32_t c = 0; c < HD_SM_COUNTERS; c++)
        if (codes->held[c] && codes->held_number[c] < first) {
            count_down(sm, slot, c, codes->held[c]);
            codes->held[c] = 0;
        }
}

static void count_results(hd_sm *sm, const sm_inflight *inflight)
{
    sm_codes *codes = sm->warps[inflight->warp].codes;
    uint32_t counter = inflight->op->control.write_counter;
    if (is_uncounted(sm, inflight->op)) {
        codes->uncounted--;
        release_held(sm, inflight->warp);
    } else if (counter != HD_SM_NO_COUNTER && codes->uncounted &&
               first_uncounted(sm, inflight->warp) < inflight->number) {
        codes->held[counter]++;
        codes->held_number[counter] = inflight->number;
    } else {
        count_down(sm, inflight->warp, counter, 1);
    }
}

void sm_codes_issue(hd_sm *sm, uint32_t index, hd_sm_slot reason)
{
    const sm_inflight *inflight = &sm->inflight.items[index];
    sm_warp *w = &sm->warps[inflight->warp];
    sm_codes *codes = w->codes;
    const hd_sm_control *control = &w->op->control;
    check_reads(sm, w);
    codes->issued = sm->now;
    codes->ready = sm->now + control->gap_cycles;
    codes->uncounted += is_uncounted(sm, w->op);
    memset(codes->fresh, 0, sizeof codes->fresh);
    count_up(codes, control->write_counter, reason);
    count_up(codes, control->read_counter, HD_SM_SLOT_OPERANDS);
    for (uint32_t i = 0; i < w->op->writes; i++)
        codes->results[w->registers[w->op->reads + i]] =
            (sm_result){UINT64_MAX, w->cursor.step.effective, inflight->number};
    w->frame = w->cursor.step.frame;
}

/* Does the cache serve all slots that read the register? */
static bool is_served(const hd_machine_slots *slots, uint32_t served, uint32_t number)
{
    bool is_read = false;
    for (uint32_t s = 0; s < HD_MACHINE_SLOTS; s++) {
        const hd_machine_slot *slot = &slots->at[s];
        if (!slot->words || number < slot->number || number >= (uint32_t)slot->number + slot->words)
            continue;
        if (!(served >> s & 1))
            return false;
        is_read = true;
    }
    return is_read;
}

static void take_served(hd_sm *sm, sm_inflight *inflight, const hd_sm_function *f, const hd_machine_slots *slots,
                        uint32_t served)
{
    for (uint32_t i = 0; i < inflight->accesses.count && served; i++) {
        sm_access *a = &inflight->accesses.items[i];
        bool is_operand = a->role == SM_NEEDED && a->what.structure == HD_STRUCTURE_FILE && a->what.operand &&
                          a->what.kind == HD_RF_READ && !a->what.after;
        uint32_t number = is_operand ? f->numbers[inflight->registers[a->what.operand - 1]] : 0;
        if (!number || !is_served(slots, served, number - 1))
            continue;
        a->started = a->done = true;
        inflight->open--;
        inflight->needed--;
        sm->counts.reused_reads++;
    }
}

void sm_codes_reuse(hd_sm *sm, uint32_t index)
{
    sm_inflight *inflight = &sm->inflight.items[index];
    sm_warp *w = &sm->warps[inflight->warp];
    const hd_record_step *step = &w->cursor.step;
    const hd_sm_function *f = &sm->setup.code->functions[step->function];
    const hd_machine_slots *slots = &f->slots[step->instruction];
    if (!step->effective)
        return;
    uint32_t served = hd_reuse_cache_read(&w->codes->reuse, HD_MACHINE_VOLTA, slots);
    take_served(sm, inflight, f, slots, served);
    for (uint32_t i = 0; i < w->op->writes; i++) {
        uint32_t word = w->registers[w->op->reads + i];
        if (word < f->frame && f->numbers[word])
            hd_reuse_cache_forget(&w->codes->reuse, HD_MACHINE_VOLTA, f->numbers[word] - 1u);
    }
}

void sm_codes_hold(hd_sm *sm, uint32_t index)
{
    sm_codes *codes = sm->warps[sm->inflight.items[index].warp].codes;
    codes->ready += codes->ready >= sm->now;
}

void sm_codes_forward(hd_sm *sm, const sm_inflight *inflight, uint64_t available)
{
    sm_result *results = sm->warps[inflight->warp].codes->results;
    for (uint32_t i = 0; i < inflight->op->writes; i++) {
        sm_result *result = &results[inflight->registers[inflight->op->reads + i]];
        if (result->number == inflight->number)
            result->available = available;
    }
}

void sm_codes_read(hd_sm *sm, const sm_inflight *inflight)
{
    count_down(sm, inflight->warp, inflight->op->control.read_counter, 1);
}

void sm_codes_written(hd_sm *sm, const sm_inflight *inflight)
{
    if (!inflight->fixed)
        sm_codes_forward(sm, inflight, sm->now);
    count_results(sm, inflight);
}
