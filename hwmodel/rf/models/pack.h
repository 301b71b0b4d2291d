/* Entries of a register file that hold several narrow registers: four slices of a byte of each lane, and the map of the
 * free ones.
 *
 * Register packing, as CORF has it ("CORF: Coalescing Operand Register File for GPUs", sections 2.2, 2.4.3 and 2.5.3):
 * a register takes as many neighbouring slices of one entry as its widest lane has bytes; its byte k lies in the k-th
 * of them, from the lowest. The pool grows: there is always an empty entry.
 *
 * For the replay's proof (identity.h) each slice records which byte of which value it holds, and each value its owner
 * and claim. A register is read from the slices that the renaming table names, which must be the bytes of one value. A
 * slice that a write of the value misses no longer holds a byte of it.
 *
 * Cost: O(1) to read and write; the lowest entry with room is found in a few steps for each 64 entries.
 */
#ifndef HD_HWMODEL_RF_PACK_H
#define HD_HWMODEL_RF_PACK_H

#include "ir/ir.h"
#include "hwmodel/rf/memo.h"

enum { HD_PACK_SLICES = 4, HD_PACK_WHOLE = 15 /* mask of all */ };

/* left: up to slice 3; right: from slice 0 on */
typedef enum hd_pack_side { HD_PACK_ANY, HD_PACK_LEFT, HD_PACK_RIGHT } hd_pack_side;

typedef struct hd_pack_slices { /* a row of the renaming table; one word, as it is copied often */
    uint32_t entry : 28;
    uint32_t mask : HD_PACK_SLICES; /* 0: nowhere */
} hd_pack_slices;

typedef struct hd_pack_value { /* a value written into neighbouring slices */
    hd_owner owner;
    hd_claim claim;
} hd_pack_value;

typedef struct hd_pack_entry {
    /* a byte for each slice, from the lowest: 0: empty; else 1 + 4 * number of the value + number of its byte */
    uint32_t layout;
    uint8_t taken;                        /* mask */
    bool reserved;                        /* for a partner: no search finds it */
    hd_pack_value values[HD_PACK_SLICES]; /* by the slice of their lowest byte */
} hd_pack_entry;

typedef struct hd_pack_word {
    uint64_t with[HD_PACK_WHOLE + 1]; /* of 64 entries, those with this mask of slices that a search finds free */
} hd_pack_word;

typedef struct hd_pack_pool {
    HD_ARRAY(hd_pack_entry) entries;
    HD_ARRAY(hd_pack_word) words;
    uint32_t used; /* entries with a taken slice */
} hd_pack_pool;

void hd_pack_clear(hd_pack_pool *pool);
void hd_pack_free(hd_pack_pool *pool);

/* A run of `width` free slices in an entry, at the side if it is one, else the lowest; 0: there is none. */
uint8_t hd_pack_run(const hd_pack_pool *pool, uint32_t entry, uint32_t width, hd_pack_side side);
/* The lowest entry with such a run, and the run. */
hd_pack_slices hd_pack_find(hd_pack_pool *pool, uint32_t width, hd_pack_side side);
/* The lowest empty entry. */
uint32_t hd_pack_empty(hd_pack_pool *pool);

void hd_pack_take(hd_pack_pool *pool, hd_pack_slices slices); /* the slices' bytes are lost */
void hd_pack_give(hd_pack_pool *pool, hd_pack_slices slices);
void hd_pack_reserve(hd_pack_pool *pool, uint32_t entry, bool reserved);

/* The claim that the slices of a location hold; no lane if they are not the bytes of one value, from its lowest on. */
static inline hd_pack_value hd_pack_read(const hd_pack_pool *pool, hd_pack_slices slices);
static inline void hd_pack_write(hd_pack_pool *pool, hd_pack_slices slices, hd_owner owner, hd_claim claim);

/* A snapshot of all entries of one warp. */
void hd_pack_snapshot(hd_pack_pool *pool, hd_snapshot *snapshot);

/* Slices of a place; a digit for each mask, from the right. */
static inline uint32_t hd_pack_width(hd_pack_slices slices)
{
    return (uint32_t)(0x4332322132212110 >> 4 * slices.mask & 15);
}

/* ---- layouts ----------------------------------------------------------------------------------------------------- */

/* The bytes of a layout that are of the slices. */
static inline uint32_t hd_pack_bytes(uint32_t mask) { return (mask * 0x00204081u & 0x01010101u) * 0xffu; }
/* The layout of a value whose lowest byte is in that slice, and which has all from there on. */
static inline uint32_t hd_pack_layout(uint32_t low) { return (0x04030201u + 0x04040404u * low) << 8 * low; }

/* All of each byte whose highest bit is set. */
static inline uint32_t hd_pack_bytes_marked(uint32_t word) { return (word >> 7 & 0x01010101u) * 0xffu; }

static inline hd_pack_value hd_pack_read(const hd_pack_pool *pool, hd_pack_slices slices)
{
    const hd_pack_entry *e = &pool->entries.items[slices.entry];
    uint32_t low = (uint32_t)__builtin_ctz(slices.mask),
             other = (e->layout ^ hd_pack_layout(low)) & hd_pack_bytes(slices.mask);
    const hd_pack_value *value = &e->values[low];
    return (hd_pack_value){value->owner, {value->claim.serial, other ? 0 : value->claim.lanes}};
}

static inline void hd_pack_write(hd_pack_pool *pool, hd_pack_slices slices, hd_owner owner, hd_claim claim)
{
    hd_pack_entry *e = &pool->entries.items[slices.entry];
    uint32_t low = (uint32_t)__builtin_ctz(slices.mask), all = hd_pack_layout(low), bytes = hd_pack_bytes(slices.mask);
    /* has a byte of 0 where bytes of this value remain that are not written now, or nothing */
    uint32_t other = e->layout ^ (all & ~bytes);
    uint32_t kept = ((other & 0x7f7f7f7f) + 0x7f7f7f7f) | other;
    e->layout = (e->layout & hd_pack_bytes_marked(kept) & ~bytes) | (all & bytes);
    e->values[low] = (hd_pack_value){owner, claim};
}

#endif
