/* Report findings as SARIF 2.1.0 (OASIS standard), with jansson: one result for each finding and each unmet gate, at
 * the source line that .loc names, else at the PTX line. The PTX line, and inlining locations, are related locations;
 * the kernel is the logical location. Findings are few. */
#include "base/version.h"
#include "emitters/diagnostics_json.h"
#include "emitters/report/report.h"

static json_t *location(const char *file, uint32_t line, uint32_t column, const char *message)
{
    json_t *region = json_pack("{s:I}", "startLine", (json_int_t)line);
    if (column)
        json_object_set_new(region, "startColumn", json_integer(column));
    json_t *position = json_pack("{s:{s:{s:o}, s:o}}", "physicalLocation", "artifactLocation", "uri",
                                 hd_sarif_uri(file), "region", region);
    if (message)
        json_object_set_new(position, "message", json_pack("{s:s}", "text", message));
    return position;
}

static json_t *main_location(const hd_report_module *report, const hd_report_kernel *k, const hd_report_position *p)
{
    json_t *position = p->file ? location(p->file, p->line, p->column, NULL)
                               : location(report->path, p->ptx_line ? p->ptx_line : 1, 0, NULL);
    json_object_set_new(position, "logicalLocations",
                        json_pack("[{s:o, s:o, s:s}]", "fullyQualifiedName", hd_json_string(k->demangled),
                                  "decoratedName", hd_json_string(k->name), "kind", "function"));
    return position;
}

static json_t *related_locations(const hd_report_module *report, const hd_report_position *p)
{
    json_t *related = json_array();
    if (p->file && p->ptx_line)
        json_array_append_new(related, location(report->path, p->ptx_line, 0, "in the PTX"));
    if (p->inlined_file)
        json_array_append_new(related, location(p->inlined_file, p->inlined_line, 0, "inlined here"));
    return related;
}

typedef struct sarif_run {
    const hd_report_module *report;
    json_t *rules, *results;
    int index_of_kind[HD_DIAGNOSTIC_COUNT];
} sarif_run;

static void add_result(sarif_run *run, const hd_report_kernel *k, hd_diagnostic_kind kind, const char *level,
                       const hd_report_position *position, const char *message)
{
    int rule = hd_sarif_rule(run->rules, run->index_of_kind, kind);
    json_t *result = json_pack("{s:s, s:i, s:s, s:{s:o}, s:[o]}", "ruleId", hd_diagnostic_slug(kind), "ruleIndex", rule,
                               "level", level, "message", "text", hd_json_string(message), "locations",
                               main_location(run->report, k, position));
    json_t *related = related_locations(run->report, position);
    if (json_array_size(related))
        json_object_set(result, "relatedLocations", related);
    json_decref(related);
    json_array_append_new(run->results, result);
}

static void add_kernel(sarif_run *run, const hd_report_kernel *k)
{
    for (uint32_t i = 0; i < k->failed_gate_count; i++)
        add_result(run, k, HD_DIAG_UNMET_GATE, "error", &k->position, k->failed_gates[i]);
    for (uint32_t i = 0; i < k->finding_count; i++)
        add_result(run, k, (hd_diagnostic_kind)hd_diagnostic_from_slug(k->findings[i].rule),
                   k->findings[i].is_error ? "error" : "warning", &k->findings[i].position, k->findings[i].message);
}

void hd_emit_report_sarif(hd_writer *writer, const hd_reports *reports)
{
    sarif_run run = {.rules = json_array(), .results = json_array()};
    json_t *artifacts = json_array();
    for (uint32_t m = 0; m < reports->count; m++) {
        run.report = reports->items[m];
        json_array_append_new(artifacts, json_pack("{s:{s:o}}", "location", "uri", hd_sarif_uri(run.report->path)));
        for (uint32_t i = 0; i < run.report->kernel_count; i++)
            add_kernel(&run, &run.report->kernels[i]);
    }
    hd_sarif_write(writer, run.rules, run.results, artifacts);
}
