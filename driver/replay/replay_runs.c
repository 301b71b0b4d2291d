/* The runs of a part in parallel, with the results of serial execution: the replayed code with its models; the
 * original, without models, if there is one; rewritten code of passes, with its models. The last two must leave memory
 * identical to that of the first.
 *
 * Each run has its own session and memory, module (texts are shared and read-only), count and models, arena and
 * diagnostics. Runs share the launch file, the plan and rows written before they start. The results of a run are added
 * to the part when it is joined, in the order of the list, as soon as it and all earlier runs have ended. Joining
 * decides whether later runs are wanted: only if the earlier ones succeeded. An unwanted run is stopped, or not
 * started, and never joined. So neither diagnostics nor rows nor the status depend on the threads; output is printed by
 * the first run only.
 *
 * Each idle worker takes the next run. The first run starts with work that all others except the original's wait for:
 * passes and models (replay_prepare); only then is the list of runs known. Threads without a run go to the thread
 * budget: models use them until their run ends (hwmodel/count/count.h), and so do the original's CTAs, launch by
 * launch.
 *
 * With one thread each run is joined before the next one starts, so that at most two runs are in memory.
 */
#include "driver/replay/replay_work.h"

typedef struct runs {
    replay_part *part;
    replay_file *file;
    pthread_mutex_t lock;
    pthread_cond_t listed;                /* `all` is set */
    uint32_t workers, most, over, joined; /* most: maximum number of runs */
    bool all;                             /* the list of runs is complete */
} runs;

/* ---- joining ----------------------------------------------------------------------------------------------------- */

static void close_run(replay_run *run)
{
    hd_session_close(run->session);
    run->session = NULL;
    hd_array_free(&run->ran);
    hd_diagnostics_free(&run->said);
    hd_arena_free(&run->arena);
}

/* The first session is kept: others are compared with it. */
static void join_run(replay_part *p, replay_run *run)
{
    bool first = run == p->runs;
    if (!atomic_load(&run->stop)) {
        run->join(p, run);
        hd_diagnostics_join(&p->diagnostics, &run->said);
    }
    if (!first)
        close_run(run);
}

/* Caller holds the lock. A thread that ends a run also joins later runs that waited for it. */
static void join_all_over(runs *r)
{
    replay_part *p = r->part;
    for (; r->joined < p->run_count && p->runs[r->joined].over; r->joined++)
        join_run(p, &p->runs[r->joined]);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static void add_run(replay_part *p, replay_file *f, void (*go)(replay_run *),
                    void (*join_it)(replay_part *, replay_run *))
{
    replay_run *run = &p->runs[p->run_count++];
    run->part = p;
    run->file = f;
    run->go = go;
    run->join = join_it;
    hd_diagnostics_init_part(&run->said, &p->diagnostics);
    run->diagnostics = run == p->runs ? &p->diagnostics : &run->said;
}

/* Before the run begins. */
static void open_meters(const replay_part *p, replay_run *run, uint32_t models)
{
    uint64_t ctas = hd_launch_amount_of(p->files.items[0]->launch).ctas;
    hd_meter_open(&run->meter, p->meter, 1 + HD_REPLAY_MODEL_COST * models, ctas);
    hd_meter_open(&run->timing_meter, p->meter, HD_REPLAY_TIMING_COST, p->plan->options->time ? ctas * models : 0);
}

static void add_changed(replay_part *p, replay_file *f)
{
    add_run(p, f, replay_go_changed, replay_join_changed);
    replay_run *run = &p->runs[p->run_count - 1];
    open_meters(p, run, replay_count_changed_models(p, run));
}

static void list_changed(runs *r)
{
    const replay_file *f = r->file;
    for (uint32_t i = 0; i < f->changed.count; i++)
        if (!f->changed.items[i]->untouched)
            add_changed(r->part, f->changed.items[i]);
}

static void go_first(runs *r)
{
    replay_run *run = r->part->runs;
    hd_status prepared = replay_prepare(r->part, r->file);
    bool good = prepared == HD_STATUS_DONE;
    pthread_mutex_lock(&r->lock);
    if (good) {
        list_changed(r);
        open_meters(r->part, run, hd_count_models(r->file->count));
    }
    r->all = true;
    pthread_cond_broadcast(&r->listed);
    pthread_mutex_unlock(&r->lock);
    if (good)
        run->go(run);
    else
        run->status = prepared;
}

/* NULL: there are fewer runs. */
static replay_run *await_run(runs *r, uint32_t index)
{
    pthread_mutex_lock(&r->lock);
    while (index >= r->part->run_count && !r->all)
        pthread_cond_wait(&r->listed, &r->lock);
    replay_run *run = index < r->part->run_count ? &r->part->runs[index] : NULL;
    pthread_mutex_unlock(&r->lock);
    return run;
}

static void run_one(void *context, uint32_t index, uint32_t worker)
{
    runs *r = context;
    replay_run *run = await_run(r, index);
    (void)worker;
    if (!index)
        go_first(r);
    else if (run && !atomic_load(&run->stop))
        run->go(run);
    pthread_mutex_lock(&r->lock);
    if (run) {
        run->over = true;
        hd_meter_close(&run->meter);
        hd_meter_close(&run->timing_meter);
    }
    join_all_over(r);
    if (r->most - ++r->over < r->workers) /* this thread gets no further run */
        hd_thread_budget_return(&r->part->budget, 1);
    pthread_mutex_unlock(&r->lock);
}

void replay_runs(replay_part *p, replay_file *f)
{
    runs r = {.part = p, .file = f, .most = (f->original ? 2 : 1) + replay_most_changed(p, f)};
    p->runs = HD_ARENA_ARRAY(&p->arena, replay_run, r.most);
    add_run(p, f, replay_go_first, replay_join_first);
    if (p->meter)
        atomic_store(&p->meter->items, (uint32_t)hd_launch_amount_of(f->launch).runs);
    if (f->original) {
        add_run(p, f, replay_go_original, replay_join_original);
        f->original->diagnostics = p->runs[1].diagnostics;
        open_meters(p, &p->runs[1], 0);
    }
    r.workers = p->threads < r.most ? p->threads : r.most;
    hd_thread_budget_return(&p->budget, p->threads - r.workers);
    pthread_mutex_init(&r.lock, NULL);
    pthread_cond_init(&r.listed, NULL);
    hd_parallel(r.workers, r.most, run_one, &r);
    pthread_mutex_destroy(&r.lock);
    pthread_cond_destroy(&r.listed);
    close_run(p->runs);
}
