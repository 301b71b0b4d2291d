/* Small models of techniques that the project does not have yet, to prove that technique.h serves them: each has the
 * state and the decisions of its paper's mechanism, and leaves out the rest, as the comment at its top says. They are
 * rows of no table. Where they wait, they name HD_STALL_REGISTER: rows of their own come with the techniques, as do
 * rows of access.def and counters.def. What they count beside accesses is in their counts here. */
#ifndef HD_TESTS_STUBS_H
#define HD_TESTS_STUBS_H

#include "hwmodel/rf/technique.h"

extern const hd_rf_ops stub_ideal_ops, stub_larf_ops, stub_shrink_ops, stub_hrf_ops, stub_dmr_ops;
extern const hd_rf_model_info stubs[];
extern const uint32_t stub_count;

typedef struct stub_larf_counts {
    uint64_t loads, hits, evicted, copies; /* loads: global ones of a single stride */
} stub_larf_counts;
stub_larf_counts stub_larf_counts_of(const hd_rf_model *model);

typedef struct stub_shrink_counts {
    uint64_t spilled, refilled, most_mapped;
} stub_shrink_counts;
stub_shrink_counts stub_shrink_counts_of(const hd_rf_model *model);

typedef struct stub_hrf_counts {
    uint64_t drains, drained, wakes; /* buffers; registers in them; of the gated entries */
} stub_hrf_counts;
stub_hrf_counts stub_hrf_counts_of(const hd_rf_model *model);

typedef struct stub_dmr_counts {
    uint64_t lanes, covered; /* lanes that compute results; of them, verified */
    uint64_t replayed;       /* instructions */
    uint64_t detected;       /* words that a repetition has different */
    uint64_t unverified;     /* operands that were read before they were verified */
} stub_dmr_counts;
stub_dmr_counts stub_dmr_counts_of(const hd_rf_model *model);

#endif
