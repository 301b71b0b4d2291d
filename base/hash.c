/* Content hashes: XXH3-64 of libxxhash with its default secret and seed 0, so that values are equal on all machines. */
#include "base/hash.h"

#include "base/arena.h"
#include <string.h>
#include <xxhash.h>

uint64_t hd_hash(const void *bytes, size_t length) { return XXH3_64bits(bytes, length); }

hd_wide_hash hd_hash_wide(const void *bytes, size_t length)
{
    hd_wide_hash hash;
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, length));
    memcpy(hash.bytes, canonical.digest, sizeof hash.bytes);
    return hash;
}

/* An hd_hasher is an XXH3_state_t. */
static XXH3_state_t *state_of(hd_hasher *hasher) { return (XXH3_state_t *)(void *)hasher; }

hd_hasher *hd_hasher_new(void)
{
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        hd_out_of_memory(sizeof(XXH3_state_t *));
    XXH3_64bits_reset(state);
    return (hd_hasher *)(void *)state;
}

void hd_hasher_add(hd_hasher *hasher, const void *bytes, size_t length)
{
    if (length)
        XXH3_64bits_update(state_of(hasher), bytes, length);
}

uint64_t hd_hasher_value(const hd_hasher *hasher)
{
    return XXH3_64bits_digest((const XXH3_state_t *)(const void *)hasher);
}

void hd_hasher_free(hd_hasher *hasher) { XXH3_freeState(state_of(hasher)); }
