/* Lanes of a warp that wait for each other at an instruction with .sync: see meet.c. */
#ifndef HD_HWMODEL_EXEC_CONTROL_MEET_H
#define HD_HWMODEL_EXEC_CONTROL_MEET_H

#include "hwmodel/exec/state/state.h"

/* Writes results: immediately for the lanes of `mask`, for the others of `with` when they continue. A row of 4 bytes
 * per lane; a predicate. */
void hd_give_row(hd_warp *w, hd_ref to, const uint32_t *row, uint32_t mask, uint32_t with);
void hd_give_word(hd_warp *w, hd_ref to, uint32_t word, uint32_t mask, uint32_t with);

/* The lanes of `mask` arrive at the op, whose operand `members` names for each lane those that it waits for. NEXT:
 * execute the op for *with, which includes lanes that waited here, and continue as hd_met() returns. JUMPED: it was
 * executed before. Otherwise it cannot execute now. */
hd_step hd_meet(const hd_op *op, hd_warp *w, uint32_t mask, hd_ref members, const char *what, uint32_t *with);
hd_step hd_met(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t with);

/* No other lanes of the warp can continue before these: a fault if no schedule would bring the lanes `missing`; else a
 * limit of the model, since lanes of a SIMT stack wait for others at the ends of branches and calls. */
hd_step hd_stuck(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t missing, const char *what);

/* The op cannot execute now: another side continues, or, if all lanes are parked, the whole warp waits at barrier
 * `number`; else a fault: the lanes `missing` cannot arrive. */
hd_step hd_block_warp(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t number, const char *what);

#endif
