/* Loops that end by themselves, for checkers: a loop of which each thread leaves every execution, whatever other
 * threads do.
 *
 * One iteration is executed symbolically: the blocks that every iteration executes once, in order. A register's value
 * there is what some register held when the iteration began, plus a number; of registers that other blocks of the loop,
 * or guarded instructions, write, nothing is known. A register that holds at the iteration's end what it held at its
 * beginning plus a number, or what another such register did, is a counter. The exits executed on the way are tested
 * afterwards: one ends the loop if its condition holds for so many consecutive values of a counter that its steps
 * cannot pass over all of them, in whatever way the other side of the comparison changes (ir/counting.h).
 *
 * Complexity: O(nesting * instructions).
 */
#ifndef HD_PASSES_CHECK_COUNTING_H
#define HD_PASSES_CHECK_COUNTING_H

#include "passes/check/facts.h"

hd_bitset hd_check_counting_loops(hd_facts *facts); /* by loop; in the facts' arena */

#endif
