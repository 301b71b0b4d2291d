/* Runs a grid: CTAs one after another, all of them in turns, or several at a time on host threads. The order is
 * documented in exec.h. */
#include "base/pool.h"
#include "hwmodel/exec/checks/checks.h"
#include "hwmodel/exec/control/cta.h"
#include "hwmodel/exec/control/events.h"
#include "hwmodel/exec/control/livelock.h"
#include "hwmodel/exec/state/fault.h"

/* ---- a grid ------------------------------------------------------------------------------------------------------ */

static bool report_launch(hd_cta *cta, hd_event_kind kind)
{
    hd_event e = {.kind = (uint8_t)kind, .function = cta->program->codes.items[0]->index};
    for (uint32_t i = 0; i < cta->sink_count; i++)
        if (!cta->sinks[i].take(cta->sinks[i].context, &e)) {
            cta->status = HD_EXEC_STOPPED;
            return false;
        }
    return true;
}

static void run_alone(hd_grid_job *job)
{
    hd_cta *cta = hd_cta_new(job, job->statistics);
    uint64_t ctas = hd_grid_ctas(job->grid);
    uint64_t limit = job->options->instruction_limit, before = cta->issued_before;
    bool good = report_launch(cta, HD_EVENT_LAUNCH);
    for (uint64_t i = 0; i < ctas && good; i++) {
        cta->issued_before = cta->statistics->warp_instructions;
        good = hd_cta_start(cta, (uint32_t)i) && hd_cta_run(cta);
        hd_meter_step(job->options->meter, 1);
        if (good && limit && cta->statistics->warp_instructions - before > limit) {
            hd_stop_at_limit(cta, NULL);
            good = false;
        }
    }
    if (good)
        report_launch(cta, HD_EVENT_LAUNCH_END);
    else
        hd_emit_segment(cta);
    job->statistics->races += hd_checks_races(cta);
    job->status = cta->status;
    hd_cta_delete(cta);
}

/* ---- a cooperative grid ------------------------------------------------------------------------------------------ */

typedef struct cooperation {
    hd_cta **ctas;
    uint32_t count, live;
    bool *stuck; /* by CTA: it returned to a state that it had since the last write by any CTA */
    bool *spun;  /* in this round */
    bool failed;
    uint32_t at; /* index of the CTA that failed */
} cooperation;

/* One round of every CTA; true if any of them wrote. */
static bool run_all(cooperation *c)
{
    bool wrote = false;
    for (c->at = 0; c->at < c->count; c->at++) {
        hd_cta *cta = c->ctas[c->at];
        uint64_t writes = cta->writes;
        if (!cta->live_warps)
            continue;
        if (!hd_cta_round(cta, &c->spun[c->at])) {
            c->failed = true;
            return false;
        }
        c->live -= !cta->live_warps;
        wrote = wrote || cta->writes != writes;
    }
    return wrote;
}

/* A CTA in a loop may wait for another one, unless all of them loop. */
static void check_all(cooperation *c, bool wrote)
{
    uint32_t stuck = 0, last = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        hd_cta *cta = c->ctas[i];
        cta->writes += wrote;
        c->stuck[i] = !wrote && c->stuck[i];
        if (!cta->live_warps)
            continue;
        c->stuck[i] = hd_livelock_check(cta, c->spun[i]) || c->stuck[i];
        stuck += c->stuck[i];
        last = c->stuck[i] ? i : last;
    }
    if (!c->live || stuck < c->live)
        return;
    c->at = last;
    c->failed = true;
    hd_fault_livelock(c->ctas[last]);
}

static void run_together(hd_grid_job *job)
{
    uint32_t count = (uint32_t)hd_grid_ctas(job->grid);
    cooperation c = {.count = count, .live = count};
    c.ctas = hd_calloc(count, sizeof *c.ctas);
    c.stuck = hd_calloc(count, sizeof *c.stuck);
    c.spun = hd_calloc(count, sizeof *c.spun);
    for (uint32_t i = 0; i < count; i++)
        c.ctas[i] = hd_cta_new(job, job->statistics);
    c.failed = !report_launch(c.ctas[0], HD_EVENT_LAUNCH);
    for (uint32_t i = 0; i < count && !c.failed; i++) {
        c.at = i;
        c.failed = !hd_cta_start(c.ctas[i], i);
    }
    while (c.live && !c.failed) {
        bool wrote = run_all(&c);
        if (!c.failed)
            check_all(&c, wrote);
    }
    hd_meter_step(job->options->meter, count);
    job->status = c.failed ? c.ctas[c.at]->status : HD_EXEC_DONE;
    if (c.failed)
        hd_emit_segment(c.ctas[0]);
    if (!c.failed && !report_launch(c.ctas[0], HD_EVENT_LAUNCH_END))
        job->status = c.ctas[0]->status;
    for (uint32_t i = 0; i < count; i++) {
        job->statistics->races += hd_checks_races(c.ctas[i]);
        hd_cta_delete(c.ctas[i]);
    }
    free(c.ctas);
    free(c.stuck);
    free(c.spun);
}

