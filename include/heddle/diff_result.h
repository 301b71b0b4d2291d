/* What `heddle diff` finds in two reports, kernel by kernel, as data: what hd_context_diff() prints, for programs that
 * read it.
 *
 * All arrays and texts belong to whoever made the comparison; hd_context_diff_results() says for how long they stay.
 */
#ifndef HEDDLE_DIFF_RESULT_H
#define HEDDLE_DIFF_RESULT_H

#include "heddle/report_result.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hd_diff_status {
    HD_DIFF_SAME,
    HD_DIFF_CHANGED, /* one of the quantities differs, or is known on one side only */
    HD_DIFF_ADDED,
    HD_DIFF_REMOVED,
    HD_DIFF_STATUS_COUNT
} hd_diff_status;

/* One quantity on both sides. */
typedef struct hd_diff_change {
    const char *quantity; /* its name, as heddle-gates(7) lists them: "registers" */
    bool known_before, known_after;
    /* Both are known and mean the same. They do not where registers are the count of ptxas on one side and an estimate
     * on the other, nor does the occupancy that follows from them. */
    bool comparable;
    bool differs;         /* in value, or known on one side only */
    double before, after; /* counts, bytes or, of occupancy, a fraction; 0 where not known */
} hd_diff_change;

typedef struct hd_diff_kernel {
    const char *name, *demangled;
    /* NULL: that side has no such kernel. A side that was read from JSON has its name, is_entry, registers_from and
     * what the quantities follow from. */
    const hd_report_kernel *before, *after;
    hd_diff_status status;
    /* A change of every quantity; "added" and "removed" are 0 before, and 1 after where the kernel is so, else 0. */
    const hd_diff_change *changes;
    uint32_t change_count;
    /* terms of the gates that its changes do not meet, with what they are: "registers<=0 (40 to 44: +4)" */
    const char **failed_gates;
    uint32_t failed_gate_count;
} hd_diff_kernel;

typedef struct hd_diff {
    const hd_report_module *before, *after;
    hd_diff_kernel *kernels; /* in the order of the new side, then those that were removed */
    uint32_t kernel_count;
    uint32_t counts[HD_DIFF_STATUS_COUNT]; /* kernels, by status */
} hd_diff;

#ifdef __cplusplus
}
#endif

#endif
