/* Where registers are in flight, for checkers: read or written by an asynchronous instruction (ir/asynchronous.def)
 * while others run.
 *
 * From each such instruction all paths are followed, with the commits after it, up to a wait that covers it or to it
 * again. What it names as data is in flight before every instruction on the way. A commit counts once its own group is
 * closed; a wait for groups covers what at least so many commits are after as it leaves pending; guarded commits and
 * waits do nothing.
 *
 * Complexity: for each asynchronous instruction, the commits, waits and edges on its paths, for each number of commits
 * at most once.
 */
#ifndef HD_PASSES_CHECK_FLIGHTS_H
#define HD_PASSES_CHECK_FLIGHTS_H

#include "base/bitset.h"
#include "ir/cfg.h"
#include "ir/storage.h"

typedef struct hd_flight { /* an item in flight before the instructions from `first` to `last` of one block */
    uint32_t item, first, last;
} hd_flight;

typedef struct hd_flights {
    const hd_flight *items; /* by item and `first`; those of one item do not overlap */
    uint32_t *first;        /* by item, and one more; NULL: there are none */
    hd_bitset named;        /* items that an asynchronous instruction has as data; of no bits where `first` is NULL */
    bool leave;             /* something may be in flight when a device function returns */
} hd_flights;

/* Of registers, or of words where `storage` is given; `items`: how many. In the arena. */
hd_flights hd_flights_of(hd_function *function, const hd_storage *storage, uint32_t items, hd_arena *arena);
bool hd_flights_has(const hd_flights *flights, uint32_t item, uint32_t ordinal); /* before the instruction */
static inline bool hd_flights_named(const hd_flights *flights, uint32_t item)
{
    return flights->first && hd_bitset_has(&flights->named, item);
}

/* The same for one asynchronous instruction after the other. */
typedef struct hd_flight_search hd_flight_search;
hd_flight_search *hd_flight_search_new(hd_function *function, hd_arena *arena);
/* The spans in which its data are in flight, without items; they may overlap. Valid until the next one is asked for. */
const hd_flight *hd_flight_search_from(hd_flight_search *search, uint32_t ordinal, uint32_t *count);
void hd_flight_search_free(hd_flight_search *search);

#endif
