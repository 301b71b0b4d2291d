/* What all models of a feeder know of a warp, written down as words that have a number, and taken up again: see carry.h.
 *
 * The words of a state are how many classes of lanes (lanes.h) there are, which registers were written in which of them, and of each model how
 * many words it has, and these. A warp in a state has its own lanes in these classes, and its own lengths (hd_rf_meter): of lengths, only whether
 * they are 0 is part of the state.
 *
 * O(what the models hold of the warp). Memory: the states; the owner bounds them.
 */
#ifndef HD_HWMODEL_RF_STATES_H
#define HD_HWMODEL_RF_STATES_H

#include "hwmodel/rf/feeder.h"
#include "hwmodel/rf/lanes.h"

typedef struct hd_rf_states {
    hd_rf_feeder *feeder; /* its models can be carried */
    hd_sequences numbers;
    hd_u32_array words, places; /* of the one that is written down or taken up; which of them are lanes */
} hd_rf_states;

/* The state of a warp between two instructions; HD_NONE: it cannot be written down, or is a new one, and not to be added. meters: HD_RF_METERS
 * for each model, of the warp. */
uint32_t hd_rf_states_write(hd_rf_states *s, hd_rf_living *living, hd_rf_meter *meters, hd_rf_classes *classes, bool add);
/* The models know the warp as it was written down; its kernel's frame has begun. */
void hd_rf_states_take_up(hd_rf_states *s, uint32_t state, hd_rf_living *living, hd_rf_meter *meters, const hd_rf_classes *classes);
void hd_rf_states_free(hd_rf_states *s);

#endif
