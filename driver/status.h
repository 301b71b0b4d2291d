/* How a job ended: the program's exit statuses. */
#ifndef HD_DRIVER_STATUS_H
#define HD_DRIVER_STATUS_H

#include "base/diagnostics.h"

typedef enum hd_status {
    HD_STATUS_DONE = 0,
    HD_STATUS_REJECTED = 1, /* an input is invalid, or a gate is not met */
    HD_STATUS_USAGE = 2,
    HD_STATUS_WRONG = 3, /* verification failed: wrong results, a failed proof, an unsound annotation */
    HD_STATUS_INTERNAL = 4,
    HD_STATUS_FAULT = 5,     /* the kernel faulted */
    HD_STATUS_UNDECIDED = 6, /* an unsupported instruction, or a required tool is missing */
    HD_STATUS_MEMORY = 7,    /* out of memory: hd_out_of_memory (base/arena.h) */
} hd_status;
_Static_assert((int)HD_STATUS_MEMORY == (int)HD_OUT_OF_MEMORY_STATUS, "both name it");

/* The status of several inputs is the worst: INTERNAL, then WRONG, FAULT, USAGE, REJECTED, UNDECIDED, DONE. */
hd_status hd_status_worse(hd_status a, hd_status b);

/* From the reported diagnostics: USAGE for an invalid option value (passes, gates, the name of a GPU), UNDECIDED if
 * nothing but tools is missing, REJECTED for other errors, else DONE. */
hd_status hd_status_of(const hd_diagnostics *diagnostics);

#endif
