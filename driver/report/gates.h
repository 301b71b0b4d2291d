/* Gates: conditions on kernels that decide whether a build succeeds, as in
 *
 *   registers<=96,occupancy>=50%,*reduce*:max_pressure<=40,!debug_*:spill_bytes==0
 *
 *   gates = term { ',' term }
 *   term  = [ ['!'] PATTERN ':' ] QUANTITY ( '<=' | '<' | '>=' | '>' | '==' | '!=' ) NUMBER ['%']
 *
 * A term without a pattern applies to every kernel (.entry); one with a pattern to each function of the report whose
 * name or demangled name matches the glob, or with ! to each kernel that does not match. A kernel must satisfy all
 * terms that apply. A pattern contains no comma, and ends at the last colon of its term. Quantities are those of
 * emitters/report/quantities.def; an unknown value (ptxas if it was not run, spills if registers cannot be allocated)
 * does not satisfy a term.
 *
 * For values (heddle report), a number has no sign; occupancy is a fraction from 0 to 1 or a percentage. For changes
 * (heddle diff), a term compares new minus old; the number may have a sign; with % the change is relative to old, and
 * that of occupancy, a percentage itself, is in percentage points. Terms apply to kernels of both sides; `added` and
 * `removed` to all. Occupancy is compared in tenths of a percent, as it is printed.
 */
#ifndef HD_DRIVER_REPORT_GATES_H
#define HD_DRIVER_REPORT_GATES_H

#include "base/diagnostics.h"
#include "emitters/report/diff.h"

typedef struct hd_gates hd_gates;

typedef enum hd_gates_mode { HD_GATES_OF_VALUES, HD_GATES_OF_CHANGES } hd_gates_mode;

/* NULL with a bad-gate diagnostic (column in the option's text) if the text is invalid. `option`: its spelling. */
hd_gates *hd_gates_parse(const char *option, const char *text, hd_gates_mode mode, hd_diagnostics *diagnostics);
void hd_gates_free(hd_gates *gates); /* NULL is allowed */

/* Fills failed_gates of every kernel (strings in the arena), reports one unmet-gate error for each kernel that has
 * some, at its header if `source` is the report's PTX text (else NULL). Returns the number of kernels that fail. The
 * errors count like any others: a caller that drops an output on errors must check before. Several reports may be
 * checked in parallel. */
uint32_t hd_gates_check_report(hd_gates *gates, hd_report_module *report, hd_source *source, hd_arena *arena,
                               hd_diagnostics *diagnostics);
uint32_t hd_gates_check_diff(hd_gates *gates, hd_diff *diff, hd_arena *arena, hd_diagnostics *diagnostics);
/* After all checks: warns of patterns that matched no name. */
void hd_gates_warn_of_unused(const hd_gates *gates, hd_diagnostics *diagnostics);

#endif