/* Runs the CTAs of a share, with separate statistics each; false if the run must stop. */
static bool run_share(hd_cta *cta)
{
    hd_workers_share *share = &cta->share;
    for (; share->done < share->count; share->done++) {
        cta->has_turn = false;
        cta->compare_at = HD_WORKERS_EPOCH;
        *cta->statistics = (hd_exec_statistics){0};
        if (!hd_cta_start(cta, (uint32_t)(share->first + share->done)) || !hd_cta_run(cta))
            return false;
        share->statistics[share->done] = *cta->statistics;
        hd_meter_step(cta->options->meter, 1);
    }
    return true;
}

/* One of several threads. A CTA that fails has its turn: later CTAs get theirs only after it has reported. */
static void run_in_pool(void *context, uint32_t index, uint32_t worker)
{
    hd_grid_job *job = context;
    hd_exec_statistics statistics = {0};
    hd_cta *cta = hd_cta_new(job, &statistics);
    bool good = true;
    (void)worker;
    cta->footprint = &job->workers->overlaps.footprints[index];
    while (good && hd_workers_take(job->workers, &cta->share, cta->footprint)) {
        good = run_share(cta);
        if (hd_workers_report(job->workers, &cta->share, cta->footprint))
            continue;
        hd_cta_name(cta, (uint32_t)cta->share.over);
        cta->has_turn = true;
        statistics = (hd_exec_statistics){0}; /* of a later CTA */
        hd_stop_at_limit(cta, NULL);
        good = false;
    }
    hd_exec_status status = cta->has_turn ? cta->status : HD_EXEC_DONE;
    if (hd_asked_to_stop(job->options)) /* regardless of turns */
        status = HD_EXEC_STOPPED;
    if (status != HD_EXEC_DONE)
        hd_workers_stop(job->workers);
    else
        statistics = (hd_exec_statistics){0}; /* the pool has added them */
    hd_workers_leave(job->workers, cta->footprint);
    hd_cta_delete(cta);
    pthread_mutex_lock(&job->workers->lock);
    if (status != HD_EXEC_DONE)
        job->status = status;
    hd_exec_statistics_add(job->statistics, &statistics);
    pthread_mutex_unlock(&job->workers->lock);
}

static void note_textures(hd_workers *workers, const hd_image *image)
{
    for (uint32_t i = 0; image->textures && i < image->textures->count; i++)
        if (image->textures->items[i].bytes)
            hd_overlaps_texels(&workers->overlaps, image->memory, image->textures->items[i].bytes);
}

/* The result of a pool's run becomes the job's. */
static void accept(hd_grid_job *job, const hd_grid_job *run)
{
    const hd_workers *workers = run->workers;
    const hd_exec_options *options = job->options;
    hd_exec_statistics_add(job->statistics, run->statistics);
    hd_exec_statistics_add(job->statistics, &workers->total);
    hd_diagnostics_join(job->diagnostics, run->diagnostics);
    if (workers->printed.count)
        options->print(options->print_context, workers->printed.items, workers->printed.count);
    if (workers->asserted.count)
        options->print_assertion(options->print_context, workers->asserted.items, workers->asserted.count);
    job->status = run->status;
}

