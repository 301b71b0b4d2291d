/* What a model offers to memoization: hooks beside those of technique.h, all of them optional. A model without them is
 * right, and slower; no number depends on them (--no-memo does without).
 *
 * Count mode looks up what a model did with a segment of a warp's instructions when the model knew the same of the warp
 * before (hwmodel/count/memo/). For that, a model writes a snapshot of what it knows of one warp, and is restored from
 * one.
 *
 * Snapshots. The hook `snapshot` passes all state that the warp's future depends on through an hd_snapshot, in one
 * fixed order, as words that mean the same at any time and in any warp. Two warps with the same words are in the same
 * state: with the same instructions, lanes and widths to come, the model does the same for both. So there are no times
 * and serials among the words, but ages and ranks; of a claim only the lanes that are fresh (identity.h): with the
 * serial of now they prove, and go stale, exactly as the claim does. The model must not read the clock. Lane masks are
 * marked (hd_snapshot_lanes), because which lanes they are of is left out (count/memo/classes.h): the model may combine
 * masks and ask whether one is empty, but must neither count lanes nor prefer one. The same hook
 * restores: hd_snapshot_word then returns what was written. The warp's frames have begun already, with the serials that
 * they have there; whatever the model knew of the warp is overwritten.
 *
 * Effects. What a model does besides is recorded as effects, and replayed when it is looked up: counters, registers
 * held (hd_rf_record_held), lengths of runs, and operations on storage that warps share. Such an operation may depend
 * on the warp, but must not change what the model knows of it: the model passes it to hd_rf_share, which calls the hook
 * `share` now and at each replay.
 */
#ifndef HD_HWMODEL_RF_MEMO_H
#define HD_HWMODEL_RF_MEMO_H

#include "hwmodel/rf/access.h"
#include "hwmodel/rf/counters.h"
#include "hwmodel/rf/identity.h"

/* ---- snapshots --------------------------------------------------------------------------------------------------- */

enum { HD_SNAPSHOT_INDEX_BITS = 24 /* of an owner; above them its frame */, HD_SNAPSHOT_FRAMES = 16 /* at most */ };

typedef struct hd_snapshot {
    bool out;                    /* it is taken; else the model is restored from it */
    bool unfit;                  /* the warp's storage holds a register of an ended frame: there is no snapshot */
    uint32_t end;                /* registers of all its frames */
    hd_u32_array *words, *masks; /* masks: which of the words are lane masks */
    uint32_t at;                 /* of the words, the next to be restored */
    const uint32_t
        *class_lanes; /* of lane masks: the lanes for which each of their bits stands when they are restored */
    const hd_identity_warp *identity;
} hd_snapshot;

static inline uint32_t hd_snapshot_word(hd_snapshot *c, uint32_t value)
{
    if (!c->out)
        return c->words->items[c->at++];
    hd_array_push(c->words, value);
    return value;
}

/* A lane mask. */
static inline uint32_t hd_snapshot_lanes(hd_snapshot *c, uint32_t lanes)
{
    if (c->out) {
        hd_array_push(c->masks, c->words->count);
        return hd_snapshot_word(c, lanes);
    }
    lanes = 0;
    HD_EACH_BIT (class, hd_snapshot_word(c, 0))
        lanes |= c->class_lanes[class];
    return lanes;
}

/* Saves or restores the claim of the register `index`. */
static inline hd_claim hd_snapshot_claim(hd_snapshot *c, uint32_t index, hd_claim claim)
{
    uint32_t lanes = hd_snapshot_lanes(c, c->out && !c->unfit ? hd_identity_fresh(c->identity, index, claim) : 0);
    return c->out ? claim : (hd_claim){c->identity->serial, lanes};
}

/* That is of one of the frames. */
static inline hd_owner hd_snapshot_owner(hd_snapshot *c, hd_owner owner)
{
    if (!c->out) {
        uint32_t word = hd_snapshot_word(c, 0), depth = word >> HD_SNAPSHOT_INDEX_BITS;
        return (hd_owner){c->identity->warp, c->identity->frames.items[depth].frame,
                          word & ((1u << HD_SNAPSHOT_INDEX_BITS) - 1)};
    }
    uint32_t depth = c->identity->frames.count;
    while (depth && c->identity->frames.items[depth - 1].frame != owner.frame)
        depth--;
    c->unfit = c->unfit || owner.warp != c->identity->warp || !depth;
    hd_snapshot_word(c, owner.index | (depth - 1) << HD_SNAPSHOT_INDEX_BITS);
    return owner;
}

/* ---- effects ----------------------------------------------------------------------------------------------------- */

typedef enum hd_effect_kind {
    HD_EFFECT_COUNT,      /* the counter `what` increases by n */
    HD_EFFECT_HELD,       /* for n instructions, `index` more registers are held than when recording began */
    HD_EFFECT_LENGTH,     /* the length `what` of the warp increases by n */
    HD_EFFECT_LENGTH_END, /* ... and ends; index: hd_run_length_end's `cut` */
    HD_EFFECT_SHARED,     /* an operation on what warps share: what, index and n are the model's */
} hd_effect_kind;
typedef struct hd_effect {
    uint16_t kind, what;
    uint32_t index, n;
} hd_effect;
HD_ARRAY_TYPE(hd_effects, hd_effect);

/* Lengths in instructions of runs of a warp, of which the minimum and the maximum are counted. Snapshots contain only
 * whether the length is 0. */
enum { HD_RUN_LENGTHS = 2 };
typedef struct hd_run_length {
    uint64_t length;            /* so far */
    uint64_t recorded;          /* of it, the part that recorded effects already include */
    uint16_t shortest, longest; /* hd_counter */
} hd_run_length;

typedef struct hd_memo_state { /* in each model */
    hd_effects *effects;       /* where what the model does is recorded; NULL: nowhere */
    uint64_t held;             /* hd_rf_model.held when it began */
    bool silent;               /* the model is restored: lengths and what warps share stay as they are */
    bool unusable;             /* the model has state that snapshots leave out: nothing is looked up */
    bool forgets;              /* for tests: nothing is looked up, and the model is restored before each segment */
} hd_memo_state;

/* ---- hooks ------------------------------------------------------------------------------------------------------- */

struct hd_rf_model;
struct hd_rf_warp;

typedef struct hd_memo_ops {
    /* NULL: the warp is walked through every instruction. */
    void (*snapshot)(struct hd_rf_model *model, struct hd_rf_warp *warp, hd_snapshot *snapshot);
    /* HD_RUN_LENGTHS of the warp; NULL: none */
    hd_run_length *(*lengths)(struct hd_rf_model *model, const struct hd_rf_warp *warp);
    /* Does an operation on storage that warps share. A failure is of the word `index` of the frame on top: it got the
     * storage of another one, or none. */
    hd_rf_wrong (*share)(struct hd_rf_model *model, struct hd_rf_warp *warp, const hd_effect *operation);
    /* Whether may_issue and may_launch_cta refuse nothing in this launch that the residency does not: then they are not
     * called. A launch in which may_issue is called is not looked up. NULL: they may refuse. */
    bool (*never_refuses)(const struct hd_rf_model *model);
} hd_memo_ops;

/* The k-th length of a warp ends, and the next one begins. cut: it could have been longer, and is no shortest one. */
void hd_run_length_end(struct hd_rf_model *model, hd_run_length *lengths, uint32_t k, bool cut);
/* Does the operation, and records it. */
hd_rf_wrong hd_rf_share(struct hd_rf_model *model, struct hd_rf_warp *warp, hd_effect operation);

#endif
