/* Sums, minima and maxima of 16-bit floats and of pairs of them, as atom and red compute them: subnormals are kept, NaN
 * results are 0x7fff, a minimum or maximum passes over a NaN. Sums are made in double and rounded once: a double holds
 * more than twice the bits of either format, so the second rounding changes nothing. */
#ifndef HD_HWMODEL_EXEC_ATOMIC_NARROW_H
#define HD_HWMODEL_EXEC_ATOMIC_NARROW_H

#include "hwmodel/narrow.h"
#include <stdbool.h>

static inline double hd_bf16_widen(uint16_t v)
{
    uint32_t bits = (uint32_t)v << 16;
    float wide;
    memcpy(&wide, &bits, sizeof wide);
    return wide;
}
static inline uint16_t hd_atomic_add_f16(uint16_t a, uint16_t b)
{
    return hd_f16_from_double(hd_f16_to_double(a) + hd_f16_to_double(b));
}
static inline uint16_t hd_atomic_add_bf16(uint16_t a, uint16_t b)
{
    return hd_bf16_from_double(hd_bf16_widen(a) + hd_bf16_widen(b));
}
/* -0 counts as less than +0; infinity: the bits of infinity. */
static inline uint16_t hd_atomic_extreme(uint16_t a, uint16_t b, uint16_t infinity, bool larger)
{
    bool a_nan = (a & 0x7fff) > infinity, b_nan = (b & 0x7fff) > infinity;
    int32_t ka = a & 0x8000 ? -(int32_t)(a & 0x7fff) - 1 : a, kb = b & 0x8000 ? -(int32_t)(b & 0x7fff) - 1 : b;
    if (a_nan || b_nan)
        return a_nan && b_nan ? 0x7fff : a_nan ? b : a;
    return (ka > kb) == larger ? a : b;
}
#define HD_ATOMIC_EACH(name, one)                                                                     \
    static inline uint32_t name(uint32_t a, uint32_t b)                                               \
    {                                                                                                 \
        return one((uint16_t)a, (uint16_t)b) | (uint32_t)one((uint16_t)(a >> 16), (uint16_t)(b >> 16)) << 16; \
    }
static inline uint16_t hd_atomic_min_f16(uint16_t a, uint16_t b) { return hd_atomic_extreme(a, b, 0x7c00, false); }
static inline uint16_t hd_atomic_max_f16(uint16_t a, uint16_t b) { return hd_atomic_extreme(a, b, 0x7c00, true); }
static inline uint16_t hd_atomic_min_bf16(uint16_t a, uint16_t b) { return hd_atomic_extreme(a, b, 0x7f80, false); }
static inline uint16_t hd_atomic_max_bf16(uint16_t a, uint16_t b) { return hd_atomic_extreme(a, b, 0x7f80, true); }
HD_ATOMIC_EACH(hd_atomic_add_f16x2, hd_atomic_add_f16)
HD_ATOMIC_EACH(hd_atomic_min_f16x2, hd_atomic_min_f16)
HD_ATOMIC_EACH(hd_atomic_max_f16x2, hd_atomic_max_f16)
HD_ATOMIC_EACH(hd_atomic_add_bf16x2, hd_atomic_add_bf16)
HD_ATOMIC_EACH(hd_atomic_min_bf16x2, hd_atomic_min_bf16)
HD_ATOMIC_EACH(hd_atomic_max_bf16x2, hd_atomic_max_bf16)
#undef HD_ATOMIC_EACH

#endif
