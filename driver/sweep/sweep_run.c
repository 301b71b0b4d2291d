/* Runs the points of a sweep, several at a time, each in a process of its own. See sweep.h. */
#include "driver/sweep/sweep_store.h"

#include "base/index.h"
#include "base/pool.h"
#include "base/temporary.h"
#include "driver/build/process.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- which points are done --------------------------------------------------------------------------------------- */

typedef struct known {
    const hd_sweep *sweep;
    hd_index by_key; /* number: point */
    int *statuses;   /* by point; -1: not done */
    double *seconds; /* by point */
} known;

static void take_done(void *context, const sweep_done *done)
{
    known *k = context;
    for (uint32_t at = hd_index_first(&k->by_key, done->key); at != HD_INDEX_END;
         at = hd_index_next(&k->by_key, done->key, at)) {
        k->statuses[k->by_key.slots[at].number] = done->status;
        k->seconds[k->by_key.slots[at].number] = done->seconds;
    }
}

static bool find_known(known *k, const hd_sweep *sweep, const char *folder, hd_diagnostics *diagnostics)
{
    *k = (known){.sweep = sweep};
    k->statuses = hd_malloc((sweep->points.count + 1) * sizeof *k->statuses);
    k->seconds = hd_calloc(sweep->points.count + 1, sizeof *k->seconds);
    for (uint32_t p = 0; p < sweep->points.count; p++) {
        k->statuses[p] = -1;
        hd_index_add(&k->by_key, sweep->points.items[p].key, p);
    }
    return sweep_visit_tasks(folder, false, take_done, k, diagnostics);
}

static void free_known(known *k)
{
    hd_index_free(&k->by_key);
    free(k->statuses);
    free(k->seconds);
}

const char *sweep_input_of(const hd_sweep *s, const hd_sweep_point *p)
{
    for (uint32_t a = 0; a < s->axes.count; a++)
        if (p->values[a] &&
            (strcmp(s->axes.items[a].name, "input") == 0 || strcmp(s->axes.items[a].name, "program") == 0))
            return p->values[a];
    return "";
}

/* Mean seconds of the points with the same input that are done, else of all that are; NaN: none is. O(points^2) at
 * worst, where no two points have the same input. */
static double seconds_left(const known *k, hd_sweep_shard shard)
{
    const hd_sweep *s = k->sweep;
    double all = 0, left = 0;
    uint32_t count = 0;
    for (uint32_t p = 0; p < s->points.count; p++)
        if (k->statuses[p] >= 0)
            all += k->seconds[p], count++;
    const char *input = NULL;
    double mean = NAN;
    for (uint32_t p = 0; p < s->points.count; p++) {
        if (k->statuses[p] >= 0 || !hd_sweep_has(shard, p))
            continue;
        const char *own = sweep_input_of(s, &s->points.items[p]);
        if (!input || strcmp(own, input) != 0) { /* points of one input follow each other */
            double sum = 0;
            uint32_t same = 0;
            for (uint32_t q = 0; q < s->points.count; q++)
                if (k->statuses[q] >= 0 && strcmp(sweep_input_of(s, &s->points.items[q]), own) == 0)
                    sum += k->seconds[q], same++;
            mean = same ? sum / same : count ? all / count : NAN;
            input = own;
        }
        left += mean;
    }
    return left;
}

