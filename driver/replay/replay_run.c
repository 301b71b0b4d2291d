/* The third phase of a part: its runs in parallel, with the results of serial execution.
 *
 * Each run has its own session and memory, module (texts are shared and read-only), count and models, arena and
 * diagnostics. Runs share the input, the plan and rows written before they start. The results of a run are added to
 * the part when it is joined (replay_results.c), in the order of the list, as soon as it and all earlier runs have
 * ended. Joining decides whether later runs are wanted: only if the earlier ones succeeded. An unwanted run is stopped,
 * or not started, and never joined. So neither diagnostics nor rows nor the status depend on the threads; output is
 * printed by the first run only.
 *
 * Each idle worker takes the next run. Threads without a run go to the thread budget: models use them until their run
 * ends (hwmodel/count/count.h), and so do the original's CTAs, launch by launch. With one thread each run is joined
 * before the next one starts, so that at most two sessions are in memory.
 *
 * Models may lag behind their run, across the ends of launches: their counters of a launch arrive later, in the order
 * of the launches, and only then does the launch count as complete.
 */
#include "driver/replay/replay_work.h"
#include "hwmodel/count/report.h"
#include "target/occupancy.h"

#include <math.h>

typedef struct executed { /* one execution of a launch */
    uint32_t launch;
    hd_exec_status status;
    hd_exec_statistics statistics;
    uint64_t lane_operations, lane_wrong; /* of a faulty lane */
} executed;

/* A run with models, while it executes. */
typedef struct watch {
    replay_run *run;
    hd_faulty_lane lane;
    HD_ARRAY(executed) executed; /* launches, each time one has run */
    uint32_t counted;            /* number of them whose counters have arrived */
    bool lost;                   /* one of these failed: later ones do not count */
    uint32_t lost_launch;        /* the launch that failed */
    hd_status timing_status;
} watch;

static replay_tally *tallies_of(const replay_run *run, uint32_t launch)
{
    return &run->out.tallies[launch * run->part->plan->model_count];
}

/* ---- callbacks of the session and of the count ------------------------------------------------------------------- */

/* With at least one technique that applies to the input. */
static bool is_timed(const replay_run *run) { return run->code.timer && hd_timer_techniques(run->code.timer); }

/* As many CTAs are resident as fit on an SM of the GPU, with the allocated registers. Virtual registers may exceed what
 * a thread can have: then as many are resident as fit in the register file. */
static hd_rf_residency residency_of(const replay_run *run, uint32_t launch, const hd_grid *grid)
{
    const replay_part *p = run->part;
    const hd_gpu_limits *limits = &p->plan->gpu->limits;
    const hd_replay_options *options = p->plan->options;
    const hd_replay_kernel *k = &p->out.rows.items[launch];
    /* of a trace, all shared memory is dynamic */
    uint64_t shared = p->in.traced ? 0 : hd_program_describe(run->session->programs[launch]).static_shared_bytes;
    hd_occupancy_use use = {.threads = hd_grid_threads_per_cta(grid),
                            .registers = k->general,
                            .shared_bytes = shared + grid->dynamic_shared_bytes};
    uint32_t warps = (use.threads + 31) / 32, ctas = hd_occupancy_of(limits, &use).ctas;
    uint64_t in_file = (uint64_t)warps * replay_kernel_registers(run, k->name);
    if (k->registers == HD_REPLAY_VIRTUAL && in_file && limits->registers_per_sm / 32 / in_file < ctas)
        ctas = (uint32_t)(limits->registers_per_sm / 32 / in_file);
    use.registers = 0;
    return (hd_rf_residency){.ctas = ctas ? ctas : 1,
                             .active = options->active_warps ? options->active_warps : HD_COUNT_ACTIVE_WARPS,
                             .latency = options->latency == UINT32_MAX ? 0
                                        : options->latency             ? options->latency
                                                                       : HD_COUNT_LATENCY,
                             .bytes = HD_COUNT_RECORD_BYTES,
                             .most_ctas = hd_occupancy_of(limits, &use).ctas,
                             .cta_warps = warps,
                             .sm_warps = limits->warps_per_sm,
                             .file_registers = limits->registers_per_sm / 32,
                             .registers = k->general,
                             .thread_registers = limits->registers_per_thread,
                             .limits = limits,
                             .use = use};
}

