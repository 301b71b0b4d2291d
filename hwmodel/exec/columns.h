/* What an instruction has just written, for sinks that ask: the columns RESULTS and WIDTHS of hwmodel/stream.h. */
#ifndef HD_HWMODEL_EXEC_COLUMNS_H
#define HD_HWMODEL_EXEC_COLUMNS_H

#include "hwmodel/exec/decode.h"

/* Tells sinks of an instruction, with the columns that they ask for: addresses of the lanes of `mask`, and what was written; of calls there are no
 * results, which come with the return. false: one stops the run. */
bool hd_tell_event(const hd_op *op, hd_warp *w, hd_event *event, uint32_t mask);
/* Of an instruction that has written registers in the lanes; the words. */
uint32_t hd_gather_widths(const hd_op *op, const hd_warp *w, uint32_t lanes, hd_width *widths);
void hd_widths_start(hd_frame *f); /* where WIDTHS is asked for: a frame begins */

#endif
