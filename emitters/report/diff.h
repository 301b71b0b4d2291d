/* The comparison of two reports (include/heddle/diff_result.h) as text and JSON. */
#ifndef HD_EMITTERS_DIFF_H
#define HD_EMITTERS_DIFF_H

#include "emitters/report/quantity.h"
#include "heddle/diff_result.h"

/* The kernel's changes are in the order of hd_quantity. */
void hd_emit_diff_text(hd_writer *writer, const hd_diff *diff);
void hd_emit_diff_json(hd_writer *writer, const hd_diff *diff); /* heddle-diff(1) */

#endif
