/* A warp's SIMT stack: see stack.c. */
#ifndef HD_HWMODEL_EXEC_CONTROL_STACK_H
#define HD_HWMODEL_EXEC_CONTROL_STACK_H

#include "hwmodel/exec/state/state.h"

void hd_warp_start(hd_warp *w, const hd_code *code, uint32_t lanes);
bool hd_warp_settle(hd_warp *w, bool *stopped); /* pops finished entries; false: the warp has ended */

#endif
