/* The comparison of two reports as a library call. Kernels are matched by name.
 *
 *   hd_diff_job *job = hd_diff_new(sources, &options, diagnostics);
 *   if (hd_diff_of(job)) hd_emit_diff_text(writer, hd_diff_of(job));
 *   hd_diff_free(job);                            only after the diagnostics were printed
 */
#ifndef HD_DRIVER_REPORT_DIFF_H
#define HD_DRIVER_REPORT_DIFF_H

#include "driver/report/report.h"
#include "heddle/diff_result.h"

typedef struct hd_diff_job hd_diff_job;

/* Takes the sources, whose structs must outlive the job: the old side and the new one, each a report as JSON or PTX to
 * report on. Never NULL. `options`: how to report on PTX; their kernel is a glob over names of either side, their gates
 * are of changes. Where one side is a report without counts of ptxas, and options->ptxas_if_found, ptxas is not asked
 * for the other either. */
hd_diff_job *hd_diff_new(hd_source *const sources[2], const hd_report_options *options, hd_diagnostics *diagnostics);
const hd_diff *hd_diff_of(const hd_diff_job *job); /* NULL where something was wrong, other than gates */
void hd_diff_free(hd_diff_job *job);

/* Fills in *diff, in the arena; both reports must live as long. `kernel`: glob over names, or NULL. false with a
 * diagnostic where no name fits the glob on either side, or a side has a name twice. */
bool hd_diff_reports(const hd_report_module *before, const hd_report_module *after, const char *kernel, hd_arena *arena,
                     hd_diff *diff, hd_diagnostics *diagnostics);

#endif
