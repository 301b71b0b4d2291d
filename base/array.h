/* Growable array of one element type, on the heap.
 *
 *   HD_ARRAY(uint32_t) ids = {0};
 *   hd_array_push(&ids, 7);
 *   for (uint32_t i = 0; i < ids.count; i++) use(ids.items[i]);
 *   hd_array_free(&ids);
 *
 * Growth doubles the capacity; hd_array_fit() shrinks it to the count. Counts are uint32_t: an array of 2^32 elements
 * exceeds all limits of the toolkit (a text has at most 4 GiB), and growing past it ends in hd_out_of_memory().
 */
#ifndef HD_BASE_ARRAY_H
#define HD_BASE_ARRAY_H

#include "base/arena.h"
#include <stdlib.h>
#include <string.h>

#define HD_ARRAY(type)            \
    struct {                      \
        type *items;              \
        uint32_t count, capacity; \
    }

/* A named array type, for parameters and return values. */
#define HD_ARRAY_TYPE(name, type) typedef HD_ARRAY(type) name

HD_ARRAY_TYPE(hd_u32_array, uint32_t);

void *hd_array_grow(void *items, uint32_t *capacity, uint64_t needed, size_t item_bytes);

#define hd_array_reserve(a, n)                                                                         \
    do {                                                                                               \
        if ((uint64_t)(n) > (a)->capacity)                                                             \
            (a)->items = hd_array_grow((a)->items, &(a)->capacity, (uint64_t)(n), sizeof *(a)->items); \
    } while (0)
#define hd_array_push(a, ...)                            \
    do {                                                 \
        hd_array_reserve((a), (uint64_t)(a)->count + 1); \
        (a)->items[(a)->count++] = (__VA_ARGS__);        \
    } while (0)
/* The address of element `at`, which may be the count; NULL while the array has never had an element: arithmetic on a
 * null pointer is undefined, with 0 as well. */
#define hd_array_at(a, at) ((a)->items ? (a)->items + (at) : NULL)
/* Appends n uninitialized elements; yields the address of the first. */
#define hd_array_extend(a, n)                                                                                     \
    (((uint64_t)(a)->count + (n) > (a)->capacity                                                                  \
          ? (void)((a)->items =                                                                                   \
                       hd_array_grow((a)->items, &(a)->capacity, (uint64_t)(a)->count + (n), sizeof *(a)->items)) \
          : (void)0),                                                                                             \
     (a)->count += (uint32_t)(n), hd_array_at(a, (a)->count - (n)))
#define hd_array_pop(a) ((a)->items[--(a)->count])
/* Removes element `at`, and keeps the order of the others. Evaluates its arguments more than once. */
#define hd_array_remove(a, at) \
    ((void)((a)->count--, memmove((a)->items + (at), (a)->items + (at) + 1, ((a)->count - (at)) * sizeof *(a)->items)))
#define hd_array_last(a) ((a)->items[(a)->count - 1])
#define hd_array_clear(a) ((void)((a)->count = 0))
#define hd_array_fit(a)                                                                   \
    do {                                                                                  \
        if ((a)->count < (a)->capacity && (a)->count) {                                   \
            (a)->items = hd_realloc((a)->items, (size_t)(a)->count * sizeof *(a)->items); \
            (a)->capacity = (a)->count;                                                   \
        }                                                                                 \
    } while (0)
#define hd_array_free(a) (free((a)->items), (a)->items = NULL, (a)->count = (a)->capacity = 0)

#endif
