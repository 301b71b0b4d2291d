/* Registers in flight, for checkers: accessed by an asynchronous instruction (ir/asynchronous.def) while later
 * instructions execute.
 *
 * From each such instruction all paths are followed, counting commits, up to a wait that covers it or to the
 * instruction itself. Its data registers are in flight before every instruction on the way. Commits count once the
 * instruction's own group is closed; a wait for groups covers it if at least as many commits followed as the wait
 * leaves pending; guarded commits and waits have no effect.
 *
 * Complexity: for each asynchronous instruction, the commits, waits and edges on its paths, at most once for each
 * number of commits.
 */
#ifndef HD_PASSES_CHECK_FLIGHTS_H
#define HD_PASSES_CHECK_FLIGHTS_H

#include "base/bitset.h"
#include "ir/cfg.h"
#include "ir/storage.h"

typedef struct hd_flight { /* an item in flight before the instructions `first` to `last` of one block */
    uint32_t item, first, last;
} hd_flight;

typedef struct hd_flights {
    const hd_flight *items; /* sorted by item and `first`; those of one item do not overlap */
    uint32_t *first;        /* by item, plus one; NULL: there are none */
    hd_bitset named;        /* items that are data of an asynchronous instruction; empty (no bits) if `first` is NULL */
    bool leave;             /* something may be in flight when a device function returns */
} hd_flights;

/* For registers, or for words if `storage` is given; `items`: their number. In the arena. */
hd_flights hd_flights_of(hd_function *function, const hd_storage *storage, uint32_t items, hd_arena *arena);
bool hd_flights_has(const hd_flights *flights, uint32_t item, uint32_t ordinal); /* before the instruction */
static inline bool hd_flights_named(const hd_flights *flights, uint32_t item)
{
    return flights->first && hd_bitset_has(&flights->named, item);
}

/* The same for single asynchronous instructions. */
typedef struct hd_flight_search hd_flight_search;
hd_flight_search *hd_flight_search_new(hd_function *function, hd_arena *arena);
/* The spans in which its data are in flight, without items; they may overlap. Valid until the next query. */
const hd_flight *hd_flight_search_from(hd_flight_search *search, uint32_t ordinal, uint32_t *count);
void hd_flight_search_free(hd_flight_search *search);

#endif
