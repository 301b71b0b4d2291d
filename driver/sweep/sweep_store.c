/* The databases of a sweep's folder: see sweep_store.h and sweep.h. */
#include "driver/sweep/sweep_store.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void report(sweep_base *b, const char *what)
{
    hd_report(b->diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "%s '%s': %s", what, b->path,
              b->handle ? sqlite3_errmsg(b->handle) : "out of memory");
}

/* Makes all folders that the path names. */
static void make_folders(const char *path)
{
    char *part = hd_malloc(strlen(path) + 1);
    strcpy(part, path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(part, 0777); /* what is wrong shows when the file is opened */
        *slash = '/';
    }
    free(part);
}

bool sweep_open(sweep_base *b, const char *path, int flags, hd_diagnostics *diagnostics)
{
    enum { BUSY_MILLISECONDS = 60000 };
    *b = (sweep_base){.path = path, .diagnostics = diagnostics};
    if (flags & SQLITE_OPEN_CREATE)
        make_folders(path);
    if (sqlite3_open_v2(path, &b->handle, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
        report(b, "cannot open");
        sweep_close(b);
        return false;
    }
    sqlite3_busy_timeout(b->handle, BUSY_MILLISECONDS);
    return true;
}

void sweep_close(sweep_base *b)
{
    sqlite3_close(b->handle);
    b->handle = NULL;
}

bool sweep_do(sweep_base *b, const char *sql)
{
    if (sqlite3_exec(b->handle, sql, NULL, NULL, NULL) == SQLITE_OK)
        return true;
    report(b, "cannot write");
    return false;
}

sqlite3_stmt *sweep_prepare(sweep_base *b, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    static const char missing[] = "no such column";
    if (sqlite3_prepare_v2(b->handle, sql, -1, &statement, NULL) == SQLITE_OK)
        return statement;
    if (strncmp(sqlite3_errmsg(b->handle), missing, strlen(missing)) == 0)
        hd_report(
            b->diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0},
            "cannot query '%s': %s; cycles, energies and stalls are columns where the sweep has 'time: true', and "
            "heddle sweep export lists the columns that there are",
            b->path, sqlite3_errmsg(b->handle));
    else
        report(b, "cannot query");
    return NULL;
}

int sweep_step(sweep_base *b, sqlite3_stmt *statement)
{
    int result = sqlite3_step(statement);
    if (result != SQLITE_ROW && result != SQLITE_DONE)
        report(b, "cannot use");
    return result;
}

void sweep_bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    if (text)
        sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(statement, at);
}

void sweep_write_name(hd_writer *w, const char *name)
{
    hd_write_char(w, '"');
    for (; *name; name++) {
        if (*name == '"')
            hd_write_char(w, '"');
        hd_write_char(w, *name);
    }
    hd_write_char(w, '"');
}

const char *sweep_key_text(uint64_t key, char text[SWEEP_KEY])
{
    snprintf(text, SWEEP_KEY, "%016llx", (unsigned long long)key);
    return text;
}

/* ---- what is done ------------------------------------------------------------------------------------------------ */

bool sweep_open_task(sweep_base *b, hd_arena *arena, const char *folder, hd_sweep_shard shard,
                     hd_diagnostics *diagnostics)
{
    char host[64] = "host";
    gethostname(host, sizeof host - 1);
    /* no other process has this name, not even one of another machine */
    const char *path = hd_arena_printf(arena, "%s/tasks/%u-of-%u-%s-%ld.sqlite", folder, shard.index,
                                       shard.count ? shard.count : 1, host, (long)getpid());
    return sweep_open(b, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, diagnostics) &&
           sweep_do(
               b,
               "CREATE TABLE IF NOT EXISTS done (key TEXT PRIMARY KEY, status INTEGER NOT NULL, seconds REAL NOT NULL, "
               "input TEXT NOT NULL, message TEXT NOT NULL, results TEXT NOT NULL)");
}

bool sweep_put(sweep_base *b, const sweep_done *done)
{
    sqlite3_stmt *s = sweep_prepare(b, "INSERT OR REPLACE INTO done VALUES (?, ?, ?, ?, ?, ?)");
    if (!s)
        return false;
    char key[SWEEP_KEY];
    sweep_bind_text(s, 1, sweep_key_text(done->key, key));
    sqlite3_bind_int(s, 2, done->status);
    sqlite3_bind_double(s, 3, done->seconds);
    sweep_bind_text(s, 4, done->input);
    sweep_bind_text(s, 5, done->message);
    sweep_bind_text(s, 6, done->results);
    bool good = sweep_step(b, s) == SQLITE_DONE;
    sqlite3_finalize(s);
    return good;
}

static const char *text_of(sqlite3_stmt *s, int column)
{
    const unsigned char *text = sqlite3_column_text(s, column);
    return text ? (const char *)text : "";
}

static bool visit_task(const char *path, bool whole, sweep_visit *visit, void *context, hd_diagnostics *diagnostics)
{
    sweep_base base;
    int step = SQLITE_DONE;
    if (!sweep_open(&base, path, SQLITE_OPEN_READWRITE, diagnostics)) /* a journal that is left is played back */
        return false;
    /* a process that was stopped before its first point leaves no table */
    sqlite3_stmt *s = sweep_prepare(&base, "SELECT 1 FROM sqlite_master WHERE name = 'done'");
    bool good = s && (step = sweep_step(&base, s)) != SQLITE_ERROR;
    sqlite3_finalize(s);
    if (good && step == SQLITE_ROW) {
        s = sweep_prepare(&base, whole ? "SELECT key, status, seconds, input, message, results FROM done"
                                       : "SELECT key, status, seconds, input, '', '' FROM done");
        while (s && (step = sweep_step(&base, s)) == SQLITE_ROW)
            visit(context, &(sweep_done){strtoull(text_of(s, 0), NULL, 16), sqlite3_column_int(s, 1),
                                         sqlite3_column_double(s, 2), text_of(s, 3), text_of(s, 4), text_of(s, 5)});
        good = s && step == SQLITE_DONE;
        sqlite3_finalize(s);
    }
    sweep_close(&base);
    return good;
}

bool sweep_visit_tasks(const char *folder, bool whole, sweep_visit *visit, void *context, hd_diagnostics *diagnostics)
{
    hd_arena arena = {0};
    glob_t found;
    bool good = true;
    if (glob(hd_arena_printf(&arena, "%s/tasks/*.sqlite", folder), 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            good = visit_task(found.gl_pathv[i], whole, visit, context, diagnostics) && good;
        globfree(&found);
    }
    hd_arena_free(&arena);
    return good;
}
