/* What a kernel did, kept to be run again by the driver of timed_driver.h; and what hooks of a model were called and
 * emitted, in whatever driver. */
#ifndef HD_TESTS_TIMED_LOG_H
#define HD_TESTS_TIMED_LOG_H

#include "hwmodel/record/event.h"
#include "hwmodel/rf/technique.h"

/* ---- what a kernel did ------------------------------------------------------------------------------------------- */

typedef struct timed_event { /* an ISSUE or a RETURN */
    bool is_return;
    uint32_t frame, function, instruction, active, effective;
    uint32_t addresses, results, widths; /* 1 + where they are in the trace; 0: none */
} timed_event;

typedef struct timed_warp_trace {
    uint32_t warp, cta;
    HD_ARRAY(timed_event) events;
} timed_warp_trace;

typedef struct timed_trace {
    HD_ARRAY(timed_warp_trace) warps; /* by number */
    uint32_t kernel, ctas;
    HD_ARRAY(uint64_t) addresses;
    hd_u32_array results;
    HD_ARRAY(hd_width) widths;
} timed_trace;

bool timed_trace_take(void *trace, const hd_event *event); /* of an hd_sink */
void timed_trace_free(timed_trace *trace);

/* ---- what a model was asked -------------------------------------------------------------------------------------- */

typedef enum timed_hook {
    TIMED_BEGIN,
    TIMED_END,
    TIMED_CTA_END,
    TIMED_IN,
    TIMED_OUT,
    TIMED_BEFORE,
    TIMED_EXECUTE
} timed_hook;

typedef struct timed_call {
    timed_hook hook;
    uint32_t warp; /* of TIMED_CTA_END the CTA */
    uint32_t instruction, effective;
    uint32_t first, count; /* of the accesses of the log */
} timed_call;

typedef struct timed_log {
    HD_ARRAY(timed_call) calls;
    HD_ARRAY(hd_rf_access) accesses;
} timed_log;

typedef struct timed_gate { /* what a warp was answered last */
    hd_gate gate;
    uint64_t asked;
} timed_gate;

/* A model whose hooks write a log, in whatever driver. It fails the test where a gate is asked before its time. */
typedef struct timed_logged {
    hd_rf_model_info info; /* first */
    hd_rf_ops ops;
    const hd_rf_model_info *real;
    timed_log log;
    HD_ARRAY(timed_gate) gates; /* by warp */
    uint64_t refusals;
} timed_logged;
void timed_logged_free(timed_logged *logged);
void timed_logged_init(timed_logged *logged, const hd_rf_model_info *real);

#endif
