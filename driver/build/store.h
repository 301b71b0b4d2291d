/* A cache of results on disk, by a hash of all that they depend on, shared by any number of processes.
 *
 * FOLDER/0 .. FOLDER/f     a shelf for each first digit of a key
 *   SHELF/KEY              an entry: magic, length, XXH3-128 of the contents, contents; written beside and renamed
 *   SHELF/statistics       counts, under flock()
 *
 * An entry whose hash does not fit is removed, and is a miss. Each shelf has a sixteenth of the limit; one that grows
 * over it loses the entries that were used longest ago (by modification time, which each use sets), down to four
 * fifths. Where the folder cannot be read or written, everything is a miss: a cache never fails a job.
 */
#ifndef HD_DRIVER_BUILD_STORE_H
#define HD_DRIVER_BUILD_STORE_H

#include "base/diagnostics.h"
#include "base/hash.h"
#include "base/writer.h"

enum { HD_STORE_SHELVES = 16 };

typedef struct hd_store {
    const char *folder;   /* NULL: the cache is off */
    uint64_t limit_bytes; /* of all entries; 0: none */
} hd_store;

/* As the environment says: HEDDLE_CACHE_DIR (else $XDG_CACHE_HOME/heddle, $HOME/.cache/heddle), HEDDLE_CACHE_SIZE (else
 * 1 GiB), HEDDLE_CACHE_DISABLE. Strings are in the arena. false with a diagnostic where the size is none. */
bool hd_store_open(hd_store *store, hd_arena *arena, hd_diagnostics *diagnostics);

/* Adds the entry's contents to the writer, which is in memory; false: there is none. */
bool hd_store_get(const hd_store *store, hd_wide_hash key, hd_writer *out);
void hd_store_put(const hd_store *store, hd_wide_hash key, const char *bytes, size_t length);

/* Every count of the cache: HD_STORE_COUNT(name, what it counts) */
#define HD_STORE_COUNTS(COUNT)                                     \
    COUNT(hits, "results found")                                   \
    COUNT(misses, "results not found")                             \
    COUNT(stored, "results stored")                                \
    COUNT(removed, "entries removed to keep the limit")            \
    COUNT(damaged, "entries removed because they were not intact") \
    COUNT(entries, "entries now")                                  \
    COUNT(bytes, "their size in bytes")

typedef struct hd_store_counts {
#define HD_STORE_MEMBER(name, summary) uint64_t name;
    HD_STORE_COUNTS(HD_STORE_MEMBER)
#undef HD_STORE_MEMBER
} hd_store_counts;

hd_store_counts hd_store_statistics(const hd_store *store);
void hd_store_clear(const hd_store *store); /* all entries, and the counts */
/* Reads all entries and removes those that are not intact: how many. */
uint64_t hd_store_check(const hd_store *store);

#endif
