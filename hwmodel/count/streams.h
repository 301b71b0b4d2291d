/* What the warps of thread blocks did, recorded so that the schedule (schedule.h) can walk it in another order.
 *
 * A record is a segment, or a return. Instructions that make the block's warps wait for each other
 * (HD_BEHAVE_BARRIER) keep their order: the record after such a one names the warps that it waits for, those that had
 * issued as many of them when the warp went on. That leaves out what named barriers of a part of the warps would allow
 * more, never what they forbid, and so can never lock up.
 *
 * Cost: O(1) an event while few blocks run at a time. Memory: 16 bytes an event.
 */
#ifndef HD_HWMODEL_COUNT_STREAMS_H
#define HD_HWMODEL_COUNT_STREAMS_H

#include "hwmodel/record/segment.h"

enum { HD_STREAM_WARPS = 32 };

typedef struct hd_stream_record {
    const hd_segment *segment; /* NULL: a return */
    uint32_t frame;
    uint32_t awaits; /* warps of the block that must have issued as many barrier instructions as this one before it */
} hd_stream_record;

typedef struct hd_warp_stream {
    HD_ARRAY(hd_stream_record) records;
    uint32_t warp, barriers; /* of the launch; barrier instructions so far */
    bool after_barrier;
} hd_warp_stream;

typedef struct hd_cta_streams {
    uint32_t cta, warp_count, readers; /* readers: on several threads */
    uint64_t bytes;
    hd_loose_segments own; /* copies of loose segments */
    hd_warp_stream warps[HD_STREAM_WARPS];
} hd_cta_streams;

void hd_cta_streams_release(hd_cta_streams *cta); /* by one reader; the last one frees it */

/* The blocks of a launch that run. */
typedef struct hd_stream_recorder {
    HD_ARRAY(hd_cta_streams *) running; /* of a cooperative grid all of it */
    uint32_t latest;                    /* of them, the one of the last event */
} hd_stream_recorder;

void hd_stream_recorder_free(hd_stream_recorder *r);
void hd_stream_recorder_drop(hd_stream_recorder *r); /* all of them */
/* Records it with its block; the bytes that the block's streams have then. Other events than beginnings, segments and
 * returns are left out. */
uint64_t hd_stream_record_event(hd_stream_recorder *r, const hd_warp_event *event);
/* The block, with the caller as its reader; NULL: nothing is recorded of it. */
hd_cta_streams *hd_stream_record_end(hd_stream_recorder *r, uint32_t cta);

#endif
