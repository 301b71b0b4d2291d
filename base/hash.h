/* Content hashes: XXH3-64 (libxxhash). */
#ifndef HD_BASE_HASH_H
#define HD_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hd_hash(const void *bytes, size_t length);

/* Streaming. */
typedef struct hd_hasher hd_hasher;
hd_hasher *hd_hasher_new(void);
void hd_hasher_add(hd_hasher *hasher, const void *bytes, size_t length);
uint64_t hd_hasher_value(const hd_hasher *hasher);
void hd_hasher_reset(hd_hasher *hasher);
void hd_hasher_free(hd_hasher *hasher);

#endif
