/* What an instruction has just written, for sinks that ask: the columns RESULTS and WIDTHS of hwmodel/stream.h. */
#ifndef HD_HWMODEL_EXEC_COLUMNS_H
#define HD_HWMODEL_EXEC_COLUMNS_H

#include "hwmodel/exec/decode.h"

/* Of an instruction that has written registers in the lanes; the words. Of calls there are no results, which come with the return. */
uint32_t hd_gather_results(const hd_op *op, const hd_warp *w, uint32_t *results);
uint32_t hd_gather_widths(const hd_op *op, hd_warp *w, uint32_t lanes, hd_width *widths);
void hd_widths_start(hd_frame *f); /* where WIDTHS is asked for: a frame begins */

#endif
