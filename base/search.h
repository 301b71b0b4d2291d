/* Binary search, and rows of tables by name. */
#ifndef HD_BASE_SEARCH_H
#define HD_BASE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* Whether the text, which need not end with a NUL, is the name. */
static inline bool hd_is_name(const char *text, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(text, name, length) == 0;
}

/* `first`: the pointer to the name in the first row; the next one is `bytes` after it. The index of the row whose name
 * the text is; `count` where there is none. O(count). */
static inline uint32_t hd_find_row(const void *first, size_t bytes, uint32_t count, const char *text, size_t length)
{
    for (uint32_t i = 0; i < count; i++)
        if (hd_is_name(text, length, *(const char *const *)((const char *)first + i * bytes)))
            return i;
    return count;
}

/* The same of a table of structures with a member `name`. */
#define HD_FIND_ROW(rows, count, name, text, length) hd_find_row(&(rows)->name, sizeof *(rows), count, text, length)

#endif
