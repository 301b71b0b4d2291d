/* Occupancy: how many CTAs and warps of a kernel an SM holds at a time, what limits it, and what a register or a warp
 * more or less would change. Arithmetic of cuda_occupancy.h (CUDA 13.0), from the limits of a GPU description; the
 * machines of the papers have descriptions too. */
#ifndef HD_TARGET_OCCUPANCY_H
#define HD_TARGET_OCCUPANCY_H

#include "target/gpu.h"

/* Smallest limit first in this order where several are equal. */
typedef enum hd_limiter {
    HD_LIMITER_WARPS, /* threads of the SM */
    HD_LIMITER_CTAS,
    HD_LIMITER_REGISTERS,
    HD_LIMITER_SHARED,
    HD_LIMITER_BARRIERS,
    HD_LIMITER_IMPOSSIBLE, /* the kernel cannot run at all on this GPU: ctas is 0 */
    HD_LIMITER_COUNT
} hd_limiter;
extern const char *const hd_limiter_names[HD_LIMITER_COUNT];

typedef struct hd_occupancy_use { /* what a kernel needs */
    uint32_t threads;             /* of a CTA */
    uint32_t registers;           /* of a thread, as allocated; 0 counts as none */
    uint32_t shared_bytes;        /* of a CTA, static and dynamic */
    uint32_t barriers;            /* of a CTA; 0: not limited by them */
} hd_occupancy_use;

typedef struct hd_occupancy {
    uint32_t ctas, warps; /* of an SM at a time */
    double fraction;      /* warps of the SM's most, 0 to 1 */
    hd_limiter limiter;
    /* CTAs that each limit alone would allow; UINT32_MAX: no limit (so IMPOSSIBLE, or 0) */
    uint32_t by[HD_LIMITER_COUNT];
    const char *impossible; /* why ctas is 0: "more threads than a CTA may have" ...; else NULL */
} hd_occupancy;

hd_occupancy hd_occupancy_of(const hd_gpu_limits *limits, const hd_occupancy_use *use);

/* The next number of registers in that direction at which the number of resident CTAs changes; at least one
 * register. */
typedef struct hd_occupancy_cliff {
    bool exists;
    uint32_t registers;
    hd_occupancy then;
} hd_occupancy_cliff;
/* Fewer registers, more CTAs; the largest such number. */
hd_occupancy_cliff hd_occupancy_gain(const hd_gpu_limits *limits, const hd_occupancy_use *use);
/* More registers, fewer CTAs; the smallest such number. Exists wherever the kernel can run: one register more than a
 * thread may have leaves none (then.impossible). */
hd_occupancy_cliff hd_occupancy_loss(const hd_gpu_limits *limits, const hd_occupancy_use *use);

/* One row for each block size that is a multiple of 32 up to the most: into rows[0..], at most `most` of them; how
 * many. */
uint32_t hd_occupancy_sweep(const hd_gpu_limits *limits, const hd_occupancy_use *use, hd_occupancy *rows,
                            uint32_t most);

#endif
