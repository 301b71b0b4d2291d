/* A run with models. Models may lag behind the run, across the ends of launches: their counters of a launch arrive
 * later, in the order of the launches (hwmodel/count/count.h), and only then does the launch count as complete. */
#include "driver/replay/replay_work.h"
#include "hwmodel/count/report.h"
#include "target/occupancy.h"

#include <math.h>

/* Virtual registers may exceed what a thread can have: as many blocks are resident as fit in the register file. */
static uint32_t most_virtual(const replay_run *run, const hd_replay_kernel *k, uint32_t warps)
{
    uint64_t registers = (uint64_t)warps * replay_kernel_registers(run->file, k->name);
    uint64_t most = k->registers == HD_REPLAY_VIRTUAL && registers
                        ? run->part->plan->gpu->limits.registers_per_sm / 32 / registers
                        : UINT32_MAX;
    return (uint32_t)most;
}

/* With at least one technique that applies to the file. */
static bool is_timed(const replay_run *run) { return run->file->timer && hd_timer_techniques(run->file->timer); }

static uint32_t kernel_index(const replay_file *f, const char *name)
{
    const hd_function *kernel = hd_module_find_function(f->module, name);
    uint32_t index = 0;
    while (f->module->functions.items[index] != kernel)
        index++;
    return index;
}

static bool has_run(const replay_run *run, uint32_t launch)
{
    for (uint32_t i = 0; i < run->ran.count; i++)
        if (run->ran.items[i].launch == launch)
            return true;
    return false;
}

/* Of a trace, all of it is dynamic. */
static uint64_t static_shared_bytes(const replay_run *run, uint32_t launch)
{
    return run->file->traced ? 0 : hd_program_describe(run->session->programs[launch]).static_shared_bytes;
}

/* As many CTAs are resident as fit on an SM of the GPU, with the allocated registers. */
static void one_starts(void *context, uint32_t launch, const hd_grid *grid)
{
    const replay_run *run = context;
    if (run == run->part->runs)
        hd_meter_next_item(run->part->meter);
    const hd_replay_kernel *k = &run->part->rows.items[launch];
    hd_occupancy_use use = {.threads = hd_grid_threads_per_cta(grid),
                            .registers = k->general,
                            .shared_bytes = static_shared_bytes(run, launch) + grid->dynamic_shared_bytes};
    const hd_gpu_limits *limits = &run->part->plan->gpu->limits;
    hd_occupancy fits = hd_occupancy_of(limits, &use);
    uint32_t ctas = most_virtual(run, k, (use.threads + 31) / 32);
    ctas = fits.ctas < ctas ? fits.ctas : ctas;
    uint32_t registers = use.registers, active = run->part->plan->options->active_warps,
             latency = run->part->plan->options->latency;
    use.registers = 0;
    hd_rf_residency residency = {.ctas = ctas ? ctas : 1,
                                 .active = active ? active : HD_COUNT_ACTIVE_WARPS,
                                 .latency = latency == UINT32_MAX ? 0
                                            : latency             ? latency
                                                                  : HD_COUNT_LATENCY,
                                 .bytes = HD_COUNT_STREAM_BYTES,
                                 .most_ctas = hd_occupancy_of(limits, &use).ctas,
                                 .cta_warps = (use.threads + 31) / 32,
                                 .sm_warps = limits->warps_per_sm,
                                 .file_registers = limits->registers_per_sm / 32,
                                 .registers = registers,
                                 .thread_registers = limits->registers_per_thread,
                                 .limits = limits,
                                 .use = use};
    hd_count_residency(run->file->count, &residency);
    if (is_timed(run))
        hd_timer_begin(run->file->timer, &residency, kernel_index(run->file, k->name), !has_run(run, launch));
}

static void one_ran(void *context, uint32_t launch, hd_exec_status status, const hd_exec_statistics *statistics)
{
    replay_run *run = context;
    replay_ran ran = {launch, status, *statistics, run->lane.operations, run->lane.wrong};
    for (uint32_t i = 0; i < run->ran.count; i++) {
        ran.lane_operations -= run->ran.items[i].lane_operations;
        ran.lane_wrong -= run->ran.items[i].lane_wrong;
    }
    hd_array_push(&run->ran, ran);
    hd_count_end(run->file->count);
    if (is_timed(run))
        hd_timer_end(run->file->timer);
}