/* Where no cycles are simulated, whose SMs would say it. */
static void show_launch(const replay_run *run, uint32_t launch, bool begins)
{
    for (uint32_t m = 0; m < run->part->plan->model_count && !is_timed(run); m++)
        if (run->code.views[m].events)
            replay_events_launch(run->code.views[m].events, launch, begins);
}

static void launch_starts(void *context, uint32_t launch, const hd_grid *grid)
{
    const watch *w = context;
    const replay_run *run = w->run;
    const hd_module *module = run->code.module;
    if (run->kind == REPLAY_FIRST)
        hd_meter_next_item(run->part->meter);
    const hd_rf_residency residency = residency_of(run, launch, grid);
    hd_count_residency(run->code.count, &residency);
    show_launch(run, launch, true);
    if (!is_timed(run))
        return;
    const hd_function *kernel = hd_module_find_function(module, run->part->out.rows.items[launch].name);
    uint32_t function = 0;
    while (module->functions.items[function] != kernel)
        function++;
    hd_timer_begin(run->code.timer, &residency, function, launch);
}

static void launch_ran(void *context, uint32_t launch, hd_exec_status status, const hd_exec_statistics *statistics)
{
    watch *w = context;
    executed e = {launch, status, *statistics, w->lane.operations, w->lane.wrong};
    for (uint32_t i = 0; i < w->executed.count; i++) {
        e.lane_operations -= w->executed.items[i].lane_operations;
        e.lane_wrong -= w->executed.items[i].lane_wrong;
    }
    hd_array_push(&w->executed, e);
    hd_count_end(w->run->code.count);
    show_launch(w->run, launch, false);
    if (is_timed(w->run))
        hd_timer_end(w->run->code.timer);
}

/* Adds the counters of one execution. One that stopped, for any reason, verifies nothing of the rest. */
static void add_tallies(const replay_run *run, bool whole, const hd_count_result *counted, replay_tally *tallies)
{
    for (uint32_t m = 0; m < run->part->plan->model_count; m++) {
        replay_tally *t = &tallies[m];
        if (run->code.model_index[m] == HD_NONE)
            continue;
        const hd_count_result *of = &counted[run->code.model_index[m]];
        hd_counters_join(t->counted.counters, of->counters);
        hd_rf_energy energy = hd_rf_dynamic_energy(of->counters, of->sizes, run->part->plan->gpu);
        t->energy_known = t->energy_known && energy.known;
        t->energy_derived = t->energy_derived || energy.derived;
        t->energy_pj += energy.dynamic_pj;
        hd_rf_series_join(&t->counted.allocation, &of->allocation);
        if (of->storage_bits > t->counted.storage_bits)
            t->counted.storage_bits = of->storage_bits;
        hd_rf_detection_join(&t->counted.detection, &of->detection);
        t->check = whole ? t->check : HD_CHECK_INCOMPLETE;
        t->ran = true;
    }
}

static void launch_is_counted(void *context, bool proved, const hd_count_result *counted)
{
    watch *w = context;
    const executed *e = &w->executed.items[w->counted++];
    bool whole = proved && e->status == HD_EXEC_DONE;
    if (w->lost)
        return;
    w->lost = !whole;
    w->lost_launch = e->launch;
    add_tallies(w->run, whole, counted, tallies_of(w->run, e->launch));
    if (w->run->kind != REPLAY_FIRST)
        return;
    hd_replay_kernel *k = &w->run->part->out.rows.items[e->launch];
    k->runs++;
    k->warp_instructions += e->statistics.warp_instructions;
    k->thread_instructions += e->statistics.thread_instructions;
    k->divergent_branches += e->statistics.divergent_branches;
    k->lane_operations += e->lane_operations;
    k->lane_wrong += e->lane_wrong;
}

/* ---- cycles ------------------------------------------------------------------------------------------------------ */

static void open_timer(replay_run *run)
{
    const hd_replay_options *options = run->part->plan->options;
    /* where the windows of a trace's address space are */
    static const hd_memory traced = {.const_window = HD_TRACED_SHARED,
                                     .param_window = HD_TRACED_SHARED,
                                     .shared_window = HD_TRACED_SHARED,
                                     .local_window = HD_TRACED_LOCAL,
                                     .code_window = HD_TRACED_LIMIT,
                                     .limit = HD_TRACED_LIMIT};
    hd_timer_show(run->code.timer, &run->timing_meter);
    hd_timer_sample(run->code.timer, options->sample);
    hd_timer_cancel(run->code.timer, options->cancel);
    hd_timer_open(run->code.timer, run->part->in.traced ? &traced : &run->session->memory, run->part->threads,
                  &run->part->budget);
}

