/* cp.async and its waits. */
#ifndef HD_HWMODEL_EXEC_CONTROL_ASYNC_H
#define HD_HWMODEL_EXEC_CONTROL_ASYNC_H

#include "hwmodel/exec/state/state.h"

typedef struct hd_async_detail { /* hd_op.use.detail of cp.async; the op itself has the source's address */
    hd_op to;                    /* the destination's address */
    hd_ref size;                 /* bytes to read, or HD_NO_REF: all */
    hd_ref ignore;               /* predicate: read nothing, or HD_NO_REF */
    bool ignore_not;             /* the predicate is inverted */
} hd_async_detail;

/* Performs the pending arrivals of cp.async.mbarrier.arrive on the mbarrier at this offset of shared memory, each after
 * the copies of its lane. Returns NULL, or why one is invalid. */
const char *hd_async_arrivals(hd_cta *cta, uint32_t offset);

void hd_async_finish(hd_warp *w); /* performs everything pending when the warp has ended */

#endif
