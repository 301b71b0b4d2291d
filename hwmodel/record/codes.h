/* The codes of a record, for its recorder and its cursor: see record.h. */
#ifndef HD_HWMODEL_RECORD_CODES_H
#define HD_HWMODEL_RECORD_CODES_H

#include "hwmodel/record/record.h"

enum {
    HD_CODE_RUN_MOST = 0x7f,
    HD_CODE_MEMORY = 0x80,
    HD_CODE_JUMP,
    HD_CODE_ACTIVE,
    HD_CODE_EFFECTIVE,
    HD_CODE_FRAME,
    HD_CODE_WAIT,
    HD_CODE_RETURN,
    HD_CODE_WIDTHS,
    HD_CODE_RESULTS,
    HD_CODE_ARRIVALS,
    HD_CODE_COPIES,
    HD_CODE_LANDINGS,
    HD_CODE_SECTORS,
    HD_CODE_LANES,
    HD_CODE_SEGMENT,
};

#endif
