/* A batch: events and records that count mode keeps until its walks take them. */
#ifndef HD_HWMODEL_COUNT_BATCH_H
#define HD_HWMODEL_COUNT_BATCH_H

#include "hwmodel/record/record.h"
#include "hwmodel/rf/technique.h"

enum { HD_BATCH_COLUMN_BYTES = 1 << 20 /* more than one event has */ };

typedef struct hd_numbered_event {
    hd_warp_event what;
    uint64_t number; /* of its first instruction, or its own, counted from the first of all */
} hd_numbered_event;

typedef struct hd_batch {
    uint32_t taken;                     /* events that it is made from */
    uint64_t end;                       /* number of the first event after it */
    HD_ARRAY(hd_numbered_event) events; /* for program order */
    hd_loose_segments loose;            /* of the events */
    uint64_t *columns;                  /* addresses and results of the events' segments */
    uint32_t column_bytes;              /* used of them */
    uint32_t launch;                    /* the kernel of the launch that begins with it; HD_NONE */
    hd_rf_residency residency;          /* in that */
    bool ends, drains;           /* the launch ends with it; blocks that are resident then are walked to their end */
    HD_ARRAY(hd_record *) ended; /* for the schedule */
    uint64_t ended_bytes;
} hd_batch;

void hd_batch_free(hd_batch *batch);
void hd_batch_clear(hd_batch *batch); /* a new one must be cleared, too */
/* An empty one has room for any event's columns. */
bool hd_batch_has_room(const hd_batch *batch, const hd_event *event);
/* The event, with copies of its addresses and results. */
hd_event hd_batch_keep_columns(hd_batch *batch, const hd_event *event);
void hd_batch_add_record(hd_batch *batch, hd_record *record); /* takes it */

#endif
