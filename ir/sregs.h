/* Special registers (%tid, %clock ...): one row each in ir/sregs.def. */
#ifndef HD_IR_SREGS_H
#define HD_IR_SREGS_H

#include "ir/ir.h"

typedef enum hd_sreg {
#define HD_SREG(id, spelling, type, components, varies, introduced, target) HD_SREG_##id,
#include "ir/sregs.def"
#undef HD_SREG
    HD_SREG_COUNT
} hd_sreg;

/* The scope over which a special register's value may differ; see the head of ir/sregs.def. */
typedef enum hd_variation {
    HD_VARIES_GRID,
    HD_VARIES_CTA,
    HD_VARIES_WARP,
    HD_VARIES_LANE,
    HD_VARIES_TIME
} hd_variation;

typedef struct hd_sreg_info {
    const char *spelling; /* without the % */
    uint8_t type, components, varies, introduced, target;
} hd_sreg_info;
extern const hd_sreg_info hd_sregs[HD_SREG_COUNT];

/* Maps "%tid" (no component) to its hd_sreg; -1: unknown. */
int hd_sreg_from_spelling(const char *text, size_t length);

#endif
