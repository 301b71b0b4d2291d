/* What the warps of a CTA did, kept in few bytes, to be walked again in another order of the warps.
 *
 * A record is an ISSUE or RETURN event. It takes one byte where the instruction follows the one before it in the text and neither frame nor
 * lanes changed; columns are not kept. Instructions that make the CTA's warps wait for each other (HD_BEHAVE_BARRIER) keep their order: the
 * record behind such a one names the warps that it waits for, those that had issued as many of them when the warp went on. That leaves out
 * what named barriers of a part of the warps would allow more, never what they forbid, and so can never lock up.
 */
#ifndef HD_HWMODEL_RF_STREAMS_H
#define HD_HWMODEL_RF_STREAMS_H

#include "hwmodel/rf/code.h"
#include "hwmodel/stream.h"

enum { HD_RF_CTA_WARPS = 32 };

typedef struct hd_rf_position { /* what the next record is told by its difference to */
    uint32_t next, active, frame, function;
} hd_rf_position;

typedef struct hd_rf_stream { /* of one warp */
    HD_ARRAY(uint8_t) bytes; /* what the warp did: the same for warps that did the same */
    hd_u32_array behind;     /* by record behind a barrier: warps of the CTA that it waits for */
    hd_rf_position at;
    uint32_t warp, barriers; /* of the launch; barrier instructions so far */
    bool behind_barrier, ended;
} hd_rf_stream;

typedef struct hd_rf_cta {
    const hd_rf_module *code;
    uint32_t cta, warp_count, readers; /* readers: on several threads */
    uint64_t bytes; /* of its streams */
    hd_rf_stream warps[HD_RF_CTA_WARPS];
} hd_rf_cta;

hd_rf_cta *hd_rf_cta_new(const hd_rf_module *code, uint32_t cta); /* with one reader */
void hd_rf_cta_release(hd_rf_cta *cta);                           /* by one reader; the last one frees it. NULL: nothing */
/* An event of the CTA: WARP_START, ISSUE, RETURN or WARP_END; others are left out. */
void hd_rf_cta_record(hd_rf_cta *cta, const hd_event *event);

/* A reader of one stream. */
typedef struct hd_rf_record {
    hd_event event;    /* without columns */
    uint32_t behind;   /* warps of the CTA that must have issued as many barrier instructions as this one before it */
} hd_rf_record;
typedef struct hd_rf_cursor {
    const hd_rf_cta *cta;
    const hd_rf_stream *stream;
    uint32_t byte, barrier;
    hd_rf_position at;
} hd_rf_cursor;
hd_rf_cursor hd_rf_cursor_of(const hd_rf_cta *cta, uint32_t warp); /* index in the CTA */
bool hd_rf_cursor_next(hd_rf_cursor *cursor, hd_rf_record *record); /* false: the warp has ended */

#endif
