/* The last phase of a part: what becomes of runs when they are joined, and the results of the report
 * (include/heddle/replay_result.h) from what models counted. */
#include "driver/replay/replay_work.h"
#include "ir/machine.h"

#include <math.h>

/* ---- joining ----------------------------------------------------------------------------------------------------- */

/* Requests this run and later ones to stop. They are not joined. */
static void stop_runs(replay_part *p, uint32_t first)
{
    for (uint32_t i = first; i < p->run_count; i++)
        atomic_store(&p->runs[i].stop, true);
}

static void set_identical(replay_part *p, hd_replay_outputs identical)
{
    for (uint32_t k = 0; k < p->out.rows.count; k++)
        p->out.rows.items[k].identical = identical;
}

/* A clock counts instructions: it differs where other code runs. */
hd_replay_outputs replay_differing(const replay_run *run, const char *from)
{
    const replay_part *p = run->part;
    if (!p->clocked)
        return HD_OUTPUTS_WRONG;
    const hd_diagnostic *d =
        hd_report(run->report, HD_DIAG_CLOCK_DEPENDENT, NULL, (hd_span){0, 0},
                  "%s: memory differs from %s, and what '%s' leaves depends on a clock", p->title, from, p->clocked);
    return d && d->severity == HD_ERROR ? HD_OUTPUTS_WRONG : HD_OUTPUTS_CLOCK; /* -Werror */
}

/* After a run that stops early nothing else is reported; after a race, no run of a copy. */
static void join_first(replay_part *p, replay_run *run)
{
    p->out.status = run->out.races ? HD_STATUS_FAULT : run->out.status;
    if (run->out.ended && !run->out.races && p->in.is_original) /* equal code leaves identical memory */
        set_identical(p, HD_OUTPUTS_RIGHT);
    if (!run->out.ended || run->out.races)
        stop_runs(p, run->out.ended && p->in.original ? 2 : 1);
}

/* The original must leave the same memory as the first run. With a faulty lane, or a clock, other memory is to be
 * expected: then no difference is reported here. */
static void join_original(replay_part *p, replay_run *run)
{
    if (run->out.status == HD_STATUS_DONE) {
        bool faulty = p->plan->faulty;
        hd_diagnostics quiet;
        hd_diagnostics_init(&quiet);
        bool same = hd_session_compare(run->session, p->runs->session, faulty || p->clocked ? &quiet : run->report);
        hd_diagnostics_free(&quiet);
        hd_replay_outputs identical = same     ? HD_OUTPUTS_RIGHT
                                      : faulty ? HD_OUTPUTS_WRONG
                                               : replay_differing(run, "what the original kernel leaves");
        set_identical(p, identical);
        run->out.status = identical != HD_OUTPUTS_WRONG || faulty ? HD_STATUS_DONE : HD_STATUS_WRONG;
    }
    if (!p->runs->out.races)
        p->out.status = hd_status_worse(p->out.status, run->out.status);
}

/* A copy must leave the same memory as the first run, unless a clock decides what that is; else that is a failed check
 * of each of its models. */
static void join_copy(replay_part *p, replay_run *run)
{
    uint32_t models = p->plan->model_count;
    bool same = run->out.status != HD_STATUS_DONE || p->clocked ||
                hd_session_compare(p->runs->session, run->session, run->report);
    if (!same)
        run->out.status = HD_STATUS_WRONG;
    for (uint32_t i = 0; i < p->in.launch->launches.count * models && run->session; i++) {
        replay_tally *t = &run->out.tallies[i];
        if (!same && t->check == HD_CHECK_PASS)
            t->check = HD_CHECK_IDENTICAL;
        if (run->code.model_index[i % models] != HD_NONE || t->refusal)
            p->runs->out.tallies[i] = *t;
    }
    p->out.status = hd_status_worse(p->out.status, run->out.status);
    if (run->out.status != HD_STATUS_DONE)
        stop_runs(p, (uint32_t)(run - p->runs) + 1);
}

void replay_join(replay_run *run)
{
    switch (run->kind) {
    case REPLAY_FIRST: join_first(run->part, run); return;
    case REPLAY_ORIGINAL: join_original(run->part, run); return;
    case REPLAY_COPY: join_copy(run->part, run); return;
    }
}

/* ---- figures ----------------------------------------------------------------------------------------------------- */

static double ratio(double part, double whole) { return whole > 0 ? part / whole : (double)NAN; }

static double of_counters(const replay_tally *t, hd_counter part, hd_counter whole)
{
    return ratio((double)t->counted.counters[part], (double)t->counted.counters[whole]);
}

