/* Orders the CTAs of several host threads: a counter, the oldest running CTA, and a ring of later ones that have ended.
 * Everything is protected by one lock, which a CTA takes twice, and once per operation that waits for its turn. */
#include "hwmodel/exec/crew/crew.h"

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
    to->cta_bytes = more->cta_bytes > to->cta_bytes ? more->cta_bytes : to->cta_bytes;
}

void hd_crew_init(hd_crew *crew, uint64_t count, uint32_t threads, uint64_t limit, const hd_memory *memory,
                  bool *byte_precise)
{
    uint64_t share = count / (8ull * threads); /* small enough that all threads have work until the end */
    memset(crew, 0, sizeof *crew);
    crew->count = count;
    crew->share = share < 1 ? 1 : share > HD_CREW_SHARE ? HD_CREW_SHARE : (uint32_t)share;
    crew->limit = limit;
    crew->heap = memory->heap;
    hd_overlaps_init(&crew->overlaps, memory, threads, byte_precise);
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->moved, NULL);
}

void hd_crew_free(hd_crew *crew)
{
    if (crew->heap_kept)
        hd_array_free(&crew->heap_before.blocks);
    hd_array_free(&crew->printed);
    hd_array_free(&crew->asserted);
    hd_overlaps_free(&crew->overlaps);
    pthread_cond_destroy(&crew->moved);
    pthread_mutex_destroy(&crew->lock);
}

/* The caller holds the lock. */
static void close_epoch(hd_crew *crew, hd_footprint *f)
{
    hd_footprint_close(f);
    if ((!hd_overlaps_any(&crew->overlaps) && !crew->overlaps.imprecise) || crew->stopped)
        return;
    crew->stopped = true;
    pthread_cond_broadcast(&crew->moved);
}

static void open_epoch(const hd_crew *crew, hd_footprint *f, uint64_t first)
{
    hd_footprint_open(f, first, crew->oldest >= first);
}

bool hd_crew_take(hd_crew *crew, hd_crew_share *share, hd_footprint *footprint)
{
    pthread_mutex_lock(&crew->lock);
    while (!crew->stopped && crew->next < crew->count && crew->next + crew->share - crew->oldest > HD_CREW_AHEAD)
        pthread_cond_wait(&crew->moved, &crew->lock);
    bool taken = !crew->stopped && crew->next < crew->count;
    if (taken) {
        uint64_t left = crew->count - crew->next;
        *share = (hd_crew_share){
            .first = crew->next, .count = left < crew->share ? (uint32_t)left : crew->share, .over = HD_NO_CTA};
        crew->next += share->count;
        open_epoch(crew, footprint, share->first);
    }
    pthread_mutex_unlock(&crew->lock);
    return taken;
}

/* Advances the oldest CTA past all that have ended. */
static uint64_t move_on(hd_crew *crew)
{
    for (uint64_t at; crew->ended[at = crew->oldest % HD_CREW_AHEAD];) {
        crew->ended[at] = false;
        hd_exec_statistics_add(&crew->total, &crew->of[at]);
        crew->oldest++;
        if (crew->limit && crew->total.warp_instructions > crew->limit && !crew->stopped) {
            crew->stopped = true; /* before another CTA gets its turn */
            return crew->oldest - 1;
        }
    }
    return HD_NO_CTA;
}

bool hd_crew_report(hd_crew *crew, hd_crew_share *share, hd_footprint *footprint)
{
    if (share->reported == share->done)
        return share->over == HD_NO_CTA;
    pthread_mutex_lock(&crew->lock);
    bool moves = share->first + share->reported == crew->oldest;
    for (; share->reported < share->done; share->reported++) {
        uint64_t at = (share->first + share->reported) % HD_CREW_AHEAD;
        crew->ended[at] = true;
        crew->of[at] = share->statistics[share->reported];
    }
    if (share->reported == share->count) /* before others begin CTAs of a later range */
        close_epoch(crew, footprint);
    if (!crew->stopped)
        share->over = move_on(crew);
    if (moves)
        pthread_cond_broadcast(&crew->moved);
    pthread_mutex_unlock(&crew->lock);
    return share->over == HD_NO_CTA;
}

void hd_crew_stop(hd_crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    crew->stopped = true;
    pthread_cond_broadcast(&crew->moved);
    pthread_mutex_unlock(&crew->lock);
}

void hd_crew_leave(hd_crew *crew, hd_footprint *footprint)
{
    pthread_mutex_lock(&crew->lock);
    close_epoch(crew, footprint);
    pthread_mutex_unlock(&crew->lock);
}

/* An epoch that began when all CTAs before it had ended conflicts with none of them. */
bool hd_crew_await(hd_crew *crew, uint64_t index, hd_footprint *footprint)
{
    pthread_mutex_lock(&crew->lock);
    bool split = footprint->epoch && !footprint->epoch->alone;
    if (split) {
        close_epoch(crew, footprint);
        open_epoch(crew, footprint, index); /* for accesses that are discarded meanwhile */
    }
    while (crew->oldest < index && !crew->stopped)
        pthread_cond_wait(&crew->moved, &crew->lock);
    if (split) {
        hd_footprint_close(footprint);
        open_epoch(crew, footprint, index);
    }
    bool turn = !crew->stopped;
    pthread_mutex_unlock(&crew->lock);
    return turn;
}

void hd_crew_compare(hd_crew *crew, uint64_t index, hd_footprint *footprint)
{
    pthread_mutex_lock(&crew->lock);
    close_epoch(crew, footprint);
    open_epoch(crew, footprint, index);
    pthread_mutex_unlock(&crew->lock);
}

/* ---- undo -------------------------------------------------------------------------------------------------------- */

void hd_crew_print(void *context, const char *text, size_t size)
{
    hd_crew *crew = context;
    if (size)
        memcpy(hd_array_extend(&crew->printed, size), text, size);
}

void hd_crew_print_assertion(void *context, const char *text, size_t size)
{
    hd_crew *crew = context;
    if (size)
        memcpy(hd_array_extend(&crew->asserted, size), text, size);
}

void hd_crew_keep_heap(hd_crew *crew)
{
    if (crew->heap_kept)
        return;
    crew->heap_kept = true;
    crew->heap_before.next = crew->heap->next;
    crew->heap_before.index = crew->heap->index;
    if (crew->heap->blocks.count)
        memcpy(hd_array_extend(&crew->heap_before.blocks, crew->heap->blocks.count), crew->heap->blocks.items,
               crew->heap->blocks.count * sizeof *crew->heap->blocks.items);
}

static void undo(hd_crew *crew)
{
    hd_overlaps_restore(&crew->overlaps);
    if (!crew->heap_kept)
        return;
    crew->heap->next = crew->heap_before.next;
    crew->heap->index = crew->heap_before.index;
    crew->heap->blocks.count = 0;
    if (crew->heap_before.blocks.count)
        memcpy(hd_array_extend(&crew->heap->blocks, crew->heap_before.blocks.count), crew->heap_before.blocks.items,
               crew->heap_before.blocks.count * sizeof *crew->heap->blocks.items);
}

hd_crew_result hd_crew_finish(hd_crew *crew)
{
    hd_overlaps_finish(&crew->overlaps);
    bool conflict = hd_overlaps_any(&crew->overlaps), imprecise = crew->overlaps.imprecise;
    if (conflict || imprecise)
        undo(crew);
    return conflict ? HD_CREW_CONFLICT : imprecise ? HD_CREW_IMPRECISE : HD_CREW_DONE;
}
