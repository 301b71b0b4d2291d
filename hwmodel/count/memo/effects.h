/* What a model did with a part of a warp's stream, as effects (hwmodel/rf/memo.h): recorded while it does it, kept in
 * one array, and replayed for warps that do the same. O(effects), and O(counters) to record. */
#ifndef HD_HWMODEL_COUNT_MEMO_EFFECTS_H
#define HD_HWMODEL_COUNT_MEMO_EFFECTS_H

#include "hwmodel/rf/technique.h"

typedef struct hd_effect_recorder {
    hd_rf_model *model;
    hd_effects log; /* of the recording in progress */
    uint64_t counters[HD_COUNTER_COUNT];
    uint64_t held; /* counters and registers held when it began */
} hd_effect_recorder;

/* Lengths of the warp; NULL: none. */
hd_run_length *hd_memo_lengths(hd_rf_model *model, const hd_rf_warp *warp);

void hd_effects_begin(hd_effect_recorder *recorder, const hd_rf_warp *warp);
/* Adds what was done since to `kept`. */
void hd_effects_end(hd_effect_recorder *recorder, const hd_rf_warp *warp, hd_effects *kept);
/* What is not proved is so of *word. */
hd_rf_wrong hd_effects_replay(hd_rf_model *model, hd_rf_warp *warp, const hd_effect *effects, uint32_t count,
                              uint32_t *word);

/* What the model does between these two is without effect: for hooks that only bring it up to date with its warp. */
void hd_effects_silence(hd_effect_recorder *recorder);
void hd_effects_resume(hd_effect_recorder *recorder);

#endif
