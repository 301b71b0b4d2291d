/* Events with their columns, kept until models look at them. */
#ifndef HD_HWMODEL_RF_BATCH_H
#define HD_HWMODEL_RF_BATCH_H

#include "base/array.h"
#include "hwmodel/rf/code.h"
#include "hwmodel/stream.h"

enum { HD_RF_BATCH_BYTES = 1 << 20 }; /* of columns; more than one event can have */

typedef struct hd_rf_batch {
    HD_ARRAY(hd_event) events;
    uint64_t *columns;
    uint32_t used; /* bytes of them */
} hd_rf_batch;

void hd_rf_batch_free(hd_rf_batch *batch);
void hd_rf_batch_clear(hd_rf_batch *batch);
bool hd_rf_batch_has_room(const hd_rf_batch *batch, const hd_event *event); /* an empty one has */
void hd_rf_batch_add(hd_rf_batch *batch, const hd_event *event);

/* The event of a stretch's instruction i; *widths begins with those of instruction 0, and goes on. */
hd_event hd_stretch_event(const hd_stretch *s, const hd_rf_code *code, uint32_t i, const hd_width **widths);
/* On the heap: what the stretch does before it comes to that part. */
hd_stretch *hd_stretch_before(const hd_stretch *s, const hd_rf_code *code, uint32_t part);

#endif
