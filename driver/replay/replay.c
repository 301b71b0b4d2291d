/* Replays several launch files in parallel, with the results of serial execution.
 *
 * Each file is a part (replay_work.h) with its own arena, diagnostics, rows and printed text, run by one thread from
 * start to end; remaining threads work inside the parts, the same number in each (replay_runs.c). Parts share the plan,
 * which is not modified while they run, and constant tables; lower layers keep no state outside their arguments, and
 * the rounding mode is per thread. Only `done`, `joined` and joined results are written by several threads, under the
 * lock. Parts are started in the order of the command line and joined in it, as soon as all earlier ones have run; so
 * the report, the diagnostics with their limit, the status and printed output (replay_turns.c) do not depend on which
 * part ends first.
 *
 * At most as many parts as threads are open at a time. Of a part that has run, only rows are kept and, if diagnostics
 * were reported, the texts that these refer to.
 */
#include "driver/replay/replay_work.h"

/* Cycles need a machine, whose warps fit in the simulated SM. */
static bool has_machine(hd_replay *r)
{
    const hd_gpu *gpu = r->plan.gpu;
    if (gpu->valid && gpu->limits.warps_per_sm > HD_SM_WARPS)
        hd_report(r->diagnostics, HD_DIAG_BAD_VALUE, NULL, (hd_span){0, 0},
                  "an SM of %s has %u warps (limits.warps_per_sm); with cycles there are at most %u", gpu->name,
                  gpu->limits.warps_per_sm, HD_SM_WARPS);
    if (!gpu->valid || gpu->machine.known)
        return !gpu->valid || gpu->limits.warps_per_sm <= HD_SM_WARPS;
    hd_diagnostic *d =
        hd_report(r->diagnostics, HD_DIAG_BAD_VALUE, NULL, (hd_span){0, 0},
                  "the description of %s has no section 'timing', so that there are no cycles for it", gpu->name);
    hd_note_add(r->diagnostics, d, NULL, (hd_span){0, 0}, "%s have one", hd_gpu_names_with_timing(&r->arena));
    return false;
}

static bool has_shown_sm(const hd_replay *r)
{
    uint32_t sm = r->plan.options->timeline_sm;
    if (!r->plan.gpu->valid || !r->plan.options->timeline_end || sm < r->plan.sms)
        return true;
    hd_report(r->diagnostics, HD_DIAG_BAD_VALUE, NULL, (hd_span){0, 0},
              "there is no SM %u for the timeline: %u are simulated, from 0 to %u", sm, r->plan.sms, r->plan.sms - 1);
    return false;
}

/* The report lives longer than the options. */
static const char *const *copy_settings(hd_replay *r, const hd_replay_options *options)
{
    const char **copies = HD_ARENA_ARRAY(&r->arena, const char *, options->setting_count);
    for (uint32_t i = 0; i < options->setting_count; i++)
        copies[i] = hd_arena_string(&r->arena, options->settings[i], strlen(options->settings[i]));
    return copies;
}

static void fill_settings(hd_replay *r, const hd_replay_options *options)
{
    hd_replay_report *report = &r->report;
    report->settings = copy_settings(r, options);
    report->setting_count = options->setting_count;
    report->sample_waves = options->sample;
    report->sms = options->time ? r->plan.sms : 0;
    report->latency = options->latency == UINT32_MAX ? 0 : options->latency ? options->latency : HD_COUNT_LATENCY;
    report->active_warps = options->active_warps ? options->active_warps : HD_COUNT_ACTIVE_WARPS;
    report->max_registers = options->max_registers;
}

/* What precedes all models in a module without annotations. */
static void read_allocation(hd_replay *r)
{
    uint32_t most = r->plan.options->max_registers;
    hd_pipeline *any = hd_pipeline_parse("select,regalloc", r->diagnostics);
    hd_pipeline *any32 = hd_pipeline_parse("address32,select,regalloc", r->diagnostics);
    r->plan.allocation = most ? hd_pipeline_with(any, "regalloc", "max", most) : any;
    r->plan.allocation32 = most ? hd_pipeline_with(any32, "regalloc", "max", most) : any32;
    if (most) {
        hd_pipeline_free(any);
        hd_pipeline_free(any32);
    }
}

