/* See sequences.h. */
#include "base/sequences.h"
#include "base/hash.h"

static bool is(const hd_sequences *s, uint32_t number, const uint32_t *words, uint32_t count)
{
    uint32_t length;
    const uint32_t *known = hd_sequences_words(s, number, &length);
    return length == count && (!count || !memcmp(known, words, count * sizeof *words));
}

uint32_t hd_sequences_number(hd_sequences *s, const uint32_t *words, uint32_t count, uint32_t most)
{
    uint64_t hash = hd_hash(words, count * sizeof *words);
    for (uint32_t at = hd_index_first(&s->numbers, hash); at != HD_INDEX_END; at = hd_index_next(&s->numbers, hash, at))
        if (is(s, s->numbers.slots[at].number, words, count))
            return s->numbers.slots[at].number;
    if (s->ends.count >= most)
        return HD_SEQUENCES_NONE;
    hd_index_add(&s->numbers, hash, s->ends.count);
    uint32_t *kept = hd_array_extend(&s->words, count);
    if (count)
        memcpy(kept, words, count * sizeof *words);
    hd_array_push(&s->ends, s->words.count);
    return s->ends.count - 1;
}

void hd_sequences_free(hd_sequences *s)
{
    hd_array_free(&s->words);
    hd_array_free(&s->ends);
    hd_index_free(&s->numbers);
}
