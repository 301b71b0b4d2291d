/* Compares two reports: see diff.h. Linear in kernels. */
#include "driver/report/diff.h"

#include "base/intern.h"
#include "base/suggest.h"
#include "driver/report/gates.h"
#include "driver/report/report_read.h"
#include "emitters/report/quantity.h"

#include <fnmatch.h>

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

static hd_diff_change change_of(const hd_diff_kernel *k, hd_quantity quantity)
{
    const hd_quantity_info *info = &hd_quantities[quantity];
    hd_diff_change c = {.quantity = info->name};
    if (info->class == HD_CLASS_CHANGE) {
        c.known_before = c.known_after = c.comparable = true;
        c.after = k->status == (quantity == HD_QUANTITY_ADDED ? HD_DIFF_ADDED : HD_DIFF_REMOVED);
        c.differs = c.after != 0;
        return c;
    }
    double before = 0, after = 0;
    c.known_before = k->before && hd_quantity_of(k->before, quantity, &before);
    c.known_after = k->after && hd_quantity_of(k->after, quantity, &after);
    c.before = c.known_before ? before : 0;
    c.after = c.known_after ? after : 0;
    c.differs = c.known_before != c.known_after || c.before != c.after;
    c.comparable = c.known_before && c.known_after &&
                   (info->class != HD_CLASS_CHOSEN || strcmp(k->before->registers_from, k->after->registers_from) == 0);
    return c;
}

static void add_kernel(hd_diff *diff, const hd_report_kernel *before, const hd_report_kernel *after, hd_arena *arena)
{
    const hd_report_kernel *some = after ? after : before;
    hd_diff_kernel *k = &diff->kernels[diff->kernel_count++];
    hd_diff_change *changes = HD_ARENA_ARRAY(arena, hd_diff_change, HD_QUANTITY_COUNT);
    *k = (hd_diff_kernel){.name = some->name, .demangled = some->demangled, .before = before, .after = after};
    k->status = !before ? HD_DIFF_ADDED : !after ? HD_DIFF_REMOVED : HD_DIFF_SAME;
    k->changes = changes;
    k->change_count = HD_QUANTITY_COUNT;
    for (uint32_t q = 0; q < HD_QUANTITY_COUNT; q++) {
        changes[q] = change_of(k, (hd_quantity)q);
        if (k->status == HD_DIFF_SAME && changes[q].differs)
            k->status = HD_DIFF_CHANGED;
    }
    diff->counts[k->status]++;
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

static bool selected(const hd_report_kernel *k, const char *glob) { return !glob || fnmatch(glob, k->name, 0) == 0; }

/* The side's names become 1, 2 ... in order, as new names do. */
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

static void report_unknown_kernel(const hd_report_module *before, const hd_report_module *after, const char *kernel,
                                  hd_diagnostics *diagnostics)
{
    char phrase[HD_SUGGEST_PHRASE];
    hd_suggestion near = hd_suggest(kernel);
    for (uint32_t i = 0; i < after->kernel_count; i++)
        hd_suggest_from(&near, after->kernels[i].name);
    for (uint32_t i = 0; i < before->kernel_count; i++)
        hd_suggest_from(&near, before->kernels[i].name);
    hd_report(diagnostics, HD_DIAG_UNKNOWN_KERNEL, NULL, (hd_span){0, 0}, "neither side has a kernel '%s'%s", kernel,
              hd_suggest_phrase(&near, phrase));
}

bool hd_diff_reports(const hd_report_module *before, const hd_report_module *after, const char *kernel, hd_arena *arena,
                     hd_diff *diff, hd_diagnostics *diagnostics)
{
    hd_names old_names, new_names;
    hd_names_init(&old_names);
    hd_names_init(&new_names);
    *diff = (hd_diff){.before = before, .after = after};
    diff->kernels = HD_ARENA_ARRAY(arena, hd_diff_kernel, before->kernel_count + after->kernel_count + 1);
    bool good = name_all(&old_names, before, diagnostics) && name_all(&new_names, after, diagnostics);
    for (uint32_t i = 0; good && i < after->kernel_count; i++)
        if (selected(&after->kernels[i], kernel))
            add_kernel(diff, find_kernel(&old_names, before, after->kernels[i].name), &after->kernels[i], arena);
    for (uint32_t i = 0; good && i < before->kernel_count; i++)
        if (selected(&before->kernels[i], kernel) && !find_kernel(&new_names, after, before->kernels[i].name))
            add_kernel(diff, &before->kernels[i], NULL, arena);
    hd_names_free(&old_names);
    hd_names_free(&new_names);
    if (good && kernel && !diff->kernel_count)
        report_unknown_kernel(before, after, kernel, diagnostics);
    return good && (!kernel || diff->kernel_count);
}

/* ---- the job ----------------------------------------------------------------------------------------------------- */

struct hd_diff_job {
    hd_report_options options; /* how to report on a side */
    hd_source *sources[2];
    bool is_json[2];
    hd_report_module read[2];    /* of a side that is JSON */
    hd_report_job *reporting[2]; /* on a side that is PTX; else NULL */
    hd_arena arena;
    hd_diff diff;
    bool good;
};

/* Reports that are JSON first: where one has no counts of ptxas, the other side has no use for them. false with
 * diagnostics where a side is neither a report nor PTX. */
static bool read_sides(hd_diff_job *job, const hd_report_module *sides[2], hd_diagnostics *diagnostics)
{
    bool good = true;
    for (int s = 0; s < 2; s++) {
        job->is_json[s] = hd_report_is_json(job->sources[s]);
        if (!job->is_json[s])
            continue;
        sides[s] = &job->read[s];
        good = hd_report_read_json(job->sources[s], &job->arena, &job->read[s], diagnostics) && good;
        if (good && !sides[s]->ptxas_version && job->options.ptxas_if_found)
            job->options.ptxas = NULL;
    }
    for (int s = 0; s < 2; s++) {
        if (job->is_json[s])
            continue;
        job->reporting[s] = hd_report_new(job->sources[s], &job->options, diagnostics);
        sides[s] = hd_report_of(job->reporting[s]);
        good = hd_report_status(job->reporting[s]) == HD_STATUS_DONE && good;
    }
    return good;
}

hd_diff_job *hd_diff_new(hd_source *const sources[2], const hd_report_options *options, hd_diagnostics *diagnostics)
{
    hd_diff_job *job = hd_calloc(1, sizeof *job);
    const hd_report_module *sides[2];
    job->options = *options;
    job->options.kernel = NULL; /* one side need not have it */
    job->options.gates = NULL;  /* of changes, not of either side */
    job->options.trials = 0;    /* no part of a comparison */
    job->sources[0] = sources[0];
    job->sources[1] = sources[1];
    job->good = read_sides(job, sides, diagnostics) &&
                hd_diff_reports(sides[0], sides[1], options->kernel, &job->arena, &job->diff, diagnostics);
    if (job->good && options->gates)
        hd_gates_check_diff(options->gates, &job->diff, &job->arena, diagnostics);
    return job;
}

const hd_diff *hd_diff_of(const hd_diff_job *job) { return job->good ? &job->diff : NULL; }

void hd_diff_free(hd_diff_job *job)
{
    if (!job)
        return;
    for (int s = 0; s < 2; s++) {
        hd_report_free(job->reporting[s]);
        if (job->is_json[s])
            hd_source_free(job->sources[s]);
    }
    hd_arena_free(&job->arena);
    free(job);
}
