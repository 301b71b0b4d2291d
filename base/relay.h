/* A relay of batches: one thread makes them, several readers look at each of them, every reader in the order of the
 * batches. Readers work side by side, on the maker's thread while it has to wait and on others, and may fall `after`
 * batches back while the maker goes on.
 *
 *   hd_relay *relay = hd_relay_new(readers, after, read, context);
 *   hd_relay_threads(relay, threads, spare);
 *   ... fill slot hd_relay_slot(relay) ...
 *   if (!hd_relay_pass(relay, after)) ...        for each batch; then the slot is another one, whose batch all have
 *     read
 *   if (!hd_relay_finish(relay)) ...              waits for all
 *
 * What passes return must not depend on the number of threads, nor on their pace: that a reader found something wrong
 * is reported when all have read that batch, and no sooner.
 *
 * Threads: passes begin some more where there is work for them, and so do waits; up to those that are granted, and of a
 * `spare` only those that are there. They stay, waiting where there is nothing to read, until hd_relay_finish. Where a
 * thread cannot be made, the others do its work. Cost: O(readers) a batch and thread, under a lock.
 */
#ifndef HD_BASE_RELAY_H
#define HD_BASE_RELAY_H

#include "base/pool.h"
#include <stdbool.h>

typedef struct hd_relay hd_relay;

/* read: of one reader, the batch in that slot; false: something in it is wrong. Never twice at a time for one
 * reader. */
hd_relay *hd_relay_new(uint32_t readers, uint32_t behind, bool (*read)(void *context, uint32_t reader, uint32_t slot),
                       void *context);
void hd_relay_free(hd_relay *relay); /* finished */
/* With the maker's; 0: as many as there are CPUs. spare: NULL: all of these are its own. A new one has the maker's
 * alone. */
void hd_relay_threads(hd_relay *relay, uint32_t threads, hd_spare *spare);

/* Of the batch that is made, below after + 1. */
uint32_t hd_relay_slot(const hd_relay *relay);
/* The batch is whole. Returns when at most as many as `after` are not read by all; never more than hd_relay_new was
 * reported. false: something was wrong in one of the others, now or before. */
bool hd_relay_pass(hd_relay *relay, uint32_t behind);
/* The first batch, counted from 0, that a reader found wrong; UINT64_MAX: none so far. Of those that all have read it
 * reports all. */
uint64_t hd_relay_wrong(hd_relay *relay);
/* Returns when all that was passed is read, and the threads are given back. false: something was wrong. */
bool hd_relay_finish(hd_relay *relay);

#endif
