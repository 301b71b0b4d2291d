/* What a model knows of one warp, as words that mean the same at any time and in any warp: written down, or taken up again.
 *
 * A model's `carry` hook passes everything that the future of the warp depends on through the carrier, in one fixed order; the carrier writes it
 * down, or puts there what was written down before. Two warps with the same words are in the same state: with the same instructions, lanes and
 * widths to come, the model counts the same and delivers the same for both. So there are no times and serials among them, but ages and ranks, and
 * of a claim only the lanes that are fresh (identity.h): with the serial of now they prove, and go stale, exactly as the claim does. Lanes
 * are carried as such (hd_rf_carried_lanes): in the words stands which classes of lanes (lanes.h) are among them, so that two warps with the
 * same words do the same, each in its lanes.
 *
 * A warp is carried between two instructions of its kernel's frame, when no other frame lives. What it leaves behind when it is taken up
 * elsewhere is overwritten; registers of all warps together (hd_rf_model.held) are not the hook's business.
 */
#ifndef HD_HWMODEL_RF_CARRY_H
#define HD_HWMODEL_RF_CARRY_H

#include "hwmodel/rf/identity.h"
#include "hwmodel/rf/lanes.h"

typedef struct hd_rf_carrier {
    bool out;   /* written down; else taken up */
    bool unfit; /* of the warp is held what a kernel's frame of this warp does not own: it cannot be carried */
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

/* Of the register `index`. */
static inline hd_claim hd_rf_carried_claim(hd_rf_carrier *c, uint32_t index, hd_claim claim)
{
    uint32_t lanes = hd_rf_carried_lanes(c, c->out ? hd_identity_fresh(c->identity, index, claim) : 0);
    return c->out ? claim : (hd_claim){c->identity->serial, lanes};
}

/* The index in an owner that is this warp's frame. */
static inline hd_owner hd_rf_carried_owner(hd_rf_carrier *c, hd_owner owner)
{
    c->unfit = c->unfit || (c->out && (owner.warp != c->identity->warp || owner.frame != c->identity->frame));
    return (hd_owner){c->identity->warp, c->identity->frame, hd_rf_carried(c, owner.index)};
}

#endif
