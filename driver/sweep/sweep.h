/* Sweeps: many replays of one description, whose results come together in one database.
 *
 *   hd_sweep *sweep = hd_sweep_read(path, &options, diagnostics);      a point for each combination of values
 *   hd_sweep_run(sweep, &where, diagnostics);                          what is not done yet, in processes of their own
 *   hd_sweep_merge(folder, diagnostics);                               FOLDER/results.sqlite
 *   hd_sweep_free(sweep);                                              after the diagnostics were printed
 *
 * A point is one call of heddle replay or heddle run, as a user could make it in the folder of the sweep's file. It
 * runs in a process of its own, so a point that dies, or is killed, costs no other point. Its key is a hash of all that
 * its results depend on: the words of the command, the program heddle itself, its plug-ins, and the contents of the
 * files it reads (of `program`, only of the program). A point whose key has a result is not run again.
 *
 * The folder of a sweep:
 *
 *   plan.sqlite        the points of the last call, in order, with their axes 
 *   tasks/NAME.sqlite  what one process has done: a row for each finished point, with its results as CSV.
 *                      One process writes it, one transaction a point: what is in it stays, whatever happens later
 *   results.sqlite     the points of the plan and their results in columns, made anew by each merge (sweep_merge.c). It
 *                      does not depend on who did what when: equal results are equal bytes
 *
 * heddle-sweep(5) documents the file and the tables. */
#ifndef HD_DRIVER_SWEEP_SWEEP_H
#define HD_DRIVER_SWEEP_SWEEP_H

#include "base/array.h"
#include "base/writer.h"
#include "base/yaml.h"
#include "driver/status.h"

enum { HD_SWEEP_MOST_POINTS = 1 << 20 };

typedef enum hd_sweep_kind { HD_SWEEP_UNKNOWN, HD_SWEEP_FLAG, HD_SWEEP_VALUE } hd_sweep_kind;

typedef struct hd_sweep_options {
    const char *heddle; /* the program that runs the points */
    /* What the option of that long name is for `command` ("replay", "run"). */
    hd_sweep_kind (*option)(const char *command, const char *name);
} hd_sweep_options;

/* What varies between points, or is the same for all of them: an option of the command by its long name, `input`,
 * `program`, or "set.KEY" for --set=KEY=VALUE. */
typedef struct hd_sweep_axis {
    const char *name;
    const char *column; /* of the database: with '_' for '-' */
    bool repeated;      /* results are means over it */
    HD_ARRAY(const char *) values;
    const hd_yaml_node *node;
    const char *hashed; /* the value whose files `hash` is of; NULL: none yet */
    uint64_t hash;
} hd_sweep_axis;

typedef struct hd_sweep_point {
    const char *name;         /* NULL: of the product of the axes */
    const char **values;      /* by axis; NULL: the point has none */
    const char *const *words; /* what follows "heddle"; NULL at the end */
    uint64_t key;             /* hash of all that its results depend on */
} hd_sweep_point;

typedef struct hd_sweep {
    hd_arena arena;
    hd_yaml *yaml;
    hd_sweep_options options;
    const char *path, *folder;      /* folder: of the file, where points run */
    const char *command;            /* "replay", or "run" where there is an axis `program` */
    HD_ARRAY(const char *) plugins; /* that every point loads */
    HD_ARRAY(hd_sweep_axis) axes;
    HD_ARRAY(hd_sweep_point) points;
    const hd_yaml_node *slurm; /* what sbatch gets; NULL: nothing */
    bool valid;                /* false: errors were reported */
} hd_sweep;

/* Never NULL; see `valid`. */
hd_sweep *hd_sweep_read(const char *path, const hd_sweep_options *options, hd_diagnostics *diagnostics);
void hd_sweep_free(hd_sweep *sweep);
/* The command of a point as a shell takes it, without a line end. */
void hd_sweep_write_command(hd_writer *writer, const hd_sweep *sweep, const hd_sweep_point *point);

/* Of `count` shards, the one of that index has every count-th point. */
typedef struct hd_sweep_shard {
    uint32_t index, count; /* count 0: all points */
} hd_sweep_shard;
static inline bool hd_sweep_has(hd_sweep_shard shard, uint32_t point)
{
    return !shard.count || point % shard.count == shard.index;
}

typedef struct hd_sweep_where {
    const char *folder;
    hd_sweep_shard shard;
    uint32_t threads; /* points at a time; 0: all CPUs */
    bool retry;       /* points that failed, too */
    /* How many points are done; called by one thread at a time. */
    void (*progress)(void *context, uint32_t done);
    void *context;
} hd_sweep_where;

/* Runs the points of the shard that have no result yet. A point that failed has one, with its exit status; one that a
 * signal ended, or that lacked memory, has none and is reported. The worst status of these points. */
hd_status hd_sweep_run(const hd_sweep *sweep, const hd_sweep_where *where, hd_diagnostics *diagnostics);

typedef struct hd_sweep_counts {
    uint32_t points, done, failed; /* failed: of those that are done */
    double seconds_done;
    double seconds_left; /* of one processor, by the mean of the same input, else of all; NaN: no point is done */
} hd_sweep_counts;
/* What the folder has of the sweep's points. false: reported. */
bool hd_sweep_count(const hd_sweep *sweep, const char *folder, hd_sweep_shard shard, hd_sweep_counts *counts,
                    hd_diagnostics *diagnostics);
/* Keeps the sweep's points as the folder's plan. */
bool hd_sweep_keep_plan(const hd_sweep *sweep, const char *folder, hd_diagnostics *diagnostics);
/* Makes FOLDER/results.sqlite of what all tasks have done of the plan. */
bool hd_sweep_merge(const char *folder, hd_diagnostics *diagnostics);

typedef enum hd_sweep_format { HD_SWEEP_CSV, HD_SWEEP_JSON, HD_SWEEP_LATEX } hd_sweep_format;
/* The rows of a query of results.sqlite. */
bool hd_sweep_export(const char *folder, const char *query, hd_sweep_format format, hd_writer *writer,
                     hd_diagnostics *diagnostics);

/* A script for sbatch: all points as a job array of up to 1,000 tasks, each a shard. */
void hd_sweep_write_slurm(hd_writer *writer, const hd_sweep *sweep, const char *folder, const hd_sweep_counts *counts);
/* Writes it and one that merges into the folder and hands them to sbatch; the jobs' numbers to `writer`. */
hd_status hd_sweep_submit(const hd_sweep *sweep, const char *folder, hd_writer *writer, hd_diagnostics *diagnostics);
/* A makefile, or the file of ninja, with a target for each shard and one that merges. */
void hd_sweep_write_make(hd_writer *writer, const hd_sweep *sweep, const char *folder, bool ninja);

#endif
