/* Barriers: see barrier.c. */
#ifndef HD_HWMODEL_EXEC_CONTROL_BARRIER_H
#define HD_HWMODEL_EXEC_CONTROL_BARRIER_H

#include "hwmodel/exec/state/state.h"

void hd_barriers_check(hd_cta *cta); /* opens what is complete; to be called when a warp has ended */

#endif
