/* Computes the results of the report (include/heddle/replay_result.h) from the models' counters. */
#include "driver/replay/replay_work.h"

#include <math.h>

/* ---- tallies ----------------------------------------------------------------------------------------------------- */

replay_tally *replay_open_tallies(const replay_part *p, const replay_file *f, hd_arena *arena)
{
    uint32_t count = f->launch->launches.count * p->plan->model_count;
    replay_tally *tallies = HD_ARENA_ARRAY(arena, replay_tally, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t m = i % p->plan->model_count;
        tallies[i] = (replay_tally){
            .refusal = f->refusals[m], .energy_known = f->model_index[m] != HD_NONE, .check = HD_CHECK_PASS};
    }
    return tallies;
}

/* ---- figures ----------------------------------------------------------------------------------------------------- */

static double ratio(double part, double whole) { return whole > 0 ? part / whole : (double)NAN; }

static double of_counters(const replay_tally *t, hd_counter part, hd_counter whole)
{
    return ratio((double)t->counters[part], (double)t->counters[whole]);
}

static uint64_t file_accesses(const replay_tally *t)
{
    return t->counters[HD_COUNTER_FILE_READS] + t->counters[HD_COUNTER_FILE_WRITES];
}

static double writes_eliminated(const replay_tally *t)
{
    bool others = t->counters[HD_COUNTER_PREFETCHED] + t->counters[HD_COUNTER_REFETCHED];
    return others ? (double)NAN : 1 - of_counters(t, HD_COUNTER_FILE_WRITES, HD_COUNTER_RESULTS);
}

/* Coefficient of variation, from the sum and the sum of squares of the accesses per physical register. */
static double access_variation(const replay_tally *t)
{
    double registers = (double)t->counters[HD_COUNTER_PHYSICAL_REGISTERS];
    double sum = (double)file_accesses(t), squares = (double)t->counters[HD_COUNTER_ACCESS_SQUARES];
    bool counted = t->counters[HD_COUNTER_ACCESS_SQUARES] != HD_UNCOUNTED;
    double variance = registers > 0 && sum > 0 && counted ? registers * squares / (sum * sum) - 1 : (double)NAN;
    return variance < 0 ? 0 : sqrt(variance);
}

static hd_replay_headline headline_of(const hd_rf_headline_info *info, const replay_tally *t)
{
    if (!info)
        return (hd_replay_headline){.value = (double)NAN};
    hd_replay_headline h = {HD_FIGURE_SHARE, info->title, info->meaning,
                            t->counters[info->needs] ? NULL : info->otherwise,
                            of_counters(t, (hd_counter)info->part, (hd_counter)info->whole)};
    switch ((hd_rf_headline_kind)info->kind) {
    case HD_HEADLINE_SHARE: break;
    case HD_HEADLINE_REST: h.value = 1 - h.value; break;
    case HD_HEADLINE_CHANGE:
        h.kind = HD_FIGURE_CHANGE;
        h.value -= 1;
        break;
    case HD_HEADLINE_QUOTIENT: h.kind = HD_FIGURE_NUMBER; break;
    case HD_HEADLINE_VARIATION:
        h.kind = HD_FIGURE_NUMBER;
        h.value = access_variation(t);
        break;
    }
    return h;
}