static replay_tally *tallies_of(const replay_run *run, uint32_t launch)
{
    return &run->tallies[launch * run->part->plan->model_count];
}

/* Adds the counters of one run. A run that stopped, for any reason, verifies nothing of the rest. */
static void add_tallies(const replay_run *run, bool whole, const hd_count_result *counted, replay_tally *tallies)
{
    for (uint32_t m = 0; m < run->part->plan->model_count; m++) {
        replay_tally *t = &tallies[m];
        if (run->file->model_index[m] == HD_NONE)
            continue;
        const hd_count_result *of = &counted[run->file->model_index[m]];
        hd_counters_join(t->counters, of->counters);
        hd_rf_energy energy = hd_rf_dynamic_energy(of->counters, of->sizes, run->part->plan->gpu);
        t->energy_known = t->energy_known && energy.known;
        t->energy_derived = t->energy_derived || energy.derived;
        t->energy_pj += energy.dynamic_pj;
        hd_rf_series_join(&t->allocation, &of->allocation);
        t->storage_bits = of->storage_bits > t->storage_bits ? of->storage_bits : t->storage_bits;
        hd_rf_detection_join(&t->detection, &of->detection);
        t->check = whole ? t->check : HD_CHECK_INCOMPLETE;
        t->ran = true;
    }
}

static void one_is_over(void *context, bool proved, const hd_count_result *counted)
{
    replay_run *run = context;
    const replay_ran *ran = &run->ran.items[run->told++];
    hd_replay_kernel *k = &run->part->rows.items[ran->launch];
    bool first = run == run->part->runs, whole = proved && ran->status == HD_EXEC_DONE;
    if (run->lost)
        return;
    run->lost = !whole;
    run->lost_launch = ran->launch;
    add_tallies(run, whole, counted, tallies_of(run, ran->launch));
    if (!first)
        return;
    k->runs++;
    k->warp_instructions += ran->statistics.warp_instructions;
    k->thread_instructions += ran->statistics.thread_instructions;
    k->divergent_branches += ran->statistics.divergent_branches;
    k->lane_operations += ran->lane_operations;
    k->lane_wrong += ran->lane_wrong;
}

/* The model with the wrong operand; the others were stopped with it. */
static void mark_failed(const replay_run *run)
{
    uint32_t failed = hd_count_failed(run->file->count);
    for (uint32_t m = 0; m < run->part->plan->model_count && run->lost; m++)
        if (failed != HD_NONE && run->file->model_index[m] == failed)
            tallies_of(run, run->lost_launch)[m].check = HD_CHECK_OPERANDS;
}

/* ---- cycles ------------------------------------------------------------------------------------------------------ */

static void open_timer(replay_run *run, hd_session_watch *watch, hd_sink *sinks)
{
    hd_timer *timer = run->file->timer;
    const hd_replay_options *options = run->part->plan->options;
    if (!is_timed(run))
        return;
    hd_timer_show(timer, &run->timing_meter);
    hd_timer_sample(timer, options->sample);
    hd_timer_record(timer, &(hd_timeline_range){options->timeline_sm, options->timeline_first, options->timeline_end});
    const hd_memory *spaces = run->file->traced ? replay_trace_spaces(run) : &run->session->memory;
    hd_timer_open(timer, spaces, run->part->threads, &run->part->budget);
    sinks[watch->sink_count++] = hd_timer_sink(timer);
}

