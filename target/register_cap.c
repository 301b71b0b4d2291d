/* Caps on registers: see register_cap.h. */
#include "target/register_cap.h"
#include "target/occupancy.h"

enum { MAXNREG_LEAST = 24 }; /* ptxas raises a lower .maxnreg to this */

/* The largest number of registers per thread with which `ctas` blocks are resident; 0: impossible. */
static uint32_t most_with(const hd_gpu_limits *limits, uint32_t threads, uint32_t ctas)
{
    hd_occupancy_use use = {.threads = threads, .registers = limits->registers_per_thread};
    while (use.registers && hd_occupancy_of(limits, &use).ctas < ctas)
        use.registers--;
    return use.registers;
}

static void lower(hd_register_cap *cap, uint32_t registers, hd_cap_source source)
{
    if (!registers || registers >= cap->registers)
        return;
    cap->registers = registers;
    cap->source = source;
}

hd_register_cap hd_register_cap_of(const hd_gpu_limits *limits, const hd_launch_bounds *bounds, uint32_t option)
{
    hd_register_cap cap = {.registers = limits->registers_per_thread, .source = HD_CAP_GPU};
    bool any = bounds->threads || bounds->max_registers;
    uint32_t of_ctas = bounds->threads && bounds->min_ctas ? most_with(limits, bounds->threads, bounds->min_ctas) : 0;
    uint32_t maxnreg = bounds->max_registers <= limits->registers_per_thread ? bounds->max_registers : 0;
    cap.ctas_ignored = bounds->min_ctas && !of_ctas;
    cap.option_ignored = option && any;
    if (!any)
        lower(&cap, option, HD_CAP_OPTION);
    lower(&cap, maxnreg && maxnreg < MAXNREG_LEAST ? MAXNREG_LEAST : maxnreg, HD_CAP_MAXNREG);
    if (of_ctas)
        lower(&cap, of_ctas, HD_CAP_CTAS);
    else if (bounds->threads && !maxnreg) /* .maxnreg replaces this limit */
        lower(&cap, most_with(limits, bounds->threads, 1), HD_CAP_THREADS);
    return cap;
}
