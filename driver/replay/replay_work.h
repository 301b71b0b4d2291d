/* Shared declarations of driver/replay/replay*.c. Private to them.
 *
 *   plan      what holds for all files: the GPU, the chosen models and their passes     replay_plan.c, replay_choose.c
 *   part      a launch file or a trace, which is replayed by itself
 *     input   what was read: launches, the module and its original                      replay_read.c
 *     runs    codes with the models that see them, and what became of their execution   replay_prepare.c, replay_run.c
 *     product rows of the report, and what else the part leaves                         replay_results.c
 *
 * replay.c takes parts through these phases, several side by side; replay_turns.c keeps them in their order where that
 * is visible. */
#ifndef HD_DRIVER_REPLAY_REPLAY_WORK_H
#define HD_DRIVER_REPLAY_REPLAY_WORK_H

#include "base/pool.h"
#include "driver/build/assemble.h"
#include "driver/replay/replay.h"
#include "hwmodel/launch/launch.h"
#include "hwmodel/count/count.h"
#include "hwmodel/sm/profile.h"
#include "hwmodel/sm/timeline.h"
#include "hwmodel/sm/timer.h"
#include "hwmodel/trace/accel_sim.h"
#include "parser/link.h"
#include "passes/manager/manager.h"
#include "target/gpu.h"
#include <pthread.h>

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

typedef struct replay_model { /* a chosen model */
    const hd_rf_model_info *info;
    const hd_pipeline *passes; /* that annotate the code for it, shared by models with equal ones; NULL: none */
} replay_model;

/* Made from the options. Parts share it and do not modify it. */
typedef struct replay_plan {
    const hd_replay_options *options;
    hd_diagnostics *diagnostics;
    hd_arena arena;
    hd_gpu *gpu;
    replay_model *models; /* the baseline first */
    uint32_t model_count;
    const char *left_out;              /* techniques that `all` does not mean; NULL: none */
    HD_ARRAY(hd_pipeline *) pipelines; /* of the models: no two are equal */
    hd_pipeline *allocations[2];       /* what precedes all models; 1: of a module whose addresses have 32 bits */
    uint32_t sms;                      /* that are simulated, with options->time */
    hd_launch_code code;               /* of the options */
    bool prefers_machine;              /* what HD_CODE_AUTO means */
    bool faulty;                       /* options->lane_fault: each first run has a copy of `lane` */
    hd_faulty_lane lane;
    hd_ordering block_order; /* that the options name; traces take it */
} replay_plan;

/* ---- a part ------------------------------------------------------------------------------------------------------ */

/* What a part replays. Files are read once, because they may be pipes. */
typedef struct replay_input {
    hd_launch_file *launch; /* of a trace: one launch, and no module */
    hd_traced *traced;      /* NULL: no trace */
    hd_module *module;
    /* A copy of the module before allocation; of an annotated module, the original code that it denotes. NULL: nothing
     * is compared with it. */
    hd_module *original;
    const char *tool;    /* that made the machine code: "ptxas 13.0.88"; NULL: unknown, or PTX */
    bool allocates;      /* the module is simplified and allocated */
    bool is_original;    /* the module has annotations, and is its original but for these */
    hd_diagnostics said; /* of reading the module; repeated for each rewritten copy */
    /* Texts that diagnostics refer to. */
    hd_source source;
    hd_link_result linked;
    hd_yaml *yaml; /* of `launch`, when that is closed */
} replay_input;

typedef enum replay_kind {
    REPLAY_FIRST,    /* the module, with all models that need no other code */
    REPLAY_ORIGINAL, /* its original, without models */
    REPLAY_COPY,     /* a copy of the module, rewritten by the passes of its models, or for models that run apart */
} replay_kind;

/* The counters of one model on one launch, all its runs combined. */
typedef struct replay_tally {
    const char *refusal; /* why it was not applied, or NULL */
    bool ran;            /* at least once */
    bool energy_known, energy_derived;
    uint8_t check; /* hd_replay_check of its own run: PASS, OPERANDS, IDENTICAL or INCOMPLETE */
    hd_count_result counted;
    double energy_pj;
    /* With cycles. */
    bool timed; /* to its end */
    hd_timing_counts time;
    double timed_pj;   /* dynamic energy, by the timing's counters; NAN: unknown */
    uint64_t gated_on; /* hd_rf_leakage */
    hd_rf_detection timed_detection;
    hd_sm_early early;                 /* of the first execution that has one; without early reads, not set */
    const hd_timeline_spans *timeline; /* of the first execution, and the code that it was of; NULL: none */
    hd_module *timed_module;
    const hd_profile *profile; /* of that code; NULL: none */
} replay_tally;

typedef struct replay_events replay_events; /* replay_events.c */

/* What listens to the SMs of a model; NULL: was not asked for. */
typedef struct replay_views {
    hd_timeline *timeline;
    hd_profile *profile;
    replay_events *events; /* without cycles, to the interpreter */
} replay_views;

/* A module with the models that see it; made by replay_prepare. */
typedef struct replay_code {
    hd_module *module;
    hd_rf_module *rf;      /* NULL, as the three after it: no models see it */
    hd_count *count;       /* takes the models that were not refused */
    hd_timer *timer;       /* has the same models in the same order; NULL: cycles are not asked for */
    uint32_t *model_index; /* by chosen model: index in the count, or HD_NONE */
    replay_views *views;   /* by chosen model */
} replay_code;

/* What came of a run. */
typedef struct replay_outcome {
    hd_status status;      /* DONE until it has run */
    bool ended;            /* its last step is complete */
    uint64_t races;        /* number of reported pairs */
    replay_tally *tallies; /* by launch and chosen model; NULL: no models see the code */
} replay_outcome;

