/* A run that was read. Private to driver/run. */
#ifndef HD_DRIVER_RUN_RUN_WORK_H
#define HD_DRIVER_RUN_RUN_WORK_H

#include "driver/run/run.h"
#include "driver/run/run_files.h"
#include <jansson.h>

struct hd_run {
    hd_arena arena;
    const char *folder, *program, *gpu;
    json_t *events; /* all of them */
    uint64_t launches, limits;
    bool is_whole, is_static, demangles;
    HD_ARRAY(hd_replay_kernel) kernels;
    hd_replay_report report;
};

const char *run_string(const json_t *event, const char *key); /* "": none */

#endif