static uint64_t file_accesses(const replay_tally *t)
{
    return t->counted.counters[HD_COUNTER_FILE_READS] + t->counted.counters[HD_COUNTER_FILE_WRITES];
}

static double writes_eliminated(const replay_tally *t)
{
    bool others = t->counted.counters[HD_COUNTER_PREFETCHED] + t->counted.counters[HD_COUNTER_REFETCHED];
    return others ? (double)NAN : 1 - of_counters(t, HD_COUNTER_FILE_WRITES, HD_COUNTER_RESULTS);
}

/* Coefficient of variation, from the sum and the sum of squares of the accesses per physical register. */
static double access_variation(const replay_tally *t)
{
    double registers = (double)t->counted.counters[HD_COUNTER_PHYSICAL_REGISTERS];
    double sum = (double)file_accesses(t), squares = (double)t->counted.counters[HD_COUNTER_ACCESS_SQUARES];
    bool counted = t->counted.counters[HD_COUNTER_ACCESS_SQUARES] != HD_UNCOUNTED;
    double variance = registers > 0 && sum > 0 && counted ? registers * squares / (sum * sum) - 1 : (double)NAN;
    return variance < 0 ? 0 : sqrt(variance);
}

static hd_replay_headline headline_of(const hd_rf_headline_info *info, const replay_tally *t)
{
    if (!info)
        return (hd_replay_headline){.value = (double)NAN};
    hd_replay_headline h = {HD_FIGURE_SHARE, info->title, info->meaning,
                            t->counted.counters[info->needs] ? NULL : info->otherwise,
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

/* ---- timelines and faults -------------------------------------------------------------------------------------- */

static hd_replay_instruction instruction_of(hd_arena *arena, hd_module *module, uint32_t function, uint32_t number)
{
    const hd_function *f = module->functions.items[function];
    const hd_instruction *insn = &f->instructions.items[number];
    const char *text = hd_names_text(&module->names, hd_insn_form(f, insn)->spelling);
    bool written = insn->span.end > insn->span.begin;
    return (hd_replay_instruction){hd_arena_string(arena, text, strlen(text)),
                                   written ? hd_source_position(module->source, insn->span.begin).line : 0};
}

static void fill_span(replay_part *p, hd_module *module, const uint32_t *first, hd_replay_instruction *instructions,
                      const hd_timeline_span *from, hd_replay_span *to)
{
    static const hd_replay_span_kind kinds[] = {[HD_TIMELINE_SLOT] = HD_SPAN_STALL,
                                                [HD_TIMELINE_INSTRUCTION] = HD_SPAN_INSTRUCTION,
                                                [HD_TIMELINE_WARP] = HD_SPAN_WARP};
    bool issued = from->kind == HD_TIMELINE_SLOT && from->reason == HD_SM_SLOT_ISSUED;
    *to = (hd_replay_span){.kind = issued ? HD_SPAN_ISSUE : kinds[from->kind],
                           .begin = from->begin,
                           .end = from->end,
                           .track = from->track,
                           .reason = from->reason,
                           .block = from->subject.cta,
                           .warp = from->subject.warp,
                           .threads = (uint32_t)__builtin_popcount(from->subject.effective)};
    if (to->kind != HD_SPAN_ISSUE && to->kind != HD_SPAN_INSTRUCTION)
        return;
    uint32_t number = first[from->subject.function] + from->subject.instruction;
    to->instruction = &instructions[number];
    if (!instructions[number].text)
        instructions[number] = instruction_of(&p->arena, module, from->subject.function, from->subject.instruction);
}

static const hd_replay_timeline *timeline_of(replay_part *p, const replay_tally *t)
{
    const hd_timeline_spans *from = t->timeline;
    if (!from)
        return NULL;
    hd_module *module = t->timed_module;
    /* number in `instructions` of the first instruction of each function; their count at the end */
    uint32_t *first = HD_ARENA_ARRAY(&p->arena, uint32_t, module->functions.count + 1);
    for (uint32_t f = 0; f < module->functions.count; f++)
        first[f + 1] = first[f] + module->functions.items[f]->instructions.count;
    hd_replay_instruction *instructions =
        HD_ARENA_ARRAY(&p->arena, hd_replay_instruction, first[module->functions.count] + 1);
    hd_replay_span *spans = HD_ARENA_ARRAY(&p->arena, hd_replay_span, from->count + 1);
    for (uint32_t i = 0; i < from->count; i++)
        fill_span(p, module, first, instructions, &from->items[i], &spans[i]);
    hd_replay_timeline timeline = {.sm = p->plan->options->timeline_sm,
                                   .schedulers = p->plan->gpu->machine.core.schedulers,
                                   .issue_width = p->plan->gpu->machine.core.issue_width,
                                   .first = p->plan->options->timeline_first,
                                   .end = p->plan->options->timeline_end,
                                   .spans = spans,
                                   .span_count = from->count};
    return hd_arena_copy(&p->arena, &timeline, sizeof timeline);
}

static const hd_replay_detection *detection_of(replay_part *p, uint32_t m, const replay_tally *t)
{
    const hd_rf_detection *from = t->timed ? &t->timed_detection : &t->counted.detection;
    if (!p->plan->faulty || !p->plan->models[m].info->ops->thread_of_lane || !t->ran)
        return NULL;
    hd_replay_detection to = {.wrong = from->wrong,
                              .caught = from->caught,
                              .differences = from->differences,
                              .in_cycles = t->timed,
                              .at = from->first.at,
                              .block = from->first.cta,
                              .warp = from->first.warp,
                              .thread = from->first.thread};
    if (to.differences)
        to.instruction = instruction_of(&p->arena, p->in.module, from->first.function, from->first.instruction);
    return hd_arena_copy(&p->arena, &to, sizeof to);
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
                                   .storage_bits = t->counted.storage_bits,
                                   .storage = model->ops->storage,
                                   .cycles = t->time.cycles * p->plan->sms,
                                   .file = model->ops->file,
                                   .gated_bits = model->ops->gated_bits ? model->ops->gated_bits(model) : 0,
                                   .gated_on = t->gated_on,
                                   .gates = model->ops->gates};
    return hd_rf_static_energy(&leakage, p->plan->gpu);
}

static const hd_replay_early *first_early_of(replay_part *p, const replay_tally *t)
{
    if (!t->time.sm.early_reads)
        return NULL;
    const hd_module *module = t->timed_module;
    const hd_function *f = module->functions.items[t->early.function];
    const hd_instruction *insn = &f->instructions.items[t->early.instruction];
    const char *name = hd_names_text(&module->names, f->name);
    hd_replay_early early = {
        .function = hd_arena_string(&p->arena, name, strlen(name)), /* the report lives longer than the module */
        .text = hd_arena_string(&p->arena, module->source->text + insn->span.begin, insn->span.end - insn->span.begin),
        .address = f->machine->lines[t->early.instruction].address};
    return hd_arena_copy(&p->arena, &early, sizeof early);
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
        .inactive_cycles = c->sm.inactive_cycles,
        .reused_operands = c->sm.reused_reads,
        .early_reads = c->sm.early_reads,
        .first_early = first_early_of(p, t)};
    return hd_arena_copy(&p->arena, &timing, sizeof timing);
}

