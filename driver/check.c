/* heddle check: see check.h. Functions are checked one after the other, so that reports are in text order. */
#include "driver/check.h"
#include "passes/analysis/analyses.h"
#include "passes/check/check.h"

static void add_sync_points(hd_function *f, hd_diagnostics *diagnostics, hd_sync_points *sums)
{
    hd_pass_context context;
    hd_pass_context_init(&context, f, diagnostics);
    hd_sync_points_compare(&context, sums);
    hd_pass_context_free(&context);
}

hd_status hd_check_module(hd_module *module, const char *kernel, hd_meter *meter, hd_diagnostics *diagnostics,
                          hd_check_result *result)
{
    bool good = true;
    *result = (hd_check_result){0};
    if (!hd_module_check_selection(module, kernel, diagnostics))
        return HD_STATUS_REJECTED;
    hd_meter_expect(meter, hd_module_count_selected(module, kernel));
    for (uint32_t i = 0; i < module->functions.count; i++) {
        hd_function *f = module->functions.items[i];
        if (!hd_function_selected(f, kernel))
            continue;
        result->functions++;
        for (uint32_t c = 0; c < hd_checker_count; c++)
            good = hd_checkers[c].run(f, diagnostics, &result->annotations) && good;
        if (f->machine)
            add_sync_points(f, diagnostics, &result->sync);
        hd_meter_step(meter, 1);
    }
    return good ? HD_STATUS_DONE : HD_STATUS_WRONG;
}
