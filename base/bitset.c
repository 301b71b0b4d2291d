/* Dense bitsets. Set operations work on 64-bit words. Bits past the size in the last word are always zero. */
#include "base/bitset.h"

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
