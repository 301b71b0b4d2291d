/* See origins.h. An offset is found by binary search. */
#include "base/origins.h"

#include "base/search.h"

void hd_origins_free(hd_origins *origins)
{
    if (!origins)
        return;
    hd_array_free(&origins->places);
    hd_array_free(&origins->ranges);
    hd_arena_free(&origins->arena);
    free(origins);
}

static uint32_t place_at(const hd_origins *origins, uint32_t offset)
{
    uint32_t low = 0, high = origins->ranges.count; /* ranges before `low` begin at or before the offset */
    HD_SEARCH(low, high, at, origins->ranges.items[at].begin <= offset);
    return low ? origins->ranges.items[low - 1].place : HD_NO_ORIGIN;
}

static bool is_same(const hd_origin *a, const hd_origin *b)
{
    return a->line == b->line && a->column == b->column && strcmp(a->file, b->file) == 0;
}

/* The last position before that one at which the call is; HD_NO_ORIGIN: none, so it is unknown whether the call itself
 * was inlined. */
static uint32_t place_of_call(const hd_origins *origins, uint32_t place)
{
    const hd_origin *call = &origins->places.items[place].inlined;
    for (uint32_t i = place; i-- > 0;)
        if (origins->places.items[i].at.file && is_same(&origins->places.items[i].at, call))
            return i;
    return HD_NO_ORIGIN;
}

uint32_t hd_source_origins(const hd_source *source, uint32_t offset, hd_origin origins[HD_MOST_INLINED])
{
    uint32_t place = source->origins ? place_at(source->origins, offset) : HD_NO_ORIGIN, count = 0;
    if (place == HD_NO_ORIGIN || !source->origins->places.items[place].at.file)
        return 0;
    origins[count++] = source->origins->places.items[place].at;
    while (count < HD_MOST_INLINED && place != HD_NO_ORIGIN && source->origins->places.items[place].inlined.file) {
        origins[count++] = source->origins->places.items[place].inlined;
        place = place_of_call(source->origins, place);
    }
    return count;
}
