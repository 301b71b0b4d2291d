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
#ifndef HD_HWMODEL_RF_FEEDER_H
#define HD_HWMODEL_RF_FEEDER_H

#include "hwmodel/rf/stretch.h"
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

typedef struct hd_rf_feeder {
    const hd_rf_module *code;
    HD_ARRAY(hd_rf_member) members;
    uint32_t failed;                /* of them */
    uint32_t columns;               /* that they ask for */
    HD_ARRAY(hd_rf_living *) warps; /* by slot */
    hd_rf_living *latest;
    hd_access_sink sink;       /* of the instruction in progress */
    bool memo;                 /* memo.h is used */
    uint64_t now;              /* the clock after what is passed; 0 where nobody sets it */
    hd_rf_residency residency; /* told to the models when a launch begins */
} hd_rf_feeder;

hd_rf_feeder *hd_rf_feeder_new(const hd_rf_module *code);
void hd_rf_feeder_free(hd_rf_feeder *feeder);
/* Before the first event; borrows the model. All models of a feeder ask for the same columns. */
void hd_rf_feeder_add(hd_rf_feeder *feeder, hd_rf_model *model, uint32_t number);
/* false: of each model an operand was not proved, now or before. Columns that they did not ask for are not handed
 * on. */
bool hd_rf_feeder_take(hd_rf_feeder *feeder, const hd_event *event);
/* A warp begins, in the place of one that does not live. */
void hd_rf_feeder_start(hd_rf_feeder *feeder, hd_rf_living *place, uint32_t cta, uint32_t number);
/* The instructions of a passage. false: at `*at` of the stretch an operand was not proved; what is behind it was not
 * taken. */
bool hd_rf_feeder_pass(hd_rf_feeder *feeder, const hd_rf_passage *passage, uint32_t *at);
/* The warp that comes to take turns, or leaves; it lives. */
void hd_rf_feeder_switch(hd_rf_feeder *feeder, uint32_t warp, bool leaves);

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
