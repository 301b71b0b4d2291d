/* Thread pool: runs the indices 0..count-1 of one job over several threads. What a job computes must not depend on the
 * number of threads. */
#ifndef HD_BASE_POOL_H
#define HD_BASE_POOL_H

#include <stdatomic.h>
#include <stdint.h>

/* Calls work(context, index, worker) for every index; returns when all are done. threads = 0: as many as there are
 * CPUs; 1: in the caller. `worker` is below the number of threads, for scratch memory. */
void hd_parallel(uint32_t threads, uint32_t count, void (*work)(void *context, uint32_t index, uint32_t worker),
                 void *context);
uint32_t hd_cpu_count(void);

/* Threads of a job that have nothing to do now: whoever in it has use for some takes them, and gives them back when
 * that is done. */
typedef struct hd_spare {
    atomic_uint count;
} hd_spare;

uint32_t hd_spare_take(hd_spare *spare, uint32_t most); /* how many were there, at most as many as that */
void hd_spare_give(hd_spare *spare, uint32_t count);

#endif
