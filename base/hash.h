/* Content hashes: XXH3-64 and, where no two contents may meet, XXH3-128 (libxxhash). */
#ifndef HD_BASE_HASH_H
#define HD_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hd_hash(const void *bytes, size_t length);

enum { HD_WIDE_HASH_BYTES = 16 };
typedef struct hd_wide_hash {
    uint8_t bytes[HD_WIDE_HASH_BYTES]; /* the same on all machines */
} hd_wide_hash;
hd_wide_hash hd_hash_wide(const void *bytes, size_t length);

/* Streaming. */
typedef struct hd_hasher hd_hasher;
hd_hasher *hd_hasher_new(void);
void hd_hasher_add(hd_hasher *hasher, const void *bytes, size_t length);
uint64_t hd_hasher_value(const hd_hasher *hasher);
void hd_hasher_free(hd_hasher *hasher);

#endif
