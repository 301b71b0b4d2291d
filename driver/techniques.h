/* Every technique's pass on a copy of its own of one module, and what each found, side by side: `rewrite -p all`.
 *
 * A copy that comes without annotations is cleaned up and allocated first, because the techniques are about the registers of machine
 * code. What a pass writes is verified by its checker.
 */
#ifndef HD_DRIVER_TECHNIQUES_H
#define HD_DRIVER_TECHNIQUES_H

#include "driver/rewrite.h"
#include "driver/status.h"

/* Writes the table. Takes the source, and returns its module: diagnostics point into its text, so free it after rendering them. Of the options,
 * those count that say how PTX is read, which kernels, and the machine. *status: WRONG where a checker refutes what a pass wrote, REJECTED where
 * the source is. */
hd_module *hd_techniques_compare(hd_source *source, const hd_rewrite_options *options, hd_writer *out, hd_diagnostics *diagnostics,
                                 hd_status *status);

#endif
