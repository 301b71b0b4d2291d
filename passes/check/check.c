/* The table of checkers. */
#include "passes/check/check.h"

const hd_checker hd_checkers[] = {
#define HD_CHECK(technique, run) {technique, run},
#include "passes/check/checks.def"
#undef HD_CHECK
};
const uint32_t hd_checker_count = sizeof hd_checkers / sizeof *hd_checkers;
