/* What driver/replay/replay*.c share. Private to them. */
#ifndef HD_DRIVER_REPLAY_REPLAY_WORK_H
#define HD_DRIVER_REPLAY_REPLAY_WORK_H

#include "base/pool.h"
#include "driver/replay/replay.h"
#include "hwmodel/launch/launch.h"
#include "hwmodel/count/count.h"
#include "passes/analysis/analyses.h"
#include "target/gpu.h"
#include <pthread.h>

enum { HD_REPLAY_BATCH = 8192 }; /* events: a millisecond of work, so that waiting for a thread weighs little */

/* What a launch file runs: the code as it is, or what a pass makes of a copy of it. Files are read once: both may be
 * pipes. */
typedef struct replay_file {
    const char *path;
    hd_launch_file *launch; /* where `rewriting`: that of the code as it is */
    hd_source source;       /* where `rewriting`: none, its module has that of the code as it is */
    hd_module *module;
    hd_pass_contexts contexts; /* of `module`, from its last change until all is decided from analyses */
    /* a copy from before `module` was allocated; of one that came annotated, the code that it names as its original */
    hd_module *original;
    bool allocates;      /* `module` is cleaned up and allocated */
    bool is_original;    /* it came annotated, and less its annotations it is its original */
    hd_diagnostics said; /* of reading `module`; once more of each copy that is rewritten */
    hd_yaml *yaml;       /* of `launch`, once that is closed */
    hd_rf_module *code;
    hd_count *count;
    bool annotated;
    bool crowded;          /* a block may need more registers than the register file has */
    const char **refusals; /* by chosen model */
    uint32_t *model_place; /* by chosen model: index in the count, or HD_NONE */
    /* the pass that changes the code for the models of this run; NULL: models of the code as it is */
    const char *rewriting;
    bool untouched;                         /* it changed no instruction: its models see the run that there is */
    HD_ARRAY(struct replay_file *) changed; /* what such passes make of the code, one a pass */
} replay_file;

/* What all parts are told and none changes. */
typedef struct replay_plan {
    const hd_replay_options *options;
    hd_gpu *gpu;
    const hd_rf_model_info **models; /* chosen, the baseline first */
    uint32_t model_count;
} replay_plan;

struct replay_part;

typedef struct replay_tally { /* what one model counted on one launch, all its runs together */
    const char *refusal;      /* why it was not applied, or NULL */
    bool ran;                 /* at least once */
    bool energy_known;
    uint8_t check; /* hd_replay_check, of its own run: PASS, OPERANDS, IDENTICAL or INCOMPLETE */
    uint64_t counters[HD_COUNTER_COUNT];
    double energy_pj;
    hd_rf_series allocation;
    uint64_t storage_bits;
} replay_tally;

typedef struct replay_ran { /* a launch, once */
    uint32_t launch;
    hd_exec_status status;
    hd_exec_statistics statistics;
} replay_ran;

/* Once through the launches, with one module; side by side with other runs of the part (replay_runs.c). What it changes
 * is its own until it is joined: this, and but for the original's the count of `file`. */
typedef struct replay_run {
    struct replay_part *part;
    /* whose models look on; of the original: of which it is that, only read */
    replay_file *file;
    void (*go)(struct replay_run *run);                          /* beside others; `status` tells how it went */
    void (*join)(struct replay_part *p, struct replay_run *run); /* in the order of the runs */
    hd_arena arena;
    hd_diagnostics said;
    hd_diagnostics *diagnostics; /* `said`; of the first run: the part's */
    hd_session *session;         /* NULL: not open; that of the first run stays until all are joined */
    replay_tally *tallies;       /* by launch and chosen model; of the first run: the part's */
    HD_ARRAY(replay_ran) ran;    /* where models look on: launches, each time one has run */
    uint32_t told;               /* of them, those whose models are through */
    bool lost;                   /* in one of these something went wrong: what came after it does not count */
    uint32_t lost_launch;        /* in this launch */
    hd_status status;            /* DONE until it has run */
    uint64_t races;              /* pairs that were reported */
    bool ended;                  /* its last step is done */
    bool over;                   /* it has ended or stopped, or was never begun; under the lock */
    atomic_bool stop;            /* nobody wants to know any more: one before it in the order has failed */
} replay_run;

/* A launch file of the command line with all that its run changes. Parts run side by side; what they say is joined in
 * their order. */
