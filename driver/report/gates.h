/* Gates: conditions on kernels that decide whether a build goes on, as in
 *
 *   registers<=96,occupancy>=50%,*reduce*:max_pressure<=40,!debug_*:spill_bytes==0
 *
 *   gates = term { ',' term }
 *   term  = [ ['!'] PATTERN ':' ] QUANTITY ( '<=' | '<' | '>=' | '>' | '==' | '!=' ) NUMBER ['%']
 *
 * A term without a pattern is for every kernel (.entry); one with a pattern for each function of the report whose name
 * or demangled name the glob fits, or with ! for each kernel that it does not fit. All terms for a kernel count. A
 * pattern holds no comma, and ends at the last colon of its term. Quantities are those of emitters/quantities.def; one
 * that was not determined (ptxas where it was not asked, spills where registers cannot be allocated) does not meet a
 * term.
 *
 * Of values (heddle report) a number has no sign; occupancy is a fraction from 0 to 1 or a percentage. Of changes
 * (heddle diff) a term compares new minus old; the number may have a sign; with % the change is relative to old, and
 * that of occupancy, a percentage itself, in points. Terms are for kernels of both sides; `added` and `removed` are for
 * all. Occupancy is compared in tenths of a percent, as it is printed.
 */
#ifndef HD_DRIVER_REPORT_GATES_H
#define HD_DRIVER_REPORT_GATES_H

#include "base/diagnostics.h"
#include "emitters/diff.h"

typedef struct hd_gates hd_gates;

typedef enum hd_gates_mode { HD_GATES_OF_VALUES, HD_GATES_OF_CHANGES } hd_gates_mode;

/* NULL with a bad-gate diagnostic (column in the option's text) where the text is bad. `option`: its spelling. */
hd_gates *hd_gates_parse(const char *option, const char *text, hd_gates_mode mode, hd_diagnostics *diagnostics);
void hd_gates_free(hd_gates *gates); /* NULL is fine */

/* Fills failed_gates of every kernel (texts in the arena), reports one unmet-gate error for each kernel that has some,
 * at its header where `source` is the report's PTX text (else NULL). How many kernels fail. The errors count as any:
 * whoever drops an output on errors asks before. Several reports may be checked side by side. */
uint32_t hd_gates_check_report(hd_gates *gates, hd_report_module *report, hd_source *source, hd_arena *arena,
                               hd_diagnostics *diagnostics);
uint32_t hd_gates_check_diff(hd_gates *gates, hd_diff *diff, hd_arena *arena, hd_diagnostics *diagnostics);
/* Of all that was checked: warns of patterns that fit no name. */
void hd_gates_warn_of_unused(const hd_gates *gates, hd_diagnostics *diagnostics);

#endif
