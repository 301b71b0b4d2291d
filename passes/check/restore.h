/* Restores the order of a function with memory operands: each load moves back to where it may have been before demo
 * moved it to its consumer. */
#ifndef HD_PASSES_CHECK_RESTORE_H
#define HD_PASSES_CHECK_RESTORE_H

#include "ir/ir.h"

/* Moves each such load as far back in its block as its annotations allow: after as many of the instructions that it
 * must not cross (clashes.h) as demo_after gives, and after writes of its guard or address and accesses to its
 * register. true if any load was moved. Annotations are updated. */
bool hd_restore_operand_loads(hd_function *function);

#endif
