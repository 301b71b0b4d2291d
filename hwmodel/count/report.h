/* What replays find wrong, as diagnostics. */
#ifndef HD_HWMODEL_COUNT_REPORT_H
#define HD_HWMODEL_COUNT_REPORT_H

#include "hwmodel/record/walk.h"
#include "hwmodel/count/uniform.h"

/* Reports a failure of the model with this name. false: it is no failed proof, but what cannot be proved. */
bool hd_rf_report_failure(const hd_rf_module *code, const hd_rf_failure *failure, const char *model,
                          hd_diagnostics *diagnostics);
/* The event shows that the branch has split its warp. */
void hd_rf_report_split(const hd_rf_module *code, const hd_rf_branch *branch, const hd_event *event,
                        hd_diagnostics *diagnostics);

typedef struct hd_rf_wait {         /* of a resident warp that can never go on */
    uint32_t sm;                    /* HD_NONE: the only one */
    uint32_t cta, warp;             /* warp: in its block */
    uint32_t function, instruction; /* that comes next; HD_NONE: it has issued all */
    const char *what;               /* it waits for */
    bool gated;                     /* the technique keeps it from issuing */
} hd_rf_wait;
enum { HD_RF_WAITS = 8 }; /* that a report lists */
/* What the resident warps wait for, as notes: the first of `count`. */
void hd_rf_report_waits(const hd_rf_module *code, const hd_rf_wait waits[HD_RF_WAITS], uint32_t count,
                        hd_diagnostic *diagnostic, hd_diagnostics *diagnostics);

#endif
