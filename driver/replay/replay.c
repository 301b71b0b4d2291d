/* Replays several launch files in parallel, with the results of serial execution.
 *
 * Each file is a part (replay_work.h) with its own arena, diagnostics, rows and printed text, taken by one thread
 * through its phases (replay_one); remaining threads work inside the parts, the same number in each. Parts share the
 * plan, which is not modified while they run, and constant tables; lower layers keep no state outside their arguments,
 * and the rounding mode is per thread. Only `done`, `joined` and joined results are written by several threads, under
 * the lock. Parts are started in the order of the command line and joined in it, as soon as all earlier ones have run;
 * so the report, the diagnostics with their limit, the status and printed output (replay_turns.c) do not depend on
 * which part ends first.
 *
 * At most as many parts as threads are open at a time. Of a part that has run, only rows are kept and, if diagnostics
 * were reported, the texts that these refer to.
 */
#include "driver/replay/replay_work.h"

#include "base/loaded.h"

struct hd_replay {
    hd_arena arena;
    hd_diagnostics *diagnostics;
    replay_plan plan;
    replay_part *parts;
    uint32_t part_count;
    replay_turns turns;
    uint32_t done; /* parts that have run; under the lock of the turns */
    /* The products of joined parts: */
    hd_replay_report report;
    HD_ARRAY(hd_replay_kernel) kernels; /* of the report */
    hd_status status;
    hd_file_list listed;
    hd_outputs saves;
    bool saves_clash, has_said;
};

/* ---- from the options to an empty report ------------------------------------------------------------------------- */

static const char *copied(hd_arena *arena, const char *text)
{
    return text ? hd_arena_string(arena, text, strlen(text)) : NULL;
}

/* The report lives longer than the options. */
static void open_report(hd_replay *r, const hd_replay_options *options)
{
    const char **settings = HD_ARENA_ARRAY(&r->arena, const char *, options->setting_count);
    for (uint32_t i = 0; i < options->setting_count; i++)
        settings[i] = hd_arena_string(&r->arena, options->settings[i], strlen(options->settings[i]));
    hd_replay_counter *counters = HD_ARENA_ARRAY(&r->arena, hd_replay_counter, hd_counter_count);
    for (uint32_t c = 0; c < hd_counter_count; c++)
        counters[c] = (hd_replay_counter){hd_counters[c].key, hd_counters[c].title};
    hd_replay_slot *slots = options->time ? HD_ARENA_ARRAY(&r->arena, hd_replay_slot, HD_SM_STATES) : NULL;
    for (uint32_t s = 0; s < HD_SM_STATES && slots; s++)
        slots[s] = (hd_replay_slot){hd_sm_slot_keys[s], hd_sm_slot_texts[s]};
    r->report =
        (hd_replay_report){.gpu = r->plan.gpu->valid ? r->plan.gpu->name : "",
                           .settings = settings,
                           .setting_count = options->setting_count,
                           .sample_waves = options->sample,
                           .sms = options->time ? r->plan.sms : 0,
                           .lane_fault = r->plan.faulty ? options->lane_fault : NULL,
                           .left_out = r->plan.left_out,
                           .seed = options->seed,
                           .block_order = copied(&r->arena, options->block_order),
                           .buffer_order = copied(&r->arena, options->buffer_order),
                           .plugins = copied(&r->arena, hd_loaded_plugins()),
                           .counters = counters,
                           .counter_count = hd_counter_count,
                           .slots = slots,
                           .slot_count = slots ? HD_SM_SLOTS_ALL : 0,
                           .states = slots,
                           .state_count = slots && options->profile ? HD_SM_STATES : 0,
                           .latency = options->latency == UINT32_MAX ? 0
                                      : options->latency             ? options->latency
                                                                     : HD_COUNT_LATENCY,
                           .active_warps = options->active_warps ? options->active_warps : HD_COUNT_ACTIVE_WARPS,
                           .max_registers = options->max_registers};
}

hd_replay *hd_replay_new(const hd_replay_options *options, hd_diagnostics *diagnostics)
{
    hd_replay *r = hd_calloc(1, sizeof *r);
    pthread_mutex_init(&r->turns.lock, NULL);
    pthread_cond_init(&r->turns.moved, NULL);
    hd_outputs_init(&r->saves);
    r->diagnostics = diagnostics;
    r->status = replay_plan_open(&r->plan, options, diagnostics);
    open_report(r, options);
    return r;
}

void hd_replay_free(hd_replay *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->part_count; i++) {
        replay_drop_texts(&r->parts[i]);
        hd_outputs_free(&r->parts[i].out.saves);
        hd_array_free(&r->parts[i].out.listed);
        hd_arena_free(&r->parts[i].arena);
    }
    hd_array_free(&r->kernels);
    hd_array_free(&r->listed);
    hd_outputs_free(&r->saves);
    replay_plan_close(&r->plan);
    pthread_cond_destroy(&r->turns.moved);
    pthread_mutex_destroy(&r->turns.lock);
    hd_arena_free(&r->arena);
    free(r);
}

const hd_replay_report *hd_replay_report_of(const hd_replay *r) { return &r->report; }

