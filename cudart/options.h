/* What `heddle run` asks of the runtime in the program's process: the file HD_RUN_OPTIONS_FILE of the
 * folder that HD_RUN_VARIABLE names, in JSON. */
#ifndef HD_CUDART_OPTIONS_H
#define HD_CUDART_OPTIONS_H

#include "driver/run/run_files.h"
#include "hwmodel/launch/launch.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct hd_run_options {
    const char *gpu;    /* NULL: by the program's PTX */
    const char *folder; /* for traces; NULL: none */
    uint32_t threads;
    uint64_t instruction_limit;
    bool check_races, check_uninitialized;
    bool record;         /* buffers, too */
    hd_launch_code code; /* UNSAID: PTX */
    bool no_cache;       /* of what ptxas makes */
    hd_ordering block_order;
    const char *kept_in; /* the folder that gets the record after the run; NULL: none */
} hd_run_options;

#endif