/* Unless DONE, the run has no effect. */
static hd_workers_result try_with_pool(hd_grid_job *job, uint32_t threads)
{
    hd_workers workers;
    hd_diagnostics said;
    hd_exec_statistics statistics = {0};
    hd_exec_options options = *job->options;
    hd_grid_job run = *job;
    const hd_program *p = job->program;
    hd_workers_init(&workers, hd_grid_ctas(job->grid), threads, options.instruction_limit, p->image->memory,
                    p->history->byte_precise);
    note_textures(&workers, p->image);
    hd_diagnostics_init_part(&said, job->diagnostics);
    if (options.print)
        options.print = hd_workers_print;
    if (options.print_assertion)
        options.print_assertion = hd_workers_print_assertion;
    options.print_context = &workers;
    run.options = &options;
    run.workers = &workers;
    run.diagnostics = &said;
    run.statistics = &statistics;
    hd_parallel(threads, threads, run_in_pool, &run);
    hd_workers_result result = hd_workers_finish(&workers);
    if (result == HD_WORKERS_DONE)
        accept(job, &run);
    hd_diagnostics_free(&said);
    hd_workers_free(&workers);
    return result;
}

/* The CTAs of the program's last launches conflicted: do not try every one of the next. */
static bool expects_conflict(hd_history *h)
{
    if (!h->skipped)
        return false;
    h->skipped--;
    return true;
}

/* The allocations are known only when the program runs, and there may be more of them each time. */
static void open_history(const hd_program *p)
{
    hd_history *h = p->history;
    uint32_t count = p->image->memory->allocations.count;
    if (h->byte_precise && h->allocations >= count)
        return;
    bool *byte_precise = hd_calloc((size_t)count + 1, sizeof *byte_precise);
    if (h->byte_precise)
        memcpy(byte_precise, h->byte_precise, h->allocations * sizeof *byte_precise);
    free(h->byte_precise);
    h->byte_precise = byte_precise;
    h->allocations = count;
}

/* Whether threads meet in it depends on timing, so it is only reported on request. */
static void report_conflict(const hd_grid_job *job)
{
    const hd_program *p = job->program;
    hd_report(job->diagnostics, HD_DIAG_REPEATED_LAUNCH, p->module->source, p->kernel->header_span,
              "kernel %s: thread blocks that run at the same time use the same bytes of global memory, and one of them "
              "writes; "
              "the launch runs again with one after another",
              hd_names_text(&p->module->names, p->kernel->name));
}

static void run_with_pool(hd_grid_job *job, uint32_t threads)
{
    hd_thread_budget *budget = job->options->budget;
    hd_history *history = job->program->history;
    hd_workers_result result = HD_WORKERS_IMPRECISE;
    if (job->program->surfaces || expects_conflict(history)) {
        run_alone(job);
        return;
    }
    open_history(job->program);
    uint32_t taken = budget ? hd_thread_budget_take(budget, threads - 1) : threads - 1;
    while (taken && result == HD_WORKERS_IMPRECISE)
        result = try_with_pool(job, 1 + taken);
    if (budget)
        hd_thread_budget_return(budget, taken);
    if (result == HD_WORKERS_CONFLICT) {
        if (!history->conflicts)
            report_conflict(job);
        history->skipped = 1u << hd_min(history->conflicts, 16);
        history->conflicts++;
        job->statistics->repeated++;
    }
    if (result != HD_WORKERS_DONE)
        run_alone(job);
}

static bool take_segments(const hd_sink *sinks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!sinks[i].take_segment || sinks[i].columns & ~(uint32_t)(HD_COLUMN_WIDTHS | HD_COLUMN_BARRIERS))
            return false;
    return count > 0;
}

hd_exec_status hd_program_run(const hd_program *program, const hd_grid *grid, const hd_exec_options *options,
                              const hd_sink *sinks, uint32_t sink_count, hd_exec_statistics *statistics,
                              hd_diagnostics *diagnostics)
{
    uint64_t ctas = hd_grid_ctas(grid);
    uint32_t threads = options->threads > ctas ? (uint32_t)ctas : options->threads;
    bool alone =
        threads < 2 || sink_count || options->check_uninitialized || options->check_races || options->lane_fault;
    hd_segment_event segment = {.open_warp = HD_NONE};
    hd_gathering gathering;
    gathering.count = 0;
    gathering.words = 0;
    bool segments = take_segments(sinks, sink_count);
    hd_grid_job job = {program,    grid,        options, sinks,      sink_count,  segments ? &segment : NULL,
                       &gathering, diagnostics, NULL,    statistics, HD_EXEC_DONE};
    if (grid->cooperative || alone) {
        (grid->cooperative ? run_together : run_alone)(&job);
        return job.status;
    }
    run_with_pool(&job, threads);
    return job.status;
}
