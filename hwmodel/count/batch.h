/* Batches: what a count keeps of the stream until its models look at it, in the form that each of them sees. */
#ifndef HD_HWMODEL_COUNT_BATCH_H
#define HD_HWMODEL_COUNT_BATCH_H

#include "hwmodel/count/streams.h"
#include "hwmodel/rf/technique.h"

enum { HD_RF_BATCH_BYTES = 1 << 20 }; /* of columns; more than one event can have */

typedef struct hd_rf_dated {
    hd_rf_passage what;
    uint64_t event; /* its first one, counted from the first of all */
} hd_rf_dated;

typedef struct hd_rf_batch {
    uint32_t kept; /* events that it is made from */
    uint64_t end;  /* number of the first event behind it, counted from the first of all */
    HD_ARRAY(hd_event) events;
    uint64_t first_event; /* likewise */
    uint64_t *columns;    /* of the events */
    uint32_t used;        /* bytes of them */
    HD_ARRAY(hd_rf_dated) passages;
    hd_rf_loose loose;         /* stretches of the passages */
    uint32_t launch;           /* the kernel of the launch that begins with it; HD_NONE */
    hd_rf_residency residency; /* in that */
    bool ends, drains;         /* the launch ends with it; CTAs that are resident then are looked at to their end */
    HD_ARRAY(hd_rf_cta *) ended;
    uint64_t ended_bytes; /* of their streams */
} hd_rf_batch;

void hd_rf_batch_free(hd_rf_batch *batch);
void hd_rf_batch_clear(hd_rf_batch *batch); /* a new one must be cleared, too */
/* Events, with their columns. */
bool hd_rf_batch_has_room(const hd_rf_batch *batch, const hd_event *event); /* an empty one has */
void hd_rf_batch_add(hd_rf_batch *batch, const hd_event *event, uint64_t number);
void hd_rf_batch_add_cta(hd_rf_batch *batch, hd_rf_cta *cta); /* takes it */

/* The event of a stretch's instruction i; *widths begins with those of instruction 0, and goes on. */
hd_event hd_stretch_event(const hd_stretch *s, const hd_rf_code *code, uint32_t i, const hd_width **widths);
/* On the heap: what the stretch does before it comes to that part. */
hd_stretch *hd_stretch_before(const hd_stretch *s, const hd_rf_code *code, uint32_t part);

#endif
