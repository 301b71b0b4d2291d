/* Lanes that do as one, so that warps that do the same in different lanes are in the same state.
 *
 * To a model, lanes are bits of masks. It joins masks, and asks whether one is empty; it neither counts lanes nor
 * prefers one. So two lanes make no difference that have the same bit in each mask that it keeps of a warp, and in each
 * one that is to come: it counts the same, and delivers the same, whichever lanes those are, and however many. Such
 * lanes are a class. What a model knows of a warp is written down (memo.h) with sets of classes in place of masks;
 * which lanes these are, is the warp's own business.
 *
 * The order of classes follows from the masks alone: of two of them, the one stands first whose lanes are not in the
 * first mask that tells them apart. So classes of different warps are the same, where they have the same place and the
 * same sets.
 *
 * Masks to come split classes into parts, which are ordered in the same way. How they do is all that matters of these
 * masks, and has a number.
 *
 * Cost: O(classes) a mask; there are as many as ways in which lanes differ, 32 at most. Memory: what the numbers stand
 * for.
 */
#ifndef HD_HWMODEL_COUNT_MEMO_LANES_H
#define HD_HWMODEL_COUNT_MEMO_LANES_H

#include "base/sequences.h"

typedef struct hd_rf_classes { /* every lane is in one */
    uint32_t count;
    uint32_t lanes[32];
} hd_rf_classes;

static inline void hd_rf_classes_whole(hd_rf_classes *c)
{
    c->count = 1;
    c->lanes[0] = UINT32_MAX;
}
static inline void hd_rf_classes_copy(hd_rf_classes *to, const hd_rf_classes *from)
{
    to->count = from->count;
    to->lanes[0] = from->lanes[0]; /* most often it is one */
    if (from->count > 1)
        memcpy(to->lanes, from->lanes, from->count * sizeof *from->lanes);
}
/* Those that the mask splits become two each. */
void hd_rf_classes_split(hd_rf_classes *c, uint32_t mask);

/* A mask that splits none as a set of classes, and back. */
static inline uint32_t hd_rf_classes_set(const hd_rf_classes *c, uint32_t mask)
{
    uint32_t set = 0;
    for (uint32_t k = 0; k < c->count; k++)
        set |= (uint32_t)((c->lanes[k] & mask) != 0) << k;
    return set;
}
static inline uint32_t hd_rf_classes_mask(const hd_rf_classes *c, uint32_t set)
{
    uint32_t mask = 0;
    for (; set; set &= set - 1)
        mask |= c->lanes[__builtin_ctz(set)];
    return mask;
}

/* The classes of the masks among the words, which become sets of them; `places` are those words. */
void hd_rf_classes_write(hd_rf_classes *c, uint32_t *words, const uint32_t *places, uint32_t count);
/* Which of the parts are in each class; they are what other masks made of these. `sets`: of as many classes as there
 * are. */
void hd_rf_classes_unions(const hd_rf_classes *c, const hd_rf_classes *parts, uint32_t *sets);
/* The classes of which those are the parts. */
static inline void hd_rf_classes_unite(hd_rf_classes *c, const hd_rf_classes *parts, const uint32_t *sets,
                                       uint32_t count)
{
    if (count == 1) {
        hd_rf_classes_whole(c);
        return;
    }
    c->count = count;
    for (uint32_t k = 0; k < count; k++)
        c->lanes[k] = hd_rf_classes_mask(parts, sets[k]);
}

enum { HD_RF_SPLITS = 1 << 16, HD_RF_RECENT = 256, HD_RF_RECENT_MASKS = 16 };
typedef struct hd_rf_recent_split {
    uint32_t masks[HD_RF_RECENT_MASKS], count, number;
    hd_rf_classes classes, parts;
} hd_rf_recent_split;
typedef struct hd_rf_splits {
    hd_sequences numbers;
    hd_u32_array words;
    hd_rf_recent_split *recent; /* what was asked for lately: the same warps do the same again */
} hd_rf_splits;
uint32_t hd_rf_split_slow(hd_rf_splits *s, const hd_rf_classes *classes, const uint32_t *masks, uint32_t count,
                          hd_rf_classes *parts);
/* What the masks make of the classes. Says which number that has, or HD_RF_SPLITS: there are no more. */
static inline uint32_t hd_rf_split(hd_rf_splits *s, const hd_rf_classes *classes, const uint32_t *masks, uint32_t count,
                                   hd_rf_classes *parts)
{
    if (count && (classes->count > 1 || count > 1 || *masks != UINT32_MAX))
        return hd_rf_split_slow(s, classes, masks, count, parts);
    hd_rf_classes_copy(parts, classes); /* most often: all lanes do as one */
    return 0;
}
void hd_rf_splits_free(hd_rf_splits *s);

#endif
