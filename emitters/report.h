/* What `heddle report` found in a module (include/heddle/report_result.h) as text, JSON, HTML and SARIF. No emitter
 * names a technique: they print what the report holds. */
#ifndef HD_EMITTERS_REPORT_H
#define HD_EMITTERS_REPORT_H

#include "base/source.h"
#include "base/writer.h"
#include "heddle/report_result.h"

/* By bucket of hd_report_kernel.reuse: "1", "2", "3-4" .. "33-64", "more", "other_block" */
extern const char *const hd_report_reuse_names[HD_REUSE_BUCKETS];

typedef struct hd_report_style {
    bool colour;  /* ANSI escapes; text only */
    bool listing; /* each instruction with its live registers; text and JSON */
} hd_report_style;
void hd_emit_report_text(hd_writer *writer, const hd_report_module *report, const hd_report_style *style);
/* heddle-json(5) */
void hd_emit_report_json(hd_writer *writer, const hd_report_module *report, const hd_report_style *style);
/* One file that needs no other. `ptx`: the text that was reported on. `texts`: source files that .loc names, as far as
 * they are to be shown, each under that name. */
void hd_emit_report_html(hd_writer *writer, const hd_report_module *report, hd_source *ptx, const hd_source *texts,
                         uint32_t text_count);
void hd_emit_report_sarif(hd_writer *writer, const hd_report_module *report);

#endif
