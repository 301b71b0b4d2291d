/* Classes of lanes that no mask distinguishes.
 *
 * To a model, lanes are bits of masks: it combines masks and asks whether one is empty. So two lanes with the same bit
 * in each mask that the model keeps of a warp are equivalent, and form a class. A state of a warp has sets of classes
 * where the model has masks. Masks to come split classes into parts.
 *
 * Of two classes, the one whose lanes are not in the first mask that separates them is first. So warps whose masks
 * differ only by a permutation of lanes, or by the sizes of classes, have the same sets.
 *
 * Cost: O(classes) a mask, of which there are at most 32. */
#ifndef HD_HWMODEL_COUNT_MEMO_CLASSES_H
#define HD_HWMODEL_COUNT_MEMO_CLASSES_H

#include <stdint.h>
#include <string.h>

typedef struct hd_lane_classes { /* each lane is in one */
    uint32_t count;
    uint32_t lanes[32];
} hd_lane_classes;

static inline hd_lane_classes hd_lane_classes_whole(void) { return (hd_lane_classes){1, {UINT32_MAX}}; }
static inline void hd_lane_classes_copy(hd_lane_classes *to, const hd_lane_classes *from)
{
    to->count = from->count;
    to->lanes[0] = from->lanes[0]; /* most often there is one class */
    if (from->count > 1)
        memcpy(to->lanes, from->lanes, from->count * sizeof *from->lanes);
}
/* Those that the mask splits become two each. */
void hd_lane_classes_split(hd_lane_classes *classes, uint32_t mask);
/* A union of classes as a set of their numbers. */
uint32_t hd_lane_classes_set(const hd_lane_classes *classes, uint32_t mask);
uint32_t hd_lane_classes_mask(const hd_lane_classes *classes, uint32_t set);

#endif
