/* Interned strings: open addressing with linear probing, at most half full. Lookup takes expected constant time; the
 * first probe of a short text is inlined in the header. Names are shorter than 4 GiB, as source texts are. */
#include "base/intern.h"

#include <assert.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FIRST_SLOTS = 256 };

static uint64_t load64(const char *from)
{
    uint64_t word;
    memcpy(&word, from, 8);
    return word;
}

static uint64_t load32(const char *from)
{
    uint32_t word;
    memcpy(&word, from, 4);
    return word;
}

/* The slot contents for a text, without its name; reads no byte outside the text. Assumes a little-endian machine, as
 * all hosts of CUDA are. */
static hd_name_slot key_of(const char *text, size_t length)
{
    hd_name_slot key = {0, 0, (uint32_t)length, HD_NO_NAME};
    if (length > 16) {
        key.low = XXH3_64bits(text, length);
    } else if (length > 8) {
        key.low = load64(text);
        key.high = load64(text + length - 8) >> (8 * (16 - length));
    } else if (length >= 4) {
        key.low = load32(text) | load32(text + length - 4) << (8 * (length - 4));
    } else {
        for (size_t i = 0; i < length; i++)
            key.low |= (uint64_t)(unsigned char)text[i] << (8 * i);
    }
    return key;
}

/* The slot that holds the text, or the free slot for it. */
static hd_name_slot *probe(const hd_names *names, const hd_name_slot *key, const char *text)
{
    uint32_t i = hd_name_slot_hash(key->low, key->high, key->length) & names->slot_mask;
    for (;; i = (i + 1) & names->slot_mask) {
        hd_name_slot *slot = &names->slots[i];
        if (slot->name == HD_NO_NAME)
            return slot;
        if (slot->low == key->low && slot->high == key->high && slot->length == key->length &&
            (key->length <= 16 || memcmp(names->entries.items[slot->name].text, text, key->length) == 0))
            return slot;
    }
}

static void grow(hd_names *names)
{
    hd_name_slot *old = names->slots;
    uint32_t old_count = names->slot_mask + 1;
    if (old_count > UINT32_MAX / 2)
        hd_out_of_memory(SIZE_MAX);
    names->slots = hd_calloc((size_t)old_count * 2, sizeof *old);
    names->slot_mask = old_count * 2 - 1;
    for (uint32_t o = 0; o < old_count; o++) {
        if (old[o].name == HD_NO_NAME)
            continue;
        uint32_t i = hd_name_slot_hash(old[o].low, old[o].high, old[o].length) & names->slot_mask;
        while (names->slots[i].name != HD_NO_NAME)
            i = (i + 1) & names->slot_mask;
        names->slots[i] = old[o];
    }
    free(old);
}

void hd_names_init(hd_names *names)
{
    *names = (hd_names){0};
    hd_arena_init(&names->arena);
    names->slots = hd_calloc(FIRST_SLOTS, sizeof *names->slots);
    names->slot_mask = FIRST_SLOTS - 1;
    hd_array_push(&names->entries, (hd_name_entry){"", 0, 0});
}

void hd_names_copy(hd_names *names, const hd_names *from)
{
    size_t bytes = ((size_t)from->slot_mask + 1) * sizeof *from->slots;
    *names = (hd_names){.slots = hd_calloc(1, bytes), .slot_mask = from->slot_mask};
    hd_arena_init(&names->arena);
    memcpy(names->slots, from->slots, bytes);
    memcpy(hd_array_extend(&names->entries, from->entries.count), from->entries.items,
           from->entries.count * sizeof *from->entries.items);
}

void hd_names_free(hd_names *names)
{
    hd_arena_free(&names->arena);
    hd_array_free(&names->entries);
    free(names->slots);
    *names = (hd_names){0};
}

static hd_name add_new(hd_names *names, hd_name_slot *slot, const hd_name_slot *key, const char *text)
{
    uint32_t hash = hd_name_slot_hash(key->low, key->high, key->length);
    hd_name name = names->entries.count;
    hd_name_entry entry = {hd_arena_string(&names->arena, text, key->length), key->length, hash};
    hd_array_push(&names->entries, entry);
    *slot = *key;
    slot->name = name;
    if (names->entries.count > names->slot_mask / 2)
        grow(names);
    return name;
}

hd_name hd_names_add_slow(hd_names *names, hd_name_slot key, const char *text)
{
    if (!key.length)
        return HD_NO_NAME;
    if (key.length > 16)
        key = key_of(text, key.length);
    hd_name_slot *slot = probe(names, &key, text);
    return slot->name != HD_NO_NAME ? slot->name : add_new(names, slot, &key, text);
}

hd_name hd_names_add(hd_names *names, const char *text, size_t length)
{
    assert(length <= UINT32_MAX);
    return hd_names_add_slow(names, key_of(text, length), text);
}

hd_name hd_names_find(const hd_names *names, const char *text, size_t length)
{
    if (!length || length > UINT32_MAX)
        return HD_NO_NAME;
    hd_name_slot key = key_of(text, length);
    return probe(names, &key, text)->name;
}

hd_name hd_names_add_string(hd_names *names, const char *text) { return hd_names_add(names, text, strlen(text)); }
