/* Estimates the number of registers that ptxas will use for a function, from PTX alone.
 *
 * ptxas schedules instructions before it allocates: it hoists loads and other long-latency instructions as far as the
 * registers allow without loss of occupancy, unrolls short loops, and keeps uniform values apart. So its count is
 * neither the maximum register pressure in PTX order nor that plus a constant. The model imitates the scheduling and
 * measures the maximum pressure in the resulting order; a few coefficients, fitted on kernels with known counts,
 * correct the rest. Model, coefficients and error are documented in docs/estimate.md.
 *
 * The function must have gone through the simplification passes (alias `select`). Deterministic; O(n log n) in
 * instructions plus the sizes of live sets.
 */
#ifndef HD_PASSES_ESTIMATE_ESTIMATE_H
#define HD_PASSES_ESTIMATE_ESTIMATE_H

#include "passes/analysis/liveness.h"
#include "target/occupancy.h"
#include "target/register_cap.h"

enum { HD_ESTIMATE_KINDS = 2 };

/* Words live into the header of a loop: those that every order of its instructions holds there, except values kept
 * elsewhere or rematerialized. The loop with most such words; words is 0 if there is no loop. */
typedef struct hd_estimate_loop {
    uint32_t words;
    uint32_t constant_offsets; /* of them: differ from another one by a constant, or extend it */
    /* of them: rematerialized by one instruction from a constant operand and a live register */
    uint32_t rematerialized;
    uint32_t uniform; /* of them: the uniform datapath may hold them */
    uint32_t at;      /* first instruction of the header */
} hd_estimate_loop;

/* The features of a function. Words are 32-bit registers, the maximum live in any block; values outside the register
 * file (predicates, constant operands) do not count. [1]: without values that the uniform datapath may hold. */
typedef struct hd_estimate_features {
    uint32_t needed[HD_ESTIMATE_KINDS]; /* the smaller of PTX order and an order with short live ranges */
    uint32_t wanted[HD_ESTIMATE_KINDS]; /* scheduled for latency, loops unrolled; at least as in PTX order */
    uint32_t late;                      /* as wanted[0], scheduled from the end */
    uint32_t written;                   /* in PTX order */
    /* first instructions of the blocks where the maxima needed[0] and wanted[0] occur */
    uint32_t needed_at, wanted_at;
    uint32_t instructions, loops, unrolled, loads, barriers; /* unrolled: number of unrolled loops */
    uint32_t calls;                                          /* that follow the calling convention */
    uint32_t over_calls;                                     /* words live across calls */
    uint32_t shared_bytes;                                   /* static */
    hd_estimate_loop loop;
} hd_estimate_features;

void hd_estimate_measure(hd_pass_context *context, hd_estimate_features *features);
uint32_t hd_estimate_model(const hd_function *function, const hd_estimate_features *features,
                           const hd_gpu_limits *limits);

/* Between which numbers the count of ptxas lies, by the measured errors of such estimates, and for how many of the
 * kernels measured it does (docs/estimate.md). `cap`: the most that ptxas assigns. */
typedef struct hd_estimate_interval {
    uint32_t low, high, coverage_percent;
} hd_estimate_interval;
hd_estimate_interval hd_estimate_around(uint32_t estimate, uint32_t cap);

/* Features and model together: registers, as `ptxas -v` counts them. `limits`: of the PTX's .target. */
uint32_t hd_estimate_registers(hd_pass_context *context, const hd_gpu_limits *limits);

/* The maximum number of registers that ptxas assigns to the function. `option`: -maxrregcount, or 0. */
hd_register_cap hd_estimate_cap(const hd_function *function, const hd_gpu_limits *limits, uint32_t option);

/* The maximum number of registers with which as many blocks are resident as with `needed` (with .minnctapersm: as it
 * requests), at most the cap. */
uint32_t hd_estimate_room(const hd_function *function, const hd_estimate_features *features,
                          const hd_gpu_limits *limits, uint32_t needed);

#endif
