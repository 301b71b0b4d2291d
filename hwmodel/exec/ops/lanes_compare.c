/* Comparisons of rows (a bit a lane) and the operations of atomics on one value, generated from exec.def. */
#ifdef __GNUC__
#ifndef __clang__
#pragma GCC optimize("O3", "no-trapping-math") /* otherwise selections would stay branches */
#endif
#endif
#include "hwmodel/exec/ops/lanes.h"
#include "hwmodel/exec/ops/scalar_half.h"

#define HD_COMPARE(type, comparison, T, expression)                                          \
    HD_CLONES uint32_t HD_COMPARE_NAME(type, comparison)(const void *of_a, const void *of_b) \
    {                                                                                        \
        const T *ra = of_a, *rb = of_b;                                                      \
        uint32_t out = 0;                                                                    \
        for (uint32_t i = 0; i < LANES; i++) {                                               \
            T a = ra[i], b = rb[i];                                                          \
            out |= (uint32_t)(expression) << i;                                              \
        }                                                                                    \
        return out;                                                                          \
    }
#define HD_COMBINE(operation, type, T, expression)                                           \
    uint64_t HD_COMBINE_NAME(operation, type)(uint64_t of_old, uint64_t of_b, uint64_t of_c) \
    {                                                                                        \
        T old, b, c, result;                                                                 \
        uint64_t out = 0;                                                                    \
        memcpy(&old, &of_old, sizeof old); /* little-endian hosts */                         \
        memcpy(&b, &of_b, sizeof b);                                                         \
        memcpy(&c, &of_c, sizeof c);                                                         \
        (void)old, (void)c;                                                                  \
        result = (T)(expression);                                                            \
        memcpy(&out, &result, sizeof result);                                                \
        return out;                                                                          \
    }
#include "hwmodel/exec/ops/exec.def"
