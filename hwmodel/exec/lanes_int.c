/* Integer and bit operations on rows of 32 lanes, generated from exec.def; the compiler vectorizes the loops. */
#ifdef __GNUC__
#ifndef __clang__
#pragma GCC optimize("O3")
#endif
#endif
#include "hwmodel/exec/lanes.h"
#include "hwmodel/exec/scalar.h"

#define HD_INT1(opcode, type, modifiers, D, A, expression)                                              \
    HD_CLONES void HD_LANES_NAME(opcode, type, modifiers)(void *to, const void *of_a, const void *of_b, \
                                                          const void *of_c)                             \
    {                                                                                                   \
        D *d = to;                                                                                      \
        const A *ra = of_a;                                                                             \
        (void)of_b, (void)of_c;                                                                         \
        HD_LANE_LOOP                                                                                    \
        {                                                                                               \
            A a = ra[i];                                                                                \
            d[i] = (D)(expression);                                                                     \
        }                                                                                               \
    }
#define HD_INT2(opcode, type, modifiers, D, A, B, expression)                                           \
    HD_CLONES void HD_LANES_NAME(opcode, type, modifiers)(void *to, const void *of_a, const void *of_b, \
                                                          const void *of_c)                             \
    {                                                                                                   \
        D *d = to;                                                                                      \
        const A *ra = of_a;                                                                             \
        const B *rb = of_b;                                                                             \
        (void)of_c;                                                                                     \
        HD_LANE_LOOP                                                                                    \
        {                                                                                               \
            A a = ra[i];                                                                                \
            B b = rb[i];                                                                                \
            d[i] = (D)(expression);                                                                     \
        }                                                                                               \
    }
#define HD_INT3(opcode, type, modifiers, D, A, B, C, expression)                                        \
    HD_CLONES void HD_LANES_NAME(opcode, type, modifiers)(void *to, const void *of_a, const void *of_b, \
                                                          const void *of_c)                             \
    {                                                                                                   \
        D *d = to;                                                                                      \
        const A *ra = of_a;                                                                             \
        const B *rb = of_b;                                                                             \
        const C *rc = of_c;                                                                             \
        HD_LANE_LOOP                                                                                    \
        {                                                                                               \
            A a = ra[i];                                                                                \
            B b = rb[i];                                                                                \
            C c = rc[i];                                                                                \
            d[i] = (D)(expression);                                                                     \
        }                                                                                               \
    }
#include "hwmodel/exec/exec.def"
