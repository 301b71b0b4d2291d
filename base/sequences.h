/* Interned sequences of words: each distinct sequence has a number, assigned from 0 in the order of insertion.
 *
 * A zeroed table is empty. Finding or adding a sequence takes expected O(length). Sequences are kept until
 * hd_sequences_free.
 */
#ifndef HD_BASE_SEQUENCES_H
#define HD_BASE_SEQUENCES_H

#include "base/array.h"
#include "base/index.h"

#include <stdbool.h>

typedef struct hd_sequences {
    hd_u32_array words, ends; /* ends: by number, the end of its words */
    hd_index numbers;
} hd_sequences;

enum { HD_SEQUENCES_NONE = 0xffffffffu };

/* The number of the sequence. A new one is added if the table has fewer than `most`; else HD_SEQUENCES_NONE. */
uint32_t hd_sequences_number(hd_sequences *s, const uint32_t *words, uint32_t count, uint32_t most);
void hd_sequences_free(hd_sequences *s);

/* The words of a sequence; may be NULL for an empty one. The pointer is valid until a sequence is added. */
static inline const uint32_t *hd_sequences_words(const hd_sequences *s, uint32_t number, uint32_t *count)
{
    uint32_t first = number ? s->ends.items[number - 1] : 0;
    *count = s->ends.items[number] - first;
    return hd_array_at(&s->words, first);
}
static inline uint64_t hd_sequences_bytes(const hd_sequences *s)
{
    return ((uint64_t)s->words.count + s->ends.count) * sizeof(uint32_t);
}

#endif
