/* See status.h. */
#include "driver/status.h"

hd_status hd_status_worse(hd_status a, hd_status b)
{
    static const uint8_t ranks[] = {[HD_STATUS_DONE] = 0,   [HD_STATUS_UNDECIDED] = 1, [HD_STATUS_REJECTED] = 2,
                                    [HD_STATUS_USAGE] = 3,  [HD_STATUS_FAULT] = 4,     [HD_STATUS_WRONG] = 5,
                                    [HD_STATUS_MEMORY] = 6, [HD_STATUS_INTERNAL] = 7,  [HD_STATUS_CANCELLED] = 8};
    return ranks[b] > ranks[a] ? b : a;
}

hd_status hd_status_of(const hd_diagnostics *diagnostics)
{
    uint32_t missing = 0;
    for (const hd_diagnostic *d = diagnostics->first; d; d = d->next) {
        if (d->kind == HD_DIAG_BAD_PASS || d->kind == HD_DIAG_BAD_GATE || d->kind == HD_DIAG_UNKNOWN_GPU)
            return HD_STATUS_USAGE;
        missing += d->kind == HD_DIAG_MISSING_TOOL;
    }
    if (missing && missing == diagnostics->error_count)
        return HD_STATUS_UNDECIDED;
    return diagnostics->error_count ? HD_STATUS_REJECTED : HD_STATUS_DONE;
}
