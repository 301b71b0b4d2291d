/* Diagnostics as JSON and SARIF; parts of hd_emit_diagnostics (emitters/diagnostics.h), which documents the formats. */
#ifndef HD_EMITTERS_DIAGNOSTICS_JSON_H
#define HD_EMITTERS_DIAGNOSTICS_JSON_H

#include "base/diagnostics.h"
#include "emitters/json.h"

void hd_emit_diagnostics_json(hd_writer *writer, const hd_diagnostics *diagnostics);
void hd_emit_diagnostics_sarif(hd_writer *writer, const hd_diagnostics *diagnostics);

/* ---- SARIF, for its emitters ------------------------------------------------------------------------------------- */

/* A log has one run, whose rules come before its results: first the kind of each result is noted, then the results are
 * written in the same order. */
typedef struct hd_sarif {
    hd_json json;
    uint32_t rule_count;
    uint32_t rules[HD_DIAGNOSTIC_COUNT];    /* kinds, each once, in the order of first occurrence */
    uint32_t position[HD_DIAGNOSTIC_COUNT]; /* of a kind among the rules, from 1; 0: it is not there */
} hd_sarif;

void hd_sarif_note(hd_sarif *log, hd_diagnostic_kind kind);
void hd_sarif_begin(hd_sarif *log, hd_writer *writer); /* up to the results; hd_json_end ends them */
void hd_sarif_end(hd_sarif *log);                      /* the run and the log */
/* Up to its locations, the elements of an open array; hd_json_end ends it, and later the result. */
void hd_sarif_begin_result(hd_sarif *log, hd_diagnostic_kind kind, const char *level, const char *message);
/* An object with the file's name as URI reference: all except unreserved characters and / is percent-encoded. */
void hd_sarif_file(hd_json *json, const char *key, const char *name);
/* A location, which hd_json_end ends. `column` 0: unknown. */
void hd_sarif_begin_line(hd_json *json, const char *file, uint32_t line, uint32_t column);
/* A location and what is there. */
void hd_sarif_line(hd_json *json, const char *file, uint32_t line, uint32_t column, const char *message);

#endif
