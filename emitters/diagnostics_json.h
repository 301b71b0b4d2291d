/* Diagnostics as JSON and SARIF; parts of hd_emit_diagnostics (emitters/diagnostics.h), which documents the formats. */
#ifndef HD_EMITTERS_DIAGNOSTICS_JSON_H
#define HD_EMITTERS_DIAGNOSTICS_JSON_H

#include "base/diagnostics.h"
#include "base/writer.h"

void hd_emit_diagnostics_json(hd_writer *writer, const hd_diagnostics *diagnostics);
void hd_emit_diagnostics_sarif(hd_writer *writer, const hd_diagnostics *diagnostics);

#endif
