/* The most registers per thread that ptxas gives a kernel: what its launch bounds leave, and what the GPU has.
 * Rules observed with ptxas 13.0 on sm_75 to sm_120 (docs/estimate.md). */
#ifndef HD_TARGET_REGISTER_CAP_H
#define HD_TARGET_REGISTER_CAP_H

#include "target/gpu.h"

typedef struct hd_launch_bounds { /* 0: not given */
    uint32_t threads;             /* .reqntid, else .maxntid: per thread block */
    uint32_t min_ctas;            /* .minnctapersm */
    uint32_t max_registers;       /* .maxnreg */
} hd_launch_bounds;

typedef enum hd_cap_source {
    HD_CAP_GPU,     /* registers per thread that the GPU has */
    HD_CAP_OPTION,  /* -maxrregcount: counts only where no directive of these is given */
    HD_CAP_MAXNREG, /* .maxnreg */
    HD_CAP_THREADS, /* one thread block must fit on an SM */
    HD_CAP_CTAS,    /* .minnctapersm of them must */
} hd_cap_source;
extern const char *const hd_cap_names[HD_CAP_CTAS + 1];

typedef struct hd_register_cap {
    uint32_t registers;
    hd_cap_source source;
    bool ctas_ignored;   /* .minnctapersm has no effect: no threads are given, or an SM never holds so many */
    bool option_ignored; /* -maxrregcount has no effect with launch bounds */
} hd_register_cap;

/* `option`: -maxrregcount; 0: not given. */
hd_register_cap hd_register_cap_of(const hd_gpu_limits *limits, const hd_launch_bounds *bounds, uint32_t option);

#endif
