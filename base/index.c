/* See index.h. */
#include "base/index.h"
#include "base/arena.h"
#include <stdlib.h>

enum { FIRST = 256 };

static void put(hd_index *index, hd_index_slot slot)
{
    uint32_t at = (uint32_t)slot.hash;
    while (index->slots[at & (index->capacity - 1)].used)
        at++;
    index->slots[at & (index->capacity - 1)] = slot;
}

static void grow(hd_index *index)
{
    hd_index old = *index;
    index->capacity = old.capacity ? 2 * old.capacity : FIRST;
    index->slots = hd_calloc(index->capacity, sizeof *index->slots);
    for (uint32_t i = 0; i < old.capacity; i++)
        if (old.slots[i].used)
            put(index, old.slots[i]);
    free(old.slots);
}

void hd_index_add(hd_index *index, uint64_t hash, uint32_t number)
{
    if (2 * (index->count + 1) > index->capacity)
        grow(index);
    put(index, (hd_index_slot){hash, number, 1});
    index->count++;
}

void hd_index_free(hd_index *index)
{
    free(index->slots);
    *index = (hd_index){0};
}
