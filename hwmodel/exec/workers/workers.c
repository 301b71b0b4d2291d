/* Orders the CTAs of several host threads: a counter, the oldest running CTA, and a ring of later ones that have ended.
 * Everything is protected by one lock, which a CTA takes twice, and once per operation that waits for its turn. */
#include "hwmodel/exec/workers/workers.h"

void hd_exec_statistics_add(hd_exec_statistics *to, const hd_exec_statistics *more)
{
    to->ctas += more->ctas;
    to->warps += more->warps;
    to->warp_instructions += more->warp_instructions;
    to->thread_instructions += more->thread_instructions;
    to->effective_instructions += more->effective_instructions;
    to->divergent_branches += more->divergent_branches;
    to->barriers += more->barriers;
    to->races += more->races;
    to->repeated += more->repeated;
    to->cta_bytes = hd_max(to->cta_bytes, more->cta_bytes);
}

void hd_workers_init(hd_workers *workers, uint64_t count, uint32_t threads, uint64_t limit, const hd_memory *memory,
                     bool *byte_precise)
{
    uint64_t share = count / (8ull * threads); /* small enough that all threads have work until the end */
    memset(workers, 0, sizeof *workers);
    workers->count = count;
    workers->share = share < 1 ? 1 : share > HD_WORKERS_SHARE ? HD_WORKERS_SHARE : (uint32_t)share;
    workers->limit = limit;
    workers->heap = memory->heap;
    hd_overlaps_init(&workers->overlaps, memory, threads, byte_precise);
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->moved, NULL);
}

void hd_workers_free(hd_workers *workers)
{
    if (workers->heap_kept)
        hd_array_free(&workers->heap_before.blocks);
    hd_array_free(&workers->printed);
    hd_array_free(&workers->asserted);
    hd_overlaps_free(&workers->overlaps);
    pthread_cond_destroy(&workers->moved);
    pthread_mutex_destroy(&workers->lock);
}

/* The caller holds the lock. */
static void close_epoch(hd_workers *workers, hd_footprint *f)
{
    hd_footprint_close(f);
    if ((!hd_overlaps_any(&workers->overlaps) && !workers->overlaps.imprecise) || workers->stopped)
        return;
    workers->stopped = true;
    pthread_cond_broadcast(&workers->moved);
}

static void open_epoch(const hd_workers *workers, hd_footprint *f, uint64_t first)
{
    hd_footprint_open(f, first, workers->oldest >= first);
}

bool hd_workers_take(hd_workers *workers, hd_workers_share *share, hd_footprint *footprint)
{
    pthread_mutex_lock(&workers->lock);
    while (!workers->stopped && workers->next < workers->count &&
           workers->next + workers->share - workers->oldest > HD_WORKERS_AHEAD)
        pthread_cond_wait(&workers->moved, &workers->lock);
    bool taken = !workers->stopped && workers->next < workers->count;
    if (taken) {
        uint64_t left = workers->count - workers->next;
        *share = (hd_workers_share){.first = workers->next,
                                    .count = left < workers->share ? (uint32_t)left : workers->share,
                                    .over = HD_NO_CTA};
        workers->next += share->count;
        open_epoch(workers, footprint, share->first);
    }
    pthread_mutex_unlock(&workers->lock);
    return taken;
}

/* Advances the oldest CTA past all that have ended. */
static uint64_t move_on(hd_workers *workers)
{
    for (uint64_t at; workers->ended[at = workers->oldest % HD_WORKERS_AHEAD];) {
        workers->ended[at] = false;
        hd_exec_statistics_add(&workers->total, &workers->of[at]);
        workers->oldest++;
        if (workers->limit && workers->total.warp_instructions > workers->limit && !workers->stopped) {
            workers->stopped = true; /* before another CTA gets its turn */
            return workers->oldest - 1;
        }
    }
    return HD_NO_CTA;
}

