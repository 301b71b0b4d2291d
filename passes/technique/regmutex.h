/* RegMutex: sizes of the two register sets for a machine. See regmutex_size.c for the rule. */
#ifndef HD_PASSES_TECHNIQUE_REGMUTEX_H
#define HD_PASSES_TECHNIQUE_REGMUTEX_H

#include "target/occupancy.h"

enum { HD_REGMUTEX_CANDIDATES = 6 };

typedef struct hd_regmutex_sizes {
    uint32_t base, extended; /* registers per thread: |Bs|, |Es| */
    uint32_t ctas, warps;    /* resident with only base sets allocated and one section left */
    uint32_t sections;       /* of the shared pool: warps that can hold an extended set at the same time */
} hd_regmutex_sizes;

/* What an SM holds of a kernel with these sets; use->registers is ignored. ctas is 0 where one thread block and a
 * section do not fit. */
hd_regmutex_sizes hd_regmutex_sizes_of(const hd_gpu_limits *limits, const hd_occupancy_use *use, uint32_t base,
                                       uint32_t extended, bool paired);

/* The candidates for a kernel that uses `registers`, smallest extended set first; returns their number. */
uint32_t hd_regmutex_candidates(const hd_gpu_limits *limits, const hd_occupancy_use *use, uint32_t registers,
                                bool paired, hd_regmutex_sizes candidates[HD_REGMUTEX_CANDIDATES]);
/* The rule's choice among them; NULL where none raises the resident warps above those with `registers` each. */
const hd_regmutex_sizes *hd_regmutex_choose(const hd_gpu_limits *limits, const hd_occupancy_use *use,
                                            uint32_t registers, const hd_regmutex_sizes *candidates, uint32_t count);

#endif
