/* Barriers: see barrier.c. */
#ifndef HD_HWMODEL_EXEC_CONTROL_BARRIER_H
#define HD_HWMODEL_EXEC_CONTROL_BARRIER_H

#include "hwmodel/exec/state/state.h"

void hd_barriers_check(hd_cta *cta); /* opens complete barriers; call it when a warp has ended */

#endif
