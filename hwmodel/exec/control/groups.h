/* The groups of lanes of machine code, whose lanes have program counters of their own: see groups.c. */
#ifndef HD_HWMODEL_EXEC_CONTROL_GROUPS_H
#define HD_HWMODEL_EXEC_CONTROL_GROUPS_H

#include "hwmodel/exec/state/state.h"

/* The lanes of the top come to different instructions, and meet at `join` (HD_NONE: they need not). Before they do. */
void hd_groups_split(hd_warp *w, uint32_t join);
/* Lets the lanes meet that have come to their joins, and puts a group on top that can run. false: none can. */
bool hd_groups_choose(hd_warp *w);
/* After a turn of the warp, which may have had effects on memory. */
void hd_groups_end_turn(hd_warp *w, bool wrote);
/* Before a branch to an earlier instruction, if hd_warp.spin_checks: whether the top goes in circles. */
void hd_groups_check_spin(hd_warp *w);

#endif
