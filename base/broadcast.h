/* Broadcast queue: one producer publishes batches, and every reader reads each of them in order. Readers run in
 * parallel, on the producer's thread while it waits and on helper threads, and may lag up to `lag` batches behind the
 * producer.
 *
 *   hd_broadcast *queue = hd_broadcast_new(readers, lag, read, context);
 *   hd_broadcast_threads(queue, threads, budget);
 *   for each batch:
 *       fill slot hd_broadcast_slot(queue)
 *       if (!hd_broadcast_publish(queue, lag)) ...
 *   if (!hd_broadcast_finish(queue)) ...
 *
 * Results do not depend on the number or speed of threads: that a reader rejected a batch is reported when all readers
 * have read that batch, never earlier.
 *
 * Helper threads are started while batches are published or awaited and there is work for them: at most as many as
 * granted, and with a budget only as many as it has. They run until hd_broadcast_finish. If a thread cannot be created,
 * the others do its work. Cost: O(readers) per batch and thread, under a lock.
 */
#ifndef HD_BASE_BROADCAST_H
#define HD_BASE_BROADCAST_H

#include "base/pool.h"
#include <stdbool.h>

typedef struct hd_broadcast hd_broadcast;

/* read() gets the slot of a batch and returns false to reject the batch. It is never called concurrently for one
 * reader. */
hd_broadcast *hd_broadcast_new(uint32_t readers, uint32_t lag,
                               bool (*read)(void *context, uint32_t reader, uint32_t slot), void *context);
void hd_broadcast_free(hd_broadcast *queue); /* only after hd_broadcast_finish */
/* Sets the number of threads, including the producer's; 0: as many as there are CPUs. budget: where helpers are taken
 * from; NULL: all threads are the queue's own. Default: the producer's thread only. */
void hd_broadcast_threads(hd_broadcast *queue, uint32_t threads, hd_thread_budget *budget);

/* The slot to fill with the next batch; at most `lag`. */
uint32_t hd_broadcast_slot(const hd_broadcast *queue);
/* Publishes the batch. Returns when at most `lag` batches are unread by some reader; `lag` must be at most that of
 * hd_broadcast_new. Returns false if a reader rejected one of the batches that all have read. */
bool hd_broadcast_publish(hd_broadcast *queue, uint32_t lag);
/* The first rejected batch, counted from 0; UINT64_MAX: none so far. Complete for the batches that all have read. */
uint64_t hd_broadcast_rejected(hd_broadcast *queue);
/* Returns when every batch is read and the helpers have ended. false: a reader rejected a batch. */
bool hd_broadcast_finish(hd_broadcast *queue);

#endif
