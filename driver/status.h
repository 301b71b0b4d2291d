/* The status of a job from what it reported. */
#ifndef HD_DRIVER_STATUS_H
#define HD_DRIVER_STATUS_H

#include "base/diagnostics.h"
#include "heddle/status.h"

_Static_assert((int)HD_STATUS_MEMORY == (int)HD_OUT_OF_MEMORY_STATUS, "both name it");

/* The status of several inputs is the worst: INTERNAL, then WRONG, FAULT, USAGE, REJECTED, UNDECIDED, DONE. */
hd_status hd_status_worse(hd_status a, hd_status b);

/* From the reported diagnostics: USAGE for an invalid option value (passes, gates, the name of a GPU), UNDECIDED if
 * nothing but tools is missing, REJECTED for other errors, else DONE. */
hd_status hd_status_of(const hd_diagnostics *diagnostics);

#endif
