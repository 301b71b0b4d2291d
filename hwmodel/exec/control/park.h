/* Lanes of a warp that cannot go on yet while others of it can: at barriers, at bar.warp.sync,
 * and in loops that ask an mbarrier. See park.c. */
#ifndef HD_HWMODEL_EXEC_CONTROL_PARK_H
#define HD_HWMODEL_EXEC_CONTROL_PARK_H

#include "hwmodel/exec/state/state.h"

/* What lanes are parked at: a kind in the upper half, below it what they must agree on. */
typedef uint64_t hd_park_key;
enum { HD_PARK_CTA = 1, HD_PARK_WARP, HD_PARK_CLUSTER, HD_PARK_INSTRUCTION, HD_PARK_EXCHANGE };
#define HD_PARK_KEY(kind, value) ((hd_park_key)(kind) << 32 | (uint32_t)(value))

/* The lanes of `mask` stay at the op, which runs again later. The top entry is split where other lanes of it go on. */
void hd_park(hd_warp *w, uint32_t mask, hd_park_key key);
/* Lanes that are parked with the key. */
uint32_t hd_parked_at(const hd_warp *w, hd_park_key key);
/* Lets parked lanes go on when their op runs again. */
void hd_unpark(hd_warp *w, uint32_t lanes);
/* True once for lanes that were let go: the op is done. */
bool hd_take_pass(hd_warp *w, uint32_t mask);
/* Brings a side of the running function with lanes that are not parked to the top of the stack; false where there is
 * none but the top itself. */
bool hd_switch_side(hd_warp *w);
/* Ends lanes that are elsewhere in the kernel and have nothing to do there but to return. true: there were such. */
bool hd_end_waiting(hd_warp *w);

#endif
