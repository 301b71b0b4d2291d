/* See status.h. */
#include "driver/status.h"

hd_status hd_status_of(const hd_diagnostics *diagnostics)
{
    for (const hd_diagnostic *d = diagnostics->first; d; d = d->next)
        if (d->kind == HD_DIAG_BAD_PASS || d->kind == HD_DIAG_BAD_GATE || d->kind == HD_DIAG_UNKNOWN_GPU)
            return HD_STATUS_USAGE;
    return diagnostics->error_count ? HD_STATUS_REJECTED : HD_STATUS_DONE;
}