/* No warp can go on. Where a technique's gate keeps one, that is a limit of the technique; else the model is wrong. */
static hd_status report_lock(replay_run *run, uint32_t m)
{
    hd_rf_wait waits[HD_RF_WAITS];
    uint32_t count = hd_timer_waits(run->code.timer, run->code.model_index[m], waits, HD_RF_WAITS);
    bool gated = !count;
    for (uint32_t i = 0; i < count && i < HD_RF_WAITS; i++)
        gated = gated || waits[i].gated;
    hd_diagnostic *d = hd_report(run->report, HD_DIAG_UNSUPPORTED, run->code.module->source, (hd_span){0, 0},
                                 !count  ? "%s has no cycles: it keeps the next thread block waiting for ever"
                                 : gated ? "%s has no cycles: it keeps %u resident warps waiting for ever"
                                         : "internal error: with %s, %u resident warps can never go on",
                                 run->part->plan->models[m].info->name, count);
    hd_rf_report_waits(run->code.rf, waits, count, d, run->report);
    return gated ? HD_STATUS_UNDECIDED : HD_STATUS_INTERNAL;
}

/* Says why a timing did not get to its end. */
static hd_status report_timing(replay_run *run, uint32_t m, hd_timing_status status, replay_tally *t)
{
    t->check = HD_CHECK_INCOMPLETE;
    if (status == HD_TIMING_WRONG &&
        hd_rf_report_failure(run->code.rf, hd_timer_failure(run->code.timer, run->code.model_index[m]),
                             run->part->plan->models[m].info->name, run->report)) {
        t->check = HD_CHECK_OPERANDS;
        return HD_STATUS_WRONG;
    }
    return status == HD_TIMING_LOCKED ? report_lock(run, m) : HD_STATUS_UNDECIDED;
}

/* Adds the cycles of the i-th execution of a launch. */
static void add_time(watch *w, uint32_t i, uint32_t m)
{
    replay_run *run = w->run;
    uint32_t launch = w->executed.items[i].launch;
    replay_tally *t = &tallies_of(run, launch)[m];
    const hd_timer_result *result = hd_timer_result_of(run->code.timer, i, run->code.model_index[m]);
    const hd_timer_result *before = i ? hd_timer_result_of(run->code.timer, i - 1, run->code.model_index[m]) : NULL;
    t->timed_module = run->code.module;
    if (run->code.views[m].timeline)
        t->timeline = hd_timeline_of(run->code.views[m].timeline, launch);
    t->profile = run->code.views[m].profile;
    t->timed = (t->timed || !t->time.cycles) && result->status == HD_TIMING_DONE;
    if (!t->time.sm.early_reads && result->counts.sm.early_reads)
        t->early = result->early;
    hd_timing_counts_add(&t->time, &result->counts);
    hd_rf_detection_join(&t->timed_detection, &result->detection);
    hd_rf_energy energy = hd_rf_dynamic_energy(result->counters, result->sizes, run->part->plan->gpu);
    t->timed_pj += energy.known ? energy.dynamic_pj : (double)NAN;
    t->gated_on += result->counters[HD_COUNTER_BUFFER_POWERED];
    if (result->status != HD_TIMING_DONE && (!before || before->status == HD_TIMING_DONE)) {
        hd_status failed = report_timing(run, m, result->status, t);
        w->timing_status = w->timing_status == HD_STATUS_DONE ? failed : w->timing_status;
    }
}

/* ---- one run ----------------------------------------------------------------------------------------------------- */

