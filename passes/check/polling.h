/* Loops that poll, for checkers: does an exit of a loop around a load depend on what it brings from memory that other
 * warps may write (ir/waits.h)?
 *
 * Its results are followed forward, through instructions of the loop that read one, and where a branch that reads one
 * may go two ways, through all that is written before these join again. The exit depends on it where such a branch
 * leaves the loop, says whether one runs that does, or comes to itself again before its sides join. Complexity, for a
 * load and each loop around it: the instructions that depend on it, and the blocks up to where their values end.
 */
#ifndef HD_PASSES_CHECK_POLLING_H
#define HD_PASSES_CHECK_POLLING_H

#include "passes/check/facts.h"

typedef struct hd_polls hd_polls;
hd_polls *hd_polls_new(hd_facts *facts); /* in the facts' arena, but for what hd_polls_free frees */
bool hd_polls_has(hd_polls *polls, uint32_t ordinal);
void hd_polls_free(hd_polls *polls);

#endif
