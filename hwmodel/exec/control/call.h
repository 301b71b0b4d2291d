/* Calls: see call.c. */
#ifndef HD_HWMODEL_EXEC_CONTROL_CALL_H
#define HD_HWMODEL_EXEC_CONTROL_CALL_H

#include "hwmodel/exec/state/state.h"

/* The current function has ended: returns to the caller, or enters the next target of the same call. false: it was the
 * kernel. *stopped: by a fault or a sink. */
bool hd_leave_frame(hd_warp *w, bool *stopped);

#endif
