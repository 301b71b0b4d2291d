/* The results of `heddle report` (include/heddle/report_result.h) as text, JSON, HTML and SARIF. Techniques are handled
 * generically. */
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
typedef struct hd_reports { /* of one output, in order */
    const hd_report_module *const *items;
    uint32_t count;
} hd_reports;
typedef struct hd_report_texts { /* of one module */
    hd_source *ptx;              /* the PTX text */
    const hd_source *items;      /* source files named by .loc, if they are to be shown, each under that name */
    uint32_t count;
} hd_report_texts;
void hd_emit_report_text(hd_writer *writer, const hd_reports *reports, const hd_report_style *style);
/* heddle-json(5) */
void hd_emit_report_json(hd_writer *writer, const hd_reports *reports, const hd_report_style *style);
/* A self-contained file. `texts`: of each module. */
void hd_emit_report_html(hd_writer *writer, const hd_reports *reports, const hd_report_texts *texts);
void hd_emit_report_sarif(hd_writer *writer, const hd_reports *reports);

#endif
