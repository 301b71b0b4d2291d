/* Growth of arrays: capacities double, starting at 8 elements; amortized constant time per element. */
#include "base/array.h"

void *hd_array_grow(void *items, uint32_t *capacity, uint64_t needed, size_t item_bytes)
{
    if (needed > UINT32_MAX || needed > SIZE_MAX / item_bytes)
        hd_out_of_memory(SIZE_MAX);
    uint64_t room = *capacity < 4 ? 8 : (uint64_t)*capacity * 2;
    if (room < needed)
        room = needed;
    if (room > UINT32_MAX)
        room = UINT32_MAX;
    *capacity = (uint32_t)room;
    return hd_realloc(items, (size_t)room * item_bytes);
}
