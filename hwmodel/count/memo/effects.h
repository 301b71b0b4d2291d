/* What the models of a feeder did while they walked a warp: what they counted and told, lengths that went on or ended,
 * and shared operations (memo.h). Noted while it happens, kept, and done again.
 *
 * Lengths of a warp lie beside what is written down of it: HD_RUN_LENGTHS for each model. O(what there is); to keep it,
 * O(counters and models).
 */
#ifndef HD_HWMODEL_COUNT_MEMO_EFFECTS_H
#define HD_HWMODEL_COUNT_MEMO_EFFECTS_H

#include "hwmodel/count/runner.h"

typedef struct hd_rf_effect { /* of a model: what it counted */
    uint16_t member, counter;
    uint32_t n;
} hd_rf_effect;

typedef struct hd_rf_told { /* registers held, against the number when it began */
    int32_t more;
    uint32_t times;
} hd_rf_told;

typedef struct hd_rf_telling { /* of a model: what it told, and that together */
    uint32_t member, told, told_count;
    uint32_t times;
    int32_t most, then; /* then: from then on */
    int64_t sum;
} hd_rf_telling;

typedef struct hd_rf_member_delta { /* of a model's meter; meter: among those of all models */
    uint32_t member, meter;
    hd_run_delta what;
} hd_rf_member_delta;

typedef struct hd_rf_outcome { /* in the arrays of all of them */
    uint32_t effects, effect_count, tellings, telling_count, lapses, lapse_count, deeds, deed_count;
} hd_rf_outcome;

typedef struct hd_rf_outcomes {
    hd_rf_feeder *feeder;
    HD_ARRAY(hd_rf_effect) effects;
    HD_ARRAY(hd_rf_telling) tellings;
    HD_ARRAY(hd_rf_told) told;
    HD_ARRAY(hd_rf_member_delta) lapses;
    hd_shared_ops deeds;       /* before those of a model one that is none: `also` is the member, `n` their number */
    hd_memo_held_runs *runs;   /* by member */
    HD_ARRAY(uint64_t) before; /* by member and counter */
    HD_ARRAY(uint64_t) held;   /* by member */
} hd_rf_outcomes;

void hd_rf_outcomes_start(hd_rf_outcomes *o, hd_rf_feeder *feeder); /* a feeder with all its models */
void hd_rf_outcomes_free(hd_rf_outcomes *o);
uint64_t hd_rf_outcomes_bytes(const hd_rf_outcomes *o);

/* Counters begin at 0; what models hold stays. Then, what happened since is left out. */
void hd_rf_outcomes_put_aside(hd_rf_outcomes *o);
void hd_rf_outcomes_take_back(hd_rf_outcomes *o);

/* What happens to the warp from here on is noted; then kept, with what was counted before. The first lengths that ended
 * are counted there. */
void hd_rf_outcomes_note(hd_rf_outcomes *o, const hd_rf_living *living, hd_run_length *kept);
void hd_rf_outcomes_keep(hd_rf_outcomes *o, const hd_rf_living *living, hd_run_length *kept, hd_rf_outcome *outcome);

/* The same again: what was counted; what was told, and lengths; deeds, of which it says whether they were good
 * (hd_rf_outcomes_share). */
void hd_rf_outcomes_count(hd_rf_outcomes *o, const hd_rf_outcome *outcome, uint64_t times);
void hd_rf_outcomes_again(hd_rf_outcomes *o, const hd_rf_outcome *outcome, hd_run_length *kept);
bool hd_rf_outcomes_do_again(hd_rf_outcomes *o, const hd_rf_outcome *outcome, hd_rf_living *living,
                             const hd_rf_passage *passage);

/* The shared operations that the models have kept of the warp. false: one of the models failed with them, at the
 * passage's last instruction. */
bool hd_rf_outcomes_share(hd_rf_outcomes *o, hd_rf_living *living, const hd_rf_passage *passage);

#endif