hd_status hd_replay_status(const hd_replay *r) { return r->status; }

bool hd_replay_prefers_machine_code(const hd_replay *r) { return r->plan.prefers_machine; }

/* ---- joining parts, in their order ------------------------------------------------------------------------------- */

/* All saved files appear at the end; none, where one of them is an input or another output of any launch file. */
static void join_saves(hd_replay *r, replay_part *p)
{
    hd_file_clash clash;
    char why[512];
    for (uint32_t i = 0; i < p->out.listed.count; i++)
        hd_array_push(&r->listed, p->out.listed.items[i]);
    hd_array_free(&p->out.listed);
    hd_outputs_move(&p->out.saves, &r->saves);
    if (!r->saves.finished.count || r->saves_clash || !hd_file_list_clash(&r->listed, &clash))
        return;
    r->saves_clash = true;
    r->status = hd_status_worse(r->status, HD_STATUS_REJECTED);
    hd_file_clash_text(&clash, why, sizeof why);
    hd_report(r->diagnostics, HD_DIAG_BAD_VALUE, NULL, (hd_span){0, 0}, "%s: %s; no buffer is saved", p->path, why);
}

static const char *same_text(const char *all, const char *own)
{
    return all && own && strcmp(all, own) == 0 ? all : NULL;
}

/* The report names the seed and the orders that all launch files share. */
static void join_said(hd_replay *r, const replay_said *said)
{
    bool first = !r->has_said;
    if (!said->known)
        return;
    r->report.seed = first || r->report.seed == said->seed ? said->seed : 0;
    r->report.block_order = first ? said->block_order : same_text(r->report.block_order, said->block_order);
    r->report.buffer_order = first ? said->buffer_order : same_text(r->report.buffer_order, said->buffer_order);
    r->has_said = true;
}

static void join_part(hd_replay *r, replay_part *p)
{
    replay_print_kept(p);
    hd_diagnostics_join_input(r->diagnostics, &p->diagnostics);
    for (uint32_t k = 0; k < p->out.rows.count; k++)
        hd_array_push(&r->kernels, p->out.rows.items[k]);
    r->report.kernels = r->kernels.items;
    r->report.kernel_count = r->kernels.count;
    hd_array_free(&p->out.rows);
    join_said(r, &p->out.said);
    r->status = hd_status_worse(r->status, p->out.status);
    join_saves(r, p);
}

/* A thread that ends a part also joins later parts that waited for it. */
static void end_part(hd_replay *r, replay_part *p)
{
    pthread_mutex_lock(&r->turns.lock);
    p->done = true;
    hd_meter_close(p->meter);
    for (; r->turns.joined < r->part_count && r->parts[r->turns.joined].done; r->turns.joined++)
        join_part(r, &r->parts[r->turns.joined]);
    pthread_cond_broadcast(&r->turns.moved);
    r->done++;
    if (r->plan.options->progress)
        r->plan.options->progress(r->plan.options->print_context, r->done);
    pthread_mutex_unlock(&r->turns.lock);
}

/* ---- the replay -------------------------------------------------------------------------------------------------- */

/* Takes a launch file, or a trace, from its text to the rows of the table. */
static void replay_one(void *context, uint32_t index, uint32_t worker)
{
    hd_replay *r = context;
    replay_part *p = &r->parts[index];
    (void)worker;
    p->out.status = replay_is_cancelled(p->plan)
                        ? HD_STATUS_CANCELLED
                        : replay_read(p); /* the launch file, its module and the original of that; or the trace */
    if (p->out.status == HD_STATUS_DONE)
        p->out.status = replay_prepare(p); /* registers, rewritten copies, models: a run for each code */
    if (p->out.status == HD_STATUS_DONE)
        p->out.status = replay_run_all(p); /* side by side on equal data; compared and joined in order */
    replay_fill_results(p);                /* the rows, from what the models counted */
    replay_close(p);
    end_part(r, p);
}

hd_status hd_replay_files(hd_replay *r, const char *const *paths, uint32_t count)
{
    const hd_replay_options *options = r->plan.options;
    uint32_t threads = options->threads ? options->threads : hd_cpu_count();
    uint32_t side = hd_min(threads, count); /* number of files in parallel */
    if (r->status != HD_STATUS_DONE || !count)
        return r->status;
    r->parts = HD_ARENA_ARRAY(&r->arena, replay_part, count);
    r->part_count = count;
    for (uint32_t i = 0; i < count; i++) {
        replay_part *p = &r->parts[i];
        *p = (replay_part){.plan = &r->plan, .turns = &r->turns, .index = i, .threads = threads / side};
        p->meter = options->meters ? &options->meters[i] : NULL;
        p->path = hd_arena_string(&r->arena, paths[i], strlen(paths[i]));
        p->title = p->plan->options->title ? p->plan->options->title : p->path;
        hd_diagnostics_init_part(&p->diagnostics, r->diagnostics);
        hd_outputs_init(&p->out.saves);
    }
    hd_parallel(side, count, replay_one, r);
    if (r->saves_clash)
        hd_outputs_drop(&r->saves);
    else if (options->saves)
        hd_outputs_move(&r->saves, options->saves);
    return r->status;
}
