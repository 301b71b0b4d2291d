/* What replays find wrong, as diagnostics. */
#ifndef HD_HWMODEL_COUNT_REPORT_H
#define HD_HWMODEL_COUNT_REPORT_H

#include "hwmodel/count/runner.h"
#include "hwmodel/count/uniform.h"

/* Of the model with this name. false: it is no failed proof, but what cannot be proved. */
bool hd_rf_report_failure(const hd_rf_module *code, const hd_rf_failure *failure, const char *model,
                          hd_diagnostics *diagnostics);
/* The event shows that the branch has split its warp. */
void hd_rf_report_split(const hd_rf_module *code, const hd_rf_branch *branch, const hd_event *event,
                        hd_diagnostics *diagnostics);

#endif
