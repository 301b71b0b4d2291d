/* Register counts from NVIDIA's assembler: the output of `ptxas -v` for a module. Optional. */
#ifndef HD_DRIVER_REPORT_PTXAS_H
#define HD_DRIVER_REPORT_PTXAS_H

#include "base/diagnostics.h"

typedef struct hd_ptxas_kernel { /* an entry function */
    const char *name;
    uint32_t registers, barriers;
    uint64_t spill_stores, spill_loads, stack_bytes; /* bytes */
    uint64_t shared_bytes;                           /* static, with registers that are spilled to it */
} hd_ptxas_kernel;

typedef struct hd_ptxas_message { /* a warning, or an info that is no statistic */
    bool is_warning;
    const char *code; /* "C7508", or NULL */
    const char *text; /* without the code */
    uint32_t line;    /* of the module's text; 0: it names none */
} hd_ptxas_message;

typedef struct hd_ptxas_result {
    hd_arena arena;
    HD_ARRAY(hd_ptxas_kernel) kernels; /* by name */
    HD_ARRAY(hd_ptxas_message) messages;
    bool alone;          /* it ran with -c: a module of several, whose callees are elsewhere */
    const char *version; /* "13.0.48", or NULL */
    const char *error;   /* the first line that contains error or fatal, or NULL */
    const char *unknown; /* why there are no numbers, or NULL: "ptxas refused the module: ..." */
} hd_ptxas_result;

const hd_ptxas_kernel *hd_ptxas_find(const hd_ptxas_result *result, const char *name); /* or NULL */
void hd_ptxas_free(hd_ptxas_result *result);

typedef struct hd_ptxas_request {
    const char *path;       /* the program; "": the one in PATH, in $CUDA_HOME/bin or in /usr/local/cuda/bin */
    bool if_found;          /* no note if it is not found */
    bool silent;            /* no notes at all, and no version */
    const char *entries;    /* names of kernels, with commas: only these are assembled; NULL: all */
    const char *arch;       /* sm_90a */
    uint32_t max_registers; /* 0: no limit */
    uint32_t seconds;       /* time limit, after which it is stopped; 0: no limit */
    const char *text;       /* the module */
    size_t length;
} hd_ptxas_request;

/* Starts a process for a module; it runs in parallel with the caller. NULL, with an `unavailable-ptxas` note and
 * result->unknown, if it cannot be started. Free the result in either case. */
typedef struct hd_ptxas hd_ptxas;
hd_ptxas *hd_ptxas_start(const hd_ptxas_request *request, hd_ptxas_result *result, hd_diagnostics *diagnostics);
/* Waits for it and frees it; if the module has functions elsewhere, it runs again with -c. false, with a note and
 * result->unknown, if there are no numbers. */
bool hd_ptxas_finish(hd_ptxas *ptxas, hd_ptxas_result *result, hd_diagnostics *diagnostics);

#endif
