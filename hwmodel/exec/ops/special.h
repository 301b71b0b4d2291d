/* Rows of special registers: see special.c. */
#ifndef HD_HWMODEL_EXEC_OPS_SPECIAL_H
#define HD_HWMODEL_EXEC_OPS_SPECIAL_H

#include "hwmodel/exec/state/state.h"

void hd_special_fill(const hd_program *program, hd_warp *w);
void hd_special_refresh(const hd_program *program, hd_warp *w); /* those that vary with time */
bool hd_special_known(hd_sreg sreg);
bool hd_special_used(const hd_program *program, hd_sreg sreg); /* by any of its instructions */

#endif