static bool open_session(replay_run *run)
{
    replay_part *p = run->part;
    const replay_input *in = &p->in;
    const hd_replay_options *options = p->plan->options;
    bool unsupported = false;
    run->session = hd_session_open(in->launch, run->code.module, run->report, &unsupported);
    run->out.status = run->session ? HD_STATUS_DONE : unsupported ? HD_STATUS_UNDECIDED : HD_STATUS_REJECTED;
    if (!run->session)
        return false;
    hd_exec_options *to = &run->session->options;
    if (options->instruction_limit)
        to->instruction_limit = options->instruction_limit;
    to->threads = p->threads;
    to->budget = &p->budget;
    to->stop = &run->stop;
    to->cancel = options->cancel;
    to->meter = &run->meter;
    /* the original looks for uninitialized values, where the code was allocated from it */
    bool from_original = in->allocates && in->original;
    if (run->kind == (from_original ? REPLAY_ORIGINAL : REPLAY_FIRST))
        to->check_uninitialized = options->check_uninitialized;
    if (run->kind == REPLAY_FIRST) {
        to->check_races = options->check_races;
        to->print = options->print ? replay_print : NULL;
        to->print_context = p;
    }
    return true;
}

/* As hd_session_run, of a trace. */
static hd_exec_status play_trace(replay_run *run, const hd_session_watch *session_watch, hd_exec_statistics *statistics)
{
    const hd_traced *t = run->part->in.traced;
    hd_grid grid = {.dynamic_shared_bytes = t->shared_bytes};
    hd_traced_statistics played = {0};
    memcpy(grid.grid, t->grid, sizeof grid.grid);
    memcpy(grid.block, t->block, sizeof grid.block);
    session_watch->starts(session_watch->context, 0, &grid);
    bool good = hd_traced_play(t, session_watch->sinks, session_watch->sink_count, &played,
                               run->part->plan->block_order, &run->meter, run->part->plan->options->cancel);
    statistics->warp_instructions += played.warp_instructions;
    statistics->thread_instructions += played.thread_instructions;
    hd_exec_status status = good ? HD_EXEC_DONE : HD_EXEC_STOPPED;
    session_watch->ran(session_watch->context, 0, status, statistics);
    return status;
}

/* Executes all steps with the models. */
static hd_exec_status execute_watched(watch *w, hd_exec_statistics *statistics)
{
    replay_run *run = w->run;
    replay_part *p = run->part;
    hd_sink sinks[2] = {hd_count_sink(run->code.count)}; /* then the timer's, or that of who listens without cycles */
    hd_session_watch watched = {sinks, p->plan->model_count ? 1 : 0, launch_ran, w, launch_starts};
    hd_count_launches(run->code.count, launch_is_counted, w);
    if (is_timed(run)) {
        open_timer(run);
        sinks[watched.sink_count++] = hd_timer_sink(run->code.timer);
    }
    for (uint32_t m = 0; m < p->plan->model_count && !is_timed(run); m++)
        if (run->code.views[m].events && replay_events_sink(run->code.views[m].events, &sinks[watched.sink_count]))
            watched.sink_count++;
    hd_exec_status status =
        p->in.traced ? play_trace(run, &watched, statistics) : hd_session_run(run->session, &watched, statistics);
    if (!hd_count_flush(run->code.count) && status == HD_EXEC_DONE)
        status = HD_EXEC_STOPPED;
    if (!is_timed(run))
        return status;
    hd_timer_finish(run->code.timer);
    uint32_t launches = hd_timer_launches(run->code.timer);
    for (uint32_t i = 0; i < launches && i < w->executed.count; i++)
        for (uint32_t m = 0; m < p->plan->model_count; m++)
            if (run->code.model_index[m] != HD_NONE)
                add_time(w, i, m);
    return status;
}

static hd_status status_of(hd_exec_status status)
{
    switch (status) {
    case HD_EXEC_DONE: return HD_STATUS_DONE;
    case HD_EXEC_FAULT: return HD_STATUS_FAULT;
    case HD_EXEC_STOPPED:
    case HD_EXEC_LIMIT:
    case HD_EXEC_UNSUPPORTED: return HD_STATUS_UNDECIDED;
    }
    return HD_STATUS_INTERNAL;
}

/* Compares the outputs with the expected ones, and saves what the launch file names. With a faulty lane, or a clock,
 * other outputs are to be expected: then no difference is reported here. */
