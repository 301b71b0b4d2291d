/* Hash index: maps hashes to caller-defined numbers; the table grows on demand.
 *
 *   for (uint32_t at = hd_index_first(&index, hash); at != HD_INDEX_END; at = hd_index_next(&index, hash, at))
 *       if (is_it(index.slots[at].number)) return index.slots[at].number;
 *   hd_index_add(&index, hash, number);
 *
 * A zeroed index is empty. Hashes should be well mixed in their low bits. Expected O(1).
 */
#ifndef HD_BASE_INDEX_H
#define HD_BASE_INDEX_H

#include <stdint.h>

#define HD_INDEX_END UINT32_MAX

typedef struct hd_index_slot {
    uint64_t hash;
    uint32_t number;
    uint32_t used;
} hd_index_slot;

typedef struct hd_index {
    hd_index_slot *slots;
    uint32_t capacity, count; /* capacity: a power of two, or 0 */
} hd_index;

void hd_index_add(hd_index *index, uint64_t hash, uint32_t number);
void hd_index_free(hd_index *index);

static inline uint32_t hd_index_seek(const hd_index *index, uint64_t hash, uint32_t at)
{
    for (uint32_t mask = index->capacity - 1;; at++) {
        const hd_index_slot *slot = &index->slots[at & mask];
        if (!slot->used)
            return HD_INDEX_END;
        if (slot->hash == hash)
            return at & mask;
    }
}

/* The first slot with this hash, and the next one. */
static inline uint32_t hd_index_first(const hd_index *index, uint64_t hash)
{
    return index->capacity ? hd_index_seek(index, hash, (uint32_t)hash) : HD_INDEX_END;
}
static inline uint32_t hd_index_next(const hd_index *index, uint64_t hash, uint32_t at)
{
    return hd_index_seek(index, hash, at + 1);
}

#endif
