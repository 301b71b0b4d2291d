/* The runs of a part side by side, as if they came one after another: of the code as it is, with the models that see
 * it; of the original, without models, where there is one; of what passes made of the code, with theirs. The last two
 * must leave the memory that the first leaves.
 *
 * Each run has a session with memory of its own, a module that no other changes (texts are shared, and only read), a
 * count and models, an arena and diagnostics. They share the launch file, the plan and, of the rows, what is written
 * before they begin. What a run says, counts and proves becomes the part's when it is joined, which happens in the
 * order of the list, as soon as it and all before it are over. A run is wanted only where those before it went well:
 * which they are, their joining decides. One that is not wanted is stopped if it goes on, not begun if it has not, and
 * never joined. So neither diagnostics nor rows nor the status depend on the threads; and what only the first run does,
 * printing, either.
 *
 * Each worker draws a run when it has none. The first one begins with what the others but the original's wait for:
 * passes and models (replay_prepare); only then is known which others there are. Threads that are left over, from the
 * begin or because there is no further run to draw, go to the thread budget: the models take them until their run is
 * over (hwmodel/rf/count.h), the original's CTAs launch by launch.
 *
 * With one thread each run is joined before the next one begins, and no more memory is in use than two runs need.
 */
#include "driver/replay/replay_work.h"

typedef struct runs {
    replay_part *part;
    replay_file *file;
    pthread_mutex_t lock;
    pthread_cond_t listed;                /* `all` is true */
    uint32_t workers, most, over, joined; /* most: runs that there may be */
    bool all;                             /* runs are listed */
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

/* The first session stays: others are compared with it. */
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

/* Under the lock: whoever ends a run joins what is behind it too, if that has waited for it. */
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

static void list_changed(runs *r)
{
    const replay_file *f = r->file;
    for (uint32_t i = 0; i < f->changed.count; i++)
        if (!f->changed.items[i]->untouched)
            add_run(r->part, f->changed.items[i], replay_go_changed, replay_join_changed);
}

static void go_first(runs *r)
{
    replay_run *run = r->part->runs;
    hd_status prepared = replay_prepare(r->part, r->file);
    bool good = prepared == HD_STATUS_DONE;
    pthread_mutex_lock(&r->lock);
    if (good)
        list_changed(r);
    r->all = true;
    pthread_cond_broadcast(&r->listed);
    pthread_mutex_unlock(&r->lock);
    if (good)
        run->go(run);
    else
        run->status = prepared;
}

/* NULL: it turns out that there are fewer. */
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
    if (run)
        run->over = true;
    join_all_over(r);
    if (r->most - ++r->over < r->workers) /* this thread finds no other */
        hd_thread_budget_return(&r->part->budget, 1);
    pthread_mutex_unlock(&r->lock);
}

void replay_runs(replay_part *p, replay_file *f)
{
    runs r = {.part = p, .file = f, .most = (f->original ? 2 : 1) + replay_most_changed(p, f)};
    p->runs = HD_ARENA_ARRAY(&p->arena, replay_run, r.most);
    add_run(p, f, replay_go_first, replay_join_first);
    if (f->original) {
        add_run(p, f, replay_go_original, replay_join_original);
        f->original->diagnostics = p->runs[1].diagnostics;
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
