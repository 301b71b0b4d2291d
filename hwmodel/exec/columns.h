/* What an instruction has just written, for sinks that ask: the columns RESULTS and WIDTHS of hwmodel/stream.h. */
#ifndef HD_HWMODEL_EXEC_COLUMNS_H
#define HD_HWMODEL_EXEC_COLUMNS_H

#include "hwmodel/exec/decode.h"

/* Sets the event's columns that `columns` has, in buffers of the warp's CTA. Nothing for calls: their results come with the return. */
void hd_gather_columns(const hd_op *op, hd_warp *w, uint32_t columns, hd_event *event);

#endif
