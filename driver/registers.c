/* Simplifies a copy of the kernel and estimates its registers. */
#include "driver/registers.h"
#include "passes/estimate/estimate.h"
#include "passes/manager/manager.h"

static uint32_t estimate(hd_function *f, const hd_gpu_limits *limits, hd_diagnostics *diagnostics)
{
    hd_pass_context context;
    hd_pipeline *select = hd_pipeline_parse("select", diagnostics);
    uint32_t registers = 0;
    hd_pass_context_init(&context, f, diagnostics);
    if (select && hd_pipeline_run_in(select, &context, NULL, diagnostics)) {
        uint32_t most = hd_estimate_cap(f, limits, 0).registers;
        registers = hd_estimate_registers(&context, limits);
        registers = hd_min(registers, most);
    }
    hd_pass_context_free(&context);
    hd_pipeline_free(select);
    return registers;
}

uint32_t hd_estimated_registers(const hd_module *module, const char *kernel, const hd_gpu_limits *limits)
{
    hd_diagnostics diagnostics;
    hd_diagnostics_init(&diagnostics);
    hd_module *copy = hd_module_copy(module, &diagnostics);
    hd_function *f = hd_module_find_function(copy, kernel);
    uint32_t registers = f && f->has_body ? estimate(f, limits, &diagnostics) : 0;
    hd_module_free(copy);
    hd_diagnostics_free(&diagnostics);
    return registers;
}
