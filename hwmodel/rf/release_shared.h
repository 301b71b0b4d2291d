/* What all warps of RFV (release.c) share: physical registers, the flag cache, and the registers that frames are
 * reserved without renaming. Warps operate on it in the order in which they run; what has become of all of it is
 * counted at the end.
 *
 * Cost: O(1) an operation; O(physical registers) to finalize.
 */
#ifndef HD_HWMODEL_RF_RELEASE_SHARED_H
#define HD_HWMODEL_RF_RELEASE_SHARED_H

#include "hwmodel/rf/physical.h"

enum { HD_RELEASE_MOST_ENTRIES = 64 };

/* What, index and n of an hd_effect. */
typedef enum hd_release_operation {
    HD_RELEASE_TAKE,      /* a physical register for the word `index` of the warp's frame */
    HD_RELEASE_GIVE,      /* the one of `index`, away */
    HD_RELEASE_ISSUE,     /* an instruction issues */
    HD_RELEASE_ACCESS,    /* of the physical register of `index`, n times */
    HD_RELEASE_FETCH,     /* a pir word is wanted, `index` is 1 + its address; from entry n of the flag cache */
    HD_RELEASE_RESERVE,   /* n words of a frame that begins */
    HD_RELEASE_UNRESERVE, /* ... that ends */
} hd_release_operation;

typedef struct hd_release_held { /* of a register in a warp */
    uint64_t accesses;           /* that its physical register does not know of yet */
    uint32_t place;              /* 1 + that of its physical register; 0: none */
    uint16_t bank;               /* where that is */
    uint16_t frames;             /* of the warp that hold a value in it: all but the last one's are on the stack */
} hd_release_held;
/* by word of a frame: the words of a callee are the registers of its caller */
typedef HD_ARRAY(hd_release_held) hd_release_helds;

typedef struct hd_release_counts { /* of the file, since the launch began */
    uint64_t on, off, squares;
    uint32_t woken, touched, registers, saved, missed;
} hd_release_counts;

typedef struct hd_release_shared {
    hd_rf_model *model; /* whose counters these are */
    hd_physical_file file;
    HD_ARRAY(hd_release_helds) warps; /* by slot */
    uint32_t saved;                   /* registers whose values went to the stack */
    uint32_t missed;                  /* pir words that were wanted and not in the cache */
    hd_release_counts counted;        /* of what has become of the file: what the counters know of */
    uint32_t banks, subarrays, entries, wake_cycles;
    uint32_t bank_mask;                      /* where the number of banks is a power of two: less one; else 0 */
    uint32_t cache[HD_RELEASE_MOST_ENTRIES]; /* 1 + address of a pir word; 0: empty */
    uint32_t reserved, most_reserved;        /* words that all frames that live are reserved without renaming */
} hd_release_shared;

/* A launch begins, with so many physical registers. */
void hd_release_shared_start(hd_release_shared *shared, uint32_t registers);
void hd_release_shared_free(hd_release_shared *shared);
/* See `share` in memo.h. */
hd_rf_wrong hd_release_shared_do(hd_release_shared *shared, uint32_t slot, const hd_effect *operation);
/* See `finalize` in technique.h. */
void hd_release_shared_finalize(hd_release_shared *shared);

/* The bank that a word has without renaming. */
static inline uint32_t hd_release_bank(const hd_release_shared *s, uint32_t slot, uint32_t word)
{
    uint32_t sum = slot + word;
    /* a division takes longer than all else that is done to take one */
    return s->bank_mask ? sum & s->bank_mask : sum % s->banks;
}

#endif
