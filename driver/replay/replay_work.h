/* Shared declarations of driver/replay/replay*.c. Private to them. */
#ifndef HD_DRIVER_REPLAY_REPLAY_WORK_H
#define HD_DRIVER_REPLAY_REPLAY_WORK_H

#include "base/pool.h"
#include "driver/replay/replay.h"
#include "hwmodel/launch/launch.h"
#include "hwmodel/count/count.h"
#include "hwmodel/sm/timer.h"
#include "hwmodel/trace/accel_sim.h"
#include "parser/link.h"
#include "passes/manager/manager.h"
#include "target/gpu.h"
#include <pthread.h>

/* What a CTA takes with one more model, and in one timing, of the time that it takes in the interpreter alone, roughly:
 * for the time that is left, as it is shown. */
enum { HD_REPLAY_MODEL_COST = 3, HD_REPLAY_TIMING_COST = 50 };

enum { HD_REPLAY_BATCH = 8192 }; /* events per batch: a millisecond of work, so that synchronization costs little */

/* The code of a run: that of the module, or a copy rewritten by a pass. Files are read once, because they may be
 * pipes. */
typedef struct replay_file {
    const char *path;
    hd_launch_file *launch; /* with `rewriting`: that of the first run; of a trace: one launch, and no steps */
    hd_traced *traced;      /* NULL: no trace */
    hd_source source;       /* with `rewriting`: none, the module uses the source of the first run */
    hd_link_result linked;  /* texts that diagnostics refer to */
    hd_module *module;
    hd_pass_contexts contexts; /* of `module`, from its last change until all analyses are done */
    /* a copy of `module` before allocation; for an annotated module, the original code that it denotes */
    hd_module *original;
    bool allocates;      /* `module` is simplified and allocated */
    bool is_original;    /* it was annotated, and without its annotations it is its original */
    hd_diagnostics said; /* of reading `module`; repeated for each rewritten copy */
    hd_yaml *yaml;       /* of `launch`, when that is closed */
    hd_rf_module *code;
    hd_count *count;
    hd_timer *timer; /* with the models of `count`, in the same order; NULL: cycles are not asked for */
    bool annotated;
    const char **refusals;                  /* by chosen model */
    uint32_t *model_index;                  /* by chosen model: index in the count, or HD_NONE */
    bool is_copy;                           /* of the first file's module, for models that need a run of their own */
    const hd_pipeline *rewriting;           /* of a copy: the passes that it is for; NULL: none */
    bool untouched;                         /* the pass changed no instruction: its models use the first run */
    bool apart;                             /* of models that ask for values */
    HD_ARRAY(struct replay_file *) changed; /* copies rewritten by passes, one per pass */
} replay_file;

typedef struct replay_model { /* a chosen model */
    const hd_rf_model_info *info;
    const hd_pipeline *passes; /* that annotate the code for it, shared by models with equal ones; NULL: none */
} replay_model;

/* Shared by all parts and not modified. */
typedef struct replay_plan {
    const hd_replay_options *options;
    hd_gpu *gpu;
    replay_model *models; /* the baseline first */
    uint32_t model_count;
    HD_ARRAY(hd_pipeline *) pipelines;      /* of the models: no two are equal */
    hd_pipeline *allocation, *allocation32; /* what precedes all models; 32: where addresses have 32 bits */
    uint32_t sms;                           /* that are simulated, with options->time */
    bool faulty;                            /* options->lane_fault: each first run has a copy of `lane` */
    hd_faulty_lane lane;
} replay_plan;

struct replay_part;

typedef struct replay_tally { /* counters of one model on one launch, all its runs combined */
    const char *refusal;      /* why it was not applied, or NULL */
    bool ran;                 /* at least once */
    bool energy_known, energy_derived;
    uint8_t check; /* hd_replay_check of its own run: PASS, OPERANDS, IDENTICAL or INCOMPLETE */
    uint64_t counters[HD_COUNTER_COUNT];
    double energy_pj;
    hd_rf_series allocation;
    uint64_t storage_bits;
    hd_timing_counts time;                      /* of the timing */
    double timed_pj;                            /* dynamic energy, by the timing's counters; NAN: unknown */
    uint64_t gated_on;                          /* hd_rf_leakage */
    bool timed;                                 /* to its end */
    hd_rf_detection detection, timed_detection; /* in instructions; in cycles */
    /* of the first run, and the code that it was of; NULL: none */
    const hd_timeline *timeline;
    const struct replay_file *timed_file;
} replay_tally;

typedef struct replay_ran { /* one execution of a launch */
    uint32_t launch;
    hd_exec_status status;
    hd_exec_statistics statistics;
    uint64_t lane_operations, lane_wrong; /* of a faulty lane */
} replay_ran;

