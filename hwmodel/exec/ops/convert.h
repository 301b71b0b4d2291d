/* Conversions: the semantics of cvt and cvt.pack per lane. Private to hwmodel/exec. */
#ifndef HD_HWMODEL_EXEC_OPS_CONVERT_H
#define HD_HWMODEL_EXEC_OPS_CONVERT_H

#include "hwmodel/exec/ops/number.h"
#include "hwmodel/exec/state/state.h"

/* A conversion of one or more packed values; hd_op.use.detail of run_convert. The sources are in code->refs, the one
 * for the highest part of d first, then the random bits; or all parts are in one register (`packed`). */
typedef struct hd_conversion {
    hd_format to, from;
    uint8_t rounding;    /* hd_rounding of the result */
    uint8_t whole;       /* 0, or hd_rounding + 1: rounded to an integral value first */
    uint8_t parts;       /* values in d */
    uint8_t random_bits; /* number of random bits per value, or 0 */
    bool packed;
    bool ftz_from, ftz_to; /* for the f32 operand: subnormals become zero of their sign */
    bool sat;              /* floats to [0, 1], NaN to 0; integers to the range */
    bool finite;           /* no infinities: .satfinite */
    bool relu;             /* negative values are 0 */
    uint64_t nan;          /* the integer result for NaN */
} hd_conversion;

/* convert_lanes.c: a loop over whole rows for this conversion between registers of these widths, or NULL. */
hd_lanes *hd_convert_lanes(const hd_conversion *c, hd_type to, hd_type from, uint32_t d_bytes, uint32_t a_bytes);

#endif
