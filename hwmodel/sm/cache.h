/* A set-associative cache of sectored lines, tags only, with least-recently-used replacement.
 *
 * Addresses are line numbers (byte address / line size), sectors bits of a mask from the lowest address up. A line is
 * allocated when its first sector is filled or written. Cost: O(ways) an access.
 */
#ifndef HD_HWMODEL_SM_CACHE_H
#define HD_HWMODEL_SM_CACHE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct hd_cache_line {
    uint64_t line, used;   /* used: when it was accessed last, by the cache's own count; 0: it is free */
    uint32_t valid, dirty; /* sectors */
} hd_cache_line;

typedef struct hd_cache {
    uint32_t sets, ways;
    uint64_t accesses;
    hd_cache_line *lines; /* by set, then way; NULL until the first fill: many SMs have no thread block */
} hd_cache;

typedef struct hd_cache_victim { /* what had to leave; sectors 0: nothing that must be written back */
    uint64_t line;
    uint32_t sectors;
} hd_cache_victim;

void hd_cache_open(hd_cache *cache, uint32_t bytes, uint32_t line_bytes, uint32_t ways); /* 0 bytes: always misses */
void hd_cache_close(hd_cache *cache);
/* The sectors of the mask that are there; counts as a use of the line. */
uint32_t hd_cache_read(hd_cache *cache, uint64_t line, uint32_t sectors);
/* The sectors are there from now on. */
hd_cache_victim hd_cache_fill(hd_cache *cache, uint64_t line, uint32_t sectors, bool dirty);

#endif
