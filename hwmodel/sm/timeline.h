/* What an SM did in a range of cycles: its issue slots, the instructions that were issued, and its warps.
 *
 * Cycles count from the first one of the launch. A slot's spans cover the range without a gap, as far as the launch
 * goes: an instruction for one cycle each, and stalls for as long as their reason is the same. So the spans of a slot
 * add up to what the counts of the SM say of it. An instruction that is issued in the range has a span until its
 * results are written, which may be after the range; a warp's span is cut to the range. O(1) a span.
 */
#ifndef HD_HWMODEL_SM_TIMELINE_H
#define HD_HWMODEL_SM_TIMELINE_H

#include "base/array.h"

enum { HD_TIMELINE_SLOTS = 64 /* of all schedulers of an SM */ };

typedef enum hd_timeline_kind { HD_TIMELINE_SLOT, HD_TIMELINE_INSTRUCTION, HD_TIMELINE_WARP } hd_timeline_kind;

typedef struct hd_timeline_what { /* of an instruction; of a warp, the first two */
    uint32_t cta, warp;           /* of the launch */
    uint32_t function, instruction;
    uint32_t threads; /* that execute it */
} hd_timeline_what;

typedef struct hd_timeline_span {
    uint64_t begin, end; /* end: the first cycle after it */
    hd_timeline_what what;
    uint8_t kind;   /* hd_timeline_kind */
    uint8_t track;  /* of a SLOT: scheduler * issue width + number; of others: place of the warp in the SM */
    uint8_t reason; /* of a SLOT: hd_sm_slot */
} hd_timeline_span;

typedef struct hd_timeline_range {
    uint32_t sm;         /* its number */
    uint64_t first, end; /* cycles of each launch, up to the one before `end`; both 0: none */
} hd_timeline_range;

typedef struct hd_timeline {
    hd_timeline_range range;
    uint64_t base; /* the clock in the first cycle of the launch */
    HD_ARRAY(hd_timeline_span) spans;
    uint32_t stalls[HD_TIMELINE_SLOTS]; /* by slot: 1 + the last stall; 0: there is none */
} hd_timeline;

/* Times of the calls are those of the SM's clock. */
void hd_timeline_begin(hd_timeline *timeline, uint64_t now);
void hd_timeline_stall(hd_timeline *timeline, uint32_t slot, uint8_t reason, uint64_t begin, uint64_t end);
/* The instruction, for hd_timeline_complete; 0: it is not in the range. */
uint32_t hd_timeline_issue(hd_timeline *timeline, uint32_t slot, uint32_t place, const hd_timeline_what *what,
                           uint64_t now);
void hd_timeline_complete(hd_timeline *timeline, uint32_t instruction, uint64_t now);
void hd_timeline_warp(hd_timeline *timeline, uint32_t place, const hd_timeline_what *what, uint64_t begin,
                      uint64_t end);
/* Instructions that are not complete, where a technique ends the run, end now. */
void hd_timeline_end(hd_timeline *timeline, uint64_t now);

/* A copy, which takes the spans with it. */
hd_timeline *hd_timeline_take(hd_timeline *timeline);
void hd_timeline_free(const hd_timeline *timeline);

#endif
