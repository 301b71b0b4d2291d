/* A warp's call frames: see frame.c. */
#ifndef HD_HWMODEL_EXEC_CONTROL_FRAME_H
#define HD_HWMODEL_EXEC_CONTROL_FRAME_H

#include "hwmodel/exec/state/state.h"

void hd_grow_local(hd_warp *w, uint32_t needed); /* makes room for this many bytes per lane */
void hd_push_frame(hd_warp *w, const hd_code *code, uint32_t mask, uint32_t local_base);
void hd_rebase(hd_warp *w); /* sets the row bases to those of the top call frame */

#endif
