/* Rows of a sweep's results as CSV, JSON and LaTeX. See sweep.h. */
#include "driver/sweep/sweep_store.h"

#include "emitters/json.h"
#include "emitters/table_text.h"

#include <unistd.h>

static const char *text_at(sqlite3_stmt *rows, int column)
{
    const unsigned char *text = sqlite3_column_text(rows, column);
    return text ? (const char *)text : "";
}

/* ---- the formats ------------------------------------------------------------------------------------------------- */

static void write_csv(hd_writer *w, sweep_base *b, sqlite3_stmt *rows)
{
    int count = sqlite3_column_count(rows);
    for (int c = 0; c < count; c++) {
        hd_write_csv_text(w, sqlite3_column_name(rows, c));
        hd_write_char(w, c + 1 < count ? ',' : '\n');
    }
    while (sweep_step(b, rows) == SQLITE_ROW)
        for (int c = 0; c < count; c++) {
            hd_write_csv_text(w, text_at(rows, c));
            hd_write_char(w, c + 1 < count ? ',' : '\n');
        }
}

static void write_json(hd_writer *w, sweep_base *b, sqlite3_stmt *rows)
{
    hd_json json = {.out = w};
    hd_json_array(&json, NULL);
    while (sweep_step(b, rows) == SQLITE_ROW) {
        hd_json_compact_object(&json, NULL);
        for (int c = 0; c < sqlite3_column_count(rows); c++) {
            const char *name = sqlite3_column_name(rows, c);
            sqlite3_int64 integer = sqlite3_column_int64(rows, c);
            if (sqlite3_column_type(rows, c) == SQLITE_NULL)
                hd_json_null(&json, name);
            else if (sqlite3_column_type(rows, c) == SQLITE_INTEGER && integer >= 0)
                hd_json_number(&json, name, (uint64_t)integer);
            else if (sqlite3_column_type(rows, c) != SQLITE_TEXT)
                hd_json_real(&json, name, sqlite3_column_double(rows, c));
            else
                hd_json_text(&json, name, text_at(rows, c));
        }
        hd_json_end(&json);
    }
    hd_json_end(&json);
}

/* A table of package booktabs. Numbers with a point have four digits; columns of numbers are at the right. */
static void write_latex(hd_writer *w, sweep_base *b, sqlite3_stmt *rows)
{
    int count = sqlite3_column_count(rows), row = sweep_step(b, rows);
    hd_write_string(w, "\\begin{tabular}{");
    for (int c = 0; c < count; c++)
        hd_write_char(w, row == SQLITE_ROW && sqlite3_column_type(rows, c) != SQLITE_TEXT ? 'r' : 'l');
    hd_write_string(w, "}\n\\toprule\n");
    for (int c = 0; c < count; c++) {
        hd_write_latex_text(w, sqlite3_column_name(rows, c));
        hd_write_string(w, c + 1 < count ? " & " : " \\\\\n\\midrule\n");
    }
    for (; row == SQLITE_ROW; row = sweep_step(b, rows))
        for (int c = 0; c < count; c++) {
            if (sqlite3_column_type(rows, c) == SQLITE_FLOAT)
                hd_write_format(w, "%.4g", sqlite3_column_double(rows, c));
            else
                hd_write_latex_text(w, text_at(rows, c));
            hd_write_string(w, c + 1 < count ? " & " : " \\\\\n");
        }
    hd_write_string(w, "\\bottomrule\n\\end{tabular}\n");
}

bool hd_sweep_export(const char *folder, const char *query, hd_sweep_format format, hd_writer *w,
                     hd_diagnostics *diagnostics)
{
    static void (*const formats[])(hd_writer *, sweep_base *, sqlite3_stmt *) = {
        [HD_SWEEP_CSV] = write_csv, [HD_SWEEP_JSON] = write_json, [HD_SWEEP_LATEX] = write_latex};
    hd_arena arena = {0};
    sweep_base b;
    uint32_t errors = diagnostics->error_count;
    const char *path = hd_arena_printf(&arena, "%s/results.sqlite", folder);
    if (access(path, R_OK) != 0)
        hd_report(diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0},
                  "cannot read '%s': heddle sweep merge %s makes it", path, folder);
    else if (sweep_open(&b, path, SQLITE_OPEN_READONLY, diagnostics)) {
        sqlite3_stmt *rows = sweep_prepare(&b, query);
        if (rows && !sqlite3_stmt_readonly(rows))
            hd_report(diagnostics, HD_DIAG_BAD_VALUE, NULL, (hd_span){0, 0},
                      "a query reads; this one would change the results");
        else if (rows)
            formats[format](w, &b, rows);
        sqlite3_finalize(rows);
        sweep_close(&b);
    }
    hd_arena_free(&arena);
    return diagnostics->error_count == errors;
}
