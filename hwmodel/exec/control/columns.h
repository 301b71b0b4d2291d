/* What an instruction has just written, for sinks that ask: the columns RESULTS and WIDTHS of hwmodel/stream.h. */
#ifndef HD_HWMODEL_EXEC_CONTROL_COLUMNS_H
#define HD_HWMODEL_EXEC_CONTROL_COLUMNS_H

#include "hwmodel/exec/state/state.h"

/* Tells sinks of an instruction, with the columns that they ask for: addresses of the lanes of `mask`, and what was
 * written; of calls there are no results, which come with the return. false: one stops the run. */
bool hd_tell_event(const hd_op *op, hd_warp *w, hd_event *event, uint32_t mask);

/* In stretches, what instructions have written is measured by many of them at a time: when one of the words is to be
 * written again, or the stretch has ended. By then all rows are in the cache as a whole, and no instruction that is run
 * waits for them. */
void hd_gather_widths(hd_gathering *gathering, hd_stretch *stretch); /* of all that is not measured yet */
static inline void hd_gather_later(hd_gathering *g, const hd_op *op, uint32_t lanes)
{
    g->items[g->count++] = (hd_unmeasured){op, lanes};
    g->words |= op->words;
}
/* Words are to be written. */
static inline void hd_gather_before(hd_gathering *g, hd_stretch *s, uint64_t words)
{
    if (__builtin_expect((g->words & words) != 0, 0))
        hd_gather_widths(g, s);
}

void hd_widths_start(hd_frame *f); /* where WIDTHS is asked for: a frame begins */

#endif