static hd_replay_result result_of(replay_part *p, const hd_replay_kernel *k, uint32_t m)
{
    const hd_rf_model_info *model = p->plan->models[m].info;
    const replay_tally *tallies = &p->runs->out.tallies[k->launch * p->plan->model_count], *t = &tallies[m];
    const char *title = hd_rf_standard_title(model);
    bool energies = t->energy_known && tallies[0].energy_known;
    return (hd_replay_result){.model = model->name,
                              .title = title ? title : model->name,
                              .technique = model->technique,
                              .options = model->options,
                              .summary = model->summary,
                              .not_applied = t->refusal,
                              .check = check_of(k, t, p->plan->faulty),
                              .counters = hd_arena_copy(&p->arena, t->counted.counters, sizeof t->counted.counters),
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
                              .allocated = allocation_of(&p->arena, &t->counted.allocation),
                              .storage_bits = t->counted.storage_bits,
                              .timing = timing_of(p, m, tallies),
                              .timeline = timeline_of(p, t),
                              .detection = detection_of(p, m, t)};
}

void replay_fill_results(replay_part *p)
{
    uint32_t kept = 0, models = p->plan->model_count;
    for (uint32_t i = 0; i < p->out.rows.count; i++) {
        hd_replay_kernel *k = &p->out.rows.items[kept];
        if (!p->out.rows.items[i].runs) /* of a launch that never ran nothing was verified */
            continue;
        *k = p->out.rows.items[i];
        k->results = HD_ARENA_ARRAY(&p->arena, hd_replay_result, models);
        k->result_count = models;
        for (uint32_t m = 0; m < models; m++)
            k->results[m] = result_of(p, k, m);
        if (models)
            k->profile = replay_profile_of(p, k->launch, &p->runs->out.tallies[k->launch * models]);
        kept++;
    }
    p->out.rows.count = kept;
}