bool hd_sweep_count(const hd_sweep *sweep, const char *folder, hd_sweep_shard shard, hd_sweep_counts *counts,
                    hd_diagnostics *diagnostics)
{
    known k;
    bool good = find_known(&k, sweep, folder, diagnostics);
    *counts = (hd_sweep_counts){.seconds_left = seconds_left(&k, shard)};
    for (uint32_t p = 0; p < sweep->points.count; p++) {
        if (!hd_sweep_has(shard, p))
            continue;
        counts->points++;
        counts->done += k.statuses[p] >= 0;
        counts->failed += k.statuses[p] > 0;
        counts->seconds_done += k.seconds[p];
    }
    free_known(&k);
    return good;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

typedef struct run {
    const hd_sweep *sweep;
    const hd_sweep_where *where;
    hd_diagnostics *diagnostics;
    const uint32_t *points; /* to run */
    sweep_base base;
    pthread_mutex_t lock; /* of what follows, and of the base */
    uint32_t done;
    hd_status status;
} run;

/* Exit statuses that are a result: the same would come again. Usage, internal errors and a lack of memory are none. */
static bool is_result(int status)
{
    return status == HD_STATUS_DONE || status == HD_STATUS_REJECTED || status == HD_STATUS_WRONG ||
           status == HD_STATUS_FAULT || status == HD_STATUS_UNDECIDED;
}

static char *read_all(const char *path)
{
    hd_source source;
    if (!hd_source_read(&source, path))
        return hd_calloc(1, 1);
    char *text = hd_calloc(source.length + 1, 1);
    memcpy(text, source.text, source.length);
    hd_source_free(&source);
    return text;
}

/* What a child wrote on standard error, as far as a person reads it. */
static void shorten(char *text)
{
    enum { MOST = 4000 };
    if (strlen(text) > MOST)
        strcpy(text + MOST - 4, "...");
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void finish_point(run *r, const hd_sweep_point *p, int status, double seconds, const char *message,
                         const char *results)
{
    pthread_mutex_lock(&r->lock);
    if (!is_result(status)) {
        hd_writer command;
        hd_writer_to_memory(&command);
        hd_sweep_write_command(&command, r->sweep, p);
        hd_report(r->diagnostics, HD_DIAG_UNFINISHED_POINT, NULL, (hd_span){0, 0},
                  "this point is not done, exit status %d: %.*s%s%.*s", status, (int)command.buffer.count,
                  command.buffer.items, *message ? ": " : "", (int)strcspn(message, "\n"), message);
        hd_writer_free(&command);
    } else {
        sweep_put(&r->base, &(sweep_done){p->key, status, seconds, sweep_input_of(r->sweep, p), message, results});
    }
    r->status = hd_status_worse(r->status, is_result(status) || status == HD_STATUS_USAGE ? (hd_status)status
                                                                                          : HD_STATUS_UNDECIDED);
    r->done++;
    if (r->where->progress)
        r->where->progress(r->where->context, r->done);
    pthread_mutex_unlock(&r->lock);
}

static void run_point(void *context, uint32_t index, uint32_t worker)
{
    run *r = context;
    const hd_sweep_point *p = &r->sweep->points.items[r->points[index]];
    const char *temporary = getenv("TMPDIR");
    hd_arena arena = {0};
    char *results = hd_arena_printf(&arena, "%s/heddle-sweep-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    char *messages = hd_arena_printf(&arena, "%s", results);
    uint32_t count = 0, words = 0;
    (void)worker;
    int out = hd_temporary_make(results), err = hd_temporary_make(messages);
    if (out < 0 || err < 0) {
        finish_point(r, p, HD_STATUS_INTERNAL, 0, strerror(errno), "");
        hd_arena_free(&arena);
        return;
    }
    while (p->words[count])
        count++;
    const char **arguments = HD_ARENA_ARRAY(&arena, const char *, count + 4);
    arguments[words++] = r->sweep->options.heddle;
    arguments[words++] = p->words[0];
    arguments[words++] = "-o";
    arguments[words++] = results;
    for (uint32_t w = 1; w <= count; w++)
        arguments[words++] = p->words[w];
    double start = seconds_now();
    int status = hd_process_run(&(hd_process){.arguments = arguments, .folder = r->sweep->folder, .output = err});
    double seconds = seconds_now() - start;
    char *text = read_all(results), *message = read_all(messages);
    shorten(message);
    finish_point(r, p, status, seconds, message, text);
    free(text);
    free(message);
    for (int i = 0; i < 2; i++) {
        close(i ? err : out);
        unlink(i ? messages : results);
        hd_temporary_forget(i ? messages : results);
    }
    hd_arena_free(&arena);
}

hd_status hd_sweep_run(const hd_sweep *sweep, const hd_sweep_where *where, hd_diagnostics *diagnostics)
{
    known k;
    run r = {.sweep = sweep, .where = where, .diagnostics = diagnostics};
    hd_arena arena = {0};
    uint32_t *points = hd_malloc((sweep->points.count + 1) * sizeof *points), count = 0;
    bool good = find_known(&k, sweep, where->folder, diagnostics);
    for (uint32_t p = 0; good && p < sweep->points.count; p++) {
        bool is_done = k.statuses[p] == 0 || (k.statuses[p] > 0 && !where->retry);
        if (!hd_sweep_has(where->shard, p))
            continue;
        if (is_done)
            r.status = hd_status_worse(r.status, (hd_status)k.statuses[p]);
        else
            points[count++] = p;
    }
    r.points = points;
    if (good && count && sweep_open_task(&r.base, &arena, where->folder, where->shard, diagnostics)) {
        pthread_mutex_init(&r.lock, NULL);
        hd_parallel(where->threads, count, run_point, &r);
        pthread_mutex_destroy(&r.lock);
        sweep_close(&r.base);
    }
    free_known(&k);
    free(points);
    hd_arena_free(&arena);
    return hd_status_worse(r.status, hd_status_of(diagnostics));
}
