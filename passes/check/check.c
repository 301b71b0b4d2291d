/* The table of checkers. */
#include "passes/check/check.h"

enum {
#define HD_CHECK(technique, run) CHECKER_##run,
#include "passes/check/checks.def"
#undef HD_CHECK
    CHECKERS
};
static hd_checker rows[CHECKERS + HD_PLUGIN_ROWS] = {
#define HD_CHECK(technique, run) {technique, run},
#include "passes/check/checks.def"
#undef HD_CHECK
};
const hd_checker *const hd_checkers = rows;
uint32_t hd_checker_count = CHECKERS;

bool hd_checker_add(const hd_checker *row) { return HD_ADD_ROW(rows, hd_checker_count, row); }
