/* What bow_corf.c needs of the two models that it chains, beside their hooks. Words are of the step's frame. */
#ifndef HD_HWMODEL_RF_BOW_CORF_H
#define HD_HWMODEL_RF_BOW_CORF_H

#include "hwmodel/rf/technique.h"

/* What a window with the option "front" is to find in the register file. */
hd_claim *hd_bow_home(hd_rf_model *window, const hd_rf_step *step, uint32_t word);
/* What the packed file holds of the register. */
hd_claim hd_corf_home(hd_rf_model *file, const hd_rf_step *step, uint32_t word);

#endif