static void check_outputs(replay_run *run)
{
    replay_part *p = run->part;
    const hd_launch_file *launch = p->in.launch;
    bool expects = false, faulty = p->plan->faulty;
    for (uint32_t i = 0; i < launch->buffers.count; i++)
        expects = expects || launch->buffers.items[i].expect.given;
    if (expects) {
        hd_diagnostics quiet, *loud = run->session->diagnostics;
        hd_diagnostics_init(&quiet);
        run->session->diagnostics = faulty || p->clocked ? &quiet : loud;
        bool right = hd_session_check(run->session);
        run->session->diagnostics = loud;
        hd_diagnostics_free(&quiet);
        hd_replay_outputs outputs = right    ? HD_OUTPUTS_RIGHT
                                    : faulty ? HD_OUTPUTS_WRONG
                                             : replay_differing(run, "what the launch file expects");
        for (uint32_t k = 0; k < p->out.rows.count; k++)
            p->out.rows.items[k].outputs = outputs;
        if (outputs == HD_OUTPUTS_WRONG && !faulty)
            run->out.status = hd_status_worse(run->out.status, HD_STATUS_WRONG);
    }
    if (p->plan->options->saves && !hd_session_save(run->session, &p->out.saves))
        run->out.status = hd_status_worse(run->out.status, HD_STATUS_REJECTED);
}

/* Executes all steps, with models if the run has some; sets its outcome. */
static void execute(replay_run *run)
{
    replay_part *p = run->part;
    if (!p->in.traced && !open_session(run))
        return;
    watch w = {.run = run, .lane = p->plan->lane};
    hd_exec_statistics statistics = {0};
    if (run->session && p->plan->faulty && run->kind == REPLAY_FIRST)
        run->session->options.lane_fault = &w.lane;
    hd_exec_status status =
        run->code.count ? execute_watched(&w, &statistics) : hd_session_run(run->session, NULL, &statistics);
    uint32_t failed = run->code.count ? hd_count_failed(run->code.count) : HD_NONE;
    /* the model with the wrong operand; the others were stopped with it */
    for (uint32_t m = 0; m < p->plan->model_count && w.lost && failed != HD_NONE; m++)
        if (run->code.model_index[m] == failed)
            tallies_of(run, w.lost_launch)[m].check = HD_CHECK_OPERANDS;
    run->out.races = statistics.races;
    run->out.ended = status == HD_EXEC_DONE;
    run->out.status = status == HD_EXEC_STOPPED && failed != HD_NONE ? HD_STATUS_WRONG
                      : run->session && run->session->rejected       ? HD_STATUS_REJECTED
                                                                     : status_of(status);
    if (run->out.status == HD_STATUS_DONE)
        run->out.status = w.timing_status;
    hd_array_free(&w.executed);
    if (run->kind == REPLAY_FIRST && run->out.ended && run->session)
        check_outputs(run);
}

/* ---- all runs ---------------------------------------------------------------------------------------------------- */

typedef struct runs {
    replay_part *part;
    pthread_mutex_t lock;
    uint32_t workers, over, joined;
} runs;

static void close_session(replay_run *run)
{
    hd_session_close(run->session);
    run->session = NULL;
}

static void run_one(void *context, uint32_t index, uint32_t worker)
{
    runs *r = context;
    replay_part *p = r->part;
    replay_run *run = &p->runs[index];
    (void)worker;
    if (!atomic_load(&run->stop) && !replay_is_cancelled(p->plan))
        execute(run);
    pthread_mutex_lock(&r->lock);
    run->over = true;
    hd_meter_close(&run->meter);
    hd_meter_close(&run->timing_meter);
    /* A thread that ends a run also joins later runs that waited for it. */
    for (; r->joined < p->run_count && p->runs[r->joined].over; r->joined++) {
        replay_run *next = &p->runs[r->joined];
        if (!atomic_load(&next->stop) && !replay_is_cancelled(p->plan)) {
            replay_join(next);
            hd_diagnostics_join(&p->diagnostics, &next->own);
        }
        if (r->joined) /* the first session is kept: others are compared with it */
            close_session(next);
    }
    if (p->run_count - ++r->over < r->workers) /* this thread gets no further run */
        hd_thread_budget_return(&p->budget, 1);
    pthread_mutex_unlock(&r->lock);
}

hd_status replay_run_all(replay_part *p)
{
    runs r = {.part = p, .workers = hd_min(p->threads, p->run_count)};
    if (p->meter)
        atomic_store(&p->meter->items, (uint32_t)hd_launch_amount_of(p->in.launch).runs);
    hd_thread_budget_return(&p->budget, p->threads - r.workers);
    pthread_mutex_init(&r.lock, NULL);
    hd_parallel(r.workers, p->run_count, run_one, &r);
    pthread_mutex_destroy(&r.lock);
    close_session(p->runs);
    return p->out.status;
}
