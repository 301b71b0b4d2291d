/* Instructions in a warp of which one lane has a fault (hwmodel/lane_fault.h). Private to hwmodel/exec.
 *
 * hd_faulty_begin before an instruction executes, and hd_faulty_end after it, unless it is BLOCKED; in between the
 * first addresses that it computes are changed. cta->effect is what the fault did.
 *
 * A result is the first register or predicate that the instruction writes. Addresses of parameters and of variables of
 * the call frame, which are constants, are not computed in lanes. */
#ifndef HD_HWMODEL_EXEC_OPS_FAULTY_LANE_H
#define HD_HWMODEL_EXEC_OPS_FAULTY_LANE_H

#include "hwmodel/exec/state/state.h"

void hd_faulty_begin(const hd_op *op, hd_warp *w, uint32_t mask);
void hd_faulty_end(const hd_op *op, hd_warp *w, uint32_t mask);
void hd_faulty_addresses(hd_cta *cta, uint32_t bits, uint32_t mask); /* of so many bits */

#endif
