/* Memory for a CTA: its warps with everything they grow to, shared memory, and the state of the checks. Reused by one
 * CTA after another. */
#ifndef HD_HWMODEL_EXEC_CONTROL_CTA_H
#define HD_HWMODEL_EXEC_CONTROL_CTA_H

#include "hwmodel/exec/state/state.h"

/* One thread's part of a grid: one CTA at a time. */
typedef struct hd_grid_job {
    const hd_program *program;
    const hd_grid *grid;
    const hd_exec_options *options;
    const hd_sink *sinks;
    uint32_t sink_count;
    hd_segment_event *segment; /* NULL: sinks take single events */
    hd_gathering *gathering;
    hd_diagnostics *diagnostics;
    hd_workers *workers; /* NULL: one thread */
    hd_exec_statistics *statistics;
    hd_exec_status status; /* both are protected by the pool's lock */
} hd_grid_job;

hd_cta *hd_cta_new(const hd_grid_job *job, hd_exec_statistics *statistics);
void hd_cta_delete(hd_cta *cta); /* adds the bytes that it took to the statistics */

/* `place`: in the order in which the CTAs of the grid start. */
void hd_cta_name(hd_cta *cta, uint32_t place);
bool hd_cta_start(hd_cta *cta, uint32_t place); /* false: the run stops, here and below */
/* One turn of every ready warp. *all_spun: each used its whole turn. */
bool hd_cta_round(hd_cta *cta, bool *all_spun);
bool hd_cta_run(hd_cta *cta); /* runs it to its end */

#endif
