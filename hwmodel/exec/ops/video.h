/* Video instructions: vadd ... vset on parts of registers, vadd2 ... vset4 on all parts in parallel, vmad. Private to
 * hwmodel/exec. */
#ifndef HD_HWMODEL_EXEC_OPS_VIDEO_H
#define HD_HWMODEL_EXEC_OPS_VIDEO_H

#include "hwmodel/exec/state/state.h"

typedef enum hd_video_operation {
    HD_VIDEO_ADD,
    HD_VIDEO_SUBTRACT,
    HD_VIDEO_DIFFERENCE, /* absolute */
    HD_VIDEO_AVERAGE,    /* halves away from zero */
    HD_VIDEO_MINIMUM,
    HD_VIDEO_MAXIMUM,
    HD_VIDEO_SHIFT_LEFT,
    HD_VIDEO_SHIFT_RIGHT,
    HD_VIDEO_COMPARE, /* 1 or 0 */
} hd_video_operation;

typedef enum hd_video_second { HD_SECOND_NONE, HD_SECOND_ADD, HD_SECOND_MINIMUM, HD_SECOND_MAXIMUM } hd_video_second;

/* Positions of the parts of a source or of the result: of `bits` bits each, counted from the lowest. Sources of the
 * SIMD forms count through both registers, a first. */
typedef struct hd_video_parts {
    uint8_t bits, part[4];
    bool is_signed;
} hd_video_parts;

typedef struct hd_video {
    uint8_t operation, second;
    uint16_t comparison; /* hd_modifier of the group COMPARE */
    uint8_t count;       /* 1: scalar; 2, 4 */
    hd_video_parts a, b, d;
    uint8_t d_mask;      /* SIMD: parts of the result that are computed; the others are those of c */
    bool saturate, wrap; /* wrap: shift amounts modulo 32, else at most 32 */
    bool merge;          /* scalar: only part d.part[0] of the result is computed, the rest is copied from c */
    bool minus_product, minus_c, plus_one; /* vmad */
    uint8_t scale;
} hd_video;

#endif
