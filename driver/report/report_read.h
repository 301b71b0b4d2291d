/* Reads a report from its JSON (heddle-json(5)), as far as comparisons need it: the quantities of
 * emitters/report/quantities.def, names, is_entry, registers_from. */
#ifndef HD_DRIVER_REPORT_REPORT_READ_H
#define HD_DRIVER_REPORT_REPORT_READ_H

#include "base/diagnostics.h"
#include "emitters/report/report.h"

/* Whether the text is JSON rather than PTX: its first character is a brace. */
bool hd_report_is_json(const hd_source *source);

/* false with bad-report diagnostics if the text is not JSON, has a schema other than 1 and 2, or lacks a key. The
 * report's data is in the arena. */
bool hd_report_read_json(hd_source *source, hd_arena *arena, hd_report_module *report, hd_diagnostics *diagnostics);

#endif
