/* Registers that a kernel and what it calls need together, for checkers: worked out by reachability, and without a look
 * at the allocator. */
#ifndef HD_PASSES_CHECK_FRAMES_H
#define HD_PASSES_CHECK_FRAMES_H

#include "ir/architected.h"

/* General registers from the kernel's first one to the last one of any function that it may call, however deep; HD_NONE
 * where one of these has no places for its registers. The kernel's own ones are not counted. Functions of other modules
 * are not known, and not counted. */
uint32_t hd_check_callees(const hd_function *kernel);

#endif
