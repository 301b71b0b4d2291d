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
    int64_t process; /* of the last launch */
    bool is_whole, is_static, demangles;
    bool has_several; /* processes that launched kernels */
    bool has_ended;   /* the last one, by itself: the trace says what its launches left */
    HD_ARRAY(hd_replay_kernel) kernels;
    hd_replay_report report;
};

const char *run_string(const json_t *event, const char *key); /* "": none */

#endif
