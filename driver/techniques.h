/* Compares every technique's pass on the same module, each by itself: `rewrite -p all`.
 *
 * A module without annotations is simplified and allocated first, because the techniques concern the registers of
 * machine code. Each pass's annotations are verified by its checker.
 */
#ifndef HD_DRIVER_TECHNIQUES_H
#define HD_DRIVER_TECHNIQUES_H

#include "driver/rewrite.h"
#include "driver/status.h"

/* Writes the table. Takes the source, and returns its module: diagnostics refer to its text, so free it after rendering
 * them. Options used: those for reading PTX, the selection of kernels, the GPU, and whether to print the passes' times.
 * *status: WRONG if a checker refutes annotations of a pass, REJECTED if the source is invalid. */
hd_module *hd_techniques_compare(hd_source *source, const hd_rewrite_options *options, hd_writer *out,
                                 hd_diagnostics *diagnostics, hd_status *status);

#endif
