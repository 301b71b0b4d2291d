/* Relays of batches: see relay.h. Of the readers that nobody works for, whoever looks for work takes the one that is
 * back farthest. */
#include "base/relay.h"
#include "base/arena.h"
#include <pthread.h>
#include <stdlib.h>

typedef struct reader {
    uint64_t read; /* batches */
    bool busy;
} reader;

struct hd_relay {
    bool (*read)(void *context, uint32_t reader, uint32_t slot);
    void *context;
    uint32_t reader_count, behind;
    hd_spare *spare;
    uint32_t helpers_most, helpers; /* threads besides the maker's; most: that are granted */
    pthread_t *threads;             /* of the helpers */
    pthread_mutex_t lock;           /* of what follows */
    pthread_cond_t moved;           /* a batch came, or was read */
    uint64_t made, wrong;           /* batches; the first one that was found wrong, or UINT64_MAX */
    bool finishes;
    reader readers[];
};

hd_relay *hd_relay_new(uint32_t readers, uint32_t behind, bool (*read)(void *context, uint32_t reader, uint32_t slot),
                       void *context)
{
    hd_relay *r = hd_calloc(1, sizeof *r + readers * sizeof *r->readers);
    r->read = read;
    r->context = context;
    r->reader_count = readers;
    r->behind = behind;
    r->wrong = UINT64_MAX;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->moved, NULL);
    return r;
}

void hd_relay_free(hd_relay *r)
{
    if (!r)
        return;
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->moved);
    free(r->threads);
    free(r);
}

void hd_relay_threads(hd_relay *r, uint32_t threads, hd_spare *spare)
{
    threads = threads ? threads : hd_cpu_count();
    r->spare = spare;
    r->helpers_most = threads - 1 < r->reader_count ? threads - 1 : r->reader_count;
    r->threads = hd_realloc(r->threads, (r->helpers_most + 1u) * sizeof *r->threads);
}

uint32_t hd_relay_slot(const hd_relay *r) { return (uint32_t)(r->made % (r->behind + 1u)); }

/* ---- under the lock ---------------------------------------------------------------------------------------------- */

/* Batches that all have read. */
static uint64_t read_by_all(const hd_relay *r)
{
    uint64_t least = r->made;
    for (uint32_t i = 0; i < r->reader_count; i++)
        least = r->readers[i].read < least ? r->readers[i].read : least;
    return least;
}

/* NULL: there is nothing to read now. */
static reader *find_reader(hd_relay *r)
{
    reader *last = NULL;
    for (uint32_t i = 0; i < r->reader_count; i++) {
        reader *other = &r->readers[i];
        if (!other->busy && other->read < r->made && (!last || other->read < last->read))
            last = other;
    }
    return last;
}

static void read_one(hd_relay *r, reader *who)
{
    uint64_t batch = who->read;
    who->busy = true;
    pthread_mutex_unlock(&r->lock);
    bool good = r->read(r->context, (uint32_t)(who - r->readers), (uint32_t)(batch % (r->behind + 1u)));
    pthread_mutex_lock(&r->lock);
    if (!good && batch < r->wrong)
        r->wrong = batch;
    who->busy = false;
    who->read++;
    pthread_cond_broadcast(&r->moved);
}

static void read_or_wait(hd_relay *r)
{
    reader *who = find_reader(r);
    if (who)
        read_one(r, who);
    else
        pthread_cond_wait(&r->moved, &r->lock);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void *help(void *relay)
{
    hd_relay *r = relay;
    pthread_mutex_lock(&r->lock);
    while (!r->finishes || read_by_all(r) < r->made)
        read_or_wait(r);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static void call_helpers(hd_relay *r)
{
    uint32_t more = r->helpers_most - r->helpers;
    if (more && r->spare)
        more = hd_spare_take(r->spare, more);
    for (; more && !pthread_create(&r->threads[r->helpers], NULL, help, r); more--)
        r->helpers++;
    if (more && r->spare)
        hd_spare_give(r->spare, more);
}

static void dismiss_helpers(hd_relay *r)
{
    for (uint32_t i = 0; i < r->helpers; i++)
        pthread_join(r->threads[i], NULL);
    if (r->spare && r->helpers)
        hd_spare_give(r->spare, r->helpers);
    r->helpers = 0;
}

/* Until at most `after` batches are not read by all. */
static void read_on(hd_relay *r, uint32_t behind)
{
    while (read_by_all(r) + behind < r->made) {
        if (r->reader_count > 1)
            call_helpers(r); /* threads may have become spare */
        read_or_wait(r);
    }
}

bool hd_relay_pass(hd_relay *r, uint32_t behind)
{
    pthread_mutex_lock(&r->lock);
    r->made++;
    pthread_cond_broadcast(&r->moved);
    if (behind)
        call_helpers(r);
    read_on(r, behind);
    bool good = r->wrong >= r->made - (behind < r->made ? behind : r->made);
    pthread_mutex_unlock(&r->lock);
    return good;
}

uint64_t hd_relay_wrong(hd_relay *r)
{
    pthread_mutex_lock(&r->lock);
    uint64_t wrong = r->wrong;
    pthread_mutex_unlock(&r->lock);
    return wrong;
}

bool hd_relay_finish(hd_relay *r)
{
    pthread_mutex_lock(&r->lock);
    r->finishes = true;
    pthread_cond_broadcast(&r->moved);
    read_on(r, 0);
    pthread_mutex_unlock(&r->lock);
    dismiss_helpers(r);
    r->finishes = false;
    return r->wrong == UINT64_MAX;
}
