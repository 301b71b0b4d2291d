/* Thread pool for one job: the threads, including the caller's, take indices from a shared counter. If a thread cannot
 * be created, the others do its work. */
#include "base/pool.h"

#include "base/arena.h"
#include "base/minmax.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

typedef struct job {
    void (*work)(void *context, uint32_t index, uint32_t worker);
    void *context;
    uint32_t count;
    _Atomic uint64_t next; /* wider than the count, so that increments past the end never wrap */
} job;

typedef struct worker {
    job *job;
    uint32_t number;
    pthread_t thread;
} worker;

static void *draw(void *argument)
{
    worker *self = argument;
    for (uint64_t i; (i = atomic_fetch_add(&self->job->next, 1)) < self->job->count;)
        self->job->work(self->job->context, (uint32_t)i, self->number);
    return NULL;
}

uint32_t hd_cpu_count(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 0)
        return (uint32_t)CPU_COUNT(&allowed);
    return 1;
}

void hd_parallel(uint32_t threads, uint32_t count, void (*work)(void *context, uint32_t index, uint32_t worker),
                 void *context)
{
    if (threads == 0)
        threads = hd_cpu_count();
    if (threads > count)
        threads = count;
    job shared = {work, context, count, 0};
    worker *workers = hd_calloc(threads + 1u, sizeof *workers);
    uint32_t started = 1;
    for (; started < threads; started++) {
        workers[started] = (worker){.job = &shared, .number = started};
        if (pthread_create(&workers[started].thread, NULL, draw, &workers[started]))
            break;
    }
    workers[0] = (worker){.job = &shared, .number = 0};
    draw(&workers[0]);
    for (uint32_t i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    free(workers);
}

uint32_t hd_thread_budget_take(hd_thread_budget *budget, uint32_t most)
{
    unsigned there = atomic_load_explicit(&budget->count, memory_order_relaxed);
    while (there && !atomic_compare_exchange_weak(&budget->count, &there, there - hd_min(there, most)))
        continue;
    return hd_min(there, most);
}

void hd_thread_budget_return(hd_thread_budget *budget, uint32_t count) { atomic_fetch_add(&budget->count, count); }
