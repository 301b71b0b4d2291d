/* What driver/replay*.c share. Private to them. */
#ifndef HD_DRIVER_REPLAY_WORK_H
#define HD_DRIVER_REPLAY_WORK_H

#include "base/pool.h"
#include "driver/replay.h"
#include "hwmodel/launch.h"
#include "hwmodel/rf/count.h"
#include "target/gpu.h"

enum { HD_REPLAY_BATCH = 32768 }; /* events, 2 MB: milliseconds of work, so that waiting for a thread weighs little */

/* One launch file. Everything lives until hd_replay_free, because reports point into its sources. */
typedef struct replay_file {
    const char *path;
    hd_launch_file *launch;
    hd_source source;
    hd_module *module;
    hd_session *session;
    hd_source original_source;       /* where `module` was changed */
    hd_module *original;
    hd_diagnostics original_reading; /* what the reading of `module` has reported already */
    hd_rf_module *code;
    hd_count *count;
    bool annotated;
    const char **refusals;  /* by chosen model */
    uint32_t *model_place;  /* by chosen model: index in the count, or HD_NONE */
    const char *rewriting;  /* the pass that changes the code for the models of this run; NULL: models of the code as it is */
    bool untouched;         /* it found nothing to change or to annotate: no run of its own is needed */
    HD_ARRAY(struct replay_file *) changed; /* what such passes make of the code, one a pass */
} replay_file;

struct hd_replay {
    hd_arena arena;
    hd_diagnostics *diagnostics;
    const hd_replay_options *options;
    hd_gpu *gpu;
    const hd_rf_model_info **models; /* chosen, the baseline first */
    uint32_t model_count;
    HD_ARRAY(replay_file *) files;
    hd_replay_report report;
    hd_status status;
};

typedef struct replay_run {
    hd_replay *replay;
    replay_file *file;
    uint32_t first_row;
} replay_run;

/* Each says what it did not like in r->diagnostics. */
bool replay_read_module(hd_replay *r, replay_file *f);
bool replay_run_passes(hd_replay *r, replay_file *f, const char *passes);
bool replay_allocate_registers(hd_replay *r, replay_file *f); /* where the module comes without annotations */
hd_session *replay_open_session(hd_replay *r, replay_file *f, hd_module *module, hd_status *status);

void replay_open_count(hd_replay *r, replay_file *f);            /* f->code, f->count, and no model in it yet */
void replay_add_model(hd_replay *r, replay_file *f, uint32_t m); /* r->models[m]; a refusal is kept in f->refusals */
void replay_expect_uniform_branches(hd_replay *r, replay_file *f);

/* Watchers of a session's run, whose context is a replay_run. */
void replay_one_starts(void *context, uint32_t launch, const hd_grid *grid);
hd_replay_kernel *replay_row_of(hd_replay *r, uint32_t first, uint32_t launch); /* NULL: none */
void replay_add_results(hd_replay *r, const replay_file *f, bool whole, hd_replay_kernel *k);
hd_status replay_status_of(hd_exec_status status, const hd_count *count);
bool replay_reads_time(const hd_module *module); /* what it leaves in memory may depend on how many instructions it takes */

/* replay_choose.c: fills r->models. */
bool replay_choose_models(hd_replay *r, const char *list);

/* replay_changed.c */
bool replay_has_annotations(const hd_module *module, const char *technique);
/* Reads the code once more for each pass that must change it before a model sees it, and runs the pass. */
bool replay_open_changed(hd_replay *r, replay_file *f);
/* Does the model see changed code, in a run of its own? */
bool replay_sees_changed(const hd_replay *r, const replay_file *f, uint32_t m);
/* Runs what each such pass made of the code. `first`: the row of f's first launch. */
hd_status replay_changed(hd_replay *r, const replay_file *f, uint32_t first);

#endif
