/* Numbers of bits, and walks over those of a word. */
#ifndef HD_BASE_BITS_H
#define HD_BASE_BITS_H

#include <stdint.h>

/* How many bits number so many values: 0 for one or none, 3 for 5 to 8. */
static inline uint32_t hd_bits_for(uint64_t values)
{
    return values > 1 ? 64 - (uint32_t)__builtin_clzll(values - 1) : 0;
}

/* Runs the statement that follows once for each bit of a set, from the lowest on; `i` is its number. The set is
 * computed once, before the first. */
#define HD_EACH_BIT(i, set) HD_EACH_BIT_OF(uint32_t, __builtin_ctz, i, set)
#define HD_EACH_BIT64(i, set) HD_EACH_BIT_OF(uint64_t, __builtin_ctzll, i, set)
#define HD_EACH_BIT_OF(type, lowest, i, set) \
    for (type i##_left = (set), i = 0; i##_left && ((i = (type)lowest(i##_left)), 1); i##_left &= i##_left - 1)

#endif
