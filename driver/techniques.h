/* Every technique's pass on the same module, each as if it were alone, and what each found, side by side: `rewrite -p
 * all`.
 *
 * A module that comes without annotations is simplified and allocated first, because the techniques are about the
 * registers of machine code. What a pass writes is verified by its checker.
 */
#ifndef HD_DRIVER_TECHNIQUES_H
#define HD_DRIVER_TECHNIQUES_H

#include "driver/rewrite.h"
#include "driver/status.h"

/* Writes the table. Takes the source, and returns its module: diagnostics point into its text, so free it after
 * rendering them. Of the options, those count that say how PTX is read, which kernels, the machine, and whether to tell
 * the passes' times. *status: WRONG where a checker refutes what a pass wrote, REJECTED where the source is. */
hd_module *hd_techniques_compare(hd_source *source, const hd_rewrite_options *options, hd_writer *out,
                                 hd_diagnostics *diagnostics, hd_status *status);

#endif
