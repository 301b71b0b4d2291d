/* The functions of exec.def's rows, and the table that finds one by opcode, type and modifiers. */
#ifndef HD_HWMODEL_EXEC_OPS_LANES_H
#define HD_HWMODEL_EXEC_OPS_LANES_H

#include "base/clones.h"
#include "hwmodel/exec/state/program.h"

/* A destination row is either one of the sources or disjoint from all: no lane depends on another. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* divisions and the like stay scalar */
#define HD_LANE_LOOP _Pragma("clang loop vectorize(assume_safety)") for (int i = 0; i < LANES; i++)
#else
#define HD_LANE_LOOP _Pragma("GCC ivdep") for (int i = 0; i < LANES; i++)
#endif

#define HD_LANES_NAME(opcode, type, modifiers) hd_lanes_##opcode##_##type##_##modifiers
#define HD_COMPARE_NAME(type, comparison) hd_compare_##type##_##comparison
#define HD_COMBINE_NAME(operation, type) hd_combine_##operation##_##type

/* A function over one to three source rows. */
#define HD_LANES_LOOP1(name, D, A, expression)                                          \
    HD_CLONES void name(void *to, const void *of_a, const void *of_b, const void *of_c) \
    {                                                                                   \
        D *d = to;                                                                      \
        const A *ra = of_a;                                                             \
        (void)of_b, (void)of_c;                                                         \
        HD_LANE_LOOP                                                                    \
        {                                                                               \
            A a = ra[i];                                                                \
            d[i] = (D)(expression);                                                     \
        }                                                                               \
    }
#define HD_LANES_LOOP2(name, D, A, B, expression)                                       \
    HD_CLONES void name(void *to, const void *of_a, const void *of_b, const void *of_c) \
    {                                                                                   \
        D *d = to;                                                                      \
        const A *ra = of_a;                                                             \
        const B *rb = of_b;                                                             \
        (void)of_c;                                                                     \
        HD_LANE_LOOP                                                                    \
        {                                                                               \
            A a = ra[i];                                                                \
            B b = rb[i];                                                                \
            d[i] = (D)(expression);                                                     \
        }                                                                               \
    }
#define HD_LANES_LOOP3(name, D, A, B, C, expression)                                    \
    HD_CLONES void name(void *to, const void *of_a, const void *of_b, const void *of_c) \
    {                                                                                   \
        D *d = to;                                                                      \
        const A *ra = of_a;                                                             \
        const B *rb = of_b;                                                             \
        const C *rc = of_c;                                                             \
        HD_LANE_LOOP                                                                    \
        {                                                                               \
            A a = ra[i];                                                                \
            B b = rb[i];                                                                \
            C c = rc[i];                                                                \
            d[i] = (D)(expression);                                                     \
        }                                                                               \
    }

/* The functions themselves, for lanes_int.c, lanes_float.c and lanes_half.c. */
#define HD_LANES_FUNCTION1(opcode, type, modifiers, D, A, expression) \
    HD_LANES_LOOP1(HD_LANES_NAME(opcode, type, modifiers), D, A, expression)
#define HD_LANES_FUNCTION2(opcode, type, modifiers, D, A, B, expression) \
    HD_LANES_LOOP2(HD_LANES_NAME(opcode, type, modifiers), D, A, B, expression)
#define HD_LANES_FUNCTION3(opcode, type, modifiers, D, A, B, C, expression) \
    HD_LANES_LOOP3(HD_LANES_NAME(opcode, type, modifiers), D, A, B, C, expression)

#define HD_INT1(opcode, type, modifiers, ...) hd_lanes HD_LANES_NAME(opcode, type, modifiers);
#define HD_INT2 HD_INT1
#define HD_INT3 HD_INT1
#define HD_FLOAT1 HD_INT1
#define HD_FLOAT2 HD_INT1
#define HD_FLOAT3 HD_INT1
#define HD_HALF1 HD_INT1
#define HD_HALF2 HD_INT1
#define HD_HALF3 HD_INT1
#define HD_COMPARE(type, comparison, T, expression) hd_compare HD_COMPARE_NAME(type, comparison);
#define HD_COMBINE(operation, type, T, expression) hd_combine HD_COMBINE_NAME(operation, type);
#include "hwmodel/exec/ops/exec.def"

typedef enum hd_lanes_kind {
    HD_LANES_INT,
    HD_LANES_FLOAT, /* rounding, .ftz, .sat and .approx are applied around it */
    HD_LANES_HALF,  /* the same without the rounding */
} hd_lanes_kind;

typedef struct hd_lanes_row {
    hd_lanes *lanes;
    uint16_t opcode, modifiers[3]; /* hd_modifier */
    uint8_t type, sources, d_bytes, kind;
} hd_lanes_row;

/* The row for a form with that many sources, or NULL. Exactly the row's modifiers must be present, besides those
 * without effect on the result. A packed type uses the row of its element. */
const hd_lanes_row *hd_lanes_find(const hd_form *form, uint32_t sources);
hd_type hd_lanes_element(hd_type type);                         /* of a packed type; else itself */
hd_compare *hd_compare_find(hd_type type, uint32_t comparison); /* hd_modifier of the group COMPARE */
hd_combine *hd_combine_find(uint32_t operation, hd_type type);  /* hd_modifier of the group OP */
/* True if a modifier of that group has no effect on the result of any instruction. */
bool hd_modifier_is_hint(hd_modifier_group group);

#endif
