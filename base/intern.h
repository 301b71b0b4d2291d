/* Interned strings: equal texts have equal ids, so that names compare as integers and index side arrays.
 *
 * Ids are dense, starting at 1; 0 (HD_NO_NAME) is no name. The texts are NUL-terminated and live in the table's arena
 * until the table is freed.
 */
#ifndef HD_BASE_INTERN_H
#define HD_BASE_INTERN_H

#include "base/array.h"

typedef uint32_t hd_name;
enum { HD_NO_NAME = 0 };

typedef struct hd_name_entry {
    const char *text;
    uint32_t length;
    uint32_t hash; /* of the text; the same in every table and run */
} hd_name_entry;

/* A slot of the hash table. A text of up to 16 bytes is stored in `low` and `high` (first and last bytes, NUL padded),
 * so that a lookup reads one slot and no text. For a longer text, `low` is its XXH3. */
typedef struct hd_name_slot {
    uint64_t low, high;
    uint32_t length;
    hd_name name; /* HD_NO_NAME: the slot is free */
} hd_name_slot;

typedef struct hd_names {
    hd_arena arena;
    HD_ARRAY(hd_name_entry) entries; /* by id; entry 0 is the empty text */
    hd_name_slot *slots;             /* open addressing, at most half full; owned */
    uint32_t slot_mask;
} hd_names;

void hd_names_init(hd_names *names);
void hd_names_free(hd_names *names);
/* Makes `names` an independent table with the same texts under the same ids. The texts stay in `from`, which must
 * outlive it. */
void hd_names_copy(hd_names *names, const hd_names *from);
hd_name hd_names_add(hd_names *names, const char *text, size_t length);        /* finds or adds */
hd_name hd_names_find(const hd_names *names, const char *text, size_t length); /* HD_NO_NAME if absent */
hd_name hd_names_add_string(hd_names *names, const char *text);                /* of a NUL-terminated text */

/* As hd_names_add, where 16 bytes from `text` on are readable whatever the length (as in an hd_source); short names
 * then need no branch on the length. Used by the scanners. */
static inline hd_name hd_names_add_padded(hd_names *names, const char *text, size_t length);

static inline const char *hd_names_text(const hd_names *names, hd_name name) { return names->entries.items[name].text; }
static inline uint32_t hd_names_length(const hd_names *names, hd_name name)
{
    return names->entries.items[name].length;
}

/* ---- the hot path ------------------------------------------------------------------------------------------------ */

hd_name hd_names_add_slow(hd_names *names, hd_name_slot key, const char *text); /* a long or a new text */

static inline uint32_t hd_name_slot_hash(uint64_t low, uint64_t high, uint32_t length)
{
    /* The constants have the top bit of each byte set: no ASCII text makes a factor zero. */
    unsigned __int128 product =
        (unsigned __int128)(low ^ 0xa0b1c8e7d3f5928bull) * (high ^ 0xe7c3d98fb5a1f6d9ull ^ length);
    return (uint32_t)(product >> 64) ^ (uint32_t)product ^ (uint32_t)(product >> 32);
}

static inline hd_name hd_names_add_padded(hd_names *names, const char *text, size_t length)
{
    hd_name_slot key = {0, 0, (uint32_t)length, HD_NO_NAME};
    if (length - 1 < 16) {
        memcpy(&key.low, text, 8);
        memcpy(&key.high, text + 8, 8);
        uint64_t low_mask = length >= 8 ? ~0ull : ~0ull >> (64 - 8 * length);
        uint64_t high_mask = length <= 8 ? 0 : ~0ull >> (128 - 8 * length);
        key.low &= low_mask;
        key.high &= high_mask;
        uint32_t i = hd_name_slot_hash(key.low, key.high, key.length) & names->slot_mask;
        const hd_name_slot *slot = &names->slots[i];
        if (slot->low == key.low && slot->high == key.high && slot->length == key.length)
            return slot->name;
    }
    return hd_names_add_slow(names, key, text);
}

#endif
