/* See broadcast.h. A free thread serves the idle reader that has read the fewest batches. */
#include "base/broadcast.h"
#include "base/arena.h"
#include "base/minmax.h"
#include <pthread.h>
#include <stdlib.h>

typedef struct reader {
    uint64_t read; /* batches read */
    bool busy;
} reader;

struct hd_broadcast {
    bool (*read)(void *context, uint32_t reader, uint32_t slot);
    void *context;
    uint32_t reader_count, lag;
    hd_thread_budget *budget;
    uint32_t helpers_most, helpers; /* threads besides the producer's; most: how many are granted */
    pthread_t *threads;             /* of the helpers */
    pthread_mutex_t lock;           /* protects the members below */
    pthread_cond_t moved;           /* a batch was published or read */
    uint64_t published, rejected;   /* batches published; the first that a reader rejected, or UINT64_MAX */
    bool finishes;
    reader readers[];
};

hd_broadcast *hd_broadcast_new(uint32_t readers, uint32_t lag,
                               bool (*read)(void *context, uint32_t reader, uint32_t slot), void *context)
{
    hd_broadcast *r = hd_calloc(1, sizeof *r + readers * sizeof *r->readers);
    r->read = read;
    r->context = context;
    r->reader_count = readers;
    r->lag = lag;
    r->rejected = UINT64_MAX;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->moved, NULL);
    return r;
}

void hd_broadcast_free(hd_broadcast *r)
{
    if (!r)
        return;
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->moved);
    free(r->threads);
    free(r);
}

void hd_broadcast_threads(hd_broadcast *r, uint32_t threads, hd_thread_budget *budget)
{
    threads = threads ? threads : hd_cpu_count();
    r->budget = budget;
    r->helpers_most = hd_min(threads - 1, r->reader_count);
    r->threads = hd_realloc(r->threads, (r->helpers_most + 1u) * sizeof *r->threads);
}

uint32_t hd_broadcast_slot(const hd_broadcast *r) { return (uint32_t)(r->published % (r->lag + 1u)); }

/* Caller holds the lock. The number of batches that every reader has read. */
static uint64_t read_by_all(const hd_broadcast *r)
{
    uint64_t least = r->published;
    for (uint32_t i = 0; i < r->reader_count; i++)
        least = hd_min(least, r->readers[i].read);
    return least;
}

/* Caller holds the lock. The reader to serve next; NULL: none has a batch to read. */
static reader *find_reader(hd_broadcast *r)
{
    reader *last = NULL;
    for (uint32_t i = 0; i < r->reader_count; i++) {
        reader *other = &r->readers[i];
        if (!other->busy && other->read < r->published && (!last || other->read < last->read))
            last = other;
    }
    return last;
}

static void read_one(hd_broadcast *r, reader *who)
{
    uint64_t batch = who->read;
    who->busy = true;
    pthread_mutex_unlock(&r->lock);
    bool good = r->read(r->context, (uint32_t)(who - r->readers), (uint32_t)(batch % (r->lag + 1u)));
    pthread_mutex_lock(&r->lock);
    if (!good && batch < r->rejected)
        r->rejected = batch;
    who->busy = false;
    who->read++;
    pthread_cond_broadcast(&r->moved);
}

static void read_or_wait(hd_broadcast *r)
{
    reader *who = find_reader(r);
    if (who)
        read_one(r, who);
    else
        pthread_cond_wait(&r->moved, &r->lock);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void *help(void *queue)
{
    hd_broadcast *r = queue;
    pthread_mutex_lock(&r->lock);
    while (!r->finishes || read_by_all(r) < r->published)
        read_or_wait(r);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static void call_helpers(hd_broadcast *r)
{
    uint32_t more = r->helpers_most - r->helpers;
    if (more && r->budget)
        more = hd_thread_budget_take(r->budget, more);
    for (; more && !pthread_create(&r->threads[r->helpers], NULL, help, r); more--)
        r->helpers++;
    if (more && r->budget)
        hd_thread_budget_return(r->budget, more);
}

static void dismiss_helpers(hd_broadcast *r)
{
    for (uint32_t i = 0; i < r->helpers; i++)
        pthread_join(r->threads[i], NULL);
    if (r->budget && r->helpers)
        hd_thread_budget_return(r->budget, r->helpers);
    r->helpers = 0;
}

/* Works until at most `lag` batches are unread by some reader. */
static void read_on(hd_broadcast *r, uint32_t lag)
{
    while (read_by_all(r) + lag < r->published) {
        if (r->reader_count > 1)
            call_helpers(r); /* the budget may have threads by now */
        read_or_wait(r);
    }
}

bool hd_broadcast_publish(hd_broadcast *r, uint32_t lag)
{
    pthread_mutex_lock(&r->lock);
    r->published++;
    pthread_cond_broadcast(&r->moved);
    if (lag)
        call_helpers(r);
    read_on(r, lag);
    bool good = r->rejected >= r->published - hd_min(lag, r->published);
    pthread_mutex_unlock(&r->lock);
    return good;
}

uint64_t hd_broadcast_rejected(hd_broadcast *r)
{
    pthread_mutex_lock(&r->lock);
    uint64_t rejected = r->rejected;
    pthread_mutex_unlock(&r->lock);
    return rejected;
}

bool hd_broadcast_finish(hd_broadcast *r)
{
    pthread_mutex_lock(&r->lock);
    r->finishes = true;
    pthread_cond_broadcast(&r->moved);
    read_on(r, 0);
    pthread_mutex_unlock(&r->lock);
    dismiss_helpers(r);
    r->finishes = false;
    return r->rejected == UINT64_MAX;
}
