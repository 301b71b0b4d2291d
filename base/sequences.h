/* Sequences of words, each different one with a number, from 0 on in the order in which they came.
 *
 * Zeroed, there are none. O(length) expected, to find one or to add it; they are kept until hd_sequences_free.
 */
#ifndef HD_BASE_SEQUENCES_H
#define HD_BASE_SEQUENCES_H

#include "base/array.h"
#include "base/index.h"

#include <stdbool.h>

typedef struct hd_sequences {
    hd_u32_array words, ends; /* ends: by number, where its words end */
    hd_index numbers;
} hd_sequences;

enum { HD_SEQUENCES_NONE = 0xffffffffu };

/* The number of these words, which are added where they are new and there are fewer than `most` so far; else
 * HD_SEQUENCES_NONE. */
uint32_t hd_sequences_number(hd_sequences *s, const uint32_t *words, uint32_t count, uint32_t most);
void hd_sequences_free(hd_sequences *s);

/* The words that have the number; they move where sequences are added. */
static inline const uint32_t *hd_sequences_words(const hd_sequences *s, uint32_t number, uint32_t *count)
{
    uint32_t first = number ? s->ends.items[number - 1] : 0;
    *count = s->ends.items[number] - first;
    return s->words.items + first;
}
static inline uint64_t hd_sequences_bytes(const hd_sequences *s)
{
    return ((uint64_t)s->words.count + s->ends.count) * sizeof(uint32_t);
}

#endif
