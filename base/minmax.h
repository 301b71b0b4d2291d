/* The smaller and the larger of two integers. */
#ifndef HD_BASE_MINMAX_H
#define HD_BASE_MINMAX_H

#include <stdint.h>

#define HD_MINMAX(type, suffix)                                                  \
    static inline type hd_min_##suffix(type a, type b) { return a < b ? a : b; } \
    static inline type hd_max_##suffix(type a, type b) { return a > b ? a : b; }
HD_MINMAX(int32_t, s32)
HD_MINMAX(int64_t, s64)
HD_MINMAX(uint32_t, u32)
HD_MINMAX(uint64_t, u64)
#undef HD_MINMAX

/* Both have the type that C's conversions give the sum, so that nothing is cut off; what is no integer does not
 * compile. */
#define hd_min(a, b) HD_MINMAX_OF(min, a, b)
#define hd_max(a, b) HD_MINMAX_OF(max, a, b)
#define HD_MINMAX_OF(which, a, b)                   \
    _Generic((a) + (b), int32_t                     \
             : hd_##which##_s32, int64_t            \
             : hd_##which##_s64, long long          \
             : hd_##which##_s64, uint32_t           \
             : hd_##which##_u32, uint64_t           \
             : hd_##which##_u64, unsigned long long \
             : hd_##which##_u64)(a, b)

#endif
