/* Models that look at one warp alone, and at no values, count the same for every warp that does the same: they walk each path once.
 *
 * A path is the stream of a warp (streams.h): its instructions with their active and effective lanes, its calls and returns. What such a model
 * counts, and whether it delivers what the baseline reads, follows from the path. The first warp that takes a path is walked through all models; of
 * the others it is only counted how many there are. Paths are compared byte by byte.
 *
 * Memory: HD_RF_PATHS paths and HD_RF_PATH_BYTES of them at most; warps whose path finds no room are walked every time.
 */
#ifndef HD_HWMODEL_RF_PATHS_H
#define HD_HWMODEL_RF_PATHS_H

#include "hwmodel/rf/feeder.h"
#include "hwmodel/rf/streams.h"

enum { HD_RF_PATHS = 4096, HD_RF_PATH_BYTES = 64 << 20 };

typedef struct hd_rf_paths hd_rf_paths;
hd_rf_paths *hd_rf_paths_new(void);
void hd_rf_paths_free(hd_rf_paths *paths);
void hd_rf_paths_add(hd_rf_paths *paths, hd_rf_feeder *feeder); /* borrows it, with all its models; their numbers name them in answers */

/* All warps of CTAs that have ended. HD_NONE, or the model whose operand was not proved: see its failure. Of several wrong operands
 * that of the lowest warp counts, then the first on its path, then that of the lowest model. */
uint32_t hd_rf_paths_take(hd_rf_paths *paths, hd_rf_cta *const *ctas, uint32_t count, uint32_t threads);
/* What is recorded of a CTA whose warps go on: they are walked now, and stay alive in the feeders. */
uint32_t hd_rf_paths_begin(hd_rf_paths *paths, const hd_rf_cta *cta, uint32_t threads);
/* Any other event, at once. */
uint32_t hd_rf_paths_tell(hd_rf_paths *paths, const hd_event *event);
/* Brings the models' counters up to date. */
void hd_rf_paths_settle(hd_rf_paths *paths);

#endif
