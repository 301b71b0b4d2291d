/* The order that operands in memory name: each load where it may have been before it was moved to the instruction that
 * takes it. */
#ifndef HD_PASSES_CHECK_RESTORE_H
#define HD_PASSES_CHECK_RESTORE_H

#include "ir/ir.h"

/* Moves each such load as far back in its block as its annotations say that it may have come from: after as much of
 * what it may not pass (clashes.h) as demo_after says, and after what writes its guard or address, or accesses its
 * register. true where one was moved. Annotations follow. */
bool hd_restore_operand_loads(hd_function *function);

#endif
