/* The storage that all warps of RFV (release.c) share: physical registers, the release-flag cache, and the number of
 * registers that frames would have without renaming. Operations are done in the order in which warps issue; counters
 * are computed at the end of a launch.
 *
 * Cost: O(1) an operation; O(physical registers) to finalize.
 */
#ifndef HD_HWMODEL_RF_RELEASE_SHARED_H
#define HD_HWMODEL_RF_RELEASE_SHARED_H

#include "hwmodel/rf/models/physical.h"

enum { HD_RELEASE_MOST_ENTRIES = 64 };

/* What, index and n of an hd_effect. */
typedef enum hd_release_operation {
    HD_RELEASE_MAP,    /* maps the word `index` of the warp's frame to a free physical register; n: spills it at once */
    HD_RELEASE_UNMAP,  /* releases the physical register of `index` */
    HD_RELEASE_ISSUE,  /* an instruction issues */
    HD_RELEASE_ACCESS, /* n accesses of the physical register of `index` */
    HD_RELEASE_FETCH,  /* looks up the pir word with address `index` - 1 in entry n of the flag cache */
    HD_RELEASE_RESERVE,   /* a frame with n words begins */
    HD_RELEASE_UNRESERVE, /* ... ends */
    HD_RELEASE_SPILL,     /* the value in the physical register of `index` goes to memory, and releases it */
    HD_RELEASE_REFILL,    /* ... comes back, to a free one */
} hd_release_operation;

typedef struct hd_release_held { /* of a register in a warp */
    uint64_t accesses;           /* not added to its physical register yet */
    uint32_t row;                /* 1 + row of its physical register; 0: none */
    uint16_t bank;               /* bank of its physical register */
    uint16_t frames;             /* frames that hold a value in it; all values but the last one's are on the stack.
                                    Without a row: that is in memory, too (spilled) */
} hd_release_held;
/* What a warp holds, by word of a frame: the words of a callee are the registers of its caller. */
typedef struct hd_release_helds {
    hd_release_held *items;
    uint32_t count, capacity;
    uint32_t cta;            /* number of its thread block among the resident ones */
    uint32_t taken, spilled; /* physical registers that it has; registers that are spilled */
} hd_release_helds;

typedef struct hd_release_counts { /* of the file, since the launch began */
    uint64_t on, off, squares;
    uint32_t wakeups, touched, registers, saved, missed;
} hd_release_counts;

typedef struct hd_release_shared {
    hd_rf_model *model; /* whose counters these are */
    hd_physical_file file;
    HD_ARRAY(hd_release_helds) warps; /* by slot */
    hd_u32_array ctas;                /* physical registers of each thread block, by its number */
    uint32_t saved;                   /* registers saved on the stack */
    uint32_t missed;                  /* lookups of pir words that missed the cache */
    hd_release_counts counted;        /* sub-array wake-ups and times that the counters already include */
    uint32_t banks, subarrays, entries, wake_cycles;
    uint64_t now;                            /* the driver's clock, set by the caller before it maps */
    uint32_t woken_in;                       /* cycles until the sub-array of the register mapped last has power */
    uint32_t bank_mask;                      /* number of banks - 1 if it is a power of two, else 0 */
    uint32_t cache[HD_RELEASE_MOST_ENTRIES]; /* 1 + address of a pir word; 0: empty */
    uint32_t reserved, most_reserved;        /* registers that all frames would have without renaming */
} hd_release_shared;

/* A launch begins, with so many physical registers. */
void hd_release_shared_start(hd_release_shared *shared, uint32_t registers);
void hd_release_shared_free(hd_release_shared *shared);
/* The warp that begins in the slot is of the thread block with that number; of 0 where nobody says it. */
void hd_release_shared_join(hd_release_shared *shared, uint32_t slot, uint32_t cta);
/* See `share` in memo.h. */
hd_rf_wrong hd_release_shared_do(hd_release_shared *shared, uint32_t slot, const hd_effect *operation);
/* See `finalize` in technique.h. */
void hd_release_shared_finalize(hd_release_shared *shared);

static inline bool hd_release_is_spilled(const hd_release_shared *s, uint32_t slot, uint32_t word)
{
    const hd_release_helds *w = &s->warps.items[slot];
    return word < w->count && w->items[word].frames && !w->items[word].row;
}

/* The bank that a word has without renaming. */
static inline uint32_t hd_release_bank(const hd_release_shared *s, uint32_t slot, uint32_t word)
{
    uint32_t sum = slot + word;
    /* a division would take longer than the rest of an allocation */
    return s->bank_mask ? sum & s->bank_mask : sum % s->banks;
}

#endif