hd_replay *hd_replay_new(const hd_replay_options *options, hd_diagnostics *diagnostics)
{
    hd_replay *r = hd_calloc(1, sizeof *r);
    hd_gpu *gpu = hd_gpu_load(options->gpu ? options->gpu : HD_GPU_DEFAULT, diagnostics);
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->moved, NULL);
    hd_outputs_init(&r->saves);
    r->plan.options = options;
    r->plan.gpu = gpu;
    r->diagnostics = diagnostics;
    r->report.gpu = gpu->valid ? gpu->name : "";
    r->report.counters = replay_counters(&r->arena);
    r->report.counter_count = HD_COUNTER_COUNT;
    r->report.slots = options->time ? replay_slots(&r->arena) : NULL;
    r->report.slot_count = options->time ? HD_SM_SLOTS_ALL : 0;
    if (!gpu->valid)
        r->status = hd_status_of(diagnostics);
    else if (!hd_gpu_set(gpu, options->settings, options->setting_count))
        r->status = HD_STATUS_USAGE;
    read_allocation(r);
    r->plan.sms = options->sms ? options->sms : gpu->limits.sms;
    fill_settings(r, options);
    if (options->time && (!has_machine(r) || !has_shown_sm(r)))
        r->status = HD_STATUS_USAGE;
    if (!replay_choose_models(r, options->techniques ? options->techniques : "all"))
        r->status = HD_STATUS_USAGE;
    if (options->lane_fault && r->status == HD_STATUS_DONE && !replay_choose_fault(r))
        r->status = HD_STATUS_USAGE;
    return r;
}

void hd_replay_free(hd_replay *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->part_count; i++) {
        replay_drop_texts(&r->parts[i]);
        hd_outputs_free(&r->parts[i].saves);
        hd_array_free(&r->parts[i].listed);
        hd_arena_free(&r->parts[i].arena);
    }
    for (uint32_t i = 0; i < r->plan.pipelines.count; i++)
        hd_pipeline_free(r->plan.pipelines.items[i]);
    hd_array_free(&r->plan.pipelines);
    hd_pipeline_free(r->plan.allocation);
    hd_pipeline_free(r->plan.allocation32);
    hd_array_free(&r->kernels);
    hd_array_free(&r->listed);
    hd_outputs_free(&r->saves);
    hd_gpu_free(r->plan.gpu);
    pthread_cond_destroy(&r->moved);
    pthread_mutex_destroy(&r->lock);
    hd_arena_free(&r->arena);
    free(r);
}

const hd_replay_report *hd_replay_report_of(const hd_replay *r) { return &r->report; }

hd_status hd_replay_status(const hd_replay *r) { return r->status; }

/* ---- joining ----------------------------------------------------------------------------------------------------- */

static void join_part(hd_replay *r, replay_part *p)
{
    replay_print_kept(p);
    hd_diagnostics_join_input(r->diagnostics, &p->diagnostics);
    for (uint32_t k = 0; k < p->rows.count; k++)
        hd_array_push(&r->kernels, p->rows.items[k]);
    r->report.kernels = r->kernels.items;
    r->report.kernel_count = r->kernels.count;
    hd_array_free(&p->rows);
    r->status = hd_status_worse(r->status, p->status);
    replay_join_saves(r, p);
}

/* Caller holds the lock. A thread that ends a part also joins later parts that waited for it. */
static void join_all_done(hd_replay *r)
{
    while (r->joined < r->part_count && r->parts[r->joined].done) {
        join_part(r, &r->parts[r->joined]);
        r->joined++;
    }
    pthread_cond_broadcast(&r->moved);
}

static void run_one(void *context, uint32_t index, uint32_t worker)
{
    hd_replay *r = context;
    (void)worker;
    replay_run_part(&r->parts[index]);
    pthread_mutex_lock(&r->lock);
    r->parts[index].done = true;
    hd_meter_close(r->parts[index].meter);
    join_all_done(r);
    r->done++;
    if (r->plan.options->progress)
        r->plan.options->progress(r->plan.options->print_context, r->done);
    pthread_mutex_unlock(&r->lock);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static void open_parts(hd_replay *r, const char *const *paths, uint32_t count, uint32_t threads)
{
    r->parts = HD_ARENA_ARRAY(&r->arena, replay_part, count);
    r->part_count = count;
    for (uint32_t i = 0; i < count; i++) {
        replay_part *p = &r->parts[i];
        *p = (replay_part){.plan = &r->plan, .replay = r, .index = i, .threads = threads};
        p->meter = r->plan.options->meters ? &r->plan.options->meters[i] : NULL;
        p->path = hd_arena_string(&r->arena, paths[i], strlen(paths[i]));
        hd_diagnostics_init_part(&p->diagnostics, r->diagnostics);
        hd_outputs_init(&p->saves);
    }
}

hd_status hd_replay_files(hd_replay *r, const char *const *paths, uint32_t count)
{
    uint32_t threads = r->plan.options->threads ? r->plan.options->threads : hd_cpu_count();
    uint32_t side = threads < count ? threads : count; /* number of files in parallel */
    if (r->status != HD_STATUS_DONE || !count)
        return r->status;
    open_parts(r, paths, count, threads / side);
    hd_parallel(side, count, run_one, r);
    replay_hand_over_saves(r);
    return r->status;
}
