/* heddle check: see check.h. Functions are checked one after the other, so that reports are in text order. */
#include "driver/check.h"
#include "ir/machine.h"
#include "passes/analysis/analyses.h"
#include "passes/check/check.h"

static void add_sync_points(hd_function *f, hd_diagnostics *diagnostics, hd_sync_points *sums)
{
    hd_pass_context context;
    hd_pass_context_init(&context, f, diagnostics);
    hd_sync_points_compare(&context, sums);
    hd_pass_context_free(&context);
}

/* Whether it is known what all instructions of an annotated function do. */
static bool is_decidable(const hd_function *f, hd_diagnostics *diagnostics)
{
    uint32_t ordinal;
    const char *obstacle = f->machine ? hd_machine_obstacle(f, &ordinal) : NULL;
    if (obstacle)
        hd_report(diagnostics, HD_DIAG_UNDECIDED_ANNOTATION, f->module->source, f->instructions.items[ordinal].span,
                  "the annotations of '%s' are not proved: this instruction %s",
                  hd_names_text(&f->module->names, f->name), obstacle);
    return !obstacle;
}

hd_status hd_check_module(hd_module *module, const char *kernel, hd_meter *meter, hd_diagnostics *diagnostics,
                          hd_check_result *result)
{
    bool good = true, decided = true;
    *result = (hd_check_result){0};
    if (!hd_module_check_selection(module, kernel, diagnostics))
        return HD_STATUS_REJECTED;
    hd_meter_expect(meter, hd_module_count_selected(module, kernel));
    for (uint32_t i = 0; i < module->functions.count; i++) {
        hd_function *f = module->functions.items[i];
        if (!hd_function_selected(f, kernel))
            continue;
        uint64_t before = result->annotations;
        result->functions++;
        for (uint32_t c = 0; c < hd_checker_count; c++)
            good = hd_checkers[c].run(f, diagnostics, &result->annotations) && good;
        if (result->annotations > before)
            decided = is_decidable(f, diagnostics) && decided;
        if (f->machine)
            add_sync_points(f, diagnostics, &result->sync);
        hd_meter_step(meter, 1);
    }
    return !good ? HD_STATUS_WRONG : decided ? HD_STATUS_DONE : HD_STATUS_UNDECIDED;
}
