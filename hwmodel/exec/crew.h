/* Host threads that run the CTAs of one grid side by side, with the memory, faults and statistics of one thread.
 *
 * CTAs are taken in order of their index, several at a time (neighbours touch neighbouring memory). What a CTA does to memory that others may see in between (atomics on global
 * memory whose result or rounding depends on the order, volatile, relaxed, acquire and release accesses, fences, what it
 * prints, device-side malloc) waits for its turn: until every CTA before it has ended. A kernel without data races
 * between CTAs reaches the stores of another CTA only over such operations, and so computes what it would compute if
 * the CTAs ran one after another. A kernel with such a race has no defined result on a GPU either; here it may differ
 * from run to run unless there is one thread.
 *
 * A fault waits for its turn too, so that of several the one is reported that one thread would have met. What CTAs
 * behind it have counted by then is dropped. */
#ifndef HD_HWMODEL_EXEC_CREW_H
#define HD_HWMODEL_EXEC_CREW_H

#include "hwmodel/exec/exec.h"
#include <pthread.h>
#include <stdatomic.h>

enum {
    HD_CREW_AHEAD = 1024, /* how far behind the oldest running CTA others may be taken */
    HD_CREW_SHARE = 16,   /* most CTAs taken at a time */
};

typedef struct hd_crew {
    pthread_mutex_t lock;
    pthread_cond_t moved; /* the oldest CTA has ended, or the run stops */
    uint64_t count;       /* CTAs */
    uint32_t share;       /* CTAs taken at a time */
    uint64_t next;        /* to be taken */
    uint64_t oldest;      /* all below it have ended */
    hd_exec_statistics total; /* of those below it */
    uint64_t limit;       /* on them; 0: none */
    atomic_bool stopped;  /* a CTA has failed: no other is begun, later ones give up */
    bool ended[HD_CREW_AHEAD];
    hd_exec_statistics of[HD_CREW_AHEAD]; /* ring by index: of CTAs that ended before an older one */
} hd_crew;

/* CTAs that one thread has taken: [first, first + count), of which `done` have ended; `told` of these the crew knows. */
typedef struct hd_crew_share {
    uint64_t first;
    uint32_t count, done, told;
    uint64_t over; /* the first CTA with which all before it exceed the limit, if this share found it; or HD_NO_CTA */
    hd_exec_statistics statistics[HD_CREW_SHARE];
} hd_crew_share;

void hd_crew_init(hd_crew *crew, uint64_t count, uint32_t threads, uint64_t limit);
void hd_crew_free(hd_crew *crew);

/* The next CTAs, or false where there are none or the run stops. May wait for the oldest one. */
bool hd_crew_take(hd_crew *crew, hd_crew_share *share);

/* Tells the crew what has ended of a share. false: with share->over the issued instructions exceed the limit, and the run
 * is stopped. */
bool hd_crew_tell(hd_crew *crew, hd_crew_share *share);
#define HD_NO_CTA UINT64_MAX
void hd_crew_stop(hd_crew *crew); /* by the CTA whose turn it is */

/* Waits until every CTA before this one has ended. false: the run was stopped. */
bool hd_crew_await(hd_crew *crew, uint64_t index);

/* Somebody else has learned that the run is not wanted. */
static inline bool hd_asked_to_stop(const hd_exec_options *options)
{
    return options->stop && atomic_load_explicit(options->stop, memory_order_relaxed);
}

#endif
