/* A turn of a warp: see warp.c. */
#ifndef HD_HWMODEL_EXEC_CONTROL_WARP_H
#define HD_HWMODEL_EXEC_CONTROL_WARP_H

#include "hwmodel/exec/state/state.h"

/* One turn of a warp. false: the run stops. *spun: the turn ended only because of its length. */
bool hd_run_warp(hd_warp *w, bool *spun);

#endif
