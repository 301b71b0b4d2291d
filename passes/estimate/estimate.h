/* An estimate of the registers that ptxas will use for a function, from PTX alone.
 *
 * ptxas orders instructions anew before it allocates: it hoists loads and other slow instructions as far as the
 * registers let it that cost no occupancy, unrolls short loops, keeps uniform values apart. So its count is neither the
 * peak of live registers in PTX order nor close to a constant above it. The model here imitates the ordering and
 * measures the peak in the imitated order; a few coefficients, fitted on kernels with known counts, correct what is
 * left. The model, its coefficients and its error are written up in docs/estimate.md.
 *
 * The function must have gone through the simplification passes (alias `clean`). Deterministic; O(n log n) in
 * instructions plus the sizes of live sets.
 */
#ifndef HD_PASSES_ESTIMATE_ESTIMATE_H
#define HD_PASSES_ESTIMATE_ESTIMATE_H

#include "passes/analysis/liveness.h"
#include "target/occupancy.h"
#include "target/register_cap.h"

enum { HD_ESTIMATE_KINDS = 2 };

/* Words live into the header of a loop: those that every order of its instructions holds there, but for what is kept
 * elsewhere or made anew. The loop with most; words 0 where there is none. */
typedef struct hd_estimate_loop {
    uint32_t words;
    uint32_t constant_offsets; /* of them, differ from another one by a constant, or extend it */
    uint32_t rematerialized;   /* made again by one instruction of a constant operand and what is live anyway */
    uint32_t uniform;          /* the uniform datapath may hold them */
    uint32_t at;               /* first instruction of the header */
} hd_estimate_loop;

/* What the model sees of a function. Words are registers of 32 bits, the most live at a time in any block; those that
 * machines keep elsewhere (predicates, constant operands) do not count. [1]: without what the uniform datapath may
 * hold. */
typedef struct hd_estimate_features {
    uint32_t needed[HD_ESTIMATE_KINDS]; /* the less of PTX order and an order with short lives */
    uint32_t wanted[HD_ESTIMATE_KINDS]; /* ordered for latency, loops unrolled; at least as in PTX order */
    uint32_t late;                      /* as wanted[0], ordered from the end */
    uint32_t written;                   /* in PTX order */
    uint32_t needed_at, wanted_at;      /* first instructions of the blocks where needed[0] and wanted[0] are */
    uint32_t instructions, loops, unrolled, loads, barriers; /* unrolled: loops */
    uint32_t calls;                                          /* that keep to the calling convention */
    uint32_t over_calls;                                     /* words live during calls */
    uint32_t shared_bytes;                                   /* static */
    hd_estimate_loop loop;
} hd_estimate_features;

void hd_estimate_measure(hd_pass_context *context, hd_estimate_features *features);
uint32_t hd_estimate_model(const hd_function *function, const hd_estimate_features *features,
                           const hd_gpu_limits *limits);

/* Both at once: registers, as `ptxas -v` counts them. `limits`: of the machine that the PTX is for (its .target). */
uint32_t hd_estimate_registers(hd_pass_context *context, const hd_gpu_limits *limits);

/* The most registers that ptxas gives the function. `option`: -maxrregcount, or 0. */
hd_register_cap hd_estimate_cap(const hd_function *function, const hd_gpu_limits *limits, uint32_t option);

/* The most registers with which as many CTAs are resident as with `needed` (with .minnctapersm: as it asks for), under
 * the cap. */
uint32_t hd_estimate_room(const hd_function *function, const hd_estimate_features *features,
                          const hd_gpu_limits *limits, uint32_t needed);

#endif
