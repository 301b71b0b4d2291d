/* The address mapping table of LARF (larf.c): which physical register holds what a warp loaded from which addresses.
 *
 * An entry stands for one word of 32 bits in each of its lanes, the addresses of which have one stride, and is found by
 * these. Entries are replaced in the order in which they came. Each names a physical register, which at most one entry
 * names. Beside what the hardware has, an entry keeps the values, for the proof.
 *
 * 83 bits: base address 32, stride 8, lanes 32, physical register 11. The stride counts words, 0 to 255. All entries
 * share the upper 32 bits of their addresses; what lies elsewhere is not entered until the table is empty.
 *
 * Cost: O(1) to find one entry, O(32) to find two, O(entries) for a store whose addresses lie among those of entries.
 */
#ifndef HD_HWMODEL_RF_LARF_TABLE_H
#define HD_HWMODEL_RF_LARF_TABLE_H

#include "base/array.h"
#include <stdbool.h>

enum { HD_LARF_ENTRY_BITS = 32 + 8 + 32 + 11, HD_LARF_MOST_ENTRIES = 2048, HD_LARF_MOST_STRIDE = 255 * 4 };

typedef struct hd_larf_pattern { /* addresses of a word by lane */
    uint64_t base;               /* that lane 0 has, or would have */
    uint32_t stride, lanes;      /* stride: in bytes; lanes 0: they have no pattern */
} hd_larf_pattern;

typedef struct hd_larf_entry {
    hd_larf_pattern where;
    uint32_t physical;
    uint32_t values[32]; /* by lane */
    /* 1 + entry, 0: none; of the same hash; in the order of age, or of those that are free */
    uint32_t chain, older, younger;
} hd_larf_entry;

typedef struct hd_larf_table {
    HD_ARRAY(hd_larf_entry) entries; /* all that the table has room for */
    uint32_t used, free, oldest, youngest;
    uint64_t region;          /* upper half of the addresses of all entries */
    hd_u32_array buckets;     /* by hash: 1 + entry */
    hd_u32_array by_physical; /* 1 + entry */
    bool bases_only;          /* a planted fault: a store finds only entries with its own base */
} hd_larf_table;

typedef struct hd_larf_part { /* of a load: lanes that an entry has, and where */
    const hd_larf_entry *entry;
    int32_t shift;  /* lane i of the load is lane i + shift of the entry */
    uint32_t lanes; /* of the load */
} hd_larf_part;

/* Empties the table: so many entries, at most HD_LARF_MOST_ENTRIES, and physical registers. */
void hd_larf_start(hd_larf_table *table, uint32_t entries, uint32_t physical);
void hd_larf_free(hd_larf_table *table);

hd_larf_pattern hd_larf_pattern_of(uint32_t lanes, const uint64_t *addresses);
/* An entry that has all lanes of the pattern in place; NULL: none. */
const hd_larf_entry *hd_larf_find(const hd_larf_table *table, hd_larf_pattern pattern);
/* Up to two entries with the same stride that together have all lanes; their number, 0: there are none. */
uint32_t hd_larf_find_parts(const hd_larf_table *table, hd_larf_pattern pattern, hd_larf_part parts[2]);
/* Enters what the physical register holds, in place of the oldest entry if there is no room; false: it lies elsewhere.
 * *evicted: an entry made room. */
bool hd_larf_enter(hd_larf_table *table, hd_larf_pattern pattern, uint32_t physical, const uint32_t *values,
                   bool *evicted);
/* Removes the entry that names the register. */
bool hd_larf_forget(hd_larf_table *table, uint32_t physical);
/* Removes entries with a word that a store of so many bytes a lane touches; their number. */
uint32_t hd_larf_evict(hd_larf_table *table, uint32_t lanes, const uint64_t *addresses, uint32_t bytes);
uint32_t hd_larf_clear(hd_larf_table *table); /* removes all; their number */

#endif
