/* Diagnostics as JSON and SARIF; parts of hd_emit_diagnostics (emitters/diagnostics.h), which documents the formats. */
#ifndef HD_EMITTERS_DIAGNOSTICS_JSON_H
#define HD_EMITTERS_DIAGNOSTICS_JSON_H

#include "base/diagnostics.h"
#include "base/writer.h"
#include "emitters/jansson.h"

void hd_emit_diagnostics_json(hd_writer *writer, const hd_diagnostics *diagnostics);
void hd_emit_diagnostics_sarif(hd_writer *writer, const hd_diagnostics *diagnostics);

/* Shared with other SARIF emitters. */
/* A file name as URI reference: all except unreserved characters and / percent-encoded. */
json_t *hd_sarif_uri(const char *name);
/* The kind's index among the rules, which contain each kind once, in the order of first occurrence. index_of_kind must
 * be zero initially. */
int hd_sarif_rule(json_t *rules, int *index_of_kind, hd_diagnostic_kind kind);
/* The whole log with one run; takes rules, results and artifacts (NULL: not listed). */
void hd_sarif_write(hd_writer *writer, json_t *rules, json_t *results, json_t *artifacts);

#endif
