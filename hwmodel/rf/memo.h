/* What makes count mode quicker, and changes no number: hooks of a model beside those of technique.h, all of them
 * optional. A model without them is right; the replay's --no-memo does without them.
 *
 * Count mode can look up what a model did with a stretch of a warp's instructions, when the model knew the same of the
 * warp before. For that a model writes a snapshot of what it knows of one warp, and is restored from one.
 *
 * Snapshots. The hook `snapshot` passes everything that the future of the warp depends on through an hd_snapshot, in
 * one fixed order, as words that mean the same at any time and in any warp; these are written, or there is what was
 * written before. Two warps with the same words are in the same state: with the same instructions, lanes and widths to
 * come, the model counts the same and delivers the same for both. So there are no times and serials among them, but
 * ages and ranks, and of a claim only the lanes that are fresh (identity.h): with the serial of now they prove, and go
 * stale, exactly as the claim does. Lanes are passed as such (hd_snapshot_lanes): in the words stands which classes of
 * lanes are among them, so that two warps with the same words do the same, each in its lanes. A model with
 * snapshots works on lanes as masks, and neither counts lanes nor prefers one; and it must not look at the clock.
 *
 * A snapshot is taken between two instructions, with the frames that live. Those of calls are taken apart: of suspended
 * frames, nothing but the running function's end reads or changes what is known, so that it is no part of the state
 * meanwhile. A frame is suspended when it is not on top and no structure in motion has something of it; the
 * hook says which have (hd_snapshot_pin). What it passes of a suspended frame is what it keeps of each register,
 * [first, end), in a place of its own; of the others besides, all else that it knows of the warp. Nothing that is
 * passed with these may depend on where their registers begin: frames are named by depth, registers by how far they are
 * from `first`.
 *
 * Where a warp is restored, its frames have begun already, in order, with the serials that they have there; suspended
 * ones are restored first. What it leaves behind when it is restored elsewhere is overwritten; registers of all warps
 * together (hd_rf_model.held) are not the hook's business.
 *
 * Storage that warps share. What a model does to it is a list of shared operations: done at once, or, while what a warp
 * does is recorded (hd_memo_notes.defers), kept until they are done by the hook `share`, in order, for each warp that
 * does the same.
 */
#ifndef HD_HWMODEL_RF_MEMO_H
#define HD_HWMODEL_RF_MEMO_H

#include "hwmodel/rf/counters.h"
#include "hwmodel/rf/identity.h"
#include "ir/ir.h"

/* ---- snapshots --------------------------------------------------------------------------------------------------- */

enum { HD_SNAPSHOT_INDEX_BITS = 24 /* of an owner; above them stands its frame */, HD_SNAPSHOT_FRAMES = 16 };

typedef struct hd_snapshot {
    bool out;             /* it is taken; else the model is restored from it */
    bool rest;            /* of suspended frames, and nothing besides */
    bool unfit;           /* of the warp is held what none of its frames owns: there is no snapshot of it */
    uint32_t bottom, top; /* the frames, [bottom, top) */
    uint32_t first, end;  /* their registers */
    uint32_t pinned;      /* the lowest frame that cannot be suspended */
    hd_u32_array *words;
    uint32_t at;                 /* of the words, the next to be restored */
    hd_u32_array *places;        /* of words that are lanes, where they are written */
    const uint32_t *class_lanes; /* of each class that the words mean, where they are restored */
    const hd_identity_warp *identity;
} hd_snapshot;

static inline uint32_t hd_snapshot_word(hd_snapshot *c, uint32_t value)
{
    if (!c->out)
        return c->words->items[c->at++];
    hd_array_push(c->words, value);
    return value;
}

/* A mask of lanes. */
static inline uint32_t hd_snapshot_lanes(hd_snapshot *c, uint32_t mask)
{
    if (!c->out) {
        uint32_t lanes = 0;
        for (uint32_t set = c->words->items[c->at++]; set; set &= set - 1)
            lanes |= c->class_lanes[__builtin_ctz(set)];
        return lanes;
    }
    hd_array_push(c->places, c->words->count);
    hd_array_push(c->words, mask);
    return mask;
}

/* Which of the warp's frames it is, from the kernel's on; HD_NONE: none. */
static inline uint32_t hd_snapshot_depth(const hd_identity_warp *identity, uint32_t frame)
{
    uint32_t depth = identity->frames.count;
    while (depth && identity->frames.items[depth - 1].frame != frame)
        depth--;
    return depth ? depth - 1 : HD_NONE;
}

/* Something of the frame is in motion. */
static inline void hd_snapshot_pin(hd_snapshot *c, uint32_t frame)
{
    if (!c->out || c->top - c->bottom == 1)
        return;
    uint32_t depth = hd_snapshot_depth(c->identity, frame);
    c->pinned = depth < c->pinned ? depth : c->pinned;
}

/* Of the register `index`. */
static inline hd_claim hd_snapshot_claim(hd_snapshot *c, uint32_t index, hd_claim claim)
{
    uint32_t lanes = hd_snapshot_lanes(c, c->out && !c->unfit ? hd_identity_fresh(c->identity, index, claim) : 0);
    return c->out ? claim : (hd_claim){c->identity->serial, lanes};
}

