/* Registers that a kernel needs together with its callees, for checkers: computed by reachability, independently of the
 * allocator. */
#ifndef HD_PASSES_CHECK_FRAMES_H
#define HD_PASSES_CHECK_FRAMES_H

#include "ir/architected.h"

/* General registers from the kernel's first one to the last one of any function that it may call, directly or not;
 * HD_NONE if one of these is not allocated. The kernel's own registers are not counted. Functions of other modules are
 * unknown, and not counted. */
uint32_t hd_check_callees(const hd_function *kernel);

#endif
