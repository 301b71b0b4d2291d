/* Host threads that run the CTAs of one grid side by side, with the memory, faults and statistics of one thread.
 *
 * CTAs are taken in order of their index, several at a time (neighbours touch neighbouring memory). What a CTA does to
 * memory that others may see in between (atomics on global memory, volatile, relaxed, acquire and release accesses,
 * fences, what it prints, device-side malloc) waits for its turn: until every CTA before it has ended. So kernels that
 * communicate so compute what they would if the CTAs ran one after another.
 *
 * Accesses that do not wait may still touch the same bytes in another order than that. So all accesses are noted
 * (footprint.h), and where CTAs that ran at the same time conflict, nothing of the run counts: memory and the device
 * heap become what they were, what was printed and reported is dropped, and the grid runs again on one thread. That a
 * run without a conflict is as on one thread: footprint.h.
 *
 * A fault waits for its turn too, so that of several the one is reported that one thread would have met. What CTAs
 * after it have counted by then is dropped. */
#ifndef HD_HWMODEL_EXEC_CREW_CREW_H
#define HD_HWMODEL_EXEC_CREW_CREW_H

#include "hwmodel/exec/exec.h"
#include "hwmodel/exec/crew/footprint.h"
#include "hwmodel/memory/heap.h"
#include <pthread.h>
#include <stdatomic.h>

enum {
    HD_CREW_AHEAD = 1024,      /* how far behind the oldest running CTA others may be taken */
    HD_CREW_SHARE = 16,        /* most CTAs taken at a time */
    HD_CREW_SEGMENT = 1 << 20, /* instructions of a CTA after which it is looked whether it conflicts with another */
};

typedef struct hd_crew {
    pthread_mutex_t lock;
    pthread_cond_t moved;     /* the oldest CTA has ended, or the run stops */
    uint64_t count;           /* CTAs */
    uint32_t share;           /* CTAs taken at a time */
    uint64_t next;            /* to be taken */
    uint64_t oldest;          /* all below it have ended */
    hd_exec_statistics total; /* of those below it */
    uint64_t limit;           /* on them; 0: none */
    atomic_bool stopped;      /* a CTA has failed, or two conflict: no other is begun, later ones give up */
    hd_overlaps overlaps;
    hd_heap *heap;       /* of the memory, or NULL */
    hd_heap heap_before; /* once the grid has changed it: its blocks before */
    bool heap_kept;
    HD_ARRAY(char) printed; /* by CTAs in their turn */
    bool ended[HD_CREW_AHEAD];
    hd_exec_statistics of[HD_CREW_AHEAD]; /* ring by index: of CTAs that ended before an older one */
} hd_crew;

/* CTAs that one thread has taken: [first, first + count), of which `done` have ended; `told` of these the crew
 * knows. */
typedef struct hd_crew_share {
    uint64_t first;
    uint32_t count, done, told;
    uint64_t over; /* the first CTA with which all before it exceed the limit, if this share found it; or HD_NO_CTA */
    hd_exec_statistics statistics[HD_CREW_SHARE];
} hd_crew_share;

void hd_crew_init(hd_crew *crew, uint64_t count, uint32_t threads, uint64_t limit, const hd_memory *memory,
                  bool *exact);
void hd_crew_free(hd_crew *crew);

/* The next CTAs, or false where there are none or the run stops. May wait for the oldest one. Opens a segment. */
bool hd_crew_take(hd_crew *crew, hd_crew_share *share, hd_footprint *footprint);

/* Tells the crew what has ended of a share; closes the segment with the last of it. false: with share->over the issued
 * instructions exceed the limit, and the run is stopped. */
bool hd_crew_tell(hd_crew *crew, hd_crew_share *share, hd_footprint *footprint);
#define HD_NO_CTA UINT64_MAX
void hd_crew_stop(hd_crew *crew);                           /* by the CTA whose turn it is */
void hd_crew_leave(hd_crew *crew, hd_footprint *footprint); /* a thread runs no more CTAs */

/* Waits until every CTA before this one has ended; then another segment is open. false: the run was stopped. */
bool hd_crew_await(hd_crew *crew, uint64_t index, hd_footprint *footprint);
void hd_crew_compare(hd_crew *crew, uint64_t index, hd_footprint *footprint); /* goes on in another segment */

/* By a CTA that has its turn. */
void hd_crew_print(void *crew, const char *text, size_t size);
void hd_crew_keep_heap(hd_crew *crew); /* before it changes */

/* After all threads have ended. */
/* VAGUE: to be tried again (footprint.h) */
typedef enum hd_crew_result { HD_CREW_DONE, HD_CREW_CONFLICT, HD_CREW_VAGUE } hd_crew_result;
hd_crew_result hd_crew_finish(hd_crew *crew); /* unless DONE, memory and heap are as before */

/* Somebody else has learned that the run is not wanted. */
static inline bool hd_asked_to_stop(const hd_exec_options *options)
{
    return options->stop && atomic_load_explicit(options->stop, memory_order_relaxed);
}

#endif
