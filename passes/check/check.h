/* Static verification of annotations: `heddle check`. A checker refutes what a function's annotations claim, or accepts
 * it.
 *
 * Checkers share neither code nor analyses with the passes that write annotations. They trust ir/ only: operand roles,
 * the CFG and the reconvergence table. Everything else they compute themselves (passes/check/facts.h).
 */
#ifndef HD_PASSES_CHECK_CHECK_H
#define HD_PASSES_CHECK_CHECK_H

#include "base/rows.h"
#include "ir/annotations.h"
#include "ir/cfg.h"

/* Verifies one technique's annotations of a function with a body. Reports unsound-annotation at each instruction whose
 * annotation is refuted; true if all hold. *count is increased by the number of annotations checked. */
typedef bool hd_check_run(hd_function *function, hd_diagnostics *diagnostics, uint64_t *count);

typedef struct hd_checker {
    const char *technique; /* spelling in ir/techniques.def; "": no technique */
    hd_check_run *run;
} hd_checker;
extern const hd_checker *const hd_checkers;
extern uint32_t hd_checker_count;
bool hd_checker_add(const hd_checker *row); /* of a plug-in; false: there is no room */

#define HD_CHECK(technique, run) hd_check_run run;
#include "passes/check/checks.def"
#undef HD_CHECK

#endif
