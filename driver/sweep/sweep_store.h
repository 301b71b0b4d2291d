/* The databases of a sweep's folder, and what all files of driver/sweep/ share of SQLite. */
#ifndef HD_DRIVER_SWEEP_SWEEP_STORE_H
#define HD_DRIVER_SWEEP_SWEEP_STORE_H

#include "driver/sweep/sweep.h"

#include <sqlite3.h>

typedef struct sweep_base {
    sqlite3 *handle; /* NULL: it could not be opened (reported) */
    const char *path;
    hd_diagnostics *diagnostics;
} sweep_base;

/* false with a diagnostic; `path` stays. With SQLITE_OPEN_CREATE, folders are made, too. */
bool sweep_open(sweep_base *base, const char *path, int flags, hd_diagnostics *diagnostics);
void sweep_close(sweep_base *base);
/* Statements without results. false: reported. */
bool sweep_do(sweep_base *base, const char *sql);
/* NULL: reported. */
sqlite3_stmt *sweep_prepare(sweep_base *base, const char *sql);
/* SQLITE_ROW or SQLITE_DONE; anything else is reported. */
int sweep_step(sweep_base *base, sqlite3_stmt *statement);
void sweep_bind_text(sqlite3_stmt *statement, int at, const char *text); /* NULL: null; the text stays until the step */
/* An identifier in quotes. */
void sweep_write_name(hd_writer *writer, const char *name);

/* Keys are texts in databases: 16 hexadecimal digits. */
enum { SWEEP_KEY = 17 };
const char *sweep_key_text(uint64_t key, char text[SWEEP_KEY]);

/* ---- what is done (sweep_store.c) -------------------------------------------------------------------------------- */

typedef struct sweep_done {
    uint64_t key;
    int status;          /* exit status of the point's process */
    double seconds;      /* of processors */
    const char *input;   /* of the point, for estimates */
    const char *message; /* diagnostics of the point; "" */
    const char *results; /* CSV; "" */
} sweep_done;

/* Opens a database of this process in FOLDER/tasks. */
bool sweep_open_task(sweep_base *base, hd_arena *arena, const char *folder, hd_sweep_shard shard,
                     hd_diagnostics *diagnostics);
/* Adds a point, in a transaction of its own, or puts it in place of an earlier one. */
bool sweep_put(sweep_base *base, const sweep_done *done);

/* The value of the point's axis `input` or `program`. */
const char *sweep_input_of(const hd_sweep *sweep, const hd_sweep_point *point);

/* The same point may be there several times, out of different tasks. */
typedef void sweep_visit(void *context, const sweep_done *done);
/* All points of all tasks; with `whole`, messages and results, too. false: a database cannot be read (reported). */
bool sweep_visit_tasks(const char *folder, bool whole, sweep_visit *visit, void *context, hd_diagnostics *diagnostics);

#endif
