/* Growth of arrays: capacities double, starting at 8 elements; amortized constant time per element. */
#include "base/array.h"

void *hd_array_grow(void *items, uint32_t *capacity, uint64_t needed, size_t item_bytes)
{
    if (needed > UINT32_MAX || needed > SIZE_MAX / item_bytes)
        hd_out_of_memory(SIZE_MAX);
    uint64_t room = hd_max(hd_max(8u, (uint64_t)*capacity * 2), needed);
    *capacity = (uint32_t)hd_min(room, UINT32_MAX);
    return hd_realloc(items, (size_t)*capacity * item_bytes);
}
