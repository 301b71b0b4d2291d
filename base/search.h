/* Binary search. */
#ifndef HD_BASE_SEARCH_H
#define HD_BASE_SEARCH_H

#include <stdint.h>

/* Moves `low` to the first index of [low, high) for which `is_before`, an expression of the index `at`, is false; to
 * the end of the range where there is none. Of the range, those for which it is true come first. `low` and `high` are
 * variables; `high` is used up. O(log n). */
#define HD_SEARCH(low, high, at, is_before)       \
    do {                                          \
        while (low < high) {                      \
            uint32_t at = low + (high - low) / 2; \
            if (is_before)                        \
                low = at + 1;                     \
            else                                  \
                high = at;                        \
        }                                         \
    } while (0)

/* The first index of [low, high) whose number is at least `least`; high where there is none. Numbers ascend. */
static inline uint32_t hd_search_u32(const uint32_t *numbers, uint32_t low, uint32_t high, uint32_t least)
{
    HD_SEARCH(low, high, at, numbers[at] < least);
    return low;
}

#endif
