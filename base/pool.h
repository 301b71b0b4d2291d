/* Thread pool: runs the indices 0..count-1 of one job on several threads. The results of a job must not depend on the
 * number of threads. */
#ifndef HD_BASE_POOL_H
#define HD_BASE_POOL_H

#include <stdatomic.h>
#include <stdint.h>

/* Calls work(context, index, worker) for every index and returns when all calls have returned. threads = 0: as many as
 * there are CPUs; 1: only the caller's. `worker` is less than the number of threads; it selects scratch memory. */
void hd_parallel(uint32_t threads, uint32_t count, void (*work)(void *context, uint32_t index, uint32_t worker),
                 void *context);
uint32_t hd_cpu_count(void);

/* A thread budget: the threads of a job that are idle now. Parts of the job take threads from it and return them. */
typedef struct hd_thread_budget {
    atomic_uint count;
} hd_thread_budget;

/* Takes at most `most` threads; returns how many. */
uint32_t hd_thread_budget_take(hd_thread_budget *budget, uint32_t most);
void hd_thread_budget_return(hd_thread_budget *budget, uint32_t count);

#endif
