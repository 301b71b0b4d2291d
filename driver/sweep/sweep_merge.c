/* The plan of a sweep's folder, and results.sqlite, which is made of it and of what the tasks have done. See sweep.h;
 * heddle-sweep(5) documents the tables. */
#include "driver/sweep/sweep_store.h"

#include "base/index.h"
#include "base/version.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A database beside its place, which appears whole or not at all. */
static bool begin_base(sweep_base *b, hd_arena *arena, const char *folder, const char *name,
                       hd_diagnostics *diagnostics)
{
    const char *path = hd_arena_printf(arena, "%s/.%s-%ld", folder, name, (long)getpid());
    unlink(path);
    return sweep_open(b, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, diagnostics) && sweep_do(b, "BEGIN");
}

static bool end_base(sweep_base *b, hd_arena *arena, const char *folder, const char *name, bool good)
{
    const char *path = hd_arena_printf(arena, "%s/%s", folder, name);
    good = good && sweep_do(b, "COMMIT");
    sweep_close(b);
    if (good && rename(b->path, path) != 0) {
        hd_report(b->diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "cannot write '%s': %s", path,
                  strerror(errno));
        good = false;
    }
    if (!good)
        unlink(b->path);
    return good;
}

/* Runs the text that the writer holds, and empties it. */
static bool do_text(sweep_base *b, hd_writer *text)
{
    hd_write_char(text, '\0');
    bool good = sweep_do(b, text->buffer.items);
    hd_array_clear(&text->buffer);
    return good;
}

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