/* No warp can go on. Where a technique's gate keeps one, that is a limit of the technique; else the model is wrong. */
static hd_status report_lock(replay_run *run, uint32_t m)
{
    const replay_file *f = run->file;
    const char *name = run->part->plan->models[m].info->name;
    hd_rf_wait waits[HD_RF_WAITS];
    uint32_t count = hd_timer_waits(f->timer, f->model_index[m], waits, HD_RF_WAITS);
    bool gated = !count;
    for (uint32_t i = 0; i < count && i < HD_RF_WAITS; i++)
        gated = gated || waits[i].gated;
    hd_diagnostic *d = hd_report(run->diagnostics, HD_DIAG_UNSUPPORTED, f->module->source, (hd_span){0, 0},
                                 !count  ? "%s has no cycles: it keeps the next thread block waiting for ever"
                                 : gated ? "%s has no cycles: it keeps %u resident warps waiting for ever"
                                         : "internal error: with %s, %u resident warps can never go on",
                                 name, count);
    hd_rf_report_waits(f->code, waits, count, d, run->diagnostics);
    return gated ? HD_STATUS_UNDECIDED : HD_STATUS_INTERNAL;
}

/* A timing that did not get to its end: says why, the first time. */
static void report_timing(replay_run *run, uint32_t m, hd_timing_status status, replay_tally *t)
{
    const replay_file *f = run->file;
    const char *name = run->part->plan->models[m].info->name;
    hd_status failed = HD_STATUS_UNDECIDED;
    t->check = HD_CHECK_INCOMPLETE;
    if (status == HD_TIMING_WRONG &&
        hd_rf_report_failure(f->code, hd_timer_failure(f->timer, f->model_index[m]), name, run->diagnostics)) {
        t->check = HD_CHECK_OPERANDS;
        failed = HD_STATUS_WRONG;
    } else if (status == HD_TIMING_LOCKED)
        failed = report_lock(run, m);
    if (run->timing_status == HD_STATUS_DONE)
        run->timing_status = failed;
}

/* Of one launch, in its i-th run. */
static void add_time(replay_run *run, uint32_t i, uint32_t m)
{
    const replay_file *f = run->file;
    replay_tally *t = &tallies_of(run, run->ran.items[i].launch)[m];
    const hd_timer_result *result = hd_timer_result_of(f->timer, i, f->model_index[m]);
    const hd_timer_result *before = i ? hd_timer_result_of(f->timer, i - 1, f->model_index[m]) : NULL;
    if (result->timeline && !t->timeline) {
        t->timeline = result->timeline;
        t->timed_file = f;
    }
    t->timed = (t->timed || !t->time.cycles) && result->status == HD_TIMING_DONE;
    hd_timing_counts_add(&t->time, &result->counts);
    hd_rf_detection_join(&t->timed_detection, &result->detection);
    hd_rf_energy energy = hd_rf_dynamic_energy(result->counters, result->sizes, run->part->plan->gpu);
    t->timed_pj += energy.known ? energy.dynamic_pj : (double)NAN;
    t->gated_on += result->counters[HD_COUNTER_BUFFER_POWERED];
    if (result->status != HD_TIMING_DONE && (!before || before->status == HD_TIMING_DONE))
        report_timing(run, m, result->status, t);
}

static void add_times(replay_run *run)
{
    hd_timer *timer = run->file->timer;
    if (!is_timed(run))
        return;
    hd_timer_finish(timer);
    uint32_t launches = hd_timer_launches(timer);
    for (uint32_t i = 0; i < launches && i < run->ran.count; i++)
        for (uint32_t m = 0; m < run->part->plan->model_count; m++)
            if (run->file->model_index[m] != HD_NONE)
                add_time(run, i, m);
}

void replay_run_watched(replay_run *run)
{
    hd_count *count = run->file->count;
    hd_sink sinks[2] = {hd_count_sink(count)};
    hd_session_watch watch = {sinks, run->part->plan->model_count ? 1 : 0, one_ran, run, one_starts};
    hd_exec_statistics statistics = {0};
    hd_count_launches(count, one_is_over, run);
    open_timer(run, &watch, sinks);
    hd_exec_status status = run->file->traced ? replay_play_trace(run, &watch, &statistics)
                                              : hd_session_run(run->session, &watch, &statistics);
    if (!hd_count_flush(count) && status == HD_EXEC_DONE)
        status = HD_EXEC_STOPPED;
    add_times(run);
    mark_failed(run);
    replay_run_ended(run, status, &statistics);
    if (status == HD_EXEC_STOPPED && hd_count_failed(count) != HD_NONE)
        run->status = HD_STATUS_WRONG;
    if (run->status == HD_STATUS_DONE)
        run->status = run->timing_status;
}
