/* Numbers of bits. */
#ifndef HD_BASE_BITS_H
#define HD_BASE_BITS_H

#include <stdint.h>

/* How many bits number so many values: 0 for one or none, 3 for 5 to 8. */
static inline uint32_t hd_bits_for(uint64_t values)
{
    return values > 1 ? 64 - (uint32_t)__builtin_clzll(values - 1) : 0;
}

#endif
