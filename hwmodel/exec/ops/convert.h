/* Conversions: what cvt and cvt.pack do to the values of a lane. Private to hwmodel/exec. */
#ifndef HD_HWMODEL_EXEC_OPS_CONVERT_H
#define HD_HWMODEL_EXEC_OPS_CONVERT_H

#include "hwmodel/exec/ops/number.h"
#include "hwmodel/exec/state/state.h"

/* One conversion of one or more packed values; hd_op.use.detail of run_convert. The sources stand in code->refs, the
 * one for the highest part of d first, then the random bits; or all parts in one register (`packed`). */
typedef struct hd_conversion {
    hd_format to, from;
    uint8_t rounding;    /* hd_rounding of the result */
    uint8_t whole;       /* 0, or hd_rounding + 1: rounded to an integral value first */
    uint8_t parts;       /* values in d */
    uint8_t random_bits; /* 0, or how many random bits stand for a value */
    bool packed;
    bool ftz_from, ftz_to; /* the f32 side: subnormals are zero of their sign */
    bool sat;              /* floats to [0, 1], NaN to 0; integers to the range */
    bool finite;           /* no infinities: .satfinite */
    bool relu;             /* negative values are 0 */
    uint64_t nan;          /* what NaN is as an integer */
} hd_conversion;

uint64_t hd_convert_value(const hd_conversion *c, uint64_t bits, hd_random random);

/* convert_lanes.c: a loop over whole rows that does the conversion between registers of these widths, or NULL. */
hd_lanes *hd_convert_lanes(const hd_conversion *c, hd_type to, hd_type from, uint32_t d_bytes, uint32_t a_bytes);

#endif
