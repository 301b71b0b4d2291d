/* The comparison of two reports as a library call. Kernels are matched by name. */
#ifndef HD_DRIVER_DIFF_H
#define HD_DRIVER_DIFF_H

#include "base/diagnostics.h"
#include "emitters/diff.h"

/* Fills in diff->kernels (free it with hd_array_free); both reports must outlive it. `kernel`: glob over names, or
 * NULL. false with a diagnostic if no name on either side matches the glob, or if a side has a name twice. */
bool hd_diff_reports(const hd_report_module *before, const hd_report_module *after, const char *kernel, hd_diff *diff,
                     hd_diagnostics *diagnostics);

#endif
