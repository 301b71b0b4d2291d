/* The result of `heddle diff`: two reports, kernel by kernel. driver/diff.c fills it in, gates evaluate it, the
 * emitters here print it. The comparison uses each kernel's hd_quantity_of values, names, is_entry and
 * registers_from. */
#ifndef HD_EMITTERS_DIFF_H
#define HD_EMITTERS_DIFF_H

#include "emitters/quantity.h"

typedef enum hd_diff_status {
    HD_DIFF_SAME,
    HD_DIFF_CHANGED,
    HD_DIFF_ADDED,
    HD_DIFF_REMOVED,
    HD_DIFF_STATUS_COUNT
} hd_diff_status;
extern const char *const hd_diff_status_names[HD_DIFF_STATUS_COUNT];

typedef struct hd_diff_kernel {
    const char *name, *demangled;
    const hd_report_kernel *before, *after; /* NULL: that side has no such kernel */
    hd_diff_status status;                  /* CHANGED: a quantity differs, or is known on one side only */
    /* terms that its change does not satisfy, with the change: "registers<=0 (40 to 44: +4)" */
    const char **failed_gates;
    uint32_t failed_gate_count;
} hd_diff_kernel;

typedef struct hd_diff {
    const hd_report_module *before, *after;
    HD_ARRAY(hd_diff_kernel) kernels; /* in the order of the new side, then removed ones */
} hd_diff;

/* Both sides' values; false if one side has none, or they are not comparable: registers counted by ptxas on one side
 * and estimated on the other, and the occupancy that depends on them. For "added" and "removed", before is 0 and after
 * the value. */
bool hd_diff_values(const hd_diff_kernel *kernel, hd_quantity quantity, double *before, double *after);
uint32_t hd_diff_count(const hd_diff *diff, hd_diff_status status);

void hd_emit_diff_text(hd_writer *writer, const hd_diff *diff);
void hd_emit_diff_json(hd_writer *writer, const hd_diff *diff); /* heddle-diff(1) */

#endif
