/* Dense bitset of a fixed size, in 64-bit words, for small or well-filled sets. Use sorted id lists for sparse sets
 * over a large universe (live registers of a kernel of 100,000 instructions). */
#ifndef HD_BASE_BITSET_H
#define HD_BASE_BITSET_H

#include "base/arena.h"
#include <stdbool.h>
#include <string.h>

typedef struct hd_bitset {
    uint64_t *words;
    uint32_t bits;
} hd_bitset;

static inline uint32_t hd_bitset_words(uint32_t bits) { return bits / 64 + (bits % 64 != 0); }
static inline hd_bitset hd_bitset_new(hd_arena *arena, uint32_t bits)
{
    return (hd_bitset){HD_ARENA_ARRAY(arena, uint64_t, hd_bitset_words(bits)), bits};
}
static inline bool hd_bitset_has(const hd_bitset *s, uint32_t i) { return s->words[i / 64] >> (i % 64) & 1; }
static inline void hd_bitset_add(hd_bitset *s, uint32_t i) { s->words[i / 64] |= 1ull << (i % 64); }
static inline void hd_bitset_remove(hd_bitset *s, uint32_t i) { s->words[i / 64] &= ~(1ull << (i % 64)); }
static inline void hd_bitset_clear(hd_bitset *s) { memset(s->words, 0, hd_bitset_words(s->bits) * sizeof(uint64_t)); }
uint32_t hd_bitset_count(const hd_bitset *s);
uint32_t hd_bitset_next(const hd_bitset *s, uint32_t from); /* first member >= from, or s->bits */

#define HD_BITSET_EACH(s, i) for (uint32_t i = hd_bitset_next((s), 0); i < (s)->bits; i = hd_bitset_next((s), i + 1))

#endif