/* One pass through the launches with one module, in parallel with other runs of the part (replay_runs.c). Until it is
 * joined it modifies only its own data: this structure and, except for the original's run, the count of `file`. */
typedef struct replay_run {
    struct replay_part *part;
    /* code and models; for the original's run: the file it is the original of, read-only */
    replay_file *file;
    void (*go)(struct replay_run *run);                          /* in parallel; sets `status` */
    void (*join)(struct replay_part *p, struct replay_run *run); /* in the order of the runs */
    hd_arena arena;
    hd_diagnostics said;
    hd_diagnostics *diagnostics;  /* `said`; for the first run: the part's */
    hd_session *session;          /* NULL: not open; the first run's stays open until all are joined */
    replay_tally *tallies;        /* by launch and chosen model; for the first run: the part's */
    HD_ARRAY(replay_ran) ran;     /* with models: launches, each time one has run */
    uint32_t told;                /* number of them whose counters have arrived */
    bool lost;                    /* one of these failed: later ones do not count */
    uint32_t lost_launch;         /* the launch that failed */
    hd_status status;             /* DONE until it has run */
    hd_status timing_status;      /* of its timings */
    uint64_t races;               /* number of reported pairs */
    hd_faulty_lane lane;          /* of the first run, with plan->faulty */
    bool ended;                   /* its last step is complete */
    hd_meter meter, timing_meter; /* in CTAs: of the run with its models, and of all timings */
    bool over;                    /* it has ended or stopped, or was never started; under the lock */
    atomic_bool stop;             /* request to stop: an earlier run has failed */
} replay_run;

/* A launch file of the command line, with everything that its run modifies. Parts run in parallel; their results are
 * joined in order. */
typedef struct replay_part {
    const replay_plan *plan;
    struct hd_replay *replay; /* used by replay.c and replay_turns.c only */
    const char *path;
    uint32_t index;
    uint32_t threads; /* for passes, runs, models and CTAs of this part */
    hd_arena arena;   /* rows and their data; until hd_replay_free */
    hd_diagnostics diagnostics;
    HD_ARRAY(replay_file *) files;   /* the module's code, then rewritten copies; open until the part has run */
    HD_ARRAY(hd_replay_kernel) rows; /* of launches, in order; results are set by replay_fill_results */
    replay_tally *tallies;           /* by launch and chosen model */
    /* the first run, the original's, those of rewritten code: in the order of reporting */
    replay_run *runs;
    uint32_t run_count;
    hd_meter *meter;         /* of the file, in CTAs that the interpreter runs without models; NULL: none */
    hd_thread_budget budget; /* threads of `threads` that no run uses now */
    HD_ARRAY(char) printed;  /* output printed before the part's turn */
    hd_file_list listed;     /* that its launch file reads and writes; of a trace: none */
    hd_outputs saves;        /* of the first run */
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
    pthread_cond_t moved; /* `joined` has increased */
    /* number of parts that have run and are joined; under the lock */
    uint32_t joined;
    uint32_t done;       /* parts that have run; under the lock */
    hd_file_list listed; /* of the joined parts */
    hd_outputs saves;    /* the same */
    bool saves_clash;
};

/* A file calls only files before it in this order. */

/* replay_choose.c: fills in the models of r->plan. */
bool replay_choose_models(hd_replay *r, const char *list);

/* replay_results.c */
/* For each launch and chosen model, with the data known before a run. */
replay_tally *replay_open_tallies(const replay_part *p, const replay_file *f, hd_arena *arena);
const hd_replay_counter *replay_counters(hd_arena *arena);
const hd_replay_slot *replay_slots(hd_arena *arena); /* HD_SM_SLOTS_ALL */
void replay_fill_results(replay_part *p);            /* for the rows, from the tallies, when all runs have ended */

/* replay_turns.c */
void replay_print(void *part, const char *text, size_t size); /* to options->print, in the order of the parts */
void replay_print_kept(replay_part *p);                       /* when it is the part's turn */
/* Before reading an input that can be read only once, such as a pipe: waits until earlier parts have run. */
void replay_await_turn(replay_part *p, const char *path);

/* replay_timeline.c: the tally's, in the part's arena, while its code is open; NULL: there is none */
const hd_replay_timeline *replay_timeline_of(replay_part *p, const replay_tally *tally);
hd_replay_instruction replay_instruction_of(hd_arena *arena, hd_module *module, uint32_t function, uint32_t number);

