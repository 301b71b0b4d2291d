/* Lanes of a warp that wait for each other at one instruction of .sync kind: see meet.c. */
#ifndef HD_HWMODEL_EXEC_CONTROL_MEET_H
#define HD_HWMODEL_EXEC_CONTROL_MEET_H

#include "hwmodel/exec/state/state.h"

/* Results: the lanes of `mask` have them at once, the others of `with` when they go on. A row of 4 bytes a lane; a
 * predicate. */
void hd_give_row(hd_warp *w, hd_ref to, const uint32_t *row, uint32_t mask, uint32_t with);
void hd_give_word(hd_warp *w, hd_ref to, uint32_t word, uint32_t mask, uint32_t with);

/* The lanes of `mask` come to the op, whose operand `members` names for each the lanes that it waits for. NEXT: the op
 * is to be done for *with, which holds them and what waited here for them, and hd_met() says how to go on. JUMPED: it
 * was done. Else it cannot be done now. */
hd_step hd_meet(const hd_op *op, hd_warp *w, uint32_t mask, hd_ref members, const char *what, uint32_t *with);
hd_step hd_met(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t with);

/* No other lanes of the warp can go on before these: a fault where no schedule would bring the lanes `missing`, and
 * else a limit of the model, since lanes of a SIMT stack wait for others at the ends of branches and calls. */
hd_step hd_stuck(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t missing, const char *what);

/* The op cannot be done now: another side runs on, or, where all lanes are parked, the whole warp waits at barrier
 * `number`; else a fault: the lanes `missing` cannot come. */
hd_step hd_block(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t number, const char *what);

#endif
