/* Watching a model: a second row of it in the table, whose operations are the model's own with a look at what they do.
 *
 *   hd_model_watch *watch = hd_model_watch_new(row);                    adds the row hd_model_watch_name(watch)
 *   ... replays of that row, on one thread ...
 *   hd_model_watch_clear(watch);                                  before the next replay
 *
 * Each model that a replay makes of the row is a run: count mode has one, and with cycles each SM. A run has the
 * accesses of each executed instruction, and the first one that delivers what no access has moved. */
#ifndef HD_DRIVER_PLUGIN_WATCH_H
#define HD_DRIVER_PLUGIN_WATCH_H

#include "hwmodel/rf/technique.h"

typedef struct hd_model_watch_step { /* an executed instruction */
    uint32_t warp, function, instruction;
    uint32_t first, count; /* of the run's accesses */
} hd_model_watch_step;

typedef struct hd_model_watch_unmoved {
    uint32_t lanes; /* 0: there is none */
    uint32_t warp, function, instruction, word;
    uint8_t structure;
    bool idle; /* the lanes do not execute the instruction */
} hd_model_watch_unmoved;

typedef struct hd_model_watch_run {
    const hd_rf_model *model;
    HD_ARRAY(hd_model_watch_step) steps;
    HD_ARRAY(hd_rf_access) accesses;
    uint64_t storage_bits;
    hd_model_watch_unmoved unmoved; /* the first one */
    /* In progress: by slot of the warp, then by index and structure: lanes that were moved there since the register's
     * last write. A structure that is filled with nobody knows what is not looked at. */
    HD_ARRAY(hd_u32_array) moved;
    bool untold[HD_STRUCTURE_COUNT];
} hd_model_watch_run;

typedef struct hd_model_watch hd_model_watch;

/* NULL: the table has no room. Stays as long as the process. */
hd_model_watch *hd_model_watch_new(const hd_rf_model_info *row);
const char *hd_model_watch_name(const hd_model_watch *watch);
void hd_model_watch_clear(hd_model_watch *watch);
/* The next models lose the fault-th move of data (hd_rf_loses); 0: none. */
void hd_model_watch_fault(hd_model_watch *watch, uint32_t fault);
uint32_t hd_model_watch_runs(const hd_model_watch *watch);
const hd_model_watch_run *hd_model_watch_run_at(const hd_model_watch *watch, uint32_t run);

#endif
