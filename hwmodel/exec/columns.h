/* What an instruction has just written, for sinks that ask: the columns RESULTS and WIDTHS of hwmodel/stream.h. */
#ifndef HD_HWMODEL_EXEC_COLUMNS_H
#define HD_HWMODEL_EXEC_COLUMNS_H

#include "hwmodel/exec/decode.h"

/* Each sets its column of the event, in a buffer of the warp's CTA, for an instruction that writes registers in some lanes. RESULTS has nothing
 * for calls: their results come with the return. */
void hd_gather_results(const hd_op *op, hd_warp *w, hd_event *event);
void hd_gather_widths(const hd_op *op, hd_warp *w, hd_event *event);
void hd_widths_start(hd_frame *f); /* where WIDTHS is asked for: a frame begins */

#endif