/* replay_fault.c */
/* Reads options->lane_fault. false: it, or a model that runs with it, does not fit (reported). */
bool replay_choose_fault(hd_replay *r);
/* The tally's, in the part's arena, while the code is open; NULL: there is no fault, or the model looks for none. */
const hd_replay_detection *replay_detection_of(replay_part *p, uint32_t m, const replay_tally *tally);
/* Whether the memory is as expected and, with `original`, as the original kernel leaves it. Reports no difference. */
bool replay_outputs_are_right(hd_session *session);
bool replay_memory_is_same(const hd_session *original, const hd_session *other);

/* replay_session.c */
bool replay_open_session(replay_run *run, hd_module *module); /* false: see run->status */
void replay_run_steps(replay_run *run);                       /* all steps; without models */
/* Records how it ended. */
void replay_run_ended(replay_run *run, hd_exec_status status, const hd_exec_statistics *statistics);
void replay_stop_runs(replay_part *p, uint32_t first); /* requests this run and later ones to stop */

/* replay_models.c */
bool replay_has_annotations(const hd_module *module, const char *technique);
/* Of the technique of one of the passes. */
bool replay_brings_annotations_of(const hd_module *module, const hd_pipeline *passes);
bool replay_run_passes(const replay_part *p, replay_file *f, const hd_pipeline *passes, hd_diagnostics *diagnostics);
/* Creates f->code and f->count, without models. The arena must live as long as f is open. */
void replay_open_count(replay_part *p, replay_file *f, hd_arena *arena, hd_diagnostics *diagnostics);
/* Registers per thread, including everything that the kernel calls; requires f->code. */
uint32_t replay_kernel_registers(const replay_file *f, const char *kernel);
/* Adds a chosen model; a refusal is stored in f->refusals. */
void replay_add_model(const replay_part *p, replay_file *f, uint32_t m);
void replay_expect_uniform_branches(replay_file *f, hd_diagnostics *diagnostics); /* closes f->contexts */

/* replay_order.c */
/* Before registers are allocated: what of the kernel's results may depend on the order of warps, as static text;
 * NULL: nothing that is known. */
const char *replay_order_of(const hd_module *module, const char *kernel);
/* Whether the module's memory may depend on the number of instructions that it executes. */
bool replay_reads_time(const hd_module *module);

/* replay_watch.c */
void replay_run_watched(replay_run *run); /* all steps, with the models of run->file */

/* replay_traced.c: traces, which are played instead of run */
bool replay_read_trace(replay_part *p, replay_file *f); /* false: reported */
/* Why a chosen model cannot be applied to the file; NULL: it can. */
const char *replay_refusal(const replay_part *p, const replay_file *f, uint32_t m);
/* As hd_session_run, with the same calls of the watch. */
hd_exec_status replay_play_trace(replay_run *run, const hd_session_watch *watch, hd_exec_statistics *statistics);
/* Where the windows of the address space are. */
const hd_memory *replay_trace_spaces(replay_run *run);

/* replay_changed.c: runs of rewritten code */
/* The original of an annotated module: sets f->original or f->is_original. */
void replay_open_original(replay_file *f);
/* Maximum number of copies that it will create. */
uint32_t replay_most_changed(const replay_part *p, const replay_file *f);
/* Copies the code for each pass that must change it before a model sees it, and runs the pass. */
bool replay_open_changed(replay_part *p, replay_file *f);
/* Models whose code that of the run is. */
uint32_t replay_count_changed_models(const replay_part *p, const replay_run *run);
/* Whether the model uses rewritten code, in a run of its own. */
bool replay_sees_changed(const replay_part *p, const replay_file *f, uint32_t m);
void replay_go_changed(replay_run *run);
void replay_join_changed(replay_part *p, replay_run *run);

/* replay_first.c: the first run, and that of the original */
hd_status replay_prepare(replay_part *p, replay_file *f); /* registers, models and rows; DONE: it can run */
void replay_go_first(replay_run *run);
void replay_join_first(replay_part *p, replay_run *run);
void replay_go_original(replay_run *run);
void replay_join_original(replay_part *p, replay_run *run);

/* replay_runs.c: all runs of the part; sets p->status. */
void replay_runs(replay_part *p, replay_file *f);

/* replay_saves.c */
bool replay_saves_fit(replay_part *p, const replay_file *f); /* before it runs; false: reported */
void replay_join_saves(hd_replay *r, replay_part *p);        /* when it is joined; reports */
void replay_hand_over_saves(hd_replay *r);                   /* at the end, to options->saves */

/* replay_part.c: runs p->path; sets p->status, p->rows and p->diagnostics. Afterwards nothing is open; texts that
 * diagnostics refer to stay until replay_drop_texts. */
void replay_run_part(replay_part *p);
void replay_drop_texts(replay_part *p);

#endif
