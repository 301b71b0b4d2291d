/* Static verification of annotations: `heddle check`. A checker takes what a kernel's annotations claim and refutes it,
 * or lets it stand.
 *
 * It shares nothing with the passes that write annotations: no code, no analysis. It trusts ir/ only: operand roles,
 * the CFG and the reconvergence table. Whatever else it needs it works out itself (passes/check/facts.h).
 */
#ifndef HD_PASSES_CHECK_CHECK_H
#define HD_PASSES_CHECK_CHECK_H

#include "ir/annotations.h"
#include "ir/cfg.h"

/* Verifies one technique's annotations of a function with a body. Reports unsound-annotation at each instruction whose
 * annotation it refutes; true where all hold. *count is increased by the annotations looked at. */
typedef bool hd_check_run(hd_function *function, hd_diagnostics *diagnostics, uint64_t *count);

typedef struct hd_checker {
    const char *technique; /* spelling in ir/techniques.def; "": of none */
    hd_check_run *run;
} hd_checker;
extern const hd_checker hd_checkers[];
extern const uint32_t hd_checker_count;

#define HD_CHECK(technique, run) hd_check_run run;
#include "passes/check/checks.def"
#undef HD_CHECK

#endif
