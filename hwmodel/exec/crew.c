/* The order of CTAs on several host threads: a counter, the oldest CTA that runs, and a ring of those that ended before
 * it. Everything under one lock, which a CTA takes twice and for each operation that waits for its turn. */
#include "hwmodel/exec/crew.h"

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
    to->cta_bytes = more->cta_bytes > to->cta_bytes ? more->cta_bytes : to->cta_bytes;
}

void hd_crew_init(hd_crew *crew, uint64_t count, uint32_t threads, uint64_t limit)
{
    uint64_t share = count / (8ull * threads); /* so that all have something to do until the end */
    memset(crew, 0, sizeof *crew);
    crew->count = count;
    crew->share = share < 1 ? 1 : share > HD_CREW_SHARE ? HD_CREW_SHARE : (uint32_t)share;
    crew->limit = limit;
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->moved, NULL);
}

void hd_crew_free(hd_crew *crew)
{
    pthread_cond_destroy(&crew->moved);
    pthread_mutex_destroy(&crew->lock);
}

bool hd_crew_take(hd_crew *crew, hd_crew_share *share)
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
    }
    pthread_mutex_unlock(&crew->lock);
    return taken;
}

/* Lets the oldest CTA move on over all that have ended. */
static uint64_t move_on(hd_crew *crew)
{
    for (uint64_t at; crew->ended[at = crew->oldest % HD_CREW_AHEAD];) {
        crew->ended[at] = false;
        hd_exec_statistics_add(&crew->total, &crew->of[at]);
        crew->oldest++;
        if (crew->limit && crew->total.warp_instructions > crew->limit && !crew->stopped) {
            crew->stopped = true; /* before any other gets its turn */
            return crew->oldest - 1;
        }
    }
    return HD_NO_CTA;
}

bool hd_crew_tell(hd_crew *crew, hd_crew_share *share)
{
    if (share->told == share->done)
        return share->over == HD_NO_CTA;
    pthread_mutex_lock(&crew->lock);
    bool moves = share->first + share->told == crew->oldest;
    for (; share->told < share->done; share->told++) {
        uint64_t at = (share->first + share->told) % HD_CREW_AHEAD;
        crew->ended[at] = true;
        crew->of[at] = share->statistics[share->told];
    }
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

bool hd_crew_await(hd_crew *crew, uint64_t index)
{
    pthread_mutex_lock(&crew->lock);
    while (crew->oldest < index && !crew->stopped)
        pthread_cond_wait(&crew->moved, &crew->lock);
    bool turn = !crew->stopped;
    pthread_mutex_unlock(&crew->lock);
    return turn;
}
