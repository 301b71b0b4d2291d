/* Detects CTAs that run forever: see livelock.c. */
#ifndef HD_HWMODEL_EXEC_CONTROL_LIVELOCK_H
#define HD_HWMODEL_EXEC_CONTROL_LIVELOCK_H

#include "hwmodel/exec/state/state.h"

/* Call after each round of turns; all_spun: every ready warp used its whole turn and is still ready. true: the CTA will
 * never end. */
bool hd_livelock_check(hd_cta *cta, bool all_spun);
typedef struct hd_trace hd_trace;
void hd_livelock_trace(const hd_op *op, hd_warp *w); /* records an executed op, if cta->trace is set */
void hd_livelock_free(hd_cta *cta);

#endif