static hd_replay_allocation allocation_of(hd_arena *arena, const hd_rf_series *series)
{
    uint32_t count = hd_rf_series_buckets(series);
    double *buckets = HD_ARENA_ARRAY(arena, double, count);
    for (uint32_t b = 0; b < count; b++)
        buckets[b] = hd_rf_series_bucket(series, b);
    return (hd_replay_allocation){.instructions = series->samples,
                                  .peak = series->peak,
                                  .mean = hd_rf_series_mean(series),
                                  .buckets = buckets,
                                  .bucket_count = count,
                                  .bucket_instructions = series->width};
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* With a faulty lane, what the kernel leaves in memory says nothing about the model. */
static hd_replay_check check_of(const hd_replay_kernel *k, const replay_tally *t, bool faulty)
{
    if (t->refusal)
        return HD_CHECK_NOT_RUN;
    if (!t->ran)
        return HD_CHECK_INCOMPLETE;
    if (t->check == HD_CHECK_PASS && faulty)
        return HD_CHECK_PASS;
    if (t->check == HD_CHECK_PASS && k->outputs == HD_OUTPUTS_WRONG)
        return HD_CHECK_OUTPUTS;
    if (t->check == HD_CHECK_PASS && k->identical == HD_OUTPUTS_WRONG)
        return HD_CHECK_IDENTICAL;
    return (hd_replay_check)t->check;
}

static double static_pj(const replay_part *p, const hd_rf_model_info *model, const replay_tally *t)
{
    const hd_rf_leakage leakage = {.powered = t->time.sm.powered,
                                   .storage_bits = t->storage_bits,
                                   .storage = model->ops->storage,
                                   .cycles = t->time.cycles * p->plan->sms,
                                   .file = model->ops->file,
                                   .gated_bits = model->ops->gated_bits ? model->ops->gated_bits(model) : 0,
                                   .gated_on = t->gated_on,
                                   .gates = model->ops->gates};
    return hd_rf_static_energy(&leakage, p->plan->gpu);
}

static const hd_replay_timing *timing_of(replay_part *p, uint32_t m, const replay_tally *tallies)
{
    const replay_tally *t = &tallies[m], *baseline = &tallies[0];
    const hd_timing_counts *c = &t->time;
    const hd_gpu *gpu = p->plan->gpu;
    if (!t->timed || !c->cycles)
        return NULL;
    double leaked = static_pj(p, p->plan->models[m].info, t);
    double without =
        baseline->timed ? baseline->timed_pj + static_pj(p, p->plan->models[0].info, baseline) : (double)NAN;
    hd_replay_timing timing = {
        .cycles = c->cycles,
        .sampled_fraction = ratio((double)c->timed_blocks, (double)c->blocks),
        .error_fraction = ratio((double)c->error_cycles, (double)c->cycles),
        .speedup = baseline->timed ? ratio((double)baseline->time.cycles, (double)c->cycles) : (double)NAN,
        .warp_ipc = ratio((double)c->sm.warp_instructions, (double)c->cycles),
        .thread_ipc = ratio((double)c->sm.thread_instructions, (double)c->cycles),
        .occupancy = ratio((double)c->sm.warp_cycles, (double)c->cycles * p->plan->sms * gpu->limits.warps_per_sm),
        .dynamic_pj = t->timed_pj,
        .static_pj = leaked,
        .energy_normalized = ratio(t->timed_pj + leaked, without),
        .slots = hd_arena_copy(&p->arena, c->sm.slots, sizeof c->sm.slots),
        .bank_conflict_cycles = c->sm.bank_conflicts,
        .l1_reads = c->sm.l1_reads,
        .l1_hits = c->sm.l1_hits,
        .l2_reads = c->memory.l2_reads,
        .l2_hits = c->memory.l2_read_hits,
        .dram_bytes = c->memory.dram_bytes,
        .shared_accesses = c->sm.shared_accesses,
        .shared_passes = c->sm.shared_passes,
        .active_periods = c->sm.active_periods,
        .active_cycles = c->sm.active_cycles,
        .inactive_periods = c->sm.inactive_periods,
        .inactive_cycles = c->sm.inactive_cycles};
    return hd_arena_copy(&p->arena, &timing, sizeof timing);
}

static hd_replay_result result_of(replay_part *p, const hd_replay_kernel *k, uint32_t m)
{
    const hd_rf_model_info *model = p->plan->models[m].info;
    const replay_tally *tallies = &p->tallies[k->launch * p->plan->model_count], *t = &tallies[m];
    const char *title = hd_rf_standard_title(model);
    bool energies = t->energy_known && tallies[0].energy_known;
    return (hd_replay_result){.model = model->name,
                              .title = title ? title : model->name,
                              .technique = model->technique,
                              .options = model->options,
                              .summary = model->summary,
                              .not_applied = t->refusal,
                              .check = check_of(k, t, p->plan->faulty),
                              .counters = hd_arena_copy(&p->arena, t->counters, sizeof t->counters),
                              .rf_accesses = file_accesses(t),
                              .rf_accesses_normalized =
                                  ratio((double)file_accesses(t), (double)file_accesses(&tallies[0])),
                              .rf_reads_eliminated_fraction = of_counters(t, HD_COUNTER_BYPASSED, HD_COUNTER_OPERANDS),
                              .rf_writes_eliminated_fraction = writes_eliminated(t),
                              .energy_pj = t->energy_known ? t->energy_pj : (double)NAN,
                              .energy_normalized = energies ? ratio(t->energy_pj, tallies[0].energy_pj) : (double)NAN,
                              .energy_derived = t->energy_known && t->energy_derived,
                              .physical_access_variation = access_variation(t),
                              .headline = headline_of(model->headline, t),
                              .allocated = allocation_of(&p->arena, &t->allocation),
                              .storage_bits = t->storage_bits,
                              .timing = timing_of(p, m, tallies),
                              .timeline = replay_timeline_of(p, t),
                              .detection = replay_detection_of(p, m, t)};
}

void replay_fill_results(replay_part *p)
{
    for (uint32_t i = 0; i < p->rows.count; i++) {
        hd_replay_kernel *k = &p->rows.items[i];
        k->results = HD_ARENA_ARRAY(&p->arena, hd_replay_result, p->plan->model_count);
        k->result_count = p->plan->model_count;
        for (uint32_t m = 0; m < k->result_count; m++)
            k->results[m] = result_of(p, k, m);
    }
}

const hd_replay_counter *replay_counters(hd_arena *arena)
{
    hd_replay_counter *counters = HD_ARENA_ARRAY(arena, hd_replay_counter, HD_COUNTER_COUNT);
    for (uint32_t c = 0; c < HD_COUNTER_COUNT; c++)
        counters[c] = (hd_replay_counter){hd_counters[c].key, hd_counters[c].title};
    return counters;
}

const hd_replay_slot *replay_slots(hd_arena *arena)
{
    hd_replay_slot *slots = HD_ARENA_ARRAY(arena, hd_replay_slot, HD_SM_SLOTS_ALL);
    for (uint32_t s = 0; s < HD_SM_SLOTS_ALL; s++)
        slots[s] = (hd_replay_slot){hd_sm_slot_keys[s], hd_sm_slot_texts[s]};
    return slots;
}
