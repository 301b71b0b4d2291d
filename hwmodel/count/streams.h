/* What the warps of a CTA did, kept to be walked again in another order of the warps.
 *
 * A record is a stretch of instructions (segment.h), or a RETURN event. Instructions that make the CTA's warps wait for
 * each other (HD_BEHAVE_BARRIER) keep their order: the record behind such a one names the warps that it waits for,
 * those that had issued as many of them when the warp went on. That leaves out what named barriers of a part of the
 * warps would allow more, never what they forbid, and so can never lock up.
 */
#ifndef HD_HWMODEL_COUNT_STREAMS_H
#define HD_HWMODEL_COUNT_STREAMS_H

#include "hwmodel/count/segment.h"

enum { HD_RF_CTA_WARPS = 32 };

typedef struct hd_rf_record {
    const hd_rf_stretch *stretch; /* NULL: a RETURN */
    uint32_t frame;
    uint32_t behind; /* warps of the CTA that must have issued as many barrier instructions as this one before it */
} hd_rf_record;

typedef struct hd_rf_stream { /* of one warp */
    HD_ARRAY(hd_rf_record) records;
    uint32_t warp, barriers; /* of the launch; barrier instructions so far */
    bool behind_barrier;
} hd_rf_stream;

typedef struct hd_rf_cta {
    uint32_t cta, warp_count, readers; /* readers: on several threads */
    uint64_t bytes;                    /* of its streams */
    HD_ARRAY(hd_rf_stretch *) own;     /* copies of stretches without a number */
    hd_rf_stream warps[HD_RF_CTA_WARPS];
} hd_rf_cta;

hd_rf_cta *hd_rf_cta_new(uint32_t cta); /* with one reader */
void hd_rf_cta_release(hd_rf_cta *cta); /* by one reader; the last one frees it. NULL: nothing */
/* What a warp of the CTA does next: WARP_START, a stretch, or RETURN; others are left out. */
void hd_rf_cta_record(hd_rf_cta *cta, const hd_rf_passage *passage);

#endif