static bool write_axes(sweep_base *b, const hd_sweep *s)
{
    bool good = sweep_do(b, "CREATE TABLE axes (axis INTEGER PRIMARY KEY, name TEXT NOT NULL, \"column\" TEXT NOT "
                            "NULL, repeated INTEGER NOT NULL)");
    sqlite3_stmt *insert = good ? sweep_prepare(b, "INSERT INTO axes VALUES (?, ?, ?, ?)") : NULL;
    for (uint32_t a = 0; insert && a < s->axes.count; a++) {
        sqlite3_bind_int64(insert, 1, a);
        sweep_bind_text(insert, 2, s->axes.items[a].name);
        sweep_bind_text(insert, 3, s->axes.items[a].column);
        sqlite3_bind_int(insert, 4, s->axes.items[a].repeated);
        good = sweep_step(b, insert) == SQLITE_DONE && good;
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    return good && insert;
}

/* Columns: point, key, name, command, input, and one for each axis. */
static bool write_points(sweep_base *b, const hd_sweep *s)
{
    enum { FIXED = 5 };
    hd_writer text;
    hd_writer_to_memory(&text);
    hd_write_string(&text, "CREATE TABLE points (point INTEGER PRIMARY KEY, key TEXT NOT NULL, name TEXT, command TEXT "
                           "NOT NULL, run TEXT NOT NULL");
    for (uint32_t a = 0; a < s->axes.count; a++) {
        hd_write_string(&text, ", ");
        sweep_write_name(&text, s->axes.items[a].column);
        hd_write_string(&text, " TEXT");
    }
    hd_write_char(&text, ')');
    bool good = do_text(b, &text);
    hd_write_string(&text, "INSERT INTO points VALUES (?");
    for (uint32_t a = 1; a < FIXED + s->axes.count; a++)
        hd_write_string(&text, ", ?");
    hd_write_string(&text, ")");
    hd_write_char(&text, '\0');
    sqlite3_stmt *insert = good ? sweep_prepare(b, text.buffer.items) : NULL;
    for (uint32_t p = 0; insert && p < s->points.count; p++) {
        const hd_sweep_point *point = &s->points.items[p];
        char key[SWEEP_KEY];
        hd_array_clear(&text.buffer);
        hd_sweep_write_command(&text, s, point);
        sqlite3_bind_int64(insert, 1, p);
        sweep_bind_text(insert, 2, sweep_key_text(point->key, key));
        sweep_bind_text(insert, 3, point->name);
        sqlite3_bind_text(insert, 4, text.buffer.items, (int)text.buffer.count, SQLITE_STATIC);
        sweep_bind_text(insert, 5, sweep_input_of(s, point));
        for (uint32_t a = 0; a < s->axes.count; a++)
            sweep_bind_text(insert, (int)(FIXED + 1 + a), point->values[a]);
        good = sweep_step(b, insert) == SQLITE_DONE && good;
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    hd_writer_free(&text);
    return good && insert;
}

bool hd_sweep_keep_plan(const hd_sweep *sweep, const char *folder, hd_diagnostics *diagnostics)
{
    sweep_base b;
    hd_arena arena = {0};
    bool good = begin_base(&b, &arena, folder, "plan.sqlite", diagnostics);
    if (good)
        good = end_base(&b, &arena, folder, "plan.sqlite", write_axes(&b, sweep) && write_points(&b, sweep));
    hd_arena_free(&arena);
    return good;
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

/* The next field into the arena, and *at past it and the comma; *last: the record ends with it. (RFC 4180) */
static const char *next_field(hd_arena *arena, const char **at, bool *last)
{
    const char *p = *at;
    char *field = hd_arena_alloc(arena, strcspn(p, "\n") + 1), *out = field;
    if (*p == '"') {
        field = out = hd_arena_alloc(arena, strlen(p) + 1);
        for (p++; *p && (*p != '"' || p[1] == '"'); p += 1 + (*p == '"'))
            *out++ = *p;
        p += *p == '"';
    }
    while (*p && *p != ',' && *p != '\n')
        *out++ = *p++;
    *out = '\0';
    *last = *p != ',';
    *at = p + (*p != '\0');
    return field;
}

/* ---- results.sqlite ---------------------------------------------------------------------------------------------- */

typedef struct column {
    const char *name;
    bool has_text; /* a value that is no number */
} column;

typedef struct merge {
    const char *folder;
    hd_diagnostics *diagnostics;
    hd_arena arena;
    sweep_base base;
    hd_index by_key; /* of the plan's points */
    sqlite3_stmt *collect;
    HD_ARRAY(column) columns; /* of the results, in the order in which they occur */
    bool good;
} merge;

static void collect(void *context, const sweep_done *done)
{
    merge *m = context;
    for (uint32_t at = hd_index_first(&m->by_key, done->key); at != HD_INDEX_END;
         at = hd_index_next(&m->by_key, done->key, at)) {
        sqlite3_bind_int64(m->collect, 1, m->by_key.slots[at].number);
        sqlite3_bind_int(m->collect, 2, done->status);
        sweep_bind_text(m->collect, 3, done->message);
        sweep_bind_text(m->collect, 4, done->results);
        m->good = sweep_step(&m->base, m->collect) == SQLITE_DONE && m->good;
        sqlite3_reset(m->collect);
    }
}

/* The plan's tables, with the status and message of each point; what the tasks have is in a temporary table `done`. A
 * point that was tried again keeps its best status. */
static bool take_plan(merge *m)
{
    const char *plan = hd_arena_printf(&m->arena, "%s/plan.sqlite", m->folder);
    sqlite3_stmt *attach = sweep_prepare(&m->base, "ATTACH ? AS plan");
    sweep_bind_text(attach, 1, plan);
    bool good = attach && sweep_step(&m->base, attach) == SQLITE_DONE;
    sqlite3_finalize(attach);
    good = good &&
           sweep_do(&m->base,
                    "CREATE TEMP TABLE done (point INTEGER PRIMARY KEY, status INTEGER, message TEXT, results TEXT)");
    sqlite3_stmt *points = good ? sweep_prepare(&m->base, "SELECT point, key FROM plan.points") : NULL;
    while (points && sweep_step(&m->base, points) == SQLITE_ROW)
        hd_index_add(&m->by_key, strtoull((const char *)sqlite3_column_text(points, 1), NULL, 16),
                     (uint32_t)sqlite3_column_int64(points, 0));
    sqlite3_finalize(points);
    m->good = good && points;
    m->collect =
        m->good ? sweep_prepare(&m->base, "INSERT INTO done VALUES (?1, ?2, ?3, ?4) ON CONFLICT (point) DO UPDATE SET "
                                          "status = ?2, message = ?3, results = ?4 WHERE ?2 < status")
                : NULL;
    m->good = m->collect && sweep_visit_tasks(m->folder, true, collect, m, m->diagnostics) && m->good;
    sqlite3_finalize(m->collect);
    return m->good;
}

static bool copy_points(merge *m)
{
    static const char *const texts[] = {
        "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT)",
        "INSERT INTO about VALUES ('heddle', '" HD_VERSION "'), ('schema', '1')",
        "CREATE TABLE axes AS SELECT * FROM plan.axes",
        "CREATE TABLE points AS SELECT p.*, d.status AS status, d.message AS message FROM plan.points p LEFT JOIN done "
        "d USING (point) "
        "ORDER BY point",
        "CREATE UNIQUE INDEX points_by_number ON points (point)",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!sweep_do(&m->base, texts[i]))
            return false;
    return true;
}

static uint32_t column_of(merge *m, const char *name)
{
    for (uint32_t c = 0; c < m->columns.count; c++)
        if (strcmp(m->columns.items[c].name, name) == 0)
            return c;
    hd_array_push(&m->columns, ((column){.name = name}));
    return m->columns.count - 1;
}

/* 1 and 0 for true and false, numbers as such, no value for nothing. true: a text. */
static bool bind_value(sqlite3_stmt *insert, int at, const char *text)
{
    char *end;
    errno = 0;
    long long integer = strtoll(text, &end, 10);
    bool is_plain = *text && strspn(text, "0123456789+-.eE") == strlen(text);
    if (!*text) {
        sqlite3_bind_null(insert, at);
    } else if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        sqlite3_bind_int(insert, at, *text == 't');
    } else if (is_plain && !*end && !errno) {
        sqlite3_bind_int64(insert, at, integer);
    } else {
        double real = strtod(text, &end);
        if (is_plain && !*end) {
            sqlite3_bind_double(insert, at, real);
        } else {
            sqlite3_bind_text(insert, at, text, -1, SQLITE_TRANSIENT);
            return true;
        }
    }
    return false;
}

/* The columns of all results, then a table with them. */
static bool make_table(merge *m)
{
    sqlite3_stmt *all = sweep_prepare(&m->base, "SELECT results FROM done WHERE results <> '' ORDER BY point");
    const char *before = "";
    while (all && sweep_step(&m->base, all) == SQLITE_ROW) {
        const char *at = (const char *)sqlite3_column_text(all, 0);
        size_t length = strcspn(at, "\n");
        if (strlen(before) == length && strncmp(before, at, length) == 0)
            continue;
        before = hd_arena_string(&m->arena, at, length);
        at = before;
        for (bool last = false; !last;)
            column_of(m, next_field(&m->arena, &at, &last));
    }
    sqlite3_finalize(all);
    hd_writer text;
    hd_writer_to_memory(&text);
    hd_write_string(&text, "CREATE TABLE results (point INTEGER NOT NULL, line INTEGER NOT NULL");
    for (uint32_t c = 0; c < m->columns.count; c++) {
        hd_write_string(&text, ", ");
        sweep_write_name(&text, m->columns.items[c].name);
    }
    hd_write_string(&text, ", PRIMARY KEY (point, line)) WITHOUT ROWID");
    bool good = all && do_text(&m->base, &text);
    hd_writer_free(&text);
    return good;
}

/* The lines of one point. */
static bool add_lines(merge *m, sqlite3_stmt *insert, sqlite3_int64 point, const char *csv)
{
    hd_arena scratch = {0};
    HD_ARRAY(uint32_t) header = {0};
    bool good = true;
    for (bool last = false; !last;)
        hd_array_push(&header, column_of(m, next_field(&scratch, &csv, &last)));
    for (int line = 0; *csv && good; line++) {
        sqlite3_clear_bindings(insert);
        sqlite3_bind_int64(insert, 1, point);
        sqlite3_bind_int(insert, 2, line);
        bool last = false;
        for (uint32_t f = 0; !last; f++) {
            const char *field = next_field(&scratch, &csv, &last);
            if (f < header.count && bind_value(insert, (int)(3 + header.items[f]), field))
                m->columns.items[header.items[f]].has_text = true;
        }
        good = sweep_step(&m->base, insert) == SQLITE_DONE;
        sqlite3_reset(insert);
    }
    hd_array_free(&header);
    hd_arena_free(&scratch);
    return good;
}

static bool fill_table(merge *m)
{
    hd_writer text;
    hd_writer_to_memory(&text);
    hd_write_string(&text, "INSERT INTO results VALUES (?, ?");
    for (uint32_t c = 0; c < m->columns.count; c++)
        hd_write_string(&text, ", ?");
    hd_write_string(&text, ")");
    hd_write_char(&text, '\0');
    sqlite3_stmt *insert = sweep_prepare(&m->base, text.buffer.items);
    sqlite3_stmt *all = sweep_prepare(&m->base, "SELECT point, results FROM done WHERE results <> '' ORDER BY point");
    bool good = insert && all;
    while (good && sweep_step(&m->base, all) == SQLITE_ROW)
        good = add_lines(m, insert, sqlite3_column_int64(all, 0), (const char *)sqlite3_column_text(all, 1));
    sqlite3_finalize(all);
    sqlite3_finalize(insert);
    hd_writer_free(&text);
    return good;
}

/* ---- views ------------------------------------------------------------------------------------------------------- */

/* Columns of results that say what a line is about; all others are measured, or follow from an axis. `application`: of
 * all launches of a file together. */
static bool is_identity(const char *name, bool application)
{
    static const char *const names[] = {"launch", "kernel", "demangled", "heddle",    "gpu",    "settings",
                                        "code",   "file",   "model",     "technique", "plugins"};
    enum { OF_LAUNCHES = 3 };
    for (size_t i = application ? OF_LAUNCHES : 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* What techniques change, and launches of an application add up to. */
static const char *const figures[] = {"cycles", "energy_pj", "dynamic_pj", "static_pj", "rf_reads", "rf_writes"};
enum { FIGURES = sizeof figures / sizeof *figures };

static bool is_result(const merge *m, const char *name)
{
    for (uint32_t c = 0; c < m->columns.count; c++)
        if (strcmp(m->columns.items[c].name, name) == 0)
            return true;
    return false;
}

/* The axes but those that are averaged over, and those that write_identity has as columns of results. */
static void write_axes_of(merge *m, hd_writer *text, bool application, const char *format)
{
    sqlite3_stmt *axes = sweep_prepare(&m->base, "SELECT \"column\" FROM axes WHERE NOT repeated ORDER BY axis");
    while (axes && sweep_step(&m->base, axes) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(axes, 0);
        if (!is_result(m, name) || !is_identity(name, application))
            hd_write_format(text, format, name, name);
    }
    sqlite3_finalize(axes);
}

/* Of columns that say what a line is about, each as the format has it, which names it once or twice. */
static void write_identity(merge *m, hd_writer *text, bool application, const char *format)
{
    write_axes_of(m, text, application, format);
    for (uint32_t c = 0; c < m->columns.count; c++)
        if (is_identity(m->columns.items[c].name, application))
            hd_write_format(text, format, m->columns.items[c].name, m->columns.items[c].name);
}

/* variant: the values of all other axes that vary, so that model and variant together name a series. "gpu" stands for
 * itself; of the others the name is there, too. Empty where nothing else varies. */
static void write_variant(merge *m, hd_writer *text)
{
    hd_write_string(text, ", TRIM(''");
    sqlite3_stmt *axes = sweep_prepare(&m->base, "SELECT \"column\" FROM axes WHERE NOT repeated AND \"column\" NOT IN "
                                                 "('input', 'technique') ORDER BY axis");
    while (axes && sweep_step(&m->base, axes) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(axes, 0);
        sqlite3_stmt *values = sweep_prepare(
            &m->base, hd_arena_printf(&m->arena, "SELECT COUNT(DISTINCT IFNULL(\"%s\", '')) FROM points", name));
        if (values && sweep_step(&m->base, values) == SQLITE_ROW && sqlite3_column_int(values, 0) > 1)
            hd_write_format(text, " || IFNULL(' %s%s' || \"%s\", '')", strcmp(name, "gpu") == 0 ? "" : name,
                            strcmp(name, "gpu") == 0 ? "" : "=", name);
        sqlite3_finalize(values);
    }
    sqlite3_finalize(axes);
    hd_write_string(text, ") AS variant");
}

static bool is_axis(merge *m, const char *name)
{
    sqlite3_stmt *axes = sweep_prepare(&m->base, "SELECT 1 FROM axes WHERE \"column\" = ?");
    sweep_bind_text(axes, 1, name);
    bool found = axes && sweep_step(&m->base, axes) == SQLITE_ROW;
    sqlite3_finalize(axes);
    return found;
}

static void write_bounds(hd_writer *text, const char *name)
{
    hd_write_format(text, ", AVG(\"%s\") AS \"%s\", MIN(\"%s\") AS \"%s_least\", MAX(\"%s\") AS \"%s_most\"", name,
                    name, name, name, name, name);
}

/* everything: each line of results with the axes of its point. */
static bool make_everything(merge *m, hd_writer *text)
{
    hd_write_string(text, "CREATE VIEW everything AS SELECT r.*");
    sqlite3_stmt *axes = sweep_prepare(&m->base, "SELECT \"column\" FROM axes ORDER BY axis");
    while (axes && sweep_step(&m->base, axes) == SQLITE_ROW)
        if (!is_result(m, (const char *)sqlite3_column_text(axes, 0)))
            hd_write_format(text, ", p.\"%s\"", (const char *)sqlite3_column_text(axes, 0));
    sqlite3_finalize(axes);
    hd_write_string(text, ", p.name AS point_name, p.status AS status FROM results r JOIN points p USING (point)");
    return axes && do_text(&m->base, text);
}

/* spread: lines that differ in repeated axes only, as one: the mean of each figure, with the least and the most. */
static bool make_spread(merge *m, hd_writer *text)
{
    hd_write_string(text, "CREATE VIEW spread AS SELECT COUNT(*) AS lines");
    write_identity(m, text, false, ", \"%s\"");
    write_variant(m, text);
    for (uint32_t c = 0; c < m->columns.count; c++) {
        const column *k = &m->columns.items[c];
        if (!is_identity(k->name, false) && !k->has_text && !is_axis(m, k->name))
            write_bounds(text, k->name);
    }
    hd_write_string(text, " FROM everything GROUP BY NULL");
    write_identity(m, text, false, ", \"%s\"");
    return do_text(&m->base, text);
}

/* application_spread: the same of the sums over all launches of a file. */
static bool make_application_spread(merge *m, hd_writer *text)
{
    hd_write_string(text, "CREATE VIEW application_spread AS SELECT COUNT(*) AS lines");
    write_identity(m, text, true, ", \"%s\"");
    write_variant(m, text);
    for (size_t f = 0; f < FIGURES; f++)
        if (is_result(m, figures[f]))
            write_bounds(text, figures[f]);
    hd_write_string(text, " FROM (SELECT point");
    write_identity(m, text, true, ", \"%s\"");
    for (size_t f = 0; f < FIGURES; f++)
        if (is_result(m, figures[f]))
            hd_write_format(text, ", SUM(%s) AS %s", figures[f], figures[f]);
    hd_write_string(text, " FROM everything GROUP BY point");
    write_identity(m, text, true, ", \"%s\"");
    hd_write_string(text, ") GROUP BY NULL");
    write_identity(m, text, true, ", \"%s\"");
    return do_text(&m->base, text);
}

/* Of each line of a spread, the figures that techniques change, divided by those of the baseline of the same kernel or
 * application, with bounds; *_differs: the spreads of the two do not overlap. */
static bool make_comparison(merge *m, hd_writer *text, bool application)
{
    const char *const view = application ? "applications_against_baseline" : "against_baseline";
    const char *const spread = application ? "application_spread" : "spread";
    if (!is_result(m, "model"))
        return true;
    hd_write_format(text, "CREATE VIEW %s AS SELECT s.lines AS lines", view);
    write_identity(m, text, application, ", s.\"%s\"");
    hd_write_string(text, ", s.variant AS variant");
    for (size_t f = 0; f < FIGURES; f++) {
        const char *n = figures[f];
        if (is_result(m, n))
            hd_write_format(text,
                            ", s.%s * 1.0 / b.%s AS %s, s.%s_least * 1.0 / b.%s_most AS %s_least, s.%s_most * 1.0 / "
                            "b.%s_least AS %s_most, "
                            "s.%s_most < b.%s_least OR s.%s_least > b.%s_most AS %s_differs",
                            n, n, n, n, n, n, n, n, n, n, n, n, n, n);
    }
    if (is_result(m, "cycles"))
        hd_write_string(text, ", s.cycles AS cycles_all, b.cycles AS cycles_baseline");
    hd_write_format(text, " FROM %s s JOIN %s b ON b.model = 'baseline'", spread, spread);
    write_axes_of(m, text, application, " AND s.\"%s\" IS b.\"%s\"");
    for (uint32_t c = 0; c < m->columns.count; c++) {
        const char *name = m->columns.items[c].name;
        if (is_identity(name, application) && strcmp(name, "model") != 0 && strcmp(name, "technique") != 0)
            hd_write_format(text, " AND s.\"%s\" IS b.\"%s\"", name, name);
    }
    return do_text(&m->base, text);
}

static bool make_views(merge *m)
{
    hd_writer text;
    hd_writer_to_memory(&text);
    bool good =
        !m->columns.count || (make_everything(m, &text) && make_spread(m, &text) && make_application_spread(m, &text) &&
                              make_comparison(m, &text, false) && make_comparison(m, &text, true));
    hd_writer_free(&text);
    return good;
}

bool hd_sweep_merge(const char *folder, hd_diagnostics *diagnostics)
{
    merge m = {.folder = folder, .diagnostics = diagnostics};
    bool good = access(hd_arena_printf(&m.arena, "%s/plan.sqlite", folder), R_OK) == 0;
    if (!good)
        hd_report(diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0},
                  "'%s' is no folder of a sweep: it has no plan.sqlite (heddle sweep FILE.yaml -o FOLDER makes it)",
                  folder);
    good = good && sweep_open(&m.base, hd_arena_printf(&m.arena, "%s/.results.sqlite-%ld", folder, (long)getpid()),
                              SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, diagnostics);
    if (good) {
        good = take_plan(&m) && sweep_do(&m.base, "BEGIN") && copy_points(&m) && make_table(&m) && fill_table(&m) &&
               make_views(&m);
        good = end_base(&m.base, &m.arena, folder, "results.sqlite", good);
    }
    hd_index_free(&m.by_key);
    hd_array_free(&m.columns);
    hd_arena_free(&m.arena);
    return good;
}
