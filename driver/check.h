/* Static verification of a module's annotations, as a library call. */
#ifndef HD_DRIVER_CHECK_H
#define HD_DRIVER_CHECK_H

#include "base/meter.h"
#include "driver/status.h"
#include "ir/ir.h"
#include "passes/analysis/sync_points.h"
#include <stdbool.h>

typedef struct hd_check_result {
    uint64_t annotations; /* number checked */
    uint32_t functions;   /* with a body */
    hd_sync_points sync;  /* machine code only */
} hd_check_result;

/* Runs every checker on every function whose name matches `kernel` (a glob, NULL: all). DONE; REJECTED if no name
 * matches; WRONG, with an unsound-annotation report at each refuted annotation; else UNDECIDED, with a report, if
 * annotated machine code holds an instruction of which the table or the listing does not say enough. The module must
 * have been parsed without errors. meter: a unit for each function; NULL: none. */
hd_status hd_check_module(hd_module *module, const char *kernel, hd_meter *meter, hd_diagnostics *diagnostics,
                          hd_check_result *result);

#endif
