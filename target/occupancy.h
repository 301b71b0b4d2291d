/* Occupancy: how many thread blocks and warps of a kernel are resident on an SM at a time, what limits it, and how one
 * register or warp more or less would change it. The arithmetic is that of cuda_occupancy.h (CUDA 13.0), with the
 * limits of a GPU description; the GPUs of the papers have descriptions too. */
#ifndef HD_TARGET_OCCUPANCY_H
#define HD_TARGET_OCCUPANCY_H

#include "target/gpu.h"

/* If several limits are equal, the first in this order is the limiter. */
typedef enum hd_limiter {
    HD_LIMITER_WARPS, /* threads per SM */
    HD_LIMITER_CTAS,
    HD_LIMITER_REGISTERS,
    HD_LIMITER_SHARED,
    HD_LIMITER_BARRIERS,
    HD_LIMITER_IMPOSSIBLE, /* the kernel cannot run on this GPU at all: ctas is 0 */
    HD_LIMITER_COUNT
} hd_limiter;
extern const char *const hd_limiter_names[HD_LIMITER_COUNT];

typedef struct hd_occupancy_use { /* the resources that a kernel needs */
    uint32_t threads;             /* per block */
    uint32_t registers;           /* per thread, as allocated; 0 counts as no registers */
    uint64_t shared_bytes;        /* per block, static and dynamic */
    uint32_t barriers;            /* per block; 0: not limited by barriers */
} hd_occupancy_use;

typedef struct hd_occupancy {
    uint32_t ctas, warps; /* resident per SM */
    double fraction;      /* warps divided by the SM's maximum, 0 to 1 */
    hd_limiter limiter;
    /* number of blocks that each limit alone would allow; UINT32_MAX: no limit (for IMPOSSIBLE: that, or 0) */
    uint32_t by[HD_LIMITER_COUNT];
    const char *impossible; /* why ctas is 0: "more threads than a CTA may have" ...; else NULL */
} hd_occupancy;

hd_occupancy hd_occupancy_of(const hd_gpu_limits *limits, const hd_occupancy_use *use);

/* The 32-bit registers that are allocated for one block, with the rounding of the limit that is checked; `*most`: that
 * limit, of a block where it takes more than a block may have, else of an SM. */
uint64_t hd_occupancy_block_registers(const hd_gpu_limits *limits, const hd_occupancy_use *use, uint32_t *most);

/* The nearest number of registers in one direction at which the number of resident blocks changes; at least one
 * register. */
typedef struct hd_occupancy_cliff {
    bool exists;
    uint32_t registers;
    hd_occupancy then;
} hd_occupancy_cliff;
/* Fewer registers, more blocks: the largest such number. */
hd_occupancy_cliff hd_occupancy_gain(const hd_gpu_limits *limits, const hd_occupancy_use *use);
/* More registers, fewer blocks: the smallest such number. Exists whenever the kernel can run: beyond the limit of
 * registers per thread no block fits (then.impossible). */
hd_occupancy_cliff hd_occupancy_loss(const hd_gpu_limits *limits, const hd_occupancy_use *use);

/* Occupancy by block size: fills rows[0..] for each multiple of 32 up to the maximum block size, at most `most` rows;
 * returns their number. */
uint32_t hd_occupancy_sweep(const hd_gpu_limits *limits, const hd_occupancy_use *use, hd_occupancy *rows,
                            uint32_t most);

#endif
