/* Walks one model through what warps executed, and proves every operand that it delivers.
 *
 * Both drivers of models walk with it: count mode through segments (hd_walk_take), an SM through the instructions of a
 * record's cursor (hd_walk_read, then hd_walk_before and hd_walk_execute). Each instruction takes the same steps under
 * both: its frame is entered, the hooks are called, what they deliver is proved, their accesses are counted, and its
 * writes get their serials.
 *
 * A walk has its own copy of what the baseline knows of each warp (identity.h), so that walks work side by side, on
 * several threads and in different orders of the warps, without communication. It reports nothing: the first operand
 * that is not proved is `failure`, and hd_walk_take takes nothing after it.
 *
 * A walk may have a memo (count/memo/), which looks up what the model did before in the same state. The walk is right
 * without it, and slower.
 *
 * Cost: a few dozen operations an instruction and operand. Memory: the registers of the warps that live at the same
 * time.
 */
#ifndef HD_HWMODEL_RECORD_WALK_H
#define HD_HWMODEL_RECORD_WALK_H

#include "hwmodel/record/record.h"
#include "hwmodel/record/segment.h"
#include "hwmodel/rf/technique.h"

typedef struct hd_walk_warp {
    hd_rf_warp warp; /* first: models keep its address while the warp lives */
    bool alive;
    uint32_t number;        /* of the warp in the launch */
    hd_u32_array functions; /* by frame */
} hd_walk_warp;

struct hd_walk;
typedef struct hd_walk_memo {
    bool (*applies)(const hd_rf_model *model); /* Can what the model does be looked up? */
    void *(*create)(struct hd_walk *walk);     /* borrows it */
    void (*destroy)(void *memo);
    void (*begin)(void *memo, hd_walk_warp *slot); /* a warp has begun */
    /* as hd_walk_through, but it may look up what the model does */
    bool (*take)(void *memo, hd_walk_warp *slot, const hd_warp_event *event, uint32_t *at);
} hd_walk_memo;

typedef struct hd_walk {
    const hd_rf_module *code;
    hd_rf_model *model;
    hd_rf_failure failure;          /* what went wrong first */
    HD_ARRAY(hd_walk_warp *) warps; /* by slot */
    uint32_t slots[256];            /* by the low bits of a warp's number: the slot to look at first */
    bool offers;                    /* idle units, after each instruction */
    bool ungated;                   /* the model's gates refuse nothing in this launch */
    bool looks_up;                  /* in this launch */
    hd_access_sink sink;            /* of the instruction in progress */
    /* the driver's clock: of the instruction that it executes, or after the segment that it takes; 0: there is none */
    uint64_t now;
    const hd_walk_memo *memo_ops;
    void *memo; /* NULL: the model walks every instruction */
} hd_walk;

/* Borrows the model. memo: NULL for none. */
hd_walk *hd_walk_new(const hd_rf_module *code, hd_rf_model *model, const hd_walk_memo *memo);
void hd_walk_free(hd_walk *walk);
void hd_walk_launch(hd_walk *walk, uint32_t function, const hd_rf_residency *residency);

/* ---- segment by segment ------------------------------------------------------------------------------------------ */

/* What a warp does next. false: something was not proved, at the instruction `*at` of the event's segment. */
bool hd_walk_take(hd_walk *walk, const hd_warp_event *event, uint32_t *at);
/* What instruction i of the event will do; enters its frame. NULL code: the warp is unknown. */
hd_rf_step hd_walk_peek(hd_walk *walk, const hd_warp_event *event, uint32_t i);

/* ---- instruction by instruction: the sinks have the accesses that the model emits -------------------------- */

hd_walk_warp *hd_walk_begin_warp(hd_walk *walk, uint32_t cta, uint32_t warp);
void hd_walk_end_warp(hd_walk *walk, hd_walk_warp *warp);
void hd_walk_end_cta(hd_walk *walk, uint32_t cta);
/* The cursor's instruction; leaves and enters frames. The step borrows from the cursor. */
hd_rf_step hd_walk_read(hd_walk *walk, hd_walk_warp *warp, const hd_record_cursor *cursor);
const hd_access_sink *hd_walk_before(hd_walk *walk, const hd_rf_step *step); /* of a model with that hook */
const hd_access_sink *hd_walk_execute(hd_walk *walk, const hd_rf_step *step);
const hd_access_sink *hd_walk_switch(hd_walk *walk, hd_walk_warp *warp, bool leaves);
/* Nothing issues on these units in this cycle (hd_rf_ops.idle_slot). Returns those that the model uses. */
uint32_t hd_walk_idle(hd_walk *walk, uint32_t units, uint64_t now);

/* ---- for memos --------------------------------------------------------------------------------------------------- */

/* With the model, whatever the memo knows. */
bool hd_walk_through(hd_walk *walk, hd_walk_warp *slot, const hd_warp_event *event, uint32_t *at);
/* The frame of the event's segment is on top afterwards. */
void hd_walk_enter(hd_walk *walk, hd_walk_warp *slot, const hd_warp_event *event);
/* For tests: all that the model knows of the warp is gone; its frames begin again. */
void hd_walk_restart(hd_walk *walk, hd_walk_warp *slot);

#endif
