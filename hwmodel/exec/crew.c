/* The order of CTAs on several host threads: a counter, the oldest CTA that runs, and a ring of those that ended before
 * it. Everything under one lock, which a CTA takes twice and for each operation that waits for its turn. */
#include "hwmodel/exec/crew.h"

void hd_crew_init(hd_crew *crew, uint64_t count, uint64_t limit)
{
    memset(crew, 0, sizeof *crew);
    crew->count = count;
    crew->limit = limit;
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->moved, NULL);
}

void hd_crew_free(hd_crew *crew)
{
    pthread_cond_destroy(&crew->moved);
    pthread_mutex_destroy(&crew->lock);
}

bool hd_crew_take(hd_crew *crew, uint64_t *index)
{
    pthread_mutex_lock(&crew->lock);
    while (!crew->stopped && crew->next < crew->count && crew->next - crew->oldest >= HD_CREW_AHEAD)
        pthread_cond_wait(&crew->moved, &crew->lock);
    bool taken = !crew->stopped && crew->next < crew->count;
    if (taken)
        *index = crew->next++;
    pthread_mutex_unlock(&crew->lock);
    return taken;
}

uint64_t hd_crew_end(hd_crew *crew, uint64_t index, uint64_t issued)
{
    pthread_mutex_lock(&crew->lock);
    crew->ended[index % HD_CREW_AHEAD] = true;
    crew->issued_by[index % HD_CREW_AHEAD] = issued;
    uint64_t over = HD_NO_CTA;
    bool moves = index == crew->oldest;
    for (uint64_t at; over == HD_NO_CTA && crew->ended[at = crew->oldest % HD_CREW_AHEAD];) {
        crew->ended[at] = false;
        crew->issued += crew->issued_by[at];
        if (crew->limit && crew->issued > crew->limit && !crew->stopped) {
            over = crew->oldest;
            crew->stopped = true; /* before any other gets its turn */
        }
        crew->oldest++;
    }
    if (moves)
        pthread_cond_broadcast(&crew->moved);
    pthread_mutex_unlock(&crew->lock);
    return over;
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

uint64_t hd_crew_issued(hd_crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    uint64_t issued = crew->issued;
    pthread_mutex_unlock(&crew->lock);
    return issued;
}
