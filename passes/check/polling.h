/* Loops that poll, for checkers: whether an exit of a loop around a load depends on a value loaded from memory that
 * other warps may write (ir/waits.h).
 *
 * A forward slice: results are followed through instructions of the loop that read them and, where a branch that reads
 * one may go two ways, through everything written before its sides reconverge. The exit depends on the load if such a
 * branch leaves the loop, decides whether a branch that leaves it executes, or may execute again before its sides
 * reconverge. What is stored in local memory is followed to the loads from there in the loop. In a loop that ends by
 * itself (counting.h) only atomics and strong loads poll. Complexity, per load and enclosing loop: the dependent
 * instructions, and the blocks where their values are live.
 */
#ifndef HD_PASSES_CHECK_POLLING_H
#define HD_PASSES_CHECK_POLLING_H

#include "passes/check/facts.h"

typedef struct hd_polls hd_polls;
hd_polls *hd_polls_new(hd_facts *facts); /* in the facts' arena, except what hd_polls_free frees */
bool hd_polls_has(hd_polls *polls, uint32_t ordinal);
void hd_polls_free(hd_polls *polls);

#endif
