/* Report findings as SARIF 2.1.0 (OASIS standard): one result for each finding and each unmet gate, at the source line
 * that .loc names, else at the PTX line. The PTX line, and inlining locations, are related locations; the kernel is the
 * logical location. */
#include "emitters/diagnostics_json.h"
#include "emitters/report/report.h"

/* The result of a finding, or of a gate that is not met. */
static void write_result(hd_sarif *log, const hd_report_module *report, const hd_report_kernel *k,
                         hd_diagnostic_kind kind, const char *level, const hd_report_position *p, const char *message)
{
    hd_json *j = &log->json;
    hd_sarif_begin_result(log, kind, level, message);
    if (p->file)
        hd_sarif_begin_line(j, p->file, p->line, p->column);
    else
        hd_sarif_begin_line(j, report->path, p->ptx_line ? p->ptx_line : 1, 0);
    hd_json_array(j, "logicalLocations");
    hd_json_object(j, NULL);
    hd_json_text(j, "fullyQualifiedName", k->demangled);
    hd_json_text(j, "decoratedName", k->name);
    hd_json_text(j, "kind", "function");
    hd_json_end(j);
    hd_json_end(j);
    hd_json_end(j);
    hd_json_end(j);
    bool has_line = p->file && p->ptx_line;
    if (has_line || p->inlined_file)
        hd_json_array(j, "relatedLocations");
    if (has_line)
        hd_sarif_line(j, report->path, p->ptx_line, 0, "in the PTX");
    if (p->inlined_file)
        hd_sarif_line(j, p->inlined_file, p->inlined_line, 0, "inlined here");
    if (has_line || p->inlined_file)
        hd_json_end(j);
    hd_json_end(j);
}

static hd_diagnostic_kind kind_of(const hd_report_finding *finding)
{
    return (hd_diagnostic_kind)hd_diagnostic_from_slug(finding->rule);
}

static void note_kinds(hd_sarif *log, const hd_report_kernel *k)
{
    if (k->failed_gate_count)
        hd_sarif_note(log, HD_DIAG_UNMET_GATE);
    for (uint32_t i = 0; i < k->finding_count; i++)
        hd_sarif_note(log, kind_of(&k->findings[i]));
}

static void write_results(hd_sarif *log, const hd_report_module *report, const hd_report_kernel *k)
{
    for (uint32_t i = 0; i < k->failed_gate_count; i++)
        write_result(log, report, k, HD_DIAG_UNMET_GATE, "error", &k->position, k->failed_gates[i]);
    for (uint32_t i = 0; i < k->finding_count; i++) {
        const hd_report_finding *f = &k->findings[i];
        write_result(log, report, k, kind_of(f), f->is_error ? "error" : "warning", &f->position, f->message);
    }
}

void hd_emit_report_sarif(hd_writer *writer, const hd_reports *reports)
{
    hd_sarif log = {.rule_count = 0};
    for (uint32_t m = 0; m < reports->count; m++)
        for (uint32_t i = 0; i < reports->items[m]->kernel_count; i++)
            note_kinds(&log, &reports->items[m]->kernels[i]);
    hd_sarif_begin(&log, writer);
    for (uint32_t m = 0; m < reports->count; m++)
        for (uint32_t i = 0; i < reports->items[m]->kernel_count; i++)
            write_results(&log, reports->items[m], &reports->items[m]->kernels[i]);
    hd_json_end(&log.json);
    hd_json_array(&log.json, "artifacts");
    for (uint32_t m = 0; m < reports->count; m++) {
        hd_json_object(&log.json, NULL);
        hd_sarif_file(&log.json, "location", reports->items[m]->path);
        hd_json_end(&log.json);
    }
    hd_sarif_end(&log);
}
