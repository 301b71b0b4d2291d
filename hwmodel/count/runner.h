/* Walks models that see the same events through warp instructions, and proves every operand that they deliver.
 *
 * A feeder has its own copy of what the baseline knows (identity.h) of each living warp, so that feeders run side by
 * side, on several threads or in different orders of the warps, without a word between them. Its models share that
 * copy: all work on an instruction before its writes are recorded. It reports nothing: the first operand of a model
 * that is not proved stays in the member's `failure`, and that model sees no event after it, while the others go on.
 *
 * Cost: a few dozen operations an instruction, operand and model. Memory: the registers of the warps that live at the
 * same time.
 */
#ifndef HD_HWMODEL_COUNT_RUNNER_H
#define HD_HWMODEL_COUNT_RUNNER_H

#include "hwmodel/count/segment.h"
#include "hwmodel/rf/technique.h"

typedef struct hd_rf_living { /* a warp */
    hd_rf_warp warp;          /* first: models keep its address while the warp lives */
    bool alive;
    uint32_t number;
} hd_rf_living;

typedef struct hd_rf_member {
    hd_rf_model *model;
    uint32_t number; /* names it for its owner */
    hd_rf_failure failure;
} hd_rf_member;

/* What looks up what models did before, in place of walking them: count/memo/. */
struct hd_rf_feeder;
typedef struct hd_runner_memo {
    bool (*takes)(const hd_rf_model *model);      /* Can what the model does be looked up? */
    void *(*attach)(struct hd_rf_feeder *feeder); /* borrows it, with all its models; it takes all of them */
    void (*detach)(void *memo);
    /* as hd_rf_feeder_passage, hd_rf_feeder_switch and hd_rf_feeder_finalize, for the feeder */
    bool (*take)(void *memo, const hd_rf_passage *passage, uint32_t *at);
    void (*warp_switch)(void *memo, uint32_t warp, bool leaves);
    void (*finalize)(void *memo);
} hd_runner_memo;

typedef struct hd_rf_feeder {
    const hd_rf_module *code;
    HD_ARRAY(hd_rf_member) members;
    uint32_t failed;                /* of them */
    uint32_t columns;               /* that they ask for */
    HD_ARRAY(hd_rf_living *) warps; /* by slot */
    hd_rf_living *latest;
    hd_access_sink sink;            /* of the instruction in progress */
    const hd_runner_memo *memo_ops; /* NULL: memo.h is not used */
    void *memo;                     /* NULL: its models walk every instruction */
    uint64_t now;                   /* the clock after what is passed; 0 where nobody sets it */
    hd_rf_residency residency;      /* told to the models when a launch begins */
} hd_rf_feeder;

hd_rf_feeder *hd_rf_feeder_new(const hd_rf_module *code);
void hd_rf_feeder_free(hd_rf_feeder *feeder);
/* Before the first event; borrows the model. All models of a feeder ask for the same columns. */
void hd_rf_feeder_add(hd_rf_feeder *feeder, hd_rf_model *model, uint32_t number);
/* false: of each model an operand was not proved, now or before. Columns that they did not ask for are not handed
 * on. */
bool hd_rf_feeder_take(hd_rf_feeder *feeder, const hd_event *event);
/* From now on what its models do is looked up. */
void hd_rf_feeder_attach(hd_rf_feeder *feeder);
/* Any event. false: an operand was not proved, at the instruction `*at` of the passage's segment; what follows it was
 * not taken. Where the warp leaves, and something it shares went wrong, *at is its end, and all was taken. */
bool hd_rf_feeder_passage(hd_rf_feeder *feeder, const hd_rf_passage *passage, uint32_t *at);
/* Brings the models' counters up to date. */
void hd_rf_feeder_finalize(hd_rf_feeder *feeder);
/* A warp begins, in the place of one that does not live. */
void hd_rf_feeder_start(hd_rf_feeder *feeder, hd_rf_living *place, uint32_t cta, uint32_t number);
/* The instructions of a passage. false: at `*at` of the stretch an operand was not proved; what is behind it was not
 * taken. */
bool hd_rf_feeder_pass(hd_rf_feeder *feeder, const hd_rf_passage *passage, uint32_t *at);
/* The warp that comes to take turns, or leaves; it lives. walk_switch: whatever may be looked up. */
void hd_rf_feeder_switch(hd_rf_feeder *feeder, uint32_t warp, bool leaves);
void hd_rf_feeder_walk_switch(hd_rf_feeder *feeder, uint32_t warp, bool leaves);

/* Of the warp; NULL: none. */
static inline hd_run_length *hd_memo_lengths(hd_rf_model *model, const hd_rf_warp *warp)
{
    const hd_memo_ops *memo = model->info->ops->memo;
    return memo && memo->lengths ? memo->lengths(model, warp) : NULL;
}

/* What an ISSUE event will do, before it is taken; NULL code where the warp is unknown. Enters its frame. */
hd_rf_step hd_rf_feeder_peek(hd_rf_feeder *feeder, const hd_event *event);
hd_rf_living *hd_rf_feeder_warp(hd_rf_feeder *feeder, uint32_t number); /* NULL: does not live */

#endif
