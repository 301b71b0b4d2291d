/* Walks one model through what warps execute, and proves every operand that it delivers.
 *
 * A runner has its own copy of what the baseline knows of each warp (identity.h), so that runners work side by side, on
 * several threads and in different orders of the warps, without communication. It reports nothing: the first operand
 * that is not proved is `failure`, and the runner takes nothing after it.
 *
 * A runner may have a memo (count/memo/), which looks up what the model did before in the same state. The runner is
 * right without it, and slower.
 *
 * Cost: a few dozen operations an instruction and operand. Memory: the registers of the warps that live at the same
 * time.
 */
#ifndef HD_HWMODEL_COUNT_RUNNER_H
#define HD_HWMODEL_COUNT_RUNNER_H

#include "hwmodel/count/segment.h"
#include "hwmodel/rf/technique.h"

typedef struct hd_warp_slot {
    hd_rf_warp warp; /* first: models keep its address while the warp lives */
    bool alive;
    uint32_t number;        /* of the warp in the launch */
    hd_u32_array functions; /* by frame */
} hd_warp_slot;

struct hd_runner;
typedef struct hd_runner_memo {
    bool (*applies)(const hd_rf_model *model); /* Can what the model does be looked up? */
    void *(*create)(struct hd_runner *runner); /* borrows it */
    void (*destroy)(void *memo);
    void (*begin)(void *memo, hd_warp_slot *slot); /* a warp has begun */
    /* as hd_runner_walk, but it may look up what the model does */
    bool (*take)(void *memo, hd_warp_slot *slot, const hd_warp_event *event, uint32_t *at);
} hd_runner_memo;

typedef struct hd_runner {
    const hd_rf_module *code;
    hd_rf_model *model;
    hd_rf_failure failure;          /* what went wrong first */
    HD_ARRAY(hd_warp_slot *) warps; /* by slot */
    uint32_t slots[256];            /* by the low bits of a warp's number: the slot to look at first */
    bool offers;                    /* idle units, after each instruction */
    bool ungated;                   /* the model's gates refuse nothing in this launch */
    bool looks_up;                  /* in this launch */
    hd_access_sink sink;            /* of the instruction in progress */
    uint64_t now;                   /* the clock after what is taken; 0 where nobody sets it */
    const hd_runner_memo *memo_ops;
    void *memo; /* NULL: the model walks every instruction */
} hd_runner;

/* Borrows the model. memo: NULL for none. */
hd_runner *hd_runner_new(const hd_rf_module *code, hd_rf_model *model, const hd_runner_memo *memo);
void hd_runner_free(hd_runner *runner);
void hd_runner_launch(hd_runner *runner, uint32_t function, const hd_rf_residency *residency);
/* What a warp does next. false: something was not proved, at the instruction `*at` of the event's segment. */
bool hd_runner_take(hd_runner *runner, const hd_warp_event *event, uint32_t *at);
/* What instruction i of the event will do; enters its frame. NULL code: the warp is unknown. */
hd_rf_step hd_runner_peek(hd_runner *runner, const hd_warp_event *event, uint32_t i);

/* Nothing issues on these units in this cycle (hd_rf_ops.idle_slot). Returns those that the model uses. */
uint32_t hd_runner_idle(hd_runner *runner, uint32_t units, uint64_t now);

/* ---- for memos --------------------------------------------------------------------------------------------------- */

/* With the model, whatever the memo knows. */
bool hd_runner_walk(hd_runner *runner, hd_warp_slot *slot, const hd_warp_event *event, uint32_t *at);
/* The frame of the event's segment is on top afterwards. */
void hd_runner_enter(hd_runner *runner, hd_warp_slot *slot, const hd_warp_event *event);
/* For tests: all that the model knows of the warp is gone; its frames begin again. */
void hd_runner_restart(hd_runner *runner, hd_warp_slot *slot);

#endif