bool hd_workers_report(hd_workers *workers, hd_workers_share *share, hd_footprint *footprint)
{
    if (share->reported == share->done)
        return share->over == HD_NO_CTA;
    pthread_mutex_lock(&workers->lock);
    bool moves = share->first + share->reported == workers->oldest;
    for (; share->reported < share->done; share->reported++) {
        uint64_t at = (share->first + share->reported) % HD_WORKERS_AHEAD;
        workers->ended[at] = true;
        workers->of[at] = share->statistics[share->reported];
    }
    if (share->reported == share->count) /* before others begin CTAs of a later range */
        close_epoch(workers, footprint);
    if (!workers->stopped)
        share->over = move_on(workers);
    if (moves)
        pthread_cond_broadcast(&workers->moved);
    pthread_mutex_unlock(&workers->lock);
    return share->over == HD_NO_CTA;
}

void hd_workers_stop(hd_workers *workers)
{
    pthread_mutex_lock(&workers->lock);
    workers->stopped = true;
    pthread_cond_broadcast(&workers->moved);
    pthread_mutex_unlock(&workers->lock);
}

void hd_workers_leave(hd_workers *workers, hd_footprint *footprint)
{
    pthread_mutex_lock(&workers->lock);
    close_epoch(workers, footprint);
    pthread_mutex_unlock(&workers->lock);
}

/* An epoch that began when all CTAs before it had ended conflicts with none of them. */
bool hd_workers_await(hd_workers *workers, uint64_t index, hd_footprint *footprint)
{
    pthread_mutex_lock(&workers->lock);
    bool split = footprint->epoch && !footprint->epoch->alone;
    if (split) {
        close_epoch(workers, footprint);
        open_epoch(workers, footprint, index); /* for accesses that are discarded meanwhile */
    }
    while (workers->oldest < index && !workers->stopped)
        pthread_cond_wait(&workers->moved, &workers->lock);
    if (split) {
        hd_footprint_close(footprint);
        open_epoch(workers, footprint, index);
    }
    bool turn = !workers->stopped;
    pthread_mutex_unlock(&workers->lock);
    return turn;
}

void hd_workers_compare(hd_workers *workers, uint64_t index, hd_footprint *footprint)
{
    pthread_mutex_lock(&workers->lock);
    close_epoch(workers, footprint);
    open_epoch(workers, footprint, index);
    pthread_mutex_unlock(&workers->lock);
}

/* ---- undo -------------------------------------------------------------------------------------------------------- */

void hd_workers_print(void *context, const char *text, size_t size)
{
    hd_workers *workers = context;
    if (size)
        memcpy(hd_array_extend(&workers->printed, size), text, size);
}

void hd_workers_print_assertion(void *context, const char *text, size_t size)
{
    hd_workers *workers = context;
    if (size)
        memcpy(hd_array_extend(&workers->asserted, size), text, size);
}

void hd_workers_keep_heap(hd_workers *workers)
{
    if (workers->heap_kept)
        return;
    workers->heap_kept = true;
    workers->heap_before.next = workers->heap->next;
    workers->heap_before.index = workers->heap->index;
    if (workers->heap->blocks.count)
        memcpy(hd_array_extend(&workers->heap_before.blocks, workers->heap->blocks.count), workers->heap->blocks.items,
               workers->heap->blocks.count * sizeof *workers->heap->blocks.items);
}

static void undo(hd_workers *workers)
{
    hd_overlaps_restore(&workers->overlaps);
    if (!workers->heap_kept)
        return;
    workers->heap->next = workers->heap_before.next;
    workers->heap->index = workers->heap_before.index;
    workers->heap->blocks.count = 0;
    if (workers->heap_before.blocks.count)
        memcpy(hd_array_extend(&workers->heap->blocks, workers->heap_before.blocks.count),
               workers->heap_before.blocks.items,
               workers->heap_before.blocks.count * sizeof *workers->heap->blocks.items);
}

hd_workers_result hd_workers_finish(hd_workers *workers)
{
    hd_overlaps_finish(&workers->overlaps);
    bool conflict = hd_overlaps_any(&workers->overlaps), imprecise = workers->overlaps.imprecise;
    if (conflict || imprecise)
        undo(workers);
    return conflict ? HD_WORKERS_CONFLICT : imprecise ? HD_WORKERS_IMPRECISE : HD_WORKERS_DONE;
}
