/* What an SM did in a range of cycles: its issue slots, the instructions that were issued, and its warps. A listener
 * (listener.h).
 *
 * Cycles count from the first one of the launch. A slot's spans cover the range without a gap, as far as the launch
 * goes: an instruction for one cycle each, and stalls for as long as their reason is the same. So the spans of a slot
 * add up to what the counts of the SM say of it. An instruction that is issued in the range has a span until its
 * results are written, which may be after the range; a warp's span is cut to the range. Of a launch that is repeated,
 * the first execution is recorded. O(1) a span.
 */
#ifndef HD_HWMODEL_SM_TIMELINE_H
#define HD_HWMODEL_SM_TIMELINE_H

#include "base/array.h"
#include "hwmodel/sm/listener.h"

typedef enum hd_timeline_kind { HD_TIMELINE_SLOT, HD_TIMELINE_INSTRUCTION, HD_TIMELINE_WARP } hd_timeline_kind;

typedef struct hd_timeline_span {
    uint64_t begin, end;   /* end: the first cycle after it */
    hd_sm_subject subject; /* of a stall: not set */
    uint8_t kind;          /* hd_timeline_kind */
    uint8_t track;         /* of a SLOT: scheduler * issue width + number; of others: place of the warp in the SM */
    uint8_t reason;        /* of a SLOT: hd_sm_slot */
} hd_timeline_span;

typedef HD_ARRAY(hd_timeline_span) hd_timeline_spans;

typedef struct hd_timeline_range {
    uint32_t sm;         /* its number */
    uint64_t first, end; /* cycles of each launch, up to the one before `end` */
} hd_timeline_range;

typedef struct hd_timeline hd_timeline;

hd_timeline *hd_timeline_new(const hd_timeline_range *range);
void hd_timeline_free(hd_timeline *timeline);
hd_sm_listener hd_timeline_listener(hd_timeline *timeline); /* borrows it */
/* The spans of a launch, which belong to the timeline; NULL: it did not begin. */
const hd_timeline_spans *hd_timeline_of(const hd_timeline *timeline, uint32_t launch);

#endif