/* That is one of the frames. */
static inline hd_owner hd_snapshot_owner(hd_snapshot *c, hd_owner owner)
{
    if (!c->out) {
        uint32_t word = hd_snapshot_word(c, 0),
                 frame = c->identity->frames.items[c->bottom + (word >> HD_SNAPSHOT_INDEX_BITS)].frame;
        return (hd_owner){c->identity->warp, frame, c->first + (word & ((1u << HD_SNAPSHOT_INDEX_BITS) - 1))};
    }
    uint32_t depth = hd_snapshot_depth(c->identity, owner.frame);
    c->unfit = c->unfit || owner.warp != c->identity->warp || depth < c->bottom || depth >= c->top;
    hd_snapshot_word(c, (owner.index - c->first) | (depth - c->bottom) << HD_SNAPSHOT_INDEX_BITS);
    return owner;
}

/* ... with something of it in motion. */
static inline hd_owner hd_snapshot_moving(hd_snapshot *c, hd_owner owner)
{
    hd_snapshot_pin(c, owner.frame);
    return hd_snapshot_owner(c, owner);
}

/* ---- run lengths ------------------------------------------------------------------------------------------------- */

/* A length in instructions that begins again and again in a warp, of which the least and the greatest are counted. It
 * may become longer than anything that a snapshot has: whoever records keeps it, and notes where the first one ends. */
enum { HD_RUN_LENGTHS = 2 };
typedef struct hd_run_length {
    uint64_t length;            /* so far */
    uint16_t shortest, longest; /* hd_counter */
    /* noted: the first one since `noting` began has ended, after `head`; it is not counted yet */
    bool noting, noted, cut;
    uint64_t head;
} hd_run_length;

typedef struct hd_run_delta { /* how it went on from what it was, or where it ended first and what it had afterwards */
    bool ended, cut;
    uint16_t shortest, longest;
    uint32_t head, rest;
} hd_run_delta;

/* The length ends, and the next one begins. cut: it could have been longer, and is no shortest one. */
void hd_run_length_end(uint64_t counters[HD_COUNTER_COUNT], hd_run_length *run, bool cut);
/* What was noted since the length was `before`; nothing more is noted. */
hd_run_delta hd_run_length_recorded(hd_run_length *run, uint64_t before);
/* The same again, from another length on. */
void hd_run_length_replay(uint64_t counters[HD_COUNTER_COUNT], hd_run_length *run, const hd_run_delta *delta);

/* ---- shared operations ------------------------------------------------------------------------------------------- */

/* What it means is the model's; it may depend on the warp, but must not change what the model knows of it. */
enum { HD_SHARED_NONE = 0 };
typedef struct hd_shared_op {
    uint16_t what, also; /* what: one of the model's, or HD_SHARED_NONE; also: what it means is the model's */
    uint32_t index, n;   /* what they mean is the model's */
} hd_shared_op;
typedef HD_ARRAY(hd_shared_op) hd_shared_ops;

/* ---- hooks ------------------------------------------------------------------------------------------------------- */

typedef struct hd_memo_held_run { /* of instructions with the same number of registers held */
    uint64_t held, times;
} hd_memo_held_run;
typedef HD_ARRAY(hd_memo_held_run) hd_memo_held_runs;

typedef struct hd_memo_notes { /* in each model */
    hd_shared_ops shared;      /* that are still to be done */
    uint64_t shared_done;      /* or dropped, before these */
    bool defers;               /* they are kept for the hook `share` */
    hd_memo_held_runs *runs;   /* where registers held are recorded, too; NULL: nowhere */
    bool forgets;              /* for tests: nothing recorded is looked up, and each stretch begins with a restore */
} hd_memo_notes;

static inline void hd_shared_ops_drop(hd_memo_notes *notes)
{
    notes->shared_done += notes->shared.count;
    hd_array_clear(&notes->shared);
}

struct hd_rf_model;
struct hd_rf_warp;
typedef enum hd_shared_result { HD_SHARED_GOOD, HD_SHARED_TAKEN, HD_SHARED_FULL } hd_shared_result;

typedef struct hd_memo_ops {
    /* NULL: the warp is walked through every instruction. */
    void (*snapshot)(struct hd_rf_model *model, struct hd_rf_warp *warp, hd_snapshot *snapshot);
    /* HD_RUN_LENGTHS of the warp; NULL: none */
    hd_run_length *(*lengths)(struct hd_rf_model *model, const struct hd_rf_warp *warp);
    /* Does shared operations of the warp. What is not good is so of `*word` of the frame on top: it got storage which
     * another one has, or none. */
    hd_shared_result (*share)(struct hd_rf_model *model, struct hd_rf_warp *warp, const hd_shared_op *ops,
                              uint32_t count, uint32_t *word);
    /* makes those that are kept quicker to do, again and again; not fewer. NULL: they stay as they are */
    void (*arrange)(struct hd_rf_model *model);
    /* The first instruction of a function, from `from` on, of which may_issue may be false; HD_NONE: none. NULL: of
     * each. */
    uint32_t (*next_gate)(const struct hd_rf_model *model, uint32_t function, uint32_t from);
    /* Derived models. Does the other one, which has the same hooks and annotations, do all that the model would do?
     * Then it sees nothing itself, and `derive` computes its results from the other one's at the end. NULL: no. */
    bool (*derives)(const struct hd_rf_model *model, const struct hd_rf_model *other);
    void (*derive)(struct hd_rf_model *model, const struct hd_rf_model *other);
} hd_memo_ops;

#endif
