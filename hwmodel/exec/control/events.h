/* Reports events to sinks: see events.c. */
#ifndef HD_HWMODEL_EXEC_CONTROL_EVENTS_H
#define HD_HWMODEL_EXEC_CONTROL_EVENTS_H

#include "hwmodel/exec/state/state.h"

bool hd_emit_event(const hd_warp *w,
                   hd_event_kind kind); /* an event without an instruction; false: a sink stops the run */
/* Events of barriers, to the sinks that request HD_COLUMN_BARRIERS. */
void hd_emit_arrive(const hd_warp *w, uint32_t barrier, bool reported);
void hd_emit_open(hd_cta *cta, uint32_t barrier);
void hd_emit_pass(const hd_warp *w, uint32_t barrier);
/* The same for mbarriers: hd_event.object, after_copies, parity. */
void hd_emit_mbarrier_arrive(const hd_warp *w, uint32_t object, uint32_t after_copies);
void hd_emit_mbarrier_open(hd_cta *cta, uint32_t object, uint32_t phase);
void hd_emit_mbarrier_pass(const hd_warp *w, uint32_t object, uint32_t phase);
bool hd_emit_segment(hd_cta *cta); /* reports the pending segment */
void hd_watch(hd_cta *cta);        /* sets cta->watched */
hd_step hd_stop(hd_warp *w);       /* requested by a sink */

#endif
