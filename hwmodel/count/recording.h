/* The CTAs of a launch that run: their streams (streams.h), as events come in. */
#ifndef HD_HWMODEL_COUNT_RECORDING_H
#define HD_HWMODEL_COUNT_RECORDING_H

#include "hwmodel/count/streams.h"

typedef struct hd_rf_recording {
    HD_ARRAY(hd_rf_cta *) running; /* of a cooperative grid all of it */
    uint32_t latest;               /* of them, the one of the last event */
} hd_rf_recording;

void hd_rf_recording_free(hd_rf_recording *r);
void hd_rf_recording_drop(hd_rf_recording *r); /* all of them */
/* Records it in its CTA, the first one of which makes it; the bytes that the CTA's streams have then. */
uint64_t hd_rf_recording_add(hd_rf_recording *r, const hd_rf_passage *passage);
/* the caller's from then on; NULL: it is not recorded */
hd_rf_cta *hd_rf_recording_end(hd_rf_recording *r, uint32_t cta);

#endif
