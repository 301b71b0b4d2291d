/* The maximum number of registers per thread that ptxas assigns to a kernel, from its launch bounds and the GPU's
 * limits. The rules were observed with ptxas 13.0 on sm_75 to sm_120 (docs/estimate.md). */
#ifndef HD_TARGET_REGISTER_CAP_H
#define HD_TARGET_REGISTER_CAP_H

#include "target/gpu.h"

typedef struct hd_launch_bounds { /* 0: not given */
    uint32_t threads;             /* threads per block: .reqntid, else .maxntid */
    uint32_t min_ctas;            /* .minnctapersm */
    uint32_t max_registers;       /* .maxnreg */
} hd_launch_bounds;

typedef enum hd_cap_source {
    HD_CAP_GPU,     /* limit of the GPU per thread */
    HD_CAP_OPTION,  /* -maxrregcount; has effect only without these directives */
    HD_CAP_MAXNREG, /* .maxnreg */
    HD_CAP_THREADS, /* one block must fit on an SM */
    HD_CAP_CTAS,    /* .minnctapersm blocks must fit */
} hd_cap_source;

typedef struct hd_register_cap {
    uint32_t registers;
    hd_cap_source source;
    bool ctas_ignored;   /* .minnctapersm has no effect: the block size is not given, or so many blocks never fit */
    bool option_ignored; /* -maxrregcount has no effect with launch bounds */
} hd_register_cap;

/* `option`: -maxrregcount; 0: not given. */
hd_register_cap hd_register_cap_of(const hd_gpu_limits *limits, const hd_launch_bounds *bounds, uint32_t option);

#endif
