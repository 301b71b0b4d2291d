/* The codes of a trace, for its recorder and its reader: see trace.h. */
#ifndef HD_HWMODEL_TRACE_CODES_H
#define HD_HWMODEL_TRACE_CODES_H

#include "hwmodel/trace/trace.h"

enum {
    HD_TRACE_RUN_MOST = 0x7f,
    HD_TRACE_MEMORY = 0x80,
    HD_TRACE_JUMP,
    HD_TRACE_ACTIVE,
    HD_TRACE_EFFECTIVE,
    HD_TRACE_FRAME,
    HD_TRACE_WAIT,
    HD_TRACE_RETURN,
    HD_TRACE_WIDTHS,
    HD_TRACE_RESULTS,
    HD_TRACE_ARRIVALS,
    HD_TRACE_COPIES,
    HD_TRACE_LANDINGS,
    HD_TRACE_SECTORS,
    HD_TRACE_LANES,
};

#endif
