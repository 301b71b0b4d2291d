/* The compiler's annotations for LTRF and LTRF+, by instruction: where register-intervals begin, their registers, and
 * which operands are dead after it. */
#ifndef HD_HWMODEL_RF_LTRF_HINTS_H
#define HD_HWMODEL_RF_LTRF_HINTS_H

#include "hwmodel/rf/code.h"

typedef struct hd_ltrf_interval {
    const uint32_t *words;
    uint32_t count;
} hd_ltrf_interval;

typedef struct hd_ltrf_function {
    uint32_t *headers; /* by instruction: 1 + the interval that it begins; NULL: without intervals */
    hd_ltrf_interval *intervals;
    uint8_t *bypasses; /* by instruction: it may access registers that are not in the cache */
    uint8_t *dead;     /* by index in the code's sources */
} hd_ltrf_function;

/* Into an empty one, of a cache of `most` registers; it lies in the arena. false: the intervals need more lines than
 * that. */
bool hd_ltrf_hints_read(hd_ltrf_function *to, const hd_rf_code *code, uint32_t most, hd_arena *arena);

#endif
