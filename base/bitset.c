/* Dense bitsets. Set operations work on 64-bit words. Bits past the size in the last word are always zero. */
#include "base/bitset.h"

#include <assert.h>

bool hd_bitset_unite(hd_bitset *into, const hd_bitset *from)
{
    assert(into->bits == from->bits);
    uint64_t grown = 0;
    for (uint32_t w = 0, n = hd_bitset_words(into->bits); w < n; w++) {
        grown |= from->words[w] & ~into->words[w];
        into->words[w] |= from->words[w];
    }
    return grown != 0;
}

bool hd_bitset_equal(const hd_bitset *a, const hd_bitset *b)
{
    return a->bits == b->bits && memcmp(a->words, b->words, hd_bitset_words(a->bits) * sizeof(uint64_t)) == 0;
}

uint32_t hd_bitset_count(const hd_bitset *s)
{
    uint32_t count = 0;
    for (uint32_t w = 0, n = hd_bitset_words(s->bits); w < n; w++)
        count += (uint32_t)__builtin_popcountll(s->words[w]);
    return count;
}

uint32_t hd_bitset_next(const hd_bitset *s, uint32_t from)
{
    if (from >= s->bits)
        return s->bits;
    uint32_t w = from / 64, n = hd_bitset_words(s->bits);
    uint64_t word = s->words[w] & ~0ull << (from % 64);
    while (!word) {
        if (++w == n)
            return s->bits;
        word = s->words[w];
    }
    return w * 64 + (uint32_t)__builtin_ctzll(word);
}