typedef struct replay_part {
    const replay_plan *plan;
    struct hd_replay *replay; /* for replay.c and replay_turns.c alone */
    const char *path;
    uint32_t index;
    uint32_t threads; /* for passes, runs, models and CTAs of this part */
    hd_arena arena;   /* rows and what they point to; until hd_replay_free */
    hd_diagnostics diagnostics;
    HD_ARRAY(replay_file *) files;   /* the code as it is, then what passes made of it; open until the part has run */
    HD_ARRAY(hd_replay_kernel) rows; /* of launches, in their order; their results: replay_fill_results */
    replay_tally *tallies;           /* by launch and chosen model */
    /* of the code as it is, of the original, of what passes made of the code: in the order of what they say */
    replay_run *runs;
    uint32_t run_count;
    hd_thread_budget budget; /* threads of `threads` that no run uses now */
    HD_ARRAY(char) printed;  /* by kernels, before it was the part's turn */
    hd_status status;
    bool done; /* under the lock */
} replay_part;

struct hd_replay {
    hd_arena arena;
    hd_diagnostics *diagnostics;
    replay_plan plan;
    hd_replay_report report;
    HD_ARRAY(hd_replay_kernel) kernels; /* of the report */
    hd_status status;
    replay_part *parts;
    uint32_t part_count;
    pthread_mutex_t lock;
    pthread_cond_t moved; /* `joined` has grown */
    /* parts before it have run, and all they say is in the report and the diagnostics; under the lock */
    uint32_t joined;
};

/* A file calls only those above it in this order. */

/* replay_choose.c: fills in the models of r->plan. */
bool replay_choose_models(hd_replay *r, const char *list);

/* replay_results.c */
/* For each launch and chosen model, with what is known before a run. */
replay_tally *replay_open_tallies(const replay_part *p, const replay_file *f, hd_arena *arena);
const hd_replay_counter *replay_counters(hd_arena *arena);
void replay_fill_results(replay_part *p); /* of the rows, from the tallies, once all runs are over */

/* replay_turns.c */
void replay_print(void *part, const char *text, size_t size); /* to options->print, in the order of the parts */
void replay_print_kept(replay_part *p);                       /* once it is the part's turn */
/* What can be read only once, such as a pipe, is read in the order of the parts: waits until those before have run. */
void replay_await_turn(replay_part *p, const char *path);

/* replay_session.c */
bool replay_open_session(replay_run *run, hd_module *module); /* false: run->status says why */
void replay_run_steps(replay_run *run);                       /* all of them; no models look on */
/* Notes how it went. */
void replay_run_ended(replay_run *run, hd_exec_status status, const hd_exec_statistics *statistics);
void replay_stop_runs(replay_part *p, uint32_t first); /* that one and those after it are not wanted */

/* replay_models.c */
bool replay_has_annotations(const hd_module *module, const char *technique);
/* What the module leaves in memory may depend on how many instructions it takes. */
bool replay_reads_time(const hd_module *module);
bool replay_run_passes(const replay_part *p, replay_file *f, const char *passes, hd_diagnostics *diagnostics);
/* f->code, f->count, and no model in it yet. The arena lives as long as f is open. */
void replay_open_count(replay_part *p, replay_file *f, hd_arena *arena, hd_diagnostics *diagnostics);
/* Of a thread, with all that the kernel calls; once f->code is open. */
uint32_t replay_kernel_registers(const replay_file *f, const char *kernel);
/* Of the chosen ones; a refusal is kept in f->refusals. */
void replay_add_model(const replay_part *p, replay_file *f, uint32_t m);
void replay_expect_uniform_branches(replay_file *f, hd_diagnostics *diagnostics); /* closes f->contexts */

/* replay_watch.c */
void replay_run_watched(replay_run *run); /* all steps, with the models of run->file */

/* replay_changed.c: runs of what passes make of the code */
/* The original of a module that came annotated: f->original or f->is_original. */
void replay_open_original(replay_file *f);
/* Copies that it will make, at most. */
uint32_t replay_most_changed(const replay_part *p, const replay_file *f);
/* Copies the code for each pass that must change it before a model sees it, and runs the pass. */
bool replay_open_changed(replay_part *p, replay_file *f);
/* Does the model see changed code, in a run of its own? */
bool replay_sees_changed(const replay_part *p, const replay_file *f, uint32_t m);
void replay_go_changed(replay_run *run);
void replay_join_changed(replay_part *p, replay_run *run);

/* replay_first.c: the run of the code as it is, and that of the original */
hd_status replay_prepare(replay_part *p, replay_file *f); /* registers, models and rows; DONE: it can run */
void replay_go_first(replay_run *run);
void replay_join_first(replay_part *p, replay_run *run);
void replay_go_original(replay_run *run);
void replay_join_original(replay_part *p, replay_run *run);

/* replay_runs.c: all runs that the part needs; p->status says how they went. */
void replay_runs(replay_part *p, replay_file *f);

/* replay_part.c: runs p->path; p->status, p->rows and p->diagnostics say how it went. Nothing is open any more then;
 * texts stay where diagnostics may point into them, until replay_drop_texts. */
void replay_run_part(replay_part *p);
void replay_drop_texts(replay_part *p);

#endif
