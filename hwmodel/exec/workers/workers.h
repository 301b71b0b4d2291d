/* Host threads that execute the CTAs of one grid in parallel, with the memory, faults and statistics of serial
 * execution.
 *
 * CTAs are assigned in the order in which they start, several at a time (neighbours access neighbouring memory); an
 * index is a place in that order. An operation with effects that other CTAs could observe in a different order (atomics
 * on global memory, volatile, relaxed, acquire and release accesses, fences, printing, device-side malloc) waits for
 * its CTA's turn, when all CTAs before it have ended. So kernels that communicate in these ways give the results of
 * executing the CTAs one after another.
 *
 * Other accesses may still touch the same bytes in a different order. Therefore all accesses are recorded
 * (footprint.h), and if CTAs that ran concurrently conflict, the run is discarded: memory and the device heap are
 * restored, output and reports are dropped, and the grid runs again on one thread. footprint.h explains why a run
 * without conflicts equals a serial one.
 *
 * A fault also waits for its turn, so that the one reported is the first in serial order. Statistics of later CTAs are
 * dropped. */
#ifndef HD_HWMODEL_EXEC_WORKERS_WORKERS_H
#define HD_HWMODEL_EXEC_WORKERS_WORKERS_H

#include "hwmodel/exec/exec.h"
#include "hwmodel/exec/workers/footprint.h"
#include "hwmodel/memory/heap.h"
#include <pthread.h>
#include <stdatomic.h>

enum {
    HD_WORKERS_AHEAD = 1024,    /* how many CTAs may be assigned ahead of the oldest running one */
    HD_WORKERS_SHARE = 16,      /* maximum number of CTAs assigned at a time */
    HD_WORKERS_EPOCH = 1 << 20, /* instructions of a CTA after which conflicts are checked */
};

typedef struct hd_workers {
    pthread_mutex_t lock;
    pthread_cond_t moved;     /* the oldest CTA has ended, or the run stops */
    uint64_t count;           /* CTAs */
    uint32_t share;           /* CTAs assigned at a time */
    uint64_t next;            /* next CTA to assign */
    uint64_t oldest;          /* all CTAs below it have ended */
    hd_exec_statistics total; /* of the CTAs below `oldest` */
    uint64_t limit;           /* on them; 0: none */
    atomic_bool stopped;      /* a CTA has failed, or two conflict: no further CTA starts, later ones are abandoned */
    hd_overlaps overlaps;
    hd_heap *heap;       /* heap of the memory, or NULL */
    hd_heap heap_before; /* the blocks of the heap before its first change by the grid */
    bool heap_kept;
    HD_ARRAY(char) printed, asserted; /* by CTAs in their turn; a CTA with a failed assertion is the last one */
    bool ended[HD_WORKERS_AHEAD];
    hd_exec_statistics of[HD_WORKERS_AHEAD]; /* ring by index: of CTAs that have ended before an older one */
} hd_workers;

/* CTAs assigned to one thread: [first, first + count), of which `done` have ended and `reported` have been reported to
 * the pool. */
typedef struct hd_workers_share {
    uint64_t first;
    uint32_t count, done, reported;
    uint64_t over; /* the first CTA at which the instruction limit is exceeded, if found in this range; or HD_NO_CTA */
    hd_exec_statistics statistics[HD_WORKERS_SHARE];
} hd_workers_share;

void hd_workers_init(hd_workers *workers, uint64_t count, uint32_t threads, uint64_t limit, const hd_memory *memory,
                     bool *byte_precise);
void hd_workers_free(hd_workers *workers);

/* Assigns the next CTAs; false if there are none or the run stops. May wait for the oldest one. Opens an epoch. */
bool hd_workers_take(hd_workers *workers, hd_workers_share *share, hd_footprint *footprint);

/* Reports the ended CTAs of a range; closes the epoch after the last. false: the instruction limit is exceeded at
 * share->over, and the run is stopped. */
bool hd_workers_report(hd_workers *workers, hd_workers_share *share, hd_footprint *footprint);
#define HD_NO_CTA UINT64_MAX
void hd_workers_stop(hd_workers *workers);                           /* called by the CTA whose turn it is */
void hd_workers_leave(hd_workers *workers, hd_footprint *footprint); /* the thread runs no more CTAs */

/* Waits until every CTA before this one has ended and opens a new epoch. false: the run was stopped. */
bool hd_workers_await(hd_workers *workers, uint64_t index, hd_footprint *footprint);
/* checks for conflicts and opens a new epoch */
void hd_workers_compare(hd_workers *workers, uint64_t index, hd_footprint *footprint);

/* Called by a CTA in its turn. */
void hd_workers_print(void *workers, const char *text, size_t size);
void hd_workers_print_assertion(void *workers, const char *text, size_t size);
void hd_workers_keep_heap(hd_workers *workers); /* before its first change */

/* After all threads have ended. */
/* IMPRECISE: the launch runs again (footprint.h). */
typedef enum hd_workers_result { HD_WORKERS_DONE, HD_WORKERS_CONFLICT, HD_WORKERS_IMPRECISE } hd_workers_result;
hd_workers_result hd_workers_finish(hd_workers *workers); /* unless DONE, memory and heap are restored */

/* Whether another thread has requested the run to stop. */
static inline bool hd_asked_to_stop(const hd_exec_options *options)
{
    return (options->stop && atomic_load_explicit(options->stop, memory_order_relaxed)) ||
           (options->cancel && atomic_load_explicit(options->cancel, memory_order_relaxed));
}

#endif