/* A pass of one code through the launches, in parallel with the other runs of the part. Until it is joined it modifies
 * only what is in this structure or belongs to its code. */
typedef struct replay_run {
    struct replay_part *part;
    replay_kind kind;
    replay_code code;
    replay_outcome out;
    hd_diagnostics *report; /* `own`; of the first run: the part's */
    hd_diagnostics own;
    hd_arena arena;
    hd_session *session;          /* NULL: not open; the first run's stays open until all are joined */
    hd_meter meter, timing_meter; /* in CTAs: of the run with its models, and of all timings */
    bool over;                    /* it has ended or stopped, or was never started; under the lock */
    atomic_bool stop;             /* request to stop: an earlier run has failed */
} replay_run;

/* What the launch file says, or options in its place. */
typedef struct replay_said {
    bool known; /* it was read */
    uint32_t seed;
    const char *block_order, *buffer_order;
} replay_said;

/* What a part leaves to the replay that joins it. */
typedef struct replay_product {
    hd_status status;
    HD_ARRAY(hd_replay_kernel) rows; /* of launches, in order; their data are in the part's arena */
    HD_ARRAY(char) printed;          /* output printed before the part's turn */
    hd_file_list listed;             /* files that its launch file reads and writes; of a trace: none */
    hd_outputs saves;                /* of the first run */
    replay_said said;
} replay_product;

/* Where parts must act in their order. */
typedef struct replay_turns {
    pthread_mutex_t lock;
    pthread_cond_t moved; /* `joined` has increased */
    uint32_t joined;      /* number of parts that have run and are joined; under the lock */
} replay_turns;

typedef struct replay_part {
    const replay_plan *plan;
    replay_turns *turns;
    const char *path;
    const char *title; /* in results and messages: the path, or options->title */
    uint32_t index;
    uint32_t threads; /* for passes, runs, models and CTAs of this part */
    hd_arena arena;
    hd_diagnostics diagnostics;
    replay_input in;
    replay_run *runs; /* in the order of reporting */
    uint32_t run_count;
    hd_meter *meter;         /* of the file, in CTAs that the interpreter runs without models; NULL: none */
    hd_thread_budget budget; /* threads of `threads` that no run uses now */
    replay_product out;
    const char *clocked; /* a kernel of which a clock may decide what it leaves; NULL: there is none */
    bool done;           /* under the lock of the turns */
} replay_part;

/* Whether the program that uses the library has ended the replay. */
static inline bool replay_is_cancelled(const replay_plan *plan)
{
    return plan->options->cancel && atomic_load_explicit(plan->options->cancel, memory_order_relaxed);
}

/* ---- phases: a file calls only files before it ------------------------------------------------------------------- */

/* replay_events.c: events of a model for the program that listens. */
bool replay_events_are_of(const replay_plan *plan, uint32_t m);
replay_events *replay_events_new(const replay_part *p, hd_module *module, uint32_t m);
void replay_events_free(replay_events *events); /* NULL is allowed */
hd_sm_listener replay_events_listener(replay_events *events);
/* Where no cycles are simulated: a sink of the run, false: none is needed; and its launches. */
bool replay_events_sink(replay_events *events, hd_sink *sink);
void replay_events_launch(replay_events *events, uint32_t launch, bool begins);

/* replay_choose.c: sets plan->models from the list of --technique. false: reported. */
bool replay_choose_models(replay_plan *plan, const char *list);

/* replay_plan.c */
hd_status replay_plan_open(replay_plan *plan, const hd_replay_options *options, hd_diagnostics *diagnostics);
void replay_plan_close(replay_plan *plan);

/* replay_turns.c */
void replay_print(void *part, const char *text, size_t size); /* to options->print, in the order of the parts */
void replay_print_kept(replay_part *p);                       /* when it is the part's turn */
/* Before reading an input that can be read only once, such as a pipe: waits until earlier parts have run. */
void replay_await_turn(replay_part *p, const char *path);

/* replay_architecture.c: leaves the cubins of one architecture in the listing of a file, the one that the GPU takes. */
void replay_keep_architecture(const hd_gpu *gpu, hd_source *listing);

/* replay_read.c */
hd_status replay_read(replay_part *p); /* sets p->in */
void replay_close(replay_part *p);     /* everything but texts that diagnostics refer to; replay_drop_texts is last */
void replay_drop_texts(replay_part *p);

/* replay_depends.c */
typedef struct replay_dependence {
    const char *order; /* what of the results may depend on the order of warps, as static text; NULL: nothing known */
    bool clock;        /* a clock may decide what the kernel leaves in memory */
} replay_dependence;
/* By launch, before registers are allocated; `order` only where cycles are asked for, of a trace nothing. */
const replay_dependence *replay_find_dependences(replay_part *p);

/* replay_prepare.c */
hd_status replay_prepare(replay_part *p); /* allocates registers; sets the runs with their models, and opens the rows */
/* Registers per thread, including everything that the kernel calls. */
uint32_t replay_kernel_registers(const replay_run *run, const char *kernel);

/* replay_profile.c: of a model on a launch; NULL: it has none. The module of the code is still open. */
const hd_replay_profile *replay_profile_of(replay_part *p, uint32_t launch, const replay_tally *tally);

/* replay_results.c */
/* What outputs are that differ from others: WRONG (reported by the caller), or where a clock may decide them, CLOCK
 * with a warning; `from`: "what the launch file expects". */
hd_replay_outputs replay_differing(const replay_run *run, const char *from);
void replay_join(replay_run *run); /* compares its memory, and adds what it found to the part; in the order of runs */
void replay_fill_results(replay_part *p); /* of the rows, when all runs are joined */

/* replay_run.c */
hd_status replay_run_all(replay_part *p);

#endif
