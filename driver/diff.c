/* Compares two reports: see diff.h. Linear in kernels. */
#include "driver/diff.h"

#include "base/intern.h"
#include <fnmatch.h>

static bool changed(const hd_diff_kernel *k)
{
    for (uint32_t q = 0; q < HD_QUANTITY_COUNT; q++) {
        double before, after;
        bool known_before = hd_quantity_of(k->before, (hd_quantity)q, &before),
             known_after = hd_quantity_of(k->after, (hd_quantity)q, &after);
        if (known_before != known_after || (known_before && before != after))
            return true;
    }
    return false;
}

static void add(hd_diff *diff, const hd_report_kernel *before, const hd_report_kernel *after)
{
    const hd_report_kernel *some = after ? after : before;
    hd_diff_kernel k = {.name = some->name, .demangled = some->demangled, .before = before, .after = after};
    k.status = !before ? HD_DIFF_ADDED : !after ? HD_DIFF_REMOVED : changed(&k) ? HD_DIFF_CHANGED : HD_DIFF_SAME;
    hd_array_push(&diff->kernels, k);
}

static bool selected(const hd_report_kernel *k, const char *glob) { return !glob || fnmatch(glob, k->name, 0) == 0; }

/* Numbers the side's names 1, 2 ... in order, by interning new names. */
static bool name_all(hd_names *names, const hd_report_module *side, hd_diagnostics *diagnostics)
{
    for (uint32_t i = 0; i < side->kernel_count; i++) {
        if (hd_names_add_string(names, side->kernels[i].name) == i + 1)
            continue;
        hd_report(diagnostics, HD_DIAG_BAD_REPORT, NULL, (hd_span){0, 0}, "'%s' has two kernels '%s'", side->path,
                  side->kernels[i].name);
        return false;
    }
    return true;
}

static const hd_report_kernel *find_kernel(const hd_names *names, const hd_report_module *side, const char *name)
{
    hd_name found = hd_names_find(names, name, strlen(name));
    return found == HD_NO_NAME ? NULL : &side->kernels[found - 1];
}

bool hd_diff_reports(const hd_report_module *before, const hd_report_module *after, const char *kernel, hd_diff *diff,
                     hd_diagnostics *diagnostics)
{
    hd_names old_names, new_names;
    hd_names_init(&old_names);
    hd_names_init(&new_names);
    *diff = (hd_diff){.before = before, .after = after};
    bool good = name_all(&old_names, before, diagnostics) && name_all(&new_names, after, diagnostics);
    for (uint32_t i = 0; good && i < after->kernel_count; i++)
        if (selected(&after->kernels[i], kernel))
            add(diff, find_kernel(&old_names, before, after->kernels[i].name), &after->kernels[i]);
    for (uint32_t i = 0; good && i < before->kernel_count; i++)
        if (selected(&before->kernels[i], kernel) && !find_kernel(&new_names, after, before->kernels[i].name))
            add(diff, &before->kernels[i], NULL);
    hd_names_free(&old_names);
    hd_names_free(&new_names);
    if (good && kernel && !diff->kernels.count)
        hd_report(diagnostics, HD_DIAG_UNKNOWN_KERNEL, NULL, (hd_span){0, 0}, "neither side has a kernel '%s'", kernel);
    return good && (!kernel || diff->kernels.count);
}
