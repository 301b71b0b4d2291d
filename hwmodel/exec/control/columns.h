/* The results of the last instruction, for sinks that request them: the columns RESULTS and WIDTHS of
 * hwmodel/record/event.h. */
#ifndef HD_HWMODEL_EXEC_CONTROL_COLUMNS_H
#define HD_HWMODEL_EXEC_CONTROL_COLUMNS_H

#include "hwmodel/exec/state/state.h"

/* Reports an instruction to sinks, with the columns that they request: addresses of the lanes of `mask`, and results;
 * results of calls come with the return. false: a sink stops the run. */
bool hd_emit_issue(const hd_op *op, hd_warp *w, hd_event *event, uint32_t mask);

/* In trace segments, results are measured for many instructions at once: before one of the words is written again, or
 * when the segment has ended. By then the rows are in the cache as a whole, and no executing instruction waits for
 * them. */
void hd_gather_widths(hd_gathering *gathering, hd_segment_event *segment); /* for all results not measured yet */
static inline void hd_gather_later(hd_gathering *g, const hd_op *op, uint32_t lanes)
{
    g->items[g->count++] = (hd_unmeasured){op, lanes};
    g->words |= op->words;
}
/* Call before words are written. */
static inline void hd_gather_before(hd_gathering *g, hd_segment_event *s, uint64_t words)
{
    if (__builtin_expect((g->words & words) != 0, 0))
        hd_gather_widths(g, s);
}

void hd_widths_start(hd_frame *f); /* if WIDTHS is requested: a call frame begins */

#endif
