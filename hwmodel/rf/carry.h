/* What a model knows of one warp, as words that mean the same at any time and in any warp: written down, or taken up again.
 *
 * A model's `carry` hook passes everything that the future of the warp depends on through the carrier, in one fixed order; the carrier writes it
 * down, or puts there what was written down before. Two warps with the same words are in the same state: with the same instructions, lanes and
 * widths to come, the model counts the same and delivers the same for both. So there are no times and serials among them, but ages and ranks, and
 * of a claim only the lanes that are fresh (identity.h): with the serial of now they prove, and go stale, exactly as the claim does. Lanes
 * are carried as such (hd_rf_carried_lanes): in the words stands which classes of lanes (lanes.h) are among them, so that two warps with the
 * same words do the same, each in its lanes.
 *
 * A warp is carried between two instructions, with the frames that live. Those of calls are carried apart: of frames that rest, nothing but the
 * running function's end reads or changes what is known, so that it is no part of the state meanwhile (states.h). A frame rests when it is not
 * on top and no structure in motion has something of it; hooks tell which have (hd_rf_pin). What they pass of a frame that rests is what they keep of
 * each register, [first, end), in a place of its own; of the others besides, all else that they know of the warp. Nothing that is passed with these
 * may tell where their registers begin: frames are named by depth, registers by how far they are from `first`.
 *
 * Where a warp is taken up, its frames have begun already, in order, with the serials that they have there; those that rest are taken up first. What it
 * leaves behind when it is taken up elsewhere is overwritten; registers of all warps together (hd_rf_model.held) are not the hook's business.
 */
#ifndef HD_HWMODEL_RF_CARRY_H
#define HD_HWMODEL_RF_CARRY_H

#include "hwmodel/rf/identity.h"
#include "hwmodel/rf/lanes.h"
#include "ir/ir.h"

enum { HD_RF_INDEX_BITS = 24 /* of an owner; above them stands its frame */, HD_RF_CARRIED_FRAMES = 16 };

typedef struct hd_rf_carrier {
    bool out;   /* written down; else taken up */
    bool rest;  /* frames that rest, and nothing besides */
    bool unfit; /* of the warp is held what none of its frames owns: it cannot be carried */
    uint32_t bottom, top; /* the frames, [bottom, top) */
    uint32_t first, end;  /* their registers */
    uint32_t pinned;      /* the lowest frame that cannot rest */
    hd_u32_array *words;
    uint32_t at; /* of the words, the next to be taken up */
    hd_u32_array *places;         /* of words that are lanes, where they are written down */
    const hd_rf_classes *classes; /* that the words mean, where they are taken up */
    const hd_identity_warp *identity;
} hd_rf_carrier;

static inline uint32_t hd_rf_carried(hd_rf_carrier *c, uint32_t value)
{
    if (!c->out)
        return c->words->items[c->at++];
    hd_array_push(c->words, value);
    return value;
}

/* A mask of lanes. */
static inline uint32_t hd_rf_carried_lanes(hd_rf_carrier *c, uint32_t mask)
{
    if (!c->out)
        return hd_rf_classes_mask(c->classes, c->words->items[c->at++]);
    hd_array_push(c->places, c->words->count);
    hd_array_push(c->words, mask);
    return mask;
}

/* Which of the warp's frames it is, from the kernel's on; HD_NONE: none. */
static inline uint32_t hd_rf_depth(const hd_identity_warp *identity, uint32_t frame)
{
    uint32_t depth = identity->frames.count;
    while (depth && identity->frames.items[depth - 1].frame != frame)
        depth--;
    return depth ? depth - 1 : HD_NONE;
}

/* Something of the frame is in motion. */
static inline void hd_rf_pin(hd_rf_carrier *c, uint32_t frame)
{
    if (!c->out || c->top - c->bottom == 1)
        return;
    uint32_t depth = hd_rf_depth(c->identity, frame);
    c->pinned = depth < c->pinned ? depth : c->pinned;
}

/* Of the register `index`. */
static inline hd_claim hd_rf_carried_claim(hd_rf_carrier *c, uint32_t index, hd_claim claim)
{
    uint32_t lanes = hd_rf_carried_lanes(c, c->out && !c->unfit ? hd_identity_fresh(c->identity, index, claim) : 0);
    return c->out ? claim : (hd_claim){c->identity->serial, lanes};
}

/* That is one of the frames. */
static inline hd_owner hd_rf_carried_owner(hd_rf_carrier *c, hd_owner owner)
{
    if (!c->out) {
        uint32_t word = hd_rf_carried(c, 0), frame = c->identity->frames.items[c->bottom + (word >> HD_RF_INDEX_BITS)].frame;
        return (hd_owner){c->identity->warp, frame, c->first + (word & ((1u << HD_RF_INDEX_BITS) - 1))};
    }
    uint32_t depth = hd_rf_depth(c->identity, owner.frame);
    c->unfit = c->unfit || owner.warp != c->identity->warp || depth < c->bottom || depth >= c->top;
    hd_rf_carried(c, (owner.index - c->first) | (depth - c->bottom) << HD_RF_INDEX_BITS);
    return owner;
}

/* ... with something of it in motion. */
static inline hd_owner hd_rf_carried_moving(hd_rf_carrier *c, hd_owner owner)
{
    hd_rf_pin(c, owner.frame);
    return hd_rf_carried_owner(c, owner);
}

#endif
