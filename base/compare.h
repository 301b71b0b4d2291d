/* Orders, for qsort and bsearch. */
#ifndef HD_BASE_COMPARE_H
#define HD_BASE_COMPARE_H

#include <stdint.h>

/* Ascending. */
static inline int hd_compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

#endif
