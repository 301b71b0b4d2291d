/* Lanes that cannot continue yet while others of their warp can: at barriers, at bar.warp.sync, and in loops that poll
 * an mbarrier. See park.c. */
#ifndef HD_HWMODEL_EXEC_CONTROL_PARK_H
#define HD_HWMODEL_EXEC_CONTROL_PARK_H

#include "hwmodel/exec/state/state.h"

/* What lanes are parked at: a kind in the upper half, and below it what they must agree on. */
typedef uint64_t hd_park_key;
enum { HD_PARK_CTA = 1, HD_PARK_WARP, HD_PARK_CLUSTER, HD_PARK_INSTRUCTION, HD_PARK_EXCHANGE };
#define HD_PARK_KEY(kind, value) ((hd_park_key)(kind) << 32 | (uint32_t)(value))

/* The lanes of `mask` stay at the op, which executes again later. The top entry is split if its other lanes
 * continue. */
void hd_park(hd_warp *w, uint32_t mask, hd_park_key key);
/* Lanes that are parked with the key. */
uint32_t hd_parked_at(const hd_warp *w, hd_park_key key);
/* Releases parked lanes when their op executes again. */
void hd_unpark(hd_warp *w, uint32_t lanes);
/* True once for released lanes: the op is complete. */
bool hd_take_pass(hd_warp *w, uint32_t mask);
/* Moves a side of the running function with lanes that are not parked to the top of the stack; false if only the top
 * itself qualifies. */
bool hd_switch_side(hd_warp *w);
/* Ends lanes elsewhere in the kernel whose only remaining code is the return. true: there were any. */
bool hd_end_waiting(hd_warp *w);

#endif
